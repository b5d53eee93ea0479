import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { asked, type FrameConnection, openFramePeer } from '../../worlds/wire/frame-peer.ts'
import {
  type Arrived,
  FLAG,
  FrameClient,
  frame,
  getFields,
  literals,
  number,
  request,
  setting,
  TYPE,
} from '../../worlds/wire/frames.ts'
import { type GateOptions, openGate } from '../../worlds/wire/gate.ts'
import { Client, get, statusOf, until, within } from '../../worlds/wire/raw.ts'

type Fields = readonly (readonly [string, string])[]

const head = (stream: number, fields: Fields = [[':status', '200']], flags: number = FLAG.endHeaders) => {
  return frame(TYPE.headers, flags, stream, literals(fields))
}
const data = (stream: number, bytes: string | Buffer, flags: number = FLAG.endStream) => {
  return frame(TYPE.data, flags, stream, Buffer.from(bytes))
}
const whole = (stream: number) => [head(stream), data(stream, 'ok')]
const post = (body: string) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** Answers each request as `answer` says. */
function each(answer: (stream: number, nth: number, connection: FrameConnection) => readonly Buffer[]) {
  let nth = 0
  return async (connection: FrameConnection) => {
    for (let request = await asked(connection); request !== undefined; request = await asked(connection)) {
      connection.send(...answer(request.stream, nth++, connection))
    }
  }
}

async function world(
  t: TestContext,
  script: (connection: FrameConnection) => Promise<void>,
  { settings = [], gate = {} }: { settings?: readonly number[]; gate?: Partial<GateOptions> } = {},
) {
  const peer = await openFramePeer(t, script, settings)
  const upstream = { http2: true, ...gate.upstream }
  const opened = await openGate(t, { originPort: peer.port, ...gate, upstream, limits: { http2Streams: 100 } })
  return { peer, gate: opened, client: await Client.connect(opened.port) }
}

test('an answer that is malformed is 502, its stream reset, and its connection good for the next', async (t) => {
  const wrong: Readonly<Record<string, (stream: number) => readonly Buffer[]>> = {
    'no :status': (stream) => [head(stream, [['x-a', 'b']])],
    ':status twice': (stream) => [
      head(stream, [
        [':status', '200'],
        [':status', '200'],
      ]),
    ],
    ':status behind a field': (stream) => [
      head(stream, [
        ['x-a', 'b'],
        [':status', '200'],
      ]),
    ],
    ':status of two digits': (stream) => [head(stream, [[':status', '20']])],
    ':status of 099': (stream) => [head(stream, [[':status', '099']])],
    'a pseudo-header field of requests': (stream) => [
      head(stream, [
        [':status', '200'],
        [':path', '/'],
      ]),
    ],
    'a name in upper case': (stream) => [
      head(stream, [
        [':status', '200'],
        ['X-A', 'b'],
      ]),
    ],
    'a line end in a value': (stream) => [
      head(stream, [
        [':status', '200'],
        ['x-a', 'a\r\nb: c'],
      ]),
    ],
    Connection: (stream) => [
      head(stream, [
        [':status', '200'],
        ['connection', 'close'],
      ]),
    ],
    'Content-Length twice': (stream) => [
      head(stream, [
        [':status', '200'],
        ['content-length', '2'],
        ['content-length', '3'],
      ]),
    ],
    'an interim answer that ends the stream': (stream) => [head(stream, [[':status', '103']], 5)],
    'DATA without a head': (stream) => [data(stream, 'ok')],
    'too many fields': (stream) => [
      head(stream, [[':status', '200'], ...Array.from({ length: 600 }, () => ['x', 'y'] as const)]),
    ],
  }
  const names = Object.keys(wrong)
  const resets: Arrived[] = []
  const script = async (connection: FrameConnection) => {
    for (;;) {
      const frame = await connection.find(({ type }) => type === TYPE.headers || type === TYPE.rst)
      if (frame?.type === TYPE.rst) resets.push(frame)
      else if (frame === undefined) return
      else connection.send(...(wrong[names[resets.length] ?? ''] ?? whole)(frame.stream))
    }
  }
  const { peer, gate, client } = await world(t, script)
  for (const [i, name] of names.entries()) {
    assert.equal(statusOf(await client.ask(get('/'))), 502, name)
    await until('the reset has come', () => resets.length === i + 1)
    assert.equal(resets[i]?.payload.readUInt32BE(0), 1, name)
  }
  assert.equal(statusOf(await client.ask(get('/'))), 200)
  assert.equal(peer.accepted(), 1)
  // A reset of DATA without a head is that of a stream that closed.
  assert.deepEqual(new Set(gate.failures), new Set(['upstream_malformed', 'upstream_unreachable']))
  client.destroy()
})

