import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { isObject, type JsonObject } from '../../model/json/json.ts'

/** A public key of another party. */
export interface PublicKey {
  readonly key: KeyObject
  /** RFC 7638, base64url of the SHA-256. */
  readonly thumbprint: string
}

/** Members of private and symmetric keys (RFC 7518 section 6): a key that shows one is no secret any more. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const COORDINATE = /^[A-Za-z0-9_-]{43}$/
const EXPONENT = /^[A-Za-z0-9_-]{2,6}$/
// 2,048 to 4,096 bits. Larger ones cost us more to check than their owners to send.
const MODULUS = /^[A-Za-z0-9_-]{342,683}$/
const MODULUS_BITS = 2_048
const CACHED_KEYS = 1_024

/** Module state: a cache of immutable values: keys by thumbprint, which identifies all their parts. The least recently used are dropped first. */
const cache = new Map<string, KeyObject>()

/**
 * Reads a public JSON Web Key (RFC 7517): EC on P-256, or RSA of 2,048 to 4,096 bits. undefined when it is another kind, has a
 * private member, or is no point of the curve. Members that only describe it (`kid`, `use`, `alg`) are the caller's to judge.
 */
export function readPublicJwk(value: unknown): PublicKey | undefined {
  if (!isObject(value) || PRIVATE_MEMBERS.some((name) => Object.hasOwn(value, name))) return undefined
  const essential = essentialMembers(value)
  if (essential === undefined) return undefined
  const thumbprint = hash('sha256', JSON.stringify(essential), 'base64url')
  const key = cache.get(thumbprint) ?? importKey(essential)
  if (key === undefined) return undefined
  cache.delete(thumbprint)
  cache.set(thumbprint, key)
  if (cache.size > CACHED_KEYS) cache.delete(cache.keys().next().value!)
  return { key, thumbprint }
}

/** The public part of one of our keys as its JSON Web Key, and its thumbprint (RFC 7638). */
export function publicJwk(key: KeyObject): { readonly jwk: JsonObject; readonly thumbprint: string } {
  const jwk = essentialMembers(key.export({ format: 'jwk' }) as JsonObject)
  if (jwk === undefined) throw new TypeError('a signing key is EC on P-256 or RSA')
  return { jwk, thumbprint: hash('sha256', JSON.stringify(jwk), 'base64url') }
}

/** The members that make up the key, in the order of RFC 7638 section 3.2. */
function essentialMembers({ kty, crv, x, y, e, n }: JsonObject): JsonObject | undefined {
  if (kty === 'EC' && crv === 'P-256')
    return fits(x, COORDINATE) && fits(y, COORDINATE) ? { crv, kty, x, y } : undefined
  if (kty === 'RSA') return fits(e, EXPONENT) && fits(n, MODULUS) ? { e, kty, n } : undefined
  return undefined
}

function fits(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value)
}

function importKey(jwk: JsonObject): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    // A key that comes out another way than it went in had spare bits or zeros: it would have several thumbprints.
    if (publicJwk(key).thumbprint !== hash('sha256', JSON.stringify(jwk), 'base64url')) return undefined
    return isStrong(key) ? key : undefined
  } catch {
    return undefined
  }
}

/** True for every EC key that could be read, and for RSA keys of enough bits with an exponent that hides something. */
function isStrong({ asymmetricKeyDetails: details }: KeyObject): boolean {
  if (details?.modulusLength === undefined || details.publicExponent === undefined) return true
  return details.modulusLength >= MODULUS_BITS && details.publicExponent >= 3n && details.publicExponent % 2n === 1n
}
