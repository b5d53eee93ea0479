import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passwordRules } from '../../../src/model/passwords/password-rules.ts'
import { verifyPassword } from '../../../src/model/passwords/passwords.ts'
import { accessHmac } from '../../../src/publish/people/credential.ts'
import { newUserPassword } from '../../../src/publish/sign-in/passwords.ts'
import type { TestDashboard, TestUser } from '../../worlds/dashboard/harness.ts'
import {
  Browser,
  cheapHash,
  message,
  meta,
  PASSWORD,
  person,
  rewrite,
  signedIn,
  signInWorld,
  stored,
} from '../../worlds/dashboard/sign-in-world.ts'

const NEXT = 'another battery staple'

/** The API credential of a person. */
async function credential(world: TestDashboard, { id, email }: { id: string; email: string }): Promise<TestUser> {
  const key = `key-of-${id}`
  await rewrite(world, id, { access_hmac: accessHmac(world.parts, key) })
  return { id, email, orgId: world.orgId, key }
}

const path = (id: string) => `/api/users/${id}/actions/reset`

test('a user changes the own password, which ends all sessions and keeps the credential', async (t) => {
  const world = await signInWorld(t)
  const ada = await person(world, { user_permissions: { apis: 'read' } })
  const as = await credential(world, ada)
  const [browser, other] = [await signedIn(world, ada), await signedIn(world, ada)]
  const cookie = browser.cookie
  const answer = await browser.send('POST', path(ada.id), { current_password: PASSWORD, new_password: NEXT })
  assert.equal(answer.text, '{"Status":"OK","Message":"User password updated","Meta":null}')
  assert.match(browser.setCookie, /^authorisation=; /)
  browser.cookie = cookie
  assert.deepEqual([await browser.isIn(), await other.isIn()], [false, false])
  assert.equal((await world.call('GET', '/api/session', { as })).status, 200)
  assert.equal((await new Browser(world).login(ada.email)).status, 401)
  assert.equal((await new Browser(world).login(ada.email, NEXT)).status, 200)
  assert.match(String((await stored(world, ada.id)).password_hash), /^\$argon2id\$v=19\$m=32768/)
})

test('the own password is not changed without the present one, and guessing at it ends', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '3' } })
  const ada = await person(world)
  const as = await credential(world, ada)
  for (const body of [
    { new_password: NEXT },
    { new_password: NEXT, current_password: 'wrong' },
    { new_password: NEXT, current_password: '' },
  ]) {
    const refused = await world.call('POST', path(ada.id), { as, body })
    assert.equal(refused.status, 403)
    assert.equal(message(refused), 'The current password is missing or wrong')
  }
  const body = { new_password: NEXT, current_password: PASSWORD }
  assert.equal((await world.call('POST', path(ada.id), { as, body })).status, 429)
  assert.equal((await new Browser(world).login(ada.email)).status, 200)
})

test('set-up scripts may omit or repeat the password; permissions in the body are ignored', async (t) => {
  const world = await signInWorld(t)
  const rights = { user_permissions: { IsAdmin: 'admin' }, org_id: 'x' }
  const ada = await person(world, { password_hash: '', user_permissions: { apis: 'read' } })
  const as = await credential(world, ada)
  assert.equal(
    (await world.call('POST', `${path(ada.id)}/`, { as, body: { new_password: NEXT, ...rights } })).status,
    200,
  )
  const session = await world.call('POST', path(ada.id), { as, body: { new_password: NEXT, ...rights } })
  assert.equal(session.status, 200, 'it is the password already')
  const { user_permissions: permissions, org_id: orgId } = await stored(world, ada.id)
  assert.deepEqual([permissions, orgId], [{ apis: 'read' }, world.orgId])
  assert.equal((await new Browser(world).login(ada.email, NEXT)).status, 200)
})

