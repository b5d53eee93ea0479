import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  connect,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { openGate } from '../../worlds/wire/gate.ts'
import { within } from '../../worlds/wire/raw.ts'

const name = fc.stringMatching(/^x-[a-z]{1,2}$/)
const value = fc.oneof(
  fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/),
  fc.constantFrom('', 'a', '0'.repeat(300), 'v'.repeat(3000), '~'.repeat(40)),
)
const fields = fc.dictionary(name, value, { maxKeys: 12 })
const body = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40_000 }))

/** One request and its answer: fields and sizes of bodies there, and back, and trailers behind both. */
const call = fc.record({ asked: fields, answered: fields, sent: body, returned: body, trailers: fields })
/** Calls at once, then more: much of what they say they have said before. */
const talk = fc
  .array(call, { minLength: 1, maxLength: 4 })
  .chain((calls) => fc.array(fc.array(fc.constantFrom(...calls), { minLength: 1, maxLength: 6 }), { maxLength: 5 }))

type Call = typeof call extends fc.Arbitrary<infer Made> ? Made : never

/** Our fields among all that came. */
function ours(headers: IncomingHttpHeaders): Record<string, unknown> {
  const kept = Object.entries(headers).filter(
    ([key]) => key.startsWith('x-') && key !== 'x-seen-host' && key !== 'x-call',
  )
  return Object.fromEntries(kept)
}

test('node:http2 at both ends reads what the other sent, with any repetition', async (t) => {
  const calls: Call[] = []
  const server = createServer({ settings: { headerTableSize: 300 } })
  const serve = async (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const { asked, answered, sent, returned, trailers } = calls[Number(headers['x-call'])]!
    let behind: IncomingHttpHeaders = {}
    let size = 0
    stream.on('trailers', (found) => {
      behind = found
    })
    for await (const part of stream) size += (part as Buffer).length
    const heard = size === sent && same(ours(headers), asked) && (sent === 0 || same(ours(behind), trailers))
    stream.respond({ ':status': heard ? 200 : 500, ...answered }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end(Buffer.alloc(returned, 'y'))
  }
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {})
    serve(stream, headers).catch(() => stream.close(2))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const limits = { http2Streams: 100, maxHeadBytes: 65_536 }
  const originPort = (server.address() as AddressInfo).port
  const gate = await openGate(t, { originPort, limits, upstream: { http2: true } })
  const session = connect(`http://127.0.0.1:${gate.port}`, { settings: { headerTableSize: 200 } })
  t.after(() => session.destroy())

  const ask = async (made: Call) => {
    const number = calls.push(made) - 1
    const { asked, answered, sent, returned, trailers } = made
    const head: OutgoingHttpHeaders = { ':method': 'POST', ':path': '/', 'x-call': String(number), ...asked }
    const stream = session.request(head, { endStream: sent === 0, waitForTrailers: sent > 0 })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    let behind: IncomingHttpHeaders = {}
    stream.on('trailers', (found) => {
      behind = found
    })
    if (sent > 0) stream.end(Buffer.alloc(sent, 'x'))
    const [headers] = (await within('an answer', once(stream, 'response'))) as [IncomingHttpHeaders]
    let size = 0
    for await (const part of stream) size += (part as Buffer).length
    assert.equal(headers[':status'], 200, 'the upstream has heard what was sent')
    assert.deepEqual(ours(headers), { ...answered })
    assert.deepEqual(ours(behind), { ...trailers })
    assert.equal(size, returned)
  }
  await fc.assert(
    fc.asyncProperty(talk, async (rounds) => {
      for (const round of rounds) await Promise.all(round.map(ask))
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 1000 : 40 },
  )
  assert.deepEqual(gate.failures, [])
})

function same(found: Record<string, unknown>, expected: Record<string, string>): boolean {
  const names = Object.keys(found)
  return names.length === Object.keys(expected).length && names.every((key) => found[key] === expected[key])
}
