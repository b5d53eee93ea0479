import { KnownAddresses } from '../../model/network/known-addresses.ts'
import type { Clock } from '../../model/time/clock.ts'
import { AttemptLimiter, perNameRules } from '../../runtime/attempt-limiter.ts'

const FORGET_MS = 900_000
const MOST_NAMES = 10_000

/** A check of a password that has begun; it counts as failed until one of these is called. */
export interface PasswordAttempt {
  /** The password was right: clears the failures of the user from the address, and of the other counters this attempt. */
  succeed(): void
  /** The attempt could not be checked, which says nothing about the caller. */
  giveBack(): void
}

/** Failed password checks of users of APIs, in one process. */
export class BasicAuthThrottle {
  /** Of a user and an address together. */
  readonly #pairs: AttemptLimiter
  /** Of a user, from all addresses where the user did not sign in before: anyone who knows a name can make its owner wait there. */
  readonly #users: AttemptLimiter
  /** Many users may come from one address: that of an app's own server. */
  readonly #addresses: AttemptLimiter
  readonly #known = new KnownAddresses()

  constructor(clock: Clock) {
    const rules = { firstWaitMs: 1000, forgetMs: FORGET_MS, names: MOST_NAMES }
    this.#pairs = new AttemptLimiter(clock, { ...rules, free: 5, longestWaitMs: 60_000 })
    this.#users = new AttemptLimiter(clock, perNameRules(50))
    this.#addresses = new AttemptLimiter(clock, { ...rules, free: 60, longestWaitMs: FORGET_MS })
  }

  /** Begins an attempt, or answers for how many milliseconds to wait. Where the user signed in before, only failures from there count. */
  begin(user: string, address: string): PasswordAttempt | number {
    const pair = `${user} ${address}`
    const counts = [
      [this.#pairs, pair],
      [this.#addresses, address],
      [this.#users, user],
    ] as const
    const judges = this.#known.has(user, address) ? counts.slice(0, 1) : counts
    const waitMs = Math.max(...judges.map(([limiter, key]) => limiter.waitMs(key)))
    if (waitMs > 0) return waitMs
    for (const [limiter, key] of counts) limiter.begin(key)
    const giveBack = () => {
      for (const [limiter, key] of counts) limiter.giveBack(key)
    }
    return {
      giveBack,
      succeed: () => {
        giveBack()
        this.#pairs.succeed(pair)
        this.#known.add(user, address)
      },
    }
  }
}
