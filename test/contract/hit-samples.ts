import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HitDimensions, NO_DIMENSIONS } from '../../src/model/analytics/dimensions.ts'
import { HOUR_MS, NO_MIN_MS } from '../../src/model/analytics/hit.ts'
import { type HitSamples, SampleBlock } from '../../src/model/analytics/hit-samples.ts'
import type { HitQuery } from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'

const ALL: HitQuery = { fromHour: 0, toHour: 1_000_000, limit: 1000 }
const HOUR = 470_000

function set(more: Partial<HitDimensions> = {}): HitDimensions {
  return {
    ...{
      ...NO_DIMENSIONS,
      orgId: 'o',
      apiId: 'a',
      version: 'v1',
      keyHash: 'k',
      alias: 'ä\ud800',
      tags: 'x,y',
    },
    ...more,
  }
}

/** Requests: number of the dimensions, status, total and upstream latency, time since the hour began. */
function samples(hour: number, ...requests: readonly (readonly number[])[]): HitSamples {
  const block = new SampleBlock(requests.length)
  block.begin(hour * HOUR_MS)
  for (const [number = 0, status = 200, totalMs = 1, upstreamMs = 1, sinceMs = 0] of requests) {
    assert.ok(block.add(number, status, totalMs, upstreamMs, hour * HOUR_MS + sinceMs))
  }
  return block.samples
}

