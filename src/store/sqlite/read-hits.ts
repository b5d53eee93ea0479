import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Hit, Latency } from '../../model/hit.ts'
import { ROW_NUMBERS } from '../hit-pack.ts'
import { ALL_DIMENSIONS } from '../hit-sums.ts'
import type { HitDimension, HitQuery } from '../ports.ts'
import { wellFormed } from '../prepare.ts'
import { insertHitSql } from './hit-columns.ts'
import { unfolded } from './hit-journal.ts'
import { reading } from './reading.ts'
import { latencyColumns } from './schema.ts'

const COLUMN: Readonly<Record<HitDimension, string>> = {
  orgId: 'd.org_id',
  apiId: 'd.api_id',
  version: 'd.version',
  keyHash: 'd.key_hash',
  alias: 'd.alias',
  clientId: 'd.client_id',
  tags: 'd.tags',
  endpoint: 'd.endpoint',
  status: 'h.status',
}

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
          copyJournal(db)
          return select(query, '(SELECT * FROM hit UNION ALL SELECT * FROM temp.hit_unfolded)')
        } finally {
          // The table goes with it.
          db.exec('ROLLBACK')
        }
      }),
  }
}

/** Makes a table of this connection alone with what is acknowledged and not in `hit`. Inside a transaction. */
function copyJournal(db: DatabaseSync): void {
  db.exec('CREATE TEMP TABLE hit_unfolded AS SELECT * FROM hit WHERE 0')
  const insert = db.prepare(insertHitSql('temp.hit_unfolded'))
  const values: number[] = new Array(ROW_NUMBERS + 1)
  for (const sums of unfolded(db)) {
    for (let row = 0; row < sums.size; row++) {
      sums.write(row, values, 1)
      values[0] = values[1]!
      values[1] = sums.dimension(row)
      insert.run(...values)
    }
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
  const dimensions = ALL_DIMENSIONS.map((name) => `${by.has(name) ? COLUMN[name] : empty(name)} AS ${name}`)
  const groups = ALL_DIMENSIONS.filter((name) => by.has(name)).map((name) => COLUMN[name])
  const conditions = ['h.hour BETWEEN ? AND ?']
  const values: SQLInputValue[] = [query.fromHour, query.toHour]
  for (const [name, value] of Object.entries(query.where ?? {})) {
    conditions.push(`${COLUMN[name as HitDimension]} = ?`)
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

function toHit(row: Record<string, unknown>): Hit {
  const { hour, status, count, success, error, last_at } = row as Record<string, number>
  const { orgId, apiId, version, keyHash, alias, clientId, tags, endpoint } = row as Record<string, string>
  return {
    ...{ hour: hour!, orgId: orgId!, apiId: apiId!, version: version!, keyHash: keyHash!, alias: alias! },
    ...{ clientId: clientId!, tags: tags!, endpoint: endpoint!, status: status!, count: count!, success: success! },
    ...{ error: error!, lastAt: last_at!, total: toLatency(row, 't'), upstream: toLatency(row, 'u') },
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
