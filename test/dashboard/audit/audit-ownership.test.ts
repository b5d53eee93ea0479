import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { removeApi } from '../../../src/publish/apis/apis.ts'
import { OWNED, startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'

const LOGS = '/api/audit-logs'

/** Everything that a user can read of the log, as text, and its records. */
async function readAll({ call }: World, as: TestUser) {
  const list = await call('GET', `${LOGS}?p=-1`, { as })
  const { audit_logs: records } = list.json as { audit_logs: JsonObject[] }
  const one = await Promise.all(records.map(({ _id }) => call('GET', `${LOGS}/${_id}`, { as })))
  const files = await Promise.all(
    ['csv', 'json'].map((type) => call('GET', `${LOGS}?download=true&type=${type}`, { as })),
  )
  return { records, text: [list, ...one, ...files].map(({ text }) => text).join('\n') }
}

test('whoever reads the log reads who did what, but no document of what others own', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { owned, user, telltales } = world
  const owner = (await world.actor('owner', { who: 'audit_logs', names: [] })) as TestUser
  const reader = await user({ audit_logs: 'read', IsAdmin: 'false' })
  const admin = await world.admin()
  const tells = (text: string) => telltales.filter((one) => text.includes(one))
  const [mine, theirs, all] = [await readAll(world, owner), await readAll(world, reader), await readAll(world, admin)]
  assert.deepEqual(tells(theirs.text), [])
  for (const { text } of [mine, all]) assert.deepEqual(tells(text), telltales)
  const told = (records: readonly JsonObject[]) => records.map(({ _id, action, user: who }) => [_id, action, who])
  assert.deepEqual(told(theirs.records), told(all.records))
  assert.ok(theirs.records.some(({ diff }) => diff === 'not shown: others own what was changed'))
  const open = theirs.records.filter(({ diff }) => String(diff).includes('ours-3f9a-open'))
  assert.ok(open.length > 3, 'what nobody owns is shown')
  // Entries of deleted documents stay with those who owned them last.
  await removeApi(world.parts, { apiId: owned.api, actor: 'test' })
  const { records } = await readAll(world, reader)
  const deletion = records.find(({ action }) => action === 'api.delete')
  assert.equal(deletion?.diff, 'not shown: others own what was changed')
  const seen = (await readAll(world, owner)).records.find(({ _id }) => _id === deletion?._id)
  assert.match(String(seen?.diff), new RegExp(OWNED))
})

test('what calls sent and were answered is shown to those alone from whom nothing is hidden', async (t) => {
  const env = { SVC_DB_AUDIT_DETAILEDRECORDING: 'true', SVC_DB_AUDIT_READS: 'true' }
  const world = await startWorld({ env })
  t.after(world.close)
  const admin = await world.admin()
  await world.call('GET', `/api/apis?p=-1`, { as: admin })
  const dumps = ({ text }: { text: string }) => text.includes('response_dump') || text.includes('request_dump')
  assert.equal(dumps(await readAll(world, admin)), true)
  const theirs = await readAll(world, await world.user({ audit_logs: 'read', IsAdmin: 'false' }))
  assert.equal(dumps(theirs), false)
  assert.ok(theirs.records.some(({ action }) => action === 'List APIs'))
})

test('with ownership off the whole log is shown', async (t) => {
  const world = await startWorld({ env: { SVC_DB_ENABLEOWNERSHIP: 'false' } })
  t.after(world.close)
  const { text } = await readAll(world, await world.user({ audit_logs: 'read', IsAdmin: 'false' }))
  assert.ok(world.telltales.every((one) => text.includes(one)))
})
