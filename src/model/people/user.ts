import type { DocumentId } from '../documents/ids.ts'
import type { JsonObject } from '../json/json.ts'
import { normaliseText } from '../text/fold.ts'
import { isAdmin, type Permissions } from './permission.ts'

/**
 * The stored form of a dashboard user, except user-security.ts. Nothing of it is sent by default: `userShape` says what
 * is shown.
 */
export interface User {
  /** '' = unbounded: belongs to no organisation and sees all of them. */
  readonly org_id: string
  readonly first_name: string
  readonly last_name: string
  /** Lower case. */
  readonly email_address: string
  readonly active: boolean
  /** '' = in no group. */
  readonly group_id: string
  /** The user's own; a group's take their place. */
  readonly user_permissions: Permissions
  /** Days after which the password must be changed; 0 = by the setting. */
  readonly password_max_days: number
  /** RFC 3339; `NEVER` where there is no password yet. */
  readonly password_updated: string
  readonly created_at: string
  readonly last_login_date: string
  /** argon2id; '' = none yet. */
  readonly password_hash: string
  /** Hashes of earlier passwords, the last one first. */
  readonly PWHistory: readonly string[]
  /** HMAC of the API credential, hex; '' = revoked. */
  readonly access_hmac: string
  /** The API credential, sealed, base64; '' = revoked. */
  readonly access_sealed: string
  /** The credential before a renewal that let it overlap: its HMAC, and until when it is good, Unix milliseconds. */
  readonly access_before?: { readonly hmac: string; readonly until: number } | null
}

export interface StoredUser extends User {
  readonly id: DocumentId
  readonly revision: number
}

/** How dates are written that never came. */
export const NEVER = '0001-01-01T00:00:00Z'

const LONGEST_EMAIL = 254
const EMAIL = /^[^\s@<>(),;:"[\]\\\x00-\x1f\x7f]+@[^\s@<>(),;:"[\]\\\x00-\x1f\x7f]+$/

/** An email address as it is stored and compared: lower case. Undefined for what is none. */
export function toEmail(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const email = normaliseText(text.trim()).toLowerCase()
  return email.length <= LONGEST_EMAIL && EMAIL.test(email) ? email : undefined
}

/** Defaults of absent members. None of them admits a user. */
const BLANK: User = {
  org_id: '',
  first_name: '',
  last_name: '',
  email_address: '',
  active: false,
  group_id: '',
  user_permissions: { IsAdmin: 'false' },
  password_max_days: 0,
  password_updated: NEVER,
  created_at: NEVER,
  last_login_date: NEVER,
  password_hash: '',
  PWHistory: [],
  access_hmac: '',
  access_sealed: '',
}

/** The user in a document of kind `user`. */
export function userOf({
  id,
  revision,
  body,
}: {
  readonly id: DocumentId
  readonly revision: number
  readonly body: JsonObject
}): StoredUser {
  return { ...BLANK, ...(body as Partial<User>), id, revision }
}

/** True for a user who administers the organisation it belongs to. Members of a group never do. */
export function administers(user: Pick<User, 'org_id' | 'active' | 'group_id' | 'user_permissions'>): boolean {
  return user.org_id !== '' && user.active && user.group_id === '' && isAdmin(user.user_permissions)
}

/** A user as callers see it, in the order that they know. `accessKey` is '' where it is not to be seen. */
export function userShape(
  user: StoredUser,
  seen: { readonly accessKey: string; readonly groupName: string; readonly permissions: Permissions },
): JsonObject {
  return {
    id: user.id,
    org_id: user.org_id,
    first_name: user.first_name,
    last_name: user.last_name,
    email_address: user.email_address,
    active: user.active,
    access_key: seen.accessKey,
    group_id: user.group_id,
    group_name: seen.groupName,
    user_permissions: { ...seen.permissions },
    password_max_days: user.password_max_days,
    password_updated: user.password_updated,
    PWHistory: [],
    created_at: user.created_at,
    last_login_date: user.last_login_date,
    api_model: {},
  }
}
