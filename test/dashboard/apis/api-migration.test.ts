import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf, classicApi, listedIds, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

async function start(t: TestContext) {
  const world = await startTestDashboard()
  t.after(() => world.close())
  const admin = await world.admin()
  const { call } = world
  const add = async (id: string, more: JsonObject = {}) => {
    const body = { api_definition: classicApi(id, `/${id}/`, more) }
    assert.equal((await call('POST', '/api/apis', { as: admin, body })).status, 200)
  }
  const migrate = async (body: JsonObject) => {
    const answer = await call('POST', '/api/apis/migrate', { as: admin, body })
    assert.equal(answer.status, 200, answer.text)
    const { apis, status } = bodyOf(answer) as { apis: JsonObject[]; status: JsonObject }
    return { apis, status, states: Object.fromEntries(apis.map(({ id, status: is }) => [id as string, is])) }
  }
  const wrapper = async (id: string) => bodyOf(await call('GET', `/api/apis/${id}`, { as: admin }))
  return { ...world, admin, add, migrate, wrapper }
}

test('a dry run shows the OpenAPI form and changes nothing', async (t) => {
  const { add, migrate, store } = await start(t)
  await add('old', { name: 'Old #shop', 'x-unknown': 1 })
  const revision = await store.documents.revision()
  const { apis, status } = await migrate({ mode: 'dryRun' })
  assert.deepEqual(status, { success: 1, failed: 0, skipped: 0 })
  const info = ((apis[0]!.oas as JsonObject)['x-svc-api-gateway'] as JsonObject).info as JsonObject
  assert.equal(info.id, 'old')
  assert.ok((apis[0]!.carried as string[]).includes('/x-unknown'), String(apis[0]!.carried))
  assert.equal(await store.documents.revision(), revision)
})

test('lists that do nothing are warned about, by the place that carries them', async (t) => {
  const { add, migrate } = await start(t)
  const extended_paths = { black_list: [{ path: '/a', method: 'get' }] }
  await add('old', {
    version_data: { not_versioned: true, versions: { Default: { use_extended_paths: true, extended_paths } } },
  })
  await add('plain')
  const { apis } = await migrate({ mode: 'direct' })
  const warned = Object.fromEntries(apis.map(({ id, warnings = null }) => [String(id), warnings]))
  assert.equal(warned.plain, null)
  const [{ path, message }] = warned.old as [{ path: string; message: string }]
  assert.equal(path, 'x-svc-api-gateway.classic.version_data.versions.Default.extended_paths.black_list[0]')
  assert.match(message, /the method get/)
})

test('direct: the API is the same one, in the other format', async (t) => {
  const { add, admin, call, migrate, wrapper, user } = await start(t)
  const owner = await user({ apis: 'read' })
  await add('old', { name: 'Old #shop' })
  await call('PUT', '/api/apis/old/access', { as: admin, body: { userIds: [owner.id] } })
  const before = await wrapper('old')
  await call('POST', '/api/apis/oas', { as: admin, body: oasApi('new', '/new/') })
  const { states, status } = await migrate({ mode: 'direct', apiIDs: ['old', 'new', 'none', 'old'] })
  assert.deepEqual(states, { old: 'success', new: 'skipped', none: 'failed' })
  assert.deepEqual(status, { success: 1, failed: 1, skipped: 1 })
  const after = await wrapper('old')
  const [a, b] = [before.api_definition as JsonObject, after.api_definition as JsonObject]
  assert.deepEqual([b.id, b.api_id, b.is_oas, b.proxy], [a.id, 'old', true, a.proxy])
  assert.deepEqual([after.categories, after.user_owners, after.created_at], [['shop'], [owner.id], before.created_at])
  assert.equal((await call('GET', '/api/apis/oas/old', { as: admin })).status, 200)
})

