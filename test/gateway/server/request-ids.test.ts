import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { RecordRow } from '../../../src/store/ports/records.ts'
import { answering, defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'
import { Client, fieldOf } from '../../worlds/wire/raw.ts'

const OURS = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const SECRET = 'a-key-of-the-test-gateway'

interface Scene {
  readonly gateway: TestGateway
  readonly origin: Origin
  readonly store: ReturnType<typeof openMemoryStore>
  /** The ids that WebSocket upstreams got. */
  readonly sockets: unknown[]
}

async function open(t: TestContext, env: Record<string, string> = {}): Promise<Scene> {
  const origin = await startOrigin()
  // An upstream with ids of its own, which a cache must not give to others.
  origin.script = ({ headers }, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'x-request-id': 'of-upstream',
      'x-got': headers['x-request-id'] ?? 'none',
    })
    response.end('{"ok":true}')
  }
  const { url: socketUrl, seen: sockets } = await webSockets(t)
  const store = openMemoryStore()
  const gateway = await startTestGateway({ store, accessLog: true, env })
  t.after(async () => {
    await gateway.close()
    await origin.close()
    await store.close()
  })
  const { url } = origin
  const paths = {
    '/mock': { get: { operationId: 'mock', responses: {} } },
    '/made': { get: { operationId: 'made', responses: {} } },
  }
  const operations = {
    mock: { mockResponse: { enabled: true, code: 203, body: 'mocked' } },
    made: { transformResponseBody: { enabled: true, format: 'json', body: Buffer.from('{"a":1}').toString('base64') } },
  }
  const server = { batchProcessing: { enabled: true } }
  for (const api of [
    defined({ id: 'open', url, paths, operations, server }),
    defined({ id: 'k', url, keyIn: 'X-Key' }),
    defined({ id: 'blocked', url, server: { ipAccessControl: { enabled: true, block: ['127.0.0.1'] } } }),
    defined({
      id: 'small',
      url,
      global: { trafficLogs: { enabled: true }, requestSizeLimit: { enabled: true, value: 1 } },
    }),
    defined({
      id: 'cached',
      url,
      global: { trafficLogs: { enabled: true }, cache: { enabled: true, timeout: 60, cacheAllSafeRequests: true } },
    }),
    defined({ id: 'led', url: 'svc://open' }),
    defined({ id: 'down', url: 'http://127.0.0.1:1' }),
    defined({ id: 'ws', url: socketUrl }),
    defined({
      id: 'edits',
      url,
      global: { trafficLogs: { enabled: true }, ...answering('X-Request-Id', 'of-the-api') },
    }),
    oauthApi(url, { id: 'oa' }),
  ]) {
    const made = await gateway.svc('POST', '/svc/apis/oas', api)
    assert.equal(made.status, 200, made.text)
  }
  const session = { access_rights: rights('k'), quota_max: -1, rate: 1, per: 3600 }
  assert.equal((await gateway.svc('POST', `/svc/keys/${SECRET}`, session)).status, 200)
  return { gateway, origin, store, sockets }
}

async function webSockets(t: TestContext): Promise<{ url: string; seen: unknown[] }> {
  const http = createServer()
  const seen: unknown[] = []
  const server = new WebSocketServer({ server: http })
  server.on('connection', (socket, { headers }) => {
    seen.push(headers['x-request-id'])
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const client of server.clients) client.terminate()
    http.close()
  })
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, seen }
}

interface Way {
  readonly path: string
  readonly status: number
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** True where the upstream is asked. */
  readonly asks?: true
  /** True where the request is recorded as a request of an API. */
  readonly recorded?: true
}

