import { flag, group, list, text, whole } from './leaves.ts'

/** `opentelemetry`: traces and metrics for a collector. */
export const openTelemetrySettings = group({
  enabled: flag(false, 'Send traces and metrics of the gateway to a collector, and pass W3C trace context on.'),
  endpoint: text('http://127.0.0.1:4318', 'Address of the collector (OTLP over HTTP), without `/v1/traces`.', {
    allowed: 'an absolute http or https URL without query, fragment, user or password',
  }),
  headers: text('', 'Headers for the collector, such as `Authorization=Bearer abc`, separated by commas.', {
    secret: true,
    pattern: "^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+=[^\\x00-\\x1f\\x7f,]*(?:,|$))*$",
    allowed: 'Name=value, separated by commas',
  }),
  service_name: text('gatehouse', 'How traces and metrics call this service.', {
    pattern: '^\\S.*$',
    allowed: 'a name',
  }),
  sampling_ratio: text('1', 'Share of traces that begin here and are kept. A caller that sent a context has decided.', {
    pattern: '^(?:0(?:\\.\\d{1,9})?|1(?:\\.0{1,9})?)$',
    allowed: 'a number from 0 to 1, such as 0.05',
  }),
  export_interval_ms: whole(5000, [10, 3_600_000], 'How often traces and metrics are sent.'),
  timeout_ms: whole(5000, [10, 60_000], 'Longest wait for the collector.'),
  max_queue_spans: whole(
    8192,
    [1, 1_000_000],
    'Spans that wait for the collector. Further ones are dropped and counted.',
  ),
})

/** `gateway.monitor`: the shares of a quota that raise the event `TriggerExceeded`. */
export const monitorSettings = group({
  enable_trigger_monitors: flag(
    true,
    'Raise the event `TriggerExceeded` when a share of a quota is used, for APIs with handlers.',
  ),
  global_trigger_limit: whole(0, [0, 100], 'Share in percent that raises the event for every quota. 0: none.'),
  monitor_user_keys: flag(true, 'Hold that share against quotas of keys and tokens.'),
  monitor_org_keys: flag(true, 'Hold that share against quotas of organisations.'),
})

/** `metrics`: the page that Prometheus reads. */
export const metricsSettings = group({
  secret: text(
    '',
    'Opens `/metrics` of gateway and dashboard, and nothing else, as `Authorization: Bearer`. With it the page asks for a secret on the control port too. Empty: the secrets of the administration alone open the page.',
    { secret: true },
  ),
  duration_buckets_ms: list(
    'Upper bounds of the buckets of request durations on `/metrics`, growing. Empty: 1 to 10000 in thirteen steps. Each bound is three series for each API.',
    { pattern: '^\\d{1,7}(?:\\.\\d{1,3})?$', allowed: 'growing milliseconds, such as 5, 50 and 500' },
  ),
})

/** `analytics`: how long counts are kept, what is kept of single requests, and where their clients are. */
export const analyticsSettings = group({
  retention_days: whole(365, [0, 36_500], 'Days (UTC) that counts of requests are kept. 0: for ever.'),
  records_enabled: flag(true, 'Keep single requests for the log browser. False keeps counts alone.'),
  records_kept: whole(100_000, [0, 1_000_000], 'Single requests that are kept. The oldest are forgotten first.'),
  records_days: whole(7, [1, 3650], 'Days that single requests are kept.'),
  records_per_second: whole(
    200,
    [1, 10_000],
    'Single requests that a node keeps of one second. Of more a sample is kept, and how many are not.',
  ),
  detailed_recording: flag(
    false,
    'Keep head and body of request and answer, without secrets, for every API; else for those that ask for it.',
  ),
  detailed_max_bytes: whole(
    16_384,
    [0, 262_144],
    'Most bytes of a body that are kept. 0: heads alone. A longer one is cut.',
  ),
  geo_ip: group({
    file: text(
      '',
      'MMDB file with countries and cities of IP addresses. Reloaded when it changes. Empty: no countries.',
    ),
  }),
})
