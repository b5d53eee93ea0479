import { call } from '../calls/call.ts'

/** Numbers of a session, at its top or at one of its APIs. Durations in seconds; 0 and absent are the same. */
export interface Limits {
  readonly rate?: number
  readonly per?: number
  readonly quota_max?: number
  readonly quota_renewal_rate?: number
  readonly quota_remaining?: number
  /** Unix seconds. */
  readonly quota_renews?: number
}

export interface AllowedUrl {
  readonly url: string
  readonly methods: readonly string[]
}

/** The access to one API. */
export interface Right {
  readonly api_id: string
  readonly api_name?: string
  readonly versions?: readonly string[]
  /** None, or an empty list: every path. */
  readonly allowed_urls?: readonly AllowedUrl[] | null
  readonly limit?: Limits | null
}

export type Rights = Readonly<Record<string, Right>>

/** The session of a key. Members that the console does not know stay unchanged. */
export interface KeySession extends Limits {
  readonly alias?: string
  readonly apply_policies?: readonly string[]
  readonly access_rights?: Rights | null
  /** Unix seconds; 0 = never. */
  readonly expires?: number
  readonly is_inactive?: boolean
  readonly tags?: readonly string[] | null
  readonly meta_data?: Readonly<Record<string, unknown>> | null
  /** Name of a basic-auth user. */
  readonly user_name?: string
  /** Id or SHA-256 of the client certificate that it is found by. */
  readonly certificate?: string
  /** It may sign requests, with this secret. */
  readonly hmac_enabled?: boolean
  readonly hmac_string?: string
  readonly [member: string]: unknown
}

export interface KeyFacts {
  readonly status: 'active' | 'inactive' | 'expired' | 'rotated'
  readonly policies: readonly string[]
  readonly date_created: string
  readonly last_used: string
  readonly developer_id: string
  readonly rotated_from: string
  readonly rotated_to: string
  readonly valid_until: string
}

export interface KeyEntry {
  /** The key itself; '' where only its hash is kept. */
  readonly key_id: string
  readonly key_hash: string
  /** With its policies applied. */
  readonly data: KeySession
  readonly facts: KeyFacts
}

export interface KeyDetails extends KeyEntry {
  /** As it is stored: what is changed. */
  readonly own: KeySession
}

export interface KeyQuery {
  readonly q: string
  readonly p: number
  readonly page_size?: string
  /** One of both at most. */
  readonly api?: string
  readonly policy?: string
}

/** A key that was made: the key is there this one time. */
export interface KeyMade {
  readonly key_id: string
  readonly key_hash: string
}

export const KEYS_KEY = ['keys'] as const
const PATH = '/api/keys'
const at = (hash: string) => `${PATH}/${encodeURIComponent(hash)}`
/** Paths are written here as they are meant, be the installation one that rewrites those of a vendor's programs. */
export const AS_WRITTEN = { paths: 'as_written' } as const
const BY_HASH = { hashed: 1 } as const

/** A page of keys. @throws CallError 404 where the settings forbid such a list */
export function listKeys(
  query: KeyQuery,
  signal: AbortSignal,
): Promise<{ readonly keys: readonly KeyEntry[]; readonly pages: number; readonly total?: number }> {
  return call('GET', `${PATH}/detailed`, { query: { ...query, facts: 1 }, signal })
}

/** @throws CallError 404 */
export function readKey(hash: string, signal?: AbortSignal): Promise<KeyDetails> {
  return call('GET', at(hash), { query: { ...BY_HASH, facts: 1 }, ...(signal && { signal }) })
}

/** A session with its policies applied, without storing it. @throws CallError 400 */
export async function previewKey(session: KeySession, signal: AbortSignal): Promise<KeySession> {
  return (await call<{ readonly data: KeySession }>('POST', `${PATH}/preview`, { body: session, signal })).data
}

/** Makes a key of the dashboard's choice, or with `key` this one. @throws CallError 400 */
export function createKey(session: KeySession, key = ''): Promise<KeyMade> {
  return call('POST', key === '' ? PATH : at(key), { query: AS_WRITTEN, body: session })
}

/** Makes a basic-auth user, or replaces one of the same name. @throws CallError 400 */
export function createBasicUser(name: string, password: string, session: KeySession): Promise<KeyMade> {
  const body = { ...session, basic_auth_data: { password } }
  return call('POST', `/api/apis/keys/basic/${encodeURIComponent(name)}`, { query: AS_WRITTEN, body })
}

/** Replaces the session of a key; the counts of its quotas stay. @throws CallError */
export function saveKey(hash: string, session: KeySession): Promise<unknown> {
  return call('PUT', at(hash), { query: { ...BY_HASH, ...AS_WRITTEN, suppress_reset: 1 }, body: session })
}

/** Ends a key and gives another with the same rights. @throws CallError 400 for a user, and for a key that was rotated before */
export function rotateKey(hash: string, overlapS: number): Promise<KeyMade & { readonly valid_until: string }> {
  return call('POST', `${at(hash)}/rotate`, { query: BY_HASH, body: { overlap_seconds: overlapS } })
}

/** Resets the quotas of a key. @throws CallError */
export function resetKeyQuota(hash: string): Promise<unknown> {
  return call('POST', `${at(hash)}/reset_quota`, { query: BY_HASH })
}

/** @throws CallError */
export function deleteKey(hash: string): Promise<unknown> {
  return call('DELETE', at(hash), { query: BY_HASH })
}
