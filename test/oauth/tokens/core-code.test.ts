import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { openDelivery } from '../../../src/oauth/webhooks/webhook-messages.ts'
import { openWorld, STORES } from '../../worlds/oauth/core-world.ts'
import { basic, CALLBACK, VERIFIER } from '../../worlds/oauth/front-fixtures.ts'

const [memory] = STORES
const exchange = (code: string) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: CALLBACK,
  code_verifier: VERIFIER,
})

for (const store of STORES) {
  test(`${store.name}: a code gives an access and a refresh token, announced`, async (t) => {
    const world = await openWorld(t, store, { rules: { notifyUrl: 'https://hooks.example/', notifySecret: 's' } })
    const client = await world.putClient()
    const code = await world.code(client, { scope: 'read', username: 'ann' })
    const { status, body } = await world.token(exchange(code))
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['access_token', 'expires_in', 'token_type', 'refresh_token', 'scope'])
    const seen = await world.look(body.access_token)
    assert.equal(seen.username, 'ann')
    assert.equal(seen.sub, 'ann')
    assert.equal(seen.scope, 'read')
    const [row] = await world.store.outbox.list({ queue: 'orders', dead: false, after: 0, limit: 10 })
    assert.deepEqual(JSON.parse(openDelivery(world.parts.sealKey, row!).body), {
      auth_code: code,
      new_oauth_token: body.access_token,
      refresh_token: body.refresh_token,
      old_refresh_token: '',
      notification_type: 'new',
    })
  })

  test(`${store.name}: of 100 tries at once one succeeds, and a replay ends what it gave`, async (t) => {
    const world = await openWorld(t, store)
    const client = await world.putClient()
    const code = await world.code(client)
    const all = await Promise.all(Array.from({ length: 100 }, () => world.token(exchange(code))))
    const won = all.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
    for (const { status, body } of all.filter((each) => each !== won[0]))
      assert.deepEqual([status, body.error], [400, 'invalid_grant'])
    assert.deepEqual(await world.look(won[0]!.body.access_token), { active: false })
    const refreshed = await world.token({
      grant_type: 'refresh_token',
      refresh_token: String(won[0]!.body.refresh_token),
    })
    assert.equal(refreshed.body.error, 'invalid_grant')
  })

  test(`${store.name}: a second use, later, ends what the first one gave and what was refreshed since`, async (t) => {
    const world = await openWorld(t, store)
    const client = await world.putClient()
    const code = await world.code(client)
    const first = await world.token(exchange(code))
    const second = await world.token({ grant_type: 'refresh_token', refresh_token: String(first.body.refresh_token) })
    assert.equal((await world.look(second.body.access_token)).active, true)
    world.clock.advance(120_000)
    assert.equal((await world.token(exchange(code))).body.error, 'invalid_grant')
    assert.deepEqual(await world.look(second.body.access_token), { active: false })
    assert.deepEqual(await world.look(second.body.refresh_token), { active: false })
  })
}

test('a code is bound to its client, API, redirect URI, challenge, epoch and time', async (t) => {
  const world = await openWorld(t, memory!)
  const client = await world.putClient()
  await world.putClient({ client_id: 'other' })
  const refused = async (changes: Record<string, string>, headers = basic('shop')) => {
    const code = await world.code(client)
    const form = { ...exchange(code), ...changes }
    const { status, body } = await world.token(form, { headers })
    assert.equal(status, 400)
    // A failed attempt does not use it up.
    assert.equal((await world.token(exchange(code))).status, 200)
    return body.error
  }
  assert.equal(await refused({ code: '' }), 'invalid_request')
  assert.equal(await refused({ code: 'unknown' }), 'invalid_grant')
  assert.equal(await refused({}, basic('other')), 'invalid_grant')
  assert.equal(await refused({ redirect_uri: `${CALLBACK}/` }), 'invalid_grant')
  assert.equal(await refused({ redirect_uri: '' }), 'invalid_grant')
  assert.equal(await refused({ code_verifier: '' }), 'invalid_grant')
  assert.equal(await refused({ code_verifier: 'x'.repeat(43) }), 'invalid_grant')

  const elsewhere = { ...world.api, apiId: 'invoices' }
  world.apis.set('invoices', elsewhere)
  await world.putClient({ api_ids: ['orders', 'invoices'] })
  const code = await world.code(client)
  assert.equal((await world.token(exchange(code), { api: elsewhere })).body.error, 'invalid_grant')
  world.clock.advance(60_000)
  assert.equal((await world.token(exchange(code))).body.error, 'invalid_grant')
  const stale = await world.code(client)
  await world.putClient({ epoch: 'epoch-2' })
  assert.equal((await world.token(exchange(stale))).body.error, 'invalid_grant')
})

