import type { KeyObject } from 'node:crypto'
import { Fault, fault } from '../errors/fault.ts'
import type { Millis, MonoMillis } from '../model/clock.ts'
import type { AuditEntry, Documents, Revision } from '../store/ports.ts'
import {
  makeKey,
  privateKeyOf,
  publishedAt,
  ringId,
  type SigningAlgorithm,
  type StoredKey,
  type StoredRing,
  signingAt,
} from './key-ring.ts'
import type { OAuthParts } from './parts.ts'

/** What signing keys are kept with. */
export type KeyParts = Pick<OAuthParts, 'documents' | 'clock' | 'sealKey'>

/** A private key, and the name under which its public part is published. */
export interface SigningKey {
  readonly kid: string
  readonly key: KeyObject
}

/** A ring as it was read. */
interface Ring {
  readonly revision: Revision
  readonly stored: StoredRing
  readonly privateKeys: Map<string, KeyObject>
}

/** What this process knows of the rings of one store. */
interface Known {
  readonly rings: Map<string, { readonly ring: Ring; readonly readAt: MonoMillis }>
  /** First keys that are being made: callers of this process wait for the same one. */
  readonly making: Map<string, Promise<Ring>>
}

/** How long a node may use a ring that it has read. */
const RING_FRESH_MS = 5_000
/** How long those who verify tokens may keep a key set that they fetched, in seconds. */
export const KEY_SET_FRESH_S = 300
/** A new key is published for so long before it signs: every node and every verifier has read the ring anew by then, twice. */
const PUBLISHED_AHEAD_MS = 2 * (RING_FRESH_MS + KEY_SET_FRESH_S * 1000)
const USUAL_LIFETIME_S = 3_600
const TRIES = 8

const knownOf = new WeakMap<Documents, Known>()

/**
 * The key that signs the tokens of an organisation now. The first one is made when it is needed; of two processes that need it
 * at once, one makes it for both. `lifetimeS` is how long the token will live: the key stays published until it has ended.
 * @throws Fault `seal_broken`, `store_away`, `store_full`
 */
export async function signingKey(
  parts: KeyParts,
  orgId: string,
  algorithm: SigningAlgorithm,
  lifetimeS = USUAL_LIFETIME_S,
): Promise<SigningKey> {
  const ring = await ringOf(parts, orgId, algorithm)
  const stored = signingAt(ring.stored, parts.clock.wall())
  if (stored.longest_s < lifetimeS) await lengthen(parts, ring, stored.kid, lifetimeS)
  const known = ring.privateKeys.get(stored.kid)
  if (known !== undefined) return { kid: stored.kid, key: known }
  const key = privateKeyOf(stored, parts.sealKey)
  ring.privateKeys.set(stored.kid, key)
  return { kid: stored.kid, key }
}

/** The keys that tokens of an organisation may be signed with, have been, or will be soon. None is made for the asking. */
export async function publishedKeys(
  parts: KeyParts,
  orgId: string,
  algorithm: SigningAlgorithm,
): Promise<readonly StoredKey[]> {
  const ring = await readRing(parts, orgId, algorithm)
  return ring === undefined ? [] : publishedAt(ring.stored, parts.clock.wall())
}

/**
 * Makes a new key for an organisation. It is published at once and signs from `signsFrom` on, when all nodes and verifiers
 * know it; the old one stays published until the last token that it signed has ended. While a new key waits for its time,
 * it is the answer and nothing changes. @throws Fault `revision_conflict` (409) when others keep changing the keys
 */
export async function rotateKeys(
  parts: KeyParts,
  orgId: string,
  algorithm: SigningAlgorithm,
  actor: string,
): Promise<{ readonly kid: string; readonly signsFrom: Millis }> {
  for (let tries = 0; tries < TRIES; tries++) {
    const now = parts.clock.wall()
    const ring = await loadRing(parts, orgId, algorithm)
    const youngest = ring?.stored.keys.at(-1)
    if (youngest !== undefined && youngest.signs_from > now)
      return { kid: youngest.kid, signsFrom: youngest.signs_from }
    const signsFrom = ring === undefined ? now : now + PUBLISHED_AHEAD_MS
    const made = await makeKey(algorithm, parts.sealKey, { signsFrom, now })
    const keys = [...(ring === undefined ? [] : publishedAt(ring.stored, now)), made]
    const audit = auditOf(now, actor, 'oauth_key.rotate', { org_id: orgId, algorithm, keys })
    const written = await write(parts, { org_id: orgId, algorithm, keys }, ring?.revision ?? 0, audit)
    if (written) return { kid: made.kid, signsFrom }
  }
  throw fault('revision_conflict', 'the signing keys keep changing')
}

