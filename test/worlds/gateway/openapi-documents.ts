import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import * as Schema from 'typebox/schema'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import type { TestGateway } from '../base/harness.ts'
import { oasApi } from './admin-fixtures.ts'

const REFS = ['A', 'B', 'C'].map((name): JsonObject => ({ $ref: `#/components/schemas/${name}` }))
const NAMES = ['a', 'b', 'c']

const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, false, 0, 1, 5, -1, 1.5, '', 'a', 'ab', 'b', '2024-02-29'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

/** Schemas of one version of OpenAPI: 3.0 has `nullable` and flags beside bounds, 3.1 all of JSON Schema 2020-12. */
function schemasOf(version: '3.0.3' | '3.1.0'): fc.Arbitrary<JsonObject> {
  const isOld = version === '3.0.3'
  return fc.letrec<{ schema: JsonObject }>((tie) => {
    const inner = tie('schema')
    const some = fc.array(inner, { minLength: 1, maxLength: 3 })
    const named = fc.dictionary(fc.constantFrom(...NAMES), inner, { maxKeys: 3, noNullPrototype: true })
    const types = ['string', 'number', 'integer', 'boolean', 'array', 'object']
    const both: Readonly<Record<string, fc.Arbitrary<Json>>> = {
      ...{ enum: fc.array(values, { minLength: 1, maxLength: 3 }), allOf: some, anyOf: some, oneOf: some, not: inner },
      ...{ items: inner, minItems: fc.nat(2), maxItems: fc.nat(3), uniqueItems: fc.boolean() },
      ...{ properties: named, required: fc.subarray(NAMES), additionalProperties: fc.oneof(inner, fc.boolean()) },
      ...{ minProperties: fc.nat(2), maxProperties: fc.nat(3), minLength: fc.nat(2), maxLength: fc.nat(2) },
      ...{ minimum: fc.nat(2), maximum: fc.nat(5), multipleOf: fc.constantFrom(1, 2, 0.5) },
      pattern: fc.constantFrom('^a+$', 'b', '^.{1,2}$', '^(?!b)', '^\\p{L}*$'),
    }
    const own: Readonly<Record<string, fc.Arbitrary<Json>>> = isOld
      ? { exclusiveMinimum: fc.boolean(), exclusiveMaximum: fc.boolean() }
      : {
          ...{ exclusiveMinimum: fc.nat(2), exclusiveMaximum: fc.nat(5), const: values, contains: inner },
          ...{ prefixItems: some, propertyNames: inner, dependentSchemas: named, patternProperties: named },
          dependentRequired: fc.dictionary(fc.constantFrom(...NAMES), fc.subarray(NAMES), { noNullPrototype: true }),
        }
    const keyword = fc.oneof(
      ...Object.entries({ ...both, ...own }).map(([name, content]) => content.map((value) => ({ [name]: value }))),
    )
    const typed = isOld
      ? fc.tuple(fc.constantFrom(...types), fc.boolean()).map(([type, nullable]): JsonObject => ({ type, nullable }))
      : fc.oneof(
          fc.constantFrom(...types, 'null').map((type): JsonObject => ({ type })),
          fc.subarray([...types, 'null'], { minLength: 1 }).map((type): JsonObject => ({ type })),
        )
    const parts = fc.array(keyword, { minLength: 1, maxLength: 3 }).map((all): JsonObject => Object.assign({}, ...all))
    return {
      schema: fc.oneof(
        { maxDepth: 3 },
        typed,
        parts,
        fc.tuple(typed, parts).map(([one, other]): JsonObject => ({ ...one, ...other })),
        fc.constantFrom(...REFS),
      ),
    }
  }).schema
}

/** The same in the words of JSON Schema 2020-12, by the rules of OpenAPI 3.0.3. */
function modern(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const { nullable, exclusiveMinimum: above, exclusiveMaximum: below, ...made } = schema
  for (const name of ['not', 'items', 'additionalProperties']) if (name in made) made[name] = modern(made[name]!)
  for (const name of ['allOf', 'anyOf', 'oneOf']) if (name in made) made[name] = (made[name] as Json[]).map(modern)
  const { properties } = made
  if (properties !== undefined)
    made.properties = Object.fromEntries(
      Object.entries(properties as JsonObject).map(([name, each]) => [name, modern(each)]),
    )
  if (nullable === true && made.type !== undefined) made.type = [made.type as string, 'null']
  if (above === true && made.minimum !== undefined) {
    made.exclusiveMinimum = made.minimum
    delete made.minimum
  } else if (typeof above === 'number') made.exclusiveMinimum = above
  if (below === true && made.maximum !== undefined) {
    made.exclusiveMaximum = made.maximum
    delete made.maximum
  } else if (typeof below === 'number') made.exclusiveMaximum = below
  return made
}

