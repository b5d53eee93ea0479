import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Secret, TOTP, URI } from 'otpauth'
import {
  newRecoveryCodes,
  recoveryHmac,
  sealTotp,
  stepOfCode,
  unsealTotp,
  withoutRecoveryCode,
} from '../../../src/dashboard/sign-in/totp.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { SECRET_USER_MEMBERS } from '../../../src/model/people/user-security.ts'
import type { TestDashboard } from '../../worlds/dashboard/harness.ts'
import {
  Browser,
  message,
  meta,
  PASSWORD,
  type Person,
  person,
  rewrite,
  signedIn,
  signInWorld,
  stored,
} from '../../worlds/dashboard/sign-in-world.ts'
import { allowSso } from '../../worlds/dashboard/sso-world.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 5000 : 200

/** The code that an authenticator app shows. */
const codeAt = (secret: string, ms: number) => TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: ms })

interface Enrolled {
  readonly ada: Person
  readonly browser: Browser
  readonly secret: string
  readonly codes: readonly string[]
}

/** A person with codes by time, signed in; the code of this time step is used up. */
async function enrolled(world: TestDashboard): Promise<Enrolled> {
  const ada = await person(world)
  const browser = await signedIn(world, ada)
  const { secret } = meta(await browser.send('POST', '/api/second-factor/totp'))
  const code = codeAt(String(secret), world.clock.wall())
  const answer = await browser.send('POST', '/api/second-factor/totp/confirm', { code })
  assert.equal(answer.status, 200, answer.text)
  return { ada, browser, secret: String(secret), codes: meta(answer).recovery_codes as string[] }
}

const goOn = (browser: Browser, ticket: unknown, body: JsonObject) =>
  browser.send('POST', '/api/login/continue', { ticket, ...body })

test('codes are set up with the first one, under a new session id, and their secret is sealed', async (t) => {
  const world = await signInWorld(t)
  const ada = await person(world)
  const browser = await signedIn(world, ada)
  const begun = meta(await browser.send('POST', '/api/second-factor/totp'))
  const app = URI.parse(String(begun.otpauth_uri)) as TOTP
  assert.deepEqual([app.issuer, app.label, app.secret.base32], ['Gatehouse', ada.email, begun.secret])
  const before = browser.cookie
  assert.equal((await browser.send('POST', '/api/second-factor/totp/confirm', { code: '000000' })).status, 401)
  const code = app.generate({ timestamp: world.clock.wall() })
  const { recovery_codes: codes } = meta(await browser.send('POST', '/api/second-factor/totp/confirm', { code }))
  assert.equal(new Set(codes as string[]).size, 10)
  assert.notEqual(browser.cookie, before)
  assert.equal(await browser.isIn(), true)
  const old = new Browser(world)
  old.cookie = before
  assert.equal(await old.isIn(), false)
  const kept = JSON.stringify(await stored(world, ada.id))
  assert.doesNotMatch(kept, new RegExp(`${begun.secret}|${(codes as string[]).join('|')}`))
  const state = (await browser.send('GET', '/api/second-factor')).json as JsonObject
  assert.deepEqual([(state.totp as JsonObject).enabled, state.recovery_codes_left, state.required], [true, 10, false])
  assert.equal((await browser.send('POST', '/api/second-factor/totp')).status, 409)
})

test('a password alone opens nothing any more; a code does, once', async (t) => {
  const world = await signInWorld(t)
  const { ada, secret } = await enrolled(world)
  const browser = new Browser(world)
  const asked = meta(await browser.login(ada.email))
  assert.deepEqual([asked.needs, asked.methods, browser.cookie], ['second_factor', ['code', 'recovery_code'], ''])
  const used = codeAt(secret, world.clock.wall())
  assert.equal((await goOn(browser, asked.ticket, { code: used })).status, 401, 'the code of the set-up was used')
  world.clock.advance(30_000)
  const code = codeAt(secret, world.clock.wall())
  assert.equal(
    meta(await goOn(browser, asked.ticket, { code: ` ${code.slice(0, 3)} ${code.slice(3)}` })).user_id,
    ada.id,
  )
  assert.equal(await browser.isIn(), true)
  assert.equal((await goOn(new Browser(world), asked.ticket, { code })).status, 401, 'the sign-in is over')
  const replay = new Browser(world)
  const { ticket } = meta(await replay.login(ada.email))
  assert.equal((await goOn(replay, ticket, { code })).status, 401, 'and the code was used')
  assert.equal(
    (await goOn(replay, ticket, { code: codeAt(secret, world.clock.wall() - 30_000) })).status,
    401,
    'older ones too',
  )
})

