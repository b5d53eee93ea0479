const FREE = 0
/** Tries before a thread gives up its turn: a lock is kept for less than a microsecond, unless its owner was descheduled. */
const SPINS = 200
const PAUSE_MS = 0.05
/** Longest wait of the thread that hears of the ends of others: meanwhile it would hear of none. */
const IMPATIENT_MS = 5
const OWNER_MASK = 4095

/** Cells that say which owners live. */
export const OWNER_CELLS = OWNER_MASK + 1

/** Thrown where a lock is not had in time: the call is to be made again in another turn. */
export const BUSY = new Error('another thread has the count for too long')

export interface LockOwner {
  /** From 1, unlike that of every other thread, of those that have ended too. */
  readonly number: number
  /** At the end of its number is the number of each thread that lives: what others have locked is free. */
  readonly living: Int32Array
  /** False for the thread that hears of the ends of others. */
  readonly patient: boolean
}

/**
 * Locks in memory that threads share: a cell is the number of its owner, or free. The lock of a thread that has ended is taken over; what
 * was done under it must be right at every step, or wrong for that one count alone.
 */
export class SharedLocks {
  readonly #owner: LockOwner

  constructor(owner: LockOwner) {
    this.#owner = owner
  }

  /** @throws `BUSY` on the thread that must not wait for long */
  lock(cells: Int32Array, at: number): void {
    if (Atomics.compareExchange(cells, at, FREE, this.#owner.number) !== FREE && !this.#wait(cells, at)) throw BUSY
  }

  /** False where another thread has it now. */
  tryLock(cells: Int32Array, at: number): boolean {
    return Atomics.compareExchange(cells, at, FREE, this.#owner.number) === FREE
  }

  unlock(cells: Int32Array, at: number): void {
    Atomics.store(cells, at, FREE)
  }

  /** True where this thread has it already. */
  has(cells: Int32Array, at: number): boolean {
    return Atomics.load(cells, at) === this.#owner.number
  }

  #wait(cells: Int32Array, at: number): boolean {
    const { number, living, patient } = this.#owner
    const since = performance.now()
    for (let spins = 0; ; spins++) {
      const owner = Atomics.compareExchange(cells, at, FREE, number)
      if (owner === FREE) return true
      if (Atomics.load(living, owner & OWNER_MASK) !== owner) {
        if (Atomics.compareExchange(cells, at, owner, number) === owner) return true
        continue
      }
      if (spins < SPINS) continue
      if (!patient && performance.now() - since > IMPATIENT_MS) return false
      Atomics.wait(cells, at, owner, PAUSE_MS)
    }
  }
}

/** The thread with this number has ended. */
export function endOwner(living: Int32Array, number: number): void {
  Atomics.compareExchange(living, number & OWNER_MASK, number, FREE)
}

/** The number is to be that of a thread that begins; false where one that lives has its cell. */
export function beginOwner(living: Int32Array, number: number): boolean {
  return Atomics.compareExchange(living, number & OWNER_MASK, FREE, number) === FREE
}
