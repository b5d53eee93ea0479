import type { Json, JsonObject } from '../../../src/model/json/json.ts'

/** Every field that sessions have, with a value that is right. */
export const WHOLE_SESSION: JsonObject = {
  rate: 10,
  per: 1.5,
  allowance: 3,
  last_check: 0,
  throttle_interval: 0.5,
  throttle_retry_limit: -1,
  quota_max: -1,
  quota_renewal_rate: 3600,
  quota_remaining: 5,
  quota_renews: 1_700_000_000,
  max_query_depth: -1,
  date_created: '2024-01-02T03:04:05.678Z',
  expires: -1,
  last_updated: '1700000000',
  access_rights: {
    orders: {
      api_id: 'orders',
      api_name: 'Orders',
      versions: ['Default'],
      allowed_urls: [{ url: '/a/{id}', methods: ['GET'] }],
      limit: { rate: 1, per: 1, quota_max: 0, smoothing: {} },
      allowance_scope: 's',
      endpoints: [{ path: '/x', methods: [{ name: 'GET', limit: { rate: 1, per: 60 } }] }],
      restricted_types: [{ name: 'Query', fields: ['a'] }],
      allowed_types: null,
      field_access_rights: [{ type_name: 'Query', field_name: 'a', limits: { max_query_depth: 1 } }],
      disable_introspection: true,
      unheard_of: [1],
    },
    users: { api_id: 'users', allowed_urls: null, limit: null, endpoints: null },
  },
  org_id: 'o',
  apply_policies: ['p'],
  apply_policy_id: '',
  oauth_client_id: '',
  oauth_keys: null,
  basic_auth_data: { password: 'x', hash_type: 'bcrypt' },
  jwt_data: { secret: 'x' },
  hmac_enabled: false,
  hmac_string: '',
  enable_http_signature_validation: false,
  rsa_certificate_id: '',
  certificate: '',
  mtls_static_certificate_bindings: ['c'],
  is_inactive: false,
  data_expires: 0,
  monitor: { trigger_limits: [80, 99.5] },
  enable_detailed_recording: true,
  enable_detail_recording: true,
  meta_data: { any: { thing: [1] } },
  tags: ['t'],
  alias: 'a',
  id_extractor_deadline: 0,
  session_lifetime: 0,
  post_expiry_action: 'retain',
  post_expiry_grace_period: 0,
  smoothing: null,
  not_of_ours: { kept: true },
}

export const WHOLE_POLICY: JsonObject = {
  _id: '0123456789abcdef01234567',
  id: 'gold-1.2_~',
  name: 'Gold plan',
  org_id: 'o',
  rate: 10,
  per: 1,
  quota_max: 100,
  quota_renewal_rate: 3600,
  throttle_interval: -1,
  throttle_retry_limit: -1,
  max_query_depth: 5,
  access_rights: WHOLE_SESSION.access_rights!,
  hmac_enabled: false,
  enable_http_signature_validation: false,
  active: true,
  is_inactive: false,
  tags: null,
  key_expires_in: 60,
  partitions: { quota: true, rate_limit: true, complexity: false, acl: false, per_api: false },
  last_updated: '',
  meta_data: null,
  post_expiry_action: '',
  post_expiry_grace_period: 0,
  smoothing: {},
  graphql_access_rights: null,
  not_of_ours: 'kept',
}

/** A copy with one value replaced, by its path. */
export function replaced(body: JsonObject, path: readonly (string | number)[], value: unknown): JsonObject {
  const copy = structuredClone(body)
  let at: Record<string | number, unknown> = copy
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>
  at[path.at(-1)!] = value
  return copy
}

/** Without the members that are null; those of free content, and of what nobody knows, stay. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([, each]) => each !== null)
  return Object.fromEntries(kept.map(([name, each]) => [name, FREE.has(name) ? each : withoutNulls(each)]))
}
const FREE = new Set(['meta_data', 'smoothing', 'field_access_rights', 'unheard_of', 'not_of_ours'])
const UNKNOWN = new Set(['unheard_of', 'not_of_ours'])

/** The paths of all members of objects; entries of lists, and names from outside, are not members, and what nobody knows is left out. */
export function memberPaths(value: Json, at: readonly (string | number)[] = []): (string | number)[][] {
  if (Array.isArray(value)) return value.flatMap((entry, index) => memberPaths(entry, [...at, index]))
  if (typeof value !== 'object' || value === null) return []
  const known = Object.entries(value).filter(([name]) => !UNKNOWN.has(name))
  return known.flatMap(([name, each]) => [
    ...(at.at(-1) === 'access_rights' ? [] : [[...at, name]]),
    ...(FREE.has(name) ? [] : memberPaths(each, [...at, name])),
  ])
}