test('one code at the same time in many sign-ins opens one', async (t) => {
  const world = await signInWorld(t)
  const { ada, secret } = await enrolled(world)
  world.clock.advance(60_000)
  const code = codeAt(secret, world.clock.wall())
  const browsers = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const browser = new Browser(world)
      return { browser, ticket: meta(await browser.login(ada.email)).ticket }
    }),
  )
  const answers = await Promise.all(browsers.map(({ browser, ticket }) => goOn(browser, ticket, { code })))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

test('codes cannot be guessed: a sign-in bears five, and a person as many as the setting', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '7' } })
  const { ada, secret } = await enrolled(world)
  world.clock.advance(60_000)
  const right = codeAt(secret, world.clock.wall())
  const wrong = right === '123456' ? '654321' : '123456'
  const browser = new Browser(world)
  const { ticket } = meta(await browser.login(ada.email))
  for (let i = 0; i < 5; i++)
    assert.equal(message(await goOn(browser, ticket, { code: wrong })), 'The code is wrong or was used already')
  const lapsed = await goOn(browser, ticket, { code: right })
  assert.equal(message(lapsed), 'This sign-in has expired, start again')
  assert.equal(lapsed.headers['x-error-code'], 'sign_in_void')
  const { ticket: next } = meta(await browser.login(ada.email))
  for (let i = 0; i < 2; i++) assert.equal((await goOn(browser, next, { code: wrong })).status, 401)
  assert.equal((await goOn(browser, next, { code: right })).status, 429)
  const many = await Promise.all(Array.from({ length: 10 }, () => goOn(browser, next, { code: wrong })))
  for (const { status } of many) assert.ok(status === 429 || status === 401)
})

test('each recovery code opens once, however it is written', async (t) => {
  const world = await signInWorld(t)
  const { ada, codes } = await enrolled(world)
  const [first = '', second = ''] = codes
  for (const recovery_code of [first, ` ${second.toUpperCase().replaceAll('-', '')} `]) {
    const browser = new Browser(world)
    const { ticket } = meta(await browser.login(ada.email))
    assert.equal((await goOn(browser, ticket, { recovery_code })).status, 200)
    const again = new Browser(world)
    const { ticket: late } = meta(await again.login(ada.email))
    assert.equal((await goOn(again, late, { recovery_code })).status, 401)
  }
  assert.equal(((await stored(world, ada.id)).recovery_codes as string[]).length, 8)
})

test('recovery codes are made anew, and those before are void', async (t) => {
  const world = await signInWorld(t)
  const { ada, browser, codes } = await enrolled(world)
  const made = meta(await browser.send('POST', '/api/second-factor/recovery-codes')).recovery_codes as string[]
  assert.equal(
    made.some((code) => codes.includes(code)),
    false,
  )
  const next = new Browser(world)
  const { ticket } = meta(await next.login(ada.email))
  assert.equal((await goOn(next, ticket, { recovery_code: codes[0]! })).status, 401)
  assert.equal((await goOn(next, ticket, { recovery_code: made[0]! })).status, 200)
  const plain = await signedIn(world, await person(world))
  assert.equal((await plain.send('POST', '/api/second-factor/recovery-codes')).status, 409)
})

