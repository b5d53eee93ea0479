import type { JsonObject } from '../../../src/model/json/json.ts'

/** A feature of definitions that needs another member, in classic words: how it is without that member, and with it. */
export interface NeedCase {
  /** Of the member that the warning names, in a classic definition and below the extension. */
  readonly classic: string
  readonly oas: string
  readonly unmet: JsonObject
  readonly met: JsonObject
}

const versions = (more: JsonObject) => ({
  definition: { enabled: true, name: 'v1', location: 'header', key: 'x-version', default: 'v1', versions: {}, ...more },
})
const FALLING = { fallback_to_default: true }
const proxy = (more: JsonObject) => ({
  proxy: { listen_path: '/x/', target_url: 'http://upstream.test/', strip_listen_path: true, ...more },
})
const lists = (extended_paths: JsonObject) => ({
  version_data: {
    not_versioned: true,
    versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
  },
})
const key = { use_keyless: false, use_standard_auth: true, auth_configs: { authToken: { auth_header_name: 'x-key' } } }
const handler = { handler_name: 'eh_log_handler', handler_meta: { prefix: 'x' } }
const onEvent = (name: string, more: JsonObject = {}) => ({
  event_handlers: { events: { [name]: [handler] } },
  ...more,
})
const oauth = (meta: JsonObject, types = ['client_credentials'], notifications: JsonObject = {}) => ({
  ...{ use_keyless: false, use_oauth2: true, auth_configs: { oauth: { name: 'oauth' } }, notifications },
  oauth_meta: { allowed_access_types: types, ...meta },
})
const SCHEME = 'server.authentication.securitySchemes.oauth'
const LOGIN = 'https://login.example/'
const check = { check_list: [{ url: '/health' }] }
const breaker = lists({
  circuit_breakers: [{ path: '/a', method: 'GET', threshold_percent: 0.5, samples: 5, return_to_service_after: 5 }],
})
const event = (name: string, met: JsonObject): NeedCase => ({
  ...{ classic: `event_handlers.events.${name}`, oas: 'server.eventHandlers[0].trigger' },
  ...{ unmet: onEvent(name), met: onEvent(name, met) },
})
const code = (name: string, oas: string, value: JsonObject[string]): NeedCase => ({
  ...{ classic: `oauth_meta.${name}`, oas: `${SCHEME}.${oas}` },
  ...{ unmet: oauth({ [name]: value }), met: oauth({ [name]: value }, ['authorization_code']) },
})

