import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

/** The upstream's response, to distinguish it from the gateway's. */
const FORWARDED = 299

interface Explained {
  readonly api: { api_id: string; version: string } | null
  readonly key: { key_hash: string; alias: string } | null
  readonly policies: string[]
  readonly limits: { kind: string; max: number; remaining: number }[]
  readonly steps: { step: string; outcome: string; reason?: string; code?: string }[]
  readonly result: { outcome: string; status?: number; body?: JsonObject; path?: string; targets?: string[] }
}

interface Question {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
}

interface Scene {
  readonly gateway: TestGateway
  readonly origin: Origin
  readonly keys: Readonly<Record<string, string>>
  explain(question: Partial<Question>): Promise<Explained>
}

async function open(t: TestContext): Promise<Scene> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  origin.script = (_request, response) => {
    response.writeHead(FORWARDED)
    response.end()
  }
  const gateway = await startTestGateway({ env: { SVC_GW_MAXBODYBYTES: '1000' } })
  t.after(() => gateway.close())
  const cors = { enabled: true, allowedOrigins: ['https://ok.example'], allowedMethods: ['GET', 'PUT'] }
  const { url } = origin
  const apis = [
    defined({
      id: 'k',
      url,
      keyIn: 'X-Key',
      global: { cors, trafficLogs: { enabled: true } },
      paths: {
        '/free': { get: { operationId: 'free' } },
        '/shut': { get: { operationId: 'shut' } },
        '/slow': { get: { operationId: 'slow' } },
      },
      operations: {
        free: { ignoreAuthentication: { enabled: true } },
        shut: { block: { enabled: true } },
        slow: { rateLimit: { enabled: true, rate: 2, per: '60s' } },
      },
    }),
    defined({ id: 'open', url, upstream: { rateLimit: { enabled: true, rate: 5, per: '60s' } } }),
    defined({
      id: 'base',
      url,
      info: {
        versioning: {
          enabled: true,
          name: 'v1',
          default: 'v1',
          location: 'header',
          key: 'x-version',
          versions: [
            { name: 'v2', id: 'open' },
            { name: 'gone', id: 'no-such-api' },
          ],
        },
      },
    }),
    defined({
      id: 'ip',
      url,
      server: { listenPath: { value: '/ip/', strip: true }, ipAccessControl: { enabled: true, allow: ['10.0.0.0/8'] } },
    }),
    defined({
      id: 'host',
      path: '/h/',
      url,
      server: { listenPath: { value: '/h/', strip: true }, customDomain: { enabled: true, name: 'h.example' } },
    }),
    defined({ id: 'old', url, info: { expiration: '2020-01-01 00:00' } }),
    classic('v', '/v/', url, {
      definition: { location: 'url-param', key: 'ver' },
      version_data: { not_versioned: false, versions: { one: { name: 'one' }, two: { name: 'two' } } },
    }),
    defined({ id: 'off', url, info: { state: { active: false } } }),
  ]
  for (const api of apis) {
    const made = await gateway.svc('POST', 'openapi' in api ? '/svc/apis/oas' : '/svc/apis', api)
    assert.equal(made.status, 200, made.text)
  }
  await gateway.svc('POST', '/svc/policies', { id: 'p', access_rights: rights('k'), rate: 3, per: 60 })
  const sessions: Record<string, JsonObject> = {
    whole: { access_rights: rights('k'), alias: 'whole', quota_max: 4, quota_renewal_rate: 3600 },
    policied: { apply_policies: ['p'] },
    narrow: { access_rights: { k: { api_id: 'k', allowed_urls: [{ url: '^/k/only$', methods: ['GET'] }] } } },
    off: { access_rights: rights('k'), is_inactive: true },
    elsewhere: { access_rights: rights('open') },
  }
  const keys: Record<string, string> = { unknown: 'a-key-that-nobody-knows' }
  for (const [name, session] of Object.entries(sessions))
    keys[name] = ((await gateway.svc('POST', '/svc/keys', session)).json as { key: string }).key
  return {
    gateway,
    origin,
    keys,
    async explain(question) {
      const answer = await gateway.svc('POST', '/svc/explain', question)
      assert.equal(answer.status, 200, answer.text)
      return answer.json as Explained
    },
  }
}

