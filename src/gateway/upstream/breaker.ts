import { Fault } from '../../errors/fault.ts'
import type { BreakerRule } from '../../model/apis/definition/upstream-resilience.ts'
import type { MonoMillis } from '../../model/time/clock.ts'

/** State of a breaker: `open` lets nothing through, `half-open` one request at a time. */
export type BreakerState = 'closed' | 'open' | 'half-open'

/** Answered by `admit` when the request may not be sent. */
export const NOT_ADMITTED = 0

/** A breaker takes this many bytes, however large its sample: a definition may hold thousands of them. */
const MAX_BUCKETS = 1024
const NO_BUCKETS = new Uint8Array(0)

/**
 * Stops asking an upstream that mostly fails. It opens once so large a share of the last outcomes were failures, and after its
 * cool-down either closes again or lets one request try. Samples of up to 1,024 outcomes are exact; larger ones forget the oldest
 * outcomes in groups, so that up to a thousandth more of them count.
 */
export class Breaker {
  readonly operation: string
  readonly #rule: BreakerRule
  readonly #changed: (state: BreakerState) => void
  /** Failures among the last outcomes, in a ring of buckets of `#perBucket` outcomes. Allocated with the first outcome. */
  #buckets: Uint8Array = NO_BUCKETS
  readonly #perBucket: number
  #at = 0
  /** Outcomes in the bucket `#at`. */
  #filled = 0
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
    this.#perBucket = rule.samples <= MAX_BUCKETS ? 1 : Math.ceil(rule.samples / (MAX_BUCKETS - 1))
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
    this.#note(failed)
    const { samples, threshold } = this.#rule
    if (this.#count >= samples && this.#failures >= threshold * this.#count) this.#open(mono)
  }

  /** A request that was let through ended without an outcome: its client left. */
  leave(turn: number): void {
    if (turn === this.#turn) this.#trying = false
  }

  #note(failed: boolean): void {
    if (this.#buckets === NO_BUCKETS)
      this.#buckets = new Uint8Array(Math.ceil((this.#rule.samples - 1) / this.#perBucket) + 1)
    const buckets = this.#buckets
    if (this.#filled === this.#perBucket) {
      this.#at = (this.#at + 1) % buckets.length
      this.#filled = 0
    }
    if (this.#filled === 0) {
      if (this.#count >= buckets.length * this.#perBucket) {
        this.#count -= this.#perBucket
        this.#failures -= buckets[this.#at]!
      }
      buckets[this.#at] = 0
    }
    this.#filled++
    this.#count++
    if (!failed) return
    buckets[this.#at]!++
    this.#failures++
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
    this.#filled = 0
    this.#count = 0
    this.#failures = 0
    this.#changed(state)
  }
}
