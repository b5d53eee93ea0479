import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.AuthorizationGrant;
import com.nimbusds.oauth2.sdk.AuthorizationRequest;
import com.nimbusds.oauth2.sdk.AuthorizationResponse;
import com.nimbusds.oauth2.sdk.ClientCredentialsGrant;
import com.nimbusds.oauth2.sdk.PushedAuthorizationRequest;
import com.nimbusds.oauth2.sdk.PushedAuthorizationResponse;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenIntrospectionRequest;
import com.nimbusds.oauth2.sdk.TokenIntrospectionResponse;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.TokenRevocationRequest;
import com.nimbusds.oauth2.sdk.as.AuthorizationServerMetadata;
import com.nimbusds.oauth2.sdk.auth.ClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.ClientSecretPost;
import com.nimbusds.oauth2.sdk.auth.PrivateKeyJWT;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.client.ClientDeleteRequest;
import com.nimbusds.oauth2.sdk.client.ClientInformationResponse;
import com.nimbusds.oauth2.sdk.client.ClientMetadata;
import com.nimbusds.oauth2.sdk.client.ClientReadRequest;
import com.nimbusds.oauth2.sdk.client.ClientRegistrationRequest;
import com.nimbusds.oauth2.sdk.client.ClientRegistrationResponse;
import com.nimbusds.oauth2.sdk.device.DeviceAuthorizationRequest;
import com.nimbusds.oauth2.sdk.device.DeviceAuthorizationResponse;
import com.nimbusds.oauth2.sdk.device.DeviceCodeGrant;
import com.nimbusds.oauth2.sdk.dpop.DefaultDPoPProofFactory;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.oauth2.sdk.token.AccessToken;
import com.nimbusds.oauth2.sdk.token.BearerAccessToken;
import com.nimbusds.oauth2.sdk.token.RefreshToken;
import com.nimbusds.oauth2.sdk.token.Tokens;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** The OAuth SDK of Nimbus, and its validation of JSON Web Tokens. */
class OAuthCases {
    private static final String SDK = "oauth2-oidc-sdk";
    private static final String JOSE = "nimbus-jose-jwt";

    static void run() {
        Main.run(SDK, "code with PKCE, refresh, introspection, revocation: client_secret_basic", () -> codeFlow(basic("opaque")));
        Main.run(SDK, "code with PKCE, refresh, introspection, revocation: client_secret_post", () -> {
            var basic = basic("opaque");
            codeFlow(new ClientSecretPost(basic.getClientID(), basic.getClientSecret()));
        });
        Main.run(SDK, "code with PKCE by a pushed request", () -> pushed(basic("opaque")));
        Main.run(SDK, "client credentials", () -> {
            var tokens = tokens("opaque", basic("opaque"), new ClientCredentialsGrant());
            Main.expect(tokens.getRefreshToken() == null, "a refresh token");
            Main.expect(Main.use("opaque", tokens.getAccessToken().getValue()) == 200, "the API refuses the token");
        });
        Main.run(SDK, "private_key_jwt with RS256", () -> privateKey(rsa()));
        Main.run(SDK, "private_key_jwt with ES256", () -> privateKey(ec()));
        Main.run(SDK, "refresh in two workers: one wins", () -> twoWorkers("opaque", 1));
        Main.run(SDK, "refresh in two workers with a grace period: both win", () -> twoWorkers("graceful", 2));
        Main.run(SDK, "device", () -> device(basic("opaque")));
        Main.run(SDK, "discovery as OpenID Connect, opaque and JWT", () -> {
            for (var api : List.of("opaque", "jwt")) {
                var known = OIDCProviderMetadata.resolve(new Issuer(Main.issuer(api)));
                Main.expect(known.getTokenEndpointURI().equals(metadata(api).getTokenEndpointURI()), known);
            }
        });
        Main.run(SDK, "DPoP from the code to the call", OAuthCases::bound);
        Main.run(SDK, "dynamic registration: create, read, delete", OAuthCases::registration);
        Main.run(JOSE, "JWT validation across a key rotation", OAuthCases::rotation);
    }

