/**
 * Memory of a table whose slots are claimed and given back: chunks of numbers, in the memory of one thread or shared by several.
 * The table itself keeps the chunks that it has seen.
 */
export interface SlotMemory {
  /** The number of slots ever claimed at once: slots are 0 to this, exclusive. */
  readonly size: number
  /** A free slot; what it holds is whatever the last owner left. @throws Fault `store_full` where there is no memory */
  take(): number
  give(slot: number): void
  /** A number that no slot of any table has had, of 31 bits. */
  nextGeneration(): number
  /** Chunk `index` of so many doubles each, from 0; asked for once. */
  chunk(index: number): Float64Array
}

const INT_MAX = 0x7fffffff

/** Module state: numbers that are unique over all instances, so that a slot of one is never used in another. */
let generations = 0

/** Slots in the memory of this thread. */
export class OwnSlots implements SlotMemory {
  readonly #chunkDoubles: number
  readonly #free: number[] = []
  #claimed = 0

  constructor(chunkDoubles: number) {
    this.#chunkDoubles = chunkDoubles
  }

  get size(): number {
    return this.#claimed
  }

  take(): number {
    return this.#free.pop() ?? this.#claimed++
  }

  give(slot: number): void {
    this.#free.push(slot)
  }

  nextGeneration(): number {
    generations = (generations + 1) & INT_MAX
    return generations
  }

  chunk(): Float64Array {
    return new Float64Array(this.#chunkDoubles)
  }
}
