import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { readTraceContext, withTraceContext } from '../../../src/gateway/telemetry/trace-context.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Collector, type SeenSpan, startCollector } from '../../worlds/servers/collector.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const SERVER = 2
const CLIENT = 3
const INTERNAL = 1

interface Scene {
  readonly gateway: TestGateway
  readonly origin: Origin
  readonly collector: Collector
  /** Spans of a kind, once there are so many. */
  spans(kind: number, count: number): Promise<SeenSpan[]>
}

async function open(
  t: TestContext,
  env: Record<string, string>,
  ...apis: ((url: string) => JsonObject)[]
): Promise<Scene> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const collector = await startCollector()
  const gateway = await startTestGateway({
    env: {
      SVC_OPENTELEMETRY_ENABLED: 'true',
      SVC_OPENTELEMETRY_ENDPOINT: collector.url,
      SVC_OPENTELEMETRY_EXPORTINTERVALMS: '20',
      SVC_OPENTELEMETRY_TIMEOUTMS: '20000',
      ...env,
    },
  })
  t.after(async () => {
    // Pending spans are exported, or it would retry for as long as it may.
    await gateway.close()
    await collector.close()
  })
  for (const api of apis) {
    const definition = api(origin.url)
    const made = await gateway.svc('POST', 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis', definition)
    assert.equal(made.status, 200, made.text)
  }
  const spans: Scene['spans'] = async (kind, count) => {
    const found = () => collector.spans.filter((span) => span.kind === kind)
    await eventually(`${count} spans of kind ${kind}`, () => found().length >= count)
    return found()
  }
  return { gateway, origin, collector, spans }
}

const orders = (url: string) =>
  defined({
    id: 'orders',
    url,
    paths: { '/items/{id}': { get: { operationId: 'item' } } },
    operations: { item: { trackEndpoint: { enabled: true } } },
  })

test('a trace goes from caller through gateway to upstream, each the parent of the next', async (t) => {
  const { gateway, origin, collector, spans } = await open(t, {}, orders)
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'vendor=a, other=b' }
  assert.equal((await gateway.call('/orders/items/7?page=2', { headers })).status, 200)
  const [server] = await spans(SERVER, 1)
  const [client] = await spans(CLIENT, 1)
  assert.equal(server!.traceId, TRACE)
  assert.equal(server!.parentSpanId, SPAN)
  assert.equal(server!.traceState, 'vendor=a,other=b')
  assert.equal(client!.parentSpanId, server!.spanId)
  assert.equal(origin.seen[0]!.headers.traceparent, `00-${TRACE}-${client!.spanId}-01`)
  assert.equal(origin.seen[0]!.headers.tracestate, 'vendor=a,other=b')
  assert.equal(origin.seen[0]!.rawHeaders.filter((name) => /^trace/i.test(name)).length, 2)
  assert.equal(server!.name, 'GET /orders/items/{id}')
  assert.ok(server!.startMs <= client!.startMs && client!.endMs <= server!.endMs + 1)
  assert.ok(Math.abs(Date.now() - server!.startMs) < 60_000, 'times are those of the wall')
  const { 'gatehouse.request.id': _id, ...told } = server!.attributes
  assert.deepEqual(told, {
    'http.request.method': 'GET',
    'url.scheme': 'http',
    'url.path': '/orders/items/7',
    'server.address': '127.0.0.1',
    'client.address': '127.0.0.1',
    'network.protocol.version': '1.1',
    'http.response.status_code': 200,
    'http.route': '/orders/items/{id}',
    'gatehouse.api.id': 'orders',
    'gatehouse.api.version': 'Non Versioned',
  })
  assert.deepEqual(client!.attributes, {
    'http.request.method': 'GET',
    'server.address': '127.0.0.1',
    'server.port': origin.port,
    'url.scheme': 'http',
    'url.full': `${origin.url}/`,
    'network.protocol.version': '1.1',
    'http.response.status_code': 200,
  })
  assert.equal(collector.resource['service.name'], 'gatehouse')
  assert.equal(collector.resource['service.instance.id'], 'test-node')
})