/** Every way in which a request can end. The order is that of the requests: a second one meets the cache, or the limit. */
const WAYS: readonly Way[] = [
  { path: '/open/x', status: 200, asks: true, recorded: true },
  { path: '/open/x', status: 200, method: 'POST', body: 'text', asks: true, recorded: true },
  { path: '/open/x', status: 200, method: 'HEAD', asks: true, recorded: true },
  { path: '/open/mock', status: 203, recorded: true },
  { path: '/open/made', status: 200, asks: true, recorded: true },
  { path: '/open/svc/batch/', status: 200, method: 'POST', body: '{"requests":[]}', recorded: true },
  { path: '/k/x', status: 401, recorded: true },
  { path: '/k/x', status: 403, headers: { 'X-Key': 'a-key-that-nobody-has' }, recorded: true },
  { path: '/k/x', status: 200, headers: { 'X-Key': SECRET }, asks: true, recorded: true },
  { path: '/k/x', status: 429, headers: { 'X-Key': SECRET }, recorded: true },
  { path: '/blocked/x', status: 403, recorded: true },
  { path: '/small/x', status: 400, method: 'POST', body: 'more', recorded: true },
  { path: '/cached/x', status: 200, asks: true, recorded: true },
  { path: '/cached/x', status: 200, recorded: true },
  { path: '/led/x', status: 200, asks: true, recorded: true },
  { path: '/down/x', status: 502, recorded: true },
  { path: '/nowhere', status: 404 },
  { path: '/hello', status: 200 },
  { path: '/ready', status: 200 },
  { path: '/svc/apis', status: 403 },
  { path: '/svc/nothing', status: 403 },
  {
    path: '/oa/oauth/token',
    status: 401,
    method: 'POST',
    headers: { authorization: 'Basic YTpi', 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials',
  },
  { path: '/oa/.well-known/oauth-authorization-server', status: 200 },
  { path: '/oa/x', status: 401, recorded: true },
]

/** Status and method in the line of this id, once it is written. */
async function lineOf(gateway: TestGateway, id: string): Promise<unknown[]> {
  const lines = () => gateway.accessLines.filter((line) => line.includes(`"request_id":"${id}"`))
  await eventually(`the line of ${id} is written`, () => lines().length > 0)
  const [line, ...others] = lines().map((line) => JSON.parse(line))
  assert.deepEqual(others, [])
  return [line.status, line.method]
}

/** The ids of all records, oldest first; stops the gateway. */
async function recordedIds({ gateway, store }: Scene): Promise<unknown[]> {
  await gateway.gateway.stop()
  const rows = (await store.records.after({ after: 0, limit: 1000 })) as RecordRow[]
  return rows.map(({ requestId }) => requestId)
}

for (const trusts of [false, true]) {
  test(`one id is on the answer, in the log, at the upstream and in the record, ${trusts ? 'that of a trusted proxy' : 'ours'}`, async (t) => {
    const scene = await open(t, trusts ? { SVC_GW_TRUSTEDPROXIES: '127.0.0.1' } : {})
    const { gateway, origin } = scene
    const recorded: string[] = []
    const ids = new Set<string>()
    for (const [i, way] of WAYS.entries()) {
      const name = `${way.method ?? 'GET'} ${way.path} ${way.status}`
      const seen = origin.seen.length
      const sent = `caller-${i}`
      const { status, headers } = await gateway.call(way.path, {
        method: way.method ?? 'GET',
        headers: { 'X-Request-Id': sent, ...way.headers },
        ...(way.body !== undefined && { body: way.body }),
      })
      assert.equal(status, way.status, name)
      const id = String(headers['x-request-id'])
      if (trusts) assert.equal(id, sent, name)
      else assert.match(id, OURS, name)
      assert.ok(!ids.has(id), `${name} has an id of its own`)
      ids.add(id)
      assert.deepEqual(await lineOf(gateway, id), [way.status, way.method ?? 'GET'], name)
      assert.deepEqual(
        origin.seen.slice(seen).map(({ headers }) => headers['x-request-id']),
        way.asks === true ? [id] : [],
        name,
      )
      if (way.recorded) recorded.push(id)
    }
    assert.deepEqual(await recordedIds(scene), recorded)
  })
}

test('over HTTP/2, and for a WebSocket', async (t) => {
  const { gateway, origin, sockets } = await open(t)
  const session = connect(`http://127.0.0.1:${gateway.port}`)
  t.after(() => session.close())
  const ask = (path: string, more = {}) =>
    new Promise<unknown>((resolve, reject) => {
      const stream = session.request({ ':path': path, ...more })
      stream.on('error', reject)
      stream.on('response', (fields) => resolve(fields['x-request-id']))
      stream.resume()
    })
  const id = await ask('/open/x')
  assert.match(String(id), OURS)
  assert.equal(origin.seen.at(-1)!.headers['x-request-id'], id)
  const refused = await ask('/k/echo.Echo/Say', {
    ':method': 'POST',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  assert.match(String(refused), OURS)

  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/ws/socket`)
  t.after(() => socket.terminate())
  const upgraded = await new Promise<unknown>((resolve) =>
    socket.on('upgrade', ({ headers }) => resolve(headers['x-request-id'])),
  )
  assert.match(String(upgraded), OURS)
  assert.deepEqual(sockets, [upgraded])
})

const LONG = 'a'.repeat(70_000)
/** Requests that are refused before it is known which API they are for. */
const UNREADABLE: Readonly<Record<string, readonly number[]>> = {
  'GET /open/x HTTP/1.1\r\n\r\n': [400],
  'GET /open/x HTTP/1.1\r\nHost: a\r\nBad Field: 1\r\n\r\n': [400],
  'GET /open/x HTTP/3.0\r\nHost: a\r\n\r\n': [505, 400],
  'GET /open/% HTTP/1.1\r\nHost: a\r\n\r\n': [400],
  'POST /open/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: odd\r\n\r\n': [501, 400],
  [`GET /open/${LONG} HTTP/1.1\r\nHost: a\r\n\r\n`]: [414, 431],
  [`GET /open/x HTTP/1.1\r\nHost: a\r\nX-Long: ${LONG}\r\n\r\n`]: [431],
}

test('refusals before routing have ids too, over HTTP/1.1 and HTTP/2', async (t) => {
  const { gateway } = await open(t)
  const ids = new Set<string>()
  const given = (id: unknown, name: string) => {
    assert.match(String(id), OURS, name)
    assert.ok(!ids.has(String(id)), name)
    ids.add(String(id))
  }
  for (const [head, statuses] of Object.entries(UNREADABLE)) {
    const client = await Client.connect(gateway.port)
    const answer = await client.ask(head)
    client.destroy()
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer.start)?.[1])
    assert.ok(statuses.includes(status), `${head.slice(0, 60)}: ${status}`)
    given(fieldOf(answer, 'x-request-id'), head.slice(0, 60))
  }
  const session = connect(`http://127.0.0.1:${gateway.port}`)
  t.after(() => session.close())
  const ask = (fields: Record<string, string>) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const stream = session.request(fields)
      stream.on('error', reject)
      stream.on('response', resolve)
      stream.resume()
    })
  for (const fields of [
    { ':path': '/nowhere' },
    { ':path': '/nowhere', 'content-type': 'application/grpc', te: 'trailers', ':method': 'POST' },
    { ':path': '/open/%' },
    { ':path': '/open/x', host: 'another' },
  ])
    given((await ask(fields))['x-request-id'], JSON.stringify(fields))
})

test('parts of a batch have its id', async (t) => {
  const { gateway, origin } = await open(t)
  const part = { method: 'GET', relative_url: 'x', headers: { 'X-Request-Id': 'of-the-part' } }
  const { headers, json } = await gateway.call('/open/svc/batch/', {
    method: 'POST',
    body: JSON.stringify({ requests: [part] }),
  })
  const id = headers['x-request-id']
  assert.match(String(id), OURS)
  assert.equal(origin.seen.at(-1)!.headers['x-request-id'], id)
  const [answer] = json as [{ headers: Record<string, string[]> }]
  assert.deepEqual(answer.headers['X-Request-Id'], [id])
})

test('an error in the log has the id of its request', async (t) => {
  const { gateway } = await open(t)
  const { headers } = await gateway.call('/down/x')
  const line = gateway.log.find(({ fields }) => fields.code === 'upstream_unreachable')
  assert.equal(line?.fields.request_id, headers['x-request-id'])
})

test('an id of a trusted proxy is taken only if it is one, and given once', async (t) => {
  const { gateway } = await open(t, { SVC_GW_TRUSTEDPROXIES: '127.0.0.1' })
  const idOf = async (...ids: string[]) => {
    const client = await Client.connect(gateway.port)
    const lines = ids.map((id) => `X-Request-Id: ${id}\r\n`).join('')
    const answer = await client.ask(`GET /open/x HTTP/1.1\r\nHost: a\r\n${lines}\r\n`)
    client.destroy()
    return fieldOf(answer, 'x-request-id')
  }
  const longest = 'a'.repeat(128)
  for (const id of [
    'a',
    longest,
    '4bf92f35-77b3-4da6-a3ce-929d0e0e4736',
    '1-5759e988-bd862e3fe1be46a994272793',
    'A._:+/=@~-9',
  ])
    assert.equal(await idOf(id), id)
  for (const id of ['', `${longest}a`, 'a b', 'a,b', '"a"', 'a;b', '<a>', '{a}', '%0d', 'a\\b', "a'b", '\xe4'])
    assert.match(String(await idOf(id)), OURS, id)
  assert.match(String(await idOf('one', 'two')), OURS)
})

test('the setting says who gets the id; an API that edits the field has the last word', async (t) => {
  const given: Record<string, unknown> = {}
  for (const mode of ['own', 'answers', 'all']) {
    const { gateway, origin } = await open(t, { SVC_GW_REQUESTID: mode })
    const passed = await gateway.call('/open/x', { headers: { 'X-Request-Id': 'of-client' } })
    const upstream = origin.seen.at(-1)!.headers['x-request-id']
    const own = await gateway.call('/nowhere')
    assert.match(String(own.headers['x-request-id']), OURS)
    const edited = await gateway.call('/edits/x')
    assert.equal(edited.headers['x-request-id'], 'of-the-api')
    const named = (value: unknown) => (OURS.test(String(value)) ? 'ours' : value)
    given[mode] = [named(passed.headers['x-request-id']), named(upstream)]
  }
  assert.deepEqual(given, {
    own: ['of-upstream', 'of-client'],
    answers: ['ours', 'of-client'],
    all: ['ours', 'ours'],
  })
})

test('a line of the access log has the trace of its caller, and what the settings leave', async (t) => {
  const { gateway } = await open(t, { SVC_GW_ACCESSLOGLEVEL: 'warn' })
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` }
  await gateway.call('/open/x', { headers })
  await gateway.call('/nowhere', { headers: { traceparent: 'malformed' } })
  const id = String((await gateway.call('/k/x', { headers })).headers['x-request-id'])
  await lineOf(gateway, id)
  const lines = gateway.accessLines.map((line) => JSON.parse(line))
  const about = { node: 'test-node', role: 'gateway', version: '0.0.0-test' }
  assert.partialDeepStrictEqual(lines, [
    { level: 40, path: '/nowhere', ...about },
    { level: 40, path: '/k/x', trace_id: trace, ...about },
  ])
  assert.equal(lines[0].trace_id, undefined)
})
