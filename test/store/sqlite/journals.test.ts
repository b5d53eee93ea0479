import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { HOUR_MS, MINUTE_MS } from '../../../src/model/analytics/hit.ts'
import { SampleBlock } from '../../../src/model/analytics/hit-samples.ts'
import { QUOTA_NUMBERS } from '../../../src/store/memory/quota-changes.ts'
import { openReadable, openWritable } from '../../../src/store/sqlite/connection/database.ts'
import { openStore, type SqliteStore } from '../../../src/store/sqlite/connection/open.ts'
import type { Journal } from '../../../src/store/sqlite/hits/folding.ts'
import { type FoldLimits, hitJournal } from '../../../src/store/sqlite/hits/hit-journal.ts'
import { hitReader } from '../../../src/store/sqlite/hits/hits.ts'
import { usageReader } from '../../../src/store/sqlite/hits/read-usage.ts'
import { inTransaction } from '../../../src/store/sqlite/migrations/schema.ts'
import { quotaJournal, savedQuotas } from '../../../src/store/sqlite/quotas/quota-journal.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const numRuns = process.env.GATEHOUSE_DEEP === '1' ? 400 : 30
const HOUR = 470_000
const ALL = { fromHour: 0, toHour: 1_000_000, by: ['keyHash', 'status'], limit: 10_000 } as const
const dimensions = (keyHash: string) => ({
  ...{ ...NO_DIMENSIONS, orgId: 'o', apiId: 'a', keyHash },
})

/** A database with sets of dimensions 1 to 40, whose key is their number. */
function openDatabase(t: TestContext): { db: DatabaseSync; reader: DatabaseSync } {
  const file = join(temporaryFolder(t), 'gatehouse.db')
  const db = openWritable({ file, limitBytes: 0 })
  const reader = openReadable(file)
  t.after(() => {
    reader.close()
    db.close()
  })
  const insert =
    db.prepare(`INSERT INTO hit_dimension(row, org_id, api_id, version, key_hash, alias, client_id, tags, endpoint, country)
    VALUES (?, '', '', '', ?, '', '', '', '', '')`)
  for (let number = 1; number <= 40; number++) insert.run(number, `${number}`)
  return { db, reader }
}

function clear(db: DatabaseSync): void {
  db.exec('DELETE FROM hit_minute; DELETE FROM hit_day; DELETE FROM hit_api; DELETE FROM hit_api_day')
  db.exec('DELETE FROM hit; DELETE FROM hit_journal; DELETE FROM quota; DELETE FROM quota_journal')
  db.exec('UPDATE hit_fold SET up_to = 0, hour = -1, dimension = 0')
}

/** One set of dimensions, or one entry, in a transaction. */
const SMALL: FoldLimits = { samples: 500, rows: 60, pieceMs: 0, lookEveryRows: 1, pieceEntries: 1 }

/** Folds so many pieces and then stops, as a process that is killed. */
function foldSome(journal: Journal, pieces: number): void {
  const fold = journal.fold()
  for (let i = 0; i < pieces; i++) if (fold.next().done) return
}

const aRequest = fc.tuple(
  fc.integer({ min: 1, max: 40 }),
  fc.constantFrom(200, 404),
  fc.integer({ min: 0, max: 1 }),
  fc.constantFrom(0, 1, 59),
)
const aStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ append: fc.array(aRequest, { minLength: 1, maxLength: 300 }) }) },
  { weight: 2, arbitrary: fc.record({ fold: fc.integer({ min: 0, max: 100 }) }) },
)

