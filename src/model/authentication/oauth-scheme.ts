import { pair } from '../apis/convert/convert-pairs.ts'
import { flagOf, isEmpty, objectOf, textsOf } from '../apis/definition/members.ts'
import { copyTree, member, putAt, sameTree, setMember } from '../apis/definition/tree.ts'
import { askedScopes, FLOWLESS, FLOWS, listedScopes, scopesOfFlows } from '../apis/read/oauth-members.ts'
import {
  bool,
  list,
  MAX_CODE_S,
  MAX_GRACE_S,
  MAX_LIFETIME_S,
  map,
  object,
  oneOf,
  text,
  whole,
} from '../apis/schema/schema.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { GRANTS } from '../oauth-clients/grants.ts'
import { PROOF_FIELD, type Scheme } from './scheme.ts'

/** Grants with a switch in each format. */
const SWITCHED = GRANTS.flatMap(({ classic, oas }) =>
  classic === undefined || oas === undefined ? [] : [{ classic, oas }],
)

/** An access token of the API's own authorization server (RFC 6749, RFC 6750). */
export const OAUTH_SCHEME: Scheme<'oauth'> = {
  method: 'oauth',
  accessTokens: 'own',
  type: 'oauth',
  on: 'use_oauth2',
  config: 'oauth',
  identity: 'oauth_key',
  rank: 1,
  declaration: {
    matches: ({ type }) => type === 'oauth2',
    settles: ({ providers }) => isEmpty(providers),
    declare: () => ({ type: 'oauth2', flows: {} }),
  },
  classicSchema: {
    oauth_meta: object({
      allowed_access_types: list(text()),
      allowed_authorize_types: list(text()),
      auth_login_redirect: text('optionalHttpUrl'),
      scopes: map(text()),
      default_scopes: list(list(text())),
      allowed_resources: list(text()),
      open_registration: bool(),
      registration_policies: list(text()),
      access_token_format: oneOf('', 'opaque', 'jwt'),
      access_token_type: oneOf('', 'at+jwt', 'JWT'),
      access_token_signing_algorithm: oneOf('', 'ES256', 'RS256'),
      access_token_lifetime: whole(MAX_LIFETIME_S),
      refresh_token_lifetime: whole(MAX_LIFETIME_S),
      authorization_code_lifetime: whole(MAX_CODE_S),
      client_id_metadata: bool(),
      refresh_reuse_grace_seconds: whole(MAX_GRACE_S),
      require_pkce: bool(),
      require_pushed_authorization_requests: bool(),
      dpop: oneOf('', 'off', 'allowed', 'required'),
      mutual_tls: oneOf('', 'off', 'allowed', 'required'),
      ...Object.fromEntries(SWITCHED.map(({ classic }) => [classic, bool()])),
    }),
    notifications: object({ shared_secret: text(), oauth_on_keychange_url: text('optionalHttpUrl') }),
  },
  oasSchema: {
    allowedAuthorizeTypes: list(text()),
    ...Object.fromEntries(GRANTS.flatMap(({ oas }) => (oas === undefined ? [] : [[oas, bool()]]))),
    authLoginRedirect: text('optionalHttpUrl'),
    notifications: object({ sharedSecret: text(), onKeyChangeUrl: text('optionalHttpUrl') }),
    allowedResources: list(text()),
    openRegistration: bool(),
    clientIdMetadata: bool(),
    registrationPolicies: list(text()),
    accessTokenFormat: oneOf('', 'opaque', 'jwt'),
    accessTokenType: oneOf('', 'at+jwt', 'JWT'),
    accessTokenSigningAlgorithm: oneOf('', 'ES256', 'RS256'),
    accessTokenLifetime: whole(MAX_LIFETIME_S),
    refreshTokenLifetime: whole(MAX_LIFETIME_S),
    authorizationCodeLifetime: whole(MAX_CODE_S),
    refreshReuseGraceSeconds: whole(MAX_GRACE_S),
    requirePkce: bool(),
    requirePushedAuthorizationRequests: bool(),
    dpop: oneOf('', 'off', 'allowed', 'required'),
    mutualTls: oneOf('', 'off', 'allowed', 'required'),
  },
  classicTexts: {
    use_oauth2: "true: access tokens of the API's own authorization server.",
    oauth_meta: 'The authorization server of the API.',
    'oauth_meta.allowed_access_types':
      'Grants: `authorization_code`, `client_credentials`, `refresh_token`, `password`, and others that are served.',
    'oauth_meta.scopes': 'Scopes, each with its description.',
    'oauth_meta.default_scopes':
      'Scopes that a token needs where no operation says otherwise: one list must be held in full.',
    notifications: 'Notifications of issued and refreshed tokens.',
  },
  oasTexts: {
    ...Object.fromEntries(
      GRANTS.flatMap(({ oas, description }) => (oas === undefined ? [] : [[oas, `Scheme \`oauth2\`. ${description}`]])),
    ),
    allowedAuthorizeTypes:
      'Scheme `oauth2`. Response types of the authorization endpoint: `code`. `token` (implicit) is always refused.',
    authLoginRedirect: 'Scheme `oauth2`. URL of the login page that browsers are sent to.',
    notifications: 'Scheme `oauth2`. Notifications of issued and refreshed tokens.',
    'notifications.sharedSecret': 'Secret that notifications carry (`X-Svc-Shared-Secret`) and are signed with.',
    'notifications.onKeyChangeUrl': 'URL that is notified.',
    allowedResources:
      'Scheme `oauth2`. URIs that clients can ask tokens for (`resource`, RFC 8707), besides the API itself.',
    openRegistration: 'Scheme `oauth2`. true: clients register themselves without an initial access token (RFC 7591).',
    clientIdMetadata: 'Scheme `oauth2`. true: a client can name itself by the URL of its metadata document.',
    registrationPolicies: 'Scheme `oauth2`. Ids of policies that registered clients get.',
    accessTokenFormat: 'Scheme `oauth2`. `opaque` (default) or `jwt` (RFC 9068).',
    accessTokenType: 'Scheme `oauth2`. Header `typ` of JWT access tokens: `at+jwt` (default) or `JWT`.',
    accessTokenSigningAlgorithm: 'Scheme `oauth2`. Algorithm of JWT access tokens: `ES256` (default) or `RS256`.',
    accessTokenLifetime:
      'Scheme `oauth2`. Lifetime of access tokens in seconds. 0: the setting `gateway.oauth_token_expire`.',
    refreshTokenLifetime:
      'Scheme `oauth2`. Lifetime of refresh tokens in seconds. 0: the setting `gateway.oauth_refresh_token_expire`.',
    authorizationCodeLifetime:
      'Scheme `oauth2`. Lifetime of authorization codes in seconds, at most 600. 0: the setting `gateway.oauth_code_expire`.',
    refreshReuseGraceSeconds:
      'Scheme `oauth2`. Seconds in which a used refresh token is answered once more. 0: a second use ends all tokens of the grant.',
    requirePkce: 'Scheme `oauth2`. true: every client must use PKCE. Public clients always must.',
    requirePushedAuthorizationRequests: 'Scheme `oauth2`. true: authorization requests must be pushed (RFC 9126).',
    dpop: 'Scheme `oauth2`. Tokens bound to a key of the client (DPoP, RFC 9449): `off`, `allowed` or `required`.',
    mutualTls: 'Scheme `oauth2`. Tokens bound to a client certificate (RFC 8705): `off`, `allowed` or `required`.',
  },
  pairs: [
    pair('oauth_meta.allowed_authorize_types', 'allowedAuthorizeTypes'),
    pair('oauth_meta.auth_login_redirect', 'authLoginRedirect'),
    pair('notifications.oauth_on_keychange_url', 'notifications.onKeyChangeUrl'),
    pair('notifications.shared_secret', 'notifications.sharedSecret'),
    pair('oauth_meta.allowed_resources', 'allowedResources'),
    pair('oauth_meta.open_registration', 'openRegistration'),
    pair('oauth_meta.client_id_metadata', 'clientIdMetadata'),
    pair('oauth_meta.registration_policies', 'registrationPolicies'),
    pair('oauth_meta.access_token_format', 'accessTokenFormat'),
    pair('oauth_meta.access_token_type', 'accessTokenType'),
    pair('oauth_meta.access_token_signing_algorithm', 'accessTokenSigningAlgorithm'),
    pair('oauth_meta.access_token_lifetime', 'accessTokenLifetime'),
    pair('oauth_meta.refresh_token_lifetime', 'refreshTokenLifetime'),
    pair('oauth_meta.authorization_code_lifetime', 'authorizationCodeLifetime'),
    pair('oauth_meta.refresh_reuse_grace_seconds', 'refreshReuseGraceSeconds'),
    pair('oauth_meta.require_pkce', 'requirePkce'),
    pair('oauth_meta.require_pushed_authorization_requests', 'requirePushedAuthorizationRequests'),
    pair('oauth_meta.dpop', 'dpop'),
    pair('oauth_meta.mutual_tls', 'mutualTls'),
    ...SWITCHED.map(({ classic, oas }) => pair(`oauth_meta.${classic}`, oas)),
  ],
  conversion: {
    toOas: oauthToOas,
    securityToOas: defaultScopesToOas,
    toClassic: (document, name, held, classic) => {
      const declared = objectOf(objectOf(document, 'components'), 'securitySchemes')
      oauthToClassic(objectOf(declared, name), held, classic)
      defaultScopesToClassic(document, name, classic)
    },
  },
  access: 'oauth',
  extraFields: [PROOF_FIELD],
  identifies: true,
}

