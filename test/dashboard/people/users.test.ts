import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { verifyPassword } from '../../../src/model/passwords/passwords.ts'
import { findByEmail } from '../../../src/publish/people/users.ts'
import { assertDone, assertRefused, bodyOf, dashboardFor, read } from '../../worlds/dashboard/people.ts'

const ADA = {
  first_name: 'Ada',
  last_name: 'Byron',
  email_address: 'Ada@Example.test',
  active: true,
  user_permissions: { apis: 'read', policy: 'write', keys: 'deny' },
}
const NO_PERMISSION = 'To create a user specify at least one permission, or make them an admin.'

test('a user is made, shown, changed in part and deleted, in the words that clients know', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const made = bodyOf(await dashboard.call('POST', '/api/users/', { as: admin, body: ADA }))
  assert.deepEqual(Object.keys(made), ['Status', 'Message', 'Meta'])
  assert.equal(made.Message, 'User and session have been created')
  const id = String(made.Meta)
  const user = await read(dashboard, admin, id)
  assert.deepEqual(Object.keys(user), [
    ...['id', 'org_id', 'first_name', 'last_name', 'email_address', 'active', 'access_key', 'group_id', 'group_name'],
    ...['user_permissions', 'password_max_days', 'password_updated', 'PWHistory', 'created_at', 'last_login_date'],
    'api_model',
  ])
  assert.equal(user.email_address, 'ada@example.test')
  assert.equal(user.org_id, dashboard.orgId)
  assert.deepEqual(user.user_permissions, { apis: 'read', policies: 'write', keys: 'deny' })
  assert.match(String(user.access_key), /^[0-9a-f]{64}$/)
  assert.equal(user.created_at, new Date(dashboard.clock.wall()).toISOString())

  const edit = { last_name: 'Lovelace', email_address: 'lovelace@example.test' }
  assertDone(await dashboard.call('PUT', `/api/users/${id}`, { as: admin, body: edit }), 'User updated')
  const after = await read(dashboard, admin, id)
  assert.deepEqual(after, { ...user, ...edit })

  assertDone(await dashboard.call('DELETE', `/api/users/${id}/`, { as: admin }), 'User deleted')
  assertRefused(await dashboard.call('GET', `/api/users/${id}`, { as: admin }), 404, 'Could not retrieve user detail.')
  assertRefused(
    await dashboard.call('DELETE', `/api/users/${id}`, { as: admin }),
    404,
    'Could not retrieve user detail.',
  )
})

test('a list has pages, and everything when p is not positive', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  for (let i = 0; i < 12; i++) await dashboard.user({ apis: 'read' })
  const first = bodyOf(await dashboard.call('GET', '/api/users', { as: admin }))
  assert.deepEqual([(first.users as JsonObject[]).length, first.pages], [10, 2])
  const second = bodyOf(await dashboard.call('GET', '/api/users?p=2', { as: admin }))
  assert.equal((second.users as JsonObject[]).length, 3)
  for (const p of ['0', '-1', '-2']) {
    const all = bodyOf(await dashboard.call('GET', `/api/users/?p=${p}`, { as: admin }))
    assert.deepEqual([(all.users as JsonObject[]).length, all.pages], [13, 0])
    assert.equal((all.users as JsonObject[])[0]!.org_id, dashboard.orgId)
  }
})

test('users are found by a part of their address, whatever its case', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const other = await dashboard.admin(await dashboard.organisation())
  await dashboard.call('POST', '/api/users', { as: admin, body: ADA })
  await dashboard.call('POST', '/api/users', { as: other, body: { ...ADA, email_address: 'ada@other.test' } })
  const emails = (body: JsonObject) => (body.users as JsonObject[]).map((user) => user.email_address)
  const body = { filters: { query: 'ADA@' } }
  const found = bodyOf(await dashboard.call('POST', '/api/users/search', { as: admin, body }))
  assert.deepEqual([emails(found), found.pages], [['ada@example.test'], 1])
  assert.deepEqual(emails(bodyOf(await dashboard.call('GET', '/api/users/search?q=ada', { as: admin }))), [
    'ada@example.test',
  ])
  const reader = await dashboard.user({ users: 'read' })
  assert.deepEqual(emails(bodyOf(await dashboard.call('POST', '/api/users/search', { as: reader, body }))), [
    'ada@example.test',
  ])
  for (const wrong of [{}, { filters: {} }, { filters: { query: 3 } }, []])
    assertRefused(
      await dashboard.call('POST', '/api/users/search', { as: admin, body: wrong }),
      400,
      /^Could not extract search filter from request body: /,
    )
})

