import { fault } from '../errors/fault.ts'
import { expiresByPolicies } from '../model/expiry.ts'
import type { JsonObject } from '../model/json.ts'
import { checkRawKey, counterIdOf, keySealContext, USER_NAME, withHidden, withoutHidden } from '../model/key.ts'
import { policyIdsOf } from '../model/merge-policies.ts'
import { hashKey, newSecret, seal, unseal } from '../model/secret.ts'
import { checkSession } from '../model/session.ts'
import type { Change, Revision, SessionRow } from '../store/ports.ts'
import { auditOf, clockOf, type SecretParts } from './parts.ts'
import { resetQuotas } from './quotas.ts'
import { applyPolicies, evictionOf, type Prepared, sessionOrg } from './sessions.ts'

/** A key as it was stored. */
export interface SavedKey {
  /** SHA-256 of the key, lower-case hex. */
  readonly keyHash: string
  /** The key itself, where the caller made it now or the installation keeps keys; else undefined. */
  readonly key: string | undefined
  readonly session: JsonObject
  readonly revision: Revision
  /** False when a custom key took the place of one that was there. */
  readonly created: boolean
}

export interface KeyDraft {
  readonly session: JsonObject
  /** A key of the caller's choice; else one of 256 random bits is made. */
  readonly key?: string
  /** In the place of a key: the session of a user, stored under this hash, with these members over what was sent. */
  readonly user?: { readonly hash: Uint8Array; readonly own: JsonObject }
  /** Organisation that a key in this place must belong to; absent = any may be replaced. */
  readonly within?: string
  /** Leaves the counts of its quotas as they are. */
  readonly keepQuota: boolean
  readonly actor: string
}

/**
 * Stores a new key; a custom one that is there already is replaced, and keeps its `date_created`. The session keeps unknown
 * fields. `key_expires_in` of the last policy that has one gives `expires`. Quotas start anew unless `keepQuota`, or an API of
 * the key sets `dont_set_quota_on_create`.
 *
 * A new key whose `expires` has passed is refused, because it could never be used (the incumbent made it everlasting).
 * @throws Fault `key_invalid` (400, also for policies that do not exist or do not go together), `rights_missing` (400),
 *   `key_not_owned` (400), `already_exists` (409) when another caller with `within` makes the same key at this moment
 */
export async function createKey(parts: SecretParts, draft: KeyDraft): Promise<SavedKey> {
  const { key, hash } = placeOf(parts, draft)
  const chosen = draft.key !== undefined || draft.user !== undefined
  const stored = chosen ? await parts.tokens.getSession(hash) : undefined
  if (stored !== undefined && draft.within !== undefined && stored.orgId !== draft.within) throw fault('key_not_owned')
  const now = clockOf(parts).wall()
  const prepared = await prepare(parts, { ...withHidden(draft.session, stored?.body), ...draft.user?.own })
  const expires = expiresByPolicies(prepared.policies, now)
  const session: JsonObject = {
    ...(prepared.session as unknown as JsonObject),
    ...(expires !== undefined && { expires }),
    date_created: stored?.body.date_created ?? new Date(now).toISOString(),
  }
  if (isPast(session.expires, now)) throw fault('key_invalid', 'expires: lies in the past')
  const shownAgain = key !== undefined && !parts.config.gateway.hash_keys
  const sealedKey = shownAgain ? seal(parts.sealKey, key, keySealContext(hexOf(hash))) : undefined
  const write: Write = {
    hash,
    session,
    prepared,
    sealedKey,
    family: stored?.family,
    must: stored === undefined && draft.within !== undefined ? 'ifAbsent' : undefined,
    evictAt: undefined,
    keepQuota: draft.keepQuota,
    actor: draft.actor,
  }
  const saved = await save(parts, write, stored === undefined ? 'key.create' : 'key.replace')
  return { ...saved, key, created: stored === undefined }
}

/** What is to become of a key that is there. */
export interface KeyChange {
  readonly row: SessionRow
  readonly session: JsonObject
  readonly keepQuota: boolean
  /** Leaves the time at which the store may forget the key as it is; else it is reckoned anew. */
  readonly keepEviction?: boolean
  /** Members over what was sent, of a user. */
  readonly own?: JsonObject
  readonly actor: string
}

/**
 * Replaces the session of a key: what is not sent is gone, but `date_created` stays, and so do its counts when a rotation gave
 * it those of its predecessor. An `expires` in the past is stored as sent: it ends the key now (the incumbent put the old
 * value back in silence).
 * @throws Fault `not_found` (404), `key_invalid` (400), `rights_missing` (400)
 */
export async function updateKey(parts: SecretParts, change: KeyChange): Promise<SavedKey> {
  const { row, keepQuota, actor } = change
  const prepared = await prepare(parts, { ...withHidden(change.session, row.body), ...change.own })
  const session: JsonObject = { ...(prepared.session as unknown as JsonObject) }
  if (row.body.date_created !== undefined) session.date_created = row.body.date_created
  const write: Write = {
    hash: row.hash,
    session,
    prepared,
    sealedKey: row.sealedKey,
    family: row.family,
    must: 'ifPresent',
    evictAt: change.keepEviction ? row.evictAt : undefined,
    keepQuota,
    actor,
  }
  return { ...(await save(parts, write, 'key.update')), key: rawKeyOf(parts, row), created: false }
}

/**
 * Gives a key other policies, and nothing else: its counts, its expiry and what the store does with it afterwards stay.
 * @throws Fault `not_found` (404), `key_invalid` (400)
 */
