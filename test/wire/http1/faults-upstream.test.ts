import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { makeCertificate } from '../../worlds/wire/certificates.ts'
import { type Gate, openGate } from '../../worlds/wire/gate.ts'
import { type OriginScript, openOrigin } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, type Message, statusOf, turn, until } from '../../worlds/wire/raw.ts'
import { bufferBytes, legsEnd, nothingLeft } from '../../worlds/wire/until-quiet.ts'

/** The bytes that the upstream does send arrive within it, on a busy machine. */
const SHORT_MS = 500
const OK = 'HTTP/1.1 200 OK\r\n'

/** Answers every request with these bytes; `ends` closes the connection behind them, `resets` breaks it. */
function saying(bytes: string, then: 'stays' | 'ends' | 'resets' = 'stays'): OriginScript {
  return async (connection) => {
    for (;;) {
      const request = await connection.request()
      if (request === undefined || !request.complete) return
      connection.write(bytes)
      if (then === 'ends') return
      if (then !== 'resets') continue
      await turn()
      connection.socket.resetAndDestroy()
      return
    }
  }
}

async function ask(gate: Gate, request = get('/'), method = 'GET'): Promise<Message | undefined> {
  const client = await Client.connect(gate.port)
  client.write(request)
  const answer = await client.answer(method)
  client.destroy()
  return answer
}

