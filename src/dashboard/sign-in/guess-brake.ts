import { KnownAddresses } from '../../model/network/known-addresses.ts'
import type { Clock } from '../../model/time/clock.ts'
import { AttemptLimiter, perNameRules } from '../../runtime/attempt-limiter.ts'

/** Failures of a name from everywhere, for each that are borne from one address. */
const EVERYWHERE = 10
/** Visitors whose passwords a portal checks from one address. */
const CROWD = 10

/** How many failures are borne within a window; 0 = no bound. */
export interface LoginThrottleLimits {
  /** Under one name from one address. */
  readonly pair: number
  /** From one address, under all names. */
  readonly address: number
  readonly windowMs: number
}

/** A try that has begun. */
export interface Attempt {
  /** It went well: what failed under the name from the address is forgotten, of all else this try alone. */
  succeed(): void
  /** It says nothing about who tried: a store that is away, too many passwords at once. */
  giveBack(): void
}

/** How long to wait where too many tries have failed. */
export interface Throttled {
  readonly waitMs: number
}

/** The guessed secret. */
export interface GuessedCredential {
  /** Undefined for what nobody can guess, so that nobody is kept out by it. */
  readonly name: string | undefined
  /** As `visitorOf` gives it. */
  readonly address: string
  /** True: no more failures from everywhere than from one address. For steps that need an earlier successful step. */
  readonly narrow?: boolean
  /** True: the address is that of a portal, which asks for all its visitors: nothing is counted by name and address together. */
  readonly crowd?: boolean
}

/**
 * Limits failed sign-in attempts without letting strangers lock users out: by name and address together; by address under all
 * names; and by name from all addresses, where after ten times as many each further attempt waits at most half a minute (`perNameRules`), but
 * not from an address where the name has signed in before.
 */
export class LoginThrottle {
  readonly #pairs: AttemptLimiter
  readonly #names: AttemptLimiter
  readonly #narrow: AttemptLimiter
  readonly #addresses: AttemptLimiter
  readonly #crowds: AttemptLimiter
  readonly #known = new KnownAddresses()

  constructor(clock: Clock, { pair, address, windowMs }: LoginThrottleLimits) {
    this.#pairs = new AttemptLimiter(clock, { limit: pair, windowMs })
    this.#names = new AttemptLimiter(clock, pair === 0 ? { limit: 0, windowMs } : perNameRules(pair * EVERYWHERE))
    this.#narrow = new AttemptLimiter(clock, { limit: pair, windowMs })
    this.#addresses = new AttemptLimiter(clock, { limit: address, windowMs })
    this.#crowds = new AttemptLimiter(clock, { limit: address * CROWD, windowMs })
  }

  /** Begins a try, which counts as failed until it says otherwise; or answers how long to wait, which costs nothing. */
  begin({ name, address, narrow = false, crowd = false }: GuessedCredential): Attempt | Throttled {
    const pair = JSON.stringify([name, address])
    const counts: (readonly [AttemptLimiter, string])[] = [[crowd ? this.#crowds : this.#addresses, address]]
    if (name !== undefined && !crowd) counts.push([this.#pairs, pair])
    if (name !== undefined) counts.push([narrow ? this.#narrow : this.#names, name])
    const known = name !== undefined && !crowd && this.#known.has(name, address)
    const judges = known ? counts.filter(([throttle]) => throttle !== this.#names && throttle !== this.#narrow) : counts
    const waitMs = Math.max(...judges.map(([throttle, key]) => throttle.waitMs(key)))
    if (waitMs > 0) return { waitMs }
    for (const [throttle, key] of counts) throttle.begin(key)
    const giveBack = () => {
      for (const [throttle, key] of counts) throttle.giveBack(key)
    }
    return {
      giveBack,
      succeed: () => {
        giveBack()
        if (name === undefined || crowd) return
        this.#pairs.succeed(pair)
        this.#known.add(name, address)
      },
    }
  }
}

/** True when there is a time to wait. */
export function isThrottled(begun: Attempt | Throttled): begun is Throttled {
  return 'waitMs' in begun
}
