import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { register } from '../../../src/oauth/clients/registration.ts'
import { authorize } from '../../../src/oauth/endpoints/authorize.ts'
import { updateClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { CALLBACK, type Front, faultOf, field, front, ISSUER, type Sent } from '../../worlds/oauth/front-fixtures.ts'

const INITIAL = 'the initial access token'
const GOOD = { redirect_uris: [CALLBACK], client_name: 'The shop' }
const JWKS = {
  keys: [{ ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }), kid: '1' }],
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const started = (t: Parameters<typeof front>[0], rules = {}) => front(t, rules, INITIAL)

const send = async (f: Front, json: unknown, more: Sent = {}) =>
  register(f.parts, f.call('register', { json, headers: bearer(INITIAL), ...more }))

const made = async (f: Front, json: unknown = GOOD) => JSON.parse((await send(f, json)).body)

const manage = async (f: Front, method: string, id: string, token: string, json?: unknown) =>
  register(
    f.parts,
    f.call('register', { method, rest: `/${id}`, headers: bearer(token), ...(json !== undefined && { json }) }),
  )

const stored = async (f: Front, id: string): Promise<OAuthClient | undefined> =>
  (await f.store.documents.find('oauth_client', 'client_id', id))?.body as unknown as OAuthClient | undefined

test('a body of more than 64 kB is too large, not malformed', async (t) => {
  const f = started(t)
  const body = () => Promise.reject(new Fault('body_too_large'))
  const sent = { ...f.call('register', { json: GOOD, headers: bearer(INITIAL) }), body }
  await assert.rejects(register(f.parts, sent), faultOf('oauth_too_large'))
})

test('guesses of the initial access token are slowed down by address, and it waits with them', async (t) => {
  const f = started(t)
  const guess = (token: string) => send(f, GOOD, { headers: bearer(token) })
  for (let tries = 0; tries < 101; tries++) assert.equal((await guess('wrong')).status, 401)
  for (const token of ['wrong', INITIAL]) await assert.rejects(guess(token), faultOf('oauth_too_many_tries'))
  assert.equal((await send(f, GOOD, { headers: {} })).status, 401)
})

test('a client is registered with the defaults of RFC 7591, and can be used at once', async (t) => {
  const f = started(t)
  const answer = await send(f, GOOD)
  assert.equal(answer.status, 201)
  assert.match(field(answer, 'cache-control') ?? '', /no-store/)
  const body = JSON.parse(answer.body)
  assert.match(body.client_id, /^[A-Za-z0-9_-]{43}$/)
  assert.match(body.client_secret, /^[A-Za-z0-9_-]{43}$/)
  assert.match(body.registration_access_token, /^[A-Za-z0-9_-]{43}$/)
  const { client_id, client_secret, registration_access_token, ...rest } = body
  assert.deepEqual(rest, {
    client_id_issued_at: Math.floor(f.clock.wall() / 1000),
    client_secret_expires_at: 0,
    registration_client_uri: `${ISSUER}/oauth/register/${client_id}`,
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    client_name: 'The shop',
  })
  const client = await stored(f, client_id)
  assert.deepEqual(client?.api_ids, ['orders'])
  assert.deepEqual(client?.policies, [])
  assert.equal(client?.org_id, 'org')
  const text = JSON.stringify(client)
  assert.ok(!text.includes(registration_access_token) && !text.includes(client_secret), 'neither is kept in clear')
  assert.ok(text.includes(hashKey(registration_access_token).toString('hex')))
  const query = { response_type: 'code', client_id, redirect_uri: CALLBACK }
  assert.equal((await authorize(f.parts, f.call('authorize', { query }))).status, 307)
})

test('it is off by default: every call is as if the endpoint were not there', async (t) => {
  const f = front(t)
  for (const headers of [{}, bearer(''), bearer('undefined')]) {
    const call = f.call('register', { json: GOOD, headers })
    await assert.rejects(register(f.parts, call), faultOf('not_found'))
  }
  await assert.rejects(manage(f, 'GET', 'shop', 'x'), faultOf('not_found'))
})

