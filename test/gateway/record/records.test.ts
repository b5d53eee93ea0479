import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Hit } from '../../../src/model/analytics/hit.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { CallOptions } from '../../worlds/base/client.ts'
import { classic, defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'
import { Client, get } from '../../worlds/wire/raw.ts'

const REQUESTS = process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 800
const STATUSES = [200, 201, 204, 301, 304, 400, 404, 418, 500, 503]

/** A request that the installation below is asked, and what its hit must say. */
interface Kind {
  readonly name: string
  readonly path: (status: number) => string
  readonly options?: CallOptions
  /** Status when the upstream was not what answered. */
  readonly own?: number
  /** undefined = it must not be recorded. */
  readonly hit: Partial<Hit> | undefined
}

interface Scene {
  readonly gateway: TestGateway
  readonly origin: Origin
  readonly kinds: readonly Kind[]
  recorded(): Promise<Hit[]>
}

/** An installation with one of every dimension. */
async function open(t: TestContext): Promise<Scene> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  origin.script = ({ target }, response) => {
    response.writeHead(Number(/\/(\d{3})/.exec(target)?.[1] ?? 200))
    response.end()
  }
  const store = openMemoryStore()
  t.after(() => store.close())
  const gateway = await startTestGateway({ store })
  t.after(() => gateway.close())
  const apis = [
    defined({
      id: 'k',
      url: origin.url,
      keyIn: 'X-Key',
      server: {
        listenPath: { value: '/k/', strip: true },
        gatewayTags: { enabled: true, tags: ['blue'] },
        authentication: { enabled: true, securitySchemes: { key: { enabled: true } } },
      },
      global: { trafficLogs: { enabled: true, tagHeaders: ['X-Tenant', 'X-Plan'] } },
      paths: {
        '/tracked/{status}': { get: { operationId: 'tracked' } },
        '/silent/{status}': { get: { operationId: 'silent' } },
        '/free/{status}': { get: { operationId: 'free' } },
        '/shut': { get: { operationId: 'shut' } },
      },
      operations: {
        tracked: { trackEndpoint: { enabled: true } },
        silent: { doNotTrackEndpoint: { enabled: true } },
        free: { ignoreAuthentication: { enabled: true } },
        shut: { block: { enabled: true } },
      },
    }),
    defined({ id: 'open', url: origin.url, info: { orgId: 'org1' } }),
    defined({ id: 'quiet', url: origin.url, global: { trafficLogs: { enabled: false } } }),
    defined({ id: 'dead', url: 'http://127.0.0.1:9/' }),
    classic('v', '/v/', origin.url, {
      definition: { location: 'header', key: 'x-version' },
      version_data: {
        not_versioned: false,
        default_version: 'v1',
        versions: { v1: { name: 'v1' }, v2: { name: 'v2' } },
      },
    }),
    classic('untracked', '/untracked/', origin.url, { do_not_track: true }),
  ]
  for (const api of apis) {
    const made = await gateway.svc('POST', 'openapi' in api ? '/svc/apis/oas' : '/svc/apis', api)
    assert.equal(made.status, 200, made.text)
  }
  const policy = { id: 'gold', access_rights: rights('k'), tags: ['tier-1'], meta_data: { svc_developer_id: 'd1' } }
  assert.equal((await gateway.svc('POST', '/svc/policies', policy)).status, 200)
  const sessions: Record<string, JsonObject> = {
    plain: { access_rights: rights('k'), alias: 'plain one', tags: ['own', 'aa'] },
    gold: { apply_policies: ['gold'], alias: 'gold one', tags: ['own'] },
    off: { access_rights: rights('k'), is_inactive: true },
    elsewhere: { access_rights: rights('dead') },
  }
  const keys: Record<string, string> = {}
  for (const [name, session] of Object.entries(sessions)) {
    keys[name] = ((await gateway.svc('POST', '/svc/keys', session)).json as { key: string }).key
  }
  return {
    gateway,
    origin,
    kinds: kindsOf(keys),
    async recorded() {
      await gateway.close()
      return store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 10_000 })
    },
  }
}

