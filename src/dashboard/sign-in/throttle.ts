import type { Clock, MonoMillis } from '../../model/time/clock.ts'

/** How many failures are borne, and for how long they count. */
export interface ThrottleSettings {
  /** 0 = no bound. */
  readonly limit: number
  readonly windowMs: number
}

interface Count {
  failures: number
  until: MonoMillis
}

const MOST_NAMES = 100_000

/**
 * Limits failed attempts per caller: within a window, which begins with the first, no more than the limit. A try counts
 * from its beginning until it is known to have succeeded, so that many at once are not more.
 *
 * The counts are in memory, of this process alone. A restart forgets them: nobody outside can cause one, and what it gives is
 * one more limit's worth of guesses; several dashboards give each its own. A write to the store for each failure would let
 * anybody fill it. Memory is bounded: of too many names the one that was tried first goes.
 */
export class FailureThrottle {
  readonly #clock: Clock
  readonly #settings: ThrottleSettings
  readonly #counts = new Map<string, Count>()

  constructor(clock: Clock, settings: ThrottleSettings) {
    this.#clock = clock
    this.#settings = settings
  }

  get size(): number {
    return this.#counts.size
  }

  /** Milliseconds until a try is looked at; 0 = now. */
  waitMs(name: string): number {
    const { limit } = this.#settings
    const count = this.#find(name)
    if (limit === 0 || count === undefined || count.failures < limit) return 0
    return count.until - this.#clock.mono()
  }

  /** Notes that a try has begun; it counts as a failure until `succeed` or `giveBack`. */
  begin(name: string): void {
    if (this.#settings.limit === 0) return
    const count = this.#find(name)
    if (count !== undefined) count.failures++
    else {
      this.#counts.set(name, { failures: 1, until: this.#clock.mono() + this.#settings.windowMs })
      if (this.#counts.size > MOST_NAMES) this.#counts.delete(this.#counts.keys().next().value!)
    }
  }

  /** Takes one try back: it was not the caller's failure. */
  giveBack(name: string): void {
    const count = this.#find(name)
    if (count === undefined) return
    if (--count.failures <= 0) this.#counts.delete(name)
  }

  /** Clears the failures of a name after a successful sign-in. */
  succeed(name: string): void {
    this.#counts.delete(name)
  }

  #find(name: string): Count | undefined {
    const count = this.#counts.get(name)
    if (count === undefined || this.#clock.mono() < count.until) return count
    this.#counts.delete(name)
    return undefined
  }
}
