import assert from 'node:assert/strict'
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { RecordRow } from '../../../src/store/ports/records.ts'
import { call } from '../../worlds/base/client.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { calling, install } from '../../worlds/gateway/module-fixtures.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** Every name under which the secret of the administration may arrive, in the spellings that an upstream takes for it. */
const NAMES = [
  'X-Svc-Authorization',
  'x-svc-AUTHORIZATION',
  'X_Svc_Authorization',
  'X-Old-Authorization',
  'x_old-authorization',
  'X-Unset-Authorization',
  'Admin-Auth',
  'admin_auth',
  'X.Svc.Authorization',
  'x!old-authorization',
  'admin.auth',
]
/** However the secret is given. */
const GIVEN = [
  TEST_SECRET,
  `Bearer ${TEST_SECRET}`,
  `"${TEST_SECRET}"`,
  `other, ${TEST_SECRET}`,
  `Secret key="${TEST_SECRET}"`,
]
const ENV = { SVC_COMPAT_VENDORALIASES: 'old' }
const CREDENTIAL = 'credential-of-the-caller'

const REWRITE: JsonObject = {
  enabled: true,
  pattern: '^(.*)$',
  rewriteTo: '$1',
  triggers: [
    {
      condition: 'any',
      rules: NAMES.map((name) => ({ in: 'header', name, pattern: '^(.+)$' })),
      rewriteTo: '/triggered/$svc_context.trigger-0-X_Svc_Authorization-0',
    },
  ],
}
const NAMED = NAMES.filter((name) => /[_.!]/.test(name))
const OPERATION = { '/open': { get: { operationId: 'open' } } }
const STRIPPED = { stripAuthorizationData: true }

async function world(t: TestContext) {
  const origin = await startOrigin()
  const store = openMemoryStore()
  const gateway = await startTestGateway({ store, env: ENV, accessLog: true })
  t.after(async () => {
    await gateway.close()
    await origin.close()
    await store.close()
  })
  const { url } = origin
  const global = {
    trafficLogs: { enabled: true, tagHeaders: NAMES },
    detailedActivityLogs: { enabled: true },
  }
  const operations = { open: { ignoreAuthentication: { enabled: true } } }
  for (const api of [
    defined({ id: 'plain', url, global }),
    defined({ id: 'rewritten', url, global, paths: OPERATION, operations: { open: { urlRewrite: REWRITE } } }),
    defined({
      ...{ id: 'guarded', url, keyIn: 'X-Key', global, paths: OPERATION, operations },
      authentication: STRIPPED,
    }),
    withOperations(oauthApi(url, { id: 'tokened', paths: OPERATION }), operations),
    // Fields with other punctuation are shown to an API that reads its credential from them.
    ...NAMED.map((keyIn, i) => defined({ id: `named-${i}`, url, keyIn, global, paths: OPERATION, operations })),
    defined({ id: 'batched', url, global, server: { batchProcessing: { enabled: true } } }),
    defined({
      id: 'inner',
      url,
      global,
      keyIn: 'X-Key',
      authentication: STRIPPED,
      info: { state: { active: true, internal: true } },
    }),
    defined({ id: 'outer', url: 'svc://inner/', global }),
  ]) {
    const made = await gateway.svc('POST', '/svc/apis/oas', api)
    assert.equal(made.status, 200, made.text)
  }
  return { gateway, origin, store }
}

function withOperations(api: JsonObject, operations: JsonObject): JsonObject {
  const extension = api['x-svc-api-gateway'] as JsonObject
  return { ...api, 'x-svc-api-gateway': { ...extension, middleware: { operations } } }
}

type Send = (port: number, path: string, headers: Record<string, string>) => Promise<unknown>

