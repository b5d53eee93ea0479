import { isMethodOn } from '../../authentication/scheme.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { largeIntegersIn } from '../../json/large-integers.ts'
import { CONTEXT_NAMES, contextNamesIn, contextNamesInTemplate, isContextName } from '../../patterns/variables.ts'
import { isCredentialName } from '../../secrets/redact-traffic.ts'
import { atOnce, type PausedWork, partByPart } from '../../threads/paused-work.ts'
import { servedClassic } from '../convert/convert.ts'
import { isSchemeOn, namesOfGroups } from '../convert/convert-auth.ts'
import { operationsOf } from '../convert/convert-operations.ts'
import type { ApiDocument } from '../definition/api.ts'
import {
  EXTENSION,
  extensionOf,
  flagOf,
  isEmpty,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
} from '../definition/members.ts'
import { type Flaw, getAt, member, pathOf, type TreePath, toWords } from '../definition/tree.ts'
import { inWord } from '../definition/vendor-words.ts'
import { AUTH_SWITCHES } from '../read/read-auth.ts'
import { hasInlineVersions } from '../read/read-classic.ts'
import { ANY_METHOD, entryMethods, lacksAction, plainCachePaths, usesExtendedPaths } from '../read/read-rules.ts'
import { classicAuthWarnings, oasAuthWarnings } from './check-auth.ts'
import { classicOAuthWarnings, oasOAuthWarnings } from './check-oauth.ts'
import { idleMembers } from './idle-members.ts'
import { memberWarnings } from './member-warnings.ts'
import { opennessWarnings } from './openness.ts'
import { unruledPath } from './path-flaws.ts'
import { unmetNeeds } from './unmet-needs.ts'
import { hostFieldFlaws } from './written-fields.ts'

/** Two switches of which one turns off what the other turns on, and which of them counts. */
interface Contradiction {
  readonly format: ApiDocument['format']
  readonly off: TreePath
  readonly on: TreePath
  /** True where the protection holds all the same. */
  readonly closed: boolean
  /** True where `on` asks for something. */
  readonly asks: (definition: JsonObject) => boolean
}

const flag = (path: TreePath) => (definition: JsonObject) => flagOf(getAt(definition, path.slice(0, -1)), path.at(-1)!)

function row(
  format: Contradiction['format'],
  off: string,
  on: string,
  more: Partial<Pick<Contradiction, 'closed' | 'asks'>> = {},
): Contradiction {
  const at = (path: string) => (format === 'oas' ? [EXTENSION, ...pathOf(path)] : pathOf(path))
  return { format, off: at(off), on: at(on), closed: false, asks: flag(at(on)), ...more }
}

/** True for a limit that is not switched off itself. */
const limits = (path: string, isOn: (limit: JsonObject) => boolean) => (definition: JsonObject) => {
  const limit = (getAt(definition, pathOf(path)) ?? {}) as JsonObject
  return isOn(limit) && numberOf(limit, 'rate') > 0
}

/** All pairs of such switches. A section that is switched off by its own member is none: what it holds is kept for later. */
export const CONTRADICTIONS: readonly Contradiction[] = [
  ...AUTH_SWITCHES.map((each) =>
    row('classic', 'use_keyless', each.on, { asks: (classic) => isMethodOn(classic, each) }),
  ),
  row('classic', 'ip_access_control_disabled', 'enable_ip_whitelisting', { closed: true }),
  row('classic', 'ip_access_control_disabled', 'enable_ip_blacklisting', { closed: true }),
  row('classic', 'disable_rate_limit', 'global_rate_limit', {
    asks: limits('global_rate_limit', (limit) => !flagOf(limit, 'disabled')),
  }),
  row('oas', 'middleware.global.skipRateLimit', 'upstream.rateLimit', {
    asks: limits(`${EXTENSION}.upstream.rateLimit`, (limit) => flagOf(limit, 'enabled')),
  }),
]

/** Says of switches that contradict each other which one counts. Whether a document without authentication is open is said elsewhere. */
function contradictionWarnings({ format, definition }: Pick<ApiDocument, 'format' | 'definition'>): Flaw[] {
  return CONTRADICTIONS.flatMap((each): Flaw[] => {
    if (each.format !== format || !flag(each.off)(definition) || !each.asks(definition)) return []
    const [off, on] = [each.off.at(-1)!, each.on.at(-1)!]
    return each.closed
      ? [{ at: each.off, reason: `has no effect: "${on}" is on` }]
      : [{ at: each.on, reason: `has no effect: "${off}" is on` }]
  })
}

