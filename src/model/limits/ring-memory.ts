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
      this.chunks.push(new Float64Array(RING_CHUNK))
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
