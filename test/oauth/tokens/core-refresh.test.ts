import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { CodeBody } from '../../../src/oauth/tokens/tickets.ts'
import { openDelivery } from '../../../src/oauth/webhooks/webhook-messages.ts'
import { openWorld, STORES, type World } from '../../worlds/oauth/core-world.ts'
import { basic, CALLBACK, VERIFIER } from '../../worlds/oauth/front-fixtures.ts'

const [memory] = STORES
const refresh = (token: unknown, more: Record<string, string> = {}) => ({
  grant_type: 'refresh_token',
  refresh_token: String(token),
  ...more,
})

/** The tokens of a first exchange. */
async function start(world: World, changes: Partial<CodeBody> = {}): Promise<JsonObject> {
  const client = await world.putClient()
  const code = await world.code(client, changes)
  const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER }
  return (await world.token(form)).body
}

for (const store of STORES) {
  test(`${store.name}: a refresh gives new tokens and ends both old ones`, async (t) => {
    const world = await openWorld(t, store, { rules: { notifyUrl: 'https://hooks.example/' } })
    const first = await start(world, { scope: 'read', username: 'ann', key_rules: { rate: 5, per: 1 } })
    world.clock.advance(10_000)
    const { status, body } = await world.token(refresh(first.refresh_token))
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['access_token', 'expires_in', 'token_type', 'refresh_token', 'scope'])
    assert.equal(body.expires_in, 3600)
    assert.deepEqual(await world.look(first.access_token), { active: false })
    assert.deepEqual(await world.look(first.refresh_token), { active: false })
    const seen = await world.look(body.access_token)
    assert.deepEqual([seen.active, seen.username, seen.scope], [true, 'ann', 'read'])
    const [before, after] = await Promise.all(
      [first, body].map(async ({ access_token }) => world.store.tokens.getSession(hashKey(String(access_token)))),
    )
    assert.equal(before, undefined)
    assert.deepEqual(after?.body.narrowed_by, { rate: 5, per: 1 })
    const [, told] = await world.store.outbox.list({ queue: 'orders', dead: false, after: 0, limit: 10 })
    assert.deepEqual(JSON.parse(openDelivery(world.parts.sealKey, told!).body), {
      auth_code: '',
      new_oauth_token: body.access_token,
      refresh_token: body.refresh_token,
      old_refresh_token: first.refresh_token,
      notification_type: 'refresh',
    })
  })

  test(`${store.name}: of 100 refreshes at once one succeeds, and reuse ends the family`, async (t) => {
    const world = await openWorld(t, store)
    const first = await start(world)
    const all = await Promise.all(Array.from({ length: 100 }, () => world.token(refresh(first.refresh_token))))
    const won = all.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
    assert.ok(all.every((got) => got === won[0] || got.body.error === 'invalid_grant'))
    assert.deepEqual(await world.look(won[0]!.body.access_token), { active: false })
    assert.equal((await world.token(refresh(won[0]!.body.refresh_token))).body.error, 'invalid_grant')
  })

  test(`${store.name}: within the grace time a repeated use gets the same tokens, 100 at once too`, async (t) => {
    const world = await openWorld(t, store, { rules: { refreshReuseGraceS: 10 } })
    const first = await start(world)
    const all = await Promise.all(Array.from({ length: 100 }, () => world.token(refresh(first.refresh_token))))
    assert.ok(all.every(({ status }) => status === 200))
    assert.equal(new Set(all.map(({ body }) => JSON.stringify(body))).size, 1)
    const { body } = all[0]!
    assert.equal((await world.look(body.access_token)).active, true)
    world.clock.advance(9_999)
    const late = await world.token(refresh(first.refresh_token))
    assert.deepEqual(late.body, { ...body, expires_in: 3591 })
    world.clock.advance(1)
    assert.equal((await world.token(refresh(first.refresh_token))).body.error, 'invalid_grant')
    assert.deepEqual(await world.look(body.access_token), { active: false })
  })
}

test('grace is for repetitions only: once the successor was used, an old token ends the family', async (t) => {
  const world = await openWorld(t, memory!, { rules: { refreshReuseGraceS: 10 } })
  const first = await start(world)
  const second = (await world.token(refresh(first.refresh_token))).body
  const third = (await world.token(refresh(second.refresh_token))).body
  assert.equal((await world.look(third.access_token)).active, true)
  assert.equal((await world.token(refresh(first.refresh_token))).body.error, 'invalid_grant')
  assert.deepEqual(await world.look(third.access_token), { active: false })
})

