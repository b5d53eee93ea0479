import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { covers, type Permissions, readPermissions, unitePermissions } from '../../model/people/permission.ts'
import { type StoredUser, userOf } from '../../model/people/user.ts'
import { groupPermissions, NOTHING } from '../../model/people/user-group.ts'
import { boundIdentity } from '../../model/people/user-security.ts'
import { newSecret } from '../../model/secrets/secret.ts'
import { findOrganisation } from '../../publish/organisations/organisations.ts'
import { effective } from '../../publish/people/effective.ts'
import { findGroup } from '../../publish/people/groups.ts'
import { checkOwnersReach, ownerBeyond } from '../people/check-rights.ts'
import type { DashboardParts } from '../server/parts.ts'
import type { BrowserSession, SignedIn } from '../sign-in/sessions.ts'
import { UNVERIFIED } from './claims.ts'
import { personBody, personOf, type SsoGuarantor, type SsoPerson, UNNAMED } from './person.ts'
import { currentPerson } from './profiles.ts'
import { guarantorOfSession } from './session-guarantor.ts'

/** Whom a sign-in leads to, and with which rights. */
export type SsoEntry =
  | {
      readonly is: 'user'
      readonly user: StoredUser
      readonly permissions: Permissions
      /** The identity to bind the account to, or that it is bound to already; '' = none. */
      readonly identity: string
    }
  | { readonly is: 'guest'; readonly person: SsoPerson; readonly permissions: Permissions }

/**
 * Decides whom a person is let in as (specification rule 12), from what is stored now:
 * 1. with `sso_enable_user_lookup`, the user of the organisation who is bound to this identity at the provider, else one who is bound to
 *    none yet and has this address, where it is verified: the user's own rights and group apply;
 * 2. else a guest with the rights of the groups that are named, or of `sso_default_group_id`, a group that is not there giving nothing;
 * 3. and with those of `sso_permission_defaults` besides;
 * 4. nothing of it configured: an administrator, unless `sso.deny_without_mapping`.
 * A guest without any rights is refused.
 * Nobody is let in beyond the reach of the guarantor: that user's rights, and with ownership on what user and group own.
 * @throws Fault `sso_refused` (403) with the reason for the log, `rights_exceeded` (403) where the guarantor has less
 */
export async function entryOf(parts: DashboardParts, given: SsoPerson): Promise<SsoEntry> {
  if ((await findOrganisation(parts, given.orgId)) === undefined) throw fault('sso_refused', 'no such organisation')
  const person = await currentPerson(parts, given)
  if (person === undefined)
    throw fault(
      'sso_refused',
      'the profile or single sign-on was changed or switched off, or the user who set it up is gone or inactive',
    )
  const { sso_enable_user_lookup: lookup } = parts.config.dashboard
  const user = lookup ? await registered(parts, person) : undefined
  if (user !== undefined)
    return { is: 'user', user, permissions: await ofUser(parts, user, person), identity: person.identity }
  if (lookup && person.onlyRegistered) throw fault('sso_refused', 'only registered users may come, and this is none')
  if (person.address === 'denied') throw fault('sso_refused', UNVERIFIED)
  const permissions = await guestPermissions(parts, person)
  if (permissions === undefined)
    throw fault('sso_refused', 'neither groups nor default rights are configured, and sso.deny_without_mapping is set')
  if (isDeepStrictEqual(permissions, NOTHING))
    throw fault(
      'sso_refused',
      'the groups of the user give no rights here, nor do a default group or default permissions',
    )
  checkCeiling(person, permissions)
  await checkWithinGuarantor(parts, person, { groupIds: groupsOf(parts, person) })
  return { is: 'guest', person, permissions }
}

/** The permissions of a session of single sign-on. */
export interface SsoAccess {
  readonly permissions: Permissions
  readonly groupId: string
  /** False: the session opens nothing. */
  readonly active: boolean
  /** The user, no administrator, on whose word alone it is this person. */
  readonly guarantor: SsoGuarantor | undefined
}

/** A session as `BrowserSession` has it. */
type SsoSession = Pick<BrowserSession, 'opener' | 'guarantor' | 'verifiedAt'>

/**
 * The present permissions of a session's guest; undefined where the session has ended for good, because its guest has come to have more than
 * the guarantor, or that user is gone or was switched off.
 */
export async function guestAccessOf(
  parts: DashboardParts,
  session: SsoSession,
  guest: JsonObject,
): Promise<SsoAccess | undefined> {
  // Earlier versions stored the guarantor with the guest alone.
  const guarantor = await guarantorOfSession(parts, session.opener, session.guarantor ?? guest)
  if (guarantor === 'ended') return undefined
  const person = await currentPerson(parts, personOf(guest))
  const unverifiedGuarantor = session.verifiedAt === 0 ? guarantor : undefined
  const none = { permissions: NOTHING, groupId: '', active: false, guarantor: unverifiedGuarantor }
  // Without an organisation a guest would be an unbounded user.
  if (person === undefined || (await findOrganisation(parts, person.orgId)) === undefined) return none
  if (parts.config.dashboard.sso_enable_user_lookup && person.onlyRegistered) return none
  const permissions = await guestPermissions(parts, person)
  if (permissions === undefined) return none
  const groupIds = groupsOf(parts, person)
  if (guarantor !== undefined && !(await isWithinReach(parts, guarantor, permissions, { groupIds }))) return undefined
  return { permissions, groupId: groupIds[0] ?? '', active: true, guarantor: unverifiedGuarantor }
}

