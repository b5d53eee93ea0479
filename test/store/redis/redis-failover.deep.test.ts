import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { RedisCounters } from '../../../src/store/redis/counters.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { startRedis, startSentinel, type TestRedis } from '../../worlds/servers/redis.ts'

// A gateway whose Redis fails over, asked from outside.

const QUOTA = 1_000

/** `use` makes a call with a key of `QUOTA` calls, and answers its status and what is left. */
async function startGateway(t: TestContext, url: string) {
  const counters = new RedisCounters({ url })
  const memory = openMemoryStore()
  const origin = await startOrigin()
  const gateway = await startTestGateway({ store: { ...memory, counters } })
  t.after(async () => {
    await gateway.close()
    await counters.close()
    await memory.close()
    await origin.close()
  })
  await counters.check(30_000)
  const done = async (path: string, body: unknown) => {
    const { status, json } = await gateway.svc('POST', path, body)
    assert.equal(status, 200)
    return json as { key: string }
  }
  await done('/svc/apis/oas', defined({ id: 'orders', url: origin.url, keyIn: 'authorization' }))
  const quota = { quota_max: QUOTA, quota_renewal_rate: 86_400 }
  const { key } = await done('/svc/keys/create', { ...quota, access_rights: rights('orders') })
  const use = async () => {
    const { status, headers } = await gateway.call('/orders/x', { headers: { authorization: key } })
    return { status, left: Number(headers['x-ratelimit-remaining']) }
  }
  /** Uses it until that succeeds: nodes may disagree for a moment. Answers what is left. */
  const used = async (what: string) => {
    let left = Number.NaN
    await eventually(what, async () => {
      const answer = await use()
      left = answer.left
      return answer.status === 200
    })
    return left
  }
  return { counters, use, used }
}

/** True when a replica has all that its master wrote. */
async function isReplicated(master: TestRedis): Promise<boolean> {
  const info = String(await master.command('INFO', 'replication'))
  const written = /master_repl_offset:(\d+)/.exec(info)?.[1]
  return info.includes('state=online') && info.includes(`,offset=${written},`)
}

/** A quota that was used before the end of a master is used after it. */
async function failsOver(
  t: TestContext,
  { counters, use, used }: Awaited<ReturnType<typeof startGateway>>,
  master: TestRedis,
  end: () => Promise<unknown>,
): Promise<void> {
  for (let calls = 0; calls < 20; calls++) assert.equal((await use()).status, 200)
  await eventually('the replica has all', () => isReplicated(master))
  const since = performance.now()
  await end()
  await eventually('the loss is noticed', () => counters.trouble !== undefined)
  const left = await used('another master is used')
  t.diagnostic(`counted again ${Math.round(performance.now() - since)} ms after the end of the master`)
  assert.ok(left <= QUOTA - 21 && left > QUOTA - 100, String(left))
}

const withReplica = async (t: TestContext, master: TestRedis, settings: readonly string[] = []) => {
  const replica = await startRedis(t, settings)
  await replica.command('REPLICAOF', '127.0.0.1', String(master.port))
  await eventually('the replica follows', () => isReplicated(master))
  return replica
}

const withSentinels = async (t: TestContext, master: TestRedis) => {
  const sentinels = [1, 2, 3].map(() => startSentinel(t, 'main', master))
  const started = await Promise.all(sentinels)
  await eventually('the sentinels know each other and the replica', async () => {
    const told = await Promise.all(started.map((one) => one.command('SENTINEL', 'MASTER', 'main')))
    return told.every((fields) => /"num-slaves":"1".*"num-other-sentinels":"2"/.test(JSON.stringify(fields)))
  })
  return `redis+sentinel://127.0.0.1:1,${started.map(({ port }) => `127.0.0.1:${port}`).join()}/0?master=main`
}

test('a gateway follows the election of sentinels: a master that is killed, and one that hangs', async (t) => {
  const master = await startRedis(t)
  const replica = await withReplica(t, master)
  const gateway = await startGateway(t, await withSentinels(t, master))
  await failsOver(t, gateway, master, () => master.kill())
  await master.start()
  await eventually('the old master follows the new one', () => isReplicated(replica))
  const left = await gateway.used('the new master is used')
  const pid = Number(/process_id:(\d+)/.exec(String(await replica.command('INFO', 'server')))?.[1])
  process.kill(pid, 'SIGSTOP')
  try {
    await assert.rejects(gateway.counters.check())
    await eventually('the first is used again', () => gateway.counters.trouble === undefined)
    await gateway.counters.check()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  assert.ok((await gateway.used('it is used')) < left)
})

test('a gateway follows a Redis cluster: a node that is killed, and slots that move', async (t) => {
  const settings = [
    '--cluster-enabled',
    'yes',
    '--cluster-node-timeout',
    '1000',
    '--cluster-allow-replica-migration',
    'no',
  ]
  const nodes = await Promise.all([1, 2, 3, 4].map(() => startRedis(t, settings)))
  const [first, second, third, spare] = nodes as [TestRedis, TestRedis, TestRedis, TestRedis]
  const slot = Number(await first.command('CLUSTER', 'KEYSLOT', 'gatehouse:{counts}:mark'))
  // The first has the slot of all counts alone.
  await first.command('CLUSTER', 'ADDSLOTS', String(slot))
  await second.command('CLUSTER', 'ADDSLOTSRANGE', '0', String(slot - 1))
  await third.command('CLUSTER', 'ADDSLOTSRANGE', String(slot + 1), '16383')
  for (const node of [second, third, spare]) await node.command('CLUSTER', 'MEET', '127.0.0.1', String(first.port))
  const idOf = async (node: TestRedis) => String(await node.command('CLUSTER', 'MYID'))
  const isOk = async (node: TestRedis) => /cluster_state:ok/.test(String(await node.command('CLUSTER', 'INFO')))
  const [firstId, secondId] = [await idOf(first), await idOf(second)]
  await eventually('the spare node has met the first', async () =>
    String(await spare.command('CLUSTER', 'NODES')).includes(firstId),
  )
  await spare.command('CLUSTER', 'REPLICATE', firstId)
  await eventually('the replica follows', () => isReplicated(first))
  await eventually('the cluster is whole', async () => (await Promise.all(nodes.map(isOk))).every(Boolean))
  const gateway = await startGateway(t, `redis+cluster://127.0.0.1:${third.port},127.0.0.1:${first.port}`)
  await failsOver(t, gateway, first, () => first.kill())

  // As `redis-cli --cluster reshard` does it.
  const left = await gateway.used('the replica is used')
  const spareId = await idOf(spare)
  await second.command('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', spareId)
  await spare.command('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', secondId)
  const keys = (await spare.command('CLUSTER', 'GETKEYSINSLOT', String(slot), '1000')) as string[]
  await spare.command('MIGRATE', '127.0.0.1', String(second.port), '', '0', '10000', 'KEYS', ...keys)
  for (const node of [second, spare, third]) await node.command('CLUSTER', 'SETSLOT', String(slot), 'NODE', secondId)
  const after = await gateway.used('the new place of the slot is used')
  assert.ok(after < left && after > left - 100, `${left} ${after}`)
})
