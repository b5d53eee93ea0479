import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { ROUTES } from '../../../src/oauth/endpoints/server.ts'
import { freezeFile } from '../../../src/store/sqlite/connection/freeze.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { classicApi, oasApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { type OAuthWorld, oauthApi, policyOf, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'
import { openBench } from '../../worlds/oauth/notifications.ts'
import { selfSigned } from '../../worlds/wire/engine-certificate.ts'

const CALLBACK = 'https://app.example.org/cb'
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const BASIC = { authorization: `Basic ${Buffer.from('app:secret-of-app').toString('base64')}` }

interface Frozen extends OAuthWorld {
  /** Makes a call while the store is frozen, which must be refused, and once more when it is not. */
  refusedThenDone(name: string, send: () => Promise<Answer>, done?: (answer: Answer) => boolean): Promise<Answer>
  revision(): Promise<number>
}

async function start(t: TestContext): Promise<Frozen> {
  const folder = temporaryFolder(t)
  const clock = new FakeClock()
  const store = await openStore({ path: folder, clock })
  t.after(() => store.close())
  const world = await startWorld(t, { store, clock })
  const settings = { deviceAuthorization: true, openRegistration: true, registrationPolicies: ['p'] }
  await world.publish(oauthApi(world.origin.url, { id: 'a', settings }))
  await world.policy('p', ['a'])
  await world.client('app', { api_id: 'a', policies: ['p'], redirect_uris: [CALLBACK] })
  const freeze = (level: 'none' | 'all') => freezeFile(join(folder, 'gatehouse.db'), level)
  return {
    ...world,
    revision: async () => store.documents.revision(),
    async refusedThenDone(name, send, done = ({ status }) => status === 200) {
      freeze('all')
      const refused = await send()
      const { 'x-error-code': code, 'retry-after': wait } = refused.headers
      assert.deepEqual([refused.status, code, Number(wait) > 0], [503, 'store_frozen', true], `${name} ${refused.text}`)
      assert.match(refused.text, /is being moved/, name)
      freeze('none')
      const answer = await send()
      assert.ok(done(answer), `${name}, when the freeze is over: ${answer.status} ${answer.text}`)
      return answer
    },
  }
}

/** Calls that keep nothing, though their method is not GET, or they act. Tokens that have expired are deleted by the store too, and none is left here. */
const READS: ReadonlySet<string> = new Set([
  ...['GET /reload', 'GET /reload/group', 'DELETE /cache/{api}', 'DELETE /cache/jwks', 'DELETE /cache/jwks/{api}'],
  ...['POST /explain', 'POST /debug', 'POST /keys/preview', 'DELETE /oauth/tokens'],
])

