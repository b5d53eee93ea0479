import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../errors/fault.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import {
  checkRawKey,
  counterIdOf,
  keySealContext,
  newGeneration,
  passwordHashOf,
  USER_NAME,
  withHidden,
  withoutHidden,
} from '../../model/keys/key.ts'
import { tokenFactsOf } from '../../model/oauth-clients/oauth-token.ts'
import { policyIdsOf } from '../../model/policies/merge-policies.ts'
import { DEVELOPER_ID } from '../../model/portal/developers/developer.ts'
import { hashKey, newSecret, unseal } from '../../model/secrets/secret.ts'
import { checkSession, type Session } from '../../model/sessions/session.ts'
import { hexOf } from '../../model/text/hex.ts'
import type { Millis } from '../../model/time/clock.ts'
import { expiryOfNew, isExpired } from '../../model/time/expiry.ts'
import { retryOnConflict } from '../../runtime/retry-on-conflict.ts'
import type { Change, Revision, SessionRow, StoredDocument } from '../../store/ports/ports.ts'
import { auditOf, clockOf, orgOf, type SecretParts } from '../documents/parts.ts'
import { checkSameOrganisation, inItsOrganisation } from '../organisations/organisation-of.ts'
import { withPolicyIds } from '../policies/policy-ids.ts'
import { withHolder } from '../portal/developers/developer-change.ts'
import {
  changesOfFormers,
  changesWithDeletion,
  changesWithSave,
  isDeveloperKey,
  isFormerKey,
  keyLifeOf,
} from '../portal/developers/keys-of-developer.ts'
import { resetQuotas, sessionUpdateOf } from '../sessions/quotas.ts'
import { applyPolicies, evictionOf, type Prepared, sessionOrg } from '../sessions/sessions.ts'
import { checkBindings, checkCertificateStays, placeOfCertificate } from './certificate-keys.ts'
import { changingKey, holderForAudit, type KeyHolder, rereadKey, sealedKeyOf } from './key-parts.ts'

/** A key as it was stored. */
export interface SavedKey {
  /** SHA-256 of the key, lower-case hex. */
  readonly keyHash: string
  /** The key itself, where the caller made it now or the installation keeps keys; else undefined. */
  readonly key: string | undefined
  readonly session: JsonObject
  readonly revision: Revision
  /** False when a custom key replaced an existing one. */
  readonly created: boolean
}

export interface KeyDraft {
  readonly session: JsonObject
  /** A key of the caller's choice; else one of 256 random bits is made. */
  readonly key?: string
  /** Instead of a key: the session of a basic-auth user, stored under this hash, with these members over the sent ones. */
  readonly user?: { readonly hash: Uint8Array; readonly own: JsonObject }
  /** Instead of a key: the hash of an unknown key; `key` may be given as well, and must match. */
  readonly hash?: Uint8Array
  /** Members over what was sent, of those that nobody writes from outside. */
  readonly own?: JsonObject
  /** True for one that comes from another installation: when it was made and when it expires is as sent. */
  readonly moved?: boolean
  /** Organisation that a key in this place must belong to; absent = any may be replaced. */
  readonly within?: string
  /** Refuses to replace a key that the caller may not end: asked wherever the place comes from, path or body. Absent = may replace any. */
  readonly checkReplaced?: (stored: SessionRow) => Promise<void>
  /** Of a new key: with what it ends besides. */
  readonly family?: string
  /** Leaves the counts of its quotas as they are. */
  readonly keepQuota: boolean
  readonly actor: string
}

/** A key of a developer that is to be made. */
export interface DeveloperKeyDraft {
  readonly session: JsonObject
  /** The developer as it is stored: the key is made only while it is so. */
  readonly developer: StoredDocument
  /** Unix seconds at which it expires at the latest; undefined = as its policies say. */
  readonly expires: number | undefined
  readonly actor: string
  readonly action: string
  /** For the audit; ids only. */
  readonly detail: JsonObject
  /** Further changes of the same transaction. */
  readonly alongside: (key: string, keyHash: string, developerBody: JsonObject) => readonly Change[]
}

