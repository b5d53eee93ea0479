import { setImmediate } from 'node:timers/promises'
import type { Limit } from '../../model/limits/limit.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { Awaitable, Counters } from '../ports/ports.ts'
import { MemoryCounters } from './counters.ts'
import { FIRST_OWNER, type SharedCountMemory } from './shared-counts.ts'
import { BUSY } from './shared-lock.ts'
import { SharedTables } from './shared-tables.ts'

/** The counters of the thread that owns memory which others count in as well. */
export interface OwnerCounters {
  /** For what keeps quotas. */
  readonly kept: MemoryCounters
  readonly counters: Counters
  /** A number for a thread that is to count too. */
  nextOwner(): number
  /** The thread of this number has ended. */
  ended(owner: number): void
}

/** Opens shared counts on the thread that starts the others, before it starts any. */
export function ownSharedCounters(memory: SharedCountMemory, clock: Clock): OwnerCounters {
  const tables = new SharedTables(memory, FIRST_OWNER)
  const kept = new MemoryCounters(clock, tables)
  return {
    kept,
    counters: {
      take: (limits, now) => retried(() => kept.take(limits, now)),
      peek: (limits, now) => retried(() => kept.peek(limits, now)),
      resetQuota: (id, used, endsInMs) => retried(() => kept.resetQuota(id, used, endsInMs)),
      async carry(from, to) {
        for (const step of await retried(() => kept.carrySteps(from, to))) await retried(step)
      },
    },
    nextOwner: () => tables.nextOwner(),
    ended: (owner) => tables.ended(owner),
  }
}

/** Opens shared counts on a thread that serves; `number` is its own, of `OwnerCounters.nextOwner`. */
export function joinSharedCounters(
  memory: SharedCountMemory,
  number: number,
  clock: Clock,
): Pick<Counters, 'take' | 'peek'> {
  const tables = new SharedTables(memory, number)
  const counters = new MemoryCounters(clock, tables)
  const answered = (count: () => number): Awaitable<number> => {
    try {
      return count()
    } catch (error) {
      // No memory is left for another count.
      return Promise.reject(error)
    }
  }
  return {
    take: (limits: readonly Limit[], now) => answered(() => counters.take(limits, now)),
    peek: (limits: readonly Limit[], now) => answered(() => counters.peek(limits, now)),
  }
}

/** Does the work now, or in a later turn: the end of a thread that has locked a count is heard of between turns alone. */
function retried<T>(work: () => T): Awaitable<T> {
  try {
    return work()
  } catch (error) {
    if (error !== BUSY) throw error
    return setImmediate().then(() => retried(work))
  }
}
