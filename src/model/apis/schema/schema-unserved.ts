import type { Schema } from './schema.ts'

/** A member, or a section of members, that is kept without effect, with the reason for its author. */
export function unserved(reason: string, schema: Schema): Schema {
  return { ...schema, description: reason }
}

/** A number of any size. */
export function anyNumber(): Schema {
  return { type: ['number', 'null'] }
}