test('turning it off ends the tokens that manage clients', async (t) => {
  const f = started(t)
  const { client_id, registration_access_token: token } = await made(f)
  const { gateway, compat } = f.parts.config
  const off = { ...f.parts, config: { gateway: { ...gateway, oauth_registration_token: '' }, compat } }
  await assert.rejects(manage({ ...f, parts: off }, 'GET', client_id, token), faultOf('not_found'))
})

for (const [what, headers, challenge] of [
  ['no token', {}, 'Bearer'],
  ['a wrong token', bearer('wrong'), 'Bearer error="invalid_token"'],
  ['the token in another scheme', { authorization: `Basic ${INITIAL}` }, 'Bearer'],
  ['the token alone', { authorization: INITIAL }, 'Bearer'],
] as const) {
  test(`not registered: ${what}`, async (t) => {
    const f = started(t)
    const answer = await send(f, GOOD, { headers })
    assert.equal(answer.status, 401)
    assert.equal(field(answer, 'www-authenticate'), challenge)
    assert.equal(JSON.parse(answer.body).error, 'invalid_token')
    assert.equal((await f.store.documents.list('oauth_client', { limit: 1 })).total, 0)
  })
}

test('only what clients may say of themselves is taken', async (t) => {
  const f = started(t)
  const own = {
    client_id: 'mine',
    client_secret: 'mine',
    policies: ['gold'],
    policy_id: 'gold',
    metadata: { plan: 'gold' },
    meta_data: { plan: 'gold' },
    api_ids: ['invoices'],
    org_id: 'other',
    epoch: 'x',
    secrets: [],
    token_lifetime: 31_536_000,
    registration: { token_hash: 'x' },
    registered_by_policy: 'gold',
    unknown: 1,
  }
  const { client_id } = await made(f, { ...GOOD, ...own })
  const client = await stored(f, client_id)
  assert.notEqual(client_id, 'mine')
  assert.deepEqual(
    [
      client?.policies,
      client?.metadata,
      client?.api_ids,
      client?.org_id,
      client?.token_lifetime,
      client?.registered_by_policy,
    ],
    [[], {}, ['orders'], 'org', 0, ''],
  )
  assert.equal(client?.unknown, undefined)
})

test('metadata come back as they were sent', async (t) => {
  const f = started(t)
  const sent = {
    redirect_uris: [CALLBACK, 'http://127.0.0.1/cb', 'com.example.app:/cb'],
    token_endpoint_auth_method: 'private_key_jwt',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'read write',
    jwks: JWKS,
    client_name: 'Läden',
    client_uri: 'https://app.example/',
    logo_uri: 'https://app.example/logo.png',
    contacts: ['ops@app.example'],
    software_id: '4NRB1-0XZABZI9E6-5SM3R',
    software_version: '2.1',
  }
  const body = await made(f, sent)
  for (const [name, value] of Object.entries(sent)) assert.deepEqual(body[name], value, name)
  assert.equal(body.client_secret, undefined, 'a client with a key has no secret')
  assert.equal(body.client_secret_expires_at, undefined)
})

test('a public client gets no secret', async (t) => {
  const f = started(t)
  const body = await made(f, { ...GOOD, token_endpoint_auth_method: 'none' })
  assert.equal(body.client_secret, undefined)
  assert.equal((await stored(f, body.client_id))?.auth_method, 'none')
})

test('a client for client credentials alone needs no redirect URI', async (t) => {
  const f = started(t)
  const body = await made(f, { grant_types: ['client_credentials'] })
  assert.deepEqual([body.redirect_uris, body.response_types], [[], []])
  const more = send(f, { grant_types: ['client_credentials', 'authorization_code'] })
  await assert.rejects(more, faultOf('oauth_invalid_redirect'))
})

const REDIRECTS: readonly (readonly [what: string, uris: unknown])[] = [
  ['none', undefined],
  ['an empty list', []],
  ['a text', CALLBACK],
  ['numbers', [1]],
  ['plain http', ['http://app.example/cb']],
  ['a fragment', [`${CALLBACK}#x`]],
  ['javascript', ['javascript:alert(1)']],
  ['data', ['data:text/html,x']],
  ['a scheme without a dot', ['myapp://cb']],
  ['a wildcard', ['https://*.example/cb']],
  ['a relative one', ['/cb']],
  ['a user', ['https://a@app.example/cb']],
  ['one bad among good', [CALLBACK, 'http://app.example/cb']],
  ['too many', Array.from({ length: 21 }, (_, i) => `${CALLBACK}/${i}`)],
  ['one too long', [`${CALLBACK}/${'x'.repeat(3000)}`]],
]
for (const [what, redirect_uris] of REDIRECTS) {
  test(`redirect_uris refused: ${what}`, async (t) => {
    const f = started(t)
    await assert.rejects(send(f, { redirect_uris }), faultOf('oauth_invalid_redirect'))
  })
}

