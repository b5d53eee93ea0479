import { DIMENSIONS } from '../../../model/analytics/dimensions.ts'
import type { Hit, Latency } from '../../../model/analytics/hit.ts'
import { readDimensions } from '../../hits/hit-sums.ts'
import { latencyColumns } from '../migrations/schema-latency.ts'
import { HIT_COLUMNS } from './hit-columns.ts'

/** The columns of a row that was not added up. */
export const NO_NUMBERS: Readonly<Record<string, number>> = Object.fromEntries(
  HIT_COLUMNS.slice(3).map((name) => [name, 0]),
)

/** A row of sums as it was read. Dimensions that were not read are ''. */
export function toHit(row: Record<string, unknown>): Hit {
  const { hour, status = 0, count, success, error, last_at } = row as Record<string, number>
  return {
    ...readDimensions(row, DIMENSIONS),
    ...{ hour: hour!, status, count: count!, success: success!, error: error!, lastAt: last_at! },
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
