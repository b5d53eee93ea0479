import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { invalid } from './developer-fields.ts'

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

const MOST_POLICIES = 100
const LONGEST_ID = 256
const LONGEST_TEXT = 4096
/** The descriptive members of an OAuth app. */
const SAID = ['client_name', 'app_description', 'use_case'] as const

/** Hashes of keys that a record names and the developer does not have. @throws Fault `developer_invalid` (400) */
export function keysWithoutHolder(body: JsonObject, sent: Json | undefined): string[] {
  const held = keysOf(body)
  return Object.keys(objectOf(sent, 'keys')).filter((hash) => !held.has(hash))
}

/** The lists of policies in `sent` that differ from those that the developer's keys are listed under. @throws Fault `developer_invalid` (400) */
export function changedKeyPolicies(body: JsonObject, sent: Json | undefined): (readonly [string, readonly string[]])[] {
  const held = keysOf(body)
  return Object.entries(objectOf(sent, 'keys'))
    .filter(([hash, label]) => held.has(hash) && label !== null)
    .map(([hash, label]) => [hash, readKeyPolicies(label)] as const)
    .filter(([hash, label]) => {
      const before = held.get(hash)!
      return label.length !== before.length || !before.every((id) => label.includes(id))
    })
}

/**
 * A developer whose keys are listed under the policies that `sent` names for them; keys that it does not name stay as they are. None
 * is made or revoked this way. @throws Fault `developer_invalid` (400)
 */
export function withKeyPolicies(body: JsonObject, sent: Json | undefined): JsonObject {
  const held = keysOf(body)
  return Object.entries(objectOf(sent, 'keys'))
    .filter(([hash, label]) => held.has(hash) && label !== null)
    .reduce((labelled, [hash, label]) => withKey(labelled, hash, readKeyPolicies(label)), body)
}

/** The keys of a developer that `sent` leaves out, by hash: they stay. None where it says nothing of keys. */
export function unlistedKeys(body: JsonObject, sent: Json | undefined): string[] {
  if (!isObject(sent ?? null)) return []
  const listed = new Map(Object.entries(sent as JsonObject).filter(([, label]) => label !== null))
  return [...keysOf(body).keys()].filter((hash) => !listed.has(hash))
}

/** A developer, and the OAuth apps that a list leaves out. */
export interface AppsListed {
  readonly body: JsonObject
  /** Client ids. */
  readonly unlisted: readonly string[]
}

/**
 * A developer with the changes of its OAuth apps in `sent`; undefined or null = unchanged. No app is created or deleted this way: each
 * has a separate call for it. @throws Fault `developer_invalid` (400)
 */
export function withAppsListed(body: JsonObject, sent: Json | undefined): AppsListed {
  if (sent === undefined || sent === null) return { body, unlisted: [] }
  const listed = appsOf({ oauth_clients: objectOf(sent, 'oauth_clients') })
  const unlisted: string[] = []
  let edited = body
  for (const [policy, apps] of appsOf(body)) {
    for (const app of apps) {
      const clientId = String(app.client_id)
      const said = listed.get(policy)?.find((one) => one.client_id === clientId)
      if (said === undefined) unlisted.push(clientId)
      else edited = withApp(edited, policy, { ...app, ...readSaid(said) })
    }
  }
  return { body: edited, unlisted }
}

function readKeyPolicies(sent: Json): string[] {
  const good = (id: Json): id is string => typeof id === 'string' && id !== '' && id.length <= LONGEST_ID
  if (!Array.isArray(sent) || sent.length > MOST_POLICIES || !sent.every(good))
    throw invalid(`keys: each must name a list of at most ${MOST_POLICIES} policies`)
  return [...new Set(sent as string[])]
}

function readSaid(sent: JsonObject): JsonObject {
  const said = SAID.filter((name) => sent[name] !== undefined && sent[name] !== null)
  for (const name of said) {
    const text = sent[name]
    if (typeof text !== 'string' || text.length > LONGEST_TEXT || text.includes('\0'))
      throw invalid(`oauth_clients: ${name} must be a text of at most ${LONGEST_TEXT} characters`)
  }
  return Object.fromEntries(said.map((name) => [name, sent[name]!]))
}

function objectOf(value: Json | undefined, name: string): JsonObject {
  if (value === undefined || value === null) return {}
  if (!isObject(value)) throw invalid(`${name}: must be an object`)
  return value
}
