import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

const integer = { type: 'integer' }
const text = { type: 'string' }
const list = (items: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'array', items, ...more })
const map = (of: Json, more: JsonObject = {}): JsonObject => ({ type: 'object', additionalProperties: of, ...more })
const query = (schema: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ name: 'p', in: 'query', required: true, schema },
  ...more,
})
const CODE = { type: 'string', pattern: '^[a-z]+:(?:EQ|IN)(?::.+)?$' }

/** Parameters that other gateways were reported to read wrongly, with queries that fit and queries that do not. */
const PARAMETERS: readonly (readonly [
  parameters: readonly JsonObject[],
  fits: readonly string[],
  not: readonly string[],
])[] = [
  [[query(list(CODE), { explode: false })], ['p=id:IN:%5B1%2C2%5D,a:EQ%3A2', 'p=a:EQ%2Cb:EQ'], ['p=id:IN:1,b']],
  [[query(list(text, { maxItems: 1 }), { explode: false })], ['p=a%2Cb'], ['p=a,b']],
  [[query(list(text, { maxItems: 1 }), { style: 'pipeDelimited' })], ['p=a,b'], ['p=a%7Cb', 'p=a%7Cb%2Cc']],
  [[query({ anyOf: [text, list(text)] })], ['p=a', 'p=a&p=b'], []],
  [[query({ oneOf: [integer, list(integer)] })], ['p=1', 'p=1&p=2'], ['p=a', 'p=1&p=a']],
  [[query(map(integer), { style: 'deepObject' })], ['p[a]=1&p[b]=2'], ['p[a]=x']],
  [[query(map(list(integer)), { style: 'deepObject' })], ['p[a]=1&p[a]=2', 'p[a][]=1', 'p[a][0]=1'], ['p[a]=x']],
  [[query(map(integer))], ['a=1&b=2'], ['a=x', '']],
  [[query(map(integer)), { ...query(text), name: 'q', required: false }], ['a=1&q=x'], ['q=x', 'a=x&q=x']],
  [[query(map(integer), { explode: false })], ['p=a,1,b,2'], ['p=a,x']],
  [[query({ type: 'object', patternProperties: { '^n': integer } })], ['n1=1'], ['n1=x']],
  [[query({ type: 'object' })], ['a=1'], ['']],
  [[query(map(false, { properties: { a: integer } }), { style: 'deepObject' })], ['p[a]=1'], ['p[b]=1', 'p=1']],
  [[query({ type: 'object', required: ['f'] }, { style: 'deepObject', required: false })], ['', 'p[f]=1'], ['p[g]=1']],
  [[{ ...query(list(integer)), name: 'ids[]' }], ['ids[]=1&ids[]=2', 'ids%5B%5D=1'], ['ids[]=a', 'ids=1']],
  [[{ name: 'p', in: 'query', content: { 'application/json': {} } }], ['p=1'], ['p={']],
  [[query({ type: 'integer', format: 'int64' })], ['p=9223372036854775807'], ['p=1e19']],
]

/** Bodies likewise: by media type, what each takes and what it refuses. */
const VERSIONED = 'application/vnd.a+json'
const BODIES: readonly (readonly [
  content: JsonObject,
  type: string,
  fits: readonly string[],
  not: readonly string[],
])[] = [
  [{ [`${VERSIONED};v=1`]: { schema: integer } }, `${VERSIONED}; v=2`, ['1'], ['"a"']],
  [versions(integer, text), `${VERSIONED}; V="1"`, ['1'], ['"a"']],
  [versions(integer, text), `${VERSIONED};v=2;charset=utf-8`, ['"a"'], ['1']],
  [{ 'application/*+json': { schema: integer } }, VERSIONED, ['1'], ['"a"']],
  [{ 'application/*+json': { schema: integer } }, 'application/json', [], ['1']],
  [versions(integer, text), `${VERSIONED};v=3`, [], ['1', '"a"']],
  [
    {
      'application/json': {
        schema: { anyOf: [{ properties: { a: integer }, required: ['a'] }, { not: {} }], unevaluatedProperties: false },
      },
    },
    'application/json',
    ['{"a":1}'],
    ['{"a":1,"constructor":1}', '{"a":1,"toString":1}', '{"a":1,"b":1}'],
  ],
]

function versions(first: JsonObject, second: JsonObject): JsonObject {
  return { [`${VERSIONED};v=1`]: { schema: first }, [`${VERSIONED};v=2`]: { schema: second } }
}

