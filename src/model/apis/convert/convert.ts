import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { checkBounds, flawsOf, refuseFlaws } from '../check/validate.ts'
import { EXTENSION, extensionOf, isEmpty, objectOf, textOf } from '../definition/members.ts'
import {
  copyTree,
  fromPointer,
  getAt,
  member,
  pathOf,
  putAt,
  removeAt,
  sameTree,
  setMember,
  type TreePath,
  toPointer,
} from '../definition/tree.ts'
import { hasInlineVersions, mainVersion } from '../read/read-classic.ts'
import { usesExtendedPaths } from '../read/read-rules.ts'
import { authToClassic, authToOas } from './convert-auth.ts'
import { eventsToClassic, eventsToOas } from './convert-events.ts'
import { operationsToClassic, operationsToOas, scopesToClassic, scopesToOas } from './convert-operations.ts'
import { type Codec, copyPairs, pair } from './convert-pairs.ts'
import {
  membersToClassic,
  membersToOas,
  opposite,
  switchesToClassic,
  switchesToOas,
  versionOf,
} from './convert-table.ts'
import { upstreamToClassic, upstreamToOas } from './convert-upstream.ts'

/** Members of a rule whose names differ. */
const NAMES: readonly (readonly [classic: string, oas: string])[] = [
  ['message_pattern', 'messagePattern'],
  ['body_field', 'bodyField'],
  ['body_value', 'bodyValue'],
  ['status_code', 'statusCode'],
]
const TO_OAS = new Map(NAMES)
const TO_CLASSIC = new Map(NAMES.map(([classic, oas]) => [oas, classic]))

const RULES: Codec = {
  toOas: (value) => renamed(value, TO_OAS, 0),
  toClassic: (value) => renamed(value, TO_CLASSIC, 0),
}

/** Status, position, section and member: below members are names of headers. A name of the other format is no member of this one. */
function renamed(value: Json, names: ReadonlyMap<string, string>, depth: number): Json {
  if (Array.isArray(value)) return value.map((each) => renamed(each, names, depth + 1))
  if (!isObject(value) || depth > 3) return value
  const made: JsonObject = {}
  const foreign = new Set(names.values())
  for (const [name, each] of Object.entries(value)) {
    if (depth === 3 && foreign.has(name)) continue
    setMember(made, depth === 3 ? (names.get(name) ?? name) : name, renamed(each, names, depth + 1))
  }
  return made
}

const PAIRS = [pair('error_overrides', 'errorOverrides.value', RULES)]
const SWITCHES = [opposite('error_overrides_disabled', 'errorOverrides.enabled')]

/** Writes the rules that replace error answers into the extension. */
function errorsToOas(classic: JsonObject, extension: JsonObject): void {
  copyPairs(PAIRS, classic, extension, 'toOas')
  switchesToOas(SWITCHES, classic, extension)
}

/** Writes those of the extension into a classic definition. */
export function errorsToClassic(extension: JsonObject, classic: JsonObject): void {
  copyPairs(PAIRS, extension, classic, 'toClassic')
  switchesToClassic(SWITCHES, extension, classic)
}

/** A path below `error_overrides` in the words of the extension. */
export function inExtension(at: TreePath): TreePath {
  const [, ...rest] = at
  return ['errorOverrides', 'value', ...rest.map((name, depth) => (depth === 3 ? (TO_OAS.get(name) ?? name) : name))]
}

const DEFAULT_VERSION = 'Default'

/** The parts that a conversion could not express in the other format. */
export interface ConversionLosses {
  /** RFC 6901 pointers of what the way back would not restore. */
  readonly lost: string[]
  /** Pointers of what has no twin and is carried in the reserved member only. */
  readonly carried: string[]
}

/**
 * Writes a classic definition as OpenAPI with the extension. What has no twin is carried in `x-svc-api-gateway.classic`,
 * and what an earlier conversion carried in `oas` takes its place again.
 * @throws Fault `definition_invalid` when the definition does not fit its schema
 */
export function toOas(classic: JsonObject): { document: JsonObject } & ConversionLosses {
  checkBounds(classic)
  refuseFlaws(flawsOf('classic', classic))
  const document = writeOas(classic)
  const again = writeClassic(document)
  const lost = Object.keys(preservedMembersOf(without(classic, 'oas'), without(again, 'oas')))
  return { document, lost, carried: preservedPointers(objectOf(reserved(document), 'kept')) }
}

/**
 * Writes an OpenAPI document with the extension as a classic definition. Paths, components and what else has no twin
 * are carried in `oas`, and what an earlier conversion carried in `x-svc-api-gateway.classic` takes its place again.
 * @throws Fault `definition_invalid` when the document does not fit its schema, or contradicts what it carries
 */
