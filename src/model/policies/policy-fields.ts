import type { ScalarFields } from '../json/scalar-fields.ts'
import { LIMIT_TEXTS } from '../limits/limit.ts'
import { MOST_SECONDS } from '../time/calendar.ts'

/** Members of a policy that are one value each, in the order of an answer. A new one goes last. */
export const POLICY_FIELDS = {
  rate: { kind: 'number', answered: LIMIT_TEXTS.rate, example: 100 },
  per: { kind: 'number', max: MOST_SECONDS, answered: LIMIT_TEXTS.per, example: 60 },
  quota_max: { kind: 'integer', answered: LIMIT_TEXTS.quota_max, example: 10_000 },
  quota_renewal_rate: { kind: 'integer', max: MOST_SECONDS, answered: LIMIT_TEXTS.quota_renewal_rate, example: 3600 },
  throttle_interval: { kind: 'number', max: MOST_SECONDS, answered: LIMIT_TEXTS.throttle_interval, example: 0.5 },
  throttle_retry_limit: { kind: 'integer', answered: LIMIT_TEXTS.throttle_retry_limit, example: 3 },
  max_query_depth: { kind: 'integer', answered: LIMIT_TEXTS.max_query_depth, example: -1 },
  key_expires_in: {
    kind: 'integer',
    max: MOST_SECONDS,
    answered: 'Seconds after which a new key with this policy expires. 0: never.',
    example: 0,
  },
  hmac_enabled: { kind: 'flag', answered: 'Keys with the policy may sign requests with HMAC.', example: false },
} as const satisfies ScalarFields
