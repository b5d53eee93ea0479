import { fault } from '../errors/fault.ts'
import { isObject, type JsonObject } from './json.ts'

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
  return key
}

/** True for the SHA-256 of a key as it is written: 64 hex digits. */
export function isKeyHash(text: string): boolean {
  return /^[0-9a-fA-F]{64}$/.test(text)
}

/** What the seal of a key is bound to. */
export function keySealContext(keyHash: string): string {
  return `key:${keyHash}`
}

/** Who counts for a stored session: itself, or the key that it took the place of. */
export function counterIdOf(body: JsonObject, keyHash: string): string {
  return typeof body.counter_id === 'string' ? body.counter_id : keyHash
}

/**
 * Takes what is ours out of a session that came over the wire, and over what callers never get to see from the stored one:
 * who counts, and the password of a basic-auth user unless a new one was sent.
 */
export function withHidden(sent: JsonObject, stored: JsonObject | undefined): JsonObject {
  const { counter_id: _own, ...body } = sent
  if (typeof stored?.counter_id === 'string') body.counter_id = stored.counter_id
  const [before, now] = [stored?.basic_auth_data, body.basic_auth_data]
  if (isObject(before) && isObject(now) && (now.password ?? '') === '')
    body.basic_auth_data = { ...before, ...now, password: before.password ?? '' }
  return body
}

/** A session without what callers never get to see. */
export function withoutHidden(stored: JsonObject): JsonObject {
  const { counter_id: _own, ...body } = stored
  if (!isObject(body.basic_auth_data)) return body
  const { password: _secret, ...rest } = body.basic_auth_data
  return { ...body, basic_auth_data: rest }
}
