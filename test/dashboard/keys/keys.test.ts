import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { checkBasicUser, newBasicAuthThrottle } from '../../../src/publish/keys/basic-auth-users.ts'
import { createKey } from '../../../src/publish/keys/keys.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'
import { keyedApi, keyWorld, refusal, rightsOn } from '../../worlds/dashboard/key-world.ts'
import { useQuota } from '../../worlds/dashboard/quota-use.ts'

const MALFORMED = 'User/Key object validation failed, most likely malformed input: '
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')

test('a key is created, read, changed and deleted by itself and by its hash', async (t) => {
  const { call, root, policy, orgId } = await keyWorld(t)
  await policy('gold', ['a'], { quota_max: 10, quota_renewal_rate: 60 })
  const body = { apply_policies: ['gold'], alias: 'Ada', org_id: 'another', own: { field: 1 } }
  const made = await call('POST', '/api/keys/', { as: root, body })
  const data = made.json as JsonObject
  assert.deepEqual(Object.keys(data), ['api_model', 'key_id', 'key_hash', 'data'])
  const key = String(data.key_id)
  assert.equal(data.key_hash, hashOf(key))
  const session = data.data as JsonObject
  assert.deepEqual([session.org_id, session.alias, session.quota_max, session.own], [orgId, 'Ada', 10, { field: 1 }])
  for (const path of [
    `/api/keys/${key}`,
    `/api/apis/a/keys/${key}/`,
    `/api/apis/-/keys/${key}`,
    `/api/keys/${key}?auto_guess=true`,
  ])
    assert.deepEqual((await call('GET', path, { as: root })).json, data, path)
  const byHash = { ...data, key_id: '' }
  for (const query of ['hashed', 'hashed=1', 'auto_guess=true'])
    assert.deepEqual(
      (await call('GET', `/api/apis/-/keys/${data.key_hash}?${query}`, { as: root })).json,
      byHash,
      query,
    )
  assert.deepEqual(refusal(await call('GET', `/api/keys/${data.key_hash}`, { as: root })), [
    404,
    'Could not retrieve key detail.',
  ])
  const changed = await call('PUT', `/api/keys/${key}?suppress_reset=1`, {
    as: root,
    body: { ...session, alias: 'Grace' },
  })
  assert.deepEqual(
    [(changed.json as JsonObject).key_id, (changed.json as { data: JsonObject }).data.alias],
    [key, 'Grace'],
  )
  const gone = await call('DELETE', `/api/apis/a/keys/${data.key_hash}?auto_guess=true`, { as: root })
  assert.equal(gone.text, '{"Status":"OK","Message":"Key deleted successfully.","Meta":null}')
  for (const method of ['GET', 'DELETE'] as const)
    assert.deepEqual(refusal(await call(method, `/api/keys/${key}`, { as: root })), [
      404,
      'Could not retrieve key detail.',
    ])
  assert.equal((await call('PUT', `/api/keys/${key}`, { as: root, body: session })).status, 404)
})

test('a custom key is kept as given, whatever stands in it', async (t) => {
  const { call, root, policy } = await keyWorld(t)
  await policy('gold', ['a'])
  for (const key of [
    'my-custom-key-0001',
    'a/../../api/users/me',
    '%2e%2e%2f?x=1#hash&y',
    'constructor__proto__',
    '+'.repeat(16),
  ]) {
    const path = `/api/keys/${encodeURIComponent(key)}`
    const made = await call('POST', path, { as: root, body: { apply_policies: ['gold'], alias: key } })
    assert.deepEqual(
      [made.status, (made.json as JsonObject).key_id, (made.json as JsonObject).key_hash],
      [200, key, hashOf(key)],
      key,
    )
    const read = (await call('GET', path, { as: root })).json as { data: JsonObject }
    assert.equal(read.data.alias, key)
    assert.equal((await call('DELETE', path, { as: root })).status, 200)
  }
  for (const key of [
    'short',
    'with space in it all',
    'x'.repeat(2000),
    'with\u0000zero-in-the-key',
    'schlüssel-nummer-eins',
  ])
    assert.equal(
      (await call('POST', `/api/keys/${encodeURIComponent(key)}`, { as: root, body: { apply_policies: ['gold'] } }))
        .status,
      400,
      key,
    )
  assert.equal(
    (await call('POST', `/api/keys/${hashOf('x')}?hashed=1`, { as: root, body: { apply_policies: ['gold'] } })).status,
    400,
  )
  assert.equal((await call('GET', '/api/keys/%C0%AF', { as: root })).status, 400)
})

