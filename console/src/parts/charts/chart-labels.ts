import type { Resolution } from '../../api/traffic/analytics.ts'
import { nextBucket } from './time-buckets.ts'

const HOUR = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const DAY_HOUR = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})
const UTC_DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const UTC_MONTH = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone: 'UTC' })
const MOMENTS = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const SHORT_MS = 36 * 3_600_000

/** How a bucket is called below a chart of so many milliseconds: hours in the reader's zone, days and months by their name in UTC. */
export function bucketName(at: number, res: Resolution, lengthMs: number): string {
  if (res === 'month') return UTC_MONTH.format(at)
  if (res === 'day') return UTC_DAY.format(at)
  return (lengthMs <= SHORT_MS ? HOUR : DAY_HOUR).format(at)
}

/** How a bucket is called in a list: hours in the reader's zone, days and months by their name in UTC. */
export function bucketDate(at: number, res: Resolution): string {
  return bucketName(at, res, Number.POSITIVE_INFINITY)
}

/** From when to when a bucket is, in the reader's zone. */
export function bucketTime(at: number, res: Resolution): string {
  return MOMENTS.formatRange(at, nextBucket(at, res))
}
