import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { waitFault } from '../../errors/fault.ts'

const SLOTS = 2
const MOST_WAITING = 50
/** A thread that ended amid a hash gives its slot back after this long. */
const LEASE_MS = 10_000n
/** How long a waiter sleeps before it looks by itself. */
const LOOK_AGAIN_MS = 1000
/** `Retry-After` when too many wait: a hash takes some tens of milliseconds. */
const BUSY_MS = 1000
const NAME = 'gatehouse.passwords'

/**
 * Admits two password hashes at a time, from all threads: each takes 32 MB and one of the four threads that all
 * file reads and name look-ups of the process share. Others wait, at most fifty on each thread.
 */
export class PasswordGate {
  /** Until when each slot is taken, in milliseconds of a clock that all threads share; 0 = free. */
  readonly #slots: BigInt64Array
  /** Grows with every slot that becomes free: what waiters sleep on. */
  readonly #bell: Int32Array
  #waiting = 0

  /** Gates over the same memory are one gate. */
  constructor(memory: SharedArrayBuffer = newMemory()) {
    this.#slots = new BigInt64Array(memory, 0, SLOTS)
    this.#bell = new Int32Array(memory, SLOTS * 8, 1)
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Runs `work` when a slot is free. @throws Fault `passwords_busy` (503) when fifty wait already */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const slot = this.#take() ?? (await this.#wait())
    try {
      return await work()
    } finally {
      Atomics.compareExchange(this.#slots, slot.at, slot.until, 0n)
      Atomics.add(this.#bell, 0, 1)
      Atomics.notify(this.#bell, 0, 1)
    }
  }

  #take(): Slot | undefined {
    const now = process.hrtime.bigint() / 1_000_000n
    for (let at = 0; at < SLOTS; at++) {
      const until = Atomics.load(this.#slots, at)
      if (until > now) continue
      const mine = now + LEASE_MS
      if (Atomics.compareExchange(this.#slots, at, until, mine) === until) return { at, until: mine }
    }
    return undefined
  }

  async #wait(): Promise<Slot> {
    if (this.#waiting >= MOST_WAITING) throw waitFault('passwords_busy', BUSY_MS)
    this.#waiting++
    try {
      for (;;) {
        const rung = Atomics.load(this.#bell, 0)
        const slot = this.#take()
        if (slot !== undefined) return slot
        await Atomics.waitAsync(this.#bell, 0, rung, LOOK_AGAIN_MS).value
      }
    } finally {
      this.#waiting--
    }
  }
}

interface Slot {
  readonly at: number
  readonly until: bigint
}

/** Module state: one gate bounds the CPU and memory of the process. Threads that are started after this module was loaded share it. */
export const passwordGate = new PasswordGate(processMemory())

function newMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(SLOTS * 8 + 8)
}

function processMemory(): SharedArrayBuffer {
  const known = getEnvironmentData(NAME)
  if (known instanceof SharedArrayBuffer) return known
  const memory = newMemory()
  setEnvironmentData(NAME, memory)
  return memory
}
