import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { HIT_DIMENSIONS } from '../../../model/analytics/dimensions.ts'
import type { Hit } from '../../../model/analytics/hit.ts'
import { ALL_DIMENSIONS } from '../../hits/hit-sums.ts'
import type { HitDimension, HitQuery } from '../../ports/ports.ts'
import { wellFormed } from '../../prepare/prepare.ts'
import { reading } from '../connection/reading.ts'
import { latencyColumns } from '../migrations/schema-latency.ts'
import { toHit } from './hit-row.ts'
import { unfoldedTable } from './unfolded-table.ts'

const columnOf = (name: HitDimension) => (name === 'status' ? 'h.status' : `d.${HIT_DIMENSIONS[name].column}`)

/** Reads hits on a connection of this thread: answers at once. */
export interface HitReader {
  /** True while samples are acknowledged and not in the table yet. */
  hasJournal(): boolean
  /** `Hits.sum` of what is in the table. */
  sum(query: HitQuery): Hit[]
  /** The same with the journal: blocks for about 0.1 s for half a million samples. */
  sumWithJournal(query: HitQuery): Hit[]
}

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
          return select(query, '(SELECT * FROM hit UNION ALL SELECT * FROM temp.hit_unfolded)')
        } finally {
          // The table goes with it.
          db.exec('ROLLBACK')
        }
      }),
  }
}

const LATENCY_SUMS = (['t', 'u'] as const)
  .map(latencyColumns)
  .flatMap(({ sum, min, max, buckets }) => [
    ...[sum, ...buckets].map((name) => `sum(h.${name}) AS ${name}`),
    `min(h.${min}) AS ${min}`,
    `max(h.${max}) AS ${max}`,
  ])
const COUNT_SUMS = ['count', 'success', 'error'].map((name) => `sum(h.${name}) AS ${name}`)

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
