import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { passwordGate } from '../../../src/model/passwords/password-gate.ts'
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

/** Password hashes computed so far in this process. */
let hashed = 0
const { run } = passwordGate
passwordGate.run = (work) => {
  hashed++
  return run.call(passwordGate, work) as ReturnType<typeof work>
}

test('signs in by JSON, whatever it is called, and by a form', async (t) => {
  const world = await signInWorld(t)
  const ada = await person(world)
  const sent: [string, string][] = [
    [JSON.stringify({ email: ada.email, password: PASSWORD }), 'application/json'],
    [JSON.stringify({ email: ada.email.toUpperCase(), password: PASSWORD }), 'text/plain'],
    [new URLSearchParams({ email: ada.email, password: PASSWORD }).toString(), 'application/x-www-form-urlencoded'],
  ]
  for (const [body, type] of sent) {
    const browser = new Browser(world)
    const answer = await browser.send('POST', '/api/login/', body, { 'content-type': type })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(Object.keys(answer.json as JsonObject), ['Status', 'Message', 'Meta'])
    const { user_id: id, email_address: email, org_id: org } = meta(answer)
    assert.deepEqual({ id, email, org }, { id: ada.id, email: ada.email, org: world.orgId })
    assert.match(browser.setCookie, /^authorisation=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/)
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(await browser.isIn(), true)
  }
  assert.equal((await stored(world, ada.id)).last_login_date, new Date(world.clock.wall()).toISOString())
})

test('the cookie is Secure where browsers come by TLS', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_PUBLICURL: 'https://dashboard.example.test' } })
  const browser = await signedIn(world, await person(world))
  assert.match(browser.setCookie, /; Secure$/)
  const plain = await signInWorld(t)
  const behind = new Browser(plain)
  const { email } = await person(plain)
  await behind.send('POST', '/api/login', { email, password: PASSWORD }, { 'x-forwarded-proto': 'https' })
  assert.match(behind.setCookie, /; Secure$/)
})

test('tells who is signed in, to a browser and to a program', async (t) => {
  const world = await signInWorld(t)
  const browser = await signedIn(world, await person(world, { user_permissions: { apis: 'read' } }))
  const { json } = await browser.send('GET', '/api/session')
  const { user, organisation, csrf_token: csrf, via } = json as JsonObject
  assert.deepEqual((user as JsonObject).permissions, { apis: 'read' })
  assert.deepEqual(organisation, { id: world.orgId, name: 'First organisation' })
  assert.equal(csrf, browser.csrf)
  assert.equal(via, 'password')
  const program = await world.call('GET', '/api/session', { as: await world.admin() })
  assert.equal((program.json as JsonObject).csrf_token, '')
  assert.equal((await world.call('GET', '/api/session')).status, 401)
})

test('every refusal of a password is the same', async (t) => {
  const world = await signInWorld(t)
  const gone = await world.organisation()
  const group = await world.group({ apis: 'read' }, { active: false })
  const emails = [
    (await person(world)).email,
    (await person(world, { active: false })).email,
    (await person(world, { group_id: group })).email,
    (await person(world, { password_hash: '' })).email,
    (await person(world, { password_hash: '$2b$12$abcdefghijklmnopqrstuuJ8q0Zc6e1y8n3m3m3m3m3m3m3m3m3m3' })).email,
    (await person(world, { org_id: gone })).email,
    'nobody@example.test',
    'no address',
    '',
    'x'.repeat(60_000),
  ]
  await world.store.documents.commit([{ op: 'delete', kind: 'organisation', id: gone as never }], undefined)
  const answers = await Promise.all(
    emails.map((email, index) => new Browser(world).login(email, index === 0 ? 'wrong' : PASSWORD)),
  )
  for (const answer of answers) {
    assert.equal(answer.status, 401)
    assert.equal(answer.text, answers[0]!.text)
    assert.equal(answer.headers['set-cookie'], undefined)
  }
  assert.equal(message(answers[0]!), 'The email address or the password is wrong')
})

