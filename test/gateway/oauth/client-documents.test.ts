import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { type Answer, call } from '../../worlds/base/client.ts'
import { TEST_SECRET } from '../../worlds/base/harness.ts'
import { McpApp, startMcpServer } from '../../worlds/flows/mcp-world.ts'
import { compact, es, type Signer, signer } from '../../worlds/gateway/jwt-fixtures.ts'
import { type OAuthWorld, oauthApi, startWorld } from '../../worlds/gateway/oauth-fixtures.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

// Clients whose id is the address of their metadata. The machine's authorities are those of this process: hooks keep it alone.

const CALLBACK = 'https://app.example.org/cb'
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const trusted = getCACertificates('default')
const certificate = makeCertificate('localhost')

before(() => setDefaultCACertificates([...trusted, certificate.cert]))
after(() => setDefaultCACertificates(trusted))

/** A web site with documents; each is what its path holds. */
interface Site {
  readonly origin: string
  readonly documents: Map<string, { status?: number; headers?: OutgoingHttpHeaders; body: string }>
  /** Paths that were asked for. */
  readonly asked: string[]
  /** A good document at this path, with other members. Answers its address. */
  put(path: string, more?: JsonObject): string
}

async function startSite(t: TestContext): Promise<Site> {
  const documents: Site['documents'] = new Map()
  const asked: string[] = []
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    asked.push(request.url!)
    const found = documents.get(request.url!) ?? { status: 404, body: '' }
    response.writeHead(found.status ?? 200, { 'content-type': 'application/json', ...found.headers }).end(found.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    documents,
    asked,
    put(path, more = {}) {
      const document = { client_id: origin + path, redirect_uris: [CALLBACK], client_name: 'Notes', ...more }
      documents.set(path, { body: JSON.stringify(document) })
      return origin + path
    },
  }
}

interface World extends OAuthWorld {
  readonly site: Site
  /** Sends a person to sign in. */
  authorize(clientId: string, more?: Record<string, string>): Promise<Answer>
  /** The text of the refusal, '' where the person is sent to the login page. */
  refusalOf(clientId: string): Promise<string>
}

