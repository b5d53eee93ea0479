import { Fault } from '../../errors/fault.ts'
import type { BreakerRule } from '../../model/apis/definition/upstream-resilience.ts'
import type { MonoMillis } from '../../model/time/clock.ts'

/** State of a breaker: `open` lets nothing through, `half-open` one request at a time. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** Answered by `admit` when the request may not be sent. */
export const NOT_ADMITTED = 0

/**
 * Stops asking an upstream that mostly fails. It opens once so large a share of the last outcomes were failures, and after its
 * cool-down either closes again or lets one request try.
 */
export class Breaker {
  readonly operation: string
  readonly #rule: BreakerRule
  readonly #changed: (state: BreakerState) => void
  /** The last outcomes in a ring, 1 for a failure. */
  readonly #outcomes: Uint8Array
  #at = 0
  #count = 0
  #failures = 0
  #state: BreakerState = 'closed'
  /** Grows with every change of state: an outcome of before says nothing about now. */
  #turn = 1
  #trying = false
  #openUntil: MonoMillis = 0
  #refusal: Fault | undefined

  /** `changed` is called after each change of state. */
  constructor(operation: string, rule: BreakerRule, changed: (state: BreakerState) => void) {
    this.operation = operation
    this.#rule = rule
    this.#changed = changed
    this.#outcomes = new Uint8Array(rule.samples)
  }

  /** Lets a request through: the turn to settle it with, or `NOT_ADMITTED`. */
  admit(mono: MonoMillis): number {
    if (this.#state === 'closed') return this.#turn
    if (this.look(mono) === 'open' || this.#trying) return NOT_ADMITTED
    if (!this.#rule.halfOpen) {
      this.#enter('closed')
      return this.#turn
    }
    if (this.#state === 'open') this.#enter('half-open')
    this.#trying = true
    return this.#turn
  }

  /** Its state, without taking a turn. */
  look(mono: MonoMillis): BreakerState {
    if (this.#state !== 'open' || mono < this.#openUntil) return this.#state
    return this.#rule.halfOpen ? 'half-open' : 'closed'
  }

  /** The refusal of requests that are not let through, with the time to wait. */
  refusal(mono: MonoMillis): Fault {
    const waitS = Math.max(1, Math.ceil((this.#openUntil - mono) / 1000))
    if (this.#refusal?.waitS === waitS) return this.#refusal
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    this.#refusal = new Fault('breaker_open', `the breaker of ${this.operation} is open`, undefined, waitS)
    Error.stackTraceLimit = limit
    return this.#refusal
  }

  /** Notes how a request ended that was let through. */
  settle(turn: number, failed: boolean, mono: MonoMillis): void {
    if (turn !== this.#turn) return
    if (this.#state === 'half-open') {
      if (failed) this.#open(mono)
      else this.#enter('closed')
      return
    }
    const { samples, threshold } = this.#rule
    if (this.#count === samples) this.#failures -= this.#outcomes[this.#at]!
    else this.#count++
    this.#outcomes[this.#at] = Number(failed)
    this.#failures += Number(failed)
    this.#at = (this.#at + 1) % samples
    if (this.#count === samples && this.#failures >= threshold * samples) this.#open(mono)
  }

  /** A request that was let through ended without an outcome: its client left. */
  leave(turn: number): void {
    if (turn === this.#turn) this.#trying = false
  }

  #open(mono: MonoMillis): void {
    this.#openUntil = mono + this.#rule.coolDownMs
    this.#enter('open')
  }

  #enter(state: BreakerState): void {
    this.#state = state
    this.#turn++
    this.#trying = false
    this.#at = 0
    this.#count = 0
    this.#failures = 0
    this.#changed(state)
  }
}
