import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Hit, Latency } from '../../model/hit.ts'
import { ALL_DIMENSIONS } from '../hit-sums.ts'
import type { HitDimension, HitQuery } from '../ports.ts'
import { wellFormed } from '../prepare.ts'
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

/** `Hits.sum` on a connection of this thread: answers at once. */
export function hitReader(db: DatabaseSync): (query: HitQuery) => Hit[] {
  const latencies = (['t', 'u'] as const)
    .map(latencyColumns)
    .flatMap(({ sum, min, max, buckets }) => [
      ...[sum, ...buckets].map((name) => `sum(h.${name}) AS ${name}`),
      `min(h.${min}) AS ${min}`,
      `max(h.${max}) AS ${max}`,
    ])
  const sums = ['count', 'success', 'error'].map((name) => `sum(h.${name}) AS ${name}`)
  return (query) => {
    const by = new Set(query.by ?? ALL_DIMENSIONS)
    const dimensions = ALL_DIMENSIONS.map((name) => `${by.has(name) ? COLUMN[name] : empty(name)} AS ${name}`)
    const groups = ALL_DIMENSIONS.filter((name) => by.has(name)).map((name) => COLUMN[name])
    const conditions = ['h.hour BETWEEN ? AND ?']
    const values: SQLInputValue[] = [query.fromHour, query.toHour]
    for (const [name, value] of Object.entries(query.where ?? {})) {
      conditions.push(`${COLUMN[name as HitDimension]} = ?`)
      values.push(wellFormed(value))
    }
    const sql = `SELECT h.hour, ${[...dimensions, ...sums, ...latencies].join(', ')}, max(h.last_at) AS last_at
      FROM hit h JOIN hit_dimension d ON d.row = h.dimension WHERE ${conditions.join(' AND ')}
      GROUP BY ${['h.hour', ...groups].join(', ')}
      ORDER BY ${['h.hour DESC', 'sum(h.count) DESC', ...groups].join(', ')} LIMIT ?`
    return reading(() =>
      db
        .prepare(sql)
        .all(...values, Math.max(0, Math.floor(query.limit)))
        .map(toHit),
    )
  }
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
