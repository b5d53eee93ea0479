import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { type OAuthWorld, oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'

const INITIAL = 'the-initial-access-token'
const CALLBACK = 'https://app.example.org/cb'
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const PUBLIC = { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', client_name: 'Notes' }

interface World extends OAuthWorld {
  register(metadata: JsonObject, authorization?: string): Promise<Answer>
  /** Sends a person to sign in; answers the error that the client gets, '' where there is none. */
  signIn(clientId: unknown, way: 'authorize' | 'par'): Promise<string>
}

async function start(t: TestContext, settings: JsonObject, env: Record<string, string> = {}): Promise<World> {
  const world = await startWorld(t, { env })
  await world.publish(oauthApi(world.origin.url, { id: 'a', settings }))
  await world.policy('p', ['a'])
  return {
    ...world,
    register: (metadata, authorization) =>
      world.gateway.call('/a/oauth/register', {
        method: 'POST',
        body: JSON.stringify(metadata),
        headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
      }),
    async signIn(clientId, way) {
      const params = new URLSearchParams({
        ...{ client_id: String(clientId), redirect_uri: CALLBACK, response_type: 'code' },
        ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
      })
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const answer =
        way === 'authorize'
          ? await world.gateway.call(`/a/oauth/authorize?${params}`)
          : await world.gateway.call('/a/oauth/par', { method: 'POST', body: params.toString(), headers: form })
      if (answer.status === 307 || answer.status === 201) return ''
      const location = answer.headers.location
      if (location === undefined) return String((answer.json as JsonObject).error)
      return new URL(String(location)).searchParams.get('error') ?? 'none'
    },
  }
}

const errorOf = ({ status, json }: Answer) => [status, (json as JsonObject).error]

test('nobody registers without the initial token unless the API lets everybody', async (t) => {
  const SET_UPS: readonly (readonly [JsonObject, Record<string, string>, number])[] = [
    [{}, {}, 404],
    [{}, { SVC_GW_OAUTHREGISTRATIONTOKEN: INITIAL }, 401],
    [{ openRegistration: false, registrationPolicies: ['p'] }, { SVC_GW_OAUTHREGISTRATIONTOKEN: INITIAL }, 401],
    [{ openRegistration: true }, {}, 201],
    [{ openRegistration: true }, { SVC_GW_OAUTHREGISTRATIONTOKEN: INITIAL }, 201],
  ]
  for (const [settings, env, status] of SET_UPS) {
    const world = await start(t, settings, env)
    const place = JSON.stringify([settings, env])
    assert.equal((await world.register(PUBLIC)).status, status, place)
    const { json } = await world.gateway.call('/a/.well-known/oauth-authorization-server')
    assert.equal((json as JsonObject).registration_endpoint !== undefined, status !== 404, place)
    // A wrong token is no token, at an open API either.
    const wrong = (await world.register(PUBLIC, 'Bearer wrong')).status
    assert.equal(wrong, status === 404 ? 404 : 401, place)
  }
})

test('a client that registered itself has the policies of the API, also beside the initial token', async (t) => {
  const settings = { openRegistration: true, registrationPolicies: ['p'] }
  const world = await start(t, settings, { SVC_GW_OAUTHREGISTRATIONTOKEN: INITIAL })
  for (const authorization of [undefined, `Bearer ${INITIAL}`]) {
    const { json } = await world.register(PUBLIC, authorization)
    const { client_id: id } = json as JsonObject
    const { json: stored } = await world.gateway.svc('GET', `/svc/oauth/clients/a/${id}`)
    assert.deepEqual((stored as JsonObject).policies ?? [(stored as JsonObject).policy_id], ['p'])
    assert.equal(await world.signIn(id, 'authorize'), '')
    assert.equal(await world.signIn(id, 'par'), '')
  }
})

test('a client that nobody vouches for gets no grant without a person, at once or by an update', async (t) => {
  const world = await start(t, { openRegistration: true, registrationPolicies: ['p'] })
  const machine = { grant_types: ['client_credentials'], token_endpoint_auth_method: 'client_secret_basic' }
  assert.deepEqual(errorOf(await world.register(machine)), [400, 'invalid_client_metadata'])
  const { json } = await world.register({ ...PUBLIC, token_endpoint_auth_method: 'client_secret_basic' })
  const made = json as JsonObject
  const { pathname } = new URL(String(made.registration_client_uri))
  const manage = (grants: string[]) =>
    world.gateway.call(pathname, {
      method: 'PUT',
      body: JSON.stringify({ ...PUBLIC, ...machine, client_id: made.client_id, grant_types: grants }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${made.registration_access_token}` },
    })
  assert.deepEqual(errorOf(await manage(['authorization_code', 'client_credentials'])), [
    400,
    'invalid_client_metadata',
  ])
  assert.equal((await manage(['authorization_code', 'refresh_token'])).status, 200)
  const basic = Buffer.from(`${made.client_id}:${made.client_secret}`).toString('base64')
  const asked = await world.gateway.call('/a/oauth/token', {
    method: 'POST',
    body: 'grant_type=client_credentials',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
  })
  assert.deepEqual(errorOf(asked), [400, 'unauthorized_client'])
})

test('an address registers twenty clients an hour', async (t) => {
  const world = await start(t, { openRegistration: true })
  for (let i = 0; i < 20; i++) assert.equal((await world.register(PUBLIC)).status, 201)
  const late = await world.register(PUBLIC)
  assert.equal(late.status, 429)
  world.gateway.clock.advance(1000 * (Number(late.headers['retry-after']) + 1))
  assert.equal((await world.register(PUBLIC)).status, 201)
})

test('a client without access is told before the person signs in', async (t) => {
  const world = await start(t, { openRegistration: true, registrationPolicies: ['p'] })
  const { client_id: id } = (await world.register(PUBLIC)).json as JsonObject
  const change = (policy: JsonObject) => world.gateway.svc('PUT', '/svc/policies/p', policy)
  const policy = (await world.gateway.svc('GET', '/svc/policies/p')).json as JsonObject
  for (const way of ['authorize', 'par'] as const) {
    assert.equal(await world.signIn(id, way), '', way)
    for (const broken of [{ is_inactive: true }, { access_rights: {} }]) {
      assert.equal((await change({ ...policy, ...broken })).status, 200)
      const told = await world.signIn(id, way)
      assert.equal((await change(policy)).status, 200)
      assert.equal(told, 'unauthorized_client', `${way} ${JSON.stringify(broken)}`)
    }
    assert.equal(await world.signIn(id, way), '', way)
  }
})

test('a client that nobody vouches for sees its own tokens alone, and updates are counted', async (t) => {
  const world = await start(t, { openRegistration: true, registrationPolicies: ['p'] })
  await world.client('app', { policy_id: 'p' })
  const token = await world.token('/a/', 'app')
  const { json } = await world.register({ redirect_uris: [CALLBACK] })
  const made = json as JsonObject
  const asked = async (id: string, secret: string) => {
    const answer = await world.gateway.call('/a/oauth/introspect', {
      method: 'POST',
      body: new URLSearchParams({ token }).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
      },
    })
    return [answer.status, (answer.json as JsonObject).active]
  }
  assert.deepEqual(await asked('app', 'secret-of-app'), [200, true])
  assert.deepEqual(await asked(String(made.client_id), String(made.client_secret)), [200, false])
  const { pathname } = new URL(String(made.registration_client_uri))
  const update = () =>
    world.gateway.call(pathname, {
      method: 'PUT',
      body: JSON.stringify({ redirect_uris: [CALLBACK], client_id: made.client_id }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${made.registration_access_token}` },
    })
  for (let i = 1; i < 20; i++) assert.equal((await update()).status, 200)
  assert.equal((await update()).status, 429)
})
