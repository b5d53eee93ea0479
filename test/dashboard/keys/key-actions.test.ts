import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { counterIdOf } from '../../../src/model/keys/key.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { keyWorld, refusal, rightsOn } from '../../worlds/dashboard/key-world.ts'
import { useQuota } from '../../worlds/dashboard/quota-use.ts'

interface Listed {
  readonly keys: readonly { readonly key_hash: string; readonly facts?: Readonly<Record<string, unknown>> }[]
}

test('a key is rotated: the new one has its rights, and the old one is none', async (t) => {
  const { asked, call, key, policy, root } = await keyWorld(t)
  await policy('gold', ['a'])
  const { key: raw, hash } = await key({ apply_policies: ['gold'], alias: 'Ada' })
  const turned = await asked(200, 'POST', `/api/keys/${hash}/rotate?hashed=1`, root)
  assert.deepEqual(Object.keys(turned), ['key_id', 'key_hash', 'rotated_from', 'valid_until'])
  assert.deepEqual([turned.rotated_from, turned.valid_until], [hash, ''], 'no overlap was asked for')
  assert.equal((await call('GET', `/api/keys/${raw}`, { as: root })).status, 404)
  const { key_hash, data } = await asked(200, 'GET', `/api/keys/${turned.key_id}`, root)
  assert.deepEqual([key_hash, (data as JsonObject).alias], [turned.key_hash, 'Ada'])
  const wrong = await call('POST', `/api/keys/${key_hash}/rotate?hashed=1`, {
    as: root,
    body: { overlap_seconds: -1 },
  })
  assert.equal(wrong.status, 400)
  await asked(200, 'POST', '/api/apis/keys/basic/ada', root, {
    apply_policies: ['gold'],
    basic_auth_data: { password: 'correct horse battery' },
  })
  assert.equal((await call('POST', '/api/keys/ada/rotate', { as: root })).status, 400, 'a user has no key')
})

test('the key of a developer overlaps', async (t) => {
  const { asked, call, key, policy, root } = await keyWorld(t)
  await policy('gold', ['a'])
  const { Message: ada } = await asked(200, 'POST', '/api/portal/developers', root, { email: 'ada@example.test' })
  const access = { apply_policies: ['gold'] }
  const { RawKey } = await asked(200, 'POST', `/api/portal/developers/${ada}/keys`, root, access)
  const turned = await asked(200, 'POST', `/api/keys/${RawKey}/rotate`, root, { overlap_seconds: 60 })
  assert.notEqual(turned.valid_until, '')
  const told = await asked(200, 'GET', `/api/keys/${turned.key_id}?facts=1`, root)
  assert.deepEqual(
    [(told.own as JsonObject).access_rights ?? {}, (told.own as JsonObject).developer_id],
    [{}, undefined],
  )
  assert.deepEqual(Object.keys((told.data as JsonObject).access_rights as JsonObject), ['a'])
  const old = await asked(200, 'GET', `/api/keys/${turned.rotated_from}?hashed=1&facts=1`, root)
  const { status, rotated_to, valid_until, developer_id } = old.facts as JsonObject
  assert.deepEqual(
    [status, rotated_to, valid_until, developer_id],
    ['rotated', turned.key_hash, turned.valid_until, ada],
  )
  assert.equal((await call('GET', `/api/keys/${RawKey}`, { as: root })).status, 200)
  assert.equal(((await key({ access_rights: rightsOn('a') })).hash ?? '').length, 64)
})

test('the quotas of a key begin anew', async (t) => {
  const { asked, clock, key, orgId, policy, root, store } = await keyWorld(t)
  await policy('gold', ['a'], { quota_max: 10, quota_renewal_rate: 60 })
  const { hash } = await key({ apply_policies: ['gold'] })
  const left = async () =>
    ((await asked(200, 'GET', `/api/keys/${hash}?hashed=1`, root)).data as JsonObject).quota_remaining
  const { body } = (await store.tokens.getSession(Buffer.from(hash, 'hex')))!
  await useQuota(store, body, orgId, counterIdOf(body, hash), clock)
  assert.equal(await left(), 9)
  const done = await asked(200, 'POST', `/api/keys/${hash}/reset_quota?hashed=1`, root)
  assert.deepEqual([done.Message, await left()], ['Quota reset', 10])
})

