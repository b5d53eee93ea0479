import { isObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { epochAt, registeredAt, type ServerApi } from '../../model/oauth-clients/oauth-registration.ts'
import { unseal } from '../../model/secrets/secret.ts'
import type { Awaitable } from '../../store/ports/ports.ts'
import type { OAuthApi, OAuthParts } from '../endpoints/parts.ts'

/** The client of this id, where it is registered at the API, one by one or by a policy; at once when it is known. @throws Fault `store_away` */
export function findClient(parts: OAuthParts, clientId: string, api: ServerApi): Awaitable<OAuthClient | undefined> {
  const found = parts.findClient(clientId, api)
  const ofApi = (client: OAuthClient | undefined) =>
    client !== undefined && isRegistered(parts, client, api) ? client : undefined
  return found instanceof Promise ? found.then(ofApi) : ofApi(found)
}

/** True when the client may use the authorization server of this API. */
export function isRegistered(
  parts: OAuthParts,
  client: OAuthClient,
  api: { readonly apiId: string; readonly orgId: string },
): boolean {
  return registeredAt(client, api, (policyId) => parts.findPolicy(client.org_id, policyId))
}

/** The purpose of the seal of a client's secrets. */
export function secretContext(clientId: string): string {
  return `oauth_client:${clientId}`
}

/** One secret in clear. @throws Fault `seal_broken` */
export function unsealSecret(parts: OAuthParts, clientId: string, sealed: string): string {
  return unseal(parts.sealKey, Buffer.from(sealed, 'base64'), secretContext(clientId)).toString('utf8')
}

/** True when it is a public client: it cannot keep a secret, and so proves nothing about itself (RFC 6749 section 2.1). */
export function isPublic(client: OAuthClient): boolean {
  return client.auth_method === 'none'
}

/** True when it registered itself where the API lets everybody: nobody vouches for it. */
export function isOpenlyRegistered({ registration }: OAuthClient): boolean {
  return isObject(registration) && registration.open === true
}

/** True when the client's registration lets it use this grant. */
export function mayUseGrant(client: OAuthClient, grantType: string): boolean {
  return client.grant_types === undefined || client.grant_types.includes(grantType)
}

/** True when the grants of this client come with a refresh token: the API has them, and the client may use them. */
export function givesRefresh(api: OAuthApi, client: OAuthClient): boolean {
  return api.oauth.grants.has('refresh_token') && mayUseGrant(client, 'refresh_token')
}

/** True when this registration issued a token or ticket of an API: two of one client id differ in their epochs. */
function hasIssued(
  client: OAuthClient,
  { clientId, apiId, epoch }: { readonly clientId: unknown; readonly apiId: string; readonly epoch: unknown },
): boolean {
  return clientId === client.client_id && epoch === epochAt(client, apiId)
}

/** True when another registration of the same client id issued it; false for one that is void. @throws Fault `store_away` */
export async function isOfOtherRegistration(
  parts: OAuthParts,
  client: OAuthClient,
  issued: { readonly clientId: string; readonly apiId: string; readonly epoch: unknown },
): Promise<boolean> {
  if (hasIssued(client, issued)) return false
  const api = parts.findApi(issued.apiId)
  const issuer = api && (await parts.findClient(issued.clientId, api))
  return issuer !== undefined && hasIssued(issuer, issued)
}
