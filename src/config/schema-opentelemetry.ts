import { flag, group, text, whole } from './leaves.ts'

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
