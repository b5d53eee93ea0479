import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { refusal } from '../../worlds/dashboard/key-world.ts'
import { setApiOwners } from '../../worlds/dashboard/set-owners.ts'

const CLIENTS = '/api/apis/oauth/shop'
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')
const REDIRECT = 'https://app.test/cb'

test('a client is created, read, listed, changed and deleted in the words of clients', async (t) => {
  const { call, root, oauth, policy, asked, store, user } = await gatewayWorld(t)
  await oauth({ id: 'shop' })
  await policy('gold', ['shop'])
  const body = {
    ...{ client_id: 'c1', secret: 's1', redirect_uri: REDIRECT, policy_id: 'gold', client_name: 'App' },
    ...{ meta_data: { tier: 1 }, description: 'An app', api_id: 'another', org_id: 'another' },
  }
  const made = await call('POST', `${CLIENTS}/`, { as: root, body })
  const keys = [
    'client_id',
    'client_name',
    'secret',
    'redirect_uri',
    'policy_id',
    'meta_data',
    'description',
    'dcr_registration',
  ]
  assert.deepEqual(Object.keys(made.json as JsonObject).slice(0, 8), keys)
  const { client_id, secret, redirect_uri, policy_id, meta_data, policies, org_id } = made.json as JsonObject
  assert.deepEqual([client_id, secret, redirect_uri, policy_id], ['c1', 's1', REDIRECT, 'gold'])
  assert.deepEqual([meta_data, policies, org_id], [{ tier: 1 }, ['gold'], root.orgId])
  const stored = await store.documents.find('api', 'api_id', 'shop')
  for (const api of ['shop', stored!.id])
    assert.deepEqual((await call('GET', `/api/apis/oauth/${api}/c1`, { as: root })).json, made.json)
  const listed = await call('GET', CLIENTS, { as: root })
  assert.deepEqual(listed.json, { apps: [{ ...(made.json as JsonObject), secret: '' }], pages: 1 })
  assert.deepEqual((await call('GET', `${CLIENTS}?p=-1`, { as: root })).json, {
    ...(listed.json as JsonObject),
    pages: 0,
  })
  // A secret is for those who may write the API.
  const reader = await user({ oauth: 'read', apis: 'read' })
  assert.equal((await asked(200, 'GET', `${CLIENTS}/c1`, reader)).secret, '')
  const changed = await asked(200, 'PUT', `${CLIENTS}/c1`, root, { client_name: 'Other', description: 'Changed' })
  assert.deepEqual(changed, { ...(made.json as JsonObject), client_name: 'Other', description: 'Changed' })
  for (const [q, number] of [
    ['C1', 1],
    ['oth', 1],
    [REDIRECT.slice(3, 15), 1],
    ['gold', 0],
    ['nobody', 0],
  ] as const) {
    const found = await asked(200, 'GET', `${CLIENTS}?page_size=25&q=${encodeURIComponent(q)}`, root)
    assert.deepEqual([(found.apps as unknown[]).length, found.pages, found.total], [number, 1, number], q)
  }
  const gone = await call('DELETE', `${CLIENTS}/c1/`, { as: root })
  assert.equal(gone.text, '{"Status":"OK","Message":"OAuth client deleted successfully","Meta":null}')
  for (const method of ['GET', 'PUT', 'DELETE'] as const)
    assert.deepEqual(
      refusal(await call(method, `${CLIENTS}/c1`, { as: root, ...(method === 'PUT' && { body: {} }) })),
      [404, 'Could not retrieve app detail'],
    )
})

test('empty lists say nothing beside the single value of a new client', async (t) => {
  const { call, root, oauth, policy } = await gatewayWorld(t)
  await oauth({ id: 'shop' })
  await policy('gold', ['shop'])
  const body = { client_id: 'c1', redirect_uri: REDIRECT, policy_id: 'gold', redirect_uris: [], policies: [] }
  const made = (await call('POST', CLIENTS, { as: root, body })).json as JsonObject
  assert.deepEqual([made.redirect_uris, made.policies], [[REDIRECT], ['gold']])
  const { status, text } = await call('PUT', `${CLIENTS}/c1`, { as: root, body: { ...made, policies: [] } })
  assert.equal(status, 400)
  assert.match(text, /policy_id: must be one of policies/)
})