/**
 * Stores a new key; a custom one that is there already is replaced, and keeps its `date_created`. The session keeps unknown
 * fields. A session that names a client certificate is found by that, and has no key. It expires at its `expires` or by the `key_expires_in` of
 * the last policy that has one, whichever is earlier; one that replaces a key with the `expires` of that key keeps it. Quotas are reset unless `keepQuota`, or an API of
 * the key sets `dont_set_quota_on_create`.
 *
 * A new key whose `expires` has passed is refused, because it could never be used (the incumbent made it everlasting).
 * @throws Fault `key_invalid` (400, also for policies that do not exist or do not go together), `rights_missing` (400),
 *   `key_not_owned` (400), `already_exists` (409) when another caller with `within` makes the same key at this moment
 */
export async function createKey(parts: SecretParts, sent: KeyDraft): Promise<SavedKey> {
  const here = await inItsOrganisation(parts, sent.session)
  const draft = { ...sent, session: await withPolicyIds(parts, orgOf(parts, here.org_id), 'session', here) }
  const place = placeOf(parts, draft)
  const chosen = draft.key !== undefined || place.key === undefined
  return retryOnConflict(async () => {
    const known = chosen ? await parts.tokens.getSession(place.hash) : undefined
    return withHolder(parts, known?.body ?? {}, async (developer) => {
      const stored = developer === undefined ? known : await parts.tokens.getSession(place.hash)
      // One that is replaced stays in its organisation.
      return create(parts, stored === undefined ? draft : sent, { ...place, stored, developer })
    })
  })
}

async function create(
  parts: SecretParts,
  draft: KeyDraft,
  { key, hash, stored, developer }: Place & KeyHolder & { readonly stored: SessionRow | undefined },
): Promise<SavedKey> {
  if (stored !== undefined && draft.within !== undefined && stored.orgId !== draft.within) throw fault('key_not_owned')
  if (stored !== undefined) await draft.checkReplaced?.(stored)
  const here = stored === undefined ? draft.session : ofOrganisation(draft.session, stored)
  const isSentBack = stored !== undefined && !draft.moved
  const written = isSentBack ? await sessionUpdateOf(parts, here, stored) : here
  const sent = ofHolder(withHidden(written, stored?.body), developer)
  const prepared = await prepare(parts, { ...sent, ...draft.user?.own, ...draft.own }, stored?.body)
  const madeAt = stored?.body.date_created
  const session = draft.moved ? arrived(parts, prepared, madeAt) : begun(parts, prepared, stored?.body)
  const write: Write = {
    ...{ hash, session, prepared, developer, stored },
    sealedKey: sealedKeyOf(parts, key, hash) ?? (draft.moved ? stored?.sealedKey : undefined),
    family: stored === undefined ? draft.family : stored.family,
    must: stored === undefined && draft.within !== undefined ? 'ifAbsent' : undefined,
    evictAt: stored !== undefined && isLastingToken(stored.body, session) ? stored.evictAt : undefined,
    keepQuota: draft.keepQuota,
    actor: draft.actor,
  }
  const saved = await save(parts, write, stored === undefined ? 'key.create' : 'key.replace')
  return { ...saved, key, created: stored === undefined }
}

/**
 * Stores a new random key of a developer, and what it means in the developer's record, in one transaction.
 * @throws Fault `key_invalid` (400), `revision_conflict` (409) when the developer was changed at the same time
 */
export async function createDeveloperKey(parts: SecretParts, draft: DeveloperKeyDraft): Promise<SavedKey> {
  const { developer, actor, alongside, detail } = draft
  const key = newSecret()
  const hash = hashKey(key)
  const { expires } = draft
  const sent = { ...withHidden(draft.session, undefined), ...(expires !== undefined && { expires }) }
  const prepared = await prepare(parts, { ...sent, [DEVELOPER_ID]: developer.id }, undefined)
  const write: Write = {
    ...{ hash, prepared, developer, detail, actor },
    alongside: (developerBody) => alongside(key, hexOf(hash), developerBody),
    session: begun(parts, prepared, undefined),
    sealedKey: sealedKeyOf(parts, key, hash),
    ...{ stored: undefined, family: undefined, must: 'ifAbsent', evictAt: undefined, keepQuota: true },
  }
  return { ...(await save(parts, write, draft.action)), key, created: true }
}

/** The handling of an existing key. */
export interface KeyChange {
  readonly row: SessionRow
  readonly session: JsonObject
  readonly keepQuota: boolean
  /** Leaves the time at which the store may forget the key as it is; else it is recalculated. */
  readonly keepEviction?: boolean
  /** Members over what was sent, of a user. */
  readonly own?: JsonObject
  readonly actor: string
  /** For the audit; `key.update` unless given. */
  readonly action?: string
  readonly detail?: JsonObject
}