test('a new user is refused in the words of each reason', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const post = (body: unknown) => dashboard.call('POST', '/api/users', { as: admin, body })
  for (const [member, wrong] of [
    ['email_address', {}],
    ['email_address', { ...ADA, email_address: 'nobody' }],
    ['email_address', { ...ADA, email_address: 7 }],
    ['active', { ...ADA, active: 'yes' }],
    ['first_name', { ...ADA, first_name: 'A\r\nBcc: x' }],
    ['group_id', { ...ADA, group_id: '65a000000000000000000001' }],
    ['user_permissions.nonsense', { ...ADA, user_permissions: { apis: 'read', nonsense: 'read' } }],
    ['user_permissions.apis', { ...ADA, user_permissions: { apis: 'all' } }],
    ['user_permissions.apis', { ...ADA, user_permissions: { apis: true } }],
    ['user_permissions.IsAdmin', { ...ADA, user_permissions: { IsAdmin: 'yes' } }],
    ['user_permissions.owned_analytics', { ...ADA, user_permissions: { owned_analytics: 'write' } }],
  ] as const)
    assertRefused(await post(wrong), 400, new RegExp(`^User object validation failed: .*${member.replace('.', '\\.')}`))
  assertRefused(await post('{'), 403, 'Request body malformed')
  for (const none of [undefined, {}, { ResetPassword: 'admin' }]) {
    const { user_permissions: _, ...rest } = ADA
    const answer = await post(none === undefined ? rest : { ...rest, user_permissions: none })
    assertRefused(answer, 403, NO_PERMISSION)
  }
  assert.equal((await post({ ...ADA, user_permissions: { apis: null, keys: '' } })).status, 200)
  const [nobody] = await findByEmail(dashboard.parts, 'ada@example.test')
  assert.deepEqual(nobody!.user_permissions, { IsAdmin: 'false' }, 'rights that are not given grant nothing')
  assertRefused(await post(ADA), 403, 'User email already exists for this org.')
  assertRefused(
    await post({ ...ADA, email_address: 'b@example.test', password: 'abc' }),
    400,
    /does not meet the rules/,
  )
})

test('an address has one account in an organisation, in others only with enable_multi_org_users', async (t) => {
  for (const several of [false, true]) {
    const dashboard = await dashboardFor(t, { env: { SVC_DB_ENABLEMULTIORGUSERS: String(several) } })
    const admin = await dashboard.admin()
    const other = await dashboard.admin(await dashboard.organisation())
    bodyOf(await dashboard.call('POST', '/api/users', { as: admin, body: ADA }))
    const answer = await dashboard.call('POST', '/api/users', { as: other, body: ADA })
    if (several) bodyOf(answer)
    else assertRefused(answer, 403, 'This email address is already in use.')
    const bob = { ...ADA, email_address: 'bob@example.test' }
    const id = bodyOf(await dashboard.call('POST', '/api/users', { as: admin, body: bob })).Meta
    const taken = await dashboard.call('PUT', `/api/users/${id}`, {
      as: admin,
      body: { email_address: 'ADA@example.test' },
    })
    assertRefused(taken, 403, 'User email already exists for this org.')
  }
})