test('what explain says is what the request then gets, whatever the request', async (t) => {
  const { gateway, keys, explain, origin } = await open(t)
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
  const questions = fc.record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'OPTIONS', 'PUT', 'HEAD'),
    api: fc.constantFrom(
      'k',
      'k',
      'k',
      'open',
      'base',
      'ip',
      'h',
      'old',
      'v',
      'off',
      'nowhere',
      'K',
      'kk',
      'hello',
      'svc',
    ),
    rest: fc.constantFrom(
      '',
      '/',
      '/x',
      '/free',
      '/shut',
      '/slow',
      '/only',
      '/free/',
      '/a/../only',
      '//only',
      '/%6Fnly',
    ),
    query: maybe(fc.constantFrom('ver=one', 'ver=three', 'ver=two&x=1', 'x-key=a')),
    key: maybe(fc.constantFrom(...Object.keys(keys))),
    version: maybe(fc.constantFrom('v1', 'v2', 'v3', 'gone', '')),
    origin: maybe(fc.constantFrom('https://ok.example', 'https://bad.example')),
    ask: maybe(fc.constantFrom('GET', 'PUT', 'DELETE')),
    host: maybe(fc.constantFrom('h.example', 'H.Example', 'h.example:80', 'other.example')),
  })
  let forwarded = 0
  let refused = 0
  const property = fc.asyncProperty(questions, async (q) => {
    const headers: Record<string, string> = { host: q.host ?? 'localhost' }
    if (q.key !== undefined) headers['x-key'] = keys[q.key]!
    if (q.version !== undefined) headers['x-version'] = q.version
    if (q.origin !== undefined) headers.origin = q.origin
    if (q.ask !== undefined) headers['access-control-request-method'] = q.ask
    const url = `/${q.api}${q.rest}${q.query === undefined ? '' : `?${q.query}`}`
    const seen = origin.seen.length
    const told = await explain({ method: q.method, url, headers })
    const again = await explain({ method: q.method, url, headers })
    assert.deepEqual(again, told, 'asking changes nothing')
    assert.equal(origin.seen.length, seen, 'nothing was sent')
    const real = await gateway.call(url, { method: q.method, headers })
    if (told.result.outcome === 'forwarded') {
      forwarded++
      assert.equal(real.status, FORWARDED, `forwarded, but the request got ${real.text}`)
      assert.equal(origin.seen.at(-1)?.target.split('?')[0], told.result.path)
      return
    }
    if (told.result.status === undefined) {
      assert.match(real.headers['cache-control'] ?? '', /no-store/, `not by the gateway itself: ${real.text}`)
      return
    }
    refused++
    assert.equal(told.result.status, real.status, `${JSON.stringify(told)} but ${real.text}`)
    if (told.result.outcome === 'refused' && q.method !== 'HEAD') assert.deepEqual(real.json, told.result.body)
  })
  await fc.assert(property, { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 5000 : 400 })
  assert.ok(forwarded > 20 && refused > 20, `${forwarded} forwarded, ${refused} refused`)
})

test('a refused request: the step, the reason, the status, and no credential', async (t) => {
  const { explain, keys } = await open(t)
  const missing = await explain({ method: 'GET', url: '/k/x' })
  assert.deepEqual(missing.result, { outcome: 'refused', status: 401, body: { error: 'Authorization field missing' } })
  assert.deepEqual(
    [missing.steps.at(-1)?.step, missing.steps.at(-1)?.outcome, missing.steps.at(-1)?.code],
    ['authenticate', 'refused', 'credential_missing'],
  )
  const known = await explain({ method: 'GET', url: '/k/x', headers: { 'X-Key': keys.whole! } })
  assert.equal(known.result.outcome, 'forwarded')
  assert.equal(known.key?.alias, 'whole')
  for (const answer of [missing, known]) assert.ok(!JSON.stringify(answer).includes(keys.whole!))
  const unknown = await explain({ method: 'GET', url: `/k/x?k=${keys.unknown}`, headers: { 'x-key': keys.unknown! } })
  assert.equal(unknown.result.status, 403)
  assert.ok(!JSON.stringify(unknown).includes(keys.unknown!))
})

