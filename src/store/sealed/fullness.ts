import { toFault } from '../../errors/fault.ts'
import type { Awaitable } from '../ports.ts'

/** What is small may still fit where something else was refused: a refusal counts for this long at least. */
const LASTS_MS = 60_000

/** Notes whether a store takes what it is to keep: each node writes its status twice a minute, so that the answer is never old. */
export class Fullness {
  #refusedAt = Number.NEGATIVE_INFINITY
  #keptSince = true

  /** Passes on what a write comes to. */
  async note<Done>(write: Awaitable<Done>): Promise<Done> {
    try {
      const done = await write
      this.#keptSince = true
      return done
    } catch (error) {
      if (toFault(error).code === 'store_full') {
        this.#refusedAt = performance.now()
        this.#keptSince = false
      }
      throw error
    }
  }

  isFull(): boolean {
    return !this.#keptSince || performance.now() - this.#refusedAt < LASTS_MS
  }
}
