import type { FaultCode } from '../../errors/catalog.ts'
import { LATENCY_BOUNDS_MS } from '../../model/analytics/hit.ts'
import { type HistogramSample, MetricRegistry, type MetricSample } from '../../model/metrics/metric-registry.ts'
import type { GoawayReason } from '../../wire/http2/goaway.ts'
import { ApiMetrics, DURATION_TYPES, UPSTREAM_CLASSES } from './api-metrics.ts'
import { OUTCOMES } from './outcome.ts'

/** APIs with a separate label; later ones are added up under `other`. */
const LABELLED_APIS = 1000

/** Everything in the `/metrics` of the gateway: request counts kept here, and the metrics that other parts provide. */
export class Metrics extends MetricRegistry {
  readonly #apis = new Map<string, ApiMetrics>()
  readonly #boundsMs: readonly number[]
  readonly #bounds: readonly number[]
  readonly #other: ApiMetrics
  #labelled = 0
  readonly #upstreamFailures = new Map<FaultCode, number>()
  readonly #refusals = new Map<FaultCode, number>()
  readonly #goaways = new Map<GoawayReason, number>()

  #hiddenFields = 0
  #overBudget = 0
  /** Requests that have begun and are not over. */
  inFlight = 0

  /** `boundsMs`: of the histograms of durations, growing. */
  constructor(boundsMs: readonly number[] = LATENCY_BOUNDS_MS) {
    super()
    this.#boundsMs = boundsMs
    this.#bounds = boundsMs.map((ms) => ms / 1000)
    this.#other = new ApiMetrics(boundsMs)
    this.offer('svc_http_requests_total', () => this.#requestSamples())
    this.offer('svc_http_request_outcomes_total', () => this.#outcomeSamples())
    this.offer('svc_http_request_duration_seconds', () => this.#durationSamples())
    this.offer('svc_http_requests_in_flight', () => this.inFlight)
    this.offer('svc_refusals_total', () => samplesBy('code', this.#refusals))
    this.offer('svc_upstream_responses_total', () => this.#upstreamSamples())
    this.offer('svc_upstream_failures_total', () => samplesBy('kind', this.#upstreamFailures))
    this.offer('svc_http2_goaways_total', () => samplesBy('reason', this.#goaways))
    this.offer('svc_underscore_fields_dropped_total', () => this.#hiddenFields)
    this.offer('svc_patterns_over_budget_total', () => this.#overBudget)
  }

  /**
   * The counts of one API ('' for requests that matched none). Ask once, when the API is compiled: the same id gives the same
   * object, so a reload loses nothing. An API without traffic holds no numbers and no label.
   */
  api(apiId: string): ApiMetrics {
    const found = this.#apis.get(apiId)
    if (found !== undefined) return found
    const made = new ApiMetrics(this.#boundsMs, () => {
      if (this.#labelled >= LABELLED_APIS) return this.#other
      this.#labelled++
      return undefined
    })
    this.#apis.set(apiId, made)
    return made
  }

  /** Forgets an API that this node serves no longer. Requests of it still in flight are counted nowhere. */
  drop(apiId: string): void {
    if (this.#apis.get(apiId)?.counts !== undefined) this.#labelled--
    this.#apis.delete(apiId)
  }

  upstreamFailed(kind: FaultCode): void {
    countOne(this.#upstreamFailures, kind)
  }

  refused(code: FaultCode): void {
    countOne(this.#refusals, code)
  }

  goaway(reason: GoawayReason): void {
    countOne(this.#goaways, reason)
  }

  patternsOverBudget(): void {
    this.#overBudget++
  }

  fieldsHidden(count: number): void {
    this.#hiddenFields += count
  }

  /** Counts by API label, of the APIs that had traffic. */
  *labelledApis(): Generator<[label: string, counts: ApiMetrics]> {
    for (const [apiId, counts] of this.#apis) if (counts.counts !== undefined) yield [apiId, counts]
    if (this.#other.counts !== undefined) yield ['other', this.#other]
  }

  *#requestSamples(): Generator<MetricSample> {
    for (const [api, { statuses, statusCounts, otherStatuses }] of this.labelledApis()) {
      for (const [i, status] of statuses.entries())
        yield { labels: { api, status: String(status) }, value: statusCounts[i]! }
      if (otherStatuses > 0) yield { labels: { api, status: 'other' }, value: otherStatuses }
    }
  }

  *#outcomeSamples(): Generator<MetricSample> {
    for (const [api, counts] of this.labelledApis()) {
      const values = counts.outcomes()
      for (const [at, outcome] of OUTCOMES.entries()) yield { labels: { api, outcome }, value: values[at]! }
    }
  }

  *#durationSamples(): Generator<HistogramSample> {
    for (const [api, counts] of this.labelledApis()) {
      for (const [at, type] of DURATION_TYPES.entries())
        yield { labels: { api, type }, bounds: this.#bounds, ...counts.durations(at) }
    }
  }

  *#upstreamSamples(): Generator<MetricSample> {
    for (const [api, counts] of this.labelledApis()) {
      // Also those of which there is none yet: a rate needs the 0 before the first.
      for (const [at, code] of UPSTREAM_CLASSES.entries())
        yield { labels: { api, code }, value: counts.upstreamAnswers(at) }
    }
  }
}

function countOne<K extends string>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function samplesBy(label: string, counts: ReadonlyMap<string, number>): MetricSample[] {
  return Array.from(counts, ([code, value]) => ({ labels: { [label]: code }, value }))
}
