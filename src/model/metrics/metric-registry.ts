import { type MetricEntry, type MetricName, metricEntry } from './catalog.ts'

/** One number of a metric and the labels that tell it from its siblings. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** One histogram of a metric. */
export interface HistogramSample {
  readonly labels: Readonly<Record<string, string>>
  /** Upper bounds in seconds, growing, both ends included. */
  readonly bounds: readonly number[]
  /** Not cumulated; one more than there are bounds. */
  readonly counts: ArrayLike<number>
  /** Seconds. */
  readonly sum: number
}

export type MetricRead = () => number | Iterable<MetricSample | HistogramSample>

export interface MetricSource extends MetricEntry {
  readonly name: MetricName
  /** Asked at each scrape. */
  readonly read: MetricRead
}

/** A worker thread as its owner sees it. */
export interface WatchedThread {
  readonly name: string
  /** Milliseconds at work and idle since the thread started; undefined while it does not run. */
  readonly utilization: () => { readonly active: number; readonly idle: number } | undefined
}

/** Everything in `/metrics` of one part: each metric is offered by who knows its number. */
export class MetricRegistry {
  readonly #sources: MetricSource[] = []

  /** Adds a metric of the catalogue to the page. */
  offer(name: MetricName, read: MetricRead): void {
    if (this.#sources.some((other) => other.name === name)) throw new Error(`metric ${name} offered twice`)
    this.#sources.push({ name, ...metricEntry(name), read })
  }

  get sources(): readonly MetricSource[] {
    return this.#sources
  }
}

/** Durations in the buckets of one histogram. */
export class DurationHistogram {
  readonly bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0

  /** `boundsMs`: growing, in milliseconds. */
  constructor(boundsMs: readonly number[]) {
    this.bounds = boundsMs.map((ms) => ms / 1000)
    this.counts = new Float64Array(boundsMs.length + 1)
  }

  add(seconds: number): void {
    let bucket = 0
    while (bucket < this.bounds.length && seconds > this.bounds[bucket]!) bucket++
    this.counts[bucket]!++
    this.sum += seconds
  }

  /** The sample under these labels. */
  sample(labels: Readonly<Record<string, string>>): HistogramSample {
    return { labels, bounds: this.bounds, counts: this.counts, sum: this.sum }
  }
}
