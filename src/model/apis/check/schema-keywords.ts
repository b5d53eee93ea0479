import { toFault } from '../../../errors/fault.ts'
import { isObject, type Json } from '../../json/json.ts'
import { SchemaPattern } from '../../patterns/schema-pattern.ts'

/** The content of a keyword: a value, the name of a schema, one schema, a list of them, or a map of them. */
export type Holding = 'value' | 'reference' | 'schema' | 'list' | 'map'

type Check = (value: Json) => string | undefined

const TYPES = new Set<Json>(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

const must = (what: string, holds: (value: Json) => boolean): Check => {
  return (value) => (holds(value) ? undefined : `must be ${what}`)
}
const isTexts = (value: Json): boolean => Array.isArray(value) && value.every((each) => typeof each === 'string')
const number = must('a number', Number.isFinite)
const count = must('a whole number', (value) => Number.isInteger(value) && Number(value) >= 0)
const text = must('a text', (value) => typeof value === 'string')
const texts = must('a list of texts', isTexts)
const limit = must('a number, or true or false', (value) => typeof value === 'boolean' || Number.isFinite(value))
const choices = must('a list that is not empty', (value) => Array.isArray(value) && value.length > 0)
const map = must('an object', isObject)
const anything: Check = () => undefined

/** Keywords of JSON Schema that say what a value must be; all others are notes. A `Map`: names come from outside. */
const KEYWORDS = new Map<string, readonly [Holding, Check]>([
  ['$ref', ['reference', text]],
  ['$dynamicRef', ['reference', text]],
  ['$recursiveRef', ['reference', text]],
  ['type', ['value', typeFault]],
  ['enum', ['value', choices]],
  ['const', ['value', anything]],
  ['multipleOf', ['value', must('a number above 0', (value) => typeof value === 'number' && value > 0)]],
  ...(['minimum', 'maximum'] as const).map((name) => [name, ['value', number]] as const),
  ...(['exclusiveMinimum', 'exclusiveMaximum'] as const).map((name) => [name, ['value', limit]] as const),
  ...(['minLength', 'maxLength', 'minItems', 'maxItems'] as const).map((name) => [name, ['value', count]] as const),
  ...(['minProperties', 'maxProperties'] as const).map((name) => [name, ['value', count]] as const),
  ...(['minContains', 'maxContains'] as const).map((name) => [name, ['value', count]] as const),
  ['uniqueItems', ['value', must('true or false', (value) => typeof value === 'boolean')]],
  ['required', ['value', texts]],
  ['dependentRequired', ['value', dependenciesFault]],
  ['pattern', ['value', patternFault]],
  ['format', ['value', text]],
  ...(['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const).map((name) => [name, ['list', choices]] as const),
  ...(['not', 'if', 'then', 'else', 'contains', 'propertyNames'] as const).map(
    (name) => [name, ['schema', anything]] as const,
  ),
  ...(['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'] as const).map(
    (name) => [name, ['schema', anything]] as const,
  ),
  ['items', ['schema', anything]],
  ...(['properties', 'patternProperties', 'dependentSchemas'] as const).map((name) => [name, ['map', map]] as const),
  ['dependencies', ['value', dependenciesFault]],
])

/** The keywords that say what a value must be. */
export const KEYWORD_NAMES: readonly string[] = [...KEYWORDS.keys()]

/** The kind of content of a keyword; undefined for one that says nothing about a value. */
export function holdingOf(keyword: string): Holding | undefined {
  return KEYWORDS.get(keyword)?.[0]
}

/** Why what a keyword holds cannot be used; undefined when it can. */
export function contentFault(keyword: string, value: Json): string | undefined {
  return KEYWORDS.get(keyword)?.[1](value)
}

function dependenciesFault(value: Json): string | undefined {
  if (!isObject(value) || !entries(value).every(isTexts)) return 'must be an object of lists of names'
  return Object.keys(value)
    .map(nameFault)
    .find((fault) => fault !== undefined)
}

/** Why the engine cannot look at members of a name; only files have documents with it. */
export function nameFault(name: string): string | undefined {
  return name === '__proto__' ? 'names "__proto__", which is not checked' : undefined
}

function entries(value: Json): Json[] {
  return Object.values(value as object)
}

function typeFault(value: Json): string | undefined {
  const types = [value].flat() as Json[]
  const strange = types.find((type) => !TYPES.has(type))
  if (types.length === 0) return 'must name a type'
  return strange === undefined ? undefined : `names ${JSON.stringify(strange)}, which is no type of JSON Schema`
}

function patternFault(value: Json): string | undefined {
  if (typeof value !== 'string') return 'must be a text'
  try {
    new SchemaPattern(value)
    return undefined
  } catch (error) {
    return toFault(error).message
  }
}
