import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_BEAT_MS, type NodeStatus, syncStatusOf } from '../../../src/model/nodes/node.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { forgetNodes, listNodes, writeNodeStatus } from '../../../src/publish/nodes/node-status.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { bodyOf, classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

interface Shown {
  readonly revision: number
  readonly nodes: readonly { node: string; state: string; reason: string; revision: number }[]
}

const NOW = 1_700_000_000_000

function status(more: Partial<NodeStatus> = {}): NodeStatus {
  return {
    name: 'n',
    hostname: 'h',
    version: '1',
    management: false,
    segmented: false,
    tags: [],
    up: true,
    behind: false,
    revision: 10,
    loaded: 1,
    troubled: 0,
    troubles: [],
    started_at: new Date(NOW).toISOString(),
    seen_at: new Date(NOW).toISOString(),
    ...more,
  }
}

test('each API shows how it stands on each node', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const dashboard = await startTestDashboard({ store, clock, env: { SVC_DB_ENABLEDUPLICATESLUGS: 'true' } })
  t.after(() => dashboard.close())
  const gateway = await startTestGateway({ store, clock })
  t.after(() => gateway.close())
  const admin = await dashboard.admin()
  const { call } = dashboard
  const post = async (body: ReturnType<typeof classicApi>) =>
    assert.equal((await call('POST', '/api/apis', { as: admin, body: { api_definition: body } })).status, 200)
  const shown = async (id: string) => (await call('GET', `/api/apis/${id}/nodes`, { as: admin })).json as Shown
  const stands = (id: string, state: string) =>
    eventually(`${id} is ${state}`, async () => (await shown(id)).nodes[0]?.state === state)

  await post(classicApi('orders', '/orders/'))
  await stands('orders', 'loaded')
  const { revision, nodes } = await shown('orders')
  assert.deepEqual(nodes, [{ node: 'test-node', state: 'loaded', reason: '', revision }])
  await post(classicApi('second', '/orders/'))
  await stands('second', 'taken')
  assert.match((await shown('second')).nodes[0]!.reason, /held by API orders/)
  await post(classicApi('off', '/off/', { active: false }))
  await stands('off', 'inactive')

  // As it would be after an update that checks more than the version before.
  const stored = (await store.documents.find('api', 'api_id', 'orders'))!
  const body = { ...stored.body, definition: { name: 'broken' } }
  await store.documents.commit([{ op: 'put', kind: 'api', id: stored.id, body }], undefined)
  await stands('orders', 'stale')
  const [stale] = (await shown('orders')).nodes
  assert.equal(stale!.revision, revision, 'the definition before is served')
  assert.notEqual(stale!.reason, '')

  await writeNodeStatus(
    store,
    status({
      name: 'edge',
      segmented: true,
      tags: ['eu'],
      revision: 1e9,
      seen_at: new Date(clock.wall()).toISOString(),
    }),
  )
  const states = async (id: string) => (await shown(id)).nodes.map(({ node, state }) => [node, state])
  assert.deepEqual((await states('second')).at(0), ['edge', 'elsewhere'])
  await gateway.close()
  assert.deepEqual((await states('second')).at(1), ['test-node', 'unknown'])
  clock.advance(4 * NODE_BEAT_MS)
  assert.deepEqual((await states('second')).at(0), ['edge', 'unknown'])
})

test('nodes write nothing more while nothing changes', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const { documents } = gateway.store
  await eventually('the node has said that it is there', async () => (await listNodes({ documents })).length === 1)
  const [node] = await listNodes({ documents })
  assert.deepEqual([node!.name, node!.up, node!.loaded, node!.version], ['test-node', true, 0, '0.0.0-test'])
  const revision = await documents.revision()
  await gateway.svc('POST', '/svc/policies', { id: 'p', name: 'p', access_rights: {} })
  for (let i = 0; i < 20; i++) await gateway.svc('POST', '/svc/apis/oas', oasApi(`a${i}`, `/a${i}/`))
  await eventually('the node has told of them', async () => (await listNodes({ documents }))[0]!.loaded === 20)
  const writes = (await documents.revision()) - revision - 21
  assert.ok(writes >= 1 && writes <= 6, `${writes} writes for 20 changes within a moment`)
  await gateway.gateway.stop()
  assert.equal((await listNodes({ documents }))[0]!.up, false)
})

test('how an API stands, from what a node says', () => {
  const api = { apiId: 'a', revision: 7, active: true, tags: ['eu'] }
  const stand = (node: Partial<NodeStatus>, more: Partial<typeof api> = {}, now = NOW) => {
    const { state, revision } = syncStatusOf({ ...api, ...more }, status(node), now)
    return [state, revision]
  }
  const trouble = { api_id: 'a', state: 'stale', reason: 'r', revision: 5 } as const
  assert.deepEqual(stand({}), ['loaded', 7])
  assert.deepEqual(stand({ revision: 6 }), ['pending', 0])
  assert.deepEqual(stand({ revision: 6, troubles: [trouble], troubled: 1 }), ['pending', 0])
  assert.deepEqual(stand({ troubles: [trouble], troubled: 1 }), ['stale', 5])
  assert.deepEqual(stand({ troubles: [{ ...trouble, api_id: 'b' }], troubled: 1 }), ['loaded', 7])
  assert.deepEqual(stand({ troubled: 1 }), ['unknown', 0])
  assert.deepEqual(stand({}, { active: false }), ['inactive', 0])
  assert.deepEqual(stand({ segmented: true, tags: ['us'] }), ['elsewhere', 0])
  assert.deepEqual(stand({ segmented: true, tags: ['us', 'eu'] }), ['loaded', 7])
  assert.deepEqual(stand({ up: false }), ['unknown', 0])
  assert.deepEqual(stand({}, {}, NOW + 3 * NODE_BEAT_MS), ['unknown', 0])
})

test('nodes that nothing was heard of for a month are forgotten', async (t) => {
  const store = openMemoryStore({ clock: new FakeClock() })
  t.after(() => store.close())
  const days = (count: number) => new Date(NOW - count * 86_400_000).toISOString()
  await writeNodeStatus(store, status({ name: 'old', seen_at: days(31) }))
  await writeNodeStatus(store, status({ name: 'new', seen_at: days(29) }))
  await forgetNodes(store, NOW)
  assert.deepEqual(
    (await listNodes(store)).map(({ name }) => name),
    ['new'],
  )
})

test('an API of another organisation is not named where it stands in the way', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const { admin, call, close, organisation, user } = await startTestDashboard({
    store,
    clock,
    env: { SVC_DB_ENABLEDUPLICATESLUGS: 'true' },
  })
  t.after(close)
  const gateway = await startTestGateway({ store, clock })
  t.after(() => gateway.close())
  const [first, second] = [await admin(), await user({ IsAdmin: 'admin' }, { orgId: await organisation() })]
  const post = (as: typeof first, id: string) =>
    call('POST', '/api/apis', { as, body: { api_definition: classicApi(id, '/same/', { name: `Secret ${id}` }) } })
  await post(first, 'one')
  clock.advance(1)
  await post(second, 'two')
  const look = () => call('GET', '/api/apis/two/nodes', { as: second })
  await eventually('it is taken', async () => ((await look()).json as Shown).nodes[0]?.state === 'taken')
  const answer = await look()
  assert.doesNotMatch(answer.text, /Secret one/)
  assert.ok(bodyOf(answer))
})
