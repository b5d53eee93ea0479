import type { JsonObject } from './json.ts'

/** One limit block as it stands in sessions, policies and access rights (per seconds). */
export interface LimitFields {
  rate?: number
  per?: number
  throttle_interval?: number
  throttle_retry_limit?: number
  max_query_depth?: number
  quota_max?: number
  quota_renews?: number
  quota_remaining?: number
  quota_renewal_rate?: number
}

export interface AllowedUrl {
  url: string
  methods: string[]
}

export interface EndpointLimit {
  path: string
  methods: { name: string; limit: { rate: number; per: number } }[]
}

/** What a session or policy may do at one API. */
export interface AccessDefinition {
  api_id: string
  api_name?: string
  versions?: string[]
  allowed_urls?: AllowedUrl[] | null
  limit?: LimitFields | null
  allowance_scope?: string
  endpoints?: EndpointLimit[] | null
}

/**
 * A session: what stands behind a key or an access token, as on the wire (zero values may be absent).
 * Fields that this build does not enforce are kept as they came.
 */
export interface Session extends LimitFields {
  org_id?: string
  access_rights?: Record<string, AccessDefinition> | null
  apply_policies?: string[]
  apply_policy_id?: string
  expires?: number
  is_inactive?: boolean
  meta_data?: JsonObject | null
  tags?: string[] | null
  alias?: string
  date_created?: string
  last_updated?: string
  oauth_client_id?: string
  session_lifetime?: number
}

/** Parts that a policy controls; none set means all but `per_api`. */
export interface Partitions {
  quota?: boolean
  rate_limit?: boolean
  complexity?: boolean
  acl?: boolean
  per_api?: boolean
}

/** A policy as on the wire. */
export interface Policy extends LimitFields {
  _id?: string
  id?: string
  name?: string
  org_id?: string
  access_rights?: Record<string, AccessDefinition> | null
  active?: boolean
  is_inactive?: boolean
  tags?: string[] | null
  key_expires_in?: number
  partitions?: Partitions
  meta_data?: JsonObject | null
  last_updated?: string
}
