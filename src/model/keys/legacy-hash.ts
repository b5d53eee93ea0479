import { hash } from 'node:crypto'
import { isObject } from '../json/json.ts'
import { murmur32, murmur128 } from '../text/murmur.ts'

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
