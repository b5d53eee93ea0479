import { isObject, type JsonObject } from '../../json/json.ts'
import { flagOf, isEmpty, objectOf, textOf, textsOf } from '../definition/members.ts'
import { getAt, member, pathOf, putAt, sameTree, setMember } from '../definition/tree.ts'
import { AUTH_SWITCHES } from '../read/read-auth.ts'
import { defaultScopesToClassic, defaultScopesToOas, oauthToClassic, oauthToOas } from './convert-oauth.ts'
import { groupsOf, hmacToClassic, hmacToOas, offersChoice, SCHEME_PAIRS, writeGroups } from './convert-schemes.ts'
import { copyPairs, type Pair } from './convert-table.ts'

/** A method that both formats can name: its switch and settings in classic, and how OpenAPI declares its scheme. */
interface SchemeKind {
  readonly on: string
  readonly config: string
  readonly matches: (declared: JsonObject) => boolean
  readonly declare: (config: JsonObject) => JsonObject
}

const isHttp = (scheme: string) => (declared: JsonObject) =>
  declared.type === 'http' && textOf(declared, 'scheme').toLowerCase() === scheme

const KINDS: readonly SchemeKind[] = [
  { on: 'use_standard_auth', config: 'authToken', matches: ({ type }) => type === 'apiKey', declare: declareApiKey },
  {
    on: 'use_oauth2',
    config: 'oauth',
    matches: ({ type }) => type === 'oauth2',
    declare: () => ({ type: 'oauth2', flows: {} }),
  },
  {
    on: 'enable_jwt',
    config: 'jwt',
    matches: isHttp('bearer'),
    declare: () => ({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }),
  },
  {
    on: 'use_basic_auth',
    config: 'basic',
    matches: isHttp('basic'),
    declare: () => ({ type: 'http', scheme: 'basic' }),
  },
]

const same = (classic: string, oas: string): Pair => ({ classic: pathOf(classic), oas: pathOf(oas) })

const CONFIG_PAIRS: readonly Pair[] = [
  same('use_param', 'query.enabled'),
  same('param_name', 'query.name'),
  same('use_cookie', 'cookie.enabled'),
  same('cookie_name', 'cookie.name'),
  same('use_certificate', 'enableClientCertificate'),
  same('validate_signature', 'signatureValidation.enabled'),
]

const SCHEMES = ['server', 'authentication', 'securitySchemes']

/** Writes methods and their settings as security schemes: declared in the document, asked for in `security`, set up in the extension. */
export function authToOas(classic: JsonObject, document: JsonObject, extension: JsonObject): void {
  const keyless = flagOf(classic, 'use_keyless')
  const none = !AUTH_SWITCHES.some((method) => flagOf(classic, method.on))
  const asked: string[] = []
  const used = new Set<string>()
  let oauth: string | undefined
  for (const kind of KINDS) {
    const byDefault = none && !keyless && kind.config === 'authToken'
    const on = flagOf(classic, kind.on) || byDefault
    const config = configOf(classic, kind.config)
    if (!on && Object.values(config).every(isEmpty)) continue
    const name = freeName(textOf(config, 'name') || kind.config, kind.config, used)
    const declared = declare(document, name, kind, config)
    const held: JsonObject = { enabled: on, header: { enabled: !flagOf(config, 'disable_header') } }
    if (config.auth_header_name !== undefined) putAt(held, ['header', 'name'], config.auth_header_name)
    copyPairs(CONFIG_PAIRS, config, held, 'toOas')
    copyPairs(SCHEME_PAIRS[kind.config] ?? [], classic, held, 'toOas')
    if (kind.config === 'oauth') oauthToOas(classic, declared, held)
    putAt(extension, [...SCHEMES, name], held)
    if (on && !keyless) asked.push(name)
    if (kind.config === 'oauth') oauth = name
  }
  hmacToOas(classic, extension)
  const several = asked.length + Number(flagOf(classic, 'enable_signature_checking')) > 1
  if (!(several && askForOne(classic, document, extension, used))) askFor(document, asked)
  if (oauth !== undefined) defaultScopesToOas(classic, document, oauth)
}

/** Writes security schemes as methods and their settings. Of several of one kind, the first that is enabled counts. */
export function authToClassic(document: JsonObject, extension: JsonObject, classic: JsonObject): void {
  const declared = objectOf(objectOf(document, 'components'), 'securitySchemes')
  const schemes = getAt(extension, SCHEMES)
  hmacToClassic(extension, classic)
  if (offersChoice(extension)) {
    const groups = metGroups(document, extension)
    if (groups.length > 0) classic.security_requirements = groups
  }
  if (schemes === undefined || !isObject(schemes)) return
  for (const kind of KINDS) {
    const names = Object.keys(schemes).filter((name) => {
      const declaration = member(declared, name)
      return declaration !== undefined && isObject(declaration) && isObject(schemes[name]) && kind.matches(declaration)
    })
    const name = names.find((each) => flagOf(schemes[each], 'enabled')) ?? names[0]
    if (name === undefined) continue
    const held = schemes[name] as JsonObject
    classic[kind.on] = flagOf(held, 'enabled')
    const config = placesToClassic(declared[name] as JsonObject, held)
    if (name !== kind.config) config.name = name
    copyPairs(CONFIG_PAIRS, held, config, 'toClassic')
    copyPairs(SCHEME_PAIRS[kind.config] ?? [], held, classic, 'toClassic')
    putAt(classic, ['auth_configs', kind.config], config)
    if (kind.config !== 'oauth') continue
    oauthToClassic(declared[name] as JsonObject, held, classic)
    defaultScopesToClassic(document, name, classic)
  }
}