/** Writes the settings of the authorization server into the scheme: flows and scopes into `declared`, the rest into `held`. */
function oauthToOas(classic: JsonObject, declared: JsonObject, held: JsonObject): void {
  const meta = objectOf(classic, 'oauth_meta')
  if (!Array.isArray(meta.allowed_access_types)) return
  const types = textsOf(meta, 'allowed_access_types')
  for (const { access, oas } of FLOWLESS) if (types.includes(access)) held[oas] = true
  const flows = member(declared, 'flows')
  if (flows === undefined || !isObject(flows)) declared.flows = {}
  const table = declared.flows as JsonObject
  const scopes = member(meta, 'scopes')
  for (const { access, flow, urls } of FLOWS) {
    if (!types.includes(access)) delete table[flow]
    else if (!isObject(table[flow])) table[flow] = { ...urls, scopes: {} }
  }
  if (scopes === undefined || scopes === null || sameTree(scopesOfFlows(declared), scopes)) return
  for (const flow of Object.values(table)) if (isObject(flow)) flow.scopes = copyTree(scopes)
}

/** Writes the settings of a scheme into a classic definition. */
function oauthToClassic(declared: JsonObject, held: JsonObject, classic: JsonObject): void {
  const flows = objectOf(declared, 'flows')
  const types: string[] = FLOWS.filter(({ flow }) => isObject(flows[flow] ?? null)).map(({ access }) => access)
  for (const { access, oas } of FLOWLESS) if (flagOf(held, oas)) types.push(access)
  putAt(classic, ['oauth_meta', 'allowed_access_types'], types)
  const scopes = scopesOfFlows(declared)
  if (!isEmpty(scopes)) putAt(classic, ['oauth_meta', 'scopes'], scopes)
}

