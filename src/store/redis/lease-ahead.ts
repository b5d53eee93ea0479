import type { Limit } from '../../model/limits/limit.ts'
import type { Millis, MonoMillis } from '../../model/time/clock.ts'
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

const EVERY_MS = 20

/** Counts with leased permits, by the time at which their leases end: unused permits are returned then. */
export class LeaseHolders {
  private readonly due = new Map<number, Set<Count>>()
  private readonly now: () => MonoMillis
  private readonly onDue: (count: Count) => void
  private timer: NodeJS.Timeout | undefined

  /** `onDue` is called with each count whose time has come, at most 20 ms later. */
  constructor(now: () => MonoMillis, onDue: (count: Count) => void) {
    this.now = now
    this.onDue = onDue
  }

  /** Looks at a count again at this time. */
  add(count: Count, atMs: MonoMillis): void {
    const tick = Math.ceil(atMs / EVERY_MS)
    const others = this.due.get(tick)
    if (others === undefined) this.due.set(tick, new Set([count]))
    else others.add(count)
    this.timer ??= setInterval(() => this.look(), EVERY_MS).unref()
  }

  /** All that are held, each once; none is looked at again. */
  takeAll(): Set<Count> {
    clearInterval(this.timer)
    const all = new Set([...this.due.values()].flatMap((some) => [...some]))
    this.due.clear()
    return all
  }

  private look(): void {
    const now = this.now()
    for (const [tick, counts] of this.due) {
      if (tick * EVERY_MS > now) continue
      this.due.delete(tick)
      for (const count of counts) this.onDue(count)
    }
    if (this.due.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}
