import type { DatabaseSync } from 'node:sqlite'
import { DIMENSIONS } from '../../../model/analytics/dimensions.ts'
import { type Hit, type Latency, MINUTES_PER_HOUR } from '../../../model/analytics/hit.ts'
import { monthOf, nextMonthOf } from '../../../model/time/calendar.ts'
import { ROW_NUMBERS } from '../../hits/hit-pack.ts'
import {
  type HitTable,
  HOURS_PER_DAY,
  MINUTE_TABLE,
  PER_DAY,
  tableFor,
  timeColumn,
  timeOfBucket,
  type UsagePart,
  usageParts,
} from '../../hits/hit-times.ts'
import { readDimensions } from '../../hits/sample-sums.ts'
import { narrowUsageQuery, rowName, USAGE_BATCH } from '../../hits/usage-rows.ts'
import type { UsageQuery } from '../../ports/ports.ts'
import { wellFormed } from '../../prepare/prepare.ts'
import { reading } from '../connection/faults.ts'
import { latencyColumns } from '../migrations/schema-rollups.ts'
import { HIT_COLUMNS } from './hit-columns.ts'
import { unfolded } from './hit-journal.ts'
import { monthStateReader, wholeMonths } from './hit-months.ts'
import { isPlain, setsSql, type UsageSource, usagePlanSql } from './usage-plan.ts'

/** The columns of a row that was not added up. */
const NO_NUMBERS: Readonly<Record<string, number>> = Object.fromEntries(HIT_COLUMNS.slice(3).map((name) => [name, 0]))

/** A row of sums as it was read. Dimensions that were not read are ''. */
export function toHit(row: Record<string, unknown>): Hit {
  const { hour, minute, status = 0, count, success, error, last_at } = row as Record<string, number>
  return {
    ...readDimensions(row, DIMENSIONS),
    ...{
      hour: hour!,
      ...(typeof minute === 'number' && { minute }),
      status,
      count: count!,
      success: success!,
      error: error!,
      lastAt: last_at!,
    },
    ...{ total: toLatency(row, 't'), upstream: toLatency(row, 'u') },
  }
}

function toLatency(row: Record<string, unknown>, prefix: 't' | 'u'): Latency {
  const { sum, min, max, buckets } = latencyColumns(prefix)
  return {
    sumMs: row[sum] as number,
    minMs: row[min] as number,
    maxMs: row[max] as number,
    buckets: buckets.map((name) => row[name] as number),
  }
}

