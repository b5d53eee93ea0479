import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FLAG, FrameClient, frame, literals, TYPE } from '../../worlds/wire/frames.ts'
import { openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { within } from '../../worlds/wire/raw.ts'

const FRAME_BYTES = 16_384
const MIB = 1_048_576
const HEAD = [':method', 'POST', ':scheme', 'http', ':authority', 'a', ':path', '/']

/** Uploads as fast as the windows allow; answers the largest increment of the stream's window. */
async function upload(port: number, bytes: number): Promise<number> {
  const client = await FrameClient.connect(port)
  const fields = HEAD.flatMap((name, i) => (i % 2 === 0 ? [[name, HEAD[i + 1]!] as const] : []))
  client.send(frame(TYPE.headers, FLAG.endHeaders, 1, literals(fields)))
  const credit = { 0: 65_535, 1: 65_535 } as Record<number, number>
  let [left, largest] = [bytes, 0]
  for (;;) {
    while (left > 0 && Math.min(credit[0]!, credit[1]!) > 0) {
      const size = Math.min(left, FRAME_BYTES, credit[0]!, credit[1]!)
      left -= size
      for (const id of [0, 1]) credit[id]! -= size
      client.send(frame(TYPE.data, left === 0 ? FLAG.endStream : 0, 1, Buffer.alloc(size, 1)))
    }
    const arrived = await within('a frame', client.next())
    assert.ok(
      arrived !== undefined && arrived.type !== TYPE.goaway && arrived.type !== TYPE.rst,
      'the connection lives',
    )
    if (arrived.type === TYPE.headers) break
    if (arrived.type !== TYPE.window) continue
    const increment = arrived.payload.readUInt32BE(0)
    credit[arrived.stream] = credit[arrived.stream]! + increment
    if (arrived.stream === 1) largest = Math.max(largest, increment)
  }
  client.destroy()
  return largest
}

test('windows grow with what the upstream takes, and are given back with their connection', async (t) => {
  let received = 0
  const origin = await openOrigin(t, async (connection) => {
    const { body } = (await connection.request())!
    received += body.length
    connection.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
  })
  const gate = await openGate(t, { originPort: origin.port, limits: { http2Streams: 100 } })
  // More connections one after the other than may have grown at once.
  for (let i = 1; i <= 11; i++) {
    const largest = await upload(gate.port, 24 * MIB)
    assert.equal(received, i * 24 * MIB)
    assert.ok(largest > MIB, `connection ${i}: ${largest}`)
  }
})
