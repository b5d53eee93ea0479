import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { HitBook } from '../../../src/gateway/record/hit-book.ts'
import { type HitDimensions, NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { HOUR_MS } from '../../../src/model/analytics/hit.ts'
import { DAY_MS } from '../../../src/model/time/calendar.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { packHits } from '../../../src/store/hits/hit-pack.ts'
import { openReadable, openWritable } from '../../../src/store/sqlite/connection/database.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { fillRollUps, hitRows, hitTables } from '../../../src/store/sqlite/hits/hit-tables.ts'
import { hitPurge } from '../../../src/store/sqlite/hits/write-counts.ts'
import { inTransaction } from '../../../src/store/sqlite/migrations/schema.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const set = (keyHash: string): HitDimensions => ({
  ...{ ...NO_DIMENSIONS, orgId: 'o', apiId: 'a', keyHash },
})

const once = { sumMs: 1, minMs: 1, maxMs: 1, buckets: [1, ...new Array<number>(13).fill(0)] }
const rowOn = (day: number, keyHash: string) => ({
  ...{ ...set(keyHash), hour: day * 24, status: 200, count: 1, success: 1, error: 0, lastAt: day * DAY_MS },
  ...{ total: once, upstream: once },
})

/** Numbers of the sets of dimensions that are there, by key. */
function numbers(db: DatabaseSync): Map<string, number> {
  const rows = db.prepare("SELECT row, key_hash FROM hit_dimension WHERE key_hash <> ''").all()
  return new Map(rows.map(({ row, key_hash }) => [String(key_hash), Number(row)]))
}

test('sets of dimensions go two days after their hits, and no number is ever given to another', (t) => {
  const db = openWritable({ file: join(temporaryFolder(t), 'gatehouse.db'), limitBytes: 0 })
  t.after(() => db.close())
  let today = 100
  const tables = hitTables(db, () => today * DAY_MS)
  const rows = hitRows(db, tables)
  const add = (day: number, ...keys: string[]) => {
    today = day
    inTransaction(db, () => rows.add(packHits(keys.map((key) => rowOn(day, key)))))
  }
  const purge = hitPurge(db)
  const purgeAll = (beforeDay: number) => {
    while (true) {
      const { rows: gone, sets } = inTransaction(db, () => purge(beforeDay))
      if (sets > 0) rows.forget()
      if (sets > 0) tables.forget()
      if (gone + sets === 0) return
    }
  }
  const left = () => [...numbers(db).keys()].sort()
  add(100, 'old', 'used', 'last')
  const before = numbers(db)
  add(103, 'used')
  purgeAll(102)
  assert.deepEqual(left(), ['last', 'old', 'used'], 'a number holds for a day, and some days longer')
  assert.equal(db.prepare('SELECT count(*) AS n FROM hit').get()!.n, 1)
  purgeAll(103)
  assert.ok(!left().includes('old'))
  assert.equal(numbers(db).get('used'), before.get('used'))
  const highest = Math.max(...before.values())
  purgeAll(200)
  for (const table of ['hit', 'hit_day', 'hit_api', 'hit_api_day'])
    assert.equal(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n, 0, table)
  add(201, 'new', 'old')
  for (const key of ['new', 'old']) assert.ok(numbers(db).get(key)! > highest - 1, key)
  assert.ok(numbers(db).get('new')! !== before.get('old') && numbers(db).get('old')! !== before.get('used'))
  const { count } = db.prepare('SELECT sum(count) AS count FROM hit_api_day').get()!
  assert.equal(count, 2, 'what stands for callers is found or made again')
})

test('a cell asks for its number daily, so that no forgotten one is used', async (t) => {
  const clock = new FakeClock()
  const store = await openStore({ path: temporaryFolder(t), clock })
  t.after(() => store.close())
  const asked: number[] = []
  const sink = {
    add: store.hits.add.bind(store.hits),
    append: store.hits.append.bind(store.hits),
    number(sets: readonly HitDimensions[]) {
      asked.push(sets.length)
      return store.hits.number(sets)
    },
  }
  const book = new HitBook(sink, { flushMs: 0 })
  const cell = book.cell(set('k'))
  const hit = async () => {
    cell.add(200, 1, 1, clock.wall())
    assert.equal(await book.flush(), true)
  }
  for (let i = 0; i < 4; i++) await hit()
  assert.deepEqual(asked, [1])
  clock.advance(DAY_MS - HOUR_MS)
  await hit()
  assert.deepEqual(asked, [1])
  clock.advance(2 * HOUR_MS)
  // Everything is forgotten meanwhile, the set of dimensions too.
  await store.hits.purgeHits(1_000_000)
  for (let i = 0; i < 3; i++) await hit()
  assert.deepEqual(asked, [1, 1])
  const all = {
    fromDay: 0,
    toDay: 1_000_000,
    per: 'all',
    sort: 'count',
    descending: true,
    offset: 0,
    limit: 9,
  } as const
  for (const by of [['keyHash'], ['apiId']] as const) {
    const { rows } = await store.hits.usage({ ...all, by })
    assert.deepEqual(
      rows.map(({ count }) => count),
      [3],
    )
  }
})

test('hits from before the other tables are added to them once', (t) => {
  const file = join(temporaryFolder(t), 'gatehouse.db')
  const db = openWritable({ file, limitBytes: 0 })
  t.after(() => db.close())
  const rows = hitRows(db, hitTables(db))
  inTransaction(db, () => rows.add(packHits([rowOn(1, 'a'), rowOn(1, 'b'), rowOn(2, 'a')])))
  db.exec('DELETE FROM hit_day; DELETE FROM hit_api; DELETE FROM hit_api_day; DELETE FROM hit_dimension_use')
  for (let start = 0; start < 2; start++) {
    fillRollUps(db)
    const reader = openReadable(file)
    const counts = ['hit', 'hit_day', 'hit_api', 'hit_api_day'].map((table) => {
      const { n, count } = reader.prepare(`SELECT count(*) AS n, sum(count) AS count FROM ${table}`).get()!
      return [n, count]
    })
    reader.close()
    assert.deepEqual(counts, [
      [3, 3],
      [3, 3],
      [2, 3],
      [2, 3],
    ])
  }
})
