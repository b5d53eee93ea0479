import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
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
import { openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { until } from '../../worlds/wire/raw.ts'

/** Codes of RFC 9113 section 7. */
const PROTOCOL = 'goaway 1'
const FLOW_CONTROL = 'goaway 3'
const FRAME_SIZE = 'goaway 6'
const COMPRESSION = 'goaway 9'

interface FrameCase {
  /** Section of RFC 9113, and what is wrong. */
  readonly name: string
  readonly send: readonly Buffer[]
  /** Any of these; what ends a connection without a word is a refusal too. */
  readonly fate: readonly string[]
}

const HALF = frame(TYPE.headers, FLAG.endStream, 1, literals(getFields()))
const OPEN = frame(TYPE.headers, FLAG.endHeaders, 1, literals(getFields({ ':method': 'POST' })))

const FRAMES: readonly FrameCase[] = [
  { name: '6.1: DATA on stream 0', send: [frame(TYPE.data, 0, 0, [1])], fate: [PROTOCOL] },
  { name: '5.1: DATA on an idle stream', send: [frame(TYPE.data, 0, 1, [1])], fate: [PROTOCOL] },
  {
    name: '6.1: padding longer than the frame',
    send: [OPEN, frame(TYPE.data, FLAG.padded, 1, [9, 1])],
    fate: [PROTOCOL],
  },
  { name: '6.2: HEADERS on stream 0', send: [request(0, getFields())], fate: [PROTOCOL] },
  { name: '5.1.1: HEADERS on an even stream', send: [request(2, getFields())], fate: [PROTOCOL] },
  { name: '4.3: HPACK index 0', send: [frame(TYPE.headers, 5, 1, [0x80])], fate: [COMPRESSION] },
  { name: '4.3: HPACK index beyond the table', send: [frame(TYPE.headers, 5, 1, [0xff, 0x7f])], fate: [COMPRESSION] },
  { name: '4.3: HPACK cut off', send: [frame(TYPE.headers, 5, 1, [0, 9, 97])], fate: [COMPRESSION] },
  { name: '6.4: RST_STREAM on stream 0', send: [frame(TYPE.rst, 0, 0, [0, 0, 0, 8])], fate: [PROTOCOL] },
  { name: '6.4: RST_STREAM on an idle stream', send: [frame(TYPE.rst, 0, 1, [0, 0, 0, 8])], fate: [PROTOCOL] },
  { name: '6.4: RST_STREAM of 3 bytes', send: [OPEN, frame(TYPE.rst, 0, 1, [0, 0, 8])], fate: [FRAME_SIZE] },
  { name: '6.5: SETTINGS on a stream', send: [frame(TYPE.settings, 0, 1)], fate: [PROTOCOL] },
  { name: '6.5: SETTINGS of 5 bytes', send: [frame(TYPE.settings, 0, 0, [0, 0, 0, 0, 0])], fate: [FRAME_SIZE] },
  {
    name: '6.5: SETTINGS ACK with bytes',
    send: [frame(TYPE.settings, FLAG.ack, 0, [0, 3, 0, 0, 0, 1])],
    fate: [FRAME_SIZE],
  },
  { name: '6.5.2: ENABLE_PUSH of 2', send: [setting(2, 2)], fate: [PROTOCOL] },
  { name: '6.5.2: INITIAL_WINDOW_SIZE of 2^31', send: [setting(4, 2 ** 31)], fate: [FLOW_CONTROL] },
  { name: '6.5.2: MAX_FRAME_SIZE of 100', send: [setting(5, 100)], fate: [PROTOCOL] },
  { name: '6.6: PUSH_PROMISE by a client', send: [OPEN, frame(TYPE.push, 4, 1, [0, 0, 0, 2])], fate: [PROTOCOL] },
  { name: '6.7: PING of 7 bytes', send: [frame(TYPE.ping, 0, 0, Buffer.alloc(7))], fate: [FRAME_SIZE] },
  { name: '6.7: PING on a stream', send: [frame(TYPE.ping, 0, 1, Buffer.alloc(8))], fate: [PROTOCOL] },
  { name: '6.8: GOAWAY on a stream', send: [frame(TYPE.goaway, 0, 1, Buffer.alloc(8))], fate: [PROTOCOL] },
  { name: '6.9: WINDOW_UPDATE of 3 bytes', send: [frame(TYPE.window, 0, 0, [0, 0, 1])], fate: [FRAME_SIZE] },
  { name: '6.9: WINDOW_UPDATE by 0', send: [frame(TYPE.window, 0, 0, [0, 0, 0, 0])], fate: [PROTOCOL] },
  { name: '5.1: WINDOW_UPDATE on an idle stream', send: [frame(TYPE.window, 0, 3, [0, 0, 0, 1])], fate: [PROTOCOL] },
  {
    name: '6.9.1: window of more than 2^31',
    send: [frame(TYPE.window, 0, 0, [0x7f, 255, 255, 255])],
    fate: [FLOW_CONTROL],
  },
  {
    name: '6.9.1: window of a stream of more than 2^31',
    send: [OPEN, frame(TYPE.window, 0, 1, number(2 ** 31 - 1))],
    fate: ['reset 3'],
  },
  { name: '6.9: WINDOW_UPDATE of a stream by 0', send: [OPEN, frame(TYPE.window, 0, 1, number(0))], fate: ['reset 1'] },
  { name: '6.3: PRIORITY of 4 bytes', send: [OPEN, frame(TYPE.priority, 0, 1, [0, 0, 0, 0])], fate: ['reset 6'] },
  { name: '6.3: PRIORITY on stream 0', send: [frame(TYPE.priority, 0, 0, [0, 0, 0, 0, 0])], fate: [PROTOCOL] },
  { name: '6.8: GOAWAY of 7 bytes', send: [frame(TYPE.goaway, 0, 0, Buffer.alloc(7))], fate: [FRAME_SIZE] },
  { name: '6.1: PADDED DATA without a length', send: [OPEN, frame(TYPE.data, FLAG.padded, 1)], fate: [FRAME_SIZE] },
  { name: '6.2: padding longer than HEADERS', send: [frame(TYPE.headers, 13, 1, [200, 0x82])], fate: [PROTOCOL] },
  {
    name: '5.1.1: HEADERS on a lower stream',
    send: [request(5, getFields()), request(3, getFields())],
    fate: ['goaway 5'],
  },
  {
    name: '6.9.2: windows of streams of more than 2^31',
    send: [OPEN, frame(TYPE.window, 0, 1, number(100)), setting(4, 2 ** 31 - 1)],
    fate: [FLOW_CONTROL],
  },
  { name: '6.10: CONTINUATION of nothing', send: [frame(TYPE.continuation, 4, 1)], fate: [PROTOCOL] },
  { name: '6.10: PING within a field block', send: [HALF, frame(TYPE.ping, 0, 0, Buffer.alloc(8))], fate: [PROTOCOL] },
  { name: '6.10: CONTINUATION of another stream', send: [HALF, frame(TYPE.continuation, 4, 3)], fate: [PROTOCOL] },
  {
    name: '4.2: a frame of 16,385 bytes',
    send: [OPEN, frame(TYPE.data, 0, 1, Buffer.alloc(16_385))],
    fate: [FRAME_SIZE],
  },
  {
    name: '5.1: DATA behind END_STREAM',
    send: [request(1, getFields()), frame(TYPE.data, 0, 1, [1])],
    fate: ['goaway 5', 'reset 5'],
  },
]

const bad = (name: string, fields: readonly (readonly [string, string])[], ...fates: readonly string[]): FrameCase => {
  return { name, send: [request(1, fields)], fate: fates.length === 0 ? ['reset 1'] : fates }
}
const BAD = 'status 400'

const HEADS: readonly FrameCase[] = [
  bad('8.2.1: an upper-case name', getFields({ 'X-A': 'b' })),
  bad('8.2.1: a line end in a value', getFields({ 'x-a': 'a\r\nb: c' })),
  bad('8.2.1: NUL in a value', getFields({ 'x-a': 'a\0b' })),
  bad('8.2.1: a space before a value', getFields({ 'x-a': ' b' })),
  bad('8.2.1: a space in a name', getFields({ 'x a': 'b' })),
  bad('8.2.1: an empty name', getFields({ '': 'b' })),
  bad('8.3.1: :authority twice', [[':authority', 'a.example'], ...getFields()]),
  bad('8.2.2: Connection', getFields({ connection: 'close' })),
  bad('8.2.2: Keep-Alive', getFields({ 'keep-alive': '1' })),
  bad('8.2.2: Proxy-Connection', getFields({ 'proxy-connection': 'close' })),
  bad('8.2.2: Transfer-Encoding', getFields({ 'transfer-encoding': 'chunked' })),
  bad('8.2.2: Upgrade', getFields({ upgrade: 'websocket' })),
  bad('8.2.2: TE other than trailers', getFields({ te: 'gzip' })),
  bad('8.3: an unknown pseudo-header field', getFields({ ':colour': 'red' })),
  bad('8.3: a pseudo-header field of answers', getFields({ ':status': '200' })),
  bad('8.3: a pseudo-header field behind a field', [['x-a', 'b'], ...getFields()]),
  bad('8.3.1: :method twice', [[':method', 'GET'], ...getFields()]),
  bad('8.3.1: no :method', getFields({ ':method': undefined })),
  bad('8.3.1: no :path', getFields({ ':path': undefined })),
  bad('8.3.1: an empty :path', getFields({ ':path': '' })),
  bad('8.3.1: no :scheme', getFields({ ':scheme': undefined })),
  bad('8.3.1: :path without a slash', getFields({ ':path': 'a' }), 'reset 1', BAD),
  bad('8.3.1: :path with a fragment', getFields({ ':path': '/#a' }), BAD),
  bad('8.3.1: :path with a space', getFields({ ':path': '/ HTTP/1.1' }), 'reset 1', BAD),
  bad('8.3.1: :path beyond ASCII', getFields({ ':path': '/\u00e9' }), 'reset 1', BAD),
  bad('8.3.1: :path above the root', getFields({ ':path': '/../a' }), BAD),
  bad('8.3.1: another :scheme', getFields({ ':scheme': 'ftp' }), 'reset 1', BAD),
  bad('8.3.1: user in :authority', getFields({ ':authority': 'u@a.example' }), 'reset 1', BAD),
  bad('8.3.1: Host other than :authority', getFields({ host: 'b.example' }), BAD),
  bad('8.3.1: neither Host nor :authority', getFields({ ':authority': undefined }), 'reset 1', BAD),
  bad('8.1.1: Content-Length without a body', getFields({ 'content-length': '5' }), 'reset 1', BAD),
  bad('8.1.1: malformed Content-Length', getFields({ 'content-length': 'five' }), 'reset 1', BAD),
  bad('Authorization twice', [...getFields(), ['authorization', 'Basic YTpi'], ['authorization', 'Bearer x']], BAD),
  bad(
    'CONNECT',
    [
      [':method', 'CONNECT'],
      [':authority', 'a.example:80'],
    ],
    'reset 1',
    'status 501',
    'status coded',
  ),
  bad('asterisk of another method', getFields({ ':path': '*' }), 'reset 1', BAD),
]

test('framing errors end the HTTP/2 connection, request errors its stream; no upstream sees them', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, {
    originPort: origin.port,
    limits: { http2Streams: 100 },
    handle: (x) => x.reply(200, '', 'ok'),
  })
  for (const { name, send, fate: expected } of FRAMES) {
    await t.test(name, async () => {
      const client = await FrameClient.connect(gate.port)
      client.send(...send)
      let found = await fate(client)
      // A request that came before the fault may be answered.
      while (found === 'status 200') found = await fate(client)
      assert.ok(expected.includes(found), found)
      client.destroy()
    })
  }
  const before = gate.done.all
  for (const { name, send, fate: expected } of HEADS) {
    await t.test(name, async () => {
      const client = await FrameClient.connect(gate.port)
      client.send(...send)
      const found = await fate(client)
      assert.ok(expected.includes(found), found)
      client.destroy()
    })
  }
  assert.equal(gate.done.all, before, 'none of the malformed heads became an exchange')
  const good = await FrameClient.connect(gate.port)
  good.send(request(1, getFields()))
  assert.equal(await fate(good), 'status 200')
  good.destroy()
  await until('every connection is let go', () => gate.listener.connections() === 0)
  assert.equal(gate.inFlight(), 0)
})

