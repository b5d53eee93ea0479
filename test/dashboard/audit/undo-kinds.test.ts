import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DOCUMENT_KINDS } from '../../../src/model/documents/kinds.ts'
import { TOMBSTONE } from '../../../src/model/documents/tombstone.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { PERMISSION_KEYS } from '../../../src/model/people/permission.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'
import { NOUNS, openUndoWorld } from '../../worlds/dashboard/undo-world.ts'

/**
 * The parts that must be equal: a client gets another epoch, and other marks of its redirect URIs, so that ended tokens and codes stay so.
 */
const lasting = (body: JsonObject | undefined) => {
  if (body === undefined) return undefined
  const { redirect_since: _marks, ...rest } = body
  return { ...rest, epoch: '' }
}

/** A change of a user needs all permissions of that user. */
const RIGHTS_BESIDE: Readonly<Record<string, JsonObject>> = { user: { apis: 'read' }, user_group: { apis: 'read' } }

/** Kinds that are tried by themselves: below, in undo.test.ts, and with the keys of developers. */
const ELSEWHERE = ['session', 'developer', 'key_end', 'organisation', 'key_request', 'portal_documentation_text']
/** The kinds of the installation itself: no call of an organisation changes them, so nobody undoes it. */
const NOBODYS = ['installation', 'oauth_key', 'node', 'addresses', 'order', 'org_session']

/** A note of who owned what was deleted: entries of the audit log leave it out, so there is nothing to undo. */
const UNLISTED = [TOMBSTONE]

test('every kind of document is tried', () => {
  const tried = [...NOUNS.map(({ kind }) => kind), ...ELSEWHERE, ...NOBODYS, ...UNLISTED]
  assert.deepEqual(tried.toSorted(), [...Object.keys(DOCUMENT_KINDS), 'session'].toSorted())
})

test('undo restores edits of a developer, but no sign-ins and no decided requests', async (t) => {
  const w = await openUndoWorld(t)
  const made = { email: 'ada@example.test', password: 'correct horse battery', fields: { Name: 'Ada' } }
  const { Message: id } = await w.sent('POST', '/api/portal/developers', made)
  assert.match((await w.undo()).text, /a developer was made or deleted/)
  const before = await w.body('developer', String(id))
  await w.sent('PUT', `/api/portal/developers/${id}`, { ...made, password: 'another horse battery', fields: {} })
  assert.equal((await w.undo(await w.user({ audit_logs: 'read', portal: 'read' }))).status, 403)
  const answer = await w.undo(await w.user({ audit_logs: 'read', portal: 'write' }))
  assert.equal(answer.status, 200, answer.text)
  const after = await w.body('developer', String(id))
  assert.deepEqual(after!.fields, { Name: 'Ada' })
  assert.notEqual(after!.password, before!.password)
  await w.api('orders')
  await w.sent('PUT', '/api/portal/configuration', { require_key_approval: true })
  const policy = { name: 'Gold', id: 'gold', access_rights: { orders: { api_id: 'orders', versions: ['Default'] } } }
  await w.sent('POST', '/api/portal/policies', { ...policy, rate: 1, per: 1 })
  const asked = { by_user: id!, for_plan: 'gold', oauth_info: { redirect_uri: 'https://app.test/cb' } }
  const { Message: request } = await w.sent('POST', '/api/portal/requests', asked)
  const refused = await w.undo()
  assert.deepEqual([refused.status, (await w.body('key_request', String(request))) !== undefined], [409, true])
  assert.match(refused.text, /a change of key_request cannot be undone/)
  await w.sent('DELETE', `/api/portal/developers/${id}`)
  assert.equal((await w.undo()).status, 409)
})

test('settings of the organisation are restored, except a host that is taken by now', async (t) => {
  const w = await openUndoWorld(t)
  const organisation = async () => (await w.body('organisation', w.orgId))!
  await w.sent('PUT', '/api/org/second-factor', { required: true })
  assert.equal((await w.undo()).status, 200)
  assert.notEqual((await organisation()).require_second_factor, true)
  await w.sent('PUT', '/api/portal/cname', { cname: 'one.example.test' })
  await w.sent('PUT', '/api/portal/cname', { cname: 'two.example.test' })
  const { id } = await w.last()
  assert.equal((await w.undo(await w.user({ audit_logs: 'read', portal: 'write' }))).status, 403)
  assert.equal((await w.undo()).status, 200)
  assert.equal((await organisation()).cname, 'one.example.test')
  assert.equal((await w.undo()).status, 200)
  await w.organisation({ cname: 'two.example.test' })
  const back = (await w.last()).id
  assert.equal((await w.undo(w.admin, id)).status, 409)
  assert.equal((await w.undo(w.admin, back)).status, 200)
  const taken = await w.undo()
  assert.equal(taken.status, 409)
  assert.match(taken.text, /Another organisation has this host/)
})