test('stage puts a copy beside the API, promote lets it take over', async (t) => {
  const { add, admin, call, migrate, wrapper } = await start(t)
  await add('old')
  assert.equal((await migrate({ mode: 'promote', apiIDs: ['old'] })).apis[0]!.reason, 'it was not staged')
  const { apis } = await migrate({ mode: 'stage', apiIDs: ['old'] })
  assert.equal(apis[0]!.stagedId, 'staging-old')
  assert.equal((await migrate({ mode: 'stage', apiIDs: ['old'] })).apis[0]!.status, 'failed')
  assert.equal((await migrate({ mode: 'stage', apiIDs: ['old'], overrideStaged: true })).apis[0]!.status, 'success')
  const staged = (await wrapper('staging-old')).api_definition as JsonObject
  assert.deepEqual([staged.name, (staged.proxy as JsonObject).listen_path], ['[staged] API old', '/svc-staging/old/'])
  assert.equal(((await wrapper('old')).api_definition as JsonObject).is_oas, false)
  const document = bodyOf(await call('GET', '/api/apis/oas/staging-old', { as: admin }))
  document.info = { ...(document.info as JsonObject), description: 'tried and found good' }
  assert.equal((await call('PUT', '/api/apis/oas/staging-old', { as: admin, body: document })).status, 200)
  const id = ((await wrapper('old')).api_definition as JsonObject).id
  assert.equal((await migrate({ mode: 'promote', apiIDs: ['old'] })).apis[0]!.status, 'success')
  const after = (await wrapper('old')) as { api_definition: JsonObject; oas: { info: JsonObject } }
  assert.deepEqual([after.api_definition.id, after.api_definition.name], [id, 'API old'])
  assert.equal((after.api_definition.proxy as JsonObject).listen_path, '/old/')
  assert.equal(after.oas.info.description, 'tried and found good')
  assert.deepEqual(listedIds(await call('GET', '/api/apis', { as: admin })), ['old'])
})

test('an API that only has the id of a staged copy takes over from nobody', async (t) => {
  const { add, admin, call, migrate, user, store } = await start(t)
  const planter = await user({ apis: 'write' })
  await add('old')
  const planted = oasApi('staging-old', '/planted/')
  assert.equal((await call('POST', '/api/apis/oas', { as: planter, body: planted })).status, 200)
  const both = async () =>
    JSON.stringify(await Promise.all(['old', 'staging-old'].map((id) => store.documents.find('api', 'api_id', id))))
  const before = await both()
  for (const body of [
    { mode: 'promote' },
    { mode: 'promote', apiIDs: ['old'] },
    { mode: 'stage', apiIDs: ['old'] },
    { mode: 'stage', apiIDs: ['old'], overrideStaged: true },
  ]) {
    assert.deepEqual((await migrate(body)).states, { old: 'failed' }, JSON.stringify(body))
    assert.equal(await both(), before)
  }
  await call('DELETE', '/api/apis/staging-old', { as: planter })
  assert.deepEqual((await migrate({ mode: 'stage', apiIDs: ['old'] })).states, { old: 'success' })
  // It is edited before it takes over, and stays the copy that it is.
  const copy = bodyOf(await call('GET', '/api/apis/oas/staging-old', { as: admin }))
  assert.equal((await call('PUT', '/api/apis/oas/staging-old', { as: admin, body: copy })).status, 200)
  assert.deepEqual((await migrate({ mode: 'stage', apiIDs: ['old'], overrideStaged: true })).states, { old: 'success' })
  assert.deepEqual((await migrate({ mode: 'promote' })).states, { old: 'success' })
})

test('what is wrong with the call is refused', async (t) => {
  const { add, admin, call, migrate, store } = await start(t)
  await add('a')
  await add('b')
  const revision = await store.documents.revision()
  for (const body of [{}, { mode: 'now' }, { mode: 'direct', apiIDs: 'a' }, { mode: 'direct', apiIDs: [1] }])
    assert.equal((await call('POST', '/api/apis/migrate', { as: admin, body })).status, 400)
  const { apis } = await migrate({ mode: 'direct', apiIDs: ['none', 'a'], abortOnFailure: true })
  assert.deepEqual(
    apis.map(({ id }) => id),
    ['none'],
  )
  assert.equal(await store.documents.revision(), revision)
})
