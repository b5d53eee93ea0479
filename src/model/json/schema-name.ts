import type { JsonObject } from './json.ts'

/** The object without `$schema`, by which files name their JSON Schema for editors; the same object where it has none. */
export function withoutSchemaName(value: JsonObject): JsonObject {
  if (!Object.hasOwn(value, '$schema')) return value
  const { $schema: _forEditors, ...rest } = value
  return rest
}
