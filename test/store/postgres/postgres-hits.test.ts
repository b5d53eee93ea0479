import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { HOUR_MS } from '../../../src/model/analytics/hit.ts'
import { DAY_MS } from '../../../src/model/time/calendar.ts'
import { MemoryCounters } from '../../../src/store/memory/counters.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import type { RecordInput } from '../../../src/store/ports/records.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { freshDatabase, runSql } from '../../worlds/servers/postgres.ts'
import { countOf, DAY, samplesOn, setOf } from '../../worlds/store/hit-samples.ts'

const rounds = process.env.GATEHOUSE_DEEP === '1' ? 60 : 8

/** Two processes on one database. */
async function twoStores(t: TestContext): Promise<{ url: string; stores: [Store, Store] }> {
  const url = await freshDatabase()
  const open = () => openPostgresStore({ url, counters: new MemoryCounters() })
  const stores: [Store, Store] = [await open(), await open()]
  t.after(() => Promise.all(stores.map((store) => store.close())))
  return { url, stores }
}

function record(at: number, path: string): RecordInput {
  const own = { at, orgId: 'o', apiId: 'a', status: 200, method: 'GET', keyHash: '', clientId: '', tags: '' }
  return { ...own, path, requestId: '', fields: {} }
}

const partsOf = async (url: string, table: string): Promise<string[]> => {
  const rows = await runSql<{ name: string }>(
    url,
    'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1',
    [table],
  )
  return rows.map(({ name }) => name)
}

test('two processes number and count the same dimensions at once without loss', async (t) => {
  const { stores } = await twoStores(t)
  const sets = Array.from({ length: 40 }, (_, i) => setOf(`k${i}`))
  const [mine, theirs] = await Promise.all([
    stores[0].hits.number(sets),
    stores[1].hits.number([...sets].reverse()).then((numbers) => [...numbers].reverse()),
  ])
  assert.deepEqual(mine, theirs)
  assert.equal(new Set(mine).size, 40)
  const writes = Array.from({ length: rounds }, (_, round) => {
    const [some, others] = [samplesOn(DAY, mine), samplesOn(DAY, [...mine].reverse())]
    const batch = { source: 'one', number: round + 1 }
    return [
      stores[0].hits.append([some], batch),
      stores[1].hits.append([others]),
      // Of the same source: a repeated call may reach another process.
      stores[1].hits.append([some], batch),
    ]
  })
  await Promise.all(writes.flat())
  assert.equal(await countOf(stores[0], { by: ['keyHash'], per: 'day' }), await countOf(stores[1], { by: ['keyHash'] }))
  const total = await countOf(stores[0])
  assert.ok(total > rounds * 40 && total <= rounds * 80, `${total}`)
  assert.equal(await countOf(stores[1], { per: 'hour' }), total)
  assert.equal(await countOf(stores[1], { where: { keyHash: mine.map((_, i) => `k${i}`) } }), total)
})

test('each month is a part, which goes as a whole and comes again when it is needed', async (t) => {
  const { url, stores } = await twoStores(t)
  const [one, other] = stores
  const [number = 0] = await one.hits.number([setOf('k')])
  for (const day of [DAY - 40, DAY, DAY + 30]) await one.hits.append([samplesOn(day, [number])])
  assert.equal(await countOf(one), 3)
  assert.deepEqual(await partsOf(url, 'hit'), ['hit_2023_10', 'hit_2023_11', 'hit_2023_12'])
  assert.deepEqual(await partsOf(url, 'hit_api_day'), [
    'hit_api_day_2023_10',
    'hit_api_day_2023_11',
    'hit_api_day_2023_12',
  ])
  // Of November only a day is left, so that its part stays.
  assert.equal(await other.hits.purgeHits(DAY), 5)
  assert.deepEqual(await partsOf(url, 'hit_day'), ['hit_day_2023_11', 'hit_day_2023_12'])
  assert.equal(await countOf(one), 2)
  // The first process believes that the part is there.
  await one.hits.append([samplesOn(DAY - 40, [number])], { source: 's', number: 1 })
  assert.equal(await countOf(one), 3)
  assert.equal(await other.hits.purgeHits(DAY), 5)
})

test('sets of dimensions go when they were not counted for long, and never while they are', async (t) => {
  const { url, stores } = await twoStores(t)
  const [one, other] = stores
  const [number = 0] = await one.hits.number([setOf('k')])
  await one.hits.append([samplesOn(DAY, [number])])
  const today = Math.floor(Date.now() / DAY_MS)
  await other.hits.purgeHits(today + 2)
  assert.equal(await other.hits.knows('o', 'keyHash', 'k'), true)
  await other.hits.purgeHits(today + 4)
  assert.equal(await other.hits.knows('o', 'keyHash', 'k'), false)
  assert.deepEqual(await runSql(url, 'SELECT 1 FROM hit_dimension'), [])
  const [again = 0] = await one.hits.number([setOf('k')])
  assert.notEqual(again, number)
  await other.hits.append([samplesOn(DAY, [again])])
  assert.equal(await countOf(one), 1)
})

test('who follows the newest records sees each of them once, in order, whoever writes', async (t) => {
  const { url, stores } = await twoStores(t)
  const seen: number[] = []
  const paths = new Set<string>()
  let writing = true
  const follow = async () => {
    for (let after = 0; ; ) {
      const last = !writing
      const rows = await stores[0].records.after({ after, limit: 50 })
      for (const { id, path } of rows) {
        seen.push(id)
        paths.add(path)
      }
      after = rows.at(-1)?.id ?? after
      if (last && rows.length === 0) return
    }
  }
  const following = follow()
  await Promise.all(
    stores.flatMap((store, who) =>
      Array.from({ length: rounds * 4 }, (_, i) =>
        store.records.append([record(DAY * DAY_MS + i, `/${who}/${i}/a`), record(DAY * DAY_MS, `/${who}/${i}/b`)]),
      ),
    ),
  )
  writing = false
  await following
  assert.equal(seen.length, rounds * 16)
  assert.equal(paths.size, seen.length)
  assert.deepEqual(
    seen,
    [...seen].sort((a, b) => a - b),
  )
  assert.deepEqual(await partsOf(url, 'record'), ['record_2023_11'])
  assert.equal(await stores[1].records.purgeRecords({ before: (DAY + 60) * DAY_MS, keep: 1000 }), seen.length)
  assert.deepEqual(await partsOf(url, 'record'), [])
  await stores[0].records.append([record(DAY * DAY_MS, '/again')])
  const [again] = await stores[1].records.after({ after: seen.at(-1)!, limit: 5 })
  assert.equal(again?.path, '/again')
})

test('an hour that no calendar has is refused, with nothing written', async (t) => {
  const { stores } = await twoStores(t)
  const [number = 0] = await stores[0].hits.number([setOf('k')])
  const words = samplesOn(DAY, [number]).words
  await assert.rejects(stores[0].hits.append([{ hour: Number.MAX_SAFE_INTEGER, words }]), { code: 'internal' })
  await stores[0].hits.append([{ hour: (DAY * DAY_MS) / HOUR_MS, words }])
  assert.equal(await countOf(stores[0]), 1)
})
