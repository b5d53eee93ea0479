import { isDocumentId } from '../../model/documents/ids.ts'
import type { Permissions } from '../../model/people/permission.ts'
import type { User } from '../../model/people/user.ts'
import { groupOf, groupPermissions, NOTHING, type StoredGroup } from '../../model/people/user-group.ts'
import type { PublishParts } from '../documents/parts.ts'

/** The effective rights of a user. */
export interface Effective {
  readonly permissions: Permissions
  /** False: neither credential nor session opens anything. */
  readonly active: boolean
}

type Rights = Pick<User, 'org_id' | 'active' | 'group_id' | 'user_permissions'>

/**
 * The rights of a user that are in force: of the group where there is one, else its own. An inactive group makes its members
 * inactive. A group that is gone, or of another organisation, gives nothing.
 */
export async function effective(parts: Pick<PublishParts, 'documents'>, user: Rights): Promise<Effective> {
  if (user.group_id === '') return effectiveWithGroup(user, undefined)
  const stored = isDocumentId(user.group_id) ? await parts.documents.get('user_group', user.group_id) : undefined
  return effectiveWithGroup(user, stored && groupOf(stored))
}

/** The same where the group is at hand; undefined = there is none of the id that the user names. */
export function effectiveWithGroup(user: Rights, group: StoredGroup | undefined): Effective {
  if (user.group_id === '') return { permissions: user.user_permissions, active: user.active }
  if (group === undefined || group.org_id !== user.org_id) return { permissions: NOTHING, active: user.active }
  return { permissions: groupPermissions(group), active: user.active && group.active }
}
