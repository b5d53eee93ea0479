import { Fault, fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { withoutHidden } from '../../model/keys/key.ts'
import { liftedLimits } from '../../model/limits/limit-parts.ts'
import { checkSession, SESSION_SCHEMA, type Session } from '../../model/sessions/session.ts'
import { bringsPassword, createBasicUser, isBasicUser, updateBasicUser } from '../../publish/keys/basic-auth-users.ts'
import { type KeyPlace, replacedKey } from '../../publish/keys/find-key.ts'
import { areKeyless } from '../../publish/keys/keyless.ts'
import { createKey, deleteKey, type KeyDraft, type SavedKey, updateKey } from '../../publish/keys/keys.ts'
import type { WarnedRights } from '../../publish/sessions/explicit-rights.ts'
import { sessionUpdateOf } from '../../publish/sessions/quotas.ts'
import { applyPolicies } from '../../publish/sessions/sessions.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { checkForeignRightsUnchanged, checkSoleKeyOwner, soleOwnership } from '../access/co-owned.ts'
import { restoreMaskedSecrets } from '../access/secrets-view.ts'
import { vendorRights } from '../access/vendor-rights.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { keyData, maskKeyFor, withheldFrom } from './key-shape.ts'
import { checkKeyVisible, isQueryFlag, keyInPath, withinVisibility } from './key-view.ts'

const MALFORMED = 'User/Key object validation failed, most likely malformed input'

/** Makes a random key. @throws Fault `body_refused`, `key_invalid`, `rights_missing`, `key_needless` (400), `not_owner` (401) */
export async function createRandomKey(parts: DashboardParts, call: Call): Promise<Answer> {
  const { draft, warnings } = await draftOf(parts, call, {})
  const saved = await createKey(parts, draft)
  return warned(await shown(parts, call, saved, saved.key ?? ''), warnings())
}

/** Makes a key of the caller's choice, or replaces it. @throws besides Fault `key_not_owned` (400) */
export async function createChosenKey(parts: DashboardParts, call: Call, key: string): Promise<Answer> {
  if (isQueryFlag(call, 'hashed')) throw fault('query_invalid', 'A key is created by its value, not by its hash.')
  const { draft, warnings } = await draftOf(parts, call, { key })
  const saved = await createKey(parts, { ...draft, key, within: call.actor!.orgId })
  return warned(await shown(parts, call, saved, key), warnings())
}

/** Makes a basic user, or replaces it. @throws besides Fault `password_invalid` (400), `passwords_busy` (503) */
export async function createNamedUser(parts: DashboardParts, call: Call, name: string): Promise<Answer> {
  const { draft, warnings } = await draftOf(parts, call, { name })
  const saved = await createBasicUser(parts, { ...draft, name })
  return warned(await shown(parts, call, saved, name), warnings())
}

/** True for a session of a basic-auth user, whose name takes the position of the key. */
export function isForUser(call: Call): boolean {
  return isQueryFlag(call, 'basic_auth') || isQueryFlag(call, 'username') || bringsPassword(call.object())
}

/** Replaces the session of a key or a basic user. `suppress_reset` leaves the counts of its quotas. */
export async function changeKey(parts: DashboardParts, call: Call): Promise<Answer> {
  const { row, key, by } = await keyInPath(parts, call)
  if (by === 'hash' && !parts.config.dashboard.enable_update_key_by_hash)
    throw fault('query_invalid', 'Keys cannot be changed by their hash here.')
  const written = await sessionUpdateOf(parts, keptOf(call, row), row, withheldFrom(call.visibility))
  const { body: sent, warnings } = await vendorRights(parts, call, written, {
    ...{ schema: SESSION_SCHEMA, orgId: row.orgId, before: row.body },
  })
  const session = await withinVisibility(parts, call, sent, row)
  const isShared = await checkForeignRightsUnchanged(parts, call, row, session)
  const change = { row, session, keepQuota: isShared || keepsQuota(call), actor: call.actor!.email }
  const save = isBasicUser(row) ? updateBasicUser : updateKey
  const saved = await save(parts, change).catch(gone)
  const answer = await shown(parts, call, saved, key, by !== 'hash')
  return warned(answer, [...warnings(), ...liftedLimits(row.body, saved.session)])
}

function warned(answer: Answer, warnings: readonly JsonObject[]): Answer {
  return warnings.length === 0
    ? answer
    : { ...answer, body: { ...(answer.body as JsonObject), warnings: [...warnings] } }
}

/** Deletes a key or a basic user. */
export async function removeKey(parts: DashboardParts, call: Call): Promise<Answer> {
  const { row, by } = await keyInPath(parts, call)
  if (by === 'hash' && !parts.config.dashboard.enable_delete_key_by_hash)
    throw fault('query_invalid', 'Keys cannot be deleted by their hash here.')
  await deleteKey(parts, row, call.actor!.email)
  return ok('Key deleted successfully.')
}

/** Replacing a key ends what the old one gave. @throws Fault `not_owner` (401), `shared_with_others` (403) */
export async function checkKeyReplaceable(parts: DashboardParts, call: Call, before: SessionRow): Promise<void> {
  await checkKeyVisible(parts, call, before)
  await checkSoleKeyOwner(parts, call, before)
}

/**
 * The common part of all ways to create a key: the draft itself refuses to replace keys of others, under any name that they are found by.
 */
type SessionDraft = Required<Pick<KeyDraft, 'session' | 'checkReplaced' | 'keepQuota' | 'actor'>>

/** A session from the wire that may become a key of the caller's organisation. */
async function draftOf(
  parts: DashboardParts,
  call: Call,
  place: KeyPlace,
): Promise<{ readonly draft: SessionDraft; readonly warnings: WarnedRights['warnings'] }> {
  const { orgId } = call.actor!
  const sent = checkedOf(call.object())
  const there = await replacedKey(parts, { ...sent, org_id: orgId }, place)
  const { body, warnings } = await vendorRights(parts, call, sent, {
    ...{ schema: SESSION_SCHEMA, orgId, before: there?.orgId === orgId ? there.body : undefined },
  })
  const session = await withinVisibility(parts, call, body, undefined)
  const { merged } = await applyPolicies(parts, session as Session)
  if (await areKeyless(parts.documents, call.actor!.orgId, merged.rights.keys())) throw fault('key_needless')
  const draft = {
    session,
    checkReplaced: (stored: SessionRow) => checkKeyReplaceable(parts, call, stored),
    keepQuota: keepsQuota(call),
    actor: call.actor!.email,
  }
  return { draft, warnings }
}

/** @throws Fault `body_refused` (400) for what is no session, `rights_missing` (400) */
function checkedOf(sent: JsonObject): JsonObject {
  const { org_id: _theirs, ...session } = sent
  try {
    return checkSession(session)
  } catch (error) {
    if (error instanceof Fault && error.code === 'key_invalid')
      throw fault('body_refused', `${MALFORMED}: ${error.message}`, error)
    throw error
  }
}

/** The same, as the replacement of a key's session; blank secrets keep their stored values. */
function keptOf(call: Call, { body }: SessionRow): JsonObject {
  return restoreMaskedSecrets(checkedOf(call.object()), withoutHidden(body), 'body_refused')
}

/** A key that went while it was being changed. */
function gone(error: unknown): never {
  if (error instanceof Fault && error.code === 'not_found') throw fault('not_found', 'Could not retrieve key detail.')
  throw error
}

function keepsQuota(call: Call): boolean {
  return isQueryFlag(call, 'suppress_reset')
}

async function shown(parts: DashboardParts, call: Call, saved: SavedKey, key: string, isNamed = true): Promise<Answer> {
  const row = {
    hash: Buffer.from(saved.keyHash, 'hex'),
    body: saved.session,
    orgId: String(saved.session.org_id ?? ''),
  }
  const answer = await keyData(parts, call, row, key)
  const { access_rights: rights } = saved.session
  const apis = { apiIds: isObject(rights) ? Object.keys(rights) : [], policyIds: [] }
  const isAlone = (await soleOwnership(parts, call)).key({ ...row, ...apis })
  return bare(maskKeyFor(call, answer, { isAlone, isNamed }))
}
