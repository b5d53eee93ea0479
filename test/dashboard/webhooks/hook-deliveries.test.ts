import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { eventDelivery } from '../../../src/publish/events/events.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { startReceiver } from '../../worlds/oauth/receiver.ts'

const SEAL_KEY = Buffer.alloc(32, 7)
const OPEN = { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' }

test('messages for a webhook that wait or were given up are listed, and sent again when asked', async (t) => {
  const dashboard = await startTestDashboard({ env: OPEN, parts: { sealKey: SEAL_KEY } })
  t.after(dashboard.close)
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const { call, store, clock, orgId, organisation, user } = dashboard
  const admin = await dashboard.admin()
  const made = { name: 'h', method: 'POST', target_path: receiver.url }
  for (const name of ['h', 'other']) await call('POST', '/api/hooks', { as: admin, body: { ...made, name } })
  const hooks = ((await call('GET', '/api/hooks', { as: admin })).json as { hooks: { id: string }[] }).hooks
  const [hook, other] = hooks.map(({ id }) => id)
  const body = JSON.stringify({ event: 'test', data: { secret: 'very-secret' } })
  const message = eventDelivery(SEAL_KEY, { to: { hook: hook!, orgId }, body }, clock.wall())
  await store.documents.commit([message], undefined)
  const list = async (query = '', as = admin) =>
    (await call('GET', `/api/hooks/${hook}/deliveries${query}`, { as })).json as { deliveries: JsonObject[] }
  const created = new Date(clock.wall()).toISOString()
  const [waiting] = (await list()).deliveries
  const id = Number(waiting!.id)
  assert.deepEqual(waiting, { id, created_at: created, attempts: 0, dead: false, error: '', next_at: created })
  assert.deepEqual((await list('?dead=true')).deliveries, [])
  assert.deepEqual((await list(`?after=${id}`)).deliveries, [])

  const resend = (path: string, as = admin) => call('POST', `/api/hooks/${path}/resend`, { as })
  assert.equal((await resend(`${hook}/deliveries/${id}`)).status, 404, 'it was not given up')
  const outcome = { is: 'dead', error: 'answered 500' } as const
  await store.documents.commit([{ op: 'settleDelivery', id, outcome }], undefined)
  const [dead] = (await list('?dead=true')).deliveries
  assert.deepEqual([dead!.dead, dead!.error, 'next_at' in dead!], [true, 'answered 500', false])

  const foreign = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  const reader = await user({ hooks: 'read' })
  assert.equal((await list('', reader)).deliveries.length, 1)
  assert.equal((await resend(`${hook}/deliveries/${id}`, reader)).status, 403)
  for (const as of [admin, foreign])
    for (const path of [`${other}/deliveries/${id}`, `${hook}/deliveries/${id + 1}`, `${hook}/deliveries/x`])
      assert.equal((await resend(path, as)).status, 404, path)
  assert.equal((await resend(`${hook}/deliveries/${id}`, foreign)).status, 404)
  assert.equal((await call('GET', `/api/hooks/${hook}/deliveries`, { as: foreign })).status, 404)

  assert.equal((await resend(`${hook}/deliveries/${id}`)).status, 200)
  assert.equal((await store.audit.list({ limit: 1 })).rows[0]!.action, 'hook_delivery.resend')
  const gateway = await startTestGateway({ store, clock, env: OPEN })
  t.after(() => gateway.close())
  await eventually('it has arrived', () => receiver.received.length === 1)
  assert.equal(receiver.received[0]!.body, body)
  await eventually('nothing is left', async () => (await list()).deliveries.length === 0)
})