type Format = 'classic' | 'oas'

const LISTS = 'version_data.versions.*.extended_paths'
const OPERATIONS = `${EXTENSION}.middleware.operations.*`
const GLOBAL = `${EXTENSION}.middleware.global`

/** Where definitions hold texts with variables: values of header edits and targets of rewrites. */
const TEXTS: Readonly<Record<Format, readonly TreePath[]>> = {
  classic: [
    ...['version_data.versions.*.global_headers.*', 'version_data.versions.*.global_response_headers.*'],
    ...[`${LISTS}.transform_headers.*.add_headers.*`, `${LISTS}.transform_response_headers.*.add_headers.*`],
    ...[`${LISTS}.url_rewrites.*.rewrite_to`, `${LISTS}.url_rewrites.*.triggers.*.rewrite_to`],
  ].map(pathOf),
  oas: [
    ...[`${GLOBAL}.transformRequestHeaders.add.*.value`, `${GLOBAL}.transformResponseHeaders.add.*.value`],
    ...[`${OPERATIONS}.transformRequestHeaders.add.*.value`, `${OPERATIONS}.transformResponseHeaders.add.*.value`],
    ...[`${OPERATIONS}.urlRewrite.rewriteTo`, `${OPERATIONS}.urlRewrite.triggers.*.rewriteTo`],
  ].map(pathOf),
}

/** Where they hold templates of bodies, in base64. */
const TEMPLATES: Readonly<Record<Format, readonly TreePath[]>> = {
  classic: [`${LISTS}.transform.*.template_data`, `${LISTS}.transform_response.*.template_data`].map(pathOf),
  oas: [`${OPERATIONS}.transformRequestBody`, `${OPERATIONS}.transformResponseBody`].map(pathOf),
}

const SWITCH: Readonly<Record<Format, TreePath>> = {
  classic: ['enable_context_vars'],
  oas: pathOf(`${GLOBAL}.contextVariables.enabled`),
}

/** Variables that never have a value: their name is not known, or the switch that gives them values is off. */
function variableWarnings(format: Format, definition: JsonObject): Flaw[] {
  const isOn = getAt(definition, SWITCH[format]) === true
  const warned = (at: TreePath, names: readonly string[]): Flaw[] => {
    if (names.length === 0) return []
    if (!isOn)
      return [{ at, reason: `asks for ${names[0]} of the request, which is empty without ${SWITCH[format].join('.')}` }]
    const hidden = names.find((name) =>
      isCredentialName(/^(?:headers|request_data|cookies)_(.+)$/.exec(name)?.[1] ?? ''),
    )
    if (hidden !== undefined)
      return [{ at, reason: `asks for ${hidden}, which by its name is a credential: it is empty here` }]
    const unknown = names.filter((name) => !isContextName(name))
    if (unknown.length === 0) return []
    return [
      { at, reason: `asks for ${unknown.join(', ')}, which no request has: it is empty (there are ${CONTEXT_NAMES})` },
    ]
  }
  return [
    ...TEXTS[format].flatMap((path) =>
      valuesAt(definition, path).flatMap(({ at, value }) =>
        typeof value === 'string' && value.includes('_context.') ? warned(at, askedNames(path, value)) : [],
      ),
    ),
    ...TEMPLATES[format].flatMap((path) =>
      valuesAt(definition, path).flatMap(({ at, value, holder }) => {
        const member = format === 'classic' ? 'template_source' : 'body'
        const isOff = format === 'classic' ? flagOf(holder, 'disabled') : !flagOf(value, 'enabled')
        return isOff ? [] : warned([...at, member], contextNamesInTemplate(decoded(textOf(value, member))))
      }),
    ),
  ]
}

/** Without the finds of triggers in targets of rewrites, which need no switch. */
function askedNames(path: TreePath, text: string): string[] {
  const isTarget = /^rewrite_?to$/i.test(path.at(-1)!)
  return contextNamesIn(text).filter((name) => !isTarget || !name.startsWith('trigger-'))
}

function decoded(source: string): string {
  return Buffer.from(source, 'base64').toString('utf8')
}

interface Placed {
  readonly at: TreePath
  readonly value: Json
  readonly holder: Json
}

