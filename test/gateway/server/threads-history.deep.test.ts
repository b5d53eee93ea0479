import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../worlds/base/eventually.ts'
import { isLinearizable, quotaFaults, refreshModel, revocationFaults } from '../../worlds/cluster/history.ts'
import { playQuota, playRefreshes, playRevocations, storeWorld, type World } from '../../worlds/cluster/history-play.ts'
import { SECRET } from '../../worlds/cluster/nodes.ts'
import { startThreads } from '../../worlds/gateway/threads-world.ts'

const skip = process.platform === 'linux' || process.platform === 'freebsd' ? false : 'no port can be shared'
const QUOTA = 2_000
const RUNS = [
  { count: 2, runMs: 8_000, quotaMs: 60_000 },
  { count: 4, runMs: 4_000, quotaMs: 20_000 },
]

// Sixteen clients at one port, each request on a connection of its own, so that the system picks the thread. Threads are one node: what is
// answered by one holds at once on all.

for (const { count, runMs, quotaMs } of RUNS)
  test(`histories of ${count} threads are those of one gateway`, { skip }, (t) => play(t, count, runMs, quotaMs))

async function play(t: TestContext, count: number, runMs: number, quotaMs: number): Promise<void> {
  const threads = await startThreads(t, count, { SVC_GW_SECRET: SECRET })
  const { port } = threads.gateway
  const key = await storeWorld({ svc: (...call) => threads.svc(1, ...call) }, threads.upstream, QUOTA)
  const world: World = { places: [{ node: { port }, front: { port }, cutOff: [] }], key }

  await t.test('refreshes', async () => {
    const grants = await playRefreshes(world, runMs)
    const all = grants.flatMap(({ history }) => history)
    t.diagnostic(`${all.length} refreshes of ${grants.length} grants`)
    assert.ok(all.some(({ output }) => typeof output === 'object'))
    const impossible = grants.filter(({ first, history }) => !isLinearizable(history, refreshModel(first)))
    assert.deepEqual(impossible.slice(0, 1), [])
  })

  await t.test('revocations', async () => {
    const all = await playRevocations(world, runMs)
    t.diagnostic(`${all.flatMap(({ uses }) => uses).length} uses of ${all.length} tokens`)
    assert.deepEqual(
      all.flatMap(({ uses, revoked }) => revocationFaults(uses, revoked, (_, at) => at)),
      [],
    )
  })

  await t.test('a quota, while a thread ends again and again', async () => {
    let playing = true
    const ends = async () => {
      let ended = 0
      for (; playing; ended++) {
        await threads.gateway.end((ended % count) + 1)
        await eventually('all serve', async () => !playing || (await threads.serving()) === count)
      }
      return ended
    }
    const ending = ends()
    const takings = await playQuota(world, quotaMs)
    playing = false
    t.diagnostic(`${takings.length} calls, ${await ending} threads ended`)
    const unheard = takings.filter(({ outcome }) => outcome === undefined).length
    assert.deepEqual(quotaFaults(takings, { max: QUOTA, held: unheard }), [])
  })
}
