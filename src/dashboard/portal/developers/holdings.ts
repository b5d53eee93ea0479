import { fault } from '../../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../../model/json/json.ts'
import { invalid } from '../../../model/portal/developers/developer-fields.ts'
import { appIdsOf, appsOf, keysOf } from '../../../model/portal/developers/holdings.ts'
import { requestedPolicies } from '../../../model/portal/key-requests/key-request.ts'
import { storedApp } from '../../../publish/oauth-clients/oauth-client-parts.ts'
import { toDeveloperView } from '../../../publish/portal/developers/developers.ts'
import type { StoredDocument } from '../../../store/ports/ports.ts'
import { apisOfAccess, apisOfSession } from '../../access/co-owned.ts'
import { isVisiblePolicy } from '../../policies/policy-apis.ts'
import type { Call } from '../../routes/call.ts'
import type { DashboardParts } from '../../server/parts.ts'

type Reader = Pick<Call, 'visibility'>

/** The developer's keys (by hash) and OAuth apps (by client id) that are based on APIs of other owners. */
interface OthersHoldings {
  /** Only on such: the caller does not see them. */
  readonly unseen: ReadonlySet<string>
  /** On such among others: the caller sees them, and is not alone with them. */
  readonly shared: ReadonlySet<string>
}

/** @throws Fault `store_away` */
async function othersHoldings(
  parts: DashboardParts,
  { visibility }: Reader,
  { id, body }: Pick<StoredDocument, 'id' | 'body'>,
): Promise<OthersHoldings> {
  const unseen = new Set<string>()
  const shared = new Set<string>()
  if (visibility.everything) return { unseen, shared }
  const file = (name: string, apiIds: readonly string[]) => {
    if (!visibility.anyApi(apiIds)) unseen.add(name)
    else if (visibility.hidden(apiIds) > 0) shared.add(name)
  }
  for (const keyHash of keysOf(body).keys()) {
    const row = await parts.tokens.getSession(Buffer.from(keyHash, 'hex'))
    if (row !== undefined) file(keyHash, await apisOfSession(parts, row))
  }
  for (const clientId of appIdsOf(body)) {
    const stored = await storedApp(parts, clientId, id)
    if (stored !== undefined) file(clientId, await apisOfAccess(parts, stored.body))
  }
  return { unseen, shared }
}

/** A developer as a caller sees it: without the keys and apps for APIs that others own. @throws Fault `store_away` */
export async function toVisibleDeveloper(
  parts: DashboardParts,
  reader: Reader,
  developer: Pick<StoredDocument, 'id' | 'body'>,
  view: { readonly withSecrets: boolean },
): Promise<JsonObject> {
  const { unseen } = await othersHoldings(parts, reader, developer)
  return toDeveloperView({ id: developer.id, body: without(developer.body, unseen) }, view)
}

/**
 * The record that a caller sent for a developer, without its parts about invisible apps, which stay.
 * @throws Fault `developer_invalid` (400) for a key that the caller does not see, `shared_with_others` (403) for other labels on one
 * that others need as well, `not_owner` (401) for a label that names a policy of others
 */
export async function preserveForeignHoldings(
  parts: DashboardParts,
  call: Call,
  developer: StoredDocument,
  sentKeys: Json | undefined,
): Promise<(record: JsonObject) => JsonObject> {
  if (call.visibility.everything) return (record) => record
  const { unseen, shared } = await othersHoldings(parts, call, developer)
  const policies = await parts.policyApis.fresh()
  const held = keysOf(developer.body)
  for (const [keyHash, label] of Object.entries(isObject(sentKeys ?? null) ? (sentKeys as JsonObject) : {})) {
    const before = held.get(keyHash)
    if (before === undefined || !Array.isArray(label)) continue
    if (unseen.has(keyHash)) throw invalid('keys: one of them is not a key of this developer')
    const same = label.length === before.length && before.every((id) => label.includes(id))
    if (shared.has(keyHash) && !same)
      throw fault(
        'shared_with_others',
        'A key of the developer also gives access to APIs that others own: list it as it was',
      )
    for (const id of label)
      if (
        typeof id === 'string' &&
        !before.includes(id) &&
        !isVisiblePolicy(policies, call.visibility, call.actor!.orgId, id)
      )
        throw fault('not_owner')
  }
  const kept = new Set([...unseen, ...shared])
  return (record) => ({
    ...record,
    ...(isObject(record.oauth_clients) && { oauth_clients: appsWithout(record, kept) }),
  })
}

/**
 * Refuses to delete a developer who has keys, OAuth apps or key requests for APIs that others own. Says how many, not which.
 * @throws Fault `shared_with_others` (403)
 */
export async function checkSoleHolder(
  parts: DashboardParts,
  call: Call,
  { id, body }: Pick<StoredDocument, 'id' | 'body'>,
) {
  const { visibility } = call
  if (visibility.everything) return
  const { unseen, shared } = await othersHoldings(parts, call, { id, body })
  const policies = await parts.policyApis.fresh()
  const apps = new Set(appIdsOf(body))
  const others = [...unseen, ...shared]
  const ofApps = others.filter((name) => apps.has(name)).length
  let requests = 0
  for await (const batch of parts.documents.each('key_request', { where: { by_user: id } }))
    for (const request of batch) {
      const apiIds = requestedPolicies(request.body).flatMap((policy) => policies.of(call.actor!.orgId, policy))
      if (request.body.org_id === body.org_id && visibility.hidden(apiIds) > 0) requests++
    }
  const obstacles = [
    [others.length - ofApps, 'key'],
    [ofApps, 'OAuth app'],
    [requests, 'key request'],
  ] as const
  const said = obstacles
    .filter(([count]) => count > 0)
    .map(([count, noun]) => `${count} ${noun}${count > 1 ? 's' : ''}`)
  if (said.length > 0)
    throw fault(
      'shared_with_others',
      `The developer has ${said.join(', ')} for APIs that others own, which must end first`,
    )
}

function without(body: JsonObject, unseen: ReadonlySet<string>): JsonObject {
  if (unseen.size === 0) return body
  const entries = (value: Json | undefined) => Object.entries(isObject(value ?? null) ? (value as JsonObject) : {})
  const pointing = (value: Json | undefined) =>
    Object.fromEntries(entries(value).filter(([, keyHash]) => !unseen.has(String(keyHash))))
  return {
    ...body,
    keys: Object.fromEntries(entries(body.keys).filter(([keyHash]) => !unseen.has(keyHash))),
    subscriptions: pointing(body.subscriptions),
    api_keys: pointing(body.api_keys),
    oauth_clients: appsWithout(body, unseen),
  }
}

function appsWithout(body: JsonObject, names: ReadonlySet<string>): JsonObject {
  const rest = [...appsOf(body)].map(
    ([policy, apps]) => [policy, apps.filter(({ client_id }) => !names.has(String(client_id)))] as const,
  )
  return Object.fromEntries(rest.filter(([, apps]) => apps.length > 0).map(([policy, apps]) => [policy, [...apps]]))
}
