import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { clientOf } from '../../../src/publish/oauth-clients/oauth-client-parts.ts'
import { becomes } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { putOAuthApis, REDIRECT } from '../../worlds/publish/client-world.ts'
import { putRefresh, putToken } from '../../worlds/publish/stored.ts'

const CREATE = '/svc/oauth/clients/create'

async function withApis(t: TestContext): Promise<TestGateway> {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  await putOAuthApis(gate.store, ['orders', 'stock'])
  return gate
}

const seen = (answer: { json: unknown }) => answer.json as JsonObject

async function made(gate: TestGateway, more: JsonObject = {}): Promise<JsonObject> {
  const answer = await gate.svc('POST', CREATE, { api_id: 'orders', redirect_uri: REDIRECT, ...more })
  assert.equal(answer.status, 200, answer.text)
  return seen(answer)
}

async function epochOf(gate: TestGateway, clientId: unknown): Promise<string> {
  const stored = await gate.store.documents.find('oauth_client', 'client_id', String(clientId))
  return clientOf(stored!.body).epoch
}

/** Gives a client an access token as the authorization server would. */
async function token(
  gate: TestGateway,
  text: string,
  clientId: unknown,
  more: { family?: string; lifeS?: number; apiId?: string } = {},
) {
  const epoch = await epochOf(gate, clientId)
  await putToken(gate, text, { clientId: String(clientId), epoch, apiId: 'orders', ...more })
}

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
const known = async (gate: TestGateway, text: string) =>
  (await gate.store.tokens.getSession(hashKey(text))) !== undefined

test('a client is made, read, listed, changed and deleted, with the words of the wire', async (t) => {
  const gate = await withApis(t)
  const client = await made(gate, { policy_id: 'gold', meta_data: { a: 1 }, description: 'd' })
  assert.match(String(client.client_id), /^[A-Za-z0-9_-]{43}$/)
  assert.match(String(client.secret), /^[A-Za-z0-9_-]{43}$/)
  assert.deepEqual(
    [client.redirect_uri, client.policy_id, client.policies, client.meta_data, client.metadata, client.description],
    [REDIRECT, 'gold', ['gold'], { a: 1 }, { a: 1 }, 'd'],
  )
  const path = `/svc/oauth/clients/orders/${client.client_id}`
  assert.deepEqual(seen(await gate.svc('GET', path)), client)
  assert.deepEqual((await gate.svc('GET', '/svc/oauth/clients/orders')).json, [client])
  assert.deepEqual((await gate.svc('GET', '/svc/oauth/clients/stock/')).json, [])
  const changed = await gate.svc('PUT', path, { redirect_uri: 'https://b.example/', policy_id: 'gold' })
  assert.equal(changed.status, 200)
  assert.deepEqual(
    [seen(changed).redirect_uri, seen(changed).description, seen(changed).meta_data, seen(changed).secret],
    ['https://b.example/', '', {}, client.secret],
  )
  assert.deepEqual(seen(await gate.svc('DELETE', path)), { key: client.client_id, status: 'ok', action: 'deleted' })
  assert.equal((await gate.svc('GET', path)).status, 404)
  assert.deepEqual(seen(await gate.svc('DELETE', path)), { key: client.client_id, status: 'ok', action: 'deleted' })
})

test('each refusal has its status and words', async (t) => {
  const gate = await withApis(t)
  const { client_id: id } = await made(gate)
  const said = async (method: string, path: string, body?: unknown) => {
    const { status, json, text } = await gate.svc(method, `/svc/oauth/${path}`, body)
    return `${status} ${json === null ? text : (json as JsonObject).message}`
  }
  const body = { api_id: 'orders', redirect_uri: REDIRECT }
  assert.equal(await said('POST', 'clients/create', { ...body, api_id: 'nowhere' }), "400 API doesn't exist")
  assert.equal(await said('POST', 'clients/create', { ...body, api_id: 'open' }), '400 API is not OAuth2')
  assert.equal(await said('POST', 'clients/create', { ...body, policy_id: 'lead' }), "400 Policy doesn't exist")
  assert.match(
    await said('POST', 'clients/create', { api_id: 'orders' }),
    /^400 OAuth client is not valid: redirect_uri/,
  )
  assert.match(await said('POST', 'clients/create', '{'), /^400/)
  assert.match(await said('POST', 'clients/create', { ...body, client_id: id }), /^409/)
  assert.equal(await said('GET', 'clients/nowhere'), '404 null')
  assert.equal(await said('GET', 'clients/open'), '404 null')
  assert.equal(await said('GET', 'clients/orders/nobody'), '404 OAuth Client ID not found')
  assert.equal(await said('GET', `clients/stock/${id}`), '404 OAuth Client ID not found')
  assert.equal(await said('PUT', `clients/nowhere/${id}`, body), "404 API doesn't exist")
  assert.equal(await said('PUT', 'clients/orders/nobody', body), '404 OAuth Client ID not found')
  assert.match(
    await said('PUT', `clients/orders/${id}`, { ...body, policy_id: 'silver' }),
    /^400 .*rights on API orders/,
  )
  assert.equal(await said('PUT', 'clients/orders/nobody/rotate'), '404 OAuth Client ID not found')
  assert.equal(await said('DELETE', `clients/nowhere/${id}`), "404 API doesn't exist")
  assert.equal(await said('DELETE', `clients/open/${id}`), "404 API doesn't exist")
  assert.equal(await said('GET', `clients/nowhere/${id}/tokens`), '404 OAuth Client ID not found')
  assert.equal(await said('PATCH', `clients/orders/${id}`), '405 Method not supported')
})

