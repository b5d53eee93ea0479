import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { assertDone, assertRefused, bodyOf, dashboardFor, read } from '../../worlds/dashboard/people.ts'

const PATH = '/api/org/permissions'
const env = { SVC_DB_SECURITY_ADDITIONALPERMISSIONS: '{"api_developer":"API Developer"}' }

test('custom permissions start from the settings, and those of the organisation take their place', async (t) => {
  const dashboard = await dashboardFor(t, { env })
  const admin = await dashboard.admin()
  const get = async (as = admin) => bodyOf(await dashboard.call('GET', PATH, { as })).additional_permissions
  assert.deepEqual(await get(), { api_developer: 'API Developer' })
  const names = { tester: 'Tester', 'api.owner': 'Owner' }
  const put = await dashboard.call('PUT', `${PATH}/`, { as: admin, body: { additional_permissions: names } })
  assertDone(put, 'Additional Permissions updated in org level.')
  assert.deepEqual(await get(), names)
  const other = await dashboard.admin(await dashboard.organisation())
  assert.deepEqual(await get(other), { api_developer: 'API Developer' })
  bodyOf(await dashboard.call('PUT', PATH, { as: admin, body: { additional_permissions: {} } }))
  assert.deepEqual(await get(), {})
})

test('a deleted custom permission disappears, and never leaves an administrator behind', async (t) => {
  const dashboard = await dashboardFor(t, { env })
  const admin = await dashboard.admin()
  const user = await dashboard.user({ api_developer: 'write' })
  const group = await dashboard.group({ api_developer: 'read', apis: 'read' })
  const rights = async () => (await read(dashboard, admin, user.id)).user_permissions
  assert.deepEqual(await rights(), { api_developer: 'write' })
  bodyOf(await dashboard.call('PUT', PATH, { as: admin, body: { additional_permissions: {} } }))
  assert.deepEqual(await rights(), { IsAdmin: 'false' })
  const shown = bodyOf(await dashboard.call('GET', `/api/usergroups/${group}`, { as: admin }))
  assert.deepEqual(shown.user_permissions, { apis: 'read' })
  assertRefused(await dashboard.call('GET', '/api/users', { as: user }), 403, /^access denied/)
})

test('custom permissions are refused in the words of each reason', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const put = (body: unknown, as = admin) => dashboard.call('PUT', PATH, { as, body })
  assertRefused(await dashboard.call('PUT', PATH, { as: admin }), 400, 'Failed to read response body, body empty')
  assertRefused(await put('{'), 403, 'Request body malformed')
  const wrong: JsonObject[] = [
    {},
    { additional_permissions: [] },
    { additional_permissions: { x: 7 } },
    { additional_permissions: { IsAdmin: 'x' } },
    { additional_permissions: { constructor: 'x' } },
    { additional_permissions: { 'a b': 'x' } },
    { additional_permissions: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`p${i}`, 'x'])) },
  ]
  for (const body of wrong) assertRefused(await put(body), 400, /^Organisation object validation failed/)
  assertRefused(await put('{"additional_permissions":{"__proto__":"x"}}'), 403, 'Request body malformed')
  const manager = await dashboard.user({ system: 'write', users: 'write' })
  assertRefused(await put({ additional_permissions: {} }, manager), 403, /^access denied/)
  assertRefused(await dashboard.call('GET', PATH, { as: manager }), 403, /^access denied/)
})
