import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { isObject, type JsonObject } from '../../../src/model/json/json.ts'
import { ROTATED_TO } from '../../../src/model/keys/key.ts'
import { DEVELOPER_ID } from '../../../src/model/portal/developers/developer.ts'
import type { SessionRow, Store } from '../../../src/store/ports/ports.ts'
import { type GatewayWorld, gatewayWorld } from '../dashboard/gateway-world.ts'
import type { TestUser } from '../dashboard/harness.ts'

export const DEVELOPERS = '/api/portal/developers'

/** A dashboard and a gateway with developers of the portal. */
export interface DeveloperWorld extends GatewayWorld {
  /** Stores a developer; answers the id. */
  developer(email: string, more?: JsonObject): Promise<string>
  /** The record as callers see it. */
  record(id: string): Promise<JsonObject>
  /** An API at this gateway that asks for a key, with an upstream behind it, at `/{apiId}/`. */
  keyed(apiId: string, more?: JsonObject): Promise<void>
  /** Adds a key by these policies; answers the key and its hash. */
  add(id: string, policies: readonly string[], more?: JsonObject, as?: TestUser): Promise<{ key: string; hash: string }>
  /** The portal's configuration, changed. */
  configure(body: JsonObject): Promise<void>
}

export async function developerWorld(t: TestContext, env: Record<string, string> = {}): Promise<DeveloperWorld> {
  const world = await gatewayWorld(t, env)
  const { asked, root, store, origin, gateway } = world
  const record: DeveloperWorld['record'] = (id) => asked(200, 'GET', `${DEVELOPERS}/${id}`, root)
  return {
    ...world,
    record,
    async developer(email, more = {}) {
      return String((await asked(200, 'POST', DEVELOPERS, root, { email, fields: {}, ...more })).Message)
    },
    async keyed(apiId, more = {}) {
      const proxy = { listen_path: `/${apiId}/`, target_url: origin.url, strip_listen_path: true }
      await world.api(apiId, { definition: { proxy, ...more } })
      await gateway.gateway.live.settled(await store.documents.revision())
    },
    async add(id, policies, more = {}, as = root) {
      const before = new Set(Object.keys((await record(id)).keys as JsonObject))
      const made = await asked(200, 'POST', `${DEVELOPERS}/${id}/keys`, as, { apply_policies: policies, ...more })
      const after = Object.keys((await record(id)).keys as JsonObject)
      const [hash = ''] = after.filter((each) => !before.has(each))
      return { key: String(made.RawKey), hash }
    },
    async configure(body) {
      await asked(200, 'PUT', '/api/portal/configuration', root, body)
    },
  }
}

/** Puts a developer straight into a store. */
export async function putDeveloper(
  store: Store,
  orgId: string,
  email: string,
  more: JsonObject = {},
): Promise<DocumentId> {
  const id = newDocumentId()
  const body = {
    ...{ org_id: orgId, email, password: '', inactive: false, date_created: new Date(0).toISOString() },
    ...{ keys: {}, subscriptions: {}, api_keys: {}, fields: {}, oauth_clients: {} },
    ...more,
  }
  await store.documents.commit([{ op: 'put', kind: 'developer', id, body, ifRevision: 0 }], undefined)
  return id
}

/**
 * The contradictions between developers, keys and OAuth clients of a store: no key without its developer, no developer pointing at a
 * missing key or client, subscriptions that agree with the keys, nothing filed about deleted keys.
 */
