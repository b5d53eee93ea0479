import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { AdminSecretThrottle } from '../../../src/runtime/admin-secret-throttle.ts'
import { KnownAddresses } from '../../../src/runtime/known-addresses.ts'
import { isThrottled, LoginThrottle, signInRules } from '../../../src/runtime/login-throttle.ts'
import { ADMIN_SECRET } from '../../worlds/dashboard/harness.ts'
import { Browser, cheapHash, PASSWORD, person, signInWorld } from '../../worlds/dashboard/sign-in-world.ts'
import { atPortal, DEVELOPERS, PASSWORD as PORTAL_PASSWORD, portalPeople } from '../../worlds/portal/portal-people.ts'

const WINDOW_MS = 900_000
const LIMITS = { pair: 3, address: 20, windowMs: WINDOW_MS }
const NAMES = ['ada', 'eve', 'bob']
const ADDRESSES = Array.from({ length: 60 }, (_, i) => `192.0.2.${i}`)

test('strangers keep nobody out where they came from before, and guess no more than the bounds', () => {
  const tries = fc.array(
    fc.record({ name: fc.constantFrom(...NAMES), address: fc.constantFrom(...ADDRESSES), right: fc.boolean() }),
    { maxLength: 400 },
  )
  fc.assert(
    fc.property(tries, (list) => {
      const clock = new FakeClock()
      const brake = new LoginThrottle(clock, signInRules(LIMITS))
      const home = (name: string) => `home of ${name}`
      for (const name of NAMES) {
        const begun = brake.begin({ name, address: home(name) })
        assert.ok(!isThrottled(begun))
        begun.succeed()
      }
      const wrong = {
        pair: new Map<string, number>(),
        name: new Map<string, number>(),
        address: new Map<string, number>(),
      }
      const more = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
      for (const { name, address } of list) {
        if (isThrottled(brake.begin({ name, address }))) continue
        more(wrong.pair, `${name} ${address}`)
        more(wrong.name, name)
        more(wrong.address, address)
      }
      for (const count of wrong.pair.values()) assert.ok(count <= LIMITS.pair)
      for (const count of wrong.name.values()) assert.ok(count <= LIMITS.pair * 10 + 1)
      for (const count of wrong.address.values()) assert.ok(count <= LIMITS.address)
      for (const name of NAMES) assert.ok(!isThrottled(brake.begin({ name, address: home(name) })), name)
    }),
  )
})

test('strangers delay a new address by half a minute, and guess 3,000 passwords a day', () => {
  const DAY_MS = 86_400_000
  const rests = fc.array(fc.nat(fc.sample(fc.constantFrom(1000, 60_000, 7_200_000), 1)[0]!), {
    minLength: 1,
    maxLength: 9,
  })
  fc.assert(
    fc.property(rests, fc.integer({ min: 1, max: 200 }), (rests, burst) => {
      const clock = new FakeClock()
      const brake = new LoginThrottle(clock, signInRules({ pair: 10, address: 100, windowMs: WINDOW_MS }))
      let [looked, address] = [0, 0]
      for (let turn = 0; clock.mono() < DAY_MS && turn < 20_000; turn++) {
        let waitMs = 0
        for (let i = 0; i < burst && waitMs === 0; i++) {
          const begun = brake.begin({ name: 'ada', address: `address ${++address}` })
          if (isThrottled(begun)) waitMs = begun.waitMs
          else looked++
        }
        assert.ok(waitMs <= 30_000)
        clock.advance(Math.max(waitMs, rests[turn % rests.length]!))
      }
      assert.ok(looked <= 2880 + 100 + 10, `${looked} guesses`)
      clock.advance(30_000)
      assert.ok(!isThrottled(brake.begin({ name: 'ada', address: 'new' })))
    }),
    { numRuns: 20 },
  )
})

test('what is known of addresses is bounded, and of one name too', () => {
  const known = new KnownAddresses()
  for (let i = 0; i < 20; i++) known.add('ada', `192.0.2.${i}`)
  assert.deepEqual([known.has('ada', '192.0.2.3'), known.has('ada', '192.0.2.4')], [false, true])
  for (let i = 0; i < 10_000; i++) known.add(`name ${i}`, '192.0.2.1')
  assert.equal(known.size, 10_000)
  assert.equal(known.has('ada', '192.0.2.19'), false)
  assert.doesNotMatch(JSON.stringify(known), /192/)
})

const PROXIED = { SVC_DB_TRUSTEDPROXIES: '127.0.0.1' }
const from = (address: string) => ({ 'x-forwarded-for': address })

