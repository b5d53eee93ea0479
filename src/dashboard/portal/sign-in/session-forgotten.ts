import { fault, toFault } from '../../../errors/fault.ts'
import { portalFamily } from '../../../model/portal/developers/developer.ts'
import { newSecret } from '../../../model/secrets/secret.ts'
import { developerByEmail } from '../../../publish/portal/developers/developers.ts'
import { setDeveloperPassword } from '../../../publish/portal/developers/developers-write.ts'
import { portalConfiguration } from '../../../publish/portal/settings/configuration.ts'
import { newTicket } from '../../../store/ports/new-ticket.ts'
import type { Call } from '../../routes/call.ts'
import type { DashboardParts } from '../../server/parts.ts'
import { PASSWORD_LINK_MS } from '../../sign-in/mail-link-queue.ts'
import { ticketHash } from '../../sign-in/sessions.ts'
import { portalAddress, sendPortalMail } from '../settings/portal-mails.ts'

/**
 * Accepts a developer's request for a link that sets another password. Returns before anything is looked up, so that neither the
 * answer nor its time tells whether the address is known.
 */
export function requestPortalLink(
  parts: DashboardParts,
  call: Pick<Call, 'clientAddress'>,
  sent: { readonly orgId: string; readonly address: string },
): void {
  parts.portalMailLinks.accept(call, () => sendLink(parts, sent))
}

async function sendLink(
  parts: DashboardParts,
  { orgId, address }: { readonly orgId: string; readonly address: string },
): Promise<void> {
  const developer = await developerByEmail(parts, orgId, address)
  if (developer === undefined || developer.body.inactive === true) return
  const base = await portalAddress(parts, await portalConfiguration(parts, orgId))
  if (!parts.portalMailLinks.mayMail(`${orgId}/${String(developer.body.email).toLowerCase()}`)) return
  const secret = newSecret()
  const expiresAt = parts.clock.wall() + PASSWORD_LINK_MS
  const row = newTicket('password_link', expiresAt, {
    // It becomes invalid with the sessions, and with every change of the developer: the mail went to the address of that time.
    family: portalFamily(developer.id),
    body: { developer: developer.id, org: orgId, revision: developer.revision },
  })
  await parts.documents.commit([{ op: 'putTicket', hash: hashOf(secret), row, ifAbsent: true }], undefined)
  // The secret is in the fragment, which no server log and no Referer contains.
  const values = { link: `${base}/portal/reset-password#${secret}` }
  await sendPortalMail(parts, { sort: 'reset_password_email', developer, values })
}

/**
 * Sets the password of the developer whom the link of a mail is for, ends their sessions, and uses the link up, in one commit. A
 * password that breaks a rule does not use it up.
 * @throws Fault `link_unusable`, `developer_password_invalid` (400), `passwords_busy` (503)
 */
export async function resetByPortalLink(parts: DashboardParts, secret: string, password: string): Promise<void> {
  const hash = hashOf(secret)
  const row = await parts.tokens.getTicket(hash)
  const now = parts.clock.wall()
  if (row === undefined || row.sort !== 'password_link' || row.claimedAt > 0 || row.expiresAt <= now)
    throw fault('link_unusable')
  const { developer: id, org: orgId, revision } = row.body
  const history = parts.config.dashboard.security.enforce_password_history
  const claim = { op: 'claimTicket', hash, sort: 'password_link', now } as const
  const unchanged = Number(revision)
  const rules = { orgId: String(orgId), actor: String(id), history, imported: false, unchanged, also: () => [claim] }
  try {
    await setDeveloperPassword(parts, String(id), password, rules)
  } catch (error) {
    const { code } = toFault(error)
    if (code === 'ticket_unusable' || code === 'not_found' || code === 'revision_conflict') throw fault('link_unusable')
    throw error
  }
}

const hashOf = (secret: string) => ticketHash('portal_password_link', secret)
