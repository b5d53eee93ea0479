import type { MonoMillis } from '../../model/time/clock.ts'
import type { Count } from './count.ts'

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
