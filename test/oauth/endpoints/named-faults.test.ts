import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'

// Refusals say what is wrong: each sentence of a rule is a case here.

const REDIRECT = 'https://app.test/cb'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const CLIENTS = '/api/apis/oauth/shop'

async function start(t: TestContext) {
  const world = await gatewayWorld(t, { SVC_GW_OAUTHREGISTRATIONTOKEN: 'token-of-registration' })
  await world.oauth({ id: 'shop', scopes: ['read', 'write'] })
  await world.policy('gold', ['shop'])
  const client = { client_id: 'app', secret: 'secret-1', redirect_uri: REDIRECT, policies: ['gold'] }
  await world.asked(200, 'POST', CLIENTS, world.root, client)
  const post = async (path: string, form: Record<string, string>, authorization = basic('app:secret-1')) => {
    const headers = { ...FORM, ...(authorization !== '' && { authorization }) }
    const answer = await world.gateway.call(`/shop/oauth/${path}`, {
      ...{ method: 'POST', headers, body: new URLSearchParams(form).toString() },
    })
    return { ...answer, body: (answer.json ?? {}) as Record<string, string> }
  }
  return { ...world, client, post }
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

test('PKCE failures name what is wrong with the verifier', async (t) => {
  const { call, root, post } = await start(t)
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const exchange = async (asked: Record<string, string>, sent: Record<string, string>) => {
    const form = { response_type: 'code', client_id: 'app', redirect_uri: REDIRECT, ...asked }
    const made = await call('POST', '/api/apis/shop/authorize-client', {
      ...{ as: root, body: new URLSearchParams(form).toString() },
    })
    const { code } = made.json as { code: string }
    const { status, body } = await post('token', {
      grant_type: 'authorization_code',
      redirect_uri: REDIRECT,
      code,
      ...sent,
    })
    return [status, body.error, body.error_description]
  }
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const cases: readonly [Record<string, string>, Record<string, string>, RegExp][] = [
    [pkce, {}, /code_verifier is missing/],
    [pkce, { code_verifier: randomBytes(32).toString('base64url') }, /does not fit the code_challenge/],
    [pkce, { code_verifier: 'short' }, /43 to 128/],
    [{}, { code_verifier: verifier }, /without a code_challenge/],
  ]
  for (const [asked, sent, description] of cases) {
    const [status, error, text] = await exchange(asked, sent)
    assert.deepEqual([status, error], [400, 'invalid_grant'])
    assert.match(String(text), description)
  }
  assert.equal((await exchange(pkce, { code_verifier: verifier }))[0], 200)
})

test('malformed Basic credentials are 401 with a challenge, at every endpoint that authenticates', async (t) => {
  const { post } = await start(t)
  for (const path of ['token', 'revoke', 'revoke_all', 'introspect', 'par'])
    for (const sent of ['Basic', 'Basic  ', 'Basic !!!', basic('no-colon'), 'Basic YQ=b', 'basic\tYTpi']) {
      const form = { grant_type: 'client_credentials', token: 'x', client_id: 'app', client_secret: 'secret-1' }
      const answer = await post(path, form, sent)
      assert.deepEqual([answer.status, answer.body.error], [401, 'invalid_client'], `${path} ${sent}: ${answer.text}`)
      assert.match(String(answer.headers['www-authenticate']), /^Basic realm=/, `${path} ${sent}`)
    }
})

test('a POST of an authorization request reads its query too, and no parameter twice', async (t) => {
  const { gateway } = await start(t)
  const params = { response_type: 'code', client_id: 'app', redirect_uri: REDIRECT, state: 's&t', scope: 'read' }
  const names = Object.keys(params) as (keyof typeof params)[]
  const send = (inQuery: readonly string[], inBody: readonly string[]) => {
    const of = (wanted: readonly string[]) =>
      new URLSearchParams(names.filter((name) => wanted.includes(name)).map((name) => [name, params[name]])).toString()
    return gateway.call(`/shop/oauth/authorize?${of(inQuery)}`, { method: 'POST', headers: FORM, body: of(inBody) })
  }
  for (let mask = 0; mask < 2 ** names.length; mask++) {
    const inQuery = names.filter((_, index) => (mask >> index) % 2 === 1)
    const answer = await send(
      inQuery,
      names.filter((name) => !inQuery.includes(name)),
    )
    assert.equal(answer.status, 307, `${inQuery}: ${answer.text}`)
    const carried = new URL(String(answer.headers.location)).searchParams
    for (const name of names) assert.equal(carried.get(name), params[name], `${inQuery}`)
  }
  for (const twice of names) {
    const answer = await send([twice], names)
    assert.notEqual(answer.status, 307, twice)
    assert.match(
      `${answer.headers.location ?? ''} ${answer.text}`,
      /given\+more\+than\+once|given more than once/,
      twice,
    )
  }
})

test('an update of a client refuses another id or secret, and takes what a read shows', async (t) => {
  const { call, root, gateway, client, store } = await start(t)
  const ways = {
    dashboard: (body: JsonObject) => call('PUT', `${CLIENTS}/app`, { as: root, body }),
    gateway: (body: JsonObject) => gateway.svc('PUT', '/svc/oauth/clients/shop/app', body),
  }
  for (const [way, put] of Object.entries(ways)) {
    const before = JSON.stringify(await store.documents.list('oauth_client', { limit: 10 }))
    for (const [name, value] of [
      ['client_id', 'other'],
      ['secret', 'secret-2'],
      ['client_secret', 'secret-2'],
    ] as const) {
      const answer = await put({ ...client, [name]: value })
      assert.equal(answer.status, 400, `${way} ${name}: ${answer.text}`)
      assert.match(answer.text, new RegExp(`${name}: `), way)
    }
    assert.equal(JSON.stringify(await store.documents.list('oauth_client', { limit: 10 })), before, way)
    for (const same of [{}, { secret: '' }, { client_secret: 'secret-1' }, { client_id: 'app', secret: 'secret-1' }])
      assert.equal((await put({ redirect_uri: REDIRECT, policies: ['gold'], ...same })).status, 200, way)
  }
  const read = (await call('GET', `${CLIENTS}/app`, { as: root })).json as JsonObject
  assert.equal((await ways.dashboard(read)).status, 200)
  const creates = {
    dashboard: (body: JsonObject) => call('POST', CLIENTS, { as: root, body }),
    gateway: (body: JsonObject) => gateway.svc('POST', '/svc/oauth/clients/create', { api_id: 'shop', ...body }),
  }
  for (const [way, create] of Object.entries(creates)) {
    const draft = { client_id: `new-${way}`, redirect_uri: REDIRECT, policies: ['gold'] }
    const answer = await create({ ...draft, secret: 'one-secret', client_secret: 'another' })
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, /client_secret: is not the same as secret/)
    assert.equal((await create({ ...draft, secret: 'one-secret', client_secret: 'one-secret' })).status, 200)
  }
})