test('ending it needs the password and a code', async (t) => {
  const world = await signInWorld(t)
  const { ada, browser, secret, codes } = await enrolled(world)
  world.clock.advance(30_000)
  const code = codeAt(secret, world.clock.wall())
  const end = (body: JsonObject) => browser.send('POST', '/api/second-factor/totp/disable', body)
  assert.equal((await end({ password: 'wrong', code })).status, 403)
  assert.equal((await end({ password: PASSWORD })).status, 401)
  assert.equal((await end({ password: PASSWORD, code: '000000' })).status, 401)
  assert.equal((await end({ code })).status, 400)
  const before = browser.cookie
  assert.equal((await end({ password: PASSWORD, code })).status, 200)
  assert.notEqual(browser.cookie, before)
  const { totp, recovery_codes: left } = await stored(world, ada.id)
  assert.deepEqual([totp, left], [undefined, []])
  assert.equal(meta(await new Browser(world).login(ada.email)).user_id, ada.id)
  assert.equal((await end({ password: PASSWORD, recovery_code: codes[0]! })).status, 409)
})

test('an organisation can require it: who has none sets it up on the way in', async (t) => {
  const world = await signInWorld(t)
  const boss = await signedIn(world, await person(world))
  assert.equal((await boss.send('PUT', '/api/org/second-factor', { required: true })).status, 200)
  const ada = await person(world)
  const browser = new Browser(world)
  const asked = meta(await browser.login(ada.email))
  assert.deepEqual([asked.needs, browser.cookie], ['enrolment', ''])
  const again = meta(await goOn(browser, asked.ticket, {}))
  assert.equal(again.secret, asked.secret, 'the same code can be scanned again')
  assert.equal((await goOn(browser, asked.ticket, { code: '000000' })).status, 401)
  const code = codeAt(String(asked.secret), world.clock.wall())
  const done = await goOn(browser, asked.ticket, { code })
  assert.equal((meta(done).recovery_codes as string[]).length, 10)
  assert.equal(await browser.isIn(), true)
  world.clock.advance(30_000)
  const next = codeAt(String(asked.secret), world.clock.wall())
  const refused = await browser.send('POST', '/api/second-factor/totp/disable', { password: PASSWORD, code: next })
  assert.equal(refused.status, 409)
  assert.match(message(refused), /organisation requires/)
  const reader = await world.user({ apis: 'write', system: 'write' })
  assert.equal(
    (await world.call('PUT', '/api/org/second-factor', { as: reader, body: { required: false } })).status,
    403,
  )
  const unbounded = await world.user({ IsAdmin: 'admin' }, { orgId: '' })
  assert.equal(
    (await world.call('PUT', '/api/org/second-factor', { as: unbounded, body: { required: false } })).status,
    403,
  )
})

test('a pending second factor ends with its user, also when the user is active again', async (t) => {
  const world = await signInWorld(t)
  const boss = await world.admin()
  const group_id = await world.group({ apis: 'read' })
  const put = (path: string) => async (active: boolean) => {
    const answer = await world.call('PUT', path, { as: boss, body: { active } })
    assert.equal(answer.status, 200, answer.text)
  }
  const { ada, codes } = await enrolled(world)
  await rewrite(world, ada.id, { group_id })
  let used = 0
  for (const turn of [async () => {}, put(`/api/users/${ada.id}`), put(`/api/usergroups/${group_id}`)]) {
    const browser = new Browser(world)
    const { ticket } = meta(await browser.login(ada.email, PASSWORD))
    for (const active of [false, true]) await turn(active)
    const { status } = await goOn(browser, ticket, { recovery_code: codes[used++]! })
    assert.equal(status, used === 1 ? 200 : 401)
  }
})