/** The place that OpenAPI names counts where the extension says nothing of that place. */
function placesToClassic(declared: JsonObject, held: JsonObject): JsonObject {
  const place = declared.type === 'apiKey' ? textOf(declared, 'in') : ''
  const name = textOf(declared, 'name')
  const header = member(held, 'header')
  const config: JsonObject = {}
  if (header !== undefined && header !== null) {
    config.disable_header = !flagOf(header, 'enabled')
    const own = member(header, 'name')
    if (own !== undefined) config.auth_header_name = own
    else if (place === 'header') config.auth_header_name = name
  } else {
    const elsewhere = place === '' && (!isEmpty(held.query) || !isEmpty(held.cookie))
    config.disable_header = elsewhere || place === 'query' || place === 'cookie'
    if (place === 'header') config.auth_header_name = name
  }
  const fallback = (section: string, on: string, named: string): void => {
    const own = member(held, section)
    if (place !== section || (own !== undefined && own !== null)) return
    config[on] = true
    config[named] = name
  }
  fallback('query', 'use_param', 'param_name')
  fallback('cookie', 'use_cookie', 'cookie_name')
  if (place === 'query' && isNameless(held.query)) config.param_name = name
  if (place === 'cookie' && isNameless(held.cookie)) config.cookie_name = name
  return config
}

function isNameless(section: JsonObject[string] | undefined): boolean {
  return section !== undefined && section !== null && textOf(section, 'name') === ''
}

function configOf(classic: JsonObject, name: string): JsonObject {
  const own = objectOf(objectOf(classic, 'auth_configs'), name)
  return Object.keys(own).length === 0 && name === 'authToken' ? objectOf(classic, 'auth') : own
}

function declare(document: JsonObject, name: string, kind: SchemeKind, config: JsonObject): JsonObject {
  const at = ['components', 'securitySchemes', name]
  const known = getAt(document, at)
  if (known !== undefined && isObject(known) && kind.matches(known)) return known
  const fresh = kind.declare(config)
  putAt(document, at, fresh)
  return fresh
}

/** Two methods of a classic definition may go by one name; schemes may not. */
function freeName(wanted: string, otherwise: string, used: Set<string>): string {
  let name = used.has(wanted) ? otherwise : wanted
  while (used.has(name)) name += '_'
  used.add(name)
  return name
}

function declareApiKey(config: JsonObject): JsonObject {
  const header = textOf(config, 'auth_header_name') || 'Authorization'
  if (!flagOf(config, 'disable_header')) return { type: 'apiKey', in: 'header', name: header }
  if (flagOf(config, 'use_param')) return { type: 'apiKey', in: 'query', name: textOf(config, 'param_name') || header }
  if (flagOf(config, 'use_cookie'))
    return { type: 'apiKey', in: 'cookie', name: textOf(config, 'cookie_name') || header }
  return { type: 'apiKey', in: 'header', name: header }
}

/** The groups that can be met: of schemes that are on. */
function metGroups(document: JsonObject, extension: JsonObject): string[][] {
  const schemes = getAt(extension, SCHEMES)
  const on = (name: string) =>
    flagOf(member(schemes, name), 'enabled') ||
    (name === 'hmac' && flagOf(getAt(extension, ['server', 'authentication', 'hmac']), 'enabled'))
  return groupsOf(document, extension).filter((group) => group.length > 0 && group.every(on))
}

/**
 * Asks for the groups that a classic definition lets callers choose from; false when it does not. What the document asks for
 * already stays as it is written there.
 */
function askForOne(
  classic: JsonObject,
  document: JsonObject,
  extension: JsonObject,
  declared: ReadonlySet<string>,
): boolean {
  const listed = member(classic, 'security_requirements')
  const groups = (Array.isArray(listed) ? listed : []).map((group) => textsOf({ group }, 'group'))
  if (groups.length === 0 || !offersChoice(extension)) return false
  if (!sameTree(groups, metGroups(document, extension))) writeGroups(groups, declared, document, extension)
  return true
}

/** Every scheme that is on must be asked for in `security`; in one group, because all of them must be met. */
function askFor(document: JsonObject, names: readonly string[]): void {
  const known = member(document, 'security')
  const groups = Array.isArray(known) ? known : []
  const missing = names.filter((name) => !groups.some((group) => member(group, name) !== undefined))
  if (missing.length === 0) return
  const first = groups[0]
  const group: JsonObject = first !== undefined && isObject(first) ? first : {}
  for (const name of missing) setMember(group, name, [])
  if (first === undefined) groups.push(group)
  document.security = groups
}
