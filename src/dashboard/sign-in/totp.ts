import { createHmac, randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { equalSecrets, lookupKey, type SealKey, seal, unseal } from '../../model/secrets/secret.ts'
import type { Millis } from '../../model/time/clock.ts'

const PERIOD_S = 30
/** Steps before and after the present one whose codes are taken: clocks of telephones drift. */
const WINDOW = 1
const SECRET_BYTES = 20
const CODE = /^\d{6}$/

/** Makes a secret of 160 bits for codes by time (RFC 4226 section 4), base32. */
export function newTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32
}

/** The URI of an authenticator app's QR code: `otpauth://totp/Gatehouse:ada%40example.org?...`. */
export function otpauthUri(secret: string, email: string): string {
  return new TOTP({ issuer: 'Gatehouse', label: email, secret: Secret.fromBase32(secret) }).toString()
}

/**
 * The time step (RFC 6238) that a code belongs to, when it is a right one and newer than `lastStep`, the step of the code that was
 * used last; else undefined. Spaces within the code are passed over.
 */
export function stepOfCode(secret: string, given: string, now: Millis, lastStep: number): number | undefined {
  const token = given.replace(/\s/g, '')
  if (!CODE.test(token)) return undefined
  const totp = { secret: Secret.fromBase32(secret), period: PERIOD_S, timestamp: now }
  const delta = TOTP.validate({ ...totp, token, window: WINDOW })
  if (delta === null) return undefined
  const step = TOTP.counter(totp) + delta
  return step > lastStep ? step : undefined
}

/** Encrypts the secret of a user for keeping, base64. */
export function sealTotp(sealKey: SealKey, userId: string, secret: string): string {
  return seal(sealKey, secret, `totp:${userId}`).toString('base64')
}

/** @throws Fault `seal_broken` when it belongs to another user, or was changed */
export function unsealTotp(sealKey: SealKey, userId: string, sealed: string): string {
  return unseal(sealKey, Buffer.from(sealed, 'base64'), `totp:${userId}`).toString()
}

const CODES = 10
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 4
const GROUP_LENGTH = 4

/** Makes recovery codes of 79 bits each, such as `k3xw-9pqt-2mfh-z7ra`: without letters that look alike. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => Array.from({ length: GROUPS }, newGroup).join('-'))
}

function newGroup(): string {
  let group = ''
  while (group.length < GROUP_LENGTH) {
    const [byte = 0] = randomBytes(1)
    // Bytes past the last whole alphabet would make its first letters likelier.
    if (byte < 256 - (256 % ALPHABET.length)) group += ALPHABET[byte % ALPHABET.length]
  }
  return group
}

/** The stored form of a recovery code: an HMAC, hex. Case, spaces and hyphens do not count. */
export function recoveryHmac(sealKey: SealKey, userId: string, code: string): string {
  const plain = code.toLowerCase().replace(/[\s-]/g, '').slice(0, 100)
  return createHmac('sha256', lookupKey(sealKey))
    .update(JSON.stringify(['recovery', userId, plain]))
    .digest('hex')
}

/** The codes that are left when one is used; undefined when it is none of them. */
export function withoutRecoveryCode(kept: readonly string[], hmac: string): string[] | undefined {
  const rest = kept.filter((stored) => !equalSecrets(hmac, stored))
  return rest.length === kept.length ? undefined : rest
}