test('a client id that looks like a path is one segment when it is encoded', async (t) => {
  const gate = await withApis(t)
  for (const id of ['a/b', 'a\\b', '..a/b..', '%2f', 'create', 'a?b#c', 'a/.b', "o'c; --"]) {
    await made(gate, { client_id: id, secret: 'a secret' })
    const path = `/svc/oauth/clients/orders/${encodeURIComponent(id)}`
    assert.equal(seen(await gate.svc('GET', path)).client_id, id)
    assert.equal(seen(await gate.svc('PUT', `${path}/rotate`)).client_id, id)
    assert.deepEqual((await gate.svc('GET', `${path}/tokens`)).json, [])
    assert.equal(seen(await gate.svc('DELETE', path)).key, id)
  }
})

test('a client id with a dot segment in any encoding is refused, as is a path with it', async (t) => {
  const gate = await withApis(t)
  for (const id of [
    '.',
    '..',
    '../../keys',
    '%2e%2e',
    'tokens/..',
    '%252E.',
    'a%2f..',
    '..\\a',
    '..;x',
    '.%5ca',
    'a/%2E%3b',
  ]) {
    const body = { api_id: 'orders', redirect_uri: REDIRECT, client_id: id }
    const refused = await gate.svc('POST', CREATE, body)
    assert.deepEqual([refused.status, /client_id.*path segment/.test(refused.text)], [400, true], id)
    if (/^\.+$/.test(id)) continue
    const answer = await gate.svc('GET', `/svc/oauth/clients/orders/${encodeURIComponent(id)}`)
    assert.equal(answer.status, 400, id)
    assert.match(answer.text, /once decoded \(refused with allowEncodedSlashes too\)/)
  }
})

test('a rotated secret: another one, chosen or made, with the old one good for the overlap', async (t) => {
  const gate = await withApis(t)
  const { client_id: id, secret } = await made(gate)
  const path = `/svc/oauth/clients/orders/${id}/rotate`
  const all = (client_secret: unknown) =>
    gate.svc('POST', '/svc/oauth/revoke_all', form({ client_id: String(id), client_secret: String(client_secret) }))
  const next = seen(await gate.svc('PUT', `${path}?overlap=60`)).secret
  assert.notEqual(next, secret)
  assert.deepEqual([(await all(secret)).status, (await all(next)).status], [200, 200])
  gate.clock.advance(60_000)
  assert.deepEqual([(await all(secret)).status, (await all(next)).status], [401, 200])
  const chosen = seen(await gate.svc('PUT', path, { secret: 'chosen by us', overlap: 0 }))
  assert.equal(chosen.secret, 'chosen by us')
  assert.deepEqual([(await all(next)).status, (await all('chosen by us')).status], [401, 200])
  for (const overlap of ['-1', 'x', '1e9', '99999999999'])
    assert.equal((await gate.svc('PUT', `${path}?overlap=${overlap}`)).status, 400, overlap)
  const misspelled = await gate.svc('PUT', path, { overlap_seconds: 60 })
  assert.deepEqual([misspelled.status, /overlap_seconds: is not known/.test(misspelled.text)], [400, true])
  assert.equal((await all('chosen by us')).status, 200)
})

test('a client of a policy is one of all its OAuth APIs', async (t) => {
  const gate = await withApis(t)
  const answer = await gate.svc('POST', CREATE, { policy_id: 'gold', redirect_uri: REDIRECT })
  const { client_id: id } = seen(answer)
  for (const api of ['orders', 'stock'])
    assert.equal((await gate.svc('GET', `/svc/oauth/clients/${api}/${id}`)).status, 200)
  assert.deepEqual((await gate.svc('GET', `/svc/oauth/clients/apis/${id}?orgID=`)).json, ['orders', 'stock'])
  assert.deepEqual((await gate.svc('GET', `/svc/oauth/clients/apis/${id}?orgID=other`)).json, [])
  assert.deepEqual((await gate.svc('GET', '/svc/oauth/clients/apis/nobody')).json, [])
})

