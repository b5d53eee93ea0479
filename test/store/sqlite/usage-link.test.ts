import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { UsageQuery } from '../../../src/store/ports/ports.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
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

test('rows by tag come in a bounded number of batches, each once, however many there are', async (t) => {
  const { store } = await filled(t)
  const tagsOf = (n: number) => Array.from({ length: 30 }, (_, i) => `tag-${n}-${i}`)
  await store.hits.add(Array.from({ length: 200 }, (_, n) => ({ ...rowOf(n), tags: tagsOf(n).join(',') })))
  let batches = 0
  const tags: string[] = []
  for await (const batch of store.hits.eachUsage({ ...QUERY, by: ['tag'] })) {
    batches++
    tags.push(...batch.map((row) => row.tags))
  }
  assert.ok(batches <= 20, `${batches} batches`)
  assert.deepEqual(
    tags.toSorted(),
    Array.from({ length: 200 }, (_, n) => tagsOf(n))
      .flat()
      .toSorted(),
  )
})
