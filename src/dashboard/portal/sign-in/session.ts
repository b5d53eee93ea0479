import { createHmac } from 'node:crypto'
import { fault } from '../../../errors/fault.ts'
import { isObject, type JsonObject } from '../../../model/json/json.ts'
import { portalFamily } from '../../../model/portal/developers/developer.ts'
import { equalSecrets, lookupKey, newSecret } from '../../../model/secrets/secret.ts'
import { developerIn } from '../../../publish/portal/developers/developers.ts'
import { newTicket } from '../../../store/ports/new-ticket.ts'
import type { Change, StoredDocument } from '../../../store/ports/ports.ts'
import { conflictingIdentities } from '../../access/identify.ts'
import type { Call } from '../../routes/call.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { PORTAL_COOKIE, readSessionCookie, sessionCookie } from '../../sign-in/cookie.ts'
import { cameByTls } from '../../sign-in/origin.ts'
import { ticketHash } from '../../sign-in/sessions.ts'
import { readSsoSource, type SsoSource, ssoSourceBody, ssoSourceOf } from '../../sign-in/sso-source.ts'
import type { SsoGuarantor } from '../../single-sign-on/person.ts'
import { guarantorOfSession, noteGuarantor } from '../../single-sign-on/session-guarantor.ts'

/** A portal session that has begun. */
export interface OpenedPortalSession {
  /** Whole `Set-Cookie` field. */
  readonly cookie: string
  /** The value that writing calls must send in `Authorization`. */
  readonly csrf: string
}

/** A portal session, found by its cookie. */
export interface PortalSession {
  readonly developer: StoredDocument
  readonly orgId: string
  readonly csrf: string
  /** The change that ends it. */
  readonly end: Change
}

/** A session that is to begin: the changes that keep it, and what its browser gets after the commit. */
export interface PreparedPortalSession {
  readonly changes: readonly Change[]
  readonly opened: OpenedPortalSession
}

interface OpenedBy {
  readonly developerId: string
  readonly orgId: string
  readonly via: string
  /** The source of single sign-on that admitted the developer: the session ends with it. */
  readonly opener?: SsoSource | undefined
  /** The guarantor of the developer, no administrator: the session ends with that user. */
  readonly guarantor?: SsoGuarantor | undefined
}

/** Prepares a session of a developer under a new id, in any state of the browser. It ends with its lifetime, never later. */
export function newPortalSession(
  parts: DashboardParts,
  call: Pick<Call, 'header' | 'clientAddress'>,
  { developerId, orgId, via, opener, guarantor }: OpenedBy,
): PreparedPortalSession {
  const value = newSecret()
  const now = parts.clock.wall()
  const lifeS = parts.config.dashboard.portal_session_lifetime
  const expiresAt = now + lifeS * 1000
  const body: JsonObject = { developer: developerId, org: orgId, via, created: now, address: call.clientAddress }
  if (opener !== undefined) body.opener = ssoSourceBody(opener)
  const { stored, changes: noted } = noteGuarantor(parts, guarantor)
  if (stored !== undefined) body.vouched = stored
  const family = portalFamily(developerId)
  const row = newTicket('portal_login', expiresAt, { family, body })
  return {
    changes: [...noted, { op: 'putTicket', hash: hashOf(value), row, ifAbsent: true }],
    opened: { cookie: sessionCookie(value, lifeS, cameByTls(parts, call), PORTAL_COOKIE), csrf: csrfOf(parts, value) },
  }
}

/** The parts of a call that identify its session. */
type Calling = Pick<Call, 'header' | 'actor'>

/**
 * The portal session of a call. @throws Fault `portal_session_needed` (401) where there is none, even with another credential; where there is another
 * credential as well, `request_malformed` (400) for that of a dashboard user and `portal_csrf_wrong` (403) for any that is not its token
 */
export async function portalSessionOf(parts: DashboardParts, call: Calling): Promise<PortalSession> {
  const cookie = readSessionCookie(call.header('cookie'), PORTAL_COOKIE)
  if (cookie === undefined) throw fault('portal_session_needed')
  const hash = hashOf(cookie)
  const row = await parts.tokens.getTicket(hash)
  const open = row?.sort === 'portal_login' && row.claimedAt === 0 && row.expiresAt > parts.clock.wall()
  if (row === undefined || !open) throw fault('portal_session_needed')
  const opener = ssoSourceOf(row.body.opener)
  const guarantor = isObject(row.body.vouched) ? row.body.vouched : undefined
  const holds = opener === undefined || (await readSsoSource(parts, opener)).holds
  if (!holds || (await guarantorOfSession(parts, opener, guarantor)) === 'ended') {
    await parts.documents.commit([{ op: 'deleteTicket', hash }], undefined)
    throw fault('portal_session_needed')
  }
  const orgId = String(row.body.org)
  const developer = await developerIn(parts, orgId, String(row.body.developer))
  if (developer === undefined || developer.body.inactive === true) throw fault('portal_session_needed')
  const csrf = csrfOf(parts, cookie)
  const sent = bare(call.header('authorization') ?? call.header('x-api-key'))
  if (sent !== '' && !equalSecrets(sent, csrf)) {
    const isUser = call.actor !== undefined && call.actor.sessionId === undefined
    throw isUser ? conflictingIdentities() : fault('portal_csrf_wrong')
  }
  return { developer, orgId, csrf, end: { op: 'deleteTicket', hash } }
}

const bare = (credential = '') => credential.replace(/^Bearer +/i, '').trim()

/**
 * The portal session of a call that writes: it carries the token that `login` answered, in `Authorization` (bare, or after `Bearer`)
 * or `X-CSRF-Token`. @throws Fault `portal_session_needed` (401), `portal_csrf_wrong` (403)
 */
export async function writingPortalSession(parts: DashboardParts, call: Calling): Promise<PortalSession> {
  const session = await portalSessionOf(parts, call)
  const sent = call.header('authorization') ?? call.header('x-csrf-token')
  if (!equalSecrets(bare(sent), session.csrf)) throw fault('portal_csrf_wrong')
  return session
}

const hashOf = (cookie: string) => ticketHash('portal_login', cookie)

/** Follows from the cookie, which no other site can read: nothing to store. */
function csrfOf({ sealKey }: DashboardParts, cookie: string): string {
  return createHmac('sha256', lookupKey(sealKey)).update(`portal_csrf:${cookie}`).digest('base64url')
}