/** All values at a path, `*` being every member or entry. */
function valuesAt(value: Json | undefined, path: TreePath, at: TreePath = [], holder: Json = null): Placed[] {
  if (value === undefined || value === null) return []
  const [step, ...rest] = path
  if (step === undefined) return [{ at, value, holder }]
  if (typeof value !== 'object') return []
  const names = step === '*' ? Object.keys(value) : Object.hasOwn(value, step) ? [step] : []
  return names.flatMap((name) => valuesAt((value as JsonObject)[name], rest, [...at, name], value))
}

/** The settings of the cache in a definition of either format. */
interface Said {
  readonly at: TreePath
  readonly enabled: boolean
  readonly timeoutS: number
  readonly allSafe: boolean
  readonly upstreamDecides: boolean
  /** The names of its switch and its time. */
  readonly names: readonly [on: string, time: string]
  /** Operations that ask to be cached, with their own seconds; 0 = those of the API. */
  readonly operations: readonly { readonly at: TreePath; readonly timeoutS: number }[]
}

/** Settings of the response cache by which nothing is stored. */
function cacheWarnings({ format, definition }: Pick<ApiDocument, 'format' | 'definition'>): Flaw[] {
  const said = format === 'oas' ? saidInExtension(extensionOf(definition) ?? {}) : saidInClassic(definition)
  const [on, time] = said.names
  if (!said.enabled) {
    const [first] = said.operations
    return first === undefined
      ? []
      : [{ at: first.at, reason: `stores nothing without "${on}": true in ${where(said)}` }]
  }
  if (said.upstreamDecides || said.timeoutS > 0) return []
  if (said.allSafe) return [{ at: [...said.at, time], reason: 'stores nothing: it is 0' }]
  const timeless = said.operations.find(({ timeoutS }) => timeoutS === 0)
  return timeless === undefined
    ? []
    : [{ at: timeless.at, reason: `stores nothing: its timeout and "${time}" in ${where(said)} are 0` }]
}

const where = ({ at }: Said) => at.join('.')

function saidInExtension(extension: JsonObject): Said {
  const cache = objectOf(objectOf(objectOf(extension, 'middleware'), 'global'), 'cache')
  const operations = objectOf(objectOf(extension, 'middleware'), 'operations')
  return {
    at: [EXTENSION, 'middleware', 'global', 'cache'],
    enabled: flagOf(cache, 'enabled'),
    timeoutS: numberOf(cache, 'timeout'),
    allSafe: flagOf(cache, 'cacheAllSafeRequests'),
    upstreamDecides: flagOf(cache, 'enableUpstreamCacheControl'),
    names: ['enabled', 'timeout'],
    operations: Object.keys(operations).flatMap((id) => {
      const own = objectOf(objectOf(operations, id), 'cache')
      if (!flagOf(own, 'enabled')) return []
      return [{ at: [EXTENSION, 'middleware', 'operations', id, 'cache'], timeoutS: numberOf(own, 'timeout') }]
    }),
  }
}

function saidInClassic(classic: JsonObject): Said {
  const cache = objectOf(classic, 'cache_options')
  const versions = objectOf(objectOf(classic, 'version_data'), 'versions')
  const lists = Object.keys(versions)
    .filter((name) => usesExtendedPaths(objectOf(versions, name)))
    .map((name) => ({ name, lists: objectOf(objectOf(versions, name), 'extended_paths') }))
  return {
    at: ['cache_options'],
    enabled: flagOf(cache, 'enable_cache'),
    timeoutS: numberOf(cache, 'cache_timeout'),
    allSafe: flagOf(cache, 'cache_all_safe_requests'),
    upstreamDecides: flagOf(cache, 'enable_upstream_cache_control'),
    names: ['enable_cache', 'cache_timeout'],
    operations: lists.flatMap(({ name, lists: own }) => {
      const at = ['version_data', 'versions', name, 'extended_paths']
      const listed = objectsOf(own, 'advance_cache_config').flatMap((entry, index) =>
        flagOf(entry, 'disabled')
          ? []
          : [{ at: [...at, 'advance_cache_config', String(index)], timeoutS: numberOf(entry, 'timeout') }],
      )
      // Its paths have a time of their own where the API has none.
      const plain = isEmpty(plainCachePaths(own)) ? [] : [{ at: [...at, 'cache'], timeoutS: 1 }]
      return [...listed, ...plain]
    }),
  }
}

/** Operations of OpenAPI 3.2 that the extension cannot name. */
const UNMATCHED = ['query', 'additionalOperations'] as const

/**
 * Members of a definition that are taken and do nothing, each with the reason: the author may have meant a protection; and choices of
 * authentication that are weaker than the usual ones.
 */