test('a replaced custom key keeps its date; suppress_reset keeps the counts of quotas', async (t) => {
  const { call, root, policy, clock, store } = await keyWorld(t)
  await policy('gold', ['a'], { quota_max: 5, quota_renewal_rate: 3600 })
  const body = { apply_policies: ['gold'] }
  const made = (await call('POST', '/api/keys/custom-key-number-1', { as: root, body })).json as {
    data: JsonObject
    key_hash: string
  }
  const use = async () => {
    const { body: stored, orgId } = (await store.tokens.getSession(Buffer.from(made.key_hash, 'hex')))!
    await useQuota(store, stored, orgId, made.key_hash, clock)
  }
  await use()
  const remaining = async () =>
    ((await call('GET', '/api/keys/custom-key-number-1', { as: root })).json as { data: JsonObject }).data
      .quota_remaining
  assert.equal(await remaining(), 4)
  clock.advance(1000)
  const kept = await call('POST', '/api/keys/custom-key-number-1?suppress_reset=1', { as: root, body })
  assert.equal((kept.json as { data: JsonObject }).data.date_created, made.data.date_created)
  assert.equal(await remaining(), 4)
  await call('PUT', '/api/keys/custom-key-number-1?suppress_reset=1', { as: root, body })
  assert.equal(await remaining(), 4)
  await call('PUT', '/api/keys/custom-key-number-1', { as: root, body })
  assert.equal(await remaining(), 5)
})

test('basic users are made, found by name, changed and deleted', async (t) => {
  const { call, root, policy, orgId, asked, parts } = await keyWorld(t)
  await policy('gold', ['a'])
  const body = { apply_policies: ['gold'], basic_auth_data: { password: 'correct horse battery' }, org_id: 'another' }
  for (const path of ['/api/apis/keys/basic/ada', '/api/keys/grace', '/api/keys/name%2Fwith%20signs?basic_auth=true'])
    await asked(200, 'POST', path, root, body)
  const ada = await asked(200, 'GET', '/api/keys/ada?username=true', root)
  assert.equal(ada.key_id, 'ada')
  assert.deepEqual((ada.data as JsonObject).basic_auth_data, { hash_type: 'argon2id' })
  assert.equal((ada.data as JsonObject).org_id, orgId)
  assert.ok(!JSON.stringify(ada).includes('$argon2'))
  await asked(200, 'PUT', '/api/apis/-/keys/ada?username=1', root, { apply_policies: ['gold'], alias: 'Countess' })
  const checking = { ...parts, basicAuthThrottle: newBasicAuthThrottle(parts.clock) }
  assert.ok(await checkBasicUser(checking, orgId, 'ada', 'correct horse battery', '127.0.0.1'))
  await asked(200, 'DELETE', '/api/keys/ada?username=true', root)
  assert.equal((await call('GET', '/api/keys/ada?username=true', { as: root })).status, 404)
  // Without a name one is made.
  const unnamed = await asked(200, 'POST', '/api/keys?basic_auth=true', root, body)
  assert.match(String(unnamed.key_id), /^[0-9a-f]{32}$/)
  assert.equal((await call('GET', `/api/keys/${unnamed.key_id}?username=true`, { as: root })).status, 200)
  const weak = { apply_policies: ['gold'], basic_auth_data: { password: 'short' } }
  assert.equal((await call('POST', '/api/apis/keys/basic/bob', { as: root, body: weak })).status, 400)
  assert.equal(
    (await call('POST', '/api/apis/keys/basic/bob', { as: root, body: { apply_policies: ['gold'] } })).status,
    400,
  )
})

