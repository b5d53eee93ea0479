import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { listedResource } from '../../../src/model/oauth-clients/oauth-rules.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { type OAuthWorld, oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'

// RFC 8707 at every endpoint that takes an authorization or token request, by its one parser: form, query and JSON.

const CALLBACK = 'https://app.example.org/cb'
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const PUBLIC = 'https://api.example.test'
const OWN = `${PUBLIC}/a`
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'
const ALLOWED = [`${PUBLIC}/b`, 'https://reports.example/', 'reports']

type Pairs = readonly (readonly [name: string, value: string])[]
type Send = (params: Pairs) => Promise<Answer>

interface World extends OAuthWorld {
  /** Sends a form, or the same as JSON, as the client `app`. */
  form(endpoint: string, params: Pairs): Promise<Answer>
  json(endpoint: string, params: Pairs): Promise<Answer>
  /** A call of the login page. */
  login(body: string): Promise<Answer>
  /** `authorize` until the client has its code, by the login page. */
  code(params: Pairs): Promise<Answer>
  audience(token: string): Promise<unknown>
}

async function start(t: TestContext, format: 'opaque' | 'jwt' = 'opaque'): Promise<World> {
  const world = await startWorld(t, { env: { SVC_GW_PUBLICURL: PUBLIC } })
  const { gateway, origin } = world
  const settings = { accessTokenFormat: format, allowedResources: ALLOWED, deviceAuthorization: true }
  const issuing = oauthApi(origin.url, { id: 'a', settings })
  withFlow(issuing, 'password')
  await world.publish(issuing)
  await world.publish(oauthApi(origin.url, { id: 'b' }))
  await world.publish(oauthApi(origin.url, { id: 'c' }))
  await world.publish(keyApi(origin.url))
  await world.policy('p', ['a', 'b', 'c', 'k'])
  await world.client('app', { policy_id: 'p' })
  const user = { basic_auth_data: { password: 'a-long-password-of-ann' }, apply_policies: ['p'] }
  assert.equal((await gateway.svc('POST', '/svc/keys/ann', user)).status, 200)
  const authorization = `Basic ${Buffer.from('app:secret-of-app').toString('base64')}`
  const post = (endpoint: string, body: string, type: string) =>
    gateway.call(`/a/${endpoint}`, { method: 'POST', body, headers: { authorization, 'content-type': type } })
  const form = (endpoint: string, params: Pairs) =>
    post(endpoint, new URLSearchParams(params.map((each) => [...each])).toString(), 'application/x-www-form-urlencoded')
  const login = (body: string) =>
    gateway.svc('POST', '/a/svc/oauth/authorize-client', body, { 'content-type': 'application/x-www-form-urlencoded' })
  const code = async (params: Pairs): Promise<Answer> => {
    const query = new URLSearchParams([...REQUEST, ...params].map((each) => [...each])).toString()
    const sent = await gateway.call(`/a/oauth/authorize?${query}`)
    if (sent.status !== 307) return sent
    // A login page hands back what it got.
    const { search } = new URL(String(sent.headers.location))
    return login(search.slice(1))
  }
  return {
    ...world,
    form,
    login,
    json: (endpoint, params) => post(endpoint, JSON.stringify(listed(params)), 'application/json'),
    code,
    audience: async (token) => ((await form('oauth/introspect', [['token', token]])).json as JsonObject).aud,
  }
}

/** An API `k` that takes keys, and tokens in their place. */
function keyApi(url: string): JsonObject {
  const keyed = oauthApi(url, { id: 'k', security: [{ k: [] }] })
  const gate = keyed['x-svc-api-gateway'] as { server: { authentication: JsonObject } }
  gate.server.authentication.securitySchemes = { k: { enabled: true } }
  keyed.components = { securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'Authorization' } } }
  return keyed
}

function withFlow(definition: JsonObject, flow: string): void {
  const { securitySchemes } = definition.components as { securitySchemes: { oa: { flows: JsonObject } } }
  securitySchemes.oa.flows[flow] = { tokenUrl: '/oauth/token', scopes: {} }
}