test('a limited request: it is told before, and looking takes no permit', async (t) => {
  const { explain, gateway, keys } = await open(t)
  const headers = { 'x-key': keys.policied! }
  for (let i = 0; i < 10; i++) {
    const told = await explain({ url: '/k/x', headers })
    assert.equal(told.result.outcome, 'forwarded')
    assert.deepEqual(told.policies, ['p'])
    assert.deepEqual(
      told.limits.map(({ kind, max, remaining }) => [kind, max, remaining]),
      [['rate', 3, 3]],
    )
  }
  for (let i = 0; i < 3; i++) assert.equal((await gateway.call('/k/x', { headers })).status, FORWARDED)
  const told = await explain({ url: '/k/x', headers })
  assert.deepEqual([told.result.outcome, told.result.status], ['refused', 429])
  assert.equal(told.steps.at(-1)?.step, 'takePermits')
  assert.equal((await gateway.call('/k/x', { headers })).status, 429)
})

test('limits of an operation and of an organisation are among those that explain names', async (t) => {
  const { explain, gateway, keys } = await open(t)
  const told = await explain({ url: '/k/slow', headers: { 'x-key': keys.whole! } })
  assert.deepEqual(
    told.limits.map(({ kind, max }) => `${kind} ${max}`),
    ['rate 2', 'quota 4'],
  )
  const api = defined({ id: 'o', url: 'http://127.0.0.1:9/', info: { orgId: 'org1' } })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  await gateway.svc('POST', '/svc/org/keys/org1', { quota_max: 7, quota_renewal_rate: 60 })
  const org = await explain({ url: '/o/x' })
  assert.deepEqual(
    org.limits.map(({ kind, max }) => `${kind} ${max}`),
    ['quota 7'],
  )
})

test('unrouted, version-switched, preflight and foreign requests', async (t) => {
  const { explain } = await open(t)
  const lost = await explain({ url: '/nowhere' })
  assert.deepEqual([lost.api, lost.result.status, lost.steps[0]?.step], [null, 404, 'route'])
  const switched = await explain({ url: '/base/x', headers: { 'x-version': 'v2' } })
  assert.equal(switched.api?.api_id, 'open')
  assert.equal(switched.steps[0]?.step, 'chooseVersion')
  const preflight = await explain({
    method: 'OPTIONS',
    url: '/k/x',
    headers: { origin: 'https://ok.example', 'access-control-request-method': 'PUT' },
  })
  assert.deepEqual(preflight.result, { outcome: 'answered', status: 204 })
  const absolute = await explain({ url: 'https://h.example/h/x' })
  assert.equal(absolute.api?.api_id, 'host')
  const stranger = { method: 'GET', url: '/ip/x', headers: {}, address: '192.0.2.1' }
  const friend = { ...stranger, address: '10.1.2.3' }
  assert.deepEqual(
    [(await explain(stranger)).result.status, (await explain(friend)).result.outcome],
    [403, 'forwarded'],
  )
})

test('what could not be a request is refused, and so are callers without the secret', async (t) => {
  const { gateway } = await open(t)
  for (const question of [
    {},
    { url: 'k/x' },
    { url: '/k/x', method: 'G T' },
    { url: '/k/ x' },
    { url: '/k/x', headers: { 'a b': 'c' } },
    { url: '/k/x', headers: { a: 'b\r\nc: d' } },
    { url: '/k/x', headers: { host: 'a b' } },
    { url: '/k/x', headers: { 'content-length': '1', 'transfer-encoding': 'chunked' } },
    { url: '/k/x', headers: { a: 1 } },
    { url: '/k/x', address: 'not an address' },
  ]) {
    const answer = await gateway.svc('POST', '/svc/explain', question)
    assert.equal(answer.status, 400, `${JSON.stringify(question)}: ${answer.text}`)
  }
  const refused = await gateway.svc('POST', '/svc/explain', { url: '/k/x' }, { 'x-svc-authorization': 'no' })
  assert.equal(refused.status, 403)
})