export function* findingWarnings(document: Pick<ApiDocument, 'format' | 'definition'>): PausedWork<Flaw[]> {
  const { format, definition } = document
  const both = [
    () => hostFieldFlaws(format, definition),
    () => variableWarnings(format, definition),
    () => memberWarnings({ format, definition }),
    () => cacheWarnings({ format, definition }),
    () => contradictionWarnings({ format, definition }),
    () => unmetNeeds(format, definition),
    () => largeIntegerWarnings(definition),
  ]
  const own =
    format === 'classic'
      ? [idleLists, idleVersions, classicAuthWarnings, classicOAuthWarnings]
      : [idleCarriedLists, oasAuthWarnings, opennessWarnings, documentWarnings, idleMembers, oasOAuthWarnings]
  const found = yield* partByPart([...both, ...own.map((check) => () => check(definition))])
  return found.flat()
}

/** The same in one go. */
export function definitionWarnings(document: Pick<ApiDocument, 'format' | 'definition'>): Flaw[] {
  return atOnce(findingWarnings(document))
}

/** Most places of integers that are listed for one definition. */
const MOST_INTEGERS = 20

/** Bounds of schemas that come back as another number (`int64`). */
function largeIntegerWarnings(definition: JsonObject): Flaw[] {
  return largeIntegersIn(definition, MOST_INTEGERS).map(({ at, text }) => ({
    at,
    reason: `is beyond 2^53 - 1, where not every integer can be kept: it is stored as ${text}`,
  }))
}

/** Versions of the definition itself that no request can name. */
function idleVersions(classic: JsonObject): Flaw[] {
  const definition = objectOf(classic, 'definition')
  if (!hasInlineVersions(classic) || flagOf(definition, 'enabled') || !isEmpty(definition.location)) return []
  if (Object.keys(objectOf(objectOf(classic, 'version_data'), 'versions')).length < 2) return []
  return [{ at: ['definition', 'location'], reason: 'is missing: no request names a version, all get the default one' }]
}

/** Those of a classic definition that was converted: what has no twin is still read from what the document carries. */
function idleCarriedLists(document: JsonObject): Flaw[] {
  const carried = objectOf(extensionOf(document), 'classic')
  if (isEmpty(carried.kept)) return []
  return idleLists(servedClassic(document)).map(({ at, reason }) => ({ at: [EXTENSION, 'classic', ...at], reason }))
}

/** A warning as answers hold it. */
export type DefinitionWarning = { readonly path: string; readonly message: string }

/** The warnings of a definition as answers hold them, in the caller's word for ours, with those that only a reading of it as a whole finds (`Api.unchecked`). */
export function* listingWarnings(
  document: Pick<ApiDocument, 'format' | 'definition'>,
  unchecked: readonly Flaw[] = [],
  word?: string,
): PausedWork<DefinitionWarning[]> {
  const flaws = [...(yield* findingWarnings(document)), ...unchecked]
  return flaws.map(({ at, reason }) => ({ path: inWord(toWords(at), word), message: inWord(reason, word) }))
}

/** The member of an answer that holds the warnings, under this name; none where there are none. */
export function* warningsMember(
  document: Pick<ApiDocument, 'format' | 'definition'>,
  name: string,
  unchecked: readonly Flaw[] = [],
  word?: string,
): PausedWork<{ [name: string]: Json }> {
  const warnings = yield* listingWarnings(document, unchecked, word)
  return warnings.length === 0 ? {} : { [name]: warnings }
}

/** A method as requests spell it: registered ones are refused in another letter case. */
const SPELLED = /^[^a-z]+$/

