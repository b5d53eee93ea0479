import { declares, isMethodOn, type Scheme, type SchemeDeclaration } from '../../authentication/scheme.ts'
import { SCHEMES } from '../../authentication/schemes.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { flagOf, isEmpty, objectOf, textOf, textsOf } from '../definition/members.ts'
import { getAt, member, pathOf, putAt, sameTree, setMember } from '../definition/tree.ts'
import { AUTH_SWITCHES } from '../read/read-auth.ts'
import { copyPairs, type Pair, pair } from './convert-pairs.ts'

const PLACES: readonly Pair[] = [
  pair('auth_header_name', 'header.name'),
  pair('use_param', 'query.enabled'),
  pair('param_name', 'query.name'),
  pair('use_cookie', 'cookie.enabled'),
  pair('cookie_name', 'cookie.name'),
]

/** Schemes that OpenAPI cannot declare: each is a section of the extension's `authentication`. */
export const SECTIONS: readonly Scheme[] = SCHEMES.filter(({ declaration }) => declaration === undefined)

const sectionAt = (config: string) => ['server', 'authentication', config]
const sectionPairs = ({ on, pairs }: Scheme): readonly Pair[] => [...pairs, pair(on, 'enabled')]

/** The section of this name that is on, as groups of schemes may name it. */
export function isSectionOn(extension: JsonObject, name: string): boolean {
  return SECTIONS.some(({ config }) => config === name && flagOf(getAt(extension, sectionAt(config)), 'enabled'))
}

/** Writes the sections of which the definition says something. */
function sectionsToOas(classic: JsonObject, extension: JsonObject): void {
  for (const scheme of SECTIONS) {
    const config = objectOf(objectOf(classic, 'auth_configs'), scheme.config)
    const pairs = sectionPairs(scheme)
    const said = pairs.some(({ classic: path }) => !isEmpty(getAt(classic, path)))
    if (!said && Object.values(config).every(isEmpty)) continue
    const held: JsonObject = {}
    copyPairs(pairs, classic, held, 'toOas')
    if (config.disable_header !== undefined) putAt(held, ['header', 'enabled'], config.disable_header !== true)
    copyPairs(PLACES, config, held, 'toOas')
    putAt(extension, sectionAt(scheme.config), held)
  }
}

/** Reads the sections. */
function sectionsToClassic(extension: JsonObject, classic: JsonObject): void {
  for (const scheme of SECTIONS) {
    const held = getAt(extension, sectionAt(scheme.config))
    if (held === undefined || !isObject(held)) continue
    copyPairs(sectionPairs(scheme), held, classic, 'toClassic')
    const config: JsonObject = {}
    const on = getAt(held, ['header', 'enabled'])
    if (typeof on === 'boolean') config.disable_header = !on
    copyPairs(PLACES, held, config, 'toClassic')
    if (Object.keys(config).length > 0) putAt(classic, ['auth_configs', scheme.config], config)
  }
}

const EXTRA = ['server', 'authentication', 'security']

/** True when a document asks for one of several groups of schemes, as OpenAPI has it, and not for all schemes. */
export function offersChoice(extension: JsonObject): boolean {
  return textOf(objectOf(objectOf(extension, 'server'), 'authentication'), 'securityProcessingMode') === 'compliant'
}

/** The names in each group of a `security` list; none where it is none. */
export function namesOfGroups(security: Json | undefined): string[][] {
  return (Array.isArray(security) ? security : []).map((group) => (isObject(group) ? Object.keys(group) : []))
}

/** The groups of a document in order: those of `security`, then those of the extension, which may name what OpenAPI cannot. */
export function groupsOf(document: JsonObject, extension: JsonObject): string[][] {
  const own = namesOfGroups(member(document, 'security'))
  const extra = getAt(extension, EXTRA)
  return [...own, ...(Array.isArray(extra) ? extra : []).map((group) => textsOf({ group }, 'group'))]
}

/** Writes groups of names: into `security` where all of a group are `declared` there, else into the extension. */
function writeGroups(
  groups: readonly (readonly string[])[],
  declared: ReadonlySet<string>,
  document: JsonObject,
  extension: JsonObject,
): void {
  const open = groups.filter((group) => group.every((name) => declared.has(name)))
  const rest = groups.filter((group) => !group.every((name) => declared.has(name)))
  document.security = open.map((group) => {
    const asked: JsonObject = {}
    for (const name of group) setMember(asked, name, [])
    return asked
  })
  if (rest.length > 0) putAt(extension, EXTRA, rest as Json)
}

