import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { policyIdsOf } from '../policies/merge-policies.ts'
import { NARROWED_BY } from './scope-session.ts'
import type { Session } from './session.ts'

/** Numbers that mean something only together. */
const GROUPS = [
  ['rate', 'per'],
  ['quota_max', 'quota_renewal_rate'],
  ['throttle_interval', 'throttle_retry_limit'],
  ['post_expiry_action', 'post_expiry_grace_period'],
] as const
const GROUP_OF: ReadonlyMap<string, readonly string[]> = new Map(
  GROUPS.flatMap((names) => names.map((name) => [name, names] as const)),
)
/** Counters and notes of the product, which change while a request is under way: the stored values stay. */
const NOTES: ReadonlySet<string> = new Set(['quota_remaining', 'quota_renews', 'last_updated'])

/** How a stored session looks to a caller who reads it. */
export interface SessionReadback {
  readonly stored: JsonObject
  /** With everything applied that is in force. */
  readonly shown: JsonObject
}

/**
 * The session to store after a read, perhaps edited, was sent back. A read shows the effective session: members that come back as shown
 * were not written by the caller, and stay as they are stored. So nothing that a policy, a client or a login gave becomes the session's
 * own, and limits that several APIs share are not multiplied. Another list of policies is another session: it is taken as sent.
 */
export function sessionToStore(sent: JsonObject, { stored, shown }: SessionReadback): JsonObject {
  if (!isSame(policiesOf(sent), policiesOf(shown))) return sent
  const written = members(sent, stored, shown)
  const { access_rights: rights, meta_data: metaData } = sent
  if (rights !== undefined) put(written, 'access_rights', rightsOf(rights, { stored, shown }))
  if (metaData !== undefined) put(written, 'meta_data', metaDataOf(metaData, { stored, shown }))
  return written
}

/**
 * Each member as it was sent, or as stored where it, and what belongs to it, was sent as shown. One that is stored but is in no
 * answer, because a policy decides in its place, was not taken away by the caller: it counts again once the policy is gone.
 */
function members(sent: JsonObject, stored: JsonObject, shown: JsonObject): JsonObject {
  const isUnchanged = (name: string) =>
    NOTES.has(name) || (GROUP_OF.get(name) ?? [name]).every((each) => isSame(own(sent, each), own(shown, each)))
  const written: JsonObject = {}
  for (const [name, value] of Object.entries(sent)) put(written, name, isUnchanged(name) ? own(stored, name) : value)
  for (const [name, value] of Object.entries(stored))
    if (!Object.hasOwn(sent, name) && isUnchanged(name)) put(written, name, value)
  return written
}

function rightsOf(sent: Json, { stored, shown }: SessionReadback): Json | undefined {
  const [was, seen] = [objectAt(stored, 'access_rights'), objectAt(shown, 'access_rights')]
  if (!isObject(sent)) return isSame(sent, seen) ? own(stored, 'access_rights') : sent
  const names = Object.keys(sent)
  const isUnchanged = (apiId: string) => isSame(withoutNotes(sent[apiId]), withoutNotes(own(seen, apiId)))
  if (names.length === Object.keys(seen).length && names.every(isUnchanged)) return own(stored, 'access_rights')
  // Rights of a narrowed token narrow it further: one that was left out would be taken from it.
  const isNarrowed = isObject(stored[NARROWED_BY])
  const rights: JsonObject = {}
  for (const apiId of names) {
    const right = sent[apiId]!
    const [before, read] = [own(was, apiId), own(seen, apiId)]
    if (isUnchanged(apiId)) put(rights, apiId, isNarrowed ? (before ?? right) : before)
    else
      put(rights, apiId, isObject(right) && isObject(before) && isObject(read) ? rightOf(right, before, read) : right)
  }
  return rights
}

function rightOf(sent: JsonObject, stored: JsonObject, shown: JsonObject): JsonObject {
  const { limit } = sent
  const right = members(sent, stored, shown)
  if (limit === undefined) return right
  const [was, read] = [own(stored, 'limit'), own(shown, 'limit')]
  if (isSame(withoutNotes(limit), withoutNotes(read))) put(right, 'limit', was)
  else put(right, 'limit', isObject(limit) && isObject(read) ? members(limit, isObject(was) ? was : {}, read) : limit)
  return right
}

function metaDataOf(sent: Json, { stored, shown }: SessionReadback): Json | undefined {
  const [was, seen] = [objectAt(stored, 'meta_data'), objectAt(shown, 'meta_data')]
  if (isSame(sent, seen)) return own(stored, 'meta_data')
  if (!isObject(sent)) return sent
  const metaData: JsonObject = {}
  for (const [name, value] of Object.entries(sent))
    put(metaData, name, isDeepStrictEqual(value, own(seen, name)) ? own(was, name) : value)
  return metaData
}

/** Without counts, and without members that have no content, which some readers are shown: in a right and in its limit. */
function withoutNotes(value: Json | undefined): Json | undefined {
  if (!isObject(value)) return value
  const all = Object.entries(value).map(([name, each]) => [name, name === 'limit' ? withoutNotes(each) : each] as const)
  return Object.fromEntries(all.filter(([name, each]) => !NOTES.has(name) && !isBlank(each))) as JsonObject
}

function policiesOf(session: JsonObject): string[] {
  return policyIdsOf(session as Session)
}

/** Equal, or both without content: callers write null, '', 0, false or an empty list where nothing is, or leave it out. */
function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return (isBlank(a) && isBlank(b)) || isDeepStrictEqual(a, b)
}

function isBlank(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function objectAt(body: JsonObject, name: string): JsonObject {
  const value = own(body, name)
  return isObject(value) ? value : {}
}

/** A member of the object itself: names come from outside. */
function own(body: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined
}

/** Writes a member under any name; undefined = none. */
function put(body: JsonObject, name: string, value: Json | undefined): void {
  if (value === undefined) {
    delete body[name]
    return
  }
  Object.defineProperty(body, name, { value, enumerable: true, configurable: true, writable: true })
}
