import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { defined, rights } from '../definitions.ts'
import { done, liveAt } from './acts.ts'
import { type Node, startCluster } from './nodes.ts'
import { type NumberedOrigin, type Paced, sendPaced, startNumberedOrigin } from './paced-load.ts'

// Limits through three whole gateways. That nodes on one Redis keep them, by the very time of use, is shown in test/store/redis-nodes.test.ts.

const RATE = 1_000
const RATE_MS = 1_000
const QUOTA = 50_000
const RUN_MS = 6_300
const WINDOW_MS = RATE_MS + 50

const SPREADS = [
  { name: 'evenly', shares: [34, 33, 33] },
  { name: '90 % on one node', shares: [90, 5, 5] },
]

interface World {
  readonly origin: NumberedOrigin
  readonly gateways: readonly Node[]
}

async function startWorld(t: TestContext): Promise<World> {
  const origin = await startNumberedOrigin(t)
  const cluster = await startCluster(t)
  const gateways = await Promise.all(['a', 'b', 'c'].map((name) => cluster.start('gateway', { SVC_GW_NODENAME: name })))
  const api = defined({ id: 'shop', url: origin.url, keyIn: 'authorization' })
  await done(gateways[0]!.svc('POST', '/svc/apis/oas', api))
  await liveAt(gateways, '/shop/x', 401)
  return { origin, gateways }
}

async function newKey({ gateways }: World, limits: object): Promise<string> {
  const { key } = await done(gateways[0]!.svc('POST', '/svc/keys/create', { ...limits, access_rights: rights('shop') }))
  return String(key)
}

interface Used {
  readonly from: number
  readonly to: number
}

/**
 * The most calls that were surely used within any window: a call is used after it was sent and before it arrives at the origin, so
 * those whose whole way lies in the window. What the machine does to the way of a call makes it too few, never too many.
 */
function mostWithin(used: readonly Used[], windowMs: number): number {
  const arrivals = used.map(({ to }) => to).sort((a, b) => a - b)
  const sent = used.map(({ from }) => from).sort((a, b) => a - b)
  const long = used.filter(({ from, to }) => to - from > windowMs)
  let most = 0
  let arrived = 0
  for (const [i, from] of sent.entries()) {
    while (arrived < arrivals.length && arrivals[arrived]! <= from + windowMs) arrived++
    // Those that were sent before have arrived before the end, but for the very long ones.
    const late = long.filter((one) => one.from < from && one.to > from + windowMs).length
    most = Math.max(most, arrived - (i - late))
  }
  return most
}

/** Calls of the first whole windows, as Redis counts them, in parts of what the rate allows in that time. */
function partReached(used: readonly Used[]): number {
  const begun = Math.min(...used.map(({ from }) => from))
  const windows = Math.floor(RUN_MS / WINDOW_MS)
  const counted = used.filter(({ to }) => to - begun < windows * WINDOW_MS).length
  return counted / (RATE * ((windows * WINDOW_MS) / RATE_MS))
}

const isTaken = ({ status }: Paced) => status === 200

let world: World
before(async (t) => {
  world = await startWorld(t as TestContext)
})

for (const { name, shares } of SPREADS) {
  test(`a rate of ${RATE} a second, spread ${name}, is never exceeded by one call and nearly reached`, async (t) => {
    const { origin, gateways } = world
    let best = 0
    // A machine that has much else to do may keep the calls themselves from coming: the rest must hold each time.
    for (let tries = 0; tries < 3 && best < 0.93; tries++) {
      const key = await newKey(world, { rate: RATE, per: RATE_MS / 1000 })
      const until = performance.now() + RUN_MS
      origin.arrivedAt.clear()
      const sent = await sendPaced({
        ...{ ports: gateways.map(({ port }) => port), shares, perSecond: 2 * RATE, path: '/shop/', key },
        goesOn: () => performance.now() < until,
      })
      const used = sent
        .filter(isTaken)
        .map(({ number, sentAt }) => ({ from: sentAt, to: origin.arrivedAt.get(number)! }))
      assert.equal(used.length, origin.arrivedAt.size, 'what was answered is what arrived')
      const most = mostWithin(used, RATE_MS)
      assert.ok(most <= RATE, `${most} calls within a window for ${RATE}`)
      best = Math.max(best, partReached(used))
      t.diagnostic(`${sent.length} sent, most ${most} in a window, reached ${(best * 100).toFixed(1)} %`)
    }
    assert.ok(best >= 0.93, `only ${(best * 100).toFixed(1)} % of the rate`)
  })

  test(`a quota of ${QUOTA}, spread ${name}, is used up to the last call and no further`, async (t) => {
    const { origin, gateways } = world
    const key = await newKey(world, { quota_max: QUOTA, quota_renewal_rate: 3600 })
    origin.arrivedAt.clear()
    let [taken, seen, lastAt] = [0, 0, performance.now()]
    const begun = lastAt
    const sent = await sendPaced({
      ...{ ports: gateways.map(({ port }) => port), shares, perSecond: 8_000, path: '/shop/', key },
      // Until nothing was admitted for a second: what nodes had leased was given back and used elsewhere.
      goesOn(all) {
        for (; seen < all.length; seen++) {
          if (!isTaken(all[seen]!)) continue
          taken++
          lastAt = performance.now()
        }
        return performance.now() - lastAt < 1_000
      },
    })
    const perSecond = Math.round((taken * 1000) / (lastAt - begun))
    // On a machine that stands still answers of Redis come too late to be used, and calls are refused with 503.
    const late = sent.filter(({ status }) => status === 503).length
    t.diagnostic(`${sent.filter(isTaken).length} of ${QUOTA} taken, ${perSecond} a second, ${late} times 503`)
    assert.deepEqual(
      sent.filter(({ status }) => ![200, 429, 503].includes(status)),
      [],
    )
    assert.ok(origin.arrivedAt.size <= QUOTA, `${origin.arrivedAt.size} calls of a quota of ${QUOTA}`)
    assert.ok(origin.arrivedAt.size >= QUOTA * 0.99, `only ${origin.arrivedAt.size} of ${QUOTA}`)
  })
}
