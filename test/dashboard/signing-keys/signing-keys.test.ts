import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { privateKeyOf, type StoredRing } from '../../../src/oauth/signing-keys/key-ring.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'

const PATH = '/api/oauth/signing-keys'

test('administrators rotate and retire signing keys; readers only see them', async (t) => {
  const world = await gatewayWorld(t)
  const { root, asked, call, store, orgId } = world
  await world.oauth({ id: 'shop', settings: { accessTokenFormat: 'jwt' } })
  await world.policy('gold', ['shop'])
  await asked(200, 'POST', '/api/apis/oauth/shop', root, {
    client_id: 'c',
    secret: 's',
    policy_id: 'gold',
    redirect_uri: 'https://app.test/cb',
  })
  assert.deepEqual(await asked(200, 'GET', PATH, root), { keys: [] })
  await asked(404, 'POST', `${PATH}/rotate`, root)
  const token = await world.token('shop', 'c', 's')
  assert.equal(await world.use('/shop/x', token), 200)
  const keysOf = async (as = root) => (await asked(200, 'GET', PATH, as)).keys as { kid: string; state: string }[]
  const [first] = await keysOf()
  const bodies = async () =>
    (await store.documents.list('oauth_key', { limit: 9 })).rows.map(({ body }) => body as unknown as StoredRing)
  const stored = (await bodies())[0]!.keys[0]!

  const reader = await world.user({ oauth: 'read' })
  const writer = await world.user({ oauth: 'write' })
  for (const as of [reader, writer]) {
    assert.deepEqual(await keysOf(as), [first])
    await asked(403, 'POST', `${PATH}/rotate`, as)
    await asked(403, 'DELETE', `${PATH}/${first!.kid}`, as)
  }
  const elsewhere = await world.admin(await world.organisation())
  assert.deepEqual(await keysOf(elsewhere), [])
  await asked(404, 'DELETE', `${PATH}/${first!.kid}`, elsewhere)
  assert.equal(await world.use('/shop/x', token), 200)

  const rotated = (await asked(200, 'POST', `${PATH}/rotate?alg=ES256`, root)).keys as { state: string }[]
  assert.deepEqual(
    rotated.map(({ state }) => state),
    ['next', 'current'],
  )
  const left = (await asked(200, 'DELETE', `${PATH}/${first!.kid}`, root)).keys as { state: string }[]
  assert.deepEqual(
    left.map(({ state }) => state),
    ['current', 'retired'],
  )
  assert.equal(await world.use('/shop/x', token), 401, 'by the time that it is answered')

  const logs = (await asked(200, 'GET', '/api/audit-logs?p=-1', root)).audit_logs as JsonObject[]
  for (const action of ['oauth_key.rotate', 'oauth_key.retire']) {
    const entry = logs.find((each) => each.action === action)
    assert.ok(entry, action)
    assert.deepEqual([entry.user, entry.status], [root.email, 200])
    const whole = await call('GET', `/api/audit-logs/${entry._id}`, { as: root })
    assert.ok(whole.text.includes(first!.kid) || action === 'oauth_key.rotate')
    assert.ok(!whole.text.includes(stored.sealed), 'not even sealed')
    await asked(403, 'POST', `/api/audit-logs/${entry._id}/undo`, root)
  }
  const { d } = privateKeyOf(stored, Buffer.alloc(32, 7)).export({ format: 'jwk' })
  const said = JSON.stringify([logs, world.log, world.gateway.log, left, orgId])
  assert.ok(!said.includes(d!) && !said.includes(stored.sealed))
  assert.equal((await bodies())[0]!.retired![0]!.kid, first!.kid)
})
