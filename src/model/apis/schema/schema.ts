import type { JsonObject } from '../../json/json.ts'
import type { ValueKind } from '../definition/values.ts'

/**
 * The building blocks of our schemas. Every member may also be null, which means "absent":
 * exporters of other products write null for empty lists and maps.
 */
export type Schema = JsonObject

/** Longest list and widest map that a definition may hold. */
const MAX_ENTRIES = 20_000

/** Longest life of a token that a definition may ask for, in seconds: five years. */
export const MAX_LIFETIME_S = 157_680_000
/** Longest life of an authorization code in seconds (RFC 6749 section 4.1.2). */
export const MAX_CODE_S = 600
/** Longest time in which a used refresh token is answered again, in seconds. */
export const MAX_GRACE_S = 300

/** Furthest that clocks may be said to differ, in seconds. */
export const MAX_SKEW_S = 86_400

/** A text; `is` names a check of values.ts. */
export function text(is?: ValueKind): Schema {
  return { type: ['string', 'null'], ...(is === undefined ? {} : { is }) }
}

/** One of these texts. */
export function oneOf(...words: string[]): Schema {
  return { type: ['string', 'null'], enum: [...words, null] }
}

/** True or false. */
export function bool(): Schema {
  return { type: ['boolean', 'null'] }
}

/** A whole number from 0, or from `minimum`. */
export function whole(maximum = Number.MAX_SAFE_INTEGER, minimum = 0): Schema {
  return { type: ['integer', 'null'], minimum, maximum }
}

/** A number within these bounds. */
export function number(maximum = Number.MAX_SAFE_INTEGER, minimum = 0): Schema {
  return { type: ['number', 'null'], minimum, maximum }
}

/** A list of at most so many of these. */
export function list(items: Schema, maxItems = MAX_ENTRIES): Schema {
  return { type: ['array', 'null'], maxItems, items: needed(items) }
}

/** An object whose member names come from outside; `names` checks them. */
export function map(values: Schema, names?: ValueKind): Schema {
  return {
    type: ['object', 'null'],
    maxProperties: MAX_ENTRIES,
    additionalProperties: values,
    ...(names === undefined ? {} : { names }),
  }
}

/** An object with members that we know; others may be there and are kept. Required ones must not be null. */
export function object(members: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema {
  const properties: JsonObject = {}
  for (const [name, schema] of Object.entries(members))
    properties[name] = required.includes(name) ? needed(schema) : schema
  return { type: ['object', 'null'], properties, required: [...required] }
}

/** Names of the members of a section of a schema. */
export function schemaNames(schema: Schema, section: string): string[] {
  const { properties } = (schema.properties as Readonly<Record<string, Schema>>)[section] ?? {}
  return Object.keys(properties ?? {})
}

/** Anything that may be there and is kept as it is. */
export function anything(): Schema {
  return {}
}

/** The same without null. */
function needed(schema: Schema): Schema {
  if (!Array.isArray(schema.type)) return schema
  const rest = { ...schema, type: schema.type[0]! }
  return Array.isArray(schema.enum) ? { ...rest, enum: schema.enum.filter((word) => word !== null) } : rest
}

/** A member, or a section of members, that is kept without effect, with the reason for its author. */
export function unserved(reason: string, schema: Schema): Schema {
  return { ...schema, description: reason }
}

/** A number of any size. */
export function anyNumber(): Schema {
  return { type: ['number', 'null'] }
}
