import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { type Installation, install } from '../../worlds/gateway/module-fixtures.ts'
import { deadUrl } from '../../worlds/servers/free-port.ts'

interface Note {
  readonly step: string
  readonly outcome: string
  readonly detail?: string
  readonly status?: number
  readonly code?: string
}

const NUMBER = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } }
const JSON_BODY = { content: { 'application/json': { schema: NUMBER } } }
const plugin = (functionName: string) => [{ enabled: true, functionName, path: 'm.ts', bodyLimitBytes: 100 }]
const template = Buffer.from('{"made":{{ .n }}}').toString('base64')

/** An API at `/all/` that uses every part of the breadth, and a key for it. */
async function open(
  t: TestContext,
): Promise<{ at: Installation; key: string; steps(asked: JsonObject): Promise<Note[]> }> {
  const at = await install(t)
  at.write('m.ts', 'export const act = (x: any) => x.answer(500)')
  const urls = [at.origin.url, await deadUrl()]
  const definition = defined({
    id: 'all',
    url: urls[0]!,
    keyIn: 'X-Key',
    server: { listenPath: { value: '/all/', strip: true }, batchProcessing: { enabled: true } },
    upstream: {
      loadBalancing: { enabled: true, skipUnavailableHosts: true, targets: urls.map((url) => ({ url, weight: 1 })) },
      outlierEjection: { enabled: true, consecutiveFailures: 1, maxPercent: 50 },
      retries: { enabled: true, attempts: 3 },
    },
    global: {
      pluginConfig: { driver: 'typescript' },
      ...{ prePlugins: plugin('act'), postAuthenticationPlugins: plugin('act'), postPlugins: plugin('act') },
      cache: { enabled: true, timeout: 10, cacheAllSafeRequests: true },
    },
    paths: {
      '/whole': { post: { operationId: 'whole', requestBody: JSON_BODY, responses: {} } },
      '/mock': { get: { operationId: 'mock', responses: {} } },
      '/kept': { get: { operationId: 'kept', responses: {} } },
    },
    operations: {
      whole: {
        validateRequest: { enabled: true },
        transformRequestBody: { enabled: true, format: 'json', body: template },
        transformResponseBody: { enabled: true, format: 'json', body: template },
        urlRewrite: { enabled: true, pattern: '/whole', rewriteTo: '/written' },
        transformRequestMethod: { enabled: true, toMethod: 'PUT' },
        circuitBreaker: {
          enabled: true,
          threshold: 0.5,
          sampleSize: 2,
          coolDownPeriod: 30,
          halfOpenStateEnabled: true,
        },
      },
      mock: { mockResponse: { enabled: true, code: 203, body: 'mocked' } },
      kept: { cache: { enabled: true, timeout: 10 } },
    },
  })
  const published = await at.publish(definition)
  assert.equal(published.status, 200, published.text)
  const made = await at.gateway.svc('POST', '/svc/keys/create', {
    access_rights: rights('all'),
    quota_max: 50,
    quota_renewal_rate: 60,
  })
  const { key } = made.json as { key: string }
  const steps = async (asked: JsonObject) => {
    const answer = await at.gateway.svc('POST', '/svc/explain', { headers: { 'X-Key': key }, ...asked })
    assert.equal(answer.status, 200, answer.text)
    return (answer.json as { steps: Note[] }).steps
  }
  return { at, key, steps }
}

test('explain names every step in order with its effect, and runs none', async (t) => {
  const { at, steps } = await open(t)
  const told = await steps({ method: 'POST', url: '/all/whole' })
  const hosts = [new URL(at.origin.url).host]
  assert.deepEqual(
    told.map(({ step }) => step),
    [
      ...['answerRateLimits', 'answerBatch', 'runPreModules', 'matchOperation', 'limitSize', 'authenticate'],
      ...[
        'dropUnverified',
        'checkState',
        'checkRights',
        'runPostAuthenticationModules',
        'takePermits',
        'validateRequest',
        'transformBody',
      ],
      ...['transformRequest', 'rewriteUrl', 'changeMethod', 'answerMock', 'runPostModules', 'holdAnswer'],
      ...['answerFromCache', 'checkBreaker', 'forward'],
    ],
  )
  const detail = (name: string) => told.find(({ step }) => step === name)?.detail
  assert.equal(detail('matchOperation'), 'POST /whole')
  for (const phase of ['Pre', 'PostAuthentication', 'Post'])
    assert.equal(detail(`run${phase}Modules`), 'modules are not called for an explanation')
  assert.equal(detail('validateRequest'), 'the body is not looked at for an explanation')
  assert.equal(detail('transformBody'), 'the body would be rewritten')
  assert.equal(detail('rewriteUrl'), 'to /written')
  assert.equal(detail('changeMethod'), 'to PUT')
  assert.equal(detail('holdAnswer'), 'the answer would be read whole and rewritten')
  assert.equal(detail('checkBreaker'), 'the breaker is closed')
  assert.match(
    String(detail('forward')),
    /^asks 2 of 2 targets in turn: \S+, \S+; is sent again up to 3 times, as the retry budget allows$/,
  )
  assert.ok(String(detail('forward')).includes(hosts[0]!))
  assert.equal(at.origin.seen.length, 0)
})

