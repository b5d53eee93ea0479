import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { verifyPassword } from '../../../src/model/passwords/passwords.ts'
import { findByEmail } from '../../../src/publish/people/users.ts'
import type { TestDashboard } from '../../worlds/dashboard/harness.ts'
import { assertRefused, asUser, bodyOf, dashboardFor } from '../../worlds/dashboard/people.ts'

const PATH = '/admin/users'
const UNKNOWN_ID = '65a0000000000000000000ff'
const ADA = { first_name: 'Ada', last_name: 'Byron', email_address: 'ada@example.test', active: true }

async function make(dashboard: TestDashboard, body: JsonObject): Promise<JsonObject> {
  const answer = await dashboard.call('POST', PATH, { as: 'installation', body })
  return bodyOf(answer).Meta as JsonObject
}

test('a user without permissions is an administrator whose credential is in the message', async (t) => {
  const dashboard = await dashboardFor(t)
  const body = { ...ADA, org_id: dashboard.orgId }
  const made = bodyOf(await dashboard.call('POST', `${PATH}/`, { as: 'installation', body }))
  const shown = made.Meta as JsonObject
  assert.equal(made.Message, shown.access_key)
  assert.deepEqual([shown.org_id, shown.user_permissions, shown.PWHistory], [dashboard.orgId, {}, []])
  assert.deepEqual(bodyOf(await dashboard.call('GET', `${PATH}/${shown.id}`, { as: 'installation' })), shown)
  const ada = asUser(shown)
  bodyOf(await dashboard.call('GET', '/api/users', { as: ada }))
  bodyOf(await dashboard.call('GET', '/api/org/permissions', { as: ada }))
})

test('a user without an organisation is unbounded, and is found with org_id empty', async (t) => {
  const dashboard = await dashboardFor(t)
  await dashboard.user({ apis: 'read' })
  const root = asUser(await make(dashboard, ADA))
  assert.equal(root.orgId, '')
  const body = { filters: { query: 'ada@' } }
  const { users } = bodyOf(await dashboard.call('POST', '/api/users/search', { as: root, body }))
  assert.deepEqual(
    (users as JsonObject[]).map(({ id, org_id }) => [id, org_id]),
    [[root.id, '']],
  )
})

test('an organisation that is no text makes no user of all organisations', async (t) => {
  const dashboard = await dashboardFor(t)
  for (const org_id of [7, true, ['x'], {}]) {
    const { status, text } = await dashboard.call('POST', PATH, { as: 'installation', body: { ...ADA, org_id } })
    assert.equal(status, 400)
    assert.match(text, /org_id/)
  }
  assert.deepEqual(await findByEmail(dashboard.parts, 'ada@example.test'), [])
})

test('a change keeps what is not sent, the credential always, and can leave no administrator', async (t) => {
  const dashboard = await dashboardFor(t)
  const shown = await make(dashboard, { ...ADA, org_id: dashboard.orgId })
  const put = (body: JsonObject) => dashboard.call('PUT', `${PATH}/${shown.id}`, { as: 'installation', body })
  for (const org_id of [await dashboard.organisation(), UNKNOWN_ID, '']) {
    const moved = await dashboard.call('PUT', `${PATH}/${shown.id}`, { as: 'installation', body: { org_id } })
    assertRefused(moved, 400, /^User object validation failed: org_id: a user stays in its organisation/)
  }
  const sent = { last_name: 'L', password: 'correct horse', org_id: dashboard.orgId, access_key: 'x', id: UNKNOWN_ID }
  const answer = bodyOf(await put(sent))
  assert.equal(answer.Message, shown.access_key)
  const changed = { last_name: 'L', password_updated: (answer.Meta as JsonObject).password_updated! }
  assert.deepEqual(answer.Meta, { ...shown, ...changed })
  const [stored] = await findByEmail(dashboard.parts, 'ada@example.test')
  assert.ok(await verifyPassword(stored!.password_hash, 'correct horse'))
  bodyOf(await put({ user_permissions: { apis: 'read', ResetPassword: 'admin' } }))
  const { user_permissions: rights } = bodyOf(await dashboard.call('GET', '/api/users/me', { as: asUser(shown) }))
  assert.deepEqual(rights, { apis: 'read', ResetPassword: 'admin' })
  bodyOf(await put({ active: false }))
  assertRefused(await dashboard.call('GET', '/api/users/me', { as: asUser(shown) }), 401, 'Not authorised')
})