/** Checks of every adapter of `Hits` with requests that come one by one. */
export function hitSamplesSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: a set of dimensions has one number, of its own, whoever asks and whenever`, async (t) => {
      const { hits } = await open(t)
      const sets = [set(), set({ keyHash: 'z' }), set({ endpoint: 'GET /' }), set()]
      const numbers = await hits.number(sets)
      assert.equal(numbers[3], numbers[0])
      assert.equal(new Set(numbers).size, 3)
      assert.ok(numbers.every((number) => Number.isSafeInteger(number) && number > 0))
      const again = await Promise.all([hits.number(sets), hits.number([...sets].reverse())])
      assert.deepEqual(again, [numbers, [...numbers].reverse()])
      assert.deepEqual(await hits.number([]), [])
      const many = Array.from({ length: 300 }, (_, i) => set({ keyHash: `many ${i}` }))
      assert.equal(new Set(await hits.number(many)).size, 300)
    })

    test(`${name}: samples are the sums of their requests`, async (t) => {
      const { hits } = await open(t)
      const [one = 0, two = 0] = await hits.number([set(), set({ keyHash: 'z' })])
      const first = samples(HOUR, [one, 200, 3.5, 1, 7], [one, 200, 20_000, -1, 5], [one, 404, 0, -1, 9], [two, 302])
      await hits.append([first, samples(HOUR + 1, [one, 200, 1, 1, HOUR_MS - 1])])
      await hits.append([samples(HOUR, [one, 200, 0.5, 0.25, 6])])
      await hits.append([])
      const rows = await hits.sum({ ...ALL, fromHour: HOUR, toHour: HOUR })
      assert.deepEqual(
        rows.map(({ keyHash, status, count, success, error, lastAt }) => {
          return [keyHash, status, count, success, error, lastAt - HOUR * HOUR_MS]
        }),
        [
          ['k', 200, 3, 3, 0, 7],
          ['k', 404, 1, 0, 1, 9],
          ['z', 302, 1, 0, 0, 0],
        ],
      )
      const none = { sumMs: 0, minMs: NO_MIN_MS, maxMs: 0, buckets: new Array<number>(14).fill(0) }
      assert.deepEqual(rows[0]?.total, {
        ...{ sumMs: 20_004, minMs: 0.5, maxMs: 20_000 },
        buckets: [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
      })
      assert.deepEqual(rows[0]?.upstream, {
        ...none,
        sumMs: 1.25,
        minMs: 0.25,
        maxMs: 1,
        buckets: [2, ...none.buckets.slice(1)],
      })
      assert.deepEqual(rows[1]?.upstream, none)
      const [late] = await hits.sum({ ...ALL, fromHour: HOUR + 1 })
      assert.deepEqual([late?.hour, late?.count, late?.lastAt], [HOUR + 1, 1, (HOUR + 2) * HOUR_MS - 1])
    })

    test(`${name}: samples and rows of the same dimensions add up`, async (t) => {
      const { hits } = await open(t)
      const [number = 0] = await hits.number([set()])
      await hits.append([samples(HOUR, [number, 200, 4, 2, 3])])
      const [row] = await hits.sum(ALL)
      await hits.add([row!])
      await hits.append([samples(HOUR, [number, 200, 4, 2, 3])])
      const [sum, ...others] = await hits.sum(ALL)
      assert.deepEqual(others, [])
      assert.deepEqual([sum?.count, sum?.total.sumMs, sum?.upstream.buckets[1]], [3, 12, 3])
      assert.equal(sum?.alias, row?.alias)
    })

    test(`${name}: a repeated batch of samples counts once, and rows differ from samples of one source`, async (t) => {
      const { hits } = await open(t)
      const [number = 0] = await hits.number([set()])
      const some = samples(HOUR, [number], [number])
      await hits.append([some], { source: 'one', number: 1 })
      await hits.append([some], { source: 'one', number: 1 })
      const [row] = await hits.sum(ALL)
      await hits.add([row!], { source: 'one', number: 2 })
      await hits.append([some], { source: 'one', number: 2 })
      await hits.append([some], { source: 'two', number: 1 })
      const [sum] = await hits.sum(ALL)
      assert.equal(sum?.count, 6)
    })

    test(`${name}: samples are copied before the call returns, and many calls at once lose nothing`, async (t) => {
      const { hits } = await open(t)
      const numbers = await hits.number(Array.from({ length: 20 }, (_, i) => set({ keyHash: `${i}` })))
      const block = samples(HOUR, ...numbers.map((number) => [number]))
      const calls = Array.from({ length: 50 }, async (_, i) => {
        const done = hits.append([block])
        // The next call reports other statuses in the same memory.
        for (let at = 1; at < block.words.length; at += 4) block.words[at] = (300 + i) << 22
        await done
        if (i % 10 === 0) await hits.sum(ALL)
      })
      await Promise.all(calls)
      const rows = await hits.sum({ ...ALL, by: ['status'] })
      assert.equal(rows.length, 50)
      assert.ok(rows.every(({ count }) => count === 20))
    })

    test(`${name}: malformed samples fail alone and add nothing; odd durations do no harm`, async (t) => {
      const { hits } = await open(t)
      const [number = 0] = await hits.number([set()])
      const good = samples(HOUR, [number])
      const bad: HitSamples[] = [
        { hour: -1, words: good.words },
        { hour: 0.5, words: good.words },
      ]
      bad.push({ hour: HOUR, words: new Uint32Array(5) }, { hour: HOUR, words: [1] as unknown as HitSamples['words'] })
      const [first, ...rest] = await Promise.allSettled([
        hits.append([good]),
        ...bad.map((one) => hits.append([good, one])),
      ])
      assert.equal(first?.status, 'fulfilled')
      for (const result of rest) assert.equal(result.status === 'rejected' && result.reason.code, 'internal')
      await hits.append([
        samples(
          HOUR,
          [number, 200, Number.NaN, Number.NaN],
          [number, 200, Number.POSITIVE_INFINITY, 1e300],
          [number, 200, -5],
        ),
      ])
      const [sum, ...others] = await hits.sum(ALL)
      assert.deepEqual([sum?.count, sum?.total.minMs, others], [4, 0, []])
      assert.ok(Number.isFinite(sum?.total.sumMs) && Number.isFinite(sum?.upstream.maxMs))
    })
  }
}
