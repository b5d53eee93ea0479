import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
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
import { type Gate, type GateOptions, openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'

const WINDOW_BYTES = 65_535
const CALM = 'goaway 11'

async function open(t: TestContext, options: Partial<GateOptions>): Promise<Gate> {
  const origin = await openOrigin(t)
  return openGate(t, { originPort: origin.port, ...options, limits: { http2Streams: 100, ...options.limits } })
}

const window = (stream: number, by: number) => frame(TYPE.window, 0, stream, number(by))
const reset = (stream: number) => frame(TYPE.rst, 0, stream, number(8))
const post = (stream: number) => {
  return frame(TYPE.headers, FLAG.endHeaders, stream, literals(getFields({ ':method': 'POST' })))
}

/** `by` bytes returned to a window in frames of `piece` bytes. */
function returned(stream: number, by: number, piece: number): Buffer {
  const one = window(stream, piece)
  const frames = Buffer.alloc(Math.floor(by / piece) * one.length, one)
  return by % piece === 0 ? frames : Buffer.concat([frames, window(stream, by % piece)])
}

interface Receiver {
  /** Bytes returned with each frame. */
  readonly piece: number
  readonly streams: number
  /** Bytes taken before it returns them, in one burst; the window at the most. */
  readonly burst: number
  /** Returns what streams that are over have brought too. */
  readonly afterEnd: boolean
}

/** Downloads a body of `size` bytes on each of its streams. Resolves to the GOAWAY that ended it, '' when all came whole. */
function download(port: number, size: number, { piece, streams, burst, afterEnd }: Receiver): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const unread = new Map(Array.from({ length: streams }, (_, i) => [2 * i + 1, 0]))
    let [held, taken, ended, bytes] = [0, 0, 0, Buffer.alloc(0)]
    const giveBack = () => {
      const parts = [returned(0, held, piece)]
      for (const [stream, count] of unread) {
        if (count > 0) parts.push(returned(stream, count, piece))
        unread.set(stream, 0)
      }
      held = 0
      socket.write(Buffer.concat(parts))
    }
    const takeFrame = (type: number, flags: number, stream: number, payload: Buffer) => {
      if (type === TYPE.goaway) return end(`goaway ${payload.readUInt32BE(4)}`)
      if (type === TYPE.rst) return end(`reset ${payload.readUInt32BE(0)}`)
      if (type !== TYPE.data) return
      held += payload.length
      taken += payload.length
      const over = (flags & FLAG.endStream) !== 0
      unread.set(stream, over && !afterEnd ? 0 : unread.get(stream)! + payload.length)
      if (over) ended++
      if (held >= burst || unread.get(stream)! >= burst || over) giveBack()
      if (ended === streams) end(taken === size * streams ? '' : `${taken} bytes`)
    }
    const end = (how: string) => {
      // The last frames are judged too.
      if (how === '' && socket.writableLength > 0) socket.once('drain', () => socket.destroy())
      else socket.destroy()
      resolve(how)
    }
    socket.on('error', reject)
    socket.on('close', () => resolve('closed'))
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      let at = 0
      while (bytes.length - at >= 9 && bytes.length - at - 9 >= bytes.readUIntBE(at, 3)) {
        const to = at + 9 + bytes.readUIntBE(at, 3)
        takeFrame(bytes[at + 3]!, bytes[at + 4]!, bytes.readUInt32BE(at + 5), bytes.subarray(at + 9, to))
        at = to
      }
      bytes = bytes.subarray(at)
    })
    const asks = Array.from(unread.keys(), (stream) => request(stream, getFields()))
    socket.write(Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0), frame(TYPE.settings, FLAG.ack, 0), ...asks]))
  })
}

