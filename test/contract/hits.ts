import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_DIMENSIONS } from '../../src/model/analytics/dimensions.ts'
import { type Hit, LATENCY_BOUNDS_MS, type Latency, NO_MIN_MS } from '../../src/model/analytics/hit.ts'
import type { HitQuery } from '../../src/store/ports/ports.ts'
import type { Adapter } from './adapters.ts'

const ALL: HitQuery = { fromHour: 0, toHour: 1_000_000, limit: 1000 }

/** Latency of one request. */
function once(ms: number): Latency {
  const buckets = new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0)
  const found = LATENCY_BOUNDS_MS.findIndex((bound) => ms <= bound)
  buckets[found === -1 ? LATENCY_BOUNDS_MS.length : found] = 1
  return { sumMs: ms, minMs: ms, maxMs: ms, buckets }
}

function hit(more: Partial<Hit> = {}): Hit {
  return {
    ...NO_DIMENSIONS,
    ...{ hour: 10, orgId: 'o', apiId: 'a', version: 'v1', keyHash: 'k', alias: 'ä', clientId: '', tags: 'x,y' },
    ...{
      endpoint: 'GET /x',
      country: 'DE',
      status: 200,
      count: 1,
      success: 1,
      error: 0,
      lastAt: 5,
      total: once(3.5),
      upstream: once(1),
    },
    ...more,
  }
}

/** Checks of every adapter of `Hits`. */
export function hitsSuite(adapters: readonly Adapter[]): void {
  for (const { name, open } of adapters) {
    test(`${name}: a row comes back as it was`, async (t) => {
      const { hits } = await open(t)
      const none = { sumMs: 0, minMs: NO_MIN_MS, maxMs: 0, buckets: new Array<number>(14).fill(0) }
      const row = hit({ upstream: none })
      await hits.add([row])
      assert.deepEqual(await hits.sum(ALL), [row])
      await hits.add([])
    })

    test(`${name}: rows of the same dimensions add up, element by element`, async (t) => {
      const { hits } = await open(t)
      await hits.add([hit({ total: once(3), lastAt: 9 }), hit({ total: once(20_000), lastAt: 7 })])
      await hits.add([hit({ total: once(0.5), count: 2, success: 1, error: 1 })])
      const [sum, ...others] = await hits.sum(ALL)
      assert.deepEqual(others, [])
      const buckets = [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
      assert.deepEqual(sum, {
        ...hit({ count: 4, success: 3, error: 1, lastAt: 9 }),
        total: { sumMs: 20_003.5, minMs: 0.5, maxMs: 20_000, buckets },
        upstream: { sumMs: 3, minMs: 1, maxMs: 1, buckets: [3, ...buckets.slice(1).fill(0)] },
      })
    })

    test(`${name}: a repeated batch is counted once, a later one and one of another source too`, async (t) => {
      const { hits } = await open(t)
      await hits.add([hit()], { source: 'one', number: 1 })
      await hits.add([hit()], { source: 'one', number: 1 })
      await hits.add([hit()], { source: 'two', number: 1 })
      await hits.add([hit()], { source: 'one', number: 3 })
      await hits.add([hit()], { source: 'one', number: 2 })
      const [sum] = await hits.sum(ALL)
      assert.equal(sum?.count, 3)
    })

    test(`${name}: 100 writers of one row at once lose nothing`, async (t) => {
      const { hits } = await open(t)
      await Promise.all(Array.from({ length: 100 }, () => hits.add([hit(), hit({ status: 500 }), hit()])))
      const rows = await hits.sum(ALL)
      assert.deepEqual(
        rows.map(({ status, count }) => [status, count]),
        [
          [200, 200],
          [500, 100],
        ],
      )
    })

    test(`${name}: every dimension keeps rows apart`, async (t) => {
      const { hits } = await open(t)
      const others: Partial<Hit>[] = [{ hour: 11 }, { orgId: 'z' }, { apiId: 'z' }, { version: 'z' }, { keyHash: 'z' }]
      others.push(
        { alias: 'z' },
        { clientId: 'z' },
        { tags: 'z' },
        { endpoint: 'z' },
        { country: 'FR' },
        { status: 201 },
      )
      await hits.add([hit(), ...others.map(hit)])
      await hits.add([hit(), ...others.map(hit)])
      const rows = await hits.sum(ALL)
      assert.equal(rows.length, 12)
      assert.ok(rows.every(({ count }) => count === 2))
    })

    test(`${name}: sums keep the dimensions asked for, newest hour and larger count first`, async (t) => {
      const { hits } = await open(t)
      await hits.add([
        hit({ hour: 10, apiId: 'a', keyHash: 'k1', count: 1 }),
        hit({ hour: 10, apiId: 'b', keyHash: 'k1', count: 5 }),
        hit({ hour: 10, apiId: 'a', keyHash: 'k2', count: 7, status: 404 }),
        hit({ hour: 11, apiId: 'a', keyHash: 'k1', count: 2 }),
        hit({ hour: 12, apiId: 'c', keyHash: 'k1', count: 9 }),
      ])
      const byApi = await hits.sum({ fromHour: 10, toHour: 11, by: ['apiId'], limit: 10 })
      assert.deepEqual(
        byApi.map(({ hour, apiId, status, keyHash, count }) => [hour, apiId, status, keyHash, count]),
        [
          [11, 'a', 0, '', 2],
          [10, 'a', 0, '', 8],
          [10, 'b', 0, '', 5],
        ],
      )
      const byStatus = await hits.sum({ fromHour: 0, toHour: 10, where: { apiId: 'a' }, by: ['status'], limit: 10 })
      assert.deepEqual(
        byStatus.map(({ status, apiId, count }) => [status, apiId, count]),
        [
          [404, '', 7],
          [200, '', 1],
        ],
      )
      const total = await hits.sum({ fromHour: 10, toHour: 10, by: [], limit: 10 })
      assert.deepEqual(
        total.map(({ count, total: { sumMs } }) => [count, sumMs]),
        [[13, 10.5]],
      )
      assert.equal((await hits.sum({ ...ALL, limit: 2 })).length, 2)
      assert.deepEqual(await hits.sum({ ...ALL, where: { keyHash: 'none' } }), [])
    })

    test(`${name}: a row that is none fails alone and adds nothing`, async (t) => {
      const { hits } = await open(t)
      const bad = [{ count: Number.NaN }, { hour: -1 }, { status: 1.5 }, { total: { ...once(1), buckets: [1] } }]
      const adds = bad.map((one) => hits.add([hit(), hit(one)]))
      const [good, ...rest] = await Promise.allSettled([hits.add([hit()]), ...adds])
      assert.equal(good?.status, 'fulfilled')
      for (const result of rest) assert.equal(result.status === 'rejected' && result.reason.code, 'internal')
      assert.deepEqual(
        (await hits.sum(ALL)).map(({ count }) => count),
        [1],
      )
    })
  }
}
