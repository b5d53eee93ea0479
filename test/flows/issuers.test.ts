import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as oauth from 'oauth4webapi'
import * as oidc from 'openid-client'
import type { JsonObject } from '../../src/model/json/json.ts'
import { FakeClock } from '../../src/model/time/clock.ts'
import { publishApi } from '../../src/publish/apis/apis.ts'
import { listNodes } from '../../src/publish/nodes/node-status.ts'
import { openMemoryStore } from '../../src/store/memory/open.ts'
import { call } from '../worlds/base/client.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { startTestGateway, TEST_SECRET, type TestGateway } from '../worlds/base/harness.ts'
import { keyWorld } from '../worlds/dashboard/key-world.ts'
import { oauthApi } from '../worlds/gateway/oauth-fixtures.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

// The issuer of an API, as two client libraries check it, in the set-ups that an installation can have.

const REDIRECT = 'https://client.example/callback'
const SECRET = 'the-secret-of-the-client-0123456789abcdef'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

interface SetUp {
  /** Settings of the dashboard. */
  readonly dashboard?: Record<string, string>
  /** Settings of each gateway; the first one serves the API. */
  readonly gateways: readonly Record<string, string>[]
  readonly server?: JsonObject
  readonly path?: string
  /** The issuer that it must have; absent = that of the request. */
  readonly issuer?: string
}

const EDGES = JSON.stringify([
  { name: 'us', endpoint: 'https://us.example.test', tags: ['us'] },
  { name: 'eu', endpoint: 'https://EU.example.test:443/edge/', tags: ['eu', 'fr'] },
  { name: 'fr', endpoint: 'https://fr.example.test', tags: ['fr'] },
])
const segmented = (tag: string) => ({
  SVC_GW_DBAPPCONFOPTIONS_NODEISSEGMENTED: 'true',
  SVC_GW_DBAPPCONFOPTIONS_TAGS: tag,
})
const tagged = (...tags: string[]) => ({ gatewayTags: { enabled: true, tags } })
const domain = { customDomain: { enabled: true, name: 'shop.example.test' } }
const PUBLIC = { SVC_GW_PUBLICURL: 'https://api.example.test/gw/' }

const SET_UPS: Readonly<Record<string, SetUp>> = {
  'all in one without an address': { gateways: [{}] },
  'all in one with gateway.public_url': {
    ...{ dashboard: PUBLIC, gateways: [PUBLIC] },
    issuer: 'https://api.example.test/gw/shop',
  },
  'a custom domain before edge endpoints and gateway.public_url': {
    ...{ dashboard: { ...PUBLIC, SVC_DB_EDGEENDPOINTS: EDGES }, gateways: [PUBLIC] },
    ...{ server: domain, path: '/Shop-é/', issuer: 'https://shop.example.test/Shop-%C3%A9' },
  },
  'segmented nodes, whose edge endpoints the dashboard alone knows': {
    ...{ dashboard: { ...PUBLIC, SVC_DB_EDGEENDPOINTS: EDGES }, gateways: [segmented('fr'), segmented('us')] },
    ...{ server: tagged('fr'), issuer: 'https://eu.example.test/edge/shop' },
  },
  'a dashboard alone that learns gateway.public_url from the nodes': {
    ...{ gateways: [PUBLIC, { SVC_GW_PUBLICURL: 'https://management.example.test', SVC_GW_MANAGEMENTNODE: 'true' }] },
    issuer: 'https://api.example.test/gw/shop',
  },
  'nodes alone that learn gateway.public_url from a dashboard': {
    ...{ dashboard: PUBLIC, gateways: [{}] },
    issuer: 'https://api.example.test/gw/shop',
  },
  'a listen path with a placeholder': { dashboard: PUBLIC, gateways: [PUBLIC], path: '/t/{tenant:[a-z]+}/' },
}

async function installation(t: TestContext, { dashboard: env = {}, gateways, server = {}, path = '/shop/' }: SetUp) {
  const clock = new FakeClock(Date.now())
  const store = openMemoryStore({ clock })
  const origin = await startOrigin()
  const nodes: TestGateway[] = []
  for (const each of gateways) nodes.push(await startTestGateway({ store, clock, env: each }))
  const world = await keyWorld(t, { store, clock, env, parts: { sealKey: Buffer.alloc(32, 7) } })
  t.after(async () => {
    for (const node of nodes) await node.close()
    await origin.close()
    await store.close()
  })
  const definition = oauthApi(origin.url, {
    ...{ id: 'shop', path, server, settings: { accessTokenFormat: 'jwt' } },
  })
  const { revision } = await publishApi(world.parts, { format: 'oas', definition, orgId: world.orgId, actor: 'test' })
  for (const node of nodes) await node.gateway.live.settled(revision)
  await world.policy('gold', ['shop'])
  const body = { client_id: 'c1', secret: SECRET, redirect_uri: REDIRECT, policy_id: 'gold' }
  await world.asked(200, 'POST', '/api/apis/oauth/shop', world.root, body)
  await eventually('every node is listed', async () => (await listNodes(world.parts)).length === nodes.length)
  const [gateway] = nodes
  /** Below its address a proxy in front hands requests on to the gateway: paths of the address are its own. */
  const viaProxy =
    (base: string) => async (url: string | URL, options: { method?: string; headers?: unknown; body?: unknown }) => {
      const { host, pathname, search } = new URL(url)
      const inner = pathname.replace(base, '').replace(/^$/, '/')
      const sent = new Headers(options.headers as Record<string, string>)
      const answer = await call(gateway!.port, inner + search, {
        method: String(options.method ?? 'GET'),
        headers: { ...Object.fromEntries(sent), host },
        ...(options.body != null && { body: String(options.body) }),
      })
      const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
      return new Response(answer.text, { status: answer.status, headers })
    }
  return { world, gateway: gateway!, viaProxy }
}

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as JsonObject