test('members that a body may not set are ignored: organisation, id, credential, password hash', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const foreign = await dashboard.organisation()
  const more = {
    org_id: foreign,
    id: '65a000000000000000000001',
    _id: '65a000000000000000000001',
    access_key: 'mine',
    access_hmac: 'x',
    access_sealed: 'x',
    password_hash: '$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
    PWHistory: ['x'],
    totp: {},
    created_at: '2001-01-01T00:00:00Z',
    user_permissions: { apis: 'read', ResetPassword: 'admin' },
  }
  const id = String(bodyOf(await dashboard.call('POST', '/api/users', { as: admin, body: { ...ADA, ...more } })).Meta)
  const check = async () => {
    const [stored] = await findByEmail(dashboard.parts, 'ada@example.test')
    assert.equal(stored!.id, id)
    assert.equal(stored!.org_id, dashboard.orgId)
    assert.equal(stored!.password_hash, '')
    assert.deepEqual(stored!.PWHistory, [])
    assert.deepEqual(stored!.user_permissions, { apis: 'read' })
    assert.notEqual(stored!.access_hmac, 'x')
    assert.ok(!('totp' in stored!) && !('_id' in stored!))
  }
  await check()
  assertDone(
    await dashboard.call('PUT', `/api/users/${id}`, {
      as: admin,
      isRandom: true,
      body: { ...more, password: 'another-password' },
    }),
    'User updated',
  )
  await check()
})

test('a password that comes with a new user opens its account', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const body = { ...ADA, password: 'correct horse battery' }
  const answer = await dashboard.call('POST', '/api/users', { as: admin, body })
  const shown = await read(dashboard, admin, String(bodyOf(answer).Meta))
  assert.ok(!JSON.stringify(shown).includes('argon2'))
  const [stored] = await findByEmail(dashboard.parts, 'ada@example.test')
  assert.ok(await verifyPassword(stored!.password_hash, 'correct horse battery'))
})

test('a change is refused in the words of each reason', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const user = await dashboard.user({ apis: 'read' })
  const put = (id: string, body: unknown) => dashboard.call('PUT', `/api/users/${id}`, { as: admin, body })
  for (const id of ['65a000000000000000000001', 'x', '__proto__'])
    assertRefused(await put(id, { last_name: 'B' }), 400, 'user does not exist.')
  assertRefused(await put(user.id, { user_permissions: {} }), 403, NO_PERMISSION)
  assertRefused(await put(user.id, { email_address: 'nobody' }), 400, /^User object validation failed: email_address/)
  assertRefused(await put(user.id, { group_id: 'x' }), 400, /^User object validation failed: group_id/)
})

test('a right that is changed counts at once, and an inactive user is nobody', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const user = await dashboard.user({ apis: 'read' })
  const list = () => dashboard.call('GET', '/api/users', { as: user })
  assertRefused(await list(), 403, 'access denied: You do not have permission to access  /api/users')
  const put = (body: JsonObject) => dashboard.call('PUT', `/api/users/${user.id}`, { as: admin, body })
  bodyOf(await put({ user_permissions: { users: 'read' } }))
  bodyOf(await list())
  bodyOf(await put({ active: false }))
  assertRefused(await list(), 401, 'Not authorised')
  bodyOf(await put({ active: true }))
  bodyOf(await list())
})

test('the API credential is for the user, and for administrators unless the setting forbids it', async (t) => {
  for (const forbidden of [false, true]) {
    const dashboard = await dashboardFor(t, {
      env: { SVC_DB_SECURITY_FORBIDADMINVIEWACCESSTOKEN: String(forbidden) },
    })
    const admin = await dashboard.admin()
    const [user, reader] = [await dashboard.user({ users: 'read' }), await dashboard.user({ users: 'write' })]
    const unbounded = await dashboard.user({ IsAdmin: 'admin' }, { orgId: '' })
    assert.equal((await read(dashboard, admin, user.id)).access_key, forbidden ? '' : user.key)
    assert.equal((await read(dashboard, reader, user.id)).access_key, '')
    assert.equal((await read(dashboard, unbounded, user.id)).access_key, '')
    assert.equal((await read(dashboard, user, user.id)).access_key, user.key)
    assert.equal(bodyOf(await dashboard.call('GET', '/api/users/me', { as: user })).access_key, user.key)
  }
})

test('an administrator with less sees no credential that opens more', async (t) => {
  const dashboard = await dashboardFor(t)
  const lesser = await dashboard.user({ IsAdmin: 'admin', keys: 'deny' })
  const admin = await dashboard.admin()
  assert.equal((await read(dashboard, lesser, admin.id)).access_key, '')
  const { users } = bodyOf(await dashboard.call('GET', '/api/users', { as: lesser }))
  assert.deepEqual((users as JsonObject[]).map(({ access_key: key }) => key).sort(), ['', lesser.key].sort())
})

