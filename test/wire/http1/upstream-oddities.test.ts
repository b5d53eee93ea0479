import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { asked, openFramePeer } from '../../worlds/wire/frame-peer.ts'
import { FLAG, frame, literals, TYPE } from '../../worlds/wire/frames.ts'
import { type Gate, openGate } from '../../worlds/wire/gate.ts'
import { type Origin, type OriginScript, openOrigin } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, statusOf, turn } from '../../worlds/wire/raw.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'

interface Oddity {
  readonly bytes: string
  /** The connection may serve another request: nothing about the borders of messages is in doubt. */
  readonly reused: boolean
  /** Value of `X` that the client gets. */
  readonly field?: string
  readonly status?: number
}

/** Answers with the body `hello`, as old servers frame them. */
const REPAIRED: Readonly<Record<string, Oddity>> = {
  'no space behind the status': { bytes: 'HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello', reused: true },
  'the same length twice': { bytes: `${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`, reused: true },
  'the same length in a list': { bytes: `${OK}Content-Length: 5, 5,5\r\n\r\nhello`, reused: true },
  'a length beside chunks': {
    bytes: `${OK}Content-Length: 3\r\n${CHUNKED}\r\n5\r\nhello\r\n0\r\n\r\n`,
    reused: false,
  },
  'chunks beside a length': {
    bytes: `${OK}${CHUNKED}Content-Length: 999\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    reused: false,
  },
  'padding behind chunk sizes': { bytes: `${OK}${CHUNKED}\r\n5   \r\nhello\r\n0 \t\r\n\r\n`, reused: true },
  'padding behind chunk extensions': { bytes: `${OK}${CHUNKED}\r\n5;a \r\nhello\r\n0 ; b=c \r\n\r\n`, reused: true },
  'a coding with blanks and commas around it': {
    bytes: `${OK}Transfer-Encoding:\t, Chunked ,\t\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    reused: true,
  },
  'the same length in a list with blanks': { bytes: `${OK}Content-Length: 5 ,5\t,\t5\t\r\n\r\nhello`, reused: true },
  'Connection names the coding': {
    bytes: `${OK}Connection: keep-alive, Transfer-Encoding\r\n${CHUNKED}\r\n5\r\nhello\r\n0\r\n\r\n`,
    reused: true,
  },
  'Connection names the coding behind it': {
    bytes: `${OK}${CHUNKED}Connection: Transfer-Encoding\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    reused: true,
  },
  'Connection names the length': {
    bytes: `${OK}Connection: content-length\r\nContent-Length: 5\r\n\r\nhello`,
    reused: true,
  },
  'Connection names fields of the answer': {
    bytes: `${OK}X: y\r\nConnection: Date, Server, Set-Cookie, X, Content-Type, Host\r\nServer: s\r\nContent-Length: 5\r\n\r\nhello`,
    reused: true,
  },
  'bare LF': { bytes: 'HTTP/1.1 200 OK\nX: y\nContent-Length: 5\n\nhello', reused: false, field: 'y' },
  'bare LF and no reason': { bytes: 'HTTP/1.1 404\nContent-Length: 5\n\nhello', reused: false, status: 404 },
  'one bare LF': { bytes: `${OK}X: y\nContent-Length: 5\r\n\r\nhello`, reused: false, field: 'y' },
  'an empty line of bare LF': { bytes: `${OK}Content-Length: 5\r\n\nhello`, reused: false },
  'bare LF before chunks': { bytes: `HTTP/1.1 200 OK\n${CHUNKED}\n5\r\nhello\r\n0\r\n\r\n`, reused: false },
  'a folded field': {
    bytes: `${OK}X: a\r\n b\r\n\t c\r\nContent-Length: 5\r\n\r\nhello`,
    reused: false,
    field: 'a b c',
  },
  'a folded length': { bytes: `${OK}Content-Length:\r\n 5\r\n\r\nhello`, reused: false },
  'folded chunks': { bytes: `${OK}Transfer-Encoding:\r\n\tchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, reused: false },
}

/** Answers a request with the bytes, cut at the places; each part is read by itself. */
function saying(bytes: string, cuts: readonly number[] = []): OriginScript {
  return async (connection) => {
    for (;;) {
      const request = await connection.request()
      if (request === undefined || !request.complete) return
      let from = 0
      for (const cut of [...cuts, bytes.length]) {
        connection.write(bytes.slice(from, cut))
        from = cut
        await turn()
        await turn()
      }
    }
  }
}

async function open(t: TestContext, script: OriginScript): Promise<{ origin: Origin; gate: Gate }> {
  const origin = await openOrigin(t, script)
  return { origin, gate: await openGate(t, { originPort: origin.port, limits: { http2Streams: 10 } }) }
}

interface Answer {
  readonly status: number
  readonly field: string | undefined
  readonly body: string
}

async function overHttp1(port: number): Promise<Answer> {
  const client = await Client.connect(port)
  const answer = await client.ask(get('/'))
  client.destroy()
  return { status: statusOf(answer), field: fieldOf(answer, 'x'), body: answer.body.toString('latin1') }
}

function overHttp2(port: number): Promise<Answer> {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  return new Promise<Answer>((resolve, reject) => {
    const stream = session.request({ ':path': '/' })
    let [status, field, body] = [0, undefined as string | undefined, '']
    stream.on('response', (fields) => {
      status = Number(fields[':status'])
      field = fields.x as string | undefined
    })
    stream.on('data', (part: Buffer) => {
      body += part.toString('latin1')
    })
    stream.on('end', () => resolve({ status, field, body }))
    stream.on('error', reject)
  }).finally(() => session.destroy())
}

