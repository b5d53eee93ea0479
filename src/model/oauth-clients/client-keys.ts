import { createPublicKey } from 'node:crypto'
import { isObject, type Json } from '../json/json.ts'

const MOST_KEYS = 20
const LEAST_RSA_BITS = 2048
const CURVES: ReadonlyMap<string, readonly string[]> = new Map([
  ['EC', ['P-256', 'P-384', 'P-521']],
  ['OKP', ['Ed25519', 'Ed448']],
])
/** Members of private and symmetric keys (RFC 7518 section 6): a key set that shows one has given its secret away. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/**
 * The errors of a client's key set (`private_key_jwt`, RFC 7523); undefined when it is valid.
 * Public keys only, EC on P-256, P-384 or P-521, Ed25519, Ed448, or RSA of at least 2,048 bits, each under another `kid`.
 */
export function flawOfJwks(value: Json): string | undefined {
  const keys = isObject(value) ? value.keys : undefined
  if (!Array.isArray(keys) || keys.length === 0) return 'must be a JSON Web Key Set with at least one key'
  if (keys.length > MOST_KEYS) return `must not hold more than ${MOST_KEYS} keys`
  const ids = keys.map((key) => (isObject(key) ? key.kid : undefined)).filter((id) => id !== undefined)
  if (new Set(ids).size < ids.length) return 'two keys have the same kid'
  for (const [index, key] of keys.entries()) {
    const flaw = flawOfKey(key)
    if (flaw !== undefined) return `keys[${index}]: ${flaw}`
  }
  return undefined
}

const LONGEST_ADDRESS = 2_048

/** The errors of the address of a client's key set (`jwks_uri`), in words that follow its name; undefined when it is valid. */
export function flawOfKeyAddress(text: string): string | undefined {
  if (text.length > LONGEST_ADDRESS) return `is longer than ${LONGEST_ADDRESS} characters`
  const url = /^https?:\/\/[\x21-\x7e]+$/i.test(text) ? URL.parse(text) : null
  if (url === null) return 'must be an https address'
  if (url.username !== '' || url.password !== '') return 'must not hold a user or a password'
  return text.includes('#') ? 'must not have a fragment' : undefined
}

function flawOfKey(jwk: Json): string | undefined {
  if (!isObject(jwk)) return 'must be an object'
  if (PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name))) return 'is no public key: take its private part out'
  if (jwk.kid !== undefined && typeof jwk.kid !== 'string') return 'kid must be a string'
  const known = jwk.kty === 'RSA' || CURVES.get(String(jwk.kty))?.includes(String(jwk.crv))
  if (known !== true) return 'must be EC on P-256, P-384 or P-521, OKP on Ed25519 or Ed448, or RSA'
  try {
    const { asymmetricKeyDetails: details } = createPublicKey({ key: jwk, format: 'jwk' })
    return (details?.modulusLength ?? LEAST_RSA_BITS) < LEAST_RSA_BITS ? 'is shorter than 2,048 bits' : undefined
  } catch {
    return 'is not a valid key'
  }
}