test('a client that returns its windows in frames of any size downloads all', async (t) => {
  const size = 3 * WINDOW_BYTES
  const body = Buffer.alloc(size, 'a')
  const gate = await open(t, { handle: (x) => x.reply(200, '', body) })
  const receiver = fc.record({
    piece: fc.oneof(
      fc.constantFrom(1, 2, 3, 9, 100, 1000, 4096, 16_384, WINDOW_BYTES),
      fc.integer({ min: 1, max: WINDOW_BYTES }),
    ),
    streams: fc.integer({ min: 1, max: 5 }),
    burst: fc.oneof(fc.constantFrom(1, WINDOW_BYTES), fc.integer({ min: 1, max: WINDOW_BYTES })),
    afterEnd: fc.boolean(),
  })
  const examples: [Receiver][] = [
    [{ piece: 1, streams: 1, burst: WINDOW_BYTES, afterEnd: true }],
    [{ piece: 4096, streams: 5, burst: WINDOW_BYTES, afterEnd: true }],
    [{ piece: WINDOW_BYTES, streams: 2, burst: 1, afterEnd: false }],
  ]
  await fc.assert(
    fc.asyncProperty(receiver, async (each) => {
      // A piece of one byte is only tried on one stream: 26 bytes of frames for each byte.
      const streams = each.piece < 100 ? 1 : each.streams
      assert.equal(await download(gate.port, size, { ...each, streams }), '')
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 300 : 8, examples },
  )
  assert.deepEqual(
    gate.goaways.filter((reason) => reason !== 'no_error'),
    [],
  )
})

interface Row {
  readonly guard: string
  /** The honest worst case, which passes. */
  readonly honest: (client: FrameClient, gate: Gate) => void | Promise<void>
  /** The flood, which is cut. */
  readonly attack: (client: FrameClient) => void
  readonly reason: string
  readonly handle?: GateOptions['handle']
  readonly limits?: GateOptions['limits']
}

const many = (count: number, make: (i: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, i) => make(i)))
const PING = frame(TYPE.ping, 0, 0, Buffer.alloc(8))
const idle = { reason: 'idle_frames', honest: (client: FrameClient) => client.send(many(300, () => PING)) }
const never = () => {}

