import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { oasApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

async function withApi(t: TestContext, env: Record<string, string> = {}): Promise<TestGateway> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({ env })
  t.after(() => gate.close())
  const made = await gate.svc(
    'POST',
    '/svc/apis/oas',
    oasApi('Orders', '/orders/', { id: 'orders', guarded: true, upstream: origin.url }),
  )
  assert.equal(made.status, 200, made.text)
  return gate
}

const use = (gate: TestGateway, key: string) => gate.call('/orders/x', { headers: { authorization: key } })
const seen = (answer: { json: unknown }) => answer.json as JsonObject
const keyOf = (answer: { json: unknown }) => String(seen(answer).key)

async function makeKey(gate: TestGateway, session: JsonObject): Promise<{ key: string; hash: string }> {
  const made = await gate.svc('POST', '/svc/keys/create', session)
  assert.equal(made.status, 200, made.text)
  return { key: keyOf(made), hash: String(seen(made).key_hash) }
}

test('saving starts the quota anew; suppress_reset and dont_set_quota_on_create leave it', async (t) => {
  const gate = await withApi(t)
  const session = { access_rights: rightsOn('orders'), quota_max: 5, quota_renewal_rate: 3600 }
  const { key } = await makeKey(gate, session)
  const left = async () => seen(await gate.svc('GET', `/svc/keys/${key}`)).quota_remaining
  await use(gate, key)
  await use(gate, key)
  assert.equal(await left(), 3)
  await gate.svc('PUT', `/svc/keys/${key}?suppress_reset=1`, { ...session, quota_remaining: 5 })
  assert.equal(await left(), 3)
  await gate.svc('PUT', `/svc/keys/${key}`, session)
  assert.equal(await left(), 5)
  await use(gate, key)
  const document = seen(await gate.svc('GET', '/svc/apis/oas/orders'))
  const extension = document['x-svc-api-gateway'] as JsonObject
  const keeping = {
    ...document,
    'x-svc-api-gateway': { ...extension, middleware: { global: { skipQuotaReset: true } } },
  }
  assert.equal((await gate.svc('PUT', '/svc/apis/oas/orders', keeping)).status, 200)
  await gate.svc('PUT', `/svc/keys/${key}`, session)
  assert.equal(await left(), 4)
})

test('a read shows policies applied and when the quota renews', async (t) => {
  const gate = await withApi(t)
  await gate.svc('POST', '/svc/policies', {
    id: 'gold',
    quota_max: 3,
    quota_renewal_rate: 60,
    rate: 9,
    per: 1,
    access_rights: rightsOn('orders'),
    tags: ['g'],
  })
  const { key } = await makeKey(gate, { apply_policies: ['gold'] })
  await use(gate, key)
  const shown = seen(await gate.svc('GET', `/svc/keys/${key}`))
  const limit = ((shown.access_rights as JsonObject).orders as JsonObject).limit as JsonObject
  const renews = Math.ceil(gate.clock.wall() / 1000) + 60
  assert.deepEqual([limit.rate, limit.quota_remaining, limit.quota_renews], [9, 2, renews])
  assert.deepEqual([shown.quota_remaining, shown.quota_renews, shown.tags], [2, renews, ['g']])
  await gate.svc('DELETE', '/svc/policies/gold')
  assert.equal((await use(gate, key)).status, 403)
  assert.deepEqual(seen(await gate.svc('GET', `/svc/keys/${key}`)).apply_policies, ['gold'])
})

test('preview answers the session as it would be, and stores nothing', async (t) => {
  const gate = await withApi(t)
  await gate.svc('POST', '/svc/policies', { id: 'gold', rate: 7, per: 2, access_rights: rightsOn('orders') })
  const shown = seen(await gate.svc('POST', '/svc/keys/preview', { apply_policies: ['gold'], alias: 'me' }))
  assert.deepEqual([shown.rate, shown.per, shown.alias], [7, 2, 'me'])
  assert.equal((await gate.svc('POST', '/svc/keys/preview', { apply_policies: ['none'] })).status, 400)
  assert.deepEqual(seen(await gate.svc('GET', '/svc/keys')), { keys: [] })
})

