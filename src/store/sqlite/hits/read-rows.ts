import type { DatabaseSync } from 'node:sqlite'
import { DIMENSIONS } from '../../../model/analytics/dimensions.ts'
import { type Hit, type Latency, MINUTES_PER_HOUR } from '../../../model/analytics/hit.ts'
import { ROW_NUMBERS } from '../../hits/hit-pack.ts'
import { readDimensions } from '../../hits/sample-sums.ts'
import { latencyColumns } from '../migrations/schema-rollups.ts'
import { HIT_COLUMNS } from './hit-columns.ts'
import { unfolded } from './hit-journal.ts'

/** The columns of a row that was not added up. */
export const NO_NUMBERS: Readonly<Record<string, number>> = Object.fromEntries(
  HIT_COLUMNS.slice(3).map((name) => [name, 0]),
)

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
