import type { DocumentId } from '../documents/ids.ts'
import type { JsonObject } from '../json/json.ts'
import type { Permissions } from './permission.ts'

/** The stored form of a group of users. Its permissions replace those of its members. */
export interface UserGroup {
  readonly org_id: string
  readonly name: string
  readonly description: string
  /** False: its members cannot use the dashboard. */
  readonly active: boolean
  readonly user_permissions: Permissions
  readonly password_max_days: number
}

export interface StoredGroup extends UserGroup {
  readonly id: DocumentId
  readonly revision: number
}

/** The group in a document of kind `user_group`. */
export function groupOf({
  id,
  revision,
  body,
}: {
  readonly id: DocumentId
  readonly revision: number
  readonly body: UserGroup
}): StoredGroup {
  return { ...body, id, revision }
}

/** The permissions of a group: never those of an administrator, even if stored. */
export function groupPermissions({ user_permissions: own }: Pick<UserGroup, 'user_permissions'>): Permissions {
  const { IsAdmin: _admin, ResetPassword: _reset, ...rest } = own
  return Object.keys(rest).length === 0 ? NOTHING : rest
}

/** Rights that are none, in words that nobody takes for an administrator's. */
export const NOTHING: Permissions = { IsAdmin: 'false' }

/** A group as callers see it, in the order that they know. */
export function groupShape(group: StoredGroup, permissions: Permissions): JsonObject {
  return {
    id: group.id,
    org_id: group.org_id,
    name: group.name,
    description: group.description,
    active: group.active,
    user_permissions: { ...permissions },
    password_max_days: group.password_max_days,
  }
}
