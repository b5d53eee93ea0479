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

type MetricRead = () => number | Iterable<MetricSample | HistogramSample>

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

/** The numbers of one metric as they cross threads. */
export interface MetricTable {
  readonly name: MetricName
  readonly samples: readonly (MetricSample | HistogramSample)[]
}

/** How numbers of several threads are one. */
type Together = NonNullable<MetricEntry['together']>

/** All numbers of a part as they are now. */
export function metricTables({ sources }: Pick<MetricRegistry, 'sources'>): MetricTable[] {
  return sources.map(({ name, read }) => {
    const samples = read()
    return { name, samples: typeof samples === 'number' ? [{ labels: {}, value: samples }] : [...samples] }
  })
}

/** The numbers of several threads as those of one part: added up, or as the catalogue says. */
export function mergeMetricTables(threads: readonly (readonly MetricTable[])[]): MetricSource[] {
  const merged = new Map<MetricName, Map<string, MetricSample | HistogramSample>>()
  for (const { name, samples } of threads.flat()) {
    const all = merged.get(name) ?? new Map<string, MetricSample | HistogramSample>()
    merged.set(name, all)
    const together = togetherOf(metricEntry(name))
    for (const sample of samples) {
      const labels = JSON.stringify(sample.labels)
      const before = all.get(labels)
      all.set(labels, before === undefined ? sample : join(before, sample, together))
    }
  }
  return [...merged].map(([name, samples]) => ({ name, ...metricEntry(name), read: () => samples.values() }))
}

/** Of the numbers of a thread those that must not go down when it ends. */
export function countersAmong(tables: readonly MetricTable[]): MetricTable[] {
  return tables.filter(({ name }) => metricEntry(name).kind !== 'gauge' && togetherOf(metricEntry(name)) === 'sum')
}

function togetherOf({ kind, together }: MetricEntry): Together {
  return together ?? (kind === 'gauge' ? 'max' : 'sum')
}

function join(
  a: MetricSample | HistogramSample,
  b: MetricSample | HistogramSample,
  together: Together,
): MetricSample | HistogramSample {
  if ('value' in a && 'value' in b) return { labels: a.labels, value: number(a.value, b.value, together) }
  if ('value' in a || 'value' in b) return a
  const counts = Float64Array.from(a.counts, (count, i) => count + (b.counts[i] ?? 0))
  return { labels: a.labels, bounds: a.bounds, counts, sum: a.sum + b.sum }
}

function number(a: number, b: number, together: Together): number {
  if (together === 'sum') return a + b
  return together === 'min' ? Math.min(a, b) : Math.max(a, b)
}