test('a status without a class passes, as from HTTP/1.1 (RFC 9110 section 15)', async (t) => {
  const { gate, client } = await world(
    t,
    each((stream) => [head(stream, [[':status', '999']]), data(stream, 'ok')]),
  )
  assert.equal(statusOf(await client.ask(get('/'))), 999)
  const framed = await FrameClient.connect(gate.port)
  framed.send(request(1, getFields()))
  const answer = await framed.find(({ type }) => type === TYPE.headers || type === TYPE.rst)
  assert.match(answer!.payload.toString('latin1'), /999/)
  framed.destroy()
  client.destroy()
})

test('an answer of another length than it announced is not passed as whole', async (t) => {
  const sized = (stream: number, flags: number = FLAG.endHeaders) =>
    head(
      stream,
      [
        [':status', '200'],
        ['content-length', '4'],
      ],
      flags,
    )
  const wrong: readonly ((stream: number) => readonly Buffer[])[] = [
    (stream) => [sized(stream), data(stream, 'abc')],
    (stream) => [sized(stream), data(stream, 'abcde')],
    (stream) => [sized(stream, 5)],
  ]
  const { peer, gate } = await world(
    t,
    each((stream, nth) => (wrong[nth] ?? whole)(stream)),
  )
  for (const [i] of wrong.entries()) {
    const client = await Client.connect(gate.port)
    client.write(get('/'))
    const answer = await client.answer()
    assert.ok(answer?.complete !== true || statusOf(answer) === 502, `case ${i}`)
    client.destroy()
  }
  const client = await Client.connect(gate.port)
  assert.equal((await client.ask(get('/'))).body.toString(), 'ok')
  assert.equal(peer.accepted(), 1)
  client.destroy()
})

test('interim answers pass but for 100, those to HEAD have a length and no body', async (t) => {
  const script = each((stream) => [
    head(stream, [
      [':status', '103'],
      ['link', '</a>'],
    ]),
    head(stream, [[':status', '100']]),
    head(
      stream,
      [
        [':status', '200'],
        ['content-length', '4'],
      ],
      5,
    ),
  ])
  const { client } = await world(t, script)
  const found = await client.ask(get('/').replace('GET', 'HEAD'), 'HEAD')
  assert.deepEqual([statusOf(found), found.interim], [200, [103]])
  client.destroy()
})

test('a GOAWAY repeats unserved requests on another connection and answers the others', async (t) => {
  let second = 0
  const script = async (connection: FrameConnection) => {
    if (connection.number > 0) return each(whole)(connection)
    const first = await asked(connection)
    second = (await asked(connection))?.stream ?? 0
    connection.send(frame(TYPE.goaway, 0, 0, [...number(first!.stream), ...number(0)]))
    connection.send(...whole(first!.stream))
    await connection.find(() => false)
  }
  const { peer, gate, client } = await world(t, script)
  const other = await Client.connect(gate.port)
  const answers = [client.ask(post('first')), other.ask(post('second'))]
  for (const answer of await Promise.all(answers)) assert.equal(answer.body.toString(), 'ok')
  assert.equal(second, 3)
  assert.equal(peer.accepted(), 2)
  client.destroy()
  other.destroy()
})

