import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf, classicApi, listedIds, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'

async function start(t: TestContext, env: Record<string, string> = {}) {
  const world = await startTestDashboard({ env })
  t.after(() => world.close())
  const admin = await world.admin()
  const add = async (id: string, query = '', as: TestUser = admin) => {
    world.clock.advance(1000)
    const answer = await world.call('POST', `/api/apis/oas${query}`, { as, body: oasApi(id, `/${id}/`) })
    assert.equal(answer.status, 200, answer.text)
  }
  const versions = async (id: string, query = '') => {
    const { apis } = bodyOf(await world.call('GET', `/api/apis/oas/${id}/versions${query}`, { as: admin }))
    return (apis as JsonObject[]).map(({ id: each, versionName, isDefaultVersion }) => [
      each,
      versionName,
      isDefaultVersion,
    ])
  }
  const bases = async () => listedIds(await world.call('GET', '/api/apis?p=-1&base_apis=true&sort=name', { as: admin }))
  return { ...world, admin, add, versions, bases }
}

const V2 = '?base_api_id=base&base_api_version_name=v1&new_version_name=v2'
const V3 = '?base_api_id=base&new_version_name=v3&set_default=true'

test('a new API becomes a version of another; lists of bases leave it out', async (t) => {
  const { add, admin, bases, call, versions } = await start(t)
  await add('base')
  await add('two', V2)
  await add('three', V3)
  await add('alone')
  assert.deepEqual(await versions('base'), [
    ['base', 'v1', false],
    ['two', 'v2', false],
    ['three', 'v3', true],
  ])
  assert.deepEqual(await versions('base', '?searchText=V2'), [['two', 'v2', false]])
  assert.deepEqual(await versions('base', '?accessType=internal'), [])
  assert.deepEqual((await versions('base', '?accessType=external')).length, 3)
  assert.deepEqual(await bases(), ['alone', 'base'])
  const header = (await call('GET', '/api/apis/oas/two', { as: admin })).headers['x-svc-base-api-id']
  assert.equal(header, 'base')
  const same = await call('POST', `/api/apis/oas${V2}`, { as: admin, body: oasApi('more', '/more/') })
  assert.equal(same.status, 409)
  assert.equal((await call('GET', '/api/apis/oas/none/versions', { as: admin })).status, 400)
})

test('a base that goes leaves its versions on their own, or takes them with it', async (t) => {
  const first = await start(t)
  await first.add('base')
  await first.add('two', V2)
  assert.equal((await first.call('DELETE', '/api/apis/oas/base', { as: first.admin })).status, 200)
  assert.deepEqual(await first.bases(), ['two'])
  const second = await start(t)
  await second.add('base')
  await second.add('two', V2)
  await second.add('three', V3)
  assert.equal((await second.call('DELETE', '/api/apis/oas/base?purge=true', { as: second.admin })).status, 200)
  assert.deepEqual(await second.bases(), [])
  assert.equal((await second.call('GET', '/api/apis/two', { as: second.admin })).status, 400)
})

test('a purge that reaches an API of others is refused as a whole', async (t) => {
  const { add, admin, call, user } = await start(t, { SVC_DB_ENABLEOWNERSHIP: 'true' })
  const [writer, other] = [await user({ apis: 'write' }), await user({ apis: 'write' })]
  await add('base')
  await add('two', V2)
  await call('PUT', '/api/apis/two/access', { as: admin, body: { userIds: [other.id] } })
  assert.equal((await call('DELETE', '/api/apis/oas/base?purge=true', { as: writer })).status, 401)
  assert.equal((await call('GET', '/api/apis/base', { as: writer })).status, 200)
  const names = bodyOf(await call('GET', '/api/apis/base/versions', { as: writer })).apis as JsonObject[]
  assert.deepEqual(
    names.map(({ id }) => id),
    ['base'],
    'versions of others are not named',
  )
  assert.equal((await call('PATCH', '/api/apis/oas/base/rebase/two', { as: writer })).status, 401)
})

test('another version becomes the base', async (t) => {
  const { add, admin, bases, call, versions } = await start(t)
  await add('base')
  await add('two', V2)
  await add('three', V3)
  const rebase = (base: string, next: string) => call('PATCH', `/api/apis/oas/${base}/rebase/${next}`, { as: admin })
  assert.equal((await rebase('base', 'two')).status, 200)
  assert.deepEqual(await versions('two'), [
    ['two', 'v2', false],
    ['base', 'v1', false],
    ['three', 'v3', true],
  ])
  assert.deepEqual(await bases(), ['two'])
  assert.equal((await rebase('base', 'three')).status, 400)
  assert.equal((await rebase('two', 'none')).status, 404)
  assert.equal((await rebase('two', 'three')).status, 200)
  assert.deepEqual(await versions('three'), [
    ['three', 'v3', true],
    ['base', 'v1', false],
    ['two', 'v2', false],
  ])
})

test('an API keeps its id, and versions may be named before they exist', async (t) => {
  const { add, admin, bases, call, versions } = await start(t)
  await add('base')
  await add('two', V2)
  const renamed = oasApi('second', '/two/')
  const refused = await call('PUT', '/api/apis/oas/two', { as: admin, body: renamed })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /The API is two, the definition names second/)
  assert.deepEqual(await versions('base'), [
    ['base', 'v1', true],
    ['two', 'v2', false],
  ])
  assert.deepEqual(await bases(), ['base'])
  const definition = {
    enabled: true,
    name: 'one',
    default: 'self',
    location: 'header',
    key: 'x-v',
    versions: { later: 'later', itself: 'early' },
  }
  const body = { api_definition: classicApi('early', '/early/', { definition }) }
  assert.equal((await call('POST', '/api/apis', { as: admin, body })).status, 200)
  await add('later')
  assert.deepEqual(await bases(), ['base', 'early'])
  const without = { api_definition: classicApi('early', '/early/') }
  assert.equal((await call('PUT', '/api/apis/early', { as: admin, body: without })).status, 200)
  assert.deepEqual(await bases(), ['base', 'early', 'later'])
})