/** Invalid response heads: 502, with anything after them. */
const BAD_HEADS: Readonly<Record<string, string>> = {
  garbage: '\0\x01\x02\x03\r\n\r\n',
  'another protocol': 'SSH-2.0-OpenSSH_9.0\r\n',
  'a request': 'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'HTTP/2.0': 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n',
  'HTTP/0.9 text': 'hello',
  'lower case': 'http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'leading space': ' HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'leading line feed': '\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'two spaces': 'HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n',
  'status of two digits': 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n',
  'status of four digits': 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n',
  'status of letters': 'HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n',
  'status 099': 'HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n',
  'negative status': 'HTTP/1.1 -20 OK\r\nContent-Length: 0\r\n\r\n',
  'control in the reason': 'HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n',
  'bare CR in the reason': 'HTTP/1.1 200 O\rK\r\nContent-Length: 0\r\n\r\n',
  'bare CR in a field': `${OK}X: y\rContent-Length: 0\r\n\r\n`,
  'folded status line': 'HTTP/1.1 200 OK\r\n X: y\r\nContent-Length: 0\r\n\r\n',
  'bare LF and bare CR': 'HTTP/1.1 200 OK\nX: y\rContent-Length: 0\n\n',
  'folded lengths': `${OK}Content-Length: 2\r\n 3\r\n\r\nok`,
  'space before the colon': `${OK}X : y\r\nContent-Length: 0\r\n\r\n`,
  'no colon': `${OK}X\r\nContent-Length: 0\r\n\r\n`,
  'empty name': `${OK}: x\r\nContent-Length: 0\r\n\r\n`,
  'NUL in a value': `${OK}X: a\0b\r\nContent-Length: 0\r\n\r\n`,
  'two lengths': `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nokk`,
  'two lengths, written otherwise': `${OK}Content-Length: 2\r\nContent-Length: 02, 3\r\n\r\nok`,
  'list of lengths': `${OK}Content-Length: 2, 3\r\n\r\nokk`,
  'length with sign': `${OK}Content-Length: +2\r\n\r\nok`,
  'negative length': `${OK}Content-Length: -2\r\n\r\nok`,
  'hexadecimal length': `${OK}Content-Length: 0x2\r\n\r\nok`,
  'huge length': `${OK}Content-Length: 18446744073709551618\r\n\r\nok`,
  'empty length': `${OK}Content-Length:\r\n\r\nok`,
  'unknown coding': `${OK}Transfer-Encoding: cow\r\n\r\nok`,
  'two codings': `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'chunked twice': `${OK}Transfer-Encoding: chunked, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  'space before the colon of the coding': `${OK}Transfer-Encoding : chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
  'chunked in HTTP/1.0': 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'unsolicited 101': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  'head of 1 MB': `${OK}X: ${'a'.repeat(1 << 20)}\r\nContent-Length: 0\r\n\r\n`,
  'status line of 1 MB': `HTTP/1.1 200 ${'a'.repeat(1 << 20)}\r\nContent-Length: 0\r\n\r\n`,
  '20000 fields': `${OK}${'X: y\r\n'.repeat(20_000)}Content-Length: 0\r\n\r\n`,
}

for (const [name, bytes] of Object.entries(BAD_HEADS)) {
  test(`an answer head is refused: ${name}`, async (t) => {
    const origin = await openOrigin(t, saying(bytes))
    const gate = await openGate(t, { originPort: origin.port })
    const client = await Client.connect(gate.port)
    assert.equal(statusOf(await client.ask(get('/'))), 502)
    assert.equal(statusOf(await client.ask(get('/'))), 502, 'the client connection lives on')
    assert.deepEqual([...new Set(gate.failures)], ['upstream_malformed'])
    client.destroy()
    await nothingLeft(gate)
    await legsEnd(origin)
  })
}

/** Bodies that break their own promise: the client must see that something is missing. */
const CUT_BODIES: Readonly<Record<string, readonly [string, 'stays' | 'ends' | 'resets']>> = {
  'shorter than its length': [`${OK}Content-Length: 10\r\n\r\nhello`, 'ends'],
  'shorter than its length, reset': [`${OK}Content-Length: 10\r\n\r\nhello`, 'resets'],
  'no last chunk': [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`, 'ends'],
  'ends within a chunk': [`${OK}Transfer-Encoding: chunked\r\n\r\n9\r\nhello`, 'ends'],
  'ends within the last line': [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n`, 'ends'],
  'bad chunk size': [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\n`, 'stays'],
  'chunk size with a bare LF': [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\nhello\r\n0\r\n\r\n`, 'stays'],
  'chunk longer than its size': [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n`, 'stays'],
  'chunk size overflow': [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n10000000000000005\r\n`, 'stays'],
  'endless chunk extension': [`${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5;${'a'.repeat(100_000)}`, 'stays'],
}

for (const [name, [bytes, then]] of Object.entries(CUT_BODIES)) {
  test(`a broken answer body is not passed as whole: ${name}`, async (t) => {
    const origin = await openOrigin(t, saying(bytes, then))
    const gate = await openGate(t, { originPort: origin.port })
    const client = await Client.connect(gate.port)
    client.write(get('/'))
    const answer = await client.answer()
    assert.ok(answer === undefined || !answer.complete || statusOf(answer) === 502)
    if (answer?.complete !== true) assert.equal(await client.answer(), undefined, 'closed')
    client.destroy()
    await nothingLeft(gate)
    await legsEnd(origin)
  })
}

test('no answer at all is 502: reset, end, and a head that breaks off', async (t) => {
  for (const [bytes, then] of [
    ['', 'ends'],
    ['', 'resets'],
    ['HTTP/1.1 200 OK\r\nConte', 'ends'],
    ['HTTP/1.1 200 OK\r\nConte', 'resets'],
    ['HTTP/1.1 103 Early Hints\r\n\r\n', 'ends'],
  ] as const) {
    const origin = await openOrigin(t, saying(bytes, then))
    const gate = await openGate(t, { originPort: origin.port })
    const answer = await ask(gate, `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello`)
    assert.ok(answer !== undefined)
    assert.equal(statusOf(answer), 502, JSON.stringify([bytes, then]))
    assert.equal(origin.calls.length, 1, 'a POST is not sent twice')
    await nothingLeft(gate)
    await legsEnd(origin)
  }
})

test('a port where nobody listens is 502', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  const gate = await openGate(t, { originPort: port })
  const client = await Client.connect(gate.port)
  const upload = await client.ask('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello')
  assert.equal(statusOf(upload), 502)
  if (fieldOf(upload, 'connection') !== 'close') assert.equal(statusOf(await client.ask(get('/'))), 502)
  client.destroy()
  assert.deepEqual([...new Set(gate.failures)], ['upstream_unreachable'])
  await nothingLeft(gate)
})

test('every wait for the upstream has its bound', async (t) => {
  const head = `${OK}Content-Length: 10\r\n\r\n`
  const scripts: Readonly<Record<string, [string, object]>> = {
    'no answer': ['', { headTimeoutMs: SHORT_MS }],
    'half a head': ['HTTP/1.1 200 OK\r\nX: ', { headTimeoutMs: SHORT_MS }],
    'interim answers only': ['HTTP/1.1 103 Early Hints\r\n\r\n', { headTimeoutMs: SHORT_MS }],
    'no answer, total': ['', { totalTimeoutMs: SHORT_MS }],
    'half a body': [`${head}hello`, { idleTimeoutMs: SHORT_MS }],
    'half a body, total': [`${head}hello`, { totalTimeoutMs: SHORT_MS }],
    'half a chunk': [`${OK}Transfer-Encoding: chunked\r\n\r\n9\r\nhel`, { idleTimeoutMs: SHORT_MS }],
    'head without a body': [head, { idleTimeoutMs: SHORT_MS }],
  }
  for (const [name, [bytes, upstream]] of Object.entries(scripts)) {
    const origin = await openOrigin(t, saying(bytes))
    const gate = await openGate(t, { originPort: origin.port, upstream })
    const answer = await ask(gate)
    if (bytes.includes('200 OK\r\nContent') || bytes.includes('200 OK\r\nTransfer')) {
      assert.ok(answer === undefined || !answer.complete || statusOf(answer) === 504, name)
    } else {
      assert.ok(answer !== undefined, name)
      assert.equal(statusOf(answer), 504, name)
      assert.deepEqual(gate.failures, ['upstream_timeout'], name)
    }
    await nothingLeft(gate)
    await legsEnd(origin)
  }
})

test('a body that drips for ever ends with the total bound', async (t) => {
  const origin = await openOrigin(t, async (connection) => {
    await connection.request()
    connection.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`)
    while (connection.socket.writable) {
      connection.write('1\r\na\r\n')
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
  const gate = await openGate(t, {
    originPort: origin.port,
    upstream: { totalTimeoutMs: 2 * SHORT_MS, idleTimeoutMs: SHORT_MS },
  })
  const answer = await ask(gate)
  assert.equal(answer?.complete, false)
  assert.ok((answer?.body.length ?? 0) > 0)
  await nothingLeft(gate)
  await legsEnd(origin)
})