test('ten wrong passwords from anywhere do not lock the right one out; from one address they do', async (t) => {
  const world = await signInWorld(t, { env: PROXIED })
  const ada = await person(world)
  const login = async (address: string, password: string, email = ada.email) =>
    (await new Browser(world).send('POST', '/api/login', { email, password }, from(address))).status
  const right = { email: ada.email, password: PASSWORD }
  for (let i = 0; i < 10; i++) assert.equal(await login('198.51.100.1', `guess ${i}`), 401)
  assert.equal(await login('198.51.100.1', PASSWORD), 429)
  assert.equal(await login('203.0.113.1', PASSWORD), 200, 'an address of which nobody knows')
  let looked = 0
  for (let i = 0; i < 120; i++)
    if ((await login(`198.51.100.${2 + Math.floor(i / 10)}`, `guess ${i}`)) === 401) looked++
  assert.ok(looked >= 80 && looked <= 101, `${looked} guesses`)
  const { status, headers } = await new Browser(world).send('POST', '/api/login', right, from('203.0.113.2'))
  assert.equal(status, 429, 'the slower brake, elsewhere')
  const waitS = Number(headers['retry-after'])
  assert.ok(waitS > 0 && waitS <= 30)
  assert.equal(await login('203.0.113.1', PASSWORD), 200, 'not where ada signed in before')
  assert.equal(await login('203.0.113.2', PASSWORD, (await person(world)).email), 200, 'nor another name')
  world.clock.advance(30_000)
  assert.equal(await login('203.0.113.2', PASSWORD), 200, 'elsewhere after half a minute')
})

test('no spelling of an address is another name', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '3' } })
  const statuses: number[] = []
  for (const email of ['é@example.test', 'e\u0301@example.test', ' É@Example.test', 'E\u0301@example.test '])
    statuses.push((await new Browser(world).login(email, 'wrong')).status)
  assert.deepEqual(statuses, [401, 401, 401, 429])
})

test('strangers lock no developer out, with or without visitor addresses', async (t) => {
  const world = await portalPeople(t, { env: { ...PROXIED, SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '3' } })
  const email = 'ada@example.test'
  await world.developer({ email, password: cheapHash(PORTAL_PASSWORD) })
  const login = async (address: string, password: string) =>
    (await world.call('POST', '/portal/login', { body: { email, password }, headers: from(address) })).status
  await Promise.all(Array.from({ length: 4 }, (_, i) => login('198.51.100.1', `guess ${i}`)))
  assert.equal(await login('198.51.100.1', PORTAL_PASSWORD), 429)
  assert.equal(await login('203.0.113.1', PORTAL_PASSWORD), 200)
  const verify = async (user_address: string, password: string) =>
    (
      await world.call('POST', `${DEVELOPERS}/verify_credentials`, {
        as: world.portal,
        body: { username: email, password, user_address },
      })
    ).status
  await Promise.all(Array.from({ length: 4 }, (_, i) => verify('198.51.100.9', `guess ${i}`)))
  assert.equal(await verify('198.51.100.9', PORTAL_PASSWORD), 401)
  assert.equal(await verify('2001:db8::1', PORTAL_PASSWORD), 200)
  assert.equal(await verify('nowhere', PORTAL_PASSWORD), 400)
  assert.ok(await atPortal(world, email))
  // Of a portal that tells no visitors the name alone counts: none of its visitors locks another one out.
  await Promise.all(Array.from({ length: 20 }, (_, i) => world.verify(email, `guess ${i}`)))
  assert.equal(await world.verify(email, PORTAL_PASSWORD), 200)
  await Promise.all(Array.from({ length: 20 }, (_, i) => world.verify(email, `guess ${i}`)))
  assert.equal(await world.verify(email, PORTAL_PASSWORD), 401, 'the slower brake')
  world.clock.advance(30_000)
  assert.equal(await world.verify(email, PORTAL_PASSWORD), 200)
})

test('guesses at a secret of the installation are throttled, except from known addresses', () => {
  const clock = new FakeClock()
  const brake = new AdminSecretThrottle(clock)
  assert.equal(brake.waitMs('good', true), 0)
  for (const address of ['good', 'bad'])
    for (let i = 0; i < 101; i++) assert.equal(brake.waitMs(address, false), 0, `${address} ${i}`)
  assert.equal(brake.waitMs('bad', false), 1000)
  assert.equal(brake.waitMs('bad', true), 1000, 'or guessing would not be slowed')
  assert.equal(brake.waitMs('good', true), 0)
  assert.equal(brake.waitMs('other', true), 0)
  clock.advance(1000)
  assert.equal(brake.waitMs('bad', false), 0)
  assert.equal(brake.waitMs('bad', true), 2000)
  clock.advance(2000)
  assert.equal(brake.waitMs('bad', true), 0)
  brake.waitMs('good', false)
  for (let i = 0; i < 2000; i++) {
    brake.waitMs(`address ${i}`, true)
    assert.equal(brake.waitMs('good', true), 0, 'an address in use stays known')
  }
  assert.equal(brake.size, 1000)
})

test('guesses at the admin secret are slowed by address, of IPv6 by network', async (t) => {
  const world = await signInWorld(t, { env: PROXIED })
  const ask = async (address: string, secret: string) =>
    (await world.call('GET', '/admin/organisations', { headers: { ...from(address), 'admin-auth': secret } })).status
  assert.equal(await ask('203.0.113.1', ADMIN_SECRET), 200)
  for (let i = 0; i < 101; i++) assert.equal(await ask(`2001:db8::${i}`, `guess ${i}`), 401)
  assert.equal(await ask('2001:db8::ffff', 'guess'), 429)
  assert.equal(await ask('2001:db8::ffff', ADMIN_SECRET), 429)
  assert.equal(await ask('2001:db8:0:1::1', ADMIN_SECRET), 200)
  for (let i = 0; i < 101; i++) await ask('203.0.113.1', `guess ${i}`)
  assert.equal(await ask('203.0.113.1', 'guess'), 429)
  assert.equal(await ask('203.0.113.1', ADMIN_SECRET), 200, 'it was shown from here before')
})
