import { isEmpty } from '../apis/definition/members.ts'
import { isObject, type JsonObject } from '../json/json.ts'

const NO_DATE = '0001-01-01T00:00:00Z'

const LIMIT: JsonObject = {
  ...{ rate: 0, per: 0, throttle_interval: 0, throttle_retry_limit: 0, max_query_depth: 0 },
  ...{ quota_max: 0, quota_renews: 0, quota_remaining: 0, quota_renewal_rate: 0 },
}

const WRITTEN_WITH_VALUES: ReadonlySet<string> = new Set(['post_expiry_action', 'mtls_static_certificate_bindings'])

const COMMON: JsonObject = {
  ...{ org_id: '', is_inactive: false, access_rights: {}, tags: [], meta_data: {}, last_updated: '' },
  ...{ hmac_enabled: false, enable_http_signature_validation: false },
  post_expiry_grace_period: 0,
}

/** The members of a session in the incumbent's answers (facts of the wire). */
const SESSION: JsonObject = {
  ...COMMON,
  ...LIMIT,
  ...{ last_check: 0, allowance: 0, date_created: NO_DATE, expires: 0, data_expires: 0, session_lifetime: 0 },
  ...{ oauth_client_id: '', oauth_keys: {}, certificate: '' },
  ...{ basic_auth_data: { password: '', hash_type: '' }, jwt_data: { secret: '' } },
  ...{ hmac_string: '', rsa_certificate_id: '', apply_policy_id: '', apply_policies: [], alias: '' },
  ...{ monitor: { trigger_limits: [] }, enable_detail_recording: false, enable_detailed_recording: false },
  id_extractor_deadline: 0,
}

const { quota_renews: _renews, quota_remaining: _remaining, ...POLICY_LIMIT } = LIMIT

/** The members of a policy there. */
const POLICY: JsonObject = {
  ...{ _id: '', id: '', name: '', active: false },
  ...COMMON,
  ...POLICY_LIMIT,
  key_expires_in: 0,
  partitions: { quota: false, rate_limit: false, complexity: false, acl: false, per_api: false },
  graphql_access_rights: {},
}

const RIGHT: JsonObject = {
  ...{ api_name: '', api_id: '', versions: [], allowed_urls: [], restricted_types: [], allowed_types: [] },
  ...{ limit: LIMIT, field_access_rights: [], disable_introspection: false, allowance_scope: '', endpoints: [] },
}

/** A session with all members that the incumbent's answers have. */
export function wholeSession(session: JsonObject): JsonObject {
  return withoutEmpty(withWholeRights(withZeros(SESSION, session)))
}

/** The same of a policy. */
export function wholePolicy(policy: JsonObject): JsonObject {
  return withoutEmpty(withWholeRights(withZeros({ ...POLICY, active: policy.is_inactive !== true }, policy)))
}

/** Without what is not written there when it is empty: its values are named one by one. */
function withoutEmpty(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !WRITTEN_WITH_VALUES.has(name) || !isEmpty(value)),
  )
}

function withWholeRights(body: JsonObject): JsonObject {
  if (!isObject(body.access_rights)) return body
  const rights = Object.entries(body.access_rights).map(([apiId, right]) => [
    apiId,
    isObject(right) ? withZeros(RIGHT, right) : right,
  ])
  return { ...body, access_rights: Object.fromEntries(rights) as JsonObject }
}

/**
 * An object with the zero values that it lacks, or holds as null: for readers who take every member for granted. Objects among the zero
 * values are filled in too.
 */
function withZeros(zeros: JsonObject, value: JsonObject): JsonObject {
  const filled: JsonObject = { ...value }
  for (const [name, zero] of Object.entries(zeros)) {
    const held = Object.hasOwn(value, name) ? value[name]! : null
    if (held === null) filled[name] = zero
    else if (isObject(zero) && isObject(held)) filled[name] = withZeros(zero, held)
  }
  return filled
}
