import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FailureThrottle } from '../../../src/dashboard/sign-in/throttle.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { Browser, message, PASSWORD, person, signInWorld } from '../../worlds/dashboard/sign-in-world.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 500

type Step =
  | { readonly does: 'try' | 'succeed' | 'giveBack'; readonly name: string }
  | { readonly does: 'wait'; readonly ms: number }

const names = fc.constantFrom('ada', 'eve', '__proto__')
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ does: fc.constant('try' as const), name: names }) },
    {
      weight: 1,
      arbitrary: fc.record({ does: fc.constantFrom('succeed' as const, 'giveBack' as const), name: names }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 120 }) }) },
  ),
  { maxLength: 60 },
)

/** The rule in the plainest words: a window begins with the first failure and lets `limit` failures in. */
function naive(limit: number, windowMs: number) {
  const windows: Record<string, { from: number; failures: number }> = Object.create(null)
  const current = (name: string, now: number) => {
    const window = windows[name]
    return window !== undefined && now < window.from + windowMs && window.failures > 0 ? window : undefined
  }
  return {
    waitMs(name: string, now: number) {
      const window = current(name, now)
      return limit > 0 && window !== undefined && window.failures >= limit ? window.from + windowMs - now : 0
    },
    begin(name: string, now: number) {
      const window = current(name, now) ?? { from: now, failures: 0 }
      window.failures++
      windows[name] = window
    },
    giveBack(name: string, now: number) {
      const window = current(name, now)
      if (window !== undefined) window.failures--
    },
    succeed(name: string) {
      delete windows[name]
    },
  }
}

test('no more failures than the limit in a window, whatever is tried in between', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4 }), steps, (limit, list: readonly Step[]) => {
      const clock = new FakeClock()
      const throttle = new FailureThrottle(clock, { limit, windowMs: 100 })
      const model = naive(limit, 100)
      for (const step of list) {
        if (step.does === 'wait') {
          clock.advance(step.ms)
          continue
        }
        const now = clock.mono()
        assert.equal(throttle.waitMs(step.name), model.waitMs(step.name, now))
        if (step.does === 'try') {
          if (throttle.waitMs(step.name) > 0) continue
          throttle.begin(step.name)
          model.begin(step.name, now)
        } else if (step.does === 'giveBack') {
          throttle.giveBack(step.name)
          model.giveBack(step.name, now)
        } else {
          throttle.succeed(step.name)
          model.succeed(step.name)
        }
      }
    }),
    { numRuns: RUNS },
  )
})

test('memory is bounded, and a flood forgets the oldest', () => {
  const throttle = new FailureThrottle(new FakeClock(), { limit: 1, windowMs: 1000 })
  for (let i = 0; i < 100_010; i++) throttle.begin(`name ${i}`)
  assert.equal(throttle.size, 100_000)
  assert.equal(throttle.waitMs('name 0'), 0)
  assert.equal(throttle.waitMs('name 100009'), 1000)
})

const LIMITED = { SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '3', SVC_DB_SECURITY_LOGINFAILUREIPLIMIT: '0' }

test('after too many failures a name waits, known or not, and others do not', async (t) => {
  const world = await signInWorld(t, { env: LIMITED })
  const [ada, eve] = [await person(world), await person(world)]
  for (const email of [ada.email, 'nobody@example.test', ` ${eve.email.toUpperCase()} `]) {
    for (let i = 0; i < 3; i++) assert.equal((await new Browser(world).login(email, 'wrong')).status, 401)
    const refused = await new Browser(world).login(email)
    assert.equal(refused.status, 429)
    assert.equal(message(refused), 'Too many failed attempts, try again in 900 s')
    assert.equal(refused.headers['retry-after'], '900')
  }
  assert.equal((await new Browser(world).login(eve.email)).status, 429, 'case and spaces make no other name')
  assert.equal((await new Browser(world).login((await person(world)).email)).status, 200)
  world.clock.advance(899_999)
  assert.equal((await new Browser(world).login(ada.email)).status, 429)
  world.clock.advance(1)
  assert.equal((await new Browser(world).login(ada.email)).status, 200)
})

test('a success forgets what failed before', async (t) => {
  const world = await signInWorld(t, { env: LIMITED })
  const ada = await person(world)
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 2; i++) assert.equal((await new Browser(world).login(ada.email, 'wrong')).status, 401)
    assert.equal((await new Browser(world).login(ada.email)).status, 200)
  }
})

test('many tries at once are not more than the limit', async (t) => {
  const world = await signInWorld(t, { env: LIMITED })
  const ada = await person(world)
  const answers = await Promise.all(Array.from({ length: 20 }, () => new Browser(world).login(ada.email, 'wrong')))
  assert.equal(answers.filter(({ status }) => status === 401).length, 3)
  assert.equal(answers.filter(({ status }) => status === 429).length, 17)
})

test('the refusal can be hidden behind that of a wrong password', async (t) => {
  const world = await signInWorld(t, { env: { ...LIMITED, SVC_DB_SECURITY_HIDELOGINFAILURELIMITERROR: 'true' } })
  const ada = await person(world)
  const texts = new Set<string>()
  for (let i = 0; i < 4; i++) texts.add((await new Browser(world).login(ada.email, 'wrong')).text)
  const right = await new Browser(world).login(ada.email)
  assert.equal(right.status, 401)
  assert.deepEqual([...texts], [right.text])
})

const BY_ADDRESS = {
  SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '0',
  SVC_DB_SECURITY_LOGINFAILUREIPLIMIT: '3',
  SVC_DB_TRUSTEDPROXIES: '127.0.0.1',
}

test('an address waits too: of IPv6 the network, as trusted proxies tell it', async (t) => {
  const world = await signInWorld(t, { env: BY_ADDRESS })
  const ada = await person(world)
  const from = async (address: string, password: string) => {
    const body = { email: ada.email, password }
    return (await new Browser(world).send('POST', '/api/login', body, { 'x-forwarded-for': address })).status
  }
  for (const last of ['1', '2', 'ffff']) assert.equal(await from(`2001:db8::${last}`, 'wrong'), 401)
  assert.equal(await from('2001:db8::4', PASSWORD), 429)
  assert.equal(await from('2001:db8:0:1::1', PASSWORD), 200)
  assert.equal(await from('192.0.2.1', PASSWORD), 200)
})

test('a success takes back only itself from the count of its address', async (t) => {
  const world = await signInWorld(t, { env: BY_ADDRESS })
  const ada = await person(world)
  const statuses: number[] = []
  for (const password of ['wrong', 'wrong', PASSWORD, 'wrong', PASSWORD])
    statuses.push((await new Browser(world).login(ada.email, password)).status)
  assert.deepEqual(statuses, [401, 401, 200, 401, 429])
})

test('forwarded addresses do not count where the setting says so', async (t) => {
  const world = await signInWorld(t, { env: { ...BY_ADDRESS, SVC_DB_SECURITY_LOGINDISALLOWFORWARDPROXY: 'true' } })
  const ada = await person(world)
  const statuses: number[] = []
  for (let i = 1; i <= 4; i++) {
    const headers = { 'x-forwarded-for': `192.0.2.${i}` }
    statuses.push(
      (await new Browser(world).send('POST', '/api/login', { email: ada.email, password: 'no' }, headers)).status,
    )
  }
  assert.deepEqual(statuses, [401, 401, 401, 429])
})
