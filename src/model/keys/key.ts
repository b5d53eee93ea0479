import { fault } from '../../errors/fault.ts'
import { reservedIdFlaw } from '../documents/ids.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { TOKEN_FACTS } from '../oauth-clients/oauth-token.ts'
import { DEVELOPER_ID } from '../portal/developers/developer.ts'
import { newSecret } from '../secrets/secret.ts'
import { NARROWED_BY } from '../sessions/scope-session.ts'
import { LEGACY_KEY } from './legacy-hash.ts'

const MAX_LENGTH = 1024
const VISIBLE = /^[\x21-\x7e]+$/

/**
 * Checks a key that an administrator chose: visible ASCII without spaces, so that every header, query and cookie can carry it,
 * and at least `minLength` characters. @throws Fault `key_invalid` (400)
 */
export function checkRawKey(key: string, minLength: number): string {
  if (key.length < minLength) throw fault('key_invalid', `the key is shorter than ${minLength} characters`)
  if (key.length > MAX_LENGTH) throw fault('key_invalid', `the key is longer than ${MAX_LENGTH} characters`)
  if (!VISIBLE.test(key)) throw fault('key_invalid', 'the key may hold visible ASCII characters only, and no space')
  const reserved = reservedIdFlaw('key', key)
  if (reserved !== undefined) throw fault('key_invalid', reserved)
  return key
}

/** True for the SHA-256 of a key as it is written: 64 hex digits. */
export function isKeyHash(text: string): boolean {
  return /^[0-9a-fA-F]{64}$/.test(text)
}

/** The context that the seal of a key is bound to. */
export function keySealContext(keyHash: string): string {
  return `key:${keyHash}`
}

/** The session whose counters are used: itself, or the key that it replaced. */
export function counterIdOf(body: JsonObject, keyHash: string): string {
  return typeof body.counter_id === 'string' ? body.counter_id : keyHash
}

/** Member of a replaced key that is still valid for a while: the hash of its successor. */
export const ROTATED_TO = 'rotated_to'

/** Member of a key that replaced another: the hash of that one. */
export const ROTATED_FROM = 'rotated_from'

/** Member of the stored session of a user that holds the name. */
export const USER_NAME = 'user_name'

/**
 * Member of the stored session of a user that tells one from the next of the same name: random, and replaced when the user is
 * switched off or gets another password. Tokens that were issued for another generation are void.
 */
export const USER_GENERATION = 'user_generation'

/** The generation of a stored user; '' for one that was stored before there were any. */
export function generationOf(body: JsonObject): string {
  const generation = body[USER_GENERATION]
  return typeof generation === 'string' ? generation : ''
}

/** The member that makes all tokens of a user void that were issued before. */
export function newGeneration(): JsonObject {
  return { [USER_GENERATION]: newSecret() }
}

/** The hash of a stored user's password; '' where there is none. */
export function passwordHashOf({ basic_auth_data: data }: JsonObject): string {
  return isObject(data) && typeof data.password === 'string' ? data.password : ''
}

/** Internal members: never written from outside, and kept with a session. */
const OURS: ReadonlySet<string> = new Set([
  ...['counter_id', 'oauth_client_id', DEVELOPER_ID, ROTATED_TO, ROTATED_FROM],
  ...[USER_NAME, USER_GENERATION, TOKEN_FACTS, NARROWED_BY, LEGACY_KEY],
])

/**
 * Takes what is ours out of a session that came over the wire, and over from the stored one: who counts, whose password it is,
 * whose client it is of, and what makes it a token.
 * @throws Fault `key_invalid` when a password was sent: only users have one, and theirs is taken out before
 */
export function withHidden(sent: JsonObject, stored: JsonObject | undefined): JsonObject {
  const theirs = Object.entries(sent).filter(([name]) => !OURS.has(name))
  const ours = Object.entries(stored ?? {}).filter(([name]) => OURS.has(name))
  const body: JsonObject = Object.fromEntries([...theirs, ...ours])
  if (isObject(body.basic_auth_data) && (body.basic_auth_data.password ?? '') !== '')
    throw fault('key_invalid', 'basic_auth_data: a password belongs to a user, who has a name: POST /keys/{username}')
  if (stored?.[USER_NAME] !== undefined) body.basic_auth_data = stored.basic_auth_data ?? null
  return body
}

/** A session without what callers never get to see. */
export function withoutHidden(stored: JsonObject): JsonObject {
  const { counter_id: _own, [DEVELOPER_ID]: _developer, [ROTATED_TO]: _to, [ROTATED_FROM]: _from, ...rest } = stored
  const { [USER_GENERATION]: _generation, ...body } = rest
  if (!isObject(body.basic_auth_data)) return body
  const { password: _secret, ...data } = body.basic_auth_data
  return { ...body, basic_auth_data: data }
}
