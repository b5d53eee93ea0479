import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bucketOf, LATENCY_BOUNDS_MS, type Latency, NO_MIN_MS, percentile } from '../../../src/model/analytics/hit.ts'

function latencyOf(values: readonly number[]): Latency {
  const buckets = new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0)
  for (const ms of values) buckets[bucketOf(ms)]!++
  return {
    sumMs: values.reduce((a, b) => a + b, 0),
    minMs: Math.min(NO_MIN_MS, ...values),
    maxMs: Math.max(0, ...values),
    buckets,
  }
}

test('a percentile is in the bucket of the request that it is of', () => {
  const values = fc.array(fc.double({ min: 0, max: 30_000, noNaN: true }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(values, fc.constantFrom(0.5, 0.95, 0.99, 1), (list, share) => {
      const sorted = [...list].sort((a, b) => a - b)
      const exact = sorted[Math.max(0, Math.ceil(share * list.length) - 1)]!
      const found = percentile(latencyOf(list), share)
      const bucket = bucketOf(exact)
      assert.ok(found >= (LATENCY_BOUNDS_MS[bucket - 1] ?? 0) && found <= (LATENCY_BOUNDS_MS[bucket] ?? sorted.at(-1)!))
      assert.ok(found >= sorted[0]! && found <= sorted.at(-1)!)
    }),
  )
})

test('of nothing, and of equal durations, there is no doubt', () => {
  assert.equal(percentile(latencyOf([]), 0.99), 0)
  assert.equal(percentile(latencyOf([7, 7, 7]), 0.5), 7)
  assert.equal(percentile(latencyOf([60_000]), 0.5), 60_000)
})
