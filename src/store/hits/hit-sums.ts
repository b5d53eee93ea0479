import type { Hit, Latency } from '../../model/analytics/hit.ts'
import type { HitDimension } from '../ports/ports.ts'

/** Everything that hits are told apart by within an hour. */
export const ALL_DIMENSIONS: readonly HitDimension[] = [
  'orgId',
  'apiId',
  'version',
  'keyHash',
  'alias',
  'clientId',
  'tags',
  'endpoint',
  'country',
  'status',
]

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
