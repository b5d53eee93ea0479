import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { JsonObject } from '../../src/model/json/json.ts'
import { answering, defined, rights } from '../worlds/base/definitions.ts'
import { eventually } from '../worlds/base/eventually.ts'
import { BASIC, credentialOf, distribution, done, FORM, liveAt, storeOAuth } from '../worlds/cluster/acts.ts'
import { type Cluster, type Node, startCluster } from '../worlds/cluster/nodes.ts'
import { RoundRobin, type Sent } from '../worlds/cluster/round-robin.ts'
import { startOrigin } from '../worlds/servers/origin.ts'

// Three gateways with different tags and two dashboards behind plain balancers, over one PostgreSQL and one Redis, under load while each of
// them goes and comes back.

const EDITS = 40
const REVOCATIONS = 200
/** Tokens that are revoked at the same time. */
const LANES = 4
/** The contract's bound for an edit and a revocation: effective on every other node within a second. */
const PROMISED_MS = 1_000
/** The time of an answer beyond this is the machine's, and counts against no promise. */
const PROMPT_MS = 50
/** Between two requests of one lane: the machine of the test has other things to do. */
const PAUSE_MS = 10
const TAGS = ['eu', 'us', 'eu,us']
const BOTH = { gatewayTags: { enabled: true, tags: ['eu', 'us'] } }

const common = (url: string, edit: string): JsonObject =>
  defined({
    ...{ id: 'common', url, keyIn: 'authorization' },
    server: { ...BOTH, listenPath: { value: '/common/', strip: true } },
    global: { onStoreFailure: 'allow', ...answering('x-edit', edit) },
  })

interface World {
  readonly cluster: Cluster
  readonly url: string
  readonly gateways: Node[]
  readonly dashboards: Node[]
  readonly traffic: RoundRobin
  readonly control: RoundRobin
  readonly key: string
  readonly credential: string
}

function startGateway(cluster: Cluster, place: number): Promise<Node> {
  return cluster.start('gateway', {
    SVC_GW_NODENAME: `gateway-${place}`,
    SVC_GW_DBAPPCONFOPTIONS_NODEISSEGMENTED: 'true',
    SVC_GW_DBAPPCONFOPTIONS_TAGS: TAGS[place]!,
  })
}

async function startWorld(t: TestContext): Promise<World> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const cluster = await startCluster(t, ['--appendonly', 'yes'])
  const first = await cluster.start('dashboard')
  const second = await cluster.start('dashboard')
  const gateways = await Promise.all(TAGS.map((_, place) => startGateway(cluster, place)))
  const [eu] = gateways as [Node]
  await done(eu.svc('POST', '/svc/apis/oas', common(origin.url, '0')))
  const only = { gatewayTags: { enabled: true, tags: ['eu'] }, listenPath: { value: '/only/', strip: true } }
  await done(eu.svc('POST', '/svc/apis/oas', defined({ id: 'only', url: origin.url, server: only })))
  await storeOAuth(eu, origin.url, BOTH)
  const limits = { rate: 100_000, per: 1, quota_max: 10_000_000, quota_renewal_rate: 3600 }
  const { key } = await done(eu.svc('POST', '/svc/keys/create', { ...limits, access_rights: rights('common') }))
  await liveAt(gateways, '/common/x', 200, { authorization: String(key) })
  await liveAt(gateways, '/tok/x', 401)
  const traffic = new RoundRobin(gateways.map(({ port }) => port))
  const control = new RoundRobin([first.port, second.port])
  t.after(() => {
    traffic.close()
    control.close()
  })
  const [dashboards, credential] = [[first, second], await credentialOf(first)]
  return { ...{ cluster, url: origin.url, gateways, dashboards, traffic, control }, key: String(key), credential }
}

/** Requests of all kinds, until it is stopped. */
interface Load {
  /** Requests that were answered as they should be. */
  readonly answered: () => number
  /** Unexpected answers, and calls without any. */
  readonly failures: string[]
  /** Requests that were under way at a gateway when it was killed. */
  readonly killed: () => number
  /** Waits until so many more were answered. @throws AssertionError naming the first failure */
  more(count: number): Promise<void>
  stop(): Promise<void>
}

function startLoad({ traffic, control, key, credential }: World): Load {
  const state = { running: true, answered: 0, killed: 0 }
  const failures: string[] = []
  /** Answers the body of a 200; undefined where the node was killed. */
  const expect = (what: string, sent: Sent): JsonObject | undefined => {
    if ('killed' in sent) state.killed++
    else if (sent.status !== 200) failures.push(`${what} at ${sent.port}: ${sent.status} ${sent.text}`)
    else {
      state.answered++
      return sent.json as JsonObject
    }
    return undefined
  }
  const lanes: ((n: number) => Promise<void>)[] = [
    async () => void expect('a request', await traffic.send('/common/x', { headers: { authorization: key } })),
    async () => {
      const ask = { method: 'POST', headers: { ...BASIC, ...FORM }, body: 'grant_type=client_credentials' }
      const made = expect('a token', await traffic.send('/tok/oauth/token', ask))
      if (made === undefined) return
      // The next node, which has never seen it.
      const headers = { authorization: `Bearer ${made.access_token}` }
      expect('the use of a new token', await traffic.send('/tok/x', { headers }))
    },
    async () => {
      const headers = { authorization: credential }
      expect('a list', await control.send('/api/apis', { headers }))
    },
    async (n) => {
      const body = JSON.stringify({ ...policy, name: `p ${n}` })
      const headers = { authorization: credential, 'content-type': 'application/json' }
      expect('an edit', await control.send(`/api/portal/policies/${policy.id}`, { method: 'PUT', headers, body }))
    },
  ]
  const policy = { id: 'p', active: true, rate: 0, per: 0, quota_max: -1, access_rights: rights('tok') }
  const run = async (lane: (n: number) => Promise<void>) => {
    for (let n = 0; state.running; n++) {
      await lane(n).catch((error) => failures.push(String(error)))
      await wait(PAUSE_MS)
    }
  }
  const running = [0, 0, 0, 0, 1, 1, 2, 3].map((lane) => run(lanes[lane]!))
  return {
    answered: () => state.answered,
    killed: () => state.killed,
    failures,
    async more(count) {
      const until = state.answered + count
      await eventually('requests are answered', () => failures.length > 0 || state.answered >= until)
      assert.deepEqual(failures.slice(0, 3), [])
    },
    async stop() {
      state.running = false
      await Promise.all(running)
    },
  }
}

