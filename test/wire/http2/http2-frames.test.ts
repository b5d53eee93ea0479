import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import {
  type Arrived,
  FLAG,
  FrameClient,
  fate,
  frame,
  getFields,
  literals,
  number,
  PREFACE,
  request,
  setting,
  TYPE,
} from '../../worlds/wire/frames.ts'
import { type Gate, type GateOptions, openGate } from '../../worlds/wire/gate.ts'
import { answering, type OriginConnection, openOrigin, polite } from '../../worlds/wire/origin.ts'
import { Client, turn, until } from '../../worlds/wire/raw.ts'
import { choose, to } from '../../worlds/wire/tls-gate.ts'

const LARGEST = 0x7fffffff
const post = (stream: number, changes: Record<string, string> = {}) => {
  return frame(TYPE.headers, FLAG.endHeaders, stream, literals(getFields({ ':method': 'POST', ...changes })))
}
const data = (stream: number, bytes: string | Buffer, flags = 0) => frame(TYPE.data, flags, stream, Buffer.from(bytes))
const widen = (stream: number, by: number) => frame(TYPE.window, 0, stream, number(by))
const endOf = ({ flags }: Arrived) => (flags & FLAG.endStream) !== 0

async function open(t: TestContext, options: Partial<GateOptions> = {}, script = polite) {
  const origin = await openOrigin(t, script)
  const limits = { http2Streams: 100, ...options.limits }
  return { origin, gate: await openGate(t, { originPort: origin.port, ...options, limits }) }
}

/** The next frame of a stream, in any state of the connection. */
async function nextOf(client: FrameClient, stream: number): Promise<Arrived> {
  const found = await client.find((arrived) => arrived.stream === stream && arrived.type !== TYPE.window)
  assert.ok(found !== undefined, `a frame of stream ${stream}, not the end`)
  return found
}

/** Bytes of DATA until the end of a stream, and how it ended. */
async function bodyOf(client: FrameClient, stream: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (;;) {
    const found = await nextOf(client, stream)
    if (found.type === TYPE.data) parts.push(found.payload)
    assert.notEqual(found.type, TYPE.rst, 'a reset')
    if (endOf(found)) return Buffer.concat(parts)
  }
}

