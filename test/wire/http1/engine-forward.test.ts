import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Upstream } from '../../../src/wire/connect/upstream.ts'
import { forward, openGate } from '../../worlds/wire/gate.ts'
import { answering, type OriginScript, openOrigin, polite } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, statusOf, turn, until } from '../../worlds/wire/raw.ts'

const NAMES = ['content-length', 'transfer-encoding', 'connection'] as const

/** Answers any request with the bytes of its path. */
function canned(answers: Record<string, string>): OriginScript {
  return answering((request) => answers[request.start.split(' ')[1] ?? ''] ?? '')
}

test('answers are framed for the client that asked, whatever framing they came in', async (t) => {
  const answers = {
    '/length': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    '/empty': 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    '/chunked': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: v\r\n\r\n',
    '/close': 'HTTP/1.0 200 OK\r\n\r\nhello',
    '/204': 'HTTP/1.1 204 No Content\r\n\r\n',
    '/304': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: "a"\r\n\r\n',
  }
  const close = answering((request) => answers[request.start.split(' ')[1] as '/close'] ?? '')
  const origin = await openOrigin(t, async (connection) => {
    if (connection.number < 1000) await close(connection)
  })
  const gate = await openGate(t, { originPort: origin.port, upstream: { maxIdle: 0 } })
  const wanted = [
    ['GET', '/length', '1.1', 'hello', ['5', undefined, undefined]],
    ['GET', '/length', '1.0', 'hello', ['5', undefined, undefined]],
    ['HEAD', '/length', '1.1', '', ['5', undefined, undefined]],
    ['GET', '/empty', '1.1', '', ['0', undefined, undefined]],
    ['GET', '/chunked', '1.1', 'hello', [undefined, 'chunked', undefined]],
    ['GET', '/chunked', '1.0', 'hello', [undefined, undefined, undefined]],
    ['HEAD', '/chunked', '1.1', '', [undefined, undefined, undefined]],
    ['GET', '/204', '1.1', '', [undefined, undefined, undefined]],
    ['GET', '/304', '1.1', '', ['5', undefined, undefined]],
  ] as const
  for (const [method, path, version, body, framing] of wanted) {
    const client = await Client.connect(gate.port)
    const answer = await client.ask(`${method} ${path} HTTP/${version}\r\nHost: a\r\n\r\n`, method)
    const where = `${method} ${path} ${version}`
    assert.equal(answer.body.toString(), body, where)
    assert.deepEqual(
      NAMES.map((name) => fieldOf(answer, name)),
      framing,
      where,
    )
    assert.deepEqual(answer.trailers, [])
    if (version === '1.1') assert.equal(statusOf(await client.ask(get('/empty'))), 200, `${where}: the next one`)
    client.destroy()
  }
})

test('an answer that ends with its connection is chunked for HTTP/1.1', async (t) => {
  const origin = await openOrigin(t, async (connection) => {
    await connection.request()
    connection.write('HTTP/1.0 200 OK\r\n\r\nhello')
  })
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  for (let round = 0; round < 2; round++) {
    const answer = await client.ask(get('/'))
    assert.deepEqual(
      [answer.complete, answer.body.toString(), fieldOf(answer, 'transfer-encoding')],
      [true, 'hello', 'chunked'],
    )
  }
  assert.equal(origin.accepted(), 2)
  client.destroy()
})

