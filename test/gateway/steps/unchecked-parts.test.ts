import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

/** One part that cannot be checked: what the rest of its schema still refuses, and what passes because the part is left out. */
interface Part {
  readonly schema: Json
  /** Behind the schema: where it is. */
  readonly at: string
  readonly says: RegExp
  readonly refused?: Json
  readonly passes: Json
}

const TWICE = '(a)\\1'
const LOOSE = { type: 'object', required: ['n'], properties: { n: { type: 'string', pattern: TWICE } } }

const PLAIN: Readonly<Record<string, Part>> = {
  circle: {
    schema: { $ref: '#/components/schemas/Circle' },
    at: 'Circle.$ref',
    says: /without an end/,
    refused: { n: 1 },
    passes: { n: 'x' },
  },
  found: {
    schema: { type: 'array', allOf: [{ contains: { type: 'string' } }], unevaluatedItems: false },
    at: '.unevaluatedItems',
    says: /"contains" beside it, or in it/,
    refused: [1],
    passes: ['x', 1],
  },
  pattern: {
    schema: { type: 'string', pattern: TWICE },
    at: '.pattern',
    says: /backreferences/,
    refused: 1,
    passes: 'x',
  },
  inner: { schema: LOOSE, at: '.properties.n.pattern', says: /backreferences/, refused: { n: 1 }, passes: { n: 'x' } },
  remote: {
    schema: { type: 'object', properties: { a: { $ref: 'https://elsewhere.example/s.json' }, b: { type: 'string' } } },
    at: '.properties.a.$ref',
    says: /not in the document/,
    refused: { a: 1, b: 1 },
    passes: { a: 1, b: 'x' },
  },
  absent: { schema: { $ref: '#/components/schemas/None' }, at: '.$ref', says: /not there/, passes: 1 },
  type: { schema: { type: 'file', minLength: 2 }, at: '.type', says: /no type/, refused: 'x', passes: 1 },
  enum: { schema: { type: 'string', enum: [] }, at: '.enum', says: /not empty/, refused: 1, passes: 'x' },
  required: { schema: { type: 'object', required: true }, at: '.required', says: /list/, refused: 1, passes: {} },
  minimum: { schema: { type: 'number', minimum: '3' }, at: '.minimum', says: /number/, refused: 'x', passes: 1 },
  null: { schema: null, at: '', says: /no schema/, passes: 1 },
  itself: {
    schema: { $ref: '#/components/schemas/Itself' },
    at: 'Itself.allOf[0].$ref',
    says: /without an end/,
    passes: 1,
  },
  not: {
    schema: { type: 'object', not: LOOSE, properties: { n: { minLength: 2 } } },
    at: '.not',
    says: /holds a part/,
    refused: { n: 'x' },
    passes: { n: 'xx' },
  },
  oneOf: {
    schema: { oneOf: [LOOSE, { type: 'object', required: ['n'], properties: { n: { pattern: '^x' } } }] },
    at: '.oneOf',
    says: /holds a part/,
    refused: {},
    passes: { n: 'xb' },
  },
  if: {
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    schema: { type: 'object', if: { properties: { n: { $ref: '#/components/schemas/Look' } } }, then: false },
    at: '.if',
    says: /holds a part/,
    refused: 1,
    passes: { n: 'x' },
  },
  names: {
    schema: { type: 'object', patternProperties: { [TWICE]: { type: 'string' } }, additionalProperties: false },
    at: `.patternProperties[${JSON.stringify(TWICE)}]`,
    says: /backreferences/,
    refused: 1,
    passes: { ab: 'x' },
  },
  unevaluated: {
    schema: { type: 'object', allOf: [{ $ref: 'other.json' }], unevaluatedProperties: false },
    at: '.unevaluatedProperties',
    says: /holds a part/,
    refused: 1,
    passes: { a: 1 },
  },
}

/** Each part as it is, and with a word of OpenAPI 3.0 beside it, which the engine is given in others. */
const PARTS: Readonly<Record<string, Part>> = {
  ...PLAIN,
  ...Object.fromEntries(
    Object.entries(PLAIN)
      .filter(([, { schema }]) => isObject(schema) && schema.type !== undefined)
      .map(([name, part]) => [
        `${name}-nullable`,
        { ...part, schema: { nullable: true, ...(part.schema as JsonObject) } },
      ]),
  ),
}

const COMPONENTS = {
  Circle: {
    ...{ type: 'object', nullable: true, properties: { n: { type: 'string' } } },
    $ref: '#/components/schemas/Circle',
  },
  Itself: { allOf: [{ $ref: '#/components/schemas/Itself' }] },
  Look: { type: 'string', pattern: TWICE },
}

function documentWith(parts: Readonly<Record<string, Part>>): JsonObject {
  const operation = (name: string, { schema }: Part) => ({
    ...{ operationId: name, responses: {} },
    requestBody: { required: true, content: { 'application/json': { schema } } },
  })
  const paths = Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [`/${name}`, { post: operation(name, part) }]),
  )
  const base = oasApi('U', '/u/', { id: 'u' })
  const extension = base['x-svc-api-gateway'] as JsonObject
  const operations = Object.fromEntries(
    Object.keys(parts).map((name) => [name, { validateRequest: { enabled: true } }]),
  )
  return {
    ...{ ...base, openapi: '3.1.0', paths: paths as JsonObject, components: { schemas: COMPONENTS } },
    'x-svc-api-gateway': { ...extension, middleware: { operations } },
  }
}

async function statusOf(gate: TestGateway, name: string, value: Json): Promise<number> {
  const headers = { 'content-type': 'application/json' }
  return (await gate.call(`/u/${name}`, { method: 'POST', headers, body: JSON.stringify(value) })).status
}

test('a part that cannot be checked is listed and refuses nothing, and the rest is checked', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const saved = await gate.svc('POST', '/svc/apis/oas', documentWith(PARTS))
  assert.equal(saved.status, 200, JSON.stringify(saved.json))
  const warnings = (saved.json as { warnings: { path: string; message: string }[] }).warnings
  for (const [name, { at, says, refused, passes }] of Object.entries(PARTS)) {
    const place = `paths["/${name}"].post.requestBody.content["application/json"].schema${at}`
    const found = warnings.filter(
      ({ path, message }) => (path === place || path === `components.schemas.${at}`) && says.test(message),
    )
    assert.ok(found.length > 0, `${place}: ${JSON.stringify(warnings, null, 1)}`)
    assert.ok(found[0]!.message.includes(`(POST /${name})`), found[0]!.message)
    assert.equal(await statusOf(gate, name, passes), 502, name)
    if (refused !== undefined) assert.equal(await statusOf(gate, name, refused), 422, name)
  }
  assert.match(JSON.stringify((await gate.svc('GET', '/svc/node')).json), /is not checked \(POST/)
})
