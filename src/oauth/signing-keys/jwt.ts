import {
  constants,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
  type VerifyKeyObjectInput,
  verify,
} from 'node:crypto'
import type { JsonObject } from '../../model/json/json.ts'
import { readStrictObject } from '../messages/strict-json.ts'

/**
 * The signature algorithms that we take (RFC 7518 section 3): each with a public key only. `none` and the symmetric ones are
 * not among them, so a public key can never be mistaken for a shared secret.
 */
export type JwtAlgorithm = 'ES256' | 'RS256' | 'PS256'

export const JWT_ALGORITHMS: readonly JwtAlgorithm[] = ['ES256', 'PS256', 'RS256']

/** A JSON Web Token that is well-formed. Nothing in it is true before `verifyJwt` has said so. */
export interface Jwt {
  readonly algorithm: JwtAlgorithm
  readonly header: JsonObject
  readonly claims: JsonObject
  readonly signed: Buffer
  readonly signature: Buffer
}

/** Longest token that is looked at, in characters. */
export const JWT_LIMIT = 8_192

/** The key requirements of an algorithm, and its parameters for `node:crypto`. */
interface Method {
  readonly keyType: 'ec' | 'rsa'
  readonly options: Omit<SignKeyObjectInput & VerifyKeyObjectInput, 'key'>
}

const METHODS: Readonly<Record<JwtAlgorithm, Method>> = {
  ES256: { keyType: 'ec', options: { dsaEncoding: 'ieee-p1363' } },
  RS256: { keyType: 'rsa', options: { padding: constants.RSA_PKCS1_PADDING } },
  PS256: { keyType: 'rsa', options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } },
}

/** True for the name of an algorithm that we take. */
function isJwtAlgorithm(value: unknown): value is JwtAlgorithm {
  return typeof value === 'string' && (JWT_ALGORITHMS as readonly string[]).includes(value)
}

/** True when a key is of the type that an algorithm needs: a token never chooses what its key is used for. */
function fitsAlgorithm(key: KeyObject, algorithm: JwtAlgorithm): boolean {
  return key.asymmetricKeyType === METHODS[algorithm].keyType
}

/**
 * Reads a signed token in compact form (RFC 7515 section 7.1, RFC 7519 section 7.2). Refused are: anything but three parts of
 * canonical base64url without padding, tokens of over 8,192 characters, members named twice, algorithms that are not allowed
 * (`none`, symmetric ones), a `typ` that is not one of `types` (lower case; '' allows that there is none), and any `crit`,
 * because we know no extension, nor claims that are not encoded (`b64`, RFC 7797). Answers what is wrong, in words, when it is refused.
 */
export function readJwt(text: string, types: readonly string[]): Jwt | string {
  const compact = readCompact(text, JWT_LIMIT, types)
  if (typeof compact === 'string') return compact
  const { alg } = compact.header
  if (!isJwtAlgorithm(alg)) return 'the alg of the token is not allowed'
  return { ...compact, algorithm: alg }
}

/** The parts of a signed token that can be read before it is known by which algorithms its signature may be checked. */
export type CompactJwt = Omit<Jwt, 'algorithm'>

/** As `readJwt`, for tokens of at most `limit` characters and with any algorithm: the caller knows which are allowed. */
export function readCompact(text: string, limit: number, types: readonly string[]): CompactJwt | string {
  if (text.length > limit) return 'the token is too long'
  const [headText, claimsText, signatureText, rest] = text.split('.', 4)
  if (headText === undefined || claimsText === undefined || signatureText === undefined || rest !== undefined)
    return 'the token does not have three parts'
  const head = decode(headText)
  const body = decode(claimsText)
  const signature = decode(signatureText)
  if (head === undefined || body === undefined || signature === undefined) return 'the token is not base64url'
  const header = readStrictObject(head)
  if (header === undefined) return 'the header of the token is not a JSON object'
  if (header.crit !== undefined) return 'the token has critical extensions'
  if (header.b64 !== undefined && header.b64 !== true) return 'the claims of the token are not encoded (b64)'
  if (!types.includes(mediaType(header.typ))) return 'the typ of the token is not the expected one'
  const claims = readStrictObject(body)
  if (claims === undefined) return 'the claims of the token are not a JSON object'
  const signed = Buffer.from(text.slice(0, headText.length + 1 + claimsText.length), 'latin1')
  return { header, claims, signed, signature }
}

/**
 * The flaw of the times in a token that a client made itself (RFC 7519 sections 4.1.4 to 4.1.6), in words: each is optional, and checked
 * where present. Clocks may differ by `skewS` seconds.
 */
export function flawOfTimes({ exp, nbf, iat }: JsonObject, nowS: number, skewS: number): string | undefined {
  if (exp !== undefined && typeof exp !== 'number') return 'the exp is malformed'
  if (exp !== undefined && !(exp > nowS - skewS)) return 'it has expired'
  for (const from of [nbf, iat])
    if (from !== undefined && !(typeof from === 'number' && from <= nowS + skewS)) return 'it is from the future'
  return undefined
}

/** True when the signature of a token was made by the owner of this public key, with the algorithm that the token names. */
export function verifyJwt(jwt: Jwt, key: KeyObject): boolean {
  if (!fitsAlgorithm(key, jwt.algorithm)) return false
  return verify('sha256', jwt.signed, { key, ...METHODS[jwt.algorithm].options }, jwt.signature)
}

/**
 * Signs claims in compact form. `header.alg` says how, and the private key must fit it. 35 µs with ES256, ten times as much
 * with RS256. @throws TypeError when algorithm and key do not fit: no caller from outside can cause that
 */
export function signJwt(header: JsonObject, claims: JsonObject, key: KeyObject): string {
  const { alg } = header
  if (!isJwtAlgorithm(alg) || !fitsAlgorithm(key, alg)) throw new TypeError('the key does not fit the algorithm')
  const signed = `${encode(header)}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(signed, 'latin1'), { key, ...METHODS[alg].options })
  return `${signed}.${signature.toString('base64url')}`
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Node's decoder forgives much; what it forgave does not come out again the same way. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return text !== '' && bytes.toString('base64url') === text ? bytes : undefined
}

/** `typ` without `application/`, in lower case (RFC 7515 section 4.1.9); '' when there is none. */
function mediaType(typ: unknown): string {
  if (typ === undefined) return ''
  if (typeof typ !== 'string') return 'malformed'
  const lower = typ.toLowerCase()
  return lower.startsWith('application/') ? lower.slice('application/'.length) : lower
}
