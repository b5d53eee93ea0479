import { BUCKETS, bucketOf } from '../../model/analytics/histogram.ts'

/** Statuses counted separately within one API; an upstream that invents more is counted under `other`. */
const STATUSES_PER_API = 64

/** The three histograms of an API, one after the other in one array. */
export const DURATION_TYPES = ['total', 'upstream', 'gateway'] as const
/** Numbers of one histogram: its buckets (not cumulated), then the sum in milliseconds. */
export const HISTOGRAM_NUMBERS: number = BUCKETS + 1

const UPSTREAM_AT = HISTOGRAM_NUMBERS
const GATEWAY_AT = HISTOGRAM_NUMBERS * 2

/** Requests and durations of one API since the process started. Made empty: memory comes with the first request. */
export class ApiMetrics {
  /** undefined until the first request, and for ever when another object counts for this one. */
  counts: Float64Array | undefined = undefined
  readonly statuses: number[] = []
  readonly statusCounts: number[] = []
  otherStatuses = 0
  readonly #chooseStandIn: (() => ApiMetrics | undefined) | undefined
  #standIn: ApiMetrics | undefined
  #lastStatus = 0

  /** `standIn` is asked at the first request which object counts instead of this one, if any. */
  constructor(standIn?: () => ApiMetrics | undefined) {
    this.#chooseStandIn = standIn
  }

  /** Counts one finished request. `upstreamMs` below 0 = it was not handed on. */
  add(status: number, totalMs: number, upstreamMs: number): void {
    if (this.counts === undefined) this.#addFirst(status, totalMs, upstreamMs)
    else this.#addTo(this.counts, status, totalMs, upstreamMs)
  }

  #addTo(counts: Float64Array, status: number, totalMs: number, upstreamMs: number): void {
    if (this.statuses[this.#lastStatus] !== status) this.#lastStatus = this.#indexOf(status)
    if (this.#lastStatus < 0) this.otherStatuses++
    else this.statusCounts[this.#lastStatus]!++
    measure(counts, 0, totalMs)
    if (upstreamMs >= 0) measure(counts, UPSTREAM_AT, upstreamMs)
    const away = upstreamMs < 0 ? 0 : upstreamMs
    measure(counts, GATEWAY_AT, totalMs > away ? totalMs - away : 0)
  }

  #addFirst(status: number, totalMs: number, upstreamMs: number): void {
    this.#standIn ??= this.#chooseStandIn?.()
    if (this.#standIn === undefined) {
      this.counts = new Float64Array(HISTOGRAM_NUMBERS * DURATION_TYPES.length)
      this.#addTo(this.counts, status, totalMs, upstreamMs)
    } else this.#standIn.add(status, totalMs, upstreamMs)
  }

  #indexOf(status: number): number {
    const found = this.statuses.indexOf(status)
    if (found >= 0) return found
    if (this.statuses.length >= STATUSES_PER_API) return -1
    this.statusCounts.push(0)
    return this.statuses.push(status) - 1
  }
}

function measure(counts: Float64Array, at: number, ms: number): void {
  counts[at + bucketOf(ms)]!++
  counts[at + BUCKETS]! += ms
}
