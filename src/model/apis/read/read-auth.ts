import { isMethodOn, type Scheme, type SchemeRules } from '../../authentication/scheme.ts'
import { SCHEMES } from '../../authentication/schemes.ts'
import type { JsonObject } from '../../json/json.ts'
import { GRANTS, type GrantType, grantOf } from '../../oauth-clients/grants.ts'
import type { BindingRule, OAuthRules } from '../../oauth-clients/oauth-rules.ts'
import type { AuthRules } from '../definition/api.ts'
import { flagOf, numberOf, objectOf, textOf, textsOf } from '../definition/members.ts'
import { member } from '../definition/tree.ts'
import { listedScopes } from './oauth-members.ts'

const DEFAULT_HEADER = 'Authorization'

/** Switch of each method in a classic definition, served or not, and the member of `auth_configs` that says where it reads. */
export const AUTH_SWITCHES: readonly Pick<Scheme, 'on' | 'config'>[] = [
  ...SCHEMES,
  { on: 'use_openid', config: 'oidc' },
  { on: 'enable_coprocess_auth', config: 'coprocess' },
  { on: 'use_go_plugin_auth', config: 'coprocess' },
]

/** In the order in which they are tried where the definition says nothing of it: the last one says who calls. */
const SERVED = SCHEMES.toSorted((a, b) => a.rank - b.rank)

/** Switches that are on; a definition that turns none on and is not keyless means the auth token. */
export function methodsOf(classic: JsonObject): string[] {
  if (flagOf(classic, 'use_keyless')) return []
  const on = AUTH_SWITCHES.filter((each) => isMethodOn(classic, each)).map(({ on }) => on)
  return on.length === 0 ? ['use_standard_auth'] : on
}

/** The switch of the method that `base_identity_provided_by` names; undefined when it names none that is served. */
export function methodOfIdentity(identity: string): string | undefined {
  return SERVED.find((each) => each.identity === identity)?.on
}

/** Names by which `security_requirements` may call the methods that are on, each with its switch. */
export function schemeNames(classic: JsonObject): Map<string, string> {
  const on = methodsOf(classic)
  const names = SERVED.filter((each) => on.includes(each.on)).map((each): [string, string] => [
    textOf(objectOf(objectOf(classic, 'auth_configs'), each.config), 'name') || each.config,
    each.on,
  ])
  return new Map(names)
}

/** Authentication: where the credential is and what is stripped before forwarding. undefined = keyless. */
export function readAuth(classic: JsonObject): AuthRules | undefined {
  const methods = methodsOf(classic)
  if (methods.length === 0) return undefined
  const identity = textOf(classic, 'base_identity_provided_by')
  const last = (a: Scheme, b: Scheme) => Number(a.identity === identity) - Number(b.identity === identity)
  const on = SERVED.filter((each) => methods.includes(each.on)).sort(last)
  const configs = on.map(({ config }) => configOf(classic, config))
  const schemes = new Map(on.map((each): [string, SchemeRules] => [each.on, readScheme(classic, each)]))
  const all = [...schemes.values()]
  const alternatives = alternativesOf(classic, schemes)
  return {
    ...(all.at(-1) ?? readScheme(classic, SERVED.at(-1)!)),
    ...(alternatives !== undefined && { alternatives }),
    strip: flagOf(classic, 'strip_auth_data'),
    ...stripPlaces([...configs, ...Object.values(objectOf(classic, 'auth_configs'))]),
    ...(schemes.has('use_oauth2') && defaultScopes(classic)),
  }
}

/** Alternatives that the definition names, else all methods together; undefined when there is one method alone. */
function alternativesOf(
  classic: JsonObject,
  schemes: ReadonlyMap<string, SchemeRules>,
): AuthRules['alternatives'] | undefined {
  if (schemes.size < 2) return undefined
  if (textOf(classic, 'security_processing_mode') !== 'compliant') return [[...schemes.values()]]
  const names = schemeNames(classic)
  const listed = member(classic, 'security_requirements')
  const groups = (Array.isArray(listed) ? listed : []).map((group) => textsOf({ group }, 'group'))
  const read = groups.map((group) => {
    const wanted = new Set(group.map((name) => names.get(name)))
    return [...schemes].filter(([on]) => wanted.has(on)).map(([, scheme]) => scheme)
  })
  const met = read.filter((group) => group.length > 0)
  return met.length === 0 ? [[...schemes.values()]] : met
}

function readScheme(classic: JsonObject, scheme: Scheme): SchemeRules {
  const config = configOf(classic, scheme.config)
  return {
    method: scheme.method,
    header: flagOf(config, 'disable_header') ? undefined : headerName(config).toLowerCase(),
    query: flagOf(config, 'use_param') ? textOf(config, 'param_name') || nameElsewhere(config) : undefined,
    cookie: flagOf(config, 'use_cookie') ? textOf(config, 'cookie_name') || nameElsewhere(config) : undefined,
    ...(scheme.takesCertificates && flagOf(config, 'use_certificate') && { certificate: true }),
    ...(scheme.read !== undefined && { settings: scheme.read(classic) }),
  }
}

