import type { Definition, Json } from '../../api/apis.ts'
import type { FormValue, FormValues } from '../../parts/record-form.tsx'
import { at, EXTENSION, isObject, objectAt, textAt, textsAt, withAt } from './tree.ts'

/** Grants as the form names them, and the flow of OpenAPI that stands for each. */
const FLOWS = [
  ['authorization_code', 'authorizationCode'],
  ['client_credentials', 'clientCredentials'],
  ['password', 'password'],
] as const
const AUTHORIZE = { authorizationUrl: '/oauth/authorize' }
const TOKEN = { tokenUrl: '/oauth/token' }
const ADDRESSES: Readonly<Record<string, Definition>> = {
  authorizationCode: { ...AUTHORIZE, ...TOKEN },
  clientCredentials: TOKEN,
  password: TOKEN,
}

/** Settings of the authorization server that both formats have: field, member of the scheme, member of `oauth_meta`. */
const MEMBERS = [
  ['loginRedirect', 'authLoginRedirect', 'auth_login_redirect'],
  ['authorizeTypes', 'allowedAuthorizeTypes', 'allowed_authorize_types'],
  ['tokenFormat', 'accessTokenFormat', 'access_token_format'],
  ['signing', 'accessTokenSigningAlgorithm', 'access_token_signing_algorithm'],
  ['accessLife', 'accessTokenLifetime', 'access_token_lifetime'],
  ['refreshLife', 'refreshTokenLifetime', 'refresh_token_lifetime'],
  ['codeLife', 'authorizationCodeLifetime', 'authorization_code_lifetime'],
  ['grace', 'refreshReuseGraceSeconds', 'refresh_reuse_grace_seconds'],
  ['pkce', 'requirePkce', 'require_pkce'],
  ['pushed', 'requirePushedAuthorizationRequests', 'require_pushed_authorization_requests'],
  ['dpop', 'dpop', 'dpop'],
  ['mutualTls', 'mutualTls', 'mutual_tls'],
  ['device', 'deviceAuthorization', 'device_authorization'],
] as const

const EMPTY: FormValues = {
  ...{
    loginRedirect: '',
    authorizeTypes: [],
    tokenFormat: 'opaque',
    signing: 'ES256',
    accessLife: '',
    refreshLife: '',
  },
  ...{ codeLife: '', grace: '', pkce: false, pushed: false, dpop: 'off', mutualTls: 'off', device: false },
}

export type Method = 'keyless' | 'token' | 'oauth' | 'other'
const SWITCHES = { token: 'use_standard_auth', oauth: 'use_oauth2' } as const
const OTHERS = ['enable_jwt', 'use_basic_auth', 'enable_signature_checking', 'use_openid', 'enable_coprocess_auth']
const CONFIG = { token: 'authToken', oauth: 'oauth' } as const

/** How callers say who they are, read from the classic words that both formats have. */
export function methodOf(classic: Definition): Method {
  if (classic.use_keyless === true) return 'keyless'
  if (classic.use_oauth2 === true) return 'oauth'
  return OTHERS.some((name) => classic[name] === true) ? 'other' : 'token'
}

/** What the form of the Authentication tab shows. */
export function authenticationOf(classic: Definition): FormValues {
  const method = methodOf(classic)
  const own = objectAt(classic, ['auth_configs', method === 'oauth' ? 'oauth' : 'authToken'])
  const config = Object.keys(own).length > 0 ? own : objectAt(classic, ['auth'])
  const meta = objectAt(classic, ['oauth_meta'])
  const types = textsAt(meta, ['allowed_access_types'])
  return {
    method,
    header: config.disable_header !== true,
    headerName: textAt(config, ['auth_header_name']) || 'Authorization',
    query: config.use_param === true,
    queryName: textAt(config, ['param_name']),
    cookie: config.use_cookie === true,
    cookieName: textAt(config, ['cookie_name']),
    strip: classic.strip_auth_data === true,
    flows: FLOWS.map(([type]) => type).filter((type) => types.includes(type)),
    refresh: types.includes('refresh_token'),
    scopes: scopeLines(objectAt(meta, ['scopes'])),
    notifyUrl: textAt(classic, ['notifications', 'oauth_on_keychange_url']),
    notifySecret: textAt(classic, ['notifications', 'shared_secret']),
    ...Object.fromEntries(MEMBERS.map(([name, , member]) => [name, read(meta[member], EMPTY[name]!)])),
  }
}

function read(written: Json | undefined, empty: FormValue): FormValue {
  if (Array.isArray(empty)) return Array.isArray(written) ? written.map(String) : empty
  if (empty === '' && typeof written === 'number') return written === 0 ? '' : written
  return (typeof written === 'string' && written !== '') || typeof written === 'boolean' ? written : empty
}

/** The definition with what differs in the form. */
export function withAuthentication(
  definition: Definition,
  isOas: boolean,
  before: FormValues,
  values: FormValues,
): Definition {
  if (JSON.stringify(before) === JSON.stringify(values)) return definition
  return isOas ? inOpenapi(definition, values) : inClassic(definition, values)
}

