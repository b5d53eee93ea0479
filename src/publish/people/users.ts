import { fault, toFault } from '../../errors/fault.ts'
import { type DocumentId, isDocumentId, newDocumentId } from '../../model/documents/ids.ts'
import { asJson } from '../../model/json/json.ts'
import { verifyPassword } from '../../model/passwords/passwords.ts'
import type { Permissions } from '../../model/people/permission.ts'
import { administers, NEVER, type StoredUser, type User, userOf } from '../../model/people/user.ts'
import { activeFamily, loginFamily } from '../../model/people/user-security.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { Change, Revision } from '../../store/ports/ports.ts'
import { OPTIMISTIC_LOCK_CONFLICT, optimisticLock } from '../documents/optimistic-lock.ts'
import { auditOf, clockOf, type SecretParts, withLock } from '../documents/parts.ts'
import { closeSetup } from '../organisations/installation.ts'
import { newUserPassword } from '../sign-in/passwords.ts'
import { accessHmac, NO_CREDENTIAL, newAccessKey, storeCredential } from './credential.ts'
import { type Deleted, endOwnership } from './deleted-owner.ts'
import { effective } from './effective.ts'

/** A new user, with what was said of it checked already. */
export interface UserDraft {
  /** '' = unbounded. */
  readonly orgId: string
  /** As `toEmail` gives it. */
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly active: boolean
  /** '' = in no group. */
  readonly groupId: string
  readonly permissions: Permissions
  /** In clear; '' = none yet. */
  readonly password: string
  /** True: the password may be a hash that another product or installation made. */
  readonly imported?: boolean
  readonly passwordMaxDays: number
  /** True when the address may have an account in other organisations too. */
  readonly sharedEmail: boolean
  /**
   * True: the account is the same person's as one in another organisation that has this password, and both change together from
   * then on. Never where an organisation's own administrator makes it: anyone who guesses the password would get the other account.
   */
  readonly samePerson: boolean
}

/** A user as it was stored. */
export interface SavedUser {
  readonly user: StoredUser
  readonly revision: Revision
}

/** The editable members of a user. Absent members stay as they are. */
export type UserEdit = Partial<Omit<User, 'org_id' | 'created_at'>>

export interface EditRules {
  readonly actor: string
  readonly action: string
  /** True: the organisation may be left without an active administrator. */
  readonly mayLeaveNoAdmin: boolean
  /** True when the address may have an account in other organisations too. */
  readonly sharedEmail: boolean
  /** Written in the same transaction. */
  readonly also?: readonly Change[]
}

/**
 * Stores a new user with an API credential. The first one of an installation closes the set-up link.
 * @throws Fault `email_taken`, `email_in_use` (403), `user_invalid` (400, no such organisation or group), `password_invalid` (400), `passwords_busy`
 */
export async function newUser(
  parts: SecretParts,
  draft: UserDraft,
  actor: string,
): Promise<SavedUser & { readonly accessKey: string }> {
  const prepared = await prepareUser(parts, draft)
  return withLock(parts, async () => {
    await checkPlace(parts, draft.orgId, draft.groupId)
    await checkEmailFree(parts, prepared.body, undefined, draft.sharedEmail)
    const audit = auditOf(parts, actor, 'user.create', draft.orgId, { id: prepared.id })
    const changes = [prepared.change, ...(await closeSetup(parts))]
    const who = { id: prepared.id, email: prepared.body.email_address, orgId: draft.orgId }
    const revision = await commit(parts, who, changes, audit)
    return { user: { ...prepared.body, id: prepared.id, revision }, revision, accessKey: prepared.accessKey }
  })
}

/** A user that is not stored yet: its document, and the credential in clear. */
export interface PreparedUser {
  readonly id: DocumentId
  readonly body: User
  readonly accessKey: string
  readonly change: Change
}

/** Makes the document of a new user. @throws Fault `password_invalid` (400), `passwords_busy` (503) */
export async function prepareUser(parts: SecretParts, draft: UserDraft): Promise<PreparedUser> {
  const now = clockOf(parts).wall()
  const id = newDocumentId(now)
  const accessKey = newAccessKey()
  const created = new Date(now).toISOString()
  const body: User = {
    org_id: draft.orgId,
    first_name: draft.firstName,
    last_name: draft.lastName,
    email_address: draft.email,
    active: draft.active,
    group_id: draft.groupId,
    user_permissions: draft.permissions,
    password_max_days: draft.passwordMaxDays,
    created_at: created,
    last_login_date: NEVER,
    PWHistory: [],
    ...(await keepPassword(parts, draft)),
    ...storeCredential(parts, id, accessKey),
  }
  const change: Change = { op: 'put', kind: 'user', id, body: asJson(body), ifRevision: 0 }
  return { id, body, accessKey, change }
}

