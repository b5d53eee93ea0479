import assert from 'node:assert/strict'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json/json.ts'
import { call } from '../worlds/base/client.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { done } from '../worlds/cluster/acts.ts'
import { startLossyNetwork } from '../worlds/cluster/lossy-network.ts'
import { type Cluster, type Node, startCluster } from '../worlds/cluster/nodes.ts'
import { startProduct } from '../worlds/flows/product.ts'
import { runSql, setReadOnly, signalPostgres } from '../worlds/servers/postgres.ts'
import { smallDisk } from '../worlds/store/small-disk.ts'

type State = 'pass' | 'warn' | 'fail'

interface Failure {
  readonly name: string
  /** The part that shows it, and how. */
  readonly part: string
  readonly state: State
  /** Status of `/ready` at gateway and dashboard meanwhile. */
  readonly ready: readonly [number, number]
  /** True where writes are refused. */
  readonly refusesWrites: boolean
  /** Begins; answers the function that ends it. */
  begin(): Promise<() => unknown>
}

/** Each part of a cluster by each of its failures. */
function failuresOf(
  { postgres, redis }: Cluster,
  networks: { postgres: { hold(): () => void }; redis: { hold(): () => void } },
) {
  const command = (begin: string[], end: string[]) => async () => {
    await redis.command(...begin)
    return () => redis.command(...end)
  }
  const store = { part: 'store', state: 'fail', refusesWrites: true } as const
  const counts = { part: 'redis', state: 'fail', ready: [200, 200], refusesWrites: false } as const
  const failures: Failure[] = [
    {
      ...{ ...store, name: 'PostgreSQL gone', ready: [200, 503] },
      async begin() {
        await postgres.halt('SIGINT')
        return () => postgres.resume()
      },
    },
    {
      ...{ ...store, name: 'PostgreSQL hanging', ready: [200, 503] },
      async begin() {
        signalPostgres(postgres, 'SIGSTOP')
        return () => signalPostgres(postgres, 'SIGCONT')
      },
    },
    {
      ...{ ...store, name: 'the network to PostgreSQL swallows everything', ready: [200, 503] },
      begin: async () => networks.postgres.hold(),
    },
    {
      ...{ ...store, name: 'PostgreSQL read-only', ready: [200, 200] },
      async begin() {
        await setReadOnly(postgres, 'on')
        return () => setReadOnly(postgres, 'off')
      },
    },
    {
      ...{ ...counts, name: 'Redis gone' },
      async begin() {
        await redis.kill()
        return () => redis.start()
      },
    },
    { ...{ ...counts, name: 'the network to Redis swallows everything' }, begin: async () => networks.redis.hold() },
    {
      ...{ ...counts, name: 'Redis full' },
      begin: command(['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']),
    },
    {
      ...{ ...counts, name: 'Redis read-only' },
      begin: command(['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']),
    },
    {
      ...{ name: 'a notification waits', part: 'outbox', state: 'warn', ready: [200, 200], refusesWrites: false },
      async begin() {
        const [created, due] = [Date.now() - 3_600_000, Date.now() + 3_600_000]
        await runSql(
          postgres.url(),
          `INSERT INTO delivery(id, dead, queue, next_at, attempts, created_at, error, sealed)
            VALUES (1000000, false, 'q', $1, 1, $2, '', '')`,
          [due, created],
        )
        return () => runSql(postgres.url(), 'DELETE FROM delivery WHERE id = 1000000')
      },
    },
  ]
  return failures
}

/** Asks for health; notes how long it took. */
function asker(tookMs: number[]) {
  return async (port: number, path: string) => {
    const since = performance.now()
    const answer = await call(port, path)
    tookMs.push(performance.now() - since)
    return answer
  }
}

const statusOf = (json: unknown, part: string) =>
  ((json as { details: Record<string, { status: State }> }).details[part] ?? { status: 'absent' }).status

