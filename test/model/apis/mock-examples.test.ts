import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { ExampleMaker } from '../../../src/model/apis/openapi/example-of-schema.ts'
import { readNewApi } from '../../../src/model/apis/read/read.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'

const SCHEMAS = ['S0', 'S1', 'S2', 'S3']
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const schemas: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<JsonObject>({ type: 'string' }, { type: 'integer', example: 7 }, { enum: ['a'] }, {}),
    fc.constantFrom(...SCHEMAS, 'none').map(ref),
    fc
      .array(tie('schema'), { maxLength: 4 })
      .map((list) => ({ type: 'object', properties: Object.fromEntries(list.map((each, i) => [`p${i}`, each])) })),
    tie('schema').map((items) => ({ type: 'array', items })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((allOf) => ({ allOf })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((oneOf) => ({ oneOf })),
  ),
})).schema

test('examples of schemas that are shared are the same as those of each by itself', () => {
  const document = fc.array(schemas, { minLength: 4, maxLength: 4 }).map((list) => ({
    components: { schemas: Object.fromEntries(list.map((schema, i) => [`S${i}`, schema])) },
  }))
  fc.assert(
    fc.property(document, fc.array(schemas, { maxLength: 4 }), (described, asked) => {
      const maker = new ExampleMaker(described as unknown as JsonObject, [])
      for (const schema of [...SCHEMAS.map(ref), ...asked, ...SCHEMAS.map(ref)]) {
        const alone = new ExampleMaker(described as unknown as JsonObject, [])
        assert.deepEqual(maker.ofSchema(schema), alone.ofSchema(schema))
      }
    }),
    { numRuns: 300 },
  )
})

const FORMATS = ['date', 'date-time', 'time', 'email', 'uri', 'uuid', 'hostname', 'ipv4', 'ipv6', 'byte', 'duration']
const PATTERNS = [
  '^[A-Z]{3}-\\d{2,4}$',
  '^(?:a|b)+$',
  '^\\w{10,}$',
  '^#[0-9a-f]{6}$',
  '^\\p{L}+$',
  '^v\\d+(?:\\.\\d+){2}$',
]
const bounded = fc
  .tuple(fc.integer({ min: -50, max: 50 }), fc.nat(50))
  .map(([from, size]) => [from, from + size] as const)

/** Schemas that some value fits, of every keyword that an answer can be made for. */
const fitting: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject; object: JsonObject }>((tie) => {
  const inner = tie('schema')
  const named = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), inner, { maxKeys: 3, noNullPrototype: true })
  const object = named.chain((properties) =>
    fc.subarray(Object.keys(properties)).map((required): JsonObject => ({ type: 'object', required, properties })),
  )
  const scalar: fc.Arbitrary<JsonObject>[] = [
    fc.constantFrom(...FORMATS).map((format) => ({ type: 'string', format })),
    fc.constantFrom(...PATTERNS).map((pattern) => ({ type: 'string', pattern })),
    fc
      .tuple(fc.nat(30), fc.nat(9))
      .map(([minLength, more]) => ({ type: 'string', minLength, maxLength: minLength + more })),
    bounded.map(([minimum, maximum]) => ({ type: 'integer', minimum, maximum })),
    bounded.map(([minimum, maximum]) => ({ type: 'number', exclusiveMinimum: minimum, exclusiveMaximum: maximum + 1 })),
    fc
      .tuple(bounded, fc.constantFrom(5, 0.5, 0.01))
      .map(([[minimum], multipleOf]) => ({ type: 'number', minimum, multipleOf })),
    fc.constantFrom<JsonObject>(
      { enum: [3, 'x'] },
      { const: false },
      { type: ['null', 'integer'] },
      { type: 'boolean' },
    ),
    fc.constantFrom<JsonObject>(
      { type: 'integer', example: 'seven' },
      { type: 'string', example: 7 },
      { type: 'null' },
    ),
  ]
  return {
    object,
    schema: fc.oneof(
      { maxDepth: 4 },
      ...scalar,
      object,
      fc.constantFrom('A', 'B').map(ref),
      fc
        .tuple(inner, fc.nat(3))
        .map(([items, minItems]) => ({ type: 'array', items, minItems, maxItems: minItems + 1 })),
      fc
        .tuple(fc.constantFrom<JsonObject>({ type: 'integer' }, { type: 'string' }), fc.nat(4))
        .map(([items, minItems]) => ({ type: 'array', uniqueItems: true, items, minItems })),
      fc
        .tuple(...scalar.slice(2, 4))
        .map(([_text, number]) => ({ allOf: [{ type: 'integer' }, number as JsonObject] })),
      object.map((whole) => ({
        allOf: [whole, { type: 'object', required: ['z'], properties: { z: { type: 'integer' } } }],
      })),
      fc.array(inner, { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf: [{ type: 'null' }, ...anyOf] })),
      fc.nat(3).map((minProperties) => ({ type: 'object', minProperties, additionalProperties: { type: 'integer' } })),
    ),
  }
}).schema