export async function setKeyPolicies(
  parts: SecretParts,
  draft: { readonly row: SessionRow; readonly policies: readonly string[]; readonly actor: string },
): Promise<SavedKey> {
  const { apply_policy_id: _older, ...rest } = withoutHidden(draft.row.body)
  const session = { ...rest, apply_policies: [...draft.policies] }
  return updateKey(parts, { row: draft.row, session, keepQuota: true, keepEviction: true, actor: draft.actor })
}

/** Deletes a key and the counts of its quotas; the node that did it refuses the key from then on. @throws Fault `store_away`, `store_full` */
export async function deleteKey(parts: SecretParts, row: SessionRow, actor: string): Promise<Revision> {
  const keyHash = hexOf(row.hash)
  const audit = auditOf(parts, actor, 'key.delete', row.orgId, { key_hash: keyHash })
  const revision = await parts.documents.commit([{ op: 'deleteSession', hash: row.hash }], audit)
  await resetQuotas(parts, row.body, row.orgId, counterIdOf(row.body, keyHash), { whatever: true })
  return revision
}

/**
 * Puts a new random key in the place of one. The session and its counts go over; the old key is unknown at once.
 * @throws Fault `key_invalid` (400) for a user, who has no key; `store_away`, `store_full`
 */
export async function rotateKey(parts: SecretParts, row: SessionRow, actor: string): Promise<SavedKey> {
  if (row.body[USER_NAME] !== undefined) throw fault('key_invalid', 'a user has a password, not a key')
  const key = newSecret()
  const hash = hashKey(key)
  const keyHash = hexOf(hash)
  const oldHash = hexOf(row.hash)
  const now = clockOf(parts).wall()
  const session: JsonObject = {
    ...row.body,
    counter_id: counterIdOf(row.body, oldHash),
    last_updated: String(Math.floor(now / 1000)),
  }
  const { hash: _old, sealedKey: _sealed, ...columns } = row
  const sealedKey = parts.config.gateway.hash_keys ? undefined : seal(parts.sealKey, key, keySealContext(keyHash))
  const changes: Change[] = [
    { op: 'putSession', hash, row: { ...columns, body: session, ...(sealedKey && { sealedKey }) }, ifAbsent: true },
    { op: 'deleteSession', hash: row.hash },
  ]
  const audit = auditOf(parts, actor, 'key.rotate', row.orgId, { key_hash: keyHash, before: oldHash })
  return { keyHash, key, session, revision: await parts.documents.commit(changes, audit), created: true }
}

/** The key itself, where the installation keeps keys so that they can be shown again. @throws Fault `seal_broken` */
export function rawKeyOf(parts: SecretParts, row: SessionRow): string | undefined {
  if (row.sealedKey === undefined) return undefined
  return unseal(parts.sealKey, row.sealedKey, keySealContext(hexOf(row.hash))).toString('utf8')
}

interface Write {
  readonly hash: Uint8Array
  readonly session: JsonObject
  readonly prepared: Prepared
  readonly sealedKey: Uint8Array | undefined
  /** The grant that it came from, where it is a token. */
  readonly family: string | undefined
  readonly must: 'ifAbsent' | 'ifPresent' | undefined
  /** undefined = to be reckoned. */
  readonly evictAt: number | undefined
  readonly keepQuota: boolean
  readonly actor: string
}

function placeOf(parts: SecretParts, draft: KeyDraft): { key: string | undefined; hash: Uint8Array } {
  if (draft.user !== undefined) return { key: undefined, hash: draft.user.hash }
  const key = draft.key === undefined ? newSecret() : checkRawKey(draft.key, parts.config.gateway.min_token_length)
  return { key, hash: hashKey(key) }
}

async function prepare(parts: SecretParts, body: JsonObject): Promise<Prepared> {
  const session = checkSession(body)
  return applyPolicies(parts, session)
}

async function save(parts: SecretParts, write: Write, action: string): Promise<Omit<SavedKey, 'key' | 'created'>> {
  const { hash, prepared, sealedKey, family } = write
  const keyHash = hexOf(hash)
  const now = clockOf(parts).wall()
  const orgId = sessionOrg(parts, prepared.session)
  const session: JsonObject = {
    ...write.session,
    ...(orgId !== '' && { org_id: orgId }),
    last_updated: String(Math.floor(now / 1000)),
  }
  const apiIds = Object.keys(prepared.session.access_rights ?? {})
  const policyIds = policyIdsOf(prepared.session)
  const clientId = prepared.session.oauth_client_id ?? ''
  const evictAt = write.evictAt ?? (await evictionOf(parts, session, prepared, now))
  const columns = { body: session, orgId, apiIds, policyIds, clientId, evictAt }
  const row = { ...columns, ...(sealedKey && { sealedKey }), ...(family && { family }) }
  const must = write.must === undefined ? {} : { [write.must]: true }
  const put: Change = { op: 'putSession', hash, row, ...must }
  const audit = auditOf(parts, write.actor, action, orgId, { key_hash: keyHash, policies: policyIds, apis: apiIds })
  const revision = await parts.documents.commit([put], audit)
  if (!write.keepQuota) await resetQuotas(parts, session, orgId, counterIdOf(session, keyHash), { whatever: false })
  return { keyHash, session, revision }
}

function isPast(expires: unknown, now: number): boolean {
  return typeof expires === 'number' && expires > 0 && expires * 1000 <= now
}

function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')
}