test('what is no client, or stands nowhere, is refused', async (t) => {
  const { call, root, oauth, api, store } = await gatewayWorld(t)
  await oauth({ id: 'shop' })
  await api('keyed')
  const clients = async () => (await store.documents.list('oauth_client', { limit: 100 })).rows
  const before = await clients()
  const post = (path: string, body: unknown) => call('POST', path, { as: root, body })
  assert.deepEqual(refusal(await post('/api/apis/oauth/nothing', { redirect_uri: REDIRECT })), [
    400,
    'API Reference not found',
  ])
  assert.deepEqual(refusal(await post('/api/apis/oauth/keyed', { redirect_uri: REDIRECT })), [400, 'API is not OAuth2'])
  assert.deepEqual(refusal(await post(CLIENTS, '{')), [403, 'Request body malformed'])
  for (const body of [
    ...[{}, { redirect_uri: 'javascript:alert(1)' }, { redirect_uri: `${REDIRECT}\r\nSet-Cookie: a=b` }],
    ...[{ redirect_uri: `${REDIRECT};https://b.test/` }, { redirect_uri: REDIRECT, policy_id: 'nothing' }],
    ...[
      { redirect_uri: REDIRECT, client_id: '..' },
      { redirect_uri: REDIRECT, secret: 5 },
    ],
  ])
    assert.equal((await post(CLIENTS, body)).status, 400, JSON.stringify(body))
  assert.deepEqual(refusal(await call('GET', '/api/apis/oauth/nothing', { as: root })), [
    404,
    'Could not retrieve app detail',
  ])
  assert.deepEqual(await clients(), before)
})

test('a member of a client of a wrong type is refused by its name', async (t) => {
  const { call, root, oauth, asked, store } = await gatewayWorld(t)
  await oauth({ id: 'shop' })
  const made = await asked(200, 'POST', CLIENTS, root, { client_id: 'c1', redirect_uri: REDIRECT, client_name: 'App' })
  // The gateway reports its state to the same store.
  const clients = async () =>
    (await store.documents.list('oauth_client', { limit: 10 })).rows.map(({ id, revision }) => [id, revision])
  const before = await clients()
  const taken: string[] = []
  for (const [member, value] of Object.entries(made)) {
    const wrong = typeof value === 'string' ? 7 : Array.isArray(value) ? { a: 1 } : 'seven'
    const body = { ...made, client_id: 'c2', [member]: wrong }
    for (const [method, path] of [
      ['POST', CLIENTS],
      ['PUT', `${CLIENTS}/c1`],
    ] as const) {
      const sent = method === 'PUT' && member !== 'client_id' ? { ...body, client_id: 'c1' } : body
      const { status, text } = await call(method, path, { as: root, body: sent })
      if (status !== 400 || !text.includes(member)) taken.push(`${method} ${member}: ${status} ${text.slice(0, 120)}`)
    }
  }
  assert.deepEqual(taken, [])
  assert.deepEqual(await clients(), before)
})

test('several redirect URIs go in one text where the setting says what parts them', async (t) => {
  const { root, oauth, asked } = await gatewayWorld(t, { SVC_DB_OAUTHREDIRECTURISEPARATOR: ';' })
  await oauth({ id: 'shop' })
  const redirect_uri = `${REDIRECT};https://b.test/cb?x=1,2`
  const made = await asked(200, 'POST', CLIENTS, root, { client_id: 'c1', redirect_uri })
  assert.deepEqual([made.redirect_uri, made.redirect_uris], [redirect_uri, redirect_uri.split(';')])
  assert.equal((await asked(200, 'GET', `${CLIENTS}/c1`, root)).redirect_uri, redirect_uri)
})