async function open(t: TestContext, operations: readonly JsonObject[]) {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const base = oasApi('R', '/r/', { id: 'r' })
  const paths = operations.map((operation, index) => {
    const method = operation.requestBody === undefined ? 'get' : 'post'
    return [`/${index}`, { [method]: { operationId: `o${index}`, responses: {}, ...operation } }] as const
  })
  const rules = Object.fromEntries(operations.map((_each, i) => [`o${i}`, { validateRequest: { enabled: true } }]))
  const saved = await gate.svc('POST', '/svc/apis/oas', {
    ...{ ...base, openapi: '3.1.0', paths: Object.fromEntries(paths) as unknown as Json },
    'x-svc-api-gateway': { ...(base['x-svc-api-gateway'] as JsonObject), middleware: { operations: rules } },
  })
  assert.equal(saved.status, 200, saved.text)
  return { gate, warnings: (saved.json as { warnings?: { path: string; message: string }[] }).warnings }
}

test('parameters that other gateways misread are read as they were meant', async (t) => {
  const { gate, warnings } = await open(
    t,
    PARAMETERS.map(([parameters]) => ({ parameters: parameters as JsonObject[] })),
  )
  assert.equal(warnings, undefined)
  for (const [index, [parameters, fits, not]] of PARAMETERS.entries())
    for (const [sent, status] of [...fits.map((each) => [each, 502]), ...not.map((each) => [each, 422])] as const) {
      const answer = await gate.call(`/r/${index}?${sent}`)
      assert.equal(answer.status, status, `${JSON.stringify(parameters)} ${sent} ${answer.text}`)
    }
})

test('bodies are judged by their own media type, its parameters included', async (t) => {
  const { gate, warnings } = await open(
    t,
    BODIES.map(([content]) => ({ requestBody: { required: true, content } })),
  )
  assert.equal(warnings, undefined)
  for (const [index, [content, type, fits, not]] of BODIES.entries())
    for (const [body, status] of [...fits.map((each) => [each, 502]), ...not.map((each) => [each, 422])] as const) {
      const headers = { 'content-type': type }
      const answer = await gate.call(`/r/${index}`, { method: 'POST', headers, body: String(body) })
      assert.equal(answer.status, status, `${JSON.stringify(content)} ${type} ${body} ${answer.text}`)
    }
})

test('bodies of a type that is not read are reported where their schema says something', async (t) => {
  const structured = { type: 'object', required: ['a'] }
  const reported: readonly (readonly [type: string, media: JsonObject, at: string])[] = [
    ['application/xml', { schema: structured }, 'schema'],
    ['application/x-ndjson', { schema: structured }, 'schema'],
    ['multipart/mixed', { schema: structured }, 'schema'],
    ['image/png', { schema: { type: 'string', maxLength: 3 } }, 'schema'],
    ['application/jsonl', { itemSchema: structured }, 'itemSchema'],
    ['multipart/mixed', { prefixEncoding: [{}] }, 'prefixEncoding'],
  ]
  const files: readonly JsonObject[] = [{}, { schema: {} }, { schema: { type: 'string', format: 'binary' } }]
  const bodies = [
    ...reported.map(([type, media]) => ({ [type]: media })),
    ...files.map((media) => ({ 'image/png': media })),
    { 'application/json': { schema: integer }, 'application/json; charset=utf-8': { schema: text } },
  ]
  const { gate, warnings = [] } = await open(
    t,
    bodies.map((content) => ({ requestBody: { required: true, content } })),
  )
  const expected = [
    ...reported.map(([type, _media, at], index) => `/${index}"].post.requestBody.content["${type}"].${at}`),
    '/9"].post.requestBody.content["application/json; charset=utf-8"]',
  ]
  assert.deepEqual(
    warnings.map(({ path }) => path.replace('paths["', '')),
    expected,
  )
  const headers = { 'content-type': 'application/xml' }
  assert.equal((await gate.call('/r/0', { method: 'POST', headers, body: '<x/>' })).status, 502)
})

