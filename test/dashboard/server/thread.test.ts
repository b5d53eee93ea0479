import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { startAll } from '../../../src/compose.ts'
import { loadConfig } from '../../../src/config/load.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { silentLog } from '../../../src/model/logs/log.ts'
import { superviseThread } from '../../../src/process/supervise-thread.ts'
import { call } from '../../worlds/base/client.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'

const SECRET = 'the-admin-secret-of-this-test'

/** The whole product in this process: the store's writer and the dashboard on separate threads. */
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

/** Sends calls from a separate thread and wakes its starter when all are answered. */
const CALLER = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { request } from 'node:http'
    import { workerData } from 'node:worker_threads'
    const { port, headers, cell, text, rounds } = workerData
    const send = ([method, path, body]) => new Promise((resolve) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
        let all = ''
        answer.on('data', (part) => { all += part })
        answer.on('end', () => resolve([answer.statusCode, all]))
      })
      sent.on('error', (error) => resolve([0, String(error)]))
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
    const answers = []
    for (const round of rounds) answers.push(await Promise.all(round.map(send)))
    const bytes = Buffer.from(JSON.stringify(answers))
    new Uint8Array(text).set(bytes)
    const done = new Int32Array(cell)
    Atomics.store(done, 0, bytes.length)
    Atomics.notify(done, 0)
  `)}`,
)

type Sent = readonly [method: string, path: string, body?: JsonObject]

/** Blocks this thread, which is the gateway's, until all calls are answered, and tells the answers. */
function answeredWhileBlocked(port: number, headers: Record<string, string>, rounds: readonly (readonly Sent[])[]) {
  const [cell, text] = [new SharedArrayBuffer(4), new SharedArrayBuffer(1 << 16)]
  const done = new Int32Array(cell)
  const caller = new Worker(CALLER, { workerData: { port, headers, cell, text, rounds } })
  const ended = Atomics.wait(done, 0, 0, 120_000)
  void caller.terminate()
  assert.notEqual(ended, 'timed-out', 'the calls were not answered while the gateway was blocked')
  return JSON.parse(Buffer.from(new Uint8Array(text)).toString('utf8', 0, done[0])) as [number, string][][]
}

test('writes are answered while the gateway is blocked, and say what is known', async (t) => {
  const { api, as, running } = await startProduct(t)
  const oas = (id: string) => defined({ id, url: 'http://127.0.0.1:9/', keyIn: 'X-Key' })
  await api('POST', '/api/apis/oas', oas('old'))
  const rights = { old: { api_id: 'old', api_name: 'old', versions: ['Default'] } }
  const permissions = { apis: 'read' }
  const writes: Sent[] = [
    ['POST', '/api/apis/oas', oas('new')],
    ['PUT', '/api/apis/oas/old', { ...oas('old'), info: { title: 'changed', version: '2' } }],
    ['POST', '/api/keys', { access_rights: rights }],
    ['POST', '/api/portal/policies', { name: 'p', access_rights: rights }],
    ['POST', '/api/usergroups', { name: 'first', user_permissions: permissions }],
    ['DELETE', '/api/cache/responses/old'],
  ]
  const reads: Sent[] = [
    ['GET', '/api/apis/old'],
    ['GET', '/api/usergroups'],
  ]
  const later: Sent[] = [['POST', '/api/usergroups', { name: 'second', user_permissions: permissions }]]
  const [first, read, second] = answeredWhileBlocked(running.dashboardPort, as, [writes, reads, later])
  const UNKNOWN = /has not confirmed that this is stored/
  // One that waited for another is refused before it is sent.
  for (const [i, [status, text]] of first!.entries()) {
    assert.equal(status, 503, `${writes[i]} ${text}`)
    assert.match(text, i % 2 === 0 ? UNKNOWN : /has not confirmed|has not applied/, String(writes[i]))
  }
  assert.deepEqual(
    read!.map(([status]) => status),
    [200, 200],
  )
  // Later writes are refused at once, and not stored.
  assert.match(second![0]!.join(' '), /^503 .*has not applied the stored change/)
  const groups = async () =>
    ((await api('GET', '/api/usergroups?p=-1')).groups as { name: string }[]).map(({ name }) => name)
  await eventually('the first write is stored after all', async () => (await groups()).includes('first'))
  assert.equal((await api('GET', '/api/apis/oas/new')).openapi, '3.0.3')
  await api('POST', '/api/usergroups', { name: 'third', user_permissions: permissions })
  assert.deepEqual((await groups()).sort(), ['first', 'third'])
})

