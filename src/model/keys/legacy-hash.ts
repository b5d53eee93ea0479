import { hash } from 'node:crypto'
import { isObject } from '../json/json.ts'

const MASK = (1n << 64n) - 1n
const [C1, C2] = [0x87c37b91114253d5n, 0x4cf5ad432745937fn]

/** MurmurHash3 for 32 bits with seed 0. Not for secrets: collisions are easy to find. */
function murmur32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bytes.length & ~3
  let h = 0
  for (let at = 0; at < whole; at += 4) {
    h ^= mixed32(view.getUint32(at, true))
    h = (Math.imul(rotated32(h, 13), 5) + 0xe6546b64) | 0
  }
  let rest = 0
  for (let at = bytes.length - 1; at >= whole; at--) rest = (rest << 8) | bytes[at]!
  if (bytes.length > whole) h ^= mixed32(rest)
  h ^= bytes.length
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** MurmurHash3 for 128 bits on 64-bit machines with seed 0, its two halves one behind the other; the first is the one for 64 bits. */
function murmur128(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bytes.length & ~15
  let [h1, h2] = [0n, 0n]
  for (let at = 0; at < whole; at += 16) {
    h1 ^= mixed(view.getBigUint64(at, true), C1, 31n, C2)
    h1 = ((rotated(h1, 27n) + h2) * 5n + 0x52dce729n) & MASK
    h2 ^= mixed(view.getBigUint64(at + 8, true), C2, 33n, C1)
    h2 = ((rotated(h2, 31n) + h1) * 5n + 0x38495ab5n) & MASK
  }
  if (bytes.length > whole) {
    const rest = Buffer.alloc(16)
    rest.set(bytes.subarray(whole))
    h2 ^= mixed(rest.readBigUInt64LE(8), C2, 33n, C1)
    h1 ^= mixed(rest.readBigUInt64LE(0), C1, 31n, C2)
  }
  const length = BigInt(bytes.length)
  h1 = ((h1 ^ length) + (h2 ^ length)) & MASK
  h2 = ((h2 ^ length) + h1) & MASK
  h1 = finished(h1)
  h2 = finished(h2)
  h1 = (h1 + h2) & MASK
  h2 = (h2 + h1) & MASK
  return (h1 << 64n) | h2
}

function rotated32(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}

function mixed32(k: number): number {
  return Math.imul(rotated32(Math.imul(k, 0xcc9e2d51), 15), 0x1b873593)
}

function rotated(value: bigint, by: bigint): bigint {
  return ((value << by) | (value >> (64n - by))) & MASK
}

function mixed(k: bigint, first: bigint, by: bigint, second: bigint): bigint {
  return (rotated((k * first) & MASK, by) * second) & MASK
}

function finished(value: bigint): bigint {
  let h = value ^ (value >> 33n)
  h = (h * 0xff51afd7ed558ccdn) & MASK
  h = ((h ^ (h >> 33n)) * 0xc4ceb9fe1a85ec53n) & MASK
  return h ^ (h >> 33n)
}

/** The algorithms that keys of an earlier product may be hashed with, by its names for them. */
const LEGACY_ALGORITHMS = ['murmur32', 'murmur64', 'murmur128', 'sha256'] as const
export type LegacyAlgorithm = (typeof LEGACY_ALGORITHMS)[number]

/** Member of a key that came from an earlier product: its algorithm, a colon, and its hash there in hex. Nobody writes it from outside. */
export const LEGACY_KEY = 'legacy_key'

/** True for what that member may hold. */
export function isLegacyKey(text: unknown): text is string {
  if (typeof text !== 'string') return false
  const [name, hex = '', ...more] = text.split(':')
  return more.length === 0 && isLegacyAlgorithm(name) && /^[0-9a-f]+$/.test(hex) && hex.length === DIGITS[name]
}

/** No token of an earlier product is longer; what is longer is not hashed. */
const LONGEST = 512
const DIGITS: Readonly<Record<LegacyAlgorithm, number>> = { murmur32: 8, murmur64: 16, murmur128: 32, sha256: 64 }

