import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { call } from '../worlds/base/client.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { type Product, startProduct } from '../worlds/flows/product.ts'
import { freePort } from '../worlds/servers/free-port.ts'

const OPEN_FILES = 256
const CROWD = 400
const ONLY_LINUX = { skip: process.platform !== 'linux' && 'the limit of open files is read on Linux alone' }

async function start(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  t.after(() => rmSync(cwd, { recursive: true, force: true }))
  const controlPort = await freePort()
  const product = await startProduct(
    t,
    cwd,
    { SVC_GW_CONTROLPORT: String(controlPort), SVC_GW_WORKERS: '1', ...env },
    { openFiles: OPEN_FILES },
  )
  const control = (method: string, path: string, body?: unknown) =>
    call(controlPort, path, {
      method,
      headers: { 'x-svc-authorization': product.secret },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return { product, control }
}

/** Connections that say nothing. */
async function crowd(t: TestContext, port: number): Promise<Socket[]> {
  const sockets = Array.from({ length: CROWD }, () => connect(port, '127.0.0.1').on('error', () => {}))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(
    sockets.map((socket) => new Promise((settled) => socket.once('connect', settled).once('error', settled))),
  )
  return sockets
}

async function end(sockets: readonly Socket[]): Promise<void> {
  const open = sockets.filter((socket) => !socket.closed)
  await Promise.all(open.map((socket) => new Promise((closed) => socket.once('close', closed).destroy())))
}

async function isServed(product: Product): Promise<boolean> {
  const answer = await product.call('/sample/hello').catch(() => undefined)
  return answer?.status === 200
}

const linesOf = (product: Product, text: string) =>
  product
    .output()
    .split('\n')
    .filter((line) => line.includes(text))

test('idle traffic connections leave descriptors for dashboard, store and control port', ONLY_LINUX, async (t) => {
  const { product, control } = await start(t)
  assert.ok(await isServed(product))
  const idle = await crowd(t, product.port)
  const refused = async () => {
    const { text } = await control('GET', '/metrics')
    return Number(/svc_connections_refused_total\{reason="descriptors",place="gateway"\} (\d+)/.exec(text)?.[1] ?? 0)
  }
  await eventually('most are refused', async () => (await refused()) > CROWD / 2)
  assert.equal((await call(product.dashboardPort, '/api/login/options')).status, 200)
  const api = { name: 'late', api_id: 'late', proxy: { listen_path: '/late/', target_url: 'http://127.0.0.1:9/' } }
  assert.equal((await control('POST', '/svc/apis', api)).status, 200)
  assert.equal((await control('GET', '/svc/apis/late')).status, 200)
  const told = linesOf(product, 'no file descriptors are left')
  assert.equal(told.length, 1, product.output())
  assert.match(told[0]!, /ulimit -n.*gateway\.max_connections/)
  assert.match(told[0]!, new RegExp(`"open_files_limit":${OPEN_FILES}`))
  await end(idle)
  await eventually('traffic is served again', () => isServed(product))
})

test('idle connections to the dashboard leave descriptors for traffic and the store', ONLY_LINUX, async (t) => {
  const { product, control } = await start(t)
  const idle = await crowd(t, product.dashboardPort)
  await eventually('a line in the log', () => linesOf(product, 'dropped connections to the dashboard').length > 0)
  const { text } = await control('GET', '/metrics')
  assert.match(text, /svc_connections_refused_total\{reason="(address|descriptors)",place="dashboard"\} [1-9]/)
  assert.ok(await isServed(product))
  assert.equal((await control('POST', '/svc/keys/create', { org_id: '' })).status < 500, true)
  await end(idle)
  await eventually('the dashboard answers again', async () => {
    const answer = await call(product.dashboardPort, '/api/login/options').catch(() => undefined)
    return answer?.status === 200
  })
})

test('idle connections to the control port leave descriptors for traffic', ONLY_LINUX, async (t) => {
  const { product } = await start(t)
  const controlPort = Number(/control {4}http:\/\/127\.0\.0\.1:(\d+)/.exec(product.output())![1])
  await crowd(t, controlPort)
  await eventually('a line in the log', () => linesOf(product, 'no file descriptors are left').length > 0)
  assert.ok(await isServed(product))
  assert.equal((await call(product.dashboardPort, '/api/login/options')).status, 200)
})

test('a bound that is set is named where it refuses', ONLY_LINUX, async (t) => {
  const { product, control } = await start(t, { SVC_GW_MAXCONNECTIONS: '20' })
  await crowd(t, product.port)
  await eventually('all others are refused', async () => {
    const { text } = await control('GET', '/metrics')
    return new RegExp(
      `svc_connections_refused_total\\{reason="max_connections",place="gateway"\\} ${CROWD - 20}\n`,
    ).test(text)
  })
  assert.equal(linesOf(product, 'as many as gateway.max_connections allows').length, 1)
})

test('waiting requests leave descriptors for the dashboard, the store and the control port', ONLY_LINUX, async (t) => {
  // The more clients are wanted, the fewer connections to upstreams are left: 44 here.
  const { product, control } = await start(t, { SVC_GW_MAXCONNECTIONS: '100' })
  const held: Socket[] = []
  let answering = false
  const answer = (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
  const upstream = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => (answering ? answer(socket) : held.push(socket)))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  t.after(() => upstream.close())
  const { port } = upstream.address() as { port: number }
  const proxy = { listen_path: '/slow/', target_url: `http://127.0.0.1:${port}/` }
  const api = { name: 'slow', api_id: 'slow', use_keyless: true, active: true, proxy }
  assert.equal((await control('POST', '/svc/apis', api)).status, 200)
  const waiting = Array.from({ length: 80 }, () => product.call('/slow/').then(({ status }) => status))
  const statuses: number[] = []
  for (const each of waiting) void each.then((status) => statuses.push(status))
  await eventually('some wait and the others are refused', () => held.length + statuses.length === waiting.length)
  assert.ok(held.length >= 40 && held.length < 60, String(held.length))
  assert.deepEqual([...new Set(statuses)], [503])
  assert.equal((await call(product.dashboardPort, '/api/login/options')).status, 200)
  assert.equal(
    (
      await control('POST', '/svc/apis', {
        ...api,
        api_id: 'late',
        name: 'late',
        proxy: { ...proxy, listen_path: '/late/' },
      })
    ).status,
    200,
  )
  answering = true
  for (const socket of held) answer(socket)
  await Promise.all(waiting)
  assert.equal(statuses.filter((status) => status === 200).length, held.length)
  await eventually('requests are served again', async () => (await product.call('/slow/')).status === 200)
})