test('tokens are listed and revoked by value or hash, in a form or JSON', async (t) => {
  const { call, root, oauth, policy, asked, token, use } = await gatewayWorld(t)
  await oauth({ id: 'shop' })
  await policy('gold', ['shop'])
  await asked(200, 'POST', CLIENTS, root, { client_id: 'c1', secret: 's1', redirect_uri: REDIRECT, policy_id: 'gold' })
  const tokens = await Promise.all([1, 2, 3, 4].map(() => token('shop', 'c1', 's1')))
  for (const each of tokens) assert.equal(await use('/shop/', each), 200)
  const codes = async (path: string) => {
    const list = (await asked(200, 'GET', path, root)) as unknown as { code: string; expires: number }[]
    return list.map(({ code }) => code).sort()
  }
  const hashes = tokens.map(hashOf).sort()
  for (const path of [`${CLIENTS}/c1/tokens`, `${CLIENTS}/c1/tokens?p=-1`, '/api/apis/oauth/c1/tokens/'])
    assert.deepEqual(await codes(path), hashes)
  const [byToken, byHash, byForm, last] = tokens as [string, string, string, string]
  const revoke = (body: unknown, headers = {}) =>
    call('POST', '/api/apis/oauth/c1/revoke/', { as: root, body, headers })
  const done = await revoke({ token: byToken, token_type_hint: 'access_token' })
  assert.equal(done.text, '{"Status":"OK","Message":"token revoked successfully","Meta":null}')
  assert.equal(await use('/shop/', byToken), 401)
  assert.equal((await revoke({ token: hashOf(byHash), client_id: 'c1', client_secret: 's1' })).status, 200)
  assert.equal(await use('/shop/', byHash), 401)
  const form = `token=${encodeURIComponent(byForm)}&client_secret=s1&token_type_hint=access_token`
  assert.equal((await revoke(form, { 'content-type': 'application/json' })).status, 200)
  assert.equal(await use('/shop/', byForm), 401)
  assert.equal((await revoke({ token: 'what-nobody-has' })).status, 200)
  assert.equal((await revoke(' \r\n\t{"token":"what-nobody-has"}')).status, 200)
  for (const [status, body] of [
    ...([
      [400, {}],
      [400, { token: last, client_id: 'c2' }],
      [401, { token: last, client_secret: 'wrong' }],
    ] as const),
    ...([
      [403, '{'],
      [403, `token=${last}&token=x`],
      [400, { token: 5 }],
      [403, 'token=%zz'],
      [400, '{"token":{}}'],
    ] as const),
  ])
    assert.equal((await revoke(body)).status, status, JSON.stringify(body))
  assert.deepEqual(refusal(await call('POST', '/api/apis/oauth/c2/revoke', { as: root, body: { token: last } })), [
    404,
    'Could not retrieve app detail',
  ])
  assert.deepEqual(await codes(`${CLIENTS}/c1/tokens`), [hashOf(last)])
  assert.equal(await use('/shop/', last), 200)
})

