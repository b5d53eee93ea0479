import { fault } from '../../errors/fault.ts'
import { covers, type Permissions } from '../../model/people/permission.ts'
import type { StoredUser, User } from '../../model/people/user.ts'
import { groupPermissions, type StoredGroup } from '../../model/people/user-group.ts'
import { effective } from '../../publish/people/effective.ts'
import type { Actor } from '../access/actor.ts'
import type { DashboardParts } from '../server/parts.ts'

type Rights = Pick<User, 'org_id' | 'active' | 'group_id' | 'user_permissions'>

/**
 * Refuses to give a user more permissions than the caller has. Both count: those in force (of the user's group, if it has one), and the
 * user's own, which come into force when it leaves the group. @throws Fault `rights_exceeded` (403)
 */
export async function checkGrantable(
  parts: DashboardParts,
  actor: Actor,
  after: Rights,
  before: Rights | undefined,
): Promise<void> {
  const own = JSON.stringify(after.user_permissions) !== JSON.stringify(before?.user_permissions)
  if (own) checkRights(actor, after.user_permissions)
  checkRights(actor, (await effective(parts, after)).permissions)
  if (after.group_id !== before?.group_id)
    await checkOwnersReach(parts, actor, { groupIds: [after.group_id, before?.group_id ?? ''] })
}

/**
 * Refuses a caller who has less than the user that the call is about, or who is no administrator where that user or its group owns APIs: not even its
 * name is theirs to change. @throws Fault `rights_exceeded` (403)
 */
export async function checkReach(parts: DashboardParts, actor: Actor, user: StoredUser): Promise<void> {
  if (actor.userId === user.id) return
  const { permissions } = await effective(parts, user)
  if (!covers(actor.permissions, permissions))
    throw fault('rights_exceeded', 'You cannot change a user who has permissions that you do not have')
  await checkOwnersReach(parts, actor, { userId: user.id, groupIds: [user.group_id] })
}

/**
 * Lets administrators change the address of any user, others only their own, and not in a session with a guarantor: links for a new
 * password are sent there. @throws Fault `rights_exceeded` (403)
 */
export function checkAddress(
  { admin, userId, guarantor }: Actor,
  { id, email_address: before }: Pick<StoredUser, 'id' | 'email_address'>,
  after: unknown,
): void {
  if (after !== before && !admin && (userId !== id || guarantor !== undefined))
    throw fault('rights_exceeded', 'Only an administrator can change the email address of another user')
}

/** Refuses a caller who has less than a group gives. @throws Fault `rights_exceeded` (403) */
export function checkGroupReach(actor: Actor, group: Pick<StoredGroup, 'user_permissions'>): void {
  if (!covers(actor.permissions, groupPermissions(group)))
    throw fault('rights_exceeded', 'You cannot change a group that has permissions that you do not have')
}

/** Refuses rights that the caller does not have. @throws Fault `rights_exceeded` (403) */
function checkRights(actor: Actor, wanted: Permissions): void {
  if (!covers(actor.permissions, wanted))
    throw fault('rights_exceeded', 'You cannot grant permissions that you do not have')
}

/** The actor of a call, or the guarantor of a sign-in. */
type Reaching = Pick<Actor, 'admin' | 'userId' | 'groupId'>

/** The user to sign in as, or to change. */
interface Owning {
  readonly userId?: string
  readonly groupIds: readonly string[]
}

/**
 * With ownership on, a user and the members of a group see what the user or the group owns. Nobody but an administrator or a member puts
 * anybody into a group that owns APIs, changes who is in it, or signs anybody in as an owner: by users, groups, sign-in nonces and
 * identity profiles alike. @throws Fault `rights_exceeded` (403)
 */
export async function checkOwnersReach(
  parts: Pick<DashboardParts, 'config' | 'documents'>,
  reaching: Reaching,
  owning: Owning,
): Promise<void> {
  const owner = await ownerBeyond(parts, reaching, owning)
  if (owner === 'group')
    throw fault(
      'rights_exceeded',
      'Only an administrator or a member can change a group that owns APIs, or who is in it',
    )
  if (owner === 'user')
    throw fault('rights_exceeded', 'Only an administrator can sign in as, change or delete a user who owns APIs')
}

/** Whether the group or the user owns APIs and the caller is neither administrator, member nor that user; undefined = no. */
export async function ownerBeyond(
  parts: Pick<DashboardParts, 'config' | 'documents'>,
  { admin, userId, groupId }: Reaching,
  owning: Owning,
): Promise<'group' | 'user' | undefined> {
  if (!parts.config.dashboard.enable_ownership || admin) return undefined
  const owns = async (owner: string) => (await parts.documents.list('api', { where: { owner }, limit: 1 })).total > 0
  for (const id of new Set(owning.groupIds)) if (id !== '' && id !== groupId && (await owns(`g:${id}`))) return 'group'
  const { userId: who = '' } = owning
  return who !== '' && who !== userId && (await owns(`u:${who}`)) ? 'user' : undefined
}
