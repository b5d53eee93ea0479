import type { HitDimensions } from '../../../model/analytics/dimensions.ts'
import { MINUTES_PER_HOUR } from '../../../model/analytics/hit.ts'
import { timeColumn, type UsagePart, usageParts } from '../../hits/hit-times.ts'
import { ALL_DIMENSIONS } from '../../hits/sample-sums.ts'
import type { HitDimension, HitQuery, UsageQuery, UsageSort } from '../../ports/ports.ts'
import { wellFormed } from '../../prepare/cells.ts'
import type { Sql } from '../connection/db.ts'
import { dimensionColumn, HANDED_ON, sumsOf } from './hit-columns.ts'

const HOURS_PER_DAY = 24

/** The sort columns of a row of sums. */
const SORT: Readonly<Record<UsageSort, string>> = {
  time: 'hour',
  count: 'count',
  success: 'success',
  error: 'error',
  lastAt: 'last_at',
  totalMs: 't_sum / count::double precision',
  maxTotalMs: 't_max',
  minTotalMs: 't_min',
  upstreamMs: `u_sum / nullif(${HANDED_ON}, 0)::double precision`,
  maxUpstreamMs: 'u_max',
  minUpstreamMs: 'u_min',
}

/** Gathers what is bound to a statement. */
class Bound {
  readonly values: unknown[] = []

  /** The placeholder of a value in the text. */
  put(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }
}

/** All rows of an answer in order; with a page only its rows, each with the number of all as `total`. */
export function usageSql(query: UsageQuery, page?: { readonly offset: number; readonly limit: number }): Sql {
  const bound = new Bound()
  const rows = rowsSql(query, bound)
  const down = query.descending
  const names = namesOf(query).map(({ column }) => column)
  const order = [
    // Where nothing was handed on, nothing is slow.
    `${SORT[query.sort]} ${down ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}`,
    'hour',
    ...names,
  ]
  const total = page === undefined ? '' : ', count(*) OVER () AS total'
  const cut =
    page === undefined ? '' : ` LIMIT ${bound.put(page.limit, 'bigint')} OFFSET ${bound.put(page.offset, 'bigint')}`
  return { text: `SELECT *${total} FROM (${rows}) r ORDER BY ${order.join(', ')}${cut}`, values: bound.values }
}

/** The number of all rows of an answer, as `total`. */
export function usageCountSql(query: UsageQuery): Sql {
  const bound = new Bound()
  return { text: `SELECT count(*) AS total FROM (${rowsSql(query, bound)}) r`, values: bound.values }
}

/** `Hits.sum` as a statement. */
export function sumSql(query: HitQuery): Sql {
  const bound = new Bound()
  const by = new Set(query.by ?? ALL_DIMENSIONS)
  const names = ALL_DIMENSIONS.filter((name) => by.has(name)).map(columnOf)
  const conditions = [`h.hour BETWEEN ${bound.put(query.fromHour, 'bigint')} AND ${bound.put(query.toHour, 'bigint')}`]
  for (const [name, value] of Object.entries(query.where ?? {}))
    conditions.push(`${columnOf(name as HitDimension)} = ${bound.put(wellFormed(value), 'text')}`)
  const text = `SELECT ${['h.hour', ...names].join(', ')}, ${sumsOf('h')}
    FROM hit h JOIN hit_dimension d ON d.number = h.dimension WHERE ${conditions.join(' AND ')}
    GROUP BY ${['h.hour', ...names].join(', ')}
    ORDER BY ${['h.hour DESC', 'sum(h.count) DESC', ...names].join(', ')}
    LIMIT ${bound.put(Math.max(0, Math.floor(query.limit)), 'bigint')}`
  return { text, values: bound.values }
}

