import { isObject, type JsonObject } from '../../json/json.ts'
import { flagMember, objectMember, refuseMember, textMember } from './portal-fields.ts'

/** The mails that developers get. */
const MAIL_SORTS = ['welcome_email', 'key_email', 'reset_password_email'] as const
export type PortalMailType = (typeof MAIL_SORTS)[number]

/** How an organisation words one of its mails. */
export interface MailCopy {
  readonly enabled: boolean
  /** '' = ours, as with the next two. */
  readonly subject: string
  readonly body: string
  readonly sign_off: string
  /** Keeps keys and secrets out of the mail. */
  readonly hide_token_data: boolean
}

/** Who mails come from, and how they are worded. */
export interface MailOptions {
  /** '' = as the installation says. */
  readonly mail_from_name: string
  readonly mail_from_email: string
  readonly email_copy: Readonly<Record<PortalMailType, MailCopy>>
}

/** Names that every mail knows: of the developer, the address, and the organisation. */
const EVERYWHERE = ['name', 'email', 'organisation'] as const
/** The placeholders of each mail. */
const PLACEHOLDERS: Readonly<Record<PortalMailType, readonly string[]>> = {
  welcome_email: [...EVERYWHERE],
  key_email: [...EVERYWHERE, 'api', 'key', 'client_id', 'secret', 'link'],
  reset_password_email: [...EVERYWHERE, 'link'],
}

const PLACEHOLDER = /\{\{\s*([a-z_]{1,32})\s*\}\}/g
const ADDRESS = /^[^\s<>@",;:\\()[\]\x00-\x1f\x7f]{1,64}@[^\s<>@",;:\\()[\]\x00-\x1f\x7f]{1,189}$/
const LONGEST_SUBJECT = 150
const LONGEST_BODY = 20_000
const LONGEST_VALUE = 2048

/** Reads `mail_options` from the wire; unknown members are kept. @throws Fault `portal_invalid` (400) naming the field */
export function readMailOptions(sent: JsonObject): JsonObject {
  const email = textMember(sent, 'mail_from_email', { longest: 254 })
  if (email !== '' && !ADDRESS.test(email)) refuseMember('mail_options.mail_from_email', 'must be one mail address')
  const copies = objectMember(sent, 'email_copy')
  const read = MAIL_SORTS.map((sort) => [sort, readCopy(sort, objectMember(copies, sort))] as const)
  return {
    ...sent,
    mail_from_name: textMember(sent, 'mail_from_name', { longest: 128 }),
    mail_from_email: email,
    email_copy: { ...copies, ...Object.fromEntries(read) },
  }
}

/** The options in a stored configuration; what is not there is as usual. */
export function mailOptionsOf(stored: unknown): MailOptions {
  return readMailOptions(isObject(stored) ? stored : {}) as unknown as MailOptions
}

/** Replaces placeholders by their values as text of one line, and reports which of them were used. */
export function filled(
  template: string,
  values: Readonly<Record<string, string>>,
): { readonly text: string; readonly used: ReadonlySet<string> } {
  const used = new Set<string>()
  // In one pass: placeholders within a value are text.
  const text = template.replace(PLACEHOLDER, (_all, name: string) => {
    used.add(name)
    return Object.hasOwn(values, name) ? oneLine(values[name]!) : ''
  })
  return { text, used }
}

/** A text that others wrote, so that it can neither end a line of the head of a mail nor begin a paragraph of its body. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_VALUE)
}

function readCopy(sort: PortalMailType, sent: JsonObject): JsonObject {
  const at = `mail_options.email_copy.${sort}`
  const copy: JsonObject = {
    ...sent,
    enabled: flagMember(sent, 'enabled', true),
    subject: textMember(sent, 'subject', { longest: LONGEST_SUBJECT }),
    body: textMember(sent, 'body', { longest: LONGEST_BODY, lines: true }),
    sign_off: textMember(sent, 'sign_off', { longest: LONGEST_BODY, lines: true }),
    hide_token_data: flagMember(sent, 'hide_token_data'),
  }
  for (const name of ['subject', 'body', 'sign_off']) checkPlaceholders(sort, `${at}.${name}`, String(copy[name]))
  // A subject is read by every server on the way.
  if (/\{\{\s*(?:key|secret|link)\s*\}\}/.test(String(copy.subject)))
    refuseMember(`${at}.subject`, 'keys, secrets and links belong into the body')
  return copy
}

function checkPlaceholders(sort: PortalMailType, at: string, template: string): void {
  const known = PLACEHOLDERS[sort]
  for (const [, name] of template.matchAll(PLACEHOLDER)) {
    if (!known.includes(name!))
      refuseMember(at, `unknown placeholder {{${name}}}: there are ${known.map((each) => `{{${each}}}`).join(', ')}`)
  }
  if (/\{\{|\}\}/.test(template.replace(PLACEHOLDER, ''))) refuseMember(at, 'a placeholder is not well-formed')
}
