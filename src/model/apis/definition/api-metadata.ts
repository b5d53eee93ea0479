import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { textOf, textsOf } from './members.ts'

/** Metadata of an API in any format: not part of the definition, and not changed with it. */
export interface ApiMetadata {
  readonly user_owners?: readonly string[]
  readonly user_group_owners?: readonly string[]
  /** True once the last owner was deleted: only administrators see the API until it has another. */
  readonly ownerless?: boolean
  readonly categories?: readonly string[]
  /** The same key once. */
  readonly labels?: readonly { readonly key: string; readonly value: string }[]
  readonly hook_references?: readonly JsonObject[]
}

const LISTS = [
  'user_owners',
  'user_group_owners',
  'categories',
  'labels',
  'hook_references',
] as const satisfies readonly (keyof ApiMetadata)[]

/** The metadata of a stored API: its present members. */
export function metadataOfApi(body: JsonObject): ApiMetadata {
  const held = LISTS.flatMap((name) => (Array.isArray(body[name]) ? [[name, body[name]]] : []))
  return { ...(Object.fromEntries(held) as ApiMetadata), ...(body.ownerless === true && { ownerless: true }) }
}

/** Given members replace the previous ones; the others stay. An API with owners is not without one. */
export function mergeMetadata(before: ApiMetadata, given: ApiMetadata): JsonObject {
  const merged: JsonObject = Object.fromEntries(
    LISTS.flatMap((name) => {
      const value = given[name] ?? before[name]
      return value === undefined ? [] : [[name, structuredClone(value) as unknown as Json] as const]
    }),
  )
  const owners = [...textsOf(merged, 'user_owners'), ...textsOf(merged, 'user_group_owners')]
  const isOwnerless = (given.ownerless ?? before.ownerless) && owners.length === 0
  return { ...merged, ...(isOwnerless && { ownerless: true }) }
}

/** The categories of a stored API: those beside it, and the words of a classic name that begin with `#`. Each once. */
export function categoriesOf(body: JsonObject): string[] {
  const inName = body.format === 'oas' ? [] : (textOf(body, 'name').match(/(?<=^|\s)#\S+/g) ?? [])
  return [...new Set([...textsOf(body, 'categories'), ...inName.map((word) => word.slice(1))])]
}

/** The labels of a stored API as the list index has them: `labelIndexEntry` of each. */
export function labelsOf(body: JsonObject): string[] {
  return labelPairs(body).map(({ key, value }) => labelIndexEntry(key, value))
}

/** The keys of the labels of a stored API. */
export function labelKeysOf(body: JsonObject): string[] {
  return labelPairs(body).map(({ key }) => key)
}

/** The values of all labels of a stored API, for searching. */
export function labelValuesOf(body: JsonObject): string[] {
  return labelPairs(body).map(({ value }) => value)
}

/** How the index `label` of APIs files a label. Keys hold no `=`. */
export function labelIndexEntry(key: string, value: string): string {
  return `${key}=${value}`
}

function labelPairs(body: JsonObject): { key: string; value: string }[] {
  const labels = Array.isArray(body.labels) ? body.labels.filter(isObject) : []
  return labels.map((label) => ({ key: textOf(label, 'key'), value: textOf(label, 'value') }))
}
