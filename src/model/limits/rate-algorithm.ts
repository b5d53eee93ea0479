import type { MonoMillis } from '../time/clock.ts'
import type { RingMemory, SlotMemory } from './slot-memory.ts'

/**
 * Counts of rates, one a slot. Times are whole milliseconds of a monotonic clock; `max` (a whole number of at least 1) and `windowMs` come
 * with every call and may change between calls: earlier uses still count.
 */
export interface RateTable {
  /** Number of slots ever claimed at once: slots are 0 to this, exclusive. */
  readonly size: number
  /** The time of the newest look. */
  readonly time: MonoMillis
  /** A slot with nothing used. @throws Fault `store_full` where there is no memory */
  claim(): number
  /** Gives a slot back. Its generation is never seen again. */
  release(slot: number): void
  /** Tells whether a remembered slot still belongs to the same count; -1 for a slot that is nobody's. */
  generation(slot: number): number
  /** No later look is at an earlier time than this. */
  advance(to: MonoMillis): void
  /** Permits left at `now`, 0 or less when the next use must be refused. Takes nothing. */
  room(slot: number, max: number, windowMs: number, now: MonoMillis): number
  /** Records a use at the time of the last `room`, which must have answered more than 0 for the same slot and numbers. */
  use(slot: number, max: number, windowMs: number): void
  /** Milliseconds until one permit more is free than now (until the next use is admitted, when none is), 0 when none is used. */
  nextMs(slot: number, max: number, windowMs: number): number
  /** True when nothing in the slot counts any more at `now`, by the window of its last use. */
  idle(slot: number, now: MonoMillis): boolean
  /** Gives memory back that a slot no longer needs. */
  trim(slot: number): void
  /** Adds what `from` has used to what `to` has used. */
  add(from: number, to: number): void
}

/**
 * A way to count the permits of rates: one file in `model/limits` and its name in `rate-algorithms.ts`. How Redis counts by it is in
 * `store/redis/rate-scripts.ts`; `process/open-store.ts` says which one a process uses.
 */
export interface RateAlgorithm<Name extends string = string> {
  readonly name: Name
  /** Memory that a store has to give for a table: the slots of a chunk, as a power of two, and the doubles of a chunk. */
  readonly chunkShift: number
  readonly chunkDoubles: number
  /** A new table, in the memory of this thread unless others share what is given. */
  table(memory?: SlotMemory, rings?: RingMemory): RateTable
}
