import { type MetricEntry, type MetricName, metricEntry } from './catalog.ts'
import type { HistogramSample, MetricRegistry, MetricSample, MetricSource } from './metric-registry.ts'

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