test('a token of another client, or of an API of others, is refused by any name', async (t) => {
  const world = await gatewayWorld(t, { SVC_DB_ENABLEOWNERSHIP: 'true' })
  const { oauth, policy, asked, root, user, token, use, call, store } = world
  const owner = await user({ oauth: 'write', apis: 'read' })
  for (const id of ['shop', 'other']) await oauth({ id })
  await policy('gold', ['shop', 'other'])
  await policy('silver', ['shop'])
  for (const [id, name, policy_id] of [
    ['shop', 'c1', 'silver'],
    ['shop', 'c2', 'silver'],
    ['shop', 'c3', 'gold'],
    ['other', 'c3', 'gold'],
  ]) {
    const client = { client_id: name!, secret: `s of ${name}`, redirect_uri: REDIRECT, policy_id: policy_id! }
    await asked(200, 'POST', `/api/apis/oauth/${id}`, root, client)
  }
  await setApiOwners(world.parts, 'shop', [owner.id])
  await setApiOwners(world.parts, 'other', [root.id])
  const [theirs, elsewhere, mine] = [
    await token('shop', 'c2', 's of c2'),
    await token('other', 'c3', 's of c3'),
    await token('shop', 'c1', 's of c1'),
  ]
  const hash = createHash('sha256').update('a refresh token').digest()
  const client = (await store.documents.find('oauth_client', 'client_id', 'c2'))!.body
  const ticket = { sort: 'refresh', apiId: 'shop', clientId: 'c2', family: 'f' } as const
  const lasting = { expiresAt: world.clock.wall() + 1e9, keepUntil: world.clock.wall() + 1e9 }
  const body = { epoch: client.epoch!, scope: '', username: '', jkt: '', x5t: '', access_hash: '' }
  await store.documents.commit([{ op: 'putTicket', hash, row: { ...ticket, ...lasting, body } }], undefined)
  const revoke = (named: string, hint: string, client = 'c1') =>
    call('POST', `/api/apis/oauth/${client}/revoke`, { as: owner, body: { token: named, token_type_hint: hint } })
  for (const hint of ['', 'access_token', 'refresh_token']) {
    // A user who sees one of its two APIs ends nothing at the other.
    assert.ok((await revoke(elsewhere, hint, 'c3')).status >= 400)
    for (const named of [theirs, hashOf(theirs), elsewhere, hashOf(elsewhere), 'a refresh token']) {
      const [status, message] = refusal(await revoke(named, hint))
      assert.deepEqual([status, /not issued to this client/.test(String(message))], [400, true])
    }
  }
  assert.deepEqual([await use('/shop/', theirs), await use('/other/', elsewhere)], [200, 200])
  assert.ok(await store.tokens.getTicket(hash))
  assert.equal((await revoke(mine, '')).status, 200)
  assert.equal(await use('/shop/', mine), 401)
})

test('all tokens of a client end with its secret, and live on without', async (t) => {
  const { call, root, oauth, policy, asked, token, use } = await gatewayWorld(t)
  await oauth({ id: 'shop' })
  await policy('gold', ['shop'])
  await asked(200, 'POST', CLIENTS, root, { client_id: 'c1', secret: 's1', redirect_uri: REDIRECT, policy_id: 'gold' })
  const tokens = [await token('shop', 'c1', 's1'), await token('shop', 'c1', 's1')]
  const all = (body: unknown) => call('POST', '/api/apis/oauth/c1/revoke_all', { as: root, body })
  for (const body of [{ client_secret: 'wrong' }, {}, '', { client_secret: '' }])
    assert.equal((await all(body)).status, 401, JSON.stringify(body))
  for (const each of tokens) assert.equal(await use('/shop/', each), 200)
  assert.equal(
    (await all({ client_secret: 's1' })).text,
    '{"Status":"OK","Message":"tokens revoked successfully","Meta":null}',
  )
  for (const each of tokens) assert.equal(await use('/shop/', each), 401)
  assert.deepEqual(await asked(200, 'GET', `${CLIENTS}/c1/tokens`, root), [])
})

