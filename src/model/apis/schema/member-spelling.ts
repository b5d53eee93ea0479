import { isObject, type Json, type JsonObject, withoutSchemaName } from '../../json/json.ts'
import type { ApiDocument } from '../definition/api.ts'
import { EXTENSION } from '../definition/members.ts'
import { member, setMember } from '../definition/tree.ts'
import type { Schema } from './schema.ts'
import { CLASSIC_SCHEMA } from './schema-classic.ts'
import { EXTENSION_SCHEMA } from './schema-oas.ts'

/**
 * A definition with its members in the letter case that we know them by: Go reads JSON in any. A member beside one in the known spelling,
 * and names from outside, stay as they are. The same object where nothing is spelled otherwise. `$schema`, which names the schema for editors,
 * is left out.
 */
export function withKnownSpelling(format: ApiDocument['format'], sent: JsonObject): JsonObject {
  const definition = withoutSchemaName(sent)
  if (format === 'classic') return spelled(definition, CLASSIC_SCHEMA)
  const extension = member(definition, EXTENSION)
  if (extension === undefined) return definition
  const known = spelled(extension, EXTENSION_SCHEMA)
  return known === extension ? definition : { ...definition, [EXTENSION]: known }
}

function spelled<T extends Json>(value: T, schema: Json | undefined): T {
  if (schema === undefined || !isObject(schema)) return value
  if (Array.isArray(value)) {
    const items = value.map((item) => spelled(item, schema.items))
    return items.some((item, at) => item !== value[at]) ? (items as T) : value
  }
  if (!isObject(value)) return value
  const { properties, additionalProperties } = schema
  const known: JsonObject = isObject(properties) ? properties : {}
  const written: JsonObject = {}
  let changed = false
  for (const [name, held] of Object.entries(value)) {
    const spelling = spellingOf(name, known, value)
    const kept = spelled(held, Object.hasOwn(known, spelling) ? known[spelling] : additionalProperties)
    changed ||= spelling !== name || kept !== held
    setMember(written, spelling, kept)
  }
  return changed ? (written as T) : value
}

function spellingOf(name: string, known: JsonObject, holder: JsonObject): string {
  if (Object.hasOwn(known, name)) return name
  const spelling = lowerNames(known).get(name.toLowerCase())
  return spelling === undefined || Object.hasOwn(holder, spelling) ? name : spelling
}

/** Module state: a cache of immutable values, by the members of a schema. */
const cached = new WeakMap<Schema, ReadonlyMap<string, string>>()

function lowerNames(known: JsonObject): ReadonlyMap<string, string> {
  let names = cached.get(known)
  if (names === undefined) {
    names = new Map(Object.keys(known).map((name) => [name.toLowerCase(), name]))
    cached.set(known, names)
  }
  return names
}
