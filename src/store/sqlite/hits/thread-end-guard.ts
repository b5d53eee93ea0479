/** Free, or held by one side. */
const FREE = 0
const HELD = 1

/**
 * Work that a thread must not be ended within. Node aborts the whole process when a thread ends between the making of a zlib stream
 * and its first use ("close before init"): so the code that ends the thread takes the turn first, and the thread takes it for such work.
 */
export class ThreadEndGuard {
  /** Goes to the other side as it is. */
  readonly cell: Int32Array

  constructor(cell: Int32Array = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.cell = cell
  }

  /**
   * Waits until nobody holds the turn, and keeps it; no longer than `withinMs`, for a thread that is stuck or was ended by something else
   * never gives it back. Blocks the thread: for pieces of work of a millisecond.
   */
  take(withinMs = Number.POSITIVE_INFINITY): void {
    const endsAt = performance.now() + withinMs
    while (Atomics.compareExchange(this.cell, 0, FREE, HELD) !== FREE) {
      const leftMs = endsAt - performance.now()
      if (leftMs <= 0 || Atomics.wait(this.cell, 0, HELD, leftMs) === 'timed-out') return
    }
  }

  /** Does the work within the turn. */
  do<T>(work: () => T): T {
    this.take()
    try {
      return work()
    } finally {
      Atomics.store(this.cell, 0, FREE)
      Atomics.notify(this.cell, 0)
    }
  }
}
