import assert from 'node:assert/strict'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { call } from '../../worlds/base/client.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { freePort } from '../../worlds/servers/free-port.ts'

const SECRET = { 'x-svc-authorization': TEST_SECRET }

test('with a control port /svc/ and /metrics are unknown paths on the traffic port', async (t) => {
  // It has no "any free port".
  const controlPort = await freePort()
  const gateway = await startTestGateway({ env: { SVC_GW_CONTROLPORT: String(controlPort) } })
  t.after(() => gateway.close())
  assert.equal(gateway.gateway.controlPort, controlPort)
  const unknown = await gateway.call('/nothing/here', { headers: SECRET })
  assert.equal(unknown.status, 404)
  for (const path of ['/svc/keys', '/svc/', '/svc', '/svc/node', '/metrics', '/svc/reload']) {
    const answer = await gateway.call(path, { headers: SECRET })
    assert.equal(answer.status, 404, path)
    assert.equal(answer.text, unknown.text, path)
    assert.deepEqual(Object.keys(answer.headers).sort(), Object.keys(unknown.headers).sort(), path)
  }
  for (const path of ['/hello', '/ready']) {
    assert.equal((await gateway.call(path)).status, 200, path)
    assert.equal((await call(controlPort, path)).status, 200, path)
  }
  assert.equal((await call(controlPort, '/metrics')).status, 200)
  assert.equal((await call(controlPort, '/svc/keys')).status, 403)
  assert.equal((await call(controlPort, '/svc/keys', { headers: SECRET })).status, 200)
  assert.equal(
    (await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: 'http://127.0.0.1:9/' }))).status,
    200,
  )
  assert.equal((await gateway.call('/a/x')).status, 502)
  assert.equal((await call(controlPort, '/a/x')).status, 404)
  // an API that takes every path gets none of them: they hold keys
  for (const path of ['/', '/{any}/']) {
    const all = defined({ id: 'all', path, url: 'http://127.0.0.1:9/' })
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', all)).status, 200)
    for (const own of ['/svc/keys', '/svc', '/metrics']) assert.equal((await gateway.call(own)).status, 404, own)
    assert.equal((await gateway.call('/other')).status, 502)
    assert.equal((await gateway.svc('DELETE', '/svc/apis/oas/all')).status, 200)
  }
})

test('without a control port the calls are on the traffic port, and /metrics needs the secret', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  assert.equal(gateway.gateway.controlPort, undefined)
  assert.equal((await gateway.call('/metrics')).status, 403)
  assert.equal((await gateway.call('/metrics', { headers: SECRET })).status, 200)
  assert.equal((await gateway.call('/svc/keys')).status, 403)
  assert.equal((await gateway.call('/svc/keys', { headers: { 'x-svc-authorization': 'wrong' } })).status, 403)
  assert.equal((await gateway.call('/svc/keys', { headers: SECRET })).status, 200)
})

test('a wrong secret learns nothing about which paths there are', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const known = await gateway.call('/svc/keys')
  const unknown = await gateway.call('/svc/no-such-thing')
  const other = await gateway.call('/svc/keys', { method: 'PATCH' })
  assert.deepEqual([unknown.status, unknown.text], [known.status, known.text])
  assert.deepEqual([other.status, other.text], [known.status, known.text])
})

test('a control port in use is named with its setting', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  await assert.rejects(startTestGateway({ env: { SVC_GW_CONTROLPORT: String(port) } }), (error: Error) => {
    assert.match(error.message, new RegExp(String(port)))
    assert.match(error.message, /control_port|CONTROLPORT/)
    return true
  })
})

test('where scrapers have a secret, /metrics asks for one on the control port too', async (t) => {
  const controlPort = await freePort()
  const secret = 'secret-of-the-scraper'
  const env = { SVC_GW_CONTROLPORT: String(controlPort), SVC_METRICS_SECRET: secret }
  const gateway = await startTestGateway({ env })
  t.after(() => gateway.close())
  const bearer = { authorization: `Bearer ${secret}` }
  assert.equal((await call(controlPort, '/metrics')).status, 403)
  assert.equal((await call(controlPort, '/metrics', { headers: { authorization: `Basic ${secret}` } })).status, 403)
  assert.equal((await call(controlPort, '/metrics', { headers: bearer })).status, 200)
  assert.equal((await call(controlPort, '/metrics', { headers: SECRET })).status, 200)
  assert.equal((await call(controlPort, '/svc/keys', { headers: bearer })).status, 403)
  assert.equal((await gateway.call('/metrics', { headers: bearer })).status, 404)
})
