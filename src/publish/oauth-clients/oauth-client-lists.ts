import { fault } from '../../errors/fault.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { hasRightsOn, registeredAt } from '../../model/oauth-clients/oauth-registration.ts'
import { DEVELOPER_ID } from '../../model/portal/developers/developer.ts'
import { oauthApisOf } from './oauth-client-draft.ts'
import {
  CLIENT_KIND,
  type ClientApi,
  type ClientParts,
  currentSecret,
  policyIn,
  registrationAt,
  registrationsOf,
} from './oauth-client-parts.ts'

const BATCH = 1000

/**
 * A page of the clients of an API, those registered one by one first, then those registered by a policy with rights on it; and
 * the number of all. `part`: only those with it in an id, a name or a redirect URI. Sorted and cut in the store.
 */
export async function listClients(
  parts: ClientParts,
  api: Pick<ClientApi, 'apiId' | 'orgId'>,
  { offset, limit, part = '' }: { readonly offset: number; readonly limit: number; readonly part?: string },
): Promise<{ clients: OAuthClient[]; total: number }> {
  const policies = await policiesWithRightsOn(parts, api)
  const filters = [{ api_ids: api.apiId }, ...policies.map((id) => ({ registered_by_policy: id }))]
  const clients: OAuthClient[] = []
  let total = 0
  for (const where of filters) {
    const skip = Math.max(0, offset - total)
    const page = await parts.documents.list(CLIENT_KIND, {
      where: { ...where, org_id: api.orgId },
      ...(part !== '' && { contains: { index: 'search', part } }),
      offset: skip,
      limit: limit - clients.length,
    })
    clients.push(...page.rows.map(({ body }) => body))
    total += page.total
  }
  return { clients, total }
}

/** The client of this id, where it is registered at the API. @throws Fault `not_found` (404) "OAuth Client ID not found" */
export async function findClientAt(
  parts: ClientParts,
  api: Pick<ClientApi, 'apiId' | 'orgId'>,
  clientId: string,
): Promise<OAuthClient> {
  const stored = await registrationAt(parts, clientId, api)
  const client = stored?.body
  if (client === undefined) throw fault('not_found', 'OAuth Client ID not found')
  const policyId = client.registered_by_policy
  const policy = policyId === '' ? undefined : await policyIn(parts, client.org_id, policyId)
  if (registeredAt(client, api, () => policy)) return client
  throw fault('not_found', 'OAuth Client ID not found')
}

/** Ids of the APIs that a client id is registered at; none for an unknown one, or one of another organisation. */
export async function apisOfClient(parts: ClientParts, clientId: string, orgId: string): Promise<string[]> {
  const apiIds = new Set<string>()
  for (const { body } of await registrationsOf(parts, clientId))
    if (orgId === '' || body.org_id === orgId)
      for (const apiId of await apisOfRegistration(parts, body)) apiIds.add(apiId)
  return [...apiIds]
}

/** Ids of the APIs that one registration is for. */
export async function apisOfRegistration(parts: ClientParts, client: OAuthClient): Promise<string[]> {
  if (client.registered_by_policy === '') return [...client.api_ids]
  return oauthApisOf(parts, client.org_id, await policyIn(parts, client.org_id, client.registered_by_policy))
}

const HIDDEN = new Set([
  'secrets',
  'epoch',
  'api_epochs',
  'registration_id',
  'redirect_since',
  'registration',
  'org_id',
  'registered_by_policy',
  DEVELOPER_ID,
])

/**
 * A client as callers see it. `policy_id` is the first of `policies`, `redirect_uri` the first of `redirect_uris`, `meta_data`
 * and `metadata` are one. `secret` is blank unless `withSecret`. @throws Fault `seal_broken`
 */
export function clientViewFor(
  parts: ClientParts,
  client: OAuthClient,
  { withSecret }: { readonly withSecret: boolean },
): JsonObject {
  const { client_id, redirect_uris, policies, metadata, description, ...more } = client
  const others = Object.entries(more).filter(([name]) => !HIDDEN.has(name)) as [string, Json][]
  const byPolicy = client.registered_by_policy
  return {
    client_id,
    secret: withSecret ? currentSecret(parts, client) : '',
    redirect_uri: redirect_uris[0] ?? '',
    redirect_uris: [...redirect_uris],
    ...(policies.length > 0 && { policy_id: policies[0]! }),
    policies: [...policies],
    meta_data: metadata,
    metadata,
    description,
    ...Object.fromEntries(others),
    ...(byPolicy !== '' && { registered_by_policy: byPolicy }),
    ...(client.org_id !== '' && { org_id: client.org_id }),
  }
}

/** Ids of the policies of the API's organisation that have rights on it. */
export async function policiesWithRightsOn(
  { documents }: Pick<ClientParts, 'documents'>,
  { apiId, orgId }: Pick<ClientApi, 'apiId' | 'orgId'>,
): Promise<string[]> {
  const ids: string[] = []
  for (let offset = 0; ; offset += BATCH) {
    const { rows } = await documents.list('policy', { where: { org_id: orgId }, offset, limit: BATCH })
    for (const { body } of rows) {
      if (typeof body.id === 'string' && hasRightsOn(body, apiId)) ids.push(body.id)
    }
    if (rows.length < BATCH) return ids
  }
}
