import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call } from '../../worlds/base/client.ts'
import { startTestGateway, TEST_SECRET, type TestGateway } from '../../worlds/base/harness.ts'
import { oasApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { freePort } from '../../worlds/servers/free-port.ts'

async function start(t: TestContext, env: Record<string, string> = {}): Promise<TestGateway> {
  const gate = await startTestGateway({ env })
  t.after(() => gate.close())
  return gate
}

const seen = (answer: { json: unknown }) => answer.json as JsonObject
const NO_SECRET = { status: 'error', message: 'Attempted administrative access with invalid or missing key!' }

test('a path that cannot be read is refused in the form of all refusals of the administration', async (t) => {
  const gate = await start(t)
  const headers = { 'x-svc-authorization': TEST_SECRET }
  for (const path of ['/svc/keys/%zz', '/svc/keys/%ff', '/svc/keys/%00', '/svc/keys/a%', '/svc/../../a'])
    for (const method of ['GET', 'POST', 'DELETE']) {
      const { status, json } = await gate.call(path, { method, headers })
      assert.deepEqual(
        [status, seen({ json }).status, Object.keys(seen({ json }))],
        [400, 'error', ['status', 'message']],
        path,
      )
    }
  const traffic = await gate.call('/svcs/keys/%zz')
  assert.deepEqual([traffic.status, Object.keys(seen(traffic))], [400, ['error']])
})

test('without the right secret every path below /svc looks the same', async (t) => {
  const gate = await start(t)
  for (const path of [
    '/svc',
    '/svc/',
    '/svc/keys',
    '/svc/keys/abc',
    '/svc/nothing/here',
    '/svc/apis/../keys',
    '/svc/keys/%2e%2e/apis',
    '//svc//keys',
    '/metrics',
  ]) {
    for (const headers of [
      {},
      { 'x-svc-authorization': '' },
      { 'x-svc-authorization': `${TEST_SECRET}x` },
      { authorization: TEST_SECRET },
    ] as Record<string, string>[]) {
      for (const method of ['GET', 'POST', 'BREW']) {
        const refused = await gate.call(path, { method, headers })
        assert.deepEqual([refused.status, refused.json], [403, NO_SECRET], `${method} ${path}`)
      }
    }
  }
  assert.ok(gate.log.some(({ level, fields }) => level === 'warn' && fields.code === 'admin_secret_wrong'))
  assert.ok(!JSON.stringify(gate.log).includes(TEST_SECRET))
})

test('answers are JSON, never stored, and carry a request id', async (t) => {
  const gate = await start(t)
  for (const answer of [
    await gate.svc('GET', '/svc/keys'),
    await gate.svc('GET', '/svc/nothing'),
    await gate.svc('PUT', '/svc/keys'),
    await gate.call('/svc/keys'),
    await gate.call('/hello'),
    await gate.call('/ready'),
  ]) {
    assert.equal(answer.headers['content-type'], 'application/json')
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.match(
      String(answer.headers['x-request-id']),
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  }
})

test('paths that are none, and methods that a path has not', async (t) => {
  const gate = await start(t)
  for (const path of [
    '/svc',
    '/svc/',
    '/svc/nothing',
    '/svc/keys/a/b',
    '/svc/keys/policy/a/b',
    '/svc/apis/a/b',
    '/svc/apis/oas/a/b',
    '/svc/KEYS',
    '/svc/org',
  ]) {
    const missing = await gate.svc('GET', path)
    assert.deepEqual([missing.status, missing.json], [404, { status: 'error', message: 'Not found' }], path)
  }
  for (const [method, path, allow] of [
    ['DELETE', '/svc/keys', 'GET, POST'],
    ['PATCH', '/svc/keys/abc', 'GET, POST, PUT, DELETE'],
    ['GET', '/svc/keys/preview', 'POST'],
    ['POST', '/svc/reload', 'GET'],
    ['PUT', '/svc/policies', 'GET, POST'],
    ['DELETE', '/svc/certs', 'POST, GET'],
    ['POST', '/svc/apis/oas/export', 'GET'],
    ['BREW', '/svc/apis', 'GET, POST'],
    ['OPTIONS', '/svc/apis', 'GET, POST'],
    ['POST', '/hello', 'GET'],
    ['DELETE', '/ready', 'GET'],
  ] as const) {
    const refused = await gate.svc(method, path)
    assert.deepEqual(
      [refused.status, refused.json],
      [405, { status: 'error', message: 'Method not supported' }],
      `${method} ${path}`,
    )
    assert.equal(refused.headers.allow, allow)
  }
  const head = await gate.svc('HEAD', '/svc/keys')
  assert.deepEqual([head.status, head.text], [200, ''])
})

test('path tricks lead where the plain path leads, and encoded slashes stay within a name', async (t) => {
  const gate = await start(t)
  assert.deepEqual((await gate.svc('GET', '/svc/keys/../apis')).json, [])
  assert.deepEqual((await gate.svc('GET', '/svc//policies//')).json, [])
  assert.equal((await gate.svc('GET', '/svc/keys/..%2Fapis')).status, 400)
  assert.equal(seen(await gate.svc('GET', '/svc/keys/a..%2Fapis')).message, 'Key not found')
  assert.equal(seen(await gate.svc('GET', '/svc/keys/a%2Fb%3Fc%23d')).message, 'Key not found')
  assert.equal((await gate.svc('GET', '/svc/keys/%C3%28')).status, 400)
  assert.equal((await gate.svc('GET', '/svcx/keys')).status, 404)
  assert.deepEqual((await gate.call('/svcx/keys')).json, { error: 'Not Found' })
})

const WRITES = [
  ['POST', '/svc/keys'],
  ['POST', '/svc/keys/create'],
  ['POST', '/svc/keys/preview'],
  ['POST', '/svc/keys/a-long-custom-key-0'],
  ['POST', '/svc/keys/policy/abc'],
  ['POST', '/svc/policies'],
  ['POST', '/svc/apis'],
  ['POST', '/svc/apis/oas'],
  ['POST', '/svc/apis/oas/import'],
  ['POST', '/svc/org/keys/one'],
  ['POST', '/svc/explain'],
] as const

for (const [method, path] of WRITES) {
  test(`${method} ${path} refuses what is no JSON object`, async (t) => {
    const gate = await start(t)
    const { revision } = seen(await gate.svc('GET', '/svc/node'))
    for (const [body, reason] of [
      ['', /empty/],
      ['   ', /empty/],
      ['{', /not JSON/],
      ['{"a":1}x', /not JSON/],
      ['[]', /not a JSON object/],
      ['null', /not a JSON object/],
      ['"text"', /not a JSON object/],
      ['7', /not a JSON object/],
      [`{"a":${'['.repeat(200)}${']'.repeat(200)}}`, /deeper/],
      [`${'['.repeat(300_000)}`, /deeper/],
      [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, /deeper/],
      ['{"__proto__":{"polluted":true}}', /__proto__/],
      ['{"a":[{"\\u005f_proto__":1}]}', /__proto__/],
    ] as const) {
      const refused = await gate.svc(method, path, body)
      assert.equal(refused.status, 400, `${body.slice(0, 40)}: ${refused.text}`)
      assert.equal(seen(refused).status, 'error')
      assert.match(String(seen(refused).message), reason, body.slice(0, 40))
    }
    assert.equal(({} as JsonObject).polluted, undefined)
    const state = await gate.svc('GET', '/svc/node')
    assert.equal(seen(state).revision, revision)
  })
}

test('bodies have bounds: 1 MiB, and 16 MiB for definitions', async (t) => {
  const gate = await start(t)
  const filled = (bytes: number) => JSON.stringify({ filler: 'x'.repeat(bytes) })
  assert.equal((await gate.svc('POST', '/svc/keys', filled(1_100_000))).status, 413)
  assert.equal((await gate.svc('POST', '/svc/apis', filled(17_000_000))).status, 413)
  const large = { ...oasApi('Large', '/large/', { id: 'large' }), 'x-filler': 'x'.repeat(2_000_000) }
  assert.equal((await gate.svc('POST', '/svc/apis/oas', large)).status, 200)
  assert.equal((await gate.svc('POST', '/svc/apis', '{"a":"\xff'.concat('"}'), {})).status, 400)
  assert.equal((await gate.call('/large/')).status, 502)
})

test('bytes that are no UTF-8 are refused', async (t) => {
  const gate = await start(t)
  const headers = { 'x-svc-authorization': TEST_SECRET, 'content-length': '3' }
  const refused = await fetch(`http://127.0.0.1:${gate.port}/svc/keys`, {
    method: 'POST',
    headers: { 'x-svc-authorization': headers['x-svc-authorization'] },
    body: Buffer.from([0x22, 0xff, 0x22]),
  })
  assert.equal(refused.status, 400)
  assert.match(await refused.text(), /UTF-8/)
})

test('the body is JSON whatever its Content-Type says', async (t) => {
  const gate = await start(t)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    assert.equal(
      (await gate.svc('POST', '/svc/keys', { access_rights: rightsOn('a') }, { 'content-type': type })).status,
      200,
      type,
    )
  }
})

test('neither keys nor secrets reach the log', async (t) => {
  const gate = await start(t)
  const key = 'raw-key-of-somebody'
  await gate.svc('POST', `/svc/keys/${key}`, { access_rights: rightsOn('a') })
  await gate.svc('GET', `/svc/keys/${key}`)
  await gate.call(`/svc/keys/${key}`, { headers: { 'x-svc-authorization': 'wrong-secret-sent' } })
  const text = JSON.stringify(gate.log)
  assert.ok(!text.includes(key) && !text.includes('wrong-secret-sent') && !text.includes(TEST_SECRET))
})

test('/hello and /ready are open; /ready fails with a cause', async (t) => {
  const gate = await start(t)
  const hello = await gate.call('/hello/')
  assert.equal(hello.status, 200)
  const time = new Date(gate.clock.wall()).toISOString()
  assert.deepEqual(hello.json, {
    status: 'pass',
    version: '0.0.0-test',
    description: 'Gatehouse',
    details: { store: { status: 'pass', componentType: 'datastore', time } },
  })
  assert.equal((await gate.call('/ready')).status, 200)
  await gate.store.close()
  assert.equal((await gate.call('/hello')).status, 200)
  assert.equal((await gate.call('/hello/more')).status, 404)
  assert.equal((await gate.call('/helloo')).status, 404)
})

test('with a control port, the administration is on it alone', async (t) => {
  const gate = await startApart(t)
  const control = gate.gateway.controlPort!
  for (const path of ['/svc/keys', '/svc', '/metrics', '/svc/apis/oas']) {
    const hidden = await call(gate.port, path, { headers: { 'x-svc-authorization': TEST_SECRET } })
    assert.deepEqual([hidden.status, hidden.json], [404, { error: 'Not Found' }], path)
  }
  for (const port of [gate.port, control]) {
    assert.equal((await call(port, '/hello')).status, 200)
    assert.equal((await call(port, '/ready')).status, 200)
  }
  const metrics = await call(control, '/metrics')
  assert.equal(metrics.status, 200)
  assert.match(metrics.text, /svc_http_requests_total/)
  assert.equal((await call(control, '/svc/keys')).status, 403)
  assert.equal((await gate.svc('GET', '/svc/keys')).status, 200)
  await gate.svc('POST', '/svc/apis/oas', oasApi('O', '/o/'))
  assert.deepEqual([(await call(gate.port, '/o/')).status, (await call(control, '/o/')).status], [502, 404])
})

test('without one, metrics need the secret', async (t) => {
  const gate = await start(t)
  assert.equal((await gate.call('/metrics')).status, 403)
  const plain = await gate.svc('GET', '/metrics')
  assert.match(String(plain.headers['content-type']), /^text\/plain; version=0\.0\.4/)
  const open = await gate.svc('GET', '/metrics/', undefined, { accept: 'application/openmetrics-text' })
  assert.match(String(open.headers['content-type']), /^application\/openmetrics-text/)
  assert.match(open.text, /# EOF\n$/)
  assert.equal((await gate.svc('POST', '/metrics')).status, 405)
})

test('an alias stands wherever svc does, and answers use the word of the request', async (t) => {
  const gate = await start(t, { SVC_COMPAT_VENDORALIASES: 'acme' })
  const headers = { 'x-acme-authorization': TEST_SECRET }
  const document = oasApi('O', '/o/', { id: 'o' })
  const { 'x-svc-api-gateway': extension, ...plain } = document
  const renamed = { ...plain, 'x-acme-api-gateway': extension! }
  const made = await gate.call('/acme/apis/oas', { method: 'POST', headers, body: JSON.stringify(renamed) })
  assert.equal(made.status, 200, made.text)
  const shown = seen(await gate.call('/acme/apis/oas/o', { headers }))
  assert.ok('x-acme-api-gateway' in shown && !('x-svc-api-gateway' in shown))
  assert.ok('x-svc-api-gateway' in seen(await gate.svc('GET', '/svc/apis/oas/o')))
  assert.equal((await gate.call('/svc/apis', { headers })).status, 200)
  assert.equal((await gate.call('/acme/apis')).status, 403)
  assert.equal((await gate.svc('POST', '/svc/apis/oas', oasApi('Own', '/acme/x/'))).status, 409)
  assert.equal((await gate.call('/other/apis', { headers })).status, 404)
})

test('organisation keys: made, changed, listed, in force, deleted', async (t) => {
  const gate = await start(t)
  await gate.svc('POST', '/svc/apis', {
    name: 'A',
    active: true,
    use_keyless: true,
    org_id: 'one',
    proxy: { listen_path: '/a/', target_url: 'http://127.0.0.1:9/' },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  })
  assert.equal(seen(await gate.svc('GET', '/svc/org/keys/one')).message, 'Org not found')
  assert.equal((await gate.svc('PUT', '/svc/org/keys/one', {})).status, 404)
  assert.equal((await gate.svc('DELETE', '/svc/org/keys/one')).status, 404)
  const limits = { quota_max: 1, quota_renewal_rate: 3600 }
  assert.deepEqual(seen(await gate.svc('POST', '/svc/org/keys/one', limits)), {
    key: 'one',
    status: 'ok',
    action: 'added',
  })
  assert.deepEqual(seen(await gate.svc('GET', '/svc/org/keys')), { keys: ['one'] })
  assert.deepEqual([(await gate.call('/a/')).status, (await gate.call('/a/')).status], [502, 429])
  assert.equal(seen(await gate.svc('PUT', '/svc/org/keys/one', limits)).action, 'modified')
  assert.equal((await gate.call('/a/')).status, 429)
  await gate.svc('PUT', '/svc/org/keys/one?reset_quota=1', limits)
  assert.equal((await gate.call('/a/')).status, 502)
  assert.equal((await gate.svc('PUT', '/svc/org/keys/one', { quota_max: 'x' })).status, 400)
  assert.equal(seen(await gate.svc('GET', '/svc/org/keys/one')).quota_max, 1)
  assert.equal(seen(await gate.svc('DELETE', '/svc/org/keys/one')).action, 'deleted')
  assert.equal((await gate.call('/a/')).status, 502)
})

test('node, schema and explain', async (t) => {
  const gate = await start(t)
  await gate.svc('POST', '/svc/apis/oas', oasApi('O', '/o/', { id: 'o', guarded: true }))
  const { revision: served } = (await gate.store.documents.find('api', 'api_id', 'o'))!
  const { revision, ...node } = seen(await gate.svc('GET', '/svc/node'))
  assert.ok(Number(revision) >= served)
  assert.deepEqual(node, {
    name: 'test-node',
    version: '0.0.0-test',
    segmented: false,
    tags: [],
    ready: true,
    behind: false,
    apis: [{ api_id: 'o', name: 'O', state: 'loaded', reason: '', revision: served }],
  })
  const schema = seen(await gate.svc('GET', '/svc/schema'))
  assert.deepEqual(schema.required, ['info', 'upstream', 'server'])
  const explained = seen(
    await gate.svc('POST', '/svc/explain', { method: 'GET', url: '/o/x', headers: { 'X-A': 'b' } }),
  )
  assert.equal((explained.api as JsonObject).api_id, 'o')
  for (const body of [
    {},
    { url: 5 },
    { url: 'o/x' },
    { url: '/o', headers: [] },
    { url: '/o', headers: { 'X-A': 'a\r\nHost: evil' } },
    { url: '/o', headers: { 'X A': 'a' } },
    { url: '/o', method: 'GET /' },
    { url: '/o', address: 5 },
  ]) {
    assert.equal((await gate.svc('POST', '/svc/explain', body)).status, 400, JSON.stringify(body))
  }
})

/** Another process may take a free port before the gateway does. */
async function startApart(t: TestContext): Promise<TestGateway> {
  for (let tries = 0; ; tries++) {
    try {
      return await start(t, { SVC_GW_CONTROLPORT: String(await freePort()), SVC_GW_CONTROLHOST: '127.0.0.1' })
    } catch (error) {
      if (tries === 5 || (error as { code?: string }).code !== 'port_in_use') throw error
    }
  }
}
