import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { invalid } from './developer-fields.ts'
import { appsOf, keysOf, withApp, withKey } from './holdings.ts'

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
