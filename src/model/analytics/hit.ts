import type { HitDimensions } from './dimensions.ts'

export const HOUR_MS = 3_600_000
export const MINUTE_MS = 60_000
export const MINUTES_PER_HOUR = 60

/** Upper bounds (ms) of the latency histogram; a last bucket takes what is slower. The same everywhere, so that sums add up. */
export const LATENCY_BOUNDS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000] as const

/**
 * `minMs` of a latency that counted nothing (a refused request never met the upstream).
 * Large, so that taking the smaller of two is right without asking whether one is empty; not infinite, so that JSON and SQL keep it.
 */
export const NO_MIN_MS: number = Number.MAX_SAFE_INTEGER

export interface Latency {
  sumMs: number
  minMs: number
  maxMs: number
  /** `LATENCY_BOUNDS_MS.length + 1` counts. */
  buckets: number[]
}

/** Requests that had all their dimensions in common, within one hour, or one minute of it. */
export interface Hit extends HitDimensions {
  /** Hours since the Unix epoch, UTC. */
  readonly hour: number
  /** Minute of the hour, from 0 on, where they are of a single one. Rows without it are not in the counts by minute. */
  readonly minute?: number
  readonly status: number
  count: number
  /** 2xx. */
  success: number
  /** 400 and above. */
  error: number
  /** Unix milliseconds. */
  lastAt: number
  total: Latency
  /** Of the requests that were handed on; its buckets add up to less than `count` when some were refused. */
  upstream: Latency
}

/** Counts in one histogram: one for each bound and one for what is slower. */
export const BUCKETS: number = LATENCY_BOUNDS_MS.length + 1

// A local copy as plain numbers: the compiler keeps it in a register across the loop below.
const BOUNDS: readonly number[] = LATENCY_BOUNDS_MS

/**
 * The bucket of a duration, bounds included (`le` in Prometheus' words).
 * A scan from below: most requests of a gateway end in the first two buckets, so a binary search would be slower.
 */
export function bucketOf(ms: number): number {
  let bucket = 0
  while (bucket < BOUNDS.length && ms > BOUNDS[bucket]!) bucket++
  return bucket
}

/**
 * The duration (ms) that a share of the requests did not exceed, read from the histogram: exact to its bucket, within which
 * requests are taken to be spread evenly. 0 when nothing was counted.
 */
export function percentile({ buckets, minMs, maxMs }: Latency, share: number): number {
  const total = buckets.reduce((a, b) => a + b, 0)
  if (total === 0) return 0
  const wanted = share * total
  let below = 0
  for (const [i, count] of buckets.entries()) {
    if (count > 0 && below + count >= wanted) {
      // The slowest and the fastest are known better than their buckets.
      const from = Math.max(LATENCY_BOUNDS_MS[i - 1] ?? 0, minMs)
      const to = Math.min(LATENCY_BOUNDS_MS[i] ?? maxMs, maxMs)
      return from + Math.max(0, to - from) * ((wanted - below) / count)
    }
    below += count
  }
  return maxMs
}
