import { fault, toFault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { isAdmin, type Permissions } from '../../model/people/permission.ts'
import type { StoredUser } from '../../model/people/user.ts'
import { loginFamily } from '../../model/people/user-security.ts'
import { accessKeyOf } from '../../publish/people/credential.ts'
import { findUserById, newUser, type UserEdit, updateUser } from '../../publish/people/users.ts'
import { newUserPassword, sharingPassword } from '../../publish/sign-in/passwords.ts'
import type { Change } from '../../store/ports/ports.ts'
import { INSTALLATION } from '../access/actor.ts'
import { type Answer, bare, ok, refused } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { type GivenUser, givenUser, withoutReset } from './sent-user.ts'
import { AdminUserBody, AdminUserEditBody, UserDoneShape, UserShape } from './shapes.ts'
import { customPermissions, PeopleView } from './view.ts'

const INVALID = 'User object validation failed.'
const MOST_FORMER = 24
/** Accounts of one person that get a new password together. */
const MOST_SAME = 100

/** Users of any organisation or of none, for operators: `/admin/users`. */
export function adminUserRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/admin/users',
      access: 'installation',
      summary: 'Create a user; without permissions it is an administrator, without an organisation it sees all of them',
      body: AdminUserBody,
      invalid: INVALID,
      answers: { 200: UserDoneShape },
      run: (call) => worded(() => create(parts, call)),
    },
    {
      method: 'GET',
      path: '/admin/users/{id}',
      access: 'installation',
      summary: 'Read a user with its API credential',
      answers: { 200: UserShape },
      async run(call) {
        const user = await findUserById(parts, call.param('id'))
        return user === undefined
          ? refused(404, 'Could not retrieve user detail')
          : bare(await new PeopleView(parts, undefined).user(user))
      },
    },
    {
      method: 'PUT',
      path: '/admin/users/{id}',
      access: 'installation',
      summary: 'Update a user or its password; omitted fields and the API credential are kept',
      body: AdminUserEditBody,
      invalid: INVALID,
      answers: { 200: UserDoneShape },
      async run(call) {
        const user = await findUserById(parts, call.param('id'))
        if (user === undefined) return refused(404, 'User not found')
        return worded(() => change(parts, call, user))
      },
    },
    resetRight(parts, 'allow_reset_passwords', 'Grant a user the right to set the passwords of others', (own) => ({
      ...(isAdmin(own) ? { ...own, IsAdmin: 'admin' } : own),
      ResetPassword: 'admin',
    })),
    resetRight(parts, 'disallow_reset_passwords', 'Revoke the right to set the passwords of others', (own) => {
      const left = withoutReset(own)
      // Nothing left would mean everything.
      return Object.keys(left).length === 0 && !isAdmin(own) ? { IsAdmin: 'false' } : left
    }),
  ]
}

function resetRight(
  parts: DashboardParts,
  action: string,
  summary: string,
  edit: (own: Permissions) => Permissions,
): Route {
  return {
    method: 'PUT',
    path: `/admin/users/{id}/actions/${action}`,
    access: 'installation',
    summary,
    answers: { 200: UserDoneShape },
    async run(call) {
      const user = await findUserById(parts, call.param('id'))
      if (user === undefined) return refused(404, 'User not found')
      const user_permissions = edit(user.user_permissions)
      const saved = await updateUser(parts, user, { user_permissions }, { ...RULES, action: `user.${action}` })
      return ok('User updated', await new PeopleView(parts, undefined).user(saved.user))
    },
  }
}

const RULES = { actor: INSTALLATION, action: 'user.update', mayLeaveNoAdmin: true, sharedEmail: true } as const

async function create(parts: DashboardParts, call: Call): Promise<Answer> {
  const body = call.object()
  const given = givenUser(body, await customPermissions(parts, orgIdOf(body)))
  const shared = parts.config.dashboard.enable_multi_org_users
  if (given.email === undefined) return refused(400, INVALID)
  const draft = {
    orgId: orgIdOf(body),
    email: given.email,
    firstName: given.firstName ?? '',
    lastName: given.lastName ?? '',
    active: given.active ?? true,
    groupId: given.groupId ?? '',
    permissions: given.permissions ?? {},
    password: given.password ?? '',
    imported: true,
    passwordMaxDays: given.passwordMaxDays ?? 0,
    sharedEmail: shared,
    samePerson: shared,
  }
  const { user, accessKey } = await newUser(parts, draft, INSTALLATION)
  return ok(accessKey, await new PeopleView(parts, undefined).user(user))
}

const orgIdOf = ({ org_id: orgId }: JsonObject): string => (typeof orgId === 'string' ? orgId : '')

async function change(parts: DashboardParts, call: Call, user: StoredUser): Promise<Answer> {
  const body = call.object()
  if (typeof body.org_id === 'string' && body.org_id !== user.org_id)
    throw fault(
      'user_invalid',
      'org_id: a user stays in its organisation; create one in the other organisation instead',
    )
  const given = givenUser(body, await customPermissions(parts, user.org_id, user.user_permissions))
  const password = await passwordEdit(parts, user, given.password)
  const saved = await updateUser(
    parts,
    user,
    { ...editOf(given), ...password.edit },
    { ...RULES, sharedEmail: parts.config.dashboard.enable_multi_org_users, also: password.changes },
  )
  return ok(accessKeyOf(parts, saved.user), await new PeopleView(parts, undefined).user(saved.user))
}

function editOf(given: GivenUser): UserEdit {
  return {
    ...(given.email !== undefined && { email_address: given.email }),
    ...(given.firstName !== undefined && { first_name: given.firstName }),
    ...(given.lastName !== undefined && { last_name: given.lastName }),
    ...(given.active !== undefined && { active: given.active }),
    ...(given.groupId !== undefined && { group_id: given.groupId }),
    ...(given.passwordMaxDays !== undefined && { password_max_days: given.passwordMaxDays }),
    ...(given.permissions !== undefined && { user_permissions: given.permissions }),
  }
}

/** A new password goes to the accounts in other organisations that had the same one, and signs them out everywhere. */
async function passwordEdit(
  parts: DashboardParts,
  user: StoredUser,
  password: string | undefined,
): Promise<{ edit: UserEdit; changes: Change[] }> {
  const isKept = password === undefined || password === '' || password === user.password_hash
  if (isKept) return { edit: {}, changes: [] }
  const fresh = (await newUserPassword(parts, password, { imported: true })) as Pick<
    StoredUser,
    'password_hash' | 'password_updated'
  >
  const stored = await parts.documents.get('user', user.id)
  const others = stored === undefined ? [] : await sharingPassword(parts, stored, MOST_SAME)
  const former = user.password_hash === '' ? [] : [user.password_hash]
  const PWHistory = [...former, ...user.PWHistory].slice(0, MOST_FORMER)
  const changes = others.flatMap(({ id, revision, body }): Change[] => [
    { op: 'put', kind: 'user', id, body: { ...body, ...fresh, PWHistory }, ifRevision: revision },
    { op: 'endFamily', family: loginFamily(id) },
  ])
  return { edit: { ...fresh, PWHistory }, changes }
}

/** This part of the API says it without the full stop. */
async function worded(run: () => Promise<Answer>): Promise<Answer> {
  try {
    return await run()
  } catch (error) {
    if (toFault(error).code === 'email_taken') return refused(403, 'User email already exists for this Org')
    throw error
  }
}