test('what breaks the framing ends the connection, and the next request gets another', async (t) => {
  const broken: readonly (readonly Buffer[])[] = [
    [frame(TYPE.push, 4, 1, [0, 0, 0, 2])],
    [setting(2, 1)],
    [head(2)],
    [frame(TYPE.headers, 4, 1, [0x80])],
    [frame(TYPE.window, 0, 0, [0, 0, 0, 0])],
    [data(3, 'x')],
    [frame(TYPE.data, 0, 1, Buffer.alloc(16_385))],
  ]
  const goaways: number[] = []
  const script = async (connection: FrameConnection) => {
    const request = await asked(connection)
    const send = broken[connection.number]
    connection.send(...(send ?? whole(request!.stream)))
    const end = await connection.find(({ type }) => type === TYPE.goaway)
    if (send !== undefined && end !== undefined) goaways.push(end.payload.readUInt32BE(4))
  }
  const { gate, client } = await world(t, script)
  for (const _ of broken) assert.equal(statusOf(await client.ask(get('/'))), 502)
  assert.equal(statusOf(await client.ask(get('/'))), 200)
  await until('each was told why', () => goaways.length === broken.length)
  assert.deepEqual(goaways, [1, 1, 1, 9, 1, 1, 6])
  assert.deepEqual(new Set(gate.failures), new Set(['upstream_unreachable']))
  client.destroy()
})

test('a request is sent as far as the windows of the upstream allow, and holds its client back', async (t) => {
  const sizes: number[] = []
  const script = async (connection: FrameConnection) => {
    const { stream } = (await asked(connection))!
    const next = async () => {
      const part = await connection.find(({ type }) => type === TYPE.data)
      sizes.push(part!.payload.length)
      return (part!.flags & FLAG.endStream) !== 0
    }
    await next()
    connection.send(frame(TYPE.window, 0, stream, number(7)))
    await next()
    connection.send(setting(4, 2 ** 31 - 1), frame(TYPE.window, 0, 0, number(10_000_000)))
    while (!(await next()));
    connection.send(...whole(stream))
    await connection.find(() => false)
  }
  const { client } = await world(t, script, { settings: [0, 4, ...number(100)] })
  assert.equal(statusOf(await client.ask(post('x'.repeat(1_000_000)))), 200)
  assert.deepEqual(sizes.slice(0, 2), [100, 7])
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    1_000_000,
  )
  assert.ok(Math.max(...sizes) <= 16_384)
  client.destroy()
})

test('an answer that comes before the end of its request passes, and the rest of that is let go', async (t) => {
  const script = async (connection: FrameConnection) => {
    const { stream } = (await asked(connection))!
    connection.send(...whole(stream), frame(TYPE.rst, 0, stream, number(0)))
    const next = await asked(connection)
    connection.send(...whole(next!.stream))
    await connection.find(() => false)
  }
  const { peer, gate } = await world(t, script)
  for (let i = 0; i < 2; i++) {
    const session = connect(`http://127.0.0.1:${gate.port}`)
    session.on('error', () => {})
    const stream = session.request({ ':method': 'POST', ':path': '/' })
    stream.write('begun')
    let body = ''
    for await (const part of stream) body += String(part)
    assert.equal(body, 'ok')
    session.destroy()
  }
  assert.equal(peer.accepted(), 1)
  await until('nothing is left', () => gate.inFlight() === 0)
  assert.equal(gate.done.all, 2)
})

test('a complete answer stays so after a reset of its stream', async (t) => {
  const script = async (connection: FrameConnection) => {
    const { stream } = (await asked(connection))!
    connection.send(head(stream), data(stream, 'x'.repeat(50), 0), data(stream, 'y'.repeat(50)))
    connection.send(frame(TYPE.rst, 0, stream, number(0)), frame(TYPE.ping, 0, 0, Buffer.alloc(8)))
    await connection.find(() => false)
  }
  const { gate } = await world(t, script)
  const client = await FrameClient.connect(gate.port, [0, 4, ...number(10)])
  client.send(frame(TYPE.headers, FLAG.endHeaders, 1, literals(getFields({ ':method': 'POST' }))))
  const first = await client.find(({ type }) => type === TYPE.data)
  assert.equal(first?.payload.length, 10)
  client.send(frame(TYPE.window, 0, 1, number(1000)))
  const parts = [first!.payload]
  for (;;) {
    const part = await client.find(({ type, stream }) => stream === 1 && type !== TYPE.window)
    assert.equal(part?.type, TYPE.data)
    parts.push(part!.payload)
    if ((part!.flags & FLAG.endStream) !== 0) break
  }
  assert.equal(Buffer.concat(parts).toString(), 'x'.repeat(50) + 'y'.repeat(50))
  client.destroy()
})