test('every writing call below /svc/ is refused by code while the store is frozen', async (t) => {
  const world = await start(t)
  const { gateway } = world
  const bench = openBench(t, { store: gateway.store, clock: gateway.clock })
  await bench.announce('a')
  const [message] = await bench.rows('a')
  const outcome = { is: 'dead', error: 'answered 500' } as const
  await gateway.store.documents.commit([{ op: 'settleDelivery', id: message!.id, outcome }], undefined)
  const { access_token } = await tokensOf(world)
  const { refresh_token } = await tokensOf(world)
  const session = { access_rights: rightsOn('a') }
  const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')
  const described = (title: string) => ({ openapi: '3.0.3', info: { title, version: '1' }, paths: {} })
  const oas = (name: string) => oasApi(name, '/b/', { id: 'b' })
  const { cert } = selfSigned('api.example.org')
  const two = { client_id: 'two', api_id: 'a', policies: ['p'], redirect_uri: CALLBACK }
  const created: Record<string, string> = {}
  const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
  const kid = async () => {
    const { keys } = (await gateway.svc('GET', '/svc/oauth/signing-keys')).json as { keys: { kid: string }[] }
    return keys.at(-1)!.kid
  }
  // In an order in which each finds what it changes.
  const CALLS: Readonly<
    Record<string, () => readonly [path: string, body?: unknown] | Promise<readonly [string, unknown?]>>
  > = {
    'POST /apis': () => ['/apis', classicApi('c', '/c/', { api_id: 'c' })],
    'PUT /apis/{api}': () => ['/apis/c', classicApi('c', '/c2/', { api_id: 'c' })],
    'DELETE /apis/{api}': () => ['/apis/c'],
    'POST /apis/oas': () => ['/apis/oas', oas('b')],
    'POST /apis/oas/import': () => [
      '/apis/oas/import?upstreamURL=http://127.0.0.1:9/&listenPath=/imported/',
      described('imported'),
    ],
    'PUT /apis/oas/{api}': () => ['/apis/oas/b', oas('second')],
    'PATCH /apis/oas/{api}': () => ['/apis/oas/b', described('third')],
    'DELETE /apis/oas/{api}': () => ['/apis/oas/b'],
    'POST /policies': () => ['/policies', policyOf('q', ['a'])],
    'PUT /policies/{id}': () => ['/policies/q', policyOf('q', ['a'], { name: 'other' })],
    'DELETE /policies/{id}': () => ['/policies/q'],
    'POST /keys': () => ['/keys', session],
    'POST /keys/create': () => ['/keys/create', session],
    'POST /keys/{key}': () => ['/keys/key-of-sixteen-letters', session],
    'PUT /keys/{key}': () => ['/keys/key-of-sixteen-letters', { ...session, alias: 'other' }],
    'POST /keys/policy/{hash}': () => [`/keys/policy/${hashOf('key-of-sixteen-letters')}`, { apply_policies: ['p'] }],
    'POST /keys/{key}/rotate': () => ['/keys/key-of-sixteen-letters/rotate'],
    'DELETE /keys/{key}': () => [`/keys/${created['POST /keys']}`],
    'POST /org/keys/{org}': () => ['/org/keys/o', { rate: 1000, per: 1 }],
    'PUT /org/keys/{org}': () => ['/org/keys/o', { rate: 900, per: 1 }],
    'DELETE /org/keys/{org}': () => ['/org/keys/o'],
    'POST /oauth/clients/create': () => ['/oauth/clients/create', two],
    'PUT /oauth/clients/{api}/{cid}': () => ['/oauth/clients/a/two', { ...two, description: 'other' }],
    'PUT /oauth/clients/{api}/{cid}/rotate': () => ['/oauth/clients/a/two/rotate'],
    'DELETE /oauth/clients/{api}/{cid}': () => ['/oauth/clients/a/two'],
    'POST /oauth/notifications/{apiID}/{id}/resend': () => [`/oauth/notifications/a/${message!.id}/resend`],
    'DELETE /oauth/refresh/{token}': () => [`/oauth/refresh/${refresh_token}?api_id=a`],
    'POST /oauth/revoke': () => ['/oauth/revoke', form({ token: access_token!, client_id: 'app' })],
    'POST /oauth/revoke_all': () => ['/oauth/revoke_all', form({ client_id: 'app', client_secret: 'secret-of-app' })],
    'POST /oauth/signing-keys/rotate': () => ['/oauth/signing-keys/rotate?alg=ES256'],
    'DELETE /oauth/signing-keys/{kid}': async () => [`/oauth/signing-keys/${await kid()}`],
    'POST /certs': () => ['/certs', cert],
    'DELETE /certs/{id}': () => [`/certs/${created['POST /certs']}`],
  }
  const writing = gateway.gateway.calls
    .filter(({ method, acts }) => method !== 'GET' || acts === true)
    .map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual([...Object.keys(CALLS), ...READS].sort(), writing.sort())
  for (const [name, make] of Object.entries(CALLS)) {
    const [path, body] = await make()
    const headers: Record<string, string> = typeof body === 'string' && !body.startsWith('---') ? FORM : {}
    const before = await world.revision()
    const [method = ''] = name.split(' ')
    const answer = await world.refusedThenDone(name, () => gateway.svc(method, `/svc${path}`, body, headers))
    assert.ok((await world.revision()) > before, `${name} has written`)
    const json = answer.json as { key?: string; id?: string }
    created[name] = json.key ?? json.id ?? ''
  }
})

/** Sends a form to the authorization server of the API `a`. */
const post = ({ gateway }: OAuthWorld, path: string, fields: Record<string, string>, headers = BASIC) =>
  gateway.call(`/a/oauth/${path}`, {
    method: 'POST',
    headers: { ...FORM, ...headers },
    body: new URLSearchParams(fields).toString(),
  })

