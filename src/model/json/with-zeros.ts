import { isObject, type JsonObject } from './json.ts'

/**
 * An object with the zero values that it lacks, or holds as null: for readers who take every member for granted. Objects among the zero
 * values are filled in too.
 */
export function withZeros(zeros: JsonObject, value: JsonObject): JsonObject {
  const filled: JsonObject = { ...value }
  for (const [name, zero] of Object.entries(zeros)) {
    const held = Object.hasOwn(value, name) ? value[name]! : null
    if (held === null) filled[name] = zero
    else if (isObject(zero) && isObject(held)) filled[name] = withZeros(zero, held)
  }
  return filled
}
