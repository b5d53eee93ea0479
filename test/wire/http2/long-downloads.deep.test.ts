import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import type { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { type Gate, openGate } from '../../worlds/wire/gate.ts'
import { seeded } from '../../worlds/wire/random.ts'
import { turn } from '../../worlds/wire/raw.ts'

const PART = Buffer.alloc(65_536)
for (let at = 0; at < PART.length; at++) PART[at] = (at * 31) & 255

/** Sends a body of so many parts, which the path names, framed as it says: `/length/100`, `/chunked/100`, `/close/100`. */
async function openUpstream(t: TestContext, http2Streams: number): Promise<Gate> {
  const server = createServer((request, response) => {
    const [, framing, count] = request.url!.split('/')
    let left = Number(count)
    if (framing === 'length') response.setHeader('Content-Length', left * PART.length)
    // Without a length and chunks it ends with the connection.
    if (framing === 'close') response.useChunkedEncodingByDefault = false
    const more = () => {
      while (left-- > 0) if (!response.write(PART)) return void response.once('drain', more)
      response.end()
    }
    more()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return openGate(t, { originPort: (server.address() as AddressInfo).port, limits: { http2Streams } })
}

/** Reads to the end, and stops for some turns now and then. Answers the hash of what came. */
async function readSlowly(stream: Readable, random: () => number): Promise<string> {
  const hash = createHash('sha256')
  stream.on('data', async (part: Buffer) => {
    hash.update(part)
    if (random() > 0.05) return
    stream.pause()
    for (let turns = random() * 50; turns > 0; turns--) await turn()
    stream.resume()
  })
  await once(stream, 'end')
  return hash.digest('hex')
}

function hashOf(parts: number): string {
  const hash = createHash('sha256')
  for (let i = 0; i < parts; i++) hash.update(PART)
  return hash.digest('hex')
}

test('slow readers of long answers get every byte, over both versions and in every framing', async (t) => {
  const gate = await openUpstream(t, 100)
  const random = seeded(1)
  const parts = 1000
  const wanted = hashOf(parts)
  const session = connectHttp2(`http://127.0.0.1:${gate.port}`, { settings: { initialWindowSize: 1 << 20 } })
  t.after(() => session.destroy())
  for (const framing of ['length', 'chunked', 'close']) {
    const streams = Array.from({ length: 4 }, () => session.request({ ':path': `/${framing}/${parts}` }))
    const found = await Promise.all(streams.map((stream) => readSlowly(stream, random)))
    assert.deepEqual(found, Array(4).fill(wanted), framing)
    // HTTP/1.0: the body is all that comes behind the head.
    const socket = connect(gate.port, '127.0.0.1')
    socket.write(`GET /${framing}/${parts} HTTP/1.0\r\nHost: a\r\n\r\n`)
    let bytes = 0
    socket.on('data', (part) => {
      bytes += part.length
    })
    await readSlowly(socket, random)
    assert.ok(bytes > parts * PART.length, framing)
    assert.ok(bytes < parts * PART.length + 1000, framing)
  }
  assert.deepEqual(gate.failures, [])
  assert.deepEqual(gate.goaways, [])
})
