import type { Clock } from '../model/time/clock.ts'
import { AttemptLimiter } from './attempt-limiter.ts'
import { ownPlace, type RecentTable, type RecentTables, type TablePlace } from './recent-tables.ts'

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
  readonly #tables: RecentTables
  readonly #known: RecentTable

  constructor(clock: Clock, { tables, name }: TablePlace = ownPlace()) {
    const rules = { free: FREE, firstWaitMs: 1000, longestWaitMs: 60_000, forgetMs: FORGET_MS, names: MOST_ADDRESSES }
    this.#wrong = new AttemptLimiter(clock, rules, { tables, name: `${name}.wrong` })
    this.#tables = tables
    this.#known = tables.table(`${name}.known`, MOST_KNOWN, 0)
  }

  get size(): number {
    return this.#known.size
  }

  /** Notes what a comparison in constant time came to. Answers how many milliseconds to wait; 0 = the comparison counts. */
  waitMs(address: string, right: boolean): number {
    return this.#tables.alone(() => {
      const waitMs = right && this.#known.get(address) !== undefined ? 0 : this.#wrong.waitMs(address)
      if (waitMs > 0) return waitMs
      if (right) this.#known.put(address, [])
      else this.#wrong.begin(address)
      return 0
    })
  }
}
