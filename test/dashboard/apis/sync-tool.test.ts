import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { bodyOf, classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'
import { ALIAS, ALL, comparable, EXTENSION, toolOf } from '../../worlds/dashboard/sync-tool.ts'

async function fill(world: TestDashboard, as: TestUser): Promise<void> {
  const post = async (path: string, body: unknown, status = 200) =>
    assert.equal((await world.call('POST', path, { as, body })).status, status, path)
  for (const n of [0, 1]) {
    await post('/api/apis/', {
      api_definition: classicApi(`c${n}`, `/c${n}/`, {
        tags: null,
        config_data: { n },
        use_keyless: false,
        use_standard_auth: true,
      }),
    })
    const { 'x-svc-api-gateway': extension, ...rest } = oasApi(`o${n}`, `/o${n}/`)
    await post('/api/apis/oas/', { ...rest, [n === 0 ? EXTENSION : 'x-svc-api-gateway']: extension! })
  }
  await world.call('PUT', '/api/apis/oas/o1/categories/', { as, body: { categories: ['one'] } })
  const { 'x-svc-api-gateway': extension, ...rest } = oasApi('t', '/t/')
  const template = { ...rest, [EXTENSION]: extension! }
  const access_rights = { c0: { api_id: 'c0', versions: ['Default'], allowed_urls: null } }
  await post('/api/portal/policies/', {
    id: 'gold',
    name: 'Gold',
    active: true,
    rate: 5,
    per: 1,
    access_rights,
    tags: null,
  })
  await post('/api/assets', { id: 'template', kind: 'oas-template', name: 'Template', data: template }, 201)
  await post('/api/keys/key-of-many-letters', { apply_policies: ['gold'] })
}

test('the tool dumps, syncs, wipes and publishes; a sync of nothing new changes no date', async (t) => {
  const world = await startTestDashboard({ env: { SVC_COMPAT_VENDORALIASES: ALIAS } })
  t.after(() => world.close())
  const as = await world.admin()
  await fill(world, as)
  const tool = toolOf(world, as)
  const key = async () => {
    const { data } = bodyOf(await world.call('GET', '/api/keys/key-of-many-letters', { as })) as { data: JsonObject }
    return [data.apply_policies, data.access_rights, data.rate]
  }
  const [first, rights] = [await tool.dump(), await key()]
  assert.deepEqual([first.apis.length, first.policies.length, first.assets.length], [4, 1, 1])
  world.clock.advance(60_000)
  await tool.sync(first)
  assert.deepEqual(await tool.dump(), first)
  const renamed = { ...first, policies: first.policies.map((policy) => ({ ...policy, name: 'Silver' })) }
  await tool.sync(renamed)
  const [silver] = (await tool.dump()).policies
  assert.equal(silver?.name, 'Silver')
  assert.notEqual(silver?.last_updated, first.policies[0]!.last_updated)
  await tool.wipe()
  await tool.sync(first)
  assert.equal(comparable(await tool.dump()), comparable(first))
  assert.deepEqual(
    (await tool.dump()).policies.map(({ id }) => id),
    ['gold'],
  )
  assert.deepEqual(await key(), rights)
})

test('the tool reads an installation of 500 APIs at once and by pages', async (t) => {
  const world = await startTestDashboard({ env: { SVC_COMPAT_VENDORALIASES: ALIAS } })
  t.after(() => world.close())
  const as = await world.admin()
  const ids = Array.from({ length: 500 }, (_, n) => `a${String(n).padStart(3, '0')}`)
  for (const id of ids)
    await publishApi(world.parts, {
      format: 'classic',
      definition: { ...classicApi(id, `/${id}/`), org_id: as.orgId },
      actor: 'test',
    })
  const apiIds = (list: unknown) =>
    (list as JsonObject[]).map(({ api_definition }) => (api_definition as JsonObject).api_id)
  const all = bodyOf(await world.call('GET', `/api/apis/${ALL}`, { as }))
  assert.deepEqual([apiIds(all.apis).sort(), all.pages], [ids, 0])
  const first = bodyOf(await world.call('GET', '/api/apis/?p=1', { as }))
  const found = apiIds(first.apis)
  for (let page = 2; page <= Number(first.pages); page++)
    found.push(...apiIds(bodyOf(await world.call('GET', `/api/apis/?p=${page}`, { as })).apis))
  assert.deepEqual(found.sort(), ids)
  assert.equal((await toolOf(world, as).dump()).apis.length, ids.length)
})
