import com.github.scribejava.core.builder.ServiceBuilder;
import com.github.scribejava.core.builder.api.DefaultApi20;
import com.github.scribejava.core.oauth.AccessTokenRequestParams;
import com.github.scribejava.core.oauth.OAuth20Service;
import com.google.api.client.auth.oauth2.AuthorizationCodeFlow;
import com.google.api.client.auth.oauth2.BearerToken;
import com.google.api.client.auth.oauth2.ClientCredentialsTokenRequest;
import com.google.api.client.auth.oauth2.ClientParametersAuthentication;
import com.google.api.client.auth.oauth2.Credential;
import com.google.api.client.http.BasicAuthentication;
import com.google.api.client.http.GenericUrl;
import com.google.api.client.http.HttpExecuteInterceptor;
import com.google.api.client.http.javanet.NetHttpTransport;
import com.google.api.client.json.gson.GsonFactory;
import java.net.URI;
import java.util.List;

/** Google's OAuth client and ScribeJava. */
class OtherCases {
    private static final String GOOGLE = "google-oauth-client";
    private static final String SCRIBE = "scribejava-core";
    private static final List<String> SCOPES = List.of("read", "write");

    static void run() {
        Main.run(GOOGLE, "code with PKCE and refresh, secret in the header", () -> google(true));
        Main.run(GOOGLE, "code with PKCE and refresh, secret in the form", () -> google(false));
        Main.run(GOOGLE, "client credentials", OtherCases::googleCredentials);
        Main.run(SCRIBE, "code with PKCE, refresh, revocation", OtherCases::scribe);
        Main.run(SCRIBE, "client credentials", () -> {
            var token = service().getAccessTokenClientCredentialsGrant().getAccessToken();
            Main.expect(Main.use("opaque", token) == 200, "the API refuses the token");
        });
        // Its device flow names the client at the device endpoint and nowhere authenticates a public one, against RFC 8628 sections 3.1 and 3.4.
    }

    private static HttpExecuteInterceptor authentication(boolean header) throws Exception {
        var client = OAuthCases.basic("opaque");
        var id = client.getClientID().getValue();
        var secret = client.getClientSecret().getValue();
        return header ? new BasicAuthentication(id, secret) : new ClientParametersAuthentication(id, secret);
    }

    private static void google(boolean header) throws Exception {
        var how = authentication(header);
        var id = how instanceof BasicAuthentication basic ? basic.getUsername() : ((ClientParametersAuthentication) how).getClientId();
        var known = OAuthCases.metadata("opaque");
        var token = new GenericUrl(known.getTokenEndpointURI());
        var authorize = known.getAuthorizationEndpointURI().toString();
        var flow = new AuthorizationCodeFlow.Builder(
                        BearerToken.authorizationHeaderAccessMethod(), new NetHttpTransport(), GsonFactory.getDefaultInstance(), token, how, id, authorize)
                .setScopes(SCOPES)
                .enablePKCE()
                .build();
        var redirect = Main.text("redirect");
        var back = Main.parameters(Main.browse(URI.create(flow.newAuthorizationUrl().setRedirectUri(redirect).setState("the-state").build())));
        var answer = flow.newTokenRequest(back.get("code")).setRedirectUri(redirect).execute();
        Credential credential = flow.createAndStoreCredential(answer, "ada");
        var before = credential.getAccessToken();
        Main.expect(Main.use("opaque", before) == 200, "the API refuses the token");
        Main.expect(credential.refreshToken(), "no refresh");
        Main.expect(Main.use("opaque", before) == 401, "the token of before the refresh is still good");
        var request = new NetHttpTransport().createRequestFactory(credential).buildGetRequest(new GenericUrl(Main.issuer("opaque") + "/things"));
        Main.expect(request.execute().getStatusCode() == 200, "the API refuses the refreshed token");
    }

    private static void googleCredentials() throws Exception {
        var token = new GenericUrl(OAuthCases.metadata("opaque").getTokenEndpointURI());
        var answer = new ClientCredentialsTokenRequest(new NetHttpTransport(), GsonFactory.getDefaultInstance(), token)
                .setScopes(SCOPES)
                .setClientAuthentication(authentication(true))
                .execute();
        Main.expect(Main.use("opaque", answer.getAccessToken()) == 200, "the API refuses the token");
    }

    private static OAuth20Service service() throws Exception {
        var client = OAuthCases.basic("opaque");
        return new ServiceBuilder(client.getClientID().getValue())
                .apiSecret(client.getClientSecret().getValue())
                .callback(Main.text("redirect"))
                .defaultScope("read write")
                .build(new Api());
    }

    private static class Api extends DefaultApi20 {
        private final String base = Main.issuer("opaque") + "/oauth/";

        @Override
        public String getAccessTokenEndpoint() {
            return base + "token";
        }

        @Override
        protected String getAuthorizationBaseUrl() {
            return base + "authorize";
        }

        @Override
        public String getRevokeTokenEndpoint() {
            return base + "revoke";
        }
    }

    private static void scribe() throws Exception {
        try (var service = service()) {
            var asking = service.createAuthorizationUrlBuilder().state("the-state").initPKCE();
            var back = Main.parameters(Main.browse(URI.create(asking.build())));
            var code = AccessTokenRequestParams.create(back.get("code")).pkceCodeVerifier(asking.getPkce().getCodeVerifier());
            var first = service.getAccessToken(code);
            var second = service.refreshAccessToken(first.getRefreshToken());
            Main.expect(Main.use("opaque", first.getAccessToken()) == 401, "the token of before the refresh is still good");
            Main.expect(Main.use("opaque", second.getAccessToken()) == 200, "the API refuses the token");
            service.revokeToken(second.getAccessToken());
            Main.expect(Main.use("opaque", second.getAccessToken()) == 401, "a revoked token is still good");
        }
    }
}
