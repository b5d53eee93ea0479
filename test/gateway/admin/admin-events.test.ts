import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DocumentId, newDocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { classicApi, rightsOn } from '../../worlds/gateway/admin-fixtures.ts'
import { startReceiver } from '../../worlds/oauth/receiver.ts'

test('changes through the administration API of the gateway are told to whoever wants to know', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  const receiver = await startReceiver()
  const gateway = await startTestGateway({ store, clock, env: { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' } })
  t.after(async () => {
    await gateway.close()
    await receiver.close()
    await store.close()
  })
  const orgId: DocumentId = newDocumentId(clock.wall())
  const webhook = { webhook: receiver.url }
  const body = { owner_name: 'Org', event_options: { api_event: webhook, key_event: webhook } }
  await store.documents.commit([{ op: 'put', kind: 'organisation', id: orgId, body }], undefined)

  const api = classicApi('Orders', '/orders/', { api_id: 'orders', org_id: orgId, use_keyless: false, auth: {} })
  assert.equal((await gateway.svc('POST', '/svc/apis', api)).status, 200)
  const made = await gateway.svc('POST', '/svc/keys', { org_id: orgId, access_rights: rightsOn('orders') })
  assert.equal(made.status, 200, made.text)
  const { key, key_hash: hash } = made.json as { key: string; key_hash: string }
  assert.equal((await gateway.svc('DELETE', `/svc/keys/${key}`)).status, 200)
  assert.equal((await gateway.svc('PUT', '/svc/apis/orders', { ...api, name: 'Orders 2' })).status, 200)
  assert.equal((await gateway.svc('POST', '/svc/apis', classicApi('Rival', '/orders/'))).status, 409)
  assert.equal((await gateway.svc('DELETE', '/svc/apis/orders')).status, 200)

  await eventually('all messages arrive', () => receiver.received.length >= 5)
  const told = receiver.received.map((each) => JSON.parse(each.body) as { event: string; data: JsonObject })
  const of = (sort: string) => told.filter(({ event }) => event.startsWith(sort))
  assert.deepEqual(
    of('api_event').map(({ event, data }) => [event, (data.api_definition as JsonObject).name]),
    [
      ['api_event.created', 'Orders'],
      ['api_event.updated', 'Orders 2'],
      ['api_event.deleted', 'Orders 2'],
    ],
  )
  assert.deepEqual(
    of('key_event').map(({ event, data }) => [event, data.key_hash]),
    [
      ['key_event.created', hash],
      ['key_event.deleted', hash],
    ],
  )
  assert.equal(told.length, 5, 'a refused call tells nobody')
  assert.ok(!receiver.received.some((each) => each.body.includes(key)))
})