/** True for the name of one of the algorithms. */
export function isLegacyAlgorithm(name: unknown): name is LegacyAlgorithm {
  return LEGACY_ALGORITHMS.some((known) => known === name)
}

/** A text as an earlier product hashes it: lower-case hex, numbers with their highest byte first, seed 0. */
export function legacyHash(algorithm: LegacyAlgorithm, text: string): string {
  if (algorithm === 'sha256') return hash('sha256', text, 'hex')
  const bytes = Buffer.from(text)
  if (algorithm === 'murmur32') return murmur32(bytes).toString(16).padStart(8, '0')
  const whole = murmur128(bytes).toString(16).padStart(32, '0')
  return algorithm === 'murmur64' ? whole.slice(0, 16) : whole
}

/** The algorithms that make hashes of this form: 8, 16, 32 or 64 hex digits. */
export function legacyAlgorithmOf(hex: string): LegacyAlgorithm | undefined {
  if (!/^[0-9a-f]+$/.test(hex)) return undefined
  return LEGACY_ALGORITHMS.find((name) => DIGITS[name] === hex.length)
}

/**
 * The storage hash of a key that is known only by a hash of an earlier product. SHA-256 is our own. For others, the SHA3-256 of algorithm
 * and hash: no credential has that as its SHA-256, so the hash itself opens nothing.
 */
export function legacyRowHash(algorithm: LegacyAlgorithm, hex: string): Buffer {
  if (algorithm === 'sha256') return Buffer.from(hex, 'hex')
  return hash('sha3-256', `legacy key\0${algorithm}\0${hex}`, 'buffer')
}

/** The members of a token in the form of JSON in base64; undefined for every other token. */
export function legacyToken(token: string): { org: string; id: string; algorithm: LegacyAlgorithm } | undefined {
  if (!token.startsWith('ey') || token.length > LONGEST) return undefined
  try {
    const said: unknown = JSON.parse(Buffer.from(token, 'base64').toString('utf8'))
    if (!isObject(said) || typeof said.org !== 'string' || typeof said.id !== 'string') return undefined
    return isLegacyAlgorithm(said.h) ? { org: said.org, id: said.id, algorithm: said.h } : undefined
  } catch {
    return undefined
  }
}

/** A place where a key of an earlier product may be stored. */
export interface LegacyPlace {
  readonly algorithm: LegacyAlgorithm
  readonly rowHash: Buffer
}

/**
 * Where a credential may be stored whose SHA-256 is unknown: by its own hash, or by that of the forms that an earlier product gave to
 * keys that people chose, `<org><key>` and base64 of `{"org","id","h"}`. A token that names its algorithm was hashed with that one
 * alone. At most `algorithms * (1 + 2 * orgs)` places; none for what is longer than any such token.
 */
export function legacyPlaces(
  credential: string,
  algorithms: readonly LegacyAlgorithm[],
  orgs: readonly string[],
): LegacyPlace[] {
  if (credential.length > LONGEST) return []
  const token = legacyToken(credential)
  const at = (algorithm: LegacyAlgorithm, text: string): LegacyPlace => {
    return { algorithm, rowHash: legacyRowHash(algorithm, legacyHash(algorithm, text)) }
  }
  if (token !== undefined) {
    const { algorithm } = token
    // The SHA-256 of a credential itself was looked for before.
    return algorithms.includes(algorithm) && algorithm !== 'sha256' ? [at(algorithm, credential)] : []
  }
  return algorithms.flatMap((algorithm) => [
    ...(algorithm === 'sha256' ? [] : [at(algorithm, credential)]),
    ...orgs.flatMap((org) => [at(algorithm, org + credential), at(algorithm, jsonToken(org, credential, algorithm))]),
  ])
}

/** A token as an earlier product writes it where an algorithm is set. */
export function jsonToken(org: string, id: string, algorithm: LegacyAlgorithm): string {
  return Buffer.from(`{"org":"${org}","id":"${id}","h":"${algorithm}"}`).toString('base64')
}