test('a policy gets no name back that another one has by now', async (t) => {
  const w = await openUndoWorld(t)
  await w.api('orders')
  const policy = (id: string, name: string) => ({
    ...{ id, name, rate: 1, per: 1, access_rights: { orders: { api_id: 'orders', versions: ['Default'] } } },
  })
  await w.sent('POST', '/api/portal/policies', policy('one', 'Gold'))
  await w.sent('PATCH', '/api/portal/policies/one', { name: 'Silver' })
  const renamed = (await w.last()).id
  await w.sent('POST', '/api/portal/policies', policy('two', 'Gold'))
  const taken = await w.undo(w.admin, renamed)
  assert.deepEqual([taken.status, /already been used/.test(taken.text)], [400, true], taken.text)
  await w.sent('DELETE', '/api/portal/policies/one')
  const deleted = (await w.last()).id
  await w.sent('POST', '/api/portal/policies', policy('three', 'Silver'))
  assert.equal((await w.undo(w.admin, deleted)).status, 400)
})

test('documentation of what others own is nobody else’s to bring back; its text comes with it', async (t) => {
  const w = await openUndoWorld(t, { env: { SVC_DB_ENABLEOWNERSHIP: 'true' } })
  const owner = await w.user({ audit_logs: 'read', portal: 'write' })
  const { id } = await w.api('orders')
  const stored = (await w.store.documents.get('api', id))!
  const owned = { ...stored.body, user_owners: [owner.id] }
  await w.store.documents.commit([{ op: 'put', kind: 'api', id, body: owned }], undefined)
  const documentation = Buffer.from('{"openapi":"3.0.3"}').toString('base64')
  const { Message: doc } = await w.sent('POST', '/api/portal/documentation', { api_id: 'orders', documentation })
  await w.sent('DELETE', `/api/portal/documentation/${doc}`)
  assert.equal((await w.undo(await w.user({ audit_logs: 'read', portal: 'write' }))).status, 401)
  assert.equal((await w.undo(owner)).status, 200)
  const read = await w.call('GET', `/api/portal/documentation/${doc}`, { as: owner })
  assert.equal((read.json as JsonObject).documentation, documentation)
})

for (const noun of NOUNS) {
  test(`${noun.kind}: making, changing and deleting are undone, and the undoing too`, async (t) => {
    const w = await openUndoWorld(t)
    const id = await noun.make(w)
    const made = await w.body(noun.kind, id)
    const entry = (await w.last()).id
    assert.equal((await w.undo()).status, 200)
    assert.equal(await w.body(noun.kind, id), undefined)
    const undone = await w.undo()
    assert.equal(undone.status, 200, undone.text)
    assert.deepEqual(lasting(await w.body(noun.kind, id)), lasting(made))
    assert.deepEqual((await w.last()).action, 'undo')
    assert.equal((await w.last()).request?.user, w.admin.email)
    const again = await w.undo(w.admin, entry)
    assert.equal(again.status, 409, 'later entries stand in the way')
    assert.match((again.json as { Message: string }).Message, /audit entry [0-9a-f]{24}/)
    if (noun.change !== undefined) {
      const before = await w.body(noun.kind, id)
      await noun.change(w, id)
      assert.notDeepEqual(await w.body(noun.kind, id), before)
      const answer = await w.undo()
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(lasting(await w.body(noun.kind, id)), lasting(before))
    }
    if (noun.remove !== undefined) {
      const before = await w.body(noun.kind, id)
      await noun.remove(w, id)
      assert.equal(await w.body(noun.kind, id), undefined)
      const answer = await w.undo()
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(lasting(await w.body(noun.kind, id)), lasting(before))
    }
  })

  test(`${noun.kind}: whoever may not write it, or comes from elsewhere, undoes nothing`, async (t) => {
    const w = await openUndoWorld(t)
    const id = await noun.make(w)
    const { id: entry } = await w.last()
    const everything = Object.fromEntries(PERMISSION_KEYS.map((key) => [key, 'write']))
    const { audit_logs: _audit, ...unaudited } = everything
    const own = noun.needs ?? 'apis'
    const refused = async (as: TestUser, status: number) => {
      assert.equal((await w.undo(as, entry)).status, status)
      assert.notEqual(await w.body(noun.kind, id), undefined)
    }
    await refused(await w.user({ ...everything, IsAdmin: 'false', [own]: 'read' }), 403)
    await refused(await w.user({ ...unaudited, IsAdmin: 'false' }), 403)
    await refused(await w.user({ IsAdmin: 'admin' }, { orgId: '' }), 403)
    await refused(await w.user({ IsAdmin: 'admin' }, { orgId: await w.organisation() }), 404)
    const writer = await w.user({ IsAdmin: 'false', audit_logs: 'read', ...(noun.needs && { [own]: 'write' }) })
    if (noun.needs === undefined) await refused(await w.user({ ...everything, IsAdmin: 'false' }), 403)
    else if (RIGHTS_BESIDE[noun.kind] === undefined) assert.equal((await w.undo(writer, entry)).status, 200)
    else {
      await refused(writer, 403)
      const permissions = { IsAdmin: 'false', audit_logs: 'read', [own]: 'write', ...RIGHTS_BESIDE[noun.kind] }
      assert.equal((await w.undo(await w.user(permissions), entry)).status, 200)
    }
  })
}
