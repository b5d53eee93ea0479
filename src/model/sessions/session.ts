import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../json/json.ts'
import type { ScalarValues } from '../json/scalar-fields.ts'
import type { POLICY_FIELDS } from '../policies/policy-fields.ts'
import {
  type Check,
  COMMON,
  checkFields,
  checkLength,
  checksOf,
  date,
  Findings,
  flag,
  integer,
  listOf,
  number,
  object,
  oneOf,
  schemaOf,
  shape,
  text,
  withApiIds,
} from './session-fields.ts'

// Types rather than interfaces: what they describe is JSON, which only types are taken for.

/** One limit block of sessions, policies and access rights (per seconds). */
export type LimitFields = {
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

export type AllowedUrl = {
  url: string
  /** null in what was stored before saves left it out: no method. */
  methods: string[] | null
}

export type EndpointLimit = {
  path: string
  /** null as in `AllowedUrl`. */
  methods: { name: string; limit: { rate: number; per: number } }[] | null
}

/** The access of a session or policy to one API. */
export type AccessDefinition = {
  api_id: string
  api_name?: string
  versions?: string[]
  allowed_urls?: AllowedUrl[] | null
  limit?: LimitFields | null
  allowance_scope?: string
  endpoints?: EndpointLimit[] | null
}

/**
 * A session of a key or an access token, as on the wire (zero values may be absent).
 * Fields that this build does not enforce are kept as they came.
 */
export type Session = LimitFields & {
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
  post_expiry_action?: '' | 'retain' | 'delete'
  post_expiry_grace_period?: number
  hmac_enabled?: boolean
  enable_http_signature_validation?: boolean
}

/** Parts that a policy controls; none set means all but `per_api`. */
export type Partitions = {
  quota?: boolean
  rate_limit?: boolean
  complexity?: boolean
  acl?: boolean
  per_api?: boolean
}

/** A policy as on the wire. */
export type Policy = LimitFields &
  Partial<ScalarValues<typeof POLICY_FIELDS>> & {
    _id?: string
    id?: string
    name?: string
    org_id?: string
    access_rights?: Record<string, AccessDefinition> | null
    active?: boolean
    is_inactive?: boolean
    tags?: string[] | null
    partitions?: Partitions
    meta_data?: JsonObject | null
    date_created?: string
    last_updated?: string
    post_expiry_action?: '' | 'retain' | 'delete'
    post_expiry_grace_period?: number
    enable_http_signature_validation?: boolean
  }

const FIELDS = {
  ...COMMON,
  allowance: number,
  last_check: number,
  date_created: date,
  expires: integer,
  apply_policies: listOf(text),
  apply_policy_id: text,
  oauth_client_id: text,
  oauth_keys: object,
  basic_auth_data: shape('BasicAuthData', {
    password: text,
    hash_type: oneOf('', 'argon2id', 'bcrypt', 'sha256', 'murmur32', 'murmur64', 'murmur128'),
  }),
  jwt_data: shape('JwtData', { secret: text }),
  hmac_string: text,
  rsa_certificate_id: text,
  certificate: text,
  mtls_static_certificate_bindings: listOf(text),
  data_expires: integer,
  monitor: shape('Monitor', { trigger_limits: listOf(number) }),
  enable_detailed_recording: flag,
  enable_detail_recording: flag,
  alias: text,
  id_extractor_deadline: integer,
  session_lifetime: integer,
} satisfies Readonly<Record<string, Check>>
const CHECKS = checksOf(FIELDS)

/** The JSON Schema of a session, for the API document: members that are not described are kept. */
export const SESSION_SCHEMA: JsonObject = schemaOf('Session', FIELDS)

/**
 * Checks a session as it came over the wire and answers it typed, without members that are null; unknown fields are kept, an access right without `api_id`
 * takes that of its key. With `rights` (a key or token) it must have access rights or policies; a session that limits a whole
 * organisation needs neither.
 * @throws Fault `key_invalid` (400) naming the path of each fault, `rights_missing` (400)
 */
export function checkSession(body: JsonObject, need: 'rights' | 'limits' = 'rights'): Session {
  const findings = new Findings()
  checkFields(body, CHECKS, '', findings)
  checkLength(body, findings)
  if (findings.list.length > 0) throw fault('key_invalid', findings.text)
  const session = withApiIds(findings.withoutNulls(body)) as Session
  if (need === 'rights' && !hasRights(session)) throw fault('rights_missing')
  return session
}

function hasRights({ access_rights, apply_policies, apply_policy_id }: Session): boolean {
  if (Object.keys(access_rights ?? {}).length > 0) return true
  return (apply_policies ?? []).length > 0 || (apply_policy_id ?? '') !== ''
}
