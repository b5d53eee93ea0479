import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { assertDone, assertRefused, asUser, bodyOf, dashboardFor } from '../../worlds/dashboard/people.ts'

const READERS = { name: 'readers', description: 'They read', user_permissions: { apis: 'read', keys: 'deny' } }
const NO_GROUP = '65a000000000000000000001'

test('a group is made, shown, listed, changed in part and deleted', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const id = String(bodyOf(await dashboard.call('POST', '/api/usergroups', { as: admin, body: READERS })).Meta)
  const path = `/api/usergroups/${id}`
  const shown = { id, org_id: dashboard.orgId, active: true, password_max_days: 0, ...READERS }
  const group = bodyOf(await dashboard.call('GET', path, { as: admin }))
  assert.deepEqual(group, shown)
  assert.deepEqual(Object.keys(group), [
    ...['id', 'org_id', 'name', 'description', 'active', 'user_permissions', 'password_max_days'],
  ])
  const list = bodyOf(await dashboard.call('GET', '/api/usergroups/', { as: admin }))
  assert.deepEqual(list, { groups: [shown], pages: 1 })
  assertDone(await dashboard.call('PUT', path, { as: admin, body: { name: 'writers' } }), 'User group updated')
  assert.deepEqual(bodyOf(await dashboard.call('GET', path, { as: admin })), { ...shown, name: 'writers' })
  assertDone(await dashboard.call('DELETE', path, { as: admin }), 'User group deleted')
  assertRefused(await dashboard.call('GET', path, { as: admin }), 404, 'Could not retrieve user group detail.')
  assert.deepEqual(bodyOf(await dashboard.call('GET', '/api/usergroups', { as: admin })), { groups: [], pages: 1 })
})

test('the rights of a group take the place of the own ones, at once', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const group = await dashboard.group({ users: 'read' })
  const user = await dashboard.user({ IsAdmin: 'admin' }, { groupId: group })
  const see = (path: string) => dashboard.call('GET', path, { as: user })
  bodyOf(await see('/api/users'))
  assertRefused(await see('/api/usergroups'), 403, /^access denied/)
  const put = (body: JsonObject) => dashboard.call('PUT', `/api/usergroups/${group}`, { as: admin, body })
  bodyOf(await put({ user_permissions: { user_groups: 'read' } }))
  assertRefused(await see('/api/users'), 403, /^access denied/)
  bodyOf(await see('/api/usergroups'))
  bodyOf(await put({ active: false }))
  assertRefused(await see('/api/users/me'), 401, 'Not authorised')
  bodyOf(await put({ active: true }))
  assert.match(String(bodyOf(await see('/api/users/me')).group_name), /^Group/)
})

test('a user who is made in a group needs no rights, and has none when it leaves the group', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const group_id = await dashboard.group({ users: 'read' })
  for (const [at, more] of [{}, { user_permissions: null }].entries()) {
    const person = { email_address: `member-${at}@example.test`, group_id, ...more }
    const { Meta: id } = bodyOf(await dashboard.call('POST', '/api/users', { as: admin, body: person }))
    const member = asUser(bodyOf(await dashboard.call('GET', `/api/users/${id}`, { as: admin })))
    bodyOf(await dashboard.call('GET', '/api/users', { as: member }))
    bodyOf(await dashboard.call('PUT', `/api/users/${id}`, { as: admin, body: { group_id: '' } }))
    assertRefused(await dashboard.call('GET', '/api/users', { as: member }), 403, /^access denied/)
    assertRefused(await dashboard.call('GET', '/api/org/permissions', { as: member }), 403, /^access denied/)
  }
  const person = { email_address: 'nobody@example.test', group_id: '' }
  const alone = await dashboard.call('POST', '/api/users', { as: admin, body: person })
  assertRefused(alone, 403, 'To create a user specify at least one permission, or make them an admin.')
})

test('a group in use is not deleted', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const group = await dashboard.group({ apis: 'read' })
  const user = await dashboard.user({ apis: 'read' }, { groupId: group })
  const path = `/api/usergroups/${group}`
  assertRefused(await dashboard.call('DELETE', path, { as: admin }), 400, /in use: 1 user is in it/)
  bodyOf(await dashboard.call('PUT', `/api/users/${user.id}`, { as: admin, body: { group_id: '' } }))
  assertDone(await dashboard.call('DELETE', path, { as: admin }), 'User group deleted')
})