test('deleting a key, a client or a policy is in force at the gateway when it is answered', async (t) => {
  const { root, api, policy, key, asked, gateway, oauth, token, use, origin } = await gatewayWorld(t)
  await api('keyed', {
    definition: { proxy: { listen_path: '/keyed/', target_url: origin.url, strip_listen_path: true } },
  })
  await oauth({ id: 'shop' })
  await policy('gold', ['keyed', 'shop'])
  const { key: secret, hash } = await key({ apply_policies: ['gold'] })
  const status = async () => (await gateway.call('/keyed/', { headers: { authorization: secret } })).status
  assert.equal(await status(), 200)
  await asked(200, 'PUT', `/api/keys/${hash}?hashed=1`, root, { apply_policies: ['gold'], is_inactive: true })
  assert.equal(await status(), 403)
  await asked(200, 'PUT', `/api/keys/${hash}?hashed=1`, root, { apply_policies: ['gold'] })
  assert.equal(await status(), 200)
  await asked(200, 'DELETE', `/api/keys/${hash}?hashed=1`, root)
  assert.equal(await status(), 403)
  await asked(200, 'POST', CLIENTS, root, { client_id: 'c1', secret: 's1', redirect_uri: REDIRECT, policy_id: 'gold' })
  const first = await token('shop', 'c1', 's1')
  assert.equal(await use('/shop/', first), 200)
  await asked(200, 'DELETE', '/api/portal/policies/gold', root)
  assert.equal(await use('/shop/', first), 401)
  await policy('gold', ['shop'])
  const second = await token('shop', 'c1', 's1')
  assert.equal(await use('/shop/', second), 200)
  await asked(200, 'DELETE', `${CLIENTS}/c1`, root)
  assert.equal(await use('/shop/', second), 401)
})

test('clients of another organisation are not there, and those of owned APIs are their owners’', async (t) => {
  const { root, call, oauth, asked, admin, organisation, user, parts } = await gatewayWorld(t, {
    SVC_DB_ENABLEOWNERSHIP: 'true',
  })
  const other = await admin(await organisation())
  await oauth({ id: 'shop' })
  await oauth({ id: 'theirs' }, other.orgId)
  await asked(200, 'POST', CLIENTS, root, { client_id: 'c1', secret: 's1', redirect_uri: REDIRECT })
  const owner = await user({ oauth: 'write' })
  await setApiOwners(parts, 'shop', [owner.id])
  const stranger = await user({ oauth: 'write' })
  const body = { redirect_uri: REDIRECT, client_secret: 's1', token: 'x', client_id: 'c1' }
  const calls = [
    ['GET', CLIENTS],
    ['POST', CLIENTS],
    ['GET', `${CLIENTS}/c1`],
    ['PUT', `${CLIENTS}/c1`],
    ['DELETE', `${CLIENTS}/c1`],
    ['GET', `${CLIENTS}/c1/tokens`],
    ['GET', '/api/apis/oauth/c1/tokens'],
    ['POST', '/api/apis/oauth/c1/revoke'],
    ['POST', '/api/apis/oauth/c1/revoke_all'],
    ['POST', `${CLIENTS}/authorize-client`],
    ['POST', '/api/apis/shop/authorize-client'],
  ] as const
  for (const [method, path] of calls) {
    const ask = (as: typeof other) => call(method, path, { as, ...(method[0] === 'P' && { body }) })
    const isPost = method === 'POST' && path === CLIENTS
    assert.equal((await ask(other)).status, isPost ? 400 : 404, `${method} ${path} of another organisation`)
    assert.equal((await ask(stranger)).status, 401, `${method} ${path} of an owner`)
  }
  assert.equal((await asked(200, 'GET', `${CLIENTS}/c1`, owner)).client_id, 'c1')
  // The same id at an API of another organisation is another client.
  await asked(200, 'POST', '/api/apis/oauth/theirs', other, { client_id: 'c1', secret: 's2', redirect_uri: REDIRECT })
  await asked(409, 'POST', '/api/apis/oauth/theirs', other, { client_id: 'c1', secret: 's2', redirect_uri: REDIRECT })
  await asked(401, 'POST', '/api/apis/oauth/c1/revoke_all', other, { client_secret: 's1' })
  await asked(200, 'DELETE', '/api/apis/oauth/theirs/c1', other)
  await asked(404, 'GET', '/api/apis/oauth/theirs/c1', other)
  assert.equal((await asked(200, 'GET', `${CLIENTS}/c1`, owner)).client_id, 'c1')
  const { Message } = await asked(400, 'POST', '/api/apis/oauth/theirs', other, {
    redirect_uri: REDIRECT,
    policy_id: 'gold',
  })
  assert.equal(Message, "Policy doesn't exist")
})