test('explain says what stands in the upstream place, and how the upstream stands', async (t) => {
  const { at, key, steps } = await open(t)
  const last = async (asked: JsonObject) => (await steps(asked)).at(-1)!
  assert.deepEqual(await last({ url: '/all/mock' }), { step: 'answerMock', outcome: 'answered', status: 203 })
  assert.deepEqual(await last({ method: 'POST', url: '/all/svc/batch/' }), {
    ...{ step: 'answerBatch', outcome: 'answered', status: 200 },
  })
  const limits = await steps({ url: '/all/svc/rate-limits/' })
  assert.deepEqual(limits[0], {
    step: 'answerRateLimits',
    outcome: 'led on',
    detail: 'the gateway itself answers here',
  })
  assert.deepEqual(limits.at(-1), { step: 'reportLimits', outcome: 'answered', status: 200 })
  assert.equal((await last({ url: '/all/svc/rate-limits/', headers: {} })).outcome, 'refused')

  // A module answers real requests here, so the rest is seen without modules.
  const { json } = await at.gateway.svc('GET', '/svc/apis/oas/all')
  const definition = json as { 'x-svc-api-gateway': { middleware: { global: JsonObject } } }
  const { global } = definition['x-svc-api-gateway'].middleware
  for (const list of ['prePlugins', 'postAuthenticationPlugins', 'postPlugins']) delete global[list]
  assert.equal((await at.gateway.svc('PUT', '/svc/apis/oas/all', definition as unknown as JsonObject)).status, 200)
  for (let i = 0; i < 2; i++) await at.gateway.call('/all/other', { method: 'POST', headers: { 'x-key': key } })
  assert.match(String((await last({ url: '/all/other' })).detail), /^asks 1 of 2 targets in turn: /)
  const kept = { method: 'GET', url: `http://127.0.0.1:${at.gateway.port}/all/kept` }
  assert.equal((await last(kept)).step, 'forward')
  assert.equal((await at.gateway.call('/all/kept', { headers: { 'x-key': key } })).status, 200)
  assert.deepEqual(await last(kept), { step: 'answerFromCache', outcome: 'answered', status: 200 })
  at.origin.script = (_request, response) => void response.writeHead(500).end('{}')
  const whole = { method: 'POST', headers: { 'x-key': key, 'content-type': 'application/json' }, body: '{"n":1}' }
  for (let i = 0; i < 2; i++) await at.gateway.call('/all/whole', whole)
  const stopped = await last({ method: 'POST', url: '/all/whole' })
  assert.deepEqual([stopped.step, stopped.code], ['checkBreaker', 'breaker_open'])
  const refused = await last({ method: 'POST', url: '/all/whole', headers: { 'X-Key': 'unknown-key' } })
  assert.deepEqual([refused.step, refused.code], ['authenticate', 'key_unknown'])
})

test('an API without optional features has only the basic steps', async (t) => {
  const at = await install(t)
  const off = { enabled: false }
  const bare = defined({ id: 'bare', url: at.origin.url })
  const idle = defined({
    id: 'idle',
    url: at.origin.url,
    server: {
      listenPath: { value: '/idle/', strip: true },
      batchProcessing: off,
      eventHandlers: [],
      detailedTracing: off,
    },
    upstream: {
      loadBalancing: { ...off, targets: [{ url: at.origin.url, weight: 1 }] },
      ...{ uptimeTests: off, outlierEjection: off, retries: off, mutualTLS: off, certificatePinning: off },
      serviceDiscovery: off,
    },
    global: {
      ...{
        pluginConfig: { driver: 'typescript' },
        prePlugins: [{ enabled: false, functionName: 'f', path: 'gone.ts' }],
      },
      cache: off,
      transformRequestHeaders: off,
    },
    paths: { '/x': { get: { operationId: 'x', responses: {} } } },
    operations: {
      x: {
        ...{ validateRequest: off, transformRequestBody: off, transformResponseBody: off, urlRewrite: off },
        ...{ transformRequestMethod: off, circuitBreaker: off, mockResponse: off, cache: off, requestSizeLimit: off },
      },
    },
  })
  for (const definition of [bare, idle]) {
    const published = await at.publish(definition)
    assert.equal(published.status, 200, published.text)
  }
  const { apis } = at.gateway.gateway.live.snapshot
  const [one, other] = [apis.get('bare')!, apis.get('idle')!]
  const names = (steps: readonly { readonly name: string }[]) => steps.map(({ name }) => name)
  assert.deepEqual(names(one.main.steps), ['takePermits', 'forward'])
  for (const list of ['steps', 'redirectedSteps', 'inner'] as const)
    assert.deepEqual(names(other.main[list]), names(one.main[list]), list)
  assert.equal(other.entry.length, one.entry.length)
  for (const part of ['modules', 'cache', 'responseHeaders', 'apiRate'] as const)
    assert.equal(other.main[part], undefined, part)
  assert.equal(other.main.targets.list[0]!.health, undefined)
  assert.equal(other.main.targets.asked, undefined)
  at.origin.script = (_request, response) => void response.end('ok')
  assert.equal((await at.gateway.call('/idle/x')).text, 'ok')
  const { json } = await at.gateway.svc('GET', '/svc/node')
  assert.deepEqual((json as { upstreams?: object[] }).upstreams ?? [], [])
})
