import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import type { TestGateway } from '../base/harness.ts'
import { oasApi } from './admin-fixtures.ts'
import { generatedValues, judgeOf, type OpenApiVersion, VERSIONS } from './generated-schemas.ts'

/** Responses that are mocked from their schema, each of which some value fits. */
export interface GeneratedMocks {
  readonly version: OpenApiVersion
  readonly components: Readonly<Record<string, JsonObject>>
  readonly schemas: readonly JsonObject[]
}

const FORMATS = ['date', 'date-time', 'uuid', 'ipv4', 'email', 'uri', 'byte', 'password', 'none']
const PATTERNS = [
  '^a+$',
  '^[A-Z]{2}\\d{3}$',
  '^\\p{L}+$',
  '^(?:red|green)$',
  '^(?!x).{2,5}$',
  '\\.json$',
  '^\\w+@\\w+$',
]
const NAMES = ['a', 'b', 'c', 'constructor']
const REFS = ['Text', 'Count', 'Tree', 'Both'].map((name): JsonObject => ({ $ref: `#/components/schemas/${name}` }))

/** The targets of references. */
const COMPONENTS: Readonly<Record<string, JsonObject>> = {
  Text: { type: 'string', minLength: 2, maxLength: 4 },
  Count: { type: 'integer', minimum: 3, maximum: 7 },
  Tree: { type: 'object', required: ['a'], properties: { a: REFS[0]!, b: { type: 'array', items: REFS[2]! } } },
  Both: { allOf: [{ type: 'object', required: ['a'] }, { properties: { a: REFS[1]!, c: { type: 'boolean' } } }] },
}

/** Schemas that a value fits by their making. */
function satisfiable(version: OpenApiVersion): fc.Arbitrary<JsonObject> {
  const isOld = version === '3.0.3'
  const maybeNull = (schema: JsonObject): JsonObject =>
    isOld ? { ...schema, nullable: true } : { ...schema, type: [schema.type as string, 'null'] }
  const between = (least: string, most: string, top: number) =>
    fc
      .tuple(fc.nat(top), fc.nat(top))
      .map(([one, other]) => ({ [least]: Math.min(one, other), [most]: Math.max(one, other) }))
  const numbers = fc.oneof(
    between('minimum', 'maximum', 9),
    fc
      .integer({ min: -5, max: 5 })
      .map((at) =>
        isOld ? { minimum: at, exclusiveMinimum: true, maximum: at + 2 } : { exclusiveMinimum: at, maximum: at + 2 },
      ),
    fc.constantFrom({ multipleOf: 7, minimum: 1 }, { multipleOf: 0.25, minimum: 0.3, maximum: 1 }, { maximum: -4 }, {}),
  )
  const text = fc.oneof(
    fc.constantFrom(...FORMATS).map((format) => ({ type: 'string', format })),
    fc.constantFrom(...PATTERNS).map((pattern) => ({ type: 'string', pattern })),
    between('minLength', 'maxLength', 12).map((bounds) => ({ type: 'string', ...bounds })),
    fc
      .uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 })
      .map((choices) => ({ type: 'string', enum: choices })),
  )
  const scalar: fc.Arbitrary<JsonObject> = fc.oneof(
    text,
    fc.tuple(fc.constantFrom('integer', 'number'), numbers).map(([type, bounds]) => ({ type, ...bounds })),
    fc.constant({ type: 'boolean' }),
  )
  return fc.letrec<{ schema: JsonObject }>((tie) => {
    const inner = tie('schema')
    const list = fc
      .tuple(inner, between('minItems', 'maxItems', 3))
      .map(([items, bounds]): JsonObject => ({ type: 'array', items, ...bounds }))
    const differing = fc
      .constantFrom<JsonObject>({ type: 'integer' }, { type: 'string' }, { type: 'string', enum: ['x', 'y', 'z'] })
      .chain((items) =>
        fc.nat(3).map((minItems): JsonObject => ({ type: 'array', items, minItems, uniqueItems: true })),
      )
    const object = fc
      .record({
        properties: fc.dictionary(fc.constantFrom(...NAMES), inner, { maxKeys: 3, noNullPrototype: true }),
        required: fc.subarray(NAMES),
        rest: fc.oneof(fc.constant(undefined), fc.constant(false), inner),
        minProperties: fc.nat(3),
      })
      .map(({ properties, required, rest, minProperties }): JsonObject => {
        const names = Object.keys(properties)
        const isClosed = rest === false
        return {
          ...{
            type: 'object',
            properties,
            required: isClosed ? required.filter((name) => names.includes(name)) : required,
          },
          ...(rest !== undefined && { additionalProperties: rest }),
          minProperties: isClosed ? Math.min(minProperties, names.length) : minProperties,
        }
      })
    const split = fc
      .tuple(object, fc.dictionary(fc.constantFrom('d', 'e'), inner, { maxKeys: 2, noNullPrototype: true }))
      .filter(([{ additionalProperties }]) => additionalProperties === undefined)
      .map(
        ([one, properties]): JsonObject => ({
          allOf: [one, { type: 'object', properties, required: Object.keys(properties) }],
        }),
      )
    const choice = fc
      .tuple(fc.constantFrom('anyOf', 'oneOf'), scalar, fc.oneof(list, object))
      .map(([keyword, one, other]): JsonObject => ({ [keyword]: [one, other] }))
    const flagged = inner.map(
      (schema): JsonObject => ({
        ...{ type: 'object', required: ['w', 'v'] },
        properties: { w: { type: 'integer', writeOnly: true }, v: schema },
      }),
    )
    const noted = fc.tuple(scalar, generatedValues).map(([schema, example]): JsonObject => ({ ...schema, example }))
    return {
      schema: fc.oneof(
        { maxDepth: 3 },
        scalar,
        scalar.map(maybeNull),
        fc.constantFrom(...REFS),
        list,
        differing,
        object,
        split,
        choice,
        flagged,
        noted,
        fc.constantFrom(...REFS).map((one): JsonObject => ({ allOf: [one] })),
      ),
    }
  }).schema
}

