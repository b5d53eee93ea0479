import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { call } from '../worlds/base/client.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { type Product, startProduct } from '../worlds/flows/product.ts'

/** No test waits for its end. */
const ENDLESS_MS = '3600000'

function start(t: TestContext, delayMs: string): Promise<Product> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-drain-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return startProduct(t, folder, { SVC_GW_DRAINDELAYMS: delayMs })
}

/** Status of a request over HTTP/2 on a new connection. */
function askOverHttp2(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${port}`)
    session.on('error', reject)
    const stream = session.request({ ':path': path })
    stream.on('error', reject)
    stream.on('response', (fields) => {
      resolve(Number(fields[':status']))
      session.close()
    })
    stream.resume()
  })
}

test('SIGTERM: not ready at once, served until the delay ends; a second signal ends it', async (t) => {
  const product = await start(t, ENDLESS_MS)
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const gateway = (path: string) => call(product.port, path, { agent })
  const dashboard = (path: string) => call(product.dashboardPort, path, { agent })
  const ready = async () => (await gateway('/ready')).status
  assert.deepEqual([await ready(), (await dashboard('/ready')).status], [200, 200])
  assert.notEqual((await gateway('/sample/hello')).headers.connection, 'close')

  product.signal('SIGTERM')
  await eventually('the gateway is not ready', async () => (await ready()) === 503)
  await eventually('the dashboard is not ready', async () => (await dashboard('/ready')).status === 503)
  for (const path of ['/sample/hello', '/hello', '/metrics', '/protected/hello', '/nowhere']) {
    const { status, headers } = await gateway(path)
    assert.ok(status < 500, `${path} is served: ${status}`)
    assert.equal(headers.connection, 'close', `${path} tells the client to connect again`)
  }
  assert.equal(await askOverHttp2(product.port, '/sample/hello'), 200)
  for (const path of ['/hello', '/nowhere', '/api/users']) {
    const { status, headers } = await dashboard(path)
    assert.ok(status < 500, `the dashboard serves ${path}: ${status}`)
    assert.equal(headers.connection, 'close')
  }
  assert.match((await product.svc('GET', '/metrics')).text, /^svc_draining 1$/m)
  assert.match(product.output(), /"delay_ms":3600000,"msg":"draining/)

  let ended = false
  void product.ended.then(() => {
    ended = true
  })
  await eventually('a second signal ends it', () => {
    product.signal('SIGTERM')
    return ended
  })
  assert.equal(await product.ended, 1)
})

test('the process ends in order once the delay is over', async (t) => {
  const product = await start(t, '300')
  assert.equal(await product.stop(), 0)
  assert.match(product.output(), /"delay_ms":300,"msg":"draining/)
})

test('SIGINT does not wait', async (t) => {
  const product = await start(t, ENDLESS_MS)
  product.signal('SIGINT')
  assert.equal(await product.ended, 0)
})