test('each request is counted once, wherever a fold was cut off and whatever came meanwhile', (t) => {
  const { db, reader } = openDatabase(t)
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 30 }), (steps) => {
      clear(db)
      const expected = new Map<string, number>()
      for (const step of steps) {
        // Of a new process each time: nothing is known but what is stored.
        const journal = hitJournal(db, SMALL)
        if ('fold' in step) foldSome(journal, step.fold)
        else {
          for (const hour of [0, 1]) {
            const block = new SampleBlock(step.append.length)
            block.begin((HOUR + hour) * HOUR_MS)
            for (const [number, status, later, minute] of step.append) {
              if (later !== hour) continue
              block.add(number, status, 1, 1, (HOUR + hour) * HOUR_MS + minute * MINUTE_MS)
              const name = `${HOUR + hour} ${number} ${status} ${minute}`
              expected.set(name, (expected.get(name) ?? 0) + 1)
            }
            inTransaction(db, () => journal.append([block.samples]))
          }
        }
        assert.deepEqual(counts(reader, 'sumWithJournal'), byHour(expected))
        assert.deepEqual(usages(reader, true), usagesOf(expected))
      }
      const journal = hitJournal(db)
      while (journal.last() > 0) foldSome(journal, 1000)
      assert.deepEqual(counts(reader, 'sum'), byHour(expected))
      assert.deepEqual(usages(reader, false), usagesOf(expected))
      assert.equal(hitReader(reader).hasJournal(), false)
    }),
    { numRuns },
  )
})

function counts(db: DatabaseSync, how: 'sum' | 'sumWithJournal'): Map<string, number> {
  const rows = hitReader(db)[how](ALL)
  for (const { count, total } of rows) assert.equal(total.buckets[0], count)
  return new Map(rows.sort(byName).map(({ hour, keyHash, status, count }) => [`${hour} ${keyHash} ${status}`, count]))
}

function byHour(expected: ReadonlyMap<string, number>): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [name, count] of expected) {
    const hour = name.slice(0, name.lastIndexOf(' '))
    sums.set(hour, (sums.get(hour) ?? 0) + count)
  }
  return sums
}

/** The same from the other tables: by key and day, and by status alone, by minute, hour and day. */
function usages(db: DatabaseSync, journal: boolean): Record<string, number> {
  const read = usageReader(db)
  const asked = { fromDay: 0, toDay: 1_000_000, sort: 'time', descending: false, offset: 0, limit: 10_000 } as const
  const of = (per: 'minute' | 'hour' | 'day', by: readonly ('keyHash' | 'status')[]) =>
    read.page({ ...asked, per, by }, journal).rows.map((row) => {
      return [`${per} ${row.hour}${row.minute ?? ''} ${row.keyHash} ${row.status}`, row.count] as const
    })
  return Object.fromEntries([
    ...of('day', ['keyHash', 'status']),
    ...of('minute', ['status']),
    ...of('hour', ['status']),
    ...of('day', ['status']),
  ])
}

function usagesOf(expected: ReadonlyMap<string, number>): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [name, count] of expected) {
    const [hour = '', key, status, minute] = name.split(' ')
    const day = Math.floor(Number(hour) / 24) * 24
    const named = [`day ${day} ${key} ${status}`, `minute ${hour}${minute}  ${status}`, `hour ${hour}  ${status}`]
    for (const row of [...named, `day ${day}  ${status}`]) sums[row] = (sums[row] ?? 0) + count
  }
  return sums
}

function byName(a: { keyHash: string }, b: { keyHash: string }): number {
  return a.keyHash < b.keyHash ? -1 : 1
}

const aSave = fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 3 })), {
  minLength: 1,
  maxLength: 60,
})

