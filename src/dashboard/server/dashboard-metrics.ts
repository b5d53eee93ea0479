import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { LATENCY_BOUNDS_MS } from '../../model/analytics/hit.ts'
import { DurationHistogram, MetricRegistry, type MetricSample } from '../../model/metrics/metric-registry.ts'
import { offerHealthMetrics } from '../../publish/nodes/health.ts'
import { offerProcessMetrics } from '../../runtime/process-metrics.ts'
import type { Store } from '../../store/ports/ports.ts'

/** Methods that anyone may invent are counted as one. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The `/metrics` of a dashboard, and the counts of its requests. */
export class DashboardMetrics {
  readonly registry = new MetricRegistry()
  readonly #boundsMs: readonly number[]
  /** By method, then by status. */
  readonly #requests = new Map<string, Map<number, number>>()
  readonly #durations = new Map<string, DurationHistogram>()
  #inFlight = 0

  /** `buckets`: `metrics.duration_buckets_ms`. */
  constructor(buckets: readonly string[]) {
    this.#boundsMs = buckets.length === 0 ? LATENCY_BOUNDS_MS : buckets.map(Number)
    this.registry.offer('svc_dashboard_requests_total', () => this.#requestSamples())
    this.registry.offer('svc_dashboard_request_duration_seconds', () =>
      Array.from(this.#durations, ([method, durations]) => durations.sample({ method })),
    )
    this.registry.offer('svc_dashboard_requests_in_flight', () => this.#inFlight)
  }

  /** Counts the requests and connections of a server, and measures its thread and its store. Answers the function that ends the measuring. */
  watch(server: FastifyInstance, store: Store, version: string): () => void {
    store.offerMetrics?.(this.registry)
    offerHealthMetrics(this.registry, store, 'dashboard')
    const sockets: Server = server.server
    let connections = 0
    sockets.on('connection', (socket) => {
      connections++
      socket.once('close', () => connections--)
    })
    sockets.on('request', (request, response) => {
      const beganAt = performance.now()
      this.#inFlight++
      response.once('close', () => {
        this.#inFlight--
        this.#count(request.method ?? '', response.statusCode, (performance.now() - beganAt) / 1000)
      })
    })
    this.registry.offer('svc_connections', () => connections)
    return offerProcessMetrics(this.registry, { version, thread: 'dashboard' })
  }

  #count(sent: string, status: number, seconds: number): void {
    const method = METHODS.has(sent) ? sent : 'other'
    const statuses = this.#requests.get(method) ?? new Map<number, number>()
    this.#requests.set(method, statuses)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const durations = this.#durations.get(method) ?? new DurationHistogram(this.#boundsMs)
    this.#durations.set(method, durations)
    durations.add(seconds)
  }

  *#requestSamples(): Generator<MetricSample> {
    for (const [method, statuses] of this.#requests)
      for (const [status, value] of statuses) yield { labels: { method, status: String(status) }, value }
  }
}
