import type { CutBy } from '../../wire/http1/exchange.ts'
import { OUTCOMES, outcomeOf } from './outcome.ts'

/** Statuses counted separately within one API; an upstream that invents more is counted under `other`. */
const STATUSES_PER_API = 64

/** The three histograms of an API, one after the other in one array. */
export const DURATION_TYPES = ['total', 'upstream', 'gateway'] as const
/** Classes of the statuses of upstreams, counted behind the histograms. */
export const UPSTREAM_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** Requests and durations of one API since the process started. Made empty: memory comes with the first request. */
export class ApiMetrics {
  /** undefined until the first request, and for ever when another object counts for this one. */
  counts: Float64Array | undefined = undefined
  readonly statuses: number[] = []
  readonly statusCounts: number[] = []
  otherStatuses = 0
  /** Requests that were cut, at the place of their outcome. */
  readonly cuts: number[] = OUTCOMES.map(() => 0)
  readonly #bounds: readonly number[]
  /** Numbers of one histogram: its buckets (not cumulated), then the sum in milliseconds. */
  readonly #size: number
  readonly #chooseStandIn: (() => ApiMetrics | undefined) | undefined
  #standIn: ApiMetrics | undefined
  #lastStatus = 0

  /** `bounds`: of the buckets, in milliseconds, growing. `standIn` is asked at the first request which object counts instead of this one, if any. */
  constructor(bounds: readonly number[], standIn?: () => ApiMetrics | undefined) {
    this.#bounds = bounds
    this.#size = bounds.length + 2
    this.#chooseStandIn = standIn
  }

  /** Counts one finished request. `upstreamMs` below 0 = it was not handed on; `passedOn` = the status is that of the upstream. */
  add(status: number, totalMs: number, upstreamMs: number, passedOn = false): void {
    if (this.counts === undefined) this.#addFirst(status, totalMs, upstreamMs, passedOn)
    else this.#addTo(this.counts, status, totalMs, upstreamMs, passedOn)
  }

  /** Counts the cut of a request that was added. */
  cut(by: CutBy): void {
    if (this.#standIn === undefined) this.cuts[OUTCOMES.indexOf(outcomeOf(by))]!++
    else this.#standIn.cut(by)
  }

  /** Requests by their outcome, in the order of OUTCOMES. */
  outcomes(): readonly number[] {
    const all = this.statusCounts.reduce((sum, count) => sum + count, this.otherStatuses)
    const [, ...cut] = this.cuts
    return [cut.reduce((left, count) => left - count, all), ...cut]
  }

  /** The histogram of a type of duration; `type` is its place in DURATION_TYPES. */
  durations(type: number): { readonly counts: Float64Array; readonly sum: number } {
    const at = type * this.#size
    const counts = this.counts!.subarray(at, at + this.#size - 1)
    return { counts, sum: this.counts![at + this.#size - 1]! / 1000 }
  }

  /** How many answers of upstreams were passed on, of one class of status; `at` is its place in UPSTREAM_CLASSES. */
  upstreamAnswers(at: number): number {
    return this.counts![DURATION_TYPES.length * this.#size + at]!
  }

  #addTo(counts: Float64Array, status: number, totalMs: number, upstreamMs: number, passedOn: boolean): void {
    if (this.statuses[this.#lastStatus] !== status) this.#lastStatus = this.#indexOf(status)
    if (this.#lastStatus < 0) this.otherStatuses++
    else this.statusCounts[this.#lastStatus]!++
    const size = this.#size
    this.#measure(counts, 0, totalMs)
    if (upstreamMs >= 0) this.#measure(counts, size, upstreamMs)
    const withUpstreamMs = upstreamMs < 0 ? 0 : upstreamMs
    this.#measure(counts, 2 * size, totalMs > withUpstreamMs ? totalMs - withUpstreamMs : 0)
    if (passedOn && status < 600) counts[3 * size + ((status / 100) | 0) - 1]!++
  }

  #addFirst(status: number, totalMs: number, upstreamMs: number, passedOn: boolean): void {
    this.#standIn ??= this.#chooseStandIn?.()
    if (this.#standIn === undefined) {
      this.counts = new Float64Array(this.#size * DURATION_TYPES.length + UPSTREAM_CLASSES.length)
      this.#addTo(this.counts, status, totalMs, upstreamMs, passedOn)
    } else this.#standIn.add(status, totalMs, upstreamMs, passedOn)
  }

  #indexOf(status: number): number {
    const found = this.statuses.indexOf(status)
    if (found >= 0) return found
    if (this.statuses.length >= STATUSES_PER_API) return -1
    this.statusCounts.push(0)
    return this.statuses.push(status) - 1
  }

  /** Bounds are included (`le`). A scan from below: most requests of a gateway end in the first two buckets, so a binary search would be slower. */
  #measure(counts: Float64Array, at: number, ms: number): void {
    const bounds = this.#bounds
    let bucket = 0
    while (bucket < bounds.length && ms > bounds[bucket]!) bucket++
    counts[at + bucket]!++
    counts[at + bounds.length + 1]! += ms
  }
}
