import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.pac4j.core.context.CallContext;
import org.pac4j.core.context.WebContext;
import org.pac4j.core.context.session.SessionStore;
import org.pac4j.core.exception.http.FoundAction;
import org.pac4j.core.http.callback.NoParameterCallbackUrlResolver;
import org.pac4j.oauth.client.GenericOAuth20Client;
import org.pac4j.oauth.profile.OAuth20Profile;

/** The OAuth client of pac4j, as its security filter calls it. */
class PacCases {
    private static final String PAC = "pac4j-oauth";

    static void run() {
        Main.run(PAC, "code with state, profile from the API: secret in the header", () -> signIn("basicAuth"));
        Main.run(PAC, "code with state, profile from the API: secret in the body", () -> signIn("requestBody"));
    }

    private static void signIn(String method) throws Exception {
        var registered = Main.desk("/clients/opaque", "{}");
        var client = new GenericOAuth20Client();
        client.setKey((String) registered.get("client_id"));
        client.setSecret((String) registered.get("client_secret"));
        client.setAuthUrl(Main.issuer("opaque") + "/oauth/authorize");
        client.setTokenUrl(Main.issuer("opaque") + "/oauth/token");
        // It answers JSON, with a digest in it.
        client.setProfileUrl(Main.issuer("opaque") + "/upload");
        client.setProfileId("sha256");
        client.setScope("read write");
        client.setWithState(true);
        client.setClientAuthenticationMethod(method);
        client.setCallbackUrlResolver(new NoParameterCallbackUrlResolver());
        client.setCallbackUrl(Main.text("redirect"));
        var sessions = sessions();
        var asked = (FoundAction) client.getRedirectionAction(new CallContext(requestWith(Map.of()), sessions)).orElseThrow();
        var back = Main.parameters(Main.browse(URI.create(asked.getLocation())));
        var call = new CallContext(requestWith(back), sessions);
        var sent = client.getCredentials(call).orElseThrow();
        var credentials = client.validateCredentials(call, sent).orElseThrow();
        var profile = (OAuth20Profile) client.getUserProfile(call, credentials).orElseThrow();
        Main.expect(Main.use("opaque", profile.getAccessToken()) == 200, "the API refuses the token");
        Main.expect(profile.getId().length() == 64, "the profile is " + profile);
    }

    /** A request of the browser, with these parameters. */
    private static WebContext requestWith(Map<String, String> parameters) {
        return (WebContext) Proxy.newProxyInstance(PacCases.class.getClassLoader(), new Class<?>[] {WebContext.class}, (proxy, called, words) -> switch (called.getName()) {
            case "getRequestParameter" -> Optional.ofNullable(parameters.get((String) words[0]));
            case "getRequestAttribute", "getRequestHeader", "getResponseHeader" -> Optional.empty();
            case "getFullRequestURL" -> Main.text("redirect");
            default -> called.isDefault() ? InvocationHandler.invokeDefault(proxy, called, words) : null;
        });
    }

    /** The session of one browser. */
    private static SessionStore sessions() {
        var kept = new HashMap<String, Object>();
        return (SessionStore) Proxy.newProxyInstance(PacCases.class.getClassLoader(), new Class<?>[] {SessionStore.class}, (proxy, called, words) -> switch (called.getName()) {
            case "get" -> Optional.ofNullable(kept.get((String) words[1]));
            case "set" -> kept.put((String) words[1], words[2]);
            case "getSessionId" -> Optional.of("session");
            default -> called.isDefault() ? InvocationHandler.invokeDefault(proxy, called, words) : null;
        });
    }
}
