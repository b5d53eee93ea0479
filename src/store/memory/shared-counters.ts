import { setImmediate } from 'node:timers/promises'
import type { Limit } from '../../model/limits/limit.ts'
import type { RateTable } from '../../model/limits/rate-algorithm.ts'
import { rateAlgorithm } from '../../model/limits/rate-algorithms.ts'
import { QuotaWindows } from '../../model/limits/window-quota.ts'
import { BUSY, endOwner } from '../../model/threads/shared-lock.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { Awaitable, Counters } from '../ports/ports.ts'
import { type CountTables, locate } from './count-tables.ts'
import { MemoryCounters } from './counters.ts'
import {
  FIRST_OWNER,
  SharedChangedSlots,
  type SharedCountMemory,
  SharedSlots,
  SharedState,
  SLOT_LOCK,
} from './shared-counts.ts'
import { SharedNames } from './shared-names.ts'

/** Limits of one call that are locked without more memory. */
const USUAL_LIMITS = 16

/**
 * The tables of counts that threads share, as one of them sees them. A call locks the slots of all its limits, each once and always in one
 * order, so that several limits are taken from at one instant for all threads.
 */
export class SharedTables implements CountTables {
  readonly rates: SharedNames<RateTable>
  readonly quotas: SharedNames<QuotaWindows>
  readonly #state: SharedState
  readonly #slots: { readonly rates: SharedSlots; readonly quotas: SharedSlots }
  /** Slots that this call has locked: slot × 2, and 1 for a quota. */
  #entered = new Int32Array(USUAL_LIMITS)
  #count = 0

  /** `number`: as of `SharedState`. */
  constructor(memory: SharedCountMemory, number: number) {
    this.#state = new SharedState(memory, number)
    const rates = new SharedSlots(this.#state, memory, 'rates')
    const quotas = new SharedSlots(this.#state, memory, 'quotas')
    this.#slots = { rates, quotas }
    this.rates = new SharedNames(rateAlgorithm(memory.algorithm).table(rates, this.#state.rings), rates)
    this.quotas = new SharedNames(new QuotaWindows(quotas, new SharedChangedSlots(this.#state, memory)), quotas)
  }

  /** A number for another thread. */
  nextOwner(): number {
    return this.#state.nextOwner()
  }

  /** The thread of this number has ended: nothing that it has locked is locked any more. */
  ended(owner: number): void {
    endOwner(this.#state.living, owner)
  }

  enter(limits: readonly Limit[]): void {
    for (;;) {
      for (let i = 0; i < limits.length; i++) locate(this, limits[i]!)
      const count = this.#gather(limits)
      this.#lock(count)
      if (this.#areTheirs(limits)) break
      this.leave()
    }
    for (let i = 0; i < this.#count; i++) {
      const entry = this.#entered[i]!
      if (isRate(entry)) this.rates.table.advance(this.#slots.rates.timeOf(entry >>> 1))
      else this.quotas.table.advance(this.#slots.quotas.timeOf(entry >>> 1))
    }
  }

  leave(): void {
    const { locks } = this.#state
    for (let i = 0; i < this.#count; i++) {
      const entry = this.#entered[i]!
      const slot = entry >>> 1
      const slots = isRate(entry) ? this.#slots.rates : this.#slots.quotas
      slots.setTime(slot, isRate(entry) ? this.rates.table.time : this.quotas.table.time)
      locks.unlock(slots.heads(slot), slots.head(slot) + SLOT_LOCK)
    }
    this.#count = 0
  }

  atQuota(slot: number, work: () => void): boolean {
    const { quotas } = this.#slots
    const heads = quotas.heads(slot)
    const at = quotas.head(slot) + SLOT_LOCK
    try {
      this.#state.locks.lock(heads, at)
    } catch (error) {
      if (error === BUSY) return false
      throw error
    }
    try {
      work()
    } finally {
      this.#state.locks.unlock(heads, at)
    }
    return true
  }

  claimedElsewhere(): number {
    return this.#slots.rates.takeFresh() + this.#slots.quotas.takeFresh()
  }

  /** Gathers the slots of limits, each once, in the order in which every thread locks them; answers how many. */
  #gather(limits: readonly Limit[]): number {
    if (limits.length > this.#entered.length) this.#entered = new Int32Array(limits.length)
    const entered = this.#entered
    let count = 0
    for (let i = 0; i < limits.length; i++) {
      const { kind, slot } = limits[i]!
      const entry = slot * 2 + (kind === 'rate' ? 0 : 1)
      let at = count
      while (at > 0 && entered[at - 1]! > entry) at--
      if (at > 0 && entered[at - 1] === entry) continue
      for (let moved = count; moved > at; moved--) entered[moved] = entered[moved - 1]!
      entered[at] = entry
      count++
    }
    return count
  }

  #lock(count: number): void {
    const { locks } = this.#state
    for (let i = 0; i < count; i++) {
      const entry = this.#entered[i]!
      const slot = entry >>> 1
      const slots = isRate(entry) ? this.#slots.rates : this.#slots.quotas
      try {
        locks.lock(slots.heads(slot), slots.head(slot) + SLOT_LOCK)
      } catch (error) {
        this.leave()
        throw error
      }
      this.#count = i + 1
    }
  }

  /** False when one was given to another count before it was locked. */
  #areTheirs(limits: readonly Limit[]): boolean {
    for (let i = 0; i < limits.length; i++) {
      const { kind, slot, generation } = limits[i]!
      const { table } = kind === 'rate' ? this.rates : this.quotas
      if (table.generation(slot) !== generation) return false
    }
    return true
  }
}

function isRate(entry: number): boolean {
  return (entry & 1) === 0
}

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
