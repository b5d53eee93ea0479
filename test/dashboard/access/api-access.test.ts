import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf, classicApi, listedIds, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'

const OWNERSHIP = { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } }

test('owners are read and replaced as a whole, and must be of the organisation', async (t) => {
  const { admin: newAdmin, call, close, user, group, organisation } = await startTestDashboard()
  t.after(close)
  const admin = await newAdmin()
  await call('POST', '/api/apis/oas', { as: admin, body: oasApi('pets', '/pets/') })
  const path = '/api/apis/pets/access'
  assert.deepEqual((await call('GET', path, { as: admin })).json, { userIds: [], userGroupIds: [] })
  const [owner, readers] = [await user({ apis: 'read' }), await group({ apis: 'read' })]
  const put = (body: unknown) => call('PUT', path, { as: admin, body })
  const done = await put({ userIds: [owner.id, owner.id], userGroupIds: [readers] })
  assert.deepEqual(done.json, { Status: 'OK', Message: 'API access updated', Meta: null })
  const owners = { userIds: [owner.id], userGroupIds: [readers] }
  assert.deepEqual((await call('GET', path, { as: admin })).json, owners)
  const foreign = await user({ apis: 'read' }, { orgId: await organisation() })
  for (const body of [
    { userIds: [foreign.id] },
    { userIds: ['nobody'] },
    { userGroupIds: [owner.id] },
    { userIds: 'x' },
  ])
    assert.equal((await put(body)).status, 400, JSON.stringify(body))
  assert.equal((await put('{')).status, 403)
  assert.deepEqual((await call('GET', path, { as: admin })).json, owners)
  assert.equal((await put({ userGroupIds: null })).status, 200)
  assert.deepEqual((await call('GET', path, { as: admin })).json, { userIds: [], userGroupIds: [] })
  const missing = await call('GET', '/api/apis/none/access', { as: admin })
  assert.deepEqual([missing.status, bodyOf(missing).Message], [404, 'API not found'])
  assert.equal((await call('PUT', '/api/apis/none/access', { as: admin, body: {} })).status, 404)
})

test('with ownership on, an API is seen and changed by its owners alone, whichever id names it', async (t) => {
  const { admin: newAdmin, call, close, user, group } = await startTestDashboard(OWNERSHIP)
  t.after(close)
  const admin = await newAdmin()
  const readers = await group({ apis: 'write' })
  const [owner, other] = [await user({ apis: 'write', system: 'read' }), await user({ apis: 'write', system: 'read' })]
  const member = await user({}, { groupId: readers })
  const made = await call('POST', '/api/apis', { as: admin, body: { api_definition: classicApi('owned', '/owned/') } })
  await call('POST', '/api/apis', {
    as: admin,
    body: { api_definition: classicApi('free', '/free/', { name: 'Free #all' }) },
  })
  await call('PUT', '/api/apis/owned/access', { as: admin, body: { userIds: [owner.id], userGroupIds: [readers] } })
  const ids = async (as: TestUser, query = '?p=-1&sort=name') =>
    listedIds(await call('GET', `/api/apis${query}`, { as }))
  for (const as of [admin, owner, member]) assert.deepEqual(await ids(as), ['owned', 'free'])
  assert.deepEqual(await ids(other), ['free'])
  assert.equal(bodyOf(await call('GET', '/api/apis', { as: other })).pages, 1)
  assert.deepEqual(await ids(other, '?q=owned'), [])
  const counted = async (as: TestUser) => {
    const { json } = await call('GET', '/api/system/stats?entity=apis', { as })
    return (json as { stats: { apis: { count: number }[] } }).stats.apis.map(({ count }) => count)
  }
  assert.deepEqual([await counted(owner), await counted(other)], [[2], [1]])
  const body = { api_definition: classicApi('owned', '/owned/') }
  for (const id of ['owned', String(bodyOf(made).Meta)]) {
    const calls: [string, string, unknown?][] = [
      ['GET', ''],
      ['PUT', '', body],
      ['DELETE', ''],
      ['GET', '/access'],
      ['PUT', '/access', {}],
      ['GET', '/url'],
      ['GET', '/urls'],
      ['GET', '/nodes'],
      ['GET', '/versions'],
    ]
    for (const [method, path, sent] of calls) {
      const answer = await call(method, `/api/apis/${id}${path}`, {
        as: other,
        ...(sent !== undefined && { body: sent }),
      })
      assert.deepEqual([answer.status, bodyOf(answer).Message], [401, 'Not authorised'], `${method} ${path}`)
    }
    for (const path of ['', '/export', '/urls', '/categories', '/versions'])
      assert.equal((await call('GET', `/api/apis/oas/${id}${path}`, { as: other })).status, 401, path)
  }
  const base = '?base_api_id=owned&base_api_version_name=v1&new_version_name=v2'
  const version = { api_definition: classicApi('v2', '/v2/') }
  assert.equal((await call('POST', `/api/apis${base}`, { as: other, body: version })).status, 401)
  const migrate = { mode: 'direct', apiIDs: ['free', 'owned'] }
  assert.equal((await call('POST', '/api/apis/migrate', { as: other, body: migrate })).status, 401)
  assert.equal(
    (await call('GET', '/api/apis/free', { as: other })).status,
    200,
    'nothing was migrated before the refusal',
  )
  for (const as of [admin, other]) assert.equal((await call('GET', '/api/apis/none', { as })).status, 400)
  const found = bodyOf(await call('GET', '/api/apis/categories', { as: other })).categories
  assert.deepEqual(found, [{ name: 'all', count: 1 }])
})

test('who creates an API owns it, unless an administrator does or ownership is off', async (t) => {
  for (const [options, asOwner] of [
    [OWNERSHIP, true],
    [{}, false],
  ] as const) {
    const { admin: newAdmin, call, close, user } = await startTestDashboard(options)
    t.after(close)
    const [admin, creator, friend] = [await newAdmin(), await user({ apis: 'write' }), await user({ apis: 'read' })]
    const create = async (as: TestUser, id: string, beside: JsonObject = {}) => {
      const body = { api_definition: classicApi(id, `/${id}/`), ...beside }
      assert.equal((await call('POST', '/api/apis', { as, body })).status, 200)
      return bodyOf(await call('GET', `/api/apis/${id}/access`, { as: admin })).userIds
    }
    assert.deepEqual(await create(creator, 'mine'), asOwner ? [creator.id] : [])
    assert.deepEqual(await create(admin, 'admins'), [])
    assert.deepEqual(
      await create(creator, 'ours', { user_owners: [friend.id] }),
      asOwner ? [friend.id, creator.id] : [friend.id],
    )
    await call('POST', '/api/apis/oas', { as: creator, body: oasApi('spec', '/spec/') })
    const { userIds } = bodyOf(await call('GET', '/api/apis/spec/access', { as: admin }))
    assert.deepEqual(userIds, asOwner ? [creator.id] : [])
  }
})
