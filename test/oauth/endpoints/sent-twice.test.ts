import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { repeatsMember } from '../../../src/model/json/json-body.ts'
import type { Endpoint, OAuthAnswer } from '../../../src/oauth/endpoints/parts.ts'
import { AuthorizationServer, ROUTES } from '../../../src/oauth/endpoints/server.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { createClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { call as plainCall } from '../../worlds/base/client.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { basic, CALLBACK, CHALLENGE, type Front, field, front, type Sent } from '../../worlds/oauth/front-fixtures.ts'

const REGISTRATION = 'the initial access token'
const FORM = 'application/x-www-form-urlencoded'

/** Parameters of the dashboard's lists that may name several. */
const LISTS: ReadonlySet<string> = new Set(['labels', 'tags', 'policy_ids', 'state', 'api_id', 'auth_type'])

/** The parameters of each endpoint with a body, except for the one that is given twice. */
const TAKES: Partial<Record<Endpoint, Readonly<Record<string, string>>>> = {
  authorize: { client_id: 'shop', redirect_uri: CALLBACK, response_type: 'code', code_challenge: CHALLENGE },
  authorize_client: { client_id: 'shop', redirect_uri: CALLBACK, response_type: 'code' },
  token: { grant_type: 'client_credentials', client_id: 'shop' },
  revoke: { token: 'one' },
  revoke_all: { token: 'one' },
  introspect: { token: 'one' },
  par: { client_id: 'shop', redirect_uri: CALLBACK, response_type: 'code' },
  device_authorization: { client_id: 'shop', scope: 'read' },
  register: { client_name: 'shop' },
}

const withBody = (Object.keys(ROUTES) as Endpoint[]).filter((endpoint) => ROUTES[endpoint].methods.includes('POST'))

/** Texts of a body that names something twice: a parameter that is read, one that nobody reads, one by another spelling. */
function repeats(takes: Readonly<Record<string, string>>): { form: string; json: string; what: string }[] {
  const form = new URLSearchParams(takes).toString()
  const members = Object.entries(takes).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  const names = [...Object.keys(takes), 'nobody_reads_this']
  return names.flatMap((name) => {
    const value = takes[name] ?? 'x'
    const first = `${name.charCodeAt(0).toString(16)}`
    const inForm = (other: string) => `${form}&nobody_reads_this=x&${other}`
    const inJson = (other: string) => `{${[...members, '"nobody_reads_this":"x"', other].join(',')}}`
    return [
      {
        what: `${name} again`,
        form: inForm(`${name}=${encodeURIComponent(value)}`),
        json: inJson(`"${name}":"${value}"`),
      },
      { what: `${name} with another value`, form: inForm(`${name}=evil`), json: inJson(`"${name}":"evil"`) },
      { what: `${name} empty`, form: inForm(`${name}=`), json: inJson(`"${name}":""`) },
      {
        what: `${name} in another spelling`,
        form: inForm(`%${first}${name.slice(1)}=evil`),
        json: inJson(`"\\u00${first}${name.slice(1)}" : "evil"`),
      },
    ]
  })
}

function world(t: TestContext): { front: Front; ask: (endpoint: Endpoint, sent: Sent) => Promise<OAuthAnswer> } {
  const made = front(t, {}, REGISTRATION)
  made.client()
  const server = new AuthorizationServer(made.parts)
  const authorization = (endpoint: Endpoint) =>
    endpoint === 'register' ? { authorization: `Bearer ${REGISTRATION}` } : basic('shop')
  const ask = (endpoint: Endpoint, { headers, ...sent }: Sent) =>
    server.answer(
      made.call(endpoint, {
        ...sent,
        administrative: endpoint === 'authorize_client',
        headers: { ...authorization(endpoint), ...headers },
      }),
    )
  return { front: made, ask }
}