test('a body that is none is refused', async (t) => {
  const world = await signInWorld(t)
  const statuses = await Promise.all(
    [
      '',
      '{',
      '[]',
      '{"email":1,"password":"x"}',
      '{"email":"a@b.test"}',
      'password=x',
      '{"__proto__":{"email":"a"}}',
    ].map(async (body) => (await world.call('POST', '/api/login', { body })).status),
  )
  for (const status of statuses) assert.ok(status === 400 || status === 403, String(statuses))
})

test('a page of another site cannot sign its visitor in or out, nor ask for mails', async (t) => {
  const world = await signInWorld(t)
  const ada = await person(world)
  const own = { origin: `http://127.0.0.1:${world.port}`, 'sec-fetch-site': 'same-origin' }
  const foreign = [
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: `http://127.0.0.1:${world.port}` },
    { origin: `http://127.0.0.1:${world.port + 1}` },
  ]
  const login = { email: ada.email, password: PASSWORD }
  for (const headers of foreign) {
    for (const [path, body] of [
      ['/api/login', login],
      ['/api/login/continue', { ticket: 'x'.repeat(43) }],
      ['/api/login/passkey/options', {}],
      ['/api/login/passkey', { ticket: 'x'.repeat(43), response: { id: '', response: {} } }],
      ['/api/password/forgot', { email: ada.email }],
      ['/api/password/reset', { token: 'x', new_password: PASSWORD }],
    ] as const) {
      const answer = await new Browser(world).send('POST', path, body, headers as Record<string, string>)
      assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`)
      assert.equal(message(answer), 'The call came from a page of another site')
    }
  }
  assert.equal((await new Browser(world).send('POST', '/api/login', login, own)).status, 200)
})

test('a session needs its token to write, and no other one', async (t) => {
  const world = await signInWorld(t)
  const [browser, other] = [await signedIn(world, await person(world)), await signedIn(world, await person(world))]
  const { csrf } = browser
  for (const wrong of ['', 'x', other.csrf]) {
    browser.csrf = wrong
    assert.equal((await browser.send('POST', '/api/logout')).status, 403)
    assert.equal(await browser.isIn(), true)
  }
  browser.csrf = csrf
  assert.equal((await browser.send('POST', '/api/logout')).status, 200)
})

test('each sign-in is a session of its own, whatever the browser held before', async (t) => {
  const world = await signInWorld(t)
  const [ada, eve] = [await person(world), await person(world)]
  const planted = (await signedIn(world, eve)).cookie
  const browser = new Browser(world)
  browser.cookie = planted
  await browser.login(ada.email)
  assert.notEqual(browser.cookie, planted)
  const thief = new Browser(world)
  thief.cookie = planted
  const { json } = await thief.send('GET', '/api/session')
  assert.equal(((json as JsonObject).user as JsonObject).email_address, eve.email)
  const made = new Browser(world)
  made.cookie = 'A'.repeat(43)
  assert.equal(await made.isIn(), false, 'a made-up session is none')
  await made.login(ada.email)
  assert.notEqual(made.cookie, 'A'.repeat(43))
})

test('logging out ends the session, and everywhere ends all of them', async (t) => {
  const world = await signInWorld(t)
  const ada = await person(world)
  const [one, two, three] = [await signedIn(world, ada), await signedIn(world, ada), await signedIn(world, ada)]
  const bystander = await signedIn(world, await person(world))
  const before = one.cookie
  const answer = await one.send('POST', '/api/logout')
  assert.equal(answer.status, 200)
  assert.match(one.setCookie, /^authorisation=; Path=\/; Max-Age=0;/)
  one.cookie = before
  assert.equal(await one.isIn(), false)
  assert.equal(await two.isIn(), true)
  const other = two.cookie
  assert.equal((await two.send('POST', '/api/logout/everywhere')).status, 200)
  two.cookie = other
  assert.deepEqual([await two.isIn(), await three.isIn(), await bystander.isIn()], [false, false, true])
  assert.equal((await world.call('POST', '/api/logout', { as: await world.admin() })).status, 403)
  assert.equal((await world.call('POST', '/api/logout')).status, 401)
})

test('a session ends when nobody uses it, and after its life in any case', async (t) => {
  const world = await signInWorld(t, {
    env: { SVC_DB_SESSIONIDLETIME: '600', SVC_DB_DASHBOARDSESSIONLIFETIME: '1800' },
  })
  const ada = await person(world)
  const idle = await signedIn(world, ada)
  world.clock.advance(599_000)
  assert.equal(await idle.isIn(), true)
  world.clock.advance(599_000)
  assert.equal(await idle.isIn(), true, 'its use put the end off')
  world.clock.advance(600_000)
  assert.equal(await idle.isIn(), false)
  const busy = await signedIn(world, ada)
  for (let minute = 0; minute < 29; minute++) {
    world.clock.advance(60_000)
    assert.equal(await busy.isIn(), true, `minute ${minute}`)
  }
  world.clock.advance(60_000)
  assert.equal(await busy.isIn(), false, 'used all the time')
})

test('a session dies with the account: switched off, deleted, its group switched off', async (t) => {
  const world = await signInWorld(t)
  const group = await world.group({ apis: 'read' })
  const ends: [(id: string) => Promise<unknown>, JsonObject][] = [
    [(id) => rewrite(world, id, { active: false }), {}],
    [(id) => world.store.documents.commit([{ op: 'delete', kind: 'user', id: id as never }], undefined), {}],
    [
      () =>
        world.store.documents.commit(
          [
            {
              op: 'put',
              kind: 'user_group',
              id: group as never,
              body: { org_id: world.orgId, active: false, user_permissions: { apis: 'read' } },
            },
          ],
          undefined,
        ),
      { group_id: group },
    ],
  ]
  for (const [end, more] of ends) {
    const user = await person(world, more)
    const browser = await signedIn(world, user)
    assert.equal(await browser.isIn(), true)
    await end(user.id)
    assert.equal(await browser.isIn(), false)
  }
})

test('signing in ends other sessions where only one is wanted', async (t) => {
  const world = await signInWorld(t, { env: { SVC_DB_DISABLEPARALLELSESSIONS: 'true' } })
  const ada = await person(world)
  const bystander = await signedIn(world, await person(world))
  const browsers = [await signedIn(world, ada), await signedIn(world, ada), await signedIn(world, ada)]
  const alive = await Promise.all([...browsers, bystander].map((browser) => browser.isIn()))
  assert.deepEqual(alive, [false, false, true, true])
})

test('cookies are not stored as they are, and open nothing else', async (t) => {
  const world = await signInWorld(t)
  const browser = await signedIn(world, await person(world))
  const answer = await world.call('GET', '/api/session', { headers: { authorization: browser.cookie } })
  assert.equal(answer.status, 401)
  const { tokens } = world.store
  const { hashKey } = await import('../../../src/model/secrets/secret.ts')
  assert.equal(await tokens.getSession(hashKey(browser.cookie)), undefined)
  assert.equal(await tokens.getTicket(hashKey(browser.cookie)), undefined)
})

const SEVERAL = { env: { SVC_DB_ENABLEMULTIORGUSERS: 'true' } }

test('one address in several organisations chooses where to go', async (t) => {
  const world = await signInWorld(t, SEVERAL)
  const second = await world.organisation({ owner_name: 'Second' })
  const gone = await world.organisation({ owner_name: 'Gone' })
  const email_address = 'many@example.test'
  const hash = cheapHash(PASSWORD)
  const here = await person(world, { email_address, password_hash: hash })
  const there = await person(world, { email_address, password_hash: hash, org_id: second })
  await person(world, { email_address, password_hash: hash, org_id: gone })
  const off = await person(world, {
    email_address,
    password_hash: hash,
    org_id: await world.organisation(),
    active: false,
  })
  await world.store.documents.commit([{ op: 'delete', kind: 'organisation', id: gone as never }], undefined)
  const browser = new Browser(world)
  const asked = meta(await browser.login(email_address))
  assert.equal(asked.needs, 'organisation')
  assert.equal(browser.cookie, '')
  const offered = asked.organisations as JsonObject[]
  assert.deepEqual(offered.map(({ name }) => name).sort(), ['First organisation', 'Second'])
  for (const org_id of [gone, String((await stored(world, off.id)).org_id), 'x', '']) {
    const refused = await browser.send('POST', '/api/login/continue', { ticket: asked.ticket, org_id })
    assert.equal(refused.status, 403, org_id)
  }
  const chosen = await browser.send('POST', '/api/login/continue', { ticket: asked.ticket, org_id: second })
  assert.equal(meta(chosen).user_id, there.id)
  const { json } = await browser.send('GET', '/api/session')
  assert.deepEqual((json as JsonObject).organisation, { id: second, name: 'Second' })
  const again = await new Browser(world).send('POST', '/api/login/continue', { ticket: asked.ticket, org_id: second })
  assert.equal(again.status, 401, 'a sign-in ends once')
  const named = await new Browser(world).login(email_address, PASSWORD, { org_id: world.orgId })
  assert.equal(meta(named).user_id, here.id)
})

test('a password that an administrator of another organisation gave opens nothing else', async (t) => {
  const world = await signInWorld(t, SEVERAL)
  const email_address = 'shared@example.test'
  const mine = await person(world, { email_address })
  const second = await world.organisation()
  const theirs = await person(world, { email_address, org_id: second, password_hash: cheapHash('given by another') })
  const browser = new Browser(world)
  assert.equal(meta(await browser.login(email_address, 'given by another')).user_id, theirs.id)
  assert.equal(meta(await new Browser(world).login(email_address)).user_id, mine.id)
  const refused = await new Browser(world).login(email_address, 'given by another', { org_id: world.orgId })
  assert.equal(refused.status, 401)
})

test('without the setting an address has one account, the oldest', async (t) => {
  const world = await signInWorld(t)
  const email_address = 'twice@example.test'
  const first = await person(world, { email_address })
  world.clock.advance(5000)
  await person(world, { email_address, org_id: await world.organisation() })
  assert.equal(meta(await new Browser(world).login(email_address)).user_id, first.id)
})

test('an unbounded user signs in, and sees no organisation', async (t) => {
  const world = await signInWorld(t)
  const browser = await signedIn(world, await person(world, { org_id: '' }))
  assert.equal(((await browser.send('GET', '/api/session')).json as JsonObject).organisation, null)
})

test('a name that nobody has costs as many hashes as one that somebody has', async (t) => {
  for (const [env, hashes] of [
    [{}, 1],
    [SEVERAL.env, 2],
  ] as const) {
    const world = await signInWorld(t, { env })
    const email_address = `costly-${hashes}@example.test`
    for (const org_id of [world.orgId, await world.organisation(), await world.organisation()])
      await person(world, { email_address, org_id })
    const cases: [string, string, JsonObject][] = [
      [email_address, 'wrong', {}],
      [(await person(world)).email, 'wrong', {}],
      [(await person(world, { password_hash: '' })).email, 'wrong', {}],
      [(await person(world, { active: false })).email, PASSWORD, {}],
      ['nobody@example.test', 'wrong', {}],
      ['no address', 'x'.repeat(5000), {}],
    ]
    for (const [email, password, more] of cases) {
      const before = hashed
      assert.equal((await new Browser(world).login(email, password, more)).status, 401)
      assert.equal(hashed - before, hashes, email)
      const named = hashed
      await new Browser(world).login(email, password, { org_id: world.orgId })
      assert.equal(hashed - named, 1, `${email}, organisation named`)
    }
  }
})