test('an administrator with the right takes the second factor of somebody who has lost it', async (t) => {
  const world = await signInWorld(t)
  const { ada, browser } = await enrolled(world)
  const path = `/api/users/${ada.id}/second-factor`
  assert.equal((await world.call('DELETE', path, { as: await world.admin() })).status, 403)
  assert.equal(
    (await world.call('DELETE', path, { as: await world.user({ users: 'write', ResetPassword: 'admin' }) })).status,
    403,
  )
  const elsewhere = await world.user(
    { IsAdmin: 'admin', ResetPassword: 'admin' },
    { orgId: await world.organisation() },
  )
  assert.equal((await world.call('DELETE', path, { as: elsewhere })).status, 404)
  const entitled = await world.user({ IsAdmin: 'admin', ResetPassword: 'admin' })
  assert.equal(
    (await world.call('DELETE', `/api/users/${entitled.id}/second-factor`, { as: entitled })).status,
    403,
    'not the own one',
  )
  assert.equal((await world.call('DELETE', path, { as: entitled })).status, 200)
  assert.equal(await browser.isIn(), false)
  assert.equal(meta(await new Browser(world).login(ada.email)).user_id, ada.id)
})

test('changes need a browser whose owner was seen lately', async (t) => {
  const world = await signInWorld(t)
  const { ada, browser, secret } = await enrolled(world)
  for (const [method, path, body] of [
    ['POST', '/api/second-factor/totp', undefined],
    ['POST', '/api/second-factor/totp/confirm', { code: '000000' }],
    ['POST', '/api/second-factor/recovery-codes', undefined],
    ['POST', '/api/passkeys/options', undefined],
    ['POST', '/api/passkeys', { name: 'x', response: { id: 'x', response: {} } }],
    ['DELETE', '/api/passkeys/x', undefined],
  ] as const) {
    const program = await world.call(method, path, { as: await world.admin(), body })
    assert.equal(message(program), 'This call needs a browser session', path)
    world.clock.advance(600_001)
    const stale = await browser.send(method, path, body)
    assert.equal(message(stale), 'Verify your identity again, then repeat the call', path)
    assert.equal(stale.headers['x-error-code'], 'verification_needed', path)
    const before = browser.cookie
    assert.equal(
      (await browser.send('POST', '/api/session/verify', { password: PASSWORD })).status,
      401,
      'there is a second factor',
    )
    assert.equal(
      (await browser.send('POST', '/api/session/verify', { code: codeAt(secret, world.clock.wall()) })).status,
      200,
    )
    assert.notEqual(browser.cookie, before)
    assert.notEqual(
      message(await browser.send(method, path, body)),
      'Verify your identity again, then repeat the call',
      path,
    )
  }
  assert.ok(ada.id)
})

test('without a second factor the password proves it once more', async (t) => {
  const world = await signInWorld(t)
  const browser = await signedIn(world, await person(world))
  world.clock.advance(600_001)
  assert.equal((await browser.send('POST', '/api/second-factor/totp')).status, 403)
  assert.equal((await browser.send('POST', '/api/session/verify', { password: 'wrong' })).status, 403)
  assert.equal((await browser.send('POST', '/api/session/verify', {})).status, 401)
  assert.equal((await browser.send('POST', '/api/session/verify', { password: PASSWORD })).status, 200)
  assert.equal((await browser.send('POST', '/api/second-factor/totp')).status, 200)
})

test('nothing of it is in any answer', async (t) => {
  const world = await signInWorld(t)
  const { browser } = await enrolled(world)
  for (const path of ['/api/session', '/api/second-factor', '/api/passkeys', '/api/users', '/api/users/me']) {
    const { text } = await browser.send('GET', path)
    for (const name of SECRET_USER_MEMBERS.filter((member) => !['totp', 'passkeys', 'PWHistory'].includes(member)))
      assert.doesNotMatch(text, new RegExp(`"${name}"`), path)
    assert.doesNotMatch(text, /argon2id|sealed/, path)
  }
})

test('a code counts in its step and one before and after, and never twice', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 20, maxLength: 20 }),
      fc.integer({ min: 0, max: 2_000_000_000_000 }),
      fc.integer({ min: -4, max: 4 }),
      (bytes, now, drift) => {
        const secret = new Secret({ buffer: new Uint8Array(bytes).buffer }).base32
        const at = now + drift * 30_000
        fc.pre(at >= 0)
        const code = codeAt(secret, at)
        const step = stepOfCode(secret, code, now, -1)
        // Another step may have the same six digits: then it is a right code there.
        if (step === undefined) assert.ok(Math.abs(drift) > 1)
        else {
          assert.equal(codeAt(secret, step * 30_000), code)
          assert.ok(Math.abs(step - Math.floor(now / 30_000)) <= 1)
          const again = stepOfCode(secret, code, now, step)
          assert.ok(again === undefined || again > step)
        }
      },
    ),
    { numRuns: RUNS },
  )
  for (const text of ['', '12345', '1234567', 'abcdef', '12345٣', '１２３４５６'])
    assert.equal(stepOfCode('A'.repeat(32), text, 0, -1), undefined)
})

