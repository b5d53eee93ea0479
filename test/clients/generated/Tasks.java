// Everyday tasks through the client that openapi-generator writes for Java: each call compiles, and is answered with 200.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Tasks {
  interface Run {
    void now() throws Exception;
  }

  static void task(String flow, Run run) throws Exception {
    var line = new java.util.LinkedHashMap<String, String>(Map.of("client", "openapi-generator-cli", "flow", "Java: " + flow));
    try {
      run.now();
    } catch (Exception error) {
      line.put("failed", error.toString());
    }
    System.out.println(new ObjectMapper().writeValueAsString(line));
  }

  static OpenapiDefinition definition(ApiClient client, String id, String scheme) throws Exception {
    var text = """
        {"openapi": "3.0.3", "info": {"title": "ID", "version": "1"}, "paths": {},
         "components": {"securitySchemes": {"own": SCHEME}}, "security": [{"own": []}],
         "x-svc-api-gateway": {
           "info": {"id": "ID", "name": "ID", "state": {"active": true}},
           "upstream": {"url": "http://127.0.0.1:9/"},
           "server": {
             "listenPath": {"value": "/ID/", "strip": true},
             "authentication": {"enabled": true, "securitySchemes": {"own": {"enabled": true}}}}}}
        """;
    return client.getObjectMapper().readValue(text.replace("ID", id).replace("SCHEME", scheme), OpenapiDefinition.class);
  }

  static Map<String, AccessRight> rights(String id) {
    return Map.of(id, new AccessRight().apiId(id).versions(List.of("Default")));
  }

  public static void main(String[] words) throws Exception {
    JsonNode world = new ObjectMapper().readTree(new File(System.getenv("CLIENTS_WORLD")));
    var credential = world.get("credentials").get("java").asText();
    var client = new ApiClient();
    client.updateBaseUri(world.get("dashboard").asText());
    client.setRequestInterceptor(request -> request.header("Authorization", credential));
    var state = new java.util.HashMap<String, String>();
    var keys = new KeysApi(client);
    var apps = new OauthClientsApi(client);
    var developers = new DevelopersApi(client);

    task("an API: create, read, change", () -> {
      var apis = new ApisApi(client);
      var key = "{\"type\": \"apiKey\", \"in\": \"header\", \"name\": \"Authorization\"}";
      var flows = "{\"type\": \"oauth2\", \"flows\": {\"clientCredentials\": {\"tokenUrl\": \"oauth/token\", \"scopes\": {}}}}";
      var id = apis.createOpenapiApi(definition(client, "java-tasks", key), null, null, null, null, null, null).getID();
      apis.createOpenapiApi(definition(client, "java-shop", flows), null, null, null, null, null, null);
      var read = apis.getOpenapiApi(id, null, null);
      apis.updateOpenapiApi(id, read, null);
      if (!apis.getOpenapiApi(id, null, null).equals(read)) throw new Exception("the definition has changed");
    });
    task("a policy: create, read, change", () -> {
      var policies = new PoliciesApi(client);
      policies.createPolicy(
          new Policy().id("java-gold").name("Gold").active(true).rate(new BigDecimal(5)).per(new BigDecimal(60)).accessRights(rights("java-tasks")),
          null,
          null);
      policies.createPolicy(new Policy().id("java-app").name("App").accessRights(rights("java-shop")), null, null);
      var policy = policies.getPolicy("java-gold", null);
      policies.updatePolicy("java-gold", policy.tags(List.of("changed")), null, null);
    });
    task("a key: create, read, change and keep its limits", () -> {
      var session = new Session().rate(new BigDecimal(5)).per(new BigDecimal(60)).accessRights(rights("java-tasks"));
      var hash = keys.createKey(session, null, null, null).getKeyHash();
      var read = keys.getKey(hash, "1", null, null, null, null).getData();
      keys.updateKey(hash, read.tags(List.of("changed")), "1", null, null, null, null, null);
      var after = keys.getKey(hash, "1", null, null, null, null).getData();
      if (after.getRate().intValue() != 5) throw new Exception("the rate is " + after.getRate());
    });
    task("an OAuth client: create, read", () -> {
      var body = new OauthClientInput().redirectUri("https://app.example/").policyId("java-app");
      state.put("app", apps.createOauthClient("java-shop", body, null).getClientId());
      apps.getOauthClient("java-shop", state.get("app"), null);
    });
    task("revoke tokens", () -> {
      apps.listApiOauthClientTokens("java-shop", state.get("app"), null, null);
      apps.revokeApiOauthClientTokens("java-shop", state.get("app"), null);
    });
    task("a developer with a subscription", () -> {
      var entry = new CatalogueEntryInput().name("Gold").policyId("java-gold").show(true);
      new PortalApi(client).createCatalogue(new CatalogueInput().apis(List.of(entry)), null);
      var developer = developers.createDeveloper(new DeveloperInput().email("dev@example.com"), null).getMessage();
      developers.createDeveloperSubscription(developer, new AccessInput().applyPolicies(List.of("java-gold")), null);
    });
    task("approve a request", () -> {
      var requests = new KeyRequestsApi(client);
      var configuration = new PortalConfigurationInput().requireKeyApproval(true).enableMultiSelection(true);
      new PortalApi(client).updatePortalConfiguration(null, configuration);
      var other = developers.createDeveloper(new DeveloperInput().email("other@example.com"), null).getMessage();
      var wish = new KeyRequestInput().byUser(other).applyPolicies(List.of("java-gold"));
      requests.approveKeyRequest(requests.createKeyRequest(wish, null).getMessage(), null);
    });
    task("analytics", () ->
        new AnalyticsApi(client)
            .listUsageByApi(
                1, 1, 2024, 31, 12, 2024, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null));
    task("users and groups", () -> {
      var users = new UsersApi(client);
      Map<String, Object> readers = Map.of("apis", "read");
      var group = new UserGroupsApi(client)
          .createUserGroup(new UserGroupInput().name("Readers").userPermissions(readers), null)
          .getMeta();
      var person = new UserInput().firstName("Ada").lastName("L").emailAddress("ada.java@example.com");
      person.password("a-Long-enough-1").active(true).groupId(group).userPermissions(readers);
      users.getUser(users.createUser(person, null).getMeta(), null);
      users.listUsers(null, null, null);
    });
    task("labels", () -> {
      var labels = new LabelsApi(client);
      labels.createLabel(new LabelInput().name("Team").values(List.of("a", "b")), null);
      labels.listLabels(null, null);
    });
    task("node tags", () -> {
      var system = new SystemApi(client);
      system.listPlacement("edge");
      system.listNodes(null);
    });
    task("certificates", () -> {
      var certificates = new CertificatesApi(client);
      var file = Files.writeString(Path.of(System.getenv("output"), "server.pem"), world.get("certificate").asText());
      var id = certificates.createCertificate(file.toFile(), null).getId();
      certificates.getCertificate(id, null);
      certificates.deleteCertificate(id, null);
    });
  }
}
