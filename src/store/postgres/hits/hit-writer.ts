import { setTimeout as wait } from 'node:timers/promises'
import { MINUTES_PER_HOUR } from '../../../model/analytics/hit.ts'
import { DAY_MS } from '../../../model/time/calendar.ts'
import { NO_MINUTE, ROW_NUMBERS } from '../../hits/hit-pack.ts'
import { HIT_TABLES, type HitTable, MINUTE_TABLE, timeColumn } from '../../hits/hit-times.ts'
import type { HitBatch } from '../../ports/ports.ts'
import type { Db, Tx } from '../connection/db.ts'
import { sqlState } from '../connection/faults.ts'
import { mergeNumbers, NUMBERS, upsertSql } from './hit-columns.ts'
import { DimensionUses, type UsedSets } from './hit-dimensions.ts'
import { HIT_MONTHS, Months, monthOfDay } from './months.ts'

const HOURS_PER_DAY = 24
/** Waiting jobs are written together, but no more than this at once. */
const JOBS_AT_ONCE = 200
const ROWS_PER_STATEMENT = 500
/** Added up at once, in about a millisecond. As much time is left to what else the thread does, such as requests. */
const ROWS_AT_ONCE = 1_000
const REST_MS = 1
/** Sources that were not heard of for a week are forgotten: nobody repeats a call for so long. */
const SOURCE_KEPT = "interval '7 days'"
const DEADLOCK = '40P01'
const TRIES = 3

/** Hour, number of the dimensions and status, then `NUMBERS`, and the minute of the hour or `NO_MINUTE`. */
export type HitRow = readonly number[]
const TIME = 0
const DIMENSION = 1
const STATUS = 2
const FIRST_NUMBER = 3
const MINUTE = FIRST_NUMBER + NUMBERS.length

/** Rows that are to be added, all or none. */
interface Job {
  readonly rows: readonly HitRow[]
  readonly batch: HitBatch | undefined
  resolve(): void
  reject(error: unknown): void
}

/** Adds hits to all tables that hold them: what comes while a transaction runs goes together in the next. */
export class HitWriter {
  private readonly db: Db
  private readonly months: Months
  private readonly uses = new DimensionUses()
  private jobs: Job[] = []
  private running = false

  constructor(db: Db) {
    this.db = db
    this.months = new Months(db, HIT_MONTHS)
  }

  /** Adds rows, once for each batch. Resolves when they are durable. @throws Fault `store_full`, `store_away` */
  add(rows: readonly HitRow[], batch: HitBatch | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.jobs.push({ rows, batch, resolve, reject })
      if (!this.running) void this.run()
    })
  }

  /**
   * Adds the rows that `take` reads, in its transaction, which may be rolled back and begun again. `days`: all that they can be
   * of. Throws as `add`.
   */
  async addTaken(days: ReadonlySet<number>, take: (tx: Tx) => Promise<readonly HitRow[]>): Promise<void> {
    await this.months.with(days, async () => {
      for (let left = TRIES - 1; ; left--) {
        try {
          const keep = await this.db.transact(async (tx) => this.write(tx, await take(tx)))
          return keep()
        } catch (error) {
          // Rolled back for certain, so it may be done again.
          if (left === 0 || sqlState(error) !== DEADLOCK) throw error
        }
      }
    })
  }

  /** Drops the months that ended before a day; answers how many rows went. */
  dropMonths(beforeDay: number): Promise<number> {
    return this.months.drop(beforeDay)
  }

  /** Must be called when sets of dimensions were deleted. */
  forget(): void {
    this.uses.forget()
  }

  private async run(): Promise<void> {
    this.running = true
    while (this.jobs.length > 0) {
      const jobs = this.jobs.splice(0, JOBS_AT_ONCE)
      try {
        await this.writeAll(jobs)
        for (const job of jobs) job.resolve()
      } catch (error) {
        for (const job of jobs) job.reject(error)
      }
    }
    this.running = false
  }

  private writeAll(jobs: readonly Job[]): Promise<void> {
    const days = new Set(jobs.flatMap(({ rows }) => rows.map((row) => Math.floor(row[TIME]! / HOURS_PER_DAY))))
    return this.addTaken(days, async (tx) => {
      const rows: HitRow[] = []
      for (const job of jobs) if (await isNew(tx, job.batch)) for (const row of job.rows) rows.push(row)
      return rows
    })
  }

  private async write(tx: Tx, taken: readonly HitRow[]): Promise<() => void> {
    // In one order everywhere, so that two processes never wait for each other.
    const rows = [...taken].sort(
      (a, b) => a[DIMENSION]! - b[DIMENSION]! || a[TIME]! - b[TIME]! || a[STATUS]! - b[STATUS]!,
    )
    const { keep, ...sets } = await this.uses.touch(
      tx,
      rows.map((row) => row[DIMENSION]!),
      Math.floor(Date.now() / DAY_MS),
    )
    for (const table of [...HIT_TABLES, MINUTE_TABLE] as const) await upsert(tx, table, await summed(rows, table, sets))
    return keep
  }
}

