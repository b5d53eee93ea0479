import type { AuthRules } from '../api.ts'
import type { JsonObject } from '../json.ts'
import { flagOf, objectOf, textOf } from './members.ts'
import { listedScopes } from './oauth-members.ts'
import { member } from './tree.ts'

const DEFAULT_HEADER = 'Authorization'

/** Switch of each method in a classic definition, and the member of `auth_configs` that says where it reads. */
export const METHODS: readonly { readonly on: string; readonly config: string }[] = [
  { on: 'use_standard_auth', config: 'authToken' },
  { on: 'use_oauth2', config: 'oauth' },
  { on: 'enable_jwt', config: 'jwt' },
  { on: 'use_basic_auth', config: 'basic' },
  { on: 'enable_signature_checking', config: 'hmac' },
  { on: 'use_openid', config: 'oidc' },
  { on: 'enable_coprocess_auth', config: 'coprocess' },
  { on: 'use_go_plugin_auth', config: 'coprocess' },
]

/** Switches that are on; a definition that turns none on and is not keyless means the auth token. */
export function methodsOf(classic: JsonObject): string[] {
  if (flagOf(classic, 'use_keyless')) return []
  const on = METHODS.filter((method) => flagOf(classic, method.on)).map((method) => method.on)
  if (flagOf(objectOf(classic, 'external_oauth'), 'enabled')) on.push('external_oauth')
  return on.length === 0 ? ['use_standard_auth'] : on
}

/** Who may call: where the credential stands and what is taken out before forwarding. undefined = keyless. */
export function readAuth(classic: JsonObject): AuthRules | undefined {
  const methods = methodsOf(classic)
  if (methods.length === 0) return undefined
  const method = methods.includes('use_oauth2') ? 'oauth' : 'token'
  const config = configOf(classic, method === 'oauth' ? 'oauth' : 'authToken')
  const strip = stripPlaces([config, ...Object.values(objectOf(classic, 'auth_configs'))])
  return {
    method,
    header: flagOf(config, 'disable_header') ? undefined : headerName(config).toLowerCase(),
    query: flagOf(config, 'use_param') ? textOf(config, 'param_name') || headerName(config) : undefined,
    cookie: flagOf(config, 'use_cookie') ? textOf(config, 'cookie_name') || headerName(config) : undefined,
    strip: flagOf(classic, 'strip_auth_data'),
    ...strip,
    ...(method === 'oauth' && defaultScopes(classic)),
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

/** Headers go even where reading them is off; parameters and cookies go where they were named or are read. */
function stripPlaces(configs: readonly unknown[]): Pick<AuthRules, 'stripHeaders' | 'stripQueries' | 'stripCookies'> {
  const headers = new Set<string>()
  const queries = new Set<string>()
  const cookies = new Set<string>()
  for (const each of configs) {
    const config = (each ?? {}) as JsonObject
    headers.add(headerName(config).toLowerCase())
    const query = textOf(config, 'param_name') || (flagOf(config, 'use_param') ? headerName(config) : '')
    const cookie = textOf(config, 'cookie_name') || (flagOf(config, 'use_cookie') ? headerName(config) : '')
    if (query !== '') queries.add(query)
    if (cookie !== '') cookies.add(cookie)
  }
  return { stripHeaders: [...headers].sort(), stripQueries: [...queries].sort(), stripCookies: [...cookies].sort() }
}
