import { isObject, type Json, type JsonObject } from '../../json/json.ts'

// The holdings of a developer: keys by their hashes, subscriptions by policy, OAuth apps by policy. A subscription points to a key
// that gives its policy, and every policy of a key has one.

/** The keys of a developer's body, by hash, with the ids of their policies. */
export function keysOf(body: JsonObject): Map<string, readonly string[]> {
  return new Map(entriesOf(body.keys).map(([keyHash, policies]) => [keyHash, textsOf(policies)]))
}

/** The subscriptions of a developer's body: policy id to the hash of the key that gives it. */
export function subscriptionsOf(body: JsonObject): Map<string, string> {
  return new Map(
    entriesOf(body.subscriptions).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** The OAuth apps of a developer's body, by the policy that they were made through. */
export function appsOf(body: JsonObject): Map<string, readonly JsonObject[]> {
  return new Map(
    entriesOf(body.oauth_clients).map(([policyId, apps]) => [
      policyId,
      Array.isArray(apps) ? apps.filter(isObject) : [],
    ]),
  )
}

/** Client ids of all OAuth apps of a developer's body. */
export function appIdsOf(body: JsonObject): string[] {
  const apps = [...appsOf(body).values()].flat()
  return apps.map(({ client_id: id }) => id).filter((id) => typeof id === 'string')
}

/** The body once a key, new or not, gives these policies. */
export function withKey(body: JsonObject, keyHash: string, policies: readonly string[]): JsonObject {
  return withKeys(body, keysOf(body).set(keyHash, policies))
}

/** The body without a key; subscriptions that another key gives as well point to that one. */
export function withoutKey(body: JsonObject, keyHash: string): JsonObject {
  const keys = keysOf(body)
  keys.delete(keyHash)
  return withKeys(body, keys)
}

/** The body with one key replaced by another. */
export function withRotatedKey(body: JsonObject, from: string, to: string): JsonObject {
  const renamed = (keyHash: string) => (keyHash === from ? to : keyHash)
  const keys = [...keysOf(body)].map(([keyHash, policies]) => [renamed(keyHash), policies] as const)
  const pointers = (map: Iterable<[string, string]>) =>
    Object.fromEntries([...map].map(([name, keyHash]) => [name, renamed(keyHash)]))
  const subscriptions = pointers(subscriptionsOf(body))
  return withKeys({ ...body, subscriptions, ...apiKeys(body, (keyHash) => renamed(keyHash)) }, new Map(keys))
}

/** The body without a policy: no key gives it, no app was made through it. Keys that gave nothing else stay, with an empty list. */
export function withoutPolicy(body: JsonObject, policyId: string): JsonObject {
  const keys = [...keysOf(body)].map(([keyHash, ids]) => [keyHash, ids.filter((id) => id !== policyId)] as const)
  const apps = appsOf(body)
  apps.delete(policyId)
  return withKeys({ ...body, oauth_clients: fromMap(apps) }, new Map(keys))
}

/** The body with an OAuth app created through a policy; one of the same id is replaced, in any position. */
export function withApp(body: JsonObject, policyId: string, app: JsonObject): JsonObject {
  const before = appsOf(body)
  const at = before.get(policyId)?.findIndex(({ client_id: id }) => id === app.client_id) ?? -1
  if (at >= 0) {
    const apps = before.get(policyId)!.with(at, app)
    return { ...body, oauth_clients: fromMap(before.set(policyId, apps)) }
  }
  const others = appsOf(withoutApp(body, String(app.client_id)))
  return { ...body, oauth_clients: fromMap(others.set(policyId, [...(others.get(policyId) ?? []), app])) }
}

/** The body without an OAuth app. */
export function withoutApp(body: JsonObject, clientId: string): JsonObject {
  const rest = [...appsOf(body)]
    .map(([policyId, apps]) => [policyId, apps.filter(({ client_id: id }) => id !== clientId)] as const)
    .filter(([, apps]) => apps.length > 0)
  return { ...body, oauth_clients: fromMap(new Map(rest)) }
}

/** Subscriptions that are right stay as they are; the others follow the keys. */
function withKeys(body: JsonObject, keys: ReadonlyMap<string, readonly string[]>): JsonObject {
  const right = [...subscriptionsOf(body)].filter(([policyId, keyHash]) => keys.get(keyHash)?.includes(policyId))
  const subscriptions = new Map<string, Json>(right)
  for (const [keyHash, policies] of keys)
    for (const policyId of policies) if (!subscriptions.has(policyId)) subscriptions.set(policyId, keyHash)
  const before = keysOf(body)
  const ended = (keyHash: string) => before.has(keyHash) && !keys.has(keyHash)
  return {
    ...body,
    keys: fromMap(keys),
    subscriptions: fromMap(subscriptions),
    ...apiKeys(body, (keyHash) => (ended(keyHash) ? undefined : keyHash)),
  }
}

/** Keys by API, of old: none points to a key that has ended. */
function apiKeys(body: JsonObject, edit: (keyHash: string) => string | undefined): JsonObject {
  if (!isObject(body.api_keys)) return {}
  const kept = entriesOf(body.api_keys).flatMap(([apiId, keyHash]): [string, Json][] => {
    const after = typeof keyHash === 'string' ? edit(keyHash) : undefined
    return after === undefined ? [] : [[apiId, after]]
  })
  return { api_keys: Object.fromEntries(kept) }
}

/** Ids come from outside: `fromEntries` takes every one as a member, `__proto__` too. */
function fromMap(map: ReadonlyMap<string, Json | readonly Json[]>): JsonObject {
  return Object.fromEntries(
    [...map].map(([name, value]) => [name, Array.isArray(value) ? [...value] : value]),
  ) as JsonObject
}

function entriesOf(value: Json | undefined): [string, Json][] {
  return isObject(value) ? Object.entries(value) : []
}

function textsOf(value: Json): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
}
