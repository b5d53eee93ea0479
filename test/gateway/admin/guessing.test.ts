import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { checkBasicUser, createBasicUser, newBasicAuthThrottle } from '../../../src/publish/keys/basic-auth-users.ts'
import { startTestGateway, TEST_SECRET } from '../../worlds/base/harness.ts'
import { openParts } from '../../worlds/publish/stored.ts'

const from = (address: string) => ({ 'x-forwarded-for': address })

test('guesses at the gateway secret are throttled by address, under every spelling', async (t) => {
  const gate = await startTestGateway({
    clock: new FakeClock(Date.now()),
    env: { SVC_GW_TRUSTEDPROXIES: '127.0.0.1', SVC_COMPAT_VENDORALIASES: 'acme' },
  })
  t.after(() => gate.close())
  const ask = async (address: string, secret: string, name = 'x-svc-authorization', path = '/svc/apis') =>
    gate.call(path, { headers: { ...from(address), [name]: secret } })
  assert.equal((await ask('203.0.113.1', TEST_SECRET)).status, 200)
  const places = [
    ['x-svc-authorization', '/svc/apis'],
    ['x-acme-authorization', '/acme/keys'],
    ['x-svc-authorization', '/metrics'],
  ] as const
  for (let i = 0; i < 101; i++) assert.equal((await ask(`2001:db8::${i}`, `guess ${i}`, ...places[i % 3]!)).status, 403)
  for (const [name, path] of places) {
    const refused = await ask('2001:db8::ffff', TEST_SECRET, name, path)
    assert.equal(refused.status, 429, path)
    assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)
    assert.deepEqual(refused.json, {
      status: 'error',
      message: 'Too many wrong secrets from this address, try again later',
    })
  }
  assert.equal((await ask('2001:db8:0:1::1', TEST_SECRET)).status, 200)
  for (let i = 0; i < 102; i++) await ask('203.0.113.1', `guess ${i}`)
  assert.equal((await ask('203.0.113.1', 'guess')).status, 429)
  assert.equal((await ask('203.0.113.1', TEST_SECRET)).status, 200, 'it was shown from here before')
  assert.equal((await gate.call('/svc/apis', { headers: from('2001:db8::1') })).status, 403, 'nothing was guessed')
})

test('strangers keep no user of an API out where the user came from before', async (t) => {
  const parts = openParts()
  t.after(() => parts.store.close())
  const session = { access_rights: { a: { api_id: 'a', versions: ['Default'] } } }
  // `correct horse`, at the least cost that argon2 has.
  const hash = '$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MjZP1+1U9JUbDWvDvtLyEsZiNXOKEUxfi6O2oe46uxA'
  const basic_auth_data = { password: hash }
  await createBasicUser(parts, {
    name: 'ada',
    session: { ...session, basic_auth_data },
    keepQuota: true,
    actor: 'test',
  })
  const basicAuthThrottle = newBasicAuthThrottle(parts.clock)
  const tryFrom = async (address: string, password: string) => {
    const found = await checkBasicUser({ ...parts, basicAuthThrottle }, '', 'ada', password, address)
    return found instanceof Fault ? 'wait' : found === undefined ? 'wrong' : 'in'
  }
  assert.equal(await tryFrom('203.0.113.1', 'correct horse'), 'in')
  const guesses: string[] = []
  for (let i = 0; i < 6; i++) guesses.push(await tryFrom('198.51.100.1', `guess ${i}`))
  assert.equal(await tryFrom('198.51.100.1', 'correct horse'), 'wait')
  assert.equal(await tryFrom('203.0.113.2', 'correct horse'), 'in', 'an address of which nobody knows')
  for (let i = 0; i < 60; i++) guesses.push(await tryFrom(`198.51.100.${10 + i}`, `guess ${i}`))
  assert.ok(guesses.includes('wait'), 'the slower brake')
  assert.equal(await tryFrom('203.0.113.3', 'correct horse'), 'wait')
  parts.clock.advance(30_000)
  assert.equal(await tryFrom('203.0.113.3', 'correct horse'), 'in', 'after half a minute')
  assert.equal(await tryFrom('203.0.113.1', 'correct horse'), 'in')
})