test('an example that is made of a schema fits it, as an independent validator says', () => {
  const components = {
    A: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, inner: ref('A'), more: ref('B') },
    },
    B: { type: 'array', items: ref('A'), maxItems: 3 },
  }
  fc.assert(
    fc.property(fitting, (schema) => {
      const document = { components: { schemas: components }, schema } as JsonObject
      const engine = new Ajv2020({ strict: false, validateSchema: false, logger: false })
      addFormats.default(engine)
      engine.addSchema(document, 'd')
      const check = engine.compile({ $ref: 'd#/schema' })
      const made = new ExampleMaker(document, []).ofSchema(schema)
      assert.ok(check(made), JSON.stringify({ schema, made, errors: check.errors }))
    }),
    { numRuns: 300 },
  )
})

/** A definition of so many operations whose responses come from `of`. */
function mocks(count: number, of: (index: number) => Json, components: JsonObject): JsonObject {
  const at = Array.from({ length: count }, (_, index) => index)
  const operation = (index: number) => ({ get: { operationId: `o${index}`, responses: { 200: of(index) } } })
  const mock = { mockResponse: { enabled: true, fromOASExamples: { enabled: true } } }
  const definition = defined({
    ...{ id: 'a', url: 'http://127.0.0.1:1' },
    paths: Object.fromEntries(at.map((index) => [`/m${index}`, operation(index)])),
    operations: Object.fromEntries(at.map((index) => [`o${index}`, mock])),
  }) as unknown as JsonObject
  return { ...definition, components }
}
const json = (media: JsonObject): JsonObject => ({ description: '', content: { 'application/json': media } })
/** Each schema holds the next one twice. */
const bomb = Object.fromEntries(
  Array.from({ length: 26 }, (_, i): [string, JsonObject] => {
    const next = ref(`S${i + 1}`)
    return [`S${i}`, { type: 'object', properties: { p0: next, p1: next } }]
  }),
)
const large = { value: Array.from({ length: 20_000 }, (_, index) => index) }
const many = (count: number, of: (index: number) => Json): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, of(index)]))

/** Responses that ask for a lot, and whether they share what is made for them. */
const ASKED: Readonly<Record<string, { of: (index: number) => Json; components: JsonObject; refused?: RegExp }>> = {
  'one schema': { of: () => json({ schema: ref('S0') }), components: { schemas: bomb } },
  'one response': {
    of: () => ({ $ref: '#/components/responses/r' }),
    components: {
      schemas: bomb,
      responses: { r: { ...json({ schema: ref('S0') }), headers: many(400, () => ({ schema: ref('S9') })) } },
    },
  },
  'one example': {
    of: () => json({ examples: { e: { $ref: '#/components/examples/e' } } }),
    components: { examples: { e: large } },
  },
  'schemas of their own': {
    of: (index) =>
      json({ schema: { type: 'object', properties: many(5, (i) => ({ allOf: [ref(`S${i}`)], title: `${index}` })) } }),
    components: { schemas: bomb },
    refused: /paths: must not make more than \d+ characters of examples/,
  },
  'parts without a text': {
    of: () => json({ schema: { allOf: [ref('S0')] } }),
    components: { schemas: { S0: { allOf: Array.from({ length: 2000 }, () => ({})) } } },
    refused: /paths: must not make more than \d+ values of examples/,
  },
  'headers of their own': {
    of: () => ({ ...json({ example: 1 }), headers: { $ref: '#/components/x' } }),
    components: { x: many(400, () => ({ example: 'x'.repeat(50) })) },
    refused: /paths: must not make more than \d+ characters of examples/,
  },
}

for (const [name, { of, components, refused }] of Object.entries(ASKED))
  test(`mocks from a description are read in bounded work: ${name}`, () => {
    const definition = mocks(3000, of, components)
    const read = () => readNewApi({ format: 'oas', definition } as unknown as Parameters<typeof readNewApi>[0])
    if (refused !== undefined) return assert.throws(read, refused)
    const { rules } = read()
    const bodies = new Set(
      rules.operations.flatMap(({ mock }) => (mock && 'examples' in mock ? mock.examples : [])).map(({ body }) => body),
    )
    assert.equal(bodies.size, 1)
  })
