import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { userOf } from '../../model/people/user.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { Actor } from '../access/actor.ts'
import type { DashboardParts } from '../server/parts.ts'
import { checkReach } from './check-rights.ts'

/**
 * Another user of the caller's organisation whose password, second factor or identity the caller may reset: with the setting or the right
 * for it, and only of users with no more rights than the caller has. Their own are changed with what proves that they are theirs.
 * @throws Fault `password_not_yours`, `rights_exceeded` (403), `not_found` (404)
 */
export async function userToReset(parts: DashboardParts, actor: Actor, id: string): Promise<StoredDocument> {
  const { allow_admin_reset_password: allowed } = parts.config.dashboard.security
  const entitled = allowed || actor.permissions.ResetPassword === 'admin'
  if (!entitled || id === actor.userId) throw fault('password_not_yours')
  const user = isDocumentId(id) ? await parts.documents.get('user', id) : undefined
  if (user === undefined || user.body.org_id !== actor.orgId)
    throw fault('not_found', 'Could not retrieve user detail.')
  await checkReach(parts, actor, userOf(user))
  return user
}
