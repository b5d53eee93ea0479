import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'

/** A text, list or map in the schema of a body. */
export interface BoundedPlace {
  readonly path: readonly string[]
  readonly kind: 'text' | 'list' | 'map'
  readonly most: number | undefined
}

const KEYWORDS = { text: 'maxLength', list: 'maxItems', map: 'maxProperties' } as const
const DEEPEST = 5

/**
 * Names of the components of answers and of the bodies of calls that are `apart`, and titles written in place: bodies that share them name no
 * bounds there.
 */
export function sharedComponents(
  document: JsonObject,
  apart: (path: string, operation: JsonObject) => boolean,
): ReadonlySet<string> {
  const { schemas } = document.components as { schemas: JsonObject }
  const found = new Set<string>()
  const look = (value: Json | undefined): void => {
    if (Array.isArray(value)) for (const each of value) look(each)
    if (!isObject(value)) return
    const name = typeof value.$ref === 'string' ? value.$ref.split('/').at(-1)! : ''
    if (typeof value.title === 'string') found.add(value.title)
    if (Object.hasOwn(schemas, name) && !found.has(name)) {
      found.add(name)
      look(schemas[name])
    }
    for (const each of Object.values(value)) look(each)
  }
  for (const [path, operations] of Object.entries(document.paths as JsonObject))
    for (const operation of Object.values(operations as JsonObject).filter(isObject)) {
      look(operation.responses)
      if (apart(path, operation)) look(operation.requestBody)
    }
  return found
}

/**
 * Every place of a schema of an OpenAPI document that can be large, as its reader finds them, but for those in components that are `left`
 * out. `*` is any member of a map.
 */
export function placesOf(
  document: JsonObject,
  schema: Json | undefined,
  left: ReadonlySet<string>,
  path: readonly string[] = [],
): BoundedPlace[] {
  if (!isObject(schema) || path.length > DEEPEST) return []
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1)!
    const { schemas } = document.components as { schemas: JsonObject }
    return left.has(name) ? [] : placesOf(document, schemas[name], left, path)
  }
  if (path.length > 0 && left.has(String(schema.title))) return []
  const found: BoundedPlace[] = []
  for (const name of ['anyOf', 'oneOf', 'allOf', 'x-svc-any-of', 'x-svc-also'])
    for (const each of listOf(schema[name])) found.push(...placesOf(document, each, left, path))
  const { type, format, items, properties, additionalProperties: more } = schema
  const add = (kind: BoundedPlace['kind']) => {
    const most = schema[KEYWORDS[kind]]
    found.push({ path, kind, most: typeof most === 'number' ? most : undefined })
  }
  if (type === 'string' && schema.enum === undefined && format !== 'binary') add('text')
  if (type === 'array') add('list')
  if (type === 'object' && (isObject(more) || more === true)) add('map')
  found.push(
    ...placesOf(document, items, left, [...path, '0']),
    ...placesOf(document, isObject(more) ? more : undefined, left, [...path, '*']),
  )
  for (const [name, each] of Object.entries(isObject(properties) ? properties : {}))
    found.push(...placesOf(document, each, left, [...path, name]))
  return found
}

/** A value one larger than a place allows. */
export function tooLarge({ kind, most }: BoundedPlace): Json {
  const count = most! + 1
  if (kind === 'text') return 'x'.repeat(count)
  if (kind === 'list') return Array.from({ length: count }, () => null)
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, null]))
}

/** A copy of a body with a value at a place; members on the way that are missing are made. */
export function withAt(body: Json | undefined, [name, ...rest]: readonly string[], value: Json): Json {
  if (name === undefined) return value
  if (name === '0') return [withAt(Array.isArray(body) ? body[0] : undefined, rest, value)]
  const holder = isObject(body) ? body : {}
  const member = name === '*' ? (Object.keys(holder)[0] ?? 'any') : name
  return { ...holder, [member]: withAt(holder[member], rest, value) }
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
