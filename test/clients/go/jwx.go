package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const jwxName = "github.com/lestrrat-go/jwx/v3"

func jwxCases() {
	run(jwxName, "JWT validation across a key rotation", func(ctx context.Context) error {
		config, err := registered(ctx, "jwt", oauth2.AuthStyleInHeader, nil)
		if err != nil {
			return err
		}
		before, err := parsed(ctx, config)
		if err != nil {
			return err
		}
		if _, err := desk(ctx, "/rotate", nil); err != nil {
			return err
		}
		if _, err := parsed(ctx, config); err != nil {
			return fmt.Errorf("after the rotation: %w", err)
		}
		keys, err := publishedKeys(ctx)
		if err != nil {
			return err
		}
		if _, err := jwt.ParseString(before, jwt.WithKeySet(keys)); err == nil {
			return errors.New("the key set still has the retired key")
		}
		return nil
	})
}

func publishedKeys(ctx context.Context) (jwk.Set, error) {
	return jwk.Fetch(ctx, issuer("jwt")+"/oauth/jwks", jwk.WithHTTPClient(trusting()))
}

func parsed(ctx context.Context, config *oauth2.Config) (string, error) {
	own := clientcredentials.Config{ClientID: config.ClientID, ClientSecret: config.ClientSecret, TokenURL: config.Endpoint.TokenURL}
	token, err := own.Token(withClient(ctx))
	if err != nil {
		return "", err
	}
	keys, err := publishedKeys(ctx)
	if err != nil {
		return "", err
	}
	_, err = jwt.ParseString(token.AccessToken, jwt.WithKeySet(keys), jwt.WithIssuer(issuer("jwt")), jwt.WithAudience(issuer("jwt")),
		jwt.WithSubject(config.ClientID))
	return token.AccessToken, err
}
