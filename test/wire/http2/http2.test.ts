import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { FrameClient, fate, frame, getFields, PREFACE, request, TYPE } from '../../worlds/wire/frames.ts'
import { type Gate, type GateOptions, openGate } from '../../worlds/wire/gate.ts'
import { answering, openOrigin, polite } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, statusOf, until, within } from '../../worlds/wire/raw.ts'
import { choose, to } from '../../worlds/wire/tls-gate.ts'

const SPOKEN = { http2Streams: 100 }

async function open(t: TestContext, options: Partial<GateOptions> = {}, script = polite) {
  const origin = await openOrigin(t, script)
  const gate = await openGate(t, { originPort: origin.port, ...options, limits: { ...SPOKEN, ...options.limits } })
  return { origin, gate }
}

function session(t: TestContext, gate: Gate, secure = false): ClientHttp2Session {
  const opened = secure
    ? connect('https://plain.example', {
        createConnection: () =>
          connectTls({ host: '127.0.0.1', port: gate.port, ALPNProtocols: ['h2'], ...to('plain.example') }),
      })
    : connect(`http://127.0.0.1:${gate.port}`)
  opened.on('error', () => {})
  t.after(() => opened.destroy())
  return opened
}

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

async function answer(stream: ClientHttp2Stream): Promise<Answered> {
  const [headers] = (await within('an answer', once(stream, 'response'))) as [Record<string, unknown>]
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  return { status: Number(headers[':status']), headers, body: Buffer.concat(parts) }
}

function ask(client: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string | Buffer): Promise<Answered> {
  const stream = client.request({ ':path': '/', ...headers }, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  return answer(stream)
}

for (const secure of [false, true]) {
  const how = secure ? 'by ALPN' : 'with prior knowledge'

  test(`${how}: requests pass to an upstream of HTTP/1.1, with all that they hold`, async (t) => {
    const { origin, gate } = await open(t, secure ? { tls: choose } : {})
    const client = session(t, gate, secure)
    const found = await ask(client, { ':path': '/a/./b?c=d', 'x-a': 'b', cookie: ['k=1', 'l=2'], te: 'trailers' })
    assert.equal(found.status, 200)
    assert.equal(found.body.toString(), 'ok')
    const call = origin.calls[0]!
    assert.equal(call.start, 'GET /a/b?c=d HTTP/1.1')
    assert.equal(fieldOf(call, 'host'), secure ? 'plain.example:443' : `127.0.0.1:${gate.port}`)
    assert.equal(fieldOf(call, 'x-a'), 'b')
    assert.equal(fieldOf(call, 'cookie'), 'k=1; l=2')
    assert.equal(fieldOf(call, 'te'), undefined)
    assert.equal(gate.peers[0]!.secure, secure)
    assert.equal(found.headers.connection, undefined)
    assert.equal(found.headers['content-length'], '2')
  })

  test(`${how}: bodies of any size pass both ways`, async (t) => {
    const { origin, gate } = await open(t, secure ? { tls: choose } : {}, async (connection) => {
      for (;;) {
        const request = await connection.request()
        if (request === undefined || !request.complete) return
        connection.write(`HTTP/1.1 200 OK\r\nContent-Length: ${request.body.length}\r\n\r\n`)
        connection.write(request.body)
      }
    })
    const client = session(t, gate, secure)
    for (const size of [0, 1, 16_384, 16_385, 1_000_000]) {
      for (const sized of [true, false]) {
        const body = Buffer.alloc(size, 'x')
        const length = sized ? { 'content-length': size } : {}
        const found = await ask(client, { ':method': 'POST', ...length }, body)
        assert.ok(found.body.equals(body), `${size} bytes`)
        assert.equal(fieldOf(origin.calls.at(-1)!, 'transfer-encoding'), sized ? undefined : 'chunked')
      }
    }
    assert.deepEqual(gate.failures, [])
  })
}

test('one port speaks HTTP/1.1 and HTTP/2, plain and over TLS', async (t) => {
  for (const secure of [false, true]) {
    const { gate } = await open(t, secure ? { tls: choose } : {})
    const old = await Client.connect(
      gate.port,
      secure ? to('plain.example', { ALPNProtocols: ['http/1.1'] }) : undefined,
    )
    const client = session(t, gate, secure)
    for (let i = 0; i < 3; i++) {
      assert.equal(statusOf(await old.ask(get('/'))), 200)
      assert.equal((await ask(client, {})).status, 200)
    }
    old.destroy()
  }
})

test('the preface may come in any pieces, with a request behind it', async (t) => {
  const { gate } = await open(t)
  const bytes = Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0), request(1, getFields())])
  for (let cut = 1; cut <= bytes.length; cut += cut < 40 ? 1 : 7) {
    const client = await FrameClient.bare(gate.port)
    await client.client.writeCut(bytes, [cut])
    assert.equal(await fate(client), 'status 200', `cut at ${cut}`)
    client.destroy()
  }
  await until('all are let go', () => gate.listener.connections() === 0)
})