test('an answer passes whole in any frames and reads, to either version', async (t) => {
  let plan: { parts: readonly (readonly [number, number | null])[]; cuts: readonly number[] } = { parts: [], cuts: [] }
  const script = async (connection: FrameConnection) => {
    for (let request = await asked(connection); request !== undefined; request = await asked(connection)) {
      const { stream } = request
      const frames = plan.parts.map(([size, padding], i) => {
        const part = Buffer.alloc(size, 97 + (i % 26))
        if (padding === null) return data(stream, part, 0)
        return frame(
          TYPE.data,
          FLAG.padded,
          stream,
          Buffer.concat([Buffer.from([padding]), part, Buffer.alloc(padding)]),
        )
      })
      const bytes = Buffer.concat([head(stream), ...frames, head(stream, [['x-end', 'yes']], 5)])
      const cuts = plan.cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b)
      await connection.client.writeCut(bytes, cuts)
    }
  }
  const { gate, client } = await world(t, script)
  const session = connect(`http://127.0.0.1:${gate.port}`)
  t.after(() => session.destroy())
  const parts = fc.array(fc.tuple(fc.nat(2000), fc.option(fc.nat(255))), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(parts, fc.array(fc.nat(40_000), { maxLength: 12 }), async (made, cuts) => {
      plan = { parts: made, cuts }
      const expected = Buffer.concat(made.map(([size], i) => Buffer.alloc(size, 97 + (i % 26))))
      assert.ok((await client.ask(get('/'))).body.equals(expected))
      const stream = session.request({ ':path': '/' })
      let trailer: unknown
      stream.on('trailers', (found) => {
        trailer = found['x-end']
      })
      const got: Buffer[] = []
      for await (const part of stream) got.push(part as Buffer)
      assert.ok(Buffer.concat(got).equals(expected))
      assert.equal(trailer, 'yes')
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 1000 : 40 },
  )
  client.destroy()
})

test('whatever bytes an upstream sends, its client gets an end, and the next request an answer', async (t) => {
  let bytes: Buffer | undefined
  const script = async (connection: FrameConnection) => {
    const request = await asked(connection)
    if (bytes === undefined) {
      connection.send(...whole(request!.stream))
      await connection.find(() => false)
    } else connection.client.write(bytes)
  }
  const { peer, gate } = await world(t, script)
  const talk = Buffer.concat([
    ...[frame(TYPE.settings, FLAG.ack, 0), frame(TYPE.ping, 0, 0, Buffer.alloc(8)), head(1, [[':status', '103']])],
    ...[
      head(1, [
        [':status', '200'],
        ['x-a', 'b'],
      ]),
      data(1, 'some', 0),
      frame(TYPE.window, 0, 1, number(100)),
    ],
    ...[data(1, 'more', 0), head(1, [['x-end', 'yes']], 5), frame(TYPE.goaway, 0, 0, [...number(1), ...number(0)])],
  ])
  const changes = fc.array(fc.tuple(fc.nat(talk.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(changes, async (places) => {
      bytes = Buffer.from(talk)
      for (const [at, value] of places) bytes[at] = value
      const client = await Client.connect(gate.port)
      client.write(get('/'))
      await within('an end', client.answer())
      client.destroy()
      await until('the connection is over', () => peer.open() === 0)
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 3000 : 100 },
  )
  bytes = undefined
  const client = await Client.connect(gate.port)
  assert.equal(statusOf(await client.ask(get('/'))), 200)
  client.destroy()
  await until('nothing is left', () => gate.inFlight() === 0)
})
