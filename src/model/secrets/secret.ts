import { createCipheriv, createDecipheriv, hash, randomBytes, randomFillSync, timingSafeEqual } from 'node:crypto'
import { fault } from '../../errors/fault.ts'

const FORMAT = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES
const SECRET_BYTES = 32
const SECRET_TEXT = /^[A-Za-z0-9_-]{43}$/

/** Module state: random bytes of this thread for secrets to come; 32 at a time cost four times as much. Used bytes are wiped. */
const drawn = Buffer.alloc(64 * SECRET_BYTES)
let drawnFrom = drawn.length

/** Makes a random secret of 256 bits, 43 characters of base64url. */
export function newSecret(): string {
  if (drawnFrom === drawn.length) {
    randomFillSync(drawn)
    drawnFrom = 0
  }
  const end = drawnFrom + SECRET_BYTES
  const secret = drawn.toString('base64url', drawnFrom, end)
  drawn.fill(0, drawnFrom, end)
  drawnFrom = end
  return secret
}

/** Answers the 32 bytes of a secret that `newSecret` made. @throws Fault `setting_invalid` when it is not one */
export function secretBytes(secret: string): Buffer {
  if (!SECRET_TEXT.test(secret)) throw fault('setting_invalid', 'a secret must be 256 bits, 43 characters of base64url')
  return Buffer.from(secret, 'base64url')
}

/** Answers the SHA-256 of a key or token, 32 bytes: what the store finds it by. */
export function hashKey(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** The token of an `Authorization` field of the scheme `Bearer`, in any letter case (RFC 6750 section 2.1); undefined where it is of another. */
export function bearerToken(field: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(field ?? '')?.[1]
}

/** True when both texts are equal. Takes the same time wherever they differ; of lengths, only that of `given` shows. */
export function equalSecrets(given: string, expected: string): boolean {
  return timingSafeEqual(hashKey(given), hashKey(expected))
}

/** A key of 32 bytes, or those of an installation whose key changes. */
export type SealKey = Uint8Array | SealKeys

/** Keys of an installation: everything is sealed under the current one, and read under any. */
export interface SealKeys {
  readonly current: Uint8Array
  readonly previous: readonly Uint8Array[]
  /** Of the HMACs by which rows are found. It stays when the seal key changes: rows keep their places. */
  readonly lookup: Uint8Array
}

/** The key under which new secrets are sealed. */
export function currentKey(key: SealKey): Uint8Array {
  return key instanceof Uint8Array ? key : key.current
}

/** The key of the HMACs by which rows are found. */
export function lookupKey(key: SealKey): Uint8Array {
  return key instanceof Uint8Array ? key : key.lookup
}

/**
 * Encrypts with AES-256-GCM under a key of 32 bytes and a random nonce.
 * `context` says what the secret belongs to (`key:<hash>`, `certificate:<id>`): it is not stored, but must be the same again
 * when unsealed, so that a sealed value cannot be moved to another row.
 * Layout: format (1 byte), nonce (12), tag (16), cipher text.
 */
export function seal(key: SealKey, plaintext: string | Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', currentKey(key), nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(Buffer.from(plaintext)), cipher.final()])
  return Buffer.concat([Buffer.from([FORMAT]), nonce, cipher.getAuthTag(), body])
}

/**
 * Decrypts what `seal` made with one of the keys and the same context.
 * @throws Fault `seal_broken` when it was made under another key or context, or was changed
 */
export function unseal(key: SealKey, sealed: Uint8Array, context: string): Buffer {
  if (sealed.length < HEAD_BYTES || sealed[0] !== FORMAT)
    throw fault('seal_broken', 'sealed value of an unknown format')
  if (key instanceof Uint8Array) return unsealBy(key, sealed, context)
  for (const each of [key.current, ...key.previous]) {
    try {
      return unsealBy(each, sealed, context)
    } catch {
      // It may be sealed under another.
    }
  }
  throw fault('seal_broken', 'sealed value does not fit any seal key or its place')
}

/** `before` where the current key opens it to this text, else a new seal: what has not changed is stored as it was. Base64. */
export function sealUnlessSame(key: SealKey, plaintext: string, context: string, before: string | undefined): string {
  try {
    if (
      before !== undefined &&
      unseal(currentKey(key), Buffer.from(before, 'base64'), context).toString() === plaintext
    )
      return before
  } catch {
    // Of a key from before.
  }
  return seal(key, plaintext, context).toString('base64')
}

/**
 * The sealed value under the current key; undefined where it is already. @throws Fault `seal_broken` when it fits none of the keys
 */
export function reseal(keys: SealKeys, sealed: Uint8Array, context: string): Buffer | undefined {
  try {
    unseal(keys.current, sealed, context)
    return undefined
  } catch {
    return seal(keys, unseal(keys, sealed, context), context)
  }
}

function unsealBy(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()])
  } catch (cause) {
    throw fault('seal_broken', 'sealed value does not fit the seal key or its place', cause)
  }
}
