import { createHmac } from 'node:crypto'
import { type Fault, fault, waitFault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { generationOf, passwordHashOf, USER_GENERATION, USER_NAME, withoutHidden } from '../../model/keys/key.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import { checkPassword, type PasswordRules, passwordRules } from '../../model/passwords/password-rules.ts'
import { hashPassword, isPasswordHash, verifyPassword } from '../../model/passwords/passwords.ts'
import { isBcryptHash, looksLikeBcrypt } from '../../model/passwords/passwords-bcrypt.ts'
import { lookupKey, type SealKey } from '../../model/secrets/secret.ts'
import { normaliseText } from '../../model/text/fold.ts'
import type { Clock } from '../../model/time/clock.ts'
import { perNameRules } from '../../runtime/attempt-limiter.ts'
import { isThrottled, LoginThrottle, type LoginThrottleRules } from '../../runtime/login-throttle.ts'
import { ownPlace } from '../../runtime/recent-tables.ts'
import type { SessionRow, Tokens } from '../../store/ports/ports.ts'
import { orgOf, type SecretParts } from '../documents/parts.ts'
import { inItsOrganisation } from '../organisations/organisation-of.ts'
import { createKey, type SavedKey, updateKey } from './keys.ts'

const FORGET_MS = 900_000

const MOST_NAMES = 10_000

/** A user: a session that is found by a name and used with a password, never by itself as a key. */
export interface BasicUserDraft {
  readonly name: string
  /** As on the wire, the password in `basic_auth_data.password`. */
  readonly session: JsonObject
  readonly keepQuota: boolean
  /** True for one that comes from another installation: see `KeyDraft`. */
  readonly moved?: boolean
  /** Refuses to replace a user: see `KeyDraft`. */
  readonly checkReplaced?: (stored: SessionRow) => Promise<void>
  readonly actor: string
}

/** The dependencies of finding users: those of publishing keys, and those of authorization servers. */
export interface BasicUserParts {
  readonly tokens: Tokens
  readonly sealKey: SealKey
}

/** The dependencies of password checks: those of a gateway, and those of authorization servers. */
export interface PasswordCheckParts extends BasicUserParts {
  readonly basicAuthThrottle: LoginThrottle
}

const LONGEST_NAME = 256

/**
 * The storage hash of a user: an HMAC, so that no credential that could be sent as a key leads to a user.
 */
export function basicUserHash({ sealKey }: Pick<BasicUserParts, 'sealKey'>, orgId: string, name: string): Buffer {
  const place = JSON.stringify(['user', orgId, normaliseText(name)])
  return createHmac('sha256', lookupKey(sealKey)).update(place).digest()
}

/** The stored session of a user; undefined when there is none. @throws Fault `store_away` */
export async function findBasicUser(
  parts: BasicUserParts,
  orgId: string,
  name: string,
): Promise<SessionRow | undefined> {
  const row = await parts.tokens.getSession(basicUserHash(parts, orgId, name))
  return row === undefined || !isBasicUser(row) ? undefined : row
}

/** True for the session of a user. */
export function isBasicUser({ body }: Pick<SessionRow, 'body'>): boolean {
  return typeof body[USER_NAME] === 'string'
}

/** True when a session from the wire brings a password: it is meant to be a user. */
export function bringsPassword({ basic_auth_data: data }: JsonObject): boolean {
  return isObject(data) && typeof data.password === 'string' && data.password !== ''
}

/**
 * Stores a user; one of the same name in the organisation is replaced, and has its password still where none is sent. The password is
 * kept as argon2id, and must meet the rules unless it comes as an argon2id or bcrypt hash already.
 * @throws Fault `key_invalid`, `rights_missing`, `password_invalid` (400), `passwords_busy` (503)
 */
export async function createBasicUser(
  parts: SecretParts,
  { name, session: sent, keepQuota, moved = false, checkReplaced, actor }: BasicUserDraft,
): Promise<SavedKey> {
  checkName(name)
  const session = await inItsOrganisation(parts, sent)
  const orgId = orgOf(parts, session.org_id)
  const { basic_auth_data: data, ...rest } = session
  const kept = !bringsPassword(session) && (await findBasicUser(parts, orgId, name)) !== undefined
  if (!kept && (!isObject(data) || !bringsPassword(session)))
    throw fault('key_invalid', 'basic_auth_data.password: is missing')
  const own = kept ? {} : { [USER_NAME]: name, basic_auth_data: await keptPassword(parts, data as JsonObject) }
  return createKey(parts, {
    session: orgId === '' ? rest : { ...rest, org_id: orgId },
    user: { hash: basicUserHash(parts, orgId, name), own },
    keepQuota,
    moved,
    ...(checkReplaced && { checkReplaced }),
    actor,
  })
}

/**
 * Replaces the session of a user; the password stays unless another one is sent. The organisation cannot change.
 * @throws Fault `not_found` (404), `key_invalid`, `rights_missing`, `password_invalid` (400), `passwords_busy` (503)
 */
export async function updateBasicUser(
  parts: SecretParts,
  { row, session, keepQuota, actor }: Omit<BasicUserDraft, 'name'> & { readonly row: SessionRow },
): Promise<SavedKey> {
  const { basic_auth_data: data, ...rest } = session
  if ((rest.org_id ?? '') !== '' && rest.org_id !== row.orgId)
    throw fault('key_invalid', 'org_id: a user cannot move to another organisation')
  const fresh = isObject(data) && bringsPassword(session) ? await keptPassword(parts, data) : undefined
  const moved = row.orgId === '' ? rest : { ...rest, org_id: row.orgId }
  return updateKey(parts, { row, session: moved, keepQuota, actor, ...(fresh && { own: { basic_auth_data: fresh } }) })
}

/**
 * The session of the user with this password, without the password; undefined for an unknown user or a wrong
 * password, which takes the same time. After a few failures of a user from an address, more of a user from everywhere, or from an
 * address, each further one must wait longer: an earlier attempt gets the Fault `oauth_too_many_tries` and is not
 * checked. Where the user came from before, only failures from there count, so that strangers lock nobody out. An address counts as a
 * network of 64 bits in IPv6. A success clears the failures of the user from the address, and of the other counters only itself.
 * @throws Fault `passwords_busy` (503), `store_away`
 */
export async function checkBasicUser(
  parts: PasswordCheckParts,
  orgId: string,
  username: string,
  password: string,
  clientAddress: string,
): Promise<SessionRow | undefined | Fault> {
  const hash = basicUserHash(parts, orgId, username.slice(0, LONGEST_NAME + 1))
  const attempt = parts.basicAuthThrottle.begin({ name: hash.toString('base64'), address: visitorOf(clientAddress) })
  if (isThrottled(attempt)) return waitFault('oauth_too_many_tries', attempt.waitMs)
  try {
    const row = await parts.tokens.getSession(hash)
    const right = await verifyPassword(row && (passwordHashOf(row.body) || undefined), password, attempt)
    if (!right || row === undefined || !isBasicUser(row)) return undefined
    attempt.succeed()
    return { ...row, body: { ...withoutHidden(row.body), [USER_GENERATION]: generationOf(row.body) } }
  } catch (error) {
    // It was our fault, not the caller's.
    attempt.giveBack()
    throw error
  }
}

function checkName(name: string): void {
  if (name === '' || name.length > LONGEST_NAME || /[\x00-\x1f\x7f]/.test(name) || !name.isWellFormed())
    throw fault('key_invalid', `the user name must have 1 to ${LONGEST_NAME} characters and no control characters`)
}

const OTHER_HASHES = ['sha256', 'murmur32', 'murmur64', 'murmur128']
const fallbackRules = passwordRules()

/** The stored form of a sent password. */
async function keptPassword(parts: SecretParts, data: JsonObject): Promise<JsonObject> {
  const { password: sent, ...rest } = data
  const password = String(sent)
  const kept = (hashed: string): JsonObject => {
    return { ...rest, hash_type: isBcryptHash(hashed) ? 'bcrypt' : 'argon2id', password: hashed }
  }
  if (isPasswordHash(password)) return kept(password)
  // Accepting the hash as the password would let a stolen list of hashes open the accounts.
  if (looksLikeBcrypt(password) || OTHER_HASHES.includes(String(rest.hash_type)))
    throw fault(
      'key_invalid',
      'basic_auth_data: only argon2id hashes, and bcrypt hashes of a cost up to 14, can be taken over: send the password itself',
    )
  const rules: PasswordRules = parts.passwordRules ?? fallbackRules
  checkPassword(rules, password)
  return kept(await hashPassword(password))
}

/** Makes the throttle for failed password checks of users of APIs, one for all APIs of a process. */
export function newBasicAuthThrottle(clock: Clock, tables = ownPlace().tables): LoginThrottle {
  const rules = { firstWaitMs: 1000, forgetMs: FORGET_MS, names: MOST_NAMES }
  const limits: LoginThrottleRules = {
    pair: { ...rules, free: 5, longestWaitMs: 60_000 },
    // Anyone who knows a name can make its owner wait where the owner did not sign in before.
    name: perNameRules(50),
    // Many users may come from one address: that of an app's own server.
    address: { ...rules, free: 60, longestWaitMs: FORGET_MS },
    sharedAddresses: true,
  }
  return new LoginThrottle(clock, limits, { tables, name: 'basic' })
}
