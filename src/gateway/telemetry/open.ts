import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Config } from '../../config/schema.ts'
import { trimTrailing } from '../../model/text/trim-trailing.ts'
import type { WireHandler } from '../../wire/http1/exchange.ts'
import type { Metrics } from '../record/metrics.ts'
import type { Exchange } from '../server/exchange.ts'
import { httpInstruments, offerSources } from './instruments.ts'
import { SpanQueue } from './span-queue.ts'
import { TrafficTracer } from './trace-traffic.ts'

/** The sending of traces and metrics to a collector. */
export interface Telemetry {
  /** The same handler, with its requests traced and measured. */
  trace(handler: WireHandler<Exchange>): WireHandler<Exchange>
  /** Exports the node's own metrics, too. Call it when all of them are registered. */
  offer(): void
  /** Sends what waits, within the time that the collector is given. */
  close(): Promise<void>
}

export interface TelemetryParts {
  readonly settings: Config['opentelemetry']
  readonly metrics: Metrics
  readonly version: string
  readonly nodeName: string
}

/** Exports under way of one sort: one, and the one before, whose answer the exporter has not put away yet. */
const MOST_EXPORTS = 2

/** Series of one metric; further ones are added up. */
const MOST_SERIES = 2000

/** Opens traces and metrics. The packages that this takes are loaded with this file, and only then. */
export function openTelemetry({ settings, metrics, version, nodeName }: TelemetryParts): Telemetry {
  const { endpoint, timeout_ms: timeoutMillis, export_interval_ms: intervalMs } = settings
  const base = trimTrailing(endpoint, '/')
  const headers = headersOf(settings.headers)
  const resource = resourceFromAttributes({
    'service.name': settings.service_name,
    'service.version': version,
    'service.instance.id': nodeName,
  })
  const queue = new SpanQueue({
    exporter: new OTLPTraceExporter({
      url: `${base}/v1/traces`,
      headers,
      timeoutMillis,
      concurrencyLimit: MOST_EXPORTS,
    }),
    intervalMs,
    mostWaiting: settings.max_queue_spans,
  })
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(Number(settings.sampling_ratio)) })
  const tracers = new TracerProvider({ resource, sampler, spanProcessors: [queue] })
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({
      url: `${base}/v1/metrics`,
      headers,
      timeoutMillis,
      concurrencyLimit: MOST_EXPORTS,
    }),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(timeoutMillis, intervalMs),
    cardinalityLimits: { default: MOST_SERIES },
  })
  const meters = new MeterProvider({ resource, readers: [reader] })
  const meter = meters.getMeter('gatehouse', version)
  const tracer = new TrafficTracer(tracers.getTracer('gatehouse', version), httpInstruments(meter))
  metrics.offer('svc_spans_sent_total', () => queue.sent)
  metrics.offer('svc_spans_dropped_total', () => queue.dropped)
  return {
    trace: (handler) => tracer.around(handler),
    offer: () => offerSources(meter, metrics),
    async close() {
      // A collector that is away must not hold up the end.
      const late = new Promise<void>((resolve) => setTimeout(resolve, timeoutMillis).unref())
      const ended = [tracers.shutdown(), meters.shutdown()].map((ending) => ending.catch(() => {}))
      await Promise.race([Promise.all(ended), late])
    },
  }
}

/** `Name=value,Name=value` */
function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair !== '')
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}
