import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { keyWorld, policyOf, rightsOn } from '../../worlds/dashboard/key-world.ts'

// The calls of real clients, in their order and with their habits of writing requests.

const URL_ENCODED = { 'content-type': 'application/x-www-form-urlencoded' }

interface List {
  readonly Data: readonly JsonObject[]
  readonly Pages: number
}

test('tyk-sync: policies survive dump, wipe and sync but for storage ids and times', async (t) => {
  const { call, root, clock } = await keyWorld(t)
  const path = '/api/portal/policies'
  const ask = async (method: string, at: string, body?: JsonObject) => {
    const answer = await call(method, at, { as: root, ...(body && { body }) })
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  const dump = async () => {
    const list = (await ask('GET', `${path}/?p=-2`)) as unknown as List
    assert.deepEqual([Object.keys(list), list.Pages], [['Data', 'Pages'], 0])
    return Promise.all(
      list.Data.map(async (listed) => {
        assert.match(String(listed._id), /^[0-9a-f]{24}$/)
        const read = await ask('GET', `${path}/${listed._id}`)
        assert.deepEqual(read, listed)
        return read
      }),
    )
  }
  const sent = [
    policyOf('free', ['a', 'not-there-yet'], { quota_max: -1, tags: ['t'], partitions: { quota: true, acl: true } }),
    policyOf('per-api', ['a'], { partitions: { per_api: true }, state: 'draft', is_inactive: false, active: false }),
    { id: 'without-rights', name: 'populate-apis makes such ones', own_field: { a: [null, 1] } },
  ]
  for (const body of sent) {
    const { Message, Status } = await ask('POST', `${path}/`, body)
    assert.match(String(Message), /^[0-9a-f]{24}$/)
    assert.equal(Status, 'OK')
    clock.advance(1000)
  }
  const before = await dump()
  const timeless = (policies: readonly JsonObject[]) => policies.map(({ _id, last_updated, ...rest }) => rest)
  for (const { _id } of before) assert.equal((await ask('DELETE', `${path}/${_id}`)).Status, 'OK')
  assert.deepEqual(await ask('GET', `${path}?p=-2`), { Data: [], Pages: 0 })
  for (const { _id, ...policy } of before) {
    clock.advance(1000)
    await ask('POST', `${path}/`, policy)
  }
  const after = await dump()
  assert.deepEqual(timeless(after), timeless(before))
  // An update: the file's ids and organisation are rewritten to those of the target.
  for (const policy of after) await ask('PUT', `${path}/${policy._id}`, { ...policy, name: `${policy.name}!` })
  assert.deepEqual(
    timeless(await dump()),
    timeless(before).map((policy) => ({ ...policy, name: `${policy.name}!` })),
  )
})

test('tyk-demo: policies with both ids, a basic user, a key, an OAuth client, by curl -d', async (t) => {
  const { call, root, api, oauth, gateway, origin } = await gatewayWorld(t)
  await api('demo', { definition: { proxy: { listen_path: '/demo/', target_url: origin.url } } })
  await oauth({ id: 'shop' })
  const post = async (path: string, body: JsonObject) => {
    const answer = await call('POST', path, { as: root, body, headers: URL_ENCODED })
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  const _id = '5f08f5d2c55b8c6f0a4d1c77'
  const policy = { ...policyOf('demo-policy', ['demo', 'shop']), _id, org_id: root.orgId }
  assert.equal((await post('/api/portal/policies', policy)).Message, _id)
  const rights = { apply_policies: [_id] }
  const listed = (await call('GET', '/api/portal/policies?p=-1', { as: root })).json as unknown as List
  assert.deepEqual(
    listed.Data.map(({ id }) => id),
    ['demo-policy'],
  )
  assert.equal((await call('POST', '/api/keys', { as: root, body: rights })).status, 200)
  const session = { apply_policies: ['demo-policy'], org_id: root.orgId, meta_data: {} }
  await post('/api/apis/keys/basic/basic-user', { ...session, basic_auth_data: { password: 'a long password' } })
  const { key_id: key, key_hash: hash } = await post('/api/keys', session)
  assert.ok(String(key).length > 0 && String(hash).length > 0)
  const used = () => gateway.call('/demo/', { headers: { authorization: String(key) } })
  assert.equal((await used()).status, 200)
  const client = {
    client_id: 'demo-client',
    secret: 'demo-secret',
    redirect_uri: 'https://demo.test/cb',
    policy_id: 'demo-policy',
  }
  const made = await post('/api/apis/oauth/shop', client)
  assert.deepEqual({ ...made, ...client }, made)
  const gone = await call('DELETE', `/api/apis/demo/keys/${key}`, { as: root })
  assert.equal((gone.json as JsonObject).Status, 'OK')
  assert.equal((await used()).status, 403)
})

test('the Python module: both headers, - for the API, auto_guess, update without meta_data', async (t) => {
  const { call, root, policy } = await keyWorld(t)
  await policy('gold', ['a'])
  const headers = { authorization: root.key, 'admin-auth': 'whatever', 'content-type': 'application/json' }
  const ask = async (method: string, path: string, body?: JsonObject) => {
    const answer = await call(method, path, { headers, ...(body && { body }) })
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  await ask('POST', '/api/keys/my-own-custom-key', { access_rights: rightsOn('a') })
  const made = await ask('POST', '/api/keys', { apply_policies: ['gold'], alias: 'script' })
  const { data } = await ask('GET', '/api/apis/-/keys?p=-1')
  const { keys: names } = data as { keys: string[] }
  assert.equal(names.length, 2)
  const { keys } = (await ask('GET', '/api/keys/detailed/?p=-1')) as unknown as { keys: JsonObject[] }
  for (const { key_id, key_hash, data: session } of keys) {
    const name = key_id === '' ? key_hash : key_id
    const read = await ask('GET', `/api/keys/${name}/?auto_guess=true`)
    assert.deepEqual(read.data, session)
    const { meta_data: _none, ...rest } = session as JsonObject
    await ask('PUT', `/api/keys/${name}/?auto_guess=true`, rest)
    await ask('GET', `/api/apis/-/keys/${name}?hashed=true`)
    assert.equal((await ask('DELETE', `/api/keys/${name}/?auto_guess=true`)).Status, 'OK')
  }
  assert.ok(keys.some(({ key_hash }) => key_hash === made.key_hash))
  assert.deepEqual(await ask('GET', '/api/apis/-/keys'), { data: { keys: [] }, pages: 1 })
})

test('the generated SDK sends Bearer, a portal asks for a key by hash without a value', async (t) => {
  const { call, root, policy, key, api } = await keyWorld(t)
  await api('a')
  await policy('gold', ['a'])
  const { hash } = await key({ apply_policies: ['gold'] })
  const headers = { authorization: `Bearer ${root.key}` }
  const answer = await call('GET', `/api/apis/a/keys/${hash}?hashed`, { headers })
  assert.equal((answer.json as JsonObject).key_hash, hash)
  assert.match(String(answer.headers['content-type']), /^application\/json/)
  const page = await call('GET', '/api//portal//policies/?accept_additional_properties=true', { headers })
  assert.equal(page.status, 200)
})
