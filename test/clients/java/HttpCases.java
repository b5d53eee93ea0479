import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** The HTTP client of the JDK over both versions, its WebSocket, and its server as an upstream. */
class HttpCases {
    private static final String NAME = "java.net.http";
    private static final byte[] BODY = body();

    private record Way(String name, String base, Version asked, Version got) {}

    static void run() {
        var http = Main.text("http");
        var https = Main.text("https");
        for (var way : new Way[] {
            new Way("HTTP/1.1", http, Version.HTTP_1_1, Version.HTTP_1_1),
            new Way("HTTP/1.1 over TLS", https, Version.HTTP_1_1, Version.HTTP_1_1),
            new Way("HTTP/2 over TLS", https, Version.HTTP_2, Version.HTTP_2),
            // The client offers an upgrade to HTTP/2 with its first request, which servers leave alone today (RFC 9113 section 3.1).
            new Way("default settings without TLS", http, Version.HTTP_2, Version.HTTP_1_1),
        }) {
            var client = HttpClient.newBuilder().version(way.asked).build();
            Main.run(NAME, "download of 64 MiB, " + way.name, () -> download(client, way));
            Main.run(NAME, "upload of 16 MiB with its length, " + way.name, () -> upload(client, way, "files", BodyPublishers.ofByteArray(BODY)));
            Main.run(NAME, "upload of 16 MiB without a length, " + way.name, () -> upload(client, way, "files", streamed()));
            Main.run(NAME, "20 requests at once, " + way.name, () -> atOnce(client, way, "/files/bytes/500000", 20, 500_000));
            Main.run(NAME, "100 requests on an upstream that ends each connection, " + way.name, () -> {
                for (int i = 0; i < 25; i++) atOnce(client, way, "/files/last", 4, 2);
            });
            if (Main.upstreams().contains("jdk")) Main.run("com.sun.net.httpserver", "as upstream: download, upload, " + way.name, () -> {
                atOnce(client, way, "/jdk/bytes/4000000", 2, 4_000_000);
                upload(client, way, "jdk", BodyPublishers.ofByteArray(BODY));
                upload(client, way, "jdk", streamed());
            });
        }
        Main.run(NAME, "Expect: 100-continue, HTTP/1.1", () -> expectContinue(http, Version.HTTP_1_1));
        Main.run(NAME, "Expect: 100-continue, HTTP/2 over TLS", () -> expectContinue(https, Version.HTTP_2));
        Main.run(NAME, "WebSocket: echo of 1 MiB, close", () -> echo(http));
        Main.run(NAME, "WebSocket: echo of 1 MiB, close over TLS", () -> echo(https));
    }

    private static byte[] body() {
        var bytes = new byte[16 << 20];
        for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) (i * 7);
        return bytes;
    }

    private static BodyPublisher streamed() {
        return BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(BODY));
    }

    private static HttpRequest.Builder to(String address) {
        return HttpRequest.newBuilder(URI.create(address)).timeout(Duration.ofSeconds(60));
    }

    private static void download(HttpClient client, Way way) throws Exception {
        var request = to(way.base + "/files/bytes/" + Main.world.get("download_bytes")).build();
        var answer = client.send(request, BodyHandlers.ofInputStream());
        Main.expect(answer.version() == way.got, answer.version());
        var digest = MessageDigest.getInstance("SHA-256");
        try (var input = answer.body()) {
            var part = new byte[65536];
            for (int count; (count = input.read(part)) != -1; ) digest.update(part, 0, count);
        }
        Main.expect(HexFormat.of().formatHex(digest.digest()).equals(Main.text("download_sha256")), "another digest");
    }

    private static void upload(HttpClient client, Way way, String api, BodyPublisher body) throws Exception {
        var answer = client.send(to(way.base + "/" + api + "/upload").POST(body).build(), BodyHandlers.ofString());
        var digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(BODY));
        Main.expect(answer.statusCode() == 200 && answer.body().contains(digest), answer.statusCode() + ": " + answer.body());
    }

    private static void atOnce(HttpClient client, Way way, String path, int count, int bytes) throws Exception {
        var answers = new ArrayList<CompletableFuture<Integer>>();
        for (int i = 0; i < count; i++) {
            var asked = client.sendAsync(to(way.base + path).build(), BodyHandlers.ofByteArray());
            answers.add(asked.thenApply(answer -> answer.statusCode() == 200 ? answer.body().length : -answer.statusCode()));
        }
        for (var answer : answers) Main.expect(answer.get() == bytes, answer.get());
    }

    private static void expectContinue(String base, Version version) throws Exception {
        var client = HttpClient.newBuilder().version(version).build();
        var request = to(base + "/files/upload").expectContinue(true).POST(BodyPublishers.ofString("body")).build();
        var answer = client.send(request, BodyHandlers.ofString());
        Main.expect(answer.body().contains("\"bytes\":4"), answer.statusCode() + ": " + answer.body());
    }

    private static void echo(String base) throws Exception {
        var heard = new Listener();
        var address = URI.create(base.replaceFirst("http", "ws") + "/files/socket");
        var socket = HttpClient.newHttpClient().newWebSocketBuilder().buildAsync(address, heard).get(60, TimeUnit.SECONDS);
        socket.sendBinary(ByteBuffer.wrap(BODY, 0, 1 << 20), true).get(60, TimeUnit.SECONDS);
        Main.expect(heard.whole.get(60, TimeUnit.SECONDS) == 1 << 20, heard.bytes);
        socket.sendClose(WebSocket.NORMAL_CLOSURE, "done").get(60, TimeUnit.SECONDS);
        Main.expect(heard.closed.get(60, TimeUnit.SECONDS) == WebSocket.NORMAL_CLOSURE, "another status");
    }

    private static class Listener implements WebSocket.Listener {
        int bytes;
        final CompletableFuture<Integer> whole = new CompletableFuture<>();
        final CompletableFuture<Integer> closed = new CompletableFuture<>();

        @Override
        public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
            bytes += data.remaining();
            if (last) whole.complete(bytes);
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
            closed.complete(status);
            return null;
        }
    }
}