for (const [name, { bytes, reused, field, status = 200 }] of Object.entries(REPAIRED)) {
  test(`an answer is repaired: ${name}`, async (t) => {
    const { origin, gate } = await open(t, saying(bytes))
    const wanted = { status, field, body: 'hello' }
    assert.deepEqual(await overHttp1(gate.port), wanted)
    assert.deepEqual(await overHttp2(gate.port), wanted)
    assert.equal(origin.accepted(), reused ? 1 : 2)
    assert.deepEqual(gate.failures, [])
  })
}

test('a repaired answer is the same wherever it is cut, and not whole when truncated', async (t) => {
  const every = process.env.GATEHOUSE_DEEP === '1' ? 1 : 7
  let [bytes, at, truncated] = ['', 0, false]
  const script: OriginScript = async (connection) => {
    if ((await connection.request())?.complete !== true) return
    connection.write(bytes.slice(0, at))
    await turn()
    await turn()
    if (!truncated) connection.write(bytes.slice(at))
  }
  const { gate } = await open(t, script)
  for (const [name, oddity] of Object.entries(REPAIRED)) {
    bytes = oddity.bytes
    for (at = 1; at < bytes.length; at += every) {
      truncated = false
      assert.equal((await overHttp1(gate.port)).body, 'hello', `${name}, cut at ${at}`)
      truncated = true
      const client = await Client.connect(gate.port)
      client.write(get('/'))
      const answer = await client.answer()
      // The bare end of a connection ends no answer with a length or chunks.
      assert.ok(answer === undefined || !answer.complete || statusOf(answer) === 502, `${name}, truncated at ${at}`)
      client.destroy()
    }
  }
})

/** Broken in the very read that brought the head: nothing was sent, and there is still an answer to give. */
const BROKEN: Readonly<Record<string, readonly [bytes: string, detail: RegExp]>> = {
  'a chunk size': [`${OK}${CHUNKED}\r\nxyz\r\n`, /^answer body: malformed chunk size$/],
  'a chunk size of two numbers': [`${OK}${CHUNKED}\r\n5 5\r\nhello\r\n`, /^answer body: malformed chunk extension$/],
  'the end of a chunk': [`${OK}${CHUNKED}\r\n5\r\nhelloX\r\n0\r\n\r\n`, /^answer body: malformed end of a chunk$/],
  'two lengths': [`${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`, /Content-Length given twice/],
  'a coding': [`${OK}Transfer-Encoding: cow\r\n\r\nok`, /Transfer-Encoding other than chunked/],
  'a field name': [`${OK}X-Bad : y\r\nContent-Length: 0\r\n\r\n`, /space before the colon of a field \(X-Bad\)$/],
  'a field value': [`${OK}A: b\r\nX-Worse: a\0b\r\nContent-Length: 0\r\n\r\n`, /malformed field value \(X-Worse\)$/],
  'a status line': ['HTTP/1.1 20 OK\r\n\r\n', /malformed status line$/],
}

const head = (stream: number, ...fields: (readonly [string, string])[]) => {
  return frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream, stream, literals(fields))
}

/** The same of an HTTP/2 upstream. */
const BROKEN_HTTP2: Readonly<Record<string, readonly [send: (stream: number) => Buffer, detail: RegExp]>> = {
  'a field name': [(stream) => head(stream, [':status', '200'], ['X-Bad', 'y']), /malformed field \(X-Bad\)$/],
  'a field of connections': [(stream) => head(stream, [':status', '200'], ['upgrade', 'y']), /\(upgrade\)$/],
  'a status': [(stream) => head(stream, [':status', '20']), /malformed field \(:status\)$/],
  lengths: [
    (stream) => head(stream, [':status', '200'], ['content-length', '1'], ['content-length', '2']),
    /Content-Length given twice/,
  ],
  'a frame': [() => frame(TYPE.ping, 0, 0, Buffer.alloc(7)), /^HTTP\/2 session ended: frame_size_error$/],
}

for (const [name, [send, detail]] of Object.entries(BROKEN_HTTP2)) {
  test(`the reason of a 502 names what an HTTP/2 upstream did wrong: ${name}`, async (t) => {
    const peer = await openFramePeer(t, async (connection) => {
      for (let request = await asked(connection); request !== undefined; request = await asked(connection))
        connection.send(send(request.stream))
    })
    const details: string[] = []
    const gate = await openGate(t, {
      originPort: peer.port,
      upstream: { http2: true },
      failed: (x, _upstream, fault) => {
        details.push(fault.message)
        x.reply(fault.entry.status, '', fault.message)
      },
    })
    assert.equal((await overHttp1(gate.port)).status, 502)
    assert.match(details.join(), detail)
  })
}

for (const [name, [bytes, detail]] of Object.entries(BROKEN)) {
  test(`an answer that cannot be repaired is 502, and the reason names it: ${name}`, async (t) => {
    const origin = await openOrigin(t, saying(bytes))
    const details: string[] = []
    const gate = await openGate(t, {
      originPort: origin.port,
      limits: { http2Streams: 10 },
      failed: (x, _upstream, fault) => {
        details.push(fault.message)
        x.reply(fault.entry.status, '', fault.message)
      },
    })
    assert.equal((await overHttp1(gate.port)).status, 502)
    assert.equal((await overHttp2(gate.port)).status, 502)
    assert.equal(details.length, 2)
    for (const each of details) assert.match(each, detail)
    assert.equal(gate.done.aborted, 0)
  })
}