function kindsOf(keys: Readonly<Record<string, string>>): Kind[] {
  const key = (name: string, more: Record<string, string> = {}) => ({ headers: { 'x-key': keys[name]!, ...more } })
  const digest = (name: string) => hash('sha256', keys[name]!, 'hex')
  const k = { apiId: 'k', version: 'Non Versioned' }
  const plain = { ...k, keyHash: digest('plain'), alias: 'plain one' }
  const gold = { ...k, keyHash: digest('gold'), alias: 'gold one' }
  const at = (place: string) => (status: number) => `${place}/${status}?secret=in-the-query`
  return [
    { name: 'plain', path: at('/k/x'), options: key('plain'), hit: { ...plain, tags: 'aa,blue,own' } },
    { name: 'gold', path: at('/k/x'), options: key('gold'), hit: { ...gold, tags: 'blue,dev-d1,pol-gold,tier-1' } },
    {
      name: 'header tags',
      path: at('/k/x'),
      options: key('plain', { 'x-tenant': 'acme', 'X-Plan': 'pro' }),
      hit: { ...plain, tags: 'aa,blue,own,x-plan-pro,x-tenant-acme' },
    },
    {
      name: 'tracked',
      path: at('/k/tracked'),
      options: key('plain'),
      hit: { ...plain, tags: 'aa,blue,own', endpoint: 'GET /tracked/{status}' },
    },
    { name: 'silent', path: at('/k/silent'), options: key('plain'), hit: undefined },
    { name: 'free', path: at('/k/free'), hit: { ...k, tags: 'blue' } },
    { name: 'no key', path: at('/k/x'), own: 401, hit: { ...k, tags: 'blue' } },
    {
      name: 'wrong key',
      path: at('/k/x'),
      options: { headers: { 'x-key': 'nobody-knows-it' } },
      own: 403,
      hit: { ...k, tags: 'blue' },
    },
    {
      name: 'inactive',
      path: at('/k/x'),
      options: key('off'),
      own: 403,
      hit: { ...k, keyHash: digest('off'), tags: 'blue' },
    },
    {
      name: 'no right',
      path: at('/k/x'),
      options: key('elsewhere'),
      own: 403,
      hit: { ...k, keyHash: digest('elsewhere'), tags: 'blue' },
    },
    { name: 'blocked', path: () => '/k/shut', options: key('plain'), own: 403, hit: { ...k, tags: 'blue' } },
    { name: 'keyless', path: at('/open/x'), hit: { apiId: 'open', orgId: 'org1', version: 'Non Versioned' } },
    { name: 'quiet', path: at('/quiet/x'), hit: undefined },
    { name: 'untracked', path: at('/untracked/x'), hit: undefined },
    { name: 'dead', path: at('/dead/x'), own: 502, hit: { apiId: 'dead', version: 'Non Versioned' } },
    { name: 'version 1', path: at('/v/x'), hit: { apiId: 'v', version: 'v1' } },
    {
      name: 'version 2',
      path: at('/v/x'),
      options: { headers: { 'x-version': 'v2' } },
      hit: { apiId: 'v', version: 'v2' },
    },
    { name: 'nowhere', path: at('/nowhere/x'), own: 404, hit: undefined },
  ]
}

const NOTHING: Partial<Hit> = {
  orgId: '',
  apiId: '',
  version: '',
  keyHash: '',
  alias: '',
  clientId: '',
  tags: '',
  endpoint: '',
}

function named(hit: Partial<Hit>, status: number): string {
  const { orgId, apiId, version, keyHash, alias, clientId, tags, endpoint } = { ...NOTHING, ...hit }
  return JSON.stringify([orgId, apiId, version, keyHash, alias, clientId, tags, endpoint, status])
}

test(`${REQUESTS} requests of every kind, many at once: each is counted once, as what it was`, async (t) => {
  const { gateway, kinds, recorded, origin } = await open(t)
  const expected = new Map<string, number>()
  let forwarded = 0
  // A fixed, independent order: which requests run at the same time differs, their sums do not.
  let seed = 12345
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return (seed >>> 8) % below
  }
  const before = gateway.clock.wall()
  for (let from = 0; from < REQUESTS; from += 40) {
    const some = Array.from({ length: 40 }, async () => {
      const kind = kinds[random(kinds.length)]!
      const status = STATUSES[random(STATUSES.length)]!
      const answer = await gateway.call(kind.path(status), kind.options)
      assert.equal(answer.status, kind.own ?? status, `${kind.name}: ${answer.text}`)
      if (kind.own === undefined) forwarded++
      if (kind.hit === undefined) return
      const name = named(kind.hit, answer.status)
      expected.set(name, (expected.get(name) ?? 0) + 1)
    })
    await Promise.all(some)
    gateway.clock.advance(7)
  }
  const hits = await recorded()
  const counted = new Map(hits.map((hit) => [named(hit, hit.status), hit.count]))
  assert.deepEqual(Object.fromEntries([...counted].sort()), Object.fromEntries([...expected].sort()))
  assert.equal(origin.seen.length, forwarded)
  for (const hit of hits) {
    assert.equal(hit.success, hit.status >= 200 && hit.status < 300 ? hit.count : 0)
    assert.equal(hit.error, hit.status >= 400 ? hit.count : 0)
    assert.ok(hit.lastAt >= before && hit.lastAt <= gateway.clock.wall())
    const own = ['dead'].includes(hit.apiId) || (hit.apiId === 'k' && [401, 403].includes(hit.status))
    const upstreamed = hit.upstream.buckets.reduce((sum, count) => sum + count, 0)
    assert.equal(
      hit.total.buckets.reduce((sum, count) => sum + count, 0),
      hit.count,
    )
    if (!own) assert.equal(upstreamed, hit.count)
    assert.ok(hit.total.minMs <= hit.total.maxMs && hit.total.maxMs <= hit.total.sumMs)
    assert.equal(hit.hour, Math.floor(hit.lastAt / 3_600_000))
  }
})