/** The ring of an organisation, made when there is none yet. */
async function ringOf(parts: KeyParts, orgId: string, algorithm: SigningAlgorithm): Promise<Ring> {
  const ring = await readRing(parts, orgId, algorithm)
  if (ring !== undefined) return ring
  const { making } = knownBy(parts)
  const id = ringId(orgId, algorithm)
  const running = making.get(id)
  if (running !== undefined) return running
  const made = makeRing(parts, orgId, algorithm).finally(() => making.delete(id))
  making.set(id, made)
  return made
}

async function makeRing(parts: KeyParts, orgId: string, algorithm: SigningAlgorithm): Promise<Ring> {
  const now = parts.clock.wall()
  const first = await makeKey(algorithm, parts.sealKey, { signsFrom: now, now })
  const ring = { org_id: orgId, algorithm, keys: [first] }
  await write(parts, ring, 0, auditOf(now, 'gateway', 'oauth_key.create', ring))
  // Whoever wrote it, what is stored now is what all nodes use.
  const stored = await readRing(parts, orgId, algorithm)
  if (stored === undefined) throw fault('store_away', 'signing keys were written and are not there')
  return stored
}

/** Raises `longest_s` of a key before it signs a token that lives longer than any before. Doubled, so that it happens rarely. */
async function lengthen(parts: KeyParts, { stored }: Ring, kid: string, lifetimeS: number): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const ring = await loadRing(parts, stored.org_id, stored.algorithm)
    const key = ring?.stored.keys.find((entry) => entry.kid === kid)
    if (ring === undefined || key === undefined) throw fault('revision_conflict', 'the signing key is gone')
    if (key.longest_s >= lifetimeS) return
    const longest_s = Math.max(2 * key.longest_s, Math.ceil(lifetimeS))
    const keys = ring.stored.keys.map((entry) => (entry.kid === kid ? { ...entry, longest_s } : entry))
    if (await write(parts, { ...ring.stored, keys }, ring.revision, undefined)) return
  }
  throw fault('revision_conflict', 'the signing keys keep changing')
}

/** The ring as this node has read it at most 5 s ago. That there is none is never remembered: another node may make it now. */
async function readRing(parts: KeyParts, orgId: string, algorithm: SigningAlgorithm): Promise<Ring | undefined> {
  const held = knownBy(parts).rings.get(ringId(orgId, algorithm))
  if (held !== undefined && parts.clock.mono() - held.readAt < RING_FRESH_MS) return held.ring
  return loadRing(parts, orgId, algorithm)
}

async function loadRing(parts: KeyParts, orgId: string, algorithm: SigningAlgorithm): Promise<Ring | undefined> {
  const { rings } = knownBy(parts)
  const id = ringId(orgId, algorithm)
  const readAt = parts.clock.mono()
  const document = await parts.documents.get('oauth_key', id)
  if (document === undefined) {
    rings.delete(id)
    return undefined
  }
  const before = rings.get(id)?.ring
  const unchanged = before !== undefined && before.revision === document.revision
  const ring = unchanged
    ? before
    : { revision: document.revision, stored: document.body as unknown as StoredRing, privateKeys: new Map() }
  rings.set(id, { ring, readAt })
  return ring
}

/** False when somebody else was faster. */
async function write(
  parts: KeyParts,
  ring: StoredRing,
  ifRevision: Revision,
  audit: AuditEntry | undefined,
): Promise<boolean> {
  const id = ringId(ring.org_id, ring.algorithm)
  try {
    await parts.documents.commit([{ op: 'put', kind: 'oauth_key', id, body: ring, ifRevision }], audit)
    return true
  } catch (error) {
    if (error instanceof Fault && error.code === 'revision_conflict') return false
    throw error
  } finally {
    knownBy(parts).rings.delete(id)
  }
}

function auditOf(at: Millis, actor: string, action: string, { org_id, algorithm, keys }: StoredRing): AuditEntry {
  return { actor, action, orgId: org_id, at, detail: { algorithm, kid: keys.at(-1)?.kid ?? '' } }
}

function knownBy({ documents }: KeyParts): Known {
  const known = knownOf.get(documents) ?? { rings: new Map(), making: new Map() }
  knownOf.set(documents, known)
  return known
}
