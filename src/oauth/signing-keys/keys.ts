import type { KeyObject } from 'node:crypto'
import { fault, toFault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Millis } from '../../model/time/clock.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { AuditEntry, Revision } from '../../store/ports/ports.ts'
import type { OAuthParts } from '../endpoints/parts.ts'
import {
  makeSigningKey,
  privateKeyOf,
  publishedAt,
  ringId,
  ringWithoutKey,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
  type SigningKeyView,
  type StoredKey,
  type StoredRing,
  signingAt,
  viewsOf,
} from './key-ring.ts'
import { type Ring, RingCache } from './ring-cache.ts'

/** The dependencies of signing keys. */
export type KeyParts = Pick<OAuthParts, 'documents' | 'clock' | 'sealKey' | 'ringCache'>

/** Those of changing keys: a process that signs nothing has no cache of them. */
export type KeyChangeParts = Omit<KeyParts, 'ringCache'> & Partial<Pick<KeyParts, 'ringCache'>>

/** A private key, and the name under which its public part is published. */
export interface SigningKey {
  readonly kid: string
  readonly key: KeyObject
}

/** A change of a ring, to be written unless another writer was faster; without a ring there is nothing to write. */
interface RingDraft<Result> {
  readonly ring?: StoredRing
  readonly audit?: AuditEntry
  readonly result: Result
}

/** A result, and the revision from which on it holds. */
export interface KeyRingChange<Result> {
  readonly result: Result
  readonly revision: Revision
}

/** How long a node may use a ring that it has read. */
const RING_FRESH_MS = 5_000
/** How long those who verify tokens may keep a key set that they fetched, in seconds. */
export const KEY_SET_FRESH_S = 300
/** A new key is published for this long before it signs: by then every node and every verifier has read the ring twice. */
const PUBLISHED_AHEAD_MS = 2 * (RING_FRESH_MS + KEY_SET_FRESH_S * 1000)
const USUAL_LIFETIME_S = 3_600

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
export function rotateKeys(
  parts: KeyChangeParts,
  orgId: string,
  algorithm: SigningAlgorithm,
  actor: string,
): Promise<KeyRingChange<{ readonly kid: string; readonly signsFrom: Millis }>> {
  return changeRing(parts, orgId, algorithm, async (stored, now) => {
    const youngest = stored?.keys.at(-1)
    if (youngest !== undefined && youngest.signs_from > now)
      return { result: { kid: youngest.kid, signsFrom: youngest.signs_from } }
    const signsFrom = stored === undefined ? now : now + PUBLISHED_AHEAD_MS
    const made = await makeSigningKey(algorithm, parts.sealKey, { signsFrom, now })
    const keys = [...(stored === undefined ? [] : publishedAt(stored, now)), made]
    return {
      ring: { ...(stored ?? { org_id: orgId, algorithm }), keys },
      audit: auditOf(now, actor, 'oauth_key.rotate', orgId, { algorithm, kid: made.kid }),
      result: { kid: made.kid, signsFrom },
    }
  })
}

/**
 * Retires a key immediately, after its private part may have become known: the key set no longer names it, and gateways refuse every token
 * that it signed. Where it was the one that signs, the next one signs from now on, or a new one. Retired again, it changes nothing.
 * @throws Fault `not_found` (404) when the organisation has no such key, `revision_conflict` (409) when others keep changing the keys
 */
export async function retireKey(
  parts: KeyChangeParts,
  orgId: string,
  kid: string,
  actor: string,
): Promise<KeyRingChange<SigningAlgorithm>> {
  const algorithm = await algorithmOf(parts, orgId, kid)
  if (algorithm === undefined) throw fault('not_found', 'there is no signing key of this kid')
  return changeRing(parts, orgId, algorithm, async (stored, now) => {
    const key = stored?.keys.find((entry) => entry.kid === kid)
    if (stored === undefined || key === undefined) return { result: algorithm }
    const rest = ringWithoutKey(stored, key, now)
    const keys = kid === signingAt(stored, now).kid ? await withSigner(parts, rest, now) : rest.keys
    const signs = signingAt({ ...rest, keys }, now).kid
    return {
      ring: { ...rest, keys },
      audit: auditOf(now, actor, 'oauth_key.retire', orgId, { algorithm, kid, signs }),
      result: algorithm,
    }
  })
}

/** Rotates the keys of one algorithm; undefined: of each algorithm that the organisation has keys for. @throws Fault as `rotateKeys`, `not_found` */
export async function rotateAllKeys(
  parts: KeyChangeParts,
  orgId: string,
  algorithm: SigningAlgorithm | undefined,
  actor: string,
): Promise<Revision> {
  const algorithms = algorithm === undefined ? await algorithmsInUse(parts, orgId) : [algorithm]
  if (algorithms.length === 0) throw fault('not_found', 'there are no signing keys yet: name an algorithm in alg')
  let last: Revision = 0
  for (const each of algorithms) last = Math.max(last, (await rotateKeys(parts, orgId, each, actor)).revision)
  return last
}

/** The keys of an organisation (undefined: of all) as people see them: by organisation and algorithm, newest first. */
export async function listKeys(
  parts: Pick<KeyParts, 'documents' | 'clock'>,
  orgId: string | undefined,
): Promise<SigningKeyView[]> {
  const now = parts.clock.wall()
  const where = orgId === undefined ? {} : { org_id: orgId }
  const rings: StoredRing[] = []
  for await (const batch of parts.documents.each('oauth_key', { where }))
    rings.push(...batch.map(({ body }) => body as unknown as StoredRing))
  const place = ({ org_id, algorithm }: StoredRing) => `${org_id} ${algorithm}`
  rings.sort((a, b) => (place(a) < place(b) ? -1 : 1))
  return rings.flatMap((ring) => viewsOf(ring, now))
}