test('streams that are reset as fast as they are opened end the connection (CVE-2023-44487)', async (t) => {
  const origin = await openOrigin(t)
  let handled = 0
  const handle = () => void handled++ // never answers: the worst that a reset can leave behind
  const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 100 }, handle })
  const client = await FrameClient.connect(gate.port)
  const cancel = Buffer.from([0, 0, 0, 8])
  for (let stream = 1; stream < 4000; stream += 2) {
    client.send(request(stream, getFields()), frame(TYPE.rst, 0, stream, cancel))
  }
  const found = await fate(client)
  assert.match(found, /^(?:goaway (?:1|2|11)|closed)$/)
  assert.ok(handled <= 200, `${handled} handlers were left at work`)
  client.destroy()
})

test('resets that each leave a handler at work are bounded by the streams of the connection', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 10 }, handle: () => {} })
  const client = await FrameClient.connect(gate.port)
  let stream = 1
  for (; stream < 100; stream += 2) {
    const before = gate.inFlight()
    client.send(request(stream, getFields()))
    await until('it is handled or refused', () => gate.inFlight() > before || gate.listener.connections() === 0)
    if (gate.listener.connections() === 0) break
    client.send(frame(TYPE.rst, 0, stream, [0, 0, 0, 8]))
  }
  assert.equal(gate.inFlight(), 20)
  client.destroy()
})

