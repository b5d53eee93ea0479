import { group, list, text } from './leaves.ts'

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
