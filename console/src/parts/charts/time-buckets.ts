import type { Resolution, Span } from '../../api/traffic/analytics.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Words of the address that say which time is meant. */
export interface TimeWords {
  readonly range: string
  /** UTC, as in `2026-01-31T09:00`; only with the range `custom`. */
  readonly from: string
  readonly to: string
}

/** The relative times, by their words. */
export const LENGTHS_MS: Readonly<Record<string, number>> = {
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
}
/** Longest ranges with counts by minute, by hour and by day. */
const BY_MINUTE_MS = 6 * HOUR_MS
const BY_HOUR_MS = 8 * DAY_MS
const BY_DAY_MS = 186 * DAY_MS
/** For so long the dashboard has counts by minute; after an upgrade from a version without them for less. */
const MINUTES_KEPT_MS = 48 * HOUR_MS

/** The exact time that words mean, `nowMs` being now; words that mean none are the last 24 hours. */
export function spanOf({ range, from, to }: TimeWords, nowMs: number): Span {
  const lengthMs = LENGTHS_MS[range]
  if (range === 'custom') {
    const [fromMs, toMs] = [Date.parse(`${from}Z`), Date.parse(`${to}Z`)]
    if (fromMs < toMs) return { fromMs, toMs }
  }
  return { fromMs: nowMs - (lengthMs ?? DAY_MS), toMs: nowMs }
}

/** A time, and the length of the buckets that it is shown in. */
export interface Buckets {
  readonly span: Span
  readonly res: Resolution
}

/**
 * The same as requests are counted, from the minute, hour, day or month that it begins in to the end of that in which it ends. A relative
 * time keeps its length. `minutesFromMs`: the first minute that is known to be counted, beside the bound of how long they are kept;
 * infinite for requests that are counted by hour alone.
 */
export function bucketsOf(words: TimeWords, nowMs: number, minutesFromMs = 0): Buckets {
  const { fromMs, toMs } = spanOf(words, nowMs)
  const lengthMs = toMs - fromMs
  // Those of the time before, which is compared, must be there too.
  const hasMinutes = fromMs - lengthMs >= Math.max(nowMs - MINUTES_KEPT_MS, minutesFromMs)
  const long = lengthMs <= BY_HOUR_MS ? 'hour' : lengthMs <= BY_DAY_MS ? 'day' : 'month'
  const res = hasMinutes && lengthMs <= BY_MINUTE_MS ? 'minute' : long
  const size = hasMinutes && res === 'hour' ? 'minute' : res
  const end = ceiling(toMs, size)
  const keepsLength = words.range !== 'custom' && lengthMs % LENGTH_MS[size] === 0
  const start = keepsLength ? end - lengthMs : floor(fromMs, size)
  return { span: { fromMs: start, toMs: end }, res }
}

/** The first minute that may be counted where those of a time are not: counts by minute begin with an hour. */
export function minutesAfter({ fromMs }: Span): number {
  return nextBucket(floor(fromMs, 'hour'), 'hour')
}

/** The beginnings of all buckets of a span; the first may begin before it. */
export function bucketStarts({ fromMs, toMs }: Span, res: Resolution): readonly number[] {
  const starts: number[] = []
  for (let at = floor(fromMs, res); at < toMs; at = nextBucket(at, res)) starts.push(at)
  return starts
}

/** The time before a span: as many buckets, up to where it begins. */
export function spanBefore({ fromMs, toMs }: Span, res: Resolution): Span {
  if (res !== 'month') return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs }
  const months = bucketStarts({ fromMs, toMs }, res).length
  const first = new Date(fromMs)
  return { fromMs: Date.UTC(first.getUTCFullYear(), first.getUTCMonth() - months), toMs: fromMs }
}

/** When the bucket that begins at `at` is over. */
export function nextBucket(at: number, res: Resolution): number {
  if (res !== 'month') return at + LENGTH_MS[res]
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/** A bucket as a time that can be looked at closer; one that is in progress ends with the present minute. */
export function bucketSpan(at: number, res: Resolution, nowMs: number): Span {
  return { fromMs: at, toMs: Math.max(at + MINUTE_MS, Math.min(nextBucket(at, res), ceiling(nowMs, 'minute'))) }
}

/** Words for a span. */
export function wordsOf({ fromMs, toMs }: Span): TimeWords {
  return { range: 'custom', from: minuteText(fromMs), to: minuteText(toMs) }
}

const MINUTE_CHARACTERS = 16
/** As fields of date and time have it, in UTC. */
export const minuteText = (ms: number): string => new Date(ms).toISOString().slice(0, MINUTE_CHARACTERS)

/** Months are as long as they are: their days count. */
const LENGTH_MS: Readonly<Record<Resolution, number>> = {
  ...{ minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS, month: DAY_MS },
}

function floor(ms: number, res: Resolution): number {
  if (res === 'month') return Date.UTC(new Date(ms).getUTCFullYear(), new Date(ms).getUTCMonth())
  return Math.floor(ms / LENGTH_MS[res]) * LENGTH_MS[res]
}

function ceiling(ms: number, res: Resolution): number {
  const start = floor(ms, res)
  return start === ms ? ms : nextBucket(start, res)
}
