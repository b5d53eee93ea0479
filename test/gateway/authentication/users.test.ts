import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { basicUserHash } from '../../../src/publish/keys/basic-auth-users.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { classicApi, oasApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const PASSWORD = 'correct horse'

async function withApi(t: TestContext, env: Record<string, string> = {}): Promise<TestGateway> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env, accessLog: true })
  t.after(() => gate.close())
  const api = oasApi('Orders', '/orders/', { id: 'orders', guarded: true, upstream: origin.url })
  assert.equal((await gate.svc('POST', '/svc/apis/oas', api)).status, 200)
  return gate
}

/** Makes an API in an organisation, and a session with access to it. */
async function userOf(gate: TestGateway, orgId: string, more: JsonObject = {}): Promise<JsonObject> {
  const api = classicApi(orgId, `/${orgId}/`, { api_id: orgId, org_id: orgId, use_keyless: false })
  assert.equal((await gate.svc('POST', '/svc/apis', api)).status, 200)
  return user({ access_rights: rightsOn(orgId), ...more })
}

const seen = (answer: { json: unknown }) => answer.json as JsonObject
const user = (more: JsonObject = {}): JsonObject => ({
  access_rights: rightsOn('orders'),
  basic_auth_data: { password: PASSWORD },
  ...more,
})
const hashOf = (name: string, orgId = '') =>
  basicUserHash({ sealKey: Buffer.alloc(32, 7) }, orgId, name).toString('hex')

test('a session with a name and a password is a user under that name', async (t) => {
  const gate = await withApi(t)
  const made = await gate.svc('POST', '/svc/keys/bob', user({ alias: 'b' }))
  assert.deepEqual(seen(made), { key: '', status: 'ok', action: 'added', key_hash: hashOf('bob') })
  for (const path of ['/svc/keys/bob', '/svc/keys/bob?username=true', `/svc/keys/${hashOf('bob')}?hashed=true`]) {
    const shown = await gate.svc('GET', path)
    assert.equal(shown.status, 200, path)
    assert.deepEqual(seen(shown).basic_auth_data, { hash_type: 'argon2id' })
    assert.equal(seen(shown).alias, 'b')
  }
  const changed = await gate.svc('PUT', '/svc/keys/bob', user({ tags: ['t'] }))
  assert.equal(seen(changed).action, 'modified')
  assert.deepEqual(seen(await gate.svc('GET', '/svc/keys/bob')).tags, ['t'])
  assert.equal(seen(await gate.svc('POST', '/svc/keys/bob', user())).action, 'modified')
  assert.equal((await gate.svc('POST', '/svc/keys/bob/rotate')).status, 400)
  assert.equal(seen(await gate.svc('DELETE', '/svc/keys/bob')).action, 'deleted')
  assert.equal((await gate.svc('GET', '/svc/keys/bob')).status, 404)
  assert.equal((await gate.svc('PUT', '/svc/keys/bob', user())).status, 404)
})

test('the password is in no answer, no log line and no stored row', async (t) => {
  const gate = await withApi(t)
  const answers = [
    await gate.svc('POST', '/svc/keys/bob', user()),
    await gate.svc('GET', '/svc/keys/bob'),
    await gate.svc('PUT', '/svc/keys/bob', user()),
    await gate.svc('GET', '/svc/keys'),
    await gate.svc('POST', '/svc/keys/preview', user()),
    await gate.svc('POST', '/svc/keys/ann', user({ basic_auth_data: { password: 'tiny-pw' } })),
    await gate.svc('DELETE', '/svc/keys/bob'),
  ]
  assert.equal(answers[5]!.status, 400)
  assert.match(answers[5]!.text, /The password does not meet the rules: must NOT have fewer than 8/)
  const { rows } = await gate.store.tokens.listSessions({ limit: 10 })
  const everything = JSON.stringify([
    answers.map(({ text, headers }) => [text, headers]),
    gate.log,
    gate.accessLines,
    rows,
  ])
  for (const secret of [PASSWORD, 'tiny-pw', '$argon2id$']) assert.ok(!everything.includes(secret), secret)
})

test('a user is no key: neither the name, nor the hash, nor what it is made of opens an API', async (t) => {
  const gate = await withApi(t)
  await gate.svc('POST', '/svc/keys/a-user-name-of-length', user())
  for (const credential of [
    'a-user-name-of-length',
    hashOf('a-user-name-of-length'),
    '["user","","a-user-name-of-length"]',
  ]) {
    const answer = await gate.call('/orders/x', { headers: { authorization: credential } })
    assert.equal(answer.status, 403, credential)
  }
})

test('a key and a user may have one name: the key is meant unless the query says username', async (t) => {
  const gate = await withApi(t)
  const name = 'name-of-both-of-them'
  await gate.svc('POST', `/svc/keys/${name}`, { access_rights: rightsOn('orders'), alias: 'key' })
  await gate.svc('POST', `/svc/keys/${name}`, user({ alias: 'user' }))
  assert.equal(seen(await gate.svc('GET', `/svc/keys/${name}`)).alias, 'key')
  assert.equal(seen(await gate.svc('GET', `/svc/keys/${name}?username=1`)).alias, 'user')
  await gate.svc('DELETE', `/svc/keys/${name}?username=1`)
  assert.equal((await gate.call('/orders/x', { headers: { authorization: name } })).status, 200)
})

test('users belong to an organisation, which the query or the session names', async (t) => {
  const gate = await withApi(t)
  await gate.svc('POST', '/svc/keys/bob?org_id=one', await userOf(gate, 'one', { alias: '1' }))
  await gate.svc('POST', '/svc/keys/bob', await userOf(gate, 'two', { org_id: 'two', alias: '2' }))
  assert.equal((await gate.svc('GET', '/svc/keys/bob')).status, 404)
  assert.equal(seen(await gate.svc('GET', '/svc/keys/bob?org_id=one')).alias, '1')
  assert.equal(seen(await gate.svc('GET', '/svc/keys/bob?org_id=two&username=true')).alias, '2')
  assert.equal((await gate.svc('PUT', '/svc/keys/bob?org_id=one', user({ org_id: 'two' }))).status, 400)
})

test('where keys are shown, the handle of a user is organisation and name', async (t) => {
  const gate = await withApi(t, { SVC_GW_HASHKEYS: 'false' })
  const made = await gate.svc('POST', '/svc/keys/bob', await userOf(gate, 'one', { org_id: 'one' }))
  assert.equal(seen(made).key, 'onebob')
  assert.equal((await gate.svc('GET', '/svc/keys/onebob?org_id=one')).status, 200)
})

for (const name of ['%00', 'a%0Ab', 'x'.repeat(257)]) {
  test(`a user name is refused: ${name.slice(0, 10)}`, async (t) => {
    const gate = await withApi(t)
    const refused = await gate.svc('POST', `/svc/keys/${name}`, user())
    assert.equal(refused.status, 400)
  })
}
