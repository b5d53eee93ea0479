import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call as plainCall } from './worlds/base/client.ts'
import { classic, defined } from './worlds/base/definitions.ts'
import { startTestGateway, TEST_SECRET } from './worlds/base/harness.ts'
import { startTestDashboard } from './worlds/dashboard/harness.ts'
import { startOrigin } from './worlds/servers/origin.ts'

const members = (count: number) => Array.from({ length: count }, (_, i) => `"${i.toString(36)}":1`).join(',')

/** Bodies that no route may take, with what is said of them. */
const HOSTILE: readonly (readonly [body: string, reason: RegExp])[] = [
  [`{"a":${'['.repeat(101)}${']'.repeat(101)}}`, /deeper than 100 levels/],
  [`{"a":{${members(53_000)}}}`, /different names/],
  ['{"a":1,"b":{"n":1},"\\u0061":2}', /twice/],
  ['{"a":1,"__proto__":{}}', /__proto__/],
  ['{"a":"\\ud800"}', /not well-formed/],
]

test('every call below /svc/ that takes JSON bounds its depth and names', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const send = (method: string, path: string, body: string) =>
    gateway.call(path, {
      method,
      body,
      headers: { 'x-svc-authorization': TEST_SECRET, 'content-type': 'application/json' },
    })
  // Under the names of the placeholders, so that what is asked for is there.
  const there: readonly (readonly [path: string, body: unknown])[] = [
    ['/svc/apis', classic('apiID', '/apiID/', 'http://127.0.0.1:9')],
    ['/svc/apis/oas', defined({ id: 'api', url: 'http://127.0.0.1:9' })],
    ['/svc/org/keys/org', { rate: 1000, per: 1 }],
  ]
  for (const [path, body] of there) assert.equal((await gateway.svc('POST', path, body)).status, 200, path)
  const access_rights = { api: { api_id: 'api', api_name: 'api', versions: ['Default'] } }
  assert.equal((await gateway.svc('POST', '/svc/keys/key-of-16-letters', { access_rights })).status, 200)
  const taking: string[] = []
  for (const { method, path } of gateway.gateway.calls) {
    if (method === 'GET' || method === 'DELETE' || path.endsWith('/rotate')) continue
    const asked = `/svc${path.replace('{key}', 'key-of-16-letters').replaceAll(/[{}]/g, '')}`
    const plain = await send(method, asked, '{"unfinished')
    if (!/is not JSON/.test(plain.text)) continue
    taking.push(`${method} ${path}`)
    for (const [body, reason] of HOSTILE) {
      const { status, text } = await send(method, asked, body)
      // Short bodies are not read that far.
      assert.ok(status === 400 ? reason.test(text) : status === 413, `${method} ${path} ${status} ${text}`)
    }
  }
  assert.ok(taking.length > 17, taking.join(', '))
})

test('YAML is held to the bounds of JSON', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const headers = { 'x-svc-authorization': TEST_SECRET, 'content-type': 'application/yaml' }
  const body = `a: {${members(53_000).replaceAll(':', ': ')}}`
  const { status, text } = await gateway.call('/svc/apis/oas', { method: 'POST', body, headers })
  assert.equal(status, 400, text)
  assert.match(text, /different names/)
})

test('every call of the dashboard that takes JSON bounds its depth and names', async (t) => {
  const dashboard = await startTestDashboard()
  t.after(() => dashboard.close())
  const admin = await dashboard.admin()
  const { json } = await dashboard.call('GET', '/api/openapi.json', { as: admin })
  const { paths } = json as { paths: Record<string, Record<string, { requestBody?: object }>> }
  const before = await dashboard.store.documents.revision()
  let told = 0
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { requestBody }] of Object.entries(methods)) {
      // Nobody reads what is sent to /license.
      if (requestBody === undefined || path === '/license') continue
      for (const [body] of HOSTILE) {
        const headers = { 'content-type': 'application/json', authorization: admin.key }
        const asked = { method: method.toUpperCase(), body, headers }
        const { status, text } = await plainCall(dashboard.port, path.replaceAll(/[{}]/g, ''), asked)
        assert.ok(status >= 400 && status < 500, `${method} ${path} ${status} ${text}`)
        if (text.includes('Request body malformed')) told++
      }
    }
  assert.equal(await dashboard.store.documents.revision(), before)
  assert.ok(told > 100, String(told))
})

test('bodies of traffic that the gateway reads are bounded in their names', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const schema = { type: 'object' }
  const operation = (operationId: string) => ({
    post: {
      operationId,
      requestBody: { content: { 'application/json': { schema } } },
      responses: { 200: { description: 'ok' } },
    },
  })
  const template = Buffer.from('{"n": {{ .n }} }').toString('base64')
  const api = defined({
    ...{ id: 'a', url: origin.url, server: { batchProcessing: { enabled: true } } },
    paths: { '/checked': operation('checked'), '/written': operation('written') },
    operations: {
      checked: { validateRequest: { enabled: true } },
      written: { transformRequestBody: { enabled: true, format: 'json', body: template } },
    },
  })
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  assert.equal((await gateway.svc('POST', '/svc/apis', classic('b', '/b/', origin.url))).status, 200)
  const post = async (path: string, body: string) =>
    (await gateway.call(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } })).status
  for (const [path, served] of [
    ['/a/checked', 200],
    ['/a/written', 200],
    ['/a/svc/batch/', 200],
  ] as const) {
    assert.equal(await post(path, `{"n":{${members(18_000)}},"requests":[]}`), served, path)
    const status = await post(path, `{"n":{${members(25_000)}},"requests":[]}`)
    assert.ok(status === 400 || status === 422, `${path} ${status}`)
  }
})
