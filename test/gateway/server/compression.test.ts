import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { connect } from 'node:http2'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, createGunzip, gunzipSync, zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
const DECODE = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync } as const
type Name = keyof typeof DECODE
const NAMES = Object.keys(DECODE) as Name[]

const ON = { compression: { enabled: true } }
const CACHE = { enabled: true, cacheAllSafeRequests: true, timeout: 60 }
const TEMPLATE = { enabled: true, format: 'json', body: Buffer.from('{{ . | jsonMarshal }}').toString('base64') }
/** Ways on which the body of an answer reaches the client. */
const WAYS = ['streams', 'cached', 'held'] as const

interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

let gateway: TestGateway
let origin: Origin

/** JSON of about so many bytes. */
function json(size: number): string {
  return JSON.stringify({ items: Array.from({ length: Math.ceil(size / 20) }, (_, i) => `item ${i * 7919} €`) })
}

function overHttp1(path: string, headers: Record<string, string>, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port: gateway.port, path, method, headers, agent: false })
    request.on('error', reject)
    request.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('error', reject)
      response.on('data', (part) => parts.push(part))
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(parts) }),
      )
    })
    request.end()
  })
}

async function overHttp2(path: string, headers: Record<string, string>, method = 'GET'): Promise<Got> {
  const session = connect(`http://127.0.0.1:${gateway.port}`)
  try {
    const stream = session.request({ ':path': path, ':method': method, ...headers })
    const [got] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }]
    const parts: Buffer[] = []
    for await (const part of stream) parts.push(part)
    return { status: got[':status'], headers: got, bytes: Buffer.concat(parts) }
  } finally {
    session.close()
  }
}

/** The definition, with retries as often as need be. */
function retried(definition: JsonObject): JsonObject {
  const { upstream, ...rest } = definition['x-svc-api-gateway'] as { upstream: JsonObject }
  const retries = { enabled: true, budgetPercent: 100, minPerSecond: 1000 }
  return { ...definition, 'x-svc-api-gateway': { ...rest, upstream: { ...upstream, retries } } }
}

/** Has the upstream answer with these fields, in these parts. */
function answers(headers: Record<string, string>, parts: readonly (string | Buffer)[], status = 200): void {
  origin.script = (_request, response) => {
    response.writeHead(status, headers)
    for (const part of parts) response.write(part)
    response.end()
  }
}

