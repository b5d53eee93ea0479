import { call, type Envelope } from '../calls/call.ts'
import type { DeveloperFields } from '../calls/record-fields.ts'

/** A page of a list of the portal. */
export interface Page<Row> {
  readonly Data: readonly Row[]
  readonly Pages: number
}

/** An OAuth app as its developer's record shows it. */
export interface App {
  readonly client_id: string
  readonly client_name?: string
  readonly redirect_uri: string
  readonly app_description: string
  readonly use_case: string
  readonly date_created: string
}

export interface Developer extends DeveloperFields {
  readonly id: string
  readonly email: string
  readonly date_created: string
  /** Hash of a key to its policies. */
  readonly keys: Readonly<Record<string, readonly string[]>>
  /** Policy to the hash of the key for it. */
  readonly subscriptions: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, string>>
  /** Policy to the apps that were made by it. */
  readonly oauth_clients: Readonly<Record<string, readonly App[]>>
  readonly password_updated: string
  readonly last_login_date: string
}

/** A key of a developer, without the key. */
export interface DeveloperKey {
  readonly key_id: string
  readonly policies: readonly string[]
  readonly alias: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly status: 'active' | 'inactive' | 'expired' | 'rotated'
  readonly date_created: string
  /** Unix seconds; 0 = never. */
  readonly expires: number
  readonly last_used: string
  readonly quota_max: number
  readonly quota_remaining: number
  readonly quota_renews: number
  readonly valid_until: string
}

/** A new secret, shown once: a key, or an OAuth app with its secret. */
export type Access =
  | { readonly RawKey: string; readonly Password: string; readonly warnings?: readonly string[] }
  | { readonly client_id: string; readonly secret: string; readonly policy_id: string; readonly redirect_uri: string }

/** The replacement of a key or a secret. */
export type Rotated = Access & { readonly valid_until: string }

export interface AccessWanted {
  readonly apply_policies: readonly string[]
  readonly fields?: Readonly<Record<string, string>>
  readonly client_name?: string
  readonly app_description?: string
  readonly use_case?: string
  readonly oauth_info?: { readonly redirect_uri: string }
  readonly expires_in?: number
}

export const DEVELOPERS_KEY = ['developers'] as const
const PATH = '/api/portal/developers'

const at = (id: string) => `${PATH}/${encodeURIComponent(id)}`
const keyAt = (id: string, keyId: string) => `${at(id)}/keys/${encodeURIComponent(keyId)}`
const appAt = (clientId: string) => `${PATH}/oauth/${encodeURIComponent(clientId)}`

/** A page of developers. @throws CallError */
export function listDevelopers(
  query: { readonly p: string; readonly q: string; readonly sort: string },
  signal: AbortSignal,
): Promise<Page<Developer>> {
  return call('GET', PATH, { query, signal })
}

/** @throws CallError 404 */
export function readDeveloper(id: string, signal?: AbortSignal): Promise<Developer> {
  return call('GET', at(id), signal && { signal })
}

/** Answers the id of the new developer. @throws CallError 403 for an address that is taken */
export async function createDeveloper(body: Readonly<Record<string, unknown>>): Promise<string> {
  return (await call<Envelope<null>>('POST', PATH, { body })).Message
}

/** Changes what is named; null takes a field away. @throws CallError */
export function changeDeveloper(id: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
  return call('PATCH', at(id), { body })
}

/** Ends the portal sessions too. @throws CallError 400 naming the rule that the password breaks */
export function setDeveloperPassword(id: string, password: string): Promise<unknown> {
  return call('POST', `${PATH}/password/${encodeURIComponent(id)}`, { body: { password } })
}

/** Deletes a developer with keys, apps, requests and sessions. @throws CallError */
export function deleteDeveloper(id: string): Promise<unknown> {
  return call('DELETE', at(id))
}

/** All keys of a developer; rotated ones follow their successors. @throws CallError */
export async function listDeveloperKeys(id: string, signal: AbortSignal): Promise<readonly DeveloperKey[]> {
  return (await call<Page<DeveloperKey>>('GET', `${at(id)}/keys`, { query: { p: -1 }, signal })).Data
}

/** Makes a key, or by an OAuth policy an app. @throws CallError 400 */
export function giveAccess(id: string, body: AccessWanted): Promise<Access> {
  return call('POST', `${at(id)}/keys`, { body })
}

/** @throws CallError */
export function changeKeyPolicies(id: string, keyId: string, policies: readonly string[]): Promise<unknown> {
  return call('PUT', keyAt(id, keyId), { body: { apply_policies: policies } })
}

/** @throws CallError */
export function revokeDeveloperKey(id: string, keyId: string): Promise<unknown> {
  return call('DELETE', keyAt(id, keyId))
}

/** @throws CallError */
export function resetKeyQuota(id: string, keyId: string): Promise<unknown> {
  return call('POST', `${keyAt(id, keyId)}/reset_quota`)
}

/** Replaces a key by a new one; the old one stays valid for so many seconds. @throws CallError */
export function rotateDeveloperKey(id: string, keyId: string, overlapS: number): Promise<Rotated> {
  return call('POST', `${keyAt(id, keyId)}/rotate`, { body: { overlap_seconds: overlapS } })
}

/** Changes an app; what is not sent stays. @throws CallError */
export function changeApp(clientId: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
  return call('PUT', appAt(clientId), { body })
}

/** Deletes an app; its tokens end. @throws CallError */
export function deleteApp(clientId: string): Promise<unknown> {
  return call('DELETE', appAt(clientId))
}

/** Gives an app another secret; the old one stays good for so many seconds. @throws CallError */
export function rotateApp(clientId: string, overlapS: number): Promise<Rotated> {
  return call('POST', `${appAt(clientId)}/rotate`, { body: { overlap_seconds: overlapS } })
}
