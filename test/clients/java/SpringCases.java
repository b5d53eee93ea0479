import com.nimbusds.oauth2.sdk.ClientCredentialsGrant;
import org.springframework.security.oauth2.jwt.JwtDecoders;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.resource.introspection.BadOpaqueTokenException;
import org.springframework.security.oauth2.server.resource.introspection.SpringOpaqueTokenIntrospector;

/** The parts of Spring's resource server that look at tokens. */
class SpringCases {
    private static final String NAME = "spring-security-oauth2-resource-server";

    static void run() {
        Main.run(NAME, "JWT validation by the issuer, across a key rotation", SpringCases::jwt);
        Main.run(NAME, "introspection of opaque tokens", SpringCases::opaque);
    }

    private static void jwt() throws Exception {
        var client = OAuthCases.basic("jwt");
        var issuer = Main.issuer("jwt");
        NimbusJwtDecoder decoder = JwtDecoders.fromIssuerLocation(issuer);
        // Spring's default takes tokens of the type JWT alone; this is its validator for access tokens (RFC 9068).
        decoder.setJwtValidator(JwtValidators.createAtJwtValidator()
                .issuer(issuer)
                .audience(issuer)
                .clientId(client.getClientID().getValue())
                .build());
        var before = OAuthCases.tokens("jwt", client, new ClientCredentialsGrant()).getAccessToken().getValue();
        Main.expect(decoder.decode(before).getSubject().equals(client.getClientID().getValue()), "another subject");
        Main.desk("/rotate", "{}");
        var after = OAuthCases.tokens("jwt", client, new ClientCredentialsGrant()).getAccessToken().getValue();
        Main.expect(decoder.decode(after).getClaimAsStringList("scope") != null, "no scope");
    }

    private static void opaque() throws Exception {
        var client = OAuthCases.basic("opaque");
        var introspector = SpringOpaqueTokenIntrospector
                .withIntrospectionUri(OAuthCases.metadata("opaque").getIntrospectionEndpointURI().toString())
                .clientId(client.getClientID().getValue())
                .clientSecret(client.getClientSecret().getValue())
                .build();
        var token = OAuthCases.tokens("opaque", client, new ClientCredentialsGrant()).getAccessToken().getValue();
        var principal = introspector.introspect(token);
        Main.expect(principal.getAuthorities().toString().contains("SCOPE_read"), principal.getAuthorities());
        try {
            introspector.introspect("not-a-token-of-this-server");
            Main.expect(false, "a foreign token was taken");
        } catch (BadOpaqueTokenException refused) {
            // As it should be.
        }
    }
}