test('empty lists, and members that no alternative judges, are judged by other keywords', async (t) => {
  const closed = { patternProperties: { '^x': integer }, unevaluatedProperties: false }
  const own = (name: string, at = 5) =>
    `#/paths/~1${at}/post/requestBody/content/application~1json/schema/$defs/${name}`
  const rows: readonly (readonly [schema: JsonObject, fits: readonly Json[], not: readonly Json[]])[] = [
    [{ prefixItems: [integer], contains: text }, [[1, 'a']], [[], [1]]],
    [{ prefixItems: [integer], items: text, contains: text, minContains: 2 }, [[1, 'a', 'b']], [[], [1, 'a']]],
    [
      { oneOf: [{ properties: { a: integer }, required: ['a'] }, {}], ...closed },
      [{ x: 1 }, {}],
      [{ x: 'a' }, { y: 1 }],
    ],
    [{ if: { properties: { a: integer }, required: ['a'] }, ...closed }, [{ a: 1 }, { x: 1 }], [{ a: 'b' }, { b: 1 }]],
    [
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: { required: ['a'], unevaluatedProperties: integer }, then: { maxProperties: 2 }, ...closed },
      [{ a: 1, b: 1 }, { x: 1 }],
      [{ b: 1 }, { a: 'b' }, { a: 1, b: 1, c: 1 }],
    ],
    [
      {
        $defs: {
          tree: { properties: { a: { $ref: own('inner') } } },
          inner: { $ref: own('tree'), unevaluatedProperties: false },
        },
        $ref: own('tree'),
      },
      [{ a: { a: {} } }, { b: 1 }],
      [{ a: { constructor: {} } }, { a: { b: 1 } }],
    ],
    [
      {
        $defs: { a: { properties: { a: integer } } },
        ...{
          $ref: own('a', 6),
          oneOf: [{ properties: { b: integer }, required: ['b'] }, { not: { required: ['b'] } }],
        },
        unevaluatedProperties: false,
      },
      [{ a: 1 }, { a: 1, b: 1 }],
      [{ c: 1 }, { a: 'x' }, { a: 1, c: 1 }],
    ],
    [{ oneOf: [{ additionalProperties: integer }, false], ...closed }, [{ x: 1, y: 1 }], [{ y: 'a' }]],
    [{ items: { contains: integer } }, [[[1], ['a', 1]], []], [[[1], []], [[1], ['a']], [[]]]],
    [{ additionalProperties: { contains: {} } }, [{ a: [1] }], [{ a: [1], b: [] }]],
  ]
  const { gate, warnings } = await open(
    t,
    rows.map(([schema]) => ({ requestBody: { required: true, content: { 'application/json': { schema } } } })),
  )
  assert.equal(warnings, undefined)
  for (const [index, [schema, fits, not]] of rows.entries())
    for (const [value, status] of [...fits.map((each) => [each, 502]), ...not.map((each) => [each, 422])] as const) {
      const headers = { 'content-type': 'application/json' }
      const answer = await gate.call(`/r/${index}`, { method: 'POST', headers, body: JSON.stringify(value) })
      assert.equal(answer.status, status, `${JSON.stringify(schema)} ${JSON.stringify(value)} ${answer.text}`)
    }
})

test('what references leave out of a document is reported, and so are servers that are not asked', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const answers = { 200: { $ref: '#/components/responses/None' } }
  const paths = {
    '/item': { $ref: '#/components/pathItems/Item' },
    '/parameter': { get: { operationId: 'a', parameters: [{ $ref: 'other.yaml#/P' }], responses: answers } },
    '/body': {
      post: { operationId: 'b', requestBody: { $ref: '#/components/requestBodies/None' }, responses: answers },
    },
    '/server': { servers: [{ url: 'https://other.example' }], get: { operationId: 'c', responses: {} } },
  }
  const query = 'listenPath=/q/&apiID=q&upstreamURL=http://127.0.0.1:9/&validateRequest=true&mockResponse=true'
  const saved = await gate.svc('POST', `/svc/apis/oas/import?${query}`, {
    ...{ openapi: '3.1.0', info: { title: 'q', version: '1' }, paths },
    components: { pathItems: { Item: { get: { operationId: 'd', responses: {} } } } },
  })
  assert.equal(saved.status, 200, saved.text)
  assert.deepEqual((saved.json as { warnings: { path: string }[] }).warnings.map(({ path }) => path).sort(), [
    'paths["/body"].post.requestBody',
    'paths["/item"].$ref',
    'paths["/parameter"].get.parameters[0]',
    'paths["/server"].servers',
  ])
  // There is no response to make a mock of: the upstream is asked, which nothing answers for.
  assert.equal((await gate.call('/q/parameter')).status, 502)
})