test('who may set the password of somebody else', async (t) => {
  const setting = { SVC_DB_SECURITY_ALLOWADMINRESETPASSWORD: 'true' }
  for (const env of [{}, setting]) {
    const world = await signInWorld(t, { env })
    const allowed = env === setting
    const victim = await person(world)
    const elsewhere = await person(world, { org_id: await world.organisation() })
    const body = { new_password: NEXT }
    const reset = async (as: TestUser | undefined, id: string) =>
      (await world.call('POST', path(id), { as, body })).status
    assert.equal(await reset(undefined, victim.id), 401)
    assert.equal(await reset(await world.user({ users: 'write' }), victim.id), 403)
    assert.equal(
      await reset(await world.user({ users: 'write', ResetPassword: 'admin' }), victim.id),
      403,
      'no administrator',
    )
    assert.equal(await reset(await world.user({ IsAdmin: 'admin' }, { orgId: '' }), victim.id), 403, 'unbounded')
    const admin = await world.admin()
    assert.equal(await reset(admin, victim.id), allowed ? 200 : 403)
    const entitled = await world.user({ IsAdmin: 'admin', ResetPassword: 'admin' })
    assert.equal(await reset(entitled, victim.id), 200)
    const denied = await world.user({ IsAdmin: 'admin', ResetPassword: 'admin', keys: 'deny' })
    assert.equal(await reset(denied, admin.id), 403, 'an administrator without a right, of one who has it')
    assert.equal(await reset(entitled, elsewhere.id), 404)
    assert.equal(await reset(entitled, '0'.repeat(24)), 404)
    assert.equal(await reset(entitled, 'nonsense'), 404)
    assert.equal((await new Browser(world).login(victim.email, NEXT)).status, 200)
    assert.equal((await world.call('PUT', path(victim.id), { as: entitled, body })).status, 405)
  }
})

test('a password of somebody else ends their sessions', async (t) => {
  const world = await signInWorld(t)
  const ada = await person(world)
  const browser = await signedIn(world, ada)
  const as = await world.user({ IsAdmin: 'admin', ResetPassword: 'admin' })
  assert.equal((await world.call('POST', path(ada.id), { as, body: { new_password: NEXT } })).status, 200)
  assert.equal(await browser.isIn(), false)
})

test('a password that breaks a rule is refused, naming the rule', async (t) => {
  const strict = passwordRules({
    type: 'string',
    minLength: 4,
    multiCase: true,
    minNumeric: 2,
    minSpecial: 1,
    disableSequential: true,
  })
  const world = await signInWorld(t, { parts: { userPasswordRules: strict } })
  const ada = await person(world)
  const as = await credential(world, ada)
  const cases: [unknown, RegExp][] = [
    ['Kx7!2', /6 characters/],
    ['kx7!2mq', /upper and lower/],
    ['Kx!mQzTw', /2 digits/],
    ['Kx71mQ2z', /special/],
    ['Kx7!mQ2abc', /in a row/],
    ['Aa1!'.repeat(300), /longer/],
    ['', /characters/],
  ]
  for (const [password, named] of cases) {
    const answer = await world.call('POST', path(ada.id), {
      as,
      body: { current_password: PASSWORD, new_password: password },
    })
    assert.equal(answer.status, 400, String(password).slice(0, 20))
    assert.match(message(answer), named)
  }
  for (const body of ['{', '[]', '{}', '{"new_password":7}', '{"new_password":["x"]}'])
    assert.ok([400, 403].includes((await world.call('POST', path(ada.id), { as, body })).status), body)
  const good = { current_password: PASSWORD, new_password: 'Kx7!mQ2z' }
  assert.equal((await world.call('POST', path(ada.id), { as, body: good })).status, 200)
})

test('former passwords are not taken again, as many as the setting says', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_SECURITY_ENFORCEPASSWORDHISTORY: '3' } })
  const ada = await person(world, {
    PWHistory: ['first password', 'second password', 'third password'].map(cheapHash).reverse(),
  })
  const as = await credential(world, ada)
  const to = async (new_password: string, current_password: string) =>
    world.call('POST', path(ada.id), { as, body: { new_password, current_password } })
  for (const old of [PASSWORD, 'third password', 'second password']) {
    const refused = await to(old, PASSWORD)
    assert.equal(refused.status, 400, old)
    assert.match(message(refused), /must not be one of the last 3/)
  }
  assert.equal((await to('first password', PASSWORD)).status, 200)
  const { PWHistory: kept } = await stored(world, ada.id)
  assert.equal((kept as string[]).length, 2)
  assert.equal((await to('second password', 'first password')).status, 200)
})

