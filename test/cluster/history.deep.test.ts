import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { isLinearizable, quotaFaults, refreshModel, revocationFaults, type Taking } from '../worlds/cluster/history.ts'
import {
  dueAt,
  type Grant,
  makeTrouble,
  playQuota,
  playRefreshes,
  playRevocations,
  type Revoked,
  startWorld,
  type World,
} from '../worlds/cluster/history-play.ts'
import { startCluster } from '../worlds/cluster/nodes.ts'

// Sixteen clients at three gateways, with a network between all parts that cuts connections, holds bytes back and loses answers. What they saw
// must have an order, or keep a stated bound; that it can be found out is shown with gateways that break one promise each.

const RUN_MS = 10_000
const QUOTA = 1_000
/** A machine that is busy may not use it up. */
const QUOTA_MS = 30_000
const BROKEN_RUN_MS = 3_000
const BROKEN_QUOTA = 300
/** Permits of a quota that are lost to nobody knows where when the answer of Redis is: what was asked for in two rounds. */
const LOST_WITH_A_CUT = 40
const MOST_CUTS = 12

/** Grants whose history no order explains. */
const impossible = (grants: readonly Grant[]) =>
  grants.filter(({ first, history }) => !isLinearizable(history, refreshModel(first)))
const brokenPromises = (all: readonly Revoked[], { places }: World) =>
  all.flatMap(({ uses, revoked }) => revocationFaults(uses, revoked, (node, at) => dueAt(places[node]!, at)))
const taken = (takings: readonly Taking[]) => takings.filter(({ outcome }) => outcome === 'taken').length

test('under faults refreshes are linearizable, revocations in time, quotas exact', async (t) => {
  const cluster = await startCluster(t, ['--appendonly', 'yes'])
  const world = await startWorld(t, cluster, { start: (env) => cluster.start('gateway', env), quota: QUOTA })
  const { places } = world

  await t.test('refreshes', async () => {
    const end = makeTrouble(places)
    const grants = await playRefreshes(world, RUN_MS)
    t.diagnostic(await end())
    const all = grants.flatMap(({ history }) => history)
    const gave = all.filter(({ output }) => typeof output === 'object').length
    const unheard = all.filter(({ output }) => output === undefined).length
    t.diagnostic(`${all.length} refreshes of ${grants.length} grants: ${gave} gave, ${unheard} were not heard of`)
    assert.ok(gave > 0)
    assert.deepEqual(impossible(grants).slice(0, 1), [])
  })

  await t.test('revocations', async () => {
    const end = makeTrouble(places, 0)
    const all = await playRevocations(world, RUN_MS)
    t.diagnostic(await end())
    t.diagnostic(`${all.flatMap(({ uses }) => uses).length} uses of ${all.length} tokens`)
    assert.deepEqual(brokenPromises(all, world), [])
  })

  await t.test('a quota', async () => {
    const end = makeTrouble(places)
    // Then in quiet, for it is to be used up.
    const ended = wait(RUN_MS).then(end)
    const takings = await playQuota(world, QUOTA_MS)
    t.diagnostic(await ended)
    t.diagnostic(
      `${taken(takings)} of a quota of ${QUOTA}, ${takings.filter((one) => one.outcome === undefined).length} not heard of`,
    )
    assert.deepEqual(quotaFaults(takings, { max: QUOTA, held: MOST_CUTS * LOST_WITH_A_CUT }), [])
  })
})

/** Gateways that break the promise `broken`. */
async function startBroken(t: TestContext, broken: string): Promise<World> {
  const cluster = await startCluster(t)
  const start = (env: Record<string, string>) => cluster.startProgram('broken-node.ts', { ...env, BROKEN: broken })
  return startWorld(t, cluster, { start, quota: BROKEN_QUOTA })
}

test('a store without atomic claims is found out', async (t) => {
  const grants = await playRefreshes(await startBroken(t, 'claims'), BROKEN_RUN_MS)
  const { length } = impossible(grants)
  t.diagnostic(`${length} of ${grants.length} grants have an impossible history`)
  assert.ok(length > 0)
})

test('a feed that tells too late is found out', async (t) => {
  const world = await startBroken(t, 'feed')
  const faults = brokenPromises(await playRevocations(world, BROKEN_RUN_MS), world)
  t.diagnostic(`${faults.length} uses that break the promise, such as: ${faults[0]}`)
  assert.ok(faults.length > 0)
})

test('nodes that count a quota each for itself are found out', async (t) => {
  const takings = await playQuota(await startBroken(t, 'counters'), QUOTA_MS)
  t.diagnostic(`${taken(takings)} of a quota of ${BROKEN_QUOTA}`)
  assert.notDeepEqual(quotaFaults(takings, { max: BROKEN_QUOTA, held: 0 }), [])
})
