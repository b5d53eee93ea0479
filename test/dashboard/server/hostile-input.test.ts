import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

async function world(t: TestContext) {
  const dashboard = await startTestDashboard()
  t.after(() => dashboard.close())
  const admin = await dashboard.admin()
  const send = (method: string, path: string, body: unknown) => dashboard.call(method, path, { as: admin, body })
  return { ...dashboard, admin, send }
}

test('members that are ours to write, and organisations of others, cannot be sent', async (t) => {
  const { send, store, orgId, organisation, user } = await world(t)
  const other = await organisation()
  const victim = await user({ apis: 'read' }, { orgId: other })
  const smuggled: JsonObject = {
    ...{ id: victim.id, _id: victim.id, org_id: other, access_key: 'k'.repeat(32), access_hmac: 'a'.repeat(64) },
    ...{ access_sealed: 'x', password_hash: '$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA', PWHistory: ['x'], revision: 9 },
    ...{
      totp: { sealed: 'x' },
      passkeys: [{ id: 'x' }],
      recovery_codes: ['x'],
      last_login_date: '2030-01-01T00:00:00Z',
    },
  }
  const person = { first_name: 'A', last_name: 'B', email_address: 'a@example.test', active: true }
  const made = await send('POST', '/api/users', { ...smuggled, ...person, user_permissions: { apis: 'read' } })
  assert.equal(made.status, 200, made.text)
  const { Meta: id } = made.json as { Meta: string }
  assert.notEqual(id, victim.id)
  const check = async () => {
    const { body } = (await store.documents.get('user', id as never))!
    assert.equal(body.org_id, orgId)
    for (const name of Object.keys(smuggled).filter((each) => !['id', '_id', 'org_id'].includes(each)))
      assert.notDeepEqual(body[name], smuggled[name], name)
  }
  await check()
  assert.equal((await send('PUT', `/api/users/${id}`, { ...smuggled, first_name: 'C' })).status, 200)
  await check()
  for (const [path, kind, body] of [
    ['/api/hooks', 'hook', { name: 'h', method: 'POST', target_path: 'https://h.test/', sealed: 'x' }],
    ['/api/usergroups', 'user_group', { name: 'g', user_permissions: { apis: 'read' } }],
    ['/api/labels', 'label', { name: 'l', values: [] }],
    ['/api/assets', 'asset', { kind: 'oas-template', name: 'a', data: {} }],
    ['/api/portal/policies', 'policy', { name: 'p', rate: 1, per: 1 }],
    ['/api/tib/profiles', 'idp_profile', PROFILE],
  ] as const) {
    await send('POST', path, { ...body, org_id: other, OrgID: other })
    assert.equal((await store.documents.list(kind, { where: { org_id: other }, limit: 9 })).total, 0, path)
  }
})

const PROFILE = {
  ...{ ID: 'ad', Name: 'Directory', ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'ADProvider' },
  ProviderConfig: { LDAPServer: 'ldap.test', LDAPUserDN: 'uid=*USERNAME*,dc=test' },
}

test('documents that grow when they are read are refused soon, and nothing of them is stored', async (t) => {
  const { send, store, call } = await world(t)
  const before = await store.documents.revision()
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]']
  for (let i = 1; i < 12; i++)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(',')}]`,
    )
  const laughs = `openapi: 3.0.3\ninfo: {title: x, version: '1'}\npaths: {}\n${lines.join('\n')}\n`
  const circle = "openapi: 3.0.3\ninfo: &i {title: x, version: '1', self: *i}\npaths: {}\n"
  const deep = `openapi: 3.0.3\npaths: ${'{a: '.repeat(5000)}1${'}'.repeat(5000)}\n`
  const keys = `openapi: 3.0.3\npaths: {${Array.from({ length: 10_000 }, (_, i) => `k${i}: 1`).join(', ')}}\n`
  for (const text of [laughs, circle, deep, keys]) {
    for (const path of ['/api/apis/oas', '/api/apis/oas/import']) {
      const cpu = process.cpuUsage()
      const answer = await send('POST', path, text)
      const { user, system } = process.cpuUsage(cpu)
      assert.ok(answer.status >= 400 && answer.status < 500, `${path}: ${answer.status} ${text.slice(0, 40)}`)
      assert.ok(user + system < 10_000_000, `${path} took ${(user + system) / 1e6} s of ${text.slice(0, 40)}`)
    }
  }
  assert.equal(await store.documents.revision(), before)
  assert.equal((await call('GET', '/hello')).status, 200)
})

test('patterns that take for ever are refused, or take no time, wherever one can be sent', async (t) => {
  const { send, call, admin, orgId } = await world(t)
  const bombs = ['^(a+)+$', '(a|a)*b', '([a-z]+)*[0-9]', '(.*)*x', `${'(a?){50}'.repeat(4)}${'a'.repeat(50)}`]
  const api = { api_id: 'orders', name: 'orders', org_id: orgId, active: true, use_keyless: false, auth: {} }
  const proxy = { listen_path: '/orders/', target_url: 'http://127.0.0.1:9/' }
  const version_data = { not_versioned: true, versions: { Default: { name: 'Default' } } }
  assert.equal((await send('POST', '/api/apis', { api_definition: { ...api, proxy, version_data } })).status, 200)
  const cpu = process.cpuUsage()
  for (const url of bombs) {
    const rights = { orders: { api_id: 'orders', versions: ['Default'], allowed_urls: [{ url, methods: ['GET'] }] } }
    for (const [path, body] of [
      ['/api/portal/policies', { name: url, rate: 1, per: 1, access_rights: rights }],
      ['/api/keys', { access_rights: rights }],
      ['/api/keys/preview', { access_rights: rights }],
    ] as const)
      assert.ok([200, 400].includes((await send('POST', path, body)).status), `${path} ${url}`)
    const asked = encodeURIComponent(`${url}${'a'.repeat(2000)}!`)
    for (const path of [
      `/api/apis?q=${asked}`,
      `/api/apis/search?q=${asked}`,
      `/api/portal/policies/search?q=${asked}`,
      `/api/keys/detailed?q=${asked}`,
      `/api/users/search?q=${asked}`,
      `/api/audit-logs?url=${asked}&user=${asked}`,
    ])
      assert.ok((await call('GET', path, { as: admin })).status < 500, path)
  }
  const { user, system } = process.cpuUsage(cpu)
  assert.ok(user + system < 20_000_000, `${(user + system) / 1e6} s`)
})
