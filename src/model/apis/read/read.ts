import { asJson, isObject, type JsonObject } from '../../json/json.ts'
import { atOnce, type PausedWork, partByPart } from '../../threads/paused-work.ts'
import { eventRules } from '../../webhooks/event-handlers.ts'
import { boundFlaws, expressionFlaws } from '../check/bounds.ts'
import { classicFlaws, oasFlaws, unsupportedOasSchemes } from '../check/check-parts.ts'
import { targetFlaws } from '../check/check-upstream.ts'
import { opennessFlaws } from '../check/openness.ts'
import { pathFlaws } from '../check/path-flaws.ts'
import { hostlessPairs, refusedExtensionsOf, refusedMembersOf } from '../check/refused-members.ts'
import { refuseUnsupported, type UnsupportedFeature, unsupportedFeaturesOf } from '../check/unsupported.ts'
import { checkBounds, flawsOf, refuseFlaws } from '../check/validate.ts'
import { withSavableFields, writtenFieldFlaws } from '../check/written-fields.ts'
import { servedClassic } from '../convert/convert.ts'
import { operationsOf } from '../convert/convert-operations.ts'
import type { Api, ApiDocument } from '../definition/api.ts'
import { metadataOfApi } from '../definition/api-metadata.ts'
import { EXTENSION, extensionOf, flagOf, isEmpty, objectOf } from '../definition/members.ts'
import type { ListenPlace } from '../definition/template.ts'
import { type Flaw, member, type TreePath } from '../definition/tree.ts'
import type { Described, DescribedOperation } from '../openapi/described.ts'
import { ExampleMaker } from '../openapi/example-of-schema.ts'
import { corsFlaws, idleCorsFlaws, withSavableCors } from './cors.ts'
import { readingClassic, readListenPlace } from './read-classic.ts'

/**
 * Reads a definition of either format into the model that is served, with every check that a stored one must pass.
 * Both formats are served from the classic reading, so that a converted definition is served the same.
 * @throws Fault `definition_invalid` naming every fault by its path
 * @throws Fault `definition_unsupported` when it turns something on that this gateway does not serve
 */
export function readApi(document: ApiDocument): Api {
  return atOnce(readingApi(document))
}

/** The same in parts: a large definition takes some tenths of a second. The document must not change meanwhile. */
export function* readingApi(document: ApiDocument): PausedWork<Api> {
  const { format, definition } = document
  const classic = yield* format === 'oas' ? checkedOas(definition) : checkedClassic(definition)
  yield
  const events = eventRules(classic, [...(metadataOfApi(asJson(document)).hook_references ?? [])])
  return {
    ...(yield* readingClassic(classic, format, describedIn(document))),
    ...(events !== undefined && { events }),
    ...(flagOf(classic, 'detailed_tracing') && { detailedTracing: true }),
    apiId: document.api_id,
    orgId: document.org_id,
  }
}

/** Where a stored definition of either format answers, by fewer checks than a whole reading; undefined where not even that can be read. */
export function listenPlaceOf({ format, definition }: ApiDocument): ListenPlace | undefined {
  try {
    return readListenPlace(format === 'oas' ? servedClassic(definition) : definition)
  } catch {
    return undefined
  }
}

/**
 * Reads a definition that is about to be stored or served for the first time: also with the checks that stored definitions, which
 * may be older, need not pass.
 * @throws Fault as `readApi`
 */
export function readNewApi(document: ApiDocument): Api {
  return atOnce(readingNewApi(document))
}

/** The same in parts. */
export function* readingNewApi(document: ApiDocument): PausedWork<Api> {
  const { format, definition } = document
  checkBounds(definition)
  yield
  refuseFlaws(boundFlaws(format, definition))
  yield
  const api = yield* readingApi(document)
  yield
  yield* refuseUnserved(document)
  const flaws = yield* partByPart([
    () => corsFlaws(format, definition),
    () => idleCorsFlaws(format, definition),
    () => writtenFieldFlaws(format, definition),
    () => carriedFlaws(document),
    () => expressionFlaws(api),
    () => pathFlaws(api, carriesClassic(document)),
  ])
  refuseFlaws(flaws.flat())
  return api
}

/** Members that are not served have their types, and some must not be there. */
function* refuseUnserved({ format, definition }: ApiDocument): PausedWork<void> {
  if (format === 'classic') {
    refuseFlaws(flawsOf('classicUnserved', definition))
    yield
    refuseUnsupported(refusedMembersOf(definition, 'classic'))
    return
  }
  const extension = extensionOf(definition)!
  const hostless = hostlessPairs(definition).map((at) => ({ at: [EXTENSION, ...at], reason: 'must name a host' }))
  const open = opennessFlaws(definition)
  yield
  refuseFlaws([...flawsOf('extensionUnserved', extension, [EXTENSION]), ...hostless, ...open])
  yield
  refuseUnsupported([...refusedMembersOf(extension, 'oas', [EXTENSION]), ...refusedExtensionsOf(definition)])
}

/** A document that carries what it held in its classic days is held to the rules of both formats; its classic reading too. */
function carriedFlaws({ format, definition }: ApiDocument): Flaw[] {
  if (format === 'classic')
    return savedFlaws('oas', objectOf(objectOf(definition, 'oas'), 'document'), ['oas', 'document'])
  if (!carriesClassic({ format, definition })) return []
  return savedFlaws('classic', servedClassic(definition), [EXTENSION, 'classic'])
}