test('a password that is too old must be changed at sign-in: the shortest bound holds', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_SECURITY_USERPASSWORDMAXDAYS: '90' } })
  const group = await world.group({ apis: 'read' })
  await world.store.documents.commit(
    [
      {
        op: 'put',
        kind: 'user_group',
        id: group as never,
        body: { org_id: world.orgId, active: true, user_permissions: {}, password_max_days: 10 },
      },
    ],
    undefined,
  )
  const updated = (days: number) => ({
    password_updated: new Date(world.clock.wall() - days * 86_400_000).toISOString(),
  })
  const cases: [Record<string, unknown>, boolean][] = [
    [updated(89), false],
    [updated(90), false],
    [updated(91), true],
    [{ ...updated(31), password_max_days: 30 }, true],
    [{ ...updated(29), password_max_days: 30 }, false],
    [{ ...updated(91), password_max_days: 1000 }, true],
    [{ ...updated(11), group_id: group }, true],
    [{ ...updated(9), group_id: group }, false],
    [{ password_updated: '0001-01-01T00:00:00Z' }, true],
    [{ password_updated: 'nonsense' }, true],
  ]
  for (const [more, old] of cases) {
    const ada = await person(world, more as never)
    const answer = await new Browser(world).login(ada.email)
    assert.equal(meta(answer).needs, old ? 'new_password' : undefined, JSON.stringify(more))
  }
})

test('another password is set on the way in, and it is another one', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_SECURITY_FORCEFIRSTLOGINPWRESET: 'true' } })
  const ada = await person(world)
  const browser = new Browser(world)
  const { ticket, needs } = meta(await browser.login(ada.email))
  assert.equal(needs, 'new_password')
  assert.equal(browser.cookie, '')
  for (const [body, named] of [
    [{}, /missing/],
    [{ new_password: PASSWORD }, /must not be the present one/],
    [{ new_password: 'short' }, /6 characters/],
  ] as const) {
    const refused = await browser.send('POST', '/api/login/continue', { ticket, ...body })
    assert.equal(refused.status, 400)
    assert.match(message(refused), named)
  }
  assert.equal(meta(await browser.send('POST', '/api/login/continue', { ticket, new_password: NEXT })).user_id, ada.id)
  assert.equal(await browser.isIn(), true)
  assert.equal(meta(await new Browser(world).login(ada.email, NEXT)).needs, undefined, 'once')
})

test('a sign-in on its way ends with the password that began it', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_SECURITY_FORCEFIRSTLOGINPWRESET: 'true' } })
  const ada = await person(world)
  const { ticket } = meta(await new Browser(world).login(ada.email))
  await rewrite(world, ada.id, { password_hash: cheapHash(NEXT) })
  const answer = await new Browser(world).send('POST', '/api/login/continue', {
    ticket,
    new_password: 'the thief chooses',
  })
  assert.equal(answer.status, 401)
  const { ticket: late } = meta(await new Browser(world).login(ada.email, NEXT))
  world.clock.advance(600_000)
  const lapsed = await new Browser(world).send('POST', '/api/login/continue', {
    ticket: late,
    new_password: 'too late for it',
  })
  assert.equal(message(lapsed), 'This sign-in has expired, start again')
})

test('a person with the same password in several organisations changes it in all', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_ENABLEMULTIORGUSERS: 'true' } })
  const shared = { email_address: 'many@example.test', password_hash: cheapHash(PASSWORD) }
  const here = await person(world, shared)
  const there = await person(world, { ...shared, org_id: await world.organisation() })
  const apart = await person(world, { email_address: shared.email_address, org_id: await world.organisation() })
  const as = await credential(world, here)
  const body = { current_password: PASSWORD, new_password: NEXT }
  assert.equal((await world.call('POST', path(here.id), { as, body })).status, 200)
  const hashes = await Promise.all(
    [here, there, apart].map(async ({ id }) => String((await stored(world, id)).password_hash)),
  )
  assert.equal(hashes[0], hashes[1])
  assert.notEqual(hashes[0], hashes[2], 'kept under a hash of its own: another password')
})

test('foreign password hashes come from an import alone; costly bcrypt is refused by name', async (t) => {
  const { parts } = await signInWorld(t)
  const argon = cheapHash(NEXT)
  const bcrypt = '$2b$12$abcdefghijklmnopqrstuuJ8q0Zc6e1y8n3m3m3m3m3m3m3m3m3m3'
  const costly = bcrypt.replace('$12$', '$15$')
  assert.equal((await newUserPassword(parts, argon, { imported: true })).password_hash, argon)
  assert.equal((await newUserPassword(parts, bcrypt, { imported: true })).password_hash, bcrypt)
  await assert.rejects(newUserPassword(parts, costly, { imported: true }), /bcrypt hashes of a cost above 14/)
  const typed = await newUserPassword(parts, argon)
  assert.equal(await verifyPassword(String(typed.password_hash), NEXT), false, 'typed by a person, it is a password')
  await assert.rejects(newUserPassword(parts, 'short'), /6 characters/)
})
