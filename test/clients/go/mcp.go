package main

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

const mcpName = "github.com/modelcontextprotocol/go-sdk"

// MCP's Go SDK at an MCP server behind the product: it is given the server's address and nothing else.
func mcpCases() {
	for _, method := range []string{"none", "client_secret_basic", "client_secret_post"} {
		run(mcpName, "sign-in by the address alone, call of a tool: "+method, func(ctx context.Context) error {
			return mcpSignIn(ctx, method)
		})
	}
}

func mcpSignIn(ctx context.Context, method string) error {
	visits := 0
	fetch := func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		visits++
		found, err := browse(args.URL)
		if err != nil {
			return nil, err
		}
		return &auth.AuthorizationResult{Code: found["code"], State: found["state"], Iss: found["iss"]}, nil
	}
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName:              "Go",
				RedirectURIs:            []string{world.Redirect},
				TokenEndpointAuthMethod: method,
				GrantTypes:              []string{"authorization_code", "refresh_token"},
			},
		},
		AuthorizationCodeFetcher: fetch,
		Client:                   trusting(),
	})
	if err != nil {
		return err
	}
	for range 2 {
		if err := mcpUse(ctx, handler); err != nil {
			return err
		}
	}
	if visits != 1 {
		return fmt.Errorf("the user signed in %d times", visits)
	}
	return nil
}

func mcpUse(ctx context.Context, handler auth.OAuthHandler) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1.0.0"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: issuer("mcp"), HTTPClient: trusting(), OAuthHandler: handler}
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	if len(listed.Tools) != 1 || listed.Tools[0].Name != "list_notes" {
		return fmt.Errorf("the server lists %d tools", len(listed.Tools))
	}
	called, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "list_notes"})
	if err != nil {
		return err
	}
	if text, ok := called.Content[0].(*mcp.TextContent); !ok || text.Text != "list_notes done" {
		return fmt.Errorf("the tool answered %v", called.Content)
	}
	return nil
}
