import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  connect,
  createSecureServer,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { turnEnd } from '../../../src/wire/http1/write-batch.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'
import { type GateOptions, openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, statusOf, until, within } from '../../worlds/wire/raw.ts'

const CERTIFICATE = makeCertificate('up.example')

interface Call {
  readonly headers: IncomingHttpHeaders
  body: Buffer
  trailers: IncomingHttpHeaders
}

type Script = (stream: ServerHttp2Stream, call: Call, number: number) => void

const echo: Script = (stream, { body }) => {
  stream.respond({ ':status': 200, 'x-from': 'h2' })
  stream.end(body)
}

/** A real HTTP/2 server behind the gate. The script runs once a request is complete. */
async function world(
  t: TestContext,
  { script = echo, secure = false, settings = {}, gate = {} as Partial<GateOptions>, early = false } = {},
) {
  const calls: Call[] = []
  const sessions = new Set<object>()
  const server = secure ? createSecureServer({ ...CERTIFICATE, settings }) : createServer({ settings })
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => {})
    session.on('close', () => sessions.delete(session))
  })
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const call: Call = { headers, body: Buffer.alloc(0), trailers: {} }
    const number = calls.push(call) - 1
    stream.on('error', () => {})
    stream.on('trailers', (trailers) => {
      call.trailers = trailers
    })
    stream.on('data', (part: Buffer) => {
      call.body = Buffer.concat([call.body, part])
    })
    if (early) script(stream, call, number)
    else stream.on('end', () => script(stream, call, number))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const upstream = { http2: true, secure, serverName: 'up.example', ca: CERTIFICATE.cert, ...gate.upstream }
  const originPort = (server.address() as AddressInfo).port
  const opened = await openGate(t, { originPort, ...gate, upstream, limits: { http2Streams: 100 } })
  return { calls, sessions, gate: opened }
}

function session(t: TestContext, port: number): ClientHttp2Session {
  const client = connect(`http://127.0.0.1:${port}`)
  client.on('error', () => {})
  t.after(() => client.destroy())
  return client
}

const post = (body: string) => `POST /p?q HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${body.length}\r\n\r\n${body}`

for (const secure of [false, true]) {
  test(`HTTP/1.1 in front of HTTP/2 ${secure ? 'over TLS' : 'without TLS'}: heads and bodies pass`, async (t) => {
    const { calls, sessions, gate } = await world(t, { secure })
    const client = await Client.connect(gate.port)
    for (const size of [0, 1, 16_384, 16_385, 300_000]) {
      const body = 'x'.repeat(size)
      const found = await client.ask(post(body))
      assert.equal(statusOf(found), 200)
      assert.equal(found.body.toString(), body)
      assert.equal(fieldOf(found, 'x-from'), 'h2')
      const seen = calls.at(-1)!
      assert.equal(seen.body.length, size)
      assert.equal(seen.headers[':path'], '/p?q')
      assert.equal(seen.headers[':authority'], 'a.example')
      assert.equal(seen.headers[':scheme'], secure ? 'https' : 'http')
      assert.equal(seen.headers.connection, undefined)
    }
    const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
    assert.equal((await client.ask(chunked)).body.toString(), 'hello')
    assert.equal(statusOf(await client.ask(get('/'))), 200)
    assert.equal(sessions.size, 1)
    client.destroy()
  })
}

