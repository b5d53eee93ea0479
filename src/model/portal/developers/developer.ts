import { isObject, type JsonObject } from '../../json/json.ts'
import type { ScalarValues } from '../../json/scalar-fields.ts'
import type { DEVELOPER_FIELDS } from './developer-fields.ts'

/** An OAuth client of a developer, as the developer's record shows it. The secret is not in it. */
export interface DeveloperApp {
  readonly client_id: string
  readonly client_name?: string
  readonly redirect_uri: string
  readonly app_description: string
  readonly use_case: string
  readonly date_created: string
}

/** The stored form of a developer of the portal; unknown members are kept. */
export interface Developer extends ScalarValues<typeof DEVELOPER_FIELDS> {
  readonly org_id: string
  /** As it was written; letter case does not tell two developers apart. */
  readonly email: string
  /** argon2id or an imported hash; '' = none: the developer enters by single sign-on or by a reset. Never shown. */
  readonly password: string
  readonly date_created: string
  /** Hash of a key to the ids of its policies. */
  readonly keys: Readonly<Record<string, readonly string[]>>
  /** Policy id to the hash of the key that gives it. */
  readonly subscriptions: Readonly<Record<string, string>>
  /** API id to key hash, of old. */
  readonly api_keys: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, string>>
  /** Policy id to the OAuth clients that were made through it. */
  readonly oauth_clients: Readonly<Record<string, readonly DeveloperApp[]>>
  readonly password_updated: string
  /** Hashes of former passwords, newest first. Never shown. */
  readonly PWHistory: readonly string[]
  readonly last_login_date: string
}

/** Session member (ours, never written from outside) that names the developer whose key or client it is. */
export const DEVELOPER_ID = 'developer_id'

/** Hashes of the keys of a developer's body. */
export function keyHashesOf(body: JsonObject): readonly string[] {
  return isObject(body.keys) ? Object.keys(body.keys) : []
}

/** Ids of the policies that a developer's body holds, by key or OAuth app. */
export function policyIdsOfDeveloper(body: JsonObject): readonly string[] {
  const ids = new Set<string>()
  for (const name of ['subscriptions', 'oauth_clients'] as const) {
    const held = body[name]
    if (isObject(held)) for (const id of Object.keys(held)) ids.add(id)
  }
  return [...ids]
}

/** The family of all portal sessions of a developer, so that one change ends them. */
export function portalFamily(developerId: string): string {
  return `portal:${developerId}`
}
