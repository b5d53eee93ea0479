import type { SQLInputValue } from 'node:sqlite'
import type { HitDimensions } from '../../../model/analytics/dimensions.ts'
import { HIT_DIMENSIONS } from '../../../model/analytics/dimensions.ts'
import { type HitTable, HOURS_PER_DAY, isByMinute, NOT_BY_MINUTE, timeColumn } from '../../hits/hit-times.ts'
import { ALL_DIMENSIONS } from '../../hits/sample-sums.ts'
import type { HitDimension, UsageQuery, UsageSort } from '../../ports/ports.ts'
import { wellFormed } from '../../prepare/prepare.ts'
import { latencyColumns } from '../migrations/schema-rollups.ts'

/** Text and values of a statement, put together piece by piece. */
export interface UsageQuerySql {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

/** From where some of the rows of a query are read. */
export interface UsageSource {
  readonly table: HitTable
  /** A table, or a query in parentheses with the same columns. */
  readonly from: string
  /** First and last hour or day that rows may be of, as the table counts. */
  readonly times: readonly [number, number]
  /** True: look each set of dimensions up at each time; false: read everything within the times. */
  readonly seek: boolean
  /** Times that there are, where they do not follow one another. */
  readonly each?: readonly number[]
}

/** The sets of dimensions that a query is about, by their numbers. */
export function setsSql(query: UsageQuery): UsageQuerySql {
  const conditions = conditionsOn(query)
  // Minutes have no other sets, and these are few.
  const blank = isByMinute(query)
    ? NOT_BY_MINUTE.map((name) => ` AND ${columnOf(name as keyof HitDimensions)} = ''`)
    : []
  return {
    sql: `SELECT d.row FROM hit_dimension d WHERE ${conditions.sql}${blank.join('')}`,
    values: conditions.values,
  }
}

/** Sums of counts, times and latencies for a row of the answer. */
const SUMS: readonly (readonly [name: string, how: 'sum' | 'min' | 'max'])[] = [
  ...(['count', 'success', 'error'] as const).map((name) => [name, 'sum'] as const),
  ['last_at', 'max'],
  ...(['t', 'u'] as const)
    .map(latencyColumns)
    .flatMap(({ sum, min, max, buckets }) => [
      ...[sum, ...buckets].map((name) => [name, 'sum'] as const),
      [min, 'min'] as const,
      [max, 'max'] as const,
    ]),
]

const UPSTREAM = latencyColumns('u')
const HANDED_ON = UPSTREAM.buckets.map((name) => `sum(${name})`).join(' + ')

/** The sort columns of sums of `part`; only these columns are added up where no others are needed. */
const SORT: Readonly<Record<Exclude<UsageSort, 'time'>, { sql: string; columns: readonly string[] }>> = {
  count: { sql: 'sum(count)', columns: ['count'] },
  success: { sql: 'sum(success)', columns: ['success'] },
  error: { sql: 'sum(error)', columns: ['error'] },
  lastAt: { sql: 'max(last_at)', columns: ['last_at'] },
  totalMs: { sql: 'sum(t_sum) / sum(count)', columns: ['t_sum', 'count'] },
  maxTotalMs: { sql: 'max(t_max)', columns: ['t_max'] },
  minTotalMs: { sql: 'min(t_min)', columns: ['t_min'] },
  upstreamMs: { sql: `sum(u_sum) / nullif(${HANDED_ON}, 0)`, columns: ['u_sum', ...UPSTREAM.buckets] },
  maxUpstreamMs: { sql: 'max(u_max)', columns: ['u_max'] },
  minUpstreamMs: { sql: 'min(u_min)', columns: ['u_min'] },
}

/** True when rows differ by time and status alone: they are few, and need not be looked up twice. */
export function isPlain({ by }: UsageQuery): boolean {
  return by.every((name) => name === 'status')
}

/** A query for the names of the rows alone, in order and with their number (`order`), for all their numbers in any order, or for both. `onlyTags`: of rows by tag, those of these tags. */
export function usagePlanSql(
  query: UsageQuery,
  sources: readonly UsageSource[],
  wanted: 'order' | 'numbers' | 'both',
  onlyTags?: readonly string[],
): UsageQuerySql {
  const sort = query.sort === 'time' ? undefined : SORT[query.sort]
  const sums = wanted !== 'order' ? SUMS : SUMS.filter(([name]) => sort?.columns.includes(name))
  const part = partSql(query, sources, sums)
  // Sets of dimensions that were looked up are those that are meant.
  const named = !isPlain(query) || sources.some(({ seek }) => !seek)
  const outer = named ? conditionsOn(query) : { sql: '1', values: [] }
  const names = namesOf(query)
  const groups = ['bucket', ...names.map(({ sql }) => sql)].join(', ')
  const shown = ['bucket', ...names.map(({ name, sql }) => `${sql} AS ${name}`)]
  const tags = query.by.includes('tag') ? ', json_each(gatehouse_list(d.tags)) tag' : ''
  const prefix = query.tagPrefix !== undefined && query.by.includes('tag')
  // A request with one of these tags has others, whose rows are not wanted.
  const only = wanted === 'numbers' && query.by.includes('tag') && onlyTags !== undefined
  const down = query.descending ? ' DESC' : ''
  const order =
    sort === undefined ? `bucket${down}` : `${sort.sql}${down} NULLS ${query.descending ? 'LAST' : 'FIRST'}, bucket`
  if (wanted !== 'numbers') shown.push('count(*) OVER () AS rows')
  const own = wanted !== 'order' ? sums.map(([name, how]) => `${how}(part.${name}) AS ${name}`) : []
  return {
    sql: `WITH ${part.sql}
      SELECT ${[...shown, ...own].join(', ')}
      FROM part ${named ? `JOIN hit_dimension d ON d.row = part.dimension${tags}` : ''}
      WHERE ${outer.sql}${prefix ? ' AND substr(tag.value, 1, length(?)) = ?' : ''}${only ? ' AND tag.value IN (SELECT value FROM json_each(?))' : ''}
      GROUP BY ${groups} ${wanted !== 'numbers' ? `ORDER BY ${[order, ...names.map(({ sql }) => sql)].join(', ')}` : ''}`,
    values: [
      ...part.values,
      ...outer.values,
      ...(prefix ? [query.tagPrefix!, query.tagPrefix!] : []),
      ...(only ? [listOf(onlyTags)] : []),
    ],
  }
}

/** The members of a row for the query's dimensions, besides the time. */
function namesOf({ by }: UsageQuery): { name: HitDimension; sql: string }[] {
  return ALL_DIMENSIONS.flatMap((name): { name: HitDimension; sql: string }[] => {
    if (name === 'status') return by.includes('status') ? [{ name, sql: 'part.status' }] : []
    if (name === 'tags' && by.includes('tag')) return [{ name, sql: 'tag.value' }]
    return by.includes(name) ? [{ name, sql: columnOf(name) }] : []
  })
}

/** Sums for each source, bucket, set of dimensions and, where it is asked for, status: everything but the texts. */
function partSql(query: UsageQuery, sources: readonly UsageSource[], sums: typeof SUMS): UsageQuerySql {
  const sets = sources.some(({ seek }) => seek) ? setsSql(query) : undefined
  const picked = sets && { sql: `picked AS MATERIALIZED (${sets.sql}), `, values: sets.values }
  const some = sources.map((source, i) => sourceSql(query, source, sums, `times${i}`))
  const times = some.flatMap((each) => each.times ?? [])
  return {
    sql: `RECURSIVE ${times.map(({ sql }) => `${sql}, `).join('')}${picked?.sql ?? ''}part AS MATERIALIZED (
      ${some.map(({ sql }) => sql).join(' UNION ALL ')})`,
    values: [
      ...times.flatMap(({ values }) => values),
      ...(picked?.values ?? []),
      ...some.flatMap(({ values }) => values),
    ],
  }
}

/** The same of one source; `times`: the table that it looks rows up by, to be made before. */
function sourceSql(
  query: UsageQuery,
  { table, from, times, seek, each }: UsageSource,
  sums: typeof SUMS,
  name: string,
): UsageQuerySql & { times?: UsageQuerySql } {
  const time = timeColumn(table)
  const status = statusConditions(query)
  const shown = [
    `${bucketSql(query, time)} AS bucket`,
    // Where they are not looked at any more they need not be kept apart.
    seek && isPlain(query) ? '0 AS dimension' : 'h.dimension',
    `${query.by.includes('status') ? 'h.status' : '0'} AS status`,
    ...sums.map(([name, how]) => `${how}(h.${name}) AS ${name}`),
  ]
  const tail = 'GROUP BY 1, 2, 3'
  if (!seek) {
    return {
      sql: `SELECT ${shown.join(', ')} FROM ${from} h WHERE h.${time} BETWEEN ? AND ?${status.sql} ${tail}`,
      values: [...times, ...status.values],
    }
  }
  // Left alone, SQLite builds an index over the whole table first where few columns are wanted: 20 s for a year of 10,000 keys.
  const byKey = from === table ? ` INDEXED BY sqlite_autoindex_${table}_1` : ''
  return {
    // CROSS JOIN keeps the order: times, then sets, then one look-up in the table.
    sql: `SELECT ${shown.join(', ')} FROM ${name} CROSS JOIN picked CROSS JOIN ${from} h${byKey}
        ON h.${time} = ${name}.t AND h.dimension = picked.row${status.sql} ${tail}`,
    values: status.values,
    times: each === undefined ? following(name, times) : listed(name, each),
  }
}

const following = (name: string, times: readonly [number, number]): UsageQuerySql => ({
  sql: `${name}(t) AS (VALUES (?) UNION ALL SELECT t + 1 FROM ${name} WHERE t < ?)`,
  values: times,
})

const listed = (name: string, each: readonly number[]): UsageQuerySql => ({
  sql: `${name}(t) AS MATERIALIZED (SELECT value FROM json_each(?))`,
  values: [JSON.stringify(each)],
})

/** The first hour of the bucket that a row belongs to; the minute where buckets are minutes. */
function bucketSql({ per }: UsageQuery, time: 'minute' | 'hour' | 'day'): string {
  if (per === 'all') return '0'
  if (per === 'minute') return 'h.minute'
  const hour = time === 'minute' ? '(h.minute / 60)' : 'h.hour'
  if (per === 'hour') return hour
  const day = time === 'day' ? 'h.day' : `(${hour} / ${HOURS_PER_DAY})`
  return `${per === 'day' ? day : `gatehouse_month(${day})`} * ${HOURS_PER_DAY}`
}

function statusConditions({ status, errorsOnly }: UsageQuery): UsageQuerySql {
  const some = status === undefined ? '' : ' AND h.status IN (SELECT value FROM json_each(?))'
  return {
    sql: some + (errorsOnly === true ? ' AND h.status >= 400' : ''),
    values: status === undefined ? [] : [JSON.stringify(status)],
  }
}

/** Looking for more of them one by one takes longer than to look each tag of a request up among them. */
const FEW_TAGS = 8
const HAS_ONE_OF_FEW =
  "EXISTS (SELECT 1 FROM json_each(?) w WHERE instr(',' || d.tags || ',', ',' || w.value || ',') > 0)"
const HAS_ONE_OF_MANY =
  'EXISTS (SELECT 1 FROM json_each(gatehouse_list(d.tags)) own WHERE own.value IN (SELECT value FROM json_each(?)))'

/** The condition of a query on the texts of `hit_dimension d`. */
function conditionsOn({ where = {}, tags, has }: UsageQuery): UsageQuerySql {
  const conditions = ['1']
  const values: SQLInputValue[] = []
  for (const [name, some] of Object.entries(where) as [keyof HitDimensions, readonly string[]][]) {
    conditions.push(`${columnOf(name)} IN (SELECT value FROM json_each(?))`)
    values.push(listOf(some))
    // So that the index of clients serves, which has no others.
    if (name === 'clientId' && !some.includes('')) conditions.push("d.client_id <> ''")
  }
  if (tags !== undefined) {
    conditions.push(tags.length > FEW_TAGS ? HAS_ONE_OF_MANY : HAS_ONE_OF_FEW)
    values.push(listOf(tags.filter((tag) => tag !== '')))
  }
  if (has !== undefined) conditions.push(`${columnOf(has)} <> ''`)
  return { sql: conditions.join(' AND '), values }
}

function columnOf(name: keyof HitDimensions): string {
  return `d.${HIT_DIMENSIONS[name].column}`
}

const listOf = (texts: readonly string[]): string => JSON.stringify(texts.map(wellFormed))