const CONFIG_PAIRS: readonly Pair[] = [
  pair('use_param', 'query.enabled'),
  pair('param_name', 'query.name'),
  pair('use_cookie', 'cookie.enabled'),
  pair('cookie_name', 'cookie.name'),
  pair('use_certificate', 'enableClientCertificate'),
  pair('validate_signature', 'signatureValidation.enabled'),
]

const SCHEMES_AT = ['server', 'authentication', 'securitySchemes']

/** Writes methods and their settings as security schemes: declared in the document, asked for in `security`, set up in the extension. */
export function authToOas(classic: JsonObject, document: JsonObject, extension: JsonObject): void {
  const keyless = flagOf(classic, 'use_keyless')
  const none = !AUTH_SWITCHES.some((each) => isMethodOn(classic, each))
  const asked: string[] = []
  const used = new Set<string>()
  const conversions: (() => void)[] = []
  for (const scheme of SCHEMES) {
    const { declaration, conversion } = scheme
    if (declaration === undefined) continue
    const byDefault = none && !keyless && scheme.config === 'authToken'
    const on = isMethodOn(classic, scheme) || byDefault
    const config = configOf(classic, scheme.config)
    if (!on && Object.values(config).every(isEmpty)) continue
    const name = freeName(textOf(config, 'name') || scheme.config, scheme.config, used)
    const declared = declare(document, name, declaration, config)
    const held: JsonObject = { enabled: on, header: { enabled: !flagOf(config, 'disable_header') } }
    if (config.auth_header_name !== undefined) putAt(held, ['header', 'name'], config.auth_header_name)
    copyPairs(CONFIG_PAIRS, config, held, 'toOas')
    copyPairs(scheme.pairs, classic, held, 'toOas')
    conversion?.toOas(classic, declared, held)
    putAt(extension, [...SCHEMES_AT, name], held)
    if (on && !keyless) asked.push(name)
    conversions.push(() => conversion?.securityToOas(classic, document, name))
  }
  sectionsToOas(classic, extension)
  const several = asked.length + SECTIONS.filter((each) => isMethodOn(classic, each)).length > 1
  if (!(several && askForOne(classic, document, extension, used))) askFor(document, asked)
  for (const convert of conversions) convert()
}

/** Writes security schemes as methods and their settings. Of several of one kind, the first that is enabled counts. */
export function authToClassic(document: JsonObject, extension: JsonObject, classic: JsonObject): void {
  const declared = objectOf(objectOf(document, 'components'), 'securitySchemes')
  const schemes = getAt(extension, SCHEMES_AT)
  sectionsToClassic(extension, classic)
  if (offersChoice(extension)) {
    const groups = metGroups(document, extension)
    if (groups.length > 0) classic.security_requirements = groups
  }
  if (schemes === undefined || !isObject(schemes)) return
  for (const { declaration, conversion, ...scheme } of SCHEMES) {
    if (declaration === undefined) continue
    const names = Object.keys(schemes).filter((name) => {
      const written = member(declared, name)
      return (
        written !== undefined &&
        isObject(written) &&
        isObject(schemes[name]) &&
        declares({ declaration }, written, schemes[name])
      )
    })
    const name = names.find((each) => flagOf(schemes[each], 'enabled')) ?? names[0]
    if (name === undefined) continue
    const held = schemes[name] as JsonObject
    putAt(classic, pathOf(scheme.on), flagOf(held, 'enabled'))
    const config: JsonObject = {}
    copyPairs(CONFIG_PAIRS, held, config, 'toClassic')
    // Behind the pairs, which copy names that are empty.
    Object.assign(config, placesToClassic(declared[name] as JsonObject, held))
    if (name !== scheme.config) config.name = name
    copyPairs(scheme.pairs, held, classic, 'toClassic')
    putAt(classic, ['auth_configs', scheme.config], config)
    conversion?.toClassic(document, name, held, classic)
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
    if (place === 'header' && isNameless(header)) config.auth_header_name = name
    else if (own !== undefined) config.auth_header_name = own
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

function declare(document: JsonObject, name: string, declaration: SchemeDeclaration, config: JsonObject): JsonObject {
  const at = ['components', 'securitySchemes', name]
  const known = getAt(document, at)
  if (known !== undefined && isObject(known) && declaration.matches(known)) return known
  const fresh = declaration.declare(config)
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

/** True for a scheme, or a section of the extension, that is on. */
export function isSchemeOn(extension: JsonObject, name: string): boolean {
  return flagOf(member(getAt(extension, SCHEMES_AT), name), 'enabled') || isSectionOn(extension, name)
}

/** The groups that can be met: of schemes that are on. */
function metGroups(document: JsonObject, extension: JsonObject): string[][] {
  const on = (name: string) => isSchemeOn(extension, name)
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
