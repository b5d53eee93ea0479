import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { ALIAS, comparable, toolOf } from '../../worlds/dashboard/sync-tool.ts'

const APIS = 500

test('the tool syncs, wipes and publishes 500 APIs of both formats', async (t) => {
  const world = await startTestDashboard({ env: { SVC_COMPAT_VENDORALIASES: ALIAS } })
  t.after(() => world.close())
  const as = await world.admin()
  for (let n = 0; n < APIS; n++) {
    const id = `a${n}`
    const isOas = n % 2 === 1
    const oas = oasApi(id, `/${id}/`, { orgId: as.orgId })
    const definition: JsonObject = isOas ? oas : { ...classicApi(id, `/${id}/`), org_id: as.orgId }
    await publishApi(world.parts, { format: isOas ? 'oas' : 'classic', definition, actor: 'test' })
  }
  const tool = toolOf(world, as)
  const first = await tool.dump()
  assert.equal(first.apis.length, APIS)
  world.clock.advance(60_000)
  await tool.sync(first)
  assert.deepEqual(await tool.dump(), first)
  await tool.wipe()
  assert.deepEqual((await tool.dump()).apis, [])
  await tool.sync(first)
  assert.equal(comparable(await tool.dump()), comparable(first))
})