    static ClientSecretBasic basic(String api) throws Exception {
        var made = Main.desk("/clients/" + api, "{}");
        return new ClientSecretBasic(new ClientID((String) made.get("client_id")), new Secret((String) made.get("client_secret")));
    }

    static AuthorizationServerMetadata metadata(String api) throws Exception {
        return AuthorizationServerMetadata.resolve(new Issuer(Main.issuer(api)));
    }

    static Tokens tokens(String api, ClientAuthentication client, AuthorizationGrant grant) throws Exception {
        var request = new TokenRequest.Builder(metadata(api).getTokenEndpointURI(), client, grant).scope(new Scope("read", "write"));
        var answer = TokenResponse.parse(request.build().toHTTPRequest().send());
        Main.expect(answer.indicatesSuccess(), answer.indicatesSuccess() ? "" : answer.toErrorResponse().getErrorObject().toJSONObject());
        return answer.toSuccessResponse().getTokens();
    }

    private static Tokens refreshed(String api, ClientAuthentication client, RefreshToken token) throws Exception {
        var request = new TokenRequest.Builder(metadata(api).getTokenEndpointURI(), client, new RefreshTokenGrant(token)).build();
        var answer = TokenResponse.parse(request.toHTTPRequest().send());
        if (answer.indicatesSuccess()) return answer.toSuccessResponse().getTokens();
        var error = answer.toErrorResponse().getErrorObject();
        Main.expect(error.getCode().equals("invalid_grant"), error.toJSONObject());
        return null;
    }

    private static AuthorizationRequest.Builder asking(ClientID client, CodeVerifier verifier) {
        return new AuthorizationRequest.Builder(ResponseType.CODE, client)
                .redirectionURI(URI.create(Main.text("redirect")))
                .scope(new Scope("read", "write"))
                .state(new State("the-state"))
                .codeChallenge(verifier, CodeChallengeMethod.S256);
    }

    private static Tokens signedIn(String api, ClientAuthentication client) throws Exception {
        var verifier = new CodeVerifier();
        var request = asking(client.getClientID(), verifier).endpointURI(metadata(api).getAuthorizationEndpointURI()).build();
        return exchanged(api, client, request, verifier);
    }

    private static Tokens exchanged(String api, ClientAuthentication client, AuthorizationRequest request, CodeVerifier verifier) throws Exception {
        var back = AuthorizationResponse.parse(Main.browse(request.toURI()));
        Main.expect(back.indicatesSuccess(), back.toParameters());
        Main.expect(back.getIssuer().getValue().equals(Main.issuer(api)), back.getIssuer());
        var code = back.toSuccessResponse().getAuthorizationCode();
        return tokens(api, client, new AuthorizationCodeGrant(code, URI.create(Main.text("redirect")), verifier));
    }

    private static void codeFlow(ClientAuthentication client) throws Exception {
        var first = signedIn("opaque", client);
        Main.expect(first.getAccessToken().getScope().equals(new Scope("read", "write")), first.getAccessToken().getScope());
        var second = refreshed("opaque", client, first.getRefreshToken());
        Main.expect(second != null, "the refresh was refused");
        Main.expect(Main.use("opaque", first.getAccessToken().getValue()) == 401, "the token of before the refresh is still good");
        Main.expect(Main.use("opaque", second.getAccessToken().getValue()) == 200, "the API refuses the token");
        Main.expect(isActive(client, second.getAccessToken()), "introspection knows no token");
        var gone = new TokenRevocationRequest(metadata("opaque").getRevocationEndpointURI(), client, second.getAccessToken()).toHTTPRequest().send();
        Main.expect(gone.getStatusCode() == 200, gone.getStatusCode());
        Main.expect(!isActive(client, second.getAccessToken()), "introspection knows a revoked token");
    }

