package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const (
	oauth2Name = "golang.org/x/oauth2"
	goOIDCName = "github.com/coreos/go-oidc/v3"
)

func oauthCases() {
	for _, style := range []struct {
		name  string
		style oauth2.AuthStyle
	}{{"header", oauth2.AuthStyleInHeader}, {"form", oauth2.AuthStyleInParams}, {"detected", oauth2.AuthStyleAutoDetect}} {
		run(oauth2Name, "code with PKCE, secret: "+style.name, func(ctx context.Context) error {
			return codeFlow(ctx, style.style)
		})
	}
	run(oauth2Name, "code with PKCE, public client", publicFlow)
	run(oauth2Name, "refresh in two workers: one wins", func(ctx context.Context) error { return twoWorkers(ctx, "opaque", 1) })
	run(oauth2Name, "refresh in two workers with a grace period: both win", func(ctx context.Context) error {
		return twoWorkers(ctx, "graceful", 2)
	})
	run(oauth2Name, "client credentials", clientCredentials)
	run(oauth2Name, "device, public client", device)
	run(goOIDCName, "code with PKCE by discovery", discovered)
	run(goOIDCName, "JWT validation across a key rotation", rotation)
	zitadelCases()
	jwxCases()
}

func issuer(api string) string {
	return world.HTTPS + "/" + api
}

// The libraries take their HTTP client from the context.
func withClient(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, trusting())
}

func endpoint(api string, style oauth2.AuthStyle) oauth2.Endpoint {
	base := issuer(api) + "/oauth/"
	return oauth2.Endpoint{AuthURL: base + "authorize", TokenURL: base + "token", DeviceAuthURL: base + "device_authorization", AuthStyle: style}
}

// Registers a client, more members as the administration API takes them.
func registered(ctx context.Context, api string, style oauth2.AuthStyle, fields map[string]any) (*oauth2.Config, error) {
	made, err := desk(ctx, "/clients/"+api, fields)
	if err != nil {
		return nil, err
	}
	return &oauth2.Config{
		ClientID:     made["client_id"],
		ClientSecret: made["client_secret"],
		RedirectURL:  world.Redirect,
		Scopes:       []string{"read", "write"},
		Endpoint:     endpoint(api, style),
	}, nil
}

func signIn(ctx context.Context, config *oauth2.Config) (*oauth2.Token, error) {
	verifier := oauth2.GenerateVerifier()
	found, err := browse(config.AuthCodeURL("the-state", oauth2.S256ChallengeOption(verifier)))
	if err != nil {
		return nil, err
	}
	if found["state"] != "the-state" {
		return nil, fmt.Errorf("came back with %v", found)
	}
	return config.Exchange(ctx, found["code"], oauth2.VerifierOption(verifier))
}

// Calls the protected API.
func use(client *http.Client, api string) error {
	response, err := client.Get(issuer(api) + "/things")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("the API answered %d: %s", response.StatusCode, text)
	}
	return nil
}

func bearer(token string) *http.Client {
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})
	return oauth2.NewClient(withClient(context.Background()), source)
}

func codeFlow(ctx context.Context, style oauth2.AuthStyle) error {
	ctx = withClient(ctx)
	config, err := registered(ctx, "opaque", style, nil)
	if err != nil {
		return err
	}
	token, err := signIn(ctx, config)
	if err != nil {
		return err
	}
	if token.RefreshToken == "" || token.Extra("scope") != "read write" {
		return fmt.Errorf("scope %v, refresh token %q", token.Extra("scope"), token.RefreshToken)
	}
	if err := use(config.Client(ctx, token), "opaque"); err != nil {
		return err
	}
	next, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	if err != nil {
		return err
	}
	if use(bearer(token.AccessToken), "opaque") == nil {
		return errors.New("the token of before the refresh is still good")
	}
	return use(bearer(next.AccessToken), "opaque")
}

func publicFlow(ctx context.Context) error {
	ctx = withClient(ctx)
	config, err := registered(ctx, "opaque", oauth2.AuthStyleAutoDetect, map[string]any{"auth_method": "none"})
	if err != nil {
		return err
	}
	token, err := signIn(ctx, config)
	if err != nil {
		return err
	}
	return use(config.Client(ctx, token), "opaque")
}

