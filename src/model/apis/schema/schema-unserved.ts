import type { Schema } from './schema.ts'

/** A member, or a section of members, that is kept without effect, with the reason that its author is told. */
export function unserved(reason: string, schema: Schema): Schema {
  return { ...schema, description: reason }
}

/** A number of any size. */
export function anyNumber(): Schema {
  return { type: ['number', 'null'] }
}
