import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { Authenticator, type Lies } from '../../worlds/dashboard/authenticator.ts'
import type { TestDashboard } from '../../worlds/dashboard/harness.ts'
import {
  Browser,
  message,
  meta,
  type Person,
  person,
  rewrite,
  signedIn,
  signInWorld,
  stored,
} from '../../worlds/dashboard/sign-in-world.ts'

const ORIGIN = 'https://dashboard.example.test'

const passkeyWorld = (t: TestContext) => signInWorld(t, { env: { SVC_DB_PUBLICURL: ORIGIN } })

async function registered(world: TestDashboard, ada: Person, name = 'Telephone') {
  const browser = await signedIn(world, ada)
  const authenticator = new Authenticator(ORIGIN)
  const options = meta(await browser.send('POST', '/api/passkeys/options'))
  const answer = await browser.send('POST', '/api/passkeys', { name, response: authenticator.create(options) })
  assert.equal(answer.status, 200, answer.text)
  return { browser, authenticator, codes: meta(answer).recovery_codes as string[] | undefined }
}

async function loginWith(browser: Browser, authenticator: Authenticator, lies: Lies = {}) {
  const { ticket, options } = meta(await browser.send('POST', '/api/login/passkey/options'))
  const response = authenticator.get(options as JsonObject, lies)
  return browser.send('POST', '/api/login/passkey', { ticket, response })
}

test('a passkey is registered under a new session id, listed, renamed, and signs in by itself', async (t) => {
  const world = await passkeyWorld(t)
  const ada = await person(world)
  const browser = await signedIn(world, ada)
  const authenticator = new Authenticator(ORIGIN)
  const options = meta(await browser.send('POST', '/api/passkeys/options'))
  assert.deepEqual(
    [(options.rp as JsonObject).id, (options.user as JsonObject).name],
    ['dashboard.example.test', ada.email],
  )
  assert.deepEqual((options.authenticatorSelection as JsonObject).userVerification, 'required')
  const before = browser.cookie
  const done = await browser.send('POST', '/api/passkeys', {
    name: 'Telephone',
    response: authenticator.create(options),
  })
  assert.equal((meta(done).recovery_codes as string[]).length, 10)
  assert.notEqual(browser.cookie, before)
  const id = authenticator.id.toString('base64url')
  assert.equal((await browser.send('PUT', `/api/passkeys/${id}`, { name: 'Old telephone' })).status, 200)
  const { passkeys } = (await browser.send('GET', '/api/passkeys')).json as JsonObject
  const [listed] = passkeys as JsonObject[]
  assert.deepEqual(Object.keys(listed!), ['id', 'name', 'created_at', 'last_used', 'backed_up', 'transports'])
  assert.deepEqual([listed!.id, listed!.name], [id, 'Old telephone'])
  const fresh = new Browser(world)
  assert.equal(meta(await loginWith(fresh, authenticator)).user_id, ada.id)
  assert.equal(((await fresh.send('GET', '/api/session')).json as JsonObject).via, 'passkey')
})

test('with a password it is the second factor', async (t) => {
  const world = await passkeyWorld(t)
  const ada = await person(world)
  const { authenticator, codes } = await registered(world, ada)
  const browser = new Browser(world)
  const asked = meta(await browser.login(ada.email))
  assert.deepEqual([asked.needs, asked.methods], ['second_factor', ['passkey', 'recovery_code']])
  const passkey = authenticator.get(asked.passkey_options as JsonObject)
  assert.equal((await browser.send('POST', '/api/login/continue', { ticket: asked.ticket, passkey })).status, 200)
  assert.equal(await browser.isIn(), true)
  const replay = new Browser(world)
  const next = meta(await replay.login(ada.email))
  const refused = await replay.send('POST', '/api/login/continue', { ticket: next.ticket, passkey })
  assert.equal(refused.status, 400, 'the answer to another challenge')
  const recovered = await replay.send('POST', '/api/login/continue', { ticket: next.ticket, recovery_code: codes![0]! })
  assert.equal(recovered.status, 200)
})

