import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { echoClient, startEcho } from '../../worlds/gateway/grpc-world.ts'

const BINARY = 'application/grpc-web+proto'
const TEXT = 'application/grpc-web-text'

interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** Trailers of HTTP, of which gRPC-Web knows none. */
  readonly trailers: IncomingHttpHeaders | undefined
}

type Call = (port: number, path: string, headers: Record<string, string>, body: string | Buffer) => Promise<Got>

const overHttp1: Call = async (port, path, headers, body) => {
  const request = httpRequest({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false }).end(body)
  const [response] = await once(request, 'response')
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part)
  const { statusCode: status, headers: answered, trailers } = response
  return { status, headers: answered, bytes: Buffer.concat(parts), trailers: trailers['grpc-status'] && trailers }
}

const overHttp2: Call = async (port, path, headers, body) => {
  const session = connect(`http://127.0.0.1:${port}`)
  try {
    const stream = session.request({ ':path': path, ':method': 'POST', ...headers }).end(body)
    let trailers: IncomingHttpHeaders | undefined
    stream.on('trailers', (found) => {
      trailers = found
    })
    const [answered] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }]
    const parts: Buffer[] = []
    for await (const part of stream) parts.push(part)
    return { status: answered[':status'], headers: answered, bytes: Buffer.concat(parts), trailers }
  } finally {
    session.close()
  }
}

function frame(message: string | Buffer): Buffer {
  const bytes = Buffer.from(message)
  const head = Buffer.alloc(5)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

/** Messages and trailers of an answer, read by the letter of PROTOCOL-WEB. */
function readAnswer({ headers, bytes: sent }: Got) {
  let bytes = sent
  if (String(headers['content-type']).startsWith('application/grpc-web-text')) {
    const quads = sent.toString('latin1').match(/.{4}/gs) ?? []
    assert.equal(quads.join('').length, sent.length)
    bytes = Buffer.concat(quads.map((quad) => Buffer.from(quad, 'base64')))
  }
  const messages: string[] = []
  let trailers: Record<string, string> | undefined
  for (let at = 0; at < bytes.length; ) {
    assert.equal(trailers, undefined, 'trailers are the last frame')
    const end = at + 5 + bytes.readUInt32BE(at + 1)
    assert.ok(end <= bytes.length, 'the last frame is whole')
    const text = bytes.toString('latin1', at + 5, end)
    if (bytes[at] === 0) messages.push(text)
    else {
      assert.equal(bytes[at], 0x80)
      const lines = text.split('\r\n')
      assert.equal(lines.pop(), '')
      trailers = Object.fromEntries(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2)))
    }
    at = end
  }
  return { messages, trailers }
}

async function world(t: TestContext, { keyed = false, on = true } = {}) {
  const echo = await startEcho(t)
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const made = await gate.svc(
    'POST',
    '/svc/apis/oas',
    defined({
      ...{ id: 'echo', url: `h2c://127.0.0.1:${echo.port}`, ...(keyed && { keyIn: 'x-key' }) },
      server: { listenPath: { value: '/echo.Echo/', strip: false }, grpcWeb: on },
      global: { compression: { enabled: true }, cors: { enabled: true, allowedOrigins: ['*'] } },
    }),
  )
  assert.equal(made.status, 200, made.text)
  return { echo, gate, port: gate.port }
}

const FORMS = [
  [BINARY, (frames: Buffer) => frames],
  [TEXT, (frames: Buffer) => Buffer.from(frames.toString('base64'))],
  // Each part with padding of its own.
  [
    `${TEXT}+proto`,
    (frames: Buffer) => Buffer.from(frames.subarray(0, 7).toString('base64') + frames.subarray(7).toString('base64')),
  ],
] as const

test('messages go there and back, and trailers come as the last frame', async (t) => {
  const { port, echo } = await world(t)
  for (const call of [overHttp1, overHttp2])
    for (const [type, form] of FORMS)
      for (const size of [0, 5, 70_000, 1_000_000]) {
        const message = 'm'.repeat(size)
        const headers = {
          'content-type': type,
          accept: type,
          'x-grpc-web': '1',
          'x-mine': 'yes',
          'accept-encoding': 'gzip',
        }
        const got = await call(port, '/echo.Echo/Say', headers, form(frame(message)))
        const where = `${type} ${size}`
        assert.deepEqual([got.status, got.headers['content-type'], got.headers['x-head']], [200, type, 'before'], where)
        assert.deepEqual([got.trailers, got.headers['content-encoding']], [undefined, undefined], where)
        const { messages, trailers } = readAnswer(got)
        assert.equal(messages.join(), message, where)
        assert.deepEqual([trailers?.['grpc-status'], trailers?.['x-trailer']], ['0', 'behind'], where)
        assert.deepEqual(echo.seen.metadata.get('x-mine'), ['yes'])
      }
})

