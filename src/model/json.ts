export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
/** The body of a document or session as it is on the wire: unknown fields are kept. */
export type JsonObject = { [key: string]: Json }

/** True for a JSON object: not null, not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