test('an answer counts once: not for another ticket, not again, not late', async (t) => {
  const world = await passkeyWorld(t)
  const { authenticator } = await registered(world, await person(world))
  const browser = new Browser(world)
  const begin = async () => meta(await browser.send('POST', '/api/login/passkey/options'))
  const [one, two] = [await begin(), await begin()]
  // It does not count its signatures, so that the challenge alone tells one use from the next.
  const response = authenticator.get(one.options as JsonObject, { counter: 0 })
  const crossed = await browser.send('POST', '/api/login/passkey', { ticket: two.ticket, response })
  assert.equal(crossed.status, 400)
  assert.equal((await browser.send('POST', '/api/login/passkey', { ticket: one.ticket, response })).status, 200)
  assert.equal((await browser.send('POST', '/api/login/passkey', { ticket: one.ticket, response })).status, 400)
  const late = await begin()
  const answer = authenticator.get(late.options as JsonObject, { counter: 0 })
  world.clock.advance(300_000)
  assert.equal(
    (await browser.send('POST', '/api/login/passkey', { ticket: late.ticket, response: answer })).status,
    400,
  )
  const many = await begin()
  const same = authenticator.get(many.options as JsonObject, { counter: 0 })
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      new Browser(world).send('POST', '/api/login/passkey', { ticket: many.ticket, response: same }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

const LIES: [string, Lies][] = [
  ['of another site', { origin: 'https://evil.test' }],
  ['of plain http', { origin: 'http://dashboard.example.test' }],
  ['of another port', { origin: `${ORIGIN}:8443` }],
  ['for another relying party', { rpId: 'evil.test' }],
  ['to another challenge', { challenge: 'AAAA' }],
  ['of another sort', { type: 'webauthn.create' }],
  ['without a user', { userPresent: false }],
  ['without its user verified', { userVerified: false }],
  ['with an old counter', { counter: 0 }],
  ['with a bad signature', { badSignature: true }],
  ['of somebody else', { userHandle: Buffer.alloc(12).toString('base64url') }],
  ['of nobody', { userHandle: '' }],
]

test('every lie in a sign-in is refused alike', async (t) => {
  const world = await passkeyWorld(t)
  const ada = await person(world)
  const { authenticator } = await registered(world, ada)
  assert.equal((await loginWith(new Browser(world), authenticator)).status, 200)
  const eve = await person(world)
  const lies: [string, Lies][] = [
    ...LIES,
    ['of a user without it', { userHandle: Buffer.from(eve.id, 'hex').toString('base64url') }],
  ]
  for (const [what, lie] of lies) {
    const browser = new Browser(world)
    const refused = await loginWith(browser, authenticator, lie)
    assert.equal(refused.status, 400, what)
    assert.equal(message(refused), 'The passkey cannot be accepted', what)
    assert.equal(browser.cookie, '', what)
  }
  assert.equal((await loginWith(new Browser(world), authenticator)).status, 200)
})

test('every lie at registration is refused', async (t) => {
  const world = await passkeyWorld(t)
  const ada = await person(world)
  const browser = await signedIn(world, ada)
  for (const [what, lie] of LIES.filter(
    ([, { userHandle, counter, badSignature, type }]) =>
      userHandle === undefined && counter === undefined && !badSignature && type === undefined,
  )) {
    const options = meta(await browser.send('POST', '/api/passkeys/options'))
    const response = new Authenticator(ORIGIN).create(options, lie)
    assert.equal((await browser.send('POST', '/api/passkeys', { name: 'x', response })).status, 400, what)
  }
  const options = meta(await browser.send('POST', '/api/passkeys/options'))
  const response = new Authenticator(ORIGIN).create(options)
  const other = await signedIn(world, ada)
  assert.equal((await other.send('POST', '/api/passkeys', { name: 'x', response })).status, 400, 'in another session')
  for (const bad of [
    { id: 'x', response: {} },
    { id: 'x', response: { clientDataJSON: 7, attestationObject: 'AA' } },
  ]) {
    await browser.send('POST', '/api/passkeys/options')
    assert.equal((await browser.send('POST', '/api/passkeys', { name: 'x', response: bad })).status, 400)
  }
  for (const name of ['', 'x'.repeat(101), 'a\nb', 7])
    assert.equal((await browser.send('POST', '/api/passkeys', { name, response })).status, 400)
  const { passkeys = [] } = await stored(world, ada.id)
  assert.deepEqual(passkeys, [])
})

test('one passkey is registered once, and deleted for good', async (t) => {
  const world = await passkeyWorld(t)
  const ada = await person(world)
  const { browser, authenticator } = await registered(world, ada)
  const again = meta(await browser.send('POST', '/api/passkeys/options'))
  assert.equal((again.excludeCredentials as JsonObject[])[0]!.id, authenticator.id.toString('base64url'))
  const twice = await browser.send('POST', '/api/passkeys', { name: 'x', response: authenticator.create(again) })
  assert.equal(twice.status, 400)
  const stranger = await signedIn(world, await person(world))
  const path = `/api/passkeys/${authenticator.id.toString('base64url')}`
  assert.equal((await stranger.send('DELETE', path)).status, 404)
  assert.equal((await stranger.send('PUT', path, { name: 'mine' })).status, 404)
  assert.equal((await browser.send('DELETE', path)).status, 200)
  assert.equal((await browser.send('DELETE', path)).status, 404)
  assert.equal((await loginWith(new Browser(world), authenticator)).status, 400)
  assert.deepEqual((await stored(world, ada.id)).recovery_codes, [], 'they stood in for it')
})

test('the last one stays where the organisation requires a second factor', async (t) => {
  const world = await passkeyWorld(t)
  const { browser, authenticator } = await registered(world, await person(world))
  assert.equal((await browser.send('PUT', '/api/org/second-factor', { required: true })).status, 200)
  const refused = await browser.send('DELETE', `/api/passkeys/${authenticator.id.toString('base64url')}`)
  assert.equal(refused.status, 409)
})

test('a passkey of an account that was switched off opens nothing', async (t) => {
  const world = await passkeyWorld(t)
  const ada = await person(world)
  const { authenticator } = await registered(world, ada)
  await rewrite(world, ada.id, { active: false })
  assert.equal((await loginWith(new Browser(world), authenticator)).status, 401)
})

test('it proves once more who somebody is', async (t) => {
  const world = await passkeyWorld(t)
  const { browser, authenticator } = await registered(world, await person(world))
  world.clock.advance(600_001)
  assert.equal((await browser.send('POST', '/api/passkeys/options')).status, 403)
  const options = meta(await browser.send('POST', '/api/session/verify/options'))
  const passkey = authenticator.get(options)
  const before = browser.cookie
  assert.equal((await browser.send('POST', '/api/session/verify', { passkey })).status, 200)
  assert.notEqual(browser.cookie, before)
  assert.equal((await browser.send('POST', '/api/session/verify', { passkey })).status, 400, 'once')
  assert.equal((await browser.send('POST', '/api/passkeys/options')).status, 200)
})

test('without an address of its own the dashboard has passkeys on localhost alone', async (t) => {
  const world = await signInWorld(t)
  const ada = await person(world)
  const refused = await (await signedIn(world, ada)).send('POST', '/api/passkeys/options')
  assert.equal(refused.status, 409)
  const browser = await signedIn(world, ada)
  const host = `localhost:${world.port}`
  const options = meta(await browser.send('POST', '/api/passkeys/options', undefined, { host }))
  assert.equal((options.rp as JsonObject).id, 'localhost')
  const authenticator = new Authenticator(`http://${host}`)
  const response = authenticator.create(options)
  assert.equal((await browser.send('POST', '/api/passkeys', { name: 'x', response }, { host })).status, 200)
})
