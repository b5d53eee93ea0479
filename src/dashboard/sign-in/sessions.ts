import { createHmac } from 'node:crypto'
import { fault, toFault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { loginFamily } from '../../model/people/user-security.ts'
import { hashKey, lookupKey, newSecret } from '../../model/secrets/secret.ts'
import { hexOf } from '../../model/text/hex.ts'
import type { Millis } from '../../model/time/clock.ts'
import { auditOf } from '../../publish/documents/parts.ts'
import { retryOnConflict, TICKET_CONFLICT } from '../../runtime/retry-on-conflict.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change, TicketInput, TicketRow } from '../../store/ports/ports.ts'
import type { DashboardParts } from '../server/parts.ts'
import { sessionCookie } from './cookie.ts'
import { type IdpSubject, idpSubjectOf, noteSubject, subjectFamily } from './idp-subject.ts'
import { usesTls } from './origin.ts'
import { readSsoSource, type SsoSource, ssoSourceBody, ssoSourceOf } from './sso-source.ts'

/** Of what a browser calls itself this much is kept. */
const LONGEST_AGENT = 200

/** Sign-in method; in the audit log. */
export type SignInMethod = 'password' | 'passkey' | 'sso' | 'bootstrap'

/** Who signs in. */
export interface SignedIn {
  /** Storage id of the user; for a guest, a name that is the same at each sign-in of the same person. */
  readonly id: string
  readonly email: string
  readonly orgId: string
  /** Data of a user without a document: stored in the session only. */
  readonly guest?: JsonObject
}

/** How a session is opened. */
export interface OpenSessionOptions {
  /** Mark the cookie `Secure`; unless given, as `dashboard.public_url` says. */
  readonly secure?: boolean
  readonly clientAddress?: string
  /** The browser's User-Agent. */
  readonly agent?: string | undefined
  /** Who a SAML identity provider said it is: its log-out then ends the session. */
  readonly subject?: IdpSubject | undefined
  /** The source of single sign-on that admitted the user: the session ends with it. */
  readonly opener?: SsoSource | undefined
  /** The guarantor of a person that single sign-on let in: the session has no more than that user has. */
  readonly guarantor?: JsonObject | undefined
  /** True where the person has proved it here too, by a second factor. */
  readonly proven?: boolean
  /** The conditions and changes of the same commit: a ticket that is used up, a user that is written. */
  readonly changes?: readonly Change[]
}

/** A session that has begun. */
export interface OpenedSession {
  /** Whole `Set-Cookie` field. */
  readonly cookie: string
  /** The cookie's value alone. */
  readonly value: string
  readonly csrf: string
}

/** A session, found by its cookie. */
export interface BrowserSession {
  readonly userId: string
  /** The value that writing calls must send in `X-CSRF-Token`. */
  readonly csrf: string
  /** SHA-256 of the cookie, hex: names the session without opening it. */
  readonly sessionId: string
  readonly guest: JsonObject | undefined
  /** When the caller last proved who they are: at sign-in or since. 0 = never: it is said by a user without administrator rights alone. */
  readonly verifiedAt: Millis
  readonly via: string
  /** Undefined for a session that did not come by SAML. */
  readonly subject: IdpSubject | undefined
  readonly opener: SsoSource | undefined
  readonly guarantor: JsonObject | undefined
  /** Organisation that an unbounded user looks at; '' = all. */
  readonly viewed: string
}

/**
 * Opens a session under a new id, in any state of the browser. With `disable_parallel_sessions` all others of the user end in
 * the same commit. @throws Fault of the changes that go with it, `store_full`, `store_away`
 */
export async function openSession(
  parts: DashboardParts,
  who: SignedIn,
  via: SignInMethod,
  options: OpenSessionOptions = {},
): Promise<OpenedSession> {
  const { secure = usesTls(parts), clientAddress = '', agent = '', subject, opener, changes = [] } = options
  const { guarantor, proven = guarantor === undefined } = options
  const value = newSecret()
  const now = parts.clock.wall()
  const times = { created: now, seen: now, verified: proven ? now : 0 }
  const body: JsonObject = { user: who.id, via, ...times, address: clientAddress, agent: agent.slice(0, LONGEST_AGENT) }
  if (who.guest !== undefined) body.guest = who.guest
  if (subject !== undefined) body.subject = { ...subject }
  if (opener !== undefined) body.opener = ssoSourceBody(opener)
  if (guarantor !== undefined) body.vouched = guarantor
  const lastsUntil = now + parts.config.dashboard.dashboard_session_lifetime * 1000
  const alone = parts.config.dashboard.disable_parallel_sessions
  await parts.documents.commit(
    [
      ...(alone ? [endSessionsChange(who.id)] : []),
      ...changes,
      ...(subject === undefined ? [] : [noteSubject(subject, who.id, lastsUntil)]),
      { op: 'putTicket', hash: hashOf(value), row: rowOf(parts, body), ifAbsent: true },
    ],
    auditOf(parts, who.email, 'Sign in', who.orgId, { user: who.id, via }),
  )
  return opened(parts, value, secure)
}

/**
 * The session of a cookie value; undefined when there is none, or when it has ended. Each use extends it
 * by the idle time, at most up to its life. Whether the user is still active is for the caller to see.
 */
export async function sessionOf(
  parts: DashboardParts,
  cookie: string | undefined,
): Promise<BrowserSession | undefined> {
  if (cookie === undefined) return undefined
  const hash = hashOf(cookie)
  const row = await parts.tokens.getTicket(hash)
  const now = parts.clock.wall()
  if (row === undefined || !isOpen(row, now)) return undefined
  const { body } = row
  const opener = ssoSourceOf(body.opener)
  if (opener !== undefined && !(await readSsoSource(parts, opener)).holds) {
    // For good: it does not come back with what it was opened by.
    await endSession(parts, cookie)
    return undefined
  }
  const idleMs = parts.config.dashboard.session_idle_time * 1000
  if (now - Number(body.seen) >= Math.min(60_000, idleMs / 10)) renew(parts, hash, { ...body, seen: now }, row.version)
  return {
    userId: String(body.user),
    csrf: csrfOf(parts, cookie),
    sessionId: hash.toString('hex'),
    guest: isObject(body.guest) ? body.guest : undefined,
    verifiedAt: Number(body.verified),
    via: String(body.via),
    subject: idpSubjectOf(body.subject),
    opener,
    guarantor: isObject(body.vouched) ? body.vouched : undefined,
    viewed: String(body.viewed ?? ''),
  }
}

/**
 * Makes a session look at one organisation, or with '' at all: for users who belong to none. The look at one is recorded with it.
 * @throws Fault `login_required` (401) when the session has ended meanwhile
 */
export async function chooseOrganisation(
  parts: DashboardParts,
  cookie: string,
  { orgId, actor }: { readonly orgId: string; readonly actor: string },
): Promise<void> {
  const hash = hashOf(cookie)
  const entry = orgId === '' ? undefined : auditOf(parts, actor, 'Look at organisation', orgId, { id: orgId })
  // The same call may put the end of the session off.
  await retryOnConflict(async () => {
    const row = await parts.tokens.getTicket(hash)
    if (row === undefined || !isOpen(row, parts.clock.wall())) throw fault('login_required')
    const next = rowOf(parts, { ...row.body, viewed: orgId })
    await parts.documents.commit([{ op: 'putTicket', hash, row: next, ifVersion: row.version }], entry)
  }, TICKET_CONFLICT)
}

/**
 * Continues under a new id after the caller has verified their identity again: the old id becomes invalid.
 * `changes` go into the same commit. Undefined when the session has ended.
 */
export async function renewSession(
  parts: DashboardParts,
  cookie: string,
  { secure = usesTls(parts), changes = [] }: Omit<OpenSessionOptions, 'clientAddress' | 'agent'> = {},
): Promise<OpenedSession | undefined> {
  const old = hashOf(cookie)
  const row = await parts.tokens.getTicket(old)
  if ((await sessionOf(parts, cookie)) === undefined || row === undefined) return undefined
  const value = newSecret()
  const now = parts.clock.wall()
  const next = rowOf(parts, { ...row.body, seen: now, verified: now })
  await parts.documents.commit(
    [
      { op: 'claimTicket', hash: old, sort: 'login', now },
      ...changes,
      { op: 'deleteTicket', hash: old },
      { op: 'putTicket', hash: hashOf(value), row: next, ifAbsent: true },
    ],
    undefined,
  )
  return opened(parts, value, secure)
}

/** Ends the session of a cookie; one that has ended already is no error. */
export async function endSession(parts: DashboardParts, cookie: string): Promise<void> {
  await parts.documents.commit([{ op: 'deleteTicket', hash: hashOf(cookie) }], undefined)
}

/** One of the browser sessions of a user, as its owner may see it. */
export interface ListedSession {
  /** As `BrowserSession.sessionId`. */
  readonly id: string
  readonly via: string
  /** Where it was opened. */
  readonly address: string
  readonly agent: string
  readonly createdAt: Millis
  /** Of the last use, to about a minute. */
  readonly seenAt: Millis
  /** When it ends if it is not used again. */
  readonly expiresAt: Millis
}

/** The browser sessions of a user, the one that was used last first. */
export async function listSessions({ tokens, clock }: DashboardParts, userId: string): Promise<ListedSession[]> {
  const now = clock.wall()
  const rows = await tokens.familyTickets(loginFamily(userId))
  return rows
    .filter((row) => isOpen(row, now))
    .map(listed)
    .sort((a, b) => b.seenAt - a.seenAt)
}

/** Ends one session of a user; false when the user has none of this id. */
export async function endSessionOf(parts: DashboardParts, userId: string, sessionId: string): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(sessionId)) return false
  const hash = Buffer.from(sessionId, 'hex')
  const row = await parts.tokens.getTicket(hash)
  if (row === undefined || row.family !== loginFamily(userId) || !isOpen(row, parts.clock.wall())) return false
  await parts.documents.commit([{ op: 'deleteTicket', hash }], undefined)
  return true
}

