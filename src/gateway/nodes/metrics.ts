import type { TrafficEvents } from '../../publish/events/traffic-events.ts'
import type { StoreClock } from '../../store/ports/ports.ts'
import type { ApiCatalogue } from '../apis/catalogue.ts'
import type { LiveConfig } from '../apis/live.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import type { AccessLog } from '../record/access-log.ts'
import type { HitBook } from '../record/hit-book.ts'
import type { Metrics } from '../record/metrics.ts'
import type { RecordBook } from '../record/record-book.ts'
import type { TlsCertificates } from '../server/tls.ts'
import type { Sessions } from '../sessions/sessions.ts'

export interface GatewayGauges {
  readonly catalogue: ApiCatalogue
  readonly live: LiveConfig
  readonly sessions: Sessions
  readonly responses: ResponseCache
  readonly book: HitBook | undefined
  readonly records: RecordBook | undefined
  readonly accessLog: AccessLog | undefined
  readonly events: TrafficEvents
  readonly tls: TlsCertificates | undefined
  readonly connections: () => number
  /** Open connections to upstreams. */
  readonly upstreamConnections: () => number
  readonly draining: () => boolean
  /** Of the database; absent = dates are judged by the clock of the system. */
  readonly storeClock: StoreClock | undefined
}

/** Adds what the gateway knows of itself to the metrics page. */
export function offerGatewayMetrics(metrics: Metrics, parts: GatewayGauges): void {
  const { catalogue, live, sessions, responses, book, records, accessLog, events, storeClock } = parts
  metrics.offer('svc_connections', parts.connections)
  metrics.offer('svc_upstream_connections', parts.upstreamConnections)
  metrics.offer('svc_draining', () => Number(parts.draining()))
  metrics.offer('svc_apis_loaded', () => catalogue.loaded)
  metrics.offer('svc_apis_failed', () => catalogue.failed)
  metrics.offer('svc_revision', () => live.snapshot.revision)
  metrics.offer('svc_store_revision', () => live.storedRevision)
  metrics.offer('svc_behind', () => Number(live.behind))
  metrics.offer('svc_store_rollbacks_total', () => live.rollbacks)
  if (storeClock !== undefined) metrics.offer('svc_clock_offset_seconds', () => storeClock.aheadMs / 1000)
  metrics.offer('svc_reloads_total', () => live.reloads)
  metrics.offer('svc_reload_seconds', () => live.lastReloadMs / 1000)
  metrics.offer('svc_sessions_cached', () => sessions.size)
  metrics.offer('svc_session_cache_hits_total', () => sessions.hits)
  metrics.offer('svc_session_cache_misses_total', () => sessions.misses)
  metrics.offer('svc_cache_bytes', () => responses.bytes)
  metrics.offer('svc_cache_entries', () => responses.entries)
  metrics.offer('svc_cache_hits_total', () => responses.hits)
  metrics.offer('svc_cache_misses_total', () => responses.misses)
  metrics.offer('svc_cache_evictions_total', () => responses.evictions)
  metrics.offer('svc_events_told_total', () => events.reported)
  metrics.offer('svc_events_held_total', () => events.held)
  metrics.offer('svc_events_dropped_total', () => events.dropped)
  if (book !== undefined) {
    metrics.offer('svc_hits_waiting', () => book.waiting)
    metrics.offer('svc_hits_oldest_seconds', () => book.oldestMs / 1000)
    metrics.offer('svc_hits_overflowed_total', () => book.overflowed)
  }
  if (records !== undefined) {
    metrics.offer('svc_records_stored_total', () => records.stored)
    metrics.offer('svc_records_dropped_total', () => records.dropped)
  }
  if (accessLog !== undefined) metrics.offer('svc_access_log_dropped_total', () => accessLog.dropped)
  const { tls } = parts
  if (tls !== undefined)
    metrics.offer('svc_certificate_expiry_timestamp_seconds', () =>
      tls.ends().map(({ certificate, endsAt }) => ({ labels: { certificate }, value: endsAt / 1000 })),
    )
}
