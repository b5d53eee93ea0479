import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { flagMember, namesMember, objectMember, refuseMember, textMember, webAddressMember } from './portal-fields.ts'

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
interface MailOptions {
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
function readMailOptions(sent: JsonObject): JsonObject {
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
function mailOptionsOf(stored: unknown): MailOptions {
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

/** How the portal of an organisation behaves. */
export interface PortalConfiguration {
  readonly org_id: string
  /** Names, or objects with a name. */
  readonly signup_fields: readonly Json[]
  readonly key_request_fields: readonly Json[]
  /** True: a request waits for approval. */
  readonly require_key_approval: boolean
  /** True: approving makes no key; the developer gets a link by mail and collects it while signed in. */
  readonly secure_key_approval: boolean
  readonly redirect_on_key_request: boolean
  readonly redirect_to: string
  /** True: one request may name several policies. */
  readonly enable_multi_selection: boolean
  readonly disable_login: boolean
  readonly disable_signup: boolean
  readonly disable_auto_login: boolean
  readonly catalogue_login_only: boolean
  /** OAuth apps that a developer may have; -1 = any number, 0 = none. */
  readonly oauth_usage_limit: number
  readonly email: string
  /** Address of the portal that mails lead to; '' = the organisation's `cname`. Ours. */
  readonly portal_url: string
  readonly mail_options: MailOptions
}

const FLAGS = [
  'require_key_approval',
  'secure_key_approval',
  'redirect_on_key_request',
  'enable_multi_selection',
  'disable_login',
  'disable_signup',
  'disable_auto_login',
  'catalogue_login_only',
] as const
/** The overrides of a catalogue entry with `override`. */
const OVERRIDDEN = ['key_request_fields', 'require_key_approval', 'redirect_on_key_request', 'redirect_to'] as const

/**
 * Reads a configuration from the wire: what is not sent is as in `before`, null is as usual, unknown members are kept.
 * @throws Fault `portal_invalid` (400) naming the field
 */
export function readConfiguration(sent: JsonObject, before: JsonObject = {}): JsonObject {
  const { id: _id, _id: _storage, org_id: _org, HashKeys: _hash, ...rest } = { ...before, ...sent }
  flagMember(sent, 'HashKeys')
  const redirects = flagMember(rest, 'redirect_on_key_request')
  const target = webAddressMember(rest, 'redirect_to')
  if (redirects && target === '') refuseMember('redirect_to', 'is missing, and redirect_on_key_request is on')
  if (flagMember(rest, 'enable_dcr'))
    refuseMember('enable_dcr', 'registering clients at an identity provider is not served')
  return {
    ...rest,
    signup_fields: namesMember(rest, 'signup_fields'),
    key_request_fields: namesMember(rest, 'key_request_fields'),
    ...Object.fromEntries(FLAGS.map((name) => [name, flagMember(rest, name)])),
    redirect_to: target,
    oauth_usage_limit: readLimit(rest),
    email: textMember(rest, 'email', { longest: 254 }),
    portal_url: webAddressMember(rest, 'portal_url'),
    mail_options: readMailOptions(objectMember(rest, 'mail_options')),
    enable_dcr: false,
    dcr_options: readDcrOptions(objectMember(rest, 'dcr_options')),
    override: flagMember(rest, 'override'),
  }
}

/** The configuration in a stored body; without one, as it is before anybody says otherwise. */
export function configurationOf(orgId: string, stored: JsonObject | undefined): PortalConfiguration {
  const body = readConfiguration(stored ?? {})
  return { ...body, org_id: orgId, mail_options: mailOptionsOf(body.mail_options) } as unknown as PortalConfiguration
}

/** The names of the fields that a developer fills in at sign-up, and whose values go to the keys. */
export function signupFieldsOf({ signup_fields: fields }: Pick<PortalConfiguration, 'signup_fields'>): string[] {
  return fields.map((field) => String(isObject(field) ? field.name : field))
}

/** Reads the configuration that an entry of the catalogue has for itself: lists are never null. @throws Fault `portal_invalid` (400) */
export function readEntryConfiguration(sent: JsonObject): JsonObject {
  const overrides = flagMember(sent, 'override')
  const { enable_dcr: _dcr, ...whole } = readConfiguration({ ...sent, redirect_on_key_request: false })
  // Only what was sent, so that an entry stays as short as it came.
  const kept = Object.entries(whole).filter(([name]) => Object.hasOwn(sent, name) && sent[name] !== null)
  const lists = Object.entries(whole).filter(([name, value]) => Array.isArray(value) && Object.hasOwn(sent, name))
  const redirects = flagMember(sent, 'redirect_on_key_request')
  if (overrides && redirects && (sent.redirect_to ?? '') === '')
    refuseMember('config.redirect_to', 'is missing, and redirect_on_key_request is on')
  return {
    ...Object.fromEntries([...kept, ...lists]),
    ...(Object.hasOwn(sent, 'redirect_on_key_request') && { redirect_on_key_request: redirects }),
  }
}

/** The effective rules for requests about an entry: its own where it overrides, else those of the portal. */
export function configurationFor(
  portal: PortalConfiguration,
  entryConfiguration: JsonObject | undefined,
): PortalConfiguration {
  if (entryConfiguration === undefined || entryConfiguration.override !== true) return portal
  const own = readEntryConfiguration(entryConfiguration)
  const said = OVERRIDDEN.filter((name) => Object.hasOwn(own, name)).map((name) => [name, own[name]])
  return { ...portal, ...Object.fromEntries(said) }
}

function readLimit(sent: JsonObject): number {
  const limit = sent.oauth_usage_limit ?? -1
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < -1 || limit > 1_000_000)
    return refuseMember('oauth_usage_limit', 'must be a whole number, -1 for no limit')
  return limit
}

/** Kept for those who read it back; the token of the provider is a secret that nothing here needs. */
function readDcrOptions(sent: JsonObject): JsonObject {
  return {
    ...sent,
    idp_host: textMember(sent, 'idp_host', { longest: 2048 }),
    registration_endpoint: textMember(sent, 'registration_endpoint', { longest: 2048 }),
    access_token: '',
    provider: textMember(sent, 'provider'),
    grant_types: namesMember(sent, 'grant_types'),
    response_types: namesMember(sent, 'response_types'),
    token_endpoint_auth_method: textMember(sent, 'token_endpoint_auth_method'),
  }
}
