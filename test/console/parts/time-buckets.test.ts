import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  bucketSpan,
  bucketStarts,
  bucketsOf,
  LENGTHS_MS,
  minutesAfter,
  nextBucket,
  spanBefore,
  wordsOf,
} from '../../../console/src/parts/charts/time-buckets.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Any moment, and those around changes of the clock in Europe. */
const aMoment = fc.oneof(
  fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2028, 0, 1) }),
  fc.integer({ min: Date.UTC(2026, 9, 24, 22), max: Date.UTC(2026, 9, 25, 4) }),
  fc.integer({ min: Date.UTC(2027, 2, 27, 22), max: Date.UTC(2027, 2, 28, 4) }),
)
const whole = (range: string) => ({ range, from: '', to: '' })

test('a relative time of minutes and hours is exactly as long as it says, up to this minute', () => {
  fc.assert(
    fc.property(aMoment, fc.constantFrom('5m', '15m', '1h', '6h', '24h'), (now, range) => {
      const { span, res } = bucketsOf(whole(range), now)
      assert.equal(span.toMs - span.fromMs, LENGTHS_MS[range])
      assert.ok(span.toMs >= now && span.toMs < now + MINUTE_MS && span.toMs % MINUTE_MS === 0)
      assert.equal(res, range === '24h' ? 'hour' : 'minute')
      if (res === 'minute') assert.equal(bucketStarts(span, res).length, LENGTHS_MS[range]! / MINUTE_MS)
    }),
  )
})

test('requests that are counted by hour are shown in the hours that the time touches', () => {
  fc.assert(
    fc.property(aMoment, fc.constantFrom(...Object.keys(LENGTHS_MS)), (now, range) => {
      const { span, res } = bucketsOf(whole(range), now, Number.POSITIVE_INFINITY)
      const exact = bucketsOf(whole(range), now).span
      assert.ok(res !== 'minute')
      assert.deepEqual([span.fromMs % HOUR_MS, span.toMs % HOUR_MS], [0, 0])
      assert.ok(span.toMs >= exact.toMs && span.toMs - exact.toMs < DAY_MS)
      assert.ok(span.fromMs <= exact.fromMs + HOUR_MS)
    }),
  )
})

test('buckets follow one another over a time and no further, and so do those of the time before', () => {
  const aLength = fc.oneof(fc.integer({ min: 1, max: 60 * 48 }), fc.integer({ min: 1, max: 60 * 24 * 400 }))
  fc.assert(
    fc.property(
      aMoment,
      aLength,
      fc.integer({ min: 0, max: 60 * 24 * 90 }),
      fc.oneof(
        fc.constant(Number.NEGATIVE_INFINITY),
        fc.integer({ min: -60, max: 60 * 49 }),
        fc.constant(Number.POSITIVE_INFINITY),
      ),
      (now, length, ago, minutesFor) => {
        const toMs = now - ago * MINUTE_MS
        const minutesFromMs = now - minutesFor * MINUTE_MS
        const asked = { fromMs: toMs - length * MINUTE_MS, toMs }
        const { span, res } = bucketsOf(wordsOf(asked), now, minutesFromMs)
        const minutes = wordsOf(asked)
        assert.ok(span.fromMs <= Date.parse(`${minutes.from}Z`) && span.toMs >= Date.parse(`${minutes.to}Z`))
        const starts = bucketStarts(span, res)
        assert.ok(starts[0]! <= span.fromMs && nextBucket(starts[0]!, res) > span.fromMs)
        for (const [i, at] of starts.entries()) if (i > 0) assert.equal(at, nextBucket(starts[i - 1]!, res))
        assert.ok(starts.at(-1)! < span.toMs && nextBucket(starts.at(-1)!, res) >= span.toMs)
        const before = spanBefore(span, res)
        assert.equal(before.toMs, span.fromMs)
        if (res !== 'minute') return
        assert.ok(before.fromMs >= now - 48 * HOUR_MS - MINUTE_MS, 'minutes that are kept')
        assert.ok(before.fromMs >= minutesFromMs - MINUTE_MS, 'minutes that are counted')
        const later = bucketsOf(wordsOf(asked), now, minutesAfter(before))
        assert.notEqual(later.res, 'minute', 'what is refused is not asked for again')
      },
    ),
  )
})

test('a bucket that is in progress ends with this minute, others where they end', () => {
  const at = Date.UTC(2026, 9, 25, 1)
  assert.deepEqual(bucketSpan(at, 'hour', at + 90_500), { fromMs: at, toMs: at + 2 * MINUTE_MS })
  assert.deepEqual(bucketSpan(at, 'hour', at + 2 * HOUR_MS), { fromMs: at, toMs: at + HOUR_MS })
  assert.deepEqual(bucketSpan(at, 'minute', at), { fromMs: at, toMs: at + MINUTE_MS })
})
