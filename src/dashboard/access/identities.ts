import { isDocumentId } from '../../model/documents/ids.ts'
import type { StoredUser } from '../../model/people/user.ts'
import { effective } from '../../publish/people/effective.ts'
import { findByCredential, findUserById } from '../../publish/people/users.ts'
import type { DashboardParts } from '../server/parts.ts'
import { type BrowserSession, endSession, sessionOf } from '../sign-in/sessions.ts'
import { guestAccessOf, type SsoAccess, userAccessOf } from '../single-sign-on/rights.ts'
import type { CallerIdentity, Identities } from './identify.ts'

/** Users and sessions of this dashboard: read from the store for every call, so that every change counts at once. */
export function identitiesOf(parts: DashboardParts): Identities {
  return {
    async byCredential(accessKey) {
      const user = await findByCredential(parts, accessKey)
      return user && ofUser(parts, user)
    },
    async byCookie(cookie) {
      const session = await sessionOf(parts, cookie)
      if (session === undefined) return undefined
      const { sessionId, csrf, via } = session
      const identity = via === 'sso' ? await ofSso(parts, session) : await ofSession(parts, session)
      if (identity !== 'ended') return identity && { identity, sessionId, csrf }
      // For good: it does not come back with what it was opened by.
      await endSession(parts, cookie)
      return undefined
    },
  }
}

async function ofUser(parts: DashboardParts, user: StoredUser): Promise<CallerIdentity> {
  const { permissions, active } = await effective(parts, user)
  const { id, email_address: email, org_id: orgId, group_id: groupId } = user
  return { userId: id, email, orgId, groupId, permissions, active }
}

async function ofSession(
  parts: DashboardParts,
  { userId, viewed }: BrowserSession,
): Promise<CallerIdentity | undefined> {
  const user = await findUserById(parts, userId)
  return user && looking(parts, await ofUser(parts, user), viewed)
}

/** An unbounded user as it sees the organisation that its session looks at; one that is gone is looked at no more. */
async function looking(
  { documents }: DashboardParts,
  identity: CallerIdentity,
  viewed: string,
): Promise<CallerIdentity> {
  if (identity.orgId !== '' || !isDocumentId(viewed)) return identity
  const there = await documents.get('organisation', viewed)
  return there === undefined ? identity : { ...identity, orgId: viewed, viewing: true }
}

/** A user of single sign-on. Its groups, and the permissions of its guarantor, are read for every call. */
async function ofSso(parts: DashboardParts, session: BrowserSession): Promise<CallerIdentity | undefined | 'ended'> {
  const { userId, guest, viewed } = session
  if (guest !== undefined) {
    const text = (name: string) => (typeof guest[name] === 'string' ? (guest[name] as string) : '')
    const known = { userId, email: text('email_address'), orgId: text('org_id') }
    return identityOf(known, await guestAccessOf(parts, session, guest))
  }
  const user = await findUserById(parts, userId)
  if (user === undefined) return undefined
  const { email_address: email, org_id: orgId } = user
  const identity = identityOf({ userId, email, orgId }, await userAccessOf(parts, session, user))
  return identity === 'ended' ? identity : looking(parts, identity, viewed)
}

function identityOf(
  known: Pick<CallerIdentity, 'userId' | 'email' | 'orgId'>,
  access: SsoAccess | undefined,
): CallerIdentity | 'ended' {
  if (access === undefined) return 'ended'
  const { guarantor, ...rest } = access
  return { ...known, ...rest, ...(guarantor && { guarantor }) }
}
