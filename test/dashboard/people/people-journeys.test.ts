import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { verifyPassword } from '../../../src/model/passwords/passwords.ts'
import { findByEmail } from '../../../src/publish/people/users.ts'
import type { TestDashboard, TestUser } from '../../worlds/dashboard/harness.ts'
import { assertDone, assertRefused, asUser, bodyOf, dashboardFor, read } from '../../worlds/dashboard/people.ts'

/** As `curl -d` labels what it sends. */
const CURL = { 'content-type': 'application/x-www-form-urlencoded' }

/** The settings that the demo runs with, as far as people are concerned. */
const DEMO = {
  SVC_DB_ENABLEOWNERSHIP: 'true',
  SVC_DB_ENABLEMULTIORGUSERS: 'true',
  SVC_DB_SECURITY_FORBIDADMINVIEWACCESSTOKEN: 'true',
  SVC_DB_SECURITY_FORBIDADMINRESETACCESSTOKEN: 'true',
}

function installation(dashboard: TestDashboard) {
  return (method: string, path: string, body?: unknown) =>
    dashboard.call(method, path, { as: 'installation', body, headers: CURL })
}

async function opens(dashboard: TestDashboard, { email, orgId }: TestUser, password: string): Promise<boolean> {
  const accounts = await findByEmail(dashboard.parts, email)
  return verifyPassword(accounts.find(({ org_id }) => org_id === orgId)?.password_hash, password)
}

test('the demo boots: organisation imported, users created, passwords set, groups', async (t) => {
  const dashboard = await dashboardFor(t, { env: DEMO })
  const admin = installation(dashboard)
  bodyOf(await admin('GET', '/admin/organisations'))
  const id = '5e9d9544a1dcd60001d0ed20'
  const organisation = { id, owner_name: 'Demo', owner_slug: 'demo', cname_enabled: true, cname: 'portal.test' }
  const imported = bodyOf(await admin('POST', '/admin/organisations/import', { ...organisation, sso_enabled: true }))
  assert.deepEqual([imported.Status, imported.Meta], ['OK', id])

  const drafts: JsonObject[] = [
    { email_address: 'Admin@demo.test', user_permissions: { IsAdmin: 'admin' } },
    { email_address: 'dev@demo.test', user_permissions: { apis: 'write', keys: 'write', policies: 'deny' } },
  ]
  const users: TestUser[] = []
  for (const draft of drafts) {
    const body = { ...draft, first_name: 'A', last_name: 'B', active: true, org_id: id }
    const made = bodyOf(await admin('POST', '/admin/users', body))
    const shown = made.Meta as JsonObject
    assert.ok(shown.id && shown.email_address && shown.access_key && shown.org_id === id)
    const user = asUser(shown)
    users.push(user)
    // The body says IsAdmin for everybody, and makes nobody one.
    const reset = { new_password: 'top-secret-1', user_permissions: { IsAdmin: 'admin' } }
    const path = `/api/users/${user.id}/actions/reset`
    assertDone(await dashboard.call('POST', path, { as: user, body: reset, headers: CURL }), 'User password updated')
    assert.ok(await opens(dashboard, user, 'top-secret-1'))
  }
  const [first, second] = users as [TestUser, TestUser]
  assert.deepEqual((await read(dashboard, second, second.id)).user_permissions, {
    ...{ apis: 'write', keys: 'write', policies: 'deny' },
  })

  const group = { name: 'Team', description: '', active: true, user_permissions: { apis: 'write', oauth: 'deny' } }
  const made = bodyOf(await dashboard.call('POST', '/api/usergroups', { as: first, body: group, headers: CURL }))
  assert.match(String(made.Meta), /^[0-9a-f]{24}$/)
})

test('the assertions of the demo about organisations and users hold', async (t) => {
  const dashboard = await dashboardFor(t, { env: DEMO })
  const admin = installation(dashboard)
  const made = bodyOf(await admin('POST', '/admin/organisations/', { owner_name: 'Postman', owner_slug: 'postman' }))
  assert.equal(made.Message, 'Org created')
  const org = String(made.Meta)
  const { organisations } = bodyOf(await admin('GET', '/admin/organisations/'))
  assert.ok((organisations as JsonObject[]).some(({ owner_name: name }) => name === 'Postman'))
  assertDone(await admin('PUT', `/admin/organisations/${org}`, { owner_name: 'Postman 2' }), 'Org updated')
  assertDone(await admin('DELETE', `/admin/organisations/${org}`), 'Org deleted')
  assert.equal((await admin('GET', `/admin/organisations/${org}`)).status, 404)

  const as = await dashboard.admin()
  const body = { first_name: 'P', last_name: 'M', email_address: 'Mixed@Case.test', active: true }
  const user_permissions = { IsAdmin: 'admin' }
  const created = bodyOf(await dashboard.call('POST', '/api/users', { as, body: { ...body, user_permissions } }))
  assert.equal(created.Message, 'User and session have been created')
  const id = String(created.Meta)
  const user = await read(dashboard, as, id)
  assert.deepEqual([user.org_id, user.user_permissions, user.access_key], [dashboard.orgId, user_permissions, ''])
  assert.ok(user.created_at)
  assert.equal(user.email_address, 'mixed@case.test')
  assertDone(
    await dashboard.call('PUT', `/api/users/${id}`, { as, body: { ...user, email_address: 'New@Case.test' } }),
    'User updated',
  )
  assert.equal((await read(dashboard, as, id)).email_address, 'new@case.test')
  assert.equal((await dashboard.call('PUT', `/api/users/${id}/actions/key/reset`, { as })).status, 403)
  assertDone(await dashboard.call('DELETE', `/api/users/${id}`, { as }), 'User deleted')
})

