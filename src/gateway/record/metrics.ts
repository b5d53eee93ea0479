import type { FaultCode } from '../../errors/catalog.ts'
import { ApiMetrics } from './api-metrics.ts'

/** APIs with a separate label; later ones are added up under `other`. */
const LABELLED_APIS = 1000

export type MetricKind = 'counter' | 'gauge'
/** One number of a metric and the labels that tell it from its siblings. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}
export interface MetricSource {
  /** Without the `_total` of counters, which is added where the format wants it. */
  readonly name: string
  readonly kind: MetricKind
  readonly help: string
  /** Asked at each scrape. */
  read(): number | readonly MetricSample[]
}

/** Everything in `/metrics`: request counts kept here, and the metrics that other parts provide. */
export class Metrics {
  readonly #apis = new Map<string, ApiMetrics>()
  readonly #other = new ApiMetrics()
  #labelled = 0
  readonly #sources: MetricSource[] = []
  readonly #upstreamFailures = new Map<FaultCode, number>()

  #hiddenFields = 0
  #overBudget = 0

  constructor() {
    this.counter(
      'svc_underscore_fields_dropped',
      'Request fields dropped because upstreams may take their name for another one (underscores, other punctuation).',
      () => this.#hiddenFields,
    )
    this.counter(
      'svc_patterns_over_budget',
      'Requests refused because their rules take too much work.',
      () => this.#overBudget,
    )
    this.offer({
      name: 'svc_upstream_failures',
      kind: 'counter',
      help: 'Attempts to reach an upstream that failed, by fault code.',
      read: () => Array.from(this.#upstreamFailures, ([kind, value]) => ({ labels: { kind }, value })),
    })
  }

  /**
   * The counts of one API ('' for requests that matched none). Ask once, when the API is compiled: the same id gives the same
   * object, so a reload loses nothing. An API without traffic holds no numbers and no label.
   */
  api(apiId: string): ApiMetrics {
    const found = this.#apis.get(apiId)
    if (found !== undefined) return found
    const made = new ApiMetrics(() => {
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
    this.#upstreamFailures.set(kind, (this.#upstreamFailures.get(kind) ?? 0) + 1)
  }

  patternsOverBudget(): void {
    this.#overBudget++
  }

  fieldsHidden(count: number): void {
    this.#hiddenFields += count
  }

  /** Adds a number to the page. Names begin with `svc_` and are given once. */
  offer(source: MetricSource): void {
    if (this.#sources.some((other) => other.name === source.name))
      throw new Error(`metric ${source.name} offered twice`)
    this.#sources.push(source)
  }

  /** Adds a number that goes up and down. */
  gauge(name: string, help: string, read: () => number): void {
    this.offer({ name, kind: 'gauge', help, read })
  }

  /** Adds a number that only grows. `name` without `_total`. */
  counter(name: string, help: string, read: () => number): void {
    this.offer({ name, kind: 'counter', help, read })
  }

  get sources(): readonly MetricSource[] {
    return this.#sources
  }

  /** Counts by API label, of the APIs that had traffic. */
  *labelledApis(): Generator<[label: string, counts: ApiMetrics]> {
    for (const [apiId, counts] of this.#apis) if (counts.counts !== undefined) yield [apiId, counts]
    if (this.#other.counts !== undefined) yield ['other', this.#other]
  }
}
