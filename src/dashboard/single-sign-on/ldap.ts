import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Client, type Entry, InvalidCredentialsError, NoSuchObjectError, SizeLimitExceededError } from 'ldapts'
import { fault, toFault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { toEmail } from '../../model/people/user.ts'
import { profileText } from '../../model/single-sign-on/idp-profile.ts'
import { type NetworkRule, refusePrivate } from '../../model/webhooks/hook.ts'
import { pinnedLookup } from '../../publish/documents/pinned-lookup.ts'
import type { DashboardParts } from '../server/parts.ts'
import { firstText, type ProvenPerson } from './claims.ts'
import type { UsedProfile } from './profiles.ts'

const PLACE = '*USERNAME*'
/** Permanent identifiers of users in directories: RFC 4530, Active Directory, 389, FreeIPA, eDirectory. */
const UNIQUE = ['entryUUID', 'objectGUID', 'nsUniqueId', 'ipaUniqueID', 'GUID']
const SCOPES = ['base', 'one', 'sub'] as const
const LONGEST = 256

/** A name and a password as typed. */
export interface DirectoryCredentials {
  readonly username: string
  readonly password: string
}

/**
 * Asks a directory whether a name and a password belong together: by binding as the user; with `LDAPAdminUser` after looking the
 * user up. Undefined when they do not, or the name is unknown or ambiguous.
 * @throws Fault `sso_failed` (403) with the reason for the log when the directory cannot be asked
 */
export async function checkDirectory(
  parts: DashboardParts,
  { profile }: UsedProfile,
  typed: DirectoryCredentials,
): Promise<ProvenPerson | undefined> {
  // A bind without a password succeeds at many directories, as nobody (RFC 4513 section 5.1.2).
  if (typed.username === '' || typed.password === '' || typed.password.includes('\0')) return undefined
  if (typed.username.length > LONGEST || typed.password.length > 4096 || /[\x00-\x1f\x7f]/.test(typed.username))
    return undefined
  const config = profile.config
  let client: Client | undefined
  try {
    client = clientOf(parts, config)
    if (config.LDAPStartTLS === true) await client.startTLS(checkedName(hostOf(config)))
    const admin = profileText(config, 'LDAPAdminUser')
    const entry = admin === '' ? await byOwnName(client, config, typed) : await byLookUp(client, config, typed, admin)
    return entry && provenBy(config, typed.username, entry)
  } catch (error) {
    const { code, message } = toFault(error)
    const reason = code === 'webhook_target_refused' ? `it ${message}` : message
    throw fault('sso_failed', `the directory could not be asked: ${reason}`, error)
  } finally {
    await client?.unbind().catch(() => undefined)
  }
}

async function byOwnName(
  client: Client,
  config: JsonObject,
  { username, password }: DirectoryCredentials,
): Promise<Entry | undefined> {
  const dn = profileText(config, 'LDAPUserDN').replaceAll(PLACE, () => escapeNameValue(username))
  if (!(await binds(client, dn, password))) return undefined
  if (profileText(config, 'LDAPFilter') === '') return { dn }
  return search(client, config, username)
}

async function byLookUp(
  client: Client,
  config: JsonObject,
  typed: DirectoryCredentials,
  admin: string,
): Promise<Entry | undefined> {
  const secret = profileText(config, 'LDAPAdminPassword')
  if (secret === '') throw new Error('LDAPAdminPassword is not set')
  await client.bind(admin, secret)
  const entry = await search(client, config, typed.username)
  if (entry === undefined || entry.dn === '') return undefined
  return (await binds(client, entry.dn, typed.password)) ? entry : undefined
}

async function binds(client: Client, dn: string, password: string): Promise<boolean> {
  try {
    await client.bind(dn, password)
    return true
  } catch (error) {
    if (error instanceof InvalidCredentialsError || error instanceof NoSuchObjectError) return false
    throw error
  }
}

/** The one entry that the filter finds; none where it finds several. */
async function search(client: Client, config: JsonObject, username: string): Promise<Entry | undefined> {
  const filled = profileText(config, 'LDAPFilter').replaceAll(PLACE, () => escapeFilterValue(username))
  // The broker's examples leave out the operator of a list of conditions.
  const filter = filled.startsWith('((') ? `(&${filled.slice(1)}` : filled
  const base = profileText(config, 'LDAPBaseDN') || profileText(config, 'LDAPUserDN')
  const asked = Array.isArray(config.LDAPAttributes) ? config.LDAPAttributes.map(String) : []
  const named = ['LDAPEmailAttribute', 'LDAPFirstNameAttribute', 'LDAPLastNameAttribute'].map((name) =>
    profileText(config, name),
  )
  // Those of the directory's own are not among all that it answers by itself (RFC 4511 section 4.5.1.8).
  const attributes = [...(asked.length === 0 ? ['*'] : asked), ...named.filter((name) => name !== ''), ...UNIQUE]
  try {
    const { searchEntries: found } = await client.search(
      base.replaceAll(PLACE, () => escapeNameValue(username)),
      {
        scope: SCOPES[Number(config.LDAPSearchScope ?? 2)] ?? 'sub',
        filter,
        sizeLimit: 2,
        timeLimit: 10,
        attributes,
        explicitBufferAttributes: ['objectGUID', 'GUID'],
      },
    )
    return found.length === 1 ? found[0] : undefined
  } catch (error) {
    if (error instanceof NoSuchObjectError || error instanceof SizeLimitExceededError) return undefined
    throw error
  }
}

function provenBy(config: JsonObject, username: string, entry: Entry): ProvenPerson {
  const claims = new Map<string, unknown>(
    Object.entries(entry).map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : value]),
  )
  const one = (name: string) => (name === '' ? '' : firstText(claims.get(name)))
  const names = [one(profileText(config, 'LDAPFirstNameAttribute')), one(profileText(config, 'LDAPLastNameAttribute'))]
  const domain = profileText(config, 'DefaultDomain')
  const made = domain === '' ? username : `${username}@${domain}`
  return {
    claims,
    // Of a profile it is the one directory, whichever server answers for it.
    issuer: 'ldap',
    subject: subjectOf(entry),
    userId: username.toLowerCase(),
    attributesTrusted: true,
    address: 'verified',
    email: one(profileText(config, 'LDAPEmailAttribute') || 'mail') || (toEmail(made) === undefined ? '' : made),
    displayName: names.filter((name) => name !== '').join(' ') || username,
  }
}

