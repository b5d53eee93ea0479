import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { GRANTS, type Grant, IMPLICIT } from '../../oauth-clients/grants.ts'
import { oauthSchemeOf, operationsOf } from '../convert/convert-operations.ts'
import type { ApiDocument } from '../definition/api.ts'
import { EXTENSION, extensionOf, flagOf, isEmpty, objectOf, objectsOf, textOf, textsOf } from '../definition/members.ts'
import { type Flaw, member, type TreePath } from '../definition/tree.ts'
import { ACCESS_TYPES, FLOWS, isScopeToken, RESPONSE_TYPES, scopesOfFlows } from '../read/oauth-members.ts'
import { usesExtendedPaths } from '../read/read-rules.ts'

/** Contradictions in the authorization server settings of a classic definition with the OAuth method. */
export function classicOAuthFlaws(classic: JsonObject): Flaw[] {
  const meta = objectOf(classic, 'oauth_meta')
  const types = textsOf(meta, 'allowed_access_types')
  const flows = FLOWS.filter(({ access }) => types.includes(access)).map(({ access }) => access)
  // Scopes belong to flows: without any there is nothing to ask for.
  const scopes = flows.length === 0 ? {} : objectOf(meta, 'scopes')
  const flaws = unknownWords(types, ACCESS_TYPES, ['oauth_meta', 'allowed_access_types'])
  flaws.push(...responseFlaws(meta.allowed_authorize_types, ['oauth_meta', 'allowed_authorize_types']))
  flaws.push(...scopeFlaws(scopes, ['oauth_meta', 'scopes']))
  flaws.push(...askedFlaws(meta.default_scopes, scopes, ['oauth_meta', 'default_scopes']))
  const versions = objectOf(objectOf(classic, 'version_data'), 'versions')
  for (const name of Object.keys(versions)) {
    const at = ['version_data', 'versions', name, 'extended_paths', 'oauth_scopes']
    if (!usesExtendedPaths(objectOf(versions, name))) continue
    objectsOf(objectOf(versions[name], 'extended_paths'), 'oauth_scopes').forEach((entry, index) => {
      if (!flagOf(entry, 'disabled')) flaws.push(...askedFlaws(entry.scopes, scopes, [...at, String(index), 'scopes']))
    })
  }
  return flaws
}

/** The same of an OpenAPI document whose OAuth scheme is enabled. */
export function oasOAuthFlaws(document: JsonObject, extension: JsonObject): Flaw[] {
  const authentication = objectOf(objectOf(extension, 'server'), 'authentication')
  const scheme = oauthSchemeOf(document, extension)
  if (scheme === undefined || !flagOf(authentication, 'enabled')) return []
  const held = objectOf(objectOf(authentication, 'securitySchemes'), scheme)
  if (!flagOf(held, 'enabled')) return []
  const at = [EXTENSION, 'server', 'authentication', 'securitySchemes', scheme]
  const declared = objectOf(objectOf(objectOf(document, 'components'), 'securitySchemes'), scheme)
  const flows = objectOf(declared, 'flows')
  const scopes = scopesOfFlows(declared)
  const flaws = responseFlaws(held.allowedAuthorizeTypes, [...at, 'allowedAuthorizeTypes'])
  for (const { flow } of FLOWS) {
    const path = ['components', 'securitySchemes', scheme, 'flows', flow, 'scopes']
    flaws.push(...scopeFlaws(objectOf(objectOf(flows, flow), 'scopes'), path))
  }
  flaws.push(...securityFlaws(document.security, scheme, scopes, ['security']))
  for (const { path, method, object } of operationsOf(document)) {
    flaws.push(...securityFlaws(object.security, scheme, scopes, ['paths', path, method.toLowerCase(), 'security']))
  }
  return flaws
}

/** Settings of an authorization server of a classic definition that do nothing: flows that are not served, notifications without a flow. */
export function classicOAuthWarnings(classic: JsonObject): Flaw[] {
  if (!flagOf(classic, 'use_oauth2')) return []
  const meta = objectOf(classic, 'oauth_meta')
  const types = textsOf(meta, 'allowed_access_types')
  const at = ['oauth_meta', 'allowed_access_types']
  const index = types.indexOf(IMPLICIT.access)
  const flaws: Flaw[] = index === -1 ? [] : [{ at: [...at, String(index)], reason: NOT_SERVED }]
  const isAnnouncing = GRANTS.filter(isAnnounced).some(({ type, classic: name }) =>
    name === undefined ? types.includes(type) : flagOf(meta, name),
  )
  if (!isAnnouncing && textOf(objectOf(classic, 'notifications'), 'oauth_on_keychange_url') !== '')
    flaws.push({ at: ['notifications', 'oauth_on_keychange_url'], reason: UNANNOUNCED })
  const isServing = STARTING.some(({ type, classic: name }) =>
    name === undefined ? types.includes(type) : flagOf(meta, name),
  )
  if (!isServing) flaws.push({ at, reason: NO_GRANT })
  const allows = (each: Grant) => (each.classic === undefined ? types.includes(each.type) : flagOf(meta, each.classic))
  const idle = idleSettings({
    held: meta,
    notifications: objectOf(classic, 'notifications'),
    allows,
    format: 'classic',
  })
  const root = (path: TreePath) => (path[0] === 'notifications' ? path : ['oauth_meta', ...path])
  return [...flaws, ...idle.map(({ at: path, reason }) => ({ at: root(path), reason }))]
}

