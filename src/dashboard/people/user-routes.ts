import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import { isObject } from '../../model/json/json.ts'
import { type StoredUser, userOf } from '../../model/people/user.ts'
import { NOTHING } from '../../model/people/user-group.ts'
import {
  deleteUser,
  findUserById,
  newUser,
  renewCredential,
  revokeUser,
  type UserEdit,
  updateUser,
} from '../../publish/people/users.ts'
import type { Actor } from '../access/actor.ts'
import { overlapSent, RotationBody } from '../portal/developers/access-body.ts'
import { type Answer, bare, ok, refused } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { listed } from '../routes/listed.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { checkAddress, checkGrantable, checkReach } from './check-rights.ts'
import { deletedOwner, personIn, whereFound } from './find-people.ts'
import { type GivenUser, givenUser, withoutReset } from './sent-user.ts'
import {
  CreatedShape,
  DeletedOwnerShape,
  DoneShape,
  NewUserBody,
  pageShape,
  SelfShape,
  UserEditBody,
  UserShape,
} from './shapes.ts'
import { customPermissions, PeopleView } from './view.ts'

const UNKNOWN = refused(404, 'Could not retrieve user detail.')
const NOT_CHANGEABLE = refused(400, 'user does not exist.')
const INVALID = 'User object validation failed.'
const Page = pageShape('users', UserShape, 'UserPage')
const SearchBody = Type.Object(
  {
    filters: Type.Object(
      { query: Type.String({ maxLength: 256, description: 'Part of the email address.' }) },
      { description: 'What users must match.' },
    ),
  },
  { title: 'UserSearch' },
)

/** Dashboard users: `/api/users`. Passwords are a matter of signing in. */
export function userRoutes(parts: DashboardParts): Route[] {
  const { documents } = parts
  const list = (call: Call, part: string) => {
    const view = new PeopleView(parts, call.actor)
    const group = call.query('group_id')
    const where = { ...call.visibility.whereOrg(), ...(group !== '' && { group_id: group }) }
    const query = { where, ...(part !== '' && { contains: { index: 'email', part } }) }
    return listed(documents, 'user', query, pageOf(call), { name: 'users', shape: (row) => view.user(userOf(row)) })
  }
  const paged = { p: Type.Integer() }
  const onUser = whereFound((id) => findUserById(parts, id))
  return [
    {
      method: 'GET',
      path: '/api/users',
      access: { permission: 'users' },
      summary: 'List the users of the organisation',
      query: { ...paged, group_id: Type.String({ maxLength: 256, description: 'Members of this group alone.' }) },
      answers: { 200: Page },
      run: (call) => list(call, ''),
    },
    {
      method: 'POST',
      path: '/api/users',
      access: { permission: 'users' },
      summary: 'Create a user with an API credential',
      body: NewUserBody,
      invalid: INVALID,
      answers: { 200: CreatedShape },
      run: (call) => create(parts, call),
    },
    {
      method: 'GET',
      path: '/api/users/me',
      access: 'signed-in',
      summary: 'Read the calling user',
      answers: { 200: SelfShape },
      async run(call) {
        const user = await findUserById(parts, call.actor!.userId)
        return bare(await new PeopleView(parts, call.actor).user(user ?? guest(call.actor!)))
      },
    },
    {
      method: 'GET',
      path: '/api/users/search',
      access: { permission: 'users' },
      summary: 'Search users by a part of their email address, which does not belong in a URL',
      deprecated: 'POST /api/users/search',
      query: { ...paged, q: Type.String({ maxLength: 256 }) },
      answers: { 200: Page },
      run: (call) => list(call, call.query('q')),
    },
    {
      method: 'POST',
      path: '/api/users/search',
      access: { permission: 'users', intent: 'read' },
      summary: 'Search users by a part of their email address',
      query: paged,
      body: SearchBody,
      invalid: 'Could not extract search filter from request body.',
      answers: { 200: Page },
      run(call) {
        const { filters } = call.object()
        return list(call, isObject(filters) ? String(filters.query) : '')
      },
    },
    {
      method: 'GET',
      path: '/api/users/{id}',
      access: { permission: 'users' },
      own: 'id',
      summary: 'Read a user',
      answers: { 200: UserShape },
      entityVersion: (call) => personIn(parts, 'user', call),
      run: onUser(UNKNOWN, async (call, user) => bare(await new PeopleView(parts, call.actor).user(user))),
    },
    {
      method: 'PUT',
      path: '/api/users/{id}',
      access: { permission: 'users' },
      summary: 'Update a user; omitted fields are kept',
      body: UserEditBody,
      invalid: INVALID,
      answers: { 200: DoneShape },
      entityVersion: (call) => personIn(parts, 'user', call),
      run: onUser(NOT_CHANGEABLE, (call, user) => change(parts, call, user)),
    },
    {
      method: 'DELETE',
      path: '/api/users/{id}',
      access: { permission: 'users' },
      own: 'id',
      summary: 'Delete a user with its sessions and its API credential',
      answers: { 200: DeletedOwnerShape },
      run: onUser(UNKNOWN, async (call, user) => {
        await checkReach(parts, call.actor!, user)
        return deletedOwner(parts, call, 'User deleted', await deleteUser(parts, user, call.actor!.email))
      }),
    },
    {
      method: 'PUT',
      path: '/api/users/{id}/actions/key/reset',
      access: { permission: 'users' },
      own: 'id',
      summary: 'Regenerate the API credential of a user; the old one may stay valid for a while',
      body: RotationBody,
      bodyIs: 'any',
      bodyOptional: true,
      answers: { 200: DoneShape },
      run: onUser(UNKNOWN, async (call, user) => {
        const another = user.id !== call.actor!.userId
        if (another && parts.config.dashboard.security.forbid_admin_reset_access_token)
          return refused(403, 'You are not allowed to reset the access token of another user.')
        await checkReach(parts, call.actor!, user)
        await renewCredential(parts, user, { overlapS: overlapSent(call), actor: call.actor!.email })
        return ok('User session renewed')
      }),
    },
    {
      method: 'PUT',
      path: '/api/users/{id}/actions/revoke',
      access: { permission: 'users' },
      summary: 'Deactivate a user and revoke its sessions and its API credential',
      answers: { 200: DoneShape },
      run: onUser(NOT_CHANGEABLE, async (call, user) => {
        await checkReach(parts, call.actor!, user)
        await revokeUser(parts, user, call.actor!.email)
        return ok('User revoked')
      }),
    },
  ]
}

