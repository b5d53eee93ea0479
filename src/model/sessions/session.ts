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
  documented,
  Findings,
  flag,
  integer,
  listOf,
  number,
  object,
  oneOf,
  schemaOf,
  seconds,
  shape,
  text,
  unixSeconds,
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

const UNUSED = 'Kept for programs of the incumbent, without effect.'

const FIELDS = {
  ...COMMON,
  allowance: documented(number, UNUSED, 0),
  last_check: documented(number, UNUSED, 0),
  date_created: documented(date, 'When it was created (RFC 3339).', '2026-11-27T12:00:00Z'),
  expires: documented(unixSeconds, 'When it expires, in Unix seconds. 0 or -1: never.', 0),
  apply_policies: documented(
    listOf(text),
    'Ids of policies that give access rights and limits. The most generous limit of several policies applies.',
    ['gold'],
  ),
  apply_policy_id: documented(
    text,
    'Older form of `apply_policies`, for one policy. Used only where that list is empty.',
    '',
  ),
  oauth_client_id: documented(text, 'Client id of the OAuth client that the token was issued to.', ''),
  oauth_keys: documented(object, UNUSED),
  basic_auth_data: documented(
    shape('BasicAuthData', {
      password: documented(text, 'Password. Answers do not show it.', 'correct horse battery'),
      hash_type: documented(
        oneOf('', 'argon2id', 'bcrypt', 'sha256', 'murmur32', 'murmur64', 'murmur128'),
        'Algorithm of the stored hash. Argon2id and bcrypt hashes can be sent as the password; others are refused.',
        '',
      ),
    }),
    'Password of a basic authentication user.',
  ),
  jwt_data: documented(
    shape('JwtData', {
      secret: documented(text, 'Shared secret as it is, or public key in PEM. Stored sealed.', ''),
    }),
    'Key that verifies the JWTs of this caller, at APIs whose JWT method names no source of keys.',
  ),
  hmac_string: documented(text, 'Shared secret of signed requests (HMAC).', ''),
  rsa_certificate_id: documented(text, UNUSED, ''),
  certificate: documented(text, 'Id or SHA-256 fingerprint of the client certificate that the key is for.', ''),
  mtls_static_certificate_bindings: documented(
    listOf(text),
    'Ids or SHA-256 fingerprints of client certificates. The key is accepted only with one of them.',
  ),
  data_expires: documented(integer, UNUSED, 0),
  monitor: documented(
    shape('Monitor', {
      trigger_limits: documented(
        listOf(number),
        'Percentages of the quota that raise the event `TriggerExceeded`.',
        [80, 100],
      ),
    }),
    'Events at shares of the quota.',
  ),
  enable_detailed_recording: documented(flag, UNUSED, false),
  enable_detail_recording: documented(flag, UNUSED, false),
  alias: documented(text, 'Name for people: console, analytics and logs show it.', 'mobile app'),
  id_extractor_deadline: documented(integer, UNUSED, 0),
  session_lifetime: documented(
    seconds,
    'Seconds after each save at which the store deletes the key. 0: the lifetime of its APIs.',
    0,
  ),
} satisfies Readonly<Record<string, Check>>
const CHECKS = checksOf(FIELDS)

/** The JSON Schema of a session, for the API document: members that are not described are kept. */
export const SESSION_SCHEMA: JsonObject = {
  ...schemaOf('Session', FIELDS),
  description: 'Rights, limits and facts of a key or token.',
}

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
