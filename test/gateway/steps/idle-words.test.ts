import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'

type Warning = { readonly path: string; readonly message: string }

const responses = { 200: { description: 'ok' } }
const get = (operation: JsonObject): JsonObject => ({ paths: { '/a': { get: { responses, ...operation } } } })
const parameter = (more: JsonObject): JsonObject => get({ parameters: [{ name: 'x', in: 'query', ...more }] })
const media = (content: JsonObject, type = 'application/json'): JsonObject => ({
  paths: { '/a': { post: { requestBody: { required: true, content: { [type]: content } }, responses } } },
})
const body = (schema: JsonObject): JsonObject => media({ schema })
const answer = (example: JsonObject): JsonObject =>
  get({ responses: { 200: { description: 'ok', content: { 'application/json': { examples: { e: example } } } } } })

const POSTED = 'paths["/a"].post.requestBody'
const SCHEMA = `${POSTED}.content["application/json"].schema`
const PARAMETER = 'paths["/a"].get.parameters[0]'

/** Documents with one word that has no effect, where it is, and what is said of it. */
const IDLE: readonly (readonly [document: JsonObject, path: string, says: RegExp])[] = [
  ...Object.entries<Json>({
    ...{ requried: ['a'], minLenght: 3, divisibleBy: 2, extends: {}, disallow: 'string', id: 'x', optional: true },
    ...{ collectionFormat: 'multi', min: 1, length: 3, propertyOrder: 1 },
  }).map(([name, value]) => [body({ [name]: value }), `${SCHEMA}.${name}`, /no keyword of JSON Schema/] as const),
  [body({ requried: ['a'] }), `${SCHEMA}.requried`, /perhaps "required" is meant/],
  [
    body({ items: { items: { discriminator: { propertyName: 'a' } } } }),
    `${SCHEMA}.items.items.discriminator`,
    /oneOf/,
  ],
  ...['contentEncoding', 'contentMediaType', 'contentSchema'].map(
    (name) => [body({ type: 'string', [name]: 'base64' }), `${SCHEMA}.${name}`, /not decoded/] as const,
  ),
  ...['iri', 'idn-email', 'money', 'unix-time', 'json-string'].map(
    (format) =>
      [parameter({ schema: { type: 'string', format } }), `${PARAMETER}.schema.format`, /is no format/] as const,
  ),
  ...['then', 'else'].map((name) => [body({ [name]: {} }), `${SCHEMA}.${name}`, /no "if" beside it/] as const),
  ...['minContains', 'maxContains'].map((name) => [body({ [name]: 2 }), `${SCHEMA}.${name}`, /no "contains"/] as const),
  [body({ $schema: 'http://json-schema.org/draft-04/schema#' }), `${SCHEMA}.$schema`, /2020-12/],
  [{ ...get({}), jsonSchemaDialect: 'http://json-schema.org/draft-07/schema#' }, 'jsonSchemaDialect', /2020-12/],
  [{ ...get({}), webhooks: { a: {} } }, 'webhooks', /the service sends/],
  [{ ...get({}), basePath: '/v1' }, 'basePath', /no such member/],
  [get({ callbacks: { a: {} } }), 'paths["/a"].get.callbacks', /the service sends/],
  [get({ consumes: ['a'] }), 'paths["/a"].get.consumes', /no such member/],
  [{ paths: { '/a': { GET: { responses } } } }, 'paths["/a"].GET', /no such member/],
  [parameter({ schema: {}, require: true }), `${PARAMETER}.require`, /perhaps "required" is meant/],
  [parameter({ type: 'integer' }), PARAMETER, /neither "schema" nor "content"/],
  [parameter({ schema: {}, content: { 'application/json': {} } }), `${PARAMETER}.schema`, /"content" counts/],
  [parameter({ in: 'querystring', content: {} }), PARAMETER, /whole of a query/],
  [parameter({ name: 'Authorization', in: 'header', schema: {} }), PARAMETER, /no parameters of this name/],
  [parameter({ name: 'X_Y', in: 'header', required: true, schema: {} }), PARAMETER, /allow_underscore_fields/],
  [{ paths: { '/a': { post: { requestBody: { required: true }, responses } } } }, POSTED, /no "content"/],
  [
    media({ schema: {}, encoding: { f: { headers: {} } } }, 'multipart/form-data'),
    `${POSTED}.content["multipart/form-data"].encoding.f.headers`,
    /not compared/,
  ],
  [
    answer({ externalValue: 'https://a.example/' }),
    'paths["/a"].get.responses[200].content["application/json"].examples.e.externalValue',
    /not fetched/,
  ],
]

