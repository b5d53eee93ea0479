import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { userOf } from '../../model/people/user.ts'
import type { Deleted } from '../../publish/people/deleted-owner.ts'
import type { Awaitable, StoredDocument } from '../../store/ports/ports.ts'
import type { Actor } from '../access/actor.ts'
import { type Answer, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { checkReach } from './check-rights.ts'

/**
 * Makes what a route does with the person or group that `{id}` of its path names. Those of organisations that the caller does not
 * see are not there.
 */
export function whereFound<Found extends { readonly org_id: string }>(
  find: (id: string) => Awaitable<Found | undefined>,
): (missing: Answer, work: (call: Call, found: Found) => Awaitable<Answer>) => Route['run'] {
  return (missing, work) => async (call) => {
    const found = await find(call.param('id'))
    const seen = found !== undefined && call.visibility.org({ body: { org_id: found.org_id } })
    return seen ? work(call, found) : missing
  }
}

/** The document of the person or group that `{id}` names; undefined where the caller sees none. */
export async function personIn(
  { documents }: Pick<DashboardParts, 'documents'>,
  kind: 'user' | 'user_group',
  call: Call,
): Promise<StoredDocument | undefined> {
  const id = call.param('id')
  const found = isDocumentId(id) ? await documents.get(kind, id) : undefined
  return found !== undefined && call.visibility.org(found) ? found : undefined
}

/** Answers the deletion of a user or group, and tells administrators, here and in the log, of APIs that have lost their last owner. */
export function deletedOwner({ log }: DashboardParts, call: Call, message: string, { ownerless }: Deleted): Answer {
  if (ownerless.length === 0) return ok(message)
  log.warn({ api_ids: [...ownerless] }, 'the last owner of these APIs was deleted: administrators alone see them')
  return ok(message, call.visibility.everything ? { ownerless: [...ownerless] } : null)
}

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
