import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { DESCRIBED, FORMS } from '../../model/openapi/component-schemas.ts'
import type { Route } from './route.ts'

/** Most characters of a text whose schema says nothing else. */
const MOST_CHARACTERS = 16_384
/** Most entries of a list or map whose schema says nothing else. */
const MOST_ENTRIES = 10_000
/** Most characters of the name of a member. A text in a member that the schema leaves free is bounded by the size of the body. */
const MOST_NAME_CHARACTERS = 1024
/** Of the place that a refusal names: names may be long, and deep. */
const MOST_PLACE_CHARACTERS = 200

/** Kinds with bounds of their own at each place, checked where they are read: APIs, policies, keys, OAuth clients and moves of them. */
const OWN_BOUNDS = /^\/(?:svc\/|api\/(?:apis|keys|moves|oauth|portal\/policies)\b|admin\/(?:apis|policies|org\/keys)\b)/

/** True for a call whose body is bounded by its schema. Bodies of public calls are small, and a long address is a wrong one like any other. */
export function isBoundedBySchema({
  path,
  access,
  body,
  bodyIs,
}: Pick<Route, 'path' | 'access' | 'body' | 'bodyIs'>): boolean {
  return body !== undefined && access !== 'public' && bodyIs !== 'upload' && !OWN_BOUNDS.test(path)
}

/** Why a body is too large for its schema, in words that begin with the place; undefined where it is not. */
export function boundsFlaw(schema: object, body: Json): string | undefined {
  const flaw = flawOf([schema as JsonObject], body)
  if (flaw === undefined) return undefined
  const place = flaw.place.reverse().join('.')
  const shown = place.length > MOST_PLACE_CHARACTERS ? `${place.slice(0, MOST_PLACE_CHARACTERS)}…` : place
  return shown === '' ? flaw.text : `${shown}: ${flaw.text}`
}

/** A schema that says of each text, list and map how large it may be. `isKept`: a part of it that stays as it is. */
export function withBounds(schema: JsonObject, isKept: (part: JsonObject) => boolean = () => false): JsonObject {
  if (isKept(schema)) return schema
  const made: JsonObject = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      HOLDERS.has(name) ? withBoundsInside(name, value, isKept) : value,
    ]),
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

function withBoundsInside(name: string, value: Json, isKept: (part: JsonObject) => boolean): Json {
  if (Array.isArray(value)) return value.map((each) => (isObject(each) ? withBounds(each, isKept) : each))
  if (!isObject(value)) return value
  if (!MAPS.has(name)) return withBounds(value, isKept)
  return Object.fromEntries(
    Object.entries(value).map(([each, schema]) => [each, withBoundsInside('items', schema, isKept)]),
  )
}

const typesOf = ({ type }: JsonObject): Json[] => (Array.isArray(type) ? type : [type ?? null])

/** Values that are listed need no length. */
const isClosed = ({ enum: values, const: only }: JsonObject) => values !== undefined || only !== undefined

const isMap = ({ additionalProperties: more, patternProperties: pattern }: JsonObject) =>
  isObject(more) || more === true || pattern !== undefined

/** Where a value is too large, from the inside out: made only for a refusal, so that long names cost others nothing. */
interface Flaw {
  readonly text: string
  readonly place: (string | number)[]
}

/** `schemas`: all that may describe the value; none where it is free. */
function flawOf(schemas: readonly JsonObject[], value: Json): Flaw | undefined {
  const type = Array.isArray(value) ? 'array' : typeof value
  if (value === null || (type !== 'string' && type !== 'array' && type !== 'object')) return undefined
  const forms = schemas.flatMap(formsOf).filter((form) => typesOf(form).includes(type) || form.type === undefined)
  const most = (keyword: string, usual: number, free: number) => {
    const bounds = forms.map((form) => form[keyword] ?? (form.type === undefined ? free : usual))
    return bounds.length === 0 ? free : Math.max(...bounds.map(Number))
  }
  const flaw = (text: string): Flaw => ({ text, place: [] })
  if (typeof value === 'string') {
    const length = most('maxLength', MOST_CHARACTERS, Number.POSITIVE_INFINITY)
    return value.length > length ? flaw(`must not be longer than ${length} characters (${value.length})`) : undefined
  }
  if (Array.isArray(value)) {
    const entries = most('maxItems', MOST_ENTRIES, MOST_ENTRIES)
    if (value.length > entries) return flaw(`must not have more than ${entries} entries (${value.length})`)
    const inside = forms.flatMap(({ items }) => (isObject(items) ? [items] : []))
    return firstFlaw(value.entries(), (each) => flawOf(inside, each))
  }
  const members = Object.entries(value as JsonObject)
  const entries = most('maxProperties', MOST_ENTRIES, MOST_ENTRIES)
  if (members.length > entries) return flaw(`must not have more than ${entries} members (${members.length})`)
  const long = members.find(([name]) => name.length > MOST_NAME_CHARACTERS)?.[0]
  if (long !== undefined)
    return flaw(`a name of a member must not be longer than ${MOST_NAME_CHARACTERS} characters (${long.length})`)
  return firstFlaw(members, (each, name) =>
    flawOf(
      forms.flatMap((form) => memberSchemas(form, name)),
      each,
    ),
  )
}

function firstFlaw<K extends string | number>(
  entries: Iterable<[K, Json]>,
  flawInside: (value: Json, key: K) => Flaw | undefined,
): Flaw | undefined {
  for (const [key, value] of entries) {
    const flaw = flawInside(value, key)
    if (flaw === undefined) continue
    flaw.place.push(key)
    return flaw
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