export function toClassic(document: JsonObject): { definition: JsonObject } & ConversionLosses {
  checkBounds(document)
  refuseFlaws([...flawsOf('openapi', document), ...flawsOf('extension', document[EXTENSION] ?? null, [EXTENSION])])
  const definition = writeClassic(document)
  const again = writeOas(definition)
  const lost = Object.keys(preservedMembersOf(withoutReserved(document), withoutReserved(again)))
  return { definition, lost, carried: preservedPointers(objectOf(objectOf(definition, 'oas'), 'kept')) }
}

/**
 * The classic reading of an OpenAPI document, which both formats are served from: its own words and what it carries,
 * without the parts that only OpenAPI has.
 * @throws Fault `definition_invalid` when what it carries contradicts what it says
 */
export function servedClassic(document: JsonObject): JsonObject {
  const classic = coreToClassic(document)
  const { kept } = reserved(document)
  const ownRules = classic.version_data !== undefined
  const clashes = restorePreserved(kept, classic)
  // Rules of the document would hold for none of the versions that it carries.
  const versions = member(member(kept, '/version_data'), 'is')
  if (ownRules && versions !== undefined && hasInlineVersions({ ...classic, version_data: versions }))
    clashes.push('/version_data')
  refuseFlaws(
    clashes.map((pointer) => ({
      at: [EXTENSION, 'classic', 'kept', pointer],
      reason: 'contradicts the rest of the document',
    })),
  )
  return classic
}

function writeOas(classic: JsonObject): JsonObject {
  const bare = without(classic, 'oas')
  const held = objectOf(classic, 'oas')
  const outside = member(held, 'document')
  const document = coreToOas(bare, outside !== undefined && isObject(outside) ? outside : undefined)
  restorePreserved(held.kept, document)
  const extension = objectOf(document, EXTENSION)
  delete extension.classic
  const main = mainVersion(bare)
  const named = main === undefined || main === DEFAULT_VERSION ? {} : { version: main }
  const kept = preservedMembersOf(bare, coreToClassic(document, main))
  const carry = { ...named, ...(Object.keys(kept).length > 0 ? { kept } : {}) }
  if (Object.keys(carry).length > 0) extension.classic = carry
  return document
}

function writeClassic(document: JsonObject): JsonObject {
  const classic = servedClassic(document)
  const original = withoutReserved(document)
  const outside = without(original, EXTENSION)
  const plain = coreToOas(classic)
  const derived = sameTree(without(plain, EXTENSION), outside)
  const kept = preservedMembersOf(original, derived ? plain : coreToOas(classic, outside))
  const carry = {
    ...(derived ? {} : { document: copyTree(outside) }),
    ...(Object.keys(kept).length > 0 ? { kept } : {}),
  }
  if (Object.keys(carry).length > 0) classic.oas = carry
  return classic
}

/** By the tables alone: into a document that is there already, or into a new one. */
function coreToOas(classic: JsonObject, outside?: JsonObject): JsonObject {
  const document: JsonObject =
    outside === undefined
      ? { openapi: '3.0.3', info: { title: textOf(classic, 'name'), version: '1.0.0' }, paths: {} }
      : copyTree(outside)
  const extension = membersToOas(classic)
  upstreamToOas(classic, extension)
  authToOas(classic, document, extension)
  eventsToOas(classic, extension)
  errorsToOas(classic, extension)
  const version = versionOf(classic)
  if (version !== undefined && usesExtendedPaths(version)) {
    operationsToOas(version, document, extension)
    scopesToOas(version, document, extension)
  }
  const lists = version === undefined ? 0 : Object.keys(objectOf(version, 'extended_paths')).length
  putMatching(
    textOf(classic, 'path_matching') || (lists > 0 ? 'exact' : ''),
    'openapi',
    extension,
    pathOf('server.pathMatching'),
  )
  document[EXTENSION] = extension
  return document
}

/** By the tables alone. */
function coreToClassic(document: JsonObject, main?: string): JsonObject {
  const extension = extensionOf(document) ?? {}
  const classic: JsonObject = {}
  const rules: JsonObject = {}
  membersToClassic(extension, classic, rules)
  upstreamToClassic(extension, classic)
  authToClassic(document, extension, classic)
  errorsToClassic(extension, classic)
  eventsToClassic(extension, classic)
  const operations = operationsToClassic(document, extension, rules)
  const scopes = scopesToClassic(document, extension, rules)
  const matching = textOf(objectOf(extension, 'server'), 'pathMatching')
  putMatching(matching || (operations || scopes ? 'openapi' : ''), 'exact', classic, ['path_matching'])
  if (!operations && !scopes && Object.keys(rules).length === 0) return classic
  const name = main ?? (textOf(reserved(document), 'version') || DEFAULT_VERSION)
  const versions: JsonObject = {}
  setMember(versions, name, { name, use_extended_paths: true, ...rules })
  classic.version_data = { not_versioned: true, versions }
  return classic
}

/** Each format leaves out what it takes for granted where a definition has rules for single operations. */
function putMatching(matching: string, granted: string, into: JsonObject, at: TreePath): void {
  if (matching !== '' && matching !== granted) putAt(into, at, matching)
}

