import type { PasswordCaller } from '../model/passwords/password-gate.ts'
import type { Clock } from '../model/time/clock.ts'
import { AttemptLimiter, type AttemptRules, perNameRules } from './attempt-limiter.ts'
import { KnownAddresses } from './known-addresses.ts'
import { ownPlace, type RecentTables, type TablePlace } from './recent-tables.ts'

/** Failures of a name from everywhere, for each that is allowed from one address. */
const EVERYWHERE = 10
/** Visitors whose passwords a portal checks from one address. */
const CROWD = 10

/** The rules for failed attempts, by what they are counted under. */
export interface LoginThrottleRules {
  /** One name from one address. */
  readonly pair: AttemptRules
  /** One name from all addresses where it did not sign in before. */
  readonly name: AttemptRules
  /** One address under all names. */
  readonly address: AttemptRules
  /** As `name`, for attempts that are `narrow`; absent = `name`. */
  readonly narrow?: AttemptRules
  /** As `address`, for attempts of a `crowd`; absent = `address`. */
  readonly crowd?: AttemptRules
  /** True where many names share an address: its failures do not hold up the names that signed in from it before. */
  readonly sharedAddresses?: boolean
}

/** How many failures are allowed within a window; 0 = no bound. */
export interface SignInLimits {
  /** Under one name from one address. */
  readonly pair: number
  /** From one address, under all names. */
  readonly address: number
  readonly windowMs: number
}

/**
 * The rules for sign-ins: a name may fail from everywhere ten times as often as from one address, and then waits half a minute at most
 * (`perNameRules`).
 */
export function signInRules({ pair, address, windowMs }: SignInLimits): LoginThrottleRules {
  return {
    pair: { limit: pair, windowMs },
    name: pair === 0 ? { limit: 0, windowMs } : perNameRules(pair * EVERYWHERE),
    address: { limit: address, windowMs },
    narrow: { limit: pair, windowMs },
    crowd: { limit: address * CROWD, windowMs },
  }
}

/** An attempt that has begun. */
export interface Attempt extends PasswordCaller {
  /** It was right: clears the failures of the name from the address, and of the other counters this attempt. */
  succeed(): void
  /** It could not be checked, which says nothing about the caller: a store that is away, too many passwords at once. */
  giveBack(): void
}

/** How long to wait where too many attempts have failed. */
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
 * Limits failed attempts to sign in without letting strangers lock users out: by name and address together, by address under all names, and
 * by name from all addresses, but not from an address where the name has signed in before.
 */
export class LoginThrottle {
  readonly #pairs: AttemptLimiter
  readonly #names: AttemptLimiter
  readonly #narrow: AttemptLimiter
  readonly #addresses: AttemptLimiter
  readonly #crowds: AttemptLimiter
  readonly #known: KnownAddresses
  readonly #tables: RecentTables
  /** Those that hold up a name at an address where it signed in before. */
  readonly #ofKnown: ReadonlySet<AttemptLimiter>

  constructor(clock: Clock, rules: LoginThrottleRules, { tables, name: group }: TablePlace = ownPlace()) {
    const { pair, name, address, narrow = name, crowd = address, sharedAddresses = false } = rules
    const limiter = (of: string, its: AttemptRules) =>
      new AttemptLimiter(clock, its, { tables, name: `${group}.${of}` })
    this.#tables = tables
    this.#pairs = limiter('pairs', pair)
    this.#names = limiter('names', name)
    this.#narrow = limiter('narrow', narrow)
    this.#addresses = limiter('addresses', address)
    this.#crowds = limiter('crowds', crowd)
    this.#known = new KnownAddresses({ tables, name: `${group}.known` })
    this.#ofKnown = new Set(sharedAddresses ? [this.#pairs] : [this.#pairs, this.#addresses])
  }

  /** Begins an attempt, which counts as failed until it is settled; or answers how long to wait, which costs nothing. */
  begin({ name, address, narrow = false, crowd = false }: GuessedCredential): Attempt | Throttled {
    const pair = JSON.stringify([name, address])
    const counts: (readonly [AttemptLimiter, string])[] = [[crowd ? this.#crowds : this.#addresses, address]]
    if (name !== undefined && !crowd) counts.push([this.#pairs, pair])
    if (name !== undefined) counts.push([narrow ? this.#narrow : this.#names, name])
    const known = name !== undefined && !crowd && this.#known.has(name, address)
    const judges = known ? counts.filter(([limiter]) => this.#ofKnown.has(limiter)) : counts
    const waitMs = this.#tables.alone(() => {
      const longest = Math.max(...judges.map(([throttle, key]) => throttle.waitMs(key)))
      if (longest === 0) for (const [throttle, key] of counts) throttle.begin(key)
      return longest
    })
    if (waitMs > 0) return { waitMs }
    const giveBack = () =>
      this.#tables.alone(() => {
        for (const [throttle, key] of counts) throttle.giveBack(key)
      })
    return {
      visitor: address,
      isKnown: known,
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
