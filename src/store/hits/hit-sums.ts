import { DIMENSIONS, type HitDimensions, NO_DIMENSIONS } from '../../model/analytics/dimensions.ts'
import type { Hit, Latency } from '../../model/analytics/hit.ts'
import type { HitDimension } from '../ports/ports.ts'

/** All dimensions by which hits are summed within an hour. */
export const ALL_DIMENSIONS: readonly HitDimension[] = [...DIMENSIONS, 'status']

/** The dimensions of a row as it was read; those that were not read are ''. `names`: what each is called in it, in the order of `DIMENSIONS`. */
export function readDimensions(row: Readonly<Record<string, unknown>>, names: readonly string[]): HitDimensions {
  const read: Record<string, string> = { ...NO_DIMENSIONS }
  for (let i = 0; i < DIMENSIONS.length; i++) {
    const value = row[names[i]!]
    if (typeof value === 'string') read[DIMENSIONS[i]!] = value
  }
  return read as HitDimensions
}

/** Adds the counts of one row to another. */
export function addHit(sum: Hit, row: Hit): void {
  sum.count += row.count
  sum.success += row.success
  sum.error += row.error
  sum.lastAt = Math.max(sum.lastAt, row.lastAt)
  addLatency(sum.total, row.total)
  addLatency(sum.upstream, row.upstream)
}

function addLatency(sum: Latency, row: Latency): void {
  sum.sumMs += row.sumMs
  sum.minMs = Math.min(sum.minMs, row.minMs)
  sum.maxMs = Math.max(sum.maxMs, row.maxMs)
  for (let i = 0; i < sum.buckets.length; i++) sum.buckets[i]! += row.buckets[i]!
}
