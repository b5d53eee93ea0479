import type { JsonObject } from '../json/json.ts'

// Schemas of what the product answers and takes, as JSON.

export const text: JsonObject = { type: 'string' }
export const whole: JsonObject = { type: 'integer' }
export const amount: JsonObject = { type: 'number' }
export const flag: JsonObject = { type: 'boolean' }
export const time: JsonObject = { type: 'string', format: 'date-time' }

/** A list of these. */
export const arrayOf = (items: JsonObject): JsonObject => ({ type: 'array', items })
/** A text that is one of these. */
export const oneOf = (...values: string[]): JsonObject => ({ type: 'string', enum: values })

/** A schema with a description. */
export const said = (schema: JsonObject, description: string): JsonObject => ({ ...schema, description })

/** An object of these members, all of them required but those of `optional`. */
export function closedObjectOf(
  title: string,
  members: Readonly<Record<string, JsonObject>>,
  optional: Readonly<Record<string, JsonObject>> = {},
): JsonObject {
  return { title, type: 'object', required: Object.keys(members), properties: { ...members, ...optional } }
}

/** The same for an object that keeps members which are not described. */
export function openObjectOf(
  title: string,
  members: Readonly<Record<string, JsonObject>>,
  optional: Readonly<Record<string, JsonObject>> = {},
): JsonObject {
  return { ...closedObjectOf(title, members, optional), additionalProperties: true }
}