test('of each quota the count saved last is found, wherever a fold was cut off', (t) => {
  const { db, reader } = openDatabase(t)
  fc.assert(
    fc.property(fc.array(fc.oneof(aSave, fc.integer({ min: 0, max: 30 })), { maxLength: 30 }), (steps) => {
      clear(db)
      const expected = new Map<number, number>()
      const gone = new Set<number>()
      for (const step of steps) {
        const journal = quotaJournal(db, 3)
        if (typeof step === 'number') foldSome(journal, step)
        else {
          // A number whose count is gone is never used again.
          const rows = [...new Map(step)].filter(([number]) => !gone.has(number))
          const names = rows.map(([number]) => [number, `id ${number}`] as const)
          for (const [number, used] of rows) used > 0 ? expected.set(number, used) : expected.delete(number)
          for (const [number, used] of rows) if (used === 0) gone.add(number)
          const numbers = Float64Array.from(rows.flatMap(([number, used]) => [number, used, used * 1000]))
          assert.equal(numbers.length, rows.length * QUOTA_NUMBERS)
          inTransaction(db, () => journal.save(names, numbers))
        }
        const found = [...savedQuotas(reader)].filter(({ used }) => used > 0)
        for (const { number, id, used, endsAt } of found) {
          assert.deepEqual([id, endsAt], [`id ${number}`, used * 1000])
        }
        assert.deepEqual(
          new Map(found.map(({ number, used }) => [number, used])),
          new Map([...expected].sort(byNumber)),
        )
      }
      const journal = quotaJournal(db)
      while (journal.last() > 0) foldSome(journal, 1000)
      assert.equal(db.prepare('SELECT count(*) AS n FROM quota').get()!.n, expected.size)
    }),
    { numRuns },
  )
})

function byNumber(a: readonly [number, number], b: readonly [number, number]): number {
  return a[0] - b[0]
}

/** Appends so many requests of one row. */
async function append(store: SqliteStore, count: number): Promise<void> {
  const [number = 0] = await store.hits.number([dimensions('k')])
  const block = new SampleBlock(count)
  block.begin(HOUR * HOUR_MS)
  for (let i = 0; i < count; i++) block.add(number, 200, 1, 1, HOUR * HOUR_MS)
  await store.hits.append([block.samples])
}

test('sums know of acknowledged requests while the writer is away, and after it came back', async (t) => {
  const store = await openStore({ path: temporaryFolder(t), keepWriter: false })
  t.after(() => store.close())
  await append(store, 10)
  await store.stopWriter()
  for (let i = 0; i < 2; i++) assert.equal((await store.hits.sum(ALL))[0]?.count, 10)
  await assert.rejects(append(store, 1), { code: 'store_away' })
  await store.startWriter()
  await append(store, 5)
  assert.equal((await store.hits.sum(ALL))[0]?.count, 15)
})

test('sums know of acknowledged requests in a store too full to work them in', async (t) => {
  const path = temporaryFolder(t)
  const store = await openStore({ path, limitBytes: 1_000_000 })
  const keys = Array.from({ length: 800 }, (_, i) => dimensions(`key ${i}`))
  const numbers = await store.hits.number(keys)
  const block = new SampleBlock(numbers.length)
  let kept = 0
  let fault: unknown
  for (let hour = HOUR; fault === undefined && hour < HOUR + 1000; hour++) {
    block.begin(hour * HOUR_MS)
    for (const number of numbers) block.add(number, 200, 1, 1, hour * HOUR_MS)
    await store.hits.append([block.samples]).then(
      () => kept++,
      (error) => {
        fault = error
      },
    )
  }
  assert.equal((fault as { code?: string }).code, 'store_full')
  assert.ok(kept > 5)
  const perHour = { fromHour: HOUR, toHour: HOUR + 1000, by: [], limit: 10_000 } as const
  const sums = await store.hits.sum(perHour)
  assert.deepEqual(
    sums.map(({ count }) => count),
    new Array(kept).fill(numbers.length),
  )
  await store.close()
  // With room again what was left is worked in.
  const again = await openStore({ path })
  t.after(() => again.close())
  assert.deepEqual(await again.hits.sum(perHour), sums)
  const db = openReadable(join(path, 'gatehouse.db'))
  assert.equal(db.prepare('SELECT count(*) AS n FROM hit').get()!.n, kept * numbers.length)
  db.close()
})

test('a start works in what the process before has left, without being asked', async (t) => {
  const path = temporaryFolder(t)
  const first = await openStore({ path })
  await append(first, 7)
  await first.close()
  const file = join(path, 'gatehouse.db')
  const second = await openStore({ path })
  t.after(() => second.close())
  const db = openReadable(file)
  t.after(() => db.close())
  while (hitReader(db).hasJournal()) await new Promise(setImmediate)
  assert.equal(hitReader(db).sum(ALL)[0]?.count, 7)
})
