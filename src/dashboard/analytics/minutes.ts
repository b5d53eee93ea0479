import { fault } from '../../errors/fault.ts'
import { type DimensionName, MINUTE_DIMENSIONS } from '../../model/analytics/dimensions.ts'
import { MINUTES_PER_HOUR } from '../../model/analytics/hit.ts'
import type { UsageQuery } from '../../store/ports/ports.ts'

const MINUTE_MS = 60_000
const MINUTE_S = 60
const HOURS_PER_DAY = 24

/** Unix seconds from which on, and up to which, requests are counted. */
export interface CountedTime {
  readonly from: number
  readonly to: number
}

/**
 * The query as it can be answered: where minutes are not counted (of callers, and before `minutesFrom`), the hours at its ends count
 * whole. `counted`: the time that this makes, where minutes were asked for.
 * @throws Fault `range_invalid` (400) for buckets of a minute where there are none
 */
export function countedQuery(query: UsageQuery, minutesFrom: number): { query: UsageQuery; counted?: CountedTime } {
  const beyond = dimensionBeyond(query)
  if (query.per === 'minute') refuseMissing(query, beyond, minutesFrom)
  const { minutes, ...rest } = query
  if (minutes === undefined) return { query }
  const isCounted = (minute: number) => query.per === 'minute' || (beyond === undefined && minute >= minutesFrom)
  const [first, end] = [minutes[0], minutes[1] + 1]
  const from = isCounted(first) ? first : startOfHour(first)
  const to = isCounted(Math.max(startOfHour(end), from)) ? end : startOfHour(end + MINUTES_PER_HOUR - 1)
  const isWhole = from % MINUTES_PER_HOUR === 0 && to % MINUTES_PER_HOUR === 0
  const asHours = query.per !== 'minute' && isWhole
  return {
    query: asHours
      ? { ...rest, hours: [from / MINUTES_PER_HOUR, to / MINUTES_PER_HOUR - 1] }
      : { ...rest, minutes: [from, to - 1] },
    counted: { from: from * MINUTE_S, to: to * MINUTE_S },
  }
}

const startOfHour = (minute: number): number => Math.floor(minute / MINUTES_PER_HOUR) * MINUTES_PER_HOUR

function refuseMissing({ minutes, hours, fromDay }: UsageQuery, beyond: string | undefined, minutesFrom: number): void {
  if (beyond !== undefined)
    throw fault('range_invalid', `requests are not counted by minute and ${beyond}: send res=hour`)
  const firstHour = hours?.[0] ?? fromDay * HOURS_PER_DAY
  if ((minutes?.[0] ?? firstHour * MINUTES_PER_HOUR) >= minutesFrom) return
  const since = new Date(minutesFrom * MINUTE_MS).toISOString()
  throw fault('range_invalid', `requests are counted by minute since ${since}: send a later from, or res=hour`)
}

/** A dimension of a query that is not counted by minute; undefined where it has none. */
function dimensionBeyond({ by, where = {}, tags, has }: UsageQuery): string | undefined {
  if (tags !== undefined) return 'tag'
  const asked = [...by, ...Object.keys(where), ...(has === undefined ? [] : [has])]
  const found = asked.find((name) => name !== 'status' && !MINUTE_DIMENSIONS.includes(name as DimensionName))
  return found === undefined ? undefined : (WORDS[found] ?? found)
}

/** As the calls name them. */
const WORDS: Readonly<Record<string, string>> = { keyHash: 'key', clientId: 'client', tags: 'tag' }
