import assert from 'node:assert/strict'
import crypto, { createHash, randomUUID } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { type TestContext, test } from 'node:test'
import { createBasicUser } from '../../../src/publish/keys/basic-auth-users.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { call } from '../../worlds/base/client.ts'
import { TEST_SECRET } from '../../worlds/base/harness.ts'
import { LOGIN_PAGE, REDIRECT, SECRET, startOAuthWorld } from '../../worlds/flows/oauth-world.ts'
import { newProofKey, proofOf } from '../../worlds/gateway/oauth-proofs.ts'
import { openWorld, STORES, type World } from '../../worlds/oauth/core-world.ts'
import { basic } from '../../worlds/oauth/front-fixtures.ts'
import { as, bodyOf } from '../../worlds/oauth/negative-requests.ts'

const [memory] = STORES
const PASSWORD = 'Correct-horse-7'

/** How often each of these was done. */
type Work = Readonly<Record<'compared' | 'hashed' | 'derived' | 'opened' | 'read', number>>

/**
 * Counts the costly parts of what a call does: comparisons in constant time, hashes, passwords derived, secrets opened, look-ups
 * in the store. All of them still happen. A clock would measure the machine; equal work is what takes equal time.
 */
function counting(t: TestContext, world: World): (work: () => Promise<unknown>) => Promise<Work> {
  const spies = {
    compared: t.mock.method(crypto, 'timingSafeEqual'),
    hashed: t.mock.method(crypto, 'hash'),
    derived: t.mock.method(crypto, 'argon2'),
    opened: t.mock.method(crypto, 'createDecipheriv'),
  }
  const finds = t.mock.method(world.store.documents, 'find')
  const sessions = t.mock.method(world.store.tokens, 'getSession')
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  const now = () => ({
    compared: spies.compared.mock.callCount(),
    hashed: spies.hashed.mock.callCount(),
    derived: spies.derived.mock.callCount(),
    opened: spies.opened.mock.callCount(),
    read: finds.mock.callCount() + sessions.mock.callCount(),
  })
  return async (work) => {
    const before = now()
    await work()
    const after = now()
    return Object.fromEntries(Object.entries(after).map(([name, n]) => [name, n - before[name as keyof Work]])) as Work
  }
}

const FORM = { grant_type: 'client_credentials' }

test('an unknown client, a foreign one and a wrong secret cost and answer the same', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  await world.putClient({ client_id: 'elsewhere', api_ids: ['another'] })
  const ways = {
    'by Basic': (id: string, secret: string) => world.ask('token', { headers: basic(id, secret), form: FORM }),
    'in the body': (id: string, secret: string) =>
      world.ask('token', { form: { ...FORM, client_id: id, client_secret: secret } }),
    'at introspection': (id: string, secret: string) =>
      world.ask('introspect', { headers: basic(id, secret), form: { token: 'x' } }),
  }
  const count = counting(t, world)
  for (const [way, ask] of Object.entries(ways)) {
    // once each, so that what is read and opened once per client is
    for (const id of ['shop', 'nobody', 'elsewhere']) await ask(id, 'wrong')
    const known = await count(() => ask('shop', 'wrong'))
    assert.ok(known.compared >= 3, `${way}: ${JSON.stringify(known)}`)
    assert.equal(known.opened + known.read, 0, 'all of it in memory')
    assert.deepEqual(await count(() => ask('nobody', 'wrong')), known, way)
    assert.deepEqual(await count(() => ask('elsewhere', 'wrong')), known, way)
    assert.deepEqual(await ask('nobody', 'wrong'), await ask('shop', 'wrong'))
    assert.deepEqual(await ask('elsewhere', 'wrong'), await ask('shop', 'wrong'))
  }
})

test('the first look for a client costs the same reads, whether there is one or not', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  const count = counting(t, world)
  const ask = (id: string) => world.ask('token', { headers: basic(id, 'wrong'), form: FORM })
  // By API and by policy.
  assert.equal((await count(() => ask('nobody'))).read, 2)
  assert.equal((await count(() => ask('shop'))).read, 2)
  assert.equal((await count(() => ask('nobody'))).read, 0)
  assert.equal((await count(() => ask('shop'))).read, 0)
})

test('how many secrets a client has does not show while it rotates one', async (t) => {
  const world = await openWorld(t, memory!)
  const { secrets } = await world.putClient()
  const count = counting(t, world)
  const ask = () => world.ask('token', { headers: basic('shop', 'wrong'), form: FORM })
  await ask()
  const single = await count(ask)
  await world.putClient({ secrets: [...secrets, { ...secrets[0]!, until: world.clock.wall() + 60_000 }] })
  await ask()
  assert.deepEqual(await count(ask), single)
})