/**
 * Replaces the session of a key: what is not sent is gone, but `date_created` stays, and so do its counts when a rotation gave
 * it those of its predecessor. An `expires` in the past is stored as sent: it ends the key now (the incumbent put the old
 * value back in silence).
 * @throws Fault `not_found` (404), `key_invalid` (400), `rights_missing` (400)
 */
export async function updateKey(parts: SecretParts, change: KeyChange): Promise<SavedKey> {
  return changingKey(parts, change.row, (stored) =>
    withHolder(parts, stored.body, async (developer) => {
      const row = developer === undefined ? stored : await rereadKey(parts, stored)
      return update(parts, { ...change, row }, developer)
    }),
  )
}

async function update(parts: SecretParts, change: KeyChange, developer: KeyHolder['developer']): Promise<SavedKey> {
  const { row, keepQuota, actor } = change
  const written = await sessionUpdateOf(parts, ofOrganisation(change.session, row), row)
  checkCertificateStays(parts, row, written)
  const sent = ofHolder(withHidden(written, row.body), developer)
  const prepared = await prepare(parts, { ...sent, ...change.own }, row.body)
  // One that is sent back is stored as it was.
  const begins = prepared.session.hmac_enabled === true && row.body.hmac_enabled !== true
  const session: JsonObject = begins ? withSigningSecret({ ...prepared.session }, []) : { ...prepared.session }
  if (row.body.date_created !== undefined) session.date_created = row.body.date_created
  const write: Write = {
    ...{ hash: row.hash, session, prepared, developer, stored: row },
    sealedKey: row.sealedKey,
    family: row.family,
    must: 'ifPresent',
    evictAt: change.keepEviction || isLastingToken(row.body, session) ? row.evictAt : undefined,
    keepQuota,
    actor,
    ...(change.detail && { detail: change.detail }),
  }
  const saved = await save(parts, write, change.action ?? 'key.update')
  return { ...saved, key: rawKeyOf(parts, row), created: false }
}

/** Other policies for a key. */
export interface PolicyChange extends Pick<KeyChange, 'row' | 'actor' | 'action' | 'detail'> {
  readonly policies: readonly string[]
  /** True: the key expires no more. */
  readonly isRenewed?: boolean
}

/**
 * Gives a key other policies, and nothing else: its counts, its expiry and what the store does with it afterwards stay, unless it is renewed.
 * @throws Fault `not_found` (404), `key_invalid` (400)
 */
export async function setKeyPolicies(parts: SecretParts, change: PolicyChange): Promise<SavedKey> {
  return changingKey(parts, change.row, (row) =>
    withHolder(parts, row.body, (developer) => setDeveloperKeyPolicies(parts, { ...change, row }, developer)),
  )
}

/** The same for a key whose developer was read; a single try. @throws besides Fault `revision_conflict` (409) */
export async function setDeveloperKeyPolicies(
  parts: SecretParts,
  { policies, isRenewed = false, ...change }: PolicyChange,
  developer: KeyHolder['developer'],
): Promise<SavedKey> {
  const row = developer === undefined ? change.row : await rereadKey(parts, change.row)
  const { apply_policy_id: _older, ...rest } = withoutHidden(row.body)
  const session = { ...rest, apply_policies: [...policies], ...(isRenewed && { expires: 0 }) }
  return update(parts, { ...change, row, session, keepQuota: true, keepEviction: !isRenewed }, developer)
}

/**
 * Deletes a key and the counts of its quotas; the node that did it refuses the key from then on. With it end those that it
 * replaced. @throws Fault `not_found` (404) where it is gone, or rotated, by now, `store_away`, `store_full`
 */
export function deleteKey(
  parts: SecretParts,
  given: SessionRow,
  actor: string,
  action = 'key.delete',
): Promise<Revision> {
  return changingKey(parts, given, (stored) => deleteStored(parts, stored, actor, action))
}