const TABLE: readonly Row[] = [
  { guard: 'PING', ...idle, attack: (client) => client.send(many(2000, () => PING)) },
  { guard: 'SETTINGS', ...idle, attack: (client) => client.send(many(2000, () => setting(4, 1000))) },
  {
    guard: 'acknowledged SETTINGS',
    ...idle,
    attack: (client) => client.send(many(2000, () => frame(TYPE.settings, FLAG.ack, 0))),
  },
  {
    guard: 'PRIORITY',
    reason: 'idle_frames',
    // Firefox and old versions of Chrome: two a stream.
    honest: (client) =>
      client.send(
        many(900, (i) =>
          Buffer.concat([frame(TYPE.priority, 0, 2 * i + 1, [0, 0, 0, 0, 1]), request(2 * i + 1, getFields())]),
        ),
      ),
    attack: (client) => client.send(many(2000, (i) => frame(TYPE.priority, 0, 2 * i + 1, [0, 0, 0, 0, 1]))),
  },
  {
    guard: 'frames of unknown types',
    ...idle,
    attack: (client) => client.send(many(2000, () => frame(77, 0, 0, [1]))),
  },
  {
    guard: 'empty DATA',
    reason: 'idle_frames',
    // A flush behind each part of a long upload.
    honest: (client) =>
      client.send(
        post(1),
        many(2500, () => Buffer.concat([frame(TYPE.data, 0, 1, [1]), frame(TYPE.data, 0, 1)])),
      ),
    attack: (client) =>
      client.send(
        post(1),
        many(2000, () => frame(TYPE.data, 0, 1)),
      ),
  },
  {
    guard: 'WINDOW_UPDATE of the connection beyond what was sent',
    ...idle,
    honest: (client) =>
      client.send(
        window(0, 2 ** 30),
        many(500, () => window(0, 1000)),
      ),
    attack: (client) => client.send(many(2000, () => window(0, 1))),
  },
  {
    guard: 'WINDOW_UPDATE of a stream beyond what was sent',
    ...idle,
    // Firefox widens the window of each stream.
    honest: (client) => client.send(many(900, (i) => Buffer.concat([post(2 * i + 1), window(2 * i + 1, 12_000_000)]))),
    limits: { http2Streams: 1000 },
    attack: (client) =>
      client.send(
        post(1),
        many(2000, () => window(1, 1)),
      ),
  },
  {
    guard: 'WINDOW_UPDATE of a stream that is over',
    ...idle,
    honest: (client) =>
      client.send(many(900, (i) => Buffer.concat([request(2 * i + 1, getFields()), window(2 * i + 1, 100)]))),
    attack: (client) =>
      client.send(
        request(1, getFields()),
        many(2000, () => window(1, 1)),
      ),
  },
  {
    guard: 'WINDOW_UPDATE by 0 of a stream that is over',
    ...idle,
    attack: (client) =>
      client.send(
        request(1, getFields()),
        many(2000, () => window(1, 0)),
      ),
  },
  {
    guard: 'RST_STREAM before an answer',
    reason: 'resets',
    handle: never,
    // A browser leaves a page.
    honest: (client) =>
      client.send(
        many(100, (i) => post(2 * i + 1)),
        many(100, (i) => reset(2 * i + 1)),
      ),
    attack: (client) =>
      client.send(many(300, (i) => Buffer.concat([request(2 * i + 1, getFields()), reset(2 * i + 1)]))),
    limits: { http2Streams: 1000 },
  },
  {
    guard: 'RST_STREAM among requests that are answered',
    reason: 'resets',
    handle: (x) => (x.method === 'POST' ? undefined : x.reply(200, '', '')),
    // A proxy in front, every other of whose clients leaves.
    honest: (client) =>
      client.send(
        many(400, (i) => Buffer.concat([request(4 * i + 1, getFields()), post(4 * i + 3), reset(4 * i + 3)])),
      ),
    attack: (client) =>
      client.send(
        many(600, (i) => Buffer.concat([post(4 * i + 1), reset(4 * i + 1), post(4 * i + 3), reset(4 * i + 3)])),
      ),
    limits: { http2Streams: 1000 },
  },
  {
    guard: 'streams beyond the bound',
    reason: 'resets',
    handle: never,
    limits: { http2Streams: 10 },
    // A pool that sends all it has, bodies too, before it has read our SETTINGS.
    honest: (client) =>
      client.send(
        many(1000, (i) => post(2 * i + 1)),
        many(1000, (i) => frame(TYPE.data, FLAG.endStream, 2 * i + 1, [1])),
      ),
    attack: (client) =>
      client.send(
        frame(TYPE.settings, FLAG.ack, 0),
        many(300, (i) => request(2 * i + 1, getFields())),
      ),
  },
  {
    guard: 'streams beyond the bound of a client that never reads it',
    reason: 'resets',
    handle: never,
    limits: { http2Streams: 10 },
    honest: (client) => client.send(many(4000, (i) => request(2 * i + 1, getFields()))),
    attack: (client) => client.send(many(5000, (i) => request(2 * i + 1, getFields()))),
  },
  {
    guard: 'malformed requests',
    reason: 'resets',
    honest: (client) => client.send(many(100, (i) => request(2 * i + 1, getFields({ te: 'gzip' })))),
    attack: (client) => client.send(many(300, (i) => request(2 * i + 1, getFields({ te: 'gzip' })))),
  },
  {
    guard: 'CONTINUATION',
    reason: 'field_block_size',
    honest: (client) =>
      client.send(
        frame(TYPE.headers, FLAG.endStream, 1, literals(getFields())),
        many(30, (i) => frame(TYPE.continuation, i === 29 ? FLAG.endHeaders : 0, 1)),
      ),
    attack: (client) =>
      client.send(
        frame(TYPE.headers, FLAG.endStream, 1, literals(getFields())),
        many(100, () => frame(TYPE.continuation, 0, 1)),
      ),
  },
]

/** The number of a stream that is asked last, to see that the connection works. */
const LAST = 2 ** 31 - 1
const answer: GateOptions['handle'] = (x) => (x.method === 'POST' ? undefined : x.reply(200, '', 'ok'))

for (const { guard, honest, attack, reason, handle = answer, limits = {} } of TABLE) {
  test(`${guard}: the honest worst case passes, the flood is cut`, async (t) => {
    const gate = await open(t, {
      handle: (x, upstream) => (x.path === '/last' ? x.reply(200, '', '') : handle(x, upstream)),
      limits,
    })
    const good = await FrameClient.connect(gate.port)
    t.after(() => good.destroy())
    await honest(good, gate)
    // The bound of streams may be reached: then this one is refused.
    good.send(frame(TYPE.settings, FLAG.ack, 0), request(LAST, getFields({ ':path': '/last' })))
    const last = await good.find(({ type, stream }) => type === TYPE.goaway || stream === LAST)
    assert.equal(last?.stream, LAST, 'a good client is served to its last request')
    const bad = await FrameClient.connect(gate.port)
    t.after(() => bad.destroy())
    attack(bad)
    let found = await fate(bad)
    while (found !== CALM && found !== 'closed') found = await fate(bad)
    assert.equal(found, CALM)
    assert.deepEqual(gate.goaways, [reason])
  })
}
