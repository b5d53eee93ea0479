import { anyNumber, anything, bool, list, map, object, type Schema, text, unserved } from './schema.ts'

const plugin = () =>
  object({ disabled: bool(), name: text(), path: text(), require_session: bool(), raw_body_only: bool(), code: text() })

const header = () => object({ enabled: bool(), name: text() })

const discovery = () =>
  object({
    cache_disabled: bool(),
    cache_timeout: anyNumber(),
    data_path: text(),
    endpoint_returns_list: bool(),
    parent_data_path: text(),
    port_data_path: text(),
    query_endpoint: text(),
    target_path: text(),
    use_discovery_service: bool(),
    use_nested_query: bool(),
    use_target_list: bool(),
  })

const store = () =>
  unserved(
    'has no effect: keys are in the store of this installation',
    object({ name: text(), storage_engine: text(), meta: map(anything()) }),
  )

const jq = () => list(object({ filter: text(), method: text(), path: text() }))

const OF_PLUGINS = 'has no effect without a plugin'

const externalOauth = () =>
  object({
    providers: list(
      object({
        introspection: object({
          cache: object({ enabled: bool(), timeout: anyNumber() }),
          client_id: text(),
          client_secret: text(),
          enabled: bool(),
          identity_base_field: text(),
          url: text(),
        }),
        jwt: object({
          enabled: bool(),
          expires_at_validation_skew: anyNumber(),
          identity_base_field: text(),
          issued_at_validation_skew: anyNumber(),
          not_before_validation_skew: anyNumber(),
          signing_method: text(),
          source: text(),
        }),
      }),
    ),
  })

const graphql = () =>
  object({
    enabled: bool(),
    engine: object({
      data_sources: list(
        object({
          config: anything(),
          internal: bool(),
          kind: text(),
          name: text(),
          root_fields: list(object({ fields: list(text()), type: text() })),
        }),
      ),
      field_configs: list(
        object({ disable_default_mapping: bool(), field_name: text(), path: list(text()), type_name: text() }),
      ),
      global_headers: list(object({ key: text(), value: text() })),
    }),
    execution_mode: text(),
    introspection: object({ disabled: bool() }),
    last_schema_update: text(),
    playground: object({ enabled: bool(), path: text() }),
    proxy: object({
      auth_headers: map(text()),
      features: object({ use_immutable_headers: bool() }),
      request_headers: map(text()),
      request_headers_rewrite: map(object({ remove: bool(), value: text() })),
      sse_use_post: bool(),
      subscription_type: text(),
      use_response_extensions: object({ on_error_forwarding: bool() }),
    }),
    schema: text(),
    subgraph: object({ sdl: text() }),
    supergraph: object({
      disable_query_batching: bool(),
      global_headers: map(text()),
      merged_sdl: text(),
      subgraphs: list(
        object({
          api_id: text(),
          headers: map(text()),
          name: text(),
          sdl: text(),
          sse_use_post: bool(),
          subscription_type: text(),
          url: text(),
        }),
      ),
      updated_at: text(),
    }),
    type_field_configurations: list(anything()),
    version: text(),
  })

const upstreamOauth = (more: Readonly<Record<string, Schema>> = {}) =>
  object({
    client_id: text(),
    client_secret: text(),
    extra_metadata: list(text()),
    header: header(),
    method: text(),
    scopes: list(text()),
    token_url: text(),
    ...more,
  })

/**
 * Members of classic definitions that other gateways have and this one does not serve. What of them is refused is a row of the tables of
 * refusals; the rest is kept, with a warning.
 */
export const CLASSIC_UNSERVED: Schema = object({
  analytics_plugin: object({ enable: bool(), func_name: text(), plugin_path: text() }),
  application_protocol: text(),
  auth_provider: store(),
  session_provider: store(),
  basic_auth: unserved(
    'has no effect: credentials in bodies are not read',
    object({ body_password_regexp: text(), body_user_regexp: text() }),
  ),
  custom_middleware: object({
    auth_check: plugin(),
    id_extractor: unserved(
      OF_PLUGINS,
      object({ disabled: bool(), extract_from: text(), extract_with: text(), extractor_config: map(anything()) }),
    ),
    traffic_logs: plugin(),
    ...Object.fromEntries(['pre', 'post_key_auth', 'post', 'response'].map((each) => [each, list(plugin())])),
  }),
  custom_middleware_bundle: text(),
  custom_middleware_bundle_disabled: unserved(OF_PLUGINS, bool()),
  custom_plugin_auth_enabled: bool(),
  external_oauth: externalOauth(),
  graphql: graphql(),
  json_rpc_version: text(),
  openid_options: unserved(
    'has no effect without "use_openid"',
    object({ providers: list(object({ client_ids: map(text()), issuer: text() })), segregate_by_client: bool() }),
  ),
  proxy: object({ service_discovery: discovery() }),
  request_signing: object({
    algorithm: text(),
    certificate_id: text(),
    header_list: list(text()),
    is_enabled: bool(),
    key_id: text(),
    secret: text(),
    signature_header: text(),
  }),
  response_processors: list(object({ name: text(), options: anything() })),
  scopes: object({ oidc: object({ scope_claim_name: text(), scope_to_policy: map(text()) }) }),
  security_requirement_scopes: list(map(list(text()))),
  upstream_auth: object({
    basic_auth: object({ enabled: bool(), header: header(), password: text(), username: text() }),
    enabled: bool(),
    oauth: object({
      allowed_authorize_types: list(text()),
      client_credentials: upstreamOauth(),
      enabled: bool(),
      password: upstreamOauth({ username: text(), password: text() }),
    }),
  }),
  uptime_tests: object({
    check_list: list(
      object({
        commands: list(object({ message: text(), name: text() })),
        enable_proxy_protocol: bool(),
        protocol: text(),
      }),
    ),
    config: object({
      expire_utime_after: unserved('has no effect: no history of health checks is kept', anyNumber()),
      service_discovery: discovery(),
    }),
  }),
  version_data: object({
    versions: map(
      object({
        extended_paths: object({
          go_plugin: list(
            object({ disabled: bool(), func_name: text(), method: text(), path: text(), plugin_path: text() }),
          ),
          persist_graphql: list(
            object({ method: text(), operation: text(), path: text(), variables: map(anything()) }),
          ),
          transform_jq: jq(),
          transform_jq_response: jq(),
          virtual: list(
            object({
              disabled: bool(),
              function_source_type: text(),
              function_source_uri: text(),
              method: text(),
              path: text(),
              proxy_on_error: bool(),
              response_function_name: text(),
              use_session: bool(),
            }),
          ),
        }),
      }),
    ),
  }),
})
