import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

const json = (example: number): JsonObject => ({ description: '', content: { 'application/json': { example } } })
const PET: JsonObject = {
  type: 'object',
  xml: { name: 'pet' },
  properties: {
    id: { type: 'integer', xml: { attribute: true } },
    name: { type: 'string', example: 'a < b' },
    tags: { type: 'array', xml: { wrapped: true }, items: { type: 'string', xml: { name: 'tag' } } },
    links: { type: 'array', xml: { name: 'link', wrapped: true }, items: { type: 'string' } },
    photoUrls: { type: 'array', minItems: 2, items: { type: 'string', xml: { name: 'url' } } },
    secret: { type: 'string', writeOnly: true },
  },
}
const XML =
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  '<pet id="0"><name>a &#60; b</name><tags><tag>string</tag></tags><link><link>string</link></link><url>string</url><url>string</url></pet>'
const FRAMED = {
  ...json(1),
  headers: Object.fromEntries(
    ['Content-Length', 'Transfer-Encoding', 'Date', 'X-One', 'x-one', 'Bad Name'].map((name) => [
      name,
      { example: '7' },
    ]),
  ),
}

const RESPONSES: Readonly<Record<string, JsonObject>> = {
  errors: { 404: json(404), default: json(0) },
  ranges: { '4XX': json(4), '2XX': json(2), 201: json(201), default: json(0) },
  only: { default: json(0) },
  xml: { 200: { description: '', content: { 'application/xml': { schema: { $ref: '#/components/schemas/Pet' } } } } },
  framed: { 200: FRAMED },
}

/** Operation, the status that is asked for, and the answer. */
const CASES: readonly [operation: string, asked: number | undefined, status: number, body: string | undefined][] = [
  ['errors', undefined, 200, '0'],
  ['errors', 404, 404, '404'],
  ['errors', 503, 503, '0'],
  ['errors', 99, 404, undefined],
  ['ranges', undefined, 201, '201'],
  ['ranges', 200, 200, '2'],
  ['ranges', 418, 418, '4'],
  ['ranges', 500, 500, '0'],
  ['only', undefined, 200, '0'],
  ['only', 422, 422, '0'],
  ['xml', undefined, 200, XML],
  ['framed', undefined, 200, '1'],
]

test('a mock answers with the response that fits, as XML too, and frames it itself', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const base = oasApi('M', '/m/', { id: 'm' })
  const mock = { mockResponse: { enabled: true, fromOASExamples: { enabled: true } } }
  const named = Object.entries(RESPONSES)
  const document = {
    ...base,
    paths: Object.fromEntries(
      named.map(([name, responses]) => [`/${name}`, { get: { operationId: name, responses } }]),
    ),
    components: { schemas: { Pet: PET } },
    'x-svc-api-gateway': {
      ...(base['x-svc-api-gateway'] as JsonObject),
      middleware: { operations: Object.fromEntries(named.map(([name]) => [name, mock])) },
    },
  }
  assert.deepEqual((await gate.svc('POST', '/svc/apis/oas', document)).json, {
    key: 'm',
    status: 'ok',
    action: 'added',
  })
  for (const [name, asked, status, body] of CASES) {
    const headers = asked === undefined ? {} : { 'x-svc-accept-example-code': String(asked) }
    const answer = await gate.call(`/m/${name}`, { headers })
    assert.equal(answer.status, status, `${name} ${asked}`)
    if (body !== undefined) assert.equal(answer.text, body, `${name} ${asked}`)
  }
  const { headers } = await gate.call('/m/framed')
  assert.deepEqual([headers['x-one'], headers['content-length']], ['7', '1'])
})