test('a field block without end is cut off (CVE-2024-27316)', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 100 } })
  const client = await FrameClient.connect(gate.port)
  const part = literals([['x-a', 'b'.repeat(1000)]])
  client.send(HALF)
  for (let i = 0; i < 2000; i++) client.send(frame(TYPE.continuation, 0, 1, part))
  assert.match(await fate(client), /^(?:goaway|closed)/)
  assert.equal(gate.done.all, 0)
  client.destroy()
})

test('floods of PING and SETTINGS from a client that reads nothing are cut off', async (t) => {
  const origin = await openOrigin(t)
  for (const flood of [frame(TYPE.ping, 0, 0, Buffer.alloc(8)), frame(TYPE.settings, 0, 0)]) {
    const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 100 } })
    const client = await FrameClient.connect(gate.port)
    client.client.socket.pause()
    const many = Buffer.concat(Array.from({ length: 4000 }, () => flood))
    for (let i = 0; i < 200 && gate.listener.connections() > 0; i++) {
      client.client.write(many)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until('the connection is cut', () => gate.listener.connections() === 0)
    client.destroy()
  }
})

test('fields beyond the bounds, and the stream beyond the last, are refused', async (t) => {
  const origin = await openOrigin(t)
  const limits = { http2Streams: 2, maxHeadBytes: 2000, maxFields: 20 }
  const gate = await openGate(t, { originPort: origin.port, limits, handle: () => {} })
  const many = Array.from({ length: 200 }, (_, i) => [`x-${i}`, 'b'] as const)
  for (const extra of [many, [['x-a', 'b'.repeat(8000)] as const]]) {
    const client = await FrameClient.connect(gate.port)
    client.send(request(1, [...getFields(), ...extra]))
    assert.match(await fate(client), /^(?:reset|status 431|status coded)/)
    client.destroy()
  }
  assert.equal(gate.inFlight(), 0)
  const client = await FrameClient.connect(gate.port)
  client.send(request(1, getFields()), request(3, getFields()), request(5, getFields()))
  const refused = await client.find(({ type }) => type === TYPE.rst || type === TYPE.goaway)
  assert.deepEqual([refused?.type, refused?.stream, refused?.payload.readUInt32BE(0)], [TYPE.rst, 5, 7])
  client.destroy()
})

