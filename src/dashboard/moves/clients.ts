import { fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import type { OAuthClient } from '../../model/oauth-clients/oauth-client.ts'
import { clientKey } from '../../model/oauth-clients/oauth-registration.ts'
import { isDeletedElsewhere } from '../../publish/documents/deleted-ids.ts'
import { apisOfRegistration, clientViewFor } from '../../publish/oauth-clients/oauth-client-lists.ts'
import { CLIENT_KIND, registrationsOf, storedClient } from '../../publish/oauth-clients/oauth-client-parts.ts'
import { createClient, type SavedClient, updateClient } from '../../publish/oauth-clients/oauth-clients.ts'
import { withPolicyIds } from '../../publish/policies/policy-ids.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { checkSoleClientOwner } from '../access/co-owned.ts'
import { checkReferences } from '../access/references.ts'
import { maskSecretsFor, mayWrite } from '../access/secrets-view.ts'
import { checkPoliciesGiven } from '../oauth-clients/find-client.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { checkMemberTypes } from './member-types.ts'

/** The OAuth clients of the caller's organisation that the caller sees, in batches; with `ids` only these. */
export async function* clientsToMove(
  { documents, policyApis }: DashboardParts,
  { visibility, actor }: Call,
  ids: readonly string[],
): AsyncGenerator<readonly OAuthClient[]> {
  const policies = await policyApis.fresh()
  const isSeen = ({ api_ids, registered_by_policy: by }: OAuthClient) =>
    visibility.anyApi(by === '' ? api_ids : policies.of(actor!.orgId, by))
  const seen = (rows: readonly StoredDocument<'oauth_client'>[]) => rows.map(({ body }) => body).filter(isSeen)
  if (ids.length === 0) {
    for await (const batch of documents.each(CLIENT_KIND, { where: visibility.whereOrg() })) yield seen(batch)
    return
  }
  for (const id of ids) {
    yield seen((await registrationsOf({ documents }, id)).filter((stored) => visibility.org(stored)))
  }
}

/**
 * A client with where it is registered; its secret for callers who may write APIs, where `withSecret`, and who own it alone.
 * @throws Fault `seal_broken`
 */
export function movedClient(
  parts: DashboardParts,
  call: Call,
  client: OAuthClient,
  { withSecret, isAlone }: { readonly withSecret: boolean; readonly isAlone: boolean },
): JsonObject {
  const mayRead = withSecret && isAlone && mayWrite(call, 'apis')
  const shown = clientViewFor(parts, client, { withSecret: mayRead })
  const { secret, ...rest } = shown
  const { registered_by_policy, registration_id } = client
  const seen = { ...maskSecretsFor(call, 'oauth', rest, isAlone), secret: secret! }
  return { ...seen, registered_by_policy, ...(registration_id !== undefined && { registration_id }) }
}

/** Members that this call reads itself; those of every client are checked as in the other calls. */
const CLIENT_MEMBERS = { client_id: 'text', api_ids: 'texts', registration_id: 'text', secret: 'text' } as const

/**
 * Stores a client as it was elsewhere: its id, where it is registered, and its secret where one is sent.
 * @throws Fault `oauth_client_invalid`, `query_invalid` (400), `id_taken` (409) for one of another organisation, `not_owner` (401)
 */
export async function takeClient(parts: DashboardParts, call: Call): Promise<SavedClient> {
  const { orgId, email: actor } = call.actor!
  checkMemberTypes(call.object(), CLIENT_MEMBERS, 'oauth_client_invalid')
  const sent = await withPolicyIds(parts, orgId, 'client', call.object())
  const { client_id: clientId } = sent
  if (typeof clientId !== 'string' || clientId === '') throw fault('oauth_client_invalid', 'client_id: is missing')
  const apiIds = Array.isArray(sent.api_ids) ? sent.api_ids.filter((id) => typeof id === 'string') : []
  const registrationId = typeof sent.registration_id === 'string' ? sent.registration_id : ''
  const stored = await storedClient(parts, { client_id: clientId, registration_id: registrationId })
  if (await isForeignClient(parts, { client_id: clientId, registration_id: registrationId }, orgId, stored?.body))
    throw fault('id_taken', `OAuth client ${clientId}`)
  if (stored !== undefined && !call.visibility.anyApi(await apisOfRegistration(parts, stored.body)))
    throw fault('not_owner')
  const before = stored?.body
  if (before !== undefined) await checkSoleClientOwner(parts, call, before)
  await checkReferences(parts, call, 'oauth_client', { api_ids: apiIds }, stored?.body, { code: 'not_owner' })
  await checkPoliciesGiven(parts, call, sent, before)
  const { org_id: _theirs, api_id: _one, ...rest } = sent
  const body: JsonObject = { ...rest, api_ids: apiIds }
  const isDynamic = isObject(stored?.body.registration)
  if (stored === undefined) return createClient(parts, { body, orgId, registrationId, redirectOptional: true, actor })
  const secret = typeof sent.secret === 'string' ? sent.secret : ''
  return updateClient(parts, stored.body, {
    body,
    moved: { apiIds, secret },
    redirectOptional: isDynamic || sent.redirect_uris === undefined || isEmptyList(sent.redirect_uris),
    actor,
  })
}

/** True for a registration of another organisation, also for one that it deleted and may put back: under another id each move would differ. */
export async function isForeignClient(
  parts: DashboardParts,
  ref: Parameters<typeof clientKey>[0],
  orgId: string,
  stored: OAuthClient | undefined,
): Promise<boolean> {
  if (stored !== undefined) return stored.org_id !== orgId
  return isDeletedElsewhere(parts, CLIENT_KIND, clientKey(ref), orgId)
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0