async function start(
  t: TestContext,
  settings: JsonObject = { clientIdMetadata: true, registrationPolicies: ['p'] },
  env: Record<string, string> = { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' },
): Promise<World> {
  const world = await startWorld(t, { env })
  await world.publish(oauthApi(world.origin.url, { id: 'a', settings }))
  await world.policy('p', ['a'])
  const authorize = (clientId: string, more: Record<string, string> = {}) => {
    const params = new URLSearchParams({
      ...{ client_id: clientId, redirect_uri: CALLBACK, response_type: 'code' },
      ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256', ...more },
    })
    return world.gateway.call(`/a/oauth/authorize?${params}`)
  }
  return {
    ...world,
    site: await startSite(t),
    authorize,
    async refusalOf(clientId) {
      const { status, text } = await authorize(clientId)
      return status === 307 ? '' : text
    },
  }
}

const clientsOf = async ({ gateway }: OAuthWorld) =>
  (await gateway.svc('GET', '/svc/oauth/clients/a')).json as JsonObject[]

test('nothing is read unless the API takes such clients', async (t) => {
  for (const settings of [{}, { openRegistration: true, registrationPolicies: ['p'] }]) {
    const world = await start(t, settings)
    const answer = await world.authorize(world.site.put('/app'))
    assert.equal(answer.status, 400)
    assert.deepEqual(world.site.asked, [])
    const { json } = await world.gateway.call('/a/.well-known/oauth-authorization-server')
    assert.equal((json as JsonObject).client_id_metadata_document_supported, undefined)
  }
})

test('the MCP SDK signs in by the address of its document, without registration', async (t) => {
  const upstream = await startMcpServer(t)
  const world = await start(t, {})
  const settings = { clientIdMetadata: true, registrationPolicies: ['agents'], accessTokenLifetime: 300 }
  await world.publish(
    oauthApi(upstream.url, { id: 'notes', settings, scopes: ['tools'], security: [{ oa: ['tools'] }] }),
  )
  await world.policy('agents', ['notes'])
  const app = new McpApp('none')
  const id = world.site.put('/agent.json', {
    ...(app.clientMetadata as unknown as JsonObject),
    scope: 'other',
    jwks_uri: 'https://x.example/k',
  })
  Object.assign(app, { clientMetadataUrl: id })
  const client = await app.connect(new URL(`http://127.0.0.1:${world.gateway.port}/notes`), async (sentTo) => {
    const login = await fetch(sentTo, { redirect: 'manual' })
    assert.equal(login.status, 307, await login.text())
    const { search } = new URL(login.headers.get('location')!)
    const answer = await call(world.gateway.port, '/notes/svc/oauth/authorize-client', {
      method: 'POST',
      body: `${search.slice(1)}&username=ann`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-svc-authorization': TEST_SECRET },
    })
    return (answer.json as { code: string }).code
  })
  t.after(() => client.close())
  assert.equal(app.sentTo[0]!.searchParams.get('client_id'), id)
  await client.callTool({ name: 'list_notes' })
  world.gateway.clock.advance(301_000)
  await client.callTool({ name: 'list_notes' })
  assert.deepEqual(upstream.seen, ['list_notes', 'list_notes'])
  assert.deepEqual(world.site.asked, ['/agent.json'])
  const [stored] = (await world.gateway.svc('GET', '/svc/oauth/clients/notes')).json as JsonObject[]
  assert.equal(stored!.client_id, id)
  assert.equal(stored!.description, `Notes for agents (${new URL(id).host})`)
})

test('a document that is wrong in any way is refused by its flaw, and nobody is registered', async (t) => {
  const world = await start(t)
  const { site } = world
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }) as Record<
    string,
    string
  >
  const flaws: readonly (readonly [JsonObject, RegExp])[] = [
    [{ client_id: `${site.origin}/other` }, /another client_id/],
    [{ client_id: null }, /another client_id/],
    [{ client_secret: 's' }, /client_secret/],
    [{ client_secret_expires_at: 0 }, /client_secret_expires_at/],
    ...['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'tls_client_auth', 1].map(
      (method): [JsonObject, RegExp] => [{ token_endpoint_auth_method: method }, /token_endpoint_auth_method/],
    ),
    [{ token_endpoint_auth_method: 'private_key_jwt' }, /jwks: is missing/],
    [
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'ftp://x.example/keys' },
      /jwks_uri: must be an https address/,
    ],
    [{ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ ...key, d: 'x' }] } }, /jwks/],
    [{ redirect_uris: null }, /redirect_uris is missing/],
    [{ redirect_uris: [] }, /redirect_uris is missing/],
    [{ redirect_uris: CALLBACK }, /redirect_uris must be a list/],
    [{ redirect_uris: ['javascript:alert(1)'] }, /redirect_uris\[0\]/],
    [{ redirect_uris: [CALLBACK, 'http://app.example.org/cb#x'] }, /redirect_uris\[1\]/],
    [{ grant_types: ['client_credentials'] }, /grant_types/],
    [{ grant_types: 'authorization_code' }, /grant_types/],
    [{ response_types: ['token'] }, /response_types/],
    [{ client_name: 7 }, /client_name/],
    [{ client_name: 'x'.repeat(600) }, /client_name/],
    [{ logo_uri: 'javascript:alert(1)' }, /logo_uri/],
    [{ contacts: 'ann' }, /contacts/],
  ]
  const bodies: readonly (readonly [string, OutgoingHttpHeaders, number, RegExp])[] = [
    ['', {}, 200, /not a JSON object/],
    ['[]', {}, 200, /not a JSON object/],
    [`{"client_id":"x","client_id":"y"}`, {}, 200, /not a JSON object/],
    ['{}', { 'content-type': 'text/html' }, 200, /not application\/json/],
    ['{}', {}, 201, /cannot be read/],
    ['{}', {}, 404, /cannot be read/],
    ['', { location: `${site.origin}/good` }, 302, /cannot be read/],
    [JSON.stringify({ a: 'x'.repeat(17_000) }), {}, 200, /cannot be read/],
  ]
  site.put('/good')
  const cases: readonly (readonly [string, RegExp])[] = [
    ...flaws.map(([more, flaw], index) => [site.put(`/flaw${index}`, more), flaw] as const),
    ...bodies.map(([body, headers, status, flaw], index) => {
      site.documents.set(`/body${index}`, { body, headers, status })
      return [`${site.origin}/body${index}`, flaw] as const
    }),
  ]
  for (const [id, flaw] of cases) {
    const answer = await world.authorize(id)
    assert.equal(answer.status, 400, id)
    assert.equal((answer.json as JsonObject).error, 'invalid_request', id)
    assert.match(String((answer.json as JsonObject).error_description), flaw)
    assert.equal(answer.headers.location, undefined)
    // Strangers read 20 documents an hour.
    world.gateway.clock.advance(3_600_000)
  }
  assert.deepEqual(await clientsOf(world), [])
  assert.ok(!site.asked.includes('/good'))
})

