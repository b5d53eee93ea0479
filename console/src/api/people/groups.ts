import { call, type Envelope } from '../calls/call.ts'
import type { Rights } from './users.ts'

/** A group of users, whose permissions replace those of its members. */
export interface UserGroup {
  readonly id: string
  readonly org_id: string
  readonly name: string
  readonly description: string
  readonly active: boolean
  readonly user_permissions: Rights
  readonly password_max_days: number
}

export type GroupEdit = Partial<Omit<UserGroup, 'id' | 'org_id'>>

export interface GroupPage {
  readonly groups: readonly UserGroup[]
  readonly pages: number
}

export const GROUPS_KEY = ['groups'] as const
export const ALL = -1

/** A page of groups; `ALL` for all of them. */
export function listGroups(page: number, signal: AbortSignal): Promise<GroupPage> {
  return call('GET', '/api/usergroups', { query: { p: page }, signal })
}

export function readGroup(id: string, signal?: AbortSignal): Promise<UserGroup> {
  return call('GET', `/api/usergroups/${encodeURIComponent(id)}`, { ...(signal && { signal }) })
}

/** Makes a group. Answers its id. */
export async function createGroup(group: GroupEdit): Promise<string> {
  return (await call<Envelope<string>>('POST', '/api/usergroups', { body: group })).Meta
}

export function changeGroup(id: string, edit: GroupEdit): Promise<Envelope> {
  return call('PUT', `/api/usergroups/${encodeURIComponent(id)}`, { body: edit })
}

export function deleteGroup(id: string): Promise<Envelope> {
  return call('DELETE', `/api/usergroups/${encodeURIComponent(id)}`)
}