test('hits of two hours are two rows, and an hour begins at its first millisecond', async (t) => {
  const { gateway, recorded } = await open(t)
  const hourMs = 3_600_000
  const toEdge = hourMs - (gateway.clock.wall() % hourMs)
  gateway.clock.advance(toEdge - 1)
  await gateway.call('/open/x')
  gateway.clock.advance(1)
  await gateway.call('/open/x')
  await gateway.call('/open/x')
  const hits = await recorded()
  assert.deepEqual(
    hits.map(({ count }) => count),
    [2, 1],
  )
  assert.equal(hits[0]!.hour - hits[1]!.hour, 1)
})

test('counts of many flushes, reloads and edits in between add up', async (t) => {
  const { gateway, recorded } = await open(t)
  for (let i = 0; i < 30; i++) {
    await gateway.call('/open/x')
    if (i % 5 === 0) await gateway.svc('GET', '/svc/reload?block=true')
    if (i % 7 === 0) {
      const body = (await gateway.svc('GET', '/svc/apis/oas/open')).json as JsonObject
      assert.equal((await gateway.svc('PUT', '/svc/apis/oas/open', body)).status, 200)
    }
  }
  const hits = await recorded()
  assert.equal(
    hits.filter(({ apiId }) => apiId === 'open').reduce((sum, { count }) => sum + count, 0),
    30,
  )
})

test('a session field that only records shows: alias, tags, policies, metadata of the developer', async (t) => {
  const { gateway, recorded } = await open(t)
  const session = { access_rights: rights('k'), alias: 'a', tags: ['one'], meta_data: { svc_developer_id: 'dev7' } }
  const { key } = (await gateway.svc('POST', '/svc/keys', session)).json as { key: string }
  assert.equal((await gateway.call('/k/x', { headers: { 'x-key': key } })).status, 200)
  const edited = { ...session, alias: 'b', tags: ['two', 'a,comma'] }
  assert.equal((await gateway.svc('PUT', `/svc/keys/${key}`, edited)).status, 200)
  assert.equal((await gateway.call('/k/x', { headers: { 'x-key': key } })).status, 200)
  const hits = await recorded()
  assert.deepEqual(hits.map(({ alias, tags }) => [alias, tags]).sort(), [
    ['a', 'blue,dev-dev7,one'],
    ['b', 'a_comma,blue,dev-dev7,two'],
  ])
})

test('a client that leaves before its answer counts as 499, later with its status', async (t) => {
  const { gateway, origin, recorded } = await open(t)
  const inFlight = async () => {
    const { text } = await gateway.svc('GET', '/metrics')
    return Number(/^svc_connections (\d+)$/m.exec(text)?.[1])
  }
  origin.script = ({ target }, response) => {
    if (target === '/never') return
    response.writeHead(200)
    response.write('begun')
  }
  for (const path of ['/open/never', '/open/begun']) {
    const client = await Client.connect(gateway.port)
    client.write(get(path))
    await eventually('it is at the upstream', () => origin.seen.some(({ target }) => path.endsWith(target)))
    if (path === '/open/begun') await eventually('the answer began', () => client.inbox.pending.length > 0)
    client.destroy(true)
    await eventually('the gateway has noticed', async () => (await inFlight()) === 1)
  }
  const hits = await recorded()
  assert.deepEqual(hits.map(({ status, count }) => [status, count]).sort(), [
    [200, 1],
    [499, 1],
  ])
})