test('the right to reset passwords comes and goes, and never changes who is an administrator', async (t) => {
  const dashboard = await dashboardFor(t)
  const organisation = { org_id: dashboard.orgId }
  const act = async (id: unknown, word: string) => {
    const path = `${PATH}/${id}/actions/${word}_reset_passwords`
    const answer = bodyOf(await dashboard.call('PUT', path, { as: 'installation' }))
    assert.equal(answer.Message, 'User updated')
    return (answer.Meta as JsonObject).user_permissions
  }
  const admin = await make(dashboard, { ...ADA, ...organisation })
  assert.deepEqual(await act(admin.id, 'allow'), { IsAdmin: 'admin', ResetPassword: 'admin' })
  assert.deepEqual(await act(admin.id, 'disallow'), { IsAdmin: 'admin' })
  const user_permissions = { ResetPassword: 'admin' }
  const plain = await make(dashboard, { ...ADA, ...organisation, email_address: 'b@example.test', user_permissions })
  assert.deepEqual(await act(plain.id, 'disallow'), { IsAdmin: 'false' })
  assert.deepEqual(await act(plain.id, 'allow'), { IsAdmin: 'false', ResetPassword: 'admin' })
  for (const word of ['allow', 'disallow']) {
    const path = `${PATH}/${UNKNOWN_ID}/actions/${word}_reset_passwords`
    assertRefused(await dashboard.call('PUT', path, { as: 'installation' }), 404, 'User not found')
  }
})

test('users are refused in the words of each reason', async (t) => {
  const dashboard = await dashboardFor(t)
  const call = (method: string, path: string, body?: unknown) =>
    dashboard.call(method, path, { as: 'installation', body })
  const invalid = (why: string) => `User object validation failed: ${why}`
  assertRefused(await call('GET', `${PATH}/${UNKNOWN_ID}`), 404, 'Could not retrieve user detail')
  assertRefused(await call('GET', `${PATH}/x`), 404, 'Could not retrieve user detail')
  assertRefused(await call('PUT', `${PATH}/${UNKNOWN_ID}`, {}), 404, 'User not found')
  assertRefused(
    await call('POST', PATH, { ...ADA, org_id: UNKNOWN_ID }),
    400,
    invalid('org_id: organisation not found'),
  )
  assertRefused(await call('POST', PATH, { ...ADA, org_id: 'x' }), 400, invalid('org_id: organisation not found'))
  assertRefused(
    await call('POST', PATH, { org_id: dashboard.orgId }),
    400,
    /^User object validation failed: .*email_address/,
  )
  assertRefused(await call('POST', PATH, '{'), 403, 'Request body malformed')
  const made = await make(dashboard, { ...ADA, org_id: dashboard.orgId })
  assertRefused(
    await call('POST', PATH, { ...ADA, org_id: dashboard.orgId }),
    403,
    'User email already exists for this Org',
  )
  await make(dashboard, { ...ADA, email_address: 'b@example.test', org_id: dashboard.orgId })
  const taken = await call('PUT', `${PATH}/${made.id}`, { email_address: 'B@example.test' })
  assertRefused(taken, 403, 'User email already exists for this Org')
  assertRefused(await call('PUT', `${PATH}/${made.id}`, { password: 'abc' }), 400, /does not meet the rules/)
})

test('one person has one password in all organisations; a shared address has another', async (t) => {
  const dashboard = await dashboardFor(t, { env: { SVC_DB_ENABLEMULTIORGUSERS: 'true' } })
  const [one, two, three] = [dashboard.orgId, await dashboard.organisation(), await dashboard.organisation()]
  const first = await make(dashboard, { ...ADA, org_id: one, password: 'correct horse' })
  await make(dashboard, { ...ADA, org_id: two, password: 'correct horse' })
  const body = { ...ADA, password: 'correct horse', user_permissions: { apis: 'read' } }
  bodyOf(await dashboard.call('POST', '/api/users', { as: await dashboard.admin(three), body }))
  const change = { password: 'battery staple' }
  bodyOf(await dashboard.call('PUT', `${PATH}/${first.id}`, { as: 'installation', body: change }))
  const accounts = await findByEmail(dashboard.parts, 'ada@example.test')
  const opens = (password: string) =>
    Promise.all(
      accounts.map(async ({ org_id, password_hash }) => [org_id, await verifyPassword(password_hash, password)]),
    )
  assert.deepEqual(Object.fromEntries(await opens('battery staple')), { [one]: true, [two]: true, [three]: false })
  assert.deepEqual(Object.fromEntries(await opens('correct horse')), { [one]: false, [two]: false, [three]: true })
})