function inClassic(definition: Definition, values: FormValues): Definition {
  const method = values.method as Method
  let next = withAt(definition, ['use_keyless'], method === 'keyless')
  if (method === 'keyless' || method === 'other') return next
  for (const name of [...OTHERS, ...Object.values(SWITCHES)])
    if (next[name] !== undefined) next = withAt(next, [name], false)
  next = withAt(next, [SWITCHES[method]], true)
  next = withAt(next, ['strip_auth_data'], values.strip === true)
  next = withAt(next, ['auth_configs', CONFIG[method]], {
    ...objectAt(next, ['auth_configs', CONFIG[method]]),
    disable_header: values.header !== true,
    auth_header_name: String(values.headerName),
    use_param: values.query === true,
    param_name: String(values.queryName),
    use_cookie: values.cookie === true,
    cookie_name: String(values.cookieName),
  })
  if (method !== 'oauth') return next
  const kept = textsAt(next, ['oauth_meta', 'allowed_access_types']).filter((type) => type === '__implicit')
  const types = [...list(values.flows), ...kept, ...(values.refresh === true ? ['refresh_token'] : [])]
  next = withAt(next, ['oauth_meta', 'allowed_access_types'], types)
  next = withAt(next, ['oauth_meta', 'scopes'], scopesIn(values.scopes))
  for (const [name, , member] of MEMBERS) next = written(next, ['oauth_meta', member], values[name], EMPTY[name])
  return withNotifications(next, ['notifications'], 'oauth_on_keychange_url', 'shared_secret', values)
}

function inOpenapi(definition: Definition, values: FormValues): Definition {
  const method = values.method as Method
  const server = [EXTENSION, 'server', 'authentication']
  let next = withAt(definition, [...server, 'enabled'], method !== 'keyless')
  if (method === 'keyless' || method === 'other') return next
  const name = schemeOf(next, method)
  const held = [...server, 'securitySchemes', name]
  for (const other of Object.keys(objectAt(next, [...server, 'securitySchemes'])))
    if (other !== name) next = withAt(next, [...server, 'securitySchemes', other, 'enabled'], false)
  next = withAt(next, [...server, 'stripAuthorizationData'], values.strip === true)
  next = withAt(next, held, {
    ...objectAt(next, held),
    enabled: true,
    header: { enabled: values.header === true, name: String(values.headerName) },
    query: { enabled: values.query === true, name: String(values.queryName) },
    cookie: { enabled: values.cookie === true, name: String(values.cookieName) },
  })
  next = asking(next, name)
  const declared = ['components', 'securitySchemes', name]
  if (method === 'token') return withAt(next, declared, declaredKey(values))
  next = withAt(next, declared, declaredOauth(objectAt(next, declared), values))
  next = withAt(next, [...held, 'refreshToken'], values.refresh === true)
  for (const [field, member] of MEMBERS) next = written(next, [...held, member], values[field], EMPTY[field])
  return withNotifications(next, [...held, 'notifications'], 'onKeyChangeUrl', 'sharedSecret', values)
}

/** The scheme of this method that is in use or declared, else a name for a new one. */
function schemeOf(document: Definition, method: 'token' | 'oauth'): string {
  const declared = objectAt(document, ['components', 'securitySchemes'])
  const type = method === 'token' ? 'apiKey' : 'oauth2'
  const names = Object.keys(declared).filter((name) => textAt(declared, [name, 'type']) === type)
  const held = objectAt(document, [EXTENSION, 'server', 'authentication', 'securitySchemes'])
  const known = names.find((name) => held[name] !== undefined) ?? names[0]
  if (known !== undefined) return known
  let fresh: string = CONFIG[method]
  while (declared[fresh] !== undefined) fresh += '_'
  return fresh
}

/** `security` asks for the scheme, and no more for others of the gateway's. */
function asking(document: Definition, name: string): Definition {
  const groups = Array.isArray(document.security) ? document.security.filter(isObject) : []
  if (groups.some((group) => Object.keys(group).length === 1 && group[name] !== undefined)) {
    return { ...document, security: groups.filter((group) => group[name] !== undefined) }
  }
  return { ...document, security: [{ [name]: [] }] }
}

function declaredKey(values: FormValues): Definition {
  const place = values.header === true ? 'header' : values.query === true ? 'query' : 'cookie'
  return { type: 'apiKey', in: place, name: String(values[`${place}Name`]) || 'Authorization' }
}

function declaredOauth(before: Definition, values: FormValues): Definition {
  const scopes = scopesIn(values.scopes)
  const kept = objectAt(before, ['flows', 'implicit'])
  const flows: Record<string, Json> = Object.keys(kept).length > 0 ? { implicit: { ...kept, scopes } } : {}
  for (const [type, flow] of FLOWS)
    if (list(values.flows).includes(type))
      flows[flow] = { ...ADDRESSES[flow], ...objectAt(before, ['flows', flow]), scopes }
  return { ...before, type: 'oauth2', flows }
}

/** What is empty in the form is taken out, so that the default counts. */
function written(
  tree: Definition,
  path: readonly string[],
  value: FormValue | undefined,
  empty: FormValue | undefined,
) {
  const isEmpty = value === undefined || value === '' || value === empty || (Array.isArray(value) && value.length === 0)
  if (isEmpty && at(tree, path) === undefined) return tree
  return withAt(tree, path, isEmpty ? undefined : (value as Json))
}

function withNotifications(
  tree: Definition,
  path: readonly string[],
  url: string,
  secret: string,
  values: FormValues,
): Definition {
  return written(written(tree, [...path, url], values.notifyUrl, ''), [...path, secret], values.notifySecret, '')
}

const list = (value: FormValue | undefined): readonly string[] => (Array.isArray(value) ? value : [])

/** One scope a line: its name, then what it is for. */
function scopeLines(scopes: Definition): string {
  return Object.entries(scopes)
    .map(([name, description]) => `${name} ${typeof description === 'string' ? description : ''}`.trim())
    .join('\n')
}

function scopesIn(text: FormValue | undefined): Definition {
  const lines = String(text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...words] = line.split(/\s+/)
      return [name, words.join(' ')]
    }),
  )
}
