import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestDashboardOptions, type TestUser } from '../../worlds/dashboard/harness.ts'

/** The features that programs written for the incumbent rely on, over all nouns. */
async function world(t: TestContext, options: TestDashboardOptions = {}) {
  const dashboard = await startTestDashboard(options)
  t.after(() => dashboard.close())
  const admin = await dashboard.admin()
  return {
    ...dashboard,
    admin,
    async ask(method: string, path: string, body?: unknown, as: TestUser | 'installation' = admin) {
      const { status, text } = await dashboard.call(method, path, { as, body })
      assert.equal(status, 200, `${method} ${path} ${text}`)
      return JSON.parse(text) as JsonObject
    },
  }
}

const LISTS: readonly (readonly [path: string, ...members: string[]])[] = [
  ['/api/apis', 'apis', 'pages'],
  ['/api/apis/search?q=x', 'apis', 'pages'],
  ['/api/users', 'users', 'pages'],
  ['/api/users/search?q=user', 'users', 'pages'],
  ['/api/usergroups', 'groups', 'pages'],
  ['/api/hooks', 'hooks', 'pages'],
  ['/api/certs', 'certs', 'pages'],
  ['/api/certs?mode=detailed', 'cert_basics', 'pages'],
  ['/api/certs/details', 'certificates', 'pages'],
  ['/api/keys/detailed', 'keys', 'pages'],
  ['/api/apis/keys', 'data', 'pages'],
  ['/api/apis/-/keys', 'data', 'pages'],
  ['/api/apis/oauth/orders', 'apps', 'pages'],
  ['/api/audit-logs', 'audit_logs', 'pages'],
  ['/api/labels', 'labels', 'pages'],
  ['/api/portal/policies', 'Data', 'Pages'],
  ['/api/portal/policies/search', 'Data', 'Pages'],
  ['/api/portal/developers', 'Data', 'Pages'],
  ['/api/portal/requests', 'Data', 'Pages'],
  ['/api/portal/pages', 'Data', 'Pages'],
  ['/api/portal/documentation', 'Data', 'Pages'],
]

test('every list has its two members in order, and a page count for empty and complete lists', async (t) => {
  const { ask } = await world(t)
  const oauth = { use_keyless: false, use_oauth2: true, oauth_meta: { allowed_access_types: ['client_credentials'] } }
  await ask('POST', '/api/apis', { api_definition: classicApi('orders', '/orders/', oauth) })
  for (const [path, ...members] of LISTS) {
    const pages = members.at(-1)!
    const more = path.includes('?') ? '&' : '?'
    const first = await ask('GET', path)
    assert.deepEqual([Object.keys(first), first[pages]], [members, 1], path)
    for (const p of ['0', '-1', '-2']) {
      const all = await ask('GET', `${path}${more}p=${p}`)
      assert.deepEqual([Object.keys(all), all[pages]], [members, 0], `${path} p=${p}`)
    }
  }
  const organisations = await ask('GET', '/admin/organisations/', undefined, 'installation')
  assert.deepEqual([Object.keys(organisations), organisations.pages], [['organisations', 'pages'], 1])
})

