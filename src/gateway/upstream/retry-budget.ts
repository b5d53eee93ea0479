import type { RetryRules } from '../../model/apis/definition/upstream-resilience.ts'
import type { MonoMillis } from '../../model/time/clock.ts'

/** Retries that requests may save up: a long quiet time must not pay for a storm. */
const MOST_EARNED = 100

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
