import { isObject, type JsonObject } from '../../json/json.ts'
import { flagOf, isEmpty, objectOf, textsOf } from '../definition/members.ts'
import { copyTree, member, pathOf, putAt, sameTree, setMember } from '../definition/tree.ts'
import { askedScopes, FLOWS, listedScopes, scopesOfFlows } from '../read/oauth-members.ts'
import { copyPairs, type Pair } from './convert-table.ts'

const same = (classic: string, oas: string): Pair => ({ classic: pathOf(classic), oas: pathOf(oas) })

const PAIRS: readonly Pair[] = [
  same('oauth_meta.allowed_authorize_types', 'allowedAuthorizeTypes'),
  same('oauth_meta.auth_login_redirect', 'authLoginRedirect'),
  same('notifications.oauth_on_keychange_url', 'notifications.onKeyChangeUrl'),
  same('notifications.shared_secret', 'notifications.sharedSecret'),
  same('oauth_meta.access_token_format', 'accessTokenFormat'),
  same('oauth_meta.access_token_signing_algorithm', 'accessTokenSigningAlgorithm'),
  same('oauth_meta.access_token_lifetime', 'accessTokenLifetime'),
  same('oauth_meta.refresh_token_lifetime', 'refreshTokenLifetime'),
  same('oauth_meta.authorization_code_lifetime', 'authorizationCodeLifetime'),
  same('oauth_meta.refresh_reuse_grace_seconds', 'refreshReuseGraceSeconds'),
  same('oauth_meta.require_pkce', 'requirePkce'),
  same('oauth_meta.require_pushed_authorization_requests', 'requirePushedAuthorizationRequests'),
  same('oauth_meta.dpop', 'dpop'),
  same('oauth_meta.mutual_tls', 'mutualTls'),
  same('oauth_meta.device_authorization', 'deviceAuthorization'),
]

const AUTHORIZE = { authorizationUrl: '/oauth/authorize' }
const TOKEN = { tokenUrl: '/oauth/token' }

/** Addresses that a flow must name, as ours are. */
const ADDRESSES: Readonly<Record<(typeof FLOWS)[number]['flow'], JsonObject>> = {
  authorizationCode: { ...AUTHORIZE, ...TOKEN },
  clientCredentials: TOKEN,
  password: TOKEN,
  implicit: AUTHORIZE,
}

/** Writes the settings of the authorization server into the scheme: flows and scopes into `declared`, the rest into `held`. */
export function oauthToOas(classic: JsonObject, declared: JsonObject, held: JsonObject): void {
  copyPairs(PAIRS, classic, held, 'toOas')
  const meta = objectOf(classic, 'oauth_meta')
  if (!Array.isArray(meta.allowed_access_types)) return
  const types = textsOf(meta, 'allowed_access_types')
  if (types.includes('refresh_token')) held.refreshToken = true
  const flows = member(declared, 'flows')
  if (flows === undefined || !isObject(flows)) declared.flows = {}
  const table = declared.flows as JsonObject
  const scopes = member(meta, 'scopes')
  for (const { access, flow } of FLOWS) {
    if (!types.includes(access)) delete table[flow]
    else if (!isObject(table[flow])) table[flow] = { ...ADDRESSES[flow], scopes: {} }
  }
  if (scopes === undefined || scopes === null || sameTree(scopesOfFlows(declared), scopes)) return
  for (const flow of Object.values(table)) if (isObject(flow)) flow.scopes = copyTree(scopes)
}

/** Writes the settings of a scheme into a classic definition. */
export function oauthToClassic(declared: JsonObject, held: JsonObject, classic: JsonObject): void {
  copyPairs(PAIRS, held, classic, 'toClassic')
  const flows = objectOf(declared, 'flows')
  const types: string[] = FLOWS.filter(({ flow }) => isObject(flows[flow] ?? null)).map(({ access }) => access)
  if (flagOf(held, 'refreshToken')) types.push('refresh_token')
  putAt(classic, ['oauth_meta', 'allowed_access_types'], types)
  const scopes = scopesOfFlows(declared)
  if (!isEmpty(scopes)) putAt(classic, ['oauth_meta', 'scopes'], scopes)
}

/** Writes what `security` of the whole document asks of the scheme as `oauth_meta.default_scopes`. */
export function defaultScopesToClassic(document: JsonObject, scheme: string, classic: JsonObject): void {
  const asked = askedScopes(member(document, 'security'), scheme)
  if (asked !== undefined && asked.length > 0) putAt(classic, ['oauth_meta', 'default_scopes'], asked)
}

/**
 * Writes `oauth_meta.default_scopes` into the document's `security`, where that does not ask for them yet: an alternative for each
 * list of scopes, with what the first of the groups that name the scheme asks besides.
 */
export function defaultScopesToOas(classic: JsonObject, document: JsonObject, scheme: string): void {
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