const REQUEST: Pairs = [
  ...(Object.entries({ client_id: 'app', redirect_uri: CALLBACK, response_type: 'code' }) as [string, string][]),
  ...(Object.entries({ code_challenge: CHALLENGE, code_challenge_method: 'S256', state: 's' }) as [string, string][]),
]

/** As a JSON body says it: what is there several times is a list. */
function listed(params: Pairs): JsonObject {
  const names = [...new Set(params.map(([name]) => name))]
  return Object.fromEntries(
    names.map((name): [string, string | string[]] => {
      const values = params.filter(([each]) => each === name).map(([, value]) => value)
      return [name, values.length > 1 ? values : values[0]!]
    }),
  )
}

const codeParams = (code: unknown): Pairs => [
  ['grant_type', 'authorization_code'],
  ['code', String(code)],
  ['redirect_uri', CALLBACK],
  ['code_verifier', VERIFIER],
]
const tokenOf = ({ json }: Answer) => String((json as JsonObject).access_token)

/** Resources that requests name, and the audience that they get: undefined = `invalid_target`. Not derived from the code. */
const NAMED: readonly (readonly [what: string, params: Pairs, audience: string | readonly string[] | undefined])[] = [
  ['the API', [['resource', OWN]], OWN],
  ['the API with a slash', [['resource', `${OWN}/`]], OWN],
  ['the API in another letter case of the host', [['resource', 'HTTPS://API.example.test:443/a']], OWN],
  ['a place below the API', [['resource', `${OWN}/mcp?x=1`]], OWN],
  ['the API as an audience', [['audience', OWN]], OWN],
  [
    'the API twice',
    [
      ['resource', OWN],
      ['audience', `${OWN}/`],
      ['resource', OWN],
    ],
    OWN,
  ],
  ['an allowed address', [['resource', 'https://reports.example']], 'https://reports.example/'],
  ['an allowed name', [['audience', 'reports']], 'reports'],
  [
    'several',
    [
      ['resource', OWN],
      ['resource', `${PUBLIC}/b/`],
      ['audience', 'reports'],
    ],
    [OWN, `${PUBLIC}/b`, 'reports'],
  ],
  ['another API', [['resource', `${PUBLIC}/c`]], undefined],
  [
    'a good and a foreign one',
    [
      ['resource', OWN],
      ['resource', 'https://evil.example/a'],
    ],
    undefined,
  ],
  ['a path that only begins like the API', [['resource', `${OWN}bc`]], undefined],
  ['a path that leads out of the API', [['resource', `${OWN}/../c`]], undefined],
  ['the same path elsewhere', [['resource', 'https://api.example.test.evil.example/a']], undefined],
  ['another port', [['resource', 'https://api.example.test:8443/a']], undefined],
  ['another scheme', [['resource', 'http://api.example.test/a']], undefined],
  ['a fragment', [['resource', `${OWN}#x`]], undefined],
  ['an empty fragment', [['resource', `${OWN}#`]], undefined],
  ['credentials', [['resource', 'https://u@api.example.test/a']], undefined],
  ['a relative path', [['resource', '/a']], undefined],
  ['a name where an address belongs', [['resource', 'reports']], undefined],
  ['a blank', [['resource', `${OWN}/ x`]], undefined],
  ['an unknown name', [['audience', 'other']], undefined],
  ['too many', Array.from({ length: 17 }, () => ['resource', OWN] as const), undefined],
]