test('the id of what is made stands where its noun has it', async (t) => {
  const { ask, call, admin } = await world(t)
  const id = /^[0-9a-f]{24}$/
  const envelope = async (path: string, body: unknown, members: readonly string[], as?: 'installation') => {
    const made = await ask('POST', path, body, as)
    assert.deepEqual([Object.keys(made), made.Status], [members, 'OK'], path)
    return made
  }
  const plain = ['Status', 'Message', 'Meta'] as const
  const withId = [...plain, 'ID']
  const api = await envelope('/api/apis/', { api_definition: classicApi('orders', '/orders/') }, withId)
  assert.match(String(api.Meta), id)
  assert.equal(api.ID, 'orders')
  const oas = await envelope('/api/apis/oas', oasApi('pets', '/pets/'), withId)
  assert.match(String(oas.Meta), id)
  const person = { first_name: 'A', last_name: 'B', email_address: 'a@b.test', active: true }
  const inMeta: [string, unknown, 'installation' | undefined][] = [
    ['/api/users', { ...person, user_permissions: { apis: 'read' } }, undefined],
    ['/api/usergroups', { name: 'g', user_permissions: { apis: 'read' } }, undefined],
    ['/admin/organisations', { owner_name: 'Other', owner_slug: 'other' }, 'installation'],
  ]
  for (const [path, body, as] of inMeta) assert.match(String((await envelope(path, body, plain, as)).Meta), id, path)
  const text = Buffer.from('{}').toString('base64')
  for (const [path, body] of [
    ['/api/portal/policies', { name: 'Gold', rate: 1, per: 1 }],
    ['/api/portal/developers', { email: 'd@b.test', fields: {} }],
    ['/api/portal/catalogue', { apis: [] }],
    ['/api/portal/pages', { slug: 'home', title: 'Home' }],
    ['/api/portal/documentation', { api_id: 'orders', documentation: text }],
  ] as const) {
    const made = await envelope(path, body, plain)
    assert.match(String(made.Message), id, path)
    assert.equal(made.Meta, null, path)
  }
  const user = await envelope('/admin/users', { ...person, email_address: 'c@b.test' }, plain, 'installation')
  assert.equal(user.Message, (user.Meta as JsonObject).access_key)
  const hook = await envelope('/api/hooks', { name: 'h', method: 'POST', target_path: 'https://h.test/' }, plain)
  assert.equal(hook.Meta, null)
  const asset = await call('POST', '/api/assets', { as: admin, body: { kind: 'oas-template', name: 'a', data: {} } })
  assert.deepEqual([asset.status, (asset.json as JsonObject).Status], [201, 'success'])
  assert.match(String((asset.json as JsonObject).Meta), id)
})

test('methods are those that clients know: no other one changes anything', async (t) => {
  const { call, admin, user, store } = await world(t)
  const { id } = await user({ apis: 'read' })
  const before = await store.documents.revision()
  for (const [method, path] of [
    ['PUT', `/api/users/${id}/actions/reset`],
    ['POST', `/api/users/${id}/actions/key/reset`],
    ['GET', `/api/users/${id}/actions/key/reset`],
    ['POST', `/api/users/${id}/actions/revoke`],
    ['GET', `/api/users/${id}/actions/revoke`],
    ['POST', `/api/portal/requests/approve/${id}`],
    ['GET', `/api/portal/requests/approve/${id}`],
    ['POST', '/admin/system/reload'],
  ] as const) {
    const body = method === 'GET' ? undefined : { new_password: 'a-Long-enough-1' }
    const { status } = await call(method, path, { as: admin, body })
    assert.ok(status === 404 || status === 405, `${method} ${path} ${status}`)
  }
  assert.equal(await store.documents.revision(), before)
})

test('empty permissions make an administrator in the admin API, and are refused by the dashboard', async (t) => {
  const { ask, call, admin, orgId } = await world(t)
  const person = {
    first_name: 'A',
    last_name: 'B',
    email_address: 'a@b.test',
    active: true,
    password: 'correct horse 1',
  }
  const made = await ask('POST', '/admin/users', { ...person, org_id: orgId }, 'installation')
  const key = String(made.Message)
  assert.equal((await call('GET', '/api/apis', { headers: { authorization: key } })).status, 200)
  for (const user_permissions of [undefined, {}]) {
    const body = { ...person, email_address: 'b@b.test', user_permissions }
    const refused = await call('POST', '/api/users', { as: admin, body })
    assert.equal(refused.status, 403)
    assert.match(refused.text, /To create a user specify at least one permission, or make them an admin\./)
  }
  const { Meta } = await ask('POST', '/api/users', {
    ...person,
    email_address: 'b@b.test',
    user_permissions: { IsAdmin: 'false' },
  })
  const { access_key } = await ask('GET', `/api/users/${Meta}`)
  assert.equal((await call('GET', '/api/apis', { headers: { authorization: String(access_key) } })).status, 403)
})