    private static boolean isActive(ClientAuthentication client, AccessToken token) throws Exception {
        var request = new TokenIntrospectionRequest(metadata("opaque").getIntrospectionEndpointURI(), client, token);
        return TokenIntrospectionResponse.parse(request.toHTTPRequest().send()).toSuccessResponse().isActive();
    }

    private static void pushed(ClientAuthentication client) throws Exception {
        var verifier = new CodeVerifier();
        var known = metadata("opaque");
        var pushed = new PushedAuthorizationRequest(known.getPushedAuthorizationRequestEndpointURI(), client, asking(client.getClientID(), verifier).build());
        var answer = PushedAuthorizationResponse.parse(pushed.toHTTPRequest().send());
        Main.expect(answer.indicatesSuccess(), answer);
        var uri = answer.toSuccessResponse().getRequestURI();
        var request = new AuthorizationRequest.Builder(uri, client.getClientID()).endpointURI(known.getAuthorizationEndpointURI()).build();
        var tokens = exchanged("opaque", client, request, verifier);
        Main.expect(Main.use("opaque", tokens.getAccessToken().getValue()) == 200, "the API refuses the token");
    }

    private static RSAKey rsa() throws Exception {
        return new RSAKeyGenerator(2048).keyID("one").generate();
    }

    private static ECKey ec() throws Exception {
        return new ECKeyGenerator(Curve.P_256).keyID("one").generate();
    }

    private static void privateKey(com.nimbusds.jose.jwk.JWK key) throws Exception {
        var keys = new JWKSet(key).toString(true);
        var made = Main.desk("/clients/opaque", "{\"auth_method\":\"private_key_jwt\",\"jwks\":" + keys + "}");
        var id = new ClientID((String) made.get("client_id"));
        var alg = key instanceof RSAKey ? JWSAlgorithm.RS256 : JWSAlgorithm.ES256;
        var secret = key instanceof RSAKey one ? one.toPrivateKey() : ((ECKey) key).toPrivateKey();
        // An assertion counts once: each request has its own.
        for (int i = 0; i < 2; i++) {
            var client = new PrivateKeyJWT(id, metadata("opaque").getTokenEndpointURI(), alg, secret, "one", null);
            var tokens = tokens("opaque", client, new ClientCredentialsGrant());
            Main.expect(Main.use("opaque", tokens.getAccessToken().getValue()) == 200, "the API refuses the token");
        }
    }

    private static void twoWorkers(String api, int winners) throws Exception {
        var client = basic(api);
        var token = signedIn(api, client).getRefreshToken();
        var workers = List.of(worker(api, client, token), worker(api, client, token));
        int won = 0;
        for (var worker : workers) {
            var tokens = worker.get();
            if (tokens == null) continue;
            won++;
            if (winners == 2) Main.expect(Main.use(api, tokens.getAccessToken().getValue()) == 200, "the API refuses a token");
        }
        Main.expect(won == winners, won + " won");
    }