test('every endpoint takes the same resources and restricts the token to them', async (t) => {
  const world = await start(t)
  const { form, json, code } = world
  const approve = async (begun: Answer): Promise<Answer> => {
    if (begun.status !== 200) return begun
    const { user_code, device_code } = begun.json as JsonObject
    const shown = await world.login(
      new URLSearchParams({ user_code: String(user_code), decision: 'approve' }).toString(),
    )
    assert.equal(shown.status, 200, shown.text)
    return form('oauth/token', [
      ['grant_type', DEVICE],
      ['device_code', String(device_code)],
    ])
  }
  const exchanged = async (given: Answer, more: Pairs = []): Promise<Answer> => {
    const { code: made } = (given.json ?? {}) as JsonObject
    return made === undefined ? given : form('oauth/token', [...codeParams(made), ...more])
  }
  const pushed: Send = async (params) => {
    const answer = await form('oauth/par', [...REQUEST, ...params])
    const { request_uri: uri } = (answer.json ?? {}) as JsonObject
    return uri === undefined ? answer : exchanged(await code([['request_uri', String(uri)]]))
  }
  const password: Pairs = [
    ['grant_type', 'password'],
    ['username', 'ann'],
    ['password', 'a-long-password-of-ann'],
  ]
  const entries: Readonly<Record<string, Send>> = {
    'client credentials': (params) => form('oauth/token', [['grant_type', 'client_credentials'], ...params]),
    'client credentials in JSON': (params) => json('oauth/token', [['grant_type', 'client_credentials'], ...params]),
    password: (params) => form('oauth/token', [...password, ...params]),
    authorize: async (params) => exchanged(await code(params)),
    'code exchange': async (params) => exchanged(await code([]), params),
    par: pushed,
    device: async (params) => approve(await form('oauth/device_authorization', params)),
    refresh: async (params) => {
      const first = await exchanged(await code([]))
      const { refresh_token: token } = first.json as JsonObject
      return form('oauth/token', [['grant_type', 'refresh_token'], ['refresh_token', String(token)], ...params])
    },
  }
  for (const [entry, send] of Object.entries(entries))
    for (const [what, params, audience] of NAMED) {
      const answer = await send(params)
      const place = `${entry}: ${what}: ${answer.text}`
      if (audience === undefined) {
        const location = answer.headers.location
        const said = location === undefined ? answer.json : Object.fromEntries(new URL(String(location)).searchParams)
        assert.equal((said as JsonObject).error, 'invalid_target', place)
      } else {
        assert.equal(answer.status, 200, place)
        assert.deepEqual(await world.audience(tokenOf(answer)), audience, place)
      }
    }
})

test('a refresh and an exchange choose among what was granted, and can ask for nothing else', async (t) => {
  const { form, code, audience } = await start(t)
  const both: Pairs = [
    ['resource', OWN],
    ['resource', `${PUBLIC}/b`],
  ]
  const { code: made } = (await code(both)).json as JsonObject
  const refused = await form('oauth/token', [...codeParams(made), ['audience', 'reports']])
  assert.equal((refused.json as JsonObject).error, 'invalid_target')
  let answer = await form('oauth/token', [...codeParams(made), ['resource', OWN]])
  assert.equal(await audience(tokenOf(answer)), OWN)
  const refresh = (more: Pairs) =>
    form('oauth/token', [
      ['grant_type', 'refresh_token'],
      ['refresh_token', String((answer.json as JsonObject).refresh_token)],
      ...more,
    ])
  assert.equal(((await refresh([['audience', 'reports']])).json as JsonObject).error, 'invalid_target')
  answer = await refresh([['resource', `${PUBLIC}/b`]])
  assert.equal(await audience(tokenOf(answer)), `${PUBLIC}/b`)
  answer = await refresh([])
  assert.deepEqual(await audience(tokenOf(answer)), [OWN, `${PUBLIC}/b`])
  assert.deepEqual(await audience(String((answer.json as JsonObject).refresh_token)), [OWN, `${PUBLIC}/b`])
})

