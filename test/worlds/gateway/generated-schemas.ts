import fc from 'fast-check'
import * as Schema from 'typebox/schema'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'

/** Versions of OpenAPI whose schemas differ: 3.0 has `nullable` and flags beside bounds, later ones have JSON Schema 2020-12. */
export const VERSIONS = ['3.0.3', '3.1.0', '3.2.0'] as const
export type OpenApiVersion = (typeof VERSIONS)[number]

const PLACES = ['A', 'B', 'C', 'A/properties/a', 'B/items', 'a.b~1c']
const REFS = PLACES.map((place): JsonObject => ({ $ref: `#/components/schemas/${place}` }))
/** One is a name that every JavaScript object has; of others the validator takes every object to have them. */
const NAMES = ['a', 'b', 'constructor']

const TEXTS = ['', 'a', 'ab', 'b', 'aab', 'B1', 'é', '𐐀', 'a b', 'a.json', '7']
const FORMATTED = ['2024-02-29', '2023-02-29', '2024-02-29T10:00:00Z', '10:00:00Z', '192.0.2.1', '::1', 'u@a.example']
const MORE_FORMATTED = ['123e4567-e89b-12d3-a456-426614174000', 'https://a.example/x', 'YWI=']

/** Values of every type, many of which fit one generated schema or another. */
export const generatedValues: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, false, 0, 1, 5, -1, 1.5, 19.99, 0.3, 1e21, 9007199254740991),
    fc.constantFrom<Json>(...TEXTS),
    fc.constantFrom<Json>(...FORMATTED, ...MORE_FORMATTED),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

const PATTERNS = ['^a+$', 'b', '^.{1,2}$', '^(?!b)', '^\\p{L}*$', '^[^\\d]*$', '^(?:a|b)*$', '(?=.*b)', '\\.json$']
const MORE_PATTERNS = [
  '^\\S+$',
  '^\\w{2,}$',
  '^[\\p{L}\\d]+$',
  '^\\p{Lu}',
  '\\bb',
  '^.{0,3}$',
  '^(?:ab)+$',
  '[^\\x00-\\x7F]',
]
const FORMATS = [
  'date',
  'date-time',
  'time',
  'uuid',
  'ipv4',
  'ipv6',
  'email',
  'uri',
  'hostname',
  'byte',
  'int32',
  'none',
]

/** Members that say nothing of a value. */
const NOTES: readonly JsonObject[] = [
  { description: 'a' },
  { example: { $id: 'same', $ref: '#/none' } },
  { default: { $id: 'same' } },
  { deprecated: true, externalDocs: { url: 'https://a.example/' } },
  { discriminator: { propertyName: 'a', mapping: { a: '#/components/schemas/A' } } },
  { 'x-of-vendor': [{ type: 'nothing' }] },
]

/** Schemas of one version, nested and in circles; without references for values that stay small. */
export function schemasOf(version: OpenApiVersion): fc.Arbitrary<JsonObject> {
  const isOld = version === '3.0.3'
  return fc.letrec<{ schema: JsonObject }>((tie) => {
    const inner = tie('schema')
    const anySchema: fc.Arbitrary<Json> = isOld ? inner : fc.oneof({ weight: 6, arbitrary: inner }, fc.boolean())
    const some = fc.array(inner, { minLength: 1, maxLength: 3 })
    const named = fc.dictionary(fc.constantFrom(...NAMES), anySchema, { maxKeys: 3, noNullPrototype: true })
    const types = ['string', 'number', 'integer', 'boolean', 'array', 'object']
    const both: Readonly<Record<string, fc.Arbitrary<Json>>> = {
      ...{ enum: fc.array(generatedValues, { minLength: 1, maxLength: 3 }), allOf: some, anyOf: some, oneOf: some },
      ...{ not: inner, items: anySchema, minItems: fc.nat(2), maxItems: fc.nat(3), uniqueItems: fc.boolean() },
      ...{ properties: named, required: fc.subarray(NAMES), additionalProperties: fc.oneof(inner, fc.boolean()) },
      ...{ minProperties: fc.nat(2), maxProperties: fc.nat(3), minLength: fc.nat(2), maxLength: fc.nat(2) },
      ...{ minimum: fc.nat(2), maximum: fc.nat(5), multipleOf: fc.constantFrom(1, 2, 0.5, 0.01) },
      pattern: fc.constantFrom(...PATTERNS, ...MORE_PATTERNS),
      format: fc.constantFrom(...FORMATS),
    }
    const own: Readonly<Record<string, fc.Arbitrary<Json>>> = isOld
      ? { exclusiveMinimum: fc.boolean(), exclusiveMaximum: fc.boolean(), nullable: fc.boolean() }
      : {
          ...{ exclusiveMinimum: fc.nat(2), exclusiveMaximum: fc.nat(5), const: generatedValues, contains: inner },
          ...{ prefixItems: some, propertyNames: inner, dependentSchemas: named, patternProperties: named },
          dependentRequired: fc.dictionary(fc.constantFrom(...NAMES), fc.subarray(NAMES), { noNullPrototype: true }),
        }
    const single = fc.oneof(
      ...Object.entries({ ...both, ...own }).map(([name, content]) => content.map((value) => ({ [name]: value }))),
    )
    const together = fc.oneof(
      fc.record({ contains: inner, minContains: fc.nat(2), maxContains: fc.nat(2) }),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      fc.record({ if: inner, then: anySchema, else: anySchema }, { requiredKeys: ['if'] }),
    )
    const keyword = isOld ? single : fc.oneof({ weight: 12, arbitrary: single }, together as typeof single)
    const typed = isOld
      ? fc.tuple(fc.constantFrom(...types), fc.boolean()).map(([type, nullable]): JsonObject => ({ type, nullable }))
      : fc.oneof(
          fc.constantFrom(...types, 'null').map((type): JsonObject => ({ type })),
          fc.subarray([...types, 'null'], { minLength: 1 }).map((type): JsonObject => ({ type })),
        )
    const parts = fc.array(keyword, { minLength: 1, maxLength: 3 }).map((all): JsonObject => Object.assign({}, ...all))
    const joined = (...of: fc.Arbitrary<JsonObject>[]) =>
      fc.tuple(...of).map((all): JsonObject => Object.assign({}, ...all))
    return {
      schema: fc.oneof(
        { maxDepth: 3 },
        typed,
        parts,
        joined(typed, parts),
        fc.constantFrom(...REFS),
        joined(fc.constantFrom(...REFS), parts),
        joined(fc.constantFrom(...NOTES), typed, parts),
      ),
    }
  }).schema
}