/** Scopes that are asked for where no operation says otherwise. */
function defaultScopes(classic: JsonObject): Pick<AuthRules, 'scopes'> {
  const scopes = listedScopes(member(objectOf(classic, 'oauth_meta'), 'default_scopes')) ?? []
  return scopes.length === 0 ? {} : { scopes }
}

/** The method's own settings, else the old single form. */
function configOf(classic: JsonObject, name: string): JsonObject {
  const own = member(objectOf(classic, 'auth_configs'), name)
  return own === undefined || own === null ? objectOf(classic, 'auth') : (own as JsonObject)
}

function headerName(config: JsonObject): string {
  return textOf(config, 'auth_header_name') || DEFAULT_HEADER
}

/** The name of a parameter or cookie that has none of its own: that of the header, where one is read. */
function nameElsewhere(config: JsonObject): string {
  return flagOf(config, 'disable_header') ? DEFAULT_HEADER : headerName(config)
}

/** Headers go even where reading them is off; parameters and cookies go where they were named or are read. */
function stripPlaces(configs: readonly unknown[]): Pick<AuthRules, 'stripHeaders' | 'stripQueries' | 'stripCookies'> {
  const headers = new Set<string>()
  const queries = new Set<string>()
  const cookies = new Set<string>()
  for (const each of configs) {
    const config = (each ?? {}) as JsonObject
    headers.add(headerName(config).toLowerCase())
    const query = textOf(config, 'param_name') || (flagOf(config, 'use_param') ? nameElsewhere(config) : '')
    const cookie = textOf(config, 'cookie_name') || (flagOf(config, 'use_cookie') ? nameElsewhere(config) : '')
    if (query !== '') queries.add(query)
    if (cookie !== '') cookies.add(cookie)
  }
  return { stripHeaders: [...headers].sort(), stripQueries: [...queries].sort(), stripCookies: [...cookies].sort() }
}

/** The authorization server of a classic definition. The schema has checked its members. */
export function readOAuth(classic: JsonObject): OAuthRules {
  const meta = objectOf(classic, 'oauth_meta')
  const notifications = objectOf(classic, 'notifications')
  const grants = grantsOf(meta)
  return {
    grants,
    responseTypes: responseTypesOf(meta, grants),
    loginRedirect: textOf(meta, 'auth_login_redirect'),
    notifyUrl: textOf(notifications, 'oauth_on_keychange_url'),
    notifySecret: textOf(notifications, 'shared_secret'),
    scopes: new Set(Object.keys(objectOf(meta, 'scopes'))),
    allowedResources: textsOf(meta, 'allowed_resources'),
    openRegistration: flagOf(meta, 'open_registration'),
    clientIdMetadata: flagOf(meta, 'client_id_metadata'),
    registrationPolicies: textsOf(meta, 'registration_policies'),
    accessTokenFormat: textOf(meta, 'access_token_format') === 'jwt' ? 'jwt' : 'opaque',
    accessTokenType: textOf(meta, 'access_token_type') === 'JWT' ? 'JWT' : 'at+jwt',
    signingAlgorithm: textOf(meta, 'access_token_signing_algorithm') === 'RS256' ? 'RS256' : 'ES256',
    accessTokenS: numberOf(meta, 'access_token_lifetime'),
    refreshTokenS: numberOf(meta, 'refresh_token_lifetime'),
    codeS: numberOf(meta, 'authorization_code_lifetime'),
    refreshReuseGraceS: numberOf(meta, 'refresh_reuse_grace_seconds'),
    requirePkce: flagOf(meta, 'require_pkce'),
    requirePushedRequests: flagOf(meta, 'require_pushed_authorization_requests'),
    dpop: bindingOf(meta, 'dpop'),
    mutualTls: bindingOf(meta, 'mutual_tls'),
  }
}

/** The grants that a definition allows; the implicit one is not served. */
function grantsOf(meta: JsonObject): ReadonlySet<GrantType> {
  const grants = new Set<GrantType>()
  for (const type of textsOf(meta, 'allowed_access_types')) {
    const grant = grantOf(type)
    if (grant !== undefined && grant.classic === undefined) grants.add(grant.type)
  }
  for (const { type, classic } of GRANTS) if (classic !== undefined && flagOf(meta, classic)) grants.add(type)
  return grants
}

/** A definition that lists no response types at all takes those of its grants; an empty list takes none. */
function responseTypesOf(meta: JsonObject, grants: ReadonlySet<GrantType>): ReadonlySet<string> {
  const listed = member(meta, 'allowed_authorize_types') ?? undefined
  const code = listed === undefined || textsOf(meta, 'allowed_authorize_types').includes('code')
  return new Set(code && grants.has('authorization_code') ? ['code'] : [])
}

function bindingOf(meta: JsonObject, name: string): BindingRule {
  const rule = textOf(meta, name)
  return rule === 'allowed' || rule === 'required' ? rule : 'off'
}
