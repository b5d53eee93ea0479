export type MetricKind = 'counter' | 'gauge' | 'histogram'

/** The description of one metric in `/metrics`. */
export interface MetricEntry {
  readonly kind: MetricKind
  /** The HELP line: one sentence, with the unit where the name has none. */
  readonly help: string
  /** Names of its labels. Their values are bounded: callers cannot make series. */
  readonly labels?: readonly string[]
  /** The part that has it; absent = gateway and dashboard. */
  readonly part?: 'gateway' | 'dashboard'
  /** When it is there; absent = always. */
  readonly only?: string
  /** How the numbers of several gateway threads are one; absent = counters and histograms are added up, of gauges the largest counts. */
  readonly together?: 'sum' | 'max' | 'min'
}

const gateway = 'gateway'
const dashboard = 'dashboard'
const CLUSTER = 'in a cluster'
const BACKUPS = 'with `backup.folder`'

/**
 * Every metric, once: names as Prometheus advises (base units, `_total` for counters), and what the page and the docs say. A part
 * offers the number under the name (`MetricRegistry.offer`).
 */
export const METRICS = {
  svc_http_requests_total: {
    kind: 'counter',
    help: 'Requests answered, by API and status.',
    labels: ['api', 'status'],
    part: gateway,
  },
  svc_http_request_outcomes_total: {
    kind: 'counter',
    help: 'Requests by API and outcome: complete, cut_by_client, cut_by_upstream, or cut_by_gateway (a stop, a client that does not read, a revoked key, GOAWAY).',
    labels: ['api', 'outcome'],
    part: gateway,
  },
  svc_http_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time of requests: all of it (total), the upstream, the gateway.',
    labels: ['api', 'type'],
    part: gateway,
  },
  svc_http_requests_in_flight: {
    kind: 'gauge',
    help: 'Requests that are being answered.',
    part: gateway,
    together: 'sum',
  },
  svc_refusals_total: {
    kind: 'counter',
    help: 'Requests that the gateway refused or could not serve, by fault code.',
    labels: ['code'],
    part: gateway,
  },
  svc_upstream_responses_total: {
    kind: 'counter',
    help: 'Answers of upstreams that were passed on, by API and class of status.',
    labels: ['api', 'code'],
    part: gateway,
  },
  svc_upstream_failures_total: {
    kind: 'counter',
    help: 'Attempts to reach an upstream that failed, by fault code.',
    labels: ['kind'],
    part: gateway,
  },
  svc_upstream_targets: {
    kind: 'gauge',
    help: 'Targets of APIs with health checks, ejection or retries, by state: up, down (checks failed) or ejected (requests failed).',
    labels: ['api_id', 'state'],
    part: gateway,
  },
  svc_upstream_retries_total: { kind: 'counter', help: 'Requests that were retried.', part: gateway },
  svc_upstream_retries_refused_total: {
    kind: 'counter',
    help: 'Requests that were not retried because the retry budget was used up.',
    part: gateway,
  },
  svc_upstream_connections: { kind: 'gauge', help: 'Open connections to upstreams.', part: gateway, together: 'sum' },
  svc_breakers_open: { kind: 'gauge', help: 'Circuit breakers that are open or half-open.', part: gateway },
  svc_underscore_fields_dropped_total: {
    kind: 'counter',
    help: 'Request fields dropped because upstreams may take their name for another one (underscores, other punctuation).',
    part: gateway,
  },
  svc_patterns_over_budget_total: {
    kind: 'counter',
    help: 'Requests refused because their rules take too much work.',
    part: gateway,
  },
  svc_connections: { kind: 'gauge', help: 'Open client connections.', together: 'sum' },
  svc_connections_refused_total: {
    kind: 'counter',
    help: 'Connections of clients that were refused, and connections to upstreams that were not opened, by reason and place.',
    labels: ['reason', 'place'],
    part: gateway,
  },
  svc_http2_goaways_total: {
    kind: 'counter',
    help: 'HTTP/2 connections of clients that were ended with GOAWAY, by reason: an error of the protocol, a flood that a guard ended, or none (idle, drained).',
    labels: ['reason'],
    part: gateway,
  },
  svc_draining: { kind: 'gauge', help: '1 from the signal to stop on.', part: gateway },
  svc_apis_loaded: { kind: 'gauge', help: 'APIs that this node serves.', part: gateway, together: 'min' },
  svc_apis_failed: { kind: 'gauge', help: 'APIs that this node does not serve as stored.', part: gateway },
  svc_revision: { kind: 'gauge', help: 'Revision of the configuration in force.', part: gateway, together: 'min' },
  svc_store_revision: {
    kind: 'gauge',
    help: 'Revision of the configuration that the store holds, as last read.',
    part: gateway,
  },
  svc_behind: { kind: 'gauge', help: '1 while a change could not be read from the store.', part: gateway },
  svc_store_rollbacks_total: {
    kind: 'counter',
    together: 'max',
    help: 'How often the store held another history than before (restored, or failed over to a standby that lagged).',
    part: gateway,
  },
  svc_clock_offset_seconds: {
    kind: 'gauge',
    help: 'How far the clock of this node is ahead of that of the database, by which dates are judged.',
    part: gateway,
    only: CLUSTER,
  },
  svc_reloads_total: { kind: 'counter', help: 'Changes taken over.', part: gateway, together: 'max' },
  svc_reload_seconds: { kind: 'gauge', help: 'Time that the last change took.', part: gateway },
  svc_sessions_cached: { kind: 'gauge', help: 'Keys and tokens in memory.', part: gateway, together: 'sum' },
  svc_session_cache_hits_total: { kind: 'counter', help: 'Look-ups answered from memory.', part: gateway },
  svc_session_cache_misses_total: { kind: 'counter', help: 'Look-ups that went to the store.', part: gateway },
  svc_cache_bytes: { kind: 'gauge', help: 'Memory of stored answers.', part: gateway, together: 'sum' },
  svc_cache_entries: { kind: 'gauge', help: 'Stored answers.', part: gateway, together: 'sum' },
  svc_cache_hits_total: { kind: 'counter', help: 'Requests answered with a stored answer.', part: gateway },
  svc_cache_misses_total: {
    kind: 'counter',
    help: 'Requests that could have been, and went to the upstream.',
    part: gateway,
  },
  svc_cache_evictions_total: { kind: 'counter', help: 'Stored answers dropped to make room.', part: gateway },
  svc_events_told_total: {
    kind: 'counter',
    help: 'Messages about events that were stored or logged.',
    part: gateway,
  },
  svc_events_held_total: {
    kind: 'counter',
    help: 'Events that were suppressed by a cooldown or by the rate limit.',
    part: gateway,
  },
  svc_events_dropped_total: { kind: 'counter', help: 'Events lost before they could be stored.', part: gateway },
  svc_hits_waiting: {
    kind: 'gauge',
    together: 'sum',
    help: 'Hit rows not yet stored.',
    part: gateway,
    only: 'with analytics',
  },
  svc_hits_oldest_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest hit that is not stored yet, within a second; 0 when all are stored.',
    part: gateway,
    only: 'with analytics',
  },
  svc_hits_overflowed_total: {
    kind: 'counter',
    help: 'Requests counted without their key because too many rows waited.',
    part: gateway,
    only: 'with analytics',
  },
  svc_records_stored_total: {
    kind: 'counter',
    help: 'Single requests that were recorded.',
    part: gateway,
    only: 'with request records',
  },
  svc_records_dropped_total: {
    kind: 'counter',
    help: 'Single requests that were not recorded: too many came, or the store did not take them.',
    part: gateway,
    only: 'with request records',
  },
  svc_access_log_dropped_total: {
    kind: 'counter',
    help: 'Lines thrown away because they could not be written fast enough.',
    part: gateway,
    only: 'with `gateway.access_log`',
  },
  svc_spans_sent_total: {
    kind: 'counter',
    help: 'Spans that the collector took.',
    part: gateway,
    only: 'with `opentelemetry.enabled`',
  },
  svc_spans_dropped_total: {
    kind: 'counter',
    help: 'Spans thrown away: too many waited, or the collector did not take them.',
    part: gateway,
    only: 'with `opentelemetry.enabled`',
  },
  svc_certificate_expiry_timestamp_seconds: {
    kind: 'gauge',
    help: 'When certificates of the TLS port end, those that end first; `file` is that of `gateway.tls.cert_file`.',
    labels: ['certificate'],
    part: gateway,
    only: 'with `gateway.tls.enabled`',
  },
  svc_dashboard_requests_total: {
    kind: 'counter',
    help: 'Requests that the dashboard answered, by method and status.',
    labels: ['method', 'status'],
    part: dashboard,
  },
  svc_dashboard_request_duration_seconds: {
    kind: 'histogram',
    help: 'Time of requests to the dashboard, by method.',
    labels: ['method'],
    part: dashboard,
  },
  svc_dashboard_requests_in_flight: {
    kind: 'gauge',
    help: 'Requests that the dashboard is answering.',
    part: dashboard,
  },
  svc_store_write_duration_seconds: {
    kind: 'histogram',
    help: 'Time of writes to the store until they are durable, by what was written: changes, hits or records.',
    labels: ['kind'],
  },
  svc_store_write_failures_total: {
    kind: 'counter',
    help: 'Writes that the store did not take, by what was to be written. Refusals for what a change holds are not counted.',
    labels: ['kind'],
  },
  svc_store_writes_in_flight: {
    kind: 'gauge',
    together: 'sum',
    help: 'Writes that wait to be durable, by what is written.',
    labels: ['kind'],
  },
  svc_part_up: {
    kind: 'gauge',
    together: 'min',
    help: 'Whether a part that this process depends on does what it is there for, as `/hello` tells: 1 or 0.',
    labels: ['part'],
  },
  svc_feed_lag_seconds: {
    kind: 'gauge',
    help: 'For how long a change of another process has not been known here.',
    only: CLUSTER,
  },
  svc_copy_age_seconds: {
    kind: 'gauge',
    help: 'For how long the store has been away and the local copy is served; 0 while the store answers.',
    part: gateway,
    only: CLUSTER,
  },
  svc_outbox_age_seconds: {
    kind: 'gauge',
    help: 'For how long the oldest notification that is to be delivered has waited.',
  },
  svc_disk_free_bytes: { kind: 'gauge', help: 'Free space where the data folder is.' },
  svc_backup_last_success_timestamp_seconds: {
    kind: 'gauge',
    help: 'When the last backup that is complete was begun; 0 = there is none.',
    only: BACKUPS,
  },
  svc_backup_failures_total: { kind: 'counter', help: 'Backups that failed.', only: BACKUPS, together: 'max' },
  svc_redis_call_duration_seconds: {
    kind: 'histogram',
    help: 'Time of calls to Redis that were answered.',
    only: CLUSTER,
  },
  svc_thread_utilization_ratio: {
    kind: 'gauge',
    help: 'Share of the last seconds in which the event loop of a thread was at work: 0 to 1.',
    labels: ['thread'],
  },
  svc_event_loop_delay_p99_seconds: {
    kind: 'gauge',
    help: 'Delay of the event loop, 99th percentile of the last seconds.',
  },
  svc_heap_used_bytes: { kind: 'gauge', help: 'Heap in use by the thread of this part.', together: 'sum' },
  process_resident_memory_bytes: { kind: 'gauge', help: 'Resident memory.' },
  process_cpu_seconds_total: { kind: 'counter', help: 'User and system CPU time spent.', together: 'max' },
  process_start_time_seconds: { kind: 'gauge', help: 'Start time since the Unix epoch.' },
  process_open_fds: { kind: 'gauge', help: 'Open file descriptors.', only: 'on Linux' },
  process_max_fds: { kind: 'gauge', help: 'File descriptors that may be open at once.', only: 'on Linux' },
  svc_build_info: {
    kind: 'gauge',
    help: 'Always 1; the labels tell the version.',
    labels: ['version', 'node'],
  },
} as const satisfies Readonly<Record<string, MetricEntry>>

export type MetricName = keyof typeof METRICS

/** The entry of a metric, without what only its own type knows. */
export function metricEntry(name: MetricName): MetricEntry {
  return METRICS[name]
}