/** The directory's ID of the user, however the name was typed. */
function subjectOf(entry: Entry): string {
  for (const name of UNIQUE) {
    const key = Object.keys(entry).find((given) => given.toLowerCase() === name.toLowerCase())
    const value = key === undefined ? undefined : entry[key]
    const first = Array.isArray(value) ? value[0] : value
    if (first !== undefined && first.length > 0)
      return `${name}:${typeof first === 'string' ? first.toLowerCase() : first.toString('hex')}`
  }
  return `dn:${entry.dn.toLowerCase()}`
}

function clientOf({ config }: DashboardParts, profile: JsonObject): Client {
  const { allow_private: allowPrivate, timeout_ms: timeoutMs } = config.sso
  const host = hostOf(profile)
  const port = Number(profile.LDAPPort ?? 389)
  const rule: NetworkRule = { allowPrivate, setting: 'sso.allow_private' }
  if (isIP(host) !== 0) refusePrivate([host], rule)
  const lookup = pinnedLookup(rule)
  const encrypted = profile.LDAPUseSSL === true
  let connected = false
  const plain = () => {
    // The library reconnects silently, and a password would then be sent in clear (RFC 4513 section 3.1).
    if (connected && profile.LDAPStartTLS === true) throw new Error('the encrypted connection was ended')
    connected = true
    return connect({ host, port, lookup })
  }
  return new Client({
    // The connection is made below: to an address that was checked.
    url: `${encrypted ? 'ldaps' : 'ldap'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    timeout: timeoutMs,
    connectTimeout: timeoutMs,
    ...(encrypted
      ? { createSecureConnection: (() => connectTls({ port, lookup, ...checkedName(host) })) as typeof connectTls }
      : { createConnection: plain as typeof connect }),
  })
}

const hostOf = (config: JsonObject) => profileText(config, 'LDAPServer').replace(/^\[(.*)\]$/, '$1')

/** The host name of the certificate. */
const checkedName = (host: string) => ({ host, ...(isIP(host) === 0 && { servername: host }) })

/** A text escaped as a value within a filter (RFC 4515 section 3). */
export function escapeFilterValue(text: string): string {
  return text.replace(/[\x00()*\\]/g, hex)
}

/** A text escaped as a value within a distinguished name (RFC 4514 section 2.4). */
export function escapeNameValue(text: string): string {
  return text.replace(/[\x00"+,;<=>\\]/g, hex).replace(/^[ #]|[ ]$/g, hex)
}

const hex = (char: string) => `\\${char.charCodeAt(0).toString(16).padStart(2, '0')}`