test('hop-by-hop fields of an answer stay with us, a missing Date is added, a present one kept', async (t) => {
  const script = canned({
    '/a':
      'HTTP/1.1 200 Fine\r\nA: 1\r\nConnection: x-hop, keep-alive\r\nX-Hop: 2\r\nKeep-Alive: timeout=60\r\nB: 3\r\n' +
      'Proxy-Authenticate: x\r\nTrailer: y\r\nUpgrade: z\r\nSet-Cookie: c\r\nSet-Cookie: d\r\nContent-Length: 0\r\n\r\n',
    '/b': 'HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n',
  })
  const origin = await openOrigin(t, script)
  const gate = await openGate(t, {
    originPort: origin.port,
    respond(x) {
      x.response.drop('b')
      x.status = 203
      return 'X-Added: 4\r\n'
    },
  })
  const client = await Client.connect(gate.port)
  const first = await client.ask(get('/a'))
  assert.equal(first.start, 'HTTP/1.1 203 Non-Authoritative Information')
  assert.deepEqual(
    first.fields.filter(([name]) => name !== 'date'),
    [
      ['a', '1'],
      ['set-cookie', 'c'],
      ['set-cookie', 'd'],
      ['x-added', '4'],
      ['content-length', '0'],
    ],
  )
  assert.ok(fieldOf(first, 'date'))
  const second = await client.ask(get('/b'))
  assert.deepEqual(
    second.fields.filter(([name]) => name === 'date'),
    [['date', 'Sun, 06 Nov 1994 08:49:37 GMT']],
  )
  client.destroy()
})

test('requests keep their bodies, and the framing that the upstream needs', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  const large = 'x'.repeat(300_000)
  for (const [fields, bytes, framing, body] of [
    ['', '', [undefined, undefined], ''],
    ['Content-Length: 0\r\n', '', ['0', undefined], ''],
    ['Content-Length: 5\r\n', 'hello', ['5', undefined], 'hello'],
    [`Content-Length: ${large.length}\r\n`, large, [String(large.length), undefined], large],
    ['Transfer-Encoding: Chunked\r\n', '5;a=b\r\nhello\r\n0\r\nX-T: v\r\n\r\n', [undefined, 'chunked'], 'hello'],
    ['Transfer-Encoding: chunked\r\n', '0\r\n\r\n', [undefined, 'chunked'], ''],
    ['Transfer-Encoding: chunked\r\n', `493e0\r\n${large}\r\n0\r\n\r\n`, [undefined, 'chunked'], large],
  ] as const) {
    const request = `POST /p HTTP/1.1\r\nHost: a\r\n${fields}TE: trailers\r\nConnection: te\r\n\r\n${bytes}`
    assert.equal(statusOf(await client.ask(request)), 200)
    const call = origin.calls.at(-1)!
    assert.deepEqual([fieldOf(call, 'content-length'), fieldOf(call, 'transfer-encoding')], framing, fields)
    assert.equal(call.body.toString(), body)
    assert.deepEqual([call.trailers, fieldOf(call, 'te'), fieldOf(call, 'connection')], [[], undefined, undefined])
  }
  assert.equal(origin.accepted(), 1, 'one connection served all')
  client.destroy()
})