const METADATA: readonly (readonly [what: string, change: Readonly<Record<string, unknown>>])[] = [
  ['an unknown method', { token_endpoint_auth_method: 'client_secret_jwt' }],
  ['our own word for either method', { token_endpoint_auth_method: 'any' }],
  ['a method that is no text', { token_endpoint_auth_method: ['none'] }],
  ['an implicit grant', { grant_types: ['implicit'] }],
  ['the password grant', { grant_types: ['password', 'authorization_code'] }],
  ['no grant', { grant_types: [] }],
  ['a grant that is no list', { grant_types: 'authorization_code' }],
  ['an implicit response', { response_types: ['code', 'token'] }],
  ['a code without its grant', { grant_types: ['client_credentials'], response_types: ['code'] }],
  ['the grant without a code', { response_types: [] }],
  [
    'client credentials of a public client',
    { token_endpoint_auth_method: 'none', grant_types: ['client_credentials'] },
  ],
  ['an unknown scope', { scope: 'read admin' }],
  ['a scope that is a list', { scope: ['read'] }],
  ['a key method without keys', { token_endpoint_auth_method: 'private_key_jwt' }],
  ['keys and an address of keys', { jwks: JWKS, jwks_uri: 'https://app.example/jwks' }],
  ['an address of keys that is none', { jwks_uri: 'app.example/jwks' }],
  ['keys that are none', { jwks: { keys: [] } }],
  ['private keys', { jwks: { keys: [{ ...JWKS.keys[0], d: 'x' }] } }],
  ['a name that is no text', { client_name: { en: 'x' } }],
  ['a name without end', { client_name: 'x'.repeat(600) }],
  ['a logo that is a script', { logo_uri: 'javascript:alert(1)' }],
  ['a home page that is no address', { client_uri: 'https://' }],
  ['contacts that are no list', { contacts: 'ops@app.example' }],
]
for (const [what, change] of METADATA) {
  test(`metadata refused: ${what}`, async (t) => {
    const f = started(t, { grants: new Set(['authorization_code', 'client_credentials', 'password', 'refresh_token']) })
    await assert.rejects(send(f, { ...GOOD, ...change }), faultOf('oauth_invalid_metadata'))
  })
}

test('grants that the API does not have cannot be registered', async (t) => {
  const f = started(t, { grants: new Set(['authorization_code']) })
  const sent = { ...GOOD, grant_types: ['authorization_code', 'refresh_token'] }
  await assert.rejects(send(f, sent), faultOf('oauth_invalid_metadata'))
})

for (const [what, sent] of [
  ['another type', { form: 'a=b', json: undefined }],
  ['no JSON', { json: '{' }],
  ['a list', { json: '[]' }],
  ['a member named twice', { json: `{"redirect_uris":["${CALLBACK}"],"redirect_uris":["https://evil.example/"]}` }],
] as const) {
  test(`body refused: ${what}`, async (t) => {
    const f = started(t)
    const call = f.call('register', { headers: bearer(INITIAL), ...(sent as Sent) })
    await assert.rejects(register(f.parts, call), faultOf('oauth_invalid_metadata'))
  })
}

test('a client reads itself with its token', async (t) => {
  const f = started(t)
  const body = await made(f)
  const answer = await manage(f, 'GET', body.client_id, body.registration_access_token)
  assert.equal(answer.status, 200)
  assert.deepEqual(JSON.parse(answer.body), body)
})

