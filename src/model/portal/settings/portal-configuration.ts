import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { flagMember, namesMember, objectMember, refuseMember, textMember, webAddressMember } from './portal-fields.ts'
import { type MailOptions, mailOptionsOf, readMailOptions } from './portal-mail.ts'

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