function deleteStored(parts: SecretParts, given: SessionRow, actor: string, action: string): Promise<Revision> {
  const keyHash = hexOf(given.hash)
  return withHolder(parts, given.body, async (developer) => {
    const row = (isDeveloperKey(given.body) ? await parts.tokens.getSession(given.hash) : undefined) ?? given
    const held = await changesWithDeletion(parts.tokens, developer, row)
    const audit = auditOf(parts, actor, action, row.orgId, { key_hash: keyHash, ...holderForAudit(row.body) })
    const revision = await parts.documents.commit([{ op: 'deleteSession', hash: row.hash }, ...held], audit)
    // The counts of one that was rotated are those of its successor.
    if (!isFormerKey(row.body))
      await resetQuotas(parts, row.body, row.orgId, counterIdOf(row.body, keyHash), { always: true })
    return revision
  })
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
  /** The grant that it came from, where it is a token; of a key, what it ends with. */
  readonly family: string | undefined
  readonly must: 'ifAbsent' | 'ifPresent' | undefined
  /** undefined = to be reckoned. */
  readonly evictAt: number | undefined
  readonly keepQuota: boolean
  readonly actor: string
  readonly developer: StoredDocument | undefined
  /** As it was before; undefined = it is new. */
  readonly stored: SessionRow | undefined
  readonly detail?: JsonObject
  readonly alongside?: (developerBody: JsonObject) => readonly Change[]
}

interface Place {
  readonly key: string | undefined
  readonly hash: Uint8Array
}

function placeOf(parts: SecretParts, draft: KeyDraft): Place {
  if (draft.user !== undefined) return { key: undefined, hash: draft.user.hash }
  if (draft.hash !== undefined) {
    if (draft.key !== undefined && !hashKey(draft.key).equals(draft.hash))
      throw fault('key_invalid', 'key: is not the key of this hash')
    return { key: draft.key, hash: draft.hash }
  }
  const certificate = draft.key === undefined ? placeOfCertificate(parts, draft.session) : undefined
  if (certificate !== undefined) return { key: undefined, hash: certificate }
  const key = draft.key === undefined ? newSecret() : checkRawKey(draft.key, parts.config.gateway.min_token_length)
  return { key, hash: hashKey(key) }
}

async function prepare(parts: SecretParts, body: JsonObject, stored: JsonObject | undefined): Promise<Prepared> {
  const session = checkSession(body)
  const orgId = orgOf(parts, session.org_id)
  checkBindings(session, orgId, stored)
  const prepared = await applyPolicies(parts, session)
  // Where there is no organisation, keys work at the APIs of all.
  if (orgId !== '') await checkSameOrganisation(parts, orgId, [...prepared.merged.rights.keys()], 'key_invalid')
  return prepared
}

/** A key stays in its organisation, whether the caller names it or not. @throws Fault `key_invalid` (400) naming both */
function ofOrganisation(session: JsonObject, { orgId }: SessionRow): JsonObject {
  if (orgId === '') return session
  const { org_id: named } = session
  if ((named ?? '') !== '' && named !== orgId)
    throw fault('key_invalid', `org_id: the key belongs to organisation ${orgId} and cannot move to ${String(named)}`)
  return { ...session, org_id: orgId }
}

/**
 * One that was rotated has what its successor has. A key of a developer stays in the developer's organisation.
 * @throws Fault `key_invalid` (400)
 */
function ofHolder(session: JsonObject, developer: KeyHolder['developer']): JsonObject {
  if (isFormerKey(session)) throw fault('key_invalid', 'this key was replaced')
  if (developer === undefined) return session
  const orgId = developer.body.org_id ?? ''
  if ((session.org_id ?? '') !== '' && session.org_id !== orgId)
    throw fault('key_invalid', 'org_id: the key of a developer cannot move to another organisation')
  return { ...session, org_id: orgId }
}

