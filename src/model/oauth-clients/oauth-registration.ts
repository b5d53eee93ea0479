import type { Policy } from '../sessions/session.ts'
import type { OAuthClient } from './oauth-client.ts'

/**
 * True when the client is registered at the API: one by one, or by a policy that gives rights on it. `policyOf` finds a policy
 * of the client's organisation by its id.
 */
export function registeredAt(
  client: Pick<OAuthClient, 'org_id' | 'api_ids' | 'registered_by_policy'>,
  api: { readonly apiId: string; readonly orgId: string },
  policyOf: (policyId: string) => Pick<Policy, 'access_rights'> | undefined,
): boolean {
  if (client.org_id !== api.orgId) return false
  if (client.api_ids.includes(api.apiId)) return true
  if (client.registered_by_policy === '') return false
  return hasRightsOn(policyOf(client.registered_by_policy), api.apiId)
}

/** True when the policy exists and names the API among its rights. */
export function hasRightsOn(policy: Pick<Policy, 'access_rights'> | undefined, apiId: string): boolean {
  return Object.hasOwn(policy?.access_rights ?? {}, apiId)
}
