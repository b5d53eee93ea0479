import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { oasApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const LONG_KEY = 'a-custom-key/with+signs=1'

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

test('a random key is shown once, works at once, and is kept only as its hash', async (t) => {
  const gate = await withApi(t)
  for (const path of ['/svc/keys', '/svc/keys/create', '/svc/keys/']) {
    const made = await gate.svc('POST', path, { access_rights: rightsOn('orders') })
    assert.equal(made.status, 200)
    const { key, status, action, key_hash: hash } = seen(made)
    assert.deepEqual({ status, action }, { status: 'ok', action: 'added' })
    assert.match(String(key), /^[A-Za-z0-9_-]{43}$/)
    assert.equal(hash, hashKey(String(key)).toString('hex'))
    assert.equal((await use(gate, String(key))).status, 200)
    const row = await gate.store.tokens.getSession(hashKey(String(key)))
    assert.equal(row?.sealedKey, undefined)
    assert.ok(!JSON.stringify(row?.body).includes(String(key)))
  }
  const { keys } = seen(await gate.svc('GET', '/svc/keys')) as { keys: string[] }
  assert.equal(keys.length, 3)
  assert.ok(keys.every((key) => /^[0-9a-f]{64}$/.test(key)))
  assert.ok(!JSON.stringify(gate.log).includes(LONG_KEY))
})

test('a key without rights and policies is refused, and so are policies that do not exist', async (t) => {
  const gate = await withApi(t)
  const bare = await gate.svc('POST', '/svc/keys', {})
  assert.equal(bare.status, 400)
  assert.match(bare.text, /at least one Access Rights/)
  const unknown = await gate.svc('POST', '/svc/keys', { apply_policies: ['nowhere'] })
  assert.equal(unknown.status, 400)
  assert.match(unknown.text, /no such policy: nowhere/)
  await gate.svc('POST', '/svc/policies', { id: 'gold', access_rights: rightsOn('orders') })
  assert.equal((await gate.svc('POST', '/svc/keys', { apply_policies: ['gold', 'nowhere'] })).status, 200)
})

for (const [what, body] of [
  ['rate as text', { rate: '5' }],
  ['rights as a list', { access_rights: [] }],
  [
    'a pattern that does not compile',
    { access_rights: { orders: { allowed_urls: [{ url: '(', methods: ['GET'] }] } } },
  ],
  ['rights filed under another id', { access_rights: { orders: { api_id: 'other' } } }],
  ['expires as text', { access_rights: rightsOn('orders'), expires: 'soon' }],
  ['tags as a text', { access_rights: rightsOn('orders'), tags: 'a,b' }],
] as const) {
  test(`a session is refused for ${what}`, async (t) => {
    const gate = await withApi(t)
    const refused = await gate.svc('POST', '/svc/keys', body)
    assert.equal(refused.status, 400, refused.text)
    assert.equal(seen(refused).status, 'error')
    assert.deepEqual(seen(await gate.svc('GET', '/svc/keys')), { keys: [] })
  })
}

test('a custom key is taken by its exact value, with any sign that a path can carry encoded', async (t) => {
  const gate = await withApi(t)
  const path = `/svc/keys/${encodeURIComponent(LONG_KEY)}`
  const made = await gate.svc('POST', path, { access_rights: rightsOn('orders'), alias: 'first' })
  assert.deepEqual(seen(made), {
    key: LONG_KEY,
    status: 'ok',
    action: 'added',
    key_hash: hashKey(LONG_KEY).toString('hex'),
  })
  assert.equal((await use(gate, LONG_KEY)).status, 200)
  assert.equal((await use(gate, `${LONG_KEY}x`)).status, 403)
  const again = await gate.svc('POST', path, { access_rights: rightsOn('orders'), alias: 'second' })
  assert.equal(seen(again).action, 'modified')
  assert.equal(seen(await gate.svc('GET', path)).alias, 'second')
})

test('custom keys that are short, or hold what a header cannot carry, are refused', async (t) => {
  const gate = await withApi(t)
  for (const key of [
    'short',
    'fifteen-signs-1',
    'with a space in it-0',
    'ümlaut-in-the-key-00',
    'line%0Afeed-in-the-key',
    'x'.repeat(1025),
  ]) {
    const encoded = key.includes('%0A') ? key : encodeURIComponent(key)
    const refused = await gate.svc('POST', `/svc/keys/${encoded}`, { access_rights: rightsOn('orders') })
    assert.equal(refused.status, 400, key)
    assert.match(refused.text, /Key is not valid/)
  }
  assert.equal((await gate.svc('POST', '/svc/keys/%FF%FE-not-utf-8-at-all', {})).status, 400)
  assert.equal(
    (await gate.svc('POST', `/svc/keys/${'a'.repeat(20)}?hashed=true`, { access_rights: rightsOn('orders') })).status,
    400,
  )
})

test('a session keeps unknown fields, and what is ours in it cannot be written from outside', async (t) => {
  const gate = await withApi(t)
  const session = {
    access_rights: rightsOn('orders'),
    x_unknown: { deep: [1, { a: null }] },
    counter_id: 'of somebody else',
    constructor: 'c',
  }
  const { key } = await makeKey(gate, session)
  const shown = seen(await gate.svc('GET', `/svc/keys/${key}`))
  assert.deepEqual(shown.x_unknown, session.x_unknown)
  assert.equal(shown.constructor, 'c')
  assert.equal('counter_id' in shown, false)
  assert.equal((await gate.store.tokens.getSession(hashKey(key)))?.body.counter_id, undefined)
})

test('PUT replaces the session and keeps date_created', async (t) => {
  const gate = await withApi(t)
  const { key } = await makeKey(gate, { access_rights: rightsOn('orders'), alias: 'a' })
  const before = seen(await gate.svc('GET', `/svc/keys/${key}`))
  gate.clock.advance(5000)
  const changed = await gate.svc('PUT', `/svc/keys/${key}`, { access_rights: rightsOn('orders'), tags: ['t'] })
  assert.deepEqual(seen(changed), { key, status: 'ok', action: 'modified', key_hash: hashKey(key).toString('hex') })
  const after = seen(await gate.svc('GET', `/svc/keys/${key}`))
  assert.equal(after.alias, undefined)
  assert.deepEqual(after.tags, ['t'])
  assert.equal(after.date_created, before.date_created)
  assert.equal(Number(after.last_updated), Number(before.last_updated) + 5)
})

test('a key has no password: only users do, who have a name', async (t) => {
  const gate = await withApi(t)
  const session = { access_rights: rightsOn('orders'), basic_auth_data: { password: 'pass-word-1' } }
  const refused = await gate.svc('POST', '/svc/keys', session)
  assert.equal(refused.status, 400)
  assert.match(refused.text, /a password belongs to a user/)
  const { key } = await makeKey(gate, { access_rights: rightsOn('orders') })
  assert.equal((await gate.svc('PUT', `/svc/keys/${key}`, session)).status, 400)
  assert.equal((await gate.svc('PUT', `/svc/keys/${key}`, { ...session, basic_auth_data: {} })).status, 200)
})

test('unknown keys: each call has its own words', async (t) => {
  const gate = await withApi(t)
  const body = { access_rights: rightsOn('orders') }
  const said = async (method: string, path: string, sent?: unknown) => {
    const answer = await gate.svc(method, path, sent)
    return [answer.status, seen(answer).message]
  }
  assert.deepEqual(await said('GET', '/svc/keys/nobody'), [404, 'Key not found'])
  assert.deepEqual(await said('PUT', '/svc/keys/nobody', body), [404, 'Key is not found'])
  assert.deepEqual(await said('DELETE', '/svc/keys/nobody'), [404, 'There is no such key found'])
  assert.deepEqual(await said('DELETE', '/svc/keys/nobody?api_id=-1'), [404, 'There is no such key found'])
  assert.deepEqual(await said('GET', '/svc/keys/nobody?hashed=true'), [404, 'Key not found'])
  assert.deepEqual(await said('POST', '/svc/keys/policy/nobody', { policy: 'p' }), [404, 'Key not found'])
})

test('a deleted key is refused at once, and its counts are gone', async (t) => {
  const gate = await withApi(t)
  const session = { access_rights: rightsOn('orders'), quota_max: 2, quota_renewal_rate: 3600 }
  const path = `/svc/keys/${encodeURIComponent(LONG_KEY)}`
  await gate.svc('POST', path, session)
  await use(gate, LONG_KEY)
  assert.deepEqual(seen(await gate.svc('DELETE', path)).action, 'deleted')
  assert.equal((await use(gate, LONG_KEY)).status, 403)
  await gate.svc('POST', `${path}?suppress_reset=1`, session)
  assert.equal(seen(await gate.svc('GET', path)).quota_remaining, 2)
  const all = await gate.svc('DELETE', `${path}?api_id=-1`)
  assert.deepEqual([all.status, all.text], [200, 'null'])
})

test('by hash: every call takes the hash with hashed=true, and only then', async (t) => {
  const gate = await withApi(t)
  const { key, hash } = await makeKey(gate, { access_rights: rightsOn('orders') })
  assert.equal((await gate.svc('GET', `/svc/keys/${hash}`)).status, 404)
  assert.equal((await gate.svc('GET', `/svc/keys/${hash}?hashed=true`)).status, 200)
  assert.equal(
    (await gate.svc('PUT', `/svc/keys/${hash}?hashed=1`, { access_rights: rightsOn('orders'), alias: 'x' })).status,
    200,
  )
  assert.equal(seen(await gate.svc('GET', `/svc/keys/${key}`)).alias, 'x')
  assert.equal((await gate.svc('DELETE', `/svc/keys/${hash}?hashed=true`)).status, 200)
  assert.equal((await use(gate, key)).status, 403)
})

test('with hash_keys off the key is kept sealed: lists show it, hashes are refused', async (t) => {
  const gate = await withApi(t, { SVC_GW_HASHKEYS: 'false' })
  const { key, hash } = await makeKey(gate, { access_rights: rightsOn('orders') })
  assert.deepEqual(seen(await gate.svc('GET', '/svc/keys')), { keys: [key] })
  assert.deepEqual(seen(await gate.svc('GET', `/svc/keys?filter=${key.slice(0, 5)}`)), { keys: [key] })
  assert.deepEqual(seen(await gate.svc('GET', '/svc/keys?filter=!')), { keys: [] })
  const byHash = await gate.svc('GET', `/svc/keys/${hash}?hashed=true`)
  assert.deepEqual([byHash.status, seen(byHash).message], [400, 'Key requested by hash but key hashing is not enabled'])
  const row = await gate.store.tokens.getSession(hashKey(key))
  assert.ok(row?.sealedKey !== undefined && !Buffer.from(row.sealedKey).includes(key))
  await gate.svc('PUT', `/svc/keys/${key}`, { access_rights: rightsOn('orders'), alias: 'kept' })
  assert.deepEqual(seen(await gate.svc('GET', '/svc/keys')), { keys: [key] })
})

test('lists are narrowed and paged in the store', async (t) => {
  const gate = await withApi(t)
  const rows = Array.from({ length: 2203 }, (_, index) => index)
  for (let from = 0; from < rows.length; from += 500) {
    await gate.store.documents.commit(
      rows.slice(from, from + 500).map((index) => ({
        op: 'putSession',
        hash: hashKey(`key ${index}`),
        row: {
          body: {},
          orgId: index % 2 === 0 ? 'even' : 'odd',
          apiIds: [index < 10 ? 'few' : 'many'],
          policyIds: [],
          clientId: '',
          evictAt: 0,
        },
      })),
      undefined,
    )
  }
  const list = async (query: string) =>
    seen(await gate.svc('GET', `/svc/keys${query}`)) as { keys: string[]; pages?: number; next?: string }
  const all = await list('')
  assert.equal(all.keys.length, 2203)
  assert.equal(all.next, undefined)
  const pages = await Promise.all([1, 2, 3, 4].map((p) => list(`?p=${p}`)))
  assert.deepEqual(
    pages.map(({ keys }) => keys.length),
    [1000, 1000, 203, 0],
  )
  assert.deepEqual(
    pages.flatMap(({ keys }) => keys),
    all.keys,
  )
  assert.equal(pages[0]?.pages, 3)
  assert.equal((await list('?api_id=few')).keys.length, 10)
  assert.equal((await list('?org_id=even')).keys.length, 1102)
  assert.deepEqual((await list(`?after=${all.keys[2199]}`)).keys, all.keys.slice(2200))
  const filtered = all.keys.filter((key) => key.startsWith('7'))
  assert.deepEqual((await list('?filter=7&p=1')).keys, filtered)
  assert.deepEqual((await list('?filter=7&p=2')).keys, [])
  for (const query of ['?p=0', '?p=x', '?p=-1', '?p=99999999', '?after=zz'])
    assert.equal((await gate.svc('GET', `/svc/keys${query}`)).status, 400, query)
})