test('refusals of redirect URIs name the fault, wherever one is registered', async (t) => {
  const { call, root, gateway } = await start(t)
  const register = (uri: string) =>
    gateway.call('/shop/oauth/register', {
      method: 'POST',
      headers: { authorization: 'Bearer token-of-registration', 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [uri] }),
    })
  const administrate = (uri: string) =>
    call('POST', CLIENTS, { as: root, body: { redirect_uri: uri, policies: ['gold'] } })
  const faults: readonly [uri: string, text: RegExp][] = [
    ['https://app.test/cb#part', /has a fragment/],
    ['https://user@app.test/cb', /names a user/],
    ['https://*.app.test/cb', /wildcard/],
    ['https://app.test/a b', /holds " ", which must be percent-encoded/],
    ['https://app.test/%zz', /% without two hexadecimal digits/],
    ['https://app.test/a/../b', /path segment \. or \.\./],
    ['/cb', /it has no scheme/],
    ['HTTPS://app.test/cb', /scheme in lower case/],
    ['javascript://app.test/x', /must not use the scheme javascript/],
    ['https://app.test:999999/cb', /no valid host and port/],
    [`https://app.test/${'x'.repeat(2100)}`, /longer than 2048/],
  ]
  for (const [uri, text] of faults)
    for (const [way, send] of Object.entries({ register, administrate })) {
      const answer = await send(uri)
      assert.equal(answer.status, 400, `${way} ${uri}: ${answer.text}`)
      assert.match(
        (JSON.parse(answer.text) as Record<string, string>)[way === 'register' ? 'error_description' : 'Message']!,
        text,
        `${way} ${uri}`,
      )
    }
  assert.match((await register('http://app.test/cb')).text, /http is for loopback addresses only/)
  assert.match((await register('myapp://cb')).text, /a private-use scheme with a dot/)
})

test('a scope that may not be asked for is named', async (t) => {
  const { post, asked, root, client } = await start(t)
  const ask = async (scope: string) => {
    const { status, body } = await post('token', { grant_type: 'client_credentials', scope })
    return [status, body.error, body.error_description]
  }
  assert.deepEqual(await ask('read admin'), [400, 'invalid_scope', 'admin is not a scope of the API'])
  assert.deepEqual(await ask('a"b'), [400, 'invalid_scope', 'a part of scope is not a scope of the API'])
  await asked(200, 'PUT', `${CLIENTS}/app`, root, { ...client, scope: 'read' })
  assert.match(String((await ask('write'))[2]), /^write is not a scope that the client is registered with$/)
})

