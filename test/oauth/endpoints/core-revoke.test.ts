import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openWorld, planOf, STORES, type World } from '../../worlds/oauth/core-world.ts'
import { basic, CALLBACK, SECRET, VERIFIER } from '../../worlds/oauth/front-fixtures.ts'

const [memory] = STORES

async function tokens(world: World): Promise<JsonObject> {
  const code = await world.code(await world.putClient(), { scope: 'read' })
  const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER }
  return (await world.token(form)).body
}

const revoke = (
  world: World,
  token: unknown,
  more: Record<string, string> = {},
  headers: Record<string, string> = basic('shop'),
) => world.ask('revoke', { headers, form: { token: String(token), ...more } })

for (const store of STORES) {
  test(`${store.name}: revoking an access token ends it alone, whatever the hint says`, async (t) => {
    const world = await openWorld(t, store)
    for (const hint of ['access_token', 'refresh_token', 'nonsense', '']) {
      const given = await tokens(world)
      assert.equal((await revoke(world, given.access_token, { token_type_hint: hint })).status, 200)
      assert.deepEqual(await world.look(given.access_token), { active: false })
      const next = await world.token({ grant_type: 'refresh_token', refresh_token: String(given.refresh_token) })
      assert.equal(next.status, 200)
    }
  })

  test(`${store.name}: revoking a refresh token, a used one too, ends the family`, async (t) => {
    const world = await openWorld(t, store)
    for (const used of [false, true]) {
      const first = await tokens(world)
      const refresh = { grant_type: 'refresh_token', refresh_token: String(first.refresh_token) }
      const last = used ? (await world.token(refresh)).body : first
      assert.equal((await revoke(world, first.refresh_token)).status, 200)
      assert.deepEqual(await world.look(last.access_token), { active: false })
      const after = { grant_type: 'refresh_token', refresh_token: String(last.refresh_token) }
      assert.equal((await world.token(after)).body.error, 'invalid_grant')
    }
  })

  test(`${store.name}: revoke_all ends tokens, refresh tokens and codes of the client, and of no other`, async (t) => {
    const world = await openWorld(t, store)
    const given = await tokens(world)
    const client = await world.putClient()
    const code = await world.code(client)
    await world.putClient({ client_id: 'other' })
    const others = await world.token({ grant_type: 'client_credentials' }, { headers: basic('other') })
    const form = { client_id: 'shop', client_secret: SECRET }
    const { status, body } = await world.ask('revoke_all', { form })
    assert.deepEqual([status, body], [200, { status: 'ok', message: 'tokens revoked successfully' }])
    assert.deepEqual(await world.look(given.access_token), { active: false })
    for (const dead of [
      { grant_type: 'refresh_token', refresh_token: String(given.refresh_token) },
      { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER },
    ])
      assert.equal((await world.token(dead)).body.error, 'invalid_grant')
    assert.equal((await world.look(others.body.access_token)).active, true)
    const fresh = await world.token({ grant_type: 'client_credentials' })
    assert.equal((await world.look(fresh.body.access_token)).active, true)
  })
}

test('a foreign token is refused; an unknown one counts as revoked (RFC 7009 section 2)', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient({ client_id: 'other' })
  await world.putClient({ client_id: 'public', auth_method: 'none' })
  const callers = { other: basic('other'), public: {} }
  for (const [client_id, headers] of Object.entries(callers))
    for (const hint of ['', 'access_token', 'refresh_token']) {
      const given = await tokens(world)
      const as = { ...(hint !== '' && { token_type_hint: hint }), ...(client_id === 'public' && { client_id }) }
      assert.equal((await revoke(world, 'unknown', as, headers)).status, 200)
      for (const token of [given.access_token, given.refresh_token]) {
        const { status, body } = await revoke(world, token, as, headers)
        assert.deepEqual([status, body.error], [400, 'invalid_grant'], `${client_id} ${hint}`)
        assert.match(String(body.error_description), /another client/)
      }
      assert.equal((await world.look(given.access_token)).active, true)
      const next = await world.token({ grant_type: 'refresh_token', refresh_token: String(given.refresh_token) })
      assert.equal(next.status, 200)
      // A refresh token that was used is its client's still.
      assert.equal((await revoke(world, given.refresh_token, as, headers)).status, 400)
      assert.equal((await world.look(next.body.access_token)).active, true)
    }
})