for (const [name, setUp] of Object.entries(SET_UPS))
  test(`two client libraries sign in by the dashboard: ${name}`, async (t) => {
    const { world, gateway, viaProxy } = await installation(t, setUp)
    const path = setUp.path?.startsWith('/t/') ? '/t/acme' : '/shop'
    const reached = `http://127.0.0.1:${gateway.port}${path}`
    const isKnown = setUp.issuer !== undefined
    const metadataPath = `${setUp.server === domain ? '/Shop-%C3%A9' : path}/.well-known/oauth-authorization-server`
    const asked = await call(gateway.port, metadataPath, {
      headers: setUp.server === domain ? { host: 'shop.example.test' } : {},
    })
    const issuer = new URL((asked.json as { issuer: string }).issuer)
    if (isKnown) assert.equal(issuer.href, setUp.issuer)
    else if (setUp.dashboard === undefined && setUp.gateways.length === 1) assert.equal(issuer.href, reached)
    const base = /^\/(?:gw|edge)(?=\/)/.exec(issuer.pathname)?.[0] ?? ''
    const via = viaProxy(base)

    const login = async (params: URLSearchParams) => {
      const answer = await world.call('POST', '/api/apis/shop/authorize-client', {
        as: world.root,
        body: params.toString(),
      })
      assert.equal(answer.status, 200, answer.text)
      const told = answer.json as { redirect_to: string; warnings?: string[] }
      const back = new URL(told.redirect_to)
      assert.equal(back.searchParams.get('iss'), isKnown ? issuer.href : null)
      assert.equal(told.warnings === undefined, isKnown, JSON.stringify(told.warnings))
      return back
    }
    const toLogin = async (url: URL) => {
      const answer = await via(url, {})
      assert.equal(answer.status, 307, await answer.text())
      return new URL(answer.headers.get('location')!).searchParams
    }
    const tokens: string[] = []

    const config = await oidc.discovery(issuer, 'c1', undefined, oidc.ClientSecretBasic(SECRET), {
      ...{ algorithm: 'oauth2', execute: [oidc.allowInsecureRequests] },
      [oidc.customFetch]: via,
    })
    assert.equal(config.serverMetadata().authorization_response_iss_parameter_supported, isKnown)
    const verifier = oidc.randomPKCECodeVerifier()
    const url = oidc.buildAuthorizationUrl(config, {
      ...{ redirect_uri: REDIRECT, state: 's', code_challenge_method: 'S256' },
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    })
    const back = await login(await toLogin(url))
    const checks = { pkceCodeVerifier: verifier, expectedState: 's' }
    if (isKnown) {
      const stripped = new URL(back)
      stripped.searchParams.delete('iss')
      await assert.rejects(oidc.authorizationCodeGrant(config, stripped, checks), /"iss"|invalid response/)
    }
    tokens.push((await oidc.authorizationCodeGrant(config, back, checks)).access_token)

    const options = { [oauth.customFetch]: via, [oauth.allowInsecureRequests]: true }
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options })
    const as = await oauth.processDiscoveryResponse(issuer, found)
    const client = { client_id: 'c1' }
    const auth = oauth.ClientSecretBasic(SECRET)
    const pushed = await oauth.pushedAuthorizationRequest(
      ...([as, client, auth, { response_type: 'code', redirect_uri: REDIRECT }, options] as const),
    )
    const { request_uri } = await oauth.processPushedAuthorizationResponse(as, client, pushed)
    const authorize = new URL(as.authorization_endpoint!)
    authorize.search = new URLSearchParams({ client_id: 'c1', request_uri }).toString()
    const params = oauth.validateAuthResponse(as, client, await login(await toLogin(authorize)), oauth.expectNoState)
    const given = await oauth.authorizationCodeGrantRequest(as, client, auth, params, REDIRECT, oauth.nopkce, options)
    tokens.push((await oauth.processAuthorizationCodeResponse(as, client, given)).access_token)

    for (const token of tokens) {
      assert.deepEqual([claimsOf(token).iss, claimsOf(token).aud], [issuer.href, issuer.href])
      const used = await oauth.protectedResourceRequest(
        token,
        'GET',
        new URL(`${issuer.href}/x`),
        undefined,
        undefined,
        options,
      )
      assert.equal(used.status, 200)
    }
    const [urls, one] = [
      (await world.asked(200, 'GET', '/api/apis/shop/urls', world.root)) as { urls: string[]; warnings?: string[] },
      (await world.asked(200, 'GET', '/api/apis/shop/url', world.root)) as { ApiURL: string; warnings?: string[] },
    ]
    assert.equal(one.ApiURL, urls.urls[0])
    assert.deepEqual(one.warnings, urls.warnings)
    if (isKnown) assert.equal(one.ApiURL, `${issuer.href}/`)
    const warned = world.log.filter(({ message }) => message.includes('iss is left out'))
    assert.equal(warned.length, isKnown ? 0 : 1)

    // By the gateway's own call the login page gets the same.
    const sent = new URLSearchParams({ response_type: 'code', client_id: 'c1', redirect_uri: REDIRECT })
    const own = await via(`${issuer.href}/svc/oauth/authorize-client`, {
      ...{ method: 'POST', headers: { ...FORM, 'x-svc-authorization': TEST_SECRET }, body: sent.toString() },
    })
    const { redirect_to } = (await own.json()) as { redirect_to: string }
    assert.equal(new URL(redirect_to).searchParams.get('iss'), issuer.href)
  })
