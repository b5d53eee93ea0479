import {
  constants,
  createHmac,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import { isObject, type JsonObject } from '../json/json.ts'
import { trimTrailing } from '../text/trim-trailing.ts'

/** Kinds of keys, in the words of definitions. */
export type KeyFamily = 'hmac' | 'rsa' | 'ecdsa' | 'eddsa'

export const KEY_FAMILIES: readonly KeyFamily[] = ['hmac', 'rsa', 'ecdsa', 'eddsa']

/** A key that signatures of tokens are checked with. What it may be used for follows from the key, never from a token. */
export interface VerifyKey {
  /** '' = it has no name. */
  readonly kid: string
  readonly key: KeyObject
  /** Names of RFC 7518 section 3, RFC 8037 and RFC 9864 that fit this key. */
  readonly algorithms: readonly string[]
}

interface Algorithm {
  readonly family: KeyFamily
  /** undefined = the algorithm brings its own. */
  readonly digest: string | undefined
  readonly options?: { padding: number; saltLength?: number } | { dsaEncoding: 'ieee-p1363' }
  /** Bytes of the signature; undefined = as long as the modulus. */
  readonly bytes?: number
}

const { RSA_PKCS1_PADDING: PKCS1, RSA_PKCS1_PSS_PADDING: PSS } = constants
const P1363 = { dsaEncoding: 'ieee-p1363' } as const

const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map<string, Algorithm>([
  ['HS256', { family: 'hmac', digest: 'sha256', bytes: 32 }],
  ['HS384', { family: 'hmac', digest: 'sha384', bytes: 48 }],
  ['HS512', { family: 'hmac', digest: 'sha512', bytes: 64 }],
  ['RS256', { family: 'rsa', digest: 'sha256', options: { padding: PKCS1 } }],
  ['RS384', { family: 'rsa', digest: 'sha384', options: { padding: PKCS1 } }],
  ['RS512', { family: 'rsa', digest: 'sha512', options: { padding: PKCS1 } }],
  // The salt is as long as the hash (RFC 7518 section 3.5).
  ['PS256', { family: 'rsa', digest: 'sha256', options: { padding: PSS, saltLength: 32 } }],
  ['PS384', { family: 'rsa', digest: 'sha384', options: { padding: PSS, saltLength: 48 } }],
  ['PS512', { family: 'rsa', digest: 'sha512', options: { padding: PSS, saltLength: 64 } }],
  ['ES256', { family: 'ecdsa', digest: 'sha256', options: P1363, bytes: 64 }],
  ['ES384', { family: 'ecdsa', digest: 'sha384', options: P1363, bytes: 96 }],
  ['ES512', { family: 'ecdsa', digest: 'sha512', options: P1363, bytes: 132 }],
  ['EdDSA', { family: 'eddsa', digest: undefined }],
  ['Ed25519', { family: 'eddsa', digest: undefined, bytes: 64 }],
  ['Ed448', { family: 'eddsa', digest: undefined, bytes: 114 }],
])

/** Algorithms with a public key. */
export const PUBLIC_KEY_ALGORITHMS: readonly string[] = [...ALGORITHMS].flatMap(([name, { family }]) =>
  family === 'hmac' ? [] : [name],
)

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
const OF_CURVE: Readonly<Record<string, readonly string[]>> = {
  prime256v1: ['ES256'],
  secp384r1: ['ES384'],
  secp521r1: ['ES512'],
}
const LEAST_RSA_BITS = 2_048
/** Checking with a larger one would cost us more than it costs the sender. */
const MOST_RSA_BITS = 8_192
/** Shortest secret without a setting of the API that allows less: as long as the hash of HS256 (RFC 7518 section 3.2). */
export const LEAST_SECRET_BYTES = 32
const MOST_SOURCE = 32_768

/**
 * The key in a definition: a PEM public key or certificate, or a shared secret; in base64, a PEM also unencoded. Returns
 * in words what is wrong with it, to follow the name of the member.
 */
export function readStaticKey(
  source: string,
  family: KeyFamily | '',
  { takesShortSecrets = false }: { readonly takesShortSecrets?: boolean } = {},
): VerifyKey | string {
  if (family === '') return 'needs a key type: hmac, rsa, ecdsa or eddsa'
  const bytes = source.startsWith('-----BEGIN ') ? Buffer.from(source) : decodeBase64(source)
  if (bytes === undefined || source.length > MOST_SOURCE) return 'must be an http or https address, or a key in base64'
  const text = bytes.toString('latin1')
  if (family === 'hmac') return readSecret(bytes, text, takesShortSecrets ? 1 : LEAST_SECRET_BYTES)
  return readPublicKey(text, family)
}

/** As `readStaticKey`, for the key of one caller (`jwt_data.secret`): a secret as it is, or a PEM. Without a family it is a secret. */
export function readCallerKey(
  text: string,
  family: KeyFamily | '',
  { takesShortSecrets }: { readonly takesShortSecrets: boolean },
): VerifyKey | string {
  if (text.length > MOST_SOURCE) return 'is too long'
  if (family !== 'hmac' && family !== '') return readPublicKey(text, family)
  return readSecret(Buffer.from(text), text, takesShortSecrets ? 1 : LEAST_SECRET_BYTES)
}

function readPublicKey(text: string, family: KeyFamily): VerifyKey | string {
  if (/PRIVATE KEY-----/.test(text)) return 'must be a public key, not a private one'
  if (!text.trimStart().startsWith('-----BEGIN ')) return 'must be a public key or certificate in PEM'
  const key = importKey(() => createPublicKey(text), family)
  return key === undefined ? `must be a public key that fits ${family}: ${KEYS_WE_TAKE}` : { kid: '', ...key }
}

const KEYS_WE_TAKE = 'RSA of 2,048 to 8,192 bits, P-256, P-384, P-521, Ed25519 or Ed448'

/** A public key taken for a secret would let everybody sign who knows it, which is everybody. */
function readSecret(bytes: Buffer, text: string, leastBytes: number): VerifyKey | string {
  if (text.includes('-----BEGIN ') || (text.trimStart().startsWith('{') && text.includes('"kty"')))
    return 'must be a secret, not a key in PEM or JSON'
  if (bytes.length < leastBytes)
    return `must be a secret of at least ${leastBytes} bytes; allowShortSecrets (jwt_allow_short_secrets) accepts a shorter one`
  return { kid: '', key: createSecretKey(bytes), algorithms: SECRET_ALGORITHMS }
}

/** A longer hash weakens no secret, so one of 32 bytes is good for all of them. */
const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512']

/** The address that a source is, plainly or in base64; undefined when it is none. */
export function readKeyAddress(source: string): string | undefined {
  const text = /^https?:\/\//i.test(source) ? source : (decodeBase64(source)?.toString('latin1') ?? '')
  return /^https?:\/\/[\x21-\x7e]+$/i.test(text) && URL.canParse(text) ? text : undefined
}

const MOST_KEYS = 100
const MOST_KID = 256

/**
 * The keys of a key set (RFC 7517 section 5) that we can check signatures with; the rest is passed over: other kinds, those for
 * encryption, weak ones, secrets, and published private keys. undefined when it is no key set.
 */
export function readKeySet(set: JsonObject, family: KeyFamily | ''): readonly VerifyKey[] | undefined {
  if (!Array.isArray(set.keys) || set.keys.length > MOST_KEYS) return undefined
  return set.keys.flatMap((jwk) => {
    const key = isObject(jwk) ? readJwk(jwk, family) : undefined
    return key === undefined ? [] : [key]
  })
}

/** Keys that are tried for a token that names none. */
const MOST_TRIED = 4

/** The keys of a set that may have made a signature under this `kid` ('' = none is named) and `alg`. A key without a name may be meant by any. */
export function pickKeys(keys: readonly VerifyKey[], kid: string, alg: string): readonly VerifyKey[] {
  const named = kid === '' ? keys : keys.filter((key) => key.kid === kid)
  const meant = named.length > 0 ? named : keys.filter((key) => key.kid === '')
  return meant.filter(({ algorithms }) => algorithms.includes(alg)).slice(0, MOST_TRIED)
}

/** Members of private and symmetric keys (RFC 7518 section 6): a key that shows one is no secret any more. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const FAMILY_OF: Readonly<Record<string, KeyFamily>> = { RSA: 'rsa', EC: 'ecdsa', OKP: 'eddsa' }
const COORDINATES: Readonly<Record<string, number>> = {
  'P-256': 43,
  'P-384': 64,
  'P-521': 88,
  Ed25519: 43,
  Ed448: 76,
}

function readJwk(jwk: JsonObject, wanted: KeyFamily | ''): VerifyKey | undefined {
  const { kty, kid = '', use = 'sig', key_ops: operations = ['verify'], alg } = jwk
  const family = typeof kty === 'string' && Object.hasOwn(FAMILY_OF, kty) ? FAMILY_OF[kty]! : undefined
  if (family === undefined || (wanted !== '' && wanted !== family)) return undefined
  if (PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name))) return undefined
  if (typeof kid !== 'string' || kid.length > MOST_KID || use !== 'sig') return undefined
  if (!Array.isArray(operations) || !operations.includes('verify')) return undefined
  const essential = essentialMembers(jwk)
  if (essential === undefined) return undefined
  const made = importKey(() => createPublicKey({ key: essential, format: 'jwk' }), family)
  if (made === undefined || alg === undefined) return made && { kid, ...made }
  const algorithms = made.algorithms.filter((name) => name === alg)
  return algorithms.length === 0 ? undefined : { kid, key: made.key, algorithms }
}

function essentialMembers({ kty, crv, x, y, e, n }: JsonObject): JsonObject | undefined {
  if (kty === 'RSA') return isUrlText(n, 1, 1_400) && isUrlText(e, 1, 12) ? { kty, n, e } : undefined
  if (typeof crv !== 'string' || !Object.hasOwn(COORDINATES, crv)) return undefined
  const length = COORDINATES[crv]!
  if (!isUrlText(x, length, length)) return undefined
  if (kty === 'OKP') return { kty, crv, x }
  return isUrlText(y, length, length) ? { kty: 'EC', crv, x, y } : undefined
}

function isUrlText(value: unknown, least: number, most: number): value is string {
  if (typeof value !== 'string' || value.length < least || value.length > most) return false
  return /^[A-Za-z0-9_-]+$/.test(value)
}

/** The key with what it may be used for; undefined when it cannot be read, is weak, or is of another family. */
function importKey(read: () => KeyObject, family: KeyFamily): Omit<VerifyKey, 'kid'> | undefined {
  try {
    const key = read()
    const algorithms = algorithmsOf(key)
    const fits = algorithms.length > 0 && ALGORITHMS.get(algorithms[0]!)!.family === family
    return fits ? { key, algorithms } : undefined
  } catch {
    return undefined
  }
}

function algorithmsOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): readonly string[] {
  if (type === 'ed25519') return ['EdDSA', 'Ed25519']
  if (type === 'ed448') return ['EdDSA', 'Ed448']
  if (type === 'ec') return OF_CURVE[details?.namedCurve ?? ''] ?? []
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = details ?? {}
  const strong = bits >= LEAST_RSA_BITS && bits <= MOST_RSA_BITS && exponent >= 3n && exponent % 2n === 1n
  return type === 'rsa' && strong ? RSA_ALGORITHMS : []
}

