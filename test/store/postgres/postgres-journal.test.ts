import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import type { Store } from '../../../src/store/ports/ports.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { freshDatabase, runSql } from '../../worlds/servers/postgres.ts'
import { startChild } from '../../worlds/store/child.ts'
import { ALL_USAGE, countOf, DAY, samplesOn, setOf } from '../../worlds/store/hit-samples.ts'

const KILLS = process.env.GATEHOUSE_DEEP === '1' ? 25 : 3
const TABLES = ['hit', 'hit_day', 'hit_api', 'hit_api_day']

async function openOn(t: TestContext, url: string): Promise<Store> {
  const store = await openPostgresStore({ url, patienceMs: 0 })
  t.after(() => store.close())
  return store
}

/** Requests in a table, without a rollup. */
const storedIn = async (url: string, table: string): Promise<number> => {
  const [row] = await runSql<{ n: number }>(url, `SELECT coalesce(sum(count), 0)::int AS n FROM ${table}`)
  return row!.n
}
const waiting = async (url: string): Promise<number> =>
  (await runSql<{ n: number }>(url, 'SELECT count(*)::int AS n FROM hit_journal'))[0]!.n

test('requests wait as they came, and whoever reads finds them, whichever process took them', async (t) => {
  const url = await freshDatabase()
  const [one, other] = [await openOn(t, url), await openOn(t, url)]
  const numbers = await one.hits.number([setOf('k1'), setOf('k2')])
  await one.hits.append([samplesOn(DAY, numbers), samplesOn(DAY + 40, numbers), samplesOn(DAY, numbers)])
  assert.equal(await storedIn(url, 'hit'), 0)
  assert.equal(await waiting(url), 2, 'an entry for each hour')
  assert.equal(await countOf(other), 6)
  assert.deepEqual(await Promise.all(TABLES.map((table) => storedIn(url, table))), [6, 6, 6, 6])
  assert.equal(await waiting(url), 0)
  await one.hits.append([samplesOn(DAY, numbers)])
  assert.equal(await other.hits.knows('o', 'keyHash', 'k2'), true)
  await one.hits.append([samplesOn(DAY, numbers)])
  const [sum] = await other.hits.sum({ fromHour: 0, toHour: DAY * 24, by: ['keyHash'], limit: 9 })
  assert.equal(sum?.count, 4)
  await one.hits.append([samplesOn(DAY, numbers)])
  const batches: number[] = []
  for await (const rows of other.hits.eachUsage({ ...ALL_USAGE, by: ['keyHash'] }))
    batches.push(...rows.map((r) => r.count))
  assert.deepEqual(batches, [6, 6])
  await one.hits.append([samplesOn(DAY, numbers)])
  assert.equal(await other.hits.purgeHits(DAY + 1), 2 + 2 + 1 + 1 + 1, 'what waits is as old')
  assert.equal(await countOf(one), 2)
})

test('what nobody reads is worked in as well when it has waited for long', async (t) => {
  const url = await freshDatabase()
  const store = await openOn(t, url)
  const numbers = await store.hits.number([setOf('k')])
  await store.hits.append([samplesOn(DAY, numbers)])
  assert.equal(await waiting(url), 1)
  await runSql(url, "UPDATE hit_journal SET at = at - interval '1 minute'")
  await eventually('it is worked in', async () => (await waiting(url)) === 0)
  assert.equal(await storedIn(url, 'hit_day'), 1)
})

test('processes that append and read side by side count each request once', async (t) => {
  const url = await freshDatabase()
  const stores = [await openOn(t, url), await openOn(t, url)]
  const numbers = await stores[0]!.hits.number(Array.from({ length: 30 }, (_, i) => setOf(`k${i}`)))
  let told = 0
  const write = async (store: Store) => {
    for (let i = 0; i < 40; i++) {
      await store.hits.append([samplesOn(DAY + (i % 3), numbers)])
      told += numbers.length
    }
  }
  let writing = true
  const watch = async (store: Store) => {
    for (let before = 0; writing; ) {
      const least = told
      const now = await countOf(store)
      assert.ok(now >= least && now >= before, `${now} of at least ${least}, ${before} before`)
      before = now
    }
  }
  const watching = Promise.all(stores.map(watch))
  await Promise.all([...stores, ...stores].map(write))
  writing = false
  await watching
  assert.equal(await countOf(stores[1]!), told)
})

test(`${2 * KILLS} processes killed while they count lose nothing acknowledged, in any table`, async (t) => {
  const url = await freshDatabase()
  const store = await openOn(t, url)
  let acknowledged = 0
  for (let round = 0; round < KILLS; round++) {
    const children = [startChild('crash-hits.ts', [url, `${DAY}`]), startChild('crash-hits.ts', [url, `${DAY + 40}`])]
    for (const child of children) t.after(() => child.process.kill('SIGKILL'))
    for (const child of children) {
      await child.line('samples').then(() => wait(randomInt(60)))
      child.process.kill('SIGKILL')
      await child.ended
      acknowledged += 50 * child.lines.filter((line) => line === 'samples 50').length
    }
  }
  // The last ones of both lanes of each process got no answer any more.
  const most = acknowledged + KILLS * 2 * 2 * 50
  const found = await countOf(store)
  assert.ok(found >= acknowledged && found <= most, `${found}, acknowledged ${acknowledged}`)
  assert.deepEqual(await Promise.all(TABLES.map((table) => storedIn(url, table))), [found, found, found, found])
})

test('a connection cut half-way loses nothing and counts nothing twice', async (t) => {
  const url = await freshDatabase()
  const store = await openOn(t, url)
  const numbers = await store.hits.number([setOf('k')])
  await store.hits.append([samplesOn(DAY, numbers)])
  assert.equal(await countOf(store), 1)
  await store.hits.append([samplesOn(DAY, numbers)])
  const inTheWay = new Client(url)
  await inTheWay.connect()
  t.after(() => inTheWay.end())
  // The first tables are written, the last cannot be.
  await inTheWay.query('BEGIN; LOCK TABLE hit_api_day IN ACCESS EXCLUSIVE MODE')
  const reading = store.hits.sum({ fromHour: 0, toHour: 1_000_000, by: [], limit: 1 })
  const refused = assert.rejects(async () => reading, { code: 'store_away' })
  await eventually('the fold is cut off', async () => {
    const cut = await runSql(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO hit_api_day%'`,
    )
    return cut.length > 0
  })
  await refused
  await inTheWay.query('ROLLBACK')
  await eventually('the store is back', () =>
    countOf(store).then(
      () => true,
      () => false,
    ),
  )
  assert.equal(await countOf(store), 2)
  assert.deepEqual(await Promise.all(TABLES.map((table) => storedIn(url, table))), [2, 2, 2, 2])
})

test('a server without room can be read, and what waits is worked in when there is room again', async (t) => {
  const url = await freshDatabase()
  const store = await openOn(t, url)
  const numbers = await store.hits.number([setOf('k')])
  await store.hits.append([samplesOn(DAY, numbers)])
  assert.equal(await countOf(store), 1)
  await runSql(
    url,
    `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`,
  )
  await runSql(url, 'CREATE TRIGGER no_room BEFORE INSERT ON hit_day FOR EACH ROW EXECUTE FUNCTION no_room()')
  await store.hits.append([samplesOn(DAY, numbers)])
  assert.equal(await countOf(store), 1)
  assert.equal(await store.hits.purgeHits(DAY + 40), 5, 'what is old can go')
  assert.equal(await countOf(store), 0)
  await runSql(url, 'DROP TRIGGER no_room ON hit_day')
  assert.equal(await countOf(store), 1)
})
