import type { CatalogEntry } from './catalog-entry.ts'

/** Refusals of requests on their way through the gateway, its tokens included. */
export const TRAFFIC_ERRORS = {
  // who is calling
  credential_missing: { status: 401, log: 'silent', text: 'Authorization field missing' },
  credential_repeated: {
    status: 400,
    log: 'silent',
    text: 'The request carries the credential more than once: send one, in one place',
    oauth: 'invalid_request',
  },
  key_unknown: { status: 403, log: 'silent', text: 'Access to this API has been disallowed' },
  // the key's policies cannot be applied together; the reason is in `detail`, for the administrator
  policies_unusable: { status: 403, log: 'debug', text: 'Access to this API has been disallowed' },
  key_inactive: { status: 403, log: 'silent', text: 'Key is inactive, please renew' },
  key_expired: { status: 401, log: 'silent', text: 'Key has expired, please renew' },
  // what they may do
  api_not_in_rights: { status: 403, log: 'silent', text: 'Access to this API has been disallowed' },
  path_not_in_rights: { status: 403, log: 'silent', text: 'Access to this resource has been disallowed' },
  // never served unchecked; logged once per interval
  patterns_over_budget: {
    status: 503,
    log: 'warn',
    text: 'Matching this request against the rules exceeds the work limit',
  },
  endpoint_forbidden: { status: 403, log: 'silent', text: 'Requested endpoint is forbidden' },
  // tools of MCP servers; the answer is a JSON-RPC error
  tool_forbidden: { status: 403, log: 'silent', text: 'Access to this tool has been disallowed' },
  rpc_unreadable: { status: 400, log: 'silent', text: 'The body cannot be read as JSON-RPC messages' },
  ip_forbidden: { status: 403, log: 'silent', text: 'access from this IP has been disallowed' },
  // name and password (RFC 7617), signed requests
  basic_malformed: { status: 401, legacy: 400, log: 'silent', text: 'The Basic credentials are malformed' },
  user_unknown: { status: 401, log: 'silent', text: 'User not authorised' },
  signature_invalid: { status: 401, legacy: 400, log: 'silent', text: 'Request signature verification failed' },
  // keys of those who issue tokens could not be read
  jwt_keys_away: { status: 503, log: 'warn', text: 'Try again later' },
  // an issuer that tokens are asked about (RFC 7662) gave no answer
  introspection_away: { status: 503, log: 'warn', text: 'Try again later' },
  client_certificate_required: { status: 401, log: 'silent', text: 'Client certificate required' },
  // the request needs a connection that was asked for a certificate (RFC 9110 section 15.5.20)
  connection_misdirected: {
    status: 421,
    log: 'silent',
    text: 'Client certificate required: open a connection for this host, its name as TLS server name',
  },
  client_certificate_early: { status: 403, log: 'silent', text: 'Certificate is not valid yet' },
  client_certificate_expired: { status: 403, log: 'silent', text: 'Certificate has expired' },
  client_certificate_revoked: { status: 403, log: 'silent', text: 'Certificate has been revoked' },
  // a newer revocation list of the CA was due: who was revoked since is not known
  revocation_list_due: { status: 503, log: 'warn', text: 'Try again later' },
  // versions
  version_missing: { status: 403, log: 'silent', text: 'Version information not found' },
  version_repeated: {
    status: 400,
    log: 'silent',
    text: 'The request names the API version more than once: send one',
  },
  version_unknown: { status: 404, legacy: 403, log: 'silent', text: 'This API version does not seem to exist' },
  version_expired: { status: 403, log: 'silent', text: 'This API version has expired', expose: true },
  // limits
  rate_exceeded: { status: 429, log: 'silent', text: 'Rate Limit Exceeded' },
  api_rate_exceeded: { status: 429, log: 'silent', text: 'API Rate Limit Exceeded' },
  quota_exceeded: { status: 429, legacy: 403, log: 'silent', text: 'Quota exceeded' },
  org_rate_exceeded: {
    status: 429,
    log: 'silent',
    text: 'This organisation has exceeded its rate limit, please try again later',
  },
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
  request_invalid: { status: 422, log: 'silent', text: 'The request does not match the schema of the API' },
  // transforms of bodies
  transform_body_malformed: {
    status: 400,
    log: 'silent',
    text: 'The body cannot be transformed',
    expose: true,
  },
  transform_too_large: { status: 413, log: 'silent', text: 'The body is too large to be transformed' },
  transform_failed: { status: 500, log: 'warn', text: 'The body could not be transformed' },
  answer_too_large: { status: 502, log: 'warn', text: 'The upstream response is too large to be transformed' },
  answer_untransformable: { status: 502, log: 'warn', text: 'The upstream response could not be transformed' },
  // modules
  module_rejected: { status: 403, log: 'silent', text: 'Refused by a module' },
  module_failed: { status: 500, log: 'warn', text: 'A module of this API failed' },
  modules_away: { status: 503, log: 'warn', text: 'The modules of this API are not ready, try again later' },
  module_timeout: { status: 504, log: 'warn', text: 'A module of this API took too long' },
  // mocks
  mock_missing: { status: 404, log: 'silent', text: 'No such response example' },
  mock_not_acceptable: { status: 406, log: 'silent', text: 'No response example in an accepted media type' },
  // the response cache
  nothing_stored: {
    status: 504,
    log: 'silent',
    text: 'No cached response, and the request accepts only a cached one',
  },
  // never sent: a stored response is served instead of the upstream's
  stored_answer_stands_in: { status: 502, log: 'silent', text: 'There was a problem proxying the request' },
  // batches
  inner_answer_cut: { status: 502, log: 'silent', text: 'The response is too long for a batch, or was cut off' },
  inner_timeout: { status: 504, log: 'silent', text: 'The request took too long for a batch' },
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
  upstream_pin_mismatch: {
    status: 502,
    legacy: 500,
    log: 'warn',
    text: 'There was a problem proxying the request',
  },
  upstream_identity_missing: {
    status: 502,
    legacy: 500,
    log: 'error',
    text: 'There was a problem proxying the request',
  },
  upstream_timeout: { status: 504, log: 'warn', text: 'Upstream service reached hard timeout.' },
  upstream_all_down: { status: 503, log: 'warn', text: 'all hosts are down' },
  breaker_open: { status: 503, log: 'debug', text: 'Service temporarily unavailable.' },
  client_gone: { status: 499, log: 'silent', text: 'Client closed request' },
  // HTTP itself (RFC 9110, RFC 9112)
  request_malformed: { status: 400, log: 'silent', text: 'Bad Request', expose: true },
  request_timeout: { status: 408, log: 'silent', text: 'Request Timeout' },
  uri_too_long: { status: 414, log: 'silent', text: 'URI Too Long' },
  head_too_large: { status: 431, log: 'silent', text: 'Request Header Fields Too Large' },
  method_not_implemented: { status: 501, log: 'silent', text: 'Not Implemented' },
  version_not_supported: { status: 505, log: 'silent', text: 'HTTP Version Not Supported' },
  // a token at an API with the OAuth method (RFC 6750 section 3.1)
  token_missing: { status: 401, legacy: 400, log: 'silent', text: 'Authorization field missing' },
  // under a scheme that is not ours: no error to name either
  token_malformed: { status: 401, legacy: 400, log: 'silent', text: 'Bearer token malformed' },
  // the same where another scheme was tried: no error to name (RFC 6750 section 3.1)
  token_of_other_scheme: { status: 401, legacy: 403, log: 'silent', text: 'Key not authorised' },
  token_unknown: { status: 401, legacy: 403, log: 'silent', text: 'Key not authorised', oauth: 'invalid_token' },
  token_client_gone: {
    status: 401,
    legacy: 403,
    log: 'silent',
    text: 'Key not authorised. OAuth client access was revoked',
    oauth: 'invalid_token',
  },
  token_expired: { status: 401, log: 'silent', text: 'Key has expired, please renew', oauth: 'invalid_token' },
  token_audience_differs: {
    status: 401,
    legacy: 403,
    log: 'silent',
    text: 'The token was issued for another resource',
    oauth: 'invalid_token',
  },
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
  // a claim that is there and gives no right is not taken for one that is absent
  token_without_rights: {
    status: 403,
    log: 'silent',
    text: 'Access to this API has been disallowed',
    oauth: 'insufficient_scope',
  },
  scope_missing: {
    status: 403,
    log: 'silent',
    text: 'The token lacks a scope that this operation needs',
    oauth: 'insufficient_scope',
  },
} as const satisfies Record<string, CatalogEntry>
