import { fault } from '../../errors/fault.ts'
import { isDocumentId, newDocumentId } from '../../model/documents/ids.ts'
import { asJson } from '../../model/json/json.ts'
import { groupOf, type StoredGroup, type UserGroup } from '../../model/people/user-group.ts'
import type { Change, Revision } from '../../store/ports/ports.ts'
import { auditOf, clockOf, type PublishParts, withLock } from '../documents/parts.ts'
import { type Deleted, endOwnership } from './deleted-owner.ts'
import { endOfUser } from './users.ts'

/** A group as it was stored. */
export interface SavedGroup {
  readonly group: StoredGroup
  readonly revision: Revision
}

/** Stores a new group of an organisation. */
export async function newGroup(parts: PublishParts, group: UserGroup, actor: string): Promise<SavedGroup> {
  const id = newDocumentId(clockOf(parts).wall())
  const put = { op: 'put', kind: 'user_group', id, body: asJson(group), ifRevision: 0 } as const
  const revision = await parts.documents.commit([put], auditOf(parts, actor, 'user_group.create', group.org_id, { id }))
  return { group: { ...group, id, revision }, revision }
}

/**
 * Changes a group; its members have the new rights at once. One that becomes inactive signs its members out in the same transaction.
 * @throws Fault `revision_conflict` (409)
 */
export function updateGroup(
  parts: PublishParts,
  { id, revision: before, ...group }: StoredGroup,
  edit: Partial<Omit<UserGroup, 'org_id'>>,
  actor: string,
): Promise<SavedGroup> {
  // Serialised with all changes of group membership: no user joins unseen.
  return withLock(parts, async () => {
    const after: UserGroup = { ...group, ...edit }
    const body = asJson(after)
    const ends = group.active && !after.active ? await endOfMembers(parts, id) : []
    const changes: Change[] = [{ op: 'put', kind: 'user_group', id, body, ifRevision: before }, ...ends]
    const audit = auditOf(parts, actor, 'user_group.update', group.org_id, { id })
    const revision = await parts.documents.commit(changes, audit)
    return { group: { ...after, id, revision }, revision }
  })
}

async function endOfMembers({ documents }: PublishParts, groupId: string): Promise<Change[]> {
  const ends: Change[] = []
  for await (const users of documents.each('user', { where: { group_id: groupId } }))
    ends.push(...users.flatMap(({ id }) => endOfUser(id)))
  return ends
}

/**
 * Deletes a group that nobody is in: members of a deleted group would have no permissions. Takes it out of the owners of APIs.
 * @throws Fault `group_in_use` (400), `revision_conflict` (409)
 */
export async function deleteGroup(parts: PublishParts, group: StoredGroup, actor: string): Promise<Deleted> {
  const revision = await withLock(parts, async () => {
    const { total } = await parts.documents.list('user', { where: { group_id: group.id }, limit: 1 })
    if (total > 0) throw fault('group_in_use', `${total} ${total === 1 ? 'user is' : 'users are'} in it`)
    const change = { op: 'delete', kind: 'user_group', id: group.id, ifRevision: group.revision } as const
    const audit = auditOf(parts, actor, 'user_group.delete', group.org_id, { id: group.id })
    return parts.documents.commit([change], audit)
  })
  return { revision, ownerless: await endOwnership(parts, { kind: 'group', id: group.id }, actor) }
}

/** A group by id; undefined when there is none. */
export async function findGroup(parts: Pick<PublishParts, 'documents'>, id: string): Promise<StoredGroup | undefined> {
  const found = isDocumentId(id) ? await parts.documents.get('user_group', id) : undefined
  return found && groupOf(found)
}
