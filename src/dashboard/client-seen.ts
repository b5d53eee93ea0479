import { Fault, fault } from '../errors/fault.ts'
import type { OAuthClient } from '../model/oauth-client.ts'
import { apisOfClient, findClientAt } from '../publish/oauth-client-lists.ts'
import { type ApiPlace, apiPlaceOf, clientOf, storedClient } from '../publish/oauth-client-parts.ts'
import type { StoredDocument } from '../store/ports.ts'
import { apiDocumentOf } from './api-document.ts'
import type { Call } from './call.ts'
import type { DashboardParts } from './parts.ts'

const MISSING = 'Could not retrieve app detail'

/** The API that the path names, by either id. @throws Fault `not_found` (404) or as `missing`, `not_owner` (401) */
export async function apiAt(
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
export async function placeAt(parts: DashboardParts, call: Call, missing?: Fault): Promise<ApiPlace> {
  const { body } = await apiAt(parts, call, missing)
  const place = await apiPlaceOf(parts, String(body.api_id))
  if (place === undefined) throw missing ?? fault('not_found', MISSING)
  return place
}

/** The client that the path names, registered at the API that it names. @throws Fault `not_found` (404), `not_owner` (401) */
export async function clientAt(
  parts: DashboardParts,
  call: Call,
): Promise<{ readonly place: ApiPlace; readonly client: OAuthClient }> {
  const place = await placeAt(parts, call)
  const client = await findClientAt(parts, place, call.param('clientId')).catch((error) => {
    throw error instanceof Fault && error.code === 'not_found' ? fault('not_found', MISSING) : error
  })
  return { place, client }
}

/** The document of the client that the path names, where the caller's organisation has one. */
export async function clientStored(parts: DashboardParts, call: Call): Promise<StoredDocument | undefined> {
  const stored = await storedClient(parts, call.param('clientId'))
  return stored !== undefined && call.sight.org(stored) ? stored : undefined
}

/** The client that the path names without an API. @throws Fault `not_found` (404), `not_owner` (401) when others own its APIs */
export async function clientNamed(parts: DashboardParts, call: Call): Promise<OAuthClient> {
  const stored = await storedClient(parts, call.param('clientId'))
  if (stored === undefined || !call.sight.org(stored)) throw fault('not_found', MISSING)
  const client = clientOf(stored.body)
  if (!call.sight.everything && !call.sight.anyApi(await apisOfClient(parts, client.client_id, client.org_id)))
    throw fault('not_owner')
  return client
}