test('trailers pass from one HTTP/2 side to the other, both ways, and are left out of HTTP/1.1', async (t) => {
  const script: Script = (stream, { body }) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-end': 'of answer', 'x-two': ['a', 'b'] }))
    stream.end(body)
  }
  const { calls, gate } = await world(t, { script })
  const client = session(t, gate.port)
  for (const body of ['', 'a', 'b'.repeat(100_000)]) {
    const stream = client.request({ ':method': 'POST', ':path': '/' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-end': 'of request' }))
    let trailers: IncomingHttpHeaders = {}
    stream.on('trailers', (found) => {
      trailers = found
    })
    stream.end(body)
    let size = 0
    for await (const part of stream) size += (part as Buffer).length
    assert.equal(size, body.length)
    assert.deepEqual([trailers['x-end'], trailers['x-two']], ['of answer', 'a, b'])
    assert.equal(calls.at(-1)!.trailers['x-end'], 'of request')
  }
  const plain = await Client.connect(gate.port)
  const found = await plain.ask(post('c'))
  assert.equal(found.body.toString(), 'c')
  assert.deepEqual(found.trailers, [])
  plain.destroy()
})

test('an upstream of TLS that chooses HTTP/1.1 is asked over that', async (t) => {
  const origin = await openOrigin(t, undefined, { ...CERTIFICATE, ALPNProtocols: ['http/1.1'] })
  const upstream = { http2: true, secure: true, serverName: 'up.example', ca: CERTIFICATE.cert }
  const gate = await openGate(t, { originPort: origin.port, upstream })
  const client = await Client.connect(gate.port)
  for (let i = 0; i < 3; i++) assert.equal(statusOf(await client.ask(post('body'))), 200)
  assert.equal(origin.calls.length, 3)
  assert.ok(origin.accepted() <= 2, 'one connection to find out, one to ask')
  client.destroy()
})

test('a refused stream is asked again, once, whatever its method; any other end is not', async (t) => {
  const refusing = (times: number, code: number) => {
    const script: Script = (stream, call, number) => {
      if (number < times) stream.close(code)
      else echo(stream, call, number)
    }
    return world(t, { script })
  }
  for (const [times, code, status, asked] of [
    [1, 7, 200, 2],
    [2, 7, 502, 2],
    [1, 2, 502, 1],
    [1, 8, 502, 1],
  ] as const) {
    const { calls, gate } = await refusing(times, code)
    const client = await Client.connect(gate.port)
    const found = await client.ask(post('once'))
    assert.equal(statusOf(found), status, `${times} times ${code}`)
    assert.equal(calls.length, asked)
    if (status === 200) assert.equal(found.body.toString(), 'once')
    client.destroy()
  }
})

test('what was too long to keep is not asked again', async (t) => {
  const script: Script = (stream) => stream.close(7)
  const { calls, gate } = await world(t, { script })
  const client = await Client.connect(gate.port)
  assert.equal(statusOf(await client.ask(post('x'.repeat(20_000)))), 502)
  assert.equal(calls.length, 1)
  client.destroy()
})

test('requests beyond the streams that an upstream allows wait for one', async (t) => {
  const { gate, calls } = await world(t, { settings: { maxConcurrentStreams: 2 } })
  const client = session(t, gate.port)
  const statuses = Array.from({ length: 30 }, async () => {
    const stream = client.request({ ':path': '/' })
    const [headers] = (await within('an answer', once(stream, 'response'))) as [IncomingHttpHeaders]
    stream.resume()
    return headers[':status']
  })
  assert.deepEqual(new Set(await Promise.all(statuses)), new Set([200]))
  assert.equal(calls.length, 30)
})

test('an upstream that says GOAWAY answers what it has, and is dialled anew for the rest', async (t) => {
  const script: Script = (stream, call, number) => {
    stream.session?.goaway()
    echo(stream, call, number)
  }
  const { gate, calls } = await world(t, { script })
  const client = await Client.connect(gate.port)
  for (let i = 0; i < 5; i++) assert.equal(statusOf(await client.ask(get('/'))), 200)
  assert.equal(calls.length, 5)
  client.destroy()
})

test('a client that reads late gets all of an answer whose upstream has ended the session', async (t) => {
  // Less than the window of a stream and more than a client's: the end is here, and a part of the body waits for the client.
  const body = Buffer.alloc(250_000, 'body')
  const { gate, calls, sessions } = await world(t, {
    script: (stream) => {
      stream.respond({ ':status': 200, 'content-length': body.length })
      stream.end(body)
      stream.session?.close()
    },
  })
  const client = session(t, gate.port)
  const request = client.request({ ':path': '/late' })
  await once(request, 'response')
  await until('the session is over', () => calls.length === 1 && sessions.size === 0)
  await new Promise((answered) => client.ping(answered))
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  assert.equal(Buffer.concat(parts).compare(body), 0)
})

test('an answer that breaks off cuts the client off; an upstream that is not there is 502', async (t) => {
  const script: Script = (stream) => {
    // Bytes that have come may wait for the end of the turn in which the rest breaks off: the client gets them all the same.
    turnEnd.tryAgain()
    stream.respond({ ':status': 200, 'content-length': '100' })
    stream.write('half')
    setImmediate(() => stream.close(2))
  }
  const { gate } = await world(t, { script })
  const client = await Client.connect(gate.port)
  client.write(get('/'))
  const found = await client.answer()
  assert.equal(found?.complete, false)
  const away = await openGate(t, { originPort: 1, upstream: { http2: true } })
  const other = await Client.connect(away.port)
  assert.equal(statusOf(await other.ask(get('/'))), 502)
  assert.deepEqual(away.failures, ['upstream_unreachable'])
  other.destroy()
})

test('an upstream that stays silent is given up in its time, and its stream with it', async (t) => {
  const gate = { upstream: { headTimeoutMs: 200 } }
  const closed: number[] = []
  const script: Script = (stream) => void stream.on('close', () => closed.push(stream.rstCode))
  const world1 = await world(t, { script, gate })
  const client = await Client.connect(world1.gate.port)
  assert.equal(statusOf(await client.ask(get('/'))), 504)
  await until('the stream is closed', () => closed.length === 1)
  assert.equal(closed[0], 8)
  client.destroy()
})

test('a client that leaves takes its request with it', async (t) => {
  const closed: number[] = []
  const script: Script = (stream) => void stream.on('close', () => closed.push(stream.rstCode))
  const { gate, calls } = await world(t, { script })
  const client = await Client.connect(gate.port)
  client.write(get('/'))
  await until('it is asked', () => calls.length === 1)
  client.destroy(true)
  await until('the stream is closed', () => closed.length === 1)
  assert.equal(closed[0], 8)
  assert.equal(gate.done.aborted, 1)
})

test('idle sessions are closed in their time', async (t) => {
  const { gate, sessions } = await world(t, { gate: { upstream: { idleKeepMs: 100 } } })
  const client = await Client.connect(gate.port)
  assert.equal(statusOf(await client.ask(get('/'))), 200)
  await until('the session is closed', () => sessions.size === 0)
  assert.equal(statusOf(await client.ask(get('/'))), 200)
  client.destroy()
})