test('a renewed credential kills the one before and does not stand in the answer', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const user = await dashboard.user({ apis: 'read' })
  const reset = (as: typeof user) => dashboard.call('PUT', `/api/users/${user.id}/actions/key/reset`, { as })
  assertDone(await reset(user), 'User session renewed')
  assertRefused(await dashboard.call('GET', '/api/users/me', { as: user }), 401, 'Not authorised')
  const second = String((await read(dashboard, admin, user.id)).access_key)
  assert.notEqual(second, user.key)
  bodyOf(await dashboard.call('GET', '/api/users/me', { as: { ...user, key: second } }))
  assertDone(await reset(admin), 'User session renewed')
  assertRefused(await dashboard.call('GET', '/api/users/me', { as: { ...user, key: second } }), 401, 'Not authorised')
  const unknown = await dashboard.call('PUT', '/api/users/65a000000000000000000001/actions/key/reset', { as: admin })
  assertRefused(unknown, 404, 'Could not retrieve user detail.')
})

test('a renewed credential may overlap with the one before, and with no other', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const user = await dashboard.user({ apis: 'read' })
  const renew = async (as: typeof user, overlap_seconds: unknown) => {
    const path = `/api/users/${user.id}/actions/key/reset`
    return dashboard.call('PUT', path, { as, body: { overlap_seconds } as JsonObject })
  }
  const current = async () => ({ ...user, key: String((await read(dashboard, admin, user.id)).access_key) })
  const works = async (...all: (typeof user)[]) =>
    Promise.all(all.map(async (as) => (await dashboard.call('GET', '/api/users/me', { as })).status === 200))
  for (const wrong of [-1, 0.5, 'x', 1e12]) assert.equal((await renew(user, wrong)).status, 400, String(wrong))
  assertDone(await renew(user, 3600), 'User session renewed')
  const second = await current()
  assert.deepEqual(await works(user, second), [true, true])
  dashboard.clock.advance(3_599_000)
  assert.deepEqual(await works(user, second), [true, true])
  dashboard.clock.advance(1_000)
  assert.deepEqual(await works(user, second), [false, true])
  assertDone(await renew(second, 3600), 'User session renewed')
  const third = await current()
  assertDone(await renew(admin, 3600), 'User session renewed')
  const fourth = await current()
  assert.deepEqual(await works(user, second, third, fourth), [false, false, true, true])
  const { text } = await dashboard.call('GET', `/api/users/${user.id}`, { as: admin })
  assert.ok(!text.includes('access_before'))
  assertDone(await renew(fourth, 0), 'User session renewed')
  assert.deepEqual(await works(third, fourth, await current()), [false, false, true])
  assertDone(await renew(await current(), 3600), 'User session renewed')
  const last = await current()
  assertDone(await dashboard.call('PUT', `/api/users/${user.id}/actions/revoke`, { as: admin }), 'User revoked')
  bodyOf(await dashboard.call('PUT', `/api/users/${user.id}`, { as: admin, body: { active: true } }))
  assert.deepEqual(await works(fourth, last), [false, false])
})

test('forbid_admin_reset_access_token leaves credentials to their owners', async (t) => {
  const dashboard = await dashboardFor(t, { env: { SVC_DB_SECURITY_FORBIDADMINRESETACCESSTOKEN: 'true' } })
  const admin = await dashboard.admin()
  const user = await dashboard.user({ apis: 'read' })
  const path = `/api/users/${user.id}/actions/key/reset`
  assertRefused(await dashboard.call('PUT', path, { as: admin }), 403, /reset the access token of another user/)
  assertDone(await dashboard.call('PUT', path, { as: user }), 'User session renewed')
})

