//go:build ignore

// Everyday tasks through the client that oapi-codegen writes: each call compiles, and is answered with 200.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"

	. "gatehouse/generated/openapi"
)

var ctx = context.Background()

// The answer of a call, which must be 200.
type answer interface{ StatusCode() int }

func taken[A answer](given A, err error) A {
	if err != nil {
		panic(err)
	}
	if given.StatusCode() != 200 {
		panic(fmt.Sprintf("%T: status %d", given, given.StatusCode()))
	}
	return given
}

func task(flow string, run func()) {
	line := map[string]string{"client": "github.com/oapi-codegen/oapi-codegen/v2", "flow": flow}
	defer func() {
		if failed := recover(); failed != nil {
			line["failed"] = fmt.Sprint(failed)
		}
		text, _ := json.Marshal(line)
		fmt.Println(string(text))
	}()
	run()
}

func to[T any](value T) *T { return &value }

func definition(id string, scheme map[string]interface{}) OpenapiDefinition {
	text, _ := json.Marshal(map[string]interface{}{
		"openapi": "3.0.3", "info": map[string]string{"title": id, "version": "1"}, "paths": map[string]string{},
		"components": map[string]interface{}{"securitySchemes": map[string]interface{}{"own": scheme}},
		"security":   []interface{}{map[string]interface{}{"own": []string{}}},
		"x-svc-api-gateway": map[string]interface{}{
			"info":     map[string]interface{}{"id": id, "name": id, "state": map[string]bool{"active": true}},
			"upstream": map[string]string{"url": "http://127.0.0.1:9/"},
			"server": map[string]interface{}{
				"listenPath": map[string]interface{}{"value": "/" + id + "/", "strip": true},
				"authentication": map[string]interface{}{
					"enabled": true, "securitySchemes": map[string]interface{}{"own": map[string]bool{"enabled": true}},
				},
			},
		},
	})
	var made OpenapiDefinition
	if err := json.Unmarshal(text, &made); err != nil {
		panic(err)
	}
	return made
}

func rights(id string) *map[string]AccessRight {
	return &map[string]AccessRight{id: {ApiId: to(id), Versions: &[]string{"Default"}}}
}

