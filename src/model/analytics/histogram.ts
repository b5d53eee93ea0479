import { LATENCY_BOUNDS_MS } from './hit.ts'

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