test('a revoked user is nobody, and has no credential until it is renewed', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const user = await dashboard.user({ apis: 'read' })
  const revoke = (id: string) => dashboard.call('PUT', `/api/users/${id}/actions/revoke`, { as: admin })
  assertDone(await revoke(user.id), 'User revoked')
  const after = await read(dashboard, admin, user.id)
  assert.deepEqual([after.active, after.access_key], [false, ''])
  bodyOf(await dashboard.call('PUT', `/api/users/${user.id}`, { as: admin, body: { active: true } }))
  assertRefused(await dashboard.call('GET', '/api/users/me', { as: user }), 401, 'Not authorised')
  const two = await dashboard.user({ apis: 'read' })
  assertDone(await revoke(two.id), 'User revoked')
  assertRefused(await revoke('65a000000000000000000001'), 400, 'user does not exist.')
})

test('the last active administrator of an organisation cannot be removed', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const group = await dashboard.group({ apis: 'read' })
  await dashboard.user({ IsAdmin: 'admin' }, { active: false })
  await dashboard.user({ IsAdmin: 'admin' }, { groupId: group })
  await dashboard.admin(await dashboard.organisation())
  const path = `/api/users/${admin.id}`
  const last = /^The last active administrator/
  const put = (body: JsonObject) => dashboard.call('PUT', path, { as: admin, body })
  assertRefused(await dashboard.call('DELETE', path, { as: admin }), 400, last)
  assertRefused(await put({ active: false }), 400, last)
  assertRefused(await put({ user_permissions: { apis: 'write' } }), 400, last)
  assertRefused(await put({ group_id: group }), 400, last)
  assertRefused(await dashboard.call('PUT', `${path}/actions/revoke`, { as: admin }), 400, last)
  const second = await dashboard.admin()
  // Of two who remove each other at once one stays.
  const both = await Promise.all([
    dashboard.call('DELETE', path, { as: second }),
    dashboard.call('DELETE', `/api/users/${second.id}`, { as: admin }),
  ])
  assert.equal(both.filter(({ status }) => status === 200).length, 1)
})

test('users of another organisation look as if they were not there', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const stranger = await dashboard.user({ apis: 'read' }, { orgId: await dashboard.organisation() })
  const path = `/api/users/${stranger.id}`
  const unknown = 'Could not retrieve user detail.'
  assertRefused(await dashboard.call('GET', path, { as: admin }), 404, unknown)
  assertRefused(await dashboard.call('DELETE', path, { as: admin }), 404, unknown)
  assertRefused(await dashboard.call('PUT', `${path}/actions/key/reset`, { as: admin }), 404, unknown)
  assertRefused(await dashboard.call('PUT', path, { as: admin, body: { active: false } }), 400, 'user does not exist.')
  assertRefused(await dashboard.call('PUT', `${path}/actions/revoke`, { as: admin }), 400, 'user does not exist.')
  const { users } = bodyOf(await dashboard.call('GET', '/api/users?p=-1', { as: admin }))
  assert.deepEqual(
    (users as JsonObject[]).map(({ id }) => id),
    [admin.id],
  )
})

test('an unbounded user sees all organisations and writes only the own record', async (t) => {
  const dashboard = await dashboardFor(t)
  const one = await dashboard.user({ apis: 'read' })
  const two = await dashboard.user({ apis: 'read' }, { orgId: await dashboard.organisation() })
  const root = await dashboard.user({}, { orgId: '' })
  const { users } = bodyOf(await dashboard.call('GET', '/api/users?p=-1', { as: root }))
  assert.deepEqual(new Set((users as JsonObject[]).map(({ id }) => id)), new Set([one.id, two.id, root.id]))
  const denied = /^access denied/
  assertRefused(await dashboard.call('POST', '/api/users', { as: root, body: ADA }), 403, denied)
  assertRefused(await dashboard.call('PUT', `/api/users/${two.id}`, { as: root, body: { active: false } }), 403, denied)
  assertRefused(await dashboard.call('DELETE', `/api/users/${two.id}`, { as: root }), 403, denied)
  bodyOf(await dashboard.call('PUT', `/api/users/${root.id}/actions/key/reset`, { as: root }))
  const again = await dashboard.user({}, { orgId: '' })
  assertDone(await dashboard.call('DELETE', `/api/users/${again.id}`, { as: again }), 'User deleted')
  assertRefused(await dashboard.call('GET', '/api/users/me', { as: again }), 401, 'Not authorised')
})
