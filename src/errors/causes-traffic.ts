import type { ErrorCauses } from './catalog-entry.ts'
import type { TRAFFIC_ERRORS } from './catalog-traffic.ts'

/** Causes and cures of the errors of `catalog-traffic.ts`. */
export const TRAFFIC_CAUSES = {
  credential_missing: [
    'The request has no credential where the API reads it.',
    'Send the key or token where the security scheme reads it (`Authorization` unless it says otherwise).',
  ],
  credential_repeated: [
    'The credential is there twice: in two places, or as a parameter or cookie given twice.',
    'Send one credential, in one place.',
  ],
  key_unknown: [
    'No key of this value exists, or it belongs to another organisation.',
    'Check the key; create one with `POST /svc/keys`.',
  ],
  policies_unusable: [
    'None of the policies of the key exists, or they give no access rights.',
    'Check `apply_policies` of the key and the policies that it names.',
  ],
  key_inactive: ['`is_inactive` is set on the key or on one of its policies.', 'Set it to false.'],
  key_expired: ['The time in `expires` is over.', 'Create another key, or set `expires` to a later time.'],
  api_not_in_rights: [
    'The key, or its policies, have no access right for this API or version.',
    'Add the API to `access_rights` of the key or policy.',
  ],
  path_not_in_rights: [
    '`allowed_urls` of the access right does not have this method and path.',
    'Add them, or call another path.',
  ],
  patterns_over_budget: [
    'The path, or the patterns that it is compared with, need too much work.',
    'Use fewer or simpler patterns in access rights and rules.',
  ],
  endpoint_forbidden: [
    'The operation is blocked, or an allow list does not have it.',
    'Call another path, or change `allow` and `block` of the operation.',
  ],
  tool_forbidden: [
    'The tool of the MCP server is blocked, or an allow list does not have it.',
    'Change the rules in `middleware.mcpTools`.',
  ],
  rpc_unreadable: ['The API has rules for MCP tools, and the body is no JSON-RPC.', 'Send JSON-RPC 2.0 in JSON.'],
  ip_forbidden: [
    'The IP access rules of the API do not allow the address of the client.',
    'Change `ipAccessControl`; behind a proxy set `gateway.trusted_proxies`.',
  ],
  basic_malformed: [
    '`Authorization: Basic` is not the base64 of name, colon and password.',
    'Encode name and password as RFC 7617 says.',
  ],
  user_unknown: [
    'No user has this name, or the password is wrong.',
    'Check both; create the user with `POST /svc/keys/{name}`.',
  ],
  signature_invalid: [
    'The signature is missing, wrong, too old, or does not cover enough of the request.',
    'Check key id, secret, algorithm, clock and `coverage`.',
  ],
  jwt_keys_away: [
    'The key set (JWKS) of the issuer cannot be read, and none is stored.',
    'Check its URL; addresses in private networks need `webhooks.allow_private`.',
  ],
  introspection_away: [
    'The introspection endpoint of the issuer does not answer as RFC 7662 says.',
    'Check its URL and the credentials of the gateway there.',
  ],
  client_certificate_required: [
    'The connection has no client certificate that the API accepts.',
    'Connect over TLS with a certificate of `clientCertificates.allowlist`.',
  ],
  connection_misdirected: [
    'The TLS connection was opened for another host, without asking for a client certificate.',
    'Open a connection with the host as TLS server name; HTTP clients do so by themselves after 421.',
  ],
  client_certificate_early: [
    'The client certificate is not valid yet.',
    'Check `notBefore` of the certificate and the clocks.',
  ],
  client_certificate_expired: ['The client certificate has expired.', 'Use a newer certificate.'],
  client_certificate_revoked: ['The client certificate is in the revocation list.', 'Use another certificate.'],
  revocation_list_due: [
    'The revocation list (`gateway.tls.client_crl_file`) is past its next update.',
    'Put a current list there.',
  ],
  version_missing: [
    'The API has versions, the request names none, and there is no default.',
    'Name the version where `info.versioning` says, or set a default version.',
  ],
  version_repeated: ['The request names the version more than once.', 'Send it once.'],
  version_unknown: ['The API has no version of this name.', 'Use a version that exists, or set `fallbackToDefault`.'],
  version_expired: [
    'The version, or the API, is past its expiration.',
    'Use another version, or set a later `expiration`.',
  ],
  rate_exceeded: [
    'The rate limit of the key or its policy is used up.',
    'Wait as `Retry-After` says, or raise `rate` and `per`.',
  ],
  api_rate_exceeded: [
    'The rate limit of the API or of the operation is used up, by all callers together.',
    'Wait as `Retry-After` says, or raise `rateLimit`.',
  ],
  quota_exceeded: [
    'The quota of the key or its policy is used up.',
    'Wait until it renews (`X-RateLimit-Reset`), raise `quota_max`, or reset it.',
  ],
  org_rate_exceeded: [
    'The rate limit of the organisation is used up.',
    'Wait as `Retry-After` says, or raise it at `/svc/org/keys`.',
  ],
  org_quota_exceeded: [
    'The quota of the organisation is used up.',
    'Wait until it renews, or raise it at `/svc/org/keys`.',
  ],
  org_inactive: ['The organisation is inactive.', 'Activate it at `/svc/org/keys`.'],
  length_required: [
    'The API limits the size of bodies, and the request does not name its length.',
    'Send `Content-Length`.',
  ],
  body_too_large_api: [
    'The body is larger than the limit of the API or operation.',
    'Send less, or raise `requestSizeLimit`.',
  ],
  body_too_large: [
    'The body is larger than `gateway.max_body_bytes`, or than a step can hold.',
    'Send less, or raise the setting.',
  ],
  request_invalid: [
    'Parameters or body do not match the OpenAPI document. `faults` names each place.',
    'Correct the request, or the document.',
  ],
  transform_body_malformed: [
    'The body is not the JSON or XML that the template takes.',
    'Send what the API describes.',
  ],
  transform_too_large: [
    'The body is larger than 1 MiB, so a template cannot rewrite it.',
    'Send less, or take the transform off the operation.',
  ],
  transform_failed: [
    'The template does not fit the body, or its result is too large.',
    'Correct the template of the operation.',
  ],
  answer_too_large: [
    'The answer of the upstream is larger than 1 MiB, so a template or plugin cannot rewrite it.',
    'Take the transform off, or let the upstream answer less.',
  ],
  answer_untransformable: [
    'The answer of the upstream cannot be decoded, or does not fit the template.',
    'Correct the template, or the encoding of the upstream.',
  ],
  module_rejected: [
    'A plugin of the API refused the request.',
    'Ask the author of the plugin; the log has the reason.',
  ],
  module_failed: ['A plugin of the API threw an error.', 'See the log, and correct the plugin.'],
  modules_away: ['The thread of the plugins is starting, or ended.', 'Try again; see the log if it stays.'],
  module_timeout: [
    'A plugin took longer than `gateway.modules.timeout_ms`.',
    'Make the plugin faster, or raise the setting.',
  ],
  mock_missing: [
    'The document has no example for the mock response.',
    'Add an example for the status, or name another in `fromOASExamples`.',
  ],
  mock_not_acceptable: ['`Accept` of the request fits no example.', 'Ask for a media type that has one.'],
  nothing_stored: [
    'The request has `Cache-Control: only-if-cached`, and nothing is stored.',
    'Leave that directive out.',
  ],
  stored_answer_stands_in: ['The upstream failed, and a stored answer is sent in its place.', 'Check the upstream.'],
  inner_answer_cut: ['An answer within a batch is longer than 256 KiB, or broke off.', 'Send that request by itself.'],
  inner_timeout: [
    'A request within a batch took longer than `gateway.batch_timeout_ms`.',
    'Send it by itself, or raise the setting.',
  ],
  api_not_found: [
    'No active API has this host and path.',
    'Check listen path, custom domain and state of the API; `explain` shows what is found.',
  ],
  api_unserved: [
    'The stored definition could not be loaded on this node.',
    'See the reason in `GET /svc/node`, and correct the definition.',
  ],
  loop_detected: ['APIs led the request to each other more than five times.', 'Correct the `svc://` addresses.'],
  upstream_unreachable: [
    'The upstream does not accept the connection, or closed it.',
    'Check that it runs, its address, and the network between.',
  ],
  upstream_unresolved: [
    'The host name of the upstream cannot be resolved.',
    'Check the name and `gateway.dns_servers`.',
  ],
  upstream_malformed: [
    'The answer of the upstream is no correct HTTP.',
    'Correct the upstream; the log has the reason.',
  ],
  upstream_pin_mismatch: [
    'The public key of the upstream is none of the pinned ones.',
    'Check the upstream; update `certificatePinning` after a planned change.',
  ],
  upstream_identity_missing: [
    'The client certificate for the upstream is not stored.',
    'Store it with `POST /svc/certs`, with its private key.',
  ],
  upstream_timeout: [
    'The upstream did not answer in time.',
    'Make it faster, or raise `enforceTimeout` or `gateway.proxy_default_timeout_ms`.',
  ],
  upstream_all_down: ['All targets are down by their health checks.', 'Check the targets and `uptimeTests`.'],
  breaker_open: [
    'The circuit breaker of the operation is open, as the upstream failed.',
    'Check the upstream; it is tried again after `coolDownPeriod`.',
  ],
  client_gone: [
    'The client closed the connection before the answer.',
    'Nothing to do at the gateway; check timeouts of the client.',
  ],
  request_malformed: ['The request is no correct HTTP.', 'Correct the client; the log has the reason.'],
  request_timeout: [
    'The client did not send its request in time.',
    'Send faster, or raise `gateway.head_timeout_ms` or `gateway.body_idle_ms`.',
  ],
  uri_too_long: ['The request line is longer than `gateway.max_head_bytes`.', 'Shorten the URL, or raise the setting.'],
  head_too_large: [
    'The headers are larger than `gateway.max_head_bytes`, or more than `gateway.max_fields`.',
    'Send fewer, or raise the setting.',
  ],
  method_not_implemented: ['The gateway does not know the method, such as CONNECT.', 'Use another method.'],
  version_not_supported: ['The request has another version of HTTP than 1.0, 1.1 or 2.', 'Use one of them.'],
  token_missing: ['The request has no access token.', 'Send `Authorization: Bearer TOKEN`.'],
  token_malformed: ['The access token is malformed, or too long.', 'Send the token as it was issued.'],
  token_of_other_scheme: ['`Authorization` has another scheme than `Bearer` or `DPoP`.', 'Send the token as `Bearer`.'],
  token_unknown: [
    'No such access token exists, it was revoked, or it is of another API.',
    'Get a new token from the authorization server of the API.',
  ],
  token_client_gone: ['The OAuth client of the token was deleted.', 'Register the client again.'],
  token_expired: ['The access token has expired.', 'Get a new one, or use the refresh token.'],
  token_audience_differs: [
    'The token was issued for another resource.',
    'Ask for a token with this API as `resource`.',
  ],
  token_proof_missing: [
    'The token is bound to a key or certificate that the request did not show.',
    'Send the DPoP proof, or connect with the certificate.',
  ],
  token_proof_invalid: ['The DPoP proof is wrong, too old, or was used already.', 'Make a new proof for each request.'],
  token_without_rights: [
    'The policies of the token give no access right for this API.',
    'Add the API to a policy of the client.',
  ],
  scope_missing: [
    'The operation needs a scope that the token does not have.',
    'Ask for a token with the scope that `WWW-Authenticate` names.',
  ],
} as const satisfies ErrorCauses<keyof typeof TRAFFIC_ERRORS>