/** Whether an answer says that something was given twice, and gives nothing. */
function refuses(answer: OAuthAnswer): boolean {
  const said = answer.status === 303 ? (field(answer, 'location') ?? '').replaceAll('+', ' ') : answer.body
  return (
    (answer.status === 400 || answer.status === 303) && /more than once|twice|in the query and in the body/.test(said)
  )
}

describe('something given twice is refused', () => {
  test('every endpoint that takes a body is among those that are asked', () => {
    assert.deepEqual(Object.keys(TAKES).sort(), withBody.sort())
  })

  for (const endpoint of withBody)
    test(`at ${endpoint}, in a form and in JSON, read or not, and nothing comes of it`, async (t) => {
      const { front: made, ask } = world(t)
      const before = await made.store.documents.revision()
      for (const { what, form, json } of repeats(TAKES[endpoint]!)) {
        if (endpoint !== 'register') assert.ok(refuses(await ask(endpoint, { form })), `form: ${what}`)
        const headers = { 'content-type': 'application/json' }
        assert.ok(refuses(await ask(endpoint, { json, headers })), `JSON: ${what}`)
        // Only an authorization request may come by GET.
        if (endpoint === 'authorize')
          assert.ok(refuses(await ask(endpoint, { query: form, method: 'GET' })), `query: ${what}`)
      }
      if (endpoint !== 'register')
        for (const query of ['a=1&a=2', 'a=1&%61=1', 'nobody_reads_this&b=1&nobody_reads_this=']) {
          const form = new URLSearchParams(TAKES[endpoint]).toString()
          assert.ok(refuses(await ask(endpoint, { form, query })), `repeated in the query: ${query}`)
        }
      if (endpoint !== 'register')
        for (const [name, value] of Object.entries(TAKES[endpoint]!)) {
          const form = new URLSearchParams(TAKES[endpoint])
          for (const given of [encodeURIComponent(value), 'evil', ''])
            assert.ok(
              refuses(await ask(endpoint, { form: form.toString(), query: `a=1&${name}=${given}` })),
              `${name} in the query too`,
            )
        }
      assert.equal(await made.store.documents.revision(), before)
    })

  test('in the session that a login page gives', async (t) => {
    const { ask } = world(t)
    const form = { ...TAKES.authorize_client, key_rules: '{"rate":1,"per":1,"rate":1000}' }
    const answer = await ask('authorize_client', { form })
    assert.equal(answer.status, 400)
    assert.match(answer.body, /key_rules/)
  })

  test('but for resource and audience, of which a request may name several (RFC 8707)', async (t) => {
    const { ask } = world(t)
    for (const name of ['resource', 'audience']) {
      const form = `token=one&${name}=https%3A%2F%2Fa.example&${name}=https%3A%2F%2Fb.example`
      assert.equal((await ask('introspect', { form })).status, 200)
    }
  })

  test('at the calls of the administration about OAuth, and at every other that takes JSON', async (t) => {
    const gate = await startTestGateway()
    t.after(() => gate.close())
    const send = (method: string, path: string, body: string, type: string) =>
      gate.call(path, { method, body, headers: { 'x-svc-authorization': TEST_SECRET, 'content-type': type } })
    for (const [method, path] of [
      ['POST', '/svc/oauth/clients/create'],
      ['PUT', '/svc/oauth/clients/a/b'],
      ['POST', '/svc/oauth/revoke'],
      ['POST', '/svc/oauth/revoke_all'],
      ['POST', '/svc/apis'],
      ['POST', '/svc/apis/oas'],
      ['POST', '/svc/keys/create'],
      ['POST', '/svc/policies'],
    ] as const) {
      const answer = await send(method, path, '{"client_id":"a","x":{"b":1},"client_\\u0069d":"c"}', 'application/json')
      assert.equal(answer.status, path.endsWith('/a/b') ? 404 : 400, `${path} ${answer.text}`)
      if (answer.status === 400) assert.match(answer.text, /names a member twice/, path)
    }
    for (const path of ['/svc/oauth/revoke', '/svc/oauth/revoke_all']) {
      const answer = await send('POST', path, 'client_id=a&token=b&zz=1&z%7a=2', FORM)
      assert.match(answer.text, /is repeated/, path)
      const both = await send('POST', `${path}?x=1&client_id=b`, 'client_id=a&token=b', FORM)
      assert.match(both.text, /client_id: is given in the query and in the body/, path)
    }
  })

  test('at the calls of the administration, in the query and in the body or twice in the query', async (t) => {
    const gate = await startTestGateway()
    t.after(() => gate.close())
    const rotate = '/svc/oauth/clients/api/app/rotate'
    const client = { client_id: 'app', redirect_uri: CALLBACK, api_id: 'api', secret: 'secret-of-the-app' }
    const api = {
      name: 'api',
      api_id: 'api',
      active: true,
      use_oauth2: true,
      proxy: { listen_path: '/api/', target_url: 'http://127.0.0.1:1/' },
    }
    for (const [path, body] of [
      ['apis', api],
      ['oauth/clients/create', client],
    ] as const)
      assert.equal((await gate.svc('POST', `/svc/${path}`, body)).status, 200)
    const asks: readonly (readonly [string, string, JsonObject, RegExp])[] = [
      ['PUT', `${rotate}?overlap=9`, { overlap: 60 }, /overlap: is given in the query and in the body/],
      ['PUT', `${rotate}?overlap=9&overlap=60`, {}, /overlap is given more than once/],
      ...['keys/create', 'keys/custom-key-of-a-caller', 'keys/preview', 'policies', 'oauth/clients/create'].flatMap(
        (path) => [
          [
            'POST',
            `/svc/${path}?org_id=a`,
            { ...client, client_id: 'b', org_id: 'b' },
            /different organisations/,
          ] as const,
          [
            'POST',
            `/svc/${path}?org_id=a&org_id=b`,
            { ...client, client_id: 'b' },
            /org_id is given more than once/,
          ] as const,
        ],
      ),
    ]
    for (const [method, path, body, said] of asks) {
      const { status, text } = await gate.svc(method, path, body)
      assert.equal(status, 400, `${path} ${text}`)
      assert.match(text, said, path)
    }
    assert.equal(((await gate.svc('GET', '/svc/oauth/clients/api/app')).json as JsonObject).secret, client.secret)
  })

  test('at every call of the dashboard, in the query and in the body or twice in the query', async (t) => {
    const dashboard = await startTestDashboard()
    t.after(() => dashboard.close())
    const admin = await dashboard.admin()
    // They go by the names of the placeholders, so that the calls below find them.
    const definition = oauthApi('http://127.0.0.1:1/', { id: 'apiId' })
    await publishApi(dashboard.parts, { format: 'oas', definition, orgId: dashboard.orgId, actor: 'test' })
    const client = { client_id: 'clientId', redirect_uri: CALLBACK }
    await createClient(dashboard.parts, { body: client, apiId: 'apiId', actor: 'test' })
    const { json } = await dashboard.call('GET', '/api/openapi.json', { as: admin })
    type Operation = {
      requestBody?: { content?: object }
      parameters?: { name: string; in: string; schema: JsonObject }[]
    }
    const { paths } = json as unknown as { paths: Record<string, Record<string, Operation>> }
    let told = 0
    const asked = async (method: string, path: string, body?: string) => {
      const before = await dashboard.store.documents.revision()
      const headers = { 'content-type': body?.startsWith('a') ? FORM : 'application/json', authorization: admin.key }
      const sent = { method: method.toUpperCase(), headers, ...(body !== undefined && { body }) }
      const { status, text } = await plainCall(dashboard.port, path.replaceAll(/[{}]/g, ''), sent)
      assert.ok(status >= 400 && status < 500, `${method} ${path} ${status} ${text}`)
      assert.equal(await dashboard.store.documents.revision(), before, `${method} ${path}`)
      if (/more than once|in the query and in the body/.test(text)) told++
    }
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { requestBody, parameters = [] }] of Object.entries(methods)) {
        if (path === '/license') continue
        if (requestBody !== undefined)
          for (const body of ['{"name":"a","token":"b"}', 'aname=1&name=a&token=b'])
            await asked(method, `${path}?name=a`, body)
        for (const { name, in: place, schema } of parameters)
          if (place === 'query' && !LISTS.has(name)) {
            const value = encodeURIComponent(String((schema.enum as string[] | undefined)?.[0] ?? 1))
            await asked(method, `${path}?${name}=${value}&${name}=${value}`, requestBody && '{}')
          }
      }
    assert.ok(told > 100, String(told))
    const form = new URLSearchParams({ ...TAKES.authorize_client, client_id: 'clientId' })
    const path = '/api/apis/apiId/authorize-client?redirect_uri=evil'
    const { status, text } = await dashboard.call('POST', path, { as: admin, body: form.toString() })
    assert.equal(status, 400)
    assert.match(text, /redirect_uri is given in the query and in the body/)
  })

  test('at every call of the dashboard', async (t) => {
    const dashboard = await startTestDashboard()
    t.after(() => dashboard.close())
    const admin = await dashboard.admin()
    const { json } = await dashboard.call('GET', '/api/openapi.json', { as: admin })
    const { paths } = json as { paths: Record<string, Record<string, { requestBody?: { content?: object } }>> }
    let told = 0
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { requestBody }] of Object.entries(methods)) {
        // Nobody reads what is sent there.
        if (requestBody === undefined || path === '/license') continue
        const before = await dashboard.store.documents.revision()
        const body = '{"name":"a","other":{"n":[{"a":1}]},"n\\u0061me":"b"}'
        const headers = { 'content-type': 'application/json', authorization: admin.key }
        const asked = { method: method.toUpperCase(), body, headers }
        const { status, text } = await plainCall(dashboard.port, path.replaceAll(/[{}]/g, ''), asked)
        assert.ok(status >= 400 && status < 500, `${method} ${path} ${status} ${text}`)
        assert.equal(await dashboard.store.documents.revision(), before, `${method} ${path}`)
        if (text.includes('Request body malformed')) told++
      }
    assert.ok(told > 20, String(told))
  })
})

