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

/** The API that an authorization server is of. */
export interface ServerApi {
  readonly apiId: string
  readonly orgId: string
}

/** Under which a registration is filed as the only one: the client id, with what tells further registrations of it apart. */
export function clientKey({
  client_id,
  registration_id = '',
}: Pick<OAuthClient, 'client_id' | 'registration_id'>): string {
  return registration_id === '' ? client_id : client_id + APART + registration_id
}

/** Client ids are visible ASCII: none holds it. */
const APART = '\u00a7'

/** The parts of a `clientKey`. */
export function clientRefOf(key: string): { readonly client_id: string; readonly registration_id: string } {
  const at = key.indexOf(APART)
  if (at === -1) return { client_id: key, registration_id: '' }
  return { client_id: key.slice(0, at), registration_id: key.slice(at + 1) }
}

/** Under which the registration of a client id at an API is filed, where it is registered there one by one. */
export function keyAtApi(clientId: string, apiId: string): string {
  return JSON.stringify([clientId, apiId])
}

/** Under which the registration of a client id by a policy is filed: an organisation has one at most. */
export function keyByPolicy(clientId: string, orgId: string): string {
  return JSON.stringify([clientId, '', orgId])
}

/** Everything that a registration is filed under. */
export function registrationKeys({
  client_id: clientId,
  org_id: orgId,
  api_ids: apiIds,
  registered_by_policy: policyId,
}: Pick<OAuthClient, 'client_id' | 'org_id' | 'api_ids' | 'registered_by_policy'>): string[] {
  const direct = (apiIds ?? []).map((apiId) => keyAtApi(clientId, apiId))
  return policyId ? [...direct, keyByPolicy(clientId, orgId)] : direct
}

/** The epoch of the tokens, codes and refresh tokens that the authorization server of an API gives to a client. */
export function epochAt(client: Pick<OAuthClient, 'epoch' | 'api_epochs'>, apiId: string): string {
  const { api_epochs: epochs = {} } = client
  return Object.hasOwn(epochs, apiId) ? epochs[apiId]! : client.epoch
}

/** The client with the tokens of some of its APIs void. */
export function withEpochAt(client: OAuthClient, apiIds: readonly string[], epoch: string): OAuthClient {
  if (apiIds.length === 0) return client
  return { ...client, api_epochs: { ...client.api_epochs, ...Object.fromEntries(apiIds.map((id) => [id, epoch])) } }
}

/** The client with all its tokens void, at every API. */
export function withEpoch({ api_epochs: _void, ...client }: OAuthClient, epoch: string): OAuthClient {
  return { ...client, epoch } as OAuthClient
}