    private static CompletableFuture<Tokens> worker(String api, ClientAuthentication client, RefreshToken token) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return refreshed(api, client, token);
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        });
    }

    private static void device(ClientAuthentication client) throws Exception {
        var request = new DeviceAuthorizationRequest(metadata("opaque").getDeviceAuthorizationEndpointURI(), client, new Scope("read"), Map.of());
        var answer = DeviceAuthorizationResponse.parse(request.toHTTPRequest().send());
        Main.expect(answer.indicatesSuccess(), answer);
        var device = answer.toSuccessResponse();
        Main.desk("/device/opaque?user_code=" + device.getUserCode().getValue(), "{}");
        var grant = new DeviceCodeGrant(device.getDeviceCode());
        var tokens = TokenResponse.parse(new TokenRequest.Builder(metadata("opaque").getTokenEndpointURI(), client, grant).build().toHTTPRequest().send());
        Main.expect(tokens.indicatesSuccess(), tokens);
        Main.expect(Main.use("opaque", tokens.toSuccessResponse().getTokens().getAccessToken().getValue()) == 200, "the API refuses the token");
    }

    private static void bound() throws Exception {
        var client = basic("jwt");
        var proofs = new DefaultDPoPProofFactory(ec(), JWSAlgorithm.ES256);
        var verifier = new CodeVerifier();
        var known = metadata("jwt");
        var asked = asking(client.getClientID(), verifier).endpointURI(known.getAuthorizationEndpointURI()).build();
        var code = AuthorizationResponse.parse(Main.browse(asked.toURI())).toSuccessResponse().getAuthorizationCode();
        var grant = new AuthorizationCodeGrant(code, URI.create(Main.text("redirect")), verifier);
        var request = new TokenRequest.Builder(known.getTokenEndpointURI(), client, grant).build().toHTTPRequest();
        request.setDPoP(proofs.createDPoPJWT("POST", known.getTokenEndpointURI()));
        var answer = TokenResponse.parse(request.send());
        Main.expect(answer.indicatesSuccess(), answer);
        var token = answer.toSuccessResponse().getTokens().getDPoPAccessToken();
        var address = URI.create(Main.issuer("jwt") + "/things");
        var call = new HTTPRequest(HTTPRequest.Method.GET, address);
        call.setAuthorization(token.toAuthorizationHeader());
        call.setDPoP(proofs.createDPoPJWT("GET", address, token));
        Main.expect(call.send().getStatusCode() == 200, "the API refuses the token with its proof");
        Main.expect(Main.use("jwt", token.getValue()) == 401, "the token is good without a proof");
    }

    private static void registration() throws Exception {
        var wanted = new ClientMetadata();
        wanted.setRedirectionURI(URI.create("https://client.example/callback"));
        wanted.setName("A client of Nimbus");
        var initial = new BearerAccessToken(Main.text("registration_token"));
        var request = new ClientRegistrationRequest(metadata("opaque").getRegistrationEndpointURI(), wanted, initial);
        var answer = ClientRegistrationResponse.parse(request.toHTTPRequest().send());
        Main.expect(answer.indicatesSuccess(), answer.indicatesSuccess() ? "" : answer.toErrorResponse().getErrorObject().toJSONObject());
        var made = ((ClientInformationResponse) answer).getClientInformation();
        var reading = new ClientReadRequest(made.getRegistrationURI(), made.getRegistrationAccessToken()).toHTTPRequest().send();
        var read = ((ClientInformationResponse) ClientRegistrationResponse.parse(reading)).getClientInformation();
        Main.expect(read.getID().equals(made.getID()) && read.getMetadata().getName().equals("A client of Nimbus"), read.toJSONObject());
        var gone = new ClientDeleteRequest(made.getRegistrationURI(), made.getRegistrationAccessToken()).toHTTPRequest().send();
        Main.expect(gone.getStatusCode() == 204, gone.getStatusCode());
    }

    private static void rotation() throws Exception {
        var client = basic("jwt");
        var known = metadata("jwt");
        // Reads the key set again for a key that it does not know; by default at most every 30 seconds.
        var keys = JWKSourceBuilder.<SecurityContext>create(known.getJWKSetURI().toURL()).rateLimited(false).build();
        var processor = new DefaultJWTProcessor<SecurityContext>();
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt")));
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(JWSAlgorithm.ES256, keys));
        var exact = new JWTClaimsSet.Builder().issuer(Main.issuer("jwt")).build();
        processor.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(exact, Set.of("sub", "aud", "exp", "iat", "jti", "client_id")));
        var before = tokens("jwt", client, new ClientCredentialsGrant()).getAccessToken().getValue();
        processor.process(before, null);
        Main.desk("/rotate", "{}");
        var after = tokens("jwt", client, new ClientCredentialsGrant()).getAccessToken().getValue();
        var claims = processor.process(after, null);
        Main.expect(claims.getSubject().equals(client.getClientID().getValue()), claims);
        Main.expect(Main.use("jwt", after) == 200, "the API refuses the token");
        Main.expect(Main.use("jwt", before) == 401, "a token of the retired key is still good");
    }
}
