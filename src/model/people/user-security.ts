import { hash } from 'node:crypto'
import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import type { Millis } from '../time/clock.ts'

// The sign-in data in the body of a dashboard user (kind `user`). Never shown to anyone.

/** A second factor by time (RFC 6238) that its owner has confirmed. */
export interface StoredTotp {
  /** Base64 of the secret, sealed under `totp:<user id>`. */
  readonly sealed: string
  /** RFC 3339. */
  readonly confirmed_at: string
  /** The time step whose code was used last: neither it nor an older one is taken again. */
  readonly last_step: number
}

/** A passkey (WebAuthn credential). */
export interface StoredPasskey {
  /** Credential id, base64url. */
  readonly id: string
  /** COSE key, base64url. */
  readonly public_key: string
  /** Signature counter of the authenticator; 0 = it has none. */
  readonly counter: number
  readonly transports: readonly string[]
  /** Its name for its owner. */
  readonly name: string
  /** True for one that its maker copies between devices. */
  readonly backed_up: boolean
  /** RFC 3339; `last_used` is '' until the first use. */
  readonly created_at: string
  readonly last_used: string
}

/** The members of a user that tell how it signs in. */
export interface UserSecurity {
  /** Argon2id in the PHC form; absent = the user has no password and cannot sign in with one. */
  readonly password_hash?: string
  /** RFC 3339: when the password was set last. */
  readonly password_updated?: string
  /** Hashes of former passwords, the newest first. */
  readonly PWHistory: readonly string[]
  readonly totp?: StoredTotp
  readonly passkeys: readonly StoredPasskey[]
  /** HMACs (hex) of the recovery codes that were not used yet. */
  readonly recovery_codes: readonly string[]
}

/** Members of a user's body that no answer, log or export may show, and that undoing an older change must leave alone. */
export const SECRET_USER_MEMBERS = [
  'password_hash',
  'PWHistory',
  'totp',
  'passkeys',
  'recovery_codes',
  'sso_identity',
] as const

/** The identity at a provider that the account was first entered with, which alone enters it since; '' = none yet. */
export function boundIdentity(body: JsonObject): string {
  return typeof body.sso_identity === 'string' ? body.sso_identity : ''
}

/** The body of a user who came by an identity at a provider. @throws Fault `sso_refused` (403) where it is bound to another one */
export function bindTo(body: JsonObject, identity: string): JsonObject {
  const bound = boundIdentity(body)
  if (bound !== '' && bound !== identity)
    throw fault('sso_refused', 'the account was bound to another identity at the same time')
  return { ...body, sso_identity: identity }
}

/** Reads what a user's body says about signing in; what is missing or malformed counts as not there. */
export function securityOf(body: JsonObject): UserSecurity {
  const totp = readTotp(body.totp)
  return {
    ...(typeof body.password_hash === 'string' && body.password_hash !== '' && { password_hash: body.password_hash }),
    ...(typeof body.password_updated === 'string' && { password_updated: body.password_updated }),
    PWHistory: texts(body.PWHistory),
    ...(totp && { totp }),
    passkeys: Array.isArray(body.passkeys) ? body.passkeys.flatMap(readPasskey) : [],
    recovery_codes: texts(body.recovery_codes),
  }
}

/** The family of all browser sessions of a user, so that one change ends them. */
export function loginFamily(userId: string): string {
  return `login:${userId}`
}

/**
 * The family of everything that ends for good when a user is deactivated or deleted, besides the user's sessions: sign-ins that wait for a
 * second factor, sign-in nonces that the user asked for, and notes of the sessions that were opened on the user's word.
 */
export function activeFamily(userId: string): string {
  return `active:${userId}`
}

/** True when a password alone does not sign the user in. */
export function hasSecondFactor({ totp, passkeys }: UserSecurity): boolean {
  return totp !== undefined || passkeys.length > 0
}

/** A value that changes with every change of the password and reveals nothing of it: what was begun with an earlier password ends. */
export function passwordStamp({ password_hash: stored }: UserSecurity): string {
  return stored === undefined ? '' : hash('sha256', stored).slice(0, 32)
}

const DAY_MS = 86_400_000

/**
 * True when a password has been in use for more than the fewest of these days; numbers that are not positive set no bound.
 * One whose age is unknown counts as too old where there is a bound.
 */
export function isPasswordTooOld(
  { password_updated: since }: UserSecurity,
  maxDays: readonly Json[],
  now: Millis,
): boolean {
  const bounds = maxDays.filter((days) => typeof days === 'number' && days > 0) as number[]
  if (bounds.length === 0) return false
  const age = now - Date.parse(since ?? '')
  return !(age <= Math.min(...bounds) * DAY_MS)
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
}

function readTotp(value: Json | undefined): StoredTotp | undefined {
  if (!isObject(value) || typeof value.sealed !== 'string' || value.sealed === '') return undefined
  return {
    sealed: value.sealed,
    confirmed_at: typeof value.confirmed_at === 'string' ? value.confirmed_at : '',
    last_step: typeof value.last_step === 'number' ? value.last_step : 0,
  }
}

function readPasskey(value: Json): StoredPasskey[] {
  if (!isObject(value) || typeof value.id !== 'string' || typeof value.public_key !== 'string') return []
  return [
    {
      id: value.id,
      public_key: value.public_key,
      counter: typeof value.counter === 'number' ? value.counter : 0,
      transports: texts(value.transports),
      name: typeof value.name === 'string' ? value.name : '',
      backed_up: value.backed_up === true,
      created_at: typeof value.created_at === 'string' ? value.created_at : '',
      last_used: typeof value.last_used === 'string' ? value.last_used : '',
    },
  ]
}
