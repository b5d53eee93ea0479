import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { fitsByTheBook } from './annotating-judge.ts'
import type { Judge } from './generated-schemas.ts'
import type { GeneratedDocument } from './openapi-documents.ts'

/** Most are names that every JavaScript object has. */
const NAMES = ['a', 'b', 'constructor', 'toString', 'valueOf', 'hasOwnProperty']
const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('a', 'b') }, fc.constantFrom(...NAMES))
const REFS = ['A', 'B'].map((each): JsonObject => ({ $ref: `#/components/schemas/${each}` }))
const TYPES = ['integer', 'string', 'array', 'object', 'boolean']

function named<T>(content: fc.Arbitrary<T>, names: fc.Arbitrary<string> = name): fc.Arbitrary<Record<string, T>> {
  return fc.dictionary(names, content, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
}

const scalars = fc.constantFrom<Json>(1, 'x', true, null)
const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    scalars,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.oneof(fc.constant({}), named(tie('value'))),
  ),
})).value

/** Keywords that judge members and items, in each other and in circles. */
const schemas = fc.letrec<{ schema: JsonObject }>((tie) => {
  const inner: fc.Arbitrary<Json> = fc.oneof(
    { weight: 3, arbitrary: tie('schema') },
    fc.constantFrom<Json>(true, false, { type: 'integer' }, { type: 'string' }),
  )
  const some = fc.array(inner, { minLength: 1, maxLength: 3 })
  const keywords: Readonly<Record<string, fc.Arbitrary<Json>>> = {
    ...{ properties: named(inner), patternProperties: named(inner, fc.constantFrom('^a', 'b', '^to')) },
    ...{
      additionalProperties: inner,
      required: fc.subarray(['a', 'b', 'constructor']),
      prefixItems: some,
      items: inner,
    },
    ...{ allOf: some, anyOf: some, oneOf: some, not: inner, const: values },
    dependentSchemas: named(inner, fc.constantFrom('a', 'toString')),
    dependentRequired: fc.constantFrom({ a: ['b'] }, { constructor: ['a'] }),
    type: fc.subarray(TYPES, { minLength: 1 }),
    ...{ contains: inner, propertyNames: inner, minItems: fc.nat(2), minProperties: fc.nat(2) },
    enum: fc.array(scalars, { minLength: 1, maxLength: 2 }),
    ...{
      unevaluatedProperties: inner,
      unevaluatedItems: inner,
      $ref: fc.constantFrom(...REFS.map(({ $ref }) => $ref!)),
    },
  }
  const keyword: fc.Arbitrary<JsonObject> = fc.oneof(
    ...Object.entries(keywords).map(([key, content]) => content.map((value): JsonObject => ({ [key]: value }))),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    fc.record({ if: inner, then: inner, else: inner }, { requiredKeys: ['if'] }) as fc.Arbitrary<JsonObject>,
    fc.record({ contains: inner, minContains: fc.nat(2), maxContains: fc.nat(2) }) as fc.Arbitrary<JsonObject>,
  )
  return {
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonObject>({}, ...TYPES.map((type) => ({ type }))),
      fc.array(keyword, { minLength: 1, maxLength: 4 }).map((all): JsonObject => Object.assign({}, ...all)),
    ),
  }
}).schema

const CLOSED: readonly JsonObject[] = [
  {},
  { unevaluatedProperties: false },
  { unevaluatedItems: false },
  { unevaluatedProperties: { type: 'integer' }, unevaluatedItems: { type: 'integer' } },
]

/** Documents of schemas within each other, most of which let in no member, or no item, but those that something in them judges. */
export const unevaluatedDocuments: fc.Arbitrary<GeneratedDocument> = fc.record({
  version: fc.constant('3.1.0' as const),
  components: fc.tuple(schemas, schemas).map(([a, b]) => ({
    A: { properties: { a }, items: a },
    B: { allOf: [{ properties: { b }, items: b }], properties: { a: b } },
  })),
  operations: fc.array(
    fc
      .tuple(schemas, fc.constantFrom(...CLOSED), fc.array(values, { minLength: 6, maxLength: 9 }))
      .map(([open, closed, sent]) => {
        const schema = { ...open, ...closed }
        const bodies = sent.map((value) => ({ text: JSON.stringify(value), readings: [value] }))
        return { ...{ schema, type: 'application/json', meant: schema, media: {} }, sent: bodies }
      }),
    { minLength: 4, maxLength: 8 },
  ),
})

/** Judges by the letter of the specification. */
export function judgeByTheBook(schema: JsonObject, components: Readonly<Record<string, JsonObject>>): Judge {
  return (value) => fitsByTheBook(schema, value, components)
}