test('a malformed trace context is dropped, and a new trace begins', async (t) => {
  const { gateway, origin, spans } = await open(t, {}, orders)
  const bad = [
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}`,
    'x',
  ]
  for (const traceparent of bad) await gateway.call('/orders/a', { headers: { traceparent, tracestate: 'a=b' } })
  const seen = await spans(SERVER, bad.length)
  assert.ok(seen.every((span) => span.parentSpanId === '' && span.traceId !== TRACE && span.traceState === ''))
  assert.ok(
    origin.seen.every(({ headers }) => !headers.traceparent!.includes(TRACE) && headers.tracestate === undefined),
  )
})

test('whatever stands in the two fields, what is read of them is valid', () => {
  const hex = (length: number) =>
    fc.oneof(fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)), fc.constant('0'.repeat(length)))
  const parent = fc.oneof(
    fc.string(),
    fc.tuple(hex(2), hex(32), hex(16), hex(2)).map((parts) => parts.join('-')),
    fc.constant(`00-${TRACE}-${SPAN}-01`),
  )
  const state = fc.oneof(fc.string(), fc.constantFrom('a=1', 'a=1,b=2', 'a=1,a=2', 'A=1', '1a@v=x', 'a=', 'a=b=c'))
  fc.assert(
    fc.property(fc.array(parent, { maxLength: 2 }), fc.array(state, { maxLength: 3 }), (parents, states) => {
      const read = readTraceContext(parents, states)
      if (parents.length !== 1) assert.equal(read, undefined)
      if (read === undefined) return
      const head = withTraceContext('GET / HTTP/1.1\r\nHost: a\r\nTraceParent: x\r\nTRACESTATE: y\r\n', read)
      assert.match(
        head,
        /^GET \/ HTTP\/1\.1\r\nHost: a\r\ntraceparent: 00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]\r\n(?:tracestate: [\x20-\x7e]{3,512}\r\n)?$/,
      )
      assert.deepEqual(readTraceContext([parents[0]!], read.traceState === '' ? [] : [read.traceState]), read)
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 500 },
  )
})

test('each attempt to reach an upstream has a span of its own', async (t) => {
  const dead = await startOrigin()
  await dead.close()
  const balanced = (url: string) => {
    const definition = classic('two', '/two/', dead.url)
    const proxy = { ...(definition.proxy as JsonObject), enable_load_balancing: true, target_list: [dead.url, url] }
    return { ...definition, proxy }
  }
  const { gateway, origin, spans } = await open(t, {}, balanced)
  assert.equal((await gateway.call('/two/a')).status, 200)
  const clients = await spans(CLIENT, 2)
  const [server] = await spans(SERVER, 1)
  const failed = clients.find(({ attributes }) => attributes['server.port'] === dead.port)!
  const good = clients.find(({ attributes }) => attributes['server.port'] === origin.port)!
  assert.equal(failed.attributes['error.type'], 'upstream_unreachable')
  assert.equal(failed.status, 2)
  assert.equal(good.attributes['http.request.resend_count'], 1)
  assert.ok(clients.every(({ parentSpanId }) => parentSpanId === server!.spanId))
  assert.equal(String(origin.seen[0]!.headers.traceparent).split('-')[2], good.spanId)
  assert.equal(server!.status, 0)
})

test('refusals, faults of the upstream and paths that nobody answers are told as what they are', async (t) => {
  const { gateway, origin, spans } = await open(t, {}, (url) => defined({ id: 'k', url, keyIn: 'X-Key' }), orders)
  origin.script = (_, response) => response.writeHead(503).end()
  assert.equal((await gateway.call('/k/a')).status, 401)
  assert.equal((await gateway.call('/orders/a')).status, 503)
  assert.equal((await gateway.call('/nobody/here')).status, 404)
  assert.equal((await gateway.svc('GET', '/svc/keys/some-key-of-somebody')).status, 404)
  const seen = await spans(SERVER, 3)
  const of = (status: number) => seen.find((span) => span.attributes['http.response.status_code'] === status)!
  assert.equal(of(401).attributes['gatehouse.fault'], 'credential_missing')
  assert.equal(of(401).attributes['error.type'], undefined)
  assert.equal(of(503).attributes['error.type'], '503')
  assert.equal(of(503).status, 2)
  assert.equal(of(404).attributes['http.route'], undefined)
  assert.equal(of(404).attributes['url.path'], undefined)
  assert.equal(of(404).name, 'GET')
  assert.equal(seen.length, 3, 'the product itself is not traced')
})

test('no byte that goes to the collector holds a secret of a request', async (t) => {
  const { gateway, collector, spans } = await open(
    t,
    { SVC_OPENTELEMETRY_HEADERS: 'X-Collector=of-the-collector' },
    (url) => defined({ id: 'k', url, keyIn: 'X-Key', server: { detailedTracing: { enabled: true } } }),
    (url) => ({ ...classic('q', '/q/', url), use_keyless: false, auth: { use_param: true, param_name: 'k' } }),
  )
  const secret = fc.stringMatching(/^[a-zA-Z0-9]{16,24}$/).map((text) => `Zz9${text}`)
  let requests = 0
  await fc.assert(
    fc.asyncProperty(fc.tuple(secret, secret, secret, secret, secret), async ([a, b, c, d, e]) => {
      const from = collector.bytes.length
      const headers = { 'X-Key': a, Authorization: `Bearer ${b}`, Cookie: `sid=${c}`, 'User-Agent': d }
      await gateway.call(`/k/${a}/x?access_token=${d}&other=${e}`, { headers, method: 'POST', body: `{"x":"${e}"}` })
      await gateway.call(`/q/${b}?k=${b}`, { headers: { 'X-Secret': c } })
      await gateway.call(`/nobody/${e}?x=${a}`, { headers })
      await gateway.svc('GET', `/svc/keys/${c}`)
      await gateway.call(`/k/eyJhbGciOiJub25lIn0.${d}.${e}`, { headers })
      requests += 4
      await spans(SERVER, requests)
      const sent = collector.bytes.slice(from).join('\n')
      for (const each of [a, b, c, d, e]) assert.ok(!sent.includes(each), `${each} of ${[a, b, c, d, e]}`)
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 300 : 10 },
  )
  assert.ok(collector.bytes.some((bytes) => bytes.includes('X-Collector of-the-collector')))
  const settings = JSON.stringify([gateway.log, (await gateway.svc('GET', '/metrics')).text])
  assert.ok(!settings.includes('of-the-collector'))
})

test('metrics follow the conventions, without series from callers’ input', async (t) => {
  const { gateway, origin, collector } = await open(t, {}, orders)
  for (const path of ['/orders/items/1', '/orders/items/2', '/nobody/a', '/nobody/b']) await gateway.call(path)
  await gateway.call('/orders/a', { method: 'BREW' })
  const points = (name: string) => collector.points.filter((point) => point.name === name)
  const served = () => points('http.server.request.duration')
  await eventually('all are measured', () => served().reduce((sum, { count }) => sum + count, 0) === 5)
  const items = served().find(({ attributes }) => attributes['http.route'] === '/orders/items/{id}')!
  assert.equal(items.count, 2)
  assert.equal(items.unit, 's')
  assert.ok(items.value > 0 && items.value < 10)
  assert.deepEqual(items.bounds, [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10])
  assert.equal(served().length, 3)
  assert.ok(served().some(({ attributes }) => attributes['http.request.method'] === '_OTHER'))
  const asked = points('http.client.request.duration')
  assert.ok(asked.every(({ attributes }) => attributes['server.port'] === origin.port))
  await eventually('none is under way', () => points('http.server.active_requests').every(({ value }) => value === 0))
  assert.ok(points('http.server.active_requests').length > 0)
  assert.equal(points('gatehouse.apis_loaded')[0]!.value, 1)
})

test('the sampling ratio applies to traces that begin here; the upstream gets the decision', async (t) => {
  const { gateway, origin, spans } = await open(t, { SVC_OPENTELEMETRY_SAMPLINGRATIO: '0' }, orders)
  await gateway.call('/orders/a')
  await gateway.call('/orders/b', { headers: { traceparent: `00-${TRACE}-${SPAN}-00` } })
  await gateway.call('/orders/c', { headers: { traceparent: `00-${TRACE}-${SPAN}-01` } })
  const seen = await spans(SERVER, 1)
  assert.deepEqual(
    seen.map(({ attributes }) => attributes['url.path']),
    ['/orders/c'],
  )
  assert.deepEqual(
    origin.seen.map(({ headers }) => headers.traceparent!.slice(-2)),
    ['00', '00', '01'],
  )
  assert.ok(origin.seen[1]!.headers.traceparent!.includes(TRACE))
})

test('an API with detailed tracing shows its steps, by the names that explain tells', async (t) => {
  const detailed = (url: string) => ({
    ...classic('d', '/d/', url),
    use_keyless: false,
    auth: { auth_header_name: 'X-Key' },
    detailed_tracing: true,
  })
  const { gateway, spans } = await open(t, {}, detailed, orders)
  const made = await gateway.svc('POST', '/svc/keys', { access_rights: rights('d') })
  const { key } = made.json as { key: string }
  assert.equal((await gateway.call('/d/a', { headers: { 'X-Key': key } })).status, 200)
  assert.equal((await gateway.call('/d/a')).status, 401)
  await gateway.call('/orders/a')
  const servers = await spans(SERVER, 3)
  const steps = await spans(INTERNAL, 4)
  const of = (status: number) => {
    const server = servers.find(
      ({ attributes }) => attributes['gatehouse.api.id'] === 'd' && attributes['http.response.status_code'] === status,
    )!
    return steps.filter(({ parentSpanId }) => parentSpanId === server.spanId)
  }
  const explained = await gateway.svc('POST', '/svc/explain', { method: 'GET', url: '/d/a', headers: { 'X-Key': key } })
  const told = (explained.json as { steps: { step: string }[] }).steps.map(({ step }) => step)
  assert.deepEqual(
    of(200).map(({ name }) => name),
    told,
  )
  assert.deepEqual(
    of(401).map(({ name, attributes }) => [name, attributes['gatehouse.fault']]),
    [
      ['answerRateLimits', undefined],
      ['authenticate', 'credential_missing'],
    ],
  )
  const ofOrders = servers.find(({ attributes }) => attributes['gatehouse.api.id'] === 'orders')!
  assert.ok(!steps.some(({ parentSpanId }) => parentSpanId === ofOrders.spanId), 'others show none')
})

test('parts of a batch belong to its trace, whatever they say themselves', async (t) => {
  const batched = (url: string) => defined({ id: 'b', url, server: { batchProcessing: { enabled: true } } })
  const { gateway, origin, spans } = await open(t, {}, batched)
  const requests = [
    { method: 'GET', relative_url: 'one', headers: { traceparent: `00-${'1'.repeat(32)}-${SPAN}-01` } },
    { method: 'GET', relative_url: 'two' },
  ]
  const headers = { traceparent: `00-${TRACE}-${SPAN}-01` }
  const body = JSON.stringify({ requests })
  assert.equal((await gateway.call('/b/svc/batch/', { method: 'POST', headers, body })).status, 200)
  const servers = await spans(SERVER, 3)
  assert.ok(servers.every(({ traceId }) => traceId === TRACE))
  const whole = servers.find(({ parentSpanId }) => parentSpanId === SPAN)!
  assert.equal(servers.filter(({ parentSpanId }) => parentSpanId === whole.spanId).length, 2)
  assert.ok(origin.seen.every((seen) => String(seen.headers.traceparent).includes(TRACE)))
})

for (const [how, script] of [
  ['hangs', () => {}],
  ['refuses', (response) => void response.writeHead(400).end()],
] as [string, Collector['script']][]) {
  test(`a collector that ${how} costs requests nothing: spans are dropped and counted`, async (t) => {
    const env = { SVC_OPENTELEMETRY_MAXQUEUESPANS: '10', SVC_OPENTELEMETRY_TIMEOUTMS: '60' }
    const { gateway, collector } = await open(t, env, orders)
    collector.script = script
    for (let n = 0; n < 30; n++) assert.equal((await gateway.call(`/orders/${n}`)).status, 200)
    const dropped = async () =>
      Number(/^svc_spans_dropped_total (\d+)/m.exec((await gateway.svc('GET', '/metrics')).text)?.[1] ?? 0)
    await eventually('all are dropped', async () => (await dropped()) === 60)
    collector.script = undefined
    // One of them: a machine that does much besides may be too slow for the bound.
    await eventually('the next are sent', async () => {
      await gateway.call('/orders/after')
      return collector.spans.some(({ attributes }) => attributes['url.path'] === '/orders/after')
    })
  })
}

test('the packages of OpenTelemetry are loaded where it is switched on, and nowhere else', async () => {
  const script = `
    import { registerHooks } from 'node:module'
    const asked = []
    const note = (name, context, next) => (asked.push(name), next(name, context))
    registerHooks({ resolve: note })
    const ours = () => asked.filter((name) => name.startsWith('@opentelemetry/')).length
    await import('./src/gateway/server/gateway.ts')
    const before = ours()
    await import('./src/gateway/telemetry/open.ts')
    console.log(before, ours() > 0)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(import.meta.dirname, '../../..'),
  })
  assert.equal(stdout.trim(), '0 true')
})

test('switched off, trace fields pass as they came, and nothing is sent', async (t) => {
  const { gateway, origin, collector } = await open(t, { SVC_OPENTELEMETRY_ENABLED: 'false' }, orders)
  await gateway.call('/orders/a', { headers: { traceparent: 'as it came', tracestate: 'too' } })
  assert.equal(origin.seen[0]!.headers.traceparent, 'as it came')
  assert.equal(origin.seen[0]!.headers.tracestate, 'too')
  assert.equal(collector.bytes.length, 0)
  assert.ok(!(await gateway.svc('GET', '/metrics')).text.includes('svc_spans'))
})
