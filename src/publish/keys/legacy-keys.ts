import { Fault, fault } from '../../errors/fault.ts'
import { counterIdOf, ROTATED_TO } from '../../model/keys/key.ts'
import { isLegacyAlgorithm, LEGACY_KEY, type LegacyAlgorithm, legacyPlaces } from '../../model/keys/legacy-hash.ts'
import { DEVELOPER_ID } from '../../model/portal/developers/developer.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import { hexOf } from '../../model/text/hex.ts'
import type { Change, SessionRow } from '../../store/ports/ports.ts'
import { auditOf, clockOf, type SecretParts } from '../documents/parts.ts'
import { sealedKeyOf } from './key-parts.ts'

/** The earlier product whose keys are still known by its hashes. */
export interface LegacyRules {
  /** Algorithms that are tried. */
  readonly algorithms: readonly LegacyAlgorithm[]
  /** Ids of its organisations: keys that people chose begin with them there. */
  readonly orgs: readonly string[]
}

/** A key that was found by a hash of an earlier product. */
export interface FoundLegacyKey {
  readonly row: SessionRow
  /** True = it is now stored under the SHA-256 of the credential, as every other key is. */
  readonly rehashed: boolean
}

const MOST_AT_ONCE = 512
/** Credentials that nobody knows, per second; and how many at once after a quiet time. */
const UNKNOWN_PER_S = 500
const UNKNOWN_AT_ONCE = 1000

/** The settings for an earlier product; undefined = its keys are not looked for, and nothing is done for them. */
export function legacyRules(settings: {
  readonly hash_key_function_fallback: readonly string[]
  readonly legacy_key_orgs: readonly string[]
}): LegacyRules | undefined {
  const algorithms = settings.hash_key_function_fallback.filter(isLegacyAlgorithm)
  return algorithms.length === 0 ? undefined : { algorithms, orgs: settings.legacy_key_orgs }
}

/**
 * Finds keys that came from an earlier product as its own hashes, and moves each to the place of our keys at its first use.
 * An unknown key costs several look-ups here instead of one, and hashes of 32 bits could be guessed: so few of them run at a time,
 * and few unknown credentials a second; the others wait.
 */
export class LegacyKeys {
  readonly #parts: SecretParts
  readonly #rules: LegacyRules
  #running = 0
  #unknownLeft = UNKNOWN_AT_ONCE
  #countedAt: number

  constructor(parts: SecretParts, rules: LegacyRules) {
    this.#parts = parts
    this.#rules = rules
    this.#countedAt = clockOf(parts).mono()
  }

  /** The key behind a credential whose SHA-256 is not known. @throws Fault `legacy_keys_busy` (503), `store_away` */
  async find(credential: string): Promise<FoundLegacyKey | undefined> {
    this.#refill()
    if (this.#running >= MOST_AT_ONCE || this.#unknownLeft < 1) throw fault('legacy_keys_busy')
    this.#running++
    try {
      const row = await this.#look(credential)
      if (row === undefined) this.#unknownLeft--
      return row && (await this.#rehash(row, credential))
    } finally {
      this.#running--
    }
  }

  async #look(credential: string): Promise<SessionRow | undefined> {
    const { algorithms, orgs } = this.#rules
    const places = legacyPlaces(credential, algorithms, orgs)
    const rows = await Promise.all(places.map(({ rowHash }) => this.#parts.tokens.getSession(rowHash)))
    // A key that was never hashed by another product is found by its own SHA-256 alone.
    return rows.find((row, at) => row !== undefined && cameWith(row, places[at]!.algorithm))
  }

  /** Where the store takes no changes now, the key is good all the same, and the next use tries again. */
  async #rehash(row: SessionRow, credential: string): Promise<FoundLegacyKey | undefined> {
    // Records and successors name them by their hash.
    if (row.body[DEVELOPER_ID] !== undefined || row.body[ROTATED_TO] !== undefined) return { row, rehashed: false }
    const { hash: before, sealedKey: _sealed, ...columns } = row
    const hash = hashKey(credential)
    const sealedKey = sealedKeyOf(this.#parts, credential, hash)
    const body = { ...row.body, counter_id: counterIdOf(row.body, hexOf(before)) }
    const moved = { ...columns, body, ...(sealedKey && { sealedKey }) }
    const changes: Change[] = [
      // One that was deleted meanwhile stays so.
      { op: 'putSession', hash: before, row: columns, ifPresent: true },
      { op: 'deleteSession', hash: before },
      { op: 'putSession', hash, row: moved, ifAbsent: true },
    ]
    const detail = { key_hash: hexOf(hash), before: hexOf(before) }
    try {
      await this.#parts.documents.commit(changes, auditOf(this.#parts, 'gateway', 'key.rehash', row.orgId, detail))
      return { row: { ...moved, hash }, rehashed: true }
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      // Deleted, or given its place by another node, meanwhile.
      if (error.code !== 'not_found' && error.code !== 'already_exists') return { row, rehashed: false }
      const now = await this.#parts.tokens.getSession(hash)
      return now && { row: now, rehashed: true }
    }
  }

  #refill(): void {
    const now = clockOf(this.#parts).mono()
    const more = ((now - this.#countedAt) * UNKNOWN_PER_S) / 1000
    this.#unknownLeft = Math.min(UNKNOWN_AT_ONCE, this.#unknownLeft + more)
    this.#countedAt = now
  }
}

function cameWith({ body }: SessionRow, algorithm: LegacyAlgorithm): boolean {
  return String(body[LEGACY_KEY] ?? '').startsWith(`${algorithm}:`)
}
