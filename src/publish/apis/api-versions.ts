import { fault } from '../../errors/fault.ts'
import { MOST_VERSIONS } from '../../model/apis/check/bounds.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { EXTENSION, extensionOf, objectOf, objectsOf, textOf } from '../../model/apis/definition/members.ts'
import { copyTree, setMember } from '../../model/apis/definition/tree.ts'
import type { JsonObject } from '../../model/json/json.ts'

/** Makes an API a version of another. */
export interface VersionOf {
  readonly baseApiId: string
  /** Name of the base API itself as a version; needed unless it has one already. */
  readonly baseName: string
  readonly name: string
  readonly setDefault: boolean
}

const DEFAULT_KEY = 'x-api-version'

/**
 * The definition of a base API with one more version. What it does not say about versions yet becomes a header `x-api-version`
 * with the base itself as the default.
 * @throws Fault `version_query_invalid` (422) without a name for the base, `already_exists` (409)
 */
export function addVersion(
  format: ApiDocument['format'],
  definition: JsonObject,
  apiId: string,
  wanted: VersionOf,
): JsonObject {
  const before = versioningOf(format, definition)
  const names = namesOf(format, before)
  if (names.has(wanted.name) || wanted.name === textOf(before, 'name'))
    throw fault('already_exists', `version ${wanted.name} of this API`)
  const name = textOf(before, 'name') || wanted.baseName
  if (name === '')
    throw fault('version_query_invalid', 'base_api_version_name is needed: the base API has no version name yet')
  if (name === wanted.name) throw fault('already_exists', `version ${wanted.name} of this API`)
  if (names.size >= MOST_VERSIONS)
    throw fault('definition_invalid', `versions: must not hold more than ${MOST_VERSIONS} entries`)
  names.set(wanted.name, apiId)
  const chosen = textOf(before, 'default')
  return withVersioning(format, definition, {
    ...before,
    enabled: true,
    name,
    location: textOf(before, 'location') || 'header',
    key: textOf(before, 'key') || DEFAULT_KEY,
    default: wanted.setDefault ? wanted.name : chosen || 'self',
    versions: writeNames(format, names),
  })
}

/** The definition of a base API without a version that is gone. */
export function dropVersion(format: ApiDocument['format'], definition: JsonObject, apiId: string): JsonObject {
  const before = versioningOf(format, definition)
  const names = namesOf(format, before)
  const gone = [...names].filter(([, id]) => id === apiId).map(([name]) => name)
  for (const name of gone) names.delete(name)
  const chosen = gone.includes(textOf(before, 'default')) ? 'self' : textOf(before, 'default')
  return withVersioning(format, definition, { ...before, default: chosen, versions: writeNames(format, names) })
}

/**
 * The definitions of a base API and of one of its versions after the version has become the base of all others, the former base
 * among them. Requests that name a version get the same one as before.
 * @throws Fault `query_invalid` (400) for an API that is no version of the base, a base without a version name, or two formats
 */
export function rebasedDefinitions(base: ApiDocument, next: ApiDocument): { base: JsonObject; next: JsonObject } {
  if (base.format !== next.format) throw fault('query_invalid', 'both APIs must be in the same format')
  const { format } = base
  const before = versioningOf(format, base.definition)
  const names = namesOf(format, before)
  const nextName = [...names].find(([, id]) => id === next.api_id)?.[0]
  if (nextName === undefined) throw fault('query_invalid', `API ${next.api_id} is no version of API ${base.api_id}`)
  const baseName = textOf(before, 'name')
  if (baseName === '') throw fault('query_invalid', 'the base API has no version name')
  const swapped = new Map(
    [...names].map(([name, id]) => (name === nextName ? ([baseName, base.api_id] as const) : ([name, id] as const))),
  )
  const versioning = {
    ...before,
    name: nextName,
    default: swappedDefault(textOf(before, 'default'), baseName, nextName),
    versions: writeNames(format, swapped),
  }
  return { base: withoutVersioning(format, base.definition), next: withVersioning(format, next.definition, versioning) }
}

function swappedDefault(chosen: string, baseName: string, nextName: string): string {
  if (chosen === 'self' || chosen === baseName) return baseName
  return chosen === nextName ? 'self' : chosen
}

function withoutVersioning(format: ApiDocument['format'], definition: JsonObject): JsonObject {
  const copy = copyTree(definition)
  const holder = format === 'classic' ? copy : objectOf(extensionOf(copy), 'info')
  delete holder[format === 'classic' ? 'definition' : 'versioning']
  return copy
}

/** The versions of an API by name, and which one a request without a version gets. */
export function versionsOf({ format, definition }: ApiDocument): {
  name: string
  chosen: string
  versions: Map<string, string>
} {
  const versioning = versioningOf(format, definition)
  return {
    name: textOf(versioning, 'name'),
    chosen: textOf(versioning, 'default'),
    versions: namesOf(format, versioning),
  }
}

function versioningOf(format: ApiDocument['format'], definition: JsonObject): JsonObject {
  if (format === 'classic') return objectOf(definition, 'definition')
  return objectOf(objectOf(extensionOf(definition), 'info'), 'versioning')
}

function withVersioning(format: ApiDocument['format'], definition: JsonObject, versioning: JsonObject): JsonObject {
  if (format === 'classic') return { ...definition, definition: versioning }
  const extension = extensionOf(definition) ?? {}
  return { ...definition, [EXTENSION]: { ...extension, info: { ...objectOf(extension, 'info'), versioning } } }
}

function namesOf(format: ApiDocument['format'], versioning: JsonObject): Map<string, string> {
  if (format === 'oas')
    return new Map(objectsOf(versioning, 'versions').map((entry) => [textOf(entry, 'name'), textOf(entry, 'id')]))
  const versions = objectOf(versioning, 'versions')
  return new Map(Object.keys(versions).map((name) => [name, textOf(versions, name)]))
}

function writeNames(format: ApiDocument['format'], names: ReadonlyMap<string, string>) {
  if (format === 'oas') return [...names].map(([name, id]) => ({ name, id }))
  const versions: JsonObject = {}
  for (const [name, id] of names) setMember(versions, name, id)
  return versions
}