test('each failure of each part shows in /ready and /hello, and ends without a restart', async (t) => {
  const cluster = await startCluster(t, ['--appendonly', 'yes'])
  const networks = {
    postgres: await startLossyNetwork(t, { path: cluster.postgres.socket }),
    redis: await startLossyNetwork(t, { port: cluster.redis.port, host: '127.0.0.1' }),
  }
  const behind = {
    SVC_STORAGE_POSTGRESURL: `postgres://gatehouse@127.0.0.1:${networks.postgres.port}/postgres`,
    SVC_STORAGE_REDISURL: `redis://127.0.0.1:${networks.redis.port}`,
  }
  const gateway = await cluster.start('gateway', behind)
  const dashboard = await cluster.start('dashboard', behind)
  const nodes: readonly Node[] = [gateway, dashboard]
  const tookMs: number[] = []
  const ask = asker(tookMs)
  const metricsOf = async (node: Node) => {
    const since = performance.now()
    const answer = await (node === gateway ? node.svc('GET', '/metrics') : node.admin('GET', '/metrics'))
    tookMs.push(performance.now() - since)
    return answer.text
  }
  const shows = async (node: Node, part: string, state: State, ready: number) =>
    statusOf((await ask(node.port, '/hello')).json, part) === state &&
    (await ask(node.port, '/ready')).status === ready &&
    new RegExp(`^svc_part_up\\{part="${part}"\\} ${state === 'fail' ? 0 : 1}$`, 'm').test(await metricsOf(node))
  const allPass = () =>
    eventually('all parts pass', async () => {
      for (const { port } of nodes) {
        const { json } = await ask(port, '/hello')
        if (!['pass', 'ok'].includes(String((json as JsonObject).status))) return false
        if ((await ask(port, '/ready')).status !== 200) return false
      }
      return true
    })
  await allPass()

  for (const [n, failure] of failuresOf(cluster, networks).entries()) {
    const { name, part, state, ready, refusesWrites, begin } = failure
    await t.test(name, async (t) => {
      const end = await begin()
      let ended = false
      const endOnce = async () => {
        if (!ended) await end()
        ended = true
      }
      t.after(endOnce)
      const since = performance.now()
      const write = refusesWrites ? gateway.svc('POST', '/svc/policies', { id: `refused-${n}` }) : undefined
      await Promise.all(nodes.map((node, i) => eventually(`${name} shows`, () => shows(node, part, state, ready[i]!))))
      const seenMs = performance.now() - since
      assert.equal((await write)?.status, refusesWrites ? 503 : undefined)
      const refusedMs = performance.now() - since
      if (part === 'store') assert.equal((await ask(gateway.port, '/hello')).status, 200)
      await endOnce()
      await allPass()
      await done(gateway.svc('POST', '/svc/policies', { id: `taken-${n}` }))
      if (refusesWrites) assert.equal((await gateway.svc('GET', `/svc/policies/refused-${n}`)).status, 404)
      t.diagnostic(`shown after ${Math.round(seenMs)} ms, a write refused after ${Math.round(refusedMs)} ms`)
    })
  }
  t.diagnostic(`${tookMs.length} health calls, the longest ${Math.round(Math.max(...tookMs))} ms`)
  for (const node of nodes) {
    for (const what of ['PostgreSQL is unavailable', 'PostgreSQL takes no changes', 'Redis is unavailable'])
      t.diagnostic(`${what}: ${node.output().split(what).length - 1} lines`)
  }
})

test('a full disk shows at gateway and dashboard, and ends without a restart', async (t) => {
  const folder = smallDisk(t, 64)
  if (folder === undefined) return t.diagnostic('no right to mount a small disk here')
  const product = await startProduct(t, folder)
  const states = async () => {
    const ports = [product.port, product.dashboardPort]
    const ready = await Promise.all(ports.map(async (port) => (await call(port, '/ready')).status))
    const disk = await Promise.all(ports.map(async (port) => statusOf((await call(port, '/hello')).json, 'disk')))
    return JSON.stringify([...ready, ...disk])
  }
  await eventually('the disk has room', async () => (await states()) === '[200,200,"warn","warn"]')
  const { bsize, bavail } = statfsSync(folder)
  writeFileSync(join(folder, 'rest'), Buffer.alloc(bsize * bavail))
  const refusing = async () =>
    (await product.svc('POST', '/svc/policies', { id: 'p', note: 'x'.repeat(50_000) })).status
  await eventually('writes are refused', async () => (await refusing()) === 503)
  const write = { method: 'POST', headers: { 'x-svc-authorization': product.secret } }
  assert.equal((await call(product.port, '/svc/policies', { ...write, body: '{"id":"q"}' })).status, 503)
  await eventually('the gateway shows it', async () => (await states()).startsWith('[503'))
  await eventually('both show the disk', async () => (await states()).endsWith('"fail","fail"]'))
  rmSync(join(folder, 'rest'))
  await eventually('it is over', async () => (await states()) === '[200,200,"warn","warn"]')
})