test('streams are answered as their answers come, not in the order of the requests', async (t) => {
  const held: (() => void)[] = []
  const { gate } = await open(t, {
    handle: (x) => {
      if (x.path === '/slow') held.push(() => x.reply(200, '', 'slow'))
      else x.reply(200, '', 'fast')
    },
  })
  const client = session(t, gate)
  const slow = ask(client, { ':path': '/slow' })
  for (let i = 0; i < 20; i++) assert.equal((await ask(client, {})).body.toString(), 'fast')
  held[0]!()
  assert.equal((await slow).body.toString(), 'slow')
  assert.equal(gate.done.all, 21)
})

test('HEAD, 204 and 304 come without a body', async (t) => {
  const script = answering(({ start }) => {
    if (start.includes('/204')) return 'HTTP/1.1 204 No Content\r\n\r\n'
    if (start.includes('/304')) return 'HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n'
    return 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
  })
  const { gate } = await open(t, {}, script)
  const client = session(t, gate)
  const head = await ask(client, { ':method': 'HEAD' })
  assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, '2', 0])
  for (const status of [204, 304]) {
    const found = await ask(client, { ':path': `/${status}` })
    assert.deepEqual([found.status, found.body.length], [status, 0])
  }
  const own = await open(t, { handle: (x) => x.reply(Number(x.path.slice(1)), 'X-A: b\r\n', 'text') })
  const other = session(t, own.gate)
  assert.equal((await ask(other, { ':path': '/404' })).body.toString(), 'text')
  assert.equal((await ask(other, { ':path': '/404', ':method': 'HEAD' })).body.length, 0)
  assert.equal((await ask(other, { ':path': '/204' })).headers['x-a'], 'b')
})

test('a client that reads slowly holds its upstream back, and no other stream', async (t) => {
  const { gate } = await open(t, {}, async (connection) => {
    const request = await connection.request()
    if (request === undefined) return
    if (!request.start.includes('/large')) {
      connection.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      return
    }
    connection.write('HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n')
    for (let i = 0; i < 200; i++) {
      if (!connection.socket.write(Buffer.alloc(100_000))) await once(connection.socket, 'drain')
    }
  })
  const client = session(t, gate)
  const large = client.request({ ':path': '/large' })
  await within('a head', once(large, 'response'))
  for (let i = 0; i < 5; i++) assert.equal((await ask(client, {})).status, 200)
  let size = 0
  for await (const part of large) size += (part as Buffer).length
  assert.equal(size, 20_000_000)
})