test('revoking needs a client and a token', async (t) => {
  const world = await openWorld(t, memory!)
  const given = await tokens(world)
  assert.equal((await revoke(world, given.access_token, {}, basic('shop', 'wrong'))).status, 401)
  assert.equal((await world.ask('revoke', { form: { token: String(given.access_token) } })).status, 401)
  assert.equal((await world.look(given.access_token)).active, true)
  assert.equal((await revoke(world, '')).body.error, 'invalid_request')
})

test('a public client revokes its own tokens by its id, but not all at once', async (t) => {
  const world = await openWorld(t, memory!)
  const code = await world.code(await world.putClient({ auth_method: 'none' }))
  const form = { grant_type: 'authorization_code', client_id: 'shop', code, redirect_uri: CALLBACK }
  const given = await world.token({ ...form, code_verifier: VERIFIER }, { headers: {} })
  const all = await world.ask('revoke_all', { form: { client_id: 'shop' } })
  assert.deepEqual([all.status, all.body.error], [400, 'unauthorized_client'])
  assert.equal((await world.look(given.body.access_token)).active, true)
  const own = { client_id: 'shop', token: String(given.body.access_token) }
  assert.equal((await world.ask('revoke', { form: own })).status, 200)
  assert.deepEqual(await world.look(given.body.access_token), { active: false })
})

test('revoke_all: Basic too; a wrong secret ends nothing', async (t) => {
  const world = await openWorld(t, memory!)
  const given = await tokens(world)
  for (const form of [{}, { client_id: 'shop' }, { client_id: 'shop', client_secret: 'wrong' }]) {
    assert.equal((await world.ask('revoke_all', { form })).status, 401)
  }
  assert.equal((await world.look(given.access_token)).active, true)
  assert.equal((await world.ask('revoke_all', { headers: basic('shop') })).status, 200)
  assert.deepEqual(await world.look(given.access_token), { active: false })
})

test('a token does not outlive its client, nor its registration', async (t) => {
  const world = await openWorld(t, memory!)
  const given = await tokens(world)
  await world.deleteClient('shop')
  assert.deepEqual(await world.look(given.access_token), { active: false })
  await world.putClient({ epoch: 'epoch-2' })
  assert.deepEqual(await world.look(given.access_token), { active: false })
  await world.putClient({ api_ids: [] })
  assert.deepEqual(await world.look(given.access_token), { active: false })
  await world.putClient()
  assert.equal((await world.look(given.access_token)).active, true)
})

test('introspection: authenticated, of APIs that the caller is registered at', async (t) => {
  const world = await openWorld(t, memory!)
  const given = await tokens(world)
  const ask = (headers: Record<string, string>, token: unknown) =>
    world.ask('introspect', { headers, form: { token: String(token) } })
  assert.equal((await ask({}, given.access_token)).status, 401)
  assert.equal((await ask(basic('watcher', 'wrong'), given.access_token)).status, 401)
  assert.equal((await ask(basic('watcher'), '')).body.error, 'invalid_request')
  assert.deepEqual((await ask(basic('watcher'), 'unknown')).body, { active: false })

  const invoices = { ...world.api, apiId: 'invoices' }
  world.apis.set('invoices', invoices)
  await world.putClient({ client_id: 'accountant', api_ids: ['invoices'] })
  const form = { token: String(given.access_token) }
  const elsewhere = await world.ask('introspect', { api: invoices, headers: basic('accountant'), form })
  assert.deepEqual(elsewhere.body, { active: false })
  world.policies.set('both', planOf(['orders', 'invoices']))
  await world.putClient({ client_id: 'accountant', api_ids: [], registered_by_policy: 'both' })
  const now = await world.ask('introspect', { api: invoices, headers: basic('accountant'), form })
  assert.deepEqual([now.body.active, now.body.client_id, 'iss' in now.body], [true, 'shop', false])
})

test('introspection of a refresh token is for its own client', async (t) => {
  const world = await openWorld(t, memory!)
  const given = await tokens(world)
  assert.deepEqual(await world.look(given.refresh_token), { active: false })
  const own = await world.ask('introspect', { headers: basic('shop'), form: { token: String(given.refresh_token) } })
  assert.equal(own.body.active, true)
  assert.equal(own.body.scope, 'read')
  assert.equal(own.body.exp, world.clock.wallMs / 1000 + 1_209_600)
  assert.ok(!('token_type' in own.body))
  assert.equal(own.body.token_use, 'refresh_token')
})

test('introspection is not for public clients, and an API key is no token', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient({ client_id: 'app', auth_method: 'none' })
  const refused = await world.ask('introspect', { form: { client_id: 'app', token: 'x' } })
  assert.equal(refused.body.error, 'unauthorized_client')
})
