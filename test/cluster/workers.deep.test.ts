import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { Agent, request } from 'node:http'
import { availableParallelism } from 'node:os'
import { type TestContext, test } from 'node:test'
import { call } from '../worlds/base/client.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { ADMIN, type Cluster, type Node, startCluster } from '../worlds/cluster/nodes.ts'
import { freePort, listenAt } from '../worlds/servers/free-port.ts'

const ADMIN_SECRET = 'the-secret-of-every-dashboard-and-more'
const CONNECTIONS = 24
/** By their start: process ids are reused. */
const IN_ORDER = process.platform === 'linux' ? ['--sort=start_time'] : []
const shares = process.platform === 'linux' || process.platform === 'freebsd'
const skip = shares ? false : `${process.platform} cannot share a port between processes`
const noLimits = process.platform === 'linux' ? false : `${process.platform} has no prlimit`

test('several workers of one machine', { skip }, async (t) => {
  const cluster = await startCluster(t)

  await t.test('share a port, are nodes of their own, and one that is killed takes nothing else along', async () => {
    const { node, control } = await startTwo(t, cluster)
    assert.match(node.output(), /^workers +2$/m)
    const names = (await nodesOf(node)).map(({ name, active }) => [name, active])
    assert.deepEqual(names, [
      ['edge-1', true],
      ['edge-2', true],
    ])

    const helpers = `--v8-pool-size=${Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)))}`
    for (const pid of await childrenOf(node)) assert.ok(commandOf(pid).includes(` ${helpers} `), 'they share the cores')

    const connections = await openConnections(t, node.port)
    let counts: number[] = []
    await eventually('all are counted, and none of before', async () => {
      counts = await Promise.all(control.map(connectionsOf))
      return counts[0]! + counts[1]! === CONNECTIONS
    })
    assert.ok(
      counts.every((count) => count > 0),
      `spread over both: ${counts}`,
    )

    const [, second] = await childrenOf(node)
    process.kill(second!, 'SIGKILL')
    const gone = () => connections.filter(({ closed }) => closed()).length
    await eventually('its connections end', () => gone() === counts[1])
    for (const connection of connections.filter(({ closed }) => !closed()))
      assert.equal(await connection.status(), 200, 'those of the other go on')
    const isBack = async () => {
      assert.equal((await node.call('/hello')).status, 200, 'whoever comes meanwhile is served')
      return call(control[1]!, '/ready').then(
        ({ status }) => status === 200,
        () => false,
      )
    }
    await eventually('it is started again', isBack)
    assert.match(node.output(), /"worker":2,"how":"by SIGKILL",.*worker exited, restarting/)
    assert.equal(gone(), counts[1])

    const all = await childrenOf(node)
    assert.equal(await node.stop(), 0)
    await assertGone(all, node.port)
  })

  await t.test(
    'one that ends while no process can be made is started again once one can',
    { skip: noLimits },
    async () => {
      const { node } = await startTwo(t, cluster)
      const [, second] = await childrenOf(node)
      // Of the process that starts them: it opens no file more.
      const limit = (files: string) => execFileSync('prlimit', ['--pid', String(node.pid), `--nofile=${files}:`])
      limit('3')
      process.kill(second!, 'SIGKILL')
      // More often than a worker may fail of itself.
      const tries = () => node.output().match(/"how":"before it began: [^"]*EMFILE/g)?.length ?? 0
      await eventually('it cannot be started', () => tries() >= 5)
      assert.equal((await node.call('/hello')).status, 200, 'the other one serves')
      limit('1024')
      await eventually('both are there again', () => pidsOf(node).length === 2)
      await node.stop()
    },
  )

  await t.test('end with the process that started them, even when it is killed', async () => {
    const { node } = await startTwo(t, cluster)
    const all = await childrenOf(node)
    await node.kill()
    await assertGone(all, node.port)
  })

  await t.test('none is ready before the dashboard listens', async (t) => {
    const port = await freePort(2)
    const ports = { SVC_GW_LISTENPORT: String(port), SVC_DB_LISTENPORT: String(port + 1) }
    const started = startTwo(t, cluster, ports)
    const statusAt = (place: number) =>
      call(place, '/ready').then(
        ({ status }) => status,
        () => 0,
      )
    await eventually('one is ready', async () => (await statusAt(port)) === 200)
    assert.equal(await statusAt(port + 1), 200)
    await (await started).node.stop()
  })

  await t.test('what keeps one from starting is told once, and ends all', async () => {
    const first = await freePort(2)
    const squatter = await listenAt(first + 1)
    t.after(() => squatter.close())
    const started = startTwo(t, cluster, { SVC_GW_CONTROLPORT: String(first) })
    await assert.rejects(started, ({ message }: Error) => {
      assert.match(message, /ended with 1/)
      assert.equal(message.match(/control_port \(SVC_GW_CONTROLPORT\)/g)?.length, 1, message)
      return true
    })
  })

  await t.test('a port that somebody has is refused, although it could be shared', async () => {
    const port = await freePort()
    const other = await listenAt(port, true)
    t.after(() => other.close())
    const started = startTwo(t, cluster, { SVC_GW_LISTENPORT: String(port) })
    await assert.rejects(started, /gateway\.listen_port \(SVC_GW_LISTENPORT\).*EADDRINUSE/)
  })

  await t.test('one that ends again and again ends all, with a word', async () => {
    const { node } = await startTwo(t, cluster)
    const [first] = await childrenOf(node)
    const killed = new Set<number>()
    for (let i = 0; i < 5; i++) {
      await eventually('it is there', () => pidsOf(node).some((pid) => pid !== first && !killed.has(pid)))
      const pid = pidsOf(node).find((one) => one !== first && !killed.has(one))!
      killed.add(pid)
      process.kill(pid, 'SIGKILL')
    }
    let status: number | null | undefined
    void node.ended().then((code) => {
      status = code
    })
    await eventually('all ends', () => status !== undefined)
    assert.equal(status, 1)
    assert.match(node.output(), /^gatehouse: gateway worker 2 ended 5 times soon after its start, last by SIGKILL$/m)
    await assertGone([first!], node.port)
  })
})