/** The same for the session of a user of the organisation. */
export async function userAccessOf(
  parts: DashboardParts,
  session: SsoSession,
  user: StoredUser,
): Promise<SsoAccess | undefined> {
  const { permissions, active } = await effective(parts, user)
  const { id: userId, group_id: groupId } = user
  const guarantor = await guarantorOfSession(parts, session.opener, session.guarantor)
  if (guarantor === 'ended') return undefined
  const isBeyond =
    guarantor !== undefined && !(await isWithinReach(parts, guarantor, permissions, { userId, groupIds: [groupId] }))
  const unverifiedGuarantor = session.verifiedAt === 0 ? guarantor : undefined
  return isBeyond ? undefined : { permissions, groupId, active, guarantor: unverifiedGuarantor }
}

/** True when single sign-on makes people in no group administrators, because nothing is configured otherwise. */
export function admitsAdmins({ config }: DashboardParts): boolean {
  const { sso_default_group_id: group, sso_permission_defaults: defaults } = config.dashboard
  return group === '' && Object.keys(defaults).length === 0 && !config.sso.deny_without_mapping
}

/** Who signs in, as a session knows it. A guest who is named is the same at each sign-in. */
export function signedInAs(entry: SsoEntry): SignedIn {
  if (entry.is === 'user') {
    const { id, email_address: email, org_id: orgId } = entry.user
    return { id, email, orgId }
  }
  const { person } = entry
  // By its address alone a guest could be taken for another.
  const name = person.identity || person.email || newSecret()
  const id = `sso-${createHash('sha256')
    .update(JSON.stringify([person.orgId, name]))
    .digest('hex')
    .slice(0, 32)}`
  return { id, email: person.email || UNNAMED, orgId: person.orgId, guest: personBody(person) }
}

/** The user whom a person is; undefined = none. @throws Fault `sso_refused` (403) where the address is a user's who is not shown to be the person */
async function registered({ documents }: DashboardParts, person: SsoPerson): Promise<StoredUser | undefined> {
  const { identity } = person
  const bound = identity === '' ? undefined : await documents.find('user', 'sso_identity', identity)
  if (bound?.body.org_id === person.orgId) return userOf(bound)
  if (person.email === '') return undefined
  const found = await documents.find('user', 'org_email', `${person.orgId}/${person.email}`)
  if (found === undefined) return undefined
  if (boundIdentity(found.body) !== '')
    throw fault(
      'sso_refused',
      'the account of this address is bound to another identity; DELETE /api/users/{id}/sso-identity releases it',
    )
  if (person.address !== 'verified') throw fault('sso_refused', UNVERIFIED)
  return userOf(found)
}

async function ofUser(parts: DashboardParts, user: StoredUser, person: SsoPerson): Promise<Permissions> {
  const { permissions, active } = await effective(parts, user)
  if (!active) throw fault('sso_refused', 'the user or its group is not active')
  checkCeiling(person, permissions)
  await checkWithinGuarantor(parts, person, { userId: user.id, groupIds: [user.group_id] })
  return permissions
}

/** Undefined where nothing is configured and nobody shall come in for that. */
async function guestPermissions(parts: DashboardParts, person: SsoPerson): Promise<Permissions | undefined> {
  const { sso_permission_defaults: defaults } = parts.config.dashboard
  const ids = groupsOf(parts, person)
  if (ids.length === 0 && Object.keys(defaults).length === 0 && !person.mapped)
    return parts.config.sso.deny_without_mapping ? undefined : { IsAdmin: 'admin' }
  const sets: Permissions[] = [readPermissions(defaults)]
  for (const id of new Set(ids)) {
    const group = isDocumentId(id) ? await findGroup(parts, id) : undefined
    if (group?.active === true && group.org_id === person.orgId) sets.push(groupPermissions(group))
  }
  return unitePermissions(sets)
}

/** Groups that count for a guest, there or not. */
function groupsOf({ config }: DashboardParts, { groupIds }: SsoPerson): readonly string[] {
  const usual = config.dashboard.sso_default_group_id
  if (groupIds.length > 0) return groupIds
  return usual === '' ? [] : [usual]
}

function isCovered(guarantor: SsoGuarantor | undefined, permissions: Permissions): boolean {
  if (guarantor === undefined) return true
  return covers(guarantor.permissions, permissions) && covers(guarantor.today ?? guarantor.permissions, permissions)
}

/** Whether a user may admit another user with these permissions, given their own: the rule of `entryOf` for an open session. */
async function isWithinReach(
  parts: DashboardParts,
  guarantor: SsoGuarantor,
  permissions: Permissions,
  owning: Parameters<typeof checkOwnersReach>[2],
): Promise<boolean> {
  if (!isCovered(guarantor, permissions)) return false
  return (await ownerBeyond(parts, { ...guarantor, admin: false }, owning)) === undefined
}

async function checkWithinGuarantor(
  parts: DashboardParts,
  { guarantor }: SsoPerson,
  owning: Parameters<typeof checkOwnersReach>[2],
): Promise<void> {
  if (guarantor !== undefined) await checkOwnersReach(parts, { ...guarantor, admin: false }, owning)
}

function checkCeiling(person: SsoPerson, permissions: Permissions): void {
  if (!isCovered(person.guarantor, permissions))
    throw fault('rights_exceeded', 'A sign-in cannot grant permissions that the person who configured it does not have')
}