for (const format of ['opaque', 'jwt'] as const)
  test(`a token opens the APIs that it names, and no other that its rights reach: ${format}`, async (t) => {
    const world = await start(t, format)
    const { form, get, gateway } = world
    const host = { host: 'api.example.test' }
    const statuses = async (params: Pairs) => {
      const answer = await form('oauth/token', [['grant_type', 'client_credentials'], ...params])
      assert.equal(answer.status, 200, answer.text)
      const token = tokenOf(answer)
      if (format === 'jwt') {
        const { aud } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
        assert.deepEqual(aud, (await world.audience(token)) ?? OWN)
      }
      const found: Record<string, number> = {}
      for (const api of ['a', 'b', 'c', 'k']) {
        const { status, headers } = await get(`/${api}/x`, token)
        found[api] = status
        if (status !== 200 && api !== 'k') assert.match(String(headers['www-authenticate']), /error="invalid_token"/)
      }
      return Object.entries(found)
        .filter(([, status]) => status === 200)
        .map(([api]) => api)
        .join('')
    }
    assert.equal(await statuses([]), 'abck')
    assert.equal(await statuses([['resource', OWN]]), 'a')
    assert.equal(await statuses([['resource', `${PUBLIC}/b`]]), 'b')
    assert.equal(
      await statuses([
        ['resource', OWN],
        ['resource', `${PUBLIC}/b`],
      ]),
      'ab',
    )
    assert.equal(await statuses([['audience', 'reports']]), '')
    // The address in the settings counts, whatever host a request names.
    const token = tokenOf(
      await form('oauth/token', [
        ['grant_type', 'client_credentials'],
        ['resource', OWN],
      ]),
    )
    const sent = { headers: { ...host, authorization: `Bearer ${token}` } }
    assert.equal((await gateway.call('/a/x', sent)).status, 200)
    assert.equal((await gateway.call('/b/x', sent)).status, 401)
  })

test('without an address in the settings the API is where the request reaches it', async (t) => {
  const world = await startWorld(t)
  await world.publish(oauthApi(world.origin.url, { id: 'a', path: '/t/{tenant}/' }))
  await world.policy('p', ['a'])
  await world.client('app', { api_id: 'a', policies: ['p'] })
  const own = `http://127.0.0.1:${world.gateway.port}/t/acme`
  const other = await world.ask('/t/other/', 'app', { resource: own })
  assert.equal((other.json as JsonObject).error, 'invalid_target')
  const token = await world.token('/t/acme/', 'app', { resource: own })
  assert.equal((await world.get('/t/acme/x', token)).status, 200)
  assert.equal((await world.get('/t/other/x', token)).status, 401)
})

test('a restricted token opens no API by the address of another resource', async (t) => {
  const world = await startWorld(t)
  const elsewhere = ['http://reports.example/t/acme', 'http://reports.example/b']
  await world.publish(oauthApi(world.origin.url, { id: 'r', path: '/' }))
  await world.publish(
    oauthApi(world.origin.url, { id: 'a', path: '/t/{tenant}/', settings: { allowedResources: elsewhere } }),
  )
  await world.publish(oauthApi(world.origin.url, { id: 'b' }))
  await world.policy('p', ['r', 'a', 'b'])
  await world.client('app', { policy_id: 'p' })
  for (const place of ['', '/t/acme', '/t/a%20b', '/t/%7Bx%7D']) {
    const token = await world.token(`${place}/`, 'app', { resource: `http://127.0.0.1:${world.gateway.port}${place}` })
    assert.equal((await world.get(`${place}/x`, token)).status, 200, place)
  }
  // Such a resource gets the token, and chooses the Host of its own requests.
  for (const resource of elsewhere) {
    const authorization = `Bearer ${await world.token('/t/acme/', 'app', { resource })}`
    for (const path of ['/t/acme/x', '/b/x']) {
      const { status } = await world.gateway.call(path, { headers: { host: 'reports.example', authorization } })
      assert.equal(status, 401, `${resource} at ${path}`)
    }
  }
})

test('a list of allowed resources is read once, not with each request', () => {
  let reads = 0
  const list = new Proxy(['https://b.example/', 'HTTPS://B.example', 'reports'], {
    get: (all, name) => {
      reads++
      return Reflect.get(all, name)
    },
  })
  assert.equal(listedResource(list, 'https://b.example'), 'https://b.example/')
  reads = 0
  assert.deepEqual(
    ['reports', 'https://b.example:443/', 'https://c.example', 'REPORTS'].map((each) => listedResource(list, each)),
    ['reports', 'https://b.example/', undefined, undefined],
  )
  assert.equal(reads, 0)
})