test('nothing of what a grace answer repeats is stored in clear', async (t) => {
  const world = await openWorld(t, memory!, { rules: { refreshReuseGraceS: 10 } })
  const first = await start(world)
  const { body } = await world.token(refresh(first.refresh_token))
  const ticket = JSON.stringify(await world.store.tokens.getTicket(hashKey(String(first.refresh_token))))
  assert.ok(ticket.includes('sealed_answer'))
  assert.ok(!ticket.includes(String(body.access_token)) && !ticket.includes(String(body.refresh_token)))
})

test('the scope may narrow for one access token, never widen', async (t) => {
  const world = await openWorld(t, memory!)
  const first = await start(world, { scope: 'read write' })
  const wide = await world.token(refresh(first.refresh_token, { scope: 'read admin' }))
  assert.deepEqual([wide.status, wide.body.error], [400, 'invalid_scope'])
  const narrow = (await world.token(refresh(first.refresh_token, { scope: 'read' }))).body
  assert.equal(narrow.scope, 'read')
  const whole = (await world.token(refresh(narrow.refresh_token))).body
  assert.equal(whole.scope, 'read write')
  const none = await start(world)
  assert.equal((await world.token(refresh(none.refresh_token, { scope: 'read' }))).body.error, 'invalid_scope')
})

test('only the client that got it may refresh, under its epoch, in time, at its API', async (t) => {
  const world = await openWorld(t, memory!)
  const first = await start(world)
  const form = refresh(first.refresh_token)
  await world.putClient({ client_id: 'other' })
  const foreign = await world.token(form, { headers: basic('other') })
  assert.deepEqual([foreign.status, foreign.body.error], [400, 'invalid_grant'])
  assert.equal((await world.token(refresh(''))).body.error, 'invalid_request')
  assert.equal((await world.token(refresh('unknown'))).body.error, 'invalid_grant')
  assert.equal((await world.token(refresh(first.access_token))).body.error, 'invalid_grant')
  const elsewhere = { ...world.api, apiId: 'invoices' }
  await world.putClient({ api_ids: ['orders', 'invoices'] })
  assert.equal((await world.token(form, { api: elsewhere })).body.error, 'invalid_grant')
  await world.putClient({ epoch: 'epoch-2' })
  assert.equal((await world.token(form)).body.error, 'invalid_grant')
  assert.deepEqual(await world.look(first.access_token), { active: false })
  await world.putClient()
  world.clock.advance(1_209_600_000)
  assert.equal((await world.token(form)).body.error, 'invalid_grant')
})

test('each refresh token lives its full time from its own issue', async (t) => {
  const world = await openWorld(t, memory!, { rules: { refreshTokenS: 100 } })
  let tokens = await start(world)
  for (let round = 0; round < 5; round++) {
    world.clock.advance(99_999)
    const { status, body } = await world.token(refresh(tokens.refresh_token))
    assert.equal(status, 200)
    tokens = body
  }
  world.clock.advance(100_000)
  assert.equal((await world.token(refresh(tokens.refresh_token))).status, 400)
})

test('a used refresh token ends its family as long as one issued from it can live', async (t) => {
  const world = await openWorld(t, memory!, { rules: { refreshTokenS: 100 } })
  const first = await start(world)
  world.clock.advance(50_000)
  const second = (await world.token(refresh(first.refresh_token))).body
  world.clock.advance(60_000)
  assert.equal((await world.token(refresh(first.refresh_token))).status, 400)
  assert.deepEqual(await world.look(second.refresh_token), { active: false })
})

test('refresh tokens of a public client are bound to its certificate', async (t) => {
  const world = await openWorld(t, memory!, { rules: { mutualTls: 'allowed' } })
  const client = await world.putClient({ auth_method: 'none' })
  const peer = 'ab'.repeat(32)
  const form = {
    grant_type: 'authorization_code',
    client_id: 'shop',
    code: await world.code(client),
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
  }
  const first = await world.token(form, { headers: {}, peerCertificate: peer })
  assert.equal(first.status, 200)
  const again = (peerCertificate: string) =>
    world.token(refresh(first.body.refresh_token, { client_id: 'shop' }), { headers: {}, peerCertificate })
  assert.equal((await again('')).body.error, 'invalid_grant')
  assert.equal((await again('cd'.repeat(32))).body.error, 'invalid_grant')
  const second = await again(peer)
  assert.equal(second.status, 200)
  const cnf = (await world.look(second.body.access_token)).cnf
  assert.deepEqual(cnf, { 'x5t#S256': Buffer.from(peer, 'hex').toString('base64url') })
})
