import { fault } from '../../errors/fault.ts'
import { ownAnalyticsOnly } from '../../model/people/permission.ts'
import { policyApisOf } from '../../model/policies/policy-index.ts'
import type { UsageQuery } from '../../store/ports/ports.ts'
import { findPolicyDocument } from '../access/owned.ts'
import { apiNamed } from '../apis/api-document.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { filtersOf } from './dimensions.ts'
import { usageTagsOf } from './params.ts'
import { timeOf } from './range.ts'
import { keyHashNamed } from './shown-keys.ts'

type Scope = Pick<UsageQuery, 'fromDay' | 'toDay' | 'hours' | 'tags' | 'status' | 'errorsOnly'> & {
  where: NonNullable<UsageQuery['where']>
}

/**
 * Which requests a call is about: those of its time and of the organisation, at APIs that the actor may see, and what its query
 * narrows them down to. `api`: an API that the path names.
 * @throws Fault `range_invalid`, `key_undecodable` (400), `api_not_seen`, `permission_missing` (403)
 */
export async function scopeOf(parts: DashboardParts, call: Call, api = call.query('api_id')): Promise<Scope> {
  const apiIds = await apisOf(parts, call, api)
  const orgId = call.actor?.orgId ?? ''
  const tags = usageTagsOf(call)
  const code = call.query('code')
  return {
    ...timeOf(call),
    where: {
      ...(orgId !== '' && { orgId: [orgId] }),
      ...(apiIds && { apiId: apiIds }),
      ...narrowedBy(parts, call),
    },
    ...(tags && { tags }),
    ...(code !== '' && { status: [Number(code)] }),
    ...(call.query('errors') === '1' && { errorsOnly: true }),
  }
}

/** Data that cannot be limited by API is closed to users who may see only the analytics of their own APIs, as its views are. */
function narrowedBy(parts: DashboardParts, call: Call): Scope['where'] {
  const key = call.query('key')
  const { where, isByApi } = filtersOf(call)
  const isBeyondApis = key !== '' || !isByApi
  if (isBeyondApis && call.actor !== undefined && ownAnalyticsOnly(call.actor.permissions))
    throw fault('permission_missing', 'access denied: You may see the analytics of your own APIs alone')
  return { ...where, ...(key !== '' && { keyHash: [keyHashNamed(parts, key)] }) }
}

/** The APIs that are meant by the id of an API or of a policy, of those that the actor may see; undefined = all. */
async function apisOf(parts: DashboardParts, call: Call, id: string): Promise<readonly string[] | undefined> {
  const seen = call.visibility.apiIds()
  if (id === '') return seen
  const api = await apiNamed(parts.documents, call.visibility, id)
  if (api !== undefined) {
    if (!call.visibility.api(api)) throw fault('api_not_seen')
    return [String(api.body.api_id)]
  }
  const policy = await findPolicyDocument(parts.documents, call.actor?.orgId ?? '', id)
  const meant = policy !== undefined && call.visibility.org(policy) ? policyApisOf(policy.body) : undefined
  if (meant !== undefined && !call.visibility.policy(policy!)) throw fault('api_not_seen')
  // An API that is gone has left its numbers behind, for those from whom nothing is hidden.
  const ids = meant ?? [id]
  return seen === undefined ? ids : ids.filter((one) => seen.includes(one))
}