/**
 * True when this key made the signature with this algorithm (RFC 7515 section 5.2). False also when the key is not for it.
 * 30 µs with RSA of 2,048 bits, 70 µs with P-256, 2 µs with a secret.
 */
export function verifySignature({ key, algorithms }: VerifyKey, name: string, signed: Buffer, given: Buffer): boolean {
  const algorithm = ALGORITHMS.get(name)
  if (algorithm === undefined || !algorithms.includes(name)) return false
  const { family, digest, options, bytes } = algorithm
  if (bytes !== undefined && given.length !== bytes) return false
  if (family === 'hmac') return timingSafeEqual(createHmac(digest!, key).update(signed).digest(), given)
  try {
    return verify(digest, signed, { key, ...options }, given)
  } catch {
    return false // OpenSSL names some malformed signatures in another way than by saying no
  }
}

/** Base64 of either alphabet, padded or not, on one line or several; undefined when it is anything else. */
function decodeBase64(text: string): Buffer | undefined {
  const packed = text
    .replace(/[\r\n]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '')
  if (packed === '' || !/^[A-Za-z0-9+/]+$/.test(packed)) return undefined
  const bytes = Buffer.from(packed, 'base64')
  return trimTrailing(bytes.toString('base64'), '=') === packed ? bytes : undefined
}
