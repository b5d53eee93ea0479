import { isDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { StoredUser } from '../../model/people/user.ts'
import { effective } from '../../publish/people/effective.ts'
import { findByCredential, findUserById } from '../../publish/people/users.ts'
import type { DashboardParts } from '../server/parts.ts'
import { sessionOf } from '../sign-in/sessions.ts'
import { guestAccessOf } from '../single-sign-on/rights.ts'
import type { CallerIdentity, Identities } from './identify.ts'

/** Where this dashboard finds users and sessions: in the store, anew for every call, so that whatever changes counts at once. */
export function identitiesOf(parts: DashboardParts): Identities {
  return {
    async byCredential(accessKey) {
      const user = await findByCredential(parts, accessKey)
      return user && ofUser(parts, user)
    },
    async byCookie(cookie) {
      const session = await sessionOf(parts, cookie)
      if (session === undefined) return undefined
      const { userId, sessionId, csrf, guest, viewed } = session
      if (guest !== undefined) return { identity: await ofGuest(parts, userId, guest), sessionId, csrf }
      const user = await findUserById(parts, userId)
      return user && { identity: await looking(parts, await ofUser(parts, user), viewed), sessionId, csrf }
    },
  }
}

async function ofUser(parts: DashboardParts, user: StoredUser): Promise<CallerIdentity> {
  const { permissions, active } = await effective(parts, user)
  const { id, email_address: email, org_id: orgId, group_id: groupId } = user
  return { userId: id, email, orgId, groupId, permissions, active }
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

/** Who came by single sign-on and has no user document. Its groups count as they are now, like those of a user. */
async function ofGuest(parts: DashboardParts, userId: string, guest: JsonObject): Promise<CallerIdentity> {
  const { permissions, groupId, active } = await guestAccessOf(parts, guest)
  const text = (name: string) => (typeof guest[name] === 'string' ? (guest[name] as string) : '')
  return { userId, permissions, groupId, active, email: text('email_address'), orgId: text('org_id') }
}
