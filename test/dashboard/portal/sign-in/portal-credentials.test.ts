import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashSync } from 'bcryptjs'
import { passwordRules } from '../../../../src/model/passwords/password-rules.ts'
import { hashPassword, isPasswordHash } from '../../../../src/model/passwords/passwords.ts'
import { assertRefused, bodyOf } from '../../../worlds/dashboard/people.ts'
import { cheapHash, person } from '../../../worlds/dashboard/sign-in-world.ts'
import { atPortal, DEVELOPERS, PASSWORD, type PeopleWorld, portalPeople } from '../../../worlds/portal/portal-people.ts'

const ADA = 'ada@example.test'
const VERIFY = `${DEVELOPERS}/verify_credentials`

const setPassword = (world: PeopleWorld, id: string, password: unknown) =>
  world.call('POST', `${DEVELOPERS}/password/${id}`, { as: world.portal, body: { password } })

test('credentials verify by 200, everything else is 401 in one form', async (t) => {
  const world = await portalPeople(t)
  const id = await world.developer({ email: 'Ada@Example.test', password: cheapHash(PASSWORD), inactive: true })
  await world.developer({ email: 'sso@example.test' })
  const { email } = await person(world)
  await world.developer({ email: 'empty@example.test', password: '' })
  world.clock.advance(60_000)
  for (const username of ['Ada@Example.test', ADA, ' ADA@EXAMPLE.TEST '])
    assert.deepEqual(await world.asked(200, 'POST', VERIFY, { username, password: PASSWORD }), {
      ...{ Status: 'OK', Message: 'Credentials verified', Meta: null },
    })
  assert.equal((await world.read(id)).last_login_date, new Date(world.clock.wall()).toISOString())
  const refusals = await Promise.all(
    [
      [ADA, `${PASSWORD} `],
      [ADA, ''],
      ['nobody@example.test', PASSWORD],
      ['sso@example.test', ''],
      ['sso@example.test', PASSWORD],
      ['empty@example.test', ''],
      // A dashboard user is no developer.
      [email, PASSWORD],
      [`${ADA}\r\nX: y`, PASSWORD],
      ["' OR 1=1 --", "' OR 1=1 --"],
      ['__proto__', PASSWORD],
      ['x'.repeat(5000), 'x'.repeat(5000)],
    ].map(async ([username, password]) => {
      const answer = await world.call('POST', VERIFY, { as: world.portal, body: { username, password } })
      return `${answer.status} ${answer.text}`
    }),
  )
  assert.deepEqual(
    [...new Set(refusals)],
    ['401 {"Status":"Error","Message":"The email address or the password is wrong","Meta":null}'],
  )
  for (const body of [{}, { username: ADA }, { username: ADA, password: 5 }, { username: { $gt: '' }, password: 'x' }])
    assert.equal((await world.call('POST', VERIFY, { as: world.portal, body })).status, 400)
})

test('a refusal is not sent before the time that a slow hash takes, whatever the reason', async (t) => {
  const world = await portalPeople(t)
  await world.developer({ email: ADA, password: cheapHash(PASSWORD) })
  await world.developer({ email: 'sso@example.test' })
  for (const [username, password] of [
    [ADA, 'wrong one'],
    ['sso@example.test', 'wrong one'],
    ['nobody@example.test', 'wrong one'],
    ['no address', 'wrong one'],
  ]) {
    const before = performance.now()
    assert.equal(await world.verify(username!, password), 401)
    // Timers may be a millisecond early.
    assert.ok(performance.now() - before > 495, String(username))
  }
})