test('lists of tokens say how many pages there are', async (t) => {
  const { call, root, token, clock } = await start(t)
  for (let i = 0; i < 12; i++) {
    await token('shop', 'app', 'secret-1')
    clock.advance(1)
  }
  for (const path of [`${CLIENTS}/app/tokens`, '/api/apis/oauth/app/tokens']) {
    const pages = async (query: string) => {
      const answer = await call('GET', `${path}${query}`, { as: root })
      return [(answer.json as unknown[]).length, answer.headers['x-pages']]
    }
    assert.deepEqual(await pages(''), [10, '2'])
    assert.deepEqual(await pages('?p=2'), [2, '2'])
    assert.deepEqual(await pages('?p=-1'), [12, '2'])
  }
})

test('definitions that ask for what is not served are warned of, with the place', async (t) => {
  const { call, root } = await start(t)
  const schemes = 'components.securitySchemes.oa'
  const held = 'x-svc-api-gateway.server.authentication.securitySchemes.oa'
  type Definition = { components: { securitySchemes: { oa: { flows?: Record<string, JsonObject> } } } }
  const oaOf = (definition: JsonObject) => (definition as unknown as Definition).components.securitySchemes.oa
  const cases: readonly [edit: (definition: JsonObject) => void, settings: JsonObject, paths: readonly string[]][] = [
    [() => {}, {}, []],
    [
      (each) => Object.assign(oaOf(each).flows!, { implicit: { authorizationUrl: '/oauth/authorize', scopes: {} } }),
      {},
      [`${schemes}.flows.implicit`],
    ],
    [
      (each) =>
        Object.assign(oaOf(each), { flows: { implicit: { authorizationUrl: '/oauth/authorize', scopes: {} } } }),
      {},
      [`${schemes}.flows.implicit`, `${schemes}.flows`],
    ],
    [(each) => Object.assign(oaOf(each), { flows: {} }), {}, [`${schemes}.flows`]],
    [(each) => Object.assign(oaOf(each), { flows: undefined }), {}, [`${schemes}.flows`]],
    [
      (each) => Object.assign(oaOf(each), { flows: {} }),
      { deviceAuthorization: true, authLoginRedirect: 'https://login.example/' },
      [],
    ],
    [
      (each) => Object.assign(oaOf(each).flows!.clientCredentials!, { tokenUrl: 'https://id.example/token' }),
      {},
      [`${schemes}.flows.clientCredentials.tokenUrl`],
    ],
    [
      (each) =>
        Object.assign(oaOf(each).flows!.authorizationCode!, { authorizationUrl: '/login', refreshUrl: '/refresh' }),
      {},
      [`${schemes}.flows.authorizationCode.authorizationUrl`, `${schemes}.flows.authorizationCode.refreshUrl`],
    ],
    [
      (each) =>
        Object.assign(oaOf(each).flows!.clientCredentials!, { tokenUrl: 'https://gw.example/shop/oauth/token/' }),
      {},
      [],
    ],
    [() => {}, { header: { enabled: false } }, [`${held}.header.enabled`]],
    [() => {}, { header: { enabled: false }, query: { enabled: true, name: 'token' } }, []],
  ]
  for (const [index, [edit, settings, paths]] of cases.entries()) {
    const definition = oauthApi('http://127.0.0.1:1', { id: `d${index}`, settings })
    edit(definition)
    const answer = await call('POST', '/api/apis/oas', { as: root, body: definition })
    assert.equal(answer.status, 200, `${index}: ${answer.text}`)
    const { Warnings = [] } = answer.json as { Warnings?: { path: string }[] }
    assert.deepEqual(Warnings.map(({ path }) => path).toSorted(), paths.toSorted(), `${index}`)
  }
  const classic = (id: string, more: JsonObject): JsonObject => ({
    ...{ api_id: id, name: id, active: true, proxy: { listen_path: `/${id}/`, target_url: 'http://127.0.0.1:1' } },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  })
  const told = async (id: string, more: JsonObject) => {
    const answer = await call('POST', '/api/apis', { as: root, body: { api_definition: classic(id, more) } })
    assert.equal(answer.status, 200, answer.text)
    return ((answer.json as { Warnings?: { path: string }[] }).Warnings ?? []).map(({ path }) => path)
  }
  assert.deepEqual(await told('c1', { use_oauth2: true, oauth_meta: { allowed_access_types: ['refresh_token'] } }), [
    'oauth_meta.allowed_access_types',
  ])
  assert.deepEqual(await told('c2', { use_keyless: false, auth: { disable_header: true } }), ['auth.disable_header'])
})