test('an unknown user and a wrong password are the same work and the same answer', async (t) => {
  const world = await openWorld(t, memory!)
  await world.putClient()
  const gateway = {
    hash_keys: true,
    min_token_length: 16,
    allow_explicit_policy_id: true,
    enable_duplicate_slugs: false,
  }
  const settings = { gateway, compat: { vendor_aliases: [] } }
  const session = { org_id: 'org', access_rights: { orders: { api_id: 'orders', versions: ['Default'] } } }
  await createBasicUser(
    {
      ...world.parts,
      counters: world.store.counters,
      config: settings,
      defaultOrg: () => 'org',
      locks: new KeyedMutex(),
    },
    { name: 'ann', session: { ...session, basic_auth_data: { password: PASSWORD } }, keepQuota: true, actor: 'test' },
  )
  const count = counting(t, world)
  const ask = (username: string) => world.token({ grant_type: 'password', username, password: 'Wrong-horse-7' })
  // once, so that the client is in memory
  await ask('ann')
  const known = await count(() => ask('ann'))
  assert.equal(known.derived, 1)
  assert.deepEqual(await count(() => ask('nobody')), known)
  assert.deepEqual(await ask('nobody'), await ask('ann'))
})

test('no log holds a secret: not of clients, users, codes, tokens, proofs, nor ours', async (t) => {
  const world = await startOAuthWorld({ deviceAuthorization: true, dpop: 'allowed' }, { accessLog: true })
  t.after(() => world.close())
  const { gateway } = world
  await world.client({ client_id: 'shop' })
  const secrets = new Map([
    ['secret of the client', SECRET],
    ['credentials of the client', as('shop').slice('Basic '.length)],
    ['secret of the gateway', TEST_SECRET],
    ['password', PASSWORD],
    ['wrong password', 'Wrong-horse-7'],
    ['state', 'state-of-the-browser'],
  ])
  const note = (name: string, value: unknown) => {
    assert.ok(typeof value === 'string' && value.length >= 8, name)
    secrets.set(name, value)
    return value
  }
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    call(gateway.port, `/orders/${path}?client_secret=${SECRET}`, {
      method: 'POST',
      headers: { authorization: as('shop'), 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(form).toString(),
    })
  const verifier = note('verifier', 'verifier-0123456789-0123456789-0123456789-0')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const request = {
    client_id: 'shop',
    response_type: 'code',
    redirect_uri: REDIRECT,
    state: secrets.get('state')!,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }
  const pushed = bodyOf(await post('oauth/par', request))
  const request_uri = note('request_uri', pushed.request_uri)
  const sent = await gateway.call(`/orders/oauth/authorize?${new URLSearchParams({ client_id: 'shop', request_uri })}`)
  assert.ok(sent.headers.location?.startsWith(LOGIN_PAGE), sent.text)
  const carried = Object.fromEntries(new URL(sent.headers.location!).searchParams)
  note('request_uri of the login page', carried.request_uri)
  const { body } = await world.login({ ...carried, username: 'ada' })
  const code = note('code', body.code)
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier }
  const tokens = bodyOf(await post('oauth/token', exchange))
  const token = note('access token', tokens.access_token)
  const refresh = { grant_type: 'refresh_token', refresh_token: note('refresh token', tokens.refresh_token) }
  await gateway.call(`/orders/things?access_token=${token}`, { headers: { authorization: `Bearer ${token}` } })
  const next = bodyOf(await post('oauth/token', refresh))
  note('second access token', next.access_token)
  note('second refresh token', next.refresh_token)
  await post('oauth/introspect', { token: next.access_token! })
  const users = { grant_type: 'password', username: 'ann' }
  await gateway.svc('POST', '/svc/keys/ann', {
    access_rights: { orders: { api_id: 'orders', api_name: 'orders', versions: ['Default'] } },
    basic_auth_data: { password: PASSWORD },
  })
  note('token of a user', bodyOf(await post('oauth/token', { ...users, password: PASSWORD })).access_token)
  await post('oauth/token', { ...users, password: 'Wrong-horse-7' })
  note('device code', bodyOf(await post('oauth/device_authorization', {})).device_code)
  const proof = { htm: 'POST', htu: `${world.issuer.href}/oauth/token`, nowMs: world.clock.wall(), jti: randomUUID() }
  const dpop = note('proof', proofOf(newProofKey(), proof))
  note('bound token', bodyOf(await post('oauth/token', FORM, { dpop })).access_token)
  // what goes wrong is logged most: replays, broken forms, wrong secrets
  await post('oauth/token', refresh)
  await post('oauth/token', exchange)
  await post('oauth/token', FORM, { dpop })
  await post('oauth/token', FORM, { authorization: as('shop', `${SECRET}x`) })
  await post('oauth/revoke', { token: next.refresh_token! })
  await post('oauth/revoke_all', {})
  await world.close()

  const lines = [...gateway.accessLines, ...gateway.log.map(({ fields, message }) => logged(fields) + message)]
  assert.ok(gateway.accessLines.length >= 18, `${gateway.accessLines.length} lines`)
  assert.ok(
    gateway.log.some(({ message }) => message.includes('single-use credential replayed')),
    'replays are logged',
  )
  for (const [name, secret] of secrets)
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
      assert.ok(!lines.some((line) => line.includes(form)), `a log holds the ${name}`)
})

/** Fields as text, with what an error carries. */
function logged(fields: object): string {
  return JSON.stringify(fields, (_name, value) =>
    value instanceof Error ? { message: value.message, stack: value.stack, cause: value.cause } : value,
  )
}
