import { fault } from '../../../errors/fault.ts'
import { DAY_MS, monthOf } from '../../../model/time/calendar.ts'
import { HIT_TABLES, timeColumn } from '../../hits/hit-times.ts'
import type { Db, Tx } from '../connection/db.ts'
import { sqlState } from '../connection/faults.ts'

/** A table partitioned by month; a partition is dropped as a whole when it is too old. */
export interface MonthlyTable {
  readonly name: string
  /** How many of the units of its time make a day. */
  readonly perDay: number
  readonly options: string
}

/** Rows of sums are written again and again: there must be room beside them. */
const OFTEN_WRITTEN = 'fillfactor = 70'
export const HIT_MONTHS: readonly MonthlyTable[] = HIT_TABLES.map((name) => ({
  name,
  perDay: timeColumn(name) === 'day' ? 1 : 24,
  options: OFTEN_WRITTEN,
}))
export const RECORD_MONTHS: MonthlyTable = { name: 'record', perDay: DAY_MS, options: 'fillfactor = 100' }

/** "Part" among the advisory locks of the database. */
const LOCK = 0x50617274
/** Dropping a partition waits for readers no longer than this: new readers queue behind it. */
const DROP_WAIT_MS = 1_000
const NO_PARTITION = '23514'
const LOCK_NOT_AVAILABLE = '55P03'
const MONTHS_MOST = 31

/** The parts of some tables, made when they are first needed. */
export class Months {
  private readonly db: Db
  private readonly tables: readonly MonthlyTable[]
  /** First days of the months that have their parts. */
  private readonly known = new Set<number>()

  constructor(db: Db, tables: readonly MonthlyTable[]) {
    this.db = db
    this.tables = tables
  }

  /**
   * Does what writes rows of these days, with the parts that it needs; a second time when another process has dropped one.
   * @throws Fault `internal` for a day that no calendar has
   */
  async with<T>(days: Iterable<number>, write: () => Promise<T>): Promise<T> {
    const months = new Set([...days].map(monthOfDay))
    await this.make(months)
    try {
      return await write()
    } catch (error) {
      if (sqlState(error) !== NO_PARTITION) throw error
      for (const month of months) this.known.delete(month)
      await this.make(months)
      return await write()
    }
  }

  /** Drops the parts of all months that ended before a day, where nobody is in the way. Answers how many rows went. */
  async drop(beforeDay: number): Promise<number> {
    let rows = 0
    for (const { name, table } of await this.parts()) {
      const ends = endOf(name, table)
      if (ends === undefined || ends > beforeDay) continue
      rows += await this.dropPart(name)
      this.known.clear()
    }
    return rows
  }

  private async make(months: ReadonlySet<number>): Promise<void> {
    const missing = [...months].filter((month) => !this.known.has(month)).sort((a, b) => a - b)
    if (missing.length === 0) return
    await this.db.transact(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
      for (const month of missing) for (const table of this.tables) await makePart(tx, table, month)
    })
    for (const month of missing) this.known.add(month)
  }

  private async parts(): Promise<{ name: string; table: MonthlyTable }[]> {
    const rows = await this.db.read<{ name: string; of: string }>(
      `SELECT i.inhrelid::regclass::text AS name, p.relname AS of FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent
        WHERE p.relname = ANY($1::text[]) AND p.relnamespace = current_schema()::regnamespace ORDER BY name`,
      [this.tables.map(({ name }) => name)],
    )
    return rows.map(({ name, of }) => ({ name, table: this.tables.find((table) => table.name === of)! }))
  }

  private async dropPart(name: string): Promise<number> {
    try {
      return await this.db.transact(async (tx) => {
        await tx.run(`SET LOCAL lock_timeout = ${DROP_WAIT_MS}`)
        await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
        const [there] = await tx.query<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [name])
        if (there?.name === null || there === undefined) return 0
        const [found] = await tx.query<{ n: number }>(`SELECT count(*) AS n FROM ${name}`)
        await tx.run(`DROP TABLE ${name}`)
        return found!.n
      })
    } catch (error) {
      // Its rows can still be deleted one by one.
      if (sqlState(error) === LOCK_NOT_AVAILABLE) return 0
      throw error
    }
  }
}

/** Makes the parts of a table for these days inside an open transaction. `made`: those that it has made already. */
export async function makeMonthParts(
  tx: Tx,
  table: MonthlyTable,
  days: Iterable<number>,
  made: Set<string>,
): Promise<void> {
  for (const month of new Set([...days].map(monthOfDay))) {
    const name = partName(table.name, month)
    if (made.has(name)) continue
    await makePart(tx, table, month)
    made.add(name)
  }
}

/** The first day of the month of a day. @throws Fault `internal` */
export function monthOfDay(day: number): number {
  const first = monthOf(day)
  if (!Number.isSafeInteger(first)) throw fault('internal', `no day of the calendar: ${day}`)
  return first
}

/** Made apart and then attached: so that nobody who reads or writes the other months has to wait. */
async function makePart(tx: Tx, { name, perDay, options }: MonthlyTable, month: number): Promise<void> {
  const part = partName(name, month)
  const [there] = await tx.query<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [part])
  if (there !== undefined && there.name !== null) return
  const next = monthOf(month + MONTHS_MOST)
  await tx.run(`CREATE TABLE ${part} (LIKE ${name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS) WITH (${options})`)
  await tx.run(`ALTER TABLE ${name} ATTACH PARTITION ${part} FOR VALUES FROM (${month * perDay}) TO (${next * perDay})`)
}

/** `hit_2026_11`. */
function partName(table: string, month: number): string {
  const date = new Date(month * DAY_MS)
  return `${table}_${date.getUTCFullYear()}_${String(date.getUTCMonth() + 1).padStart(2, '0')}`
}

/** The first day after a partition, by its name; undefined for a partition that we did not create. */
function endOf(part: string, table: MonthlyTable): number | undefined {
  const [, year, month] = new RegExp(`^${table.name}_(\\d{4,6})_(\\d\\d)$`).exec(part) ?? []
  if (year === undefined || month === undefined) return undefined
  return Date.UTC(Number(year), Number(month), 1) / DAY_MS
}