/** Members whose value names its members as it likes: they have no extensions. */
const MAPS = new Set(['content', 'examples', 'headers', 'encoding', 'properties', 'parameters', 'requestBodies'])

/** A document with an extension in every object that may have some. */
function extended(value: Json, isMap = false): Json {
  if (Array.isArray(value)) return value.map((each) => extended(each))
  if (typeof value !== 'object' || value === null) return value
  const made = Object.entries(value).map(([name, inner]) => {
    const isNamed = MAPS.has(name) || (name === 'responses' && 'requestBodies' in value)
    return [name, extended(inner, !isMap && isNamed)] as const
  })
  return { ...Object.fromEntries(made), ...(!isMap && { 'x-internal': { owner: 'team' } }) }
}

const TYPED: JsonObject = {
  'multipart/form-data': {
    schema: { type: 'object', properties: { f: { type: 'string' } } },
    encoding: { f: { contentType: 'text/plain' } },
    examples: { 'x-e': { value: { f: 'a' } } },
  },
}
const FIELD: JsonObject = { name: 'x', in: 'query', schema: {} }
const WHOLE: JsonObject = {
  paths: {
    '/a': {
      parameters: [{ ...FIELD, name: 'y' }],
      post: {
        ...{ parameters: [FIELD], requestBody: { content: TYPED } },
        responses: { 200: { description: 'ok', content: TYPED } },
      },
    },
  },
  components: {
    ...{ parameters: { 'x-p': FIELD }, requestBodies: { 'x-b': { content: TYPED } } },
    ...{ responses: { 'x-r': { description: 'ok', content: TYPED } }, examples: { 'x-e': { value: 1 } } },
  },
}

/** Words that have an effect, or that only readers need. */
const BUSY: readonly JsonObject[] = [
  extended(WHOLE) as JsonObject,
  body({ title: 'a', description: 'a', default: 1, examples: [], deprecated: true, $comment: 'a', 'x-any': 1 }),
  body({ readOnly: true, writeOnly: true, externalDocs: { url: '/' }, xml: { name: 'a' }, $id: 'a', $anchor: 'a' }),
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  body({ if: {}, then: {}, else: {}, contains: {}, minContains: 1, maxContains: 3, $defs: {}, nullable: true }),
  body({ type: 'string', contentMediaType: 'application/octet-stream', format: 'binary' }),
  ...['int8', 'uint64', 'int32', 'double', 'date', 'uuid', 'uri', 'password', 'byte', 'duration'].map((format) =>
    body({ format }),
  ),
  get({ tags: ['a'], summary: 'a', operationId: 'a', deprecated: true, externalDocs: { url: '/' }, 'x-any': 1 }),
  parameter({ schema: {}, style: 'form', explode: true, allowReserved: true, allowEmptyValue: true, deprecated: true }),
]

test('words of documents without effect are named by their place, and no others', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const query = 'listenPath=/w/&apiID=w&upstreamURL=http://127.0.0.1:9/&validateRequest=true'
  const warnings = async (document: JsonObject): Promise<readonly Warning[]> => {
    const whole = { openapi: '3.2.0', info: { title: 'w', version: '1' }, ...document }
    const saved = await gate.svc('POST', `/svc/apis/oas/import?${query}`, whole)
    assert.equal(saved.status, 200, saved.text)
    await gate.svc('DELETE', '/svc/apis/w')
    return (saved.json as { warnings?: Warning[] }).warnings ?? []
  }
  for (const [document, path, says] of IDLE) {
    const found = await warnings(document)
    assert.ok(
      found.some((each) => each.path === path && says.test(each.message)),
      `${path} ${says}: ${JSON.stringify(found)}`,
    )
  }
  for (const document of BUSY) assert.deepEqual(await warnings(document), [], JSON.stringify(document))
  const twice = { ...body({ properties: { a: { format: 'none' }, b: { format: 'none' } } }) }
  assert.deepEqual(
    (await warnings(twice)).map(({ message }) => message),
    ['has no effect, here and elsewhere: "none" is no format that is checked'],
  )
})

test('whole numbers have the range of their format', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const ranges = {
    int8: [-128, 127],
    int16: [-32768, 32767],
    uint8: [0, 255],
    uint16: [0, 65535],
    uint32: [0, 4294967295],
  }
  const properties = Object.fromEntries(Object.keys(ranges).map((format) => [format, { type: 'integer', format }]))
  const query = 'listenPath=/w/&apiID=w&upstreamURL=http://127.0.0.1:9/&validateRequest=true'
  const document = { openapi: '3.1.0', info: { title: 'w', version: '1' }, ...body({ properties }) }
  assert.equal((await gate.svc('POST', `/svc/apis/oas/import?${query}`, document)).status, 200)
  const headers = { 'content-type': 'application/json' }
  for (const [format, [least = 0, most = 0]] of Object.entries(ranges))
    for (const [value, status] of [
      [least, 502],
      [most, 502],
      [least - 1, 422],
      [most + 1, 422],
    ] as const) {
      const sent = JSON.stringify({ [format]: value })
      assert.equal((await gate.call('/w/a', { method: 'POST', headers, body: sent })).status, status, sent)
    }
})

