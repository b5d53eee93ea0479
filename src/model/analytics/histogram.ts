import { LATENCY_BOUNDS_MS, type Latency } from './hit.ts'

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
