import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { compact, es, type Signer, signer } from '../../worlds/gateway/jwt-fixtures.ts'
import { type OAuthWorld, oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

// Clients of `private_key_jwt` whose keys are read at an address of theirs (`jwks_uri`).

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const PRIVATE = { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' }
const [a, b, c] = [signer('ES256', 'a'), signer('ES256', 'b'), signer('ES256', 'c')]

interface Site extends Origin {
  keys: unknown
  status: number
}

async function startSite(t: TestContext): Promise<Site> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const site: Site = Object.assign(origin, { keys: setOf(a), status: 200 })
  origin.script = (_request, response) => response.writeHead(site.status).end(JSON.stringify(site.keys))
  return site
}

const setOf = (...signers: readonly Signer[]) => ({ keys: signers.map(({ jwk }) => jwk) })

interface World extends OAuthWorld {
  readonly site: Site
  /** Asks for a token with an assertion that nobody has seen. */
  prove(by: Signer, more?: { readonly kid?: string | undefined; readonly client?: string }): Promise<Answer>
}

async function start(t: TestContext, fields: JsonObject | undefined = {}, env = PRIVATE): Promise<World> {
  const world = await startWorld(t, { env })
  await world.publish(oauthApi(world.origin.url, { id: 'a', settings: { openRegistration: true } }))
  await world.policy('p', ['a'])
  const site = await startSite(t)
  const made = {
    ...{ api_id: 'a', policies: ['p'], secret: undefined as never, auth_method: 'private_key_jwt' },
    ...{ jwks_uri: `${site.url}/keys`, ...fields },
  }
  await world.client('app', made)
  return {
    ...world,
    site,
    prove(by, { kid = by.jwk.kid as string, client = 'app' } = {}) {
      const nowS = Math.floor(world.gateway.clock.wall() / 1000)
      const claims = {
        iss: client,
        sub: client,
        aud: `http://127.0.0.1:${world.gateway.port}/a`,
        exp: nowS + 60,
        jti: randomUUID(),
      }
      const assertion = compact({ alg: 'ES256', ...(kid !== '' && { kid }) }, claims, es(by.privateKey))
      return world.gateway.call('/a/oauth/token', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          ...{ grant_type: 'client_credentials', client_assertion_type: ASSERTION, client_assertion: assertion },
        }).toString(),
      })
    },
  }
}

test('a client proves itself with a key at its address, which is read once', async (t) => {
  const world = await start(t)
  assert.equal(world.site.seen.length, 0)
  const answers = await Promise.all(Array.from({ length: 8 }, () => world.prove(a)))
  assert.deepEqual(
    answers.map(({ status, text }) => [status, status === 200 ? '' : text]),
    Array(8).fill([200, '']),
  )
  assert.equal(world.site.seen.length, 1)
  assert.equal((await world.prove(b, { kid: 'a' })).status, 401)
})

test('a new key serves with its first assertion, at most one reading each ten seconds', async (t) => {
  const world = await start(t)
  assert.equal((await world.prove(a)).status, 200)
  world.site.keys = setOf(b)
  for (let i = 0; i < 5; i++) assert.equal((await world.prove(b)).status, 401)
  assert.equal(world.site.seen.length, 1)
  world.gateway.clock.advance(10_000)
  assert.equal((await world.prove(b)).status, 200)
  assert.equal((await world.prove(a)).status, 401)
  for (let i = 0; i < 5; i++) assert.equal((await world.prove(c)).status, 401)
  assert.equal(world.site.seen.length, 2)
})

test('known keys serve while the address fails; without any the refusal says so', async (t) => {
  const world = await start(t)
  world.site.status = 500
  const refused = await world.prove(a)
  assert.deepEqual([refused.status, (refused.json as JsonObject).error], [401, 'invalid_client'])
  assert.match(refused.text, /the key set of the client \(jwks_uri\) cannot be read/)
  world.gateway.clock.advance(10_000)
  world.site.status = 200
  assert.equal((await world.prove(a)).status, 200)
  world.site.status = 500
  world.gateway.clock.advance(600_000)
  assert.equal((await world.prove(a)).status, 200)
  await eventually('it is asked again', () => world.site.seen.length === 3)
  world.gateway.clock.advance(3_600_000)
  assert.equal((await world.prove(a)).status, 401)
})

test('DELETE /svc/cache/jwks forgets the keys of clients', async (t) => {
  const world = await start(t)
  assert.equal((await world.prove(a)).status, 200)
  world.site.keys = setOf(b)
  assert.equal((await world.gateway.svc('DELETE', '/svc/cache/jwks')).status, 200)
  assert.equal((await world.prove(a)).status, 401)
  assert.equal((await world.prove(b)).status, 200)
})