/** Every need that follows from the definition alone. */
export const DEFINITION_NEEDS: readonly NeedCase[] = [
  {
    ...{ classic: 'definition.default', oas: 'info.versioning.default' },
    unmet: versions({ location: 'url' }),
    met: versions({ location: 'url', fallback_to_default: true }),
  },
  {
    ...{ classic: 'definition.default', oas: 'info.versioning.default' },
    ...{ unmet: versions({ default: 'v9' }), met: versions({ default: 'self' }) },
  },
  {
    ...{ classic: 'definition.fallback_to_default', oas: 'info.versioning.fallbackToDefault' },
    unmet: versions({ default: '', fallback_to_default: true }),
    met: versions({ fallback_to_default: true }),
  },
  {
    ...{ classic: 'definition.url_versioning_pattern', oas: 'info.versioning.urlVersioningPattern' },
    unmet: versions({ url_versioning_pattern: '^v', strip_versioning_data: true }),
    met: versions({ ...FALLING, url_versioning_pattern: '^v', strip_versioning_data: true, location: 'url' }),
  },
  {
    ...{ classic: 'definition.url_versioning_pattern', oas: 'info.versioning.urlVersioningPattern' },
    unmet: versions({ url_versioning_pattern: '^v', location: 'url' }),
    met: versions({ ...FALLING, url_versioning_pattern: '^v', location: 'url', strip_versioning_data: true }),
  },
  {
    ...{ classic: 'proxy.enable_load_balancing', oas: 'upstream.loadBalancing.enabled' },
    unmet: proxy({ enable_load_balancing: true, target_list: [] }),
    met: proxy({ enable_load_balancing: true, target_list: ['http://a.test/', 'http://b.test/'] }),
  },
  {
    ...{ classic: 'proxy.check_host_against_uptime_tests', oas: 'upstream.loadBalancing.skipUnavailableHosts' },
    unmet: proxy({
      enable_load_balancing: true,
      target_list: ['http://a.test/'],
      check_host_against_uptime_tests: true,
    }),
    met: {
      ...proxy({ enable_load_balancing: true, target_list: ['http://a.test/'], check_host_against_uptime_tests: true }),
      uptime_tests: check,
    },
  },
  {
    ...{ classic: 'proxy.outlier_ejection', oas: 'upstream.outlierEjection' },
    unmet: proxy({ outlier_ejection: { enabled: true } }),
    met: proxy({
      ...{ outlier_ejection: { enabled: true }, enable_load_balancing: true },
      target_list: ['http://a.test/', 'http://b.test/'],
    }),
  },
  {
    ...{ classic: 'grpc_web', oas: 'server.grpcWeb' },
    unmet: { grpc_web: true },
    met: { grpc_web: true, ...proxy({ target_url: 'h2c://upstream.test/' }) },
  },
  {
    ...{ classic: 'use_mutual_tls_auth', oas: 'server.clientCertificates.enabled' },
    unmet: { use_mutual_tls_auth: true, client_certificates: [] },
    met: { use_mutual_tls_auth: true, client_certificates: ['0'.repeat(64)] },
  },
  {
    ...{ classic: 'enable_detailed_recording', oas: 'server.detailedActivityLogs.enabled' },
    unmet: { enable_detailed_recording: true, do_not_track: true },
    met: { enable_detailed_recording: true, do_not_track: false },
  },
  event('BreakerTripped', breaker),
  event('BreakerReset', breaker),
  event('HostDown', { uptime_tests: check }),
  event('HostUp', { uptime_tests: check }),
  event('AuthFailure', key),
  event('KeyExpired', key),
  event('QuotaExceeded', key),
  event('VersionFailure', versions({})),
  {
    ...{ classic: 'oauth_meta.device_authorization', oas: `${SCHEME}.deviceAuthorization` },
    unmet: oauth({ device_authorization: true }),
    met: oauth({ device_authorization: true, auth_login_redirect: LOGIN }),
  },
  code('auth_login_redirect', 'authLoginRedirect', LOGIN),
  code('require_pkce', 'requirePkce', true),
  code('require_pushed_authorization_requests', 'requirePushedAuthorizationRequests', true),
  code('authorization_code_lifetime', 'authorizationCodeLifetime', 30),
  {
    ...{ classic: 'oauth_meta.allowed_authorize_types', oas: `${SCHEME}.allowedAuthorizeTypes` },
    unmet: oauth({ allowed_authorize_types: [] }, ['authorization_code']),
    met: oauth({ allowed_authorize_types: ['code'] }, ['authorization_code']),
  },
  {
    ...{ classic: 'oauth_meta.refresh_token_lifetime', oas: `${SCHEME}.refreshTokenLifetime` },
    unmet: oauth({ refresh_token_lifetime: 60 }),
    met: oauth({ refresh_token_lifetime: 60 }, ['authorization_code', 'refresh_token']),
  },
  {
    ...{ classic: 'oauth_meta.refresh_reuse_grace_seconds', oas: `${SCHEME}.refreshReuseGraceSeconds` },
    unmet: oauth({ refresh_reuse_grace_seconds: 5 }),
    met: oauth({ refresh_reuse_grace_seconds: 5 }, ['authorization_code', 'refresh_token']),
  },
  {
    ...{ classic: 'oauth_meta.access_token_type', oas: `${SCHEME}.accessTokenType` },
    unmet: oauth({ access_token_type: 'JWT' }),
    met: oauth({ access_token_type: 'JWT', access_token_format: 'jwt' }),
  },
  {
    ...{ classic: 'oauth_meta.access_token_signing_algorithm', oas: `${SCHEME}.accessTokenSigningAlgorithm` },
    unmet: oauth({ access_token_signing_algorithm: 'RS256' }),
    met: oauth({ access_token_signing_algorithm: 'RS256', access_token_format: 'jwt' }),
  },
  {
    ...{ classic: 'notifications.shared_secret', oas: `${SCHEME}.notifications.sharedSecret` },
    unmet: oauth({}, ['authorization_code'], { shared_secret: 'a secret' }),
    met: oauth({}, ['authorization_code'], {
      ...{ shared_secret: 'a secret', oauth_on_keychange_url: 'https://notify.example/' },
    }),
  },
]

