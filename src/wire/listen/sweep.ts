import { performance } from 'node:perf_hooks'
/** Something that has deadlines. */
export interface Timed {
  /** Place in the list of its sweep; kept by the sweep, -1 when it is in none. */
  sweepIndex: number
  /** Looks at its deadlines; `now` in milliseconds of performance.now(). */
  tick(now: number): void
}

/** Deadlines are met up to this much late. */
const SWEEP_MS = 100
/** After this time without a sweep the event loop itself was blocked: bytes in the kernel are read first. */
const STALL_MS = 1000

/**
 * One coarse timer for all connections of a thread: a deadline is a number on its connection, so that setting one costs
 * an assignment, not a timer.
 */
class Sweep {
  private readonly members: Timed[] = []
  private timer: NodeJS.Timeout | undefined
  private sweptAt = 0

  add(member: Timed): void {
    if (member.sweepIndex >= 0) return
    member.sweepIndex = this.members.push(member) - 1
    if (this.timer !== undefined) return
    this.sweptAt = performance.now()
    this.timer = setInterval(() => this.sweep(), SWEEP_MS)
    this.timer.unref()
  }

  remove(member: Timed): void {
    const index = member.sweepIndex
    if (index < 0) return
    member.sweepIndex = -1
    const last = this.members.pop()
    if (last === undefined || last === member) return
    this.members[index] = last
    last.sweepIndex = index
  }

  private sweep(): void {
    const now = performance.now()
    const stalled = now - this.sweptAt > STALL_MS
    this.sweptAt = now
    if (stalled) return
    // From the end: a member that leaves puts the last one, already seen, in its place.
    for (let i = this.members.length - 1; i >= 0; i--) this.members[i]?.tick(now)
    if (this.members.length > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}

/** Module state: one timer for the connections of the thread. */
export const sweep: Sweep = new Sweep()
