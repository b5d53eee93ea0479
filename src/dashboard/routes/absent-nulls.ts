import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'

/**
 * Takes null for absent in a body, in place, wherever its schema has no null: programs in Go write lists and values so that are not set.
 * A list or map that must be there is empty.
 */
export function absentNulls(schema: object, value: Json): void {
  const { properties, required, items } = schema as JsonObject
  for (const option of optionsOf(schema as JsonObject)) absentNulls(option, value)
  if (Array.isArray(value) && isObject(items)) for (const entry of value) absentNulls(items, entry)
  if (!isObject(value) || !isObject(properties)) return
  for (const [name, member] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name) || !isObject(member)) continue
    const held = value[name]!
    if (held !== null) absentNulls(member, held)
    else if (!takesNull(member)) {
      const empty = Array.isArray(required) && required.includes(name) ? emptyOf(member) : undefined
      if (empty === undefined) delete value[name]
      else value[name] = empty
    }
  }
}

function optionsOf({ anyOf, oneOf, allOf }: JsonObject): JsonObject[] {
  return [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []))
}

/** True where the schema names null, or no type at all. */
function takesNull(schema: JsonObject): boolean {
  const options = optionsOf(schema)
  if (options.length > 0) return options.some(takesNull)
  if (Array.isArray(schema.enum)) return schema.enum.includes(null)
  if (Object.hasOwn(schema, 'const')) return schema.const === null
  return schema.type === undefined || schema.type === 'null'
}

function emptyOf({ type, patternProperties }: JsonObject): Json | undefined {
  if (type === 'array') return []
  return patternProperties === undefined ? undefined : {}
}
