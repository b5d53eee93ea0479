import type { ScalarFields } from '../json/scalar-fields.ts'
import { LIMIT_TEXTS } from '../limits/limit-texts.ts'

/** Members of a policy that are one value each, in the order of an answer. A new one goes last. */
export const POLICY_FIELDS = {
  rate: { kind: 'number', answered: LIMIT_TEXTS.rate },
  per: { kind: 'number', answered: LIMIT_TEXTS.per },
  quota_max: { kind: 'integer', answered: LIMIT_TEXTS.quota_max },
  quota_renewal_rate: { kind: 'integer', answered: LIMIT_TEXTS.quota_renewal_rate },
  throttle_interval: { kind: 'number', answered: LIMIT_TEXTS.throttle_interval },
  throttle_retry_limit: { kind: 'integer', answered: LIMIT_TEXTS.throttle_retry_limit },
  max_query_depth: { kind: 'integer', answered: LIMIT_TEXTS.max_query_depth },
  key_expires_in: { kind: 'integer', answered: 'Seconds after which a new key with this policy expires. 0: never.' },
  hmac_enabled: { kind: 'flag', answered: 'Keys with the policy may sign requests with HMAC.' },
} as const satisfies ScalarFields
