import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { openBench } from '../../worlds/oauth/notifications.ts'

interface Shown {
  readonly id: number
  readonly dead: boolean
}

test('messages that were given up are listed without their content and sent again by a call', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const bench = openBench(t, { store: gateway.store, clock: gateway.clock })
  const token = await bench.announce('orders')
  await bench.announce('orders')
  await bench.announce('other')
  const [first, second] = await bench.rows('orders')
  const outcome = { is: 'dead', error: 'answered 500' } as const
  await gateway.store.documents.commit([{ op: 'settleDelivery', id: first!.id, outcome }], undefined)

  const list = async (query: string) => {
    const { status, json, text } = await gateway.svc('GET', `/svc/oauth/notifications/orders${query}`)
    assert.equal(status, 200)
    assert.equal(text.includes(token), false)
    return json as Shown[]
  }
  const created_at = new Date(bench.clock.wall()).toISOString()
  const failed = { id: first!.id, api_id: 'orders', created_at, attempts: 1, dead: true, error: 'answered 500' }
  const waiting = { id: second!.id, api_id: 'orders', created_at, attempts: 0, dead: false, error: '' }
  assert.deepEqual(await list('?dead=1'), [failed])
  assert.deepEqual(await list(''), [failed, { ...waiting, next_at: created_at }])
  assert.deepEqual(await list(`?after=${first!.id}`), [{ ...waiting, next_at: created_at }])

  const resend = (path: string) => gateway.svc('POST', `/svc/oauth/notifications/${path}/resend`)
  assert.equal((await resend(`other/${first!.id}`)).status, 404)
  assert.equal((await resend(`orders/${second!.id}`)).status, 404)
  assert.equal((await resend('orders/999')).status, 404)
  for (const id of ['0', '-1', '1.5', 'x', '99999999999999999'])
    assert.equal((await resend(`orders/${id}`)).status, 400)
  const { status, json } = await resend(`orders/${first!.id}`)
  assert.equal(status, 200)
  assert.deepEqual(json, { status: 'ok', message: 'notification will be sent again' })
  assert.deepEqual(await list('?dead=1'), [])
  assert.deepEqual(
    (await list('')).map(({ id, dead }) => [id, dead]),
    [
      [first!.id, false],
      [second!.id, false],
    ],
  )
})

test('the calls need the secret', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const wrong = { 'x-svc-authorization': 'wrong' }
  assert.equal((await gateway.svc('GET', '/svc/oauth/notifications/a', undefined, wrong)).status, 403)
  assert.equal((await gateway.svc('POST', '/svc/oauth/notifications/a/1/resend', undefined, wrong)).status, 403)
  assert.equal((await gateway.svc('DELETE', '/svc/oauth/notifications/a')).status, 405)
})
