import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import { readErrorOverrides } from '../../../src/model/apis/read/read-classic.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { BoundedExpression } from '../../../src/model/patterns/bounded-expression.ts'
import { classic } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'

/** An upstream that answers `/STATUS?BODY`. */
async function startUpstream(t: TestContext): Promise<string> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const { pathname, search } = new URL(request.url!, 'http://up')
    response.writeHead(Number(pathname.slice(1)), { 'content-type': 'text/plain', 'x-up': '1', etag: '"a"' })
    response.end(decodeURIComponent(search.slice(1)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const rule = (response: JsonObject, match?: JsonObject): JsonObject => ({ ...(match && { match }), response })

const OVERRIDES: JsonObject = {
  '401': [rule({ status_code: 418, message: 'no "key"' }, { flag: 'AMF' }), rule({ status_code: 500 })],
  '403': [
    rule(
      { body: '<p>{{.Message}} {{.StatusCode}}</p>', message: 'out', headers: { 'Content-Type': 'text/html' } },
      { flag: 'AKI' },
    ),
  ],
  '404': [rule({ status_code: 410, headers: { 'X-Gone': 'yes' } }, { message_pattern: '^gone' })],
  '4xx': [
    rule(
      { body: '{"m": "{{.Message}}", "s": {{.StatusCode}}}', message: 'a "b"' },
      { body_field: 'e.0.c', body_value: '7' },
    ),
  ],
  '502': [rule({ message: 'never: of the gateway alone' }, { flag: 'UCF' })],
  '5xx': [rule({ status_code: 503, message: 'later' }, { flag: 'URS' })],
}

const JSON_7 = `/422?${encodeURIComponent('{"e":[{"c":7}]}')}`

/** Path, key, and what comes of it: status, body, fields. */
const CASES: readonly (readonly [
  path: string,
  key: string | undefined,
  status: number,
  body: string,
  fields?: Readonly<Record<string, string | undefined>>,
])[] = [
  ['/200?fine', 'k', 200, 'fine', { 'x-up': '1', etag: '"a"' }],
  ['/401?x', undefined, 418, '{"error":"no \\"key\\""}', { 'content-type': 'application/json' }],
  ['/200?x', 'wrong-key-0000000', 403, '<p>out 403</p>', { 'content-type': 'text/html' }],
  ['/403?of%20the%20upstream', 'k', 403, 'of the upstream'],
  ['/404?gone%20for%20good', 'k', 410, 'gone for good', { 'x-gone': 'yes', 'x-up': '1', 'content-type': 'text/plain' }],
  ['/404?another', 'k', 404, 'another'],
  [JSON_7, 'k', 422, '{"m": "a \\"b\\"", "s": 422}', { 'content-type': 'application/json' }],
  [`/422?${encodeURIComponent('{"e":[{"c":8}]}')}`, 'k', 422, '{"e":[{"c":8}]}'],
  ['/500?stack', 'k', 503, '{"error":"later"}', { 'x-up': '1', etag: undefined }],
  ['/502?stack', 'k', 503, '{"error":"later"}'],
]

for (const format of ['classic', 'openapi'] as const) {
  test(`errors of the gateway and of the upstream are replaced as a ${format} definition says`, async (t) => {
    const url = await startUpstream(t)
    const gateway = await startTestGateway()
    t.after(() => gateway.close())
    const definition = classic('a', '/a/', url, {
      use_keyless: false,
      use_standard_auth: true,
      error_overrides: OVERRIDES,
    })
    const saved =
      format === 'classic'
        ? await gateway.svc('POST', '/svc/apis', definition)
        : await gateway.svc('POST', '/svc/apis/oas', toOas(definition).document)
    assert.equal(saved.status, 200, saved.text)
    const access_rights = { a: { api_id: 'a', api_name: 'a', versions: ['Default'] } }
    const { key } = (await gateway.svc('POST', '/svc/keys', { rate: 0, per: 0, quota_max: -1, access_rights }))
      .json as { key: string }
    for (const [path, sent, status, body, fields = {}] of CASES) {
      const headers = sent === undefined ? {} : { authorization: sent === 'k' ? key : sent }
      const answer = await gateway.call(`/a${path}`, { headers })
      assert.deepEqual([answer.status, answer.text], [status, body], path)
      for (const [name, value] of Object.entries(fields)) assert.equal(answer.headers[name], value, `${path}: ${name}`)
    }
  })
}

test('a member in the words of the other format has no effect, and is told', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const keyed = classic('a', '/a/', 'http://up.test/', { use_keyless: false, use_standard_auth: true })
  const { document } = toOas(keyed)
  const extension = document['x-svc-api-gateway'] as JsonObject
  for (const [path, name, body] of [
    ['/svc/apis', 'statusCode', { ...keyed, error_overrides: { '401': [rule({ statusCode: 418, message: 'm' })] } }],
    [
      '/svc/apis/oas',
      'status_code',
      {
        ...document,
        'x-svc-api-gateway': {
          ...extension,
          errorOverrides: { enabled: true, value: { '401': [rule({ status_code: 1000, message: 'm' })] } },
        },
      },
    ],
  ] as const) {
    const saved = await gateway.svc('POST', path, body)
    assert.equal(saved.status, 200, saved.text)
    assert.match(saved.text, new RegExp(`warnings.*${name}`))
    const { status, text } = await gateway.call('/a/')
    assert.deepEqual([status, text], [401, '{"error":"m"}'], path)
    assert.equal((await gateway.svc('DELETE', '/svc/apis/a')).status, 200)
  }
})

test('rules of error answers that cannot be followed are refused with their place', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const CASES_REFUSED: readonly (readonly [overrides: JsonObject, place: RegExp])[] = [
    [{ '6xx': [rule({})] }, /error_overrides\.6xx: must be a status/],
    [{ '401': [rule({}, { flag: 'XYZ' })] }, /error_overrides\[401\]\[0\]\.match\.flag: must be one of/],
    [{ '401': [rule({}, { message_pattern: '(' })] }, /match\.message_pattern: must/],
    [{ '401': [rule({}, { body_field: 'a|b' })] }, /match\.body_field: must be names/],
    [{ '401': [rule({ template: 'error' })] }, /response\.template: is not served/],
    [{ '401': [rule({ body: '{{ .Nope }}' })] }, /response\.body: may hold no other templates/],
    [{ '401': [rule({ headers: { 'Content-Length': '1' } })] }, /response\.headers/],
  ]
  for (const [error_overrides, place] of CASES_REFUSED) {
    const { status, text } = await gateway.svc(
      'POST',
      '/svc/apis',
      classic('a', '/a/', 'http://up.test/', { error_overrides }),
    )
    assert.equal(status, 400, text)
    assert.match((JSON.parse(text) as { message: string }).message, place)
  }
})

test('expressions of rules take bounded time, whatever an upstream says', () => {
  const rules = readErrorOverrides({ error_overrides: { '4xx': [{ match: { message_pattern: 'a*a*b' } }] } })
  assert.ok(rules?.get('4xx')?.[0]?.pattern instanceof BoundedExpression)
})
