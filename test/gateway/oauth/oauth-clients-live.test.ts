import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { oasApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const CLIENT = { client_id: 'app', secret: 'secret-of-the-app', redirect_uri: 'https://app.example/cb' }
const PASSWORD = 'correct horse'
const BASIC = `Basic ${Buffer.from(`${CLIENT.client_id}:${CLIENT.secret}`).toString('base64')}`

/** Two APIs with the OAuth method, one with the auth-token method, and policies that reach all of them. */
async function withClient(t: TestContext): Promise<TestGateway> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const done = async (method: string, path: string, body: unknown) => {
    const answer = await gate.svc(method, path, body)
    assert.equal(answer.status, 200, answer.text)
  }
  for (const id of ['orders', 'stock']) await done('POST', '/svc/apis', oauthApi(id, origin.url))
  await done('POST', '/svc/apis/oas', oasApi('Plain', '/plain/', { id: 'plain', guarded: true, upstream: origin.url }))
  await done('POST', '/svc/policies', { id: 'gold', access_rights: rightsOn('orders', 'stock', 'plain') })
  await done('POST', '/svc/policies', { id: 'silver', access_rights: rightsOn('orders', 'stock') })
  await done('POST', '/svc/oauth/clients/create', {
    ...CLIENT,
    api_ids: ['orders', 'stock'],
    policies: ['gold', 'silver'],
  })
  return gate
}

function oauthApi(id: string, url: string): JsonObject {
  return {
    api_id: id,
    name: id,
    active: true,
    use_oauth2: true,
    oauth_meta: { allowed_access_types: ['client_credentials', 'password', 'refresh_token'] },
    proxy: { listen_path: `/${id}/`, target_url: url, strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  }
}

async function tokens(
  gate: TestGateway,
  fields: Record<string, string>,
): Promise<Pick<Answer, 'status' | 'headers'> & { body: JsonObject }> {
  const { status, headers, json } = await gate.call('/orders/oauth/token', {
    method: 'POST',
    headers: { authorization: BASIC, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })
  return { status, headers, body: json as JsonObject }
}

async function token(gate: TestGateway): Promise<string> {
  const { status, body } = await tokens(gate, { grant_type: 'client_credentials' })
  assert.equal(status, 200)
  return String(body.access_token)
}

const use = async (gate: TestGateway, text: string, api = 'orders') =>
  (await gate.call(`/${api}/x`, { headers: { authorization: `Bearer ${text}` } })).status

for (const [what, method, path, body] of [
  ['the client is deleted here', 'DELETE', 'oauth/clients/orders/app', undefined],
  ['all of its tokens are revoked', 'POST', 'oauth/revoke_all', 'client_id=app&client_secret=secret-of-the-app'],
  ['it loses its last policy', 'PUT', 'oauth/clients/orders/app', { ...CLIENT, policies: [] }],
  ['one of its policies is deleted', 'DELETE', 'policies/silver', undefined],
] as const) {
  test(`a token that was just used is refused by the very next request, at every API, once ${what}`, async (t) => {
    const gate = await withClient(t)
    const text = await token(gate)
    for (const api of ['orders', 'plain']) assert.equal(await use(gate, text, api), 200, api)
    assert.equal((await gate.svc(method, `/svc/${path}`, body)).status, 200)
    for (const api of ['orders', 'plain']) assert.ok([401, 403].includes(await use(gate, text, api)), api)
  })
}

test('a token ends with the API that issued it, and not with another API of its client', async (t) => {
  const gate = await withClient(t)
  const text = await token(gate)
  assert.equal((await gate.svc('DELETE', '/svc/apis/stock')).status, 200)
  assert.deepEqual([await use(gate, text), await use(gate, text, 'plain')], [200, 200])
  assert.equal((await gate.svc('DELETE', '/svc/apis/orders')).status, 200)
  assert.equal(await use(gate, text, 'plain'), 403)
})

test('a revoked token is refused by the next request; others of its client stay valid', async (t) => {
  const gate = await withClient(t)
  const [one, other] = [await token(gate), await token(gate)]
  assert.deepEqual([await use(gate, one), await use(gate, other)], [200, 200])
  const { status } = await gate.svc('POST', '/svc/oauth/revoke', `token=${one}&client_id=app`)
  assert.equal(status, 200)
  assert.deepEqual([await use(gate, one), await use(gate, other)], [401, 200])
})

test('what leaves the tokens alone: another secret, another description, an edited policy', async (t) => {
  const gate = await withClient(t)
  const text = await token(gate)
  await gate.svc('PUT', '/svc/oauth/clients/orders/app', {
    ...CLIENT,
    policies: ['gold', 'silver'],
    description: 'new',
  })
  await gate.svc('PUT', '/svc/policies/silver', { access_rights: rightsOn('orders'), rate: 1000, per: 1 })
  await gate.svc('PUT', '/svc/oauth/clients/orders/app/rotate')
  assert.equal(await use(gate, text), 200)
  assert.equal((await tokens(gate, { grant_type: 'client_credentials' })).status, 401)
})

test('a user of the keys call gets tokens by password until deactivated or deleted', async (t) => {
  const gate = await withClient(t)
  const user = { access_rights: rightsOn('orders'), basic_auth_data: { password: PASSWORD } }
  const grant = (password = PASSWORD) => tokens(gate, { grant_type: 'password', username: 'bob', password })
  assert.equal((await grant()).status, 400)
  await gate.svc('POST', '/svc/keys/bob', user)
  const given = await grant()
  assert.equal(given.status, 200)
  const text = String(given.body.access_token)
  assert.deepEqual([await use(gate, text), await use(gate, text, 'plain')], [200, 403])
  const wrong = await grant('correct horsE')
  assert.deepEqual([wrong.status, wrong.body.error], [400, 'invalid_grant'])
  const row = JSON.stringify(await gate.store.tokens.listSessions({ clientId: 'app', limit: 10 }))
  assert.ok(!row.includes('argon2') && !row.includes(PASSWORD))
  await gate.svc('PUT', '/svc/keys/bob', { access_rights: rightsOn('orders'), is_inactive: true })
  assert.equal((await grant()).status, 400)
  await gate.svc('DELETE', '/svc/keys/bob')
  assert.equal((await grant()).status, 400)
})

test('the password of a user is tried six times, then the answer is to wait', async (t) => {
  const gate = await withClient(t)
  const seen: [number, string | undefined][] = []
  for (let i = 0; i < 7; i++) {
    const { status, headers } = await tokens(gate, { grant_type: 'password', username: 'nobody', password: 'x' })
    seen.push([status, headers['retry-after']])
  }
  assert.deepEqual(seen, [...Array(6).fill([400, undefined]), [429, '1']])
})