test('a body that goes on too long, comes too slowly or is cut off fails its stream alone', async (t) => {
  const { gate } = await open(t, {
    limits: { bodyIdleMs: 1_500 },
    handle: (x, upstream) => {
      x.bodyLimitBytes = 1000
      x.forward(upstream, 'POST', `POST / HTTP/1.1\r\nHost: a\r\n`)
    },
  })
  const client = session(t, gate)
  const large = await ask(client, { ':method': 'POST' }, Buffer.alloc(2000))
  assert.equal(large.status, 413)
  const slow = client.request({ ':method': 'POST', ':path': '/' })
  slow.write('a')
  assert.equal((await answer(slow)).status, 408)
  const cut = client.request({ ':method': 'POST', ':path': '/' })
  cut.write('a')
  await until('it is in flight', () => gate.inFlight() === 1)
  cut.close(8)
  await until('it is over', () => gate.inFlight() === 0)
  assert.equal(gate.done.aborted, 1)
  assert.equal((await ask(client, { ':method': 'POST' }, 'b')).status, 200)
})

test('an answer that breaks off resets its stream, and says so by no end of the body', async (t) => {
  const { gate } = await open(t, {}, async (connection) => {
    await connection.request()
    connection.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
    connection.socket.end()
  })
  const client = session(t, gate)
  const stream = client.request({ ':path': '/' })
  stream.on('error', () => {})
  stream.resume()
  await within('the end', new Promise((resolve) => stream.on('close', resolve)))
  assert.notEqual(stream.rstCode, 0)
  assert.equal(gate.done.aborted, 1)
})

test('a body is asked for by 100 Continue only when it is wanted', async (t) => {
  const { gate } = await open(t)
  const client = session(t, gate)
  const stream = client.request({ ':method': 'POST', ':path': '/', expect: '100-continue' })
  await within('100', once(stream, 'continue'))
  stream.end('body')
  assert.equal((await answer(stream)).status, 200)
})

test('an idle connection is closed in its time, and one that a drain meets after its last answer', async (t) => {
  const quick = await open(t, { limits: { keepAliveMs: 1_000 } })
  const idle = session(t, quick.gate)
  assert.equal((await ask(idle, {})).status, 200)
  await within('its end', once(idle, 'close'))
  await until('it is let go', () => quick.gate.listener.connections() === 0)

  const held: (() => void)[] = []
  const busy = await open(t, { handle: (x) => void held.push(() => x.reply(200, '', 'late')) })
  const client = session(t, busy.gate)
  const asked = ask(client, {})
  await until('it is handled', () => held.length === 1)
  const goaway = once(client, 'goaway')
  const drained = busy.gate.listener.drain(60_000)
  await within('GOAWAY', goaway)
  held[0]!()
  assert.equal((await asked).body.toString(), 'late')
  await within('the drain', drained)
  assert.equal(busy.gate.done.aborted, 0)
})

test('a client that never opens the window for its answer is given up', async (t) => {
  const { gate } = await open(t, { limits: { bodyIdleMs: 200 }, handle: (x) => x.reply(200, '', 'never read') })
  const client = await FrameClient.connect(gate.port, [0, 4, 0, 0, 0, 0])
  client.send(request(1, getFields()))
  assert.equal(await fate(client), 'status 200')
  assert.equal(await fate(client), 'reset 8')
  client.destroy()
})

test('an answer that is given more than once is given to streams too', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nX-A: b\r\n'
  const kept = { status: 200, head, headEnd: 'Content-Length: 2\r\n\r\n', text: 'ok', bytes: undefined, whole: '' }
  const { gate } = await open(t, { handle: (x) => x.repeat(kept, 'Age: 7\r\n') })
  const client = session(t, gate)
  for (const method of ['GET', 'HEAD', 'GET']) {
    const found = await ask(client, { ':method': method })
    assert.deepEqual([found.status, found.headers['x-a'], found.headers.age], [200, 'b', '7'])
    assert.deepEqual([found.headers['content-length'], found.body.toString()], ['2', method === 'GET' ? 'ok' : ''])
  }
  assert.equal(gate.done.all, 3)
})