function idleLists(classic: JsonObject): Flaw[] {
  const versions = objectOf(objectOf(classic, 'version_data'), 'versions')
  return Object.keys(versions).flatMap((name) => {
    const version = objectOf(versions, name)
    const lists = objectOf(version, 'extended_paths')
    const at = ['version_data', 'versions', name, 'extended_paths']
    const filled = Object.keys(lists).filter((list) => !isEmpty(lists[list]))
    if (filled.length === 0) return []
    if (!usesExtendedPaths(version)) {
      // Written out, the switch is meant.
      if (member(version, 'use_extended_paths') === false) return []
      return [{ at, reason: `does nothing without "use_extended_paths": true (${filled.join(', ')})` }]
    }
    return filled.flatMap((list) =>
      objectsOf(lists, list).flatMap((entry, index): Flaw[] => {
        if (flagOf(entry, 'disabled')) return []
        const methods = entryMethods(list, entry)
        const entryAt = [...at, list, String(index)]
        if (methods.includes(ANY_METHOD)) return [{ at: entryAt, reason: 'names no method: it holds for every method' }]
        const refused = methods.filter((method) => lacksAction(list, entry, method))
        if (refused.length > 0)
          return [{ at: entryAt, reason: `names no action for ${refused.join(', ')}: such requests are refused` }]
        const idle = methods.filter((method) => !SPELLED.test(method) || method.startsWith('('))
        if (idle.length === 0) return []
        const named = idle.map((method) => (method.startsWith('(') ? 'no method' : `the method ${method}`)).join(', ')
        return [{ at: entryAt, reason: `names ${named}, which no request has: it does nothing there` }]
      }),
    )
  })
}

/** Parts of an OpenAPI document that a gateway is expected to follow, and that have no effect. */
function documentWarnings(document: JsonObject): Flaw[] {
  return [...unmatchedPaths(document), ...unmatchedOperations(document), ...unfollowedSecurity(document)]
}

function unmatchedPaths(document: JsonObject): Flaw[] {
  return Object.keys(objectOf(document, 'paths')).flatMap((path) => {
    const reason = path.startsWith('/') ? unruledPath(path) : undefined
    return reason === undefined ? [] : [{ at: ['paths', path], reason: `${reason}: nothing applies to its operations` }]
  })
}

function unmatchedOperations(document: JsonObject): Flaw[] {
  const paths = objectOf(document, 'paths')
  return [
    ...Object.keys(paths).flatMap((path) => [
      ...UNMATCHED.filter((name) => isObject(member(paths[path], name))).map((name) => ({
        at: ['paths', path, name],
        reason: 'is kept without effect: no rule, check or mock applies to it',
      })),
      ...(textOf(objectOf(paths, path), '$ref') === '' ? [] : [{ at: ['paths', path, '$ref'], reason: NOT_FOLLOWED }]),
    ]),
    ...ownServers(paths),
  ]
}

const NOT_FOLLOWED = 'is not followed: no rule, check or mock applies to its operations; write them here instead'

/** `servers` of paths and operations, as one: some documents have them at every path. */
function ownServers(paths: JsonObject): Flaw[] {
  const places = Object.keys(paths).flatMap((path) => {
    const item = objectOf(paths, path)
    const names = Object.keys(item).filter((name) => !isEmpty(member(item[name], 'servers')))
    return [...(isEmpty(item.servers) ? [] : [[]]), ...names.map((name) => [name])].map((at) => ['paths', path, ...at])
  })
  const [first] = places
  if (first === undefined) return []
  const more = places.length > 1 ? ` (nor are those of ${places.length - 1} more paths and operations)` : ''
  return [{ at: [...first, 'servers'], reason: `is not followed: requests go to the upstream of the API${more}` }]
}

/** `security` of the document, or of operations, that asks for less than the gateway does, or for schemes that are not enabled. */
function unfollowedSecurity(document: JsonObject): Flaw[] {
  const extension = extensionOf(document) ?? {}
  const authentication = objectOf(objectOf(extension, 'server'), 'authentication')
  if (!flagOf(authentication, 'enabled')) return []
  const rules = getAt(extension, ['middleware', 'operations'])
  const open = namesOfGroups(member(document, 'security')).findIndex((group) => group.length === 0)
  const whole = open === -1 ? [] : [{ at: ['security', String(open)], reason: OPEN_TO_ALL }]
  const own = operationsOf(document).flatMap(({ path, method, id, object }): Flaw[] => {
    const security = member(object, 'security')
    if (!Array.isArray(security)) return []
    const at = ['paths', path, method.toLowerCase(), 'security']
    const groups = namesOfGroups(security)
    if (groups.every((group) => group.length > 0) && groups.length > 0) {
      if (groups.some((group) => group.every((name) => isSchemeOn(extension, name)))) return []
      return [{ at, reason: 'names no scheme that is enabled: the enabled ones are asked for in its place' }]
    }
    if (flagOf(getAt(rules, [id, 'ignoreAuthentication']), 'enabled')) return []
    return [{ at, reason: OPEN_TO_ALL }]
  })
  return [...whole, ...own]
}

const OPEN_TO_ALL = 'lets everybody in, but a credential is asked for: "ignoreAuthentication" opens an operation'