test('many messages of the service, and one that fails', async (t) => {
  const { port } = await world(t)
  for (const call of [overHttp1, overHttp2])
    for (const [type, form] of FORMS) {
      const count = readAnswer(await call(port, '/echo.Echo/Count', { 'content-type': type }, form(frame('300'))))
      assert.deepEqual(
        count.messages,
        Array.from({ length: 300 }, (_, i) => String(i)),
      )
      assert.equal(count.trailers?.['grpc-status'], '0')
      const failed = await call(port, '/echo.Echo/Fail', { 'content-type': type }, form(frame('x')))
      const { messages, trailers } = readAnswer(failed)
      assert.deepEqual([failed.status, messages, trailers?.['grpc-status']], [200, [], '9'])
      assert.equal(decodeURIComponent(trailers?.['grpc-message'] ?? ''), 'nicht möglich: 50 %')
    }
})

test('refusals of the gateway are trailers, which browsers may read', async (t) => {
  const { port, echo, gate } = await world(t, { keyed: true })
  const key = await gate.svc('POST', '/svc/keys/create', {
    access_rights: { echo: { api_id: 'echo', versions: ['Default'] } },
  })
  const keyed = { 'x-key': String((key.json as { key: string }).key) }
  for (const call of [overHttp1, overHttp2])
    for (const [type, form] of FORMS) {
      const headers = { 'content-type': type, origin: 'https://a.example' }
      const open = await call(port, '/echo.Echo/Say', headers, form(frame('x')))
      assert.deepEqual([open.status, open.headers['content-type']], [200, type])
      assert.equal(open.headers['access-control-allow-origin'], '*')
      assert.equal(readAnswer(open).trailers?.['grpc-status'], '16')
      const admitted = await call(port, '/echo.Echo/Say', { ...headers, ...keyed }, form(frame('x')))
      assert.equal(readAnswer(admitted).trailers?.['grpc-status'], '0')
    }
  // More padded parts than any client sends: each costs as much as a long one.
  for (const body of ['AAAA*', 'A===', '=AAA', 'AAAAAA=A', 'AAA', 'AAA='.repeat(1001)]) {
    const refused = await overHttp1(port, '/echo.Echo/Say', { 'content-type': TEXT, ...keyed }, body)
    const { trailers } = readAnswer(refused)
    assert.deepEqual([refused.status, trailers?.['grpc-status']], [200, '13'], body.slice(0, 20))
    assert.match(String(trailers?.['grpc-message']), /base64/)
  }
  echo.server.forceShutdown()
  const away = await overHttp1(port, '/echo.Echo/Say', { 'content-type': BINARY, ...keyed }, frame('x'))
  assert.deepEqual([away.status, readAnswer(away).trailers?.['grpc-status']], [200, '14'])
})

test('an upstream that ends without a status is told as UNKNOWN', async (t) => {
  const upstream = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/grpc' })
    if (request.url.endsWith('Some')) response.write(frame('some'))
    response.end()
  }).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const { gate, port } = await world(t)
  t.after(() => upstream.close())
  const url = `h2c://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const made = await gate.svc('POST', '/svc/apis/oas', defined({ id: 'mute', url, server: { grpcWeb: true } }))
  assert.equal(made.status, 200, made.text)
  for (const call of [overHttp1, overHttp2])
    for (const [type, form] of FORMS)
      for (const method of ['Some', 'None']) {
        const got = await call(port, `/mute/${method}`, { 'content-type': type }, form(frame('m')))
        const { messages, trailers } = readAnswer(got)
        assert.deepEqual(
          [got.status, messages, trailers?.['grpc-status']],
          [200, method === 'Some' ? ['some'] : [], '2'],
        )
      }
})

test('without the setting the upstream gets what was sent; plain gRPC passes with it', async (t) => {
  const off = await world(t, { on: false })
  const got = await overHttp2(off.port, '/echo.Echo/Say', { 'content-type': BINARY }, frame('x'))
  assert.equal(got.headers['content-type'], 'application/grpc+proto')
  assert.equal(got.trailers?.['grpc-status'], '0')
  const { port } = await world(t)
  const { message, trailers } = await echoClient(t, port).unary('Say', 'x')
  assert.deepEqual([message, trailers.get('x-trailer')], ['x', ['behind']])
})
