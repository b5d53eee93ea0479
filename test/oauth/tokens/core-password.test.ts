import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { createBasicUser, findBasicUser, updateBasicUser } from '../../../src/publish/keys/basic-auth-users.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openWorld, STORES, type World } from '../../worlds/oauth/core-world.ts'

const [memory] = STORES
const PASSWORD = 'Correct-horse-7'
const form = (password = PASSWORD, username = 'ann') => ({ grant_type: 'password', username, password })

function publish({ parts, store }: World) {
  const gateway = {
    hash_keys: true,
    min_token_length: 16,
    allow_explicit_policy_id: true,
    enable_duplicate_slugs: false,
  }
  return {
    ...parts,
    counters: store.counters,
    config: { gateway, compat: { vendor_aliases: [] } },
    defaultOrg: () => 'org',
    locks: new KeyedMutex(),
  }
}

async function addUser(world: World, session: JsonObject = {}): Promise<void> {
  await createBasicUser(publish(world), {
    name: 'ann',
    session: {
      org_id: 'org',
      rate: 5,
      per: 1,
      access_rights: { orders: { api_id: 'orders', versions: ['Default'] } },
      basic_auth_data: { password: PASSWORD },
      ...session,
    },
    keepQuota: true,
    actor: 'test',
  })
}

async function changeUser(world: World, session: JsonObject): Promise<void> {
  const row = (await findBasicUser(world.parts, 'org', 'ann'))!
  await updateBasicUser(publish(world), { row, session: { ...row.body, ...session }, keepQuota: true, actor: 'test' })
}

const sessionOf = async (world: World, body: JsonObject) =>
  (await world.store.tokens.getSession(hashKey(String(body.access_token))))!.body

for (const store of STORES) {
  test(`${store.name}: the token of a user has the rules and the metadata of both`, async (t) => {
    const world = await openWorld(t, store, { rules: { notifyUrl: 'https://hooks.example/' } })
    await world.putClient({ metadata: { app: 'shop' } })
    await addUser(world, { alias: 'Ann', meta_data: { own: 'yes' } })
    const { status, body } = await world.token({ ...form(), scope: 'read' })
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['access_token', 'expires_in', 'token_type', 'refresh_token', 'scope'])
    const session = await sessionOf(world, body)
    assert.deepEqual(session.apply_policies, ['plan'])
    assert.deepEqual(session.meta_data, { app: 'shop', own: 'yes' })
    assert.equal(session.alias, 'Ann')
    const narrowed = session.narrowed_by as JsonObject
    assert.equal(narrowed.rate, 5)
    assert.ok(!JSON.stringify(session).includes('argon2') && !('user_name' in narrowed))
    const seen = await world.look(body.access_token)
    assert.deepEqual([seen.username, seen.sub], ['ann', 'ann'])
    const told = await world.store.outbox.list({ queue: 'orders', dead: false, after: 0, limit: 10 })
    assert.equal(told.length, 1)
  })
}

test('without policies of the client the rules of the user stand alone', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient({ policies: [] })
  await addUser(world)
  const session = await sessionOf(world, (await world.token(form())).body)
  assert.equal(session.rate, 5)
  assert.deepEqual(Object.keys(session.access_rights as JsonObject), ['orders'])
})

test('a wrong password, an unknown user, one switched off or expired: the same answer', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  await addUser(world, { expires: world.clock.wallMs / 1000 + 100 })
  const wrong = await world.token(form('wrong'))
  assert.deepEqual([wrong.status, wrong.body.error], [400, 'invalid_grant'])
  assert.deepEqual(await world.token(form(PASSWORD, 'nobody')), wrong)
  assert.equal((await world.token(form())).status, 200)
  await changeUser(world, { is_inactive: true })
  assert.deepEqual(await world.token(form()), wrong)
  await changeUser(world, { is_inactive: false })
  world.clock.advance(100_000)
  assert.deepEqual(await world.token(form()), wrong)
})

test('username or password missing: 400 invalid_request', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  for (const sent of [form(''), form(PASSWORD, ''), { grant_type: 'password' }]) {
    assert.equal((await world.token(sent)).body.error, 'invalid_request')
  }
})

test('guessing is slowed down: 429', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  await addUser(world)
  let last = await world.token(form('wrong'))
  for (let i = 0; i < 10 && last.status === 400; i++) last = await world.token(form('wrong'))
  assert.deepEqual([last.status, last.body.error], [429, 'slow_down'])
  assert.equal((await world.token(form())).status, 429)
})

test('a refresh takes the rules of the user as they are now, and ends with the user', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  await addUser(world)
  const first = (await world.token(form())).body
  await changeUser(world, { rate: 2 })
  const refresh = (body: JsonObject) => ({ grant_type: 'refresh_token', refresh_token: String(body.refresh_token) })
  const second = (await world.token(refresh(first))).body
  assert.equal(((await sessionOf(world, second)).narrowed_by as JsonObject).rate, 2)
  const third = (await world.token(refresh(second))).body
  assert.equal(((await sessionOf(world, third)).narrowed_by as JsonObject).rate, 2)
  await changeUser(world, { is_inactive: true })
  assert.equal((await world.token(refresh(third))).body.error, 'invalid_grant')
  const { hash } = (await findBasicUser(world.parts, 'org', 'ann'))!
  await world.store.documents.commit([{ op: 'deleteSession', hash }], undefined)
  assert.equal((await world.token(refresh(third))).body.error, 'invalid_grant')
})

test('its use is logged once an hour', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  const warnings = () => world.log.filter(({ message }) => message.includes('deprecated')).length
  await world.token(form())
  await world.token(form())
  assert.equal(warnings(), 1)
  world.clock.advance(3_600_000)
  await world.token(form())
  assert.equal(warnings(), 2)
  assert.ok(!JSON.stringify(world.log).includes(PASSWORD))
})
