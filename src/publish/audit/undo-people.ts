import { fault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import { type User, userOf } from '../../model/people/user.ts'
import { groupOf, type UserGroup } from '../../model/people/user-group.ts'
import { SECRET_USER_MEMBERS } from '../../model/people/user-security.ts'
import type { Audit, AuditChange, AuditEntryState, Revision } from '../../store/ports/ports.ts'
import { auditOf, type SecretParts } from '../documents/parts.ts'
import { removeLabel, updateLabel } from '../labels/labels.ts'
import { deleteGroup, findGroup, updateGroup } from '../people/groups.ts'
import { checkEmailFree, deleteUser, type UserEdit, updateUser } from '../people/users.ts'
import { changedSince, checkUnchangedSince } from './undo-conflict.ts'

export interface UndoParts extends SecretParts {
  /** True when an email address may have an account in other organisations too. */
  readonly sharedEmail: boolean
  readonly audit: Pick<Audit, 'get' | 'state'>
}

/** Undoes one change of a document whose own rules say what it may be. */
type UndoOne = (parts: UndoParts, change: AuditChange, entryState: AuditEntryState, actor: string) => Promise<Revision>

/** Kinds that are put back through the functions that publish them. */
export const PEOPLE: Readonly<Record<string, UndoOne>> = Object.assign(Object.create(null), {
  user: undoUser,
  user_group: undoGroup,
  label: undoLabel,
} satisfies Record<string, UndoOne>)

/** Fields that sign-ins and credentials write: no conflict, and never restored. */
const OWN_MEMBERS: readonly string[] = [
  ...SECRET_USER_MEMBERS,
  'password_updated',
  'last_login_date',
  'access_hmac',
  'access_sealed',
  'access_before',
]

/** Sign-ins that are passed over. */
const MOST_LATER = 1000

async function undoUser(parts: UndoParts, change: AuditChange, entryState: AuditEntryState, actor: string) {
  const { before, after, id } = change
  if (after === null) {
    checkUnchangedSince([entryState])
    return bringUserBack(parts, id as DocumentId, before ?? {}, actor)
  }
  if (!entryState.current) await checkOwnAlone(parts, entryState)
  const stored = await parts.documents.get('user', id as DocumentId)
  if (stored === undefined || !sameText(withoutOwn(stored.body), withoutOwn(after))) throw changedSince(entryState)
  const user = userOf(stored)
  if (before === null) return (await deleteUser(parts, user, actor)).revision
  const edit = differing(withoutOwn(before), withoutOwn(after))
  if (Object.keys(edit).length === 0)
    throw fault('undo_refused', 'passwords, second factors and API credentials are never brought back')
  const rules = { actor, action: 'undo', mayLeaveNoAdmin: false, sharedEmail: parts.sharedEmail }
  return (await updateUser(parts, user, edit as UserEdit, rules)).revision
}

/** Passes over later entries about signing in and credentials alone. @throws Fault `undo_refused` (409) naming another one */
async function checkOwnAlone({ audit }: UndoParts, first: AuditEntryState): Promise<void> {
  let entryState: AuditEntryState | undefined = first
  for (let seen = 0; entryState?.laterId !== undefined; seen++) {
    const { kind, id, laterId }: AuditEntryState = entryState
    const later = await audit.get(laterId)
    const change = later?.changes.find((one) => one.kind === kind && one.id === id)
    const own = change?.before && change.after && sameText(withoutOwn(change.before), withoutOwn(change.after))
    if (!own || seen === MOST_LATER) throw changedSince(entryState)
    entryState = (await audit.state(laterId))?.find((one) => one.kind === kind && one.id === id)
  }
}

/** @throws Fault `undo_refused` (409) when the group is gone, `email_taken`, `email_in_use` (403), `already_exists` (409) */
async function bringUserBack(parts: UndoParts, id: DocumentId, body: JsonObject, actor: string): Promise<Revision> {
  const user = body as unknown as User
  const group = user.group_id === '' ? undefined : await findGroup(parts, user.group_id)
  if (user.group_id !== '' && group?.org_id !== user.org_id)
    throw fault('undo_refused', 'the group of the user is gone')
  await checkEmailFree(parts, user, undefined, parts.sharedEmail)
  const audit = auditOf(parts, actor, 'undo', user.org_id, { id })
  return parts.documents.commit([{ op: 'put', kind: 'user', id, body, ifRevision: 0 }], audit)
}

async function undoGroup(parts: UndoParts, { id, before }: AuditChange, entryState: AuditEntryState, actor: string) {
  checkUnchangedSince([entryState])
  const stored = await parts.documents.get('user_group', id as DocumentId)
  if (stored === undefined) return putBack(parts, 'user_group', id, before ?? {}, actor)
  if (before === null) return (await deleteGroup(parts, groupOf(stored), actor)).revision
  return (await updateGroup(parts, groupOf(stored), before as unknown as UserGroup, actor)).revision
}

async function undoLabel(parts: UndoParts, { id, before }: AuditChange, entryState: AuditEntryState, actor: string) {
  checkUnchangedSince([entryState])
  const stored = await parts.documents.get('label', id as DocumentId)
  if (stored === undefined) return putBack(parts, 'label', id, before ?? {}, actor)
  if (before === null) await removeLabel(parts, stored, actor)
  else await updateLabel(parts, stored, before, actor)
  return parts.documents.revision()
}

function putBack(parts: UndoParts, kind: string, id: string, body: JsonObject, actor: string): Promise<Revision> {
  const audit = auditOf(parts, actor, 'undo', String(body.org_id ?? ''), { id })
  return parts.documents.commit([{ op: 'put', kind, id: id as DocumentId, body, ifRevision: 0 }], audit)
}

function withoutOwn(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !OWN_MEMBERS.includes(name)))
}

/** The members of the first that the second has not, or otherwise. */
function differing(first: JsonObject, second: JsonObject): { [name: string]: Json } {
  return Object.fromEntries(Object.entries(first).filter(([name, value]) => !sameText(value, second[name])))
}

function sameText(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