/** True for a document that carries what has no twin there of the classic definition that it was. */
export function carriesClassic({ format, definition }: Pick<ApiDocument, 'format' | 'definition'>): boolean {
  return format === 'oas' && !isEmpty(objectOf(objectOf(extensionOf(definition), 'classic'), 'kept'))
}

function savedFlaws(format: ApiDocument['format'], definition: JsonObject, root: readonly string[]): Flaw[] {
  return [...boundFlaws(format, definition, root), ...writtenFieldFlaws(format, definition, root)]
}

/** A definition that was an OpenAPI document carries what it said of operations. */
function describedIn({ format, definition }: ApiDocument): Described {
  if (format === 'oas') return describedBy(definition, [])
  return describedBy(objectOf(objectOf(definition, 'oas'), 'document'), ['oas', 'document'])
}

function* checkedClassic(definition: JsonObject): PausedWork<JsonObject> {
  checkBounds(definition)
  yield
  const targets = isObject(definition.proxy) ? targetFlaws('classic', definition) : []
  const flaws = [...targets, ...flawsOf('classic', definition)]
  if (isOfTargets(flaws)) refuseUnsupported(unsupportedFeaturesOf(definition, 'classic'))
  refuseFlaws(flaws)
  yield
  refuseBoth(yield* classicFlaws(definition), unsupportedFeaturesOf(definition, 'classic'))
  return definition
}

/** Refuses by what is not served where nothing else is at fault: an address of a secret is no key, but says what it asks for. */
function refuseBoth(flaws: readonly Flaw[], unsupported: readonly UnsupportedFeature[]): void {
  const places = new Set(unsupported.map(({ at }) => JSON.stringify(at)))
  refuseFlaws(flaws.every(({ at }) => places.has(JSON.stringify(at))) ? [] : flaws)
  refuseUnsupported(unsupported)
}

/** True where only addresses of upstreams are at fault: APIs of kinds that are not served have none, and are refused by their kind. */
function isOfTargets(flaws: readonly Flaw[]): boolean {
  return flaws.length > 0 && flaws.every(({ at }) => ['target_url', 'url'].includes(String(at.at(-1))))
}

/** The classic reading of an OpenAPI document, after all checks on the document itself. */
function* checkedOas(document: JsonObject): PausedWork<JsonObject> {
  checkBounds(document)
  yield
  const inDocument = flawsOf('openapi', document)
  yield
  const flaws = [...inDocument, ...extensionFlaws(document)]
  const extension = extensionOf(document)!
  if (isOfTargets(flaws))
    refuseUnsupported([...unsupportedFeaturesOf(extension, 'oas', [EXTENSION]), ...refusedExtensionsOf(document)])
  refuseFlaws(flaws)
  yield
  const ofDocument = yield* oasFlaws(document, extension)
  yield
  refuseBoth(ofDocument, [
    ...unsupportedFeaturesOf(extension, 'oas', [EXTENSION]),
    ...unsupportedOasSchemes(document, extension),
  ])
  yield
  const classic = servedClassic(document)
  if (!isEmpty(objectOf(extension, 'classic').kept)) yield* checkCarried(classic)
  return classic
}

/** Classic leftovers of a document were checked by the rules of the classic format. */
function* checkCarried(classic: JsonObject): PausedWork<void> {
  const root = [EXTENSION, 'classic']
  refuseFlaws(flawsOf('classic', classic, root))
  yield
  const flaws = yield* classicFlaws(classic)
  refuseFlaws(flaws.map(({ at, reason }) => ({ at: [...root, ...at], reason })))
  const unsupported = unsupportedFeaturesOf(classic, 'classic')
  refuseUnsupported(unsupported.map(({ at, feature }) => ({ at: [...root, ...at], feature })))
}

function extensionFlaws(document: JsonObject): Flaw[] {
  const extension = member(document, EXTENSION)
  if (extension === undefined) return [{ at: [EXTENSION], reason: 'is missing' }]
  return extension === null
    ? [{ at: [EXTENSION], reason: 'must be an object' }]
    : [
        ...(isObject(extension) && isObject(extension.upstream) ? targetFlaws('oas', extension) : []),
        ...flawsOf('extension', extension, [EXTENSION]),
      ]
}

/** A definition of another product as it can be saved, and what was changed for it. */
export interface Savable {
  readonly definition: JsonObject
  readonly changes: readonly string[]
}

/** A definition of another product without what is refused when a definition is saved here, and what was changed for it. */
export function asSavable(format: 'classic' | 'oas', definition: JsonObject): Savable {
  const saved: { definition: JsonObject; changes: string[] } = { definition, changes: [] }
  for (const step of [withSavableCors, withSavableFields]) {
    const changed = step(format, saved.definition)
    if (changed === undefined) continue
    saved.definition = changed.definition
    saved.changes.push(...changed.changes)
  }
  return saved
}

/** Creates the index of a document's operations at its first use. */
function describedBy(document: JsonObject, root: TreePath): Described {
  const examples = new ExampleMaker(document, root)
  let index: Map<string, DescribedOperation> | undefined
  const find = (method: string, path: string) => {
    index ??= new Map(
      operationsOf(document).map((operation) => {
        const itemAt = ['paths', operation.path]
        const at = [...itemAt, operation.method.toLowerCase()]
        return [`${operation.method} ${operation.path}`, { document, root, at, itemAt, examples }]
      }),
    )
    return index.get(`${method} ${path}`)
  }
  return { find, list: () => operationsOf(document) }
}