async function create(parts: DashboardParts, call: Call): Promise<Answer> {
  const actor = call.actor!
  const given = givenUser(call.object(), await customPermissions(parts, actor.orgId))
  if (given.email === undefined) return refused(400, INVALID)
  const groupId = given.groupId ?? ''
  // Those of a group count, so none need be sent: out of it, such a user may do nothing.
  const permissions = withoutReset(given.permissions ?? (groupId === '' ? {} : NOTHING))
  if (Object.keys(permissions).length === 0) throw fault('permission_not_given')
  const draft = {
    orgId: actor.orgId,
    email: given.email,
    firstName: given.firstName ?? '',
    lastName: given.lastName ?? '',
    active: given.active ?? true,
    groupId,
    permissions,
    password: given.password ?? '',
    passwordMaxDays: given.passwordMaxDays ?? 0,
    sharedEmail: parts.config.dashboard.enable_multi_org_users,
    samePerson: false,
  }
  const rights = { org_id: draft.orgId, active: true, group_id: draft.groupId, user_permissions: permissions }
  await checkGrantable(parts, actor, rights, undefined)
  const { user } = await newUser(parts, draft, actor.email)
  return ok('User and session have been created', user.id)
}

async function change(parts: DashboardParts, call: Call, user: StoredUser): Promise<Answer> {
  const actor = call.actor!
  const given = givenUser(call.object(), await customPermissions(parts, actor.orgId, user.user_permissions))
  if (given.permissions !== undefined && Object.keys(withoutReset(given.permissions)).length === 0)
    throw fault('permission_not_given')
  await checkReach(parts, actor, user)
  checkAddress(actor, user, given.email ?? user.email_address)
  const edit = editOf(given, user)
  await checkGrantable(parts, actor, { ...user, ...edit }, user)
  await updateUser(parts, user, edit, {
    actor: actor.email,
    action: 'user.update',
    mayLeaveNoAdmin: false,
    sharedEmail: parts.config.dashboard.enable_multi_org_users,
  })
  return ok('User updated')
}

/** `ResetPassword` is not for this call to give or take. */
function editOf(given: GivenUser, user: StoredUser): UserEdit {
  const { ResetPassword: mark } = user.user_permissions
  return {
    ...(given.email !== undefined && { email_address: given.email }),
    ...(given.firstName !== undefined && { first_name: given.firstName }),
    ...(given.lastName !== undefined && { last_name: given.lastName }),
    ...(given.active !== undefined && { active: given.active }),
    ...(given.groupId !== undefined && { group_id: given.groupId }),
    ...(given.passwordMaxDays !== undefined && { password_max_days: given.passwordMaxDays }),
    ...(given.permissions !== undefined && {
      user_permissions: { ...withoutReset(given.permissions), ...(mark !== undefined && { ResetPassword: mark }) },
    }),
  }
}

/** A user of single sign-on without an account here: its data is in the session. */
function guest(actor: Actor): StoredUser {
  const blank = userOf({ id: actor.userId as DocumentId, revision: 0, body: {} })
  return {
    ...blank,
    org_id: actor.orgId,
    email_address: actor.email,
    active: true,
    user_permissions: actor.permissions,
  }
}
