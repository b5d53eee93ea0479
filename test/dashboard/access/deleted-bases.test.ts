import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { startTestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'

const WRITES = ['apis', 'policies', 'keys', 'portal', 'oauth', 'hooks', 'analytics', 'audit_logs', 'api_assets', 'idm']
const MAY = { IsAdmin: 'false', ...Object.fromEntries(WRITES.map((name) => [name, 'write'])) }
/** Never ends. */
const SKIPPED = '/api/logs/live'
const SECRETS = ['HMAC-SECRET', 'META-SECRET', 'CATALOGUE-SECRET', 'REQUEST-SECRET']

const api = (id: string) => defined({ id, url: 'http://127.0.0.1:1', keyIn: 'Authorization' })
const policy = (id: string, apiId: string, more: JsonObject = {}): JsonObject => {
  return { id, name: id, active: true, rate: 1, per: 1, quota_max: -1, access_rights: rights(apiId), ...more }
}

/** With ownership on: an API of one user with one of each thing that is based on it, and a colleague who owns nothing. */
async function ownedWorld(t: TestContext) {
  const dashboard = await startTestDashboard({ env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  t.after(dashboard.close)
  const { call, user } = dashboard
  const [owner, other, root] = [await user(MAY), await user(MAY), await dashboard.admin()]
  const send = async (as: TestUser, method: string, path: string, body?: unknown) => {
    const { status, text, json } = await call(method, path, { as, body })
    assert.equal(status, 200, `${method} ${path}: ${text}`)
    return json as JsonObject
  }
  await send(owner, 'POST', '/api/apis/oas', api('sold'))
  await send(owner, 'POST', '/api/portal/policies', policy('gold', 'sold'))
  const key = await send(owner, 'POST', '/api/keys', {
    ...{ apply_policies: ['gold'], alias: 'CUSTOMER', hmac_enabled: true, hmac_string: 'HMAC-SECRET' },
    meta_data: { password: 'META-SECRET' },
  })
  const developerOf = async (email: string) =>
    (await send(owner, 'POST', '/api/portal/developers', { email, password: 'a-Passw0rd', fields: {} })).Message
  const [developer, asking] = [await developerOf('dev@a.test'), await developerOf('asks@a.test')]
  const held = await send(owner, 'POST', `/api/portal/developers/${developer}/keys`, { apply_policies: ['gold'] })
  await send(owner, 'POST', '/api/portal/requests', {
    ...{ by_user: asking, for_plan: 'gold', version: 'v2', fields: { password: 'REQUEST-SECRET' } },
  })
  await send(owner, 'POST', '/api/portal/documentation', {
    ...{ api_id: 'sold', doc_type: 'swagger', documentation: Buffer.from('text').toString('base64') },
  })
  await send(owner, 'POST', '/api/portal/catalogue', {})
  const entry = { name: 'OFFER', short_description: '', show: true, policy_id: 'gold', version: 'v2' }
  await send(owner, 'PUT', '/api/portal/catalogue', { apis: [{ ...entry, config: { password: 'CATALOGUE-SECRET' } }] })
  const hash = String(key.key_hash)
  const marks = [...SECRETS, hash, 'CUSTOMER', 'OFFER', ...(typeof held.key_hash === 'string' ? [held.key_hash] : [])]
  const ids = ['sold', 'gold', hash, String(developer)]
  /** The marks that a user is shown by any call that reads. */
  const shown = async (as: TestUser) => {
    const found = new Set<string>()
    for (const { method, path, access } of dashboard.dashboard.routes) {
      if (method !== 'GET' || path === SKIPPED || access === 'public' || access === 'installation') continue
      for (const id of path.includes('{') ? ids : ['']) {
        const { text } = await call('GET', `${path.replaceAll(/\{[^}]*\}/g, id)}?hashed=1`, { as })
        for (const mark of marks) if (text.includes(mark) && !(id === mark)) found.add(`${path}: ${mark}`)
      }
    }
    return [...found].sort()
  }
  return { ...dashboard, owner, other, root, send, hash, developer, shown }
}

for (const [what, path] of [
  ['an API', '/api/apis/oas/sold'],
  ['a policy', '/api/portal/policies/gold'],
] as const)
  test(`what was based on ${what} that is deleted stays with its owners`, async (t) => {
    const { call, owner, other, root, send, hash, shown } = await ownedWorld(t)
    const before = await shown(other)
    await send(owner, 'DELETE', path)
    assert.deepEqual(await shown(other), before)
    const keyPath = `/api/keys/${hash}?hashed=1`
    const key = { apply_policies: ['gold'], alias: 'taken' }
    for (const [method, body] of [['GET'], ['PUT', key], ['DELETE']] as const)
      assert.equal((await call(method, keyPath, { as: other, body })).status, 401, method)
    const read = await call('GET', keyPath, { as: owner })
    assert.match(read.text, /HMAC-SECRET/)
    await send(owner, 'DELETE', keyPath)
    await send(root, 'GET', '/api/portal/catalogue')
  })

test('the ids of a deleted API and policy go to their owners and administrators alone', async (t) => {
  const { call, owner, other, root, send } = await ownedWorld(t)
  await send(owner, 'DELETE', '/api/portal/policies/gold')
  await send(owner, 'DELETE', '/api/apis/oas/sold')
  await send(other, 'POST', '/api/apis/oas', api('own'))
  assert.equal((await call('POST', '/api/apis/oas', { as: other, body: api('sold') })).status, 409)
  const theirs = policy('gold', 'own')
  assert.equal((await call('POST', '/api/portal/policies', { as: other, body: theirs })).status, 409)
  const checked = await send(other, 'POST', '/api/moves/check', {
    apis: [{ id: 'sold', format: 'oas', definition: api('sold') }],
  })
  assert.deepEqual(
    (checked.obstacles as JsonObject[]).map(({ kind, id }) => [kind, id]),
    [['api', 'sold']],
  )
  await send(owner, 'POST', '/api/apis/oas', api('sold'))
  await send(owner, 'POST', '/api/portal/policies', policy('gold', 'sold'))
  await send(owner, 'DELETE', '/api/portal/policies/gold')
  await send(owner, 'DELETE', '/api/apis/oas/sold')
  await send(root, 'POST', '/api/apis/oas', api('sold'))
  await send(root, 'POST', '/api/portal/policies', policy('gold', 'sold'))
})

test('an API that nobody in particular owned leaves what was based on it to all', async (t) => {
  const { call, owner, other, root, send } = await ownedWorld(t)
  await send(root, 'POST', '/api/apis/oas', api('open'))
  await send(root, 'POST', '/api/portal/policies', policy('free', 'open'))
  await send(root, 'DELETE', '/api/apis/oas/open')
  for (const as of [owner, other]) assert.equal((await call('GET', '/api/portal/policies/free', { as })).status, 200)
  await send(other, 'POST', '/api/apis/oas', api('open'))
})

test('without ownership owners of what is deleted are not remembered', async (t) => {
  const dashboard = await startTestDashboard()
  t.after(dashboard.close)
  const { call, store } = dashboard
  const as = await dashboard.admin()
  await call('POST', '/api/apis/oas', { as, body: api('sold') })
  await call('DELETE', '/api/apis/oas/sold', { as })
  const { rows } = await store.documents.list('tombstone', { limit: 9 })
  assert.deepEqual(new Set(rows.map(({ body }) => body.noun)), new Set(['api_id']))
})
