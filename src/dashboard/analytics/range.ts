import { fault } from '../../errors/fault.ts'
import { DAY_MS } from '../../model/time/calendar.ts'
import type { UsageQuery } from '../../store/ports/ports.ts'
import type { Call } from '../routes/call.ts'

const HOURS_PER_DAY = 24
const MINUTE_S = 60
const DAY_S = DAY_MS / 1000

/** Two days, as six segments of a path: day, month and year of the first, then of the last. */
export const RANGE = '{fromDay}/{fromMonth}/{fromYear}/{toDay}/{toMonth}/{toYear}'

const DATE = String.raw`\d{1,2}(?:\/|%2F)\d{1,2}(?:\/|%2F)\d{4}`
const LAST_DATES = new RegExp(String.raw`\/${DATE}\/${DATE}\/?$`, 'i')

/** The address of a call with plain slashes in the two dates at its end: clients encode each date as one segment. */
export function withPlainDates(url: string): string {
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  if (!/%2F/i.test(path)) return url
  return path.replace(LAST_DATES, (dates) => dates.replaceAll(/%2F/gi, '/')) + (end === -1 ? '' : url.slice(end))
}

/**
 * The days that the path names, and with `from_hour` or `to_hour` in the query also the first and last hour, with `from` or `to` the first
 * and last minute; all counted since the Unix epoch. @throws Fault `range_invalid` (400) naming what is wrong
 */
export function timeOf(
  call: Pick<Call, 'param' | 'query'>,
): Pick<UsageQuery, 'fromDay' | 'toDay' | 'hours' | 'minutes'> {
  const days = rangeOf(call)
  const [from, to] = [call.query('from_hour'), call.query('to_hour')]
  const minutes = minutesOf(call, days)
  if (minutes !== undefined && from + to !== '')
    throw fault('range_invalid', 'send from and to, or from_hour and to_hour, not both')
  if (minutes !== undefined) return { ...days, minutes }
  if (from === '' && to === '') return days
  const first = days.fromDay * HOURS_PER_DAY + Number(from)
  const last = days.toDay * HOURS_PER_DAY + (to === '' ? HOURS_PER_DAY - 1 : Number(to))
  if (first > last) throw fault('range_invalid', 'it ends before it begins')
  return { ...days, hours: [first, last] }
}

/** The minutes from `from` up to `to`, both in Unix seconds; a minute that has begun counts whole. */
function minutesOf(call: Pick<Call, 'query'>, days: ReturnType<typeof rangeOf>): UsageQuery['minutes'] {
  const [from, to] = [call.query('from'), call.query('to')]
  if (from === '' && to === '') return undefined
  const [first, end] = [days.fromDay * DAY_S, (days.toDay + 1) * DAY_S]
  const [fromS, toS] = [from === '' ? first : Number(from), to === '' ? end : Number(to)]
  if (fromS >= toS) throw fault('range_invalid', 'to is not after from')
  for (const [name, at] of Object.entries({ from: fromS, to: toS }))
    if (at < first || at > end)
      throw fault('range_invalid', `${name} is not within the days of the path, which are those of UTC`)
  return [Math.floor(fromS / MINUTE_S), Math.ceil(toS / MINUTE_S) - 1]
}

/** The days that the path names, since the Unix epoch, UTC, both inclusive. @throws Fault `range_invalid` (400) naming what is wrong */
export function rangeOf(call: Pick<Call, 'param'>): { fromDay: number; toDay: number } {
  const fromDay = dayOf(call, 'from')
  const toDay = dayOf(call, 'to')
  if (fromDay > toDay) throw fault('range_invalid', 'it ends before it begins')
  return { fromDay, toDay }
}

function dayOf(call: Pick<Call, 'param'>, which: 'from' | 'to'): number {
  const texts = ['Day', 'Month', 'Year'].map((part) => call.param(which + part))
  const [day = '', month = '', year = ''] = texts
  const wellWritten = /^\d{1,2}$/.test(day) && /^\d{1,2}$/.test(month) && /^[1-9]\d{3}$/.test(year)
  if (!wellWritten) throw fault('range_invalid', 'dates are written day/month/year, such as 31/1/2025')
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  // A day that a month does not have runs over into the next.
  if (date.getUTCDate() !== Number(day) || date.getUTCMonth() !== Number(month) - 1)
    throw fault('range_invalid', `there is no ${Number(day)}/${Number(month)}/${year}`)
  return date.getTime() / DAY_MS
}
