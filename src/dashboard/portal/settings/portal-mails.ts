import { fault, toFault } from '../../../errors/fault.ts'
import { isDocumentId } from '../../../model/documents/ids.ts'
import { isObject } from '../../../model/json/json.ts'
import {
  filled,
  type MailCopy,
  oneLine,
  type PortalConfiguration,
  type PortalMailType,
} from '../../../model/portal/settings/portal-configuration.ts'
import { trimTrailing } from '../../../model/text/trim-trailing.ts'
import { portalConfiguration } from '../../../publish/portal/settings/configuration.ts'
import type { StoredDocument } from '../../../store/ports/ports.ts'
import type { DashboardParts } from '../../server/parts.ts'

/** A mail to a developer. `values` fill the placeholders of the sort; names that it does not know are passed over. */
export interface PortalMail {
  readonly sort: PortalMailType
  readonly developer: Pick<StoredDocument, 'body'>
  readonly values: Readonly<Record<string, string>>
}

interface Wording {
  readonly subject: string
  readonly body: string
}

/** The console shows the same (`portal.usual` of its texts). */
const USUAL: Readonly<Record<PortalMailType, Wording>> = {
  welcome_email: {
    subject: 'Welcome to the developer portal of {{organisation}}',
    body: 'Hello {{name}},\n\nyour account for the developer portal of {{organisation}} is ready. Sign in as {{email}}.',
  },
  key_email: {
    subject: 'Your access to {{api}}',
    body: 'Hello {{name}},\n\nyour request for access to {{api}} is approved.',
  },
  reset_password_email: {
    subject: 'Set a new password',
    body: 'Hello {{name}},\n\na new password was requested for your account at the developer portal. If it was not you, ignore this email: your password stays the same.',
  },
}
const LONGEST_SUBJECT = 200

/**
 * Sends a mail to a developer in the words of the organisation, where mails are configured and the sort is not switched off. Never
 * throws: what goes wrong is logged.
 */
export async function sendPortalMail(parts: DashboardParts, mail: PortalMail): Promise<void> {
  const orgId = String(mail.developer.body.org_id ?? '')
  try {
    if (!parts.mailer.isOn) return
    const configuration = await portalConfiguration(parts, orgId)
    if (!configuration.mail_options.email_copy[mail.sort].enabled) return
    await post(parts, configuration, mail)
  } catch (error) {
    const { code, cause } = toFault(error)
    parts.log.error({ code, cause, org_id: orgId, mail: mail.sort }, 'cannot send a portal mail')
  }
}

/**
 * Sends the link under which a developer collects a key: also where mails about keys are switched off, as there is no other way to
 * it. @throws Fault `mail_off` (409) also when nobody knows where the portal is, `mail_failed` (502)
 */
export async function sendCollectLink(
  parts: DashboardParts,
  { developer, id, code, api }: { developer: Pick<StoredDocument, 'body'>; id: string; code: string; api: string },
): Promise<void> {
  const orgId = String(developer.body.org_id ?? '')
  const configuration = await portalConfiguration(parts, orgId)
  const base = await portalAddress(parts, configuration)
  const link = `${base}/portal/requests/${id}/collect?code=${code}`
  await post(parts, configuration, { sort: 'key_email', developer, values: { api, link } })
}

/** @throws Fault `mail_off` (409) unless mails are configured and the portal has an address: what only a mail brings cannot be had */
export async function checkCollectable(parts: DashboardParts, orgId: string): Promise<void> {
  if (!parts.mailer.isOn) throw fault('mail_off')
  await portalAddress(parts, await portalConfiguration(parts, orgId))
}

async function post(parts: DashboardParts, configuration: PortalConfiguration, mail: PortalMail): Promise<void> {
  const { email, fields } = mail.developer.body
  const to = String(email ?? '')
  const name = isObject(fields) && typeof fields.Name === 'string' ? fields.Name : ''
  const values = {
    ...mail.values,
    email: to,
    name: oneLine(name).slice(0, 128) || to,
    organisation: await organisationName(parts, configuration.org_id),
  }
  const { mail_from_email: address, mail_from_name: from, email_copy } = configuration.mail_options
  const { subject, text } = worded(mail.sort, email_copy[mail.sort], values)
  await parts.mailer.send({ to, subject, text, from: { address, name: from } })
}

/** Subject and text of a mail: the organisation's words where it has some, else ours, and what the developer needs. */
function worded(sort: PortalMailType, copy: MailCopy, given: Readonly<Record<string, string>>) {
  const hidden = ['key', 'client_id', 'secret']
  const entries = Object.entries(given).map(([name, value]) => [
    name,
    copy.hide_token_data && hidden.includes(name) ? '' : value,
  ])
  const values = Object.fromEntries(entries) as Record<string, string>
  const subject = filled(copy.subject || USUAL[sort].subject, values).text
  const body = filled(copy.body || USUAL[sort].body, values)
  const signOff = filled(copy.sign_off, values)
  const used = new Set([...body.used, ...signOff.used])
  const parts = [body.text, ...needed(values, used), signOff.text].filter((part) => part.trim() !== '')
  return { subject: oneLine(subject).slice(0, LONGEST_SUBJECT), text: parts.join('\n\n') }
}

/** Link, key, client id and secret, where the organisation's text omits them. */
function needed(values: Readonly<Record<string, string>>, used: ReadonlySet<string>): string[] {
  const missing = (name: string) => (values[name] ?? '') !== '' && !used.has(name)
  return [
    ...(missing('link') ? ['Open this address; it works once:', oneLine(values.link!)] : []),
    ...(missing('key') ? [`Your key: ${oneLine(values.key!)}`] : []),
    ...(missing('client_id') ? [`Client id: ${oneLine(values.client_id!)}`] : []),
    ...(missing('secret') ? [`Client secret: ${oneLine(values.secret!)}`] : []),
  ]
}

/** Where the portal is, without a slash at the end. @throws Fault `mail_off` (409) when nobody says so */
export async function portalAddress(
  parts: DashboardParts,
  { portal_url: own, org_id: orgId }: PortalConfiguration,
): Promise<string> {
  if (own !== '') return trimTrailing(own, '/')
  const organisation = isDocumentId(orgId) ? await parts.documents.get('organisation', orgId) : undefined
  const cname = String(organisation?.body.cname ?? '')
  if (cname !== '') return `https://${cname}`
  const { public_url: base } = parts.config.dashboard
  if (base !== '') return new URL(base).origin
  throw fault('mail_off', 'neither portal_url nor cname nor dashboard.public_url says where the portal is')
}

async function organisationName({ documents }: DashboardParts, orgId: string): Promise<string> {
  const found = isDocumentId(orgId) ? await documents.get('organisation', orgId) : undefined
  return oneLine(String(found?.body.owner_name ?? '')).slice(0, 128)
}
