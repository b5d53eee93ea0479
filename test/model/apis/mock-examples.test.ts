import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { member, setMember } from '../../../src/model/apis/definition/tree.ts'
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

/** The same without sharing anything: each place is walked each time. */
function plainly(document: JsonObject, from: Json | undefined, depth = 0, budget = { left: 1000 }): Json {
  let at = from as JsonObject | undefined
  for (let i = 0; i < 20 && typeof at?.$ref === 'string'; i++)
    at = member(member(document.components, 'schemas'), at.$ref.split('/').at(-1)!) as JsonObject | undefined
  const schema = at === undefined || typeof at.$ref === 'string' ? {} : at
  if (depth > 10 || --budget.left < 0) return null
  const said = schema.example ?? member(schema.enum, '0')
  if (said !== undefined) return said
  const inner = (part: Json | undefined) => plainly(document, part, depth + 1, budget)
  if (schema.oneOf !== undefined) return inner(member(schema.oneOf, '0'))
  if (schema.type === 'array') return [inner(schema.items)]
  const made: JsonObject = {}
  let holds = schema.type === 'object'
  for (const part of (schema.allOf ?? []) as Json[]) {
    const value = inner(part)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue
    holds = true
    for (const [name, item] of Object.entries(value)) setMember(made, name, item)
  }
  for (const [name, part] of Object.entries((schema.properties ?? {}) as JsonObject)) setMember(made, name, inner(part))
  if (holds) return made
  return ({ string: 'string', integer: 0 } as Record<string, Json>)[String(schema.type)] ?? null
}

test('examples of schemas that are shared are the same as those of each by itself', () => {
  const document = fc.array(schemas, { minLength: 4, maxLength: 4 }).map((list) => ({
    components: { schemas: Object.fromEntries(list.map((schema, i) => [`S${i}`, schema])) },
  }))
  fc.assert(
    fc.property(document, fc.array(schemas, { maxLength: 4 }), (described, asked) => {
      const maker = new ExampleMaker(described as unknown as JsonObject, [])
      for (const schema of [...SCHEMAS.map(ref), ...asked, ...SCHEMAS.map(ref)])
        assert.deepEqual(maker.ofSchema(schema), plainly(described as unknown as JsonObject, schema))
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
    of: (index) => json({ schema: { type: 'object', properties: { [`p${index}`]: ref('S0') } } }),
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