func main() {
	file, err := os.ReadFile(os.Getenv("CLIENTS_WORLD"))
	if err != nil {
		panic(err)
	}
	var world struct {
		Dashboard, Certificate string
		Credentials            map[string]string
	}
	if err := json.Unmarshal(file, &world); err != nil {
		panic(err)
	}
	credential := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", world.Credentials["oapi-codegen"])
		return nil
	}
	client, err := NewClientWithResponses(world.Dashboard, WithRequestEditorFn(credential))
	if err != nil {
		panic(err)
	}
	var app, developer string

	task("an API: create, read, change", func() {
		key := map[string]interface{}{"type": "apiKey", "in": "header", "name": "Authorization"}
		made := taken(client.CreateOpenapiApiWithResponse(ctx, nil, definition("go-tasks", key)))
		flows := map[string]interface{}{"clientCredentials": map[string]interface{}{"tokenUrl": "oauth/token", "scopes": map[string]string{}}}
		taken(client.CreateOpenapiApiWithResponse(ctx, nil, definition("go-shop", map[string]interface{}{"type": "oauth2", "flows": flows})))
		read := taken(client.GetOpenapiApiWithResponse(ctx, made.JSON200.ID, nil))
		taken(client.UpdateOpenapiApiWithResponse(ctx, made.JSON200.ID, nil, *read.JSON200))
		again := taken(client.GetOpenapiApiWithResponse(ctx, made.JSON200.ID, nil))
		if !bytes.Equal(again.Body, read.Body) {
			panic("the definition has changed")
		}
	})
	task("a policy: create, read, change", func() {
		gold := Policy{Id: to("go-gold"), Name: to("Gold"), Active: to(true), Rate: to[float32](5), Per: to[float32](60), AccessRights: rights("go-tasks")}
		taken(client.CreatePolicyWithResponse(ctx, nil, gold))
		taken(client.CreatePolicyWithResponse(ctx, nil, Policy{Id: to("go-app"), Name: to("App"), AccessRights: rights("go-shop")}))
		policy := *taken(client.GetPolicyWithResponse(ctx, "go-gold", nil)).JSON200
		policy.Tags = &[]string{"changed"}
		taken(client.UpdatePolicyWithResponse(ctx, "go-gold", nil, policy))
	})
	task("a key: create, read, change and keep its limits", func() {
		session := Session{Rate: to[float32](5), Per: to[float32](60), AccessRights: rights("go-tasks")}
		hash := taken(client.CreateKeyWithResponse(ctx, nil, session)).JSON200.KeyHash
		read := taken(client.GetKeyWithResponse(ctx, hash, &GetKeyParams{Hashed: to("1")})).JSON200.Data
		read.Tags = &[]string{"changed"}
		taken(client.UpdateKeyWithResponse(ctx, hash, &UpdateKeyParams{Hashed: to("1")}, read))
		after := taken(client.GetKeyWithResponse(ctx, hash, &GetKeyParams{Hashed: to("1")})).JSON200.Data
		if *after.Rate != 5 || (*after.Tags)[0] != "changed" {
			panic(fmt.Sprintf("the rate is %v", *after.Rate))
		}
	})
	task("an OAuth client: create, read", func() {
		body := OauthClientInput{RedirectUri: to("https://app.example/"), PolicyId: to("go-app")}
		app = taken(client.CreateOauthClientWithResponse(ctx, "go-shop", nil, body)).JSON200.ClientId
		taken(client.GetOauthClientWithResponse(ctx, "go-shop", app, nil))
	})
	task("revoke tokens", func() {
		taken(client.ListApiOauthClientTokensWithResponse(ctx, "go-shop", app, nil))
		taken(client.RevokeApiOauthClientTokensWithResponse(ctx, "go-shop", app, nil))
	})
	task("a developer with a subscription", func() {
		entry := CatalogueEntryInput{Name: to("Gold"), PolicyId: to("go-gold"), Show: to(true)}
		taken(client.CreateCatalogueWithResponse(ctx, nil, CatalogueInput{Apis: &[]CatalogueEntryInput{entry}}))
		developer = taken(client.CreateDeveloperWithResponse(ctx, nil, DeveloperInput{Email: "dev@example.com"})).JSON200.Message
		access := AccessInput{ApplyPolicies: &[]string{"go-gold"}}
		taken(client.CreateDeveloperSubscriptionWithResponse(ctx, developer, nil, access))
	})
	task("approve a request", func() {
		configuration := PortalConfigurationInput{RequireKeyApproval: to(true), EnableMultiSelection: to(true)}
		taken(client.UpdatePortalConfigurationWithResponse(ctx, nil, configuration))
		other := taken(client.CreateDeveloperWithResponse(ctx, nil, DeveloperInput{Email: "other@example.com"})).JSON200.Message
		wish := KeyRequestInput{ByUser: &other, ApplyPolicies: &[]string{"go-gold"}}
		id := taken(client.CreateKeyRequestWithResponse(ctx, nil, wish)).JSON200.Message
		taken(client.ApproveKeyRequestWithResponse(ctx, id, nil))
	})
	task("analytics", func() {
		taken(client.ListUsageByApiWithResponse(ctx, 1, 1, 2024, 31, 12, 2024, nil))
	})
	task("users and groups", func() {
		readers := map[string]interface{}{"apis": "read"}
		group := taken(client.CreateUserGroupWithResponse(ctx, nil, UserGroupInput{Name: to("Readers"), UserPermissions: &readers})).JSON200.Meta
		person := UserInput{
			FirstName: to("Ada"), LastName: to("L"), EmailAddress: "ada.go@example.com", Password: to("a-Long-enough-1"),
			Active: to(true), GroupId: &group, UserPermissions: &readers,
		}
		id := taken(client.CreateUserWithResponse(ctx, nil, person)).JSON200.Meta
		taken(client.GetUserWithResponse(ctx, id, nil))
		taken(client.ListUsersWithResponse(ctx, nil))
	})
	task("labels", func() {
		taken(client.CreateLabelWithResponse(ctx, nil, LabelInput{Name: to("Team"), Values: &[]string{"a", "b"}}))
		taken(client.ListLabelsWithResponse(ctx, nil))
	})
	task("node tags", func() {
		taken(client.ListPlacementWithResponse(ctx, &ListPlacementParams{Tags: to("edge")}))
		taken(client.ListNodesWithResponse(ctx, nil))
	})
	task("certificates", func() {
		var form bytes.Buffer
		parts := multipart.NewWriter(&form)
		part, _ := parts.CreateFormFile("file", "server.pem")
		part.Write([]byte(world.Certificate))
		parts.Close()
		id := taken(client.CreateCertificateWithBodyWithResponse(ctx, nil, parts.FormDataContentType(), &form)).JSON200.Id
		taken(client.GetCertificateWithResponse(ctx, id, nil))
		taken(client.DeleteCertificateWithResponse(ctx, id, nil))
	})
}
