import type { Limit } from '../../model/limits/limit.ts'
import type { MonoMillis } from '../../model/time/clock.ts'
import type { Count } from './count.ts'
import type { Counts } from './counts.ts'

/** Of a rate that it did not use just before, a node allows itself what it could have leased at most. */
const LARGEST_PART = 20

/** The permits of a node while Redis is away. */
export class DegradedCounters {
  private readonly counts: Counts
  /** Which absence of Redis this is; its shares are settled once. */
  private absence = 1

  constructor(counts: Counts) {
    this.counts = counts
  }

  /** To be called when Redis has answered: the next absence is another one. */
  ended(): void {
    this.absence++
  }

  /** Takes a permit from every limit or from none; answers the place of the first that refuses, or -1. */
  take(limits: readonly Limit[], now: MonoMillis): number {
    let refused = -1
    for (const [i, limit] of limits.entries()) {
      const count = this.counts.of(limit, now)
      count.lastMs = now
      const room = limit.kind === 'rate' ? this.rateRoom(count, limit) : quotaRoom(count, limit)
      limit.remaining = Math.max(0, room)
      limit.resetMs = count.freeAtMs === 0 ? 0 : Math.max(1, count.freeAtMs - now)
      if (refused < 0 && room <= 0) refused = i
    }
    if (refused >= 0) return refused
    for (const limit of limits) {
      limit.remaining = Math.max(0, limit.remaining - 1)
      const count = this.counts.of(limit, now)
      if (limit.kind === 'quota') count.back--
      else {
        count.aloneUses++
        this.counts.noteUse(count, limit, now)
      }
    }
    return -1
  }

  private rateRoom(count: Count, { max, windowMs }: Limit): number {
    const own = this.counts.ownUses(count, max, windowMs)
    if (count.absence !== this.absence) {
      count.absence = this.absence
      count.share = Math.min(max, Math.max(own, Math.floor(max / LARGEST_PART), 1))
    }
    return count.share - own
  }
}

/** The permits left at the last response of Redis, less what was used since. */
function quotaRoom({ known, back }: Count, { max }: Limit): number {
  return max - known.used + Math.min(0, back)
}