const echo = answering(
  ({ body }) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body.toString('latin1')}`,
)

test('a drain goes in two steps: what the client had sent before it read of it is answered too', async (t) => {
  const held: (() => void)[] = []
  const { gate } = await open(t, { handle: (x) => void held.push(() => x.reply(200, '', 'late')) })
  const client = await FrameClient.connect(gate.port)
  client.send(request(1, getFields()))
  await until('it is handled', () => held.length === 1)
  const drained = gate.listener.drain(60_000)
  const first = await client.find(({ type }) => type === TYPE.goaway)
  assert.deepEqual([first?.payload.readUInt32BE(0), first?.payload.readUInt32BE(4)], [LARGEST, 0])
  const ping = await client.find(({ type, flags }) => type === TYPE.ping && flags === 0)
  client.send(request(3, getFields()), frame(TYPE.ping, FLAG.ack, 0, ping!.payload))
  await until('that is handled too', () => held.length === 2)
  const last = await client.find(({ type }) => type === TYPE.goaway)
  assert.equal(last?.payload.readUInt32BE(0), 3)
  client.send(request(5, getFields()))
  const refused = await client.find(({ type }) => type === TYPE.rst)
  assert.deepEqual([refused?.stream, refused?.payload.readUInt32BE(0)], [5, 7])
  for (const answer of held) answer()
  assert.equal((await bodyOf(client, 1)).toString(), 'late')
  assert.equal((await bodyOf(client, 3)).toString(), 'late')
  client.client.end()
  await drained
  assert.equal(gate.done.aborted, 0)
})

test('padding, priorities and CONTINUATION make no difference', async (t) => {
  const { gate, origin } = await open(t, {}, echo)
  const client = await FrameClient.connect(gate.port)
  const block = literals(getFields({ ':method': 'POST', 'x-a': 'b' }))
  const padded = Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 9]), block.subarray(0, 20), Buffer.alloc(3)])
  client.send(
    frame(TYPE.priority, 0, 1, [0, 0, 0, 0, 1]),
    frame(TYPE.headers, FLAG.padded | FLAG.priority, 1, padded),
    frame(TYPE.continuation, 0, 1, block.subarray(20, 21)),
    frame(TYPE.continuation, FLAG.endHeaders, 1, block.subarray(21)),
    frame(77, 255, 1, [1, 2, 3]),
    frame(TYPE.data, FLAG.padded, 1, [2, 104, 105, 0, 0]),
    frame(TYPE.data, FLAG.padded | FLAG.endStream, 1, [1, 33, 0]),
  )
  assert.equal((await bodyOf(client, 1)).toString(), 'hi!')
  assert.deepEqual(origin.calls[0]?.fields.find(([name]) => name === 'x-a')?.[1], 'b')
  client.destroy()
})

test('a body passes whole however it is cut into frames, padded, and into reads', async (t) => {
  const { gate } = await open(t, {}, echo)
  const frames = fc.array(fc.tuple(fc.nat(3000), fc.option(fc.nat(255))), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(frames, fc.array(fc.nat(40_000), { maxLength: 12 }), fc.boolean(), async (parts, cuts, sized) => {
      const body = Buffer.concat(parts.map(([size], i) => Buffer.alloc(size, 97 + (i % 26))))
      const bytes: Buffer[] = [post(1, sized ? { 'content-length': String(body.length) } : {})]
      let from = 0
      for (const [size, padding] of parts) {
        const part = body.subarray(from, from + size)
        from += size
        const pad = padding === null ? [] : [Buffer.from([padding]), part, Buffer.alloc(padding)]
        bytes.push(padding === null ? data(1, part) : frame(TYPE.data, FLAG.padded, 1, Buffer.concat(pad)))
      }
      bytes.push(data(1, '', FLAG.endStream))
      const client = await FrameClient.connect(gate.port)
      const all = Buffer.concat(bytes)
      await client.client.writeCut(
        all,
        cuts.map((cut) => cut % all.length).sort((a, b) => a - b),
      )
      assert.ok((await bodyOf(client, 1)).equals(body))
      client.destroy()
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 2000 : 40 },
  )
  assert.deepEqual(gate.failures, [])
})

test('an answer is sent exactly as far as both windows allow', async (t) => {
  const { gate } = await open(t, { handle: (x) => x.reply(200, '', 'x'.repeat(100)) })
  const client = await FrameClient.connect(gate.port, [0, 4, ...number(10)])
  client.send(request(1, getFields()))
  assert.equal((await nextOf(client, 1)).type, TYPE.headers)
  assert.equal((await nextOf(client, 1)).payload.length, 10)
  client.send(widen(1, 5))
  assert.equal((await nextOf(client, 1)).payload.length, 5)
  // Less than what was sent: the window is 20 below nothing (RFC 9113 section 6.9.2).
  client.send(setting(4, 0), widen(1, 10), widen(1, 3))
  assert.equal((await nextOf(client, 1)).payload.length, 3)
  client.send(setting(4, LARGEST))
  assert.equal((await bodyOf(client, 1)).length, 82)
  client.destroy()
})

test('the window of the connection is shared out among the streams that wait for it', async (t) => {
  const { gate } = await open(t, { handle: (x) => x.reply(200, '', 'x'.repeat(1_000_000)) })
  const client = await FrameClient.connect(gate.port, [0, 4, ...number(LARGEST)])
  client.send(request(1, getFields()), request(3, getFields()), request(5, getFields()))
  const got = new Map<number, number>()
  let whole = 0
  const take = async (total: number) => {
    while (whole < total) {
      const found = await client.find(({ type }) => type === TYPE.data)
      whole += found!.payload.length
      got.set(found!.stream, (got.get(found!.stream) ?? 0) + found!.payload.length)
    }
  }
  await take(65_535)
  assert.equal(whole, 65_535)
  client.send(widen(0, 300_000))
  await take(365_535)
  const sizes = [...got.values()]
  assert.equal(sizes.length, 3)
  assert.ok(Math.max(...sizes) - Math.min(...sizes) < 100_000, `${sizes}`)
  client.send(widen(0, 3_000_000))
  await take(3_000_000)
  client.destroy()
})

test('an unread body fills its window and no more; discarded bytes are returned', async (t) => {
  const { gate } = await open(t, { handle: () => {} })
  const client = await FrameClient.connect(gate.port)
  const chunk = Buffer.alloc(16_000)
  for (let stream = 1; stream < 40; stream += 2) {
    client.send(post(stream), data(stream, chunk), data(stream, chunk), data(stream, chunk), data(stream, chunk))
    client.send(data(stream, chunk))
    const reset = await nextOf(client, stream)
    assert.deepEqual([reset.type, reset.payload.readUInt32BE(0)], [TYPE.rst, 3])
  }
  client.destroy()
})

test('wrong body lengths and bad trailers reset their stream alone', async (t) => {
  const { gate, origin } = await open(t, {}, echo)
  const client = await FrameClient.connect(gate.port)
  const trailers = (fields: readonly (readonly [string, string])[], flags = 5) => {
    return (stream: number) => [post(stream), data(stream, 'a'), frame(TYPE.headers, flags, stream, literals(fields))]
  }
  const wrong: ((stream: number) => readonly Buffer[])[] = [
    (stream) => [post(stream, { 'content-length': '3' }), data(stream, 'ab', FLAG.endStream)],
    (stream) => [post(stream, { 'content-length': '3' }), data(stream, 'abcd')],
    (stream) => [post(stream, { 'content-length': '3' }), data(stream, 'ab'), trailers([['x-a', 'b']])(stream)[2]!],
    trailers([[':path', '/']]),
    trailers([['X-A', 'b']]),
    trailers([['connection', 'close']]),
    trailers([['x-a', 'a\nb']]),
    trailers([['x-a', 'b']], 4),
  ]
  let stream = 1
  for (const send of wrong) {
    client.send(...send(stream))
    const reset = await nextOf(client, stream)
    assert.deepEqual([reset.type, reset.payload.readUInt32BE(0)], [TYPE.rst, 1], String(send))
    stream += 2
  }
  client.send(post(stream, { 'content-length': '3' }), data(stream, 'abc', FLAG.endStream))
  assert.equal((await bodyOf(client, stream)).toString(), 'abc')
  assert.equal(origin.failures.length, 0)
  client.destroy()
})

test('frames of a stream that we reset are ignored, those of an ended one are errors', async (t) => {
  const { gate } = await open(t, { handle: (x) => x.reply(200, '', 'ok') })
  const client = await FrameClient.connect(gate.port)
  client.send(post(1), widen(1, 0))
  const reset = await client.find(({ type }) => type === TYPE.rst)
  assert.equal(reset?.payload.readUInt32BE(0), 1)
  client.send(data(1, 'late'), widen(1, 1), frame(TYPE.rst, 0, 1, number(8)), request(1, getFields()))
  client.send(request(3, getFields()))
  assert.equal((await bodyOf(client, 3)).toString(), 'ok')
  client.send(data(3, 'late'))
  assert.equal(await fate(client), 'goaway 5')
  client.destroy()
})

test('frames that say nothing are bounded, also for a client that reads', async (t) => {
  const { gate } = await open(t, {}, echo)
  const floods = [
    frame(TYPE.ping, 0, 0, Buffer.alloc(8)),
    frame(TYPE.settings, 0, 0),
    frame(TYPE.settings, FLAG.ack, 0),
    frame(TYPE.priority, 0, 1, Buffer.alloc(5)),
    frame(TYPE.data, 0, 1),
    frame(99, 0, 0),
    widen(0, 1),
  ]
  for (const flood of floods) {
    const client = await FrameClient.connect(gate.port)
    client.send(post(1), Buffer.concat(Array.from({ length: 5000 }, () => flood)))
    const end = await client.find(({ type }) => type === TYPE.goaway)
    assert.equal(end?.payload.readUInt32BE(4) ?? 11, 11, `type ${flood[3]}`)
    client.destroy()
  }
  await until('none is left', () => gate.inFlight() === 0)
})

test('resets that a client provokes count as its own (CVE-2025-8671)', async (t) => {
  const { gate } = await open(t, { handle: (x) => x.reply(200, '', 'x'.repeat(100)) })
  const provoking: readonly ((stream: number) => readonly Buffer[])[] = [
    (stream) => [request(stream, getFields()), widen(stream, 0)],
    (stream) => [request(stream, getFields({ connection: 'close' }))],
    (stream) => [post(stream, { 'content-length': '1' }), data(stream, 'ab')],
  ]
  for (const provoke of provoking) {
    const before = gate.done.all
    const client = await FrameClient.connect(gate.port, [0, 4, 0, 0, 0, 0])
    for (let stream = 1; stream < 2000; stream += 2) client.send(...provoke(stream))
    const end = await client.find(({ type }) => type === TYPE.goaway)
    assert.equal(end?.payload.readUInt32BE(4), 11, String(provoke))
    assert.ok(gate.done.all - before < 800, `${gate.done.all - before} were handled`)
    client.destroy()
  }
})

test('unacknowledged SETTINGS and an endless field block time out', async (t) => {
  const { gate } = await open(t, { limits: { headTimeoutMs: 1000 } })
  // A request in the very first read: from then on it is no longer the connection's own beginning that is awaited.
  const begun = Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0), request(1, getFields())])
  const silent = await FrameClient.bare(gate.port)
  silent.send(begun)
  assert.equal(await fate(silent), 'status 200')
  assert.equal(await fate(silent), 'goaway 4')
  silent.destroy()
  const slow = await FrameClient.bare(gate.port)
  slow.send(begun, frame(TYPE.settings, FLAG.ack, 0), frame(TYPE.headers, 0, 3, literals(getFields())))
  assert.equal(await fate(slow), 'status 200')
  assert.equal(await fate(slow), 'goaway 11')
  slow.destroy()
})

test('a connection begins with the preface, over TLS too, and with SETTINGS', async (t) => {
  const { gate } = await open(t)
  const client = await FrameClient.bare(gate.port)
  client.send(PREFACE, frame(TYPE.ping, 0, 0, Buffer.alloc(8)))
  assert.equal(await fate(client), 'goaway 1')
  client.destroy()
  const { gate: secure } = await open(t, { tls: choose })
  const offered = { ...to('plain.example'), ALPNProtocols: ['h2'] }
  const other = FrameClient.over(await Client.connect(secure.port, offered))
  other.client.write('GET / HTTP/1.1\r\nHost: plain.example\r\n\r\n')
  assert.equal(await fate(other), 'goaway 1')
  other.destroy()
})

/** Waits until a number has not changed for many turns of the event loop, in which all pending work would run. */
async function settled(value: () => number): Promise<number> {
  let last = value()
  for (let turns = 0; turns < 300; turns++) {
    await turn()
    if (value() === last) continue
    last = value()
    turns = 0
  }
  return last
}

test('a client that opens windows and never reads stops its upstream, and is given up', async (t) => {
  let sent = 0
  const script = async ({ socket, request: read }: OriginConnection) => {
    await read()
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n')
    for (let i = 0; i < 2000 && !socket.destroyed; i++) {
      sent += 100_000
      if (!socket.write(Buffer.alloc(100_000))) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    }
  }
  const ask = async (gate: Gate) => {
    const client = await FrameClient.connect(gate.port, [0, 4, ...number(LARGEST)])
    client.client.socket.pause()
    client.send(widen(0, LARGEST - 65_535), request(1, getFields()))
    await until('the answer has begun', () => sent > 0)
    return client
  }
  const { gate: patient } = await open(t, {}, script)
  const waiting = await ask(patient)
  assert.ok((await settled(() => sent)) < 100_000_000, `${sent} bytes were taken from the upstream`)
  waiting.destroy()
  sent = 0
  const { gate: strict } = await open(t, { limits: { bodyIdleMs: 300 } }, script)
  const lost = await ask(strict)
  await until('it is given up', () => strict.listener.connections() === 0)
  assert.equal(strict.done.aborted, 1)
  lost.destroy()
})

test('a client that does not read is not read from either, so that answers do not pile up', async (t) => {
  const { gate } = await open(t, { handle: (x) => x.reply(204, `X-Long: ${'y'.repeat(8000)}\r\n`, undefined) })
  const client = await FrameClient.connect(gate.port)
  client.client.socket.pause()
  const many = Array.from({ length: 20_000 }, (_, i) => request(1 + 2 * i, getFields()))
  client.send(...many)
  assert.ok((await settled(() => gate.done.all)) < 15_000, `${gate.done.all} were answered`)
  client.client.socket.resume()
  await until('all are answered once it reads', () => gate.done.all === 20_000)
  client.destroy()
})