/** Documents of responses that have a schema and no example of their own. */
export const generatedMocks: fc.Arbitrary<GeneratedMocks> = fc.constantFrom(...VERSIONS).chain((version) =>
  fc.record({
    version: fc.constant(version),
    components: fc.constant(COMPONENTS),
    schemas: fc.array(satisfiable(version), { minLength: 4, maxLength: 10 }),
  }),
)

/** Answers leave out what is write-only, and need not have it. */
function asAnswered(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(asAnswered)
  if (typeof schema !== 'object' || schema === null) return schema
  const made = Object.fromEntries(Object.entries(schema).map(([name, each]) => [name, asAnswered(each)])) as JsonObject
  if (Array.isArray(made.required)) made.required = made.required.filter((name) => name !== 'w')
  return made
}

/** Publishes responses, and asks for each: the mock fits its schema as an independent validator judges it. */
export async function checkMocks(
  gate: TestGateway,
  { version, components, schemas }: GeneratedMocks,
  verdicts: { mocks: number },
): Promise<void> {
  const base = oasApi('M', '/m/', { id: 'm' })
  const paths = schemas.map((schema, index) => {
    const responses = { 200: { description: 'a', content: { 'application/json': { schema } } } }
    return [`/${index}`, { get: { operationId: `o${index}`, responses } }] as const
  })
  const mock = { mockResponse: { enabled: true, fromOASExamples: { enabled: true } } }
  const operations = Object.fromEntries(schemas.map((_each, i) => [`o${i}`, mock]))
  const saved = await gate.svc('POST', '/svc/apis/oas', {
    ...{ ...base, openapi: version, paths: Object.fromEntries(paths) as unknown as Json },
    components: { schemas: components },
    'x-svc-api-gateway': { ...(base['x-svc-api-gateway'] as JsonObject), middleware: { operations } },
  })
  assert.equal(saved.status, 200, saved.text)
  try {
    for (const [index, schema] of schemas.entries()) {
      const answer = await gate.call(`/m/${index}`)
      assert.equal(answer.status, 200, answer.text)
      const says = judgeOf(asAnswered(schema) as JsonObject, components)(answer.json as Json)
      assert.notEqual(says, false, JSON.stringify({ version, schema, made: answer.text }))
      if (says) verdicts.mocks++
    }
  } finally {
    await gate.svc('DELETE', '/svc/apis/m')
  }
}
