import { performance } from 'node:perf_hooks'
import type { DatabaseSync } from 'node:sqlite'
import { DIMENSIONS } from '../../../model/analytics/dimensions.ts'
import { HIT_TABLES, type HitTable, MINUTE_TABLE, PER_DAY, timeColumn } from '../../hits/hit-times.ts'
import type { HitBatch } from '../../ports/ports.ts'
import { type QuotaJournal, quotaJournal } from '../quotas/quota-journal.ts'
import type { Write } from '../writer/messages.ts'
import { Folding, type FoldResult } from './folding.ts'
import { type HitJournal, hitJournal } from './hit-journal.ts'
import { type HitMonths, hitMonths } from './hit-months.ts'
import { batchKeeper, type HitRows, type HitTables, hitRows, hitTables } from './hit-tables.ts'

/** How long a round may delete; what it changed must be committed as well. */
const ROUND_MS = 4
const STEP_ROWS = 50
/**
 * Sets of dimensions stay for so long after their hits: a number that was given out holds for a day after a row was added, and
 * may be in the journal a while longer.
 */
const SET_DAYS = 2

/** Deletes some of the hits from before a day, for a few milliseconds; answers how many rows, and sets of dimensions. */
type HitPurge = (beforeDay: number) => { rows: number; sets: number }

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
function minutePurge(db: DatabaseSync): (beforeMinute: number) => number {
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

/** The writes besides commits. */
export type CountWrite = Extract<Write, { sort: 'hits' | 'samples' | 'dimensions' | 'quotas' }>

/** A journal is rolled up after this time at the latest, or after so many bytes. */
const FOLD_EVERY_MS = 30_000
const FOLD_BYTES = 24 * 1024 * 1024
/** Bytes of a journal that take as long to write as one row of hits. */
const BYTES_PER_ROW = 4096

/** The part of the writer that keeps hits and quota counts. `onBusy` is called when there is something to do for `step`. */
export class CountWriter {
  private readonly tables: HitTables
  private readonly hits: HitRows
  private readonly purge: HitPurge
  private readonly minutePurge: (beforeMinute: number) => number
  private readonly isNew: (batch: HitBatch | undefined) => boolean
  private readonly hitJournal: HitJournal
  private readonly quotaJournal: QuotaJournal
  private readonly hitFolding: Folding
  private readonly quotaFolding: Folding
  private readonly timer: NodeJS.Timeout
  private journalBytes = 0

  constructor(db: DatabaseSync, onBusy: () => void) {
    this.tables = hitTables(db)
    this.hits = hitRows(db, this.tables)
    this.purge = hitPurge(db, this.tables.months)
    this.minutePurge = minutePurge(db)
    this.isNew = batchKeeper(db)
    this.hitJournal = hitJournal(db, undefined, this.tables)
    this.quotaJournal = quotaJournal(db)
    this.hitFolding = new Folding(this.hitJournal)
    this.quotaFolding = new Folding(this.quotaJournal)
    this.timer = setInterval(() => {
      this.foldAll()
      onBusy()
    }, FOLD_EVERY_MS)
    // Rows that the process before has left.
    this.foldAll()
  }

  /** Writes inside an open transaction; answers the number of rows. After a rollback `forget` must be called. */
  run(write: CountWrite): number {
    switch (write.sort) {
      case 'hits':
        if (this.isNew(write.batch)) this.hits.add(write.pack)
        return write.pack.rows
      case 'samples':
        if (this.isNew(write.batch)) this.hitJournal.append(write.samples)
        this.journalBytes += bytesOf(write)
        return write.samples.length
      case 'dimensions':
        this.hits.number(write.dimensions)
        return write.dimensions.length
      case 'quotas':
        this.quotaJournal.save(write.names, write.counts)
        this.journalBytes += bytesOf(write)
        return write.counts.length
    }
  }

  /** Forgets some of the hits from before a day, inside an open transaction; answers how many rows. */
  purgeHits(beforeDay: number): number {
    const { rows, sets } = this.purge(beforeDay)
    if (sets > 0) this.forget()
    return rows + sets
  }

  /** Forgets some of the counts of minutes before one, inside an open transaction; answers how many rows. */
  purgeMinutes(beforeMinute: number): number {
    return this.minutePurge(beforeMinute)
  }

  /** Adds some rows of months that were over before a day to their sums, inside an open transaction; 0 = none is left. */
  rollUpHits(beforeDay: number): number {
    return this.tables.months.rollUp(beforeDay)
  }

  forget(): void {
    this.hits.forget()
    this.tables.forget()
  }

  /** Rolls up all samples that are durable now; `number` is then in a response of `step`. */
  ask(number: number): void {
    this.hitFolding.ask(number)
  }

  /** True while a response is pending. */
  get asked(): boolean {
    return this.hitFolding.asked
  }

  /** True while `step` has something to do. */
  get busy(): boolean {
    return this.hitFolding.busy || this.quotaFolding.busy
  }

  /** Rolls up a part of the journals, some milliseconds long, outside of a transaction. */
  step(): readonly FoldResult[] {
    if (this.journalBytes >= FOLD_BYTES) this.foldAll()
    if (this.hitFolding.busy) return this.hitFolding.step()
    if (this.quotaFolding.busy) return this.quotaFolding.step()
    return []
  }

  close(): void {
    clearInterval(this.timer)
  }

  private foldAll(): void {
    this.journalBytes = 0
    this.hitFolding.ask()
    this.quotaFolding.ask()
  }
}

/** How long a write takes, in rows of hits. */
export function weightOf(write: Write): number {
  switch (write.sort) {
    case 'hits':
      return write.pack.rows
    case 'dimensions':
      return write.dimensions.length / DIMENSIONS.length
    case 'samples':
      return Math.ceil(bytesOf(write) / BYTES_PER_ROW)
    case 'quotas':
      return write.names.length + Math.ceil(bytesOf(write) / BYTES_PER_ROW)
    case 'note':
      return 1
    case 'records':
      return write.rows.length + Math.ceil(detailBytes(write) / BYTES_PER_ROW)
    default:
      return 0
  }
}

function detailBytes({ rows }: Extract<Write, { sort: 'records' }>): number {
  return rows.reduce((sum, { request, response }) => sum + (request?.length ?? 0) + (response?.length ?? 0), 0)
}

function bytesOf(write: Extract<CountWrite, { sort: 'samples' | 'quotas' }>): number {
  if (write.sort === 'quotas') return write.counts.byteLength
  return write.samples.reduce((sum, { words }) => sum + words.byteLength, 0)
}
