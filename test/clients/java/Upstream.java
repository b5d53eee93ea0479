import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.Executors;

/** The server of the JDK: `/bytes/{n}` and `/upload`. */
class Upstream {
    private static final byte[] BLOCK = new byte[65536];

    public static void main(String[] words) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])), 0);
        server.createContext("/bytes/", Upstream::sendBytes);
        server.createContext("/upload", Upstream::tellUpload);
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println("ready");
    }

    private static void sendBytes(HttpExchange exchange) throws IOException {
        var left = Long.parseLong(exchange.getRequestURI().getPath().split("/")[2]);
        exchange.sendResponseHeaders(200, left);
        try (var out = exchange.getResponseBody()) {
            for (; left > 0; left -= BLOCK.length) out.write(BLOCK, 0, (int) Math.min(left, BLOCK.length));
        }
    }

    private static void tellUpload(HttpExchange exchange) throws IOException {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            digest.update(exchange.getRequestBody().readAllBytes());
            // 0 = without a length: the server frames it.
            exchange.sendResponseHeaders(200, 0);
            try (var out = exchange.getResponseBody()) {
                out.write(("{\"sha256\":\"" + HexFormat.of().formatHex(digest.digest()) + "\"}").getBytes());
            }
        } catch (java.security.NoSuchAlgorithmException error) {
            throw new IOException(error);
        }
    }
}
