import { DIMENSIONS, dimensionRow, HIT_DIMENSIONS } from '../../model/analytics/dimensions.ts'
import type { UsageQuery } from '../ports/ports.ts'

/** Columns of `hit_dimension` in the order of `DIMENSIONS`. */
export const DIMENSION_COLUMNS: readonly string[] = DIMENSIONS.map((name) => HIT_DIMENSIONS[name].column)

/** The tables that every hit is added to: sums of an hour or a day, of whole sets of dimensions or of those without the callers (`api`). */
export const HIT_TABLES = ['hit', 'hit_day', 'hit_api', 'hit_api_day'] as const
/** The embedded store has one more, made of `hit_day` when a month is over: its `day` is the first of the month. */
export type HitTable = (typeof HIT_TABLES)[number] | 'hit_month'

/** The column that tells the times of a table apart; the others are the same in all. */
export function timeColumn(table: HitTable): 'hour' | 'day' {
  return table === 'hit' || table === 'hit_api' ? 'hour' : 'day'
}

/** Days and hours are whole numbers since 1970, in UTC. */
export const HOURS_PER_DAY = 24
const EVERY_HOUR = [0, Number.MAX_SAFE_INTEGER] as const
/** Dimensions that `hit_api` does not have. */
export const OF_CALLERS: readonly string[] = DIMENSIONS.filter((name) => dimensionRow(name).isOfCaller)

/** The smallest table with all dimensions of the query. */
export function tableFor({ per, by, where = {}, tags, has, hours }: UsageQuery): HitTable {
  const asked: readonly string[] = [...by, ...Object.keys(where), ...(has === undefined ? [] : [has])]
  const callers = tags !== undefined || asked.includes('tag') || OF_CALLERS.some((name) => asked.includes(name))
  if (per === 'hour' || hours !== undefined) return callers ? 'hit' : 'hit_api'
  return callers ? 'hit_day' : 'hit_api_day'
}

/** First and last time of a query, as the table counts. */
export function timesOf({ fromDay, toDay, hours = EVERY_HOUR }: UsageQuery, table: HitTable): [number, number] {
  if (timeColumn(table) === 'day') return [fromDay, toDay]
  const [from, to] = hours
  return [Math.max(from, fromDay * HOURS_PER_DAY), Math.min(to, toDay * HOURS_PER_DAY + HOURS_PER_DAY - 1)]
}
