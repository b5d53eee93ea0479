import { call, type Envelope } from '../calls/call.ts'
import type { PolicyFields } from '../calls/record-fields.ts'
import { AS_WRITTEN, type Limits, type Rights } from './keys.ts'

export const POLICY_STATES = ['active', 'draft', 'deny'] as const
export type PolicyState = (typeof POLICY_STATES)[number]

/** Which parts of a session a policy decides; none or all three = it decides everything. */
export interface Partitions {
  readonly quota: boolean
  readonly rate_limit: boolean
  readonly acl: boolean
  readonly complexity: boolean
  readonly per_api: boolean
}

/** A policy. Members that the console does not know stay as they are. */
export interface Policy extends Limits, Omit<PolicyFields, keyof Limits> {
  readonly _id: string
  readonly id: string
  readonly name: string
  readonly state: PolicyState
  readonly active: boolean
  readonly is_inactive: boolean
  readonly partitions: Partitions
  readonly access_rights: Rights
  readonly tags: readonly string[]
  readonly date_created: string
  readonly last_updated: string
  readonly [member: string]: unknown
}

export interface PolicyQuery {
  readonly p: string
  readonly q: string
  readonly state: string
  readonly api_id: string
  readonly sort: string
  readonly page_size?: string
}

export const POLICIES_KEY = ['policies'] as const
const PATH = '/api/portal/policies'
const at = (id: string) => `${PATH}/${encodeURIComponent(id)}`

/** A page of policies. @throws CallError */
export function listPolicies(
  query: PolicyQuery,
  signal: AbortSignal,
): Promise<{ readonly Data: readonly Policy[]; readonly Pages: number; readonly total?: number }> {
  return call('GET', `${PATH}/search`, { query: { ...query }, signal })
}

/** @throws CallError 404, 401 when its APIs are others' */
export function readPolicy(id: string, signal?: AbortSignal): Promise<Policy> {
  return call('GET', at(id), signal ? { signal } : {})
}

/** Makes a policy and answers its id. @throws CallError 400, 409 for a name that is taken */
export async function createPolicy(policy: Partial<Policy>): Promise<string> {
  return (await call<Envelope>('POST', PATH, { query: AS_WRITTEN, body: policy })).Message
}

/** Replaces a policy; every key that has it follows at once. @throws CallError */
export function savePolicy(id: string, policy: Partial<Policy>): Promise<unknown> {
  return call('PUT', at(id), { query: AS_WRITTEN, body: policy })
}

/** @throws CallError 404 */
export function deletePolicy(id: string): Promise<unknown> {
  return call('DELETE', at(id))
}