test('a password that was guessed at too often is not checked, and the 401 says so', async (t) => {
  const world = await portalPeople(t, { env: { SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '3' } })
  await world.developer({ email: ADA, password: cheapHash(PASSWORD) })
  await world.developer({ email: 'ben@example.test', password: cheapHash(PASSWORD) })
  const guesses = await Promise.all(
    Array.from({ length: 33 }, (_, i) => world.verify(i % 2 ? ADA : 'ADA@example.test', `guess ${i}`)),
  )
  assert.deepEqual(new Set(guesses), new Set([401]))
  const body = { username: ADA, password: PASSWORD }
  const answer = await world.call('POST', VERIFY, { as: world.portal, body })
  assertRefused(answer, 401, /^Too many failed attempts, try again in 1 s/)
  assert.equal(answer.headers['retry-after'], '1')
  const login = await world.call('POST', '/portal/login', { body: { email: ADA, password: PASSWORD } })
  assertRefused(login, 429, /^Too many failed attempts/)
  assert.equal(await world.verify('ben@example.test'), 200, 'another name from the same address is not kept out')
  world.clock.advance(1000)
  assert.equal(await world.verify(ADA), 200)
})

test('an address from which too much was guessed waits: a browser before a portal', async (t) => {
  const world = await portalPeople(t, { env: { SVC_DB_SECURITY_LOGINFAILUREIPLIMIT: '2' } })
  await world.developer({ email: ADA, password: cheapHash(PASSWORD) })
  const { email } = await person(world)
  await Promise.all(Array.from({ length: 3 }, (_, i) => world.verify(`nobody-${i}@example.test`)))
  assert.equal(await world.verify(ADA), 200, 'a portal asks for all its visitors')
  const login = (address: string) =>
    world.call('POST', '/portal/login', { body: { email: address, password: PASSWORD } })
  await Promise.all([login('x@b.test'), login('y@b.test')])
  assert.equal((await login(ADA)).status, 429)
  const user = await world.call('POST', '/api/login', { body: { email, password: PASSWORD } })
  assert.equal(user.status, 200, 'dashboard users are counted apart')
})

test('a wait can be hidden: then it looks like a wrong password', async (t) => {
  const env = { SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '1', SVC_DB_SECURITY_HIDELOGINFAILURELIMITERROR: 'true' }
  const world = await portalPeople(t, { env })
  await world.developer({ email: ADA, password: cheapHash(PASSWORD) })
  await Promise.all(Array.from({ length: 10 }, (_, i) => world.verify(ADA, `guess ${i}`)))
  const answers = [await world.call('POST', VERIFY, { as: world.portal, body: { username: ADA, password: 'wrong' } })]
  answers.push(await world.call('POST', VERIFY, { as: world.portal, body: { username: ADA, password: PASSWORD } }))
  assert.deepEqual(answers[0]!.text, answers[1]!.text)
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401],
  )
})

test('an imported bcrypt hash opens with its password, and becomes argon2id at the first success', async (t) => {
  const world = await portalPeople(t)
  for (const sort of ['$2a$', '$2b$', '$2y$']) {
    const email = `dev-${sort.slice(2, 3)}@example.test`
    const hash = sort + hashSync(PASSWORD, 4).slice(4)
    const id = await world.developer({ email, password: hash })
    assert.equal((await world.stored(id)).password, hash, 'stored as it is')
    assert.equal(await world.verify(email, 'wrong one'), 401)
    assert.equal(await world.verify(email, hash), 401, 'the hash itself opens nothing')
    assert.equal((await world.stored(id)).password, hash)
    const updated = (await world.read(id)).password_updated
    assert.equal(await world.verify(email), 200)
    assert.match(String((await world.stored(id)).password), /^\$argon2id\$/)
    assert.equal((await world.read(id)).password_updated, updated, 'the password is the same')
    assert.equal(await world.verify(email), 200)
  }
})

test('hashes that are too costly or flawed are named, not taken for passwords', async (t) => {
  const world = await portalPeople(t)
  const rest = hashSync(PASSWORD, 4).slice(7)
  for (const password of [`$2b$15$${rest}`, `$2a$31$${rest}`, `$2x$10$${rest}`]) {
    const body = { email: ADA, password }
    assertRefused(
      await world.call('POST', DEVELOPERS, { as: world.portal, body }),
      400,
      /^Developer password validation failed: bcrypt/,
    )
  }
  const id = await world.developer({ email: ADA, password: await hashPassword(PASSWORD) })
  assert.ok(isPasswordHash(String((await world.stored(id)).password)))
  assert.equal(await world.verify(ADA), 200, 'an argon2id hash is taken over too')
})

