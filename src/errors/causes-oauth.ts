import type { ErrorCauses } from './catalog-entry.ts'
import type { OAUTH_ERRORS } from './catalog-oauth.ts'

/** Causes and cures of the errors of `catalog-oauth.ts`. */
export const OAUTH_CAUSES = {
  oauth_invalid_request: [
    'A parameter is missing, given twice, or malformed.',
    'Correct the request; `error_description` names the parameter.',
  ],
  oauth_too_large: ['The form is larger than 64 kB.', 'Send less.'],
  oauth_invalid_client: [
    'The client is unknown, or its secret or proof is wrong.',
    'Check `client_id`, secret and `auth_method` of the client.',
  ],
  oauth_basic_malformed: [
    '`Authorization: Basic` is not the base64 of id, colon and secret.',
    'Encode it as RFC 6749 section 2.3.1 says.',
  ],
  oauth_assertion_refused: [
    'The client assertion is wrong, expired, or was used already.',
    'Check key, `aud`, `exp` and `jti` of the assertion.',
  ],
  oauth_unknown_caller: ['The caller of this endpoint is unknown.', 'Authenticate as a client of the API.'],
  oauth_invalid_grant: [
    'The code or refresh token is wrong, expired, used, or of another client.',
    'Begin the flow again.',
  ],
  oauth_pkce_failed: [
    '`code_verifier` does not fit `code_challenge`.',
    'Send the verifier that the challenge was made of.',
  ],
  oauth_redirect_differs: ['`redirect_uri` is not that of the authorization request.', 'Send the same one.'],
  oauth_foreign_refresh_token: [
    'The refresh token was issued to another client.',
    'Use the client that it was issued to.',
  ],
  oauth_foreign_token: ['The token was issued to another client.', 'Revoke it as that client.'],
  oauth_wrong_password: ['Name or password of the user is wrong.', 'Check both.'],
  oauth_too_many_tries: ['Too many failed attempts.', 'Wait as `Retry-After` says.'],
  oauth_unauthorized_client: [
    'The client may not use this grant.',
    'Change `grant_types` of the client, or the grants of the API.',
  ],
  oauth_grant_missing: ['`grant_type` is missing.', 'Send it.'],
  oauth_grant_incomplete: [
    'A parameter of the grant is missing.',
    'Send the parameter that `error_description` names.',
  ],
  oauth_unsupported_grant: [
    'The API does not serve this grant.',
    'Switch it on in the definition, or use another grant.',
  ],
  oauth_unsupported_response: [
    'The response type is not served; the implicit grant never is.',
    'Use `response_type=code`.',
  ],
  oauth_invalid_scope: [
    'The scope is unknown to the API or the client, malformed, or wider than before.',
    'Ask for scopes that the definition lists.',
  ],
  oauth_invalid_target: [
    '`resource` names no resource that the API or the grant allows.',
    'Use one of `allowedResources`, or the API itself.',
  ],
  oauth_unknown_client: [
    'No client of this id is registered at the API.',
    'Register it with `POST /svc/oauth/clients/create`.',
  ],
  oauth_request_uri_unusable: ['The pushed request is unknown, expired, used, or of another client.', 'Push it again.'],
  oauth_request_unsupported: ['The request has a request object (`request`).', 'Send parameters, or push them (PAR).'],
  oauth_request_uri_unsupported: [
    '`request_uri` is no pushed request.',
    'Push the request, and use the URI of the answer.',
  ],
  oauth_access_denied: ['The user, or the login page, refused.', 'Ask the user again.'],
  oauth_authorization_pending: ['The user has not decided yet.', 'Poll again after `interval`.'],
  oauth_slow_down: ['The device polls faster than `interval`.', 'Wait five seconds longer between two polls.'],
  oauth_expired_token: ['The device code has expired.', 'Begin the flow again.'],
  oauth_user_code_unknown: [
    'The user code is wrong, expired or used.',
    'Enter the code that the device shows, or begin again.',
  ],
  oauth_invalid_proof: ['The DPoP proof is wrong, too old, or was used already.', 'Make a new proof for each request.'],
  oauth_invalid_redirect: [
    'A redirect URI of the registration is not valid.',
    'Register absolute https URIs without a fragment.',
  ],
  oauth_invalid_metadata: ['The client metadata is not valid.', 'Correct the member that `error_description` names.'],
  oauth_unsupported_token_type: ['`token_type_hint` or the type of the token is not served.', 'Leave the hint out.'],
  oauth_no_policy: ['The client has no active policy with access rights.', 'Add a policy to the client.'],
  oauth_client_invalid: ['A member of the OAuth client is wrong.', 'Correct the member that the message names.'],
  client_secret_wrong: ['The client secret in the call is wrong.', 'Send the secret of the client.'],
  token_of_another: [
    'The token was not issued to this client, or not at one of your APIs.',
    'Name the client and API of the token.',
  ],
  parameter_missing: ['A parameter is missing.', 'Send the parameter that the message names.'],
} as const satisfies ErrorCauses<keyof typeof OAUTH_ERRORS>
