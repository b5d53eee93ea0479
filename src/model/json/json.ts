export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
/** The body of a document or session as it is on the wire: unknown fields are kept. */
export type JsonObject = { [key: string]: Json }
/** A body of shape `T` as it is stored: it may have members that `T` does not name. */
export type Stored<T> = T & JsonObject

/** An object whose members hold JSON values only, as the JSON object that is stored or sent of it. */
export function asJson(value: object): JsonObject {
  return value as JsonObject
}

const OPENING_BRACE = 0x7b

/** True for bytes that begin as a JSON object does, white space before it or not (RFC 8259 section 2); forms never begin so. */
export function startsObject(bytes: Uint8Array): boolean {
  return bytes.find((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) === OPENING_BRACE
}

/** True for a JSON object: not null, not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object that are not null: programs in Go write absent values so. The same object where all are there. */
export function presentMembers(body: JsonObject): JsonObject {
  const entries = Object.entries(body)
  const present = entries.filter(([, value]) => value !== null)
  return present.length === entries.length ? body : Object.fromEntries(present)
}

/** The object without `$schema`, by which files name their JSON Schema for editors; the same object where it has none. */
export function withoutSchemaName(value: JsonObject): JsonObject {
  if (!Object.hasOwn(value, '$schema')) return value
  const { $schema: _forEditors, ...rest } = value
  return rest
}

/** Applies a JSON merge patch (RFC 7396): members of the patch replace those of the target, null takes one away. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const merged: JsonObject = { ...(isObject(target) ? target : {}) }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, value)
  }
  return merged
}