async function save(parts: SecretParts, write: Write, action: string): Promise<Omit<SavedKey, 'key' | 'created'>> {
  const { hash, prepared, sealedKey, family, developer, stored } = write
  const keyHash = hexOf(hash)
  const now = clockOf(parts).wall()
  const orgId = sessionOrg(parts, prepared.session)
  const said: JsonObject = {
    ...write.session,
    ...(orgId !== '' && { org_id: orgId }),
    last_updated: String(Math.floor(now / 1000)),
    ...generationFor(write.session, stored, now),
  }
  const policyIds = policyIdsOf(prepared.session)
  const forgetAt = write.evictAt ?? (await evictionOf(parts, said, prepared, now))
  const life = keyLifeOf(hash, said, { forgetAt, isNew: stored === undefined, kept: write.evictAt !== undefined })
  const { session, evictAt } = life
  const apiIds = Object.keys(prepared.session.access_rights ?? {})
  const clientId = prepared.session.oauth_client_id ?? ''
  const columns = { body: session, orgId, apiIds, policyIds, clientId, evictAt }
  const row = { ...columns, ...(sealedKey && { sealedKey }), ...(family && { family }) }
  const must = {
    ...(write.must !== undefined && { [write.must]: true }),
    ...(stored !== undefined && { ifEvictAt: stored.evictAt }),
  }
  const changes: Change[] = [{ op: 'putSession', hash, row, ...must }, ...life.changes]
  if (developer !== undefined) {
    const known = policyIds.filter((_id, index) => prepared.policies[index] !== undefined)
    const held = await changesWithSave(parts.tokens, developer, { hash, row, policies: known }, stored)
    changes.push(...held.changes, ...(write.alongside?.(held.developerBody) ?? []))
  } else changes.push(...(await changesOfFormers(parts.tokens, row, stored)))
  const detail = { key_hash: keyHash, policies: policyIds, apis: apiIds, ...holderForAudit(session), ...write.detail }
  const revision = await parts.documents.commit(changes, auditOf(parts, write.actor, action, orgId, detail))
  if (!write.keepQuota) await resetQuotas(parts, session, orgId, counterIdOf(session, keyHash), { always: false })
  return { keyHash, session, revision }
}

/** Of a user: another one for a new user, for one that is switched off or has expired, and for one that gets another password. */
function generationFor(session: JsonObject, stored: SessionRow | undefined, now: Millis): JsonObject {
  if (session[USER_NAME] === undefined) return {}
  if (stored === undefined) return newGeneration()
  const isSwitchedOff = session.is_inactive === true && stored.body.is_inactive !== true
  const isRepassworded = passwordHashOf(session) !== passwordHashOf(stored.body)
  return isSwitchedOff || isRepassworded || isExpired(stored.body, now) ? newGeneration() : {}
}

/**
 * The session of a new key, or of one that replaces `stored`: when it was made, and when it expires. What was read and is sent back
 * expires as before. @throws Fault `key_invalid`
 */
function begun(parts: SecretParts, { session: sent, policies }: Prepared, stored: JsonObject | undefined): JsonObject {
  const now = clockOf(parts).wall()
  const end = endOf(sent.expires)
  const isAsBefore =
    stored !== undefined &&
    end === endOf(stored.expires) &&
    (end < NEVER || isDeepStrictEqual(policyIdsOf(sent), policyIdsOf(stored as Session)))
  const earliest = isAsBefore ? end : (expiryOfNew(sent.expires, policies, now) ?? NEVER)
  const session: JsonObject = {
    ...sent,
    ...(earliest < NEVER && { expires: earliest }),
    date_created: stored?.date_created ?? new Date(now).toISOString(),
  }
  if (isPast(session.expires, now)) throw fault('key_invalid', 'expires: lies in the past')
  return withSigningSecret(session, policies)
}

/** A key that signs its requests, by itself or by a policy, gets a secret where none was sent. */
function withSigningSecret(session: JsonObject, policies: Prepared['policies']): JsonObject {
  const signs = session.hmac_enabled === true || policies.some((policy) => policy?.hmac_enabled === true)
  return signs && (session.hmac_string ?? '') === '' ? { ...session, hmac_string: newSecret() } : session
}

const NEVER = Number.POSITIVE_INFINITY

/** When an `expires` ends a key, in Unix seconds; 0, -1 and absent never do. */
function endOf(expires: Json | undefined): number {
  return typeof expires === 'number' && expires > 0 ? expires : NEVER
}

/** The session of a key that was used elsewhere: it stays unchanged, even if it has */
function arrived(parts: SecretParts, prepared: Prepared, dateCreated: JsonObject[string] | undefined): JsonObject {
  const session: JsonObject = { ...prepared.session }
  const madeAt = session.date_created || dateCreated || new Date(clockOf(parts).wall()).toISOString()
  return { ...session, date_created: madeAt }
}

/** True for a token that expires as before: the store keeps it as long as its authorization server said. */
function isLastingToken(before: JsonObject, { expires }: JsonObject): boolean {
  return tokenFactsOf(before) !== undefined && before.expires === expires
}

function isPast(expires: unknown, now: number): boolean {
  return typeof expires === 'number' && expires > 0 && expires * 1000 <= now
}
