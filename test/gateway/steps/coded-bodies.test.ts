import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const ENCODE: Readonly<Record<string, (body: string | Buffer) => Buffer>> = {
  gzip: gzipSync,
  'X-Gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}

const CONTENT = { 'application/json': { schema: { type: 'object', properties: { a: { type: 'integer' } } } } }
const operation = (operationId: string, more: JsonObject = {}) => ({
  post: { operationId, ...more, responses: { 200: { description: 'ok' } } },
})
const PATHS = {
  '/check': operation('check', { requestBody: { content: CONTENT } }),
  '/transform': operation('transform'),
  '/rewrite': operation('rewrite'),
  '/both': operation('both', { requestBody: { content: CONTENT } }),
}
const TEMPLATE = { enabled: true, format: 'json', body: Buffer.from('{"a": {{ .a }}}').toString('base64') }
const TRIGGER = { condition: 'any', rewriteTo: '/rewrite', rules: [{ in: 'requestBody', pattern: '"a"' }] }
const OPERATIONS = {
  check: { validateRequest: { enabled: true } },
  transform: { transformRequestBody: TEMPLATE },
  rewrite: { urlRewrite: { enabled: true, pattern: '/rewrite', rewriteTo: '/missed', triggers: [TRIGGER] } },
  both: { validateRequest: { enabled: true }, transformRequestBody: TEMPLATE },
}
/** Operations that look at the body, and the status of a body that cannot be decoded. */
const READERS = { check: 422, transform: 400, rewrite: 400, both: 422 }

let gateway: TestGateway
let origin: Origin

function post(path: string, coding: string, body: Buffer): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': 'application/json',
      'Content-Encoding': coding,
      'Content-Digest': 'sha-256=:AA:',
      'Content-Length': body.length,
    }
    const request = httpRequest({ host: '127.0.0.1', port: gateway.port, path, method: 'POST', headers, agent: false })
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.on('data', (part) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
    request.end(body)
  })
}

describe('bodies of requests with a content coding', () => {
  before(async () => {
    origin = await startOrigin()
    gateway = await startTestGateway()
    const api = defined({ id: 'a', url: origin.url, paths: PATHS, operations: OPERATIONS })
    const made = await gateway.svc('POST', '/svc/apis/oas', api)
    assert.equal(made.status, 200, made.text)
  })

  after(async () => {
    await gateway.close()
    await origin.close()
  })

  for (const [reader, refused] of Object.entries(READERS))
    test(`${reader}: the upstream gets decoded what was looked at`, async () => {
      for (const [coding, encode] of Object.entries(ENCODE)) {
        const { status, text } = await post(`/a/${reader}`, coding, encode('{"a": 1}'))
        assert.equal(status, 200, `${coding}: ${text}`)
        const { headers, body, target } = origin.seen.at(-1)!
        assert.deepEqual([target, body, headers['content-length']], [`/${reader}`, '{"a": 1}', '8'], coding)
        assert.deepEqual([headers['content-encoding'], headers['content-digest']], [undefined, undefined], coding)
      }
      const asked = origin.seen.length
      for (const [coding, encode] of Object.entries(ENCODE)) {
        const bomb = encode(Buffer.alloc(2_000_000, ' '))
        assert.equal((await post(`/a/${reader}`, coding, bomb)).status, 413, coding)
        assert.equal((await post(`/a/${reader}`, coding, Buffer.from('{"a": 1}'))).status, refused, coding)
        assert.equal((await post(`/a/${reader}`, coding, encode('{"a": 1}').subarray(0, -3))).status, refused, coding)
        assert.equal((await post(`/a/${reader}`, `${coding}, ${coding}`, encode('{"a": 1}'))).status, refused, coding)
      }
      for (const coding of ['compress', 'constructor', ','])
        assert.equal((await post(`/a/${reader}`, coding, gzipSync('{"a": 1}'))).status, refused, coding)
      assert.equal(origin.seen.length, asked)
    })

  test('a check judges what is inside', async () => {
    const { status, text } = await post('/a/check', 'gzip', gzipSync('{"a": "x"}'))
    assert.deepEqual([status, JSON.parse(text).faults[0].at], [422, 'body/a'])
  })

  test('without a rule that looks at it a body goes on as it came', async () => {
    const body = gzipSync('{"a": 1}')
    assert.equal((await post('/a/other', 'gzip', body)).status, 200)
    const seen = origin.seen.at(-1)!
    assert.deepEqual([seen.headers['content-encoding'], seen.body], ['gzip', body.toString('latin1')])
    assert.equal(seen.headers['content-digest'], 'sha-256=:AA:')
  })
})
