import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { keyWorld } from '../../worlds/dashboard/key-world.ts'

test('a plus in a path is a plus first, and a space where nothing has that name', async (t) => {
  const world = await keyWorld(t, { env: { SVC_DB_ALLOWUNSAFEPOLICYIDS: 'true' } })
  const { asked, call, root } = world
  const ids = ['a b', 'a+c', 'a d', 'a+d', 'a+e f']
  for (const id of ids)
    await asked(200, 'POST', '/api/portal/policies', root, { id, name: `policy ${id}`, access_rights: {} })
  const idAt = async (segment: string) => {
    const { status, json } = await call('GET', `/api/portal/policies/${segment}`, { as: root })
    return status === 200 ? (json as JsonObject).id : status
  }
  for (const [segment, id] of [
    ['a+b', 'a b'],
    ['a%20b', 'a b'],
    ['a%2Bb', 400],
    ['a+c', 'a+c'],
    ['a%2Bc', 'a+c'],
    ['a+d', 'a+d'],
    ['a%20d', 'a d'],
    ['a%2Be+f', 'a+e f'],
    ['a+e+f', 400],
  ] as const)
    assert.equal(await idAt(segment), id, segment)
  const change = await call('PUT', '/api/portal/policies/a+b', {
    as: root,
    body: { name: 'renamed', access_rights: {} },
  })
  assert.equal(change.status, 200, change.text)
  assert.equal((await asked(200, 'GET', '/api/portal/policies/a%20b', root)).name, 'renamed')
  await asked(200, 'POST', '/api/portal/developers', root, { email: 'dev+one@example.com' })
  for (const path of ['email/dev+one@example.com', 'email/dev%2Bone@example.com'])
    assert.equal((await asked(200, 'GET', `/api/portal/developers/${path}`, root)).email, 'dev+one@example.com')
})
