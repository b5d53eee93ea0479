import type { Clock } from '../model/time/clock.ts'
import { AttemptLimiter } from './attempt-limiter.ts'

const FREE = 100
const FORGET_MS = 600_000
const MOST_ADDRESSES = 10_000
const MOST_KNOWN = 1000

/**
 * Slows down guesses at a secret of the installation, or of a client: after 100 wrong ones from an address (`visitorOf`) each further try waits,
 * longer each time, up to a minute, and a right one waits with them, or guessing would not be slowed. An address that has sent the right
 * one before never waits. In memory, bounded.
 */
export class AdminSecretThrottle {
  readonly #wrong: AttemptLimiter
  /** In order of last use. */
  readonly #known = new Set<string>()

  constructor(clock: Clock) {
    const rules = { free: FREE, firstWaitMs: 1000, longestWaitMs: 60_000, forgetMs: FORGET_MS, names: MOST_ADDRESSES }
    this.#wrong = new AttemptLimiter(clock, rules)
  }

  get size(): number {
    return this.#known.size
  }

  /** Notes what a comparison in constant time came to. Answers how many milliseconds to wait; 0 = the comparison counts. */
  waitMs(address: string, right: boolean): number {
    if (right && this.#known.has(address)) {
      this.#remember(address)
      return 0
    }
    const waitMs = this.#wrong.waitMs(address)
    if (waitMs > 0) return waitMs
    if (right) this.#remember(address)
    else this.#wrong.begin(address)
    return 0
  }

  #remember(address: string): void {
    this.#known.delete(address)
    this.#known.add(address)
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.values().next().value!)
  }
}