/** Definitions, in classic words, that lack nothing for sure: what they seem to lack comes from elsewhere. */
export const MET_ELSEWHERE: readonly JsonObject[] = [
  // Keys can have rights on a second API that has a lifetime.
  { ...key, session_lifetime: 0, session_lifetime_respects_key_expiration: true },
  proxy({
    ...{ enable_load_balancing: true, target_list: [] },
    service_discovery: { use_discovery_service: true, srv_name: '_http._tcp.needs.test' },
  }),
  onEvent('KeyExpired', { use_mutual_tls_auth: true, client_certificates: ['0'.repeat(64)] }),
  {
    grpc_web: true,
    ...lists({
      url_rewrites: [{ path: '/a', method: 'GET', match_pattern: '/a', rewrite_to: 'https://upstream.test/a' }],
    }),
  },
]

/** Features of one format alone. */
export const FORMAT_NEEDS: readonly (Omit<NeedCase, 'oas'> | Omit<NeedCase, 'classic'>)[] = [
  {
    ...{ classic: 'enable_ip_whitelisting', unmet: { enable_ip_whitelisting: true, allowed_ips: [] } },
    met: { enable_ip_whitelisting: true, allowed_ips: ['10.0.0.1'] },
  },
  {
    ...{ classic: 'enable_ip_blacklisting', unmet: { enable_ip_blacklisting: true, blacklisted_ips: [] } },
    met: { enable_ip_blacklisting: true, blacklisted_ips: ['10.0.0.1'] },
  },
  {
    ...{ classic: 'tag_headers', unmet: { tag_headers: ['x-team'], do_not_track: true } },
    met: { tag_headers: ['x-team'] },
  },
  {
    classic: 'version_data.versions.Default.extended_paths.track_endpoints[0]',
    unmet: { do_not_track: true, ...lists({ track_endpoints: [{ path: '/a', method: 'GET' }] }) },
    met: lists({ track_endpoints: [{ path: '/a', method: 'GET' }] }),
  },
  {
    classic: 'version_data.default_version',
    unmet: {
      definition: { location: 'url' },
      version_data: { not_versioned: false, default_version: 'v1', versions: { v1: { name: 'v1' } } },
    },
    met: {
      definition: { location: 'url', fallback_to_default: true },
      version_data: { not_versioned: false, default_version: 'v1', versions: { v1: { name: 'v1' } } },
    },
  },
  {
    oas: 'server.ipAccessControl.enabled',
    unmet: { server: { ipAccessControl: { enabled: true } } },
    met: { server: { ipAccessControl: { enabled: true, block: ['10.0.0.1'] } } },
  },
  {
    oas: 'server.customDomain.enabled',
    unmet: { server: { customDomain: { enabled: true, name: '' } } },
    met: { server: { customDomain: { enabled: true, name: 'needs.test' } } },
  },
  {
    oas: 'upstream.rateLimit',
    unmet: { upstream: { rateLimit: { enabled: true, rate: 0, per: '1s' } } },
    met: { upstream: { rateLimit: { enabled: true, rate: 1, per: '1s' } } },
  },
  {
    oas: 'middleware.global.requestSizeLimit',
    unmet: { middleware: { global: { requestSizeLimit: { enabled: true, value: 0 } } } },
    met: { middleware: { global: { requestSizeLimit: { enabled: true, value: 9 } } } },
  },
  {
    oas: 'middleware.operations.a.rateLimit',
    unmet: { middleware: { operations: { a: { rateLimit: { enabled: true, rate: 0, per: '1s' } } } } },
    met: { middleware: { operations: { a: { rateLimit: { enabled: true, rate: 1, per: '1s' } } } } },
  },
  {
    oas: 'middleware.mcpTools.t.rateLimit',
    unmet: { middleware: { mcpTools: { t: { rateLimit: { enabled: true, rate: 0, per: '1s' } } } } },
    met: { middleware: { mcpTools: { t: { rateLimit: { enabled: true, rate: 1, per: '1s' } } } } },
  },
  {
    oas: 'middleware.operations.a.trackEndpoint',
    unmet: { middleware: { operations: { a: { trackEndpoint: { enabled: true } } } } },
    met: {
      middleware: {
        global: { trafficLogs: { enabled: true } },
        operations: { a: { trackEndpoint: { enabled: true } } },
      },
    },
  },
]
