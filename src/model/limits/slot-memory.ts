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
    return lineAligned(this.#chunkDoubles)
  }
}

/** A line of memory, in bytes. */
const LINE = 64
/** The allocator of glibc puts its own 16 bytes before each large block, which begins with a page (measured with Node 26.10). */
const BLOCK_HEADER = 16

/** Numbers that begin with a line of memory, so that a slot of its size is in one line and not in two. */
function lineAligned(doubles: number): Float64Array {
  const bytes = doubles * Float64Array.BYTES_PER_ELEMENT
  return new Float64Array(new ArrayBuffer(bytes + LINE), LINE - BLOCK_HEADER, doubles)
}

export const RING_CHUNK_SHIFT = 15
/** Doubles in a chunk; no ring is larger. */
export const RING_CHUNK = 1 << RING_CHUNK_SHIFT
export const RING_CHUNK_MASK = RING_CHUNK - 1

/** Rings of powers of two doubles, cut from chunks; rings given back are used again. Ring `r` begins at `r & RING_CHUNK_MASK` of its chunk. */
export interface RingMemory {
  /** @throws Fault `store_full` where there is no memory */
  take(capacity: number): number
  give(ring: number, capacity: number): void
  /** The chunk `ring >>> RING_CHUNK_SHIFT`. */
  chunk(index: number): Float64Array
}

/** Rings in the memory of this thread. */
export class OwnRings implements RingMemory {
  private readonly chunks: Float64Array[] = []
  private readonly free: number[][] = []
  /** For each size, where its newest chunk has room for the next ring; a whole number of chunks when it has none. */
  private readonly unused: number[] = []

  take(capacity: number): number {
    const size = Math.log2(capacity)
    const again = this.free[size]?.pop()
    if (again !== undefined) return again
    let ring = this.unused[size] ?? 0
    if ((ring & RING_CHUNK_MASK) === 0) {
      ring = this.chunks.length * RING_CHUNK
      this.chunks.push(lineAligned(RING_CHUNK))
    }
    while (this.unused.length <= size) this.unused.push(0)
    this.unused[size] = ring + capacity
    return ring
  }

  give(ring: number, capacity: number): void {
    const size = Math.log2(capacity)
    while (this.free.length <= size) this.free.push([])
    this.free[size]!.push(ring)
  }

  chunk(index: number): Float64Array {
    return this.chunks[index]!
  }
}