/** The same of an OpenAPI document. */
export function oasOAuthWarnings(document: JsonObject): Flaw[] {
  const extension = extensionOf(document)
  const scheme = extension === undefined ? undefined : oauthSchemeOf(document, extension)
  if (extension === undefined || scheme === undefined) return []
  const held = objectOf(objectOf(objectOf(objectOf(extension, 'server'), 'authentication'), 'securitySchemes'), scheme)
  const flows = objectOf(objectOf(objectOf(objectOf(document, 'components'), 'securitySchemes'), scheme), 'flows')
  const isThere = (flow: string) => isObject(flows[flow] ?? null)
  const ofScheme = ['components', 'securitySchemes', scheme, 'flows', IMPLICIT.flow]
  const flaws: Flaw[] = isThere(IMPLICIT.flow) ? [{ at: ofScheme, reason: NOT_SERVED }] : []
  const isAnnouncing = GRANTS.filter(isAnnounced).some(({ flow, oas }) =>
    flow === undefined ? flagOf(held, oas!) : isThere(flow.name),
  )
  if (!isAnnouncing && textOf(objectOf(held, 'notifications'), 'onKeyChangeUrl') !== '') {
    const at = [EXTENSION, 'server', 'authentication', 'securitySchemes', scheme, 'notifications', 'onKeyChangeUrl']
    flaws.push({ at, reason: UNANNOUNCED })
  }
  if (flagOf(held, 'enabled')) {
    const atFlows = ['components', 'securitySchemes', scheme, 'flows']
    const isServing = STARTING.some(({ flow, oas }) => (flow === undefined ? flagOf(held, oas!) : isThere(flow.name)))
    if (!isServing) flaws.push({ at: atFlows, reason: NO_GRANT })
    for (const { flow } of FLOWS) flaws.push(...addressFlaws(objectOf(flows, flow), [...atFlows, flow]))
    const allows = ({ flow, oas }: Grant) => (flow === undefined ? flagOf(held, oas!) : isThere(flow.name))
    const atScheme = [EXTENSION, 'server', 'authentication', 'securitySchemes', scheme]
    const idle = idleSettings({ held, notifications: objectOf(held, 'notifications'), allows, format: 'oas' })
    flaws.push(...idle.map(({ at, reason }) => ({ at: [...atScheme, ...at], reason })))
  }
  return flaws
}

/** The grants that a first token can come from. */
const STARTING = GRANTS.filter(({ isFollowing }) => !isFollowing)
const NO_GRANT = 'allows no grant that is served: no client gets a token'

/** The settings of an authorization server, and the grants that it allows. */
interface ServerSettings {
  readonly format: ApiDocument['format']
  /** `oauth_meta`, or the settings of the scheme. */
  readonly held: JsonObject
  readonly notifications: JsonObject
  readonly allows: (grant: Grant) => boolean
}

type Names = Readonly<Record<ApiDocument['format'], string>>

const LOGIN_PAGE: Names = { classic: 'auth_login_redirect', oas: 'authLoginRedirect' }
const DEVICE = GRANTS.find(({ oas }) => oas === 'deviceAuthorization')!
const CODE = GRANTS.find(({ type }) => type === 'authorization_code')!
const REFRESH = GRANTS.find(({ type }) => type === 'refresh_token')!
const JWT_FORMAT: Names = { classic: 'access_token_format', oas: 'accessTokenFormat' }

/** Settings that are for some grants alone. */
const OF_GRANTS: readonly { readonly names: Names; readonly grants: readonly Grant[]; readonly words: string }[] = [
  { names: LOGIN_PAGE, grants: [CODE, DEVICE], words: 'the authorization code or device grant' },
  ...[
    { classic: 'require_pkce', oas: 'requirePkce' },
    { classic: 'require_pushed_authorization_requests', oas: 'requirePushedAuthorizationRequests' },
    { classic: 'authorization_code_lifetime', oas: 'authorizationCodeLifetime' },
  ].map((names) => ({ names, grants: [CODE], words: 'the authorization code grant' })),
  ...[
    { classic: 'refresh_token_lifetime', oas: 'refreshTokenLifetime' },
    { classic: 'refresh_reuse_grace_seconds', oas: 'refreshReuseGraceSeconds' },
  ].map((names) => ({ names, grants: [REFRESH], words: 'the refresh token grant' })),
]

/** Settings that are for tokens of one format. */
const OF_JWT: readonly Names[] = [
  { classic: 'access_token_type', oas: 'accessTokenType' },
  { classic: 'access_token_signing_algorithm', oas: 'accessTokenSigningAlgorithm' },
]