test('an address that cannot be one of a document is refused unread', async (t) => {
  const world = await start(t)
  const { origin } = world.site
  for (const path of ['/', '', '/a/../app', '/./app', '/app#x', '/%2e%2e/app']) {
    world.site.put('/app')
    assert.match(await world.refusalOf(origin + path), /client_id: the address/, path)
  }
  for (const id of [
    origin.replace('https://', 'https://ann@').concat('/app'),
    origin.replace('https://', 'https://ann:x@').concat('/app'),
    origin.replace('https://localhost', 'HTTPS://LOCALHOST').concat('/app'),
    `https://app.example.org:443/app`,
    `${origin}/${'a'.repeat(1030)}`,
  ])
    assert.notEqual(await world.refusalOf(id), '', id)
  // Other schemes are no documents: such a client is not known.
  assert.match(await world.refusalOf(origin.replace('https', 'http').concat('/app')), /invalid_client|invalid_request/)
  assert.deepEqual(world.site.asked, [])
})

test('addresses in private networks are refused where the setting does not allow them', async (t) => {
  const world = await start(t, undefined, {})
  for (const id of [world.site.put('/app'), 'https://127.0.0.1/app', 'https://[::1]/app', 'https://10.0.0.1/app'])
    assert.match(await world.refusalOf(id), /cannot be read/, id)
  assert.deepEqual(world.site.asked, [])
  const logged = world.gateway.log.filter(({ message }) => message.includes('metadata document of a client'))
  assert.equal(logged.length, 4)
})

test('many requests at once read a document once, and again after ten minutes', async (t) => {
  const world = await start(t)
  const { site, gateway } = world
  const id = site.put('/app')
  const all = await Promise.all(Array.from({ length: 10 }, () => world.refusalOf(id)))
  assert.deepEqual(new Set(all), new Set(['']))
  assert.equal(site.asked.length, 1)
  assert.equal((await clientsOf(world)).length, 1)
  gateway.clock.advance(599_000)
  assert.equal(await world.refusalOf(id), '')
  assert.equal(site.asked.length, 1)

  // The client follows its document.
  site.put('/app', { redirect_uris: ['https://app.example.org/next'], client_name: 'Other' })
  gateway.clock.advance(2_000)
  assert.match(await world.refusalOf(id), /redirect_uri is not one of the client/)
  assert.equal((await world.authorize(id, { redirect_uri: 'https://app.example.org/next' })).status, 307)
  assert.equal(site.asked.length, 2)
  const [stored, ...others] = await clientsOf(world)
  assert.deepEqual([stored!.description, others], [`Other (${new URL(id).host})`, []])

  // A document that is gone lets nobody sign in; its address is asked again after ten seconds.
  site.documents.delete('/app')
  gateway.clock.advance(601_000)
  for (let i = 0; i < 3; i++) assert.match(await world.refusalOf(id), /cannot be read/)
  assert.equal(site.asked.length, 3)
  site.put('/app')
  gateway.clock.advance(11_000)
  assert.equal(await world.refusalOf(id), '')
})