async function startTwo(t: TestContext, cluster: Cluster, env: Readonly<Record<string, string>> = {}) {
  const first = await freePort(2)
  const control = [first, first + 1] as const
  const node = await cluster.start('all', {
    SVC_GW_WORKERS: '2',
    SVC_GW_NODENAME: 'edge',
    SVC_GW_CONTROLPORT: String(control[0]),
    ...env,
  })
  t.after(() => node.kill())
  return { node, control }
}

/** Connections that are kept open, each after one request. */
function openConnections(t: TestContext, port: number) {
  return Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      t.after(() => agent.destroy())
      let isClosed = false
      const status = () =>
        new Promise<number>((resolve, reject) => {
          const sent = request({ port, host: '127.0.0.1', path: '/hello', agent }, (answer) => {
            answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
          })
          sent.on('socket', (socket) => socket.once('close', () => (isClosed = true)))
          sent.on('error', reject)
          sent.end()
        })
      assert.equal(await status(), 200)
      return { status, closed: () => isClosed }
    }),
  )
}

/** Of clients at the traffic port of one worker; the connection that asks is one of its control port. */
async function connectionsOf(control: number): Promise<number> {
  const { text } = await call(control, '/metrics')
  return Number(/^svc_connections (\d+)/m.exec(text)![1]) - 1
}

function pidsOf({ pid }: Node): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=', ...IN_ORDER], { encoding: 'utf8' })
    .trim()
    .split('\n')
  return rows
    .map((row) => row.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid ? [child!] : []))
}

/** In the order in which they were started. */
async function childrenOf(node: Node): Promise<number[]> {
  await eventually('both are there', () => pidsOf(node).length === 2)
  return pidsOf(node)
}

/** With what a process was started. */
const commandOf = (pid: number) => execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })

async function assertGone(pids: readonly number[], port: number): Promise<void> {
  const isThere = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  await eventually('all have ended', () => !pids.some(isThere))
  const server = await listenAt(port)
  await new Promise((closed) => server.close(closed))
}

async function nodesOf(node: Node): Promise<readonly { name: string; active: boolean }[]> {
  const port = Number(/^dashboard +http:\/\/127\.0\.0\.1:(\d+)/m.exec(node.output())![1])
  const admin = async (method: string, path: string, body?: object) => {
    const headers = { 'admin-auth': ADMIN_SECRET }
    return (await call(port, path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).json
  }
  const { organisations } = (await admin('GET', '/admin/organisations')) as { organisations: [{ id: string }] }
  const user = {
    org_id: organisations[0].id,
    email_address: 'grace@example.com',
    password: ADMIN.password,
    active: true,
  }
  const { Message: authorization } = (await admin('POST', '/admin/users', user)) as { Message: string }
  const list = async () => {
    const { json } = await call(port, '/api/system/nodes', { headers: { authorization } })
    return (json as { data: { nodes: { name: string; active: boolean }[] } }).data.nodes
  }
  await eventually('both have told of themselves', async () => (await list()).length === 2)
  return list()
}
