import { performance } from 'node:perf_hooks'
import type { DatabaseSync } from 'node:sqlite'
import { HIT_TABLES, type HitTable, MINUTE_TABLE, PER_DAY, timeColumn } from '../../hits/hit-times.ts'
import { type HitMonths, hitMonths } from './hit-months.ts'

/** How long a round may delete; what it changed must be committed as well. */
const ROUND_MS = 4
const STEP_ROWS = 50
/**
 * Sets of dimensions stay for so long after their hits: a number that was given out holds for a day after a row was added, and
 * may be in the journal a while longer.
 */
const SET_DAYS = 2

/** Deletes some of the hits from before a day, for a few milliseconds; answers how many rows, and sets of dimensions. */
export type HitPurge = (beforeDay: number) => { rows: number; sets: number }

/** Prepares the statements; they run inside an open transaction. */
export function hitPurge(db: DatabaseSync, months: HitMonths = hitMonths(db)): HitPurge {
  const tables = ([...HIT_TABLES, MINUTE_TABLE] as const).map((table) => deleteOf(db, table))
  const due = db.prepare('SELECT dimension FROM hit_dimension_use WHERE last_day < ? LIMIT ?')
  const newest = db.prepare('SELECT coalesce(max(row), 0) AS row FROM hit_dimension')
  const removeSet = db.prepare('DELETE FROM hit_dimension WHERE row = ? AND row < ?')
  const removeUse = db.prepare('DELETE FROM hit_dimension_use WHERE dimension = ?')

  // Months first: one of which a day is missing must not be read any more.
  const purgeRows = (beforeDay: number): number =>
    [months.purge, ...tables].reduce((sum, purge) => sum + purge(beforeDay), 0)
  const purgeSets = (beforeDay: number): number => {
    // The highest number stays, so that none is given to another set while it may still be in use.
    const last = newest.get()!.row as number
    const found = due.all(beforeDay - SET_DAYS, STEP_ROWS)
    for (const { dimension } of found) {
      removeSet.run(dimension!, last)
      removeUse.run(dimension!)
    }
    return found.length
  }
  return (beforeDay) => {
    const endsAt = performance.now() + ROUND_MS
    const deleted = { rows: 0, sets: 0 }
    do {
      const rows = purgeRows(beforeDay)
      // Hits are deleted before their dimensions.
      const sets = rows === 0 ? purgeSets(beforeDay) : 0
      deleted.rows += rows
      deleted.sets += sets
      if (rows + sets === 0) break
    } while (performance.now() < endsAt)
    return deleted
  }
}

function deleteOf(db: DatabaseSync, table: HitTable): (beforeDay: number) => number {
  const time = timeColumn(table)
  const primary = `${time}, dimension, status`
  const remove = db.prepare(
    `DELETE FROM ${table} WHERE (${primary}) IN (SELECT ${primary} FROM ${table} WHERE ${time} < ? ORDER BY ${primary} LIMIT ${STEP_ROWS})`,
  )
  return (beforeDay) => remove.run(beforeDay * PER_DAY[time]).changes as number
}

/** Deletes some of the counts of minutes before one, for a few milliseconds; answers how many rows. Inside an open transaction. */
export function minutePurge(db: DatabaseSync): (beforeMinute: number) => number {
  const note = db.prepare('UPDATE hit_minute_state SET from_minute = ?1 WHERE from_minute < ?1')
  const primary = 'minute, dimension, status'
  const remove = db.prepare(
    `DELETE FROM hit_minute WHERE (${primary}) IN (SELECT ${primary} FROM hit_minute WHERE minute < ? ORDER BY ${primary} LIMIT ${STEP_ROWS})`,
  )
  return (beforeMinute) => {
    const endsAt = performance.now() + ROUND_MS
    // First: a minute of which a row is gone must not be read any more.
    note.run(beforeMinute)
    let deleted = 0
    do {
      const rows = remove.run(beforeMinute).changes as number
      deleted += rows
      if (rows === 0) break
    } while (performance.now() < endsAt)
    return deleted
  }
}
