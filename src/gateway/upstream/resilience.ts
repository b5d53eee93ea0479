import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { RetryRules } from '../../model/apis/definition/upstream-resilience.ts'
import type { Clock, MonoMillis } from '../../model/time/clock.ts'
import { IDEMPOTENT } from '../../wire/http1/relay.ts'
import type { AttemptHooks, Exchange } from '../server/exchange.ts'
import type { Target } from './target.ts'
import type { TargetsHealth } from './target-health.ts'

/** Retries that requests may save up: a long quiet time must not pay for a storm. */
const MOST_EARNED = 100

/** Thrown for a response that is not passed on because the request is retried. */
const ASK_AGAIN = prebuilt('upstream_unreachable', 'an answer is thrown away for another')

/** Retries of all APIs. */
export interface RetryCounts {
  made: number
  /** Not made because the budget was used up. */
  refused: number
}

export interface UpstreamResilienceParts {
  readonly health: TargetsHealth
  readonly retries: RetryRules | undefined
  readonly clock: Clock
  readonly counts: RetryCounts
}

/**
 * Watches the results of the requests of one API: updates the health of its targets and the breakers of its operations, and
 * decides which requests are retried.
 */
export class UpstreamResilience implements AttemptHooks {
  readonly #health: TargetsHealth
  readonly #retries: RetryRules | undefined
  readonly #budget: RetryBudget | undefined
  readonly #clock: Clock
  readonly #counts: RetryCounts

  constructor({ health, retries, clock, counts }: UpstreamResilienceParts) {
    this.#health = health
    this.#retries = retries
    this.#clock = clock
    this.#counts = counts
    if (retries !== undefined) this.#budget = new RetryBudget(retries, clock.mono())
  }

  /** A request is about to be sent. */
  begin(x: Exchange): void {
    x.attemptHooks = this
    this.#budget?.earn()
  }

  answered(x: Exchange): void {
    const failed = x.status >= 500
    this.#tell(x, failed ? `status ${x.status}` : '')
    if (failed && this.#wantsAnother(x)) throw ASK_AGAIN
    this.#settle(x, failed)
  }

  failed(x: Exchange, fault: Fault): Target | undefined {
    if (fault === ASK_AGAIN) {
      x.status = 0
      x.upstreamHeadAt = 0
      return this.#another(x, 0)
    }
    // Errors of the client say nothing about the upstream.
    if (!fault.code.startsWith('upstream_')) return undefined
    this.#tell(x, fault.code)
    const again = this.#maySend(x, fault) ? this.#another(x, x.attempts) : undefined
    if (again === undefined) this.#settle(x, true)
    return again
  }

  ended(x: Exchange): void {
    x.breaker?.leave(x.breakerTurn)
  }

  #tell(x: Exchange, reason: string): void {
    const target = x.target?.health
    if (target === undefined) return
    if (reason === '') this.#health.succeeded(target)
    else this.#health.failed(target, reason)
  }

  #settle(x: Exchange, failed: boolean): void {
    x.breaker?.settle(x.breakerTurn, failed, this.#clock.mono())
    x.breaker = undefined
  }

  #another(x: Exchange, unreached: number): Target | undefined {
    const targets = x.operation?.targets ?? x.chain!.targets
    return targets.after(x.target!, unreached)
  }

  /** The answer is one that a target which is up may do better than. */
  #wantsAnother(x: Exchange): boolean {
    return (
      this.#retries?.statuses.includes(x.status) === true && this.#another(x, 0) !== undefined && this.#mayRepeat(x)
    )
  }

  #maySend(x: Exchange, fault: Fault): boolean {
    // Nothing of it has gone out, or nothing that may not go out twice: another target may have it.
    const unsent = fault.code === 'upstream_unreachable' || fault.code === 'upstream_unresolved'
    const untouched = unsent && x.bodyUntouched
    if (this.#retries === undefined) {
      const targets = x.operation?.targets ?? x.chain!.targets
      return untouched && x.attempts < targets.list.length
    }
    if (untouched) return this.#withinBudget(x)
    return (fault.code === 'upstream_unreachable' || fault.code === 'upstream_malformed') && this.#mayRepeat(x)
  }

  /** Only what may be done twice (RFC 9110 section 9.2.2), of which every byte is at hand. */
  #mayRepeat(x: Exchange): boolean {
    if (!IDEMPOTENT.has(x.operation?.toMethod || x.method)) return false
    if (x.upgrade !== '' || (x.bodyLength !== 0 && x.body === undefined)) return false
    return this.#withinBudget(x)
  }

  #withinBudget(x: Exchange): boolean {
    if (x.attempts > this.#retries!.attempts) return false
    const granted = this.#budget!.take(this.#clock.mono())
    if (granted) this.#counts.made++
    else this.#counts.refused++
    return granted
  }
}

/**
 * Bounds retries, so that an upstream in trouble is not asked several times as often: each request earns a share of one, and some
 * are there each second without any earned. In any time there are at most
 * `budgetShare` × requests + `minPerSecond` × (seconds + 1) + what was saved.
 */
export class RetryBudget {
  readonly #rules: Pick<RetryRules, 'budgetShare' | 'minPerSecond'>
  #earned = 0
  #free: number
  #refilledAt: MonoMillis

  constructor(rules: Pick<RetryRules, 'budgetShare' | 'minPerSecond'>, mono: MonoMillis) {
    this.#rules = rules
    this.#free = rules.minPerSecond
    this.#refilledAt = mono
  }

  /** Counts a request. */
  earn(): void {
    this.#earned = Math.min(MOST_EARNED, this.#earned + this.#rules.budgetShare)
  }

  /** Takes one retry; false when none is left. */
  take(mono: MonoMillis): boolean {
    const { minPerSecond } = this.#rules
    this.#free = Math.min(minPerSecond, this.#free + ((mono - this.#refilledAt) / 1000) * minPerSecond)
    this.#refilledAt = mono
    if (this.#free >= 1) this.#free--
    else if (this.#earned >= 1) this.#earned--
    else return false
    return true
  }
}