/** Ends all browser sessions of a user, and what it had begun. */
export async function endSessions(parts: DashboardParts, userId: string): Promise<void> {
  await parts.documents.commit([endSessionsChange(userId)], undefined)
}

/**
 * Ends the browser sessions that a subject of a SAML identity provider has opened: all, or those of the provider's sessions that are
 * named. Answers how many.
 */
export async function endSessionsOfSubject(
  parts: DashboardParts,
  named: Pick<IdpSubject, 'profile' | 'nameId'>,
  sessionIndexes: readonly string[],
): Promise<number> {
  const notes = await parts.tokens.familyTickets(subjectFamily(named))
  const ended: Change[] = []
  for (const user of new Set(notes.map(({ body }) => String(body.user)))) {
    for (const row of await parts.tokens.familyTickets(loginFamily(user))) {
      const subject = idpSubjectOf(row.body.subject)
      if (subject?.profile !== named.profile || subject.nameId !== named.nameId) continue
      if (!isOpen(row, parts.clock.wall())) continue
      if (sessionIndexes.length === 0 || sessionIndexes.includes(subject.sessionIndex))
        ended.push({ op: 'deleteTicket', hash: row.hash })
    }
  }
  if (ended.length > 0) await parts.documents.commit(ended, undefined)
  return ended.length
}

