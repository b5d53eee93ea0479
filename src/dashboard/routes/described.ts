import type { TSchema } from 'typebox'

/** A schema that others share, with a description for one place. What TypeBox keeps hidden in it stays. */
export function described<Schema extends TSchema>(schema: Schema, description: string): Schema {
  const members = Object.getOwnPropertyDescriptors(schema)
  return Object.defineProperties({}, { ...members, description: { value: description, enumerable: true } }) as Schema
}