/** One row for each bucket and set of the query's dimensions. */
function rowsSql(query: UsageQuery, bound: Bound): string {
  const conditions = conditionsOn(query, bound)
  const status = statusConditions(query, bound)
  // Rows of sums are added up before the texts come to them: of a set of dimensions there may be thousands.
  const narrow =
    conditions === '' ? '' : ` AND h.dimension IN (SELECT d.number FROM hit_dimension d WHERE ${conditions})`
  const parts = usageParts(query).map((part) => partSql(query, part, bound, status + narrow))
  const names = namesOf(query)
  const tag = query.by.includes('tag')
  const prefix =
    tag && query.tagPrefix !== undefined
      ? ` WHERE starts_with(tag.value, ${bound.put(wellFormed(query.tagPrefix), 'text')})`
      : ''
  return `SELECT ${['part.hour', ...names.map(({ sql, column }) => `${sql} AS ${column}`)].join(', ')}, ${sumsOf('part')}
    FROM (${parts.join(' UNION ALL ')}) part JOIN hit_dimension d ON d.number = part.dimension
    ${tag ? `CROSS JOIN LATERAL unnest(string_to_array(d.tags, ',')) AS tag(value)` : ''}${prefix}
    GROUP BY ${['part.hour', ...names.map(({ sql }) => sql)].join(', ')}`
}

/** The sums of some rows, for each bucket and set of dimensions. */
function partSql(query: UsageQuery, { table, times: [from, to] }: UsagePart, bound: Bound, conditions: string): string {
  const time = timeColumn(table)
  const byStatus = query.by.includes('status')
  const times = `h.${time} BETWEEN ${bound.put(from, 'bigint')} AND ${bound.put(to, 'bigint')}`
  return `SELECT ${bucketSql(query, time)} AS hour, h.dimension${byStatus ? ', h.status' : ''}, ${sumsOf('h')}
    FROM ${table} h WHERE ${times}${conditions} GROUP BY 1, 2${byStatus ? ', 3' : ''}`
}

/** The members of a row for the query's dimensions, besides the time. */
function namesOf({ by }: UsageQuery): { sql: string; column: string }[] {
  return ALL_DIMENSIONS.flatMap((name) => {
    if (name === 'status') return by.includes('status') ? [{ sql: 'part.status', column: 'status' }] : []
    // Part of a text that sorts by its bytes, which the parts no longer say.
    if (name === 'tags' && by.includes('tag')) return [{ sql: 'tag.value COLLATE "C"', column: 'tags' }]
    return by.includes(name) ? [{ sql: dimensionColumn(name), column: dimensionColumn(name).slice(2) }] : []
  })
}

/** The first hour of the bucket that a row belongs to; the minute where buckets are minutes. */
function bucketSql({ per }: UsageQuery, time: 'minute' | 'hour' | 'day'): string {
  if (per === 'all') return '0::bigint'
  if (per === 'minute') return 'h.minute'
  const hour = time === 'minute' ? `h.minute / ${MINUTES_PER_HOUR}` : 'h.hour'
  if (per === 'hour') return hour
  const day = time === 'day' ? 'h.day' : `${hour} / ${HOURS_PER_DAY}`
  if (per === 'day') return `${day} * ${HOURS_PER_DAY}`
  return `(date_trunc('month', date '1970-01-01' + (${day})::int)::date - date '1970-01-01')::bigint * ${HOURS_PER_DAY}`
}

function statusConditions({ status, errorsOnly }: UsageQuery, bound: Bound): string {
  const some = status === undefined ? '' : ` AND h.status = ANY(${bound.put(status, 'int[]')})`
  return some + (errorsOnly === true ? ' AND h.status >= 400' : '')
}

/** The condition of a query on the texts of `hit_dimension d`; '' = none. */
function conditionsOn({ where = {}, tags, has }: UsageQuery, bound: Bound): string {
  const conditions: string[] = []
  for (const [name, some] of Object.entries(where) as [keyof HitDimensions, readonly string[]][]) {
    const list = bound.put(some.map(wellFormed), 'text[]')
    conditions.push(`${dimensionColumn(name)} = ANY(${list})`)
    // So that the index of clients serves, which has no others.
    if (name === 'clientId' && !some.includes('')) conditions.push("d.client_id <> ''")
  }
  if (tags !== undefined) {
    const list = bound.put(tags.filter((one) => one !== '').map(wellFormed), 'text[]')
    conditions.push(`string_to_array(d.tags, ',') && ${list}`)
  }
  if (has !== undefined) conditions.push(`${dimensionColumn(has)} <> ''`)
  return conditions.join(' AND ')
}

const columnOf = (name: HitDimension) => (name === 'status' ? 'h.status' : dimensionColumn(name))