/** The change that ends all browser sessions of a user, for a commit that does more. */
export function endSessionsChange(userId: string): Change {
  return { op: 'endFamily', family: loginFamily(userId) }
}

/** The look-up value of a dashboard ticket; for cookies it is unique to the cookie. */
export function ticketHash(sort: string, text: string): Buffer {
  return hashKey(`${sort}:${text}`)
}

const isOpen = ({ sort, claimedAt, expiresAt }: TicketRow, now: Millis) =>
  sort === 'login' && claimedAt === 0 && expiresAt > now

function listed({ hash, expiresAt, body }: TicketRow): ListedSession {
  return {
    id: hexOf(hash),
    via: String(body.via),
    address: String(body.address ?? ''),
    agent: String(body.agent ?? ''),
    createdAt: Number(body.created),
    seenAt: Number(body.seen),
    expiresAt,
  }
}

const hashOf = (cookie: string) => ticketHash('login', cookie)

function opened(parts: DashboardParts, value: string, secure: boolean): OpenedSession {
  const lifeS = parts.config.dashboard.dashboard_session_lifetime
  return { cookie: sessionCookie(value, lifeS, secure), value, csrf: csrfOf(parts, value) }
}

/** Follows from the cookie, which no other site can read: nothing to store. */
function csrfOf({ sealKey }: DashboardParts, cookie: string): string {
  return createHmac('sha256', lookupKey(sealKey)).update(`csrf:${cookie}`).digest('base64url')
}

function rowOf({ config, clock }: DashboardParts, body: JsonObject): TicketInput {
  const { dashboard_session_lifetime: lifeS, session_idle_time: idleS } = config.dashboard
  const expiresAt = Math.min(Number(body.created) + lifeS * 1000, clock.wall() + idleS * 1000)
  const family = loginFamily(String(body.user))
  return newTicket('login', expiresAt, { family, body })
}

/** Nobody waits for it: a renewal that is lost costs at most a tenth of the idle time. */
function renew(parts: DashboardParts, hash: Uint8Array, body: JsonObject, ifVersion: number): void {
  const row = rowOf(parts, body)
  parts.documents.commit([{ op: 'putTicket', hash, row, ifVersion }], undefined).catch((error: unknown) => {
    const { code } = toFault(error)
    // Another call was first, or the session was ended.
    if (code !== 'ticket_unusable') parts.log.warn({ code }, 'cannot extend a session')
  })
}
