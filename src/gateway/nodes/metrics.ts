import type { TrafficEvents } from '../../publish/events/traffic-events.ts'
import type { StoreClock } from '../../store/ports/ports.ts'
import type { ApiCatalogue } from '../apis/catalogue.ts'
import type { LiveConfig } from '../apis/live.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import type { AccessLog } from '../record/access-log.ts'
import type { HitBook } from '../record/hit-book.ts'
import type { Metrics } from '../record/metrics.ts'
import type { RecordBook } from '../record/record-book.ts'
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
  readonly connections: () => number
  readonly draining: () => boolean
  /** Of the database; absent = dates are judged by the clock of the system. */
  readonly storeClock: StoreClock | undefined
}

/** Adds what the gateway knows of itself to the metrics page. */
export function offerGatewayMetrics(metrics: Metrics, parts: GatewayGauges): void {
  const { catalogue, live, sessions, responses, book, records, accessLog, events, storeClock } = parts
  metrics.gauge('svc_connections', 'Open client connections.', parts.connections)
  metrics.gauge('svc_draining', '1 from the signal to stop on.', () => Number(parts.draining()))
  metrics.gauge('svc_apis_loaded', 'APIs that this node serves.', () => catalogue.loaded)
  metrics.gauge('svc_apis_failed', 'APIs that this node does not serve as stored.', () => catalogue.failed)
  metrics.gauge('svc_revision', 'Revision of the configuration in force.', () => live.snapshot.revision)
  metrics.gauge('svc_behind', '1 while a change could not be read from the store.', () => Number(live.behind))
  metrics.counter(
    'svc_store_rollbacks',
    'How often the store held another history than before (restored, or failed over to a standby that lagged).',
    () => live.rollbacks,
  )
  if (storeClock !== undefined)
    metrics.gauge(
      'svc_clock_offset_seconds',
      'How far the clock of this node is ahead of that of the database, by which dates are judged.',
      () => storeClock.aheadMs / 1000,
    )
  metrics.counter('svc_reloads', 'Changes taken over.', () => live.reloads)
  metrics.gauge('svc_reload_seconds', 'Time that the last change took.', () => live.lastReloadMs / 1000)
  metrics.gauge('svc_sessions_cached', 'Keys and tokens in memory.', () => sessions.size)
  metrics.counter('svc_session_cache_hits', 'Look-ups answered from memory.', () => sessions.hits)
  metrics.counter('svc_session_cache_misses', 'Look-ups that went to the store.', () => sessions.misses)
  metrics.gauge('svc_cache_bytes', 'Memory of stored answers.', () => responses.bytes)
  metrics.gauge('svc_cache_entries', 'Stored answers.', () => responses.entries)
  metrics.counter('svc_cache_hits', 'Requests answered with a stored answer.', () => responses.hits)
  metrics.counter(
    'svc_cache_misses',
    'Requests that could have been, and went to the upstream.',
    () => responses.misses,
  )
  metrics.counter('svc_cache_evictions', 'Stored answers dropped to make room.', () => responses.evictions)
  metrics.counter('svc_events_told', 'Messages about events that were stored or logged.', () => events.told)
  metrics.counter(
    'svc_events_held',
    'Events that were suppressed by a cooldown or by the rate limit.',
    () => events.held,
  )
  metrics.counter('svc_events_dropped', 'Events lost before they could be stored.', () => events.dropped)
  if (book !== undefined) {
    metrics.gauge('svc_hits_waiting', 'Hit rows not yet stored.', () => book.waiting)
    metrics.counter(
      'svc_hits_overflowed',
      'Requests counted without their key because too many rows waited.',
      () => book.overflowed,
    )
  }
  if (records !== undefined) {
    metrics.counter('svc_records_stored', 'Single requests that were recorded.', () => records.stored)
    metrics.counter(
      'svc_records_dropped',
      'Single requests that were not recorded: too many came, or the store did not take them.',
      () => records.dropped,
    )
  }
  if (accessLog !== undefined) {
    metrics.counter(
      'svc_access_log_dropped',
      'Lines thrown away because they could not be written fast enough.',
      () => accessLog.dropped,
    )
  }
}
