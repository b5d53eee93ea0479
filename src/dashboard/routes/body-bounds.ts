import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { DESCRIBED, FORMS } from '../../model/openapi/component-schemas.ts'
import type { Route } from './route.ts'

/** Most characters of a text whose schema says nothing else. */
const MOST_CHARACTERS = 16_384
/** Most entries of a list or map whose schema says nothing else. */
const MOST_ENTRIES = 10_000
/** Most characters of a text in a member that the schema leaves free, and of the name of a member. */
const MOST_FREE_CHARACTERS = 262_144
const MOST_NAME_CHARACTERS = 1024
/** Most values of one body. */
const MOST_VALUES = 1_000_000

/** Kinds with bounds of their own at each place, checked where they are read: APIs, policies, keys, OAuth clients and moves of them. */
const OWN_BOUNDS = /^\/(?:svc\/|api\/(?:apis|keys|moves|oauth|portal\/policies)\b|admin\/(?:apis|policies|org\/keys)\b)/

/** True for a call whose body is bounded by its schema. */
export function isBoundedBySchema({ path, body, bodyIs }: Pick<Route, 'path' | 'body' | 'bodyIs'>): boolean {
  return body !== undefined && bodyIs !== 'upload' && !OWN_BOUNDS.test(path)
}

/** Why a body is too large for its schema, in words that begin with the place; undefined where it is not. */
export function boundsFlaw(schema: object, body: Json): string | undefined {
  return new BoundsCheck().flaw([schema as JsonObject], body, '')
}

/** A schema that says of each text, list and map how large it may be. */
export function withBounds(schema: JsonObject): JsonObject {
  const made: JsonObject = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, HOLDERS.has(name) ? withBoundsInside(name, value) : value]),
  )
  const types = typesOf(schema)
  if (types.includes('string') && !isClosed(schema)) made.maxLength ??= MOST_CHARACTERS
  if (types.includes('array')) made.maxItems ??= MOST_ENTRIES
  if (types.includes('object') && isMap(schema)) made.maxProperties ??= MOST_ENTRIES
  return made
}

/** Keywords that hold schemas: one, a list or a map of them. */
const HOLDERS: ReadonlySet<string> = new Set(
  ['items', 'additionalProperties', DESCRIBED].concat(
    ['properties', 'patternProperties'],
    ['anyOf', 'oneOf', 'allOf'],
    FORMS,
  ),
)
const MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties'])

function withBoundsInside(name: string, value: Json): Json {
  if (Array.isArray(value)) return value.map((each) => (isObject(each) ? withBounds(each) : each))
  if (!isObject(value)) return value
  if (!MAPS.has(name)) return withBounds(value)
  return Object.fromEntries(Object.entries(value).map(([each, schema]) => [each, withBoundsInside('items', schema)]))
}

const typesOf = ({ type }: JsonObject): Json[] => (Array.isArray(type) ? type : [type ?? null])

/** Values that are listed need no length. */
const isClosed = ({ enum: values, const: only }: JsonObject) => values !== undefined || only !== undefined

const isMap = ({ additionalProperties: more, patternProperties: pattern }: JsonObject) =>
  isObject(more) || more === true || pattern !== undefined

class BoundsCheck {
  #values = 0

  /** `schemas`: all that may describe the value; none where it is free. */
  flaw(schemas: readonly JsonObject[], value: Json, path: string): string | undefined {
    if (++this.#values > MOST_VALUES) return `must not hold more than ${MOST_VALUES} values`
    const type = Array.isArray(value) ? 'array' : typeof value === 'object' ? 'object' : typeof value
    if (type !== 'string' && type !== 'array' && type !== 'object') return undefined
    const forms = schemas.flatMap(formsOf).filter((form) => typesOf(form).includes(type) || form.type === undefined)
    const most = (keyword: string, usual: number, free: number) => {
      const bounds = forms.map((form) => form[keyword] ?? (form.type === undefined ? free : usual))
      return bounds.length === 0 ? free : Math.max(...bounds.map(Number))
    }
    const at = path === '' ? '' : `${path.slice(1)}: `
    if (typeof value === 'string') {
      const length = most('maxLength', MOST_CHARACTERS, MOST_FREE_CHARACTERS)
      return value.length > length ? `${at}must not be longer than ${length} characters (${value.length})` : undefined
    }
    if (Array.isArray(value)) {
      const entries = most('maxItems', MOST_ENTRIES, MOST_ENTRIES)
      if (value.length > entries) return `${at}must not have more than ${entries} entries (${value.length})`
      const inside = forms.flatMap(({ items }) => (isObject(items) ? [items] : []))
      return firstFlaw(value.entries(), (index, each) => this.flaw(inside, each, `${path}.${index}`))
    }
    if (value === null) return undefined
    const members = Object.entries(value as JsonObject)
    const entries = most('maxProperties', MOST_ENTRIES, MOST_ENTRIES)
    if (members.length > entries) return `${at}must not have more than ${entries} members (${members.length})`
    return firstFlaw(members, (name, each) => {
      if (name.length > MOST_NAME_CHARACTERS)
        return `${at}a name of a member must not be longer than ${MOST_NAME_CHARACTERS} characters (${name.length})`
      return this.flaw(
        forms.flatMap((form) => memberSchemas(form, name)),
        each,
        `${path}.${name}`,
      )
    })
  }
}

function firstFlaw<K>(
  entries: Iterable<[K, Json]>,
  flawOf: (key: K, value: Json) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const flaw = flawOf(key, value)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

/** The schemas of a value: the described one, and each form of a choice. */
function formsOf(schema: JsonObject): JsonObject[] {
  const described = schema[DESCRIBED]
  if (isObject(described)) return formsOf(described)
  const choices = [schema.anyOf, schema.oneOf, schema.allOf, ...FORMS.map((name) => schema[name])]
  const inner = choices.flatMap((list) => (Array.isArray(list) ? list.filter(isObject).flatMap(formsOf) : []))
  return inner.length > 0 && schema.type === undefined ? inner : [schema, ...inner]
}

function memberSchemas(
  { properties, patternProperties, additionalProperties }: JsonObject,
  name: string,
): JsonObject[] {
  if (isObject(properties) && Object.hasOwn(properties, name)) return [properties[name]!].filter(isObject)
  const [pattern] = isObject(patternProperties) ? Object.values(patternProperties) : []
  return [pattern, additionalProperties].filter((each) => isObject(each))
}
