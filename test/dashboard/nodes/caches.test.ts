import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'

test('to let go of the answers of an API ends those of that API alone', async (t) => {
  const world = await gatewayWorld(t)
  const { call, root, origin, gateway } = world
  const cache = { enabled: true, cacheAllSafeRequests: true, timeout: 600 }
  for (const id of ['kept', 'other']) {
    const definition = defined({ id, url: origin.url, global: { cache } })
    const { revision } = await publishApi(world.parts, { format: 'oas', definition, orgId: world.orgId, actor: 'test' })
    await gateway.gateway.live.settled(revision)
  }
  const isStored = async (id: string) => (await gateway.call(`/${id}/`)).headers['x-svc-cached-response'] === '1'
  for (const id of ['kept', 'other']) {
    assert.equal(await isStored(id), false)
    assert.equal(await isStored(id), true)
  }
  const done = await call('DELETE', '/api/cache/responses/kept', { as: root })
  assert.deepEqual([done.status, done.json], [200, { status: 'OK', message: 'success' }])
  assert.equal(await isStored('kept'), false, 'the upstream is asked as soon as the call is answered')
  assert.equal(await isStored('other'), true)
  assert.equal((await call('DELETE', '/api/cache/responses/none', { as: root })).status, 404)
  const reader = await world.user({ apis: 'read' })
  assert.equal((await call('DELETE', '/api/cache/responses/other', { as: reader })).status, 403)
  assert.equal(await isStored('other'), true)
})
