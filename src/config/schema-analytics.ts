import { flag, group, text, whole } from './leaves.ts'

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
