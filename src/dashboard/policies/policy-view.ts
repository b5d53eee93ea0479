import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import { findPolicy } from '../../publish/policies/policy-ids.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { changedRights } from './policy-shape.ts'

const ID = /^[A-Za-z0-9._~-]+$/

/**
 * The policy that the path names by its `id` or its `_id`.
 * @throws Fault `not_found` (404) with `missing`, `query_invalid` (400) for what can be no id, `not_owner` (401)
 */
export async function policyInPath(
  parts: DashboardParts,
  call: Call,
  missing = 'Could not retrieve portal object.',
): Promise<StoredDocument> {
  const id = call.param('id')
  const orgId = call.actor?.orgId ?? ''
  const stored = await findPolicy(parts, id, orgId === '' ? undefined : orgId)
  if (stored === undefined)
    throw ID.test(id) ? fault('not_found', missing) : fault('query_invalid', 'Invalid policy ID.')
  if (!call.visibility.policy(stored)) throw fault('not_owner')
  return stored
}

/**
 * Nobody gives rights to an API that others own, nor changes or takes them: access to a policy implies no access to its other APIs. An
 * unknown API, or one of another organisation, counts as one of others where rights are given. @throws Fault `not_owner` (401)
 */
export function checkRightsVisible(
  { visibility }: Pick<Call, 'visibility'>,
  before: JsonObject,
  after: JsonObject,
): void {
  if (visibility.everything) return
  const given = new Set(policyApisOf(after))
  for (const apiId of changedRights(before, after))
    if (given.has(apiId) ? !visibility.apiId(apiId) : visibility.hidden([apiId]) > 0) throw fault('not_owner')
}

/**
 * With ownership the ids of a deleted policy stay with the owners of its APIs: keys that still have it would be the next one's.
 * @throws Fault `id_taken` (409)
 */
export function checkPolicyIdWasNotOfOthers(
  { visibility }: Pick<Call, 'visibility'>,
  { id, _id: storageId }: JsonObject,
): void {
  for (const named of [id, storageId])
    if (typeof named === 'string' && !visibility.anyApi(visibility.apisOfDeletedPolicy(named)))
      throw fault('id_taken', `policy ${named}`)
}