test('keys are listed by API or by policy, with what is known of them', async (t) => {
  const { api, asked, call, key, policy, root, user } = await keyWorld(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  for (const id of ['a', 'b']) await api(id)
  await api('theirs', { users: [root.id] })
  await policy('gold', ['a'])
  await policy('silver', ['b'])
  await policy('private', ['theirs'])
  const gold = await key({ apply_policies: ['gold'] })
  const silver = await key({ apply_policies: ['silver'], is_inactive: true })
  const own = await key({ access_rights: rightsOn('a') })
  const hidden = await key({ apply_policies: ['private'] })
  const listed = async (query: string, as = root) =>
    (await asked(200, 'GET', `/api/keys/detailed?${query}`, as)) as unknown as Listed
  const hashes = async (query: string, as = root) =>
    (await listed(query, as)).keys.map(({ key_hash }) => key_hash).sort()
  assert.deepEqual(await hashes('api=a'), [gold.hash, own.hash].sort())
  assert.deepEqual(await hashes('policy=gold'), [gold.hash])
  assert.deepEqual(await hashes('policy=unknown'), [])
  assert.deepEqual(await hashes('policy=private'), [hidden.hash])
  assert.deepEqual(await hashes('policy=gold&q=nobody'), [])
  const other = await user({ keys: 'read' })
  assert.deepEqual(await hashes('policy=private', other), [], 'a policy that is not seen has no keys')
  assert.deepEqual(refusal(await call('GET', '/api/keys/detailed?api=theirs', { as: other })), [401, 'Not authorised'])
  assert.equal((await call('GET', '/api/keys/detailed?api=a&policy=gold', { as: root })).status, 400)
  const { keys } = await listed('facts=1&policy=silver')
  const { status, policies, last_used, developer_id } = keys[0]!.facts!
  assert.deepEqual([keys[0]!.key_hash, status, policies, developer_id], [silver.hash, 'inactive', ['silver'], ''])
  assert.equal(last_used, '0001-01-01T00:00:00Z')
  assert.equal((await listed('policy=silver')).keys[0]!.facts, undefined)
})

test('a client gets another secret, and the old one is good for as long as was said', async (t) => {
  const { asked, call, clock, gateway, oauth, policy, root, user } = await gatewayWorld(t)
  await oauth({ id: 'shop' })
  await policy('gold', ['shop'])
  const body = { client_id: 'c1', secret: 's1', redirect_uri: 'https://app.test/cb', policy_id: 'gold' }
  await asked(200, 'POST', '/api/apis/oauth/shop', root, body)
  const status = async (secret: string) => {
    const authorization = `Basic ${Buffer.from(`c1:${secret}`).toString('base64')}`
    const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' }
    const form = 'grant_type=client_credentials'
    return (await gateway.call('/shop/oauth/token', { method: 'POST', headers, body: form })).status
  }
  const turned = await asked(200, 'POST', '/api/apis/oauth/shop/c1/rotate', root, { overlap_seconds: 60 })
  assert.equal(Date.parse(String(turned.valid_until)), clock.wall() + 60_000)
  assert.deepEqual([await status('s1'), await status(String(turned.secret))], [200, 200])
  clock.advance(60_001)
  assert.deepEqual([await status('s1'), await status(String(turned.secret))], [401, 200])
  const again = await asked(200, 'POST', '/api/apis/oauth/shop/c1/rotate', root)
  assert.equal(again.valid_until, '')
  assert.deepEqual([await status(String(turned.secret)), await status(String(again.secret))], [401, 200])
  const reader = await user({ oauth: 'read' })
  assert.equal((await call('POST', '/api/apis/oauth/shop/c1/rotate', { as: reader })).status, 403)
  assert.equal((await call('POST', '/api/apis/oauth/shop/c2/rotate', { as: root })).status, 404)
})

test('all tokens of a client end without its secret', async (t) => {
  const { asked, call, oauth, policy, root, token, use, user } = await gatewayWorld(t)
  await oauth({ id: 'shop' })
  await policy('gold', ['shop'])
  const body = { client_id: 'c1', secret: 's1', redirect_uri: 'https://app.test/cb', policy_id: 'gold' }
  await asked(200, 'POST', '/api/apis/oauth/shop', root, body)
  const access = await token('shop', 'c1', 's1')
  assert.equal(await use('/shop/', access), 200)
  const path = '/api/apis/oauth/shop/c1/tokens'
  assert.equal((await call('DELETE', path, { as: await user({ oauth: 'read' }) })).status, 403)
  await asked(200, 'DELETE', path, root)
  assert.notEqual(await use('/shop/', access), 200)
  assert.deepEqual((await call('GET', path, { as: root })).json, [])
})