test('a preview expires when the key would, and is refused when the key would be', async (t) => {
  const gate = await withApi(t)
  const policy = (id: string, more: JsonObject) =>
    gate.svc('POST', '/svc/policies', { id, access_rights: rightsOn('orders'), ...more })
  await policy('short', { key_expires_in: 1000 })
  await policy('endless', {})
  const now = Math.floor(gate.clock.wallMs / 1000)
  let refused = 0
  for (const apply_policies of [['short'], ['endless'], ['short', 'endless'], ['endless', 'short']]) {
    for (const expires of [undefined, -1, 0, 1, now - 1, now, now + 1, now + 999, now + 1000, now + 1001, now + 9999]) {
      const sent = { apply_policies, ...(expires !== undefined && { expires }) }
      const [shown, made] = [
        await gate.svc('POST', '/svc/keys/preview', sent),
        await gate.svc('POST', '/svc/keys/create', sent),
      ]
      assert.equal(shown.status, made.status, JSON.stringify(sent))
      if (made.status !== 200) refused++
      else assert.equal(seen(shown).expires, seen(await gate.svc('GET', `/svc/keys/${keyOf(made)}`)).expires)
    }
  }
  assert.equal(refused, 12)
})

test('policies of a key are changed by its hash, and nothing else', async (t) => {
  const gate = await withApi(t)
  for (const [id, rate] of [
    ['a', 1],
    ['b', 2],
  ] as const)
    await gate.svc('POST', '/svc/policies', { id, rate, per: 1, quota_max: 9, access_rights: rightsOn('orders') })
  const { key, hash } = await makeKey(gate, { apply_policies: ['a'], alias: 'same', session_lifetime: 1000 })
  const evictAt = (await gate.store.tokens.getSession(hashKey(key)))?.evictAt
  await use(gate, key)
  gate.clock.advance(7000)
  const changed = await gate.svc('POST', `/svc/keys/policy/${hash}`, { policy: 'b' })
  assert.deepEqual(seen(changed), { key: hash, status: 'ok', action: 'updated', key_hash: hash })
  const shown = seen(await gate.svc('GET', `/svc/keys/${key}`))
  assert.deepEqual([shown.apply_policies, shown.rate, shown.alias, shown.quota_remaining], [['b'], 2, 'same', 8])
  assert.equal((await gate.store.tokens.getSession(hashKey(key)))?.evictAt, evictAt)
  await gate.svc('POST', `/svc/keys/policy/${hash}`, { apply_policies: ['b', 'a'] })
  assert.deepEqual(seen(await gate.svc('GET', `/svc/keys/${key}`)).apply_policies, ['b', 'a'])
  for (const body of [{}, { policy: 5 }, { apply_policies: 'a' }, { apply_policies: [1] }, { policy: 'nowhere' }]) {
    assert.equal((await gate.svc('POST', `/svc/keys/policy/${hash}`, body)).status, 400, JSON.stringify(body))
  }
})

test('rotation gives a new key with the counts of the old one, which is unknown at once', async (t) => {
  const gate = await withApi(t)
  const { key } = await makeKey(gate, { access_rights: rightsOn('orders'), quota_max: 3, quota_renewal_rate: 3600 })
  await use(gate, key)
  const rotated = await gate.svc('POST', `/svc/keys/${key}/rotate`)
  assert.equal(rotated.status, 200)
  const next = keyOf(rotated)
  assert.notEqual(next, key)
  assert.equal((await use(gate, key)).status, 403)
  assert.equal((await use(gate, next)).status, 200)
  const again = keyOf(await gate.svc('POST', `/svc/keys/${next}/rotate`))
  assert.equal(seen(await gate.svc('GET', `/svc/keys/${again}`)).quota_remaining, 1)
  await gate.svc('PUT', `/svc/keys/${again}?suppress_reset=1`, {
    access_rights: rightsOn('orders'),
    quota_max: 3,
    quota_renewal_rate: 3600,
  })
  assert.equal(seen(await gate.svc('GET', `/svc/keys/${again}`)).quota_remaining, 1)
})