export async function flawsOf(store: Store): Promise<string[]> {
  const flaws: string[] = []
  const developers = new Map<string, JsonObject>()
  for await (const batch of store.documents.scan('developer'))
    for (const { id, body } of batch) developers.set(id, body)
  const sessions = new Map<string, SessionRow>()
  for (const row of await allSessions(store)) sessions.set(Buffer.from(row.hash).toString('hex'), row)
  for (const [hash, { body, policyIds }] of sessions) {
    const id = body[DEVELOPER_ID]
    if (typeof id !== 'string') continue
    const developer = developers.get(id)
    if (developer === undefined) flaws.push(`key ${hash} is of developer ${id}, who is gone`)
    else if (typeof body[ROTATED_TO] === 'string') {
      const successor = sessions.get(body[ROTATED_TO])
      if (successor?.body.rotated_from !== hash) flaws.push(`key ${hash} was rotated to one that is not there`)
      else if (String(successor.policyIds) !== String(policyIds))
        flaws.push(`key ${hash} gives ${policyIds}, its successor ${successor.policyIds}`)
    } else if (!Object.hasOwn(objectOf(developer.keys), hash)) flaws.push(`developer ${id} does not list key ${hash}`)
  }
  for (const [id, body] of developers) {
    const given = new Map<string, Set<string>>()
    for (const [hash, policies] of Object.entries(objectOf(body.keys))) {
      const row = sessions.get(hash)
      if (row?.body[DEVELOPER_ID] !== id) flaws.push(`developer ${id} lists key ${hash}, which is not there`)
      else if (JSON.stringify(row.policyIds) !== JSON.stringify(policies))
        flaws.push(`developer ${id} lists ${policies} for key ${hash}, which gives ${row.policyIds}`)
      for (const policy of policies as string[]) given.set(policy, (given.get(policy) ?? new Set()).add(hash))
    }
    const subscribed = Object.entries(objectOf(body.subscriptions))
    for (const [policy, hash] of subscribed)
      if (!given.get(policy)?.has(String(hash)))
        flaws.push(`developer ${id}: the subscription to ${policy} is not given`)
    if (subscribed.length !== given.size) flaws.push(`developer ${id}: a policy has no subscription`)
    flaws.push(...(await appFlaws(store, id, body)))
  }
  for await (const batch of store.documents.scan('oauth_client'))
    for (const { body } of batch) {
      const developer = typeof body[DEVELOPER_ID] === 'string' ? body[DEVELOPER_ID] : undefined
      if (developer !== undefined && !listedApps(developers.get(developer)).includes(String(body.client_id)))
        flaws.push(`client ${body.client_id} is not listed by its developer`)
    }
  for await (const batch of store.documents.scan('key_end'))
    for (const { body } of batch) if (!sessions.has(String(body.key_hash))) flaws.push('an end is filed of no key')
  for await (const batch of store.documents.scan('key_request'))
    for (const { id, body } of batch)
      if (!developers.has(String(body.by_user))) flaws.push(`request ${id} is of a developer who is gone`)
  return flaws
}

/** Organisations whose count of developers is not their number. */
export async function countFlaws(store: Store): Promise<string[]> {
  const flaws: string[] = []
  for await (const batch of store.documents.scan('organisation'))
    for (const { id, body } of batch) {
      const { total } = await store.documents.list('developer', { where: { org_id: id }, limit: 1 })
      if ((body.developer_count ?? 0) !== total)
        flaws.push(`${id} counts ${body.developer_count} developers of ${total}`)
    }
  return flaws
}

async function appFlaws(store: Store, id: string, body: JsonObject): Promise<string[]> {
  const flaws: string[] = []
  for (const [policy, apps] of Object.entries(objectOf(body.oauth_clients))) {
    for (const app of apps as JsonObject[]) {
      const client = await store.documents.find('oauth_client', 'client_id', String(app.client_id))
      if (client?.body[DEVELOPER_ID] !== id)
        flaws.push(`developer ${id} lists client ${app.client_id}, which is not there`)
      else if (client.body.registered_by_policy !== policy) flaws.push(`client ${app.client_id} stands under ${policy}`)
    }
  }
  return flaws
}

function listedApps(body: JsonObject | undefined): string[] {
  return Object.values(objectOf(body?.oauth_clients)).flatMap((apps) =>
    (apps as JsonObject[]).map((app) => String(app.client_id)),
  )
}

async function allSessions(store: Store): Promise<SessionRow[]> {
  const rows: SessionRow[] = []
  let after: string | undefined
  do {
    const page = await store.tokens.listSessions({ limit: 1000, ...(after !== undefined && { after }) })
    rows.push(...page.rows)
    after = page.next
  } while (after !== undefined)
  return rows
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** All developers, keys, clients and requests, as text that is equal when nothing of them has changed. */
export async function standing(store: Store): Promise<string> {
  const documents: [string, number][] = []
  for (const kind of ['developer', 'oauth_client', 'key_end', 'key_request', 'policy'])
    for await (const batch of store.documents.scan(kind))
      for (const { id, revision } of batch) documents.push([`${kind} ${id}`, revision])
  return JSON.stringify([documents, await allSessions(store)])
}

/** Nothing is wrong between developers, keys and clients. */
export async function assertSound(store: Store): Promise<void> {
  assert.deepEqual(await flawsOf(store), [])
}
