import { hash } from 'node:crypto'
import type { Json, JsonObject } from '../json/json.ts'
import { policyApisOf } from '../policies/policy-body.ts'
import type { DocumentId } from './ids.ts'

/** The kind of document that says who owned an API, or which APIs a policy was for, before it was deleted. */
export const TOMBSTONE = 'tombstone'

/**
 * The nouns whose ownership decides about others (`api`, `policy`), those of ids that callers choose for the whole installation, and
 * organisations.
 */
export type TombstoneNoun =
  | 'api'
  | 'policy'
  | 'api_id'
  | 'policy_id'
  | 'asset_id'
  | 'profile_id'
  | 'client_id'
  | 'hook'
  | 'organisation'

/** A note about something deleted: with ownership on, the owners of an API or the APIs of a policy still own what is based on it. */
export type Tombstone = {
  readonly org_id: string
  readonly noun: TombstoneNoun
  /** `api_id`, or the `id` of a policy; of other nouns the id that is kept. */
  readonly named: string
  /** Who deleted it, as in the audit log; absent in notes of older versions. */
  readonly by?: string
  /** When, Unix milliseconds; absent in notes of older versions. */
  readonly at?: number
  /** Of a policy: the other id that it was found by. */
  readonly storage_id?: string
  /** Of an API, as it was stored. */
  readonly user_owners?: Json
  readonly user_group_owners?: Json
  readonly ownerless?: Json
  /** Of a policy: the APIs that it named. */
  readonly api_ids?: readonly string[]
}

const OWNER_MEMBERS = ['user_owners', 'user_group_owners', 'ownerless'] as const

/** The storage id of what is remembered: one for each id in an organisation. */
export function tombstoneId(noun: TombstoneNoun, orgId: string, named: string): DocumentId {
  return hash('sha256', JSON.stringify([noun, orgId, named]), 'hex').slice(0, 24) as DocumentId
}

/** The tombstone of an API or policy, from its stored body. */
export function tombstoneOf(noun: TombstoneNoun, storageId: string, body: JsonObject): Tombstone {
  const orgId = textOf(body.org_id)
  if (noun === 'policy')
    return { org_id: orgId, noun, named: textOf(body.id), storage_id: storageId, api_ids: policyApisOf(body) }
  const owners = OWNER_MEMBERS.filter((name) => body[name] !== undefined).map((name) => [name, body[name]!] as const)
  return { org_id: orgId, noun, named: textOf(body.api_id), ...Object.fromEntries(owners) }
}

/** The stored form. */
export function tombstoneBody(tombstone: Tombstone): JsonObject {
  return tombstone as unknown as JsonObject
}

/** The tombstone that a stored body holds; undefined for one of another noun. */
export function readTombstone(noun: TombstoneNoun, body: JsonObject): Tombstone | undefined {
  return body.noun === noun ? (body as unknown as Tombstone) : undefined
}

const textOf = (value: Json | undefined) => (typeof value === 'string' ? value : '')
