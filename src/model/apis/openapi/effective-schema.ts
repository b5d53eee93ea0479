import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { SchemaPattern } from '../../patterns/schema-pattern.ts'
import { isMultiple, textFormat } from '../check/schema-work.ts'
import { flagOf } from '../definition/members.ts'
import { fromPointer, getAt, member, setMember, type TreePath } from '../definition/tree.ts'

/** Most schemas that are put together to one. */
const MOST_PARTS = 200

/** A schema with all that holds beside it: its references, the parts of `allOf`, and one alternative of `anyOf` and `oneOf`. */
export interface EffectiveSchema {
  /** Keywords of all parts: of bounds the narrowest, of others the first. */
  readonly keywords: JsonObject
  readonly types: readonly string[]
  /** Members by name, with all schemas that hold for each. */
  readonly properties: ReadonlyMap<string, readonly Json[]>
  readonly required: ReadonlySet<string>
  readonly items: readonly Json[]
  /** Number of schemas that were put together. */
  readonly parts: number
}

/** Puts together what holds for the values of a schema. `resolve` follows references. */
export function effectiveSchema(schemas: readonly Json[], resolve: (schema: Json) => JsonObject): EffectiveSchema {
  const parts = partsOf(schemas, resolve)
  const keywords: JsonObject = {}
  const properties = new Map<string, Json[]>()
  const required = new Set<string>()
  const items: Json[] = []
  let types: string[] | undefined
  for (const part of parts) {
    for (const name of Object.keys(part)) setMember(keywords, name, narrower(name, keywords, part[name]!))
    const own = typesOf(part)
    if (own.length > 0) types = types === undefined ? own : common(types, own)
    for (const name of Array.isArray(part.required) ? part.required : []) required.add(String(name))
    if (part.items !== undefined && !Array.isArray(part.items)) items.push(part.items)
    for (const [name, inner] of isObject(part.properties) ? Object.entries(part.properties) : [])
      properties.set(name, [...(properties.get(name) ?? []), inner])
  }
  return {
    keywords,
    types: types ?? impliedTypes(keywords, properties),
    properties,
    required,
    items,
    parts: parts.length,
  }
}

function partsOf(schemas: readonly Json[], resolve: (schema: Json) => JsonObject): JsonObject[] {
  const parts: JsonObject[] = []
  const seen = new Set<JsonObject>()
  const add = (from: Json): void => {
    const schema = resolve(from)
    if (seen.has(schema) || parts.length >= MOST_PARTS) return
    seen.add(schema)
    parts.push(schema)
    // Beside a reference other keywords may be.
    if (isObject(from) && from !== schema && Object.keys(from).length > 1) {
      const { $ref: _ref, ...siblings } = from
      parts.push(siblings)
    }
    for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) add(part)
    for (const keyword of ['oneOf', 'anyOf']) {
      const choices = schema[keyword]
      if (!Array.isArray(choices) || choices.length === 0) continue
      add(choices.find((choice) => !typesOf(resolve(choice)).includes('null')) ?? choices[0]!)
    }
  }
  for (const schema of schemas) add(schema)
  return parts
}

const LARGEST = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'])
const SMALLEST = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'])

function narrower(name: string, known: JsonObject, value: Json): Json {
  const before = member(known, name)
  if (before === undefined) return value
  if (typeof before !== 'number' || typeof value !== 'number') return before
  return LARGEST.has(name) ? Math.max(before, value) : SMALLEST.has(name) ? Math.min(before, value) : before
}

function typesOf({ type }: JsonObject): string[] {
  return [type].flat().filter((each) => typeof each === 'string')
}

function common(some: readonly string[], others: readonly string[]): string[] {
  const both = some.filter((type) => others.includes(type))
  if (both.length > 0) return both
  const isWhole = [some, others].every((types) => types.some((type) => type === 'integer' || type === 'number'))
  return isWhole ? ['integer'] : [...some]
}

function impliedTypes(keywords: JsonObject, properties: ReadonlyMap<string, unknown>): string[] {
  if (properties.size > 0 || keywords.additionalProperties !== undefined) return ['object']
  if (keywords.items !== undefined) return ['array']
  if (['pattern', 'format', 'minLength', 'maxLength'].some((name) => keywords[name] !== undefined)) return ['string']
  return ['minimum', 'maximum', 'multipleOf'].some((name) => keywords[name] !== undefined) ? ['number'] : []
}

/** True when a text is of a format, as checks of requests judge it; all of one that they do not know. */
function isFormatted(text: string, format: Json | undefined): boolean {
  return typeof format !== 'string' || textFormat(format)?.(text) !== false
}

/** True when a pattern is found in a text, or is one that nobody checks. */
function isFound(pattern: Json | undefined, text: string): boolean {
  if (typeof pattern !== 'string') return true
  try {
    return new SchemaPattern(pattern).test(text)
  } catch {
    return true
  }
}

/** The numbers that are not excluded: a bound, and whether it is out itself (a flag in OpenAPI 3.0, a bound of its own later). */
function isWithinBounds(
  value: number,
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject,
) {
  const isAbove = (bound: Json | undefined, flag: Json | undefined, sign: 1 | -1) =>
    !(typeof bound === 'number' && (value - bound) * sign < 0) &&
    !(flag === true && value === bound) &&
    !(typeof flag === 'number' && (value - flag) * sign <= 0)
  if (typeof multipleOf === 'number' && multipleOf > 0 && !isMultiple(value, multipleOf)) return false
  return isAbove(minimum, exclusiveMinimum, 1) && isAbove(maximum, exclusiveMaximum, -1)
}

/** True for a value that an author gave, and that its schema takes as far as a glance tells. */
export function fitsEffective(
  value: Json,
  { keywords, types, required }: EffectiveSchema,
  isLeftOut: (name: string) => boolean,
): boolean {
  const { enum: choices, minLength, maxLength, minItems, maxItems, pattern, format } = keywords
  if (value === null) return flagOf(keywords, 'nullable') || types.includes('null') || types.length === 0
  if (types.length > 0 && !types.includes(typeOf(value)) && !(types.includes('number') && typeof value === 'number'))
    return false
  if (Array.isArray(choices) && typeof value !== 'object' && !choices.includes(value)) return false
  const within = (size: number, least: Json | undefined, most: Json | undefined) =>
    !(typeof least === 'number' && size < least) && !(typeof most === 'number' && size > most)
  if (typeof value === 'number') return isWithinBounds(value, keywords)
  if (typeof value === 'string')
    return within([...value].length, minLength, maxLength) && isFormatted(value, format) && isFound(pattern, value)
  if (Array.isArray(value)) return within(value.length, minItems, maxItems)
  return !isObject(value) || [...required].every((name) => isLeftOut(name) || member(value, name) !== undefined)
}

function typeOf(value: Json): string {
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

/** Most references that lead from one to the next. */
export const MAX_REFERENCES = 20

/** Where a `$ref` leads within its document; undefined where it leads out of it. */
export function targetOf(reference: string): TreePath | undefined {
  return reference.startsWith('#') ? fromPointer(decoded(reference.slice(1))) : undefined
}

/** The target of a `$ref`; undefined for none. */
export function referred(document: JsonObject, reference: string): Json | undefined {
  const path = targetOf(reference)
  return path && getAt(document, path)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