const NOTIFY_URL: Names = { classic: 'oauth_on_keychange_url', oas: 'onKeyChangeUrl' }
const NOTIFY_SECRET: Names = { classic: 'shared_secret', oas: 'sharedSecret' }
const RESPONSES: Names = { classic: 'allowed_authorize_types', oas: 'allowedAuthorizeTypes' }

/** Settings that wait for another one, below the settings of the server. */
function idleSettings({ format, held, notifications, allows }: ServerSettings): Flaw[] {
  const nameOf = (names: Names) => names[format]
  const flaws: Flaw[] = []
  const loginPage = nameOf(LOGIN_PAGE)
  if (allows(DEVICE) && textOf(held, loginPage) === '')
    flaws.push({
      at: [format === 'oas' ? DEVICE.oas! : DEVICE.classic!],
      reason: `is not served without ${JSON.stringify(loginPage)}: people enter the code of the device on that page`,
    })
  // Without any grant that is one thing to say, and said elsewhere.
  for (const { names, grants, words } of STARTING.some(allows) ? OF_GRANTS : [])
    if (!isEmpty(held[nameOf(names)]) && !grants.some(allows))
      flaws.push({ at: [nameOf(names)], reason: `has no effect without ${words}` })
  const responses = held[nameOf(RESPONSES)]
  if (allows(CODE) && Array.isArray(responses) && !responses.includes('code'))
    flaws.push({ at: [nameOf(RESPONSES)], reason: 'lacks "code": every authorization request is refused' })
  if (textOf(held, nameOf(JWT_FORMAT)) !== 'jwt')
    for (const names of OF_JWT)
      if (!isEmpty(held[nameOf(names)]))
        flaws.push({
          at: [nameOf(names)],
          reason: `has no effect without ${JSON.stringify(nameOf(JWT_FORMAT))}: "jwt"`,
        })
  if (!isEmpty(notifications[nameOf(NOTIFY_SECRET)]) && isEmpty(notifications[nameOf(NOTIFY_URL)]))
    flaws.push({
      at: ['notifications', nameOf(NOTIFY_SECRET)],
      reason: `has no effect without ${JSON.stringify(nameOf(NOTIFY_URL))}`,
    })
  return flaws
}

/** The addresses of a flow, and the ends of those that are served. */
const ENDPOINTS = {
  authorizationUrl: '/oauth/authorize',
  tokenUrl: '/oauth/token',
  refreshUrl: '/oauth/token',
} as const

/** Addresses of a flow that the authorization server of the API does not have. */
function addressFlaws(flow: JsonObject, at: TreePath): Flaw[] {
  return Object.entries(ENDPOINTS).flatMap(([name, end]) => {
    const path = `/${textOf(flow, name).replace(/[?#].*$/, '')}`.replace(/\/$/, '')
    return path === '' || path.endsWith(end)
      ? []
      : [{ at: [...at, name], reason: `has no effect: it is always ${end} below the listen path` }]
  })
}

const NOT_SERVED = 'has no effect: the implicit flow is not served; use the authorization code with PKCE'

/** Tokens of a user are announced, when they are issued. */
function isAnnounced({ isForClient, isFollowing }: Grant): boolean {
  return !isForClient && !isFollowing
}

const UNANNOUNCED = 'has no effect: tokens of client credentials are not announced, and no other flow is allowed'

function unknownWords(words: readonly string[], known: ReadonlySet<string>, at: TreePath): Flaw[] {
  const reason = `must be one of ${[...known].map((word) => JSON.stringify(word)).join(', ')}`
  return words.flatMap((word, index) => (known.has(word) ? [] : [{ at: [...at, String(index)], reason }]))
}

function responseFlaws(listed: Json | undefined, at: TreePath): Flaw[] {
  return isEmpty(listed) ? [] : unknownWords(textsOf({ listed: listed! }, 'listed'), RESPONSE_TYPES, at)
}

function scopeFlaws(scopes: JsonObject, at: TreePath): Flaw[] {
  return Object.keys(scopes).flatMap((name) =>
    isScopeToken(name)
      ? []
      : [{ at: [...at, name], reason: 'must be named by visible ASCII without quotes and backslash' }],
  )
}

/** Scopes that are asked for in a list of alternatives and that no flow declares. */
function askedFlaws(alternatives: Json | undefined, known: JsonObject, at: TreePath): Flaw[] {
  if (!Array.isArray(alternatives)) return []
  return alternatives.flatMap((scopes, index) =>
    Array.isArray(scopes) ? undeclared(scopes, known, [...at, String(index)]) : [],
  )
}

function securityFlaws(security: Json | undefined, scheme: string, known: JsonObject, at: TreePath): Flaw[] {
  if (!Array.isArray(security)) return []
  return security.flatMap((group, index) => {
    const scopes = member(group, scheme)
    return Array.isArray(scopes) ? undeclared(scopes, known, [...at, String(index), scheme]) : []
  })
}

function undeclared(scopes: readonly Json[], known: JsonObject, at: TreePath): Flaw[] {
  return scopes.flatMap((scope, index) =>
    typeof scope === 'string' && member(known, scope) === undefined
      ? [{ at: [...at, String(index)], reason: 'is a scope that no flow declares' }]
      : [],
  )
}
