import type { JsonObject } from './json.ts'

/** The members of an object that are not null: programs in Go write absent values so. The same object where all are there. */
export function presentMembers(body: JsonObject): JsonObject {
  const entries = Object.entries(body)
  const present = entries.filter(([, value]) => value !== null)
  return present.length === entries.length ? body : Object.fromEntries(present)
}
