import { fault } from '../../errors/fault.ts'
import type { Permissions } from '../../model/permission.ts'
import { covers } from '../../model/permission-cover.ts'
import type { StoredUser, User } from '../../model/user.ts'
import { groupPermissions, type StoredGroup } from '../../model/user-group.ts'
import { effective } from '../../publish/people/effective.ts'
import type { Actor } from '../actor.ts'
import type { DashboardParts } from '../parts.ts'

type Rights = Pick<User, 'org_id' | 'active' | 'group_id' | 'user_permissions'>

/**
 * Refuses what would give anybody more than the caller has: the rights of the user as it is to be must not exceed the caller's,
 * those in force (of its group) no less than its own, which wait behind a group's. @throws Fault `rights_exceeded` (403)
 */
export async function checkGiven(
  parts: DashboardParts,
  actor: Actor,
  after: Rights,
  before: Rights | undefined,
): Promise<void> {
  const own = JSON.stringify(after.user_permissions) !== JSON.stringify(before?.user_permissions)
  if (own) checkRights(actor, after.user_permissions)
  checkRights(actor, (await effective(parts, after)).permissions)
  if (after.group_id !== '' && after.group_id !== before?.group_id) await checkOwners(parts, actor, after.group_id)
}

/** Refuses a caller who has less than the user that the call is about: not even its name is theirs to change. @throws Fault `rights_exceeded` */
export async function checkReach(parts: DashboardParts, actor: Actor, user: StoredUser): Promise<void> {
  if (actor.userId === user.id) return
  const { permissions } = await effective(parts, user)
  if (!covers(actor.permissions, permissions))
    throw fault('rights_exceeded', 'You cannot act upon a user who has rights that you do not have')
}

/** Refuses a caller who has less than a group gives. @throws Fault `rights_exceeded` (403) */
export function checkGroupReach(actor: Actor, group: Pick<StoredGroup, 'user_permissions'>): void {
  if (!covers(actor.permissions, groupPermissions(group)))
    throw fault('rights_exceeded', 'You cannot act upon a group that has rights that you do not have')
}

/** Refuses rights that the caller does not have. @throws Fault `rights_exceeded` (403) */
export function checkRights(actor: Actor, wanted: Permissions): void {
  if (!covers(actor.permissions, wanted)) throw fault('rights_exceeded', 'You cannot give rights that you do not have')
}

/**
 * With ownership on, members of a group see what it owns: whoever is neither an administrator nor a member cannot put anybody into a
 * group that owns something. @throws Fault `rights_exceeded` (403)
 */
async function checkOwners(parts: DashboardParts, actor: Actor, groupId: string): Promise<void> {
  if (!parts.config.dashboard.enable_ownership || actor.admin || actor.groupId === groupId) return
  const { total } = await parts.documents.list('api', { where: { owner: `g:${groupId}` }, limit: 1 })
  if (total > 0)
    throw fault('rights_exceeded', 'Only an administrator or a member can add members to a group that owns APIs')
}