test('a document that says the same again writes nothing', async (t) => {
  const world = await start(t)
  const { site, gateway } = world
  const stored = async () => {
    const found: unknown[] = []
    for await (const batch of gateway.store.documents.each('oauth_client', {}))
      found.push(...batch.map(({ id, revision }) => [id, revision]))
    return found
  }
  for (const more of [
    {},
    {
      logo_uri: 'https://app.example.org/logo',
      contacts: ['ann@example.org'],
      client_uri: null,
      scope: 'read',
      other: [1],
    },
    {
      dpop_bound_access_tokens: false,
      require_pushed_authorization_requests: null,
      software_id: '1',
      grant_types: ['authorization_code'],
    },
  ]) {
    const id = site.put('/app', more)
    gateway.clock.advance(601_000)
    assert.equal(await world.refusalOf(id), '', JSON.stringify(more))
    const before = await stored()
    const asked = site.asked.length
    for (let i = 1; i < 4; i++) {
      gateway.clock.advance(601_000)
      await Promise.all([world.refusalOf(id), world.refusalOf(id)])
      assert.equal(site.asked.length, asked + i)
      assert.deepEqual(await stored(), before, JSON.stringify(more))
    }
  }
})

test('pushed requests and a switch-off hold for such clients too', async (t) => {
  const world = await start(t)
  const id = world.site.put('/app')
  const push = (clientId: string) =>
    world.gateway.call('/a/oauth/par', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        ...{ client_id: clientId, redirect_uri: CALLBACK, response_type: 'code' },
        ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
      }).toString(),
    })
  const pushed = await push(id)
  assert.equal(pushed.status, 201, pushed.text)
  const uri = String((pushed.json as JsonObject).request_uri)
  assert.equal((await world.authorize(id, { request_uri: uri })).status, 307)
  // A client that proves itself by a key cannot go without.
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }) as Record<
    string,
    string
  >
  const proving = world.site.put('/proving', { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key] } })
  assert.equal(await world.refusalOf(proving), '')
  assert.equal((await push(proving)).status, 401)

  const off = oauthApi(world.origin.url, { id: 'a', settings: { registrationPolicies: ['p'] } })
  assert.equal((await world.gateway.svc('PUT', '/svc/apis/oas/a', off)).status, 200)
  assert.match(await world.refusalOf(id), /takes no client metadata documents/)
  assert.equal((await push(id)).status, 400)
  const removed = await world.gateway.svc('DELETE', `/svc/oauth/clients/a/${encodeURIComponent(id)}`)
  assert.equal(removed.status, 200, removed.text)
  assert.deepEqual(
    (await clientsOf(world)).map(({ client_id }) => client_id),
    [proving],
  )
})

test('a client proves itself by a key at the address that its document names', async (t) => {
  const world = await start(t)
  const [own, other] = [signer('ES256', 'own'), signer('ES256', 'own')]
  world.site.documents.set('/keys', { body: JSON.stringify({ keys: [own.jwk] }) })
  const id = world.site.put('/app', {
    ...{ token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${world.site.origin}/keys` },
  })
  const push = (by: Signer) => {
    const nowS = Math.floor(world.gateway.clock.wall() / 1000)
    const claims = { iss: id, sub: id, aud: `http://127.0.0.1:${world.gateway.port}/a`, exp: nowS + 60 }
    return world.gateway.call('/a/oauth/par', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        ...{ client_id: id, redirect_uri: CALLBACK, response_type: 'code' },
        ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: compact({ alg: 'ES256', kid: 'own' }, claims, es(by.privateKey)),
      }).toString(),
    })
  }
  const pushed = await push(own)
  assert.equal(pushed.status, 201, pushed.text)
  assert.equal((await push(other)).status, 401)
  assert.deepEqual(world.site.asked, ['/app', '/keys'])
})

test('a client that administrators registered under such an address is theirs', async (t) => {
  const world = await start(t)
  const id = world.site.put('/app', { redirect_uris: ['https://evil.example/cb'] })
  await world.client(id, { api_id: 'a', policies: ['p'], redirect_uri: CALLBACK })
  assert.equal(await world.refusalOf(id), '')
  assert.deepEqual(world.site.asked, [])
})

test('a visitor has 20 documents of unknown clients read in an hour', async (t) => {
  const world = await start(t)
  const statuses: number[] = []
  for (let i = 0; i < 25; i++) statuses.push((await world.authorize(world.site.put(`/app${i}`))).status)
  assert.deepEqual(statuses, [...Array(20).fill(307), ...Array(5).fill(429)])
  assert.equal(world.site.asked.length, 20)
  // Clients that are known are not counted.
  assert.equal(await world.refusalOf(`${world.site.origin}/app3`), '')
})
