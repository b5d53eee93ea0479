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
