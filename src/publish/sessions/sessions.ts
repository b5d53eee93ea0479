import { Fault, fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { withoutHidden } from '../../model/keys/key.ts'
import { type Merged, mergePolicies, policyIdsOf } from '../../model/policies/merge-policies.ts'
import type { Policy, Session } from '../../model/sessions/session.ts'
import { previewSession } from '../../model/sessions/session-preview.ts'
import { evictAt, expiryOfNew, isExpired } from '../../model/time/expiry.ts'
import { apiOfOrg } from '../apis/api-ids.ts'
import { clockOf, orgOf, type PublishParts } from '../documents/parts.ts'
import { type KeyRules, readKeyRules } from '../keys/key-rules.ts'
import { readPolicies } from '../policies/policies.ts'
import { withPolicyIds } from '../policies/policy-ids.ts'

/** A checked session with its policies, which go together. */
export interface Prepared {
  readonly session: Session
  /** In the order in which the session names them; undefined where one does not exist. */
  readonly policies: readonly (Policy | undefined)[]
  readonly merged: Merged
}

/** The organisation of a session. */
export function sessionOrg(parts: PublishParts, session: Session): string {
  return orgOf(parts, session.org_id)
}

/**
 * Refuses a session none of whose policies exists: it would open what those that come to be made under their ids open. What is no id is
 * passed over. @throws Fault `key_invalid` (400) naming them
 */
export async function checkPoliciesKnown(parts: PublishParts, session: Session): Promise<void> {
  const ids = policyIdsOf(session)
  checkFound(ids, await readPolicies(parts, sessionOrg(parts, session), ids), session.org_id)
}

function checkFound(ids: readonly string[], policies: readonly (Policy | undefined)[], orgId = ''): void {
  if (ids.length > 0 && policies.every((policy) => policy === undefined))
    throw fault(
      'key_invalid',
      `apply_policies: no such policy: ${ids.slice(0, 10).join(', ')}${orgId === '' ? '' : ` (in organisation ${orgId})`}`,
    )
}

/**
 * Finds the policies of a session and applies them. One that does not exist is passed over as long as there are others.
 * @throws Fault `key_invalid` (400) naming the policies that do not exist, or why they do not go together
 */
export async function applyPolicies(parts: PublishParts, session: Session): Promise<Prepared> {
  const ids = policyIdsOf(session)
  const policies = await readPolicies(parts, sessionOrg(parts, session), ids)
  checkFound(ids, policies, session.org_id)
  const merged = mergePolicies(session, policies)
  if (merged instanceof Fault) throw fault('key_invalid', `apply_policies: ${merged.message}`, merged)
  return { session, policies, merged }
}

/** The session of a new key as it would look with its policies applied, without a password. @throws Fault `key_invalid` (400) */
export async function preview(parts: PublishParts, sent: Session): Promise<JsonObject> {
  const session = (await withPolicyIds(parts, sessionOrg(parts, sent), 'session', sent as JsonObject)) as Session
  const { policies } = await applyPolicies(parts, session)
  const now = clockOf(parts).wall()
  const expires = expiryOfNew(session.expires, policies, now)
  const shown = { ...session, ...(expires !== undefined && { expires }) }
  if (isExpired(shown, now)) throw fault('key_invalid', 'expires: lies in the past')
  return withoutHidden(previewSession(shown, policies))
}

/** When the store may forget a key; 0 = never. Its APIs have a say when nothing else does. */
export async function evictionOf(
  parts: PublishParts,
  session: JsonObject,
  { policies, merged }: Prepared,
  now: number,
): Promise<number> {
  const shown = previewSession(session as Session, policies)
  const rules = await keyRulesOf(parts, sessionOrg(parts, session as Session), [...merged.rights.keys()])
  return evictAt(shown, now, {
    forcedLifetimeS: 0,
    apiLifetimesS: rules.map(({ lifetimeS }) => lifetimeS),
    respectExpires: rules.some(({ respectExpires }) => respectExpires),
  })
}

/** The rules about keys of those stored APIs among these that belong to an organisation. */
export async function keyRulesOf(
  parts: PublishParts,
  orgId: string,
  apiIds: readonly string[],
): Promise<(KeyRules & { readonly apiId: string })[]> {
  const found = await Promise.all(apiIds.map((apiId) => apiOfOrg(parts.documents, orgId, apiId)))
  return found.flatMap((stored, index) =>
    stored === undefined ? [] : [{ apiId: apiIds[index]!, ...readKeyRules(stored.body) }],
  )
}
