import { PUBLIC_KEY_ALGORITHMS } from '../../model/authentication/jwt-key.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { GrantType } from '../../model/oauth-clients/grants.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import { publicAnswer } from '../messages/answer.ts'
import { endpointUrl } from '../messages/endpoint-url.ts'
import { JWT_ALGORITHMS } from '../signing-keys/jwt.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm, type StoredKey } from '../signing-keys/key-ring.ts'
import { KEY_SET_FRESH_S, type KeyParts, publishedKeys, signingKey } from '../signing-keys/keys.ts'
import { DEVICE_GRANT } from './device.ts'
import type { Endpoint, OAuthAnswer, OAuthApi, OAuthCall, OAuthParts } from './parts.ts'

/** How long metadata may be kept, in seconds. */
export const METADATA_FRESH_S = 300

type MetadataParts = Pick<OAuthParts, 'config'>

/** Answers the metadata document of the API's authorization server. It may be kept for five minutes. */
export async function metadata(parts: MetadataParts, call: OAuthCall): Promise<OAuthAnswer> {
  return publicAnswer(metadataOf(parts, call.api, call.issuer, call.issuerIsFixed), METADATA_FRESH_S)
}

/**
 * Answers the same document with what OpenID Connect Discovery 1.0 section 3 requires beside it: several libraries look for no other and
 * refuse it where a member is missing. No ID token is issued; the algorithms are those of access tokens.
 */
export async function openidConfiguration(parts: MetadataParts, call: OAuthCall): Promise<OAuthAnswer> {
  const document = {
    ...metadataOf(parts, call.api, call.issuer, call.issuerIsFixed),
    jwks_uri: endpointUrl(call.issuer, 'jwks'),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...SIGNING_ALGORITHMS],
    // Left out they would mean true: request objects by address.
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  }
  return publicAnswer(document, METADATA_FRESH_S)
}

/**
 * The metadata of an authorization server (RFC 8414 section 2, with the members of RFC 8628, 8705, 9126, 9207 and 9449): what
 * the API's settings offer and nothing else. `issuer` is what tokens name as theirs, without a slash at its end; `isFixed` as in
 * `OAuthCall.issuerIsFixed`.
 */
export function metadataOf(parts: MetadataParts, api: OAuthApi, issuer: string, isFixed: boolean): JsonObject {
  const rules = api.oauth
  const at = (endpoint: Endpoint) => endpointUrl(issuer, endpoint)
  const confidential = authMethods(rules)
  const methods = [...confidential, 'none']
  return {
    issuer,
    ...(givesCodes(rules) && authorization(rules, issuer, isFixed)),
    token_endpoint: at('token'),
    grant_types_supported: [...rules.grants].filter((grant) => isServed(rules, grant)),
    ...clientAuth('token', methods),
    revocation_endpoint: at('revoke'),
    ...clientAuth('revocation', methods),
    introspection_endpoint: at('introspect'),
    ...clientAuth('introspection', confidential),
    ...(rules.accessTokenFormat === 'jwt' && { jwks_uri: at('jwks') }),
    ...(rules.scopes.size > 0 && { scopes_supported: [...rules.scopes].sort() }),
    ...(isServed(rules, DEVICE_GRANT) && { device_authorization_endpoint: at('device_authorization') }),
    ...((rules.openRegistration || parts.config.gateway.oauth_registration_token !== '') && {
      registration_endpoint: at('register'),
    }),
    ...(rules.clientIdMetadata && { client_id_metadata_document_supported: true }),
    ...(rules.dpop !== 'off' && { dpop_signing_alg_values_supported: [...JWT_ALGORITHMS] }),
    ...(rules.mutualTls !== 'off' && { tls_client_certificate_bound_access_tokens: true }),
  }
}

/** False for a grant that another setting of the API leaves without its first step. */
function isServed(rules: OAuthRules, grant: GrantType): boolean {
  if (grant === 'authorization_code') return givesCodes(rules)
  return rules.grants.has(grant) && (grant !== DEVICE_GRANT || rules.loginRedirect !== '')
}

function givesCodes({ grants, responseTypes }: OAuthRules): boolean {
  return grants.has('authorization_code') && responseTypes.has('code')
}

function authorization({ requirePushedRequests }: OAuthRules, issuer: string, isFixed: boolean): JsonObject {
  return {
    authorization_endpoint: endpointUrl(issuer, 'authorize'),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    // Where announced, clients refuse a response without it, and a dashboard does not know an issuer that follows the request.
    authorization_response_iss_parameter_supported: isFixed,
    pushed_authorization_request_endpoint: endpointUrl(issuer, 'par'),
    require_pushed_authorization_requests: requirePushedRequests,
  }
}

/** How clients with a secret of some kind prove who they are. */
function authMethods({ mutualTls }: OAuthRules): string[] {
  const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt']
  return mutualTls === 'off' ? methods : [...methods, 'tls_client_auth']
}

function clientAuth(endpoint: 'token' | 'revocation' | 'introspection', methods: readonly string[]): JsonObject {
  return {
    [`${endpoint}_endpoint_auth_methods_supported`]: [...methods],
    [`${endpoint}_endpoint_auth_signing_alg_values_supported`]: [...PUBLIC_KEY_ALGORITHMS],
  }
}

/**
 * Answers the key set that access tokens of the API are verified with (RFC 7517 section 5): keys of both algorithms, because
 * tokens outlive a change of the API's settings. Where the API issues such tokens there is a key from the first call on, so
 * that a verifier that starts before the first token finds it. The set may be kept for five minutes.
 * @throws Fault `store_away`, `store_full`
 */
export async function jwks(parts: KeyParts, { api }: OAuthCall): Promise<OAuthAnswer> {
  const { accessTokenFormat, signingAlgorithm } = api.oauth
  if (accessTokenFormat === 'jwt') await signingKey(parts, api.orgId, signingAlgorithm)
  const rings = SIGNING_ALGORITHMS.map(async (algorithm) => {
    const keys = await publishedKeys(parts, api.orgId, algorithm)
    return keys.map((key) => entryOf(key, algorithm))
  })
  return publicAnswer({ keys: (await Promise.all(rings)).flat() }, KEY_SET_FRESH_S)
}

function entryOf({ kid, jwk }: StoredKey, alg: SigningAlgorithm): JsonObject {
  return { ...jwk, kid, alg, use: 'sig' }
}
