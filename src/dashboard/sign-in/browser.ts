import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { type Answer, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { readSessionCookie } from './cookie.ts'
import { type BrowserSession, sessionOf } from './sessions.ts'

/** How long after the caller has proved who they are the second factor and passkeys may be changed. */
const FRESH_MS = 600_000

/** The browser that makes a call. */
export interface Browser {
  /** Value of its cookie. */
  readonly cookie: string
  readonly session: BrowserSession
  readonly user: StoredDocument
}

/**
 * The browser session that makes a call, and its user. @throws Fault `session_needed` (403) for an API credential, and for a guest, who
 * has no account here
 */
export async function browserOf(parts: DashboardParts, call: Call): Promise<Browser> {
  const cookie = readSessionCookie(call.header('cookie'))
  const session = call.actor?.sessionId === undefined ? undefined : await sessionOf(parts, cookie)
  if (cookie === undefined || session === undefined || session.sessionId !== call.actor?.sessionId)
    throw fault('session_needed')
  const user = isDocumentId(session.userId) ? await parts.documents.get('user', session.userId) : undefined
  if (user === undefined) throw fault('session_needed')
  return { cookie, session, user }
}

/** The same, where the caller has proved lately who they are. @throws Fault `verification_needed` (403) besides */
export async function freshBrowserOf(parts: DashboardParts, call: Call): Promise<Browser> {
  const browser = await browserOf(parts, call)
  if (parts.clock.wall() - browser.session.verifiedAt > FRESH_MS) throw fault('verification_needed')
  return browser
}

/** The same answer, with a cookie to keep, and never kept by a cache. */
export function withCookie(answer: Answer, cookie: string): Answer {
  return { ...answer, headers: { ...answer.headers, 'set-cookie': cookie, 'cache-control': 'no-store' } }
}

/** The same answer, never kept by a cache. */
export function uncached(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } }
}

/** The cookies of a browser whose session gets a new id. */
export function renewed(
  opened: { readonly cookie: string; readonly csrf: string } | undefined,
  message: string,
  more = {},
): Answer {
  if (opened === undefined) throw fault('login_required')
  return withCookie(ok(message, { csrf_token: opened.csrf, ...more }), opened.cookie)
}
