/** How loudly the log speaks of a fault. `silent` ones are ordinary answers to ordinary requests. */
export type LogLevel = 'silent' | 'debug' | 'warn' | 'error'

export interface CatalogEntry {
  /** HTTP status of the answer. */
  readonly status: number
  /** Status under `compat.legacy_statuses`, where the incumbent's differs. */
  readonly legacy?: number
  readonly log: LogLevel
  /** What the caller reads. Never holds a secret; the `detail` of a fault goes to the log, or to callers who may see it. */
  readonly text: string
  /** True when `detail` may be shown to the caller: it speaks only of what the caller sent. `alone`: in the place of the text. */
  readonly expose?: boolean | 'alone'
  /** `error` of the authorization server's answer (RFC 6749 section 5.2 and its siblings), or of a `WWW-Authenticate` challenge. */
  readonly oauth?: string
  /** The same under `compat.legacy_statuses`, where the incumbent's differs. */
  readonly legacyOauth?: string
}

/**
 * Every refusal of the product, once: status, log level and public text.
 * Nothing else decides a status. `docs/generated/errors.md` is written from here.
 */
export const CATALOG = {
  // who is calling
  credential_missing: { status: 401, log: 'silent', text: 'Authorization field missing' },
  key_unknown: { status: 403, log: 'silent', text: 'Access to this API has been disallowed' },
  // the key's policies cannot be applied together; the reason is in `detail`, for the administrator
  policies_unusable: { status: 403, log: 'debug', text: 'Access to this API has been disallowed' },
  key_inactive: { status: 403, log: 'silent', text: 'Key is inactive, please renew' },
  key_expired: { status: 401, log: 'silent', text: 'Key has expired, please renew' },
  // what they may do
  api_not_in_rights: { status: 403, log: 'silent', text: 'Access to this API has been disallowed' },
  path_not_in_rights: { status: 403, log: 'silent', text: 'Access to this resource has been disallowed' },
  endpoint_forbidden: { status: 403, log: 'silent', text: 'Requested endpoint is forbidden' },
  ip_forbidden: { status: 403, log: 'silent', text: 'access from this IP has been disallowed' },
  client_certificate_required: { status: 401, log: 'silent', text: 'Client certificate required' },
  // versions
  version_missing: { status: 403, log: 'silent', text: 'Version information not found' },
  version_unknown: { status: 404, legacy: 403, log: 'silent', text: 'This API version does not seem to exist' },
  version_expired: { status: 403, log: 'silent', text: 'This API version has expired', expose: true },
  // limits
  rate_exceeded: { status: 429, log: 'silent', text: 'Rate Limit Exceeded' },
  api_rate_exceeded: { status: 429, log: 'silent', text: 'API Rate Limit Exceeded' },
  quota_exceeded: { status: 429, legacy: 403, log: 'silent', text: 'Quota exceeded' },
  org_quota_exceeded: {
    status: 429,
    legacy: 403,
    log: 'silent',
    text: 'This organisation has used up its quota, please contact the API administrator',
  },
  org_inactive: {
    status: 403,
    log: 'silent',
    text: 'Access for this organisation has been disabled, please contact the API administrator',
  },
  length_required: { status: 411, log: 'silent', text: 'Content length is required for this request' },
  body_too_large_api: { status: 400, log: 'silent', text: 'Request is too large' },
  body_too_large: { status: 413, log: 'silent', text: 'Request Entity Too Large' },
  // routing
  api_not_found: { status: 404, log: 'silent', text: 'Not Found' },
  api_unserved: { status: 503, log: 'warn', text: 'This API could not be loaded' },
  loop_detected: { status: 508, log: 'warn', text: 'Loop detected' },
  // upstream
  upstream_unreachable: {
    status: 502,
    legacy: 500,
    log: 'warn',
    text: 'There was a problem proxying the request',
  },
  upstream_unresolved: { status: 502, legacy: 500, log: 'warn', text: 'Upstream host lookup failed' },
  upstream_malformed: {
    status: 502,
    legacy: 500,
    log: 'warn',
    text: 'There was a problem proxying the request',
  },
  upstream_timeout: { status: 504, log: 'warn', text: 'Upstream service reached hard timeout.' },
  upstream_all_down: { status: 503, log: 'warn', text: 'all hosts are down' },
  client_gone: { status: 499, log: 'silent', text: 'Client closed request' },
  // HTTP itself (RFC 9110, RFC 9112)
  request_malformed: { status: 400, log: 'silent', text: 'Bad Request', expose: true },
  request_timeout: { status: 408, log: 'silent', text: 'Request Timeout' },
  uri_too_long: { status: 414, log: 'silent', text: 'URI Too Long' },
  head_too_large: { status: 431, log: 'silent', text: 'Request Header Fields Too Large' },
  expectation_failed: { status: 417, log: 'silent', text: 'Expectation Failed' },
  method_not_implemented: { status: 501, log: 'silent', text: 'Not Implemented' },
  version_not_supported: { status: 505, log: 'silent', text: 'HTTP Version Not Supported' },
  // administration
  admin_secret_wrong: {
    status: 403,
    log: 'warn',
    text: 'Attempted administrative access with invalid or missing key!',
  },
  method_not_allowed: { status: 405, log: 'silent', text: 'Method not supported' },
  body_malformed: { status: 400, log: 'silent', text: 'Request malformed', expose: true },
  definition_invalid: {
    status: 400,
    log: 'silent',
    text: 'Validation of API Definition failed.',
    expose: true,
  },
  definition_unsupported: {
    status: 400,
    log: 'silent',
    text: 'The API asks for something that this gateway does not serve.',
    expose: true,
  },
  pattern_invalid: { status: 400, log: 'silent', text: 'Pattern is not valid.', expose: true },
  policy_invalid: { status: 400, log: 'silent', text: 'Policy is not valid.', expose: true },
  key_invalid: { status: 400, log: 'silent', text: 'Key is not valid.', expose: true },
  rights_missing: {
    status: 400,
    log: 'silent',
    text: 'Failed to create key, keys must have at least one Access Rights record set.',
  },
  id_malformed: { status: 400, log: 'silent', text: 'Malformed id', expose: true },
  already_exists: { status: 409, log: 'silent', text: 'Already exists', expose: true },
  revision_conflict: { status: 409, log: 'silent', text: 'Changed by somebody else meanwhile', expose: true },
  listen_path_taken: { status: 409, log: 'silent', text: 'Listen path is taken', expose: true },
  not_found: { status: 404, log: 'silent', text: 'Not found', expose: 'alone' },
  version_query_invalid: { status: 422, log: 'silent', text: 'Unprocessable Content', expose: 'alone' },
  query_invalid: { status: 400, log: 'silent', text: 'Bad Request', expose: 'alone' },
  certificate_invalid: { status: 400, log: 'silent', text: 'Certificate is not valid', expose: true },
  // the authorization server; details speak of what the caller sent
  oauth_invalid_request: {
    status: 400,
    legacy: 403,
    log: 'silent',
    text: 'The request is missing a parameter, repeats one, or is otherwise malformed',
    expose: 'alone',
    oauth: 'invalid_request',
  },
  oauth_invalid_client: {
    status: 401,
    legacy: 403,
    log: 'silent',
    text: 'Client authentication failed',
    oauth: 'invalid_client',
    legacyOauth: 'unauthorized_client',
  },
  oauth_invalid_grant: {
    status: 400,
    legacy: 403,
    log: 'silent',
    text: 'The grant or refresh token is invalid, expired, revoked, or was issued to another client',
    oauth: 'invalid_grant',
  },
  oauth_wrong_password: {
    status: 400,
    legacy: 403,
    log: 'silent',
    text: 'The user name or the password is wrong',
    oauth: 'invalid_grant',
    legacyOauth: 'access_denied',
  },
  oauth_too_many_tries: {
    status: 429,
    log: 'silent',
    text: 'Too many failed tries, wait before the next',
    oauth: 'slow_down',
  },
  oauth_unauthorized_client: {
    status: 400,
    legacy: 403,
    log: 'silent',
    text: 'The client may not use this grant',
    oauth: 'unauthorized_client',
  },
  oauth_unsupported_grant: {
    status: 400,
    legacy: 403,
    log: 'silent',
    text: 'The grant type is not supported',
    oauth: 'unsupported_grant_type',
  },
  oauth_unsupported_response: {
    status: 400,
    legacy: 403,
    log: 'silent',
    text: 'The response type is not supported',
    oauth: 'unsupported_response_type',
  },
  oauth_invalid_scope: {
    status: 400,
    legacy: 403,
    log: 'silent',
    text: 'The scope is unknown, malformed, or wider than what was granted',
    oauth: 'invalid_scope',
  },
  oauth_access_denied: { status: 400, legacy: 403, log: 'silent', text: 'The request was denied', oauth: 'access_denied' },
  oauth_authorization_pending: {
    status: 400,
    log: 'silent',
    text: 'The user has not decided yet',
    oauth: 'authorization_pending',
  },
  oauth_slow_down: { status: 400, log: 'silent', text: 'Polling too fast', oauth: 'slow_down' },
  oauth_expired_token: { status: 400, log: 'silent', text: 'The device code has lapsed', oauth: 'expired_token' },
  oauth_invalid_proof: {
    status: 400,
    log: 'silent',
    text: 'The DPoP proof is not valid',
    expose: 'alone',
    oauth: 'invalid_dpop_proof',
  },
  oauth_invalid_redirect: {
    status: 400,
    log: 'silent',
    text: 'A redirect URI is not valid',
    expose: 'alone',
    oauth: 'invalid_redirect_uri',
  },
  oauth_invalid_metadata: {
    status: 400,
    log: 'silent',
    text: 'The client metadata are not valid',
    expose: 'alone',
    oauth: 'invalid_client_metadata',
  },
  oauth_unsupported_token_type: {
    status: 400,
    log: 'silent',
    text: 'The token type is not supported',
    oauth: 'unsupported_token_type',
  },
  oauth_no_policy: {
    status: 400,
    legacy: 403,
    log: 'warn',
    text: 'The client has neither policies nor rights of its own',
    oauth: 'unauthorized_client',
    legacyOauth: 'server_error',
  },
  oauth_client_invalid: { status: 400, log: 'silent', text: 'OAuth client is not valid.', expose: true },
  ticket_unusable: { status: 409, log: 'silent', text: 'It was used before, has lapsed, or never was' },
  // a token at an API with the OAuth method (RFC 6750 section 3.1)
  token_missing: { status: 401, legacy: 400, log: 'silent', text: 'Authorization field missing' },
  token_malformed: { status: 401, legacy: 400, log: 'silent', text: 'Bearer token malformed', oauth: 'invalid_request' },
  token_unknown: { status: 401, legacy: 403, log: 'silent', text: 'Key not authorised', oauth: 'invalid_token' },
  token_client_gone: {
    status: 401,
    legacy: 403,
    log: 'silent',
    text: 'Key not authorised. OAuth client access was revoked',
    oauth: 'invalid_token',
  },
  token_expired: { status: 401, log: 'silent', text: 'Key has expired, please renew', oauth: 'invalid_token' },
  token_proof_missing: {
    status: 401,
    legacy: 403,
    log: 'silent',
    text: 'The token is bound to a key or certificate that the request did not prove',
    oauth: 'invalid_token',
  },
  token_proof_invalid: {
    status: 401,
    legacy: 403,
    log: 'silent',
    text: 'The DPoP proof is not valid',
    expose: 'alone',
    oauth: 'invalid_dpop_proof',
  },
  scope_missing: {
    status: 403,
    log: 'silent',
    text: 'The token lacks a scope that this operation needs',
    oauth: 'insufficient_scope',
  },
  // webhooks
  webhook_target_refused: {
    status: 400,
    log: 'warn',
    text: 'The webhook target is on a network that webhooks may not reach',
    expose: 'alone',
  },
  // the machine
  setting_invalid: { status: 500, log: 'error', text: 'A setting is not valid' },
  port_in_use: { status: 500, log: 'error', text: 'A port is in use' },
  data_folder_unwritable: { status: 500, log: 'error', text: 'The data folder cannot be written' },
  data_folder_locked: { status: 500, log: 'error', text: 'Another process uses the data folder' },
  store_newer: { status: 500, log: 'error', text: 'The data folder was written by a newer version' },
  store_damaged: { status: 500, log: 'error', text: 'The data folder cannot be read' },
  seal_broken: { status: 500, log: 'error', text: 'A stored secret cannot be read' },
  store_away: { status: 503, log: 'error', text: 'Try again later' },
  store_full: { status: 503, log: 'error', text: 'The store is full' },
  shutting_down: { status: 503, log: 'silent', text: 'Gateway is shutting down' },
  not_ready: { status: 503, log: 'silent', text: 'A successful API reload did not happen' },
  internal: { status: 500, log: 'error', text: 'Internal error' },
} as const satisfies Record<string, CatalogEntry>

export type FaultCode = keyof typeof CATALOG

/** The entry with all its optional members, for code that reads rather than names them. */
export function catalogEntry(code: FaultCode): CatalogEntry {
  return CATALOG[code]
}
