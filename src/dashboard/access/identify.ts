import type { IncomingMessage } from 'node:http'
import { type Fault, fault } from '../../errors/fault.ts'
import { isAdmin } from '../../model/people/permission.ts'
import { equalSecrets } from '../../model/secrets/secret.ts'
import { readSessionCookie, readSessionCookies } from '../sign-in/cookie.ts'
import type { Actor } from './actor.ts'

/** Fields that each hold one credential; those of a kind say who calls. */
const KINDS: Readonly<Record<string, string>> = {
  authorization: 'API credential',
  'x-api-key': 'API credential',
  'admin-auth': 'admin secret',
  'x-csrf-token': 'CSRF token',
}

/** A user as found, active or not. */
export interface CallerIdentity extends Omit<Actor, 'admin' | 'sessionId'> {
  /** False when the user or its group is not: nothing opens for it. */
  readonly active: boolean
}

/** Where users and their sessions are looked up. */
export interface Identities {
  byCredential(accessKey: string): Promise<CallerIdentity | undefined>
  byCookie(cookie: string): Promise<{ identity: CallerIdentity; sessionId: string; csrf: string } | undefined>
}

export interface Credentials {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

const SAFE = /^(?:GET|HEAD|OPTIONS)$/
const LONGEST = 4096
const MOST_COOKIES = 4

/**
 * The caller: by the API credential in `Authorization` (bare or after `Bearer`) or `X-API-Key`, else by the session cookie.
 * Undefined without one, and for a credential that is unknown or whose user or group is inactive. A credential that was sent
 * counts alone, so that a cookie never replaces a wrong one, and no session of another user is used with it.
 * @throws Fault `csrf_token_wrong` (403) for a session that writes without its token in `X-CSRF-Token`; `request_malformed` (400) where
 * credential and cookie belong to different users
 */
export async function identifyCaller(who: Identities, { method, headers }: Credentials): Promise<Actor | undefined> {
  const credential = credentialOf(headers)
  if (credential !== undefined) {
    const identity = credential.length > LONGEST ? undefined : await who.byCredential(credential)
    if (identity !== undefined) await refuseOthers(who, identity, textOf(headers.cookie))
    return actorOf(identity, undefined)
  }
  const cookie = readSessionCookie(textOf(headers.cookie))
  const session = cookie === undefined ? undefined : await who.byCookie(cookie)
  if (session === undefined) return undefined
  const actor = actorOf(session.identity, session.sessionId)
  if (actor !== undefined && !SAFE.test(method) && !equalSecrets(textOf(headers['x-csrf-token']), session.csrf))
    throw fault('csrf_token_wrong')
  return actor
}

/** A proxy in front may read any of the cookies: none of them may belong to another person. */
async function refuseOthers(who: Identities, { userId }: CallerIdentity, field: string): Promise<void> {
  const cookies = readSessionCookies(field)
  if (cookies.length > MOST_COOKIES) throw conflictingIdentities()
  for (const cookie of cookies) {
    const session = await who.byCookie(cookie)
    if (session !== undefined && session.identity.userId !== userId) throw conflictingIdentities()
  }
}

/** True when `admin-auth` holds one of the admin secrets. */
export function isInstallation(headers: Credentials['headers'], adminSecrets: readonly string[]): boolean {
  const given = headers['admin-auth']
  return typeof given === 'string' && adminSecrets.some((secret) => secret !== '' && equalSecrets(given, secret))
}

function credentialOf(headers: Credentials['headers']): string | undefined {
  const sent = headers.authorization ?? headers['x-api-key']
  if (typeof sent !== 'string') return undefined
  const credential = sent.replace(/^Bearer +/i, '').trim()
  return credential === '' ? undefined : credential
}

function actorOf(identity: CallerIdentity | undefined, sessionId: string | undefined): Actor | undefined {
  if (identity === undefined || !identity.active) return undefined
  const { active: _active, ...known } = identity
  return { ...known, admin: isAdmin(known.permissions), sessionId }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Refuses two fields of one name, which Node would reduce to one or join, and two different credentials of one kind: a proxy in
 * front could have read the other.
 * @throws Fault `request_malformed` (400)
 */
export function refuseTwoCredentials({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void {
  const names = new Set<string>()
  const values = new Map<string, string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name]! : undefined
    if (kind === undefined) continue
    const value = rawHeaders[i + 1]!.replace(/^Bearer +/i, '').trim()
    if (names.has(name) || (values.get(kind) ?? value) !== value)
      throw fault('request_malformed', `${kind} given several times: send one credential`)
    names.add(name)
    values.set(kind, value)
  }
}

/** The refusal of a request whose session and API credential belong to different users: the caller would be ambiguous. */
export function conflictingIdentities(): Fault {
  return fault('request_malformed', 'session cookie and API credential of different people: send one of them')
}