/** Notes a batch; false when the store has it already. */
export async function isNew(tx: Tx, batch: HitBatch | undefined): Promise<boolean> {
  if (batch === undefined) return true
  if (batch.number === 1) await tx.run(`DELETE FROM hit_source WHERE at < now() - ${SOURCE_KEPT}`)
  const written = await tx.run(
    `INSERT INTO hit_source(source, number) VALUES ($1, $2)
      ON CONFLICT (source) DO UPDATE SET number = excluded.number, at = excluded.at WHERE excluded.number > hit_source.number`,
    [batch.source, batch.number],
  )
  return written === 1
}

/**
 * The rows as one table has them, each set, time and status once, in this order. Those whose dimensions are gone are left out.
 * Between some rows others have their turn.
 */
async function summed(
  rows: readonly HitRow[],
  table: HitTable,
  { coarse, ofMinutes }: Pick<UsedSets, 'coarse' | 'ofMinutes'>,
): Promise<number[][]> {
  const perTime = timeColumn(table) === 'day' ? HOURS_PER_DAY : 1
  const withoutCallers = table.startsWith('hit_api')
  const byMinute = table === MINUTE_TABLE
  const sums = new Map<string, number[]>()
  for (const [i, row] of rows.entries()) {
    if (i % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await wait(REST_MS)
    const ofApis = coarse.get(row[DIMENSION]!)
    if (ofApis === undefined || (byMinute && row[MINUTE] === NO_MINUTE)) continue
    const time = byMinute ? row[TIME]! * MINUTES_PER_HOUR + row[MINUTE]! : Math.floor(row[TIME]! / perTime)
    const dimension = byMinute ? ofMinutes.get(ofApis) : withoutCallers ? ofApis : row[DIMENSION]
    if (dimension === undefined) continue
    const name = `${time} ${dimension} ${row[STATUS]}`
    const sum = sums.get(name)
    if (sum !== undefined) mergeNumbers(sum, row, FIRST_NUMBER)
    else sums.set(name, [time, dimension, ...row.slice(STATUS, MINUTE)])
  }
  return [...sums.values()].sort(
    (a, b) => a[DIMENSION]! - b[DIMENSION]! || a[TIME]! - b[TIME]! || a[STATUS]! - b[STATUS]!,
  )
}

async function upsert(tx: Tx, table: HitTable, rows: readonly (readonly number[])[]): Promise<void> {
  const sql = upsertSql(table)
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
    const some = rows.slice(at, at + ROWS_PER_STATEMENT)
    await tx.run(
      sql,
      Array.from({ length: ROW_NUMBERS + 1 }, (_, column) => arrayOf(some, column)),
    )
  }
}

/** A column as PostgreSQL writes arrays. The driver's own way looks at each number for what needs a backslash, at twenty times the cost. */
function arrayOf(rows: readonly (readonly number[])[], column: number): string {
  let text = ''
  for (const row of rows) text += text === '' ? row[column] : `,${row[column]}`
  return `{${text}}`
}

/** A row from the numbers of a `HitPack`, the first of which is the hour, the number of its dimensions and its minute of the hour. */
export function toHitRow(numbers: ArrayLike<number>, dimension: number, minute: number): HitRow {
  const [hour = 0, ...rest] = Array.from(numbers)
  return [hour, dimension, ...rest, minute]
}

/** The day of an hour. @throws Fault `internal` for one that no calendar has */
export function dayOfHour(hour: number): number {
  const day = Math.floor(hour / HOURS_PER_DAY)
  monthOfDay(day)
  return day
}
