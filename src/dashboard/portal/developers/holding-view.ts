import { fault } from '../../../errors/fault.ts'
import type { OAuthClient } from '../../../model/oauth-clients/oauth-client.ts'
import { policyApisOf } from '../../../model/policies/policy-body.ts'
import { findPolicy } from '../../../publish/policies/policy-ids.ts'
import { findDeveloperKey } from '../../../publish/portal/developers/developer-keys.ts'
import { developerIn } from '../../../publish/portal/developers/developers.ts'
import type { SessionRow, StoredDocument } from '../../../store/ports/ports.ts'
import { checkSoleOwner } from '../../access/co-owned.ts'
import { developerAppNamed } from '../../oauth-clients/clients-named.ts'
import type { Call } from '../../routes/call.ts'
import type { DashboardParts } from '../../server/parts.ts'

/** The developer that the path names, of the caller's organisation. @throws Fault `not_found` (404) */
export async function developerInPath(parts: DashboardParts, call: Call, placeholder = 'id'): Promise<StoredDocument> {
  const found = await developerIn(parts, call.actor!.orgId, call.param(placeholder))
  if (found === undefined) throw fault('not_found', 'Developer not found')
  return found
}

/** The key that the path names, where it is the developer's. @throws Fault `not_found` (404) */
export async function developerKeyAt(
  parts: DashboardParts,
  call: Call,
  developer: StoredDocument,
): Promise<SessionRow> {
  const row = await findDeveloperKey(parts, developer, call.param('keyId'))
  if (row === undefined) throw fault('not_found', 'Could not retrieve key detail.')
  return row
}

/** The OAuth app that the path names, where it is a developer's. @throws Fault `not_found` (404) */
export async function appInPath(parts: DashboardParts, call: Call): Promise<OAuthClient> {
  const stored = await developerAppNamed(parts, call.visibility, call.param('appId'))
  if (stored === undefined) throw fault('not_found', 'Could not retrieve app detail')
  return stored.body
}

/**
 * Nobody gives a developer policies with APIs that others own, nor takes such from a key; those that it has already may stay. What is
 * not there is refused alike. @throws Fault `not_owner` (401), `shared_with_others` (403)
 */
export async function checkPoliciesGrantable(
  parts: DashboardParts,
  { visibility }: Call,
  orgId: string,
  policies: readonly string[],
  had: readonly string[] = [],
): Promise<void> {
  if (visibility.everything) return
  const changed = [...policies.filter((id) => !had.includes(id)), ...had.filter((id) => !policies.includes(id))]
  for (const id of changed) {
    const policy = await findPolicy(parts, id, orgId)
    if (policy === undefined && had.includes(id)) continue
    if (policy === undefined || !visibility.policy(policy)) throw fault('not_owner')
    checkSoleOwner(visibility, 'The policy', policyApisOf(policy.body))
  }
}
