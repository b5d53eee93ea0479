import { HIT_TABLES, type HitTable, timeColumn } from '../../hits/hit-times.ts'
import type { Db } from '../connection/db.ts'
import type { HitWriter } from './hit-writer.ts'

const STEP_ROWS = 5_000
const HOURS_PER_DAY = 24
/**
 * Sets of dimensions stay for so long after their hits: a number that was given out holds for a day after a row was added, and
 * may wait in a gateway a while longer.
 */
const SET_DAYS = 2

/** `Hits.purgeHits`: whole months first, the rest in steps, each in a separate transaction. */
export async function purgeHits(db: Db, writer: HitWriter, beforeDay: number): Promise<number> {
  let rows = await writer.dropMonths(beforeDay)
  for (const table of HIT_TABLES) {
    const before = timeColumn(table) === 'day' ? beforeDay : beforeDay * HOURS_PER_DAY
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