test('what is no session is refused in the words of clients and changes nothing', async (t) => {
  const { call, root, policy, store } = await keyWorld(t)
  await policy('gold', ['a'])
  const revision = await store.documents.revision()
  for (const body of [
    { rate: 'x' },
    { access_rights: [] },
    { apply_policies: 'gold' },
    { tags: [1] },
    { basic_auth_data: 5 },
  ]) {
    const [status, text] = refusal(await call('POST', '/api/keys', { as: root, body }))
    assert.equal(status, 400)
    assert.ok(String(text).startsWith(MALFORMED), String(text))
    const previewed = refusal(await call('POST', '/api/keys/preview', { as: root, body }))
    assert.equal(previewed[0], 400)
    assert.match(String(previewed[1]), /^User\/Key object validation failed: /)
  }
  for (const path of ['/api/keys', '/api/keys/preview', '/api/keys/some-custom-key-1', '/api/apis/keys/basic/bob']) {
    assert.deepEqual(refusal(await call('POST', path, { as: root, body: '{"rate":' })), [403, 'Request body malformed'])
    assert.equal((await call('POST', path, { as: root, body: '{"__proto__":{"rate":1}}' })).status, 403)
    assert.equal((await call('POST', path, { as: root, body: '[]' })).status, 400)
  }
  for (const body of [
    {},
    { apply_policies: [] },
    { apply_policies: ['nothing'] },
    { apply_policies: ['gold'], expires: 5 },
  ])
    assert.equal((await call('POST', '/api/keys', { as: root, body })).status, 400, JSON.stringify(body))
  assert.equal(await store.documents.revision(), revision)
})

test('members that are ours cannot be written', async (t) => {
  const { root, policy, asked, store } = await keyWorld(t)
  await policy('gold', ['a'])
  const body = { apply_policies: ['gold'], counter_id: 'x', user_name: 'root', key_hash: 'x', _id: 'x' }
  const { key_hash: hash } = await asked(200, 'POST', '/api/keys', root, body)
  const row = await store.tokens.getSession(Buffer.from(String(hash), 'hex'))
  assert.deepEqual([row?.body.counter_id, row?.body.user_name, row?.orgId], [undefined, undefined, root.orgId])
})

test('a preview shows the session with its policies and stores nothing', async (t) => {
  const { user, policy, asked, store } = await keyWorld(t)
  await policy('gold', ['a'])
  const reader = await user({ keys: 'read' })
  const revision = await store.documents.revision()
  const { key_id, key_hash, data } = await asked(200, 'POST', '/api/keys/preview', reader, { apply_policies: ['gold'] })
  assert.deepEqual([key_id, key_hash, Object.keys((data as JsonObject).access_rights as JsonObject)], ['', '', ['a']])
  assert.equal(await store.documents.revision(), revision)
  await asked(403, 'POST', '/api/keys', reader, { apply_policies: ['gold'] })
})

test('a key for APIs that ask for none is refused', async (t) => {
  const { root, policy, asked, api, parts, orgId } = await keyWorld(t)
  const definition = { ...keyedApi('open'), use_keyless: true }
  await publishApi(parts, { format: 'classic', definition, orgId, actor: 'test' })
  await api('closed')
  await policy('open', ['open'])
  await policy('both', ['open', 'closed'])
  const { Message } = await asked(400, 'POST', '/api/keys', root, { apply_policies: ['open'] })
  assert.match(String(Message), /not possible for keyless APIs/)
  await asked(400, 'POST', '/api/keys', root, { access_rights: rightsOn('open') })
  await asked(200, 'POST', '/api/keys', root, { apply_policies: ['both'] })
})

