import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { makeEditedObjects } from '../../worlds/dashboard/edited-objects.ts'
import { keyWorld } from '../../worlds/dashboard/key-world.ts'

/** Members that the server makes, or takes from the path: what is sent for them counts nowhere. */
const MADE = new Set(
  [
    'id',
    '_id',
    'org_id',
    'created_at',
    'date_created',
    'date_updated',
    'last_updated',
    'last_login_date',
    'access_key',
  ].concat(['group_name', 'password_updated', 'PWHistory', 'api_model', 'key', 'status']),
)

/** A value of another type than this one. */
function anotherType(value: Json): Json {
  if (typeof value === 'boolean') return 'true'
  if (typeof value === 'number') return 'seven'
  if (typeof value === 'string') return 7
  return Array.isArray(value) ? { a: 1 } : 7
}

test('a member of a wrong type is refused by its name, and nothing is stored', async (t) => {
  const world = await keyWorld(t)
  const { asked, call, root, store } = world
  const { paths, key: hash } = await makeEditedObjects(world)
  const wrong: string[] = []
  const revision = await store.documents.revision()
  const tryAll = async (path: string, read: JsonObject, url = path) => {
    for (const [member, value] of Object.entries(read)) {
      if (MADE.has(member) || value === null) continue
      const sent = { ...read, [member]: anotherType(value) }
      const { status, text } = await call('PUT', url, { as: root, body: sent })
      if (status !== 400 || !text.includes(member)) wrong.push(`${path} ${member}: ${status} ${text.slice(0, 120)}`)
    }
  }
  for (const path of paths) await tryAll(path, await asked(200, 'GET', path, root))
  const key = await asked(200, 'GET', `/api/keys/${hash}?hashed=1`, root)
  assert.ok(isObject(key.data))
  await tryAll('/api/keys', key.data, `/api/keys/${hash}?hashed=1`)
  assert.deepEqual(wrong, [])
  assert.equal(await store.documents.revision(), revision)
})