/** A thread whose behaviour follows from its seed: ends at once, throws, reports a failure, hangs, or listens until it is stopped. */
const THREAD = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from 'node:worker_threads'
    const { start, does } = workerData
    if (does === 'throws') throw new Error('thrown')
    if (does === 'exits') process.exit(3)
    if (does === 'hangs') setInterval(() => {}, 1000)
    if (does === 'fails') {
      parentPort.postMessage({ news: 'failed', code: 'store_away', message: 'no' })
      parentPort.close()
    }
    if (does === 'ends' || does === 'listens') parentPort.postMessage({ news: 'listening', port: start })
    if (does === 'ends') setImmediate(() => process.exit(3))
    if (does === 'listens') parentPort.on('message', () => parentPort.close())
  `)}`,
)

test('an ended thread is started again with fresh seeds, whatever its starts fail of', async (t) => {
  const doings = ['ends', 'no seed', 'throws', 'no seed', 'fails', 'exits', 'no transfer', 'ends', 'throws', 'listens']
  let starts = 0
  const thread = await superviseThread({
    module: THREAD,
    name: 'test',
    data() {
      const does = doings[starts++]
      if (does === 'no seed') throw new Error('no descriptors')
      return { workerData: { start: starts, does: does === 'no transfer' ? () => {} : does } }
    },
    log: silentLog,
    firstWaitMs: 1,
  })
  t.after(() => thread.stop())
  await eventually('the last start', () => thread.port === doings.length && thread.up())
  assert.equal(starts, doings.length)
})

test('a thread that ends while no descriptors are left is started again once there are some', {
  skip: process.platform !== 'linux',
}, () => {
  const keeper = new URL('../../../src/process/supervise-thread.ts', import.meta.url).href
  const script = `
    const { superviseThread } = await import(${JSON.stringify(keeper)})
    const { closeSync, openSync } = await import('node:fs')
    const files = []
    const fill = () => {
      try {
        for (;;) files.push(openSync('/dev/null'))
      } catch {}
    }
    const lines = []
    const note = (_, text) => {
      lines.push(text)
      // The thread is gone: what it had open is taken, too.
      if (text.includes('has ended')) fill()
      if (text.includes('did not start')) for (const file of files.splice(0)) closeSync(file)
    }
    let starts = 0
    const data = () => ({ workerData: { start: ++starts, does: starts === 1 ? 'ends' : 'listens' } })
    const log = { debug: note, info: note, warn: note, error: note }
    const thread = await superviseThread({ module: new URL(${JSON.stringify(THREAD.href)}), name: 'test', data, log, firstWaitMs: 1 })
    while (!(thread.up() && thread.port > 1)) await new Promise((resolve) => setTimeout(resolve, 2))
    await thread.stop()
    console.log(lines.join('\\n'))`
  const command = [
    'sh',
    '-c',
    'ulimit -n 64; exec "$@"',
    'sh',
    process.execPath,
    '--input-type=module',
    '--eval',
    script,
  ]
  const { stdout, stderr } = spawnSync(command[0]!, command.slice(1), { encoding: 'utf8' })
  assert.match(stdout, /has ended.*could not be started.*did not start/s, stderr)
})

test('a thread that cannot even start the first time says why', async () => {
  const start = (does: string) =>
    superviseThread({ module: THREAD, name: 'test', data: () => ({ workerData: { start: 1, does } }), log: silentLog })
  await assert.rejects(start('fails'), { code: 'store_away' })
  await assert.rejects(start('throws'), { code: 'internal' })
  await assert.rejects(start('exits'), { code: 'internal' })
})

for (const again of ['hangs', 'throws', 'fails', 'listens'])
  test(`a thread that is stopped while it is started again and ${again} is no more, and stays away`, async () => {
    let starts = 0
    const thread = await superviseThread({
      module: THREAD,
      name: 'test',
      data: () => ({ workerData: { start: ++starts, does: starts === 1 ? 'ends' : again } }),
      log: silentLog,
      firstWaitMs: 1,
    })
    await eventually('the second start', () => starts >= 2)
    await thread.stop()
    const stood = starts
    // Longer than the wait for a next start.
    const another = { start: 1, does: 'listens' }
    await (
      await superviseThread({ module: THREAD, name: 'test', data: () => ({ workerData: another }), log: silentLog })
    ).stop()
    assert.deepEqual([thread.up(), starts], [false, stood])
  })