/** The stored form of a new user's password. */
async function keepPassword(
  parts: SecretParts,
  { password, email, samePerson, imported = false }: UserDraft,
): Promise<Pick<User, 'password_hash' | 'password_updated'>> {
  if (password === '') return { password_hash: '', password_updated: NEVER }
  const others = samePerson ? await findByEmail(parts, email) : []
  for (const known of new Set(others.map((other) => other.password_hash).slice(0, MOST_SAME))) {
    if (known !== '' && (await verifyPassword(known, password)))
      return { password_hash: known, password_updated: new Date(clockOf(parts).wall()).toISOString() }
  }
  return (await newUserPassword(parts, password, { imported })) as Pick<User, 'password_hash' | 'password_updated'>
}

/** Accounts of one address whose passwords are compared with that of a new one. */
const MOST_SAME = 4

/**
 * Changes a user. One that becomes inactive, by itself or by its group, or gets another password, is signed out everywhere in the
 * same transaction.
 * @throws Fault `email_taken`, `email_in_use` (403), `user_invalid` (400, no such group), `last_admin` (400), `revision_conflict` (409)
 */
export function updateUser(parts: SecretParts, user: StoredUser, edit: UserEdit, rules: EditRules): Promise<SavedUser> {
  const save = async () => {
    const { id, revision: before, ...body } = user
    const after: User = { ...body, ...edit }
    if (after.group_id !== body.group_id) await checkPlace(parts, after.org_id, after.group_id)
    if (after.email_address !== body.email_address) await checkEmailFree(parts, after, id, rules.sharedEmail)
    const turn = rules.mayLeaveNoAdmin ? [] : await checkLastAdmin(parts, user, after)
    const isSwitchedOff = (await effective(parts, body)).active && !(await effective(parts, after)).active
    const isSignedOut = after.password_hash !== body.password_hash
    const changes: Change[] = [
      { op: 'put', kind: 'user', id, body: asJson(after), ifRevision: before },
      ...(isSwitchedOff ? endOfUser(id) : []),
      ...(isSignedOut ? [{ op: 'endFamily', family: loginFamily(id) } as const] : []),
      ...(rules.also ?? []),
      ...turn,
    ]
    const audit = auditOf(parts, rules.actor, rules.action, after.org_id, { id, fields: Object.keys(edit) })
    const who = { id, email: after.email_address, orgId: after.org_id }
    const revision = await (turn.length > 0
      ? parts.documents.commit(changes, audit)
      : commit(parts, who, changes, audit))
    return { user: { ...after, id, revision }, revision }
  }
  return withLock(parts, () => retryOnConflict(save, OPTIMISTIC_LOCK_CONFLICT))
}

/**
 * Gives a user another API credential. The one before is good for `overlapS` seconds more, 0 = dead when this resolves; the one before that
 * is dead in any case. @throws Fault `revision_conflict` (409)
 */
export async function renewCredential(
  parts: SecretParts,
  user: StoredUser,
  { overlapS, actor }: { readonly overlapS: number; readonly actor: string },
): Promise<SavedUser> {
  const until = clockOf(parts).wall() + overlapS * 1000
  const overlaps = overlapS > 0 && user.access_hmac !== ''
  const access_before = overlaps ? { hmac: user.access_hmac, until } : null
  const kept = { ...storeCredential(parts, user.id, newAccessKey()), access_before }
  return updateUser(parts, user, kept, { ...PLAIN, actor, action: 'user.key_reset' })
}

/** Makes a user inactive, its API credential void, and ends its sessions. @throws Fault `last_admin` (400), `revision_conflict` */
export async function revokeUser(parts: SecretParts, user: StoredUser, actor: string): Promise<SavedUser> {
  const rules = { ...PLAIN, actor, action: 'user.revoke', mayLeaveNoAdmin: false }
  return updateUser(parts, user, { active: false, ...NO_CREDENTIAL }, rules)
}

const PLAIN = { mayLeaveNoAdmin: true, sharedEmail: true } as const

/**
 * Deletes a user, ends its sessions, and takes it out of the owners of APIs. Answers the APIs that have no owner left.
 * @throws Fault `last_admin` (400), `revision_conflict` (409)
 */