test('a code whose redirect URI was taken from the client is not exchanged, nor once it is back', async (t) => {
  const world = await openWorld(t, memory!)
  const client = await world.putClient()
  const loopback = 'http://127.0.0.1:4711/cb'
  await world.putClient({ redirect_uris: [CALLBACK, 'http://127.0.0.1/cb'] })
  for (const bound of [
    { redirect_uri: CALLBACK },
    { redirect_uri: CALLBACK, sent_to: CALLBACK },
    { redirect_uri: '', sent_to: CALLBACK },
    { redirect_uri: loopback, sent_to: loopback },
  ]) {
    const formOf = async () => ({ ...exchange(await world.code(client, bound)), redirect_uri: bound.redirect_uri })
    const registered = [CALLBACK, 'http://127.0.0.1/cb']
    const untouched = await formOf()
    for (const redirect_uris of [['https://new.example/cb'], [`${CALLBACK}/`], []]) {
      await world.putClient({ redirect_uris: registered })
      const form = await formOf()
      await world.putClient({ redirect_uris })
      for (const back of [false, true]) {
        if (back) await world.putClient({ redirect_uris: registered })
        const { status, body } = await world.token(form)
        assert.deepEqual([status, body.error], [400, 'invalid_grant'])
      }
    }
    assert.equal((await world.token(untouched)).status, 200)
  }
})

test('a code without PKCE takes no verifier, and one without redirect URI the registered', async (t) => {
  const world = await openWorld(t, memory!)
  const client = await world.putClient()
  const open = { challenge: '', redirect_uri: '' }
  const form = async () => ({ grant_type: 'authorization_code', code: await world.code(client, open) })
  assert.equal((await world.token(await form())).status, 200)
  assert.equal((await world.token({ ...(await form()), redirect_uri: CALLBACK })).status, 200)
  assert.equal((await world.token({ ...(await form()), redirect_uri: 'https://evil.example/' })).status, 400)
  assert.equal((await world.token({ ...(await form()), code_verifier: VERIFIER })).status, 400)
})

test('a code bound to a DPoP key needs that key', async (t) => {
  const world = await openWorld(t, memory!)
  const client = await world.putClient()
  const code = await world.code(client, { jkt: 'thumbprint' })
  assert.equal((await world.token(exchange(code))).body.error, 'invalid_grant')
})

test('no refresh token where the API or the client has no such grant', async (t) => {
  const without = await openWorld(t, memory!, { rules: { grants: new Set(['authorization_code']) } })
  const given = await without.token(exchange(await without.code(await without.putClient())))
  assert.ok(!('refresh_token' in given.body))
  const world = await openWorld(t, memory!)
  const client = await world.putClient({ grant_types: ['authorization_code'] })
  assert.ok(!('refresh_token' in (await world.token(exchange(await world.code(client)))).body))
})

test('key_rules narrow the policies of the client, and stand alone without any', async (t) => {
  const world = await openWorld(t, memory!)
  const rules = {
    rate: 5,
    per: 1,
    expires: 1,
    oauth_client_id: 'mine',
    counter_id: 'mine',
    alias: 'ann',
    access_rights: { orders: { api_id: 'orders', versions: ['Default'] } },
    meta_data: { plan: 'silver', team: 'x' },
  }
  const bodyFor = async (policies: string[]) => {
    const client = await world.putClient({ policies, metadata: { plan: 'gold', app: 'shop' } })
    const { body } = await world.token(exchange(await world.code(client, { key_rules: rules })))
    return (await world.store.tokens.getSession(hashKey(String(body.access_token))))!
  }
  const bound = await bodyFor(['plan'])
  assert.deepEqual(bound.body.apply_policies, ['plan'])
  assert.deepEqual(bound.body.meta_data, { plan: 'silver', app: 'shop', team: 'x' })
  assert.deepEqual(bound.body.narrowed_by, { rate: 5, per: 1, alias: 'ann', access_rights: rules.access_rights })
  assert.ok(!('access_rights' in bound.body))
  assert.equal(bound.body.alias, 'ann')
  const alone = await bodyFor([])
  assert.equal(alone.body.rate, 5)
  assert.deepEqual(alone.body.access_rights, rules.access_rights)
  assert.deepEqual(alone.apiIds, ['orders'])
  assert.equal(alone.body.oauth_client_id, 'shop')
  assert.ok(isObject(alone.body.oauth_token) && alone.body.counter_id === alone.body.oauth_token.family)
  assert.ok(Number(alone.body.expires) > 1000)
  const client = await world.putClient({ policies: [] })
  const empty = await world.token(exchange(await world.code(client, { key_rules: { rate: 5 } })))
  assert.deepEqual([empty.status, empty.body.error], [400, 'unauthorized_client'])
})
