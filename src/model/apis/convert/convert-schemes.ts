import type { Scheme } from '../../authentication/scheme.ts'
import { SCHEMES } from '../../authentication/schemes.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { flagOf, isEmpty, objectOf, textOf, textsOf } from '../definition/members.ts'
import { getAt, member, putAt, setMember } from '../definition/tree.ts'
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
export function sectionsToOas(classic: JsonObject, extension: JsonObject): void {
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
export function sectionsToClassic(extension: JsonObject, classic: JsonObject): void {
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
export function writeGroups(
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