/** A decision of the login page. */
const decide = ({ gateway }: OAuthWorld, fields: Record<string, string>) =>
  gateway.svc('POST', '/a/svc/oauth/authorize-client', new URLSearchParams(fields).toString(), FORM)

const ASKED = { client_id: 'app', response_type: 'code', redirect_uri: CALLBACK }

async function codeOf(world: OAuthWorld): Promise<Record<string, string>> {
  const { json } = await decide(world, ASKED)
  return { grant_type: 'authorization_code', code: (json as { code: string }).code, redirect_uri: CALLBACK }
}

async function tokensOf(world: OAuthWorld): Promise<Readonly<Record<string, string>>> {
  const { status, text, json } = await post(world, 'token', await codeOf(world))
  assert.equal(status, 200, text)
  return json as Record<string, string>
}

test('every writing endpoint of OAuth is refused by code while the store is frozen', async (t) => {
  const world = await start(t)
  const { gateway } = world
  const device = async () => (await post(world, 'device_authorization', {})).json as Record<string, string>
  const metadata = { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', client_name: 'Notes' }
  let registered: { client_id: string; registration_access_token: string }
  const registration = (method: string) => async () => {
    const authorization = `Bearer ${registered.registration_access_token}`
    const headers = { 'content-type': 'application/json', authorization }
    const body = { ...metadata, client_id: registered.client_id, client_name: 'Other' }
    return gateway.call(`/a/oauth/register/${registered.client_id}`, {
      ...{ method, headers },
      ...(method === 'PUT' && { body: JSON.stringify(body) }),
    })
  }
  const WRITES: readonly (readonly [name: string, make: () => Promise<() => Promise<Answer>>, status?: number])[] = [
    ['authorize_client', async () => () => decide(world, ASKED)],
    [
      'authorize_client',
      async () => {
        const { user_code } = await device()
        return () => decide(world, { user_code: user_code!, decision: 'approve' })
      },
    ],
    ['token', async () => () => post(world, 'token', { grant_type: 'client_credentials' })],
    [
      'token',
      async () => {
        const exchange = await codeOf(world)
        return () => post(world, 'token', exchange)
      },
    ],
    [
      'token',
      async () => {
        const { refresh_token } = await tokensOf(world)
        return () => post(world, 'token', { grant_type: 'refresh_token', refresh_token: refresh_token! })
      },
    ],
    [
      'token',
      async () => {
        const { user_code, device_code } = await device()
        assert.equal((await decide(world, { user_code: user_code!, decision: 'approve' })).status, 200)
        return () => post(world, 'token', { grant_type: DEVICE, device_code: device_code! })
      },
    ],
    [
      'revoke',
      async () => {
        const { access_token } = await tokensOf(world)
        return () => post(world, 'revoke', { token: access_token! })
      },
    ],
    [
      'revoke_all',
      async () => {
        await tokensOf(world)
        return () => post(world, 'revoke_all', { client_id: 'app', client_secret: 'secret-of-app' }, {} as typeof BASIC)
      },
    ],
    ['par', async () => () => post(world, 'par', ASKED), 201],
    [
      'authorize',
      async () => {
        const { request_uri } = (await post(world, 'par', ASKED)).json as { request_uri: string }
        return () => gateway.call(`/a/oauth/authorize?${new URLSearchParams({ client_id: 'app', request_uri })}`)
      },
      307,
    ],
    ['device_authorization', async () => () => post(world, 'device_authorization', {})],
    [
      'register',
      async () => () =>
        gateway.call('/a/oauth/register', {
          ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
          body: JSON.stringify(metadata),
        }),
      201,
    ],
    ['register', async () => registration('PUT')],
    ['register', async () => registration('DELETE'), 204],
  ]
  const READING = ['introspect', 'jwks', 'metadata', 'openid_configuration']
  assert.deepEqual([...new Set([...WRITES.map(([name]) => name), ...READING])].sort(), Object.keys(ROUTES).sort())
  for (const [index, [name, make, status = 200]] of WRITES.entries()) {
    const send = await make()
    const answer = await world.refusedThenDone(`${name} (${index})`, send, (given) => given.status === status)
    if (name === 'register' && answer.status === 201) registered = answer.json as typeof registered
  }
})