test('a replacement leaves nothing of what is not sent, and all that administrators gave', async (t) => {
  const f = started(t)
  const before = await made(f, { ...GOOD, scope: 'read', logo_uri: 'https://app.example/l', jwks: JWKS })
  const { client_id, client_secret, registration_access_token: token } = before
  await updateClient(
    f.parts,
    { client_id },
    {
      body: { redirect_uris: [CALLBACK], metadata: { plan: 'gold' }, token_lifetime: 60 },
      actor: 'admin',
    },
  )
  const epoch = (await stored(f, client_id))?.epoch
  const sent = {
    client_id,
    client_secret,
    redirect_uris: [`${CALLBACK}2`],
    token_endpoint_auth_method: 'client_secret_post',
  }
  const answer = await manage(f, 'PUT', client_id, token, sent)
  assert.equal(answer.status, 200)
  const after = JSON.parse(answer.body)
  assert.deepEqual(after.redirect_uris, [`${CALLBACK}2`])
  assert.equal(after.token_endpoint_auth_method, 'client_secret_post')
  assert.equal(after.client_secret, client_secret)
  assert.equal(after.registration_access_token, token)
  for (const name of ['client_name', 'scope', 'logo_uri', 'jwks']) assert.equal(after[name], undefined, name)
  const client = await stored(f, client_id)
  assert.deepEqual([client?.metadata, client?.token_lifetime, client?.epoch], [{ plan: 'gold' }, 60, epoch])
  assert.equal((await manage(f, 'GET', client_id, token)).status, 200)
})

test('a replacement names its client and nothing that is ours to say', async (t) => {
  const f = started(t)
  const { client_id, registration_access_token: token } = await made(f)
  const refused = async (json: JsonObject, code = 'oauth_invalid_request') =>
    assert.rejects(manage(f, 'PUT', client_id, token, json), faultOf(code))
  await refused(GOOD)
  await refused({ ...GOOD, client_id: 'other' })
  await refused({ ...GOOD, client_id, client_secret: 'other' })
  await refused({ ...GOOD, client_id, client_secret: '' })
  for (const name of [
    'registration_access_token',
    'registration_client_uri',
    'client_id_issued_at',
    'client_secret_expires_at',
  ])
    await refused({ ...GOOD, client_id, [name]: 'x' })
  await refused({ client_id, redirect_uris: ['http://app.example/'] }, 'oauth_invalid_redirect')
  await refused({ ...GOOD, client_id, grant_types: ['password'] }, 'oauth_invalid_metadata')
})

test('a deleted client is gone, and its token with it', async (t) => {
  const f = started(t)
  const { client_id, registration_access_token: token } = await made(f)
  const answer = await manage(f, 'DELETE', client_id, token)
  assert.equal(answer.status, 204)
  assert.equal(answer.body, '')
  assert.equal(await stored(f, client_id), undefined)
  assert.equal((await manage(f, 'GET', client_id, token)).status, 401)
  assert.equal((await manage(f, 'DELETE', client_id, token)).status, 401)
})

test('a client is managed with its own token, at its own API, if registered so', async (t) => {
  const f = started(t)
  const one = await made(f)
  const two = await made(f)
  for (const method of ['GET', 'PUT', 'DELETE']) {
    for (const token of [two.registration_access_token, INITIAL, one.client_secret, 'x', ''])
      assert.equal((await manage(f, method, one.client_id, token, { ...GOOD, client_id: one.client_id })).status, 401)
  }
  const elsewhere = { ...f.api, apiId: 'invoices' }
  const call = f.call('register', {
    rest: `/${one.client_id}`,
    headers: bearer(one.registration_access_token),
    api: elsewhere,
  })
  assert.equal((await register(f.parts, call)).status, 401)
  const document = (await f.store.documents.find('oauth_client', 'client_id', one.client_id))!
  const body = { ...document.body, api_ids: ['orders', 'invoices'] }
  await f.store.documents.commit([{ op: 'put', kind: 'oauth_client', id: document.id, body }], undefined)
  assert.equal((await register(f.parts, call)).status, 401, 'also where an administrator has added it')
  for (const id of ['nobody', '', '%zz', '../orders', '__proto__'])
    assert.equal((await manage(f, 'GET', id === '' ? '/' : id, one.registration_access_token)).status, 401)
  assert.ok(await stored(f, one.client_id))
})

test('methods that mean nothing are refused', async (t) => {
  const f = started(t)
  const { client_id, registration_access_token: token } = await made(f)
  await assert.rejects(manage(f, 'POST', client_id, token, GOOD), faultOf('method_not_allowed'))
  await assert.rejects(send(f, GOOD, { method: 'PUT' }), faultOf('method_not_allowed'))
})
