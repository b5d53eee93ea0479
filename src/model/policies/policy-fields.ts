import type { ScalarFields } from '../json/scalar-fields.ts'

/** Members of a policy that are one value each, in the order of an answer. A new one goes last. */
export const POLICY_FIELDS = {
  rate: { kind: 'number' },
  per: { kind: 'number' },
  quota_max: { kind: 'integer' },
  quota_renewal_rate: { kind: 'integer' },
  throttle_interval: { kind: 'number' },
  throttle_retry_limit: { kind: 'integer' },
  max_query_depth: { kind: 'integer' },
  /** Seconds that keys created by it live; 0 = without end. */
  key_expires_in: { kind: 'integer' },
  hmac_enabled: { kind: 'flag' },
} as const satisfies ScalarFields