test('a group is refused in the words of each reason', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const group = await dashboard.group({ apis: 'read' })
  const send = (method: string, path: string, body?: unknown) => dashboard.call(method, path, { as: admin, body })
  const invalid = /^User group object validation failed/
  const rights = (user_permissions: JsonObject) => ({ ...READERS, user_permissions })
  const wrong = [
    {},
    { ...READERS, name: '' },
    { ...READERS, name: 'a\nb' },
    { ...READERS, name: 7 },
    { ...READERS, active: 'yes' },
    { name: 'no rights' },
    rights({}),
    rights({ IsAdmin: 'admin' }),
    rights({ IsAdmin: true, apis: 'read' }),
    rights({ ResetPassword: 'admin', apis: 'read' }),
  ]
  for (const body of wrong) assertRefused(await send('POST', '/api/usergroups', body), 400, invalid)
  for (const body of wrong.slice(-4)) assertRefused(await send('PUT', `/api/usergroups/${group}`, body), 400, invalid)
  assertRefused(await send('POST', '/api/usergroups', '{'), 403, 'Request body malformed')
  assertRefused(await send('PUT', `/api/usergroups/${NO_GROUP}`, READERS), 400, 'Group ID does not exist')
  assertRefused(await send('DELETE', `/api/usergroups/${NO_GROUP}`), 404, 'Could not retrieve user group detail.')
})

test('groups of another organisation look as if they were not there, and take in nobody', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const foreign = await dashboard.group({ apis: 'write' }, { orgId: await dashboard.organisation() })
  const path = `/api/usergroups/${foreign}`
  const unknown = 'Could not retrieve user group detail.'
  assertRefused(await dashboard.call('GET', path, { as: admin }), 404, unknown)
  assertRefused(await dashboard.call('PUT', path, { as: admin, body: READERS }), 400, 'Group ID does not exist')
  assertRefused(await dashboard.call('DELETE', path, { as: admin }), 404, unknown)
  assert.deepEqual(bodyOf(await dashboard.call('GET', '/api/usergroups?p=-1', { as: admin })), { groups: [], pages: 0 })
  const user = await dashboard.user({ apis: 'read' })
  const put = await dashboard.call('PUT', `/api/users/${user.id}`, { as: admin, body: { group_id: foreign } })
  assertRefused(put, 400, 'User object validation failed: group_id: group not found in the organisation')
  const root = await dashboard.user({ user_groups: 'read' }, { orgId: '' })
  assert.equal(bodyOf(await dashboard.call('GET', path, { as: root })).id, foreign)
})

test('with ownership on, nobody puts others into a group that owns what they do not see', async (t) => {
  const dashboard = await dashboardFor(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  const rights = { users: 'write', apis: 'read' }
  const [owning, idle] = [await dashboard.group({ apis: 'read' }), await dashboard.group({ apis: 'read' })]
  const body = { api_id: 'owned', org_id: dashboard.orgId, name: 'Owned', user_owners: [], user_group_owners: [owning] }
  await dashboard.store.documents.commit(
    [{ op: 'put', kind: 'api', id: '65a0000000000000000000a1' as never, body }],
    undefined,
  )
  const keeper = await dashboard.user(rights)
  const member = await dashboard.user(rights, { groupId: await dashboard.group(rights) })
  const user = await dashboard.user({ apis: 'read' })
  const put = (as: typeof user, groupId: string) =>
    dashboard.call('PUT', `/api/users/${user.id}`, { as, body: { group_id: groupId } })
  assertRefused(await put(keeper, owning), 403, /group that owns APIs/)
  assertRefused(await put(member, owning), 403, /group that owns APIs/)
  assertDone(await put(keeper, idle), 'User updated')
  assertDone(await put(await dashboard.admin(), owning), 'User updated')
})

test('the members of a group are listed by it', async (t) => {
  const dashboard = await dashboardFor(t)
  const { call } = dashboard
  const admin = await dashboard.admin()
  const group = { name: 'readers', user_permissions: { apis: 'read' } }
  const { Meta: id } = bodyOf(await call('POST', '/api/usergroups', { as: admin, body: group }))
  const make = (email: string, group_id: string) =>
    call('POST', '/api/users', {
      as: admin,
      body: { email_address: email, group_id, user_permissions: { keys: 'read' } },
    })
  for (const [email, of] of [
    ['in@x.test', String(id)],
    ['out@x.test', ''],
  ] as const)
    assert.equal((await make(email, of)).status, 200)
  const { users } = (await call('GET', `/api/users?group_id=${id}`, { as: admin })).json as {
    users: { email_address: string }[]
  }
  assert.deepEqual(
    users.map(({ email_address }) => email_address),
    ['in@x.test'],
  )
})