test('an upstream that takes the connection but no TLS handshake is 504', async (t) => {
  const origin = await openOrigin(t, async (connection) => {
    await connection.inbox.toEnd()
  })
  const gate = await openGate(t, {
    originPort: origin.port,
    upstream: { secure: true, insecure: true, connectTimeoutMs: SHORT_MS },
  })
  const answer = await ask(gate)
  assert.equal(answer === undefined ? 0 : statusOf(answer), 504)
  await nothingLeft(gate)
  await legsEnd(origin)
})

test('an upstream that does not read the body stops the client, and is given up in the end', async (t) => {
  const given = Promise.withResolvers<void>()
  const origin = await openOrigin(t, async (connection) => {
    connection.inbox.stop()
    connection.socket.pause()
    await given.promise
    connection.socket.resume()
    await new Promise((resolve) => connection.socket.once('close', resolve))
  })
  const gate = await openGate(t, { originPort: origin.port, upstream: { idleTimeoutMs: 4 * SHORT_MS } })
  const before = bufferBytes()
  const client = await Client.connect(gate.port)
  const size = 256 << 20
  client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
  const piece = Buffer.alloc(1 << 18)
  const pump = () => {
    while (client.socket.writable && client.socket.write(piece));
  }
  client.socket.on('drain', pump)
  pump()
  await until('the exchange ends', () => gate.done.all === 1)
  given.resolve()
  assert.ok(bufferBytes() - before < 64 << 20, 'what nobody takes is not kept')
  const answer = await client.answer()
  if (answer !== undefined) assert.equal(statusOf(answer), 504)
  client.destroy()
  await nothingLeft(gate)
  await legsEnd(origin)
})

test('an answer before the end of the request body reaches the client; the leg is not used again', async (t) => {
  for (const bytes of [
    'HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno',
    'HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n`,
  ]) {
    const origin = await openOrigin(t, async (connection) => {
      await connection.inbox.take('the head', ({ pending }) => {
        const at = pending.indexOf('\r\n\r\n')
        return at < 0 ? -1 : at + 4
      })
      connection.write(bytes)
      await connection.inbox.toEnd()
    })
    const gate = await openGate(t, { originPort: origin.port })
    const client = await Client.connect(gate.port)
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nhello')
    const answer = await client.answer()
    assert.equal(answer?.body.toString(), 'no', bytes)
    assert.equal(statusOf(answer), Number(bytes.slice(9, 12)))
    client.destroy()
    await nothingLeft(gate)
    await legsEnd(origin)
    assert.equal(statusOf((await ask(gate)) as Message), Number(bytes.slice(9, 12)))
    assert.equal(origin.accepted(), 2, 'the second request has a leg of its own')
  }
})

test('an answer is read though the upstream closed with it while more of the body was sent', async (t) => {
  const certificate = makeCertificate('up.example')
  const secured = { tls: certificate, upstream: { secure: true, ca: certificate.cert, serverName: 'up.example' } }
  for (const { coding, tls, upstream } of [
    { coding: 'Content-Length: 4000000', tls: undefined, upstream: {} },
    { coding: 'Transfer-Encoding: chunked', tls: undefined, upstream: {} },
    { coding: 'Content-Length: 4000000', ...secured },
    { coding: 'Transfer-Encoding: chunked', ...secured },
  ]) {
    const answered = Promise.withResolvers<void>()
    let close = () => {}
    const origin = await openOrigin(
      t,
      async ({ socket, inbox }) => {
        await inbox.take('the beginning', ({ pending }) => (pending.length > 1000 ? pending.length : -1))
        socket.pause()
        close = () => {
          socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno')
          // With unread bytes this is a reset.
          socket.destroy()
        }
        answered.resolve()
        await inbox.toEnd()
      },
      tls,
    )
    const gate = await openGate(t, { originPort: origin.port, upstream })
    const client = await Client.connect(gate.port)
    const part = Buffer.alloc(60_000, 'x')
    const framed = coding.startsWith('C') ? part : Buffer.concat([Buffer.from('ea60\r\n'), part, Buffer.from('\r\n')])
    client.write(`POST / HTTP/1.1\r\nHost: a\r\n${coding}\r\n\r\n`)
    for (let i = 0; i < 5; i++) client.write(framed)
    await answered.promise
    await until('the request is on its way', () => gate.inFlight() === 1)
    // In one turn, so that the gate hears of the client's bytes first: it writes to a connection that was reset.
    client.write(framed)
    close()
    const answer = await client.answer()
    assert.deepEqual([statusOf(answer as Message), answer?.body.toString()], [413, 'no'], coding)
    client.destroy()
    await nothingLeft(gate)
    await legsEnd(origin)
  }
})
