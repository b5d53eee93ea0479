import { CODINGS, FLAG_NAMES, PATH_MATCHINGS } from '../definition/api.ts'
import { CLASSIC_TEXTS } from '../texts/classic-texts.ts'
import { withMemberTexts } from '../texts/member-texts.ts'
import { bool, list, map, number, object, oneOf, type Schema, text, whole } from './schema.ts'
import { CLASSIC_AUTH, IDENTITY_SOURCES } from './schema-auth.ts'
import { CLASSIC_PROXY_RESILIENCE, CLASSIC_RESILIENCE } from './schema-upstream.ts'

const headerMap = () => map(text('fieldValue'), 'fieldName')
const eventHandler = () =>
  object({
    handler_name: text(),
    handler_meta: object({
      disabled: bool(),
      method: text(),
      target_path: text(),
      template_path: text(),
      header_map: map(text()),
      event_timeout: number(86_400),
      prefix: text(),
    }),
  })

const headerNames = () => list(text('fieldName'), 500)

/** Where one method reads its credential (section "auth token" of the classic format). */
const authConfig = () =>
  object({
    name: text(),
    disable_header: bool(),
    auth_header_name: text('optionalFieldName'),
    use_param: bool(),
    param_name: text(),
    use_cookie: bool(),
    cookie_name: text('optionalFieldName'),
    use_certificate: bool(),
    validate_signature: bool(),
    signature: object({
      algorithm: text(),
      header: text(),
      use_param: bool(),
      param_name: text(),
      secret: text(),
      allowed_clock_skew: whole(),
      error_code: whole(599),
      error_message: text(),
    }),
  })

/** One entry of a list of `extended_paths`. */
const entry = (members: Readonly<Record<string, Schema>> = {}) =>
  object({ disabled: bool(), path: text(), method: text('method'), ...members }, ['path'])

const listed = () =>
  list(
    entry({
      ignore_case: bool(),
      method_actions: map(object({ action: text(), code: whole(599), data: text(), headers: map(text()) })),
    }),
  )

const headerEdits = () => list(entry({ add_headers: headerMap(), delete_headers: headerNames(), act_on: bool() }))

const bodyTransform = () =>
  list(
    entry({
      template_data: object({
        input_type: text(),
        template_mode: text(),
        enable_session: bool(),
        template_source: text(),
      }),
    }),
  )

const modules = () =>
  list(
    object({
      ...{ disabled: bool(), name: text(), path: text(), require_session: bool(), raw_body_only: bool() },
      body_limit_bytes: number(),
    }),
    1000,
  )

const matches = () => map(object({ match_rx: text(), reverse: bool() }))

const trigger = () =>
  object({
    on: oneOf('', 'any', 'all'),
    options: object({
      header_matches: matches(),
      query_val_matches: matches(),
      path_part_matches: matches(),
      session_meta_matches: matches(),
      request_context_matches: matches(),
      payload_matches: object({ match_rx: text(), reverse: bool() }),
    }),
    rewrite_to: text(),
  })

const extendedPaths = () =>
  object({
    ignored: listed(),
    white_list: listed(),
    black_list: listed(),
    internal: list(entry()),
    rate_limit: list(entry({ rate: number(), per: number() })),
    size_limits: list(entry({ size_limit: whole() })),
    hard_timeouts: list(entry({ timeout: number(86_400), duration: text('optionalDuration') })),
    track_endpoints: list(entry()),
    do_not_track_endpoints: list(entry()),
    transform_headers: headerEdits(),
    transform_response_headers: headerEdits(),
    transform: bodyTransform(),
    transform_response: bodyTransform(),
    method_transforms: list(entry({ to_method: text('method') })),
    circuit_breakers: list(
      entry({
        threshold_percent: number(),
        samples: whole(),
        return_to_service_after: whole(),
        disable_half_open_state: bool(),
      }),
    ),
    url_rewrites: list(entry({ match_pattern: text(), rewrite_to: text(), triggers: list(trigger()) })),
    advance_cache_config: list(
      entry({ cache_key_regex: text(), cache_response_codes: list(whole(599)), timeout: number() }),
    ),
    oauth_scopes: list(entry({ scopes: list(list(text())) })),
    cache: list(text()),
    virtual: list(object({})),
    validate_json: list(entry({ schema: object({}), schema_b64: text(), error_response_code: whole(599) })),
    validate_request: list(entry({ enabled: bool(), error_response_code: whole(599), fill_defaults: bool() })),
    mock_response: list(
      entry({
        ignore_case: bool(),
        code: whole(599),
        body: text(),
        headers: headerMap(),
        from_oas_examples: object({ enabled: bool(), code: whole(599), content_type: text(), example_name: text() }),
      }),
    ),
  })

/** Rules of one version of a classic definition. */
const version = () =>
  object({
    name: text(),
    expires: text('expiry'),
    use_extended_paths: bool(),
    extended_paths: extendedPaths(),
    paths: object({ ignored: list(text()), white_list: list(text()), black_list: list(text()) }),
    global_headers: headerMap(),
    global_headers_remove: headerNames(),
    global_headers_disabled: bool(),
    global_response_headers: headerMap(),
    global_response_headers_remove: headerNames(),
    global_response_headers_disabled: bool(),
    global_size_limit: whole(),
    global_size_limit_disabled: bool(),
    ignore_endpoint_case: bool(),
    override_target: text('optionalUrl'),
    global_enforce_timeout: text('optionalDuration'),
    global_enforce_timeout_disabled: bool(),
  })

