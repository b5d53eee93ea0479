import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { NO_DIMENSIONS } from '../../../src/model/analytics/dimensions.ts'
import { DAY_MS, nextMonthOf } from '../../../src/model/time/calendar.ts'
import { packHits } from '../../../src/store/hits/hit-pack.ts'
import type { UsageQuery } from '../../../src/store/ports/ports.ts'
import { openWritable } from '../../../src/store/sqlite/connection/database.ts'
import { hitMonths } from '../../../src/store/sqlite/hits/hit-months.ts'
import { hitRows, hitTables } from '../../../src/store/sqlite/hits/hit-tables.ts'
import { usageReader } from '../../../src/store/sqlite/hits/read-usage.ts'
import { hitPurge } from '../../../src/store/sqlite/hits/write-counts.ts'
import { inTransaction } from '../../../src/store/sqlite/migrations/schema.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const numRuns = process.env.GATEHOUSE_DEEP === '1' ? 500 : 15
/** 28 December 2023. */
const FIRST_DAY = 19_719
const DAYS = 100
const PAGE = { offset: 0, limit: 1000 }
const once = { sumMs: 1, minMs: 1, maxMs: 1, buckets: [1, ...new Array<number>(13).fill(0)] }

interface Counted {
  readonly day: number
  readonly keyHash: string
  readonly status: number
}

const rowOf = ({ day, keyHash, status }: Counted) => ({
  ...{ ...NO_DIMENSIONS, orgId: 'o', apiId: 'a', keyHash },
  ...{ hour: day * 24 + 5, status, count: 1, success: 0, error: 0, lastAt: day * DAY_MS, total: once, upstream: once },
})

function opened(t: TestContext) {
  const db = openWritable({ file: join(temporaryFolder(t), 'gatehouse.db'), limitBytes: 0 })
  t.after(() => db.isOpen && db.close())
  // One step at a time, so that a month is left half-way.
  const tables = hitTables(db, undefined, hitMonths(db, 0))
  const rows = hitRows(db, tables)
  const purge = hitPurge(db, tables.months)
  return {
    ...{ db, tables, usage: usageReader(db) },
    add: (some: readonly Counted[]) => inTransaction(db, () => rows.add(packHits(some.map(rowOf)))),
    rollUp: (beforeDay: number) => inTransaction(db, () => tables.months.rollUp(beforeDay)),
    purge(beforeDay: number) {
      while (inTransaction(db, () => purge(beforeDay)).rows > 0);
    },
  }
}

const rowsIn = (db: DatabaseSync, table: string) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n as number

const aDay = fc.integer({ min: FIRST_DAY, max: FIRST_DAY + DAYS })
const counted = fc.record({
  day: aDay,
  keyHash: fc.constantFrom('', 'k1', 'k2', 'k3'),
  status: fc.constantFrom(200, 404),
})
const step = fc.oneof(
  fc.array(counted, { minLength: 1, maxLength: 200 }).map((some) => ({ sort: 'add', some }) as const),
  fc.tuple(aDay, fc.nat(8)).map(([day, rounds]) => ({ sort: 'rollUp', day, rounds }) as const),
  fc.integer({ min: FIRST_DAY, max: FIRST_DAY + DAYS }).map((day) => ({ sort: 'purge', day }) as const),
)
/** Days about the ends of months. */
const anEdge = fc.tuple(aDay, fc.integer({ min: -2, max: 1 })).map(([day, beside]) => nextMonthOf(day) + beside)
const query = fc
  .record({
    fromDay: fc.oneof(aDay, anEdge),
    to: fc.oneof(aDay, anEdge),
    per: fc.constantFrom('month', 'all'),
    seek: fc.boolean(),
  })
  .map(
    ({ fromDay, to, per, seek }): UsageQuery => ({
      ...{ fromDay, toDay: Math.max(fromDay, to), per: per as 'month' | 'all', by: ['keyHash', 'status'] },
      ...{ sort: 'time', descending: false, ...(seek && { where: { keyHash: ['k1', 'k2'] } }) },
    }),
  )

