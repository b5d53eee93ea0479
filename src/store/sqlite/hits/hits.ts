import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../../errors/fault.ts'
import { HIT_DIMENSIONS, type HitDimensions } from '../../../model/analytics/dimensions.ts'
import type { Hit } from '../../../model/analytics/hit.ts'
import { dimensionTexts, packHits } from '../../hits/hit-pack.ts'
import { ALL_DIMENSIONS, checkSamples } from '../../hits/sample-sums.ts'
import { checkUsage } from '../../hits/usage-rows.ts'
import type { HitDimension, HitQuery, Hits } from '../../ports/ports.ts'
import { wholeNumber } from '../../prepare/cells.ts'
import { wellFormed } from '../../prepare/prepare.ts'
import { reading } from '../connection/faults.ts'
import { latencyColumns } from '../migrations/schema-rollups.ts'
import { runInSlices } from '../writer/maintenance-schedule.ts'
import type { Write } from '../writer/messages.ts'
import { HIT_COLUMNS } from './hit-columns.ts'
import { findDimensionSql } from './hit-tables.ts'
import { toHit, unfoldedTable, usageReader } from './read-usage.ts'
import type { UsageLink } from './usage-link.ts'

/** Reads hits on a connection of this thread: answers at once. */
interface HitReader {
  /** True while samples are acknowledged and not in the table yet. */
  hasJournal(): boolean
  /** `Hits.sum` of what is in the table. */
  sum(query: HitQuery): Hit[]
  /** The same with the journal: blocks for about 0.1 s for half a million samples. */
  sumWithJournal(query: HitQuery): Hit[]
}

const LATENCY_SUMS = (['t', 'u'] as const)
  .map(latencyColumns)
  .flatMap(({ sum, min, max, buckets }) => [
    ...[sum, ...buckets].map((name) => `sum(h.${name}) AS ${name}`),
    `min(h.${min}) AS ${min}`,
    `max(h.${max}) AS ${max}`,
  ])

const COUNT_SUMS = ['count', 'success', 'error'].map((name) => `sum(h.${name}) AS ${name}`)

/** Sets of dimensions that are looked up at a time: about 5 µs each on the calling thread. */
const LOOKED_UP_AT_ONCE = 50

/** Hits that are read on a connection of this thread, usage by `link`, and written through the one writer. */
export function sqliteHits(db: DatabaseSync, write: (write: Write) => Promise<number>, link: UsageLink): Hits {
  const find = db.prepare(findDimensionSql())
  const reader = hitReader(db)
  const usage = usageReader(db)
  const minutesFrom = db.prepare('SELECT from_minute FROM hit_minute_state')
  /** Has all that is acknowledged worked in; true where that cannot be had now, so that readers must look at the journal too. */
  const journalLeft = async (): Promise<boolean> => {
    if (!reader.hasJournal()) return false
    return write({ sort: 'foldHits' }).then(
      () => false,
      () => true,
    )
  }

  const numberOf = (texts: readonly string[]): SQLOutputValue | undefined => reading(() => find.get(...texts)?.row)
  const numbersOf = async (sets: readonly string[][]): Promise<number[]> => {
    const numbers = sets.map(numberOf)
    const missing = sets.filter((_, i) => numbers[i] === undefined)
    if (missing.length > 0) await write({ sort: 'dimensions', dimensions: missing.flat() })
    return numbers.map((number, i) => {
      const known = number ?? numberOf(sets[i]!)
      if (typeof known !== 'number') throw fault('internal', 'a set of dimensions has no number')
      return known
    })
  }
  return {
    async number(dimensions: readonly HitDimensions[]) {
      const numbers: number[] = []
      for (let at = 0; at < dimensions.length; at += LOOKED_UP_AT_ONCE) {
        if (at > 0) await nextTurn()
        numbers.push(...(await numbersOf(dimensions.slice(at, at + LOOKED_UP_AT_ONCE).map(dimensionTexts))))
      }
      return numbers
    },
    async append(samples, batch) {
      checkSamples(samples)
      const copies = samples.map(({ hour, words }) => ({ hour, words: words.slice() }))
      if (copies.length > 0) await write({ sort: 'samples', samples: copies, ...(batch && { batch }) })
    },
    async add(rows, batch) {
      if (rows.length > 0) await write({ sort: 'hits', pack: packHits(rows), ...(batch && { batch }) })
    },
    sum(query) {
      if (!reader.hasJournal()) return reader.sum(query)
      // Without a writer, or room for what it writes, the journal is added to the answer: slower, and as right.
      return write({ sort: 'foldHits' }).then(
        () => reader.sum(query),
        () => reader.sumWithJournal(query),
      )
    },
    async usage(query) {
      checkUsage(query, [query.offset, query.limit])
      return link.page(query, await journalLeft())
    },
    async *eachUsage(query) {
      checkUsage(query)
      yield* link.each(query, await journalLeft())
    },
    knows: (orgId, name, value) => usage.knows(orgId, name, value),
    async purgeHits(beforeDay) {
      const day = wholeNumber(beforeDay)
      // Hits that wait in the journal may be as old.
      await journalLeft()
      return runInSlices(() => write({ sort: 'purgeHits', beforeDay: day }))
    },
    async purgeMinutes(beforeMinute) {
      const minute = wholeNumber(beforeMinute)
      await journalLeft()
      return runInSlices(() => write({ sort: 'purgeMinutes', beforeMinute: minute }))
    },
    minutesFrom: () => reading(() => minutesFrom.get()!.from_minute as number),
  }
}

