import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bodyOf, classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

async function world(t: TestContext) {
  const dashboard = await startTestDashboard({ env: { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' } })
  t.after(dashboard.close)
  const { call } = dashboard
  const admin = await dashboard.admin()
  const hook = async (name: string, as = admin) => {
    await call('POST', '/api/hooks', { as, body: { name, method: 'POST', target_path: 'http://127.0.0.1:1/' } })
    const { hooks } = bodyOf(await call('GET', '/api/hooks?p=-1', { as })) as unknown as {
      hooks: { id: string; name: string }[]
    }
    return hooks.find((each) => each.name === name)!.id
  }
  return { ...dashboard, admin, hook }
}

for (const format of ['classic', 'oas'] as const)
  test(`the webhooks that an API tells are read and replaced as a whole: ${format}`, async (t) => {
    const { call, admin, hook, user, organisation } = await world(t)
    if (format === 'oas') await call('POST', '/api/apis/oas', { as: admin, body: oasApi('pets', '/pets/') })
    else await call('POST', '/api/apis', { as: admin, body: { api_definition: classicApi('pets', '/pets/') } })
    const path = '/api/apis/pets/webhooks'
    const told = async () => bodyOf(await call('GET', path, { as: admin })).hook_references
    const put = (hook_references: unknown) => call('PUT', path, { as: admin, body: { hook_references } })
    assert.deepEqual(await told(), [])
    const id = await hook('bell')
    const references = [
      { event_name: 'api_event', event_timeout: 5, hook: { id } },
      { event_name: 'key_event.deleted', event_timeout: 0, hook: { name: 'bell' }, mine: [1] },
    ]
    assert.deepEqual((await put(references)).json, { Status: 'OK', Message: 'API webhooks updated', Meta: null })
    assert.deepEqual(await told(), references)
    assert.deepEqual(bodyOf(await call('GET', '/api/apis/pets', { as: admin })).hook_references, references)

    const theirs = await hook('theirs', await user({ IsAdmin: 'admin' }, { orgId: await organisation() }))
    const wrong = [{ id: theirs }, { name: 'theirs' }, {}, 'bell'].map((each) => [
      { event_name: 'api_event', hook: each },
    ])
    for (const body of [...wrong, [{ hook: { id } }], [{ event_name: '', hook: { id } }], 'all'])
      assert.equal((await put(body)).status, 400, JSON.stringify(body))
    assert.deepEqual(await told(), references)

    await call('DELETE', `/api/hooks/${id}`, { as: admin })
    assert.equal((await put(references.slice(0, 1))).status, 200, 'what names a webhook that is gone can stay')
    assert.equal((await put([{ event_name: 'key_event', hook: { id } }])).status, 400, 'but none comes anew')
    assert.equal((await put([])).status, 200)
    assert.deepEqual(await told(), [])
    assert.equal((await call('GET', '/api/apis/none/webhooks', { as: admin })).status, 404)
  })
