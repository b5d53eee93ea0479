import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
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
