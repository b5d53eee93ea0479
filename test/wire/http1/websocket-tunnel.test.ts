import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as ws from 'ws'
import { FrameFollower, WebSocketTunnel } from '../../../src/wire/http1/websocket-tunnel.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 5000 : 200

/** The parts of the `ws` package that write and read frames; its types do not name them. */
const { Sender, Receiver } = ws as unknown as {
  readonly Sender: { frame(data: Buffer, options: object): Buffer[] }
  readonly Receiver: new (options: object) => NodeJS.WritableStream
}

interface Frame {
  readonly opcode: number
  readonly size: number
  readonly fin: boolean
}

/** Frames as the `ws` package writes them, masked as a client does or not. */
function written({ opcode, size, fin }: Frame, masked: boolean): Buffer {
  const options = {
    opcode,
    fin,
    mask: masked,
    readOnly: false,
    rsv1: false,
    generateMask: undefined,
    maskBuffer: undefined,
  }
  return Buffer.concat(Sender.frame(Buffer.alloc(size, 'x'), options))
}

const size = fc.oneof(fc.nat(130), fc.constantFrom(125, 126, 127, 65_535, 65_536), fc.nat(70_000))
/** Whole messages and, between their parts, pings. */
const frames = fc
  .array(fc.record({ size, pinged: fc.boolean(), parts: fc.integer({ min: 1, max: 3 }) }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((messages) =>
    messages.flatMap(({ size, pinged, parts }): Frame[] =>
      Array.from({ length: parts }, (_, part) => [
        { opcode: part === 0 ? 2 : 0, size, fin: part === parts - 1 },
        ...(pinged ? [{ opcode: 9, size: Math.min(size, 125), fin: true }] : []),
      ]).flat(),
    ),
  )

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b)
  return [...places, bytes.length]
    .map((end, i) => bytes.subarray(i === 0 ? 0 : places[i - 1], end))
    .filter(({ length }) => length > 0)
}

const cuts = fc.array(fc.nat(1_000_000), { maxLength: 8 })

test('frames end where the writer ended them, however the bytes are cut', () => {
  fc.assert(
    fc.property(frames, fc.boolean(), cuts, (list, masked, places) => {
      const parts = list.map((frame) => written(frame, masked))
      const ends = new Set<number>()
      let end = 0
      for (const { length } of parts) {
        end += length
        ends.add(end)
      }
      const follower = new FrameFollower()
      let at = 0
      for (const chunk of cutAt(Buffer.concat(parts), places)) {
        let rest = chunk
        while (rest.length > 0) {
          const used = follower.follow(rest, true)
          at += used
          rest = rest.subarray(used)
          assert.equal(follower.isBetween, ends.has(at))
          assert.ok(rest.length === 0 || follower.isBetween)
        }
      }
      assert.equal(follower.hasClosed, false)
      follower.follow(written({ opcode: 8, size: 2, fin: true }, masked), false)
      assert.equal(follower.hasClosed, true)
    }),
    { numRuns: RUNS },
  )
})

/** The messages and the close code that a reader of the `ws` package finds. */
async function read(
  bytes: Buffer,
  isServer: boolean,
): Promise<{ pings: number; code: number | undefined; failed: boolean }> {
  const receiver = new Receiver({ isServer, maxPayload: 0 })
  const found = { pings: 0, code: undefined as number | undefined, failed: false }
  receiver.on('ping', () => found.pings++)
  receiver.on('conclude', (code: number) => {
    found.code = code
  })
  receiver.on('error', () => {
    found.failed = true
  })
  await new Promise<void>((resolve) => receiver.write(bytes, () => resolve()))
  return found
}

test('whenever the gateway leaves, each side reads whole frames and then 1001', async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.boolean(), cuts, fc.nat(8), async (list, toServer, places, leaveAt) => {
      const sent = Buffer.concat(list.map((frame) => written(frame, toServer)))
      const tunnel = new WebSocketTunnel()
      const passed: Buffer[] = []
      for (const [i, chunk] of cutAt(sent, places).entries()) {
        if (i === leaveAt) passed.push(tunnel.leave()[toServer ? 'toUpstream' : 'toClient'] ?? Buffer.alloc(0))
        passed.push((toServer ? tunnel.fromClient(chunk) : tunnel.fromUpstream(chunk)) ?? Buffer.alloc(0))
      }
      passed.push(tunnel.leave()[toServer ? 'toUpstream' : 'toClient'] ?? Buffer.alloc(0))
      const { code, failed } = await read(Buffer.concat(passed), toServer)
      assert.deepEqual([failed, code], [false, 1001])
    }),
    { numRuns: RUNS },
  )
})

test('a side that has closed by itself gets no second Close frame', () => {
  const tunnel = new WebSocketTunnel()
  const close = written({ opcode: 8, size: 2, fin: true }, true)
  assert.deepEqual(tunnel.fromClient(close), close)
  assert.equal(tunnel.clientIsDone, false)
  assert.equal(tunnel.leave().toUpstream, undefined)
  assert.equal(tunnel.clientIsDone, true)
})
