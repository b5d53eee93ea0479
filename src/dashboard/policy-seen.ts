import { Fault, fault } from '../errors/fault.ts'
import { findPolicy } from '../publish/policies.ts'
import type { StoredDocument } from '../store/ports.ts'
import type { Call } from './call.ts'
import type { DashboardParts } from './parts.ts'

const ID = /^[A-Za-z0-9._~-]+$/

/**
 * The policy that the path names by its `id` or its `_id`.
 * @throws Fault `not_found` (404) with `missing`, `query_invalid` (400) for what can be no id, `not_owner` (401)
 */
export async function policyOf(
  parts: DashboardParts,
  call: Call,
  missing = 'Could not retrieve portal object.',
): Promise<StoredDocument> {
  const id = call.param('id')
  const orgId = call.actor?.orgId ?? ''
  const stored = await findPolicy(parts, id, orgId === '' ? undefined : orgId).catch((error) => {
    if (!(error instanceof Fault) || error.code !== 'not_found') throw error
    throw ID.test(id) ? fault('not_found', missing) : fault('query_invalid', 'Invalid policy ID.')
  })
  if (!call.sight.policy(stored)) throw fault('not_owner')
  return stored
}

/**
 * Nobody gives rights to an API that others own, nor changes them: access to a policy implies no access to its other APIs. An API
 * of another organisation counts as one that is not there, which a policy may name. @throws Fault `not_owner` (401)
 */
export async function checkRightsSeen(
  { documents }: DashboardParts,
  { sight }: Call,
  apiIds: readonly string[],
): Promise<void> {
  for (const apiId of apiIds) {
    if (sight.anyApi([apiId])) continue
    const stored = await documents.find('api', 'api_id', apiId)
    if (stored !== undefined && sight.org(stored)) throw fault('not_owner')
  }
}
