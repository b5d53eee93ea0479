import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { McpApp, startMcpServer } from '../../worlds/flows/mcp-world.ts'
import { oauthApi, policyOf } from '../../worlds/gateway/oauth-fixtures.ts'

// The MCP SDK at an MCP server behind the gateway: the app is given its address and nothing else.

const SETTINGS = { openRegistration: true, registrationPolicies: ['agents'], accessTokenLifetime: 300 }

async function start(t: TestContext) {
  const upstream = await startMcpServer(t)
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const admin: JsonObject = { post: { operationId: 'admin', security: [{ oa: ['admin'] }], responses: {} } }
  const definition = oauthApi(upstream.url, {
    ...{ id: 'notes', path: '/notes/', settings: SETTINGS, scopes: ['tools', 'admin'] },
    ...{ security: [{ oa: ['tools'] }], paths: { '/admin': admin } },
  })
  assert.equal((await gate.svc('POST', '/svc/apis/oas', definition)).status, 200)
  assert.equal((await gate.svc('POST', '/svc/policies', policyOf('agents', ['notes']))).status, 200)
  /** The browser and the login page: the person is signed in and allows everything. */
  const signIn = async (sentTo: URL): Promise<string> => {
    const login = await fetch(sentTo, { redirect: 'manual' })
    assert.equal(login.status, 307, await login.text())
    const { search } = new URL(login.headers.get('location')!)
    const answer = await fetch(`http://127.0.0.1:${gate.port}/notes/svc/oauth/authorize-client`, {
      method: 'POST',
      body: `${search.slice(1)}&username=ann`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-svc-authorization': TEST_SECRET },
    })
    const { code } = (await answer.json()) as { code: string }
    assert.equal(answer.status, 200)
    return code
  }
  return { gate, upstream, signIn, url: new URL(`http://127.0.0.1:${gate.port}/notes`) }
}

for (const method of ['none', 'client_secret_basic', 'client_secret_post'] as const)
  test(`the MCP SDK signs in by the address alone, calls tools and refreshes: ${method}`, async (t) => {
    const { gate, upstream, signIn, url } = await start(t)
    const app = new McpApp(method)
    const client = await app.connect(url, signIn)
    t.after(() => client.close())

    assert.equal(app.registered?.client_secret === undefined, method === 'none')
    const [asked] = app.sentTo
    assert.equal(asked!.searchParams.get('resource'), url.href)
    assert.equal(asked!.searchParams.get('scope'), 'tools')
    assert.equal(asked!.searchParams.get('code_challenge_method'), 'S256')
    assert.deepEqual((await client.listTools()).tools.map(({ name }) => name).sort(), ['delete_note', 'list_notes'])
    const called = await client.callTool({ name: 'list_notes' })
    assert.deepEqual(called.content, [{ type: 'text', text: 'list_notes done' }])

    // The access token runs out: the app gets another one, without the person.
    const before = app.held!.access_token
    gate.clock.advance(301_000)
    await client.callTool({ name: 'list_notes' })
    assert.notEqual(app.held!.access_token, before)
    assert.equal(app.sentTo.length, 1)
    assert.deepEqual(upstream.seen, ['list_notes', 'list_notes'])
  })

for (const method of ['none', 'client_secret_basic'] as const)
  test(`an app of the MCP SDK asks for another scope where a place needs it: ${method}`, async (t) => {
    const { upstream, signIn, url } = await start(t)
    // With a refresh token the SDK (1.32.2) answers `insufficient_scope` by a refresh, which can have no more scopes (RFC 6749 section 6).
    const app = new McpApp(method, ['authorization_code'])
    const client = await app.connect(url, signIn)
    t.after(() => client.close())
    assert.equal(app.held!.scope, 'tools')
    // A place that needs another scope: the person is asked for that one.
    const stepped = await app.connect(new URL(`${url}/admin`), signIn)
    t.after(() => stepped.close())
    assert.equal(app.sentTo.length, 2)
    assert.equal(app.sentTo[1]!.searchParams.get('scope'), 'admin')
    assert.equal(app.held!.scope, 'admin')
    await stepped.callTool({ name: 'delete_note' })
    assert.deepEqual(upstream.seen, ['delete_note'])
  })
