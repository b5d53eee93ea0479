import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { asked, openFramePeer } from '../../worlds/wire/frame-peer.ts'
import { FLAG, frame, literals, TYPE } from '../../worlds/wire/frames.ts'
import { type Gate, openGate } from '../../worlds/wire/gate.ts'
import { answering, openOrigin } from '../../worlds/wire/origin.ts'
import { Client, statusOf, turn, until } from '../../worlds/wire/raw.ts'

const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const LINK = ['link', '</a.css>; rel=preload'] as const
const LIMITS = { http2Streams: 10 }

interface Answers {
  /** Status and fields of each interim answer. */
  readonly interim: readonly (readonly [status: number, fields: readonly (readonly [string, string])[]])[]
  readonly status: number
}

async function overHttp1(port: number, version = '1.1'): Promise<Answers> {
  const client = await Client.connect(port)
  const answer = await client.ask(`GET / HTTP/${version}\r\nHost: a\r\n\r\n`)
  client.destroy()
  const interim = answer.interim.map((status, at) => [status, answer.interimFields[at]!] as const)
  return { interim, status: statusOf(answer) }
}

function overHttp2(port: number): Promise<Answers> {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  return new Promise<Answers>((resolve, reject) => {
    const stream = session.request({ ':path': '/' })
    const interim: [number, (readonly [string, string])[]][] = []
    stream.on('headers', ({ ':status': status, ...fields }) => {
      interim.push([Number(status), Object.entries(fields).map(([name, value]) => [name, String(value)] as const)])
    })
    stream.on('response', (fields) => resolve({ interim, status: Number(fields[':status']) }))
    stream.on('error', reject)
    stream.resume()
  }).finally(() => session.destroy())
}

const CLIENTS = { 'HTTP/1.1': (gate: Gate) => overHttp1(gate.port), 'HTTP/2': (gate: Gate) => overHttp2(gate.port) }

/** An upstream of HTTP/2 that sends these interim heads, then 200. */
function http2Peer(t: TestContext, heads: readonly (readonly (readonly [string, string])[])[]) {
  return openFramePeer(t, async (connection) => {
    for (;;) {
      const request = await asked(connection)
      if (request === undefined) return
      for (const fields of heads)
        connection.send(frame(TYPE.headers, FLAG.endHeaders, request.stream, literals(fields)))
      const last = literals([[':status', '200']])
      connection.send(frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream, request.stream, last))
    }
  })
}

for (const [version, ask] of Object.entries(CLIENTS)) {
  test(`interim answers of an HTTP/1.1 upstream reach clients of ${version}`, async (t) => {
    const bytes = `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${HINTS}${HINTS}${OK}`
    const origin = await openOrigin(
      t,
      answering(() => bytes),
    )
    const gate = await openGate(t, { originPort: origin.port, limits: LIMITS })
    const wanted = {
      interim: [
        [102, []],
        [103, [LINK]],
        [103, [LINK]],
      ],
      status: 200,
    }
    assert.deepEqual(await ask(gate), wanted)
    assert.deepEqual(await ask(gate), wanted)
    assert.equal(origin.accepted(), 1)
  })

  test(`interim answers of an HTTP/2 upstream reach clients of ${version}`, async (t) => {
    const peer = await http2Peer(t, [[[':status', '102']], [[':status', '100']], [[':status', '103'], LINK]])
    const gate = await openGate(t, { originPort: peer.port, limits: LIMITS, upstream: { http2: true } })
    assert.deepEqual(await ask(gate), {
      interim: [
        [102, []],
        [103, [LINK]],
      ],
      status: 200,
    })
  })

  test(`more interim answers than one request needs are 502 over ${version}`, async (t) => {
    let ended = 0
    const origin = await openOrigin(t, async (connection) => {
      await connection.request()
      connection.socket.on('close', () => ended++)
      while (connection.socket.writable) {
        connection.write(HINTS)
        await turn()
      }
    })
    const peer = await http2Peer(
      t,
      Array.from({ length: 100 }, () => [[':status', '103'], LINK]),
    )
    const first = await openGate(t, { originPort: origin.port, limits: LIMITS })
    const second = await openGate(t, { originPort: peer.port, limits: LIMITS, upstream: { http2: true } })
    for (const gate of [first, second]) {
      const { interim, status } = await ask(gate)
      assert.deepEqual([interim.length, status], [32, 502])
      assert.deepEqual(gate.failures, ['upstream_malformed'])
    }
    await until('the upstream is let go', () => ended === 1)
  })
}

test('a client of HTTP/1.0 gets no interim answers', async (t) => {
  const origin = await openOrigin(
    t,
    answering(() => HINTS + OK),
  )
  const gate = await openGate(t, { originPort: origin.port })
  assert.deepEqual(await overHttp1(gate.port, '1.0'), { interim: [], status: 200 })
})

test('an expectation that nobody knows is for the upstream to meet or refuse', async (t) => {
  const origin = await openOrigin(
    t,
    answering(({ fields }) => {
      const refused = fields.some(([name, value]) => name.toLowerCase() === 'expect' && value.includes('more'))
      return refused ? 'HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n' : OK
    }),
  )
  const gate = await openGate(t, { originPort: origin.port, limits: LIMITS })
  const client = await Client.connect(gate.port)
  t.after(() => client.destroy())
  const post = (expect: string) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: ${expect}\r\n\r\n`
  assert.equal(statusOf(await client.ask(`${post('more')}hi`)), 417)
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
  const afterContinue = async (expect: string) => {
    client.write(post(expect))
    const { bytes } = await client.inbox.take('100', () => CONTINUE.length)
    assert.equal(bytes.toString(), CONTINUE)
    client.write('hi')
    return statusOf((await client.answer())!)
  }
  assert.equal(await afterContinue('100-continue, more'), 417)
  assert.equal(await afterContinue('100-Continue'), 200)
  assert.ok(origin.calls.at(-1)!.fields.every(([name]) => name.toLowerCase() !== 'expect'))
})
