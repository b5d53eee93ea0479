import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../worlds/base/eventually.ts'
import { isLinearizable, quotaFaults, refreshModel, revocationFaults } from '../../worlds/cluster/history.ts'
import { playQuota, playRefreshes, playRevocations, storeWorld, type World } from '../../worlds/cluster/history-play.ts'
import { SECRET } from '../../worlds/cluster/nodes.ts'
import { startThreads } from '../../worlds/gateway/threads-world.ts'

const skip = process.platform === 'linux' || process.platform === 'freebsd' ? false : 'no port can be shared'
const RUN_MS = 8_000
const QUOTA = 2_000
const QUOTA_MS = 60_000

// Sixteen clients at one port, each request on a connection of its own, so that the system picks the thread. Threads are one node: what is
// answered by one holds at once on all.

test('histories of two threads are those of one gateway', { skip }, async (t) => {
  const threads = await startThreads(t, 2, { SVC_GW_SECRET: SECRET })
  const { port } = threads.gateway
  const key = await storeWorld({ svc: (...call) => threads.svc(1, ...call) }, threads.upstream, QUOTA)
  const world: World = { places: [{ node: { port }, front: { port }, cutOff: [] }], key }

  await t.test('refreshes', async () => {
    const grants = await playRefreshes(world, RUN_MS)
    const all = grants.flatMap(({ history }) => history)
    t.diagnostic(`${all.length} refreshes of ${grants.length} grants`)
    assert.ok(all.some(({ output }) => typeof output === 'object'))
    const impossible = grants.filter(({ first, history }) => !isLinearizable(history, refreshModel(first)))
    assert.deepEqual(impossible.slice(0, 1), [])
  })

  await t.test('revocations', async () => {
    const all = await playRevocations(world, RUN_MS)
    t.diagnostic(`${all.flatMap(({ uses }) => uses).length} uses of ${all.length} tokens`)
    assert.deepEqual(
      all.flatMap(({ uses, revoked }) => revocationFaults(uses, revoked, (_, at) => at)),
      [],
    )
  })

  await t.test('a quota, while a thread ends again and again', async () => {
    let playing = true
    const ends = async () => {
      let count = 0
      for (; playing; count++) {
        await threads.gateway.end((count % 2) + 1)
        await eventually('both serve', async () => !playing || (await threads.serving()) === 2)
      }
      return count
    }
    const ending = ends()
    const takings = await playQuota(world, QUOTA_MS)
    playing = false
    t.diagnostic(`${takings.length} calls, ${await ending} threads ended`)
    const unheard = takings.filter(({ outcome }) => outcome === undefined).length
    assert.deepEqual(quotaFaults(takings, { max: QUOTA, held: unheard }), [])
  })
})
