// Written by `npm run docs` from the tables of fields in src/model. Do not edit.

export interface DeveloperFields {
  readonly inactive: boolean
  readonly nonce: string
  readonly sso_key: string
  readonly password_max_days: number
}

export interface PolicyFields {
  readonly rate: number
  readonly per: number
  readonly quota_max: number
  readonly quota_renewal_rate: number
  readonly throttle_interval: number
  readonly throttle_retry_limit: number
  readonly max_query_depth: number
  readonly key_expires_in: number
  readonly hmac_enabled: boolean
}
