import { fault } from '../../errors/fault.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { type Permissions, permissionFlaw, readPermissions } from '../../model/people/permission.ts'
import { toEmail } from '../../model/people/user.ts'

const LONGEST = 256
const MOST_PERMISSIONS = 300

/** The user in a body; absent members are undefined, and so are those that cannot be sent. */
export interface GivenUser {
  readonly email: string | undefined
  readonly firstName: string | undefined
  readonly lastName: string | undefined
  readonly active: boolean | undefined
  readonly groupId: string | undefined
  readonly permissions: Permissions | undefined
  readonly passwordMaxDays: number | undefined
  readonly password: string | undefined
}

/** Reads a user from the wire. `custom`: the permissions that the organisation added. @throws Fault `user_invalid` (400) naming the member */
export function givenUser(body: JsonObject, custom: ReadonlySet<string>): GivenUser {
  return {
    email: givenEmail(body.email_address),
    firstName: givenName(body.first_name, 'first_name'),
    lastName: givenName(body.last_name, 'last_name'),
    active: typeof body.active === 'boolean' ? body.active : undefined,
    groupId: typeof body.group_id === 'string' ? body.group_id : undefined,
    permissions: givenPermissions(body.user_permissions, custom),
    passwordMaxDays: typeof body.password_max_days === 'number' ? body.password_max_days : undefined,
    password: typeof body.password === 'string' ? body.password : undefined,
  }
}

/**
 * Rights as they are stored; undefined where none were sent. An object in which nothing is a right stays one that grants nothing:
 * an empty one would make an administrator. @throws Fault `user_invalid` (400)
 */
export function givenPermissions(sent: unknown, custom: ReadonlySet<string>): Permissions | undefined {
  if (!isObject(sent)) return undefined
  const names = Object.keys(sent)
  if (names.length > MOST_PERMISSIONS || names.some((name) => name.length > LONGEST))
    throw fault('user_invalid', `user_permissions: at most ${MOST_PERMISSIONS} of at most ${LONGEST} characters`)
  for (const [name, value] of Object.entries(sent)) {
    const flaw = permissionFlaw(name, value, custom)
    if (flaw !== undefined) throw fault('user_invalid', `user_permissions.${name} ${flaw}`)
  }
  const read = readPermissions(sent)
  return names.length > 0 && Object.keys(read).length === 0 ? { IsAdmin: 'false' } : read
}

/** Rights without the one that only the admin API gives and takes. */
export function withoutReset({ ResetPassword: _mark, ...rest }: Permissions): Permissions {
  return rest
}

/** A line of text that a person may be called by. @throws Fault `user_invalid` (400) naming the member */
function givenName(sent: unknown, member: string): string | undefined {
  if (typeof sent !== 'string') return undefined
  if (sent.length > LONGEST || /[\x00-\x1f\x7f]/.test(sent))
    throw fault('user_invalid', `${member}: at most ${LONGEST} characters, and no control characters`)
  return sent
}

function givenEmail(sent: unknown): string | undefined {
  if (sent === undefined || sent === null) return undefined
  const email = toEmail(sent)
  if (email === undefined) throw fault('user_invalid', 'email_address: must be an email address')
  return email
}
