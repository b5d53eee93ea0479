import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startAll } from '../../src/compose.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { silentLog } from '../../src/model/log.ts'
import { keepThread } from '../../src/process/keep-thread.ts'
import { call } from '../client.ts'
import { defined } from '../definitions.ts'
import { eventually } from '../eventually.ts'

const SECRET = 'the-admin-secret-of-this-test'

/** The whole product in this process: the store's writer and the dashboard on threads of their own. */
async function startProduct(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-thread-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    SVC_GW_LISTENHOST: '127.0.0.1',
    SVC_GW_LISTENPORT: '0',
    SVC_GW_ACCESSLOG: 'false',
    SVC_DB_LISTENHOST: '127.0.0.1',
    SVC_DB_LISTENPORT: '0',
    SVC_DB_ADMINSECRET: SECRET,
    SVC_STORAGE_PATH: folder,
    SVC_SAMPLE: 'false',
    SVC_LOG_LEVEL: 'silent',
  }
  const running = await startAll(loadConfig({ env, cwd: folder }))
  t.after(() => running.stop())
  const dashboard = async (method: string, path: string, body?: JsonObject, headers?: Record<string, string>) => {
    const sent = { method, headers: headers ?? {}, ...(body && { body: JSON.stringify(body) }) }
    const { status, json, text } = await call(running.dashboardPort, path, sent)
    assert.ok(status < 300, `${method} ${path} ${status} ${text}`)
    return json as JsonObject
  }
  const admin = { 'admin-auth': SECRET }
  const org = await dashboard('POST', '/admin/organisations', { owner_name: 'Acme' }, admin)
  const user = { email_address: 'ada@example.test', first_name: 'Ada', last_name: 'B', active: true, org_id: org.Meta! }
  const made = await dashboard('POST', '/admin/users', user, admin)
  const as = { authorization: String(made.Message) }
  const api = (method: string, path: string, body?: JsonObject) => dashboard(method, path, body, as)
  const gateway = async (path: string, key: string) =>
    (await call(running.gateway.port, path, { headers: { 'x-key': key } })).status
  return { running, api, as, gateway, folder }
}

test('a deletion is in force at the gateway when the dashboard answers it, every time', async (t) => {
  const { api, as, gateway, running } = await startProduct(t)
  const url = `http://127.0.0.1:${running.dashboardPort}/hello`
  const definition = defined({
    id: 'orders',
    url,
    keyIn: 'X-Key',
    server: { listenPath: { value: '/orders/', strip: true } },
  })
  await api('POST', '/api/apis/oas', definition)
  const session = { access_rights: { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } } }
  for (let i = 0; i < 20; i++) {
    const { key_id: key } = await api('POST', '/api/keys', session)
    assert.equal(await gateway('/orders/', String(key)), 200, 'a new key is good when its answer is there')
    await api('DELETE', `/api/keys/${key}`)
    assert.equal(await gateway('/orders/', String(key)), 403, 'a deleted key is dead when its answer is there')
  }
  const tried = await api('POST', '/api/apis/orders/try', { method: 'GET', path: '/orders/' })
  assert.equal((tried.answer as JsonObject).status, 401, 'a request is tried across the threads')
  const elsewhere = await call(running.dashboardPort, '/api/apis/orders/try', {
    ...{ method: 'POST', headers: as, body: JSON.stringify({ method: 'GET', path: '/hello' }) },
  })
  assert.equal(elsewhere.status, 400, 'and so is its refusal')
  await api('DELETE', '/api/apis/orders')
  assert.equal(await gateway('/orders/', 'any'), 404)
})

test('what callers sign with lies sealed in the data folder, and both parts read it', async (t) => {
  const { api, running, folder } = await startProduct(t)
  const hmac = 'what the caller signs with'
  const rights = { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } }
  await api('POST', '/api/apis/oas', defined({ id: 'orders', url: 'http://127.0.0.1:9/', keyIn: 'X-Key' }))
  const session = { alias: 'a-name-in-clear', access_rights: rights, hmac_enabled: true, hmac_string: hmac }
  const { key_id: key } = await api('POST', '/api/keys', session)
  const atDashboard = await api('GET', `/api/keys/${key}`)
  assert.equal((atDashboard.data as JsonObject).hmac_string, hmac)
  const { gateway_secret } = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8')) as JsonObject
  const headers = { 'x-svc-authorization': String(gateway_secret) }
  const atGateway = await call(running.gateway.port, `/svc/keys/${key}`, { headers })
  assert.equal((atGateway.json as JsonObject).hmac_string, hmac, atGateway.text)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
  assert.ok(files.some((bytes) => bytes.includes('a-name-in-clear')))
  assert.ok(!files.some((bytes) => bytes.includes(hmac)))
})

test('many who write at once are all answered, and all is stored', async (t) => {
  const { api } = await startProduct(t)
  const names = Array.from({ length: 40 }, (_, i) => `group-${i}`)
  await Promise.all(names.map((name) => api('POST', '/api/usergroups', { name, user_permissions: { apis: 'read' } })))
  const { groups } = (await api('GET', '/api/usergroups?p=-1')) as { groups: { name: string }[] }
  assert.deepEqual(groups.map(({ name }) => name).sort(), names.sort())
})

test('a thread that ends is started again, with seeds of its own each time', async (t) => {
  const source = `
    import { parentPort, workerData } from 'node:worker_threads'
    parentPort.postMessage({ news: 'listening', port: workerData.start })
    if (workerData.start === 1) setImmediate(() => process.exit(3))
    else parentPort.on('message', () => parentPort.close())
  `
  let starts = 0
  const thread = await keepThread({
    module: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
    name: 'test',
    data: () => ({ workerData: { start: ++starts } }),
    log: silentLog,
  })
  t.after(() => thread.stop())
  await eventually('the second start', () => thread.port === 2 && thread.up())
  assert.equal(starts, 2)
})
