import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { writeNodeStatus } from '../../../src/publish/nodes/node-status.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { classicApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

interface Row {
  readonly api_id: string
  readonly active: boolean
  readonly nowhere: boolean
  readonly tags: readonly string[]
  readonly nodes: readonly { readonly node: string; readonly state: string }[]
}

test('each API tells where it is served, and whether anywhere', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const dashboard = await startTestDashboard({ store, clock, env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  t.after(dashboard.close)
  const { call, user } = dashboard
  const admin = await dashboard.admin()
  const seen_at = new Date(clock.wall()).toISOString()
  const node = (name: string, more: object) =>
    writeNodeStatus(store, {
      ...{ name, hostname: 'h', version: '1', management: false, segmented: true, tags: ['eu'], up: true },
      ...{ behind: false, revision: 1e9, loaded: 1, troubled: 0, troubles: [], started_at: seen_at, seen_at },
      ...more,
    })
  await node('edge', {})
  await node('desk', { management: true, segmented: false, tags: [] })
  const apis: readonly (readonly [string, JsonObject])[] = [
    ['here', { tags: ['eu'] }],
    ['nowhere', { tags: ['us'] }],
    ['off', { active: false, tags: ['us'] }],
  ]
  for (const [id, more] of apis) {
    const api_definition = classicApi(id, `/${id}/`, more)
    assert.equal((await call('POST', '/api/apis', { as: admin, body: { api_definition } })).status, 200)
  }
  const list = async (query = '', as = admin) => {
    const { json } = await call('GET', `/api/system/sync-status${query}`, { as })
    // The deprecated spelling answers the same, for every caller.
    const deprecated = `/api/system/standings${query.replace('out_of_sync', 'astray')}`
    assert.deepEqual((await call('GET', deprecated, { as })).json, json)
    return json as { apis: Row[]; pages: number }
  }
  const told = ({ apis }: { apis: Row[] }) =>
    apis.map(({ api_id, nowhere, nodes }) => [api_id, nowhere, nodes.map(({ state }) => state).join()])
  assert.deepEqual(told(await list()), [
    ['here', false, 'loaded,loaded'],
    ['nowhere', true, 'loaded,elsewhere'],
    ['off', false, 'inactive,inactive'],
  ])
  assert.deepEqual((await list()).apis[1]!.tags, ['us'])
  assert.deepEqual(told(await list('?out_of_sync=true')), [['nowhere', true, 'loaded,elsewhere']])
  assert.deepEqual(
    (await list('?q=HER')).apis.map(({ api_id }) => api_id),
    ['here', 'nowhere'],
  )
  // One that the node did not take over as it is stored.
  const troubles = [{ api_id: 'here', state: 'failed', reason: 'r', revision: 0 }] as const
  await node('edge', { troubles, troubled: 1 })
  assert.deepEqual(
    (await list('?out_of_sync=true')).apis.map(({ api_id }) => api_id),
    ['here', 'nowhere'],
  )

  // APIs of other owners are left out in both forms.
  const owner = await user({ apis: 'write' })
  const owned = classicApi('owned', '/owned/', { tags: ['us'] })
  assert.equal((await call('POST', '/api/apis', { as: owner, body: { api_definition: owned } })).status, 200)
  const stranger = await user({ apis: 'read' })
  for (const query of ['', '?p=-1', '?out_of_sync=true', '?q=owned']) {
    const ids = (await list(query, stranger)).apis.map(({ api_id }) => api_id)
    assert.ok(!ids.includes('owned'), query)
    assert.ok(
      (await list(query, owner)).apis.some(({ api_id }) => api_id === 'owned'),
      query,
    )
  }
})