describe('compression of answers', () => {
  before(async () => {
    origin = await startOrigin()
    gateway = await startTestGateway()
    const paths = { '/x': { get: { operationId: 'x', responses: { 200: { description: 'ok' } } } } }
    const apis = [
      defined({ id: 'streams', url: origin.url, global: ON }),
      defined({ id: 'cached', url: origin.url, global: { ...ON, cache: CACHE } }),
      defined({
        id: 'held',
        url: origin.url,
        global: ON,
        paths,
        operations: { x: { transformResponseBody: TEMPLATE } },
      }),
      defined({
        id: 'gzip',
        url: origin.url,
        global: { compression: { enabled: true, encodings: ['gzip'], minimumBytes: 10 } },
      }),
      defined({ id: 'off', url: origin.url }),
      retried(defined({ id: 'retried', url: origin.url, global: ON })),
    ]
    for (const api of apis) {
      const made = await gateway.svc('POST', '/svc/apis/oas', api)
      assert.equal(made.status, 200, made.text)
    }
  })

  after(async () => {
    await gateway.close()
    await origin.close()
  })

  for (const [version, call] of [
    ['HTTP/1.1', overHttp1],
    ['HTTP/2', overHttp2],
  ] as const)
    test(`every coding on every way decodes to what the upstream sent, over ${version}`, async () => {
      for (const [at, size] of [2000, 40_000, 200_000].entries()) {
        const body = json(size)
        for (const way of WAYS)
          for (const coding of NAMES) {
            const headers = { 'Content-Type': 'application/json', ETag: '"a"', 'Content-Digest': 'sha-256=:AA:' }
            answers(at === 1 ? { ...headers, 'Content-Length': String(Buffer.byteLength(body)) } : headers, [body])
            const where = `${way} ${coding} ${size}`
            const path = `/${way}/x?${version.at(-1)}${size}`
            for (const turn of way === 'cached' ? [1, 2, 3] : [1]) {
              const got = await call(path, { 'accept-encoding': coding })
              assert.equal(got.headers['content-encoding'], coding, `${where} ${turn}`)
              assert.equal(got.headers.vary, 'Accept-Encoding', where)
              assert.equal(got.headers['content-digest'], undefined, where)
              if (way !== 'held') assert.equal(got.headers.etag, 'W/"a"', where)
              assert.ok(got.bytes.length < body.length / 2, where)
              assert.equal(DECODE[coding](got.bytes).toString(), body, where)
            }
            if (way !== 'cached') continue
            const plain = await call(path, {})
            assert.deepEqual(
              [plain.bytes.toString(), plain.headers.etag, plain.headers.vary],
              [body, '"a"', 'Accept-Encoding'],
            )
          }
      }
    })

  test('a body in any parts is the same after decoding', async () => {
    const part = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 50 }),
      fc.integer({ min: 1, max: 150_000 }).map((size) => Buffer.alloc(size, 'ab\n')),
      fc.integer({ min: 1, max: 100_000 }).map((size) => Buffer.from(json(size))),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), fc.constantFrom(...NAMES), async (parts, coding) => {
        answers(
          { 'Content-Type': 'text/plain' },
          parts.map((each) => Buffer.from(each)),
        )
        const got = await overHttp1('/streams/any', { 'accept-encoding': coding })
        assert.equal(got.headers['content-encoding'], coding)
        assert.ok(DECODE[coding](got.bytes).equals(Buffer.concat(parts)))
      }),
      { numRuns: DEEP ? 500 : 25 },
    )
  })

  const BODY = json(3000)
  const JSON_TYPE = { 'Content-Type': 'application/json' }
  const PLAIN: readonly [
    what: string,
    ask: Record<string, string>,
    says: Record<string, string>,
    status: number,
    varies: boolean,
  ][] = [
    ['an empty Accept-Encoding', { 'accept-encoding': '' }, {}, 200, true],
    ['another coding', { 'accept-encoding': 'deflate, compress' }, {}, 200, true],
    ['codings that are refused', { 'accept-encoding': 'gzip;q=0, br;q=0.000, zstd;q=0' }, {}, 200, true],
    ['identity that is liked better', { 'accept-encoding': 'identity, gzip;q=0.5' }, {}, 200, true],
    ['no-transform of the upstream', {}, { 'Cache-Control': 'max-age=1, No-Transform' }, 200, false],
    ['no-transform of the client', { 'cache-control': 'no-transform' }, {}, 200, false],
    ['a coding of the upstream', {}, { 'Content-Encoding': 'x-own' }, 200, false],
    ['a type that is compressed already', {}, { 'Content-Type': 'image/png' }, 200, false],
    ['no type', {}, { 'Content-Type': '' }, 200, false],
    ['a part', {}, { 'Content-Range': 'bytes 0-9/20' }, 206, true],
    ['a cookie', { cookie: 'a=b' }, {}, 200, true],
    ['a cookie of another site', { cookie: 'a=b', 'sec-fetch-site': 'cross-site' }, {}, 200, true],
    ['a password', { authorization: 'Basic YTpi' }, {}, 200, true],
    ['a ticket', { authorization: 'Negotiate YTpi' }, {}, 200, true],
  ]
  for (const [what, ask, says, status, varies] of PLAIN)
    test(`${what}: an answer is left as it is`, async () => {
      answers({ ...JSON_TYPE, ETag: '"a"', ...says }, [BODY], status)
      const got = await overHttp1('/streams/plain', { 'accept-encoding': 'gzip', ...ask })
      assert.deepEqual([got.status, got.bytes.toString(), got.headers.etag], [status, BODY, '"a"'])
      assert.equal(got.headers['content-encoding'], says['Content-Encoding'])
      assert.equal(got.headers.vary, varies ? 'Accept-Encoding' : undefined)
    })

  const CODED: readonly [what: string, ask: Record<string, string>, says: Record<string, string>, coding: Name][] = [
    ['any coding', { 'accept-encoding': '*' }, {}, 'zstd'],
    ['the liked one', { 'accept-encoding': 'gzip;q=0.9, br;q=0.8, zstd;q=0.1' }, {}, 'gzip'],
    ['an old name', { 'accept-encoding': 'x-GZIP' }, {}, 'gzip'],
    [
      'a cookie of the same site',
      { cookie: 'a=b', 'sec-fetch-site': 'same-origin', 'accept-encoding': 'br' },
      {},
      'br',
    ],
    ['a token', { authorization: 'Bearer x', 'accept-encoding': 'br' }, {}, 'br'],
    ['an error', { 'accept-encoding': 'br' }, { 'Content-Type': 'application/problem+json; charset=utf-8' }, 'br'],
  ]
  for (const [what, ask, says, coding] of CODED)
    test(`${what}: an answer is compressed`, async () => {
      answers({ ...JSON_TYPE, ...says }, [BODY], what === 'an error' ? 500 : 200)
      const got = await overHttp1('/streams/coded', ask)
      assert.equal(got.headers['content-encoding'], coding)
      assert.equal(DECODE[coding](got.bytes).toString(), BODY)
    })

  test('only listed codings, and only above the bound that the API sets', async () => {
    answers({ ...JSON_TYPE, 'Content-Length': '9' }, ['[1,2,3,4]'])
    assert.equal((await overHttp1('/gzip/x', { 'accept-encoding': 'gzip' })).headers['content-encoding'], undefined)
    answers({ ...JSON_TYPE, 'Content-Length': '11' }, ['[1,2,3,4,5]'])
    assert.equal((await overHttp1('/gzip/x', { 'accept-encoding': 'gzip' })).headers['content-encoding'], 'gzip')
    assert.equal((await overHttp1('/gzip/x', { 'accept-encoding': 'br, zstd' })).headers['content-encoding'], undefined)
  })

  test('without the setting nothing is compressed', async () => {
    answers(JSON_TYPE, [BODY])
    const got = await overHttp1('/off/x', { 'accept-encoding': 'gzip' })
    assert.deepEqual(
      [got.headers['content-encoding'], got.headers.vary, got.bytes.toString()],
      [undefined, undefined, BODY],
    )
  })

  test('HEAD has the fields of GET, and no length', async () => {
    answers({ ...JSON_TYPE, ETag: '"a"', 'Content-Length': String(Buffer.byteLength(BODY)) }, [])
    for (const call of [overHttp1, overHttp2]) {
      const { headers, bytes } = await call('/streams/head', { 'accept-encoding': 'br' }, 'HEAD')
      assert.deepEqual(
        [headers['content-encoding'], headers.etag, headers['content-length']],
        ['br', 'W/"a"', undefined],
      )
      assert.equal(bytes.length, 0)
    }
  })

  test('a 304 has the tag of the form that its client has', async () => {
    for (const way of ['streams', 'cached']) {
      origin.script = ({ headers }, response) => {
        const known = headers['if-none-match'] !== undefined
        response.writeHead(known ? 304 : 200, { ...JSON_TYPE, ETag: '"a"' }).end(known ? undefined : BODY)
      }
      await overHttp1(`/${way}/304`, { 'accept-encoding': 'gzip' })
      for (const tag of ['"a"', 'W/"a"']) {
        const got = await overHttp1(`/${way}/304`, { 'accept-encoding': 'gzip', 'if-none-match': tag })
        assert.deepEqual([got.status, got.headers.etag], [304, tag], way)
      }
    }
  })

  test('a 304 and a part of an answer have its Vary, and no tag of other bytes', async () => {
    const date = 'Thu, 26 Nov 2026 00:00:00 GMT'
    const codings = ['gzip', 'br, zstd', '*', 'identity', 'gzip;q=0', '']
    const others: Record<string, string>[] = [{}, { cookie: 'a=b' }, { 'cache-control': 'no-transform' }]
    const narrowed = ['*', '"a"', 'W/"a"', '"b", W/"a"'].map((tag) => ({ 'if-none-match': tag }))
    const asks: Record<string, string>[] = [...narrowed, { 'if-modified-since': date }, { range: 'bytes=5-9' }]
    origin.script = ({ headers }, response) => {
      const fields = { ETag: '"a"', 'Last-Modified': date }
      const known = headers['if-none-match'] ?? headers['if-modified-since']
      const part = { 'Content-Range': `bytes 5-9/${BODY.length}` }
      if (known !== undefined) response.writeHead(304, fields).end()
      else if (headers.range === undefined) response.writeHead(200, { ...JSON_TYPE, ...fields }).end(BODY)
      else response.writeHead(206, { ...JSON_TYPE, ...fields, ...part }).end(BODY.slice(5, 10))
    }
    for (const way of ['streams', 'cached'])
      for (const coding of codings)
        for (const other of others)
          for (const ask of asks) {
            const same = { 'accept-encoding': coding, ...other }
            const whole = await overHttp1(`/${way}/same`, same)
            const got = await overHttp1(`/${way}/same`, { ...same, ...ask })
            const where = JSON.stringify([way, same, ask])
            assert.equal(whole.status, 200, where)
            assert.equal(got.status, ask.range === undefined ? 304 : 206, where)
            assert.equal(got.headers.vary, whole.headers.vary, where)
            // The tag of what the client says that it has, else of what it would get; parts are always of the plain form.
            const named = /(?:W\/)?"a"/.exec(ask['if-none-match'] ?? '')?.[0] ?? whole.headers.etag
            assert.equal(got.headers.etag, ask.range === undefined ? named : '"a"', where)
          }
  })

  test('an event arrives before the next one is there', async () => {
    let upstream: ServerResponse | undefined
    origin.script = (_request, response) => {
      upstream = response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      upstream.write('data: 1\n\n')
    }
    const request = httpRequest({
      ...{ host: '127.0.0.1', port: gateway.port, path: '/streams/events', agent: false },
      headers: { 'accept-encoding': 'gzip' },
    }).end()
    const [response] = await once(request, 'response')
    assert.equal(response.headers['content-encoding'], 'gzip')
    const events = response.pipe(createGunzip())
    for (let i = 1; i < 4; i++) {
      const [event] = await once(events, 'data')
      assert.equal(String(event), `data: ${i}\n\n`)
      upstream!.write(`data: ${i + 1}\n\n`)
    }
    request.destroy()
  })

  test('an answer that the upstream breaks off has no end', async () => {
    origin.script = (_request, response) => {
      response.writeHead(200, JSON_TYPE).write(BODY, () => response.destroy())
    }
    // More than may be open at once: each is closed with its exchange.
    for (let i = 0; i < 300; i += 20) {
      const broken = Array.from({ length: 20 }, () => overHttp1('/streams/broken', { 'accept-encoding': 'gzip' }))
      for (const { status } of await Promise.allSettled(broken)) assert.equal(status, 'rejected')
    }
    answers(JSON_TYPE, [BODY])
    assert.equal((await overHttp1('/streams/x', { 'accept-encoding': 'gzip' })).headers['content-encoding'], 'gzip')
  })

  test('an answer is not encoded as that of an attempt before it was to be', async () => {
    // More than may be open at once.
    for (const type of ['image/png', 'text/plain'])
      for (let i = 0; i < 300; i += 20) {
        const asked = new Set<string>()
        origin.script = ({ target }, response) => {
          if (asked.has(target)) {
            response.writeHead(200, { 'Content-Type': type }).end(BODY)
            return
          }
          asked.add(target)
          const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n'
          response.socket!.end(`${head}no length\r\n`)
        }
        const paths = Array.from({ length: 20 }, (_, n) => `/retried/${type}/${i + n}`)
        const calls = paths.map((path) => overHttp1(path, { 'accept-encoding': 'gzip' }))
        for (const { status, headers, bytes } of await Promise.all(calls)) {
          const isCoded = type === 'text/plain'
          assert.deepEqual([status, headers['content-encoding']], [200, isCoded ? 'gzip' : undefined])
          assert.equal((isCoded ? gunzipSync(bytes) : bytes).toString(), BODY)
        }
      }
  })
})
