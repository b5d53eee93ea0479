import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { largeIntegersIn } from '../../json/large-integers.ts'
import { atOnce, type PausedWork, partByPart } from '../../threads/paused-work.ts'
import { servedClassic } from '../convert/convert.ts'
import { isSchemeOn } from '../convert/convert-auth.ts'
import { operationsOf } from '../convert/convert-operations.ts'
import { namesOfGroups } from '../convert/convert-schemes.ts'
import type { ApiDocument } from '../definition/api.ts'
import { EXTENSION, extensionOf } from '../definition/extension.ts'
import type { Flaw } from '../definition/flaw.ts'
import { flagOf, isEmpty, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { getAt, member, toWords } from '../definition/tree.ts'
import { inWord } from '../definition/vendor-words.ts'
import { hasInlineVersions } from '../read/read-classic.ts'
import { ANY_METHOD, entryMethods, lacksAction, usesExtendedPaths } from '../read/read-rules.ts'
import { cacheWarnings } from './cache-warnings.ts'
import { classicAuthWarnings, oasAuthWarnings } from './check-auth.ts'
import { classicOAuthWarnings, oasOAuthWarnings } from './check-oauth.ts'
import { contradictionWarnings } from './contradictions.ts'
import { memberWarnings } from './member-warnings.ts'
import { opennessWarnings } from './openness.ts'
import { unruledPath } from './path-flaws.ts'
import { variableWarnings } from './variable-warnings.ts'
import { hostFieldFlaws } from './written-fields.ts'

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
    () => largeIntegerWarnings(definition),
  ]
  const own =
    format === 'classic'
      ? [idleLists, idleVersions, classicAuthWarnings, classicOAuthWarnings]
      : [idleCarriedLists, oasAuthWarnings, opennessWarnings, documentWarnings, oasOAuthWarnings]
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