/** A document, and bodies for each of its operations. */
export interface GeneratedDocument {
  readonly version: '3.0.3' | '3.1.0'
  readonly schemas: readonly JsonObject[]
  readonly components: Readonly<Record<string, JsonObject>>
  readonly bodies: readonly Json[]
}

/** Documents of every keyword, with schemas that refer to each other and to themselves. */
export const generatedDocuments: fc.Arbitrary<GeneratedDocument> = fc
  .constantFrom<GeneratedDocument['version']>('3.0.3', '3.1.0')
  .chain((version) => {
    const schema = schemasOf(version)
    const held = (content: JsonObject): JsonObject => ({ properties: { a: content }, items: content })
    return fc.record({
      version: fc.constant(version),
      schemas: fc.array(schema, { minLength: 3, maxLength: 6 }),
      // In circles only through a member or an item: the same value has no end.
      components: fc.tuple(schema, schema, schema).map(([a, b, c]) => ({ A: held(a), B: held(b), C: held(c) })),
      bodies: fc.array(values, { minLength: 5, maxLength: 9 }),
    })
  })

/** How often two independent validators and the gateway said what of bodies. */
export interface Verdicts {
  fits: number
  refused: number
  /** The validators differ, or fail. */
  disputed: number
}

/** Publishes a document with checks, and sends every body to every operation: what both validators say of it the gateway says. */
export async function checkDocument(
  gate: TestGateway,
  generated: GeneratedDocument,
  verdicts: Verdicts,
): Promise<void> {
  const { version, schemas, components, bodies } = generated
  const base = oasApi('G', '/g/', { id: 'g' })
  const paths = schemas.map((schema, index) => {
    const requestBody = { required: true, content: { 'application/json': { schema } } }
    return [`/${index}`, { post: { operationId: `o${index}`, requestBody, responses: {} } }] as const
  })
  const operations = Object.fromEntries(
    schemas.map((_each, index) => [`o${index}`, { validateRequest: { enabled: true } }]),
  )
  const saved = await gate.svc('POST', '/svc/apis/oas', {
    ...{ ...base, openapi: version, paths: Object.fromEntries(paths), components: { schemas: components } },
    'x-svc-api-gateway': { ...(base['x-svc-api-gateway'] as JsonObject), middleware: { operations } },
  })
  assert.equal(saved.status, 200, saved.text)
  assert.deepEqual(saved.json, { key: 'g', status: 'ok', action: 'added' })
  try {
    for (const [index, schema] of schemas.entries())
      for (const body of bodies) {
        const says = verdictOf(version, schema, components, body)
        if (says === undefined) {
          verdicts.disputed++
          continue
        }
        const headers = { 'content-type': 'application/json' }
        const answer = await gate.call(`/g/${index}`, { method: 'POST', headers, body: JSON.stringify(body) })
        assert.equal(answer.status, says ? 502 : 422, JSON.stringify({ version, schema, components, body }))
        verdicts[says ? 'fits' : 'refused']++
      }
  } finally {
    await gate.svc('DELETE', '/svc/apis/g')
  }
}

/** Whether a body fits by two validators; undefined where they differ. */
function verdictOf(
  version: GeneratedDocument['version'],
  schema: JsonObject,
  components: GeneratedDocument['components'],
  body: Json,
): boolean | undefined {
  const own = (each: Json): Json => (version === '3.0.3' ? modern(each) : each)
  const named = Object.fromEntries(Object.entries(components).map(([name, each]) => [name, own(each)]))
  const whole = { allOf: [own(schema)], components: { schemas: named } } as JsonObject
  try {
    const engine = new Ajv2020({ strict: false, validateSchema: false, logger: false, unicodeRegExp: true })
    const first = engine.validate(whole, body)
    return first === Schema.Check(whole, body) ? first : undefined
  } catch {
    return undefined
  }
}
