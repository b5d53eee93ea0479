import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.FileInputStream;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Programs of Java's HTTP and OAuth clients against a running product. The runner in ../runner says what the world file holds. */
class Main {
    interface Act {
        void run() throws Exception;
    }

    static Map<String, Object> world;

    public static void main(String[] words) throws Exception {
        world = JSONObjectUtils.parse(Files.readString(Path.of(System.getenv("CLIENTS_WORLD"))));
        trust(text("ca"));
        HttpCases.run();
        OAuthCases.run();
        SpringCases.run();
        OtherCases.run();
        PacCases.run();
        // The HTTP clients keep threads.
        System.exit(0);
    }

    static String text(String member) {
        return (String) world.get(member);
    }

    @SuppressWarnings("unchecked")
    static List<String> upstreams() {
        return (List<String>) world.get("upstreams");
    }

    static String issuer(String api) {
        return text("https") + "/" + api;
    }

    /** Runs a case and prints how it ended. */
    static void run(String client, String flow, Act act) {
        var line = new LinkedHashMap<String, Object>();
        line.put("client", client);
        line.put("flow", flow);
        try {
            act.run();
        } catch (Throwable error) {
            var cause = error.getCause() == null ? "" : " (" + error.getCause() + ")";
            line.put("failed", error + cause + " at " + error.getStackTrace()[0]);
        }
        System.out.println(JSONObjectUtils.toJSONString(line));
    }

    static void expect(boolean condition, Object told) {
        if (!condition) throw new IllegalStateException(String.valueOf(told));
    }

    /** Everything in this process trusts the authority of the run, and nothing else. */
    private static void trust(String file) throws Exception {
        var store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (var input = new FileInputStream(file)) {
            store.setCertificateEntry("run", CertificateFactory.getInstance("X.509").generateCertificate(input));
        }
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        SSLContext.setDefault(context);
    }

    /** Asks the desk, and answers the members that it sent. */
    static Map<String, Object> desk(String path, String body) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(text("desk") + path)).POST(BodyPublishers.ofString(body)).build();
        var answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        expect(answer.statusCode() == 200, "the desk answered " + answer.statusCode() + ": " + answer.body());
        return answer.body().startsWith("{") ? JSONObjectUtils.parse(answer.body()) : Map.of();
    }

    /** A browser whose user signs in and agrees. Answers the address that it comes back to. */
    static URI browse(URI address) throws Exception {
        var browser = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.ALWAYS).build();
        HttpResponse<String> answer = browser.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString());
        expect(answer.uri().toString().startsWith(text("redirect")), "the browser ended at " + answer.uri() + ": " + answer.body());
        return answer.uri();
    }

    static Map<String, String> parameters(URI address) {
        var found = new HashMap<String, String>();
        for (var pair : address.getRawQuery().split("&")) {
            var parts = pair.split("=", 2);
            found.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        return found;
    }

    /** The status of a call of the protected API. */
    static int use(String api, String token) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(issuer(api) + "/things")).header("Authorization", "Bearer " + token).build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
    }
}