async function algorithmsInUse(parts: KeyChangeParts, orgId: string): Promise<SigningAlgorithm[]> {
  const rings = await Promise.all(SIGNING_ALGORITHMS.map((each) => loadRing(parts, orgId, each)))
  return SIGNING_ALGORITHMS.filter((_, index) => rings[index] !== undefined)
}

/** The algorithm of the ring that holds a key, or held it until it was retired. */
async function algorithmOf(parts: KeyChangeParts, orgId: string, kid: string): Promise<SigningAlgorithm | undefined> {
  for (const algorithm of SIGNING_ALGORITHMS) {
    const stored = (await loadRing(parts, orgId, algorithm))?.stored
    if (stored !== undefined && [...stored.keys, ...(stored.retired ?? [])].some((key) => key.kid === kid))
      return algorithm
  }
  return undefined
}

/** The keys of a ring whose signing key is gone: the next one signs from now on, or a new one. Old ones never sign again. */
async function withSigner(parts: KeyChangeParts, { algorithm, keys }: StoredRing, now: Millis): Promise<StoredKey[]> {
  const next = keys.findIndex((key) => key.signs_from > now)
  if (next !== -1) return keys.map((key, index) => (index === next ? { ...key, signs_from: now } : key))
  return [...keys, await makeSigningKey(algorithm, parts.sealKey, { signsFrom: now, now })]
}

/** Changes a ring as it is stored now. @throws Fault `revision_conflict` (409) when others keep changing it */
async function changeRing<Result>(
  parts: KeyChangeParts,
  orgId: string,
  algorithm: SigningAlgorithm,
  change: (stored: StoredRing | undefined, now: Millis) => Promise<RingDraft<Result>>,
): Promise<KeyRingChange<Result>> {
  return retryOnConflict(async () => {
    const ring = await loadRing(parts, orgId, algorithm)
    const { ring: next, audit, result } = await change(ring?.stored, parts.clock.wall())
    if (next === undefined) return { result, revision: ring?.revision ?? 0 }
    return { result, revision: await write(parts, next, ring?.revision ?? 0, audit) }
  })
}

/** The ring of an organisation, made when there is none yet. */
async function ringOf(parts: KeyParts, orgId: string, algorithm: SigningAlgorithm): Promise<Ring> {
  const ring = await readRing(parts, orgId, algorithm)
  if (ring !== undefined) return ring
  const { making } = parts.ringCache
  const id = ringId(orgId, algorithm)
  const running = making.get(id)
  if (running !== undefined) return running
  const made = makeRing(parts, orgId, algorithm).finally(() => making.delete(id))
  making.set(id, made)
  return made
}

async function makeRing(parts: KeyParts, orgId: string, algorithm: SigningAlgorithm): Promise<Ring> {
  const now = parts.clock.wall()
  const first = await makeSigningKey(algorithm, parts.sealKey, { signsFrom: now, now })
  const ring = { org_id: orgId, algorithm, keys: [first] }
  const audit = auditOf(now, 'gateway', 'oauth_key.create', orgId, { algorithm, kid: first.kid })
  // All nodes use what is stored now, whichever node wrote it.
  await write(parts, ring, 0, audit).catch((error) => {
    if (toFault(error).code !== 'revision_conflict') throw error
  })
  const stored = await readRing(parts, orgId, algorithm)
  if (stored === undefined) throw fault('store_away', 'signing keys were written and are not there')
  return stored
}

/** Raises `longest_s` of a key before it signs a token that lives longer than any before. Doubled, so that it happens rarely. */
async function lengthen(parts: KeyParts, { stored }: Ring, kid: string, lifetimeS: number): Promise<void> {
  await changeRing(parts, stored.org_id, stored.algorithm, async (ring) => {
    const key = ring?.keys.find((entry) => entry.kid === kid)
    if (ring === undefined || key === undefined) throw fault('revision_conflict', 'the signing key is gone')
    if (key.longest_s >= lifetimeS) return { result: undefined }
    const longest_s = Math.max(2 * key.longest_s, Math.ceil(lifetimeS))
    const keys = ring.keys.map((entry) => (entry.kid === kid ? { ...entry, longest_s } : entry))
    return { ring: { ...ring, keys }, result: undefined }
  })
}

/** The ring as this node has read it at most 5 s ago. That there is none is never remembered: another node may make it now. */
async function readRing(parts: KeyParts, orgId: string, algorithm: SigningAlgorithm): Promise<Ring | undefined> {
  const held = parts.ringCache.rings.get(ringId(orgId, algorithm))
  if (held !== undefined && parts.clock.mono() - held.readAt < RING_FRESH_MS) return held.ring
  return loadRing(parts, orgId, algorithm)
}

async function loadRing(parts: KeyChangeParts, orgId: string, algorithm: SigningAlgorithm): Promise<Ring | undefined> {
  const cache = parts.ringCache ?? new RingCache()
  const { rings, generation } = cache
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
  if (generation === cache.generation) rings.set(id, { ring, readAt })
  return ring
}

/** @throws Fault `revision_conflict` (409) when another writer was faster */
async function write(
  parts: KeyChangeParts,
  ring: StoredRing,
  ifRevision: Revision,
  audit: AuditEntry | undefined,
): Promise<Revision> {
  const id = ringId(ring.org_id, ring.algorithm)
  try {
    return await parts.documents.commit([{ op: 'put', kind: 'oauth_key', id, body: ring, ifRevision }], audit)
  } finally {
    parts.ringCache?.rings.delete(id)
  }
}

function auditOf(at: Millis, actor: string, action: string, orgId: string, detail: JsonObject): AuditEntry {
  return { actor, action, orgId, at, detail }
}
