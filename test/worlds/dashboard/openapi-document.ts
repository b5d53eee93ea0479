import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'

/** The document with what its references name in their places, and schemas as JSON Schema has them: null is a type. */
export function resolvedDocument(document: JsonObject): JsonObject {
  const resolved = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(resolved)
    if (!isObject(value)) return value
    if (typeof value.$ref === 'string') return resolved(named(document, value.$ref))
    const { nullable, allOf, ...rest } = value
    if (nullable !== true) return mapped(value, resolved)
    const [only] = Array.isArray(allOf) ? allOf : []
    const own = only === undefined ? mapped(rest, resolved) : resolved(only)
    // Only what is always null has this text.
    return rest.description === 'Always null.' ? { type: 'null' } : { anyOf: [own, { type: 'null' }] }
  }
  return mapped(document, resolved)
}

/** The object that a reference names. */
function named(document: JsonObject, reference: string): Json {
  const found = reference
    .slice('#/'.length)
    .split('/')
    .reduce<Json | undefined>((at, name) => (isObject(at) ? at[name] : undefined), document)
  if (found === undefined) throw new Error(`${reference} is not in the document`)
  return found
}

function mapped(value: JsonObject, to: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, to(each)]))
}
