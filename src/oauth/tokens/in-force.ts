import { Fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { policyIdsOf } from '../../model/policies/merge-policies.ts'
import { mergeSession, NARROWED_BY } from '../../model/sessions/scope-session.ts'
import type { Session } from '../../model/sessions/session.ts'
import type { OAuthParts } from '../endpoints/parts.ts'

/**
 * False for a session that the gateway refuses in any case: its policies are inactive, deleted, give no rights, or cannot be
 * combined.
 */
export function isInForce(parts: OAuthParts, orgId: string, session: Session): boolean {
  const policiesOf = (each: Session) => policyIdsOf(each).map((id) => parts.findPolicy(orgId, id))
  const decisive = isOfPoliciesAlone(session) ? { apply_policies: policyIdsOf(session) } : session
  if (session.is_inactive === true) return false
  const merged =
    parts.mergeOf?.(decisive, orgId) ?? mergeSession(session, policiesOf, (apiId) => parts.findApi(apiId)?.orgId)
  return !(merged instanceof Fault) && !merged.isInactive
}

/** True where policies alone decide whether a session is in force, so that all tokens with the same ones share a merge. */
function isOfPoliciesAlone(session: Session): boolean {
  if ((session as JsonObject)[NARROWED_BY] !== undefined) return false
  for (const _ in session.access_rights ?? {}) return false
  return true
}