test('sums of months and days equal the counts at any time', (t) => {
  let whole = 0
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 5, maxLength: 20 }),
      fc.array(query, { minLength: 8, maxLength: 8 }),
      (steps, queries) => {
        const { db, usage, add, rollUp, purge } = opened(t)
        let there: Counted[] = []
        for (const each of steps) {
          if (each.sort === 'add') there.push(...each.some)
          if (each.sort === 'add') add(each.some)
          else if (each.sort === 'rollUp') for (let i = 0; i < each.rounds; i++) rollUp(each.day)
          else {
            purge(each.day)
            there = there.filter(({ day }) => day >= each.day)
          }
        }
        whole += rowsIn(db, 'hit_month')
        for (const asked of queries) {
          const sums = new Map<string, number>()
          for (const { day, keyHash, status } of there) {
            if (day < asked.fromDay || day > asked.toDay) continue
            if (asked.where !== undefined && !asked.where.keyHash?.includes(keyHash)) continue
            const month = asked.per === 'all' ? 0 : nextMonthOf(day) * DAY_MS - 1
            const name = `${asked.per === 'all' ? '' : new Date(month).toISOString().slice(0, 7)} ${keyHash} ${status}`
            sums.set(name, (sums.get(name) ?? 0) + 1)
          }
          const { rows } = usage.page({ ...asked, ...PAGE }, false)
          const found = rows.map(({ hour, keyHash, status, count }): [string, number] => {
            const month = asked.per === 'all' ? '' : new Date(hour * 3_600_000).toISOString().slice(0, 7)
            return [`${month} ${keyHash} ${status}`, count]
          })
          assert.deepEqual(new Map(found), sums)
        }
        db.close()
      },
    ),
    { numRuns },
  )
  assert.ok(whole > 0, 'no month was ever made')
})

test('what is counted late is added to a month that is made, and a rollback takes nothing along', (t) => {
  const { db, tables, usage, add, rollUp } = opened(t)
  const january = { day: FIRST_DAY + 10, keyHash: 'k1', status: 200 }
  add([january, { ...january, day: FIRST_DAY + 60 }])
  while (rollUp(FIRST_DAY + 60) > 0);
  assert.ok(rowsIn(db, 'hit_month') > 0)
  const count = () => {
    const asked: UsageQuery = {
      ...{
        fromDay: FIRST_DAY - 30,
        toDay: FIRST_DAY + 90,
        per: 'all',
        by: ['keyHash'],
        sort: 'count',
        descending: true,
      },
    }
    return usage.page({ ...asked, ...PAGE }, false).rows[0]?.count
  }
  assert.equal(count(), 2)
  add([january, january])
  assert.equal(count(), 4)
  assert.equal(db.prepare('SELECT sum(count) AS n FROM hit_month').get()!.n, 3)
  db.exec('BEGIN')
  tables.months.purge(FIRST_DAY + 60)
  db.exec('ROLLBACK')
  tables.forget()
  assert.equal(count(), 4)
})

test('a half-made month knows its days; only whole months replace them', (t) => {
  const { usage, add, rollUp } = opened(t)
  const first = Date.UTC(2024, 0, 1) / DAY_MS
  const all = Array.from({ length: 124 }, (_, i) => ({ day: first + (i % 31), keyHash: `k${i % 4}`, status: 200 }))
  add(all)
  assert.equal(rollUp(first + 40), 1)
  add(all)
  while (rollUp(first + 40) > 0);
  const count = (fromDay: number, toDay: number) => {
    const asked: UsageQuery = { fromDay, toDay, per: 'all', by: [], sort: 'count', descending: true }
    return usage.page({ ...asked, where: { keyHash: ['k0', 'k1', 'k2', 'k3'] }, ...PAGE }, false).rows[0]?.count
  }
  assert.equal(count(first, first + 30), 248)
  assert.equal(count(first, first + 29), 240)
  assert.equal(count(first + 1, first + 30), 240)
})
