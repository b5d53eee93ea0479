import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import { openCacheScene } from '../../worlds/gateway/cache-scene.ts'

const DEEP = process.env.GATEHOUSE_DEEP === '1'
/** Kept as a text, at the bound, and kept as bytes. */
const SIZES = [1, 100, 16_384, 16_385, 70_000]

test('any range of a stored answer is the same slice of the body', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  await publish('a', { enabled: true, cacheAllSafeRequests: true, timeout: 60 })
  const bodies = SIZES.map((size) => randomBytes(size).toString('hex').slice(0, size))
  origin.script = ({ target }, response) => response.end(bodies[Number(target.slice(1))])
  for (const index of SIZES.keys()) await gateway.call(`/a/${index}`)
  const asked = origin.seen.length
  const edge = (size: number) => fc.oneof(fc.nat(size + 1), fc.constantFrom(0, size - 1, size, 16_383, 16_384))
  const request = fc.nat(SIZES.length - 1).chain((index) =>
    fc.record({
      index: fc.constant(index),
      from: fc.option(edge(SIZES[index]!)),
      to: fc.option(edge(SIZES[index]!)),
    }),
  )
  await fc.assert(
    fc.asyncProperty(request, async ({ index, from, to }) => {
      const whole = bodies[index]!
      fc.pre((from !== null || to !== null) && !(from !== null && to !== null && to < from))
      const answer = await gateway.call(`/a/${index}`, { headers: { Range: `bytes=${from ?? ''}-${to ?? ''}` } })
      // The oracle: offsets of a slice, a suffix counted from the end.
      const wanted =
        from === null ? (to === 0 ? '' : whole.slice(-to!)) : whole.slice(from, to === null ? whole.length : to + 1)
      if (wanted.length === 0) {
        assert.deepEqual([answer.status, answer.headers['content-range']], [416, `bytes */${whole.length}`])
        return
      }
      const start = from ?? whole.length - wanted.length
      assert.equal(answer.status, 206)
      assert.equal(answer.headers['content-range'], `bytes ${start}-${start + wanted.length - 1}/${whole.length}`)
      assert.equal(answer.headers['content-length'], String(wanted.length))
      assert.equal(answer.text, wanted)
    }),
    { numRuns: DEEP ? 2000 : 100 },
  )
  assert.equal(origin.seen.length, asked)
})

const FAILURES: Record<string, (response: ServerResponse) => unknown> = {
  ...Object.fromEntries(
    [500, 502, 503, 504].map((status) => [status, (it: ServerResponse) => it.writeHead(status).end()]),
  ),
  'a closed connection': (it) => it.destroy(),
  'a malformed answer': (it) => it.socket!.end('HTTP/1.1 nothing\r\n\r\n'),
}

test('a part of a stale answer stands in for a failed upstream where the whole one may', async (t) => {
  const { gateway, origin, publish } = await openCacheScene(t)
  await publish('a', { enabled: true, cacheAllSafeRequests: true, timeout: 60, staleIfError: 60 })
  await publish('b', { enabled: true, cacheAllSafeRequests: true, timeout: 60 })
  origin.script = (_request, response) => response.end('0123456789')
  for (const api of ['a', 'b']) await gateway.call(`/${api}/x`)
  gateway.clock.advance(61_000)
  const part = async (api: string, range: string) => {
    const answer = await gateway.call(`/${api}/x`, { headers: { Range: range } })
    return [answer.status, answer.text]
  }
  for (const [name, fail] of Object.entries(FAILURES)) {
    origin.script = (_request, response) => fail(response)
    assert.deepEqual(await part('a', 'bytes=2-4'), [206, '234'], name)
    assert.deepEqual(await part('a', 'bytes=-3'), [206, '789'], name)
    assert.equal((await part('a', 'bytes=10-'))[0], 416, name)
    assert.ok(Number((await part('b', 'bytes=2-4'))[0]) >= 500, name)
  }
  origin.script = (_request, response) => response.writeHead(206, { 'content-range': 'bytes 2-4/10' }).end('new')
  assert.deepEqual(await part('a', 'bytes=2-4'), [206, 'new'], 'the upstream is asked first')
  gateway.clock.advance(61_000)
  origin.script = (_request, response) => response.destroy()
  assert.equal((await part('a', 'bytes=2-4'))[0], 502, 'not beyond its time')
})