test('an administrator sets a password without the old one', async (t) => {
  const world = await portalPeople(t)
  const id = await world.developer({ email: ADA, password: cheapHash(PASSWORD) })
  world.clock.advance(1000)
  assert.deepEqual(bodyOf(await setPassword(world, id, 'another one')), { Message: 'Password changed' })
  assert.equal((await world.read(id)).password_updated, new Date(world.clock.wall()).toISOString())
  assert.deepEqual([await world.verify(ADA, 'another one'), await world.verify(ADA)], [200, 401])
  const failed = 'Developer password validation failed.'
  for (const unknown of ['f'.repeat(24), 'x', '__proto__', "' OR 1=1"])
    assertRefused(await setPassword(world, encodeURIComponent(unknown), 'another one'), 400, failed)
  assertRefused(await setPassword(world, id, 'short'), 400, /^Developer password validation failed: .*6 characters/)
  assertRefused(await setPassword(world, id, ''), 400, /^Developer password validation failed/)
  assertRefused(await setPassword(world, id, 'x'.repeat(2000)), 400, /^Developer password validation failed/)
  assertRefused(await setPassword(world, id, 7), 400, /^Developer password validation failed: password/)
  // Set by a person, it is a password in any form.
  const hash = hashSync('something else', 4)
  assert.equal((await setPassword(world, id, hash)).status, 200)
  assert.deepEqual([await world.verify(ADA, hash), await world.verify(ADA, 'something else')], [200, 401])
})

test('the schema file for developers holds, and former passwords may not come back', async (t) => {
  const schema = {
    type: 'string',
    minLength: 8,
    multiCase: true,
    minNumeric: 1,
    minSpecial: 1,
    disableSequential: true,
  }
  const world = await portalPeople(t, {
    env: { SVC_DB_SECURITY_ENFORCEPASSWORDHISTORY: '2' },
    parts: { developerPasswordRules: passwordRules(schema) },
  })
  const weak = await world.call('POST', DEVELOPERS, {
    as: world.portal,
    body: { email: ADA, password: 'correct horse' },
  })
  assertRefused(weak, 400, /^Developer password validation failed: .*upper and lower/)
  const id = await world.developer({ email: ADA, password: 'Planet!7' })
  assertRefused(await setPassword(world, id, 'Abc!12345x'), 400, /in a row/)
  assertRefused(await setPassword(world, id, 'Planet!7'), 400, /last 2/)
  assert.equal((await setPassword(world, id, 'Rocket!7')).status, 200)
  assertRefused(await setPassword(world, id, 'Planet!7'), 400, /last 2/)
  const put = { email: ADA, password: 'Planet!7' }
  assertRefused(await world.call('PUT', `${DEVELOPERS}/${id}`, { as: world.portal, body: put }), 400, /last 2/)
  assert.deepEqual((await world.read(id)).PWHistory, [])
  assert.equal((await setPassword(world, id, 'Comets!7')).status, 200)
  assert.equal((await setPassword(world, id, 'Planet!7')).status, 200, 'two later it is forgotten')
})

test('a new password ends the sessions; a record without one does not', async (t) => {
  const world = await portalPeople(t)
  const id = await world.developer({ email: ADA, password: cheapHash(PASSWORD) })
  const first = await atPortal(world, ADA)
  await world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, { email: ADA, fields: { Name: 'Ada' } })
  await world.asked(200, 'PATCH', `${DEVELOPERS}/${id}`, { fields: { Name: 'Countess' } })
  assert.equal(await first.isIn(), true)
  await setPassword(world, id, 'the second one')
  assert.equal(await first.isIn(), false)
  const second = await atPortal(world, ADA, 'the second one')
  await world.asked(200, 'PATCH', `${DEVELOPERS}/${id}`, { password: 'the third one' })
  assert.equal(await second.isIn(), false)
  assert.equal(await world.verify(ADA, 'the third one'), 200)
})
