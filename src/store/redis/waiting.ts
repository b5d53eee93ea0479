import type { Limit } from '../../model/limits/limit.ts'
import type { MonoMillis } from '../../model/time/clock.ts'
import type { Count } from './count.ts'

/** A call that waits for Redis. */
export interface WaitingCall {
  readonly limits: readonly Limit[]
  readonly sinceMs: MonoMillis
  resolve(refused: number): void
  reject(error: unknown): void
}

/** Calls that meet the same limits and wait for the same answer. */
export interface Group {
  readonly counts: readonly Count[]
  readonly waiters: WaitingCall[]
}

/** The calls that go with the next round, alike ones together. */
export class WaitingCalls {
  private groups = new Map<string, Group>()

  get size(): number {
    return this.groups.size
  }

  add(waiter: WaitingCall, counts: readonly Count[]): void {
    let name = ''
    for (const [i, { max, windowMs }] of waiter.limits.entries())
      name += `${counts[i]!.slot} ${counts[i]!.kind} ${max} ${windowMs} `
    const group = this.groups.get(name)
    if (group === undefined) this.groups.set(name, { counts, waiters: [waiter] })
    else group.waiters.push(waiter)
  }

  /** Hands out at most `most` groups, the oldest first. */
  take(most: number): Group[] {
    const taken: Group[] = []
    for (const [name, group] of this.groups) {
      if (taken.length === most) break
      taken.push(group)
      this.groups.delete(name)
    }
    return taken
  }
}