test('one person is made in two organisations with one address, and sets the password in each', async (t) => {
  const dashboard = await dashboardFor(t, { env: DEMO })
  const admin = installation(dashboard)
  const users: TestUser[] = []
  for (const orgId of [dashboard.orgId, await dashboard.organisation()]) {
    const body = {
      email_address: 'multi@demo.test',
      active: true,
      org_id: orgId,
      user_permissions: { IsAdmin: 'admin' },
    }
    users.push(asUser(bodyOf(await admin('POST', '/admin/users', body)).Meta as JsonObject))
  }
  for (const user of users) {
    const path = `/api/users/${user.id}/actions/reset`
    const answer = await dashboard.call('POST', path, { as: user, body: { new_password: 'top-secret-1' } })
    assertDone(answer, 'User password updated')
    assert.ok(await opens(dashboard, user, 'top-secret-1'))
  }
})

test('the bootstrap of a cluster finds or creates organisation and user, and sets the password', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = installation(dashboard)
  const { organisations } = bodyOf(await admin('GET', '/admin/organisations'))
  assert.ok((organisations as JsonObject[]).every(({ owner_name: name }) => typeof name === 'string' && name !== 'TYK'))
  const body = { owner_name: 'Default Org.', cname_enabled: true, cname: 'portal.test' }
  const org_id = String(bodyOf(await admin('POST', '/admin/organisations', body)).Meta)
  const draft = { org_id, first_name: 'D', last_name: 'U', email_address: 'default@cluster.test', active: true }
  const user_permissions = { IsAdmin: 'admin' }
  const made = bodyOf(await admin('POST', '/admin/users', { ...draft, password: 'top-secret-1', user_permissions }))
  const user = asUser(made.Meta as JsonObject)
  assert.equal(made.Message, user.key)
  assert.ok(await opens(dashboard, user, 'top-secret-1'))
  const headers = { authorization: `Bearer ${user.key}` }
  bodyOf(await dashboard.call('GET', '/api/users', { headers }))
})

test('the docker demo cuts the text of answers, which stands as it expects', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = installation(dashboard)
  const org = await admin(
    'POST',
    '/admin/organisations/',
    '{"owner_name": "D", "cname_enabled": true, "cname": "p.test"}',
  )
  const orgId = /"Meta":"([0-9a-f]{24})"/.exec(org.text)?.[1]
  assert.equal(org.text, `{"Status":"OK","Message":"Org created","Meta":"${orgId}"}`)
  const user = await admin('POST', '/admin/users/', {
    ...{ first_name: 'J', last_name: 'S', email_address: 'j@docker.test', active: true, org_id: orgId },
  })
  const key = /^\{"Status":"OK","Message":"([0-9a-f]+)","Meta":\{"id":"([0-9a-f]{24})"/.exec(user.text)
  assert.ok(key, user.text)
  const path = `/api/users/${key[2]}/actions/reset`
  const headers = { authorization: key[1]!, ...CURL }
  assertDone(
    await dashboard.call('POST', path, { headers, body: '{"new_password":"top-secret-1"}' }),
    'User password updated',
  )
})

test('the asynchronous client: a temporary super admin, users, groups, search, self-deletion', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = installation(dashboard)
  const root = asUser(
    bodyOf(await admin('POST', '/admin/users', { first_name: 'S', last_name: 'A', email_address: 'super@client.test' }))
      .Meta as JsonObject,
  )
  const body = { email_address: 'worker@client.test', active: true, org_id: dashboard.orgId }
  const shown = bodyOf(await admin('POST', '/admin/users', body)).Meta as JsonObject
  const worker = asUser(shown)
  const put = bodyOf(await admin('PUT', `/admin/users/${worker.id}`, { ...shown, password: 'top-secret-1' }))
  assert.deepEqual([put.Message, (put.Meta as JsonObject).access_key], [worker.key, worker.key])
  assert.ok(await opens(dashboard, worker, 'top-secret-1'))
  assert.equal(bodyOf(await dashboard.call('GET', '/api/users/me', { as: worker })).id, worker.id)

  const search = { filters: { query: 'client.test' } }
  const { users } = bodyOf(await dashboard.call('POST', '/api/users/search', { as: root, body: search }))
  assert.deepEqual((users as JsonObject[]).map(({ org_id }) => org_id).sort(), ['', dashboard.orgId])

  const call = (method: string, path: string, more?: unknown) =>
    dashboard.call(method, path, { as: worker, body: more })
  const group = {
    name: 'g',
    description: 'd',
    active: true,
    user_permissions: { system: 'deny' },
    password_max_days: 30,
  }
  const id = String(bodyOf(await call('POST', '/api/usergroups', group)).Meta)
  const { groups } = bodyOf(await call('GET', '/api/usergroups?p=-1'))
  assert.deepEqual(groups, [{ id, org_id: dashboard.orgId, ...group }])
  assertDone(await call('PUT', `/api/usergroups/${id}`, { ...group, id, name: 'h' }), 'User group updated')
  assertDone(await call('DELETE', `/api/usergroups/${id}`), 'User group deleted')

  assertDone(await dashboard.call('DELETE', `/api/users/${root.id}`, { as: root }), 'User deleted')
  assertRefused(await dashboard.call('GET', '/api/users', { as: root }), 401, 'Not authorised')
})
