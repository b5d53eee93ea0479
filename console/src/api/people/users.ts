import { call, type Envelope } from '../calls/call.ts'

/** Rights by permission key, as the dashboard stores them. */
export type Rights = Readonly<Record<string, string>>

/** A user of the dashboard. */
export interface User {
  readonly id: string
  readonly org_id: string
  readonly first_name: string
  readonly last_name: string
  readonly email_address: string
  readonly active: boolean
  /** '' where the caller may not see it. */
  readonly access_key: string
  readonly group_id: string
  readonly group_name: string
  readonly user_permissions: Rights
  readonly password_max_days: number
  readonly password_updated: string
  readonly created_at: string
  readonly last_login_date: string
}

/** The editable fields of a user. */
export type UserEdit = Partial<
  Pick<
    User,
    'first_name' | 'last_name' | 'email_address' | 'active' | 'group_id' | 'user_permissions' | 'password_max_days'
  >
>

export interface UserPage {
  readonly users: readonly User[]
  readonly pages: number
}

export const USERS_KEY = ['users'] as const

interface UserQuery {
  readonly q: string
  readonly page: number
}

/** A page of users; `q` is a part of the address. */
export function listUsers({ q, page }: UserQuery, signal: AbortSignal): Promise<UserPage> {
  if (q === '') return call('GET', '/api/users', { query: { p: page }, signal })
  return call('POST', '/api/users/search', { query: { p: page }, body: { filters: { query: q } }, signal })
}

/** A page of the members of a group. */
export function listMembers(groupId: string, page: number, signal: AbortSignal): Promise<UserPage> {
  return call('GET', '/api/users', { query: { p: page, group_id: groupId }, signal })
}

export function readUser(id: string, signal?: AbortSignal): Promise<User> {
  return call('GET', `/api/users/${encodeURIComponent(id)}`, { ...(signal && { signal }) })
}

/** Makes a user. Answers its id. */
export async function createUser(user: UserEdit & { readonly password?: string }): Promise<string> {
  return (await call<Envelope<string>>('POST', '/api/users', { body: user })).Meta
}

export function changeUser(id: string, edit: UserEdit): Promise<Envelope> {
  return call('PUT', `/api/users/${encodeURIComponent(id)}`, { body: edit })
}

export function deleteUser(id: string): Promise<Envelope> {
  return call('DELETE', `/api/users/${encodeURIComponent(id)}`)
}

/** Gives the user another API credential; the one before is dead at once. */
export function renewCredential(id: string): Promise<Envelope> {
  return call('PUT', `/api/users/${encodeURIComponent(id)}/actions/key/reset`)
}

/** Sets the password of another user, who is signed out everywhere. */
export function setPassword(id: string, password: string): Promise<Envelope> {
  return call('POST', `/api/users/${encodeURIComponent(id)}/actions/reset`, { body: { new_password: password } })
}

export const CUSTOM_PERMISSIONS_KEY = ['custom-permissions'] as const

/** Custom permissions of the organisation, key to label. Administrators alone may read them. */
export async function readCustomPermissions(signal: AbortSignal): Promise<Rights> {
  const answer = await call<{ additional_permissions: Rights }>('GET', '/api/org/permissions', { signal })
  return answer.additional_permissions
}

export function saveCustomPermissions(names: Rights): Promise<Envelope> {
  return call('PUT', '/api/org/permissions', { body: { additional_permissions: names } })
}
