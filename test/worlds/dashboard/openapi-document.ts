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

/** The value as a generated client holds it that keeps only members which the (resolved) schema describes. */
export function described(schema: Json | undefined, value: Json): Json {
  if (!isObject(schema)) return value
  if (Array.isArray(schema.anyOf)) {
    const fitting = schema.anyOf.find((option) => isObject(option) && isOfType(option.type, value))
    return described(fitting, value)
  }
  if (Array.isArray(value)) return value.map((entry) => described(schema.items, entry))
  if (!isObject(value)) return value
  const { properties, additionalProperties } = schema
  if (isObject(properties))
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, each]) =>
        Object.hasOwn(properties, name) ? [[name, described(properties[name], each)]] : [],
      ),
    )
  return mapped(value, (each) => described(additionalProperties, each))
}

function isOfType(type: Json | undefined, value: Json): boolean {
  if (value === null) return type === 'null'
  if (Array.isArray(value)) return type === 'array'
  return type === undefined || (type === 'integer' ? 'number' : type) === typeof value
}

/** The (resolved) schema closed: objects whose members are described hold no others, unless the schema says that they may. */
export function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed)
  if (!isObject(schema)) return schema
  const made = mapped(schema, closed)
  return isObject(schema.properties) && schema.additionalProperties === undefined && schema.type === 'object'
    ? { ...made, additionalProperties: false }
    : made
}
