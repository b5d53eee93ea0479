import type { Attributes, Meter } from '@opentelemetry/api'
import type { MetricRegistry } from '../../model/metrics/metric-registry.ts'
import { metricSamples } from '../../runtime/render-metrics.ts'

/** The boundaries that the conventions advise for durations of HTTP, seconds. */
const BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** The instruments for requests. Durations in milliseconds. */
export interface Instruments {
  active(change: 1 | -1, attributes: Attributes): void
  served(durationMs: number, attributes: Attributes): void
  asked(durationMs: number, attributes: Attributes): void
}

/** Makes the instruments of the conventions for HTTP servers and clients. */
export function httpInstruments(meter: Meter): Instruments {
  const duration = (name: string, description: string) =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: BOUNDARIES } })
  const server = duration('http.server.request.duration', 'Duration of HTTP server requests.')
  const client = duration('http.client.request.duration', 'Duration of HTTP client requests.')
  const active = meter.createUpDownCounter('http.server.active_requests', {
    description: 'Number of active HTTP server requests.',
    unit: '{request}',
  })
  return {
    active: (change, attributes) => active.add(change, attributes),
    served: (durationMs, attributes) => server.record(durationMs / 1000, attributes),
    asked: (durationMs, attributes) => client.record(durationMs / 1000, attributes),
  }
}

/** Metrics that the instruments of the conventions tell already. */
const COVERED_METRICS = /^svc_http_/

/** Exports the node's own metrics under `gatehouse.` instead of `svc_`. Read at each export. */
export function offerSources(meter: Meter, metrics: Pick<MetricRegistry, 'sources'>): void {
  for (const source of metrics.sources) {
    if (!source.name.startsWith('svc_') || COVERED_METRICS.test(source.name) || source.kind === 'histogram') continue
    const name = `gatehouse.${source.name.slice('svc_'.length).replace(/_total$/, '')}`
    const options = { description: source.help }
    const instrument =
      source.kind === 'counter'
        ? meter.createObservableCounter(name, options)
        : meter.createObservableGauge(name, options)
    instrument.addCallback((result) => {
      for (const sample of metricSamples(source)) if ('value' in sample) result.observe(sample.value, sample.labels)
    })
  }
}