const columnOf = (name: HitDimension) => (name === 'status' ? 'h.status' : `d.${HIT_DIMENSIONS[name].column}`)

/** Prepares the reader. */
export function hitReader(db: DatabaseSync): HitReader {
  const entry = db.prepare('SELECT 1 FROM hit_journal LIMIT 1')
  const select = (query: HitQuery, table: string): Hit[] => {
    const { sql, values } = sumSql(query, table)
    return db
      .prepare(sql)
      .all(...values)
      .map(toHit)
  }
  return {
    hasJournal: () => reading(() => entry.get() !== undefined),
    sum: (query) => reading(() => select(query, 'hit')),
    sumWithJournal: (query) =>
      reading(() => {
        db.exec('BEGIN')
        try {
          unfoldedTable(db)
          return select(
            query,
            `(SELECT ${HIT_COLUMNS.join(', ')} FROM hit UNION ALL SELECT ${HIT_COLUMNS.join(', ')} FROM temp.hit_unfolded)`,
          )
        } finally {
          // The table goes with it.
          db.exec('ROLLBACK')
        }
      }),
  }
}

function sumSql(query: HitQuery, table: string): { sql: string; values: SQLInputValue[] } {
  const by = new Set(query.by ?? ALL_DIMENSIONS)
  const dimensions = ALL_DIMENSIONS.map((name) => `${by.has(name) ? columnOf(name) : empty(name)} AS ${name}`)
  const groups = ALL_DIMENSIONS.filter((name) => by.has(name)).map(columnOf)
  const conditions = ['h.hour BETWEEN ? AND ?']
  const values: SQLInputValue[] = [query.fromHour, query.toHour]
  for (const [name, value] of Object.entries(query.where ?? {})) {
    conditions.push(`${columnOf(name as HitDimension)} = ?`)
    values.push(wellFormed(value))
  }
  const sql = `SELECT h.hour, ${[...dimensions, ...COUNT_SUMS, ...LATENCY_SUMS].join(', ')}, max(h.last_at) AS last_at
    FROM ${table} h JOIN hit_dimension d ON d.row = h.dimension WHERE ${conditions.join(' AND ')}
    GROUP BY ${['h.hour', ...groups].join(', ')}
    ORDER BY ${['h.hour DESC', 'sum(h.count) DESC', ...groups].join(', ')} LIMIT ?`
  values.push(Math.max(0, Math.floor(query.limit)))
  return { sql, values }
}

function empty(name: HitDimension): string {
  return name === 'status' ? '0' : "''"
}
