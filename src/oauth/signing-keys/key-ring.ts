import { createPrivateKey, generateKeyPair, hash, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { type DocumentId, toDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthRules } from '../../model/oauth-clients/oauth-rules.ts'
import { type SealKey, seal, unseal } from '../../model/secrets/secret.ts'
import type { Millis } from '../../model/time/clock.ts'
import { publicJwk } from './jwk.ts'

export type SigningAlgorithm = OAuthRules['signingAlgorithm']

export const SIGNING_ALGORITHMS: readonly SigningAlgorithm[] = ['ES256', 'RS256']

/** A signing key as stored. The next one of the ring takes its place when that one's `signs_from` has come. */
export type StoredKey = {
  /** RFC 7638 thumbprint of the public key. */
  kid: string
  /** Public part: `kty` and what belongs to it. */
  jwk: JsonObject
  /** Base64 of the sealed PKCS #8. */
  sealed: string
  /** Unix milliseconds. It is published before. */
  signs_from: number
  /** Seconds: no token that it signed lives longer. Raised before one is signed that does. */
  longest_s: number
  /** ISO 8601. */
  date_created: string
}

/** A key that was retired at once. It is stored for good: a copied key set may still contain it. */
export type RetiredKey = {
  kid: string
  /** ISO 8601, both. */
  date_created: string
  retired_at: string
}

/** The signing keys of one organisation for one algorithm, oldest first: the body of a document of kind `oauth_key`. */
export type StoredRing = {
  org_id: string
  algorithm: SigningAlgorithm
  keys: StoredKey[]
  /** Oldest first; absent = none. Without their private parts. */
  retired?: RetiredKey[]
}

/** `next`: published, does not sign yet; `previous`: signs no more, published until its last token has expired. */
export type SigningKeyState = 'next' | 'current' | 'previous' | 'retired'

/** The public facts of a signing key. */
export type SigningKeyView = {
  org_id: string
  kid: string
  alg: SigningAlgorithm
  state: SigningKeyState
  /** ISO 8601, as the others. */
  date_created: string
  /** Absent for one that was retired. */
  signs_from?: string
  /** When the key set stops naming it; of one that is `previous`. */
  published_until?: string
  retired_at?: string
}

// Room for clocks of nodes and of those who verify tokens.
const CLOCK_SKEW_MS = 60_000
const DAY_S = 86_400
const RSA_BITS = 2_048

const generate = promisify(generateKeyPair)

/** Where the ring of an organisation is stored: the same place for every process, so that only one can make it. */
export function ringId(orgId: string, algorithm: SigningAlgorithm): DocumentId {
  return toDocumentId(hash('sha256', `oauth_key:${algorithm}:${orgId}`).slice(0, 24))
}

/** Makes a key pair of this algorithm: P-256, or RSA of 2,048 bits (which takes some 100 ms, on another thread). */
export async function makeSigningKey(
  algorithm: SigningAlgorithm,
  sealKey: SealKey,
  { signsFrom, now }: { readonly signsFrom: Millis; readonly now: Millis },
): Promise<StoredKey> {
  const pair =
    algorithm === 'ES256'
      ? await generate('ec', { namedCurve: 'P-256' })
      : await generate('rsa', { modulusLength: RSA_BITS })
  const { jwk, thumbprint } = publicJwk(pair.publicKey)
  const der = pair.privateKey.export({ format: 'der', type: 'pkcs8' })
  return {
    kid: thumbprint,
    jwk,
    sealed: seal(sealKey, der, sealContext(thumbprint)).toString('base64'),
    signs_from: signsFrom,
    longest_s: DAY_S,
    date_created: new Date(now).toISOString(),
  }
}

/** The private part of a stored key. @throws Fault `seal_broken` when it was sealed under another key */
export function privateKeyOf(stored: StoredKey, sealKey: SealKey): KeyObject {
  const der = unseal(sealKey, Buffer.from(stored.sealed, 'base64'), sealContext(stored.kid))
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

/** The key that signs at this moment: the youngest whose time has come, else the oldest. */
export function signingAt(ring: StoredRing, now: Millis): StoredKey {
  return ring.keys.findLast((key) => key.signs_from <= now) ?? ring.keys[0]!
}

/** Those keys of a ring that some token may still be verified with, or will be soon. */
export function publishedAt(ring: StoredRing, now: Millis): StoredKey[] {
  return ring.keys.filter((_, index) => now < publishedUntil(ring, index))
}

/** The ring without one of its keys, for which nothing signs or is published any more. Another must sign in its place. */
export function ringWithoutKey(ring: StoredRing, { kid, date_created }: StoredKey, now: Millis): StoredRing {
  const retired = { kid, date_created, retired_at: new Date(now).toISOString() }
  const keys = ring.keys.filter((key) => key.kid !== kid)
  return { ...ring, keys, retired: [...(ring.retired ?? []), retired] }
}

/** The keys of a ring as people see them, newest first; those that were retired at the end. */
export function viewsOf(ring: StoredRing, now: Millis): SigningKeyView[] {
  const { org_id, algorithm: alg, retired = [] } = ring
  const signing = signingAt(ring, now)
  const iso = (ms: number) => new Date(ms).toISOString()
  const published = publishedAt(ring, now).map((key): SigningKeyView => {
    const { kid, date_created, signs_from } = key
    const facts = { org_id, kid, alg, date_created, signs_from: iso(signs_from) }
    if (kid === signing.kid) return { ...facts, state: 'current' }
    if (signs_from > now) return { ...facts, state: 'next' }
    return { ...facts, state: 'previous', published_until: iso(publishedUntil(ring, ring.keys.indexOf(key))) }
  })
  const gone = retired.map((key): SigningKeyView => ({ org_id, ...key, alg, state: 'retired' }))
  return [...published.reverse(), ...gone.reverse()]
}

/** Unix milliseconds at which the last token of a key has expired; infinite while it signs. */
function publishedUntil({ keys }: StoredRing, index: number): number {
  const successor = keys[index + 1]
  if (successor === undefined) return Number.POSITIVE_INFINITY
  return successor.signs_from + keys[index]!.longest_s * 1000 + CLOCK_SKEW_MS
}

function sealContext(kid: string): string {
  return `oauth_key:${kid}`
}
