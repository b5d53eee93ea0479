import { Fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { stricterQuota, stricterRate, type ThrottleLimits, uniteEndpoints } from '../limits/limit-parts.ts'
import { type EffectiveRight, type Merged, mergePolicies, policyIdsOf } from '../policies/merge-policies.ts'
import { commonPaths } from './rights.ts'
import type { AccessDefinition, Policy, Session } from './session.ts'

/**
 * Member of a session's body that holds a second session, set by the authority behind the first: a login page (`key_rules`), a user
 * (password grant). The first may do only what both may do.
 */
export const NARROWED_BY = 'narrowed_by'

/** Fields of a session for authentication, lifetime and internal use: never those of a token. */
const NEVER_TAKEN: ReadonlySet<string> = new Set([
  'basic_auth_data',
  'jwt_data',
  'hmac_enabled',
  'hmac_string',
  'enable_http_signature_validation',
  'rsa_certificate_id',
  'certificate',
  'mtls_static_certificate_bindings',
  'oauth_keys',
  'oauth_client_id',
  'oauth_token',
  'counter_id',
  'user_name',
  'user_generation',
  'expires',
  'session_lifetime',
  'post_expiry_action',
  'post_expiry_grace_period',
  'quota_remaining',
  'quota_renews',
  'allowance',
  'last_check',
  NARROWED_BY,
])

/** The access rights and limits of a session, without credentials, lifetime, and internal notes. */
export function rightsAndLimitsOf(session: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(session).filter(([name]) => !NEVER_TAKEN.has(name)))
}

/** True when a session has its own access rights, or policies that may bring some. */
export function hasRights(session: Session): boolean {
  return Object.keys(session.access_rights ?? {}).length > 0 || policyIdsOf(session).length > 0
}

/**
 * Applies policies to a session as `mergePolicies` does and, where a second session narrows it, to that one as well: the
 * result is what both allow; the second may be narrowed by a third. Policies stay in force by their ids, so an edited one reaches either at once. A second session
 * without access rights, and without policies that bring some, narrows only the limits.
 * `policiesOf` gives the policies of a session in the order of `policyIdsOf`. Never throws; answers `policies_unusable`.
 */
export function mergeSession(
  session: Session,
  policiesOf: (session: Session) => readonly (Policy | undefined)[],
  apiOrgOf?: (apiId: string) => string | undefined,
): Merged | Fault {
  const merged = mergePolicies(session, policiesOf(session), apiOrgOf)
  const second = (session as JsonObject)[NARROWED_BY]
  if (merged instanceof Fault || !isObject(second)) return merged
  const bound = withRightsOf(second as Session, merged)
  const other = mergeSession(bound, policiesOf, apiOrgOf)
  return other instanceof Fault ? other : intersectRights(merged, other)
}

/**
 * The intersection of two sessions. APIs and versions: those of both. Paths, rates, quotas and limits of endpoints: each
 * request must fit into the first and into the second, and is counted by both or by neither; neither a shorter list nor a
 * smaller number could replace two regular expressions or two windows. Metadata: of both, the first wins.
 */
export function intersectRights(first: Merged, second: Merged): Merged {
  const rights = new Map<string, EffectiveRight>()
  for (const [apiId, right] of first.rights) {
    const other = second.rights.get(apiId)
    if (other !== undefined) rights.set(apiId, narrowRight(right, other))
  }
  return {
    rights,
    top: {
      ...first.top,
      rate: stricterRate(first.top.rate, second.top.rate),
      quota: stricterQuota(first.top.quota, second.top.quota),
      throttle: shorterThrottle(first.top.throttle, second.top.throttle),
      maxQueryDepth: lesserDepth(first.top.maxQueryDepth, second.top.maxQueryDepth),
    },
    tags: [...new Set([...first.tags, ...second.tags])],
    metaData: { ...second.metaData, ...first.metaData },
    isInactive: first.isInactive || second.isInactive,
    policyIds: [...new Set([...first.policyIds, ...second.policyIds])],
    lastUpdated: Number(second.lastUpdated) > Number(first.lastUpdated) ? second.lastUpdated : first.lastUpdated,
  }
}

function narrowRight(first: EffectiveRight, second: EffectiveRight): EffectiveRight {
  const others = new Set(second.versions)
  const versions = first.versions.filter((version) => others.has(version))
  const { narrowedBy } = first
  const nested = narrowedBy === undefined ? second : narrowRight(narrowedBy, second)
  return {
    ...first,
    versions,
    throttle: shorterThrottle(first.throttle, second.throttle),
    maxQueryDepth: lesserDepth(first.maxQueryDepth, second.maxQueryDepth),
    ...(saysSomething(nested) && { narrowedBy: nested }),
  }
}

/** False for a right that lets every request through. */
function saysSomething({ allowedUrls, rate, quota, endpoints, extra, narrowedBy }: EffectiveRight): boolean {
  if (rate !== undefined || quota !== undefined || narrowedBy !== undefined) return true
  return allowedUrls.length > 0 || endpoints.length > 0 || Object.keys(extra).length > 0
}

/** Fewer tries, longer waits; none where one of them has none. */
function shorterThrottle(a: ThrottleLimits, b: ThrottleLimits): ThrottleLimits {
  const retryLimit = Math.min(a.retryLimit, b.retryLimit)
  return { intervalS: retryLimit === 0 ? 0 : Math.max(a.intervalS, b.intervalS), retryLimit }
}

/** -1 and 0 bound nothing; 0 says so by being silent. */
function lesserDepth(a: number, b: number): number {
  if (a > 0 && b > 0) return Math.min(a, b)
  return a > 0 ? a : b > 0 ? b : Math.min(a, b)
}

/**
 * A right as one list of paths and one pair of each number, for readers. Of two rates and two quotas it has the stricter one. Two
 * lists of paths become one where they name the same patterns; else it has the second list, and requests must fit the first as well.
 */
export function flatRight({ narrowedBy, ...own }: EffectiveRight): EffectiveRight {
  if (narrowedBy === undefined) return own
  const other = flatRight(narrowedBy)
  return {
    ...own,
    allowedUrls: commonPaths(own.allowedUrls, other.allowedUrls) ?? other.allowedUrls,
    rate: stricterRate(own.rate, other.rate),
    quota: stricterQuota(own.quota, other.quota),
    endpoints: uniteEndpoints(own.endpoints, other.endpoints, true),
    extra: { ...own.extra, ...other.extra },
  }
}

/** A session that names no API takes part at every API of the first, so that its limits apply there. */
function withRightsOf(session: Session, { rights }: Merged): Session {
  if (Object.keys(session.access_rights ?? {}).length > 0) return session
  const all = [...rights.values()].map(({ apiId, versions }): [string, AccessDefinition] => [
    apiId,
    { api_id: apiId, versions: [...versions] },
  ])
  return { ...session, access_rights: Object.fromEntries(all) }
}
