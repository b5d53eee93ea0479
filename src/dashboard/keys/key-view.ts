import { isDeepStrictEqual } from 'node:util'
import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { counterIdOf } from '../../model/keys/key.ts'
import { policyIdsOf } from '../../model/policies/merge-policies.ts'
import type { Session } from '../../model/sessions/session.ts'
import { hexOf } from '../../model/text/hex.ts'
import { type FoundKey, findKey, type KeyNaming } from '../../publish/keys/find-key.ts'
import { withPolicyIds } from '../../publish/policies/policy-ids.ts'
import { sessionView } from '../../publish/sessions/quotas.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { checkReferences } from '../access/references.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

/**
 * The key that the path names: by itself, with `hashed` by its hash, with `auto_guess` by either, with `username` a basic user.
 * @throws Fault `not_found` (404), `key_not_owned` (400) for one of another organisation, `not_owner` (401), `query_invalid` (400)
 */
export async function keyInPath(parts: DashboardParts, call: Call): Promise<FoundKey> {
  const orgId = call.actor?.orgId ?? ''
  const naming = namingOf(call)
  if (naming === 'username' && parts.config.dashboard.disable_key_actions_by_username)
    throw fault('query_invalid', 'Keys cannot be named by a user name here.')
  const found = await findKey(parts, { name: call.param('keyId'), naming, orgId })
  if (found === undefined) throw fault('not_found', 'Could not retrieve key detail.')
  await checkKeyVisible(parts, call, found.row)
  return found
}

/** True for a query parameter that is there and does not say no. */
export function isQueryFlag(call: Call, name: string): boolean {
  const value = call.query(name)
  return call.queryAll(name).length > 0 && value !== 'false' && value !== '0'
}

/** Refuses a key of another organisation, and one whose APIs others own. @throws Fault `key_not_owned` (400), `not_owner` (401) */
export async function checkKeyVisible(
  parts: DashboardParts,
  { actor, visibility }: Call,
  { orgId, body }: Pick<SessionRow, 'orgId' | 'body'>,
): Promise<void> {
  if (actor === undefined || (actor.orgId !== '' && orgId !== actor.orgId)) throw fault('key_not_owned')
  if (visibility.everything) return
  const policies = await parts.policyApis.fresh()
  const given = policyIdsOf(body as Session).flatMap((id) => policies.of(orgId, id))
  if (!visibility.anyApi([...rightsIn(body).keys(), ...given])) throw fault('not_owner')
}

/**
 * The session to store, in the caller's organisation whatever it names. A caller with limited visibility can
 * give only visible access rights, policies and clients; of those that the key has already, rights that came with a response
 * are left to the policies that gave them.
 * @throws Fault `not_owner` (401)
 */
export async function withinVisibility(
  parts: DashboardParts,
  call: Call,
  sent: JsonObject,
  stored: SessionRow | undefined,
): Promise<JsonObject> {
  const orgId = stored?.orgId ?? call.actor!.orgId
  const session: JsonObject = { ...(await withPolicyIds(parts, orgId, 'session', sent)), org_id: orgId }
  if (call.visibility.everything) return session
  // Assigning a policy gives all its rights.
  const { access_rights: rights, ...others } = session
  await checkReferences(parts, call, 'session', others, stored?.body, { code: 'not_owner' })
  if (rights === undefined) return session
  return { ...session, access_rights: Object.fromEntries(await seenRights(parts, call, session, stored)) }
}

function namingOf(call: Call): KeyNaming {
  if (isQueryFlag(call, 'username')) return 'username'
  if (isQueryFlag(call, 'hashed')) return 'hash'
  return isQueryFlag(call, 'auto_guess') ? 'guess' : 'key'
}

async function seenRights(
  parts: DashboardParts,
  call: Call,
  session: JsonObject,
  stored: SessionRow | undefined,
): Promise<[string, Json][]> {
  const before = rightsIn(stored?.body ?? {})
  const shown = rightsIn(stored === undefined ? {} : await shownOf(parts, stored))
  const kept: [string, Json][] = []
  for (const [apiId, right] of rightsIn(session)) {
    // A missing object counts as hidden: it may be created later, and be owned by others.
    if (call.visibility.apiId(apiId) || isDeepStrictEqual(right, before.get(apiId))) kept.push([apiId, right])
    else if (before.has(apiId) || !shown.has(apiId)) throw fault('not_owner')
  }
  return kept
}

function shownOf(parts: DashboardParts, { body, orgId, hash }: SessionRow): Promise<JsonObject> {
  return sessionView(parts, body, orgId, counterIdOf(body, hexOf(hash)))
}

function rightsIn({ access_rights: rights }: JsonObject): Map<string, Json> {
  return new Map(Object.entries(isObject(rights) ? rights : {}))
}
