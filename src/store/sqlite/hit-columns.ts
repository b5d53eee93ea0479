import { ROW_NUMBERS } from '../hit-pack.ts'
import { latencyColumns } from './schema.ts'

/** Columns of `hit_dimension` in the order of `DIMENSIONS`. */
export const DIMENSION_COLUMNS: readonly string[] = [
  ...['org_id', 'api_id', 'version', 'key_hash', 'alias', 'client_id', 'tags', 'endpoint'],
]

const COUNTS = ['count', 'success', 'error']
const LATENCIES = (['t', 'u'] as const).map(latencyColumns)

/** Columns of `hit`: the hour, the number of the dimensions, then the other numbers of a `HitPack` in order. */
export const HIT_COLUMNS: readonly string[] = [
  ...['hour', 'dimension', 'status', ...COUNTS, 'last_at'],
  ...LATENCIES.flatMap(({ sum, min, max, buckets }) => [sum, min, max, ...buckets]),
]

if (HIT_COLUMNS.length !== ROW_NUMBERS + 1) throw new Error('the columns of hits do not fit the numbers of a pack')

/** Inserts one row of hits into `table`, with a value for each of `HIT_COLUMNS`. */
export function insertHitSql(table: string): string {
  return `INSERT INTO ${table}(${HIT_COLUMNS.join(', ')}) VALUES (${HIT_COLUMNS.map(() => '?').join(', ')})`
}

/** The same, adding to the row that is there. */
export function addHitSql(): string {
  const sets = COUNTS.map((name) => `${name} = ${name} + excluded.${name}`)
  sets.push('last_at = max(last_at, excluded.last_at)')
  for (const { sum, min, max, buckets } of LATENCIES) {
    for (const name of [sum, ...buckets]) sets.push(`${name} = ${name} + excluded.${name}`)
    sets.push(`${min} = min(${min}, excluded.${min})`, `${max} = max(${max}, excluded.${max})`)
  }
  return `${insertHitSql('hit')} ON CONFLICT (hour, dimension, status) DO UPDATE SET ${sets.join(', ')}`
}