/** How long a node answers as before, from now on, on a machine under load. */
async function answersAsBefore(node: Node, isNew: () => Promise<boolean>): Promise<number> {
  for (let oldMs = 0; ; ) {
    const askedAt = performance.now()
    if (await isNew()) return oldMs
    oldMs += Math.min(performance.now() - askedAt, PROMPT_MS)
    assert.ok(oldMs < 30_000, `node ${node.port} never noticed`)
  }
}

async function measureEdits({ gateways, control, url, key, credential }: World): Promise<number[]> {
  const times: number[] = []
  for (let n = 1; n <= EDITS; n++) {
    const headers = { authorization: credential, 'content-type': 'application/json' }
    const body = JSON.stringify(common(url, String(n)))
    const put = await control.send('/api/apis/oas/common', { method: 'PUT', headers, body })
    assert.ok('status' in put && put.status === 200, JSON.stringify(put))
    const isNew = async (node: Node) =>
      (await node.call('/common/x', { authorization: key })).headers['x-edit'] === String(n)
    times.push(...(await Promise.all(gateways.map((node) => answersAsBefore(node, () => isNew(node))))))
  }
  return times
}

async function measureRevocations(world: World): Promise<number[]> {
  const times: number[] = []
  const lane = async () => {
    for (let n = 0; n < REVOCATIONS / LANES; n++) times.push(await measureRevocation(world))
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return times
}

async function measureRevocation({ gateways, traffic }: World): Promise<number> {
  const post = { method: 'POST', headers: { ...BASIC, ...FORM } }
  const made = await traffic.send('/tok/oauth/token', { ...post, body: 'grant_type=client_credentials' })
  assert.ok('json' in made && made.status === 200, JSON.stringify(made))
  const { access_token: token } = made.json as { access_token: string }
  const headers = { authorization: `Bearer ${token}` }
  // All of them have it in memory.
  for (const node of gateways) assert.equal((await node.call('/tok/x', headers)).status, 200)
  const revoked = await traffic.send('/tok/oauth/revoke', { ...post, body: `token=${token}` })
  assert.ok('status' in revoked && revoked.status === 200, JSON.stringify(revoked))
  const isNew = async (node: Node) => (await node.call('/tok/x', headers)).status === 401
  const all = await Promise.all(gateways.map((node) => answersAsBefore(node, () => isNew(node))))
  assert.equal(all[gateways.findIndex(({ port }) => port === revoked.port)], 0, 'at once where it was revoked')
  return Math.max(...all)
}

test('no request fails through outages; edits and revocations apply everywhere in time', async (t) => {
  const world = await startWorld(t)
  const { cluster, gateways, dashboards, traffic, control } = world
  const [, , both] = gateways as [Node, Node, Node]
  const at = await Promise.all(gateways.map(async (node) => (await node.call('/only/x')).status))
  assert.deepEqual(at, [200, 404, 200], 'each node loads what its tags say')
  const load = startLoad(world)
  t.after(() => load.stop())
  await load.more(100)

  await t.test('a gateway is killed and started again', async () => {
    traffic.expectKill(both.port)
    await both.kill()
    await load.more(200)
    traffic.remove(both.port)
    const again = await startGateway(cluster, 2)
    gateways[2] = again
    traffic.add(again.port)
    await load.more(200)
    t.diagnostic(`${load.killed()} requests were under way at the killed gateway`)
  })

  await t.test('a dashboard is restarted', async () => {
    const [first] = dashboards as [Node]
    assert.equal(await first.stop(), 0)
    await load.more(50)
    control.remove(first.port)
    const again = await cluster.start('dashboard')
    dashboards[0] = again
    control.add(again.port)
    await load.more(100)
  })

  await t.test('Redis is restarted', async () => {
    await cluster.redis.kill()
    await load.more(100)
    await cluster.redis.start()
    await load.more(200)
  })

  await t.test('PostgreSQL is restarted, cleanly and as in a crash', async () => {
    for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
      await cluster.postgres.halt(signal)
      await cluster.postgres.resume()
      await load.more(200)
    }
  })

  await t.test('an edit is live everywhere within a second', async () => {
    const times = await measureEdits(world)
    t.diagnostic(`an edit was live at a gateway after, ${distribution(times)}`)
    assert.ok(Math.max(...times) <= PROMISED_MS, distribution(times))
  })

  await t.test('a revoked token is refused everywhere within a second', async () => {
    const times = await measureRevocations(world)
    t.diagnostic(`a revoked token was last accepted anywhere after, ${distribution(times)}`)
    assert.ok(Math.max(...times) <= PROMISED_MS, distribution(times))
  })

  await load.stop()
  assert.deepEqual(load.failures, [])
  t.diagnostic(`${load.answered()} requests, none failed`)
})
