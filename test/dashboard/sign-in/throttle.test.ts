import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Browser, message, PASSWORD, person, signInWorld } from '../../worlds/dashboard/sign-in-world.ts'

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
