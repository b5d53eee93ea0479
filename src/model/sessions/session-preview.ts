import { Fault } from '../../errors/fault.ts'
import type { JsonObject } from '../json/json.ts'
import type { Quota, Rate, ThrottleLimits } from '../limits/limit-parts.ts'
import { type EffectiveRight, type Merged, mergePolicies } from '../policies/merge-policies.ts'
import { flatRight, NARROWED_BY } from './scope-session.ts'
import type { AccessDefinition, LimitFields, Policy, Session } from './session.ts'

/**
 * The session as it looks on the wire once its policies are applied: rights and numbers replaced by what is in force, zero values
 * left out, fields that are not enforced kept. A session without policies comes back as it is. `quota_remaining` is the
 * whole quota: who knows the live count writes it over.
 * @throws Fault `policies_unusable` with the reason in its message
 */
export function previewSession(
  session: Session,
  policies: readonly (Policy | undefined)[],
  apiOrgOf?: (apiId: string) => string | undefined,
): Session {
  const merged = mergePolicies(session, policies, apiOrgOf)
  if (merged instanceof Fault) throw merged
  return previewMerged(session, policies, merged)
}

/** The same for a session that was merged before, with what narrows it: limits, rights and tags are the narrowed ones. */
export function previewMerged(session: Session, policies: readonly (Policy | undefined)[], merged: Merged): Session {
  const second = (session as JsonObject)[NARROWED_BY]
  if (merged.policyIds.length === 0 && second === undefined && !isNarrowed(merged)) return session
  const known = policies.filter((policy) => policy !== undefined)
  const lastExpiry = known.findLast(({ post_expiry_action: action }) => (action ?? '') !== '')
  const body: JsonObject = {
    ...withoutRules(session),
    ...topNumbers(merged),
    access_rights: Object.fromEntries(
      [...merged.rights].map(([apiId, right]) => [apiId, rightOnWire(flatRight(right))]),
    ),
    ...(merged.tags.length > 0 && { tags: [...merged.tags] }),
    ...(Object.keys(merged.metaData).length > 0 && { meta_data: merged.metaData }),
    ...(merged.isInactive && { is_inactive: true }),
    ...(merged.lastUpdated !== '' && { last_updated: merged.lastUpdated }),
    ...(known.some(({ hmac_enabled }) => hmac_enabled === true) && { hmac_enabled: true }),
    ...(known.some((policy) => policy.enable_http_signature_validation === true) && {
      enable_http_signature_validation: true,
    }),
    ...(lastExpiry !== undefined && {
      post_expiry_action: lastExpiry.post_expiry_action ?? '',
      post_expiry_grace_period: lastExpiry.post_expiry_grace_period ?? 0,
    }),
  }
  return body as Session
}

const REPLACED = new Set([
  'rate',
  'per',
  'throttle_interval',
  'throttle_retry_limit',
  'max_query_depth',
  'quota_max',
  'quota_renews',
  'quota_remaining',
  'quota_renewal_rate',
  'access_rights',
  'tags',
  'meta_data',
  'is_inactive',
])

function isNarrowed({ rights }: Merged): boolean {
  return [...rights.values()].some(({ narrowedBy }) => narrowedBy !== undefined)
}

/** The members of a session that policies never replace. */
export function withoutRules(session: JsonObject): JsonObject {
  const entries = Object.entries(session).filter(([name]) => !REPLACED.has(name))
  return Object.fromEntries(entries)
}

/** With a single API its numbers are at the top level too. */
function topNumbers({ rights, top }: Merged): JsonObject {
  const [only] = rights.values()
  const shown = rights.size === 1 && only !== undefined ? flatRight(only) : top
  return numbersOnWire(shown)
}

function rightOnWire(right: EffectiveRight): JsonObject {
  const scope = right.quota?.scope || right.rate?.scope || ''
  const wire: AccessDefinition = {
    ...(right.apiName !== '' && { api_name: right.apiName }),
    api_id: right.apiId,
    versions: [...right.versions],
    ...(right.allowedUrls.length > 0 && { allowed_urls: [...right.allowedUrls] }),
    limit: numbersOnWire(right) as LimitFields,
    ...(scope !== '' && { allowance_scope: scope.slice(2) }),
    ...(right.endpoints.length > 0 && { endpoints: [...right.endpoints] }),
  }
  return { ...right.extra, ...wire }
}

function numbersOnWire(numbers: {
  readonly rate: Rate | undefined
  readonly quota: Quota | undefined
  readonly throttle: ThrottleLimits
  readonly maxQueryDepth: number
}): JsonObject {
  const all = {
    rate: numbers.rate?.rate ?? 0,
    per: numbers.rate?.per ?? 0,
    throttle_interval: numbers.throttle.intervalS,
    throttle_retry_limit: numbers.throttle.retryLimit,
    max_query_depth: numbers.maxQueryDepth,
    quota_max: numbers.quota?.max ?? 0,
    quota_remaining: Math.max(0, numbers.quota?.max ?? 0),
    quota_renewal_rate: numbers.quota?.renewalS ?? 0,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== 0))
}
