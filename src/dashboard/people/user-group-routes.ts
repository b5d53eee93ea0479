import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { groupOf, type UserGroup } from '../../model/people/user-group.ts'
import { deleteGroup, findGroup, newGroup, updateGroup } from '../../publish/people/groups.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { bare, ok, refused } from '../routes/answer.ts'
import { listed } from '../routes/listed.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { checkGroupReach, checkOwnersReach } from './check-rights.ts'
import { deletedOwner, personIn, whereFound } from './find-people.ts'
import { givenPermissions, withoutReset } from './sent-user.ts'
import { CreatedShape, DeletedOwnerShape, DoneShape, GroupBody, GroupShape, pageShape } from './shapes.ts'
import { customPermissions, PeopleView } from './view.ts'

const INVALID = 'User group object validation failed.'
const UNKNOWN = refused(404, 'Could not retrieve user group detail.')
const NOT_CHANGEABLE = refused(400, 'Group ID does not exist')
const LONGEST = 256

/** Groups of dashboard users: `/api/usergroups`. */
export function userGroupRoutes(parts: DashboardParts): Route[] {
  const onGroup = whereFound((id) => findGroup(parts, id))
  return [
    {
      method: 'GET',
      path: '/api/usergroups',
      access: { permission: 'user_groups' },
      summary: 'List the groups of the organisation',
      query: { p: Type.Integer() },
      answers: { 200: pageShape('groups', GroupShape, 'UserGroupPage') },
      run(call) {
        const view = new PeopleView(parts, call.actor)
        const query = { where: call.visibility.whereOrg() }
        const shape = (row: StoredDocument<'user_group'>) => view.group(groupOf(row))
        return listed(parts.documents, 'user_group', query, pageOf(call), { name: 'groups', shape })
      },
    },
    {
      method: 'POST',
      path: '/api/usergroups',
      access: { permission: 'user_groups' },
      summary: "Create a group, whose permissions replace its members' own",
      body: GroupBody,
      invalid: INVALID,
      answers: { 200: CreatedShape },
      async run(call) {
        const actor = call.actor!
        const {
          name,
          user_permissions: permissions,
          ...given
        } = givenGroup(call.object(), await customPermissions(parts, call.actor!.orgId))
        if (name === undefined) throw fault('group_invalid', 'name: is missing')
        if (permissions === undefined) throw fault('group_invalid', 'user_permissions: give at least one permission')
        const group: UserGroup = {
          description: '',
          active: true,
          password_max_days: 0,
          ...given,
          ...{ name, user_permissions: permissions, org_id: actor.orgId },
        }
        checkGroupReach(actor, group)
        const saved = await newGroup(parts, group, actor.email)
        return ok('User group created', saved.group.id)
      },
    },
    {
      method: 'GET',
      path: '/api/usergroups/{id}',
      access: { permission: 'user_groups' },
      summary: 'Read a group',
      answers: { 200: GroupShape },
      entityVersion: (call) => personIn(parts, 'user_group', call),
      run: onGroup(UNKNOWN, async (call, group) => bare(await new PeopleView(parts, call.actor).group(group))),
    },
    {
      method: 'PUT',
      path: '/api/usergroups/{id}',
      access: { permission: 'user_groups' },
      summary: 'Update a group; omitted fields are kept. Its members have the new permissions at once',
      body: GroupBody,
      invalid: INVALID,
      answers: { 200: DoneShape },
      entityVersion: (call) => personIn(parts, 'user_group', call),
      run: onGroup(NOT_CHANGEABLE, async (call, group) => {
        const edit = givenGroup(call.object(), await customPermissions(parts, group.org_id, group.user_permissions))
        checkGroupReach(call.actor!, group)
        checkGroupReach(call.actor!, { ...group, ...edit })
        const said = Object.entries(edit) as [keyof GivenGroup, unknown][]
        if (said.some(([member, value]) => !isDeepStrictEqual(value, group[member])))
          await checkOwnersReach(parts, call.actor!, { groupIds: [group.id] })
        await updateGroup(parts, group, edit, call.actor!.email)
        return ok('User group updated')
      }),
    },
    {
      method: 'DELETE',
      path: '/api/usergroups/{id}',
      access: { permission: 'user_groups' },
      summary: 'Delete an empty group',
      answers: { 200: DeletedOwnerShape },
      run: onGroup(UNKNOWN, async (call, group) => {
        checkGroupReach(call.actor!, group)
        await checkOwnersReach(parts, call.actor!, { groupIds: [group.id] })
        return deletedOwner(parts, call, 'User group deleted', await deleteGroup(parts, group, call.actor!.email))
      }),
    },
  ]
}

type GivenGroup = { -readonly [Name in keyof Omit<UserGroup, 'org_id'>]?: UserGroup[Name] }

/** The group in a body. @throws Fault `group_invalid` (400) naming the member, also for rights that no group may have */
function givenGroup(body: JsonObject, custom: ReadonlySet<string>): GivenGroup {
  const given: GivenGroup = {}
  for (const member of ['name', 'description'] as const) {
    const text = body[member]
    if (typeof text !== 'string') continue
    if (text.length > LONGEST || /[\x00-\x1f\x7f]/.test(text))
      throw fault('group_invalid', `${member}: at most ${LONGEST} characters, and no control characters`)
    given[member] = text
  }
  if (given.name?.trim() === '') throw fault('group_invalid', 'name: is missing')
  if (typeof body.active === 'boolean') given.active = body.active
  if (typeof body.password_max_days === 'number') given.password_max_days = body.password_max_days
  const permissions = givenPermissions(body.user_permissions, custom)
  if (permissions === undefined) return given
  if (permissions.IsAdmin === 'admin' || permissions.ResetPassword !== undefined)
    throw fault('group_invalid', 'user_permissions: a group cannot be given IsAdmin or ResetPassword')
  if (Object.keys(withoutReset(permissions)).length === 0)
    throw fault('group_invalid', 'user_permissions: give at least one permission')
  given.user_permissions = permissions
  return given
}