const proxy = () =>
  object(
    {
      listen_path: text('listenPath'),
      target_url: text(),
      strip_listen_path: bool(),
      preserve_host_header: bool(),
      enable_load_balancing: bool(),
      target_list: list(text('target'), 10_000),
      check_host_against_uptime_tests: bool(),
      disable_strip_slash: bool(),
      ...CLASSIC_PROXY_RESILIENCE(),
      transport: object({
        proxy_url: text(),
        ssl_insecure_skip_verify: bool(),
        ssl_ciphers: list(text()),
        ssl_min_version: whole(),
        ssl_max_version: whole(),
        ssl_force_common_name_check: bool(),
      }),
    },
    ['listen_path'],
  )

/** JSON Schema of a classic definition: the bare object, not the dashboard's wrapper. */
export const CLASSIC_SCHEMA: Schema = withMemberTexts(
  object(
    {
      id: text(),
      api_id: text(),
      org_id: text(),
      name: text(),
      slug: text(),
      active: bool(),
      internal: bool(),
      expiration: text('expiry'),
      is_oas: bool(),
      use_keyless: bool(),
      use_mutual_tls_auth: bool(),
      enable_coprocess_auth: bool(),
      use_go_plugin_auth: bool(),
      use_openid: bool(),
      base_identity_provided_by: oneOf(...IDENTITY_SOURCES),
      auth: authConfig(),
      auth_configs: map(authConfig()),
      ...CLASSIC_AUTH,
      strip_auth_data: bool(),
      definition: object({
        enabled: bool(),
        name: text(),
        default: text(),
        location: oneOf('', 'header', 'url-param', 'url'),
        key: text(),
        strip_path: bool(),
        strip_versioning_data: bool(),
        url_versioning_pattern: text('pattern'),
        fallback_to_default: bool(),
        versions: map(text()),
      }),
      version_data: object({ not_versioned: bool(), default_version: text(), versions: map(version()) }),
      proxy: proxy(),
      ...CLASSIC_RESILIENCE(),
      disable_rate_limit: bool(),
      disable_quota: bool(),
      on_store_failure: oneOf('', 'refuse', 'allow'),
      global_rate_limit: object({ disabled: bool(), rate: number(), per: number(31_622_400) }),
      dont_set_quota_on_create: bool(),
      session_lifetime: whole(),
      session_lifetime_respects_key_expiration: bool(),
      enable_ip_whitelisting: bool(),
      allowed_ips: list(text('address')),
      enable_ip_blacklisting: bool(),
      blacklisted_ips: list(text('address')),
      ip_access_control_disabled: bool(),
      CORS: object({
        enable: bool(),
        allowed_origins: list(text('origin')),
        allowed_methods: list(text('method')),
        allowed_headers: list(text('fieldValue')),
        exposed_headers: list(text('fieldValue')),
        allow_credentials: bool(),
        max_age: whole(),
        options_passthrough: bool(),
        debug: bool(),
      }),
      domain: text('domain'),
      domain_disabled: bool(),
      certificates: list(text()),
      client_certificates: list(text()),
      do_not_track: bool(),
      enable_detailed_recording: bool(),
      tag_headers: list(text('fieldName')),
      expire_analytics_after: whole(),
      tags: list(text()),
      tags_disabled: bool(),
      cache_options: object({
        enable_cache: bool(),
        cache_timeout: whole(),
        cache_all_safe_requests: bool(),
        cache_response_codes: list(whole(599)),
        cache_by_headers: list(text('fieldName')),
        enable_upstream_cache_control: bool(),
        cache_control_ttl_header: text('optionalFieldName'),
        share_between_keys: bool(),
        store_set_cookie: bool(),
        stale_while_revalidate: whole(),
        stale_if_error: whole(),
      }),
      response_compression: object({ enabled: bool(), encodings: list(oneOf(...CODINGS)), minimum_bytes: whole() }),
      event_handlers: object({ events: map(list(eventHandler(), 100)) }),
      detailed_tracing: bool(),
      error_overrides: map(
        list(
          object({
            match: object({
              flag: oneOf('', ...FLAG_NAMES),
              ...{ message_pattern: text('pattern'), body_field: text('jsonField'), body_value: text() },
            }),
            response: object({
              ...{ status_code: whole(599), body: text(), message: text(), template: text() },
              headers: headerMap(),
            }),
          }),
          100,
        ),
        'errorStatus',
      ),
      error_overrides_disabled: bool(),
      config_data: object({}),
      config_data_disabled: bool(),
      custom_middleware: object({
        driver: text(),
        pre: modules(),
        post_key_auth: modules(),
        post: modules(),
        response: modules(),
      }),
      enable_context_vars: bool(),
      enable_batch_request_support: bool(),
      allow_encoded_slashes: bool(),
      allow_trace: bool(),
      grpc_web: bool(),
      mcp_tools: map(
        object({
          ...{ allow: object({ enabled: bool() }), block: object({ enabled: bool() }) },
          rateLimit: object({ enabled: bool(), rate: number(), per: text('duration') }),
          trackEndpoint: object({ enabled: bool() }),
        }),
      ),
      path_matching: oneOf('', ...PATH_MATCHINGS),
      enable_proxy_protocol: bool(),
      protocol: text(),
      listen_port: whole(65_535),
      user_owners: list(text()),
      user_group_owners: list(text()),
      oas: object({ document: object({}), kept: map(object({ put: list({}) })) }),
    },
    ['name', 'proxy'],
  ),
  CLASSIC_TEXTS,
)