function reserved(document: JsonObject): JsonObject {
  return objectOf(extensionOf(document), 'classic')
}

function withoutReserved(document: JsonObject): JsonObject {
  const extension = extensionOf(document)
  return extension === undefined ? document : { ...document, [EXTENSION]: without(extension, 'classic') }
}

/** A shallow copy without one member. */
function without(object: JsonObject, name: string): JsonObject {
  const copy: JsonObject = {}
  for (const each of Object.keys(object)) if (each !== name) setMember(copy, each, object[each]!)
  return copy
}

/**
 * The remainder of a converted document, with which the reverse conversion gives the original: RFC 6901 pointer to
 * `is` (the original's value), `was` (the value of the reverse conversion), or `put` (additional entries of a list).
 * An entry is applied to the result of the reverse conversion only where that still is as it `was`, so that edits of
 * the visible part of a converted document take effect.
 */
type PreservedMembers = JsonObject

/** The remainder with which `made` becomes `original` again. */
export function preservedMembersOf(original: JsonObject, made: JsonObject): PreservedMembers {
  const kept: PreservedMembers = {}
  compareObjects(original, made, [], kept)
  return kept
}

/**
 * Applies the remainder to `made`, in place. Returns the pointers that could not be applied: there the document
 * has a different value now, which contradicts the remainder.
 */
export function restorePreserved(kept: Json | undefined, made: JsonObject): string[] {
  if (kept === undefined || kept === null) return []
  if (!isObject(kept)) return ['/']
  return Object.keys(kept).filter((pointer) => {
    const path = fromPointer(pointer)
    const entry = kept[pointer]!
    return path === undefined || !isObject(entry) || !layOne(path, entry, made)
  })
}

/** Pointers of members that only the original's format can name. */
function preservedPointers(kept: PreservedMembers): string[] {
  return Object.keys(kept).filter((pointer) => {
    const entry = kept[pointer]!
    return !isEmpty(member(entry, 'is')) || member(entry, 'put') !== undefined
  })
}

function compareObjects(original: JsonObject, made: JsonObject, path: TreePath, kept: PreservedMembers): void {
  for (const name of new Set([...Object.keys(original), ...Object.keys(made)])) {
    compare(member(original, name), member(made, name), [...path, name], kept)
  }
}

function compare(is: Json | undefined, was: Json | undefined, path: TreePath, kept: PreservedMembers): void {
  if (sameTree(is, was)) return
  if (is !== undefined && was !== undefined && isObject(is) && isObject(was)) {
    compareObjects(is, was, path, kept)
    return
  }
  if (Array.isArray(is) && Array.isArray(was)) {
    if (is.length === was.length) {
      is.forEach((item, index) => {
        compare(item, was[index], [...path, String(index)], kept)
      })
      return
    }
    const put = insertions(is, was)
    if (put !== undefined) {
      kept[toPointer(path)] = { put }
      return
    }
  }
  kept[toPointer(path)] = {
    ...(was === undefined ? {} : { was: copyTree(was) }),
    ...(is === undefined ? {} : { is: copyTree(is) }),
  }
}

/** Position and value of what `is` has besides `was`, when that is all the difference. */
function insertions(is: readonly Json[], was: readonly Json[]): Json[] | undefined {
  const put: Json[] = []
  let next = 0
  is.forEach((item, index) => {
    if (next < was.length && sameTree(item, was[next])) next++
    else put.push([index, copyTree(item)])
  })
  return next === was.length ? put : undefined
}

function layOne(path: TreePath, entry: JsonObject, made: JsonObject): boolean {
  const now = getAt(made, path)
  const put = member(entry, 'put')
  if (Array.isArray(put)) return insert(put, now, path, made)
  const is = member(entry, 'is')
  const was = member(entry, 'was')
  if (was !== undefined) {
    if (!sameTree(now, was)) return true // edited since: what is visible counts
    if (is === undefined) removeAt(made, path)
    else putAt(made, path, copyTree(is))
    return true
  }
  if (is === undefined) return true
  return now === undefined ? putAt(made, path, copyTree(is)) : join(is, now)
}

/** Adds what is missing to what appeared meanwhile. False when they contradict each other. */
function join(kept: Json, now: Json): boolean {
  if (isEmpty(kept) || sameTree(kept, now)) return true
  if (!isObject(kept) || !isObject(now)) return false
  return Object.keys(kept).every((name) => {
    const known = member(now, name)
    return known === undefined ? putAt(now, [name], copyTree(kept[name]!)) : join(kept[name]!, known)
  })
}

function insert(put: readonly Json[], now: Json | undefined, path: TreePath, made: JsonObject): boolean {
  if (now !== undefined && !Array.isArray(now)) return false
  const list = now ?? []
  for (const each of put) {
    if (!Array.isArray(each) || each.length !== 2 || typeof each[0] !== 'number') return false
    list.splice(Math.max(0, each[0]), 0, copyTree(each[1]!))
  }
  return now === undefined ? putAt(made, path, list) : true
}
