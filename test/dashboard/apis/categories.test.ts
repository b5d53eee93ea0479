import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyOf, classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

test('categories of both formats are listed, counted, grouped and replaced', async (t) => {
  const { admin: newAdmin, call, close, organisation, user } = await startTestDashboard()
  t.after(close)
  const admin = await newAdmin()
  await call('POST', '/api/apis', {
    as: admin,
    body: { api_definition: classicApi('a', '/a/', { name: 'A #shop #eu' }) },
  })
  await call('POST', '/api/apis/oas', { as: admin, body: oasApi('b', '/b/') })
  const path = '/api/apis/oas/b/categories'
  assert.deepEqual((await call('GET', `${path}/`, { as: admin })).json, { categories: [] })
  const put = await call('PUT', `${path}/`, { as: admin, body: { categories: ['shop', '', ' shop ', '__proto__'] } })
  assert.deepEqual(put.json, { Status: 'OK', Message: 'API categories updated', Meta: null })
  assert.deepEqual((await call('GET', path, { as: admin })).json, { categories: ['shop', '__proto__'] })
  assert.deepEqual((await call('GET', '/api/apis/oas/a/categories', { as: admin })).json, {
    categories: ['shop', 'eu'],
  })
  const { categories } = bodyOf(await call('GET', '/api/apis/categories', { as: admin })) as { categories: object[] }
  assert.deepEqual(
    new Map(categories.map((each) => Object.values(each) as [string, number])),
    new Map([
      ['__proto__', 1],
      ['eu', 1],
      ['shop', 2],
    ]),
  )
  const groups = await call('GET', '/api/apis/groups', { as: admin })
  assert.deepEqual(Object.entries(bodyOf(groups)).sort(), [
    ['__proto__', ['API b']],
    ['eu', ['A #shop #eu']],
    ['shop', ['A #shop #eu', 'API b']],
  ])
  const stranger = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  assert.deepEqual((await call('GET', '/api/apis/categories', { as: stranger })).json, { categories: [] })
  assert.deepEqual((await call('GET', '/api/apis/groups', { as: stranger })).json, {})
  assert.equal((await call('GET', path, { as: stranger })).status, 400)
  assert.equal((await call('PUT', path, { as: stranger, body: { categories: [] } })).status, 404)
  for (const body of [{}, { categories: 'x' }, { categories: [1] }, { categories: Array(101).fill('x') }])
    assert.equal((await call('PUT', path, { as: admin, body })).status, 400)
})