/** Schemas of objects that let in no member that nothing in them judges. */
export function closedSchemas(version: OpenApiVersion): fc.Arbitrary<JsonObject> {
  const schema = schemasOf(version)
  // At the top alone: within others the validator sees members that they do not; and it asks lists for it, which have none.
  const closed = fc.record({ type: fc.constant('object'), unevaluatedProperties: fc.oneof(schema, fc.boolean()) })
  return fc.tuple(schema, schema, closed).map((all): JsonObject => Object.assign({}, ...all))
}

/** Three components that refer to each other: in circles only through a member or an item, as the same value has no end. */
export function componentsOf(version: OpenApiVersion): fc.Arbitrary<Readonly<Record<string, JsonObject>>> {
  const schema = schemasOf(version)
  const around = (content: JsonObject): JsonObject => ({ properties: { a: content }, items: content })
  return fc
    .tuple(schema, schema, schema)
    .map(([a, b, c]) => ({ A: around(a), B: around(b), C: around(c), 'a.b/c': { type: 'string', maxLength: 2 } }))
}

const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const SINGLE = [
  'not',
  'items',
  'additionalProperties',
  'contains',
  'propertyNames',
  'if',
  'then',
  'else',
  'unevaluatedProperties',
]
const MAPS = ['properties', 'patternProperties', 'dependentSchemas']
const WITHOUT_EFFECT = new Set(['example', 'default', 'discriminator', 'x-of-vendor', 'description', 'externalDocs'])

/** Formats that the validator does not know, as schemas. */
const FORMATS_OF_OPENAPI: ReadonlyMap<string, JsonObject> = new Map([
  ['int32', { anyOf: [{ not: { type: 'number' } }, { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }] }],
  ['byte', { pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$' }],
])

/** The same in the words of JSON Schema 2020-12, by the rules of OpenAPI 3.0.3 and those of `docs/reference/operations.md`. */
export function inModernWords(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const { nullable, exclusiveMinimum: above, exclusiveMaximum: below, ...made } = schema
  for (const name of WITHOUT_EFFECT) delete made[name]
  for (const name of SINGLE) if (name in made) made[name] = inModernWords(made[name]!)
  for (const name of LISTS) if (name in made) made[name] = (made[name] as Json[]).map(inModernWords)
  for (const name of MAPS)
    if (name in made)
      made[name] = Object.fromEntries(
        Object.entries(made[name] as JsonObject).map(([key, each]) => [key, inModernWords(each)]),
      )
  if (above === true && made.minimum !== undefined) {
    made.exclusiveMinimum = made.minimum
    delete made.minimum
  } else if (typeof above === 'number') made.exclusiveMinimum = above
  if (below === true && made.maximum !== undefined) {
    made.exclusiveMaximum = made.maximum
    delete made.maximum
  } else if (typeof below === 'number') made.exclusiveMaximum = below
  const known = FORMATS_OF_OPENAPI.get(made.format as string)
  if (known !== undefined) {
    delete made.format
    made.allOf = [...((made.allOf as Json[] | undefined) ?? []), known]
  }
  if (nullable !== true) return made
  if (made.type !== undefined) return { ...made, type: [made.type as string, 'null'] }
  return Object.keys(made).length === 0 ? made : { anyOf: [{ type: 'null' }, made] }
}

/** Whether a value fits, by a validator that shares nothing with the gateway's engine; undefined where it fails. */
export type Judge = (value: Json) => boolean | undefined

/** Judges values by schemas of a document, whose references lead into `components`. */
export function judgeOf(schema: JsonObject, components: Readonly<Record<string, JsonObject>>): Judge {
  const named = Object.fromEntries(Object.entries(components).map(([name, each]) => [name, inModernWords(each)]))
  const whole = { allOf: [inModernWords(schema)], components: { schemas: named } } as JsonObject
  const text = JSON.stringify(whole)
  // Members that an `if` judges which does not fit are judged for this validator.
  if (text.includes('"unevaluatedProperties":') && text.includes('"if":')) return () => undefined
  const isUnique = text.includes('"uniqueItems":')
  return (value) => {
    // Items that differ in a member of this name are alike for this validator, whose hash passes over it.
    if (isUnique && JSON.stringify(value).includes('"constructor":')) return undefined
    try {
      return Schema.Check(whole, value)
    } catch {
      return undefined
    }
  }
}
