import type { Limit } from '../../model/limits/limit.ts'
import type { Millis } from '../../model/time/clock.ts'
import type { Count } from './count.ts'
import { SLACK_MS } from './permit-batch.ts'

/** Of a window that permits are leased ahead for, the part that they may be counted longer for it, `SLACK_MS` with it. */
const LARGEST_SLACK = 20
/** How much longer than the minimum a lease lasts, whatever other requests for the count exist. */
const AHEAD_MS = 450
/** The same of a count of which there is plenty: of a rate in the last window, of a quota in all. */
const LONGEST_AHEAD_MS: Readonly<Record<Limit['kind'], Millis>> = { rate: 5_000, quota: 30_000 }
/** There is plenty of a rate of which so small a part is taken away by counting longer, and of which so small a part is leased. */
const PLENTY_COUNTED = 16
const PLENTY_LEASED = 50
/** The same of what is left of a quota. */
const PLENTY_LEFT = 1_000

/**
 * How much longer permits of a limit that are asked for ahead may be used than those of a call that waits for them; Redis counts
 * them so much longer too. The longer the window, and the less of a rate is used, the less that takes away from it. Quotas lose
 * nothing, as what is left is given back, but the end of one should not wait for it.
 */
export function leaseAheadOf({ kind, max, windowMs }: Limit, { used, mostUsed, callsPerSecond }: Count): Millis {
  const rate = Math.max(1, callsPerSecond)
  if (kind === 'quota') {
    const whileLittleMs = ((max - used) / PLENTY_LEFT / rate) * 1000
    return Math.min(LONGEST_AHEAD_MS.quota, Math.max(AHEAD_MS, Math.floor(whileLittleMs)))
  }
  const always = Math.min(AHEAD_MS, Math.max(0, Math.floor(windowMs / LARGEST_SLACK) - SLACK_MS))
  if (mostUsed * 2 > max) return always
  const whileLittleMs = Math.min(
    windowMs / 2,
    (windowMs * max) / PLENTY_COUNTED / Math.max(1, mostUsed),
    (max / PLENTY_LEASED / rate) * 1000,
  )
  return Math.min(LONGEST_AHEAD_MS.rate, Math.max(always, Math.floor(whileLittleMs)))
}
