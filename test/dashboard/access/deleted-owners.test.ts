import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'

const RIGHTS = { apis: 'write', users: 'read' }
const NAMES = ['ada', 'ben', 'staff', 'crew'] as const
type Name = (typeof NAMES)[number]

const isGroup = (name: Name) => name === 'staff' || name === 'crew'

test('property: deleted users and groups leave the owners of APIs, which open to nobody else', async (t) => {
  const world = await startTestDashboard({ env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  t.after(world.close)
  const boss = await world.admin()
  const stranger = await world.user(RIGHTS)
  const asked = async (method: string, path: string, body?: JsonObject, as: TestUser = boss) => {
    const answer = await world.call(method, path, { as, ...(body && { body }) })
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`)
    return answer.json as JsonObject
  }
  const sees = async (as: TestUser, apiId: string) =>
    (await world.call('GET', `/api/apis/${apiId}`, { as })).status === 200
  let made = 0
  const api = async (owners: readonly string[], groups: readonly string[]) => {
    const apiId = `api-${++made}`
    const proxy = { listen_path: `/${apiId}/`, target_url: 'http://127.0.0.1:1/' }
    const definition = { name: apiId, api_id: apiId, active: true, use_keyless: true, proxy }
    await asked('POST', '/api/apis', {
      api_definition: definition,
      user_owners: [...owners],
      user_group_owners: [...groups],
    })
    return apiId
  }
  const deletions = fc.shuffledSubarray([...NAMES], { minLength: 1 })
  const owned = fc.array(fc.subarray([...NAMES]), { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(owned, deletions, async (sets, order) => {
      const ids = new Map<Name, string>()
      for (const name of NAMES) ids.set(name, isGroup(name) ? await world.group(RIGHTS) : (await world.user(RIGHTS)).id)
      const model = new Map<string, Set<Name>>()
      const open = new Set<string>()
      for (const set of sets) {
        const [groups, users] = [set.filter(isGroup), set.filter((name) => !isGroup(name))]
        const apiId = await api(
          users.map((name) => ids.get(name)!),
          groups.map((name) => ids.get(name)!),
        )
        model.set(apiId, new Set(set))
        if (set.length === 0) open.add(apiId)
      }
      for (const name of order) {
        const path = isGroup(name) ? '/api/usergroups' : '/api/users'
        const { Meta } = await asked('DELETE', `${path}/${ids.get(name)}`)
        const lost = [...model]
          .filter(([, left]) => left.delete(name) && left.size === 0)
          .map(([apiId]) => apiId)
          .sort()
        assert.deepEqual(Meta, lost.length === 0 ? null : { ownerless: lost })
        for (const [apiId, left] of model) {
          const access = `/api/apis/${apiId}/access`
          const shown = await asked('GET', access)
          const told = [...(shown.userIds as string[]), ...(shown.userGroupIds as string[])]
          assert.deepEqual(new Set(told), new Set([...left].map((one) => ids.get(one)!)))
          await asked('PUT', access, shown)
          const { api_definition } = await asked('GET', `/api/apis/${apiId}`)
          await asked('PUT', `/api/apis/${apiId}`, { api_definition: api_definition! })
          assert.equal(await sees(stranger, apiId), open.has(apiId), `${apiId} after the end of ${name}`)
        }
      }
    }),
    { numRuns: 4 },
  )
  const heir = await world.user(RIGHTS)
  const last = await world.user(RIGHTS)
  const apiId = await api([last.id], [])
  await asked('DELETE', `/api/users/${last.id}`)
  await asked('PUT', `/api/apis/${apiId}/access`, { userIds: [heir.id], userGroupIds: [] })
  assert.deepEqual([await sees(heir, apiId), await sees(stranger, apiId)], [true, false])
  await asked('PUT', `/api/apis/${apiId}/access`, { userIds: [], userGroupIds: [] })
  assert.equal(await sees(stranger, apiId), true, 'an administrator may open it')

  const again = await world.user(RIGHTS)
  const theirs = await api([again.id], [])
  await asked('DELETE', `/api/users/${again.id}`)
  const { rows } = await world.store.audit.list({ orgId: world.orgId, limit: 2 })
  for (const { id } of rows) await asked('POST', `/api/audit-logs/${id}/undo`)
  assert.deepEqual((await asked('GET', `/api/apis/${theirs}/access`)).userIds, [again.id], 'undone')
})
