import { DIMENSIONS, dimensionRow, HIT_DIMENSIONS, MINUTE_DIMENSIONS } from '../../model/analytics/dimensions.ts'
import { MINUTES_PER_HOUR } from '../../model/analytics/hit.ts'
import type { UsageQuery } from '../ports/ports.ts'

/** Columns of `hit_dimension` in the order of `DIMENSIONS`. */
export const DIMENSION_COLUMNS: readonly string[] = DIMENSIONS.map((name) => HIT_DIMENSIONS[name].column)

/** The tables that every hit is added to: sums of an hour or a day, of whole sets of dimensions or of those without the callers (`api`). */
export const HIT_TABLES = ['hit', 'hit_day', 'hit_api', 'hit_api_day'] as const
/** Sums of a minute, of `MINUTE_DIMENSIONS`, for some days. */
export const MINUTE_TABLE = 'hit_minute'
/** The embedded store has one more, made of `hit_day` when a month is over: its `day` is the first of the month. */
export type HitTable = (typeof HIT_TABLES)[number] | typeof MINUTE_TABLE | 'hit_month'

/** The column that tells the times of a table apart; the others are the same in all. */
export function timeColumn(table: HitTable): 'minute' | 'hour' | 'day' {
  if (table === MINUTE_TABLE) return 'minute'
  return table === 'hit' || table === 'hit_api' ? 'hour' : 'day'
}

/** Days, hours and minutes are whole numbers since 1970, in UTC. */
export const HOURS_PER_DAY = 24
const MINUTES_PER_DAY: number = HOURS_PER_DAY * MINUTES_PER_HOUR
/** How many of the times of a table make a day. */
export const PER_DAY = { minute: MINUTES_PER_DAY, hour: HOURS_PER_DAY, day: 1 } as const
const EVERY_HOUR = [0, Number.MAX_SAFE_INTEGER] as const
/** Dimensions that `hit_api` does not have. */
export const OF_CALLERS: readonly string[] = DIMENSIONS.filter((name) => dimensionRow(name).isOfCaller)
/** Dimensions that `hit_minute` does not have. */
export const NOT_BY_MINUTE: readonly string[] = DIMENSIONS.filter((name) => !MINUTE_DIMENSIONS.includes(name))

/** True when a query asks for more than whole hours. */
export function isByMinute({ per, minutes }: UsageQuery): boolean {
  return per === 'minute' || minutes !== undefined
}

/** Names of dimensions that a query asks for. */
export function askedDimensions({ by, where = {}, tags, has }: UsageQuery): string[] {
  const asked = [...by, ...Object.keys(where), ...(has === undefined ? [] : [has])]
  return tags !== undefined || asked.includes('tag') ? [...asked, 'tags'] : asked
}

/** The smallest table of hours or days with all dimensions of the query. */
export function tableFor(query: UsageQuery): HitTable {
  const asked = askedDimensions(query)
  const callers = OF_CALLERS.some((name) => asked.includes(name))
  if (query.per === 'hour' || query.hours !== undefined) return callers ? 'hit' : 'hit_api'
  return callers ? 'hit_day' : 'hit_api_day'
}

/** Some of the rows of a query: those of a table from one of its times to another, inclusive. */
export interface UsagePart {
  readonly table: HitTable
  readonly times: readonly [first: number, last: number]
}

/** The rows that answer a query. `table`: where those of whole hours or days are; the minutes before and behind them are apart. */
export function usageParts(query: UsageQuery, table: HitTable = tableFor(query)): readonly UsagePart[] {
  if (!isByMinute(query)) return [{ table, times: timesOf(query, table) }]
  const [first, last] = minutesOf(query)
  const hours = [Math.ceil(first / MINUTES_PER_HOUR), Math.floor((last + 1) / MINUTES_PER_HOUR) - 1] as const
  if (query.per === 'minute' || hours[0] > hours[1]) return [{ table: MINUTE_TABLE, times: [first, last] }]
  const parts: readonly UsagePart[] = [
    { table: MINUTE_TABLE, times: [first, hours[0] * MINUTES_PER_HOUR - 1] },
    { table: 'hit_api', times: hours },
    { table: MINUTE_TABLE, times: [(hours[1] + 1) * MINUTES_PER_HOUR, last] },
  ]
  return parts.filter(({ times }) => times[0] <= times[1])
}

/** First and last minute of a query. */
function minutesOf({ minutes = [0, Number.MAX_SAFE_INTEGER], ...query }: UsageQuery): [number, number] {
  const [fromHour, toHour] = timesOf(query, 'hit_api')
  const [from, to] = minutes
  return [Math.max(from, fromHour * MINUTES_PER_HOUR), Math.min(to, toHour * MINUTES_PER_HOUR + MINUTES_PER_HOUR - 1)]
}

/** First and last time of a query, as a table of hours or days counts. */
function timesOf({ fromDay, toDay, hours = EVERY_HOUR }: UsageQuery, table: HitTable): [number, number] {
  if (timeColumn(table) === 'day') return [fromDay, toDay]
  const [from, to] = hours
  return [Math.max(from, fromDay * HOURS_PER_DAY), Math.min(to, toDay * HOURS_PER_DAY + HOURS_PER_DAY - 1)]
}

/** Hour and minute of a row whose bucket begins at `time`: a minute where the query is by minutes, else an hour. */
export function timeOfBucket({ per }: Pick<UsageQuery, 'per'>, time: number): { hour: number; minute?: number } {
  if (per !== 'minute') return { hour: time }
  return { hour: Math.floor(time / MINUTES_PER_HOUR), minute: time % MINUTES_PER_HOUR }
}
