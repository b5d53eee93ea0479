import { isObject, type JsonObject } from '../../json/json.ts'
import { checkBounds, flawsOf, refuseFlaws } from '../check/validate.ts'
import { EXTENSION, extensionOf } from '../definition/extension.ts'
import { objectOf, textOf } from '../definition/members.ts'
import { copyTree, member, pathOf, putAt, sameTree, setMember, type TreePath } from '../definition/tree.ts'
import { hasInlineVersions, mainVersion } from '../read/read-classic.ts'
import { usesExtendedPaths } from '../read/read-rules.ts'
import { preservedMembersOf, preservedPointers, restorePreserved } from './conversion-remainder.ts'
import { authToClassic, authToOas } from './convert-auth.ts'
import { errorsToClassic, errorsToOas } from './convert-errors.ts'
import { eventsToClassic, eventsToOas } from './convert-events.ts'
import { operationsToClassic, operationsToOas } from './convert-operations.ts'
import { scopesToClassic, scopesToOas } from './convert-scopes.ts'
import { membersToClassic, membersToOas, versionOf } from './convert-table.ts'
import { upstreamToClassic, upstreamToOas } from './convert-upstream.ts'

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
