import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { call } from '../worlds/base/client.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { type Node, startCluster } from '../worlds/cluster/nodes.ts'
import { freePort } from '../worlds/servers/free-port.ts'

/** No test waits for its end. */
const ENDLESS_MS = '3600000'
const shares = process.platform === 'linux' || process.platform === 'freebsd'
const skip = shares ? false : `${process.platform} cannot share a port between processes`

function childrenOf({ pid }: Node): number[] {
  const listed = execFileSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return listed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child!)
}

const isThere = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const dashboardPort = (node: Node) => Number(/^dashboard +http:\/\/127\.0\.0\.1:(\d+)/m.exec(node.output())?.[1])
const statusOf = async (port: number, path: string) => (await call(port, path)).status

/** Every role, with the ports that say whether it is ready. */
const ROLES = [
  { role: 'gateway', workers: 1, ready: (node: Node) => [node.port] },
  { role: 'dashboard', workers: 1, ready: (node: Node) => [node.port] },
  { role: 'all', workers: 1, ready: (node: Node) => [node.port, dashboardPort(node)] },
  { role: 'all', workers: 2, ready: (node: Node) => [dashboardPort(node)] },
] as const

test('every role drains, with all its workers, and ends at once by a second signal', { skip }, async (t) => {
  const cluster = await startCluster(t)
  for (const { role, workers, ready } of ROLES) {
    await t.test(`${role}, workers: ${workers}`, async () => {
      const control = workers === 1 ? 0 : await freePort(workers)
      const node = await cluster.start(role, {
        SVC_GW_WORKERS: String(workers),
        SVC_GW_CONTROLPORT: String(control),
        SVC_GW_DRAINDELAYMS: ENDLESS_MS,
      })
      const ports = [...ready(node), ...(control === 0 ? [] : [control, control + 1])]
      for (const port of ports) await eventually('it is ready', async () => (await statusOf(port, '/ready')) === 200)
      const children = childrenOf(node)
      assert.equal(children.length, workers === 1 ? 0 : workers)

      process.kill(node.pid, 'SIGTERM')
      for (const port of ports) {
        await eventually('it is not ready', async () => (await statusOf(port, '/ready')) === 503)
        assert.equal(await statusOf(port, '/hello'), 200)
      }
      let ended = false
      void node.ended().then(() => {
        ended = true
      })
      await eventually('a second signal ends it', () => {
        if (!ended) process.kill(node.pid, 'SIGTERM')
        return ended
      })
      assert.equal(await node.ended(), 1)
      await eventually('its workers end with it', () => !children.some(isThere))
    })
  }

  await t.test('a signal to the whole group ends it in order, and starts no worker again', async () => {
    const node = await cluster.start('all', { SVC_GW_WORKERS: '2', SVC_GW_DRAINDELAYMS: '500' })
    const all = [...childrenOf(node), node.pid]
    for (const pid of all) process.kill(pid, 'SIGTERM')
    assert.equal(await node.ended(), 0)
    await eventually('all have ended', () => !all.some(isThere))
    assert.doesNotMatch(node.output(), /restarting/)
  })
})
