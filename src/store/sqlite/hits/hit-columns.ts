import { ROW_NUMBERS } from '../../hits/hit-pack.ts'
import { type HitTable, timeColumn } from '../../hits/hit-times.ts'
import { latencyColumns } from '../migrations/schema-rollups.ts'

const COUNTS = ['count', 'success', 'error']
const LATENCIES = (['t', 'u'] as const).map(latencyColumns)

/** Columns of `hit`: the hour, the number of the dimensions, then the other numbers of a `HitPack` in order. */
export const HIT_COLUMNS: readonly string[] = [
  ...['hour', 'dimension', 'status', ...COUNTS, 'last_at'],
  ...LATENCIES.flatMap(({ sum, min, max, buckets }) => [sum, min, max, ...buckets]),
]

if (HIT_COLUMNS.length !== ROW_NUMBERS + 1) throw new Error('the columns of hits do not fit the numbers of a pack')

/** Inserts one row of hits into `table`, with a value for each of `HIT_COLUMNS`, or adds it to the row that is there. */
export function addHitSql(table: HitTable): string {
  return upsertHitSql(table, `VALUES (${HIT_COLUMNS.map(() => '?').join(', ')})`)
}

/** Adds rows to those of `table`, from values or a query, with a column for each of `HIT_COLUMNS`. */
export function upsertHitSql(table: HitTable, rows: string): string {
  const sets = COUNTS.map((name) => `${name} = ${name} + excluded.${name}`)
  sets.push('last_at = max(last_at, excluded.last_at)')
  for (const { sum, min, max, buckets } of LATENCIES) {
    for (const name of [sum, ...buckets]) sets.push(`${name} = ${name} + excluded.${name}`)
    sets.push(`${min} = min(${min}, excluded.${min})`, `${max} = max(${max}, excluded.${max})`)
  }
  const time = timeColumn(table)
  const columns = [time, ...HIT_COLUMNS.slice(1)].join(', ')
  return `INSERT INTO ${table}(${columns}) ${rows} ON CONFLICT (${time}, dimension, status) DO UPDATE SET ${sets.join(', ')}`
}

// Positions among the values of `HIT_COLUMNS`.
const LAST_AT = 6
const FIRST_LATENCY = 7
const LATENCY_COLUMNS = (HIT_COLUMNS.length - FIRST_LATENCY) / 2

/** Adds the numbers of one row, in the order of `HIT_COLUMNS`, to another of the same time, dimensions and status. */
export function mergeHitValues(into: number[], from: readonly number[]): void {
  for (let i = 3; i < LAST_AT; i++) into[i]! += from[i]!
  into[LAST_AT] = Math.max(into[LAST_AT]!, from[LAST_AT]!)
  for (let i = FIRST_LATENCY; i < from.length; i++) {
    const at = (i - FIRST_LATENCY) % LATENCY_COLUMNS
    if (at === 1) into[i] = Math.min(into[i]!, from[i]!)
    else if (at === 2) into[i] = Math.max(into[i]!, from[i]!)
    else into[i]! += from[i]!
  }
}