test('whatever bytes a client sends, the next one is served and nothing is left behind', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 100 } })
  const talk = Buffer.concat([
    ...[PREFACE, frame(TYPE.settings, 0, 0), request(1, getFields())],
    frame(TYPE.headers, FLAG.endHeaders, 3, literals(getFields({ ':method': 'POST' }))),
    ...[frame(TYPE.data, 0, 3, Buffer.from('body')), frame(TYPE.ping, 0, 0, Buffer.alloc(8))],
    ...[frame(TYPE.window, 0, 0, [0, 0, 1, 0]), frame(TYPE.data, FLAG.endStream, 3), request(5, getFields())],
  ])
  const changes = fc.array(fc.tuple(fc.nat(talk.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(changes, fc.nat(talk.length), async (places, cut) => {
      const bytes = Buffer.from(talk)
      for (const [at, value] of places) bytes[at] = value
      const client = await FrameClient.bare(gate.port)
      await client.client.writeCut(bytes, [cut])
      client.client.end()
      client.destroy()
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 5000 : 100 },
  )
  await until('nothing is left', () => gate.listener.connections() === 0 && gate.inFlight() === 0)
  const good = await FrameClient.connect(gate.port)
  good.send(request(1, getFields()))
  assert.equal(await fate(good), 'status 200')
  good.destroy()
  assert.deepEqual(origin.failures, [])
})