test('keys of another organisation are refused as such, for every call', async (t) => {
  const { call, root, policy, admin, organisation, key, store, asked } = await keyWorld(t)
  const other = await admin(await organisation())
  await policy('gold', ['a'])
  const ours = await key({ apply_policies: ['gold'] })
  const custom = 'custom-key-of-ours'
  await asked(200, 'POST', `/api/keys/${custom}`, root, { apply_policies: ['gold'] })
  await policy('gold', ['a'], {}, other)
  const body = { apply_policies: ['gold'], org_id: root.orgId }
  for (const [method, path] of [
    ['GET', `/api/keys/${ours.key}`],
    ['GET', `/api/apis/a/keys/${ours.hash}?hashed=1`],
    ['PUT', `/api/keys/${ours.key}`],
    ['PUT', `/api/apis/-/keys/${ours.hash}?auto_guess=true`],
    ['DELETE', `/api/keys/${ours.key}`],
    ['DELETE', `/api/apis/a/keys/${ours.hash}?hashed=1`],
    ['POST', `/api/keys/${custom}`],
  ] as const) {
    const answer = await call(method, path, { as: other, ...(method !== 'GET' && method !== 'DELETE' && { body }) })
    assert.deepEqual(refusal(answer), [400, 'Attempted access to non-owned key.'], `${method} ${path}`)
  }
  const row = await store.tokens.getSession(Buffer.from(hashOf(custom), 'hex'))
  assert.equal(row?.orgId, root.orgId)
  // A user name belongs to each organisation by itself.
  const user = { apply_policies: ['gold'], basic_auth_data: { password: 'correct horse battery' } }
  for (const as of [root, other]) await asked(200, 'POST', '/api/apis/keys/basic/ada', as, user)
  await asked(200, 'DELETE', '/api/keys/ada?username=true', other)
  await asked(200, 'GET', '/api/keys/ada?username=true', root)
  const listed = (await asked(200, 'GET', '/api/keys/detailed?p=-1', other)) as unknown as { keys: unknown[] }
  assert.deepEqual(listed.keys, [])
})

test('two organisations that make one custom key at the same moment: one of them has it', async (t) => {
  const { root, policy, admin, organisation, store, parts } = await keyWorld(t)
  const other = await admin(await organisation())
  await policy('gold', ['a'])
  await policy('gold', ['a'], {}, other)
  const key = 'one-key-for-two-orgs'
  const make = ({ orgId }: TestUser) =>
    createKey(parts, {
      ...{ key, within: orgId, keepQuota: false, actor: 'test' },
      session: { apply_policies: ['gold'], org_id: orgId },
    })
  const made = await Promise.allSettled([make(root), make(other)])
  assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 1)
  const row = await store.tokens.getSession(Buffer.from(hashOf(key), 'hex'))
  assert.equal(row?.orgId, made[0].status === 'fulfilled' ? root.orgId : other.orgId)
})

test('flags turn off what they name', async (t) => {
  const env = {
    SVC_DB_ENABLEUPDATEKEYBYHASH: 'false',
    SVC_DB_ENABLEDELETEKEYBYHASH: 'false',
    SVC_DB_DISABLEKEYACTIONSBYUSERNAME: 'true',
    SVC_DB_ENABLEHASHEDKEYSLISTING: 'false',
  }
  const { call, root, policy, key, asked } = await keyWorld(t, { env })
  await policy('gold', ['a'])
  const made = await key({ apply_policies: ['gold'] })
  await asked(200, 'GET', `/api/keys/${made.hash}?hashed=1`, root)
  await asked(400, 'PUT', `/api/keys/${made.hash}?hashed=1`, root, { apply_policies: ['gold'] })
  await asked(400, 'DELETE', `/api/keys/${made.hash}?auto_guess=true`, root)
  await asked(400, 'GET', '/api/keys/ada?username=true', root)
  for (const path of [
    '/api/apis/keys',
    '/api/apis/-/keys',
    '/api/apis/-/keys/search?q=x',
    '/api/keys/detailed',
    '/api/apis/keys?p=-1',
  ])
    assert.deepEqual(refusal(await call('GET', path, { as: root })), [404, 'Could not retrieve keys'], path)
  await asked(200, 'DELETE', `/api/keys/${made.key}`, root)
})

test('where keys are kept they are shown again, and listed by themselves', async (t) => {
  const env = { SVC_GW_HASHKEYS: 'false', SVC_DB_ENABLEHASHEDKEYSLISTING: 'false' }
  const { root, policy, key, asked } = await keyWorld(t, { env })
  await policy('gold', ['a'])
  const made = await key({ apply_policies: ['gold'] })
  assert.equal((await asked(200, 'GET', `/api/keys/${made.hash}?hashed=1`, root)).key_id, made.key)
  assert.deepEqual(await asked(200, 'GET', '/api/apis/-/keys', root), { data: { keys: [made.key] }, pages: 1 })
  const detailed = (await asked(200, 'GET', '/api/keys/detailed', root)) as unknown as { keys: JsonObject[] }
  assert.deepEqual([detailed.keys[0]?.key_id, detailed.keys[0]?.key_hash], [made.key, made.hash])
})