/** Writes what `security` of the whole document asks of the scheme as `oauth_meta.default_scopes`. */
function defaultScopesToClassic(document: JsonObject, scheme: string, classic: JsonObject): void {
  const asked = askedScopes(member(document, 'security'), scheme)
  if (asked !== undefined && asked.length > 0) putAt(classic, ['oauth_meta', 'default_scopes'], asked)
}

/**
 * Writes `oauth_meta.default_scopes` into the document's `security`, where that does not ask for them yet: an alternative for each
 * list of scopes, with what the first of the groups that name the scheme asks besides.
 */
function defaultScopesToOas(classic: JsonObject, document: JsonObject, scheme: string): void {
  const wanted = listedScopes(member(objectOf(classic, 'oauth_meta'), 'default_scopes')) ?? []
  const security = member(document, 'security')
  if (!Array.isArray(security) || sameTree(askedScopes(security, scheme) ?? [], wanted)) return
  const first = security.findIndex((group) => member(group, scheme) !== undefined)
  if (first === -1) return
  const groups = (wanted.length === 0 ? [[]] : wanted).map((scopes) => {
    const group = copyTree(security[first] as JsonObject)
    setMember(group, scheme, scopes)
    return group
  })
  document.security = [
    ...security.slice(0, first),
    ...groups,
    ...security.slice(first + 1).filter((group) => member(group, scheme) === undefined),
  ]
}
