import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classicApi, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'

// Some ids are unique in an installation. A refusal is needed then; it does not tell who has the id.

test('an id that another organisation has is refused as one of the own organisation is', async (t) => {
  const { call, root, oauth, admin, organisation } = await gatewayWorld(t)
  const foreign = await admin(await organisation())
  await oauth({ id: 'shop' })
  await oauth({ id: 'theirs' }, foreign.orgId)
  const _id = '0123456789abcdef01234567'
  const client = { redirect_uri: 'https://app.test/cb', client_id: 'app', secret: 'first' }
  const calls: readonly (readonly [what: string, path: () => string, body: (turn: number) => JsonObject])[] = [
    ['classic', () => '/api/apis', (turn) => ({ api_definition: classicApi('orders', `/a${turn}/`) })],
    ['OpenAPI', () => '/api/apis/oas', (turn) => oasApi('books', `/b${turn}/`)],
    ['policy', () => '/api/portal/policies', (turn) => ({ _id, name: `p${turn}`, access_rights: {} })],
  ]
  for (const [what, path, body] of calls) {
    const made = await call('POST', path(), { as: root, body: body(0) })
    assert.equal(made.status, 200, `${what}: ${made.text}`)
    const own = await call('POST', path(), { as: root, body: body(1) })
    const others = await call('POST', path(), { as: foreign, body: body(2) })
    assert.equal(others.status, 409, `${what}: ${others.text}`)
    assert.deepEqual([own.status, own.text], [others.status, others.text], what)
    assert.equal((others.json as JsonObject).Message, 'This ID cannot be used. Choose another one.', what)
  }
  assert.equal((await call('POST', '/api/apis/oauth/shop', { as: root, body: client })).status, 200)
  const moved = { ...client, api_ids: ['theirs'], org_id: foreign.orgId }
  const taken = await call('POST', '/api/moves/clients', { as: foreign, body: moved })
  assert.equal(taken.status, 409, taken.text)
  assert.equal((taken.json as JsonObject).Message, 'This ID cannot be used. Choose another one.')
  const asked = { api_ids: ['orders'], client_ids: ['app'] }
  const sent = { format: 'oas', definition: oasApi('books', '/c/') }
  const check = await call('POST', '/api/moves/check', { as: foreign, body: { ...asked, apis: [sent] } })
  assert.equal(check.status, 200, check.text)
  assert.match(check.text, /cannot be used/)
  assert.doesNotMatch(check.text, /organisation/)
})
