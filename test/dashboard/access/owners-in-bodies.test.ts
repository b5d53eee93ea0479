import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf, classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'

test('owners in the body of a classic API are checked as the call about owners checks them', async (t) => {
  const world = await startTestDashboard({ env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  t.after(world.close)
  const { call } = world
  const admin = await world.admin()
  const owner = await world.user({ apis: 'write' })
  const friend = await world.user({ apis: 'read' })
  const group = await world.group({ apis: 'read' })
  const foreign = await world.user({}, { orgId: await world.organisation() })
  const foreignGroup = await world.group({}, { orgId: foreign.orgId })
  const values: readonly (readonly [users: Json, groups: Json])[] = [
    [[friend.id], [group]],
    [[friend.id, friend.id], []],
    [null, null],
    [null, [group]],
    [[foreign.id], []],
    [[], [foreignGroup]],
    [[group], []],
    [[], [friend.id]],
    [['nobody'], []],
    [['f'.repeat(24)], []],
    [['x'.repeat(300)], []],
    [[1], []],
    [[friend.id, null], []],
    [[[friend.id]], []],
    [friend.id, []],
    [{ 0: friend.id }, []],
    [true, []],
    [[], group],
    [[], 0],
    [[], [{}]],
  ]
  const access = async (id: string) => {
    const { userIds, userGroupIds } = bodyOf(await call('GET', `/api/apis/${id}/access`, { as: admin }))
    return [userIds, userGroupIds]
  }
  let number = 0
  const made = async (beside: JsonObject = {}, as: TestUser = admin) => {
    const id = `api-${++number}`
    const body = { api_definition: classicApi(id, `/${id}/`), ...beside }
    return { id, answer: await call('POST', '/api/apis', { as, body }) }
  }
  for (const as of [admin, owner])
    for (const [users, groups] of values) {
      const shown = JSON.stringify([users, groups])
      const owners = { user_owners: [owner.id] }
      // The call about owners is the oracle.
      const one = (await made(owners)).id
      const called = await call('PUT', `/api/apis/${one}/access`, {
        as,
        body: { userIds: users, userGroupIds: groups },
      })
      const other = (await made(owners)).id
      const definition = { api_definition: classicApi(other, `/${other}/`) }
      const body = { ...definition, user_owners: users, user_group_owners: groups }
      const replaced = await call('PUT', `/api/apis/${other}`, { as, body })
      assert.equal(replaced.status, called.status, `${shown}: ${replaced.text} ${called.text}`)
      const created = (await made({ user_owners: users, user_group_owners: groups }, as)).answer
      assert.equal(created.status, called.status, `new, ${shown}: ${created.text}`)
      if (called.status === 200 && users !== null && groups !== null)
        assert.deepEqual(await access(other), await access(one), shown)
      if (called.status !== 200) assert.deepEqual(await access(other), [[owner.id], []], shown)
    }
})

test('owners that are read are put back, by administrators and owners, in both formats', async (t) => {
  const world = await startTestDashboard({ env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  t.after(world.close)
  const { call } = world
  const admin = await world.admin()
  const owner = await world.user({ apis: 'write' })
  const group = await world.group({ apis: 'write' })
  const going = await world.user({ apis: 'read' })
  const { json: classic } = await call('POST', '/api/apis', {
    as: owner,
    body: { api_definition: classicApi('one', '/one/') },
  })
  await call('POST', '/api/apis/oas', { as: owner, body: oasApi('two', '/two/') })
  for (const id of ['one', 'two', String((classic as JsonObject).Meta)]) {
    const path = `/api/apis/${id}/access`
    const asked = async (method: string, as: TestUser, body?: Json) => {
      const answer = await call(method, path, { as, ...(body !== undefined && { body }) })
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`)
      return bodyOf(answer)
    }
    await asked('PUT', admin, { userIds: [owner.id, going.id], userGroupIds: [group] })
    for (const as of [owner, admin]) {
      const shown = await asked('GET', as)
      await asked('PUT', as, shown)
      assert.deepEqual(await asked('GET', as), shown)
    }
    // The wrapper of an API carries them too.
    const wrapper = bodyOf(await call('GET', `/api/apis/${id}`, { as: owner }))
    assert.deepEqual([wrapper.user_owners, wrapper.user_group_owners], [[owner.id, going.id], [group]], id)
  }
  const { json: wrapper } = await call('GET', '/api/apis/one', { as: owner })
  assert.equal((await call('PUT', '/api/apis/one', { as: owner, body: wrapper })).status, 200)
  assert.deepEqual(bodyOf(await call('GET', '/api/apis/one/access', { as: owner })).userIds, [owner.id, going.id])
  await call('DELETE', `/api/users/${going.id}`, { as: admin })
  const stale = await call('PUT', '/api/apis/one/access', { as: admin, body: { userIds: [owner.id, going.id] } })
  assert.deepEqual(
    [stale.status, bodyOf(stale).Message],
    [400, `Request body is not valid: there is no user ${going.id}`],
  )

  // Without its last owner it says so to administrators, and putting that back opens it to nobody.
  const { id: last } = await world.user({ apis: 'write' })
  await call('PUT', '/api/apis/one/access', { as: admin, body: { userIds: [last] } })
  const deleted = await call('DELETE', `/api/users/${last}`, { as: admin })
  assert.deepEqual(bodyOf(deleted).Meta, { ownerless: ['one'] })
  const lost = { userIds: [], userGroupIds: [], ownerless: true }
  for (const step of ['deleted', 'put back'] as const) {
    assert.deepEqual(bodyOf(await call('GET', '/api/apis/one/access', { as: admin })), lost, step)
    assert.equal((await call('GET', '/api/apis/one/access', { as: owner })).status, 401, step)
    assert.equal((await call('PUT', '/api/apis/one/access', { as: admin, body: lost })).status, 200, step)
  }
})
