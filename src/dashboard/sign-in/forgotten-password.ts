import { isDeepStrictEqual } from 'node:util'
import { fault, toFault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { newSecret } from '../../model/secrets/secret.ts'
import { changePassword } from '../../publish/sign-in/passwords.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { PASSWORD_LINK_MS } from './mail-link-queue.ts'
import { ticketHash } from './sessions.ts'
import { accountsOf, maySignIn } from './users-with-password.ts'

/**
 * Accepts a request for a link that sets another password. Returns before anything is looked up, so that neither the answer nor
 * its time tells whether the address is known.
 */
export function requestLink(parts: DashboardParts, address: string, call: Pick<Call, 'clientAddress'>): void {
  parts.mailLinks.accept(call, () => sendLink(parts, address))
}

async function sendLink(parts: DashboardParts, address: string): Promise<void> {
  const { public_url: base } = parts.config.dashboard
  if (!parts.mailer.isOn) return parts.log.warn({}, 'password reset requested, but dashboard.email_backend is not set')
  // The address of the dashboard must not come from the call: its sender chooses the Host header.
  if (base === '') return parts.log.error({}, 'password reset requested, but dashboard.public_url is not set')
  const accounts = await accountsOf(parts, address)
  const users: StoredDocument[] = []
  for (const user of accounts) if (await maySignIn(parts, user)) users.push(user)
  const [first] = users
  if (first === undefined) return
  const to = String(first.body.email_address)
  if (!parts.mailLinks.mayMail(to)) return
  const secret = newSecret()
  const expiresAt = parts.clock.wall() + PASSWORD_LINK_MS
  // Every change of a user, its address above all, or of its group makes the link void: the mail went to the user of that time.
  const body: JsonObject = { users: await Promise.all(users.map((user) => versionOf(parts, user))) }
  const row = newTicket('password_link', expiresAt, { body })
  const hash = ticketHash('password_link', secret)
  await parts.documents.commit([{ op: 'putTicket', hash, row, ifAbsent: true }], undefined)
  const link = `${new URL(base).origin}/reset-password#${secret}`
  await parts.mailer.send({ to, subject: 'Set a new password', text: textOf(link) })
}

/** The secret is in the fragment, which no server log and no Referer contains. */
function textOf(link: string): string {
  return [
    'A new password was requested for your dashboard account.',
    'To set one, open this address within 16 minutes. It works once:',
    link,
    'If it was not you, there is nothing to do: the password stays as it is.',
  ].join('\n\n')
}

/**
 * Sets the password of those whom the link of a mail is for, ends their sessions, and uses the link up, in one commit. A link is
 * void when anything of the user was changed since: the address, the password, the state. A password that breaks a rule does not use it up.
 * @throws Fault `link_unusable` (400), `password_invalid` (400), `passwords_busy` (503)
 */
export async function resetByLink(parts: DashboardParts, secret: string, password: string): Promise<void> {
  const hash = ticketHash('password_link', secret)
  const row = await parts.tokens.getTicket(hash)
  const now = parts.clock.wall()
  if (row === undefined || row.sort !== 'password_link' || row.claimedAt > 0 || row.expiresAt <= now)
    throw fault('link_unusable')
  const users = await unchanged(parts, row.body)
  if (users.length === 0) throw fault('link_unusable')
  const history = parts.config.dashboard.security.enforce_password_history
  const actor = String(users[0]?.body.email_address)
  try {
    const changes = [{ op: 'claimTicket', hash, sort: 'password_link', now } as const]
    await changePassword(parts, { users, password, history, actor, changes, asRead: true })
  } catch (error) {
    const { code } = toFault(error)
    if (code === 'ticket_unusable' || code === 'revision_conflict') throw fault('link_unusable')
    throw error
  }
}

async function unchanged(parts: DashboardParts, { users }: JsonObject): Promise<StoredDocument[]> {
  const found: StoredDocument[] = []
  for (const entry of Array.isArray(users) ? users : []) {
    if (!isObject(entry) || !isDocumentId(entry.id)) continue
    const user = await parts.documents.get('user', entry.id as DocumentId)
    if (user === undefined || !(await maySignIn(parts, user))) continue
    if (isDeepStrictEqual(await versionOf(parts, user), entry)) found.push(user)
  }
  return found
}

/** Changes whenever the user or its group does: one that was off meanwhile has ended what was begun before. */
async function versionOf({ documents }: DashboardParts, { id, revision, body }: StoredDocument): Promise<JsonObject> {
  const { group_id: groupId } = body
  const group = isDocumentId(groupId) ? await documents.get('user_group', groupId) : undefined
  return { id, revision, group_revision: group?.revision ?? 0 }
}