test('lists come whole, or page by page', async (t) => {
  const gate = await withApis(t)
  const ids: unknown[] = []
  for (let i = 0; i < 105; i++) ids.push((await made(gate)).client_id)
  const idsIn = (answer: { json: unknown }) => (answer.json as JsonObject[]).map(({ client_id }) => client_id)
  const whole = idsIn(await gate.svc('GET', '/svc/oauth/clients/orders'))
  assert.deepEqual([...whole].sort(), [...ids].sort())
  const second = await gate.svc('GET', '/svc/oauth/clients/orders?p=2')
  assert.deepEqual(idsIn(second), whole.slice(100))
  assert.equal(second.headers['x-pages'], '2')
})

test('tokens are listed by their hash while they live, all at once or in pages of 100', async (t) => {
  const gate = await withApis(t)
  const { client_id: id } = await made(gate, { client_id: 'app' })
  await made(gate, { client_id: 'other' })
  for (let i = 0; i < 103; i++) await token(gate, `token-${i}`, id)
  await token(gate, 'short', id, { lifeS: 10 })
  await token(gate, 'elsewhere', id, { apiId: 'stock' })
  await token(gate, 'of another', 'other')
  const path = '/svc/oauth/clients/orders/app/tokens'
  const expires = Math.floor(gate.clock.wall() / 1000) + 3600
  const codes = Array.from({ length: 103 }, (_, i) => hashKey(`token-${i}`).toString('hex'))
  gate.clock.advance(10_000)
  assert.deepEqual(
    (await gate.svc('GET', path)).json,
    codes.map((code) => ({ code, expires })),
  )
  const page = async (query: string) => seen(await gate.svc('GET', `${path}?page=${query}`))
  const first = await page('1')
  assert.deepEqual(first.Pagination, { page_num: 1, page_total: 2, page_size: 100 })
  assert.equal((first.Tokens as unknown[]).length, 100)
  const second = await page('2')
  assert.deepEqual(
    second.Tokens,
    codes.slice(100).map((code) => ({ code, expires })),
  )
  for (const odd of ['0', '-3', 'x', '']) assert.deepEqual(await page(odd), first)
  assert.deepEqual((await gate.svc('GET', '/svc/oauth/clients/orders/nobody/tokens')).json, [])
})

test('a token is revoked by value or hash by its own client; a refresh token with its grant', async (t) => {
  const gate = await withApis(t)
  const { client_id: id } = await made(gate, { client_id: 'app' })
  await made(gate, { client_id: 'other' })
  const epoch = await epochOf(gate, id)
  for (const name of ['one', 'two', 'three']) await token(gate, name, id)
  await token(gate, 'access', id, { family: 'f' })
  await putRefresh(gate, 'refresh', { clientId: 'app', epoch, apiId: 'orders', family: 'f' })
  const revoke = (fields: Record<string, string>) => gate.svc('POST', '/svc/oauth/revoke', form(fields))
  const ok = { status: 'ok', message: 'token revoked successfully' }
  assert.deepEqual(seen(await revoke({ token: 'one', client_id: 'app' })), ok)
  assert.deepEqual(
    seen(await revoke({ token: hashKey('two').toString('hex'), client_id: 'app', token_type_hint: 'access_token' })),
    ok,
  )
  // RFC 7009 section 2.1: another client's token, by any name, is refused.
  for (const named of ['three', hashKey('three').toString('hex'), 'refresh', 'access']) {
    const refused = await revoke({ token: named, client_id: 'other' })
    assert.equal(refused.status, 400)
    assert.match(refused.text, /not issued to this client/)
  }
  assert.deepEqual(seen(await revoke({ token: 'never was', client_id: 'app' })), ok)
  assert.deepEqual(await Promise.all(['one', 'two', 'three'].map((name) => known(gate, name))), [false, false, true])
  const inJson = JSON.stringify({ token: 'refresh', token_type_hint: 'refresh_token', client_id: 'app' })
  const asJson = await gate.svc('POST', '/svc/oauth/revoke', ` \t\r\n${inJson}`)
  assert.deepEqual(seen(asJson), ok)
  assert.equal(await known(gate, 'access'), false)
  assert.equal(await gate.store.tokens.getTicket(hashKey('refresh')), undefined)
})