test('head and a small body go out in one write, both ways', async (t) => {
  const reads: number[] = []
  const origin = await openOrigin(t, async (connection) => {
    connection.socket.on('data', (chunk: Buffer) => reads.push(chunk.length))
    await polite(connection)
  })
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  const answers: number[] = []
  client.socket.on('data', (chunk: Buffer) => answers.push(chunk.length))
  for (let round = 1; round <= 5; round++) {
    await client.ask(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n${'x'.repeat(1000)}`)
    assert.deepEqual([reads.length, answers.length], [round, round])
  }
  client.destroy()
})

test('a stream flows at once in both directions', async (t) => {
  const origin = await openOrigin(t, async (connection) => {
    await connection.inbox.take('a head', ({ pending }) => pending.indexOf('\r\n\r\n'))
    connection.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
    const taken = async (text: string) => {
      await until(text, () => connection.inbox.pending.includes(text))
      connection.write(`${(text.length + 1).toString(16)}\r\n>${text}\r\n`)
    }
    for (const text of ['one', 'two', 'three']) await taken(text)
    await connection.inbox.toEnd()
  })
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  client.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  for (const text of ['one', 'two', 'three']) {
    client.write(`${text.length.toString(16)}\r\n${text}\r\n`)
    await until(`>${text}`, () => client.inbox.pending.includes(`>${text}`))
  }
  client.destroy()
  await until('the upstream was let go', () => origin.open() === 0)
  assert.deepEqual([gate.done.all, gate.done.aborted], [1, 1])
})

test('bytes that wait are not touched by what is read meanwhile', async (t) => {
  const size = 24 << 20
  const down = randomBytes(size)
  const up = randomBytes(size)
  const origin = await openOrigin(t, async (connection) => {
    const request = await connection.inbox.take('a head', ({ pending }) => {
      const at = pending.indexOf('\r\n\r\n')
      return at < 0 ? -1 : at + 4
    })
    if (request.bytes.includes('/noise')) {
      connection.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno')
      return
    }
    connection.write('HTTP/1.1 200 OK\r\nX-Half: ')
    connection.socket.pause()
    await until('the noise', () => noise > 0)
    connection.write(`whole\r\nContent-Length: ${size}\r\n\r\n`)
    connection.write(down.subarray(1))
    await until('more noise', () => noise > 5)
    connection.socket.resume()
    const got = await connection.inbox.take('the body', () => size)
    intact = got.bytes.equals(up)
    connection.write(down.subarray(0, 1)) // an answer that is complete would end the request
    await connection.inbox.toEnd()
  })
  let noise = 0
  let intact = false
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
  client.write(up)
  client.socket.pause()
  const other = await Client.connect(gate.port)
  for (; noise < 10; noise++) {
    assert.equal((await other.ask(get('/noise'))).body.toString(), 'no')
    for (let turns = 0; turns < 20; turns++) await turn()
  }
  client.socket.resume()
  const answer = await client.answer()
  assert.deepEqual(
    [fieldOf(answer!, 'x-half'), answer?.body.equals(Buffer.concat([down.subarray(1), down.subarray(0, 1)]))],
    ['whole', true],
  )
  assert.ok(intact)
  client.destroy()
  other.destroy()
})

test('another upstream may be tried while the body is untouched; then it gets all of it', async (t) => {
  const origin = await openOrigin(t)
  const dead = await openOrigin(t)
  const refusing = new Upstream({
    host: '127.0.0.1',
    port: 1,
    secure: false,
    connectTimeoutMs: 5000,
    headTimeoutMs: 5000,
    idleTimeoutMs: 0,
    totalTimeoutMs: 0,
    maxIdle: 1,
    idleKeepMs: 1000,
  })
  const seen: boolean[] = []
  const gate = await openGate(t, {
    originPort: origin.port,
    handle: (x) => forward(x, refusing),
    failed(x, upstream) {
      seen.push(x.bodyUntouched)
      if (x.bodyUntouched) forward(x, upstream)
      else x.reply(502, '', 'spent')
    },
  })
  const client = await Client.connect(gate.port)
  for (const body of ['hello', 'x'.repeat(200_000)]) {
    assert.equal(
      statusOf(await client.ask(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`)),
      200,
    )
    assert.equal(origin.calls.at(-1)?.body.toString(), body)
  }
  assert.deepEqual(seen, [true, true])
  assert.equal(dead.accepted(), 0)
  client.destroy()
})

test('times and sizes of an exchange are told', async (t) => {
  const origin = await openOrigin(t, canned({ '/': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello' }))
  const told: { times: number[]; sizes: number[]; forwarded: boolean }[] = []
  const gate = await openGate(t, {
    originPort: origin.port,
    done(x) {
      told.push({
        times: [x.startedAt, x.upstreamAt, x.upstreamHeadAt, performance.now()],
        sizes: [x.bytesIn, x.bytesOut],
        forwarded: x.forwarded,
      })
    },
  })
  const client = await Client.connect(gate.port)
  const request = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'
  let bytes = 0
  client.socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  await client.ask(request)
  const [one] = told
  assert.ok(one !== undefined)
  assert.deepEqual(one.sizes, [request.length, bytes])
  assert.deepEqual(
    one.times,
    [...one.times].sort((a, b) => a - b),
  )
  assert.ok(one.times.every((time) => time > 0) && one.forwarded)
  client.destroy()
})
