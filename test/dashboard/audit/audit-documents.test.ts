import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { createKey, updateKey } from '../../../src/publish/keys/keys.ts'
import { createPolicy } from '../../../src/publish/policies/policies.ts'
import { NOUNS, openUndoWorld, type UndoWorld } from '../../worlds/dashboard/undo-world.ts'

interface Change {
  readonly kind: string
  readonly id: string
}

async function listed({ call, admin }: UndoWorld, query: string): Promise<string[]> {
  const answer = await call('GET', `/api/audit-logs?${query}&p=-1`, { as: admin })
  assert.equal(answer.status, 200, answer.text)
  return (answer.json as { audit_logs: { _id: string }[] }).audit_logs.map(({ _id }) => _id)
}

/** Entries by the documents that they changed, as each entry says itself, newest first. */
async function entriesByDocument(w: UndoWorld): Promise<ReadonlyMap<string, readonly string[]>> {
  const by = new Map<string, string[]>()
  for (const id of await listed(w, '')) {
    const { changes } = (await w.call('GET', `/api/audit-logs/${id}`, { as: w.admin })).json as { changes: Change[] }
    for (const name of new Set(changes.map((change) => `${change.kind} ${change.id}`)))
      by.set(name, [...(by.get(name) ?? []), id])
  }
  return by
}

for (const { kind, make, change, remove } of NOUNS)
  test(`the entries about a document are found by it, deleted or not: ${kind}`, async (t) => {
    const w = await openUndoWorld(t)
    const id = await make(w)
    await change?.(w, id)
    await w.undo()
    if (change !== undefined) await remove?.(w, id)
    const by = await entriesByDocument(w)
    assert.ok((by.get(`${kind} ${id}`)?.length ?? 0) > 1)
    for (const [name, entries] of by) {
      const [ofKind, ofId] = name.split(' ') as [string, string]
      assert.deepEqual(await listed(w, `kind=${ofKind}&id=${ofId}`), entries, name)
    }
  })

test('entries about a document are found by the id that calls name it by', async (t) => {
  const w = await openUndoWorld(t)
  const { parts, orgId, sent, store } = w
  await w.api('orders')
  await w.api('other')
  const body = { client_id: 'app', redirect_uri: 'https://app.test/cb' }
  const { policy } = await createPolicy(parts, { id: 'gold', name: 'Gold', org_id: orgId, rate: 5, per: 1 }, 'test')
  await sent('POST', '/api/apis/oauth/orders', body)
  const session = { org_id: orgId, access_rights: { orders: { api_id: 'orders', versions: ['Default'] } } }
  const { keyHash } = await createKey(parts, { session, keepQuota: true, actor: 'test' })
  const row = (await store.tokens.getSession(Buffer.from(keyHash, 'hex')))!
  await updateKey(parts, { row, session: { ...session, rate: 9 }, keepQuota: true, actor: 'test' })
  const by = await entriesByDocument(w)
  const storageIds = {
    api: (await store.documents.find('api', 'api_id', 'orders'))!.id,
    oauth_client: (await store.documents.find('oauth_client', 'client_id', 'app'))!.id,
  }
  assert.deepEqual(await listed(w, 'kind=api&id=orders'), by.get(`api ${storageIds.api}`))
  assert.deepEqual(await listed(w, 'kind=oauth_client&id=app'), by.get(`oauth_client ${storageIds.oauth_client}`))
  assert.deepEqual(await listed(w, 'kind=policy&id=gold'), by.get(`policy ${policy._id}`))
  assert.deepEqual(await listed(w, `kind=session&id=${keyHash}`), by.get(`session ${keyHash}`))
  assert.equal(by.get(`session ${keyHash}`)?.length, 2)
  assert.deepEqual(await listed(w, 'kind=api&id=none'), [])
})

test('half a name of a document is refused, as is a kind that there is not', async (t) => {
  const { call, admin } = await openUndoWorld(t)
  for (const query of ['kind=api', 'id=x', 'kind=nothing&id=x', 'kind=node&id=x']) {
    const answer = await call('GET', `/api/audit-logs?${query}`, { as: admin })
    assert.equal(answer.status, 400, `${query} ${answer.text}`)
    assert.match(String((answer.json as JsonObject).Message), /kind/)
  }
})

test('entries about a document of another organisation are not found', async (t) => {
  const w = await openUndoWorld(t)
  const id = (await w.api('orders')).id
  const other = await w.user({ IsAdmin: 'admin' }, { orgId: await w.organisation() })
  const answer = await w.call('GET', `/api/audit-logs?kind=api&id=${id}`, { as: other })
  assert.deepEqual((answer.json as { audit_logs: unknown[] }).audit_logs, [])
})
