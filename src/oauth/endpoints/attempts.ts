import type { Clock, MonoMillis } from '../../model/time/clock.ts'

const MOST_KEYS = 10_000

/** Limits attempts per caller, against guessing. In memory: each node counts on its own. */
export class AttemptLimiter {
  readonly #clock: Clock
  readonly #windowMs: number
  readonly #keys = new Map<string, { used: number; until: MonoMillis }>()

  /** `windowMs`: how long tries count, from the first one on. */
  constructor(clock: Clock, windowMs: number) {
    this.#clock = clock
    this.#windowMs = windowMs
  }

  /** Takes one try of at most `limit`; false when none is left. Taken before the try, so that many at once are not more. */
  take(key: string, limit: number): boolean {
    const now = this.#clock.mono()
    const known = this.#keys.get(key)
    if (known !== undefined && known.until > now) {
      if (known.used >= limit) return false
      known.used++
      return true
    }
    this.#keys.delete(key)
    if (this.#keys.size >= MOST_KEYS) this.#forgetOldest()
    this.#keys.set(key, { used: 1, until: now + this.#windowMs })
    return true
  }

  /** Milliseconds until the tries of a key are forgotten; 0 = there are none. */
  waitMs(key: string): number {
    return Math.max(0, (this.#keys.get(key)?.until ?? 0) - this.#clock.mono())
  }

  /** Gives a try back that went well. */
  giveBack(key: string): void {
    const known = this.#keys.get(key)
    if (known !== undefined && known.used > 0) known.used--
  }

  #forgetOldest(): void {
    const oldest = this.#keys.keys().next()
    if (!oldest.done) this.#keys.delete(oldest.value)
  }
}