test('a new key cannot be expired, a changed one can; key_expires_in counts at creation', async (t) => {
  const gate = await withApi(t)
  const nowS = Math.floor(gate.clock.wall() / 1000)
  const past = await gate.svc('POST', '/svc/keys', { access_rights: rightsOn('orders'), expires: nowS - 1 })
  assert.equal(past.status, 400)
  assert.match(past.text, /expires/)
  for (const expires of [0, -1, nowS + 60])
    assert.equal((await gate.svc('POST', '/svc/keys', { access_rights: rightsOn('orders'), expires })).status, 200)
  await gate.svc('POST', '/svc/policies', { id: 'trial', key_expires_in: 100, access_rights: rightsOn('orders') })
  await gate.svc('POST', '/svc/policies', { id: 'longer', key_expires_in: 200, access_rights: rightsOn('orders') })
  const { key } = await makeKey(gate, { apply_policies: ['trial', 'longer'] })
  assert.equal(seen(await gate.svc('GET', `/svc/keys/${key}`)).expires, nowS + 200)
  await gate.svc('PUT', `/svc/keys/${key}`, { apply_policies: ['trial'], expires: 0 })
  assert.equal(seen(await gate.svc('GET', `/svc/keys/${key}`)).expires, 0)
  await gate.svc('PUT', `/svc/keys/${key}`, { apply_policies: ['trial'], expires: nowS - 5 })
  assert.equal((await use(gate, key)).status, 401)
})

test('the store forgets a key when the key, else its API, says so', async (t) => {
  const gate = await withApi(t)
  const now = gate.clock.wall()
  const evictAt = async (session: JsonObject) => {
    const { key } = await makeKey(gate, { access_rights: rightsOn('orders'), ...session })
    return (await gate.store.tokens.getSession(hashKey(key)))?.evictAt
  }
  const expires = Math.floor(now / 1000) + 50
  assert.equal(await evictAt({}), 0)
  assert.equal(await evictAt({ session_lifetime: 10 }), now + 10_000)
  assert.equal(
    await evictAt({ expires, post_expiry_action: 'delete', post_expiry_grace_period: 5 }),
    (expires + 5) * 1000,
  )
  const document = seen(await gate.svc('GET', '/svc/apis/oas/orders'))
  const extension = document['x-svc-api-gateway'] as JsonObject
  const server = extension.server as JsonObject
  const authentication = {
    ...(server.authentication as JsonObject),
    customKeyLifetime: { enabled: true, value: '20s', respectValidity: true },
  }
  const limited = { ...document, 'x-svc-api-gateway': { ...extension, server: { ...server, authentication } } }
  const put = await gate.svc('PUT', '/svc/apis/oas/orders', limited)
  assert.equal(put.status, 200, put.text)
  assert.equal(await evictAt({}), now + 20_000)
  assert.equal(await evictAt({ expires }), expires * 1000)
})

test('organisations: a key belongs to the one that it names, and is not found in another', async (t) => {
  const gate = await withApi(t)
  const { key } = await makeKey(gate, { access_rights: rightsOn('elsewhere'), org_id: 'one' })
  assert.equal((await gate.svc('GET', `/svc/keys/${key}?org_id=two`)).status, 404)
  assert.equal((await gate.svc('GET', `/svc/keys/${key}?org_id=one`)).status, 200)
  const named = await gate.svc('POST', '/svc/keys?org_id=two', { access_rights: rightsOn('elsewhere') })
  assert.equal(seen(await gate.svc('GET', `/svc/keys/${keyOf(named)}`)).org_id, 'two')
  assert.equal((await gate.svc('GET', '/svc/keys/some-user?username=true')).status, 404)
})