const UNUSABLE: Readonly<Record<string, (site: Site) => void>> = {
  'a redirect': (site) => {
    site.script = (request, response) =>
      request.target === '/keys'
        ? response.writeHead(302, { location: '/other' }).end()
        : response.end(JSON.stringify(setOf(a)))
  },
  'a set that is too large': (site) => {
    site.keys = { ...setOf(a), padding: 'x'.repeat(65_536) }
  },
  'a set that names a member twice': (site) => {
    site.script = (_request, response) => response.end(`{"keys":[],"keys":${JSON.stringify(setOf(a).keys)}}`)
  },
}
for (const [title, spoil] of Object.entries(UNUSABLE))
  test(`an address gives no keys: ${title}`, async (t) => {
    const world = await start(t)
    spoil(world.site)
    assert.match((await world.prove(a)).text, /cannot be read/)
  })

test('private keys and secrets at the address prove nothing', async (t) => {
  const world = await start(t)
  const leaked = { ...a.privateKey.export({ format: 'jwk' }), kid: 'a' }
  world.site.keys = { keys: [leaked, { kty: 'oct', k: 'c2VjcmV0', kid: 'a' }] }
  assert.match((await world.prove(a)).text, /no key that the assertion names/)
})

test('an address that gateways may not ask is not asked, and refused at save', async (t) => {
  const world = await start(t, { jwks_uri: 'https://client.example/keys' }, { SVC_WEBHOOKS_ALLOWPRIVATE: 'false' })
  const sent = (jwks_uri: string) =>
    world.gateway.svc('POST', '/svc/oauth/clients/create', {
      ...{ api_id: 'a', policies: ['p'], redirect_uri: 'https://a.example/cb', auth_method: 'private_key_jwt' },
      jwks_uri,
    })
  const register = (jwks_uri: string) =>
    world.gateway.call('/a/oauth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ redirect_uris: ['https://a.example/cb'], token_endpoint_auth_method: 'private_key_jwt', jwks_uri },
      }),
    })
  const port = new URL(world.site.url).port
  const hosts = ['127.0.0.1', 'localhost', '[::1]', '169.254.169.254', '10.0.0.1', '[::ffff:127.0.0.1]']
  const bad = [
    ...hosts.map((host) => `https://${host}:${port}/keys`),
    ...['http://client.example/keys', 'https://user:secret@client.example/keys', 'https://client.example/keys#a'],
    ...['ftp://client.example/keys', 'client.example/keys', 'https://client.example/ keys'],
  ]
  for (const url of bad)
    for (const answer of [await sent(url), await register(url)]) {
      assert.equal(answer.status, 400, url)
      assert.match(answer.text, /jwks_uri/)
      assert.doesNotMatch(answer.text, /user:secret/)
    }
  assert.equal((await register('https://client.example/keys')).status, 201)
  assert.deepEqual(world.site.seen, [])
})

test('jwks and jwks_uri take the place of each other', async (t) => {
  const world = await start(t)
  const at = '/svc/oauth/clients/a/app'
  const put = async (fields: JsonObject) => {
    const body = { redirect_uri: 'https://a.example/cb', policies: ['p'], ...fields }
    const { status, text } = await world.gateway.svc('PUT', at, body)
    const { jwks, jwks_uri } = (await world.gateway.svc('GET', at)).json as JsonObject
    return [status, jwks !== undefined, jwks_uri !== undefined, /jwks/.test(text)]
  }
  assert.deepEqual((await put({ jwks: setOf(b) as JsonObject })).slice(0, 3), [200, true, false])
  assert.equal((await world.prove(b)).status, 200)
  assert.deepEqual(await put({ jwks: setOf(b) as JsonObject, jwks_uri: `${world.site.url}/keys` }), [
    400,
    true,
    false,
    true,
  ])
  assert.deepEqual((await put({ jwks_uri: `${world.site.url}/keys` })).slice(0, 3), [200, false, true])
  assert.equal((await world.prove(a)).status, 200)
  assert.deepEqual((await put({})).slice(0, 3), [200, false, true])
  assert.deepEqual(await put({ jwks_uri: null }), [400, false, true, true])
})

test('a client that registers itself with jwks_uri reads it back, and proves itself', async (t) => {
  const world = await start(t)
  const { policies: _none, ...metadata } = {
    policies: 0,
    redirect_uris: ['https://a.example/cb'],
    token_endpoint_auth_method: 'private_key_jwt',
  }
  const answer = await world.gateway.call('/a/oauth/register', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...metadata, jwks_uri: `${world.site.url}/keys` }),
  })
  assert.equal(answer.status, 201, answer.text)
  const { client_id: client, jwks_uri, jwks } = answer.json as JsonObject
  assert.deepEqual([jwks_uri, jwks], [`${world.site.url}/keys`, undefined])
  // It has no grant of its own: it is refused for that, after it is known.
  assert.match((await world.prove(a, { client: String(client) })).text, /unauthorized_client/)
  assert.match((await world.prove(b, { client: String(client), kid: 'a' })).text, /invalid_client/)
})
