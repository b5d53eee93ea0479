import type { Hit } from '../../../model/analytics/hit.ts'
import { packHits, ROW_NUMBERS } from '../../hits/hit-pack.ts'
import { HIT_TABLES, type HitTable, MINUTE_TABLE, PER_DAY, timeColumn, timeOfBucket } from '../../hits/hit-times.ts'
import { checkSamples } from '../../hits/sample-sums.ts'
import { checkUsage, USAGE_BATCH } from '../../hits/usage-rows.ts'
import type { Hits, UsageQuery } from '../../ports/ports.ts'
import { wellFormed, wholeNumber } from '../../prepare/cells.ts'
import type { Db } from '../connection/db.ts'
import { toHit } from './hit-columns.ts'
import { dimensionNumbersOf, storedTexts } from './hit-dimensions.ts'
import type { HitJournal } from './hit-journal.ts'
import { sumSql, usageCountSql, usageSql } from './hit-usage.ts'
import { type HitWriter, toHitRow } from './hit-writer.ts'

const STEP_ROWS = 5_000

/**
 * Sets of dimensions stay for so long after their hits: a number that was given out holds for a day after a row was added, and
 * may wait in a gateway a while longer.
 */
const SET_DAYS = 2

type Row = Record<string, unknown>

/**
 * Hits in PostgreSQL: added up by hour and day, for whole sets of dimensions and for those without callers. Rows are as they come;
 * samples wait in the journal, and are worked in before anything is read.
 */
export function openHits(db: Db, writer: HitWriter, journal: HitJournal): Hits {
  return {
    async number(dimensions) {
      const texts = dimensions.map(storedTexts)
      return texts.length === 0 ? [] : db.transact((tx) => dimensionNumbersOf(tx, texts))
    },
    async append(samples, batch) {
      checkSamples(samples)
      await journal.append(samples, batch)
    },
    async add(rows, batch) {
      const { minutes, numbers } = packHits(rows)
      const texts = rows.map(storedTexts)
      if (rows.length === 0) return
      const sets = await db.transact((tx) => dimensionNumbersOf(tx, texts))
      const own = sets.map((set, i) =>
        toHitRow(numbers.subarray(i * ROW_NUMBERS, (i + 1) * ROW_NUMBERS), set, minutes[i]!),
      )
      await writer.add(own, batch)
    },
    async sum(query) {
      const { text, values } = sumSql(query)
      await journal.settle()
      return (await db.read<Row>(text, values)).map(toHit)
    },
    async usage({ offset, limit, ...query }) {
      checkUsage(query, [offset, limit])
      const { text, values } = usageSql(query, { offset, limit })
      await journal.settle()
      const rows = await db.read<Row>(text, values)
      if (rows.length > 0) return { rows: rows.map(toRow(query)), total: rows[0]!.total as number }
      if (offset === 0 && limit > 0) return { rows: [], total: 0 }
      const count = usageCountSql(query)
      const [counted] = await db.read<{ total: number }>(count.text, count.values)
      return { rows: [], total: counted!.total }
    },
    async *eachUsage(query) {
      checkUsage(query)
      const { text, values } = usageSql(query)
      await journal.settle()
      for await (const rows of db.cursor<Row>(text, values, USAGE_BATCH)) yield rows.map(toRow(query))
    },
    async knows(orgId, name, value) {
      const condition = name === 'keyHash' ? 'd.key_hash = $1' : "d.client_id = $1 AND d.client_id <> ''"
      await journal.settle()
      const rows = await db.read(
        `SELECT 1 FROM hit_dimension d JOIN hit_dimension_use u ON u.dimension = d.number
          WHERE ${condition} AND (d.org_id = $2 OR $2 = '') LIMIT 1`,
        [wellFormed(value), wellFormed(orgId)],
      )
      return rows.length > 0
    },
    async purgeHits(beforeDay) {
      const day = wholeNumber(beforeDay)
      // Hits that wait in the journal may be as old.
      await journal.settle()
      return purgeHits(db, writer, day)
    },
    async purgeMinutes(beforeMinute) {
      const minute = wholeNumber(beforeMinute)
      await journal.settle()
      // First: a minute of which a row is gone must not be read any more.
      await db.run('UPDATE hit_minute_state SET from_minute = $1::bigint WHERE from_minute < $1::bigint', [minute])
      return inSteps(() => deleteSome(db, MINUTE_TABLE, minute))
    },
    async minutesFrom() {
      const [state] = await db.read<{ from_minute: number }>('SELECT from_minute FROM hit_minute_state')
      return state!.from_minute
    },
  }
}

/** A row of usage, whose time is that of its bucket. */
function toRow(query: UsageQuery): (row: Row) => Hit {
  return (row) => toHit({ ...row, ...timeOfBucket(query, row.hour as number) })
}

/** `Hits.purgeHits`: whole months first, the rest in steps, each in a separate transaction. */
async function purgeHits(db: Db, writer: HitWriter, beforeDay: number): Promise<number> {
  let rows = await writer.dropMonths(beforeDay)
  for (const table of [...HIT_TABLES, MINUTE_TABLE] as const) {
    const before = beforeDay * PER_DAY[timeColumn(table)]
    rows += await inSteps(() => deleteSome(db, table, before))
  }
  const sets = await inSteps(() => deleteSets(db, beforeDay - SET_DAYS))
  if (sets > 0) writer.forget()
  return rows
}

async function inSteps(step: () => Promise<number>): Promise<number> {
  let all = 0
  for (;;) {
    const some = await step()
    all += some
    if (some === 0) return all
  }
}

function deleteSome(db: Db, table: HitTable, before: number): Promise<number> {
  const time = timeColumn(table)
  const key = `dimension, ${time}, status`
  return db.run(
    `DELETE FROM ${table} WHERE ${time} < $1::bigint
      AND (${key}) IN (SELECT ${key} FROM ${table} WHERE ${time} < $1::bigint LIMIT ${STEP_ROWS})`,
    [before],
  )
}

/** One that was used again meanwhile stays. */
function deleteSets(db: Db, beforeDay: number): Promise<number> {
  return db.transact(async (tx) => {
    const gone = await tx.query<{ dimension: number }>(
      `DELETE FROM hit_dimension_use WHERE last_day < $1::bigint AND dimension IN (
        SELECT dimension FROM hit_dimension_use WHERE last_day < $1::bigint ORDER BY dimension LIMIT ${STEP_ROWS}
        FOR UPDATE SKIP LOCKED) RETURNING dimension`,
      [beforeDay],
    )
    await tx.run('DELETE FROM hit_dimension WHERE number = ANY($1::bigint[])', [gone.map(({ dimension }) => dimension)])
    return gone.length
  })
}