export async function deleteUser(parts: SecretParts, user: StoredUser, actor: string): Promise<Deleted> {
  const remove = async () => {
    const changes: Change[] = [
      ...(await checkLastAdmin(parts, user, undefined)),
      { op: 'delete', kind: 'user', id: user.id, ifRevision: user.revision },
      ...endOfUser(user.id),
    ]
    return parts.documents.commit(changes, auditOf(parts, actor, 'user.delete', user.org_id, { id: user.id }))
  }
  const revision = await withLock(parts, () => retryOnConflict(remove, OPTIMISTIC_LOCK_CONFLICT))
  return { revision, ownerless: await endOwnership(parts, { kind: 'user', id: user.id }, actor) }
}

/** The changes that end the sessions of a user who may not come in any more, and of those whom the user has let in by single sign-on. */
export function endOfUser(id: string): Change[] {
  return [
    { op: 'endFamily', family: loginFamily(id) },
    { op: 'endFamily', family: activeFamily(id) },
  ]
}

/** The user with this API credential, in any state; undefined without one. */
export async function findByCredential(
  parts: Pick<SecretParts, 'documents' | 'sealKey' | 'clock'>,
  accessKey: string,
): Promise<StoredUser | undefined> {
  const hmac = accessHmac(parts, accessKey)
  const found = await parts.documents.find('user', 'access_hmac', hmac)
  if (found !== undefined) return userOf(found)
  const renewed = await parts.documents.find('user', 'access_hmac_before', hmac)
  const user = renewed && userOf(renewed)
  return user?.access_before && clockOf(parts).wall() < user.access_before.until ? user : undefined
}

/** A user by id; undefined when there is none. */
export async function findUserById(parts: Pick<SecretParts, 'documents'>, id: string): Promise<StoredUser | undefined> {
  const found = isDocumentId(id) ? await parts.documents.get('user', id) : undefined
  return found && userOf(found)
}

/** All accounts of an address, one in each organisation at most. `email` as `toEmail` gives it. */
export async function findByEmail(parts: Pick<SecretParts, 'documents'>, email: string): Promise<StoredUser[]> {
  const { rows } = await parts.documents.list('user', { where: { email }, limit: 1000 })
  return rows.map(userOf)
}

/** Writes changes of a user. @throws Fault `email_taken` (403) where another process has stored the address first */
async function commit(
  parts: SecretParts,
  { id, email, orgId }: { readonly id: DocumentId; readonly email: string; readonly orgId: string },
  changes: readonly Change[],
  audit: ReturnType<typeof auditOf>,
): Promise<Revision> {
  try {
    return await parts.documents.commit(changes, audit)
  } catch (error) {
    const isTaken =
      toFault(error).code === 'already_exists' &&
      (await findByEmail(parts, email)).some((other) => other.id !== id && other.org_id === orgId)
    throw isTaken ? fault('email_taken', undefined, error) : error
  }
}

/** @throws Fault `user_invalid` (400) when the organisation is not there, or the group not in it */
async function checkPlace({ documents }: SecretParts, orgId: string, groupId: string): Promise<void> {
  if (orgId !== '') {
    const organisation = isDocumentId(orgId) ? await documents.get('organisation', orgId) : undefined
    if (organisation === undefined) throw fault('user_invalid', 'org_id: organisation not found')
  }
  if (groupId === '') return
  const group = isDocumentId(groupId) ? await documents.get('user_group', groupId) : undefined
  if (group === undefined || group.body.org_id !== orgId || orgId === '')
    throw fault('user_invalid', 'group_id: group not found in the organisation')
}

/** Refuses an address that has an account in the organisation, or in another one. @throws Fault `email_taken`, `email_in_use` (403) */
export async function checkEmailFree(
  parts: SecretParts,
  { org_id: orgId, email_address: email }: User,
  self: DocumentId | undefined,
  shared: boolean,
): Promise<void> {
  const others = (await findByEmail(parts, email)).filter(({ id }) => id !== self)
  if (others.some((other) => other.org_id === orgId)) throw fault('email_taken')
  if (others.length > 0 && !shared) throw fault('email_in_use')
}

/**
 * The turn of those who end administrators of an organisation, for the commit.
 * @throws Fault `last_admin` (400) when the organisation would have no active administrator afterwards
 */
async function checkLastAdmin(parts: SecretParts, before: StoredUser, after: User | undefined): Promise<Change[]> {
  if (!administers(before) || (after !== undefined && administers(after))) return []
  const turn = await optimisticLock(parts, `administrators:${before.org_id}`)
  const { rows } = await parts.documents.list('user', { where: { admin_of: before.org_id }, limit: 2 })
  if (rows.every(({ id }) => id === before.id)) throw fault('last_admin')
  return turn
}
