package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/client"
	"github.com/zitadel/oidc/v3/pkg/client/rp"
	"github.com/zitadel/oidc/v3/pkg/client/rs"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"golang.org/x/oauth2"
)

const zitadelName = "github.com/zitadel/oidc/v3"

func zitadelCases() {
	run(zitadelName, "discovery and code with PKCE", zitadelCode)
	run(zitadelName, "client credentials, introspection and revocation", zitadelTokens)
	run(zitadelName, "device", zitadelDevice)
	run(zitadelName, "private_key_jwt: code with PKCE, refresh, introspection", zitadelKey)
	run(zitadelName, "JWT validation by the published keys", zitadelKeys)
}

func party(ctx context.Context, api string) (rp.RelyingParty, *oauth2.Config, error) {
	config, err := registered(ctx, api, oauth2.AuthStyleInHeader, nil)
	if err != nil {
		return nil, nil, err
	}
	found, err := rp.NewRelyingPartyOIDC(ctx, issuer(api), config.ClientID, config.ClientSecret, world.Redirect, config.Scopes,
		rp.WithHTTPClient(trusting()))
	return found, config, err
}

func zitadelCode(ctx context.Context) error {
	found, _, err := party(ctx, "jwt")
	if err != nil {
		return err
	}
	verifier := oauth2.GenerateVerifier()
	back, err := browse(rp.AuthURL("the-state", found, rp.WithCodeChallenge(oauth2.S256ChallengeFromVerifier(verifier))))
	if err != nil {
		return err
	}
	// There is no ID token: an authorization server is not an OpenID provider.
	tokens, err := rp.CodeExchange[*oidc.IDTokenClaims](ctx, back["code"], found, rp.WithCodeVerifier(verifier))
	if err != nil && !errors.Is(err, rp.ErrMissingIDToken) {
		return err
	}
	if tokens == nil || tokens.Token == nil {
		return fmt.Errorf("no token: %w", err)
	}
	return use(bearer(tokens.AccessToken), "jwt")
}

func zitadelTokens(ctx context.Context) error {
	found, config, err := party(ctx, "opaque")
	if err != nil {
		return err
	}
	token, err := rp.ClientCredentials(ctx, found, url.Values{})
	if err != nil {
		return err
	}
	server, err := rs.NewResourceServerClientCredentials(ctx, issuer("opaque"), config.ClientID, config.ClientSecret, rs.WithClient(trusting()))
	if err != nil {
		return err
	}
	for _, active := range []bool{true, false} {
		told, err := rs.Introspect[*oidc.IntrospectionResponse](ctx, server, token.AccessToken)
		if err != nil {
			return err
		}
		if told.Active != active || (active && told.ClientID != config.ClientID) {
			return fmt.Errorf("introspection told %+v", told)
		}
		if err := rp.RevokeToken(ctx, found, token.AccessToken, "access_token"); err != nil {
			return err
		}
	}
	return nil
}

// Authenticates by assertions in every request; each is good once.
func zitadelKey(ctx context.Context) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	public := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: private.Public(), KeyID: "one"}}}
	config, err := registered(ctx, "opaque", oauth2.AuthStyleInParams, map[string]any{"auth_method": "private_key_jwt", "jwks": public})
	if err != nil {
		return err
	}
	found, err := rp.NewRelyingPartyOIDC(ctx, issuer("opaque"), config.ClientID, "", world.Redirect, config.Scopes,
		rp.WithHTTPClient(trusting()), rp.WithJWTProfile(rp.SignerFromKeyAndKeyID(key, "one")), rp.WithAuthStyle(oauth2.AuthStyleInParams))
	if err != nil {
		return err
	}
	verifier := oauth2.GenerateVerifier()
	back, err := browse(rp.AuthURL("the-state", found, rp.WithCodeChallenge(oauth2.S256ChallengeFromVerifier(verifier))))
	if err != nil {
		return err
	}
	assertion, err := client.SignedJWTProfileAssertion(config.ClientID, []string{issuer("opaque")}, time.Hour, found.Signer())
	if err != nil {
		return err
	}
	tokens, err := rp.CodeExchange[*oidc.IDTokenClaims](ctx, back["code"], found, rp.WithCodeVerifier(verifier), rp.WithClientAssertionJWT(assertion))
	if err != nil && !errors.Is(err, rp.ErrMissingIDToken) {
		return err
	}
	next, err := rp.RefreshTokens[*oidc.IDTokenClaims](ctx, found, tokens.RefreshToken, "", "")
	if err != nil {
		return err
	}
	server, err := rs.NewResourceServerJWTProfile(ctx, issuer("opaque"), config.ClientID, "one", key, rs.WithClient(trusting()))
	if err != nil {
		return err
	}
	told, err := rs.Introspect[*oidc.IntrospectionResponse](ctx, server, next.AccessToken)
	if err != nil {
		return err
	}
	if !told.Active {
		return fmt.Errorf("introspection told %+v", told)
	}
	return use(bearer(next.AccessToken), "opaque")
}

func zitadelDevice(ctx context.Context) error {
	found, _, err := party(ctx, "opaque")
	if err != nil {
		return err
	}
	asked, err := rp.DeviceAuthorization(ctx, []string{"read"}, found, nil)
	if err != nil {
		return err
	}
	if _, err := desk(ctx, "/device/opaque?user_code="+url.QueryEscape(asked.UserCode), nil); err != nil {
		return err
	}
	token, err := rp.DeviceAccessToken(ctx, asked.DeviceCode, time.Duration(asked.Interval)*time.Second, found)
	if err != nil {
		return err
	}
	return use(bearer(token.AccessToken), "opaque")
}

func zitadelKeys(ctx context.Context) error {
	found, _, err := party(ctx, "jwt")
	if err != nil {
		return err
	}
	token, err := rp.ClientCredentials(ctx, found, url.Values{})
	if err != nil {
		return err
	}
	claims := new(oidc.AccessTokenClaims)
	payload, err := oidc.ParseToken(token.AccessToken, claims)
	if err != nil {
		return err
	}
	if err := oidc.CheckIssuer(claims, issuer("jwt")); err != nil {
		return err
	}
	keys := found.IDTokenVerifier().KeySet
	return oidc.CheckSignature(ctx, token.AccessToken, payload, claims, []string{"ES256"}, keys)
}
