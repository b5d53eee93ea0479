import { Fault, fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { policyIdsOf } from '../../model/policies/merge-policies.ts'
import { mergeSession, NARROWED_BY } from '../../model/sessions/scope-session.ts'
import type { Session } from '../../model/sessions/session.ts'
import type { OAuthApi, OAuthParts } from '../endpoints/parts.ts'

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

/**
 * Refuses a client before a person signs in for nothing: one whose policies give no access, and one that got its policies by
 * registering itself and has none of them any more. Others without policies may get their rights from the login page.
 * @throws Fault `oauth_no_policy`
 */
export function checkAccess(parts: OAuthParts, api: OAuthApi, client: OAuthClient): void {
  const { policies, registration } = client
  const mayGetRules =
    policies.length === 0 && (registration === undefined || api.oauth.registrationPolicies.length === 0)
  if (mayGetRules) return
  if (policies.length === 0 || !isInForce(parts, api.orgId, { apply_policies: [...policies] }))
    throw fault('oauth_no_policy')
}

/** True where policies alone decide whether a session is in force, so that all tokens with the same ones share a merge. */
function isOfPoliciesAlone(session: Session): boolean {
  if ((session as JsonObject)[NARROWED_BY] !== undefined) return false
  for (const _ in session.access_rights ?? {}) return false
  return true
}
