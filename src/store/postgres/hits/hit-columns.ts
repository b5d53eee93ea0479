import { HIT_DIMENSIONS } from '../../../model/analytics/dimensions.ts'
import { BUCKETS, type Hit, type Latency } from '../../../model/analytics/hit.ts'
import { ROW_NUMBERS } from '../../hits/hit-pack.ts'
import { DIMENSION_COLUMNS, type HitTable, timeColumn } from '../../hits/hit-times.ts'
import { readDimensions } from '../../hits/sample-sums.ts'
import type { HitDimension } from '../../ports/ports.ts'

/** The column of a dimension, of `hit_dimension d`. */
export function dimensionColumn(name: Exclude<HitDimension, 'status'>): string {
  return `d.${HIT_DIMENSIONS[name].column}`
}

const latency = (prefix: 't' | 'u') => ({
  sum: `${prefix}_sum`,
  min: `${prefix}_min`,
  max: `${prefix}_max`,
  buckets: Array.from({ length: BUCKETS }, (_, i) => `${prefix}${i}`),
})
const TOTAL = latency('t')
const UPSTREAM = latency('u')
/** How many requests were handed on, of a row of sums. */
export const HANDED_ON = `(${UPSTREAM.buckets.join(' + ')})`

/** How a number is added to that of another row. */
type Merge = 'sum' | 'min' | 'max'

/** The numbers of a row besides hour, dimensions and status, in the order of a `HitPack`. */
export const NUMBERS: readonly {
  readonly name: string
  readonly type: 'bigint' | 'double precision'
  readonly merge: Merge
}[] = [
  ...(['count', 'success', 'error'] as const).map((name) => ({ name, type: 'bigint', merge: 'sum' }) as const),
  { name: 'last_at', type: 'bigint', merge: 'max' },
  ...[TOTAL, UPSTREAM].flatMap(({ sum, min, max, buckets }) => [
    ...(['sum', 'min', 'max'] as const).map(
      (merge) => ({ name: { sum, min, max }[merge], type: 'double precision', merge }) as const,
    ),
    ...buckets.map((name) => ({ name, type: 'bigint', merge: 'sum' }) as const),
  ]),
]
if (NUMBERS.length !== ROW_NUMBERS - 2) throw new Error('the columns of hits do not fit the numbers of a pack')

/** Sums of all numbers of `rows`, by their own names. */
export function sumsOf(rows: string): string {
  return NUMBERS.map(({ name, merge }) => `${merge}(${rows}.${name}) AS ${name}`).join(', ')
}

/** Inserts rows, each once, or adds them to those that are there. `$1`: times, `$2`: dimensions, `$3`: statuses, then the numbers. */
export function upsertSql(table: HitTable): string {
  const time = timeColumn(table)
  const key = ['dimension', time, 'status']
  const types = ['bigint', 'bigint', 'int', ...NUMBERS.map(({ type }) => type)]
  const add = NUMBERS.map(({ name, merge }) => {
    const [old, more] = [`${table}.${name}`, `excluded.${name}`]
    return `${name} = ${merge === 'sum' ? `${old} + ${more}` : `${merge === 'min' ? 'least' : 'greatest'}(${old}, ${more})`}`
  })
  // In one order everywhere, so that two processes never wait for each other.
  return `INSERT INTO ${table}(${[time, 'dimension', 'status', ...NUMBERS.map(({ name }) => name)].join(', ')})
    SELECT * FROM unnest(${types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')})
      AS r(${[time, 'dimension', 'status'].join(', ')}, ${NUMBERS.map(({ name }) => name).join(', ')}) ORDER BY ${key.map((name) => `r.${name}`).join(', ')}
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${add.join(', ')}`
}

/** Adds the numbers of one row, in the order of `NUMBERS` from `from` on, to another. */
export function mergeNumbers(into: number[], row: readonly number[], from: number): void {
  for (let i = 0; i < NUMBERS.length; i++) {
    const at = from + i
    const { merge } = NUMBERS[i]!
    if (merge === 'sum') into[at]! += row[at]!
    else into[at] = Math[merge](into[at]!, row[at]!)
  }
}

/** A row of sums as it was read. Dimensions that were not read are ''. */
export function toHit(row: Record<string, unknown>): Hit {
  const { hour, minute, status = 0, count, success, error, last_at } = row as Record<string, number>
  return {
    ...readDimensions(row, DIMENSION_COLUMNS),
    ...{
      hour: hour!,
      ...(typeof minute === 'number' && { minute }),
      status,
      count: count!,
      success: success!,
      error: error!,
      lastAt: last_at!,
    },
    ...{ total: toLatency(row, TOTAL), upstream: toLatency(row, UPSTREAM) },
  }
}

function toLatency(row: Record<string, unknown>, { sum, min, max, buckets }: typeof TOTAL): Latency {
  return {
    sumMs: row[sum] as number,
    minMs: row[min] as number,
    maxMs: row[max] as number,
    buckets: buckets.map((name) => row[name] as number),
  }
}