test('sealed secrets and recovery codes belong to their owner', () => {
  const key = Buffer.alloc(32, 7)
  const sealed = sealTotp(key, 'ada', 'SECRET')
  assert.equal(unsealTotp(key, 'ada', sealed), 'SECRET')
  assert.throws(() => unsealTotp(key, 'eve', sealed))
  const [code = ''] = newRecoveryCodes()
  assert.match(code, /^(?:[a-km-np-z2-9]{4}-){3}[a-km-np-z2-9]{4}$/)
  const kept = [recoveryHmac(key, 'ada', code)]
  assert.deepEqual(withoutRecoveryCode(kept, recoveryHmac(key, 'ada', code)), [])
  assert.equal(withoutRecoveryCode(kept, recoveryHmac(key, 'eve', code)), undefined)
})

test('whoever has a second factor shows it after single sign-on too', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_SSOENABLEUSERLOOKUP: 'true' } })
  await allowSso(world)
  const { ada, secret } = await enrolled(world)
  const other = await person(world)
  const enter = async ({ email }: Person, browser: Browser) => {
    const body = { ForSection: 'dashboard', OrgID: world.orgId, EmailAddress: email }
    const made = await world.call('POST', '/admin/sso', { as: 'installation', body })
    const { Meta: nonce } = made.json as { Meta: string }
    return browser.send('GET', `/tap?nonce=${encodeURIComponent(nonce)}`)
  }
  const plain = new Browser(world)
  assert.equal((await enter(other, plain)).headers.location, '/')
  assert.equal(await plain.isIn(), true)

  const browser = new Browser(world)
  const sent = await enter(ada, browser)
  assert.equal(sent.status, 303)
  assert.equal(browser.cookie, '')
  const place = new URL(String(sent.headers.location), 'http://dashboard.test')
  const [ticket, to] = ['sign_in', 'to'].map((name) => new URLSearchParams(place.hash.slice(1)).get(name))
  assert.deepEqual([place.pathname, place.search, to], ['/', '', '/'])
  const needed = await goOn(browser, ticket, {})
  assert.deepEqual([meta(needed).needs, meta(needed).methods], ['second_factor', ['code', 'recovery_code']])
  assert.equal((await goOn(browser, ticket, { code: '000000' })).status, 401)
  assert.equal(await browser.isIn(), false)
  world.clock.advance(30_000)
  const done = await goOn(browser, ticket, { code: codeAt(secret, world.clock.wall()) })
  assert.equal(done.status, 200, done.text)
  const session = (await browser.send('GET', '/api/session')).json as JsonObject
  assert.equal(session.via, 'sso')
  assert.equal((session.user as JsonObject).id, ada.id)
  assert.equal((await goOn(new Browser(world), ticket, {})).status, 401, 'the ticket was used')
})

test('a required second factor is not asked for after single sign-on', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_SSOENABLEUSERLOOKUP: 'true' } })
  await allowSso(world)
  const ada = await person(world)
  const boss = await signedIn(world, await person(world))
  assert.equal((await boss.send('PUT', '/api/org/second-factor', { required: true })).status, 200)
  const body = { ForSection: 'dashboard', OrgID: world.orgId, EmailAddress: ada.email }
  const made = await world.call('POST', '/admin/sso', { as: 'installation', body })
  const browser = new Browser(world)
  await browser.send('GET', `/tap?nonce=${encodeURIComponent((made.json as { Meta: string }).Meta)}`)
  assert.equal(await browser.isIn(), true)
})
