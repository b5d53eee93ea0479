import { Fault, fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { findClientAt } from '../../publish/oauth-clients/oauth-client-lists.ts'
import { type ClientApi, clientApiOf, storedClient } from '../../publish/oauth-clients/oauth-client-parts.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { checkSoleClientOwner } from '../access/co-owned.ts'
import { apiDocumentOf } from '../apis/api-document.ts'
import { isVisiblePolicy } from '../policies/policy-apis.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { clientsNamed } from './clients-named.ts'

const MISSING = 'Could not retrieve app detail'

/** The API that the path names, by either id. @throws Fault `not_found` (404) or as `missing`, `not_owner` (401) */
export async function apiInPath(
  parts: DashboardParts,
  call: Call,
  missing: Fault = fault('not_found', MISSING),
): Promise<StoredDocument> {
  try {
    return await apiDocumentOf(parts, call, call.param('apiId'))
  } catch (error) {
    throw error instanceof Fault && error.code === 'not_found' ? missing : error
  }
}

/** The same as a place for clients. */
export async function clientPlaceInPath(parts: DashboardParts, call: Call, missing?: Fault): Promise<ClientApi> {
  const { body } = await apiInPath(parts, call, missing)
  const place = await clientApiOf(parts, String(body.api_id))
  if (place === undefined) throw missing ?? fault('not_found', MISSING)
  return place
}

/** The client that the path names, registered at the API that it names. @throws Fault `not_found` (404), `not_owner` (401) */
export async function clientInPath(
  parts: DashboardParts,
  call: Call,
): Promise<{ readonly place: ClientApi; readonly client: OAuthClient }> {
  const place = await clientPlaceInPath(parts, call)
  const client = await findClientAt(parts, place, call.param('clientId')).catch((error) => {
    throw error instanceof Fault && error.code === 'not_found' ? fault('not_found', MISSING) : error
  })
  return { place, client }
}

/**
 * The same for a call that changes more than what belongs to that API: others that own APIs of the client are asked.
 * @throws besides Fault `shared_with_others` (403)
 */
export async function clientToChange(
  parts: DashboardParts,
  call: Call,
): Promise<{ readonly place: ClientApi; readonly client: OAuthClient }> {
  const found = await clientInPath(parts, call)
  await checkSoleClientOwner(parts, call, found.client)
  return found
}

/**
 * Nobody gives a client policies with APIs that others own: they look as if they were not there. Those that it has may stay.
 * @throws Fault `query_invalid` (400)
 */
export async function checkPoliciesGiven(
  { policyApis }: DashboardParts,
  { visibility, actor }: Call,
  { policy_id: single, policies: list }: JsonObject,
  before: OAuthClient | undefined,
): Promise<void> {
  if (visibility.everything) return
  const policies = await policyApis.fresh()
  const named = [single, ...(Array.isArray(list) ? list : [list])].filter((id) => typeof id === 'string' && id !== '')
  for (const id of named as string[])
    if (before?.policies.includes(id) !== true && !isVisiblePolicy(policies, visibility, actor!.orgId, id))
      throw fault('query_invalid', "Policy doesn't exist")
}

/** The document of the client that the path names at an API; undefined where there is none. */
export async function storedClientInPath(parts: DashboardParts, call: Call): Promise<StoredDocument | undefined> {
  try {
    return await storedClient(parts, (await clientInPath(parts, call)).client)
  } catch (error) {
    // The call itself says what is wrong with its path.
    if (error instanceof Fault && error.code !== 'store_away') return undefined
    throw error
  }
}

/**
 * The registrations, among those that the caller sees, of the client id that the path names without an API.
 * @throws Fault `not_found` (404), `not_owner` (401) when others own the APIs of all of them
 */
export async function clientsInPathOfAnyApi(parts: DashboardParts, call: Call): Promise<OAuthClient[]> {
  const { own, seen } = await clientsNamed(parts, call.visibility, call.param('clientId'))
  if (own.length === 0) throw fault('not_found', MISSING)
  if (seen.length === 0) throw fault('not_owner')
  return seen.map(({ body }) => body)
}
