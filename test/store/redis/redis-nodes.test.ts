import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Fault } from '../../../src/errors/fault.ts'
import { type Limit, makeLimit } from '../../../src/model/limits/limit.ts'
import { systemClock } from '../../../src/model/time/clock.ts'
import { RedisCounters } from '../../../src/store/redis/counters.ts'
import { mostWithin, standsStill, usedBeforeRefusal, type Way } from '../../worlds/cluster/used-calls.ts'
import { commonRedis } from '../../worlds/servers/redis.ts'

const deep = process.env.GATEHOUSE_DEEP === '1'
const RUN_MS = deep ? 12_600 : 3_150
const RATE = 1_000
const RATE_MS = 1_000
/** Redis counts a use so long. */
const WINDOW_MS = RATE_MS + 50
/** Of a rate; what is left is leased by nodes that do not use it. */
const NEARLY = 0.93 * RATE
/** Permits of a quota that nodes had leased were returned by then, and used elsewhere. */
const QUIET_MS = 500
const QUOTA = deep ? 50_000 : 5_000
const CALLS_PER_S = deep ? 6_000 : 4_000
const HOUR_MS = 3_600_000

/** Three gateways on one Redis, each with its own connection and its own view of every limit. */
async function threeNodes(t: TestContext, prefix: string): Promise<RedisCounters[]> {
  const { url } = await commonRedis()
  const nodes = [1, 2, 3].map(() => new RedisCounters({ url, prefix: `${prefix}:{counts}:` }))
  t.after(() => Promise.all(nodes.map((node) => node.close())))
  await Promise.all(nodes.map((node) => node.check()))
  return nodes
}

/** Ways of calls, in milliseconds of one clock with fractions: from before they were made until after their answer was read. */
interface Driven {
  readonly used: Way[]
  readonly refused: Way[]
}

/** Sends so many calls a second, spread over the nodes by their shares, for as long as it `goesOn`. */
async function drive(
  nodes: readonly RedisCounters[],
  { perSecond, shares, goesOn }: { perSecond: number; shares: readonly number[]; goesOn: (used: number) => boolean },
  limitsOf: () => readonly Limit[],
): Promise<Driven> {
  const limits = nodes.map(limitsOf)
  const begun = performance.now()
  const driven: Driven = { used: [], refused: [] }
  const note = (answer: number, from: number) =>
    (answer === -1 ? driven.used : driven.refused).push({ from, to: performance.now() })
  const one = async (node: number) => {
    const from = performance.now()
    try {
      note(await nodes[node]!.take(limits[node]!, { wall: systemClock.wall(), mono: systemClock.mono() }), from)
    } catch (error) {
      // On a stalled machine responses of Redis come too late to be used: the call is neither used nor refused.
      if (!(error instanceof Fault) || error.code !== 'store_away') throw error
    }
  }
  const calls: Promise<void>[] = []
  while (goesOn(driven.used.length)) {
    const due = Math.floor(((performance.now() - begun) * perSecond) / 1000)
    while (calls.length < due) calls.push(one(pick(shares, calls.length)))
    await nextTurn()
  }
  await Promise.all(calls)
  return driven
}

/** Spreads calls by hundredths, evenly in time. */
function pick(shares: readonly number[], call: number): number {
  const place = (call * 37) % 100
  let end = 0
  return shares.findIndex((share) => {
    end += share
    return place < end
  })
}

for (const { name, shares } of [
  { name: 'evenly', shares: [34, 33, 33] },
  { name: '90 % on one node', shares: [90, 5, 5] },
]) {
  test(`a rate over three nodes, spread ${name}, is never exceeded by one call, and nearly reached`, async (t) => {
    const nodes = await threeNodes(t, `rate ${name}`)
    let best = 0
    // A machine that has much else to do may keep leases from being used in time: the rest must hold each time.
    for (let tries = 0; tries < 12 && best < NEARLY; tries++) {
      const limits = () => [makeLimit('rate', `k|${tries}`, RATE, RATE_MS)]
      const until = performance.now() + RUN_MS
      const goesOn = () => performance.now() < until
      const { used, refused } = await drive(nodes, { perSecond: 3 * RATE, shares, goesOn }, limits)
      const most = mostWithin(used, RATE_MS)
      assert.ok(most <= RATE, `${most} calls within a window for ${RATE}`)
      best = Math.max(best, usedBeforeRefusal(used, refused, WINDOW_MS))
      t.diagnostic(`most ${most}, ${best} before a refusal`)
    }
    assert.ok(best >= NEARLY, `refused after only ${best} calls within a window for ${RATE}`)
  })

  test(`a quota over three nodes, spread ${name}, is used up to the last call and no further`, async (t) => {
    const nodes = await threeNodes(t, `quota ${name}`)
    const limits = () => [makeLimit('rate', 'k|rate', 1_000_000, 1_000), makeLimit('quota', 'k|quota', QUOTA, HOUR_MS)]
    const isQuiet = standsStill(QUIET_MS)
    const { used, refused } = await drive(
      nodes,
      { perSecond: CALLS_PER_S, shares, goesOn: (count) => !isQuiet(count) },
      limits,
    )
    t.diagnostic(`used ${used.length} of ${QUOTA}`)
    assert.ok(used.length <= QUOTA, `${used.length} calls of a quota of ${QUOTA}`)
    assert.ok(used.length >= QUOTA * 0.99, `only ${used.length} of ${QUOTA}`)
    assert.ok(refused.length > 0)
  })
}
