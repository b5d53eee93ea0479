import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { USAGE_BATCH } from '../../../src/store/hits/usage-rows.ts'
import type { UsageQuery } from '../../../src/store/ports/ports.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { AnswerRows } from '../../../src/store/sqlite/hits/read-usage.ts'
import { UsageLink } from '../../../src/store/sqlite/hits/usage-link.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const KEYS = 450
const once = { sumMs: 1, minMs: 1, maxMs: 1, buckets: [1, ...new Array<number>(13).fill(0)] }
const rowOf = (n: number) => ({
  ...{
    ...NO_DIMENSIONS,
    orgId: 'o',
    apiId: 'a',
    keyHash: `k${n}`,
  },
  ...{ hour: 48, status: 200, count: n + 1, success: 1, error: 0, lastAt: 1, total: once, upstream: once },
})
const QUERY: UsageQuery = { fromDay: 0, toDay: 9, per: 'all', by: ['keyHash'], sort: 'count', descending: true }

async function filled(t: Parameters<typeof temporaryFolder>[0]) {
  const path = temporaryFolder(t)
  const store = await openStore({ path, clock: new FakeClock() })
  t.after(() => store.close())
  await store.hits.add(Array.from({ length: KEYS }, (_, n) => rowOf(n)))
  return { path, store }
}

test('usage is read on another thread: whoever asks goes on meanwhile', async (t) => {
  const { store } = await filled(t)
  let answered = false
  const asked = store.hits.usage({ ...QUERY, offset: 0, limit: 2 }).then((page) => {
    answered = true
    return page
  })
  await nextTurn()
  assert.equal(answered, false)
  const { rows, total } = await asked
  assert.deepEqual([rows.map(({ keyHash }) => keyHash), total], [['k449', 'k448'], KEYS])
})

test('an answer that is left half-way, and others beside it, are each of their own', async (t) => {
  const { store } = await filled(t)
  const left = store.hits.eachUsage(QUERY)[Symbol.asyncIterator]()
  await left.next()
  const counts: number[] = []
  for await (const batch of store.hits.eachUsage({ ...QUERY, descending: false })) {
    counts.push(...batch.map(({ count }) => count))
    await left.return?.()
  }
  assert.deepEqual(
    counts,
    Array.from({ length: KEYS }, (_, n) => n + 1),
  )
})

test('a thread that ends takes what it was asked along, and the next question starts another', async (t) => {
  const { path, store } = await filled(t)
  const link = new UsageLink(join(path, 'none.db'))
  t.after(() => link.close())
  await assert.rejects(link.page({ ...QUERY, offset: 0, limit: 1 }, false), { code: 'store_away' })
  await assert.rejects(link.page({ ...QUERY, offset: 0, limit: 1 }, false), { code: 'store_away' })
  const all = store.hits.eachUsage(QUERY)[Symbol.asyncIterator]()
  await all.next()
  await store.close()
  await assert.rejects(async () => all.next(), { code: 'store_away' })
  await assert.rejects(store.hits.usage({ ...QUERY, offset: 0, limit: 1 }))
})

test('rows by tag come each once, in batches as small as all others', async (t) => {
  const { store } = await filled(t)
  const tagsOf = (n: number) => Array.from({ length: 30 }, (_, i) => `tag-${n}-${i}`)
  await store.hits.add(Array.from({ length: 200 }, (_, n) => ({ ...rowOf(n), tags: tagsOf(n).join(',') })))
  let largest = 0
  const tags: string[] = []
  for await (const batch of store.hits.eachUsage({ ...QUERY, by: ['tag'] })) {
    largest = Math.max(largest, batch.length)
    tags.push(...batch.map((row) => row.tags))
  }
  assert.equal(largest, USAGE_BATCH)
  assert.deepEqual(
    tags.toSorted(),
    Array.from({ length: 200 }, (_, n) => tagsOf(n))
      .flat()
      .toSorted(),
  )
})

test('an answer is read a bounded number of times, its rows come in order, and gaps end nothing', () => {
  for (const total of [0, 1, 199, 200, 201, 3_999, 4_001, 10_000, 50_001]) {
    for (const isLeft of [(_: number) => true, (n: number) => n % 3 === 0, (n: number) => n >= 5_000]) {
      const names = Array.from({ length: total }, (_, n) => rowOf(n))
      let readings = 0
      const rows = new AnswerRows(
        {
          names: () => names,
          numbers(_, some) {
            readings++
            return some.filter(({ count }) => isLeft(count - 1))
          },
        },
        QUERY,
        false,
      )
      const counts: number[] = []
      for (let batch = rows.next(); batch !== undefined; batch = rows.next()) {
        assert.ok(batch.length > 0 && batch.length <= USAGE_BATCH, `a batch of ${batch.length}`)
        counts.push(...batch.map(({ count }) => count))
      }
      assert.ok(readings <= 20, `${readings} readings`)
      assert.deepEqual(
        counts,
        names.map(({ count }) => count).filter((count) => isLeft(count - 1)),
      )
    }
  }
})