describe('a JSON text', () => {
  /** A text and whether it names a member twice, from a tree whose objects are lists of members. */
  const node = fc.letrec<{ value: { text: string; twice: boolean } }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc
        .oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null))
        .map((leaf) => ({ text: JSON.stringify(leaf), twice: false })),
      fc.array(tie('value'), { maxLength: 3 }).map((entries) => ({
        text: `[${entries.map(({ text }) => text).join(' , ')}]`,
        twice: entries.some(({ twice }) => twice),
      })),
      fc
        .array(
          fc.tuple(
            fc.oneof(fc.string({ maxLength: 2 }), fc.constantFrom('a', 'b', ':', '":"', '\\', '__proto__')),
            tie('value'),
          ),
          {
            maxLength: 4,
          },
        )
        .map((members) => ({
          text: `{${members.map(([name, { text }]) => `${JSON.stringify(name)}\n:\t${text}`).join(',')}}`,
          twice: new Set(members.map(([name]) => name)).size < members.length || members.some(([, held]) => held.twice),
        })),
    ),
  })).value

  test('property: names a member twice when one of its objects does, whatever its strings hold', () => {
    fc.assert(
      fc.property(node, ({ text, twice }) => repeatsMember(text, JSON.parse(text) as Json) === twice),
      { numRuns: 2_000 },
    )
  })

  test('may be nested deeper than the stack', () => {
    const text = '['.repeat(200_000) + ']'.repeat(200_000)
    assert.equal(repeatsMember(text, JSON.parse(text) as Json), false)
  })
})
