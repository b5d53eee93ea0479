import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { waitFault } from '../../errors/fault.ts'
import { FairQueue } from '../threads/fair-queue.ts'

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
 * file reads and name look-ups of the process share. Others wait, at most fifty on each thread, and callers take turns (`FairQueue`).
 */
export class PasswordGate {
  /** Until when each slot is taken, in milliseconds of a clock that all threads share; 0 = free. */
  readonly #slots: BigInt64Array
  /** Grows with every slot that becomes free: what waiters sleep on. */
  readonly #bell: Int32Array
  readonly #waiting = new FairQueue<Waiter>(MOST_WAITING)
  #isGiving = false

  /** Gates over the same memory are one gate. */
  constructor(memory: SharedArrayBuffer = newMemory()) {
    this.#slots = new BigInt64Array(memory, 0, SLOTS)
    this.#bell = new Int32Array(memory, SLOTS * 8, 1)
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Runs `work` when a slot is free and it is the caller's turn. @throws Fault `passwords_busy` (503) when fifty wait already */
  async run<T>(work: () => Promise<T>, caller: PasswordCaller = ANYBODY): Promise<T> {
    const slot = (this.waiting === 0 ? this.#take() : undefined) ?? (await this.#wait(caller))
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

  #wait({ visitor, isKnown = false }: PasswordCaller): Promise<Slot> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(visitor, { resolve, reject }, isKnown)?.reject(waitFault('passwords_busy', BUSY_MS))
      void this.#giveSlots()
    })
  }

  /** Gives each slot that becomes free to whose turn it is, until nobody waits. */
  async #giveSlots(): Promise<void> {
    if (this.#isGiving) return
    this.#isGiving = true
    while (this.waiting > 0) {
      const rung = Atomics.load(this.#bell, 0)
      const slot = this.#take()
      if (slot === undefined) await Atomics.waitAsync(this.#bell, 0, rung, LOOK_AGAIN_MS).value
      else this.#waiting.take()!.resolve(slot)
    }
    this.#isGiving = false
  }
}

/** Whose password is checked: calls that come from outside take turns by it. */
export interface PasswordCaller {
  /** As `visitorOf` gives it. */
  readonly visitor: string
  /** True where the name was proved from there before: strangers do not crowd it out. */
  readonly isKnown?: boolean
}

/** Calls of users who are signed in, and of the product itself. */
const ANYBODY: PasswordCaller = { visitor: '', isKnown: true }

interface Waiter {
  readonly resolve: (slot: Slot) => void
  readonly reject: (error: Error) => void
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