test('what revoke and revoke_all refuse', async (t) => {
  const gate = await withApis(t)
  await made(gate, { client_id: 'app', secret: 'the secret' })
  const said = async (path: string, body: string) => {
    const answer = await gate.svc('POST', `/svc/oauth/${path}`, body)
    return `${answer.status} ${seen(answer).message}`
  }
  assert.equal(await said('revoke', 'client_id=app'), '400 token is required')
  assert.equal(await said('revoke', 'token=t'), '400 client_id is required')
  assert.equal(await said('revoke', 'token=t&client_id=nobody'), "400 oauth client doesn't exist")
  assert.equal(await said('revoke', 'token=t&client_id=app&org_id=other'), "400 oauth client doesn't exist")
  assert.match(await said('revoke', 'token=t&token=u&client_id=app'), /^400 .*token: is repeated/)
  assert.match(await said('revoke', 'token=%zz&client_id=app'), /^400/)
  assert.match(await said('revoke', 'token=%ff&client_id=app'), /^400/)
  assert.match(await said('revoke', '{"token":1}'), /^400/)
  assert.match(await said('revoke', `token=${'x'.repeat(70_000)}`), /^413/)
  assert.equal(await said('revoke_all', 'client_secret=x'), '401 client_id is required')
  assert.equal(await said('revoke_all', 'client_id=app'), '401 client_secret is required')
  assert.equal(await said('revoke_all', 'client_id=nobody&client_secret=x'), "404 oauth client doesn't exist")
  assert.equal(await said('revoke_all', 'client_id=app&client_secret=x'), '401 client secret is wrong')
  assert.ok(!JSON.stringify(gate.log).includes('the secret'))
})

test('revoke_all with the secret voids every token at once, and their rows go', async (t) => {
  const gate = await withApis(t)
  await made(gate, { client_id: 'app', secret: 'the secret' })
  for (let i = 0; i < 5; i++) await token(gate, `token-${i}`, 'app')
  const before = await epochOf(gate, 'app')
  const answer = await gate.svc('POST', '/svc/oauth/revoke_all', 'client_id=app&client_secret=the+secret')
  assert.deepEqual(seen(answer), { status: 'ok', message: 'tokens revoked successfully' })
  assert.notEqual(await epochOf(gate, 'app'), before)
  assert.deepEqual((await gate.svc('GET', '/svc/oauth/clients/orders/app/tokens')).json, [])
  await becomes(() => gate.store.tokens.countSessions({ clientId: 'app' }), 0)
})

test('lapsed tokens are purged by call', async (t) => {
  const gate = await withApis(t)
  await made(gate, { client_id: 'app' })
  await token(gate, 'short', 'app', { lifeS: 10 })
  await token(gate, 'long', 'app')
  gate.clock.advance(10_000)
  const purge = (query: string) => gate.svc('DELETE', `/svc/oauth/tokens${query}`)
  assert.deepEqual([(await purge('')).status, seen(await purge('')).message], [422, 'scope parameter is required'])
  assert.deepEqual(
    [(await purge('?scope=all')).status, seen(await purge('?scope=all')).message],
    [400, 'unknown scope'],
  )
  assert.equal(await known(gate, 'short'), true)
  const [one, other] = await Promise.all([purge('?scope=lapsed'), purge('?scope=lapsed')])
  assert.deepEqual(seen(one), { status: 'ok', message: 'expired tokens purged' })
  assert.equal(other.status, 200)
  assert.deepEqual([await known(gate, 'short'), await known(gate, 'long')], [false, true])
})

test('a refresh token is removed by API and value', async (t) => {
  const gate = await withApis(t)
  await made(gate, { client_id: 'app' })
  const epoch = await epochOf(gate, 'app')
  await token(gate, 'access', 'app', { family: 'f' })
  await putRefresh(gate, 'refresh', { clientId: 'app', epoch, apiId: 'orders', family: 'f' })
  const remove = (query: string) => gate.svc('DELETE', `/svc/oauth/refresh/refresh${query}`)
  assert.deepEqual(
    [(await remove('')).status, (await remove('?api_id=nowhere')).status, (await remove('?api_id=open')).status],
    [400, 404, 400],
  )
  assert.equal((await remove('?api_id=stock')).status, 200)
  assert.ok(await gate.store.tokens.getTicket(hashKey('refresh')))
  assert.deepEqual(seen(await remove('?api_id=orders')), { key: 'refresh', status: 'ok', action: 'deleted' })
  assert.equal(await gate.store.tokens.getTicket(hashKey('refresh')), undefined)
  assert.equal(await known(gate, 'access'), false)
})

test('every call needs the secret of the gateway', async (t) => {
  const gate = await withApis(t)
  for (const [method, path] of [
    ['POST', 'clients/create'],
    ['GET', 'clients/orders'],
    ['GET', 'clients/orders/app/tokens'],
    ['POST', 'revoke'],
    ['POST', 'revoke_all'],
    ['DELETE', 'tokens?scope=lapsed'],
  ] as const) {
    const answer = await gate.svc(method, `/svc/oauth/${path}`, undefined, { 'x-svc-authorization': 'wrong' })
    assert.equal(answer.status, 403, path)
  }
})