for (const taken of [false, true])
  test(`a field with an underscore is asked for where it is taken: ${taken}`, async (t) => {
    const gate = await startTestGateway({ env: { SVC_GW_ALLOWUNDERSCOREFIELDS: String(taken) } })
    t.after(() => gate.close())
    const found: unknown[] = []
    for (const [name, more] of [
      ['X_Y', {}],
      ['X-Y', {}],
      ['X_Real_IP', {}],
      ['X.Real.IP', {}],
      ['X_D', { default: 3 }],
    ] as const) {
      const query = 'listenPath=/w/&apiID=w&upstreamURL=http://127.0.0.1:9/&validateRequest=true'
      const named = parameter({ name, in: 'header', required: true, schema: { type: 'integer', ...more } })
      const document = { openapi: '3.1.0', info: { title: 'w', version: '1' }, ...named }
      assert.equal((await gate.svc('POST', `/svc/apis/oas/import?${query}`, document)).status, 200)
      const statuses = [(await gate.call('/w/a')).status]
      for (const value of ['1', 'a']) statuses.push((await gate.call('/w/a', { headers: { [name]: value } })).status)
      found.push([name, ...statuses])
      await gate.svc('DELETE', '/svc/apis/w')
    }
    const asked = [422, 502, 422]
    const hidden = [502, 502, 502]
    assert.deepEqual(found, [
      ['X_Y', ...(taken ? asked : hidden)],
      ['X-Y', ...asked],
      ['X_Real_IP', ...hidden],
      ['X.Real.IP', ...hidden],
      ['X_D', ...(taken ? asked : hidden)],
    ])
  })

test('a parameter of a path that has no such part is named, and refuses nothing', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const query = 'listenPath=/w/&apiID=w&upstreamURL=http://127.0.0.1:9/&validateRequest=true'
  const named = parameter({ name: 'id', in: 'path', required: true, schema: { type: 'integer' } })
  const document = { openapi: '3.1.0', info: { title: 'w', version: '1' }, ...named }
  const saved = await gate.svc('POST', `/svc/apis/oas/import?${query}`, document)
  const { warnings } = saved.json as { warnings: Warning[] }
  assert.deepEqual(warnings, [{ path: PARAMETER, message: 'is not checked (GET /a): its path has no {id}' }])
  assert.equal((await gate.call('/w/a')).status, 502)
})

test('media types behind references, and examples as OpenAPI 3.2 has them, are read', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const typed = (value: Json): JsonObject => ({ description: 'ok', content: { 'application/json': value } })
  const reference = { $ref: '#/components/mediaTypes/M' }
  const document = {
    ...{ openapi: '3.2.0', info: { title: 'w', version: '1' } },
    paths: {
      '/post': { post: { requestBody: { content: { 'application/json': reference } }, responses } },
      '/referred': { get: { responses: { 200: typed(reference) } } },
      '/data': { get: { responses: { 200: typed({ examples: { e: { dataValue: { a: 1 } } } }) } } },
      '/serialized': { get: { responses: { 200: typed({ examples: { e: { serializedValue: '{"a":2}' } } }) } } },
    },
    components: {
      mediaTypes: { M: { schema: { type: 'object', required: ['a'] }, examples: { e: { value: { a: 3 } } } } },
    },
  }
  const query = 'listenPath=/w/&apiID=w&upstreamURL=http://127.0.0.1:9/&validateRequest=true&mockResponse=true'
  const saved = await gate.svc('POST', `/svc/apis/oas/import?${query}`, document as unknown as JsonObject)
  assert.equal(saved.status, 200, saved.text)
  assert.equal((saved.json as JsonObject).warnings, undefined)
  for (const [path, text] of [
    ['referred', '{"a":3}'],
    ['data', '{"a":1}'],
    ['serialized', '{"a":2}'],
  ] as const)
    assert.equal((await gate.call(`/w/${path}`)).text, text)
  const headers = { 'content-type': 'application/json' }
  assert.equal((await gate.call('/w/post', { method: 'POST', headers, body: '{}' })).status, 422)
})
