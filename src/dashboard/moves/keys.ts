import { Fault, fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { counterIdOf, isKeyHash, USER_NAME, withoutHidden } from '../../model/keys/key.ts'
import { isLegacyKey, LEGACY_KEY } from '../../model/keys/legacy-hash.ts'
import { checkSession } from '../../model/sessions/session.ts'
import { hexOf } from '../../model/text/hex.ts'
import { createBasicUser, findBasicUser } from '../../publish/keys/basic-auth-users.ts'
import { createKey, rawKeyOf, type SavedKey } from '../../publish/keys/keys.ts'
import { importQuotas } from '../../publish/sessions/quotas.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { restoreMaskedSecrets } from '../access/secrets-view.ts'
import { eachKey } from '../keys/key-pages.ts'
import { checkKeyVisible, withinVisibility } from '../keys/key-view.ts'
import { checkKeyReplaceable } from '../keys/key-writes.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { checkMemberTypes } from './member-types.ts'

/** Refuses to list keys where hashes are not listed. @throws Fault `not_found` (404) */
export function checkKeysListed({ config: { gateway, dashboard } }: DashboardParts): void {
  if (gateway.hash_keys && !dashboard.enable_hashed_keys_listing) throw fault('not_found', 'Could not retrieve keys')
}

/** The keys and basic users of the caller's organisation that the caller sees, in batches; with `ids` (hashes) only these. */
export async function* keysToMove(
  parts: DashboardParts,
  call: Call,
  ids: readonly string[],
): AsyncGenerator<readonly SessionRow[]> {
  const orgId = call.actor!.orgId
  if (ids.length > 0) {
    for (const id of ids) {
      const row = isKeyHash(id) ? await parts.tokens.getSession(Buffer.from(id, 'hex')) : undefined
      if (row !== undefined && row.clientId === '' && (await isSeen(parts, call, row))) yield [row]
    }
    return
  }
  const apiIds = call.visibility.apiIds()
  if (apiIds === undefined) return yield* eachKey(parts.tokens, { orgId, part: '' })
  const mine = new Set(apiIds)
  const policies = await parts.policyApis.fresh()
  const policyIds = policies.ids(orgId, (named) => named.some((id) => mine.has(id)))
  yield* eachKey(parts.tokens, { orgId, part: '', reach: { apiIds, policyIds } })
}

/** A key as it is stored, no policy applied, under its hash or the name of its user. @throws Fault `seal_broken` */
export function movedKey(parts: DashboardParts, row: SessionRow, withSecrets: boolean): JsonObject {
  const { [USER_NAME]: name, [LEGACY_KEY]: legacy, ...session } = withoutHidden(row.body)
  const { basic_auth_data: data } = row.body
  const password = withSecrets && name !== undefined && isObject(data) ? data.password : undefined
  const key = withSecrets ? rawKeyOf(parts, row) : undefined
  return {
    key_hash: hexOf(row.hash),
    ...(name !== undefined && { user_name: name }),
    session,
    ...(password !== undefined && { password_hash: password }),
    ...(key !== undefined && { key }),
    ...(legacy !== undefined && { [LEGACY_KEY]: legacy }),
  }
}

const KEY_MEMBERS = {
  key_hash: 'text',
  user_name: 'text',
  session: 'object',
  password_hash: 'text',
  key: 'text',
  legacy_key: 'text',
  quota_used: 'object',
} as const

/**
 * Stores a key under the hash that it has elsewhere, or a basic user under the hash of its password there: its caller notices
 * nothing. When it was made and when it expires is as sent, and counts of quotas stay. `quota_used` gives a new one what was used
 * elsewhere, by scope; `legacy_key` says how an earlier product has hashed it.
 * @throws Fault `key_invalid`, `key_not_owned` (400), `not_owner` (401)
 */
export async function takeKey(parts: DashboardParts, call: Call): Promise<SavedKey> {
  const {
    key_hash: keyHash,
    user_name: name,
    session: sent,
    password_hash: password,
    key,
    legacy_key,
    quota_used,
  } = call.object()
  checkMemberTypes(call.object(), KEY_MEMBERS, 'key_invalid')
  const { orgId, email: actor } = call.actor!
  const isUser = typeof name === 'string' && name !== ''
  if (!isUser && (typeof keyHash !== 'string' || !isKeyHash(keyHash)))
    throw fault('key_invalid', 'key_hash: must be the SHA-256 of a key, 64 hex digits')
  const hash = isUser ? undefined : Buffer.from(String(keyHash), 'hex')
  const before = isUser ? await findBasicUser(parts, orgId, name) : await parts.tokens.getSession(hash!)
  const checkReplaced = (stored: SessionRow) => checkKeyReplaceable(parts, call, stored)
  // Before its secrets are put in.
  if (before !== undefined) await checkReplaced(before)
  if (before !== undefined && !parts.config.dashboard.enable_update_key_by_hash)
    throw fault('query_invalid', 'Keys cannot be changed by their hash here.')
  const kept = restoreMaskedSecrets(checked(sent), before && withoutHidden(before.body), 'key_invalid')
  const session = await withinVisibility(parts, call, kept, before)
  const draft = { session, keepQuota: true, moved: true, checkReplaced, actor }
  if (hash !== undefined) {
    if (legacy_key !== undefined && !isLegacyKey(legacy_key))
      throw fault('key_invalid', 'legacy_key: must be an algorithm and a hash, parted by a colon')
    const own = isLegacyKey(legacy_key) ? { [LEGACY_KEY]: legacy_key } : {}
    const given = { ...draft, own, hash, within: orgId, ...(typeof key === 'string' && { key }) }
    const saved = await createKey(parts, given)
    const counted = { body: saved.session, orgId, counterId: counterIdOf(saved.session, saved.keyHash) }
    if (saved.created && isObject(quota_used)) await importQuotas(parts, counted, quota_used)
    return saved
  }
  const data = isObject(session.basic_auth_data) ? session.basic_auth_data : {}
  const own = typeof password === 'string' ? { basic_auth_data: { ...data, password } } : {}
  return createBasicUser(parts, { ...draft, name: String(name), session: { ...session, ...own } })
}

/** @throws Fault `key_invalid` (400) */
function checked(sent: JsonObject[string] | undefined): JsonObject {
  if (!isObject(sent)) throw fault('key_invalid', 'session: must be an object')
  const { org_id: _theirs, ...session } = sent
  return checkSession(session)
}

async function isSeen(parts: DashboardParts, call: Call, row: SessionRow): Promise<boolean> {
  try {
    await checkKeyVisible(parts, call, row)
    return true
  } catch (error) {
    if (error instanceof Fault && (error.code === 'key_not_owned' || error.code === 'not_owner')) return false
    throw error
  }
}