func twoWorkers(ctx context.Context, api string, winners int) error {
	ctx = withClient(ctx)
	config, err := registered(ctx, api, oauth2.AuthStyleInHeader, nil)
	if err != nil {
		return err
	}
	token, err := signIn(ctx, config)
	if err != nil {
		return err
	}
	tokens := make([]*oauth2.Token, 2)
	errs := make([]error, 2)
	var group sync.WaitGroup
	for i := range tokens {
		group.Go(func() {
			tokens[i], errs[i] = config.TokenSource(ctx, &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
		})
	}
	group.Wait()
	won := 0
	for i, next := range tokens {
		if errs[i] == nil {
			won++
			if winners == 2 {
				errs[i] = use(bearer(next.AccessToken), api)
			}
		} else if refused := new(oauth2.RetrieveError); winners == 1 && errors.As(errs[i], &refused) && refused.ErrorCode == "invalid_grant" {
			errs[i] = nil
		}
	}
	if won != winners {
		return fmt.Errorf("%d of two refreshes were answered with a token: %w", won, errors.Join(errs...))
	}
	return errors.Join(errs...)
}

func clientCredentials(ctx context.Context) error {
	ctx = withClient(ctx)
	config, err := registered(ctx, "opaque", oauth2.AuthStyleAutoDetect, nil)
	if err != nil {
		return err
	}
	own := clientcredentials.Config{
		ClientID: config.ClientID, ClientSecret: config.ClientSecret, TokenURL: config.Endpoint.TokenURL, Scopes: []string{"read"},
	}
	return use(own.Client(ctx), "opaque")
}

func device(ctx context.Context) error {
	ctx = withClient(ctx)
	// The library never authenticates a client at the device endpoint, which RFC 8628 section 3.1 asks of confidential ones.
	config, err := registered(ctx, "opaque", oauth2.AuthStyleInParams, map[string]any{"auth_method": "none"})
	if err != nil {
		return err
	}
	asked, err := config.DeviceAuth(ctx)
	if err != nil {
		return err
	}
	if !strings.Contains(asked.VerificationURIComplete, url.QueryEscape(asked.UserCode)) {
		return fmt.Errorf("sent to %s", asked.VerificationURIComplete)
	}
	if _, err := desk(ctx, "/device/opaque?user_code="+url.QueryEscape(asked.UserCode), nil); err != nil {
		return err
	}
	token, err := config.DeviceAccessToken(ctx, asked)
	if err != nil {
		return err
	}
	return use(config.Client(ctx, token), "opaque")
}

func discovered(ctx context.Context) error {
	ctx = oidc.ClientContext(ctx, trusting())
	provider, err := oidc.NewProvider(ctx, issuer("jwt"))
	if err != nil {
		return err
	}
	config, err := registered(ctx, "jwt", oauth2.AuthStyleAutoDetect, nil)
	if err != nil {
		return err
	}
	config.Endpoint = provider.Endpoint()
	token, err := signIn(ctx, config)
	if err != nil {
		return err
	}
	return use(config.Client(ctx, token), "jwt")
}

// The verifier reads the key set again when a token names a key that it does not know.
func rotation(ctx context.Context) error {
	ctx = oidc.ClientContext(ctx, trusting())
	provider, err := oidc.NewProvider(ctx, issuer("jwt"))
	if err != nil {
		return err
	}
	config, err := registered(ctx, "jwt", oauth2.AuthStyleInHeader, nil)
	if err != nil {
		return err
	}
	verifier := provider.VerifierContext(ctx, &oidc.Config{SkipClientIDCheck: true, SupportedSigningAlgs: []string{"ES256"}})
	before, err := validated(ctx, config, verifier)
	if err != nil {
		return err
	}
	if _, err := desk(ctx, "/rotate", nil); err != nil {
		return err
	}
	after, err := validated(ctx, config, verifier)
	if err != nil {
		return fmt.Errorf("after the rotation: %w", err)
	}
	if err := use(bearer(after), "jwt"); err != nil {
		return err
	}
	if use(bearer(before), "jwt") == nil {
		return errors.New("a token of the retired key is still good")
	}
	return nil
}

func validated(ctx context.Context, config *oauth2.Config, verifier *oidc.IDTokenVerifier) (string, error) {
	own := clientcredentials.Config{ClientID: config.ClientID, ClientSecret: config.ClientSecret, TokenURL: config.Endpoint.TokenURL}
	token, err := own.Token(ctx)
	if err != nil {
		return "", err
	}
	claims, err := verifier.Verify(ctx, token.AccessToken)
	if err != nil {
		return "", err
	}
	if claims.Subject != config.ClientID {
		return "", fmt.Errorf("a token of %s", claims.Subject)
	}
	return token.AccessToken, nil
}
