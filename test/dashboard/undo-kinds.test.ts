import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { TestUser } from './harness.ts'
import { NOUNS, openUndoWorld } from './undo-world.ts'

/** What may differ: a client gets another epoch, so that tokens that were ended stay so. */
const lasting = (body: JsonObject | undefined) => body && { ...body, epoch: '' }

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
    const everything = Object.fromEntries(
      ['apis', 'policies', 'keys', 'oauth', 'certs', 'hooks', 'users', 'user_groups', 'idm', 'system'].map((key) => [
        key,
        'write',
      ]),
    )
    const needed = { api: 'apis', policy: 'policies', oauth_client: 'oauth', certificate: 'certs', hook: 'hooks' }
    const own = { ...needed, user: 'users', user_group: 'user_groups' }[noun.kind] ?? 'none'
    const refused = async (as: TestUser, status: number) => {
      assert.equal((await w.undo(as, entry)).status, status)
      assert.notEqual(await w.body(noun.kind, id), undefined)
    }
    await refused(await w.user({ ...everything, audit_logs: 'read', [own]: 'read' }), 403)
    await refused(await w.user({ ...everything }), 403)
    await refused(await w.user({ IsAdmin: 'admin' }, { orgId: '' }), 403)
    await refused(await w.user({ IsAdmin: 'admin' }, { orgId: await w.organisation() }), 404)
    if (own === 'none') return
    assert.equal((await w.undo(await w.user({ ...everything, audit_logs: 'read' }), entry)).status, 200)
  })
}