const WAYS: Readonly<Record<string, Send>> = {
  'HTTP/1.1': (port, path, headers) => call(port, path, { headers }),
  'a WebSocket': (port, path, headers) =>
    call(port, path, {
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', ...headers },
    }),
  'HTTP/2': overHttp2,
  'a batch': (port, path, headers) =>
    call(port, '/batched/svc/batch/', {
      method: 'POST',
      headers,
      body: JSON.stringify({ requests: [{ method: 'GET', relative_url: path.slice(1), headers }] }),
    }),
}

function overHttp2(port: number, path: string, headers: Record<string, string>): Promise<void> {
  const lower: OutgoingHttpHeaders = { ':path': path }
  for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    session.on('error', reject)
    const stream = session.request(lower)
    stream.on('error', reject)
    stream.resume()
    stream.on('end', () => session.close(() => resolve()))
    stream.end()
  })
}

for (const [way, send] of Object.entries(WAYS)) {
  test(`over ${way} no upstream, tag or record gets a secret that is meant for the gateway`, async (t) => {
    const { gateway, origin, store } = await world(t)
    const named = NAMED.map((_, i) => `/named-${i}/open`)
    for (const path of ['/plain/x', '/rewritten/open', '/guarded/open', '/tokened/open', '/outer/x', ...named]) {
      for (const [i, name] of NAMES.entries())
        await send(gateway.port, path, { [name]: GIVEN[i % GIVEN.length]!, 'X-Else-Authorization': 'Bearer theirs' })
      for (const given of GIVEN)
        await send(gateway.port, path, { 'X-Unset-Authorization': given, 'X-Else-Authorization': 'theirs' })
    }
    assert.ok(origin.seen.length > NAMES.length)
    for (const { target, rawHeaders } of origin.seen) {
      const seen = `${target} ${rawHeaders.join(' ')}`
      assert.ok(!seen.includes(TEST_SECRET), seen)
      // what only looks alike is the upstream's
      assert.ok(
        rawHeaders.some((text) => text.toLowerCase() === 'x-else-authorization'),
        seen,
      )
    }
    await gateway.gateway.stop()
    const rows = (await store.records.after({ after: 0, limit: 1000 })) as RecordRow[]
    assert.ok(rows.length > 0)
    for (const row of rows) {
      const { detail } = row
      const kept =
        JSON.stringify(row) + Buffer.from(detail?.request ?? []).toString() + Buffer.from(detail?.response ?? [])
      assert.ok(!kept.includes(TEST_SECRET), kept)
    }
    assert.ok(!gateway.accessLines.join('\n').includes(TEST_SECRET))
    assert.ok(!JSON.stringify(gateway.log).includes(TEST_SECRET))
  })
}

test('a stripped credential reaches no upstream on any way of the request', async (t) => {
  const { gateway, origin } = await world(t)
  for (const path of ['/guarded/open', '/outer/x']) {
    const { status } = await gateway.call(path, { headers: { 'X-Key': CREDENTIAL, Cookie: 'a=b' } })
    assert.equal(status, 200, path)
  }
  for (const { target, rawHeaders } of origin.seen) {
    assert.ok(!rawHeaders.includes(CREDENTIAL), target)
    assert.equal(rawHeaders.filter((text) => text.toLowerCase() === 'cookie').length, 1, target)
  }
})

test('no module sees them, whatever it is called for', async (t) => {
  const { gateway, origin, publish, write } = await install(t, ENV)
  write(
    'm.ts',
    `export function show(x) { x.headers.set('x-shown', [...x.headers].join('|').replaceAll(/[\\r\\n]/g, '')) }`,
  )
  const made = await publish(calling(origin.url, { pre: ['show'], post: ['show'] }))
  assert.equal(made.status, 200, made.text)
  for (const name of NAMES) {
    const { status, text } = await gateway.call('/m/x', { headers: { [name]: TEST_SECRET } })
    assert.equal(status, 200, text)
  }
  for (const { rawHeaders } of origin.seen) assert.ok(!rawHeaders.join(' ').includes(TEST_SECRET), rawHeaders.join(' '))
})
