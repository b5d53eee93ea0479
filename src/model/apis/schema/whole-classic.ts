import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import type { Schema } from './schema.ts'
import { CLASSIC_SCHEMA } from './schema-classic.ts'

/** Members that conversions write; their absence is none of their zero value. */
const CONVERSIONS: ReadonlySet<string> = new Set(['oas', 'classic'])

/** A classic definition with all members that it may have, by their zero values: for programs that take every member for granted. */
export function wholeClassic(classic: JsonObject): JsonObject {
  return filled(CLASSIC_SCHEMA, classic) as JsonObject
}

/** A definition without the zero values that reading `stored` with `wholeClassic` adds: what was read and sent back is what it was. */
export function withoutAddedZeros(sent: JsonObject, stored: JsonObject): JsonObject {
  return stripped(CLASSIC_SCHEMA, sent, stored) as JsonObject
}

function filled(schema: Schema, value: Json): Json {
  if (Array.isArray(value)) {
    const items = schemaIn(schema.items)
    return items === undefined ? value : value.map((each) => filled(items, each))
  }
  if (!isObject(value)) return value
  const made: JsonObject = { ...value }
  for (const [name, member] of membersOf(schema)) {
    const held = Object.hasOwn(value, name) ? value[name]! : null
    made[name] = held === null ? zeroOf(member) : filled(member, held)
  }
  const others = schemaIn(schema.additionalProperties)
  const named = others === undefined ? [] : Object.keys(value).filter((name) => name !== '__proto__')
  for (const name of named) made[name] = filled(others!, value[name]!)
  return made
}

function stripped(schema: Schema, sent: Json, stored: Json | undefined): Json {
  if (Array.isArray(sent)) {
    const items = schemaIn(schema.items)
    if (items === undefined || !Array.isArray(stored)) return sent
    return sent.map((each, index) => stripped(items, each, stored[index]))
  }
  if (!isObject(sent) || !isObject(stored ?? null)) return sent
  const before = stored as JsonObject
  const members = new Map(membersOf(schema))
  const others = schemaIn(schema.additionalProperties)
  const kept: [string, Json][] = []
  for (const [name, value] of Object.entries(sent)) {
    const member = members.get(name) ?? others
    const held = Object.hasOwn(before, name) ? before[name]! : undefined
    if ((held ?? null) === null && members.has(name) && isDeepStrictEqual(value, zeroOf(member!))) {
      if (held === null) kept.push([name, null])
      continue
    }
    kept.push([name, member === undefined ? value : stripped(member, value, held)])
  }
  return Object.fromEntries(kept)
}

function membersOf({ properties }: Schema): [string, Schema][] {
  const known = Object.entries(isObject(properties ?? null) ? (properties as JsonObject) : {})
  return known.filter(([name]) => !CONVERSIONS.has(name)) as [string, Schema][]
}

/** The zero value of a member; that of an object has its members. */
function zeroOf(schema: Schema): Json {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object') return filled(schema, {})
  if (type === 'array') return []
  if (type === 'string') return ''
  if (type === 'boolean') return false
  return type === 'integer' || type === 'number' ? 0 : null
}

const schemaIn = (value: Json | undefined): Schema | undefined =>
  value !== undefined && isObject(value) ? (value as Schema) : undefined