function insertUnfolded(): string {
  const columns = [...HIT_COLUMNS, 'minute']
  return `INSERT INTO temp.hit_unfolded(${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
}

/** Makes the table `temp.hit_unfolded` with what is acknowledged and not in `hit`. Inside a transaction, with which it goes. */
export function unfoldedTable(db: DatabaseSync): void {
  db.exec('CREATE TEMP TABLE hit_unfolded AS SELECT *, 0 AS minute FROM hit WHERE 0')
  const insert = db.prepare(insertUnfolded())
  const values: number[] = new Array(ROW_NUMBERS + 2)
  for (const sums of unfolded(db)) {
    for (let row = 0; row < sums.size; row++) {
      sums.write(row, values, 1)
      values[0] = values[1]!
      values[1] = sums.dimension(row)
      values[ROW_NUMBERS + 1] = values[0]! * MINUTES_PER_HOUR + sums.minute(row)
      insert.run(...values)
    }
  }
}

/** Looking one set of dimensions up at one time costs some microseconds: beyond so many it is cheaper to read them all. */
const MOST_SEEKS = 400_000

/** Reads usage on a connection of this thread: answers at once. `journal`: what is not in the tables yet is added (slow). */
export interface UsageReader {
  page(query: UsageQuery & { offset: number; limit: number }, journal: boolean): { rows: Hit[]; total: number }
  /** All rows of the result in order; if names identify them, without their numbers. */
  names(query: UsageQuery, journal: boolean): Hit[]
  /** The numbers of some of these rows, in the same order; those that went meanwhile are left out. */
  numbers(query: UsageQuery, names: readonly Hit[], journal: boolean): Hit[]
  knows(orgId: string, name: 'keyHash' | 'clientId', value: string): boolean
}

/** Prepares the reader. */
export function usageReader(db: DatabaseSync): UsageReader {
  db.function('gatehouse_month', { deterministic: true }, (day) => monthOf(Number(day)))
  db.function('gatehouse_list', { deterministic: true }, (tags) =>
    JSON.stringify(tags === '' ? [] : String(tags).split(',')),
  )
  const known = (condition: string) =>
    db.prepare(`SELECT 1 FROM hit_dimension d JOIN hit_dimension_use u ON u.dimension = d.row
      WHERE ${condition} AND (d.org_id = ? OR ? = '') LIMIT 1`)
  const knows = { keyHash: known('d.key_hash = ?'), clientId: known("d.client_id = ? AND d.client_id <> ''") }

  const monthState = monthStateReader(db)
  const sources = (query: UsageQuery, journal: boolean, table: HitTable = tableFor(query)): readonly UsageSource[] => {
    return usageParts(query, table).flatMap((part) => sourcesOf(query, journal, part))
  }
  const sourcesOf = (query: UsageQuery, journal: boolean, part: UsagePart): readonly UsageSource[] => {
    const { table } = part
    const times = timesIn(db, part)
    if (times === undefined) return []
    const seek = (length: number) => isWorthSeeking(db, query, table, length)
    const span = times[1] - times[0] + 1
    // Samples that are not in the minutes yet have the sets of callers.
    if (journal) return [{ table, from: withJournal(table), times, seek: table !== MINUTE_TABLE && seek(span) }]
    const months = table === 'hit_day' && addsMonths(query) ? wholeMonths(monthState(), query.fromDay, query.toDay) : []
    if (months.length === 0) return [{ table, from: table, times, seek: seek(span) }]
    return withMonths(times, months, seek)
  }
  const order = (query: UsageQuery, journal: boolean, limit = -1, offset = 0): Hit[] & { total?: number } => {
    const from = sources(query, journal)
    if (from.length === 0) return []
    const { sql, values } = usagePlanSql(query, from, isPlain(query) ? 'both' : 'order')
    const found = db.prepare(`${sql} LIMIT ? OFFSET ?`).all(...values, limit, offset)
    const total = found[0]?.rows
    const rows: Hit[] & { total?: number } = found.map((row) =>
      toHit({ ...NO_NUMBERS, ...row, ...timeOfBucket(query, row.bucket as number) }),
    )
    if (typeof total === 'number') rows.total = total
    return rows
  }
  const numbers = (query: UsageQuery, names: readonly Hit[], journal: boolean): Hit[] => {
    if (names.length === 0 || isPlain(query)) return [...names]
    const narrow = narrowUsageQuery(query, names)
    const from = sources(narrow, journal, tableFor(query))
    if (from.length === 0) return []
    const { sql, values } = usagePlanSql(narrow, from, 'numbers', [...new Set(names.map(({ tags }) => tags))])
    const found = new Map<string, Hit>()
    for (const row of db.prepare(sql).all(...values)) {
      const hit = toHit({ ...row, ...timeOfBucket(query, row.bucket as number) })
      found.set(rowName(hit), hit)
    }
    return names.flatMap((name) => found.get(rowName(name)) ?? [])
  }
  const within = <T>(journal: boolean, read: () => T): T => reading(() => snapshot(db, journal, read))
  return {
    page: ({ offset, limit, ...query }, journal) =>
      within(journal, () => {
        const names = order(query, journal, limit, offset)
        const total = names.total ?? (offset === 0 && limit > 0 ? 0 : (order(query, journal, 1).total ?? 0))
        return { rows: numbers(query, names, journal), total }
      }),
    names: (query, journal) => within(journal, () => order(query, journal)),
    numbers: (query, names, journal) => within(journal, () => numbers(query, names, journal)),
    knows: (orgId, name, value) =>
      reading(() => knows[name].get(wellFormed(value), wellFormed(orgId), wellFormed(orgId)) !== undefined),
  }
}

/** All reads see the same state; with the journal in a table of this connection alone. */
function snapshot<T>(db: DatabaseSync, journal: boolean, read: () => T): T {
  db.exec('BEGIN')
  try {
    if (journal) unfoldedTable(db)
    return read()
  } finally {
    // The table goes with it.
    db.exec('ROLLBACK')
  }
}

/** First and last time of which there can be such rows; undefined where there are none. */
function timesIn(db: DatabaseSync, { table, times: [from, to] }: UsagePart): readonly [number, number] | undefined {
  const [first, last] = boundsOf(db, table)
  const times = [Math.max(from, first), Math.min(to, last)] as const
  return times[0] > times[1] ? undefined : times
}

/** True when days of one month need not be separated. */
const addsMonths = ({ per }: UsageQuery) => per === 'all' || per === 'month'

/** Whole months, and the days before and behind them. */
function withMonths(
  [first, last]: readonly [number, number],
  months: readonly number[],
  seek: (times: number) => boolean,
): readonly UsageSource[] {
  const firstMonth = months[0]!
  const lastMonth = months.at(-1)!
  const rest = [
    [first, firstMonth - 1],
    [nextMonthOf(lastMonth), last],
  ] as const
  const days = rest.filter(([from, to]) => from <= to)
  const seeks = seek(days.reduce((sum, [from, to]) => sum + to - from + 1, months.length))
  return [
    { table: 'hit_month', from: 'hit_month', times: [firstMonth, lastMonth], each: months, seek: seeks },
    ...days.map((times): UsageSource => ({ table: 'hit_day', from: 'hit_day', times, seek: seeks })),
  ]
}

function isWorthSeeking(db: DatabaseSync, query: UsageQuery, table: HitTable, times: number): boolean {
  const { keyHash, clientId, apiId } = query.where ?? {}
  const narrow = [keyHash, clientId, apiId, query.tags].some((some) => some !== undefined)
  if (table.startsWith('hit_api') || !narrow) return false
  const most = Math.floor(MOST_SEEKS / times)
  const { sql, values } = setsSql(query)
  const sets = db.prepare(`SELECT count(*) AS n FROM (${sql} LIMIT ?)`).get(...values, most + 1)!.n as number
  return sets <= most
}

/** First and last time that a table, or the journal, has hits of. */
function boundsOf(db: DatabaseSync, table: HitTable): [number, number] {
  const time = timeColumn(table)
  const own = { day: `/ ${HOURS_PER_DAY}`, hour: '', minute: `* ${PER_DAY.minute / HOURS_PER_DAY}` }[time]
  const lastMinute = time === 'minute' ? ' + 59' : ''
  const row = db
    .prepare(`SELECT (SELECT min(${time}) FROM ${table}) AS a, (SELECT max(${time}) FROM ${table}) AS b,
      (SELECT min(hour) ${own} FROM hit_journal) AS c, (SELECT max(hour) ${own}${lastMinute} FROM hit_journal) AS d`)
    .get()!
  const times = Object.values(row).filter((value) => typeof value === 'number')
  return [Math.min(...times), Math.max(...times)]
}

/** The table with what is not in it yet. That its sets of dimensions tell callers apart does no harm: they are merged by text. */
function withJournal(table: HitTable): string {
  const columns = HIT_COLUMNS.slice(1).join(', ')
  const time = timeColumn(table)
  const own = time === 'day' ? `hour / ${HOURS_PER_DAY} AS day` : time
  return `(SELECT ${time}, ${columns} FROM ${table} UNION ALL SELECT ${own}, ${columns} FROM temp.hit_unfolded)`
}

/** Readings of one answer. */
const MOST_READINGS = 20

/**
 * Rows of an answer that is being handed out, `USAGE_BATCH` at a time: their reader works through a batch in one turn. Each
 * reading looks through all that the rows are made of, so there are only so many, however many rows, and the time grows with their
 * number alone.
 */
export class AnswerRows {
  readonly #reader: Pick<UsageReader, 'numbers'>
  readonly #query: UsageQuery
  readonly #journal: boolean
  readonly #names: readonly Hit[]
  #read = 0
  #rows: readonly Hit[] = []
  #given = 0

  constructor(reader: Pick<UsageReader, 'names' | 'numbers'>, query: UsageQuery, journal: boolean) {
    this.#reader = reader
    this.#query = query
    this.#journal = journal
    this.#names = reader.names(query, journal)
  }

  /** The next rows; undefined after the last. */
  next(): Hit[] | undefined {
    // Rows may have gone meanwhile.
    while (this.#given >= this.#rows.length) {
      if (this.#read >= this.#names.length) return undefined
      const size = Math.max(USAGE_BATCH, Math.ceil(this.#names.length / MOST_READINGS))
      const some = this.#names.slice(this.#read, this.#read + size)
      this.#read += size
      this.#given = 0
      this.#rows = this.#reader.numbers(this.#query, some, this.#journal)
    }
    const batch = this.#rows.slice(this.#given, this.#given + USAGE_BATCH)
    this.#given += USAGE_BATCH
    return batch
  }
}
