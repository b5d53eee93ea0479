import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentId } from '../../../../src/model/documents/ids.ts'
import { createClient } from '../../../../src/publish/oauth-clients/oauth-clients.ts'
import { createPolicy } from '../../../../src/publish/policies/policies.ts'
import { gatewayWorld } from '../../../worlds/dashboard/gateway-world.ts'
import { assertDone, assertRefused, bodyOf } from '../../../worlds/dashboard/people.ts'
import { Browser, cheapHash, person } from '../../../worlds/dashboard/sign-in-world.ts'
import { allowSso } from '../../../worlds/dashboard/sso-world.ts'
import {
  atPortal,
  DEVELOPERS,
  PASSWORD,
  type PeopleWorld,
  PortalBrowser,
  portalPeople,
} from '../../../worlds/portal/portal-people.ts'

const ADA = 'ada@example.test'
const NEEDED = 'This call needs a session at the portal'

async function withAda(world: PeopleWorld): Promise<string> {
  return world.developer({ email: ADA, password: cheapHash(PASSWORD) })
}

test('a developer signs in, gets the token again, and signs out', async (t) => {
  const world = await portalPeople(t)
  const id = await withAda(world)
  world.clock.advance(5000)
  const browser = new PortalBrowser(world)
  const answer = await browser.login('ADA@example.test')
  assert.deepEqual(Object.keys(bodyOf(answer)), ['csrf_token'])
  assert.match(browser.setCookie, /^portal_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/)
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal((await world.read(id)).last_login_date, new Date(world.clock.wall()).toISOString())
  const { csrf } = browser
  assert.deepEqual(bodyOf(await browser.send('GET', '/portal/csrf/')), { csrf_token: csrf })
  for (const authorization of ['', 'x', `${csrf}x`, 'Bearer'])
    assertRefused(await browser.send('POST', '/portal/logout', undefined, { authorization }), 403, /CSRF token/)
  const { cookie } = browser
  assertDone(await browser.send('POST', '/portal/logout', undefined, { authorization: `Bearer ${csrf}` }), 'Signed out')
  assert.match(browser.setCookie, /^portal_session=; Path=\/; Max-Age=0;/)
  browser.cookie = cookie
  assert.equal(await browser.isIn(), false)
})

test('a session ends with its life, with its developer, and with the password', async (t) => {
  const world = await portalPeople(t, { env: { SVC_DB_PORTALSESSIONLIFETIME: '600' } })
  const id = await withAda(world)
  const browser = await atPortal(world, ADA)
  world.clock.advance(599_999)
  assert.equal(await browser.isIn(), true)
  world.clock.advance(1)
  assertRefused(await browser.send('GET', '/portal/csrf'), 401, NEEDED)
  const again = await atPortal(world, ADA)
  await world.asked(200, 'DELETE', `${DEVELOPERS}/${id}`)
  assert.equal(await again.isIn(), false)
  await withAda(world)
  assert.equal(await again.isIn(), false, 'another developer of the address is another developer')
})

test('a dashboard account opens nothing at the portal, and a developer nothing in the dashboard', async (t) => {
  const world = await portalPeople(t)
  await withAda(world)
  const user = await person(world)
  const wrong = await new PortalBrowser(world).login(user.email)
  assertRefused(wrong, 401, 'The email address or the password is wrong')
  assert.equal((await new Browser(world).login(ADA)).status, 401)
  const { cookie, csrf } = await atPortal(world, ADA)
  for (const headers of [
    { cookie: `authorisation=${cookie}` },
    { cookie: `portal_session=${cookie}` },
    { authorization: csrf },
  ])
    assertRefused(await world.call('GET', '/api/session', { headers }), 401, 'Not authorised')
  const dashboard = new Browser(world)
  await dashboard.login(user.email)
  for (const headers of [
    { cookie: `portal_session=${dashboard.cookie}`, authorization: dashboard.csrf },
    { cookie: `authorisation=${dashboard.cookie}`, 'x-csrf-token': dashboard.csrf },
    { authorization: world.portal.key },
  ])
    assertRefused(await world.call('GET', '/portal/csrf', { headers }), 401, NEEDED)
})

test('signing in by a form, from a page of another site, and with nothing', async (t) => {
  const world = await portalPeople(t)
  await withAda(world)
  const form = new URLSearchParams({ email: ADA, password: PASSWORD }).toString()
  assert.equal((await world.call('POST', '/portal/login', { body: form })).status, 200)
  const headers = { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }
  for (const path of ['login', 'register', 'password/forgot', 'password/reset']) {
    const body = { email: ADA, password: PASSWORD, token: 'x', new_password: PASSWORD }
    assertRefused(await world.call('POST', `/portal/${path}`, { headers, body }), 403, /another site/)
  }
  for (const body of ['', '{}', '{"email":5,"password":"x"}', 'email=x', '[]'])
    assert.ok([400, 403].includes((await world.call('POST', '/portal/login', { body })).status), body)
})

test('the portal can be told to let nobody in, and nobody sign up', async (t) => {
  const world = await portalPeople(t)
  await withAda(world)
  await world.configure({ disable_login: true, disable_signup: true })
  assertRefused(await new PortalBrowser(world).login(ADA), 403, 'Signing in to the portal is switched off')
  const body = { email: 'new@example.test', password: PASSWORD }
  assertRefused(await world.call('POST', '/portal/register', { body }), 403, 'Signing up at the portal is switched off')
  assert.equal(await world.verify(ADA), 200, 'whether a password is right is another question')
  await world.configure({ disable_login: false, disable_signup: false })
  assert.equal((await new PortalBrowser(world).login(ADA)).status, 200)
})

test('the portal of another organisation is found by its host name, or by name', async (t) => {
  const world = await portalPeople(t)
  await withAda(world)
  const orgId = await world.organisation({ cname: 'Portal.other.test' })
  const as = await world.user({ portal: 'write' }, { orgId })
  const body = { email: ADA, password: cheapHash('of the other') }
  assert.equal((await world.call('POST', DEVELOPERS, { as, body })).status, 200)
  const login = async (password: string, more: object, headers: Record<string, string> = {}) =>
    (await world.call('POST', '/portal/login', { body: { email: ADA, password, ...more }, headers })).status
  for (const host of ['portal.other.test', 'PORTAL.other.test:8443']) {
    assert.equal(await login('of the other', {}, { host }), 200)
    assert.equal(await login(PASSWORD, {}, { host }), 401)
  }
  assert.equal(await login('of the other', { org_id: orgId }), 200)
  assert.equal(await login(PASSWORD, {}), 200)
  for (const org_id of ['f'.repeat(24), '__proto__', "' OR 1=1"]) assert.equal(await login(PASSWORD, { org_id }), 401)
})

test('a stranger signs up, is in at once, and only with the fields that the portal asks for', async (t) => {
  const world = await portalPeople(t)
  await world.configure({ signup_fields: ['Company'] })
  const browser = new PortalBrowser(world)
  const body = { email: 'New@example.test', password: 'long enough', fields: { Name: 'New', Company: 'ACME' } }
  const made = bodyOf(await browser.send('POST', '/portal/register', body))
  assert.deepEqual(Object.keys(made), ['Status', 'Message', 'Meta'])
  assert.equal(await browser.isIn(), true)
  const shown = await world.read(String(made.Message))
  assert.deepEqual([shown.email, shown.fields, shown.org_id], ['New@example.test', body.fields, world.orgId])
  const sign = (more: object) =>
    world.call('POST', '/portal/register', { body: { ...body, email: 'b@b.test', ...more } })
  assertRefused(await sign({ email: 'NEW@example.test' }), 403, 'Developer email already exists for this org.')
  assertRefused(await sign({ fields: { Name: 'x', tier: 'gold' } }), 400, /tier is not asked for/)
  assertRefused(await sign({ password: 'short' }), 400, /6 characters/)
  assertRefused(await sign({ password: '' }), 400, /missing/)
  assertRefused(await sign({ email: 'a@b.test\r\nBcc: c@d.test' }), 400, /email/)
  // Strangers cannot set the other members of a record.
  const forged = { inactive: true, sso_key: 'admin', nonce: 'n', keys: {}, org_id: undefined, id: 'x' }
  const forger = { ...body, email: 'b@b.test', ...forged }
  const forging = await world.call('POST', '/portal/register', { body: forger, isRandom: true })
  const plain = await world.read(String(bodyOf(forging).Message))
  assert.deepEqual([plain.inactive, plain.sso_key, plain.nonce], [false, '', ''])
  await world.configure({ disable_auto_login: true })
  const answer = await sign({ email: 'c@b.test' })
  assert.deepEqual([bodyOf(answer).Meta, answer.headers['set-cookie']], [null, undefined])
  assert.equal((await new PortalBrowser(world).login('c@b.test', 'long enough')).status, 200)
})

test('sign-ups from one address are counted, whatever becomes of them', async (t) => {
  const world = await portalPeople(t, { env: { SVC_DB_SECURITY_SIGNUPIPLIMIT: '2' } })
  const sign = (email: string, password = cheapHash('x')) =>
    world.call('POST', '/portal/register', { body: { email, password } })
  assert.equal((await sign('no address')).status, 400)
  assert.equal((await sign('a@b.test')).status, 200)
  const more = await sign('b@b.test')
  assertRefused(more, 429, /^Too many sign-ups/)
  assert.equal(more.headers['retry-after'], '900')
  assert.equal((await world.store.documents.list('developer', { limit: 1 })).total, 1)
  world.clock.advance(900_000)
  assert.equal((await sign('b@b.test')).status, 200)
})

test('the quota of the organisation holds for strangers too', async (t) => {
  const world = await portalPeople(t)
  const { id, body } = (await world.store.documents.get('organisation', world.orgId as DocumentId))!
  await world.store.documents.commit(
    [{ op: 'put', kind: 'organisation', id, body: { ...body, developer_quota: 1 } }],
    undefined,
  )
  const answers = await Promise.all(
    [1, 2, 3].map((n) =>
      world.call('POST', '/portal/register', { body: { email: `d${n}@b.test`, password: 'long enough' } }),
    ),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403, 403])
})

test('a nonce of a trusted program opens the session of the developer who carries it, once', async (t) => {
  const world = await portalPeople(t)
  await allowSso(world)
  const id = await world.developer({ email: 'sso@example.test', sso_key: 'sso@idp' })
  const nonceFor = async (ForSection: string) => {
    const body = { ForSection, OrgID: world.orgId, EmailAddress: 'sso@example.test' }
    return String(bodyOf(await world.call('POST', '/admin/sso', { as: 'installation', body })).Meta)
  }
  const enter = (nonce: string, browser = new PortalBrowser(world)) =>
    browser.send('GET', `/portal/sso/?nonce=${encodeURIComponent(nonce)}`)
  // As the broker does it: the whole record, with the nonce in it.
  const write = async (nonce: string) =>
    world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, { ...(await world.read(id)), nonce })
  const nonce = await nonceFor('portal')
  const refused = await enter(nonce)
  assert.equal(refused.status, 403, 'nobody carries it yet')
  assert.match(refused.text, /Sign-in refused/)
  await write(nonce)
  const browser = new PortalBrowser(world)
  const entered = await enter(nonce, browser)
  assert.equal(entered.status, 303, entered.text)
  assert.equal(entered.headers.location, '/portal/')
  assert.equal(await browser.isIn(), true)
  const shown = await world.read(id)
  assert.deepEqual([shown.nonce, shown.last_login_date], ['', new Date(world.clock.wall()).toISOString()])
  await write(nonce)
  assert.equal((await enter(nonce)).status, 403, 'a second time')

  const late = await nonceFor('portal')
  await write(late)
  world.clock.advance(60_000)
  assert.equal((await enter(late)).status, 403, 'after a minute')
  for (const wrong of [await nonceFor('dashboard'), 'made up', '', "' OR 1=1 --"]) {
    if (wrong !== '') await write(wrong)
    assert.equal((await enter(wrong)).status, 403, wrong)
  }
  const shared = await nonceFor('portal')
  await write(shared)
  await world.developer({ email: 'other@example.test', nonce: shared })
  assert.equal((await enter(shared)).status, 403, 'two carry it')
  await world.configure({ disable_login: true, portal_url: 'https://portal.example.test/' })
  const off = await nonceFor('portal')
  await world.asked(200, 'PATCH', `${DEVELOPERS}/${id}`, { nonce: off })
  assert.equal((await enter(off)).status, 403, 'nobody is let in')
  await world.configure({ disable_login: false })
  assert.equal((await enter(off)).headers.location, 'https://portal.example.test/portal/')
})

test('of many browsers with one nonce one gets in', async (t) => {
  const world = await portalPeople(t)
  await allowSso(world)
  const body = { ForSection: 'portal', OrgID: world.orgId }
  const nonce = String(bodyOf(await world.call('POST', '/admin/sso', { as: 'installation', body })).Meta)
  await world.developer({ email: 'sso@example.test', nonce })
  const path = `/portal/sso?nonce=${encodeURIComponent(nonce)}`
  const answers = await Promise.all(Array.from({ length: 6 }, () => world.call('GET', path)))
  assert.equal(answers.filter(({ status }) => status === 303).length, 1)
})

test('a developer ends tokens of the own OAuth apps, and of no others', async (t) => {
  const world = await gatewayWorld(t)
  await world.oauth({ id: 'orders' })
  await createPolicy(
    world.parts,
    {
      id: 'gold',
      name: 'Gold',
      org_id: world.orgId,
      access_rights: { orders: { api_id: 'orders', versions: ['Default'] } },
    },
    'test',
  )
  const redirect_uri = 'https://app.test/cb'
  const client = async (client_id: string, developer: DocumentId) => {
    const body = { client_id, secret: `secret of ${client_id}`, redirect_uri, policies: ['gold'] }
    await createClient(world.parts, { body, apiId: 'orders', orgId: world.orgId, actor: 'test', developer })
  }
  const developers: string[] = []
  for (const name of ['ada', 'ben']) {
    const record = { email: `${name}@example.test`, password: cheapHash(PASSWORD) }
    const made = await world.call('POST', DEVELOPERS, { as: world.root, body: record })
    const id = String(bodyOf(made).Message) as DocumentId
    await client(`app-of-${name}`, id)
    const { body } = (await world.store.documents.get('developer', id))!
    const app = { client_id: `app-of-${name}`, redirect_uri, app_description: '', use_case: '', date_created: '' }
    await world.store.documents.commit(
      [{ op: 'put', kind: 'developer', id, body: { ...body, oauth_clients: { gold: [app] } } }],
      undefined,
    )
    developers.push(id)
  }
  const tokenOf = (name: string) => world.token('orders', `app-of-${name}`, `secret of app-of-${name}`)
  const live = async (token: string) => (await world.use('/orders/x', token)) === 200
  const [one, two, three, bens] = [
    await tokenOf('ada'),
    await tokenOf('ada'),
    await tokenOf('ada'),
    await tokenOf('ben'),
  ]
  assert.deepEqual(await Promise.all([one, two, three, bens].map(live)), [true, true, true, true])

  const ada = await atPortal(world, 'ada@example.test')
  const revoke = (app: string, body: unknown, headers: Record<string, string> = {}) =>
    ada.send('POST', `/oauth-clients/${app}/revoke`, body, headers)
  assertDone(await revoke('app-of-ada', { token: one, token_type_hint: 'access_token' }), 'token revoked successfully')
  assert.equal(await live(one), false)
  const form = new URLSearchParams({ token: two, token_type_hint: 'access_token' }).toString()
  assertDone(await revoke('app-of-ada', form), 'token revoked successfully')
  assert.equal(await live(two), false)
  // Of another's app, even by naming the own one; unknown ones look the same.
  for (const app of ['app-of-ben', 'no-such-app', '__proto__'])
    assertRefused(await revoke(app, { token: bens }), 404, "oauth client doesn't exist")
  assertRefused(await revoke('app-of-ada', { token: bens }), 400, /not issued to this client/)
  assert.equal(await live(bens), true)
  assertDone(await revoke('app-of-ada', ' \r\n\t{"token":"nobody has it"}'), 'token revoked successfully')
  assertRefused(await revoke('app-of-ada', {}), 400, 'token is required')
  assertRefused(await revoke('app-of-ada', { token: three }, { authorization: 'wrong' }), 403, /CSRF token/)
  const all = (app: string, body: unknown, headers: Record<string, string> = {}) =>
    ada.send('POST', `/oauth-clients/${app}/revoke_all`, body, headers)
  assertRefused(await all('app-of-ada', { client_secret: 'wrong' }), 401, 'client secret is wrong')
  assertRefused(await all('app-of-ada', {}), 401, /client_secret/)
  assertRefused(await all('app-of-ben', { client_secret: 'secret of app-of-ben' }), 404, "oauth client doesn't exist")
  assert.deepEqual([await live(three), await live(bens)], [true, true])
  // A dashboard account is unknown here, with any permissions; nor is the cookie alone enough.
  const secret = { client_secret: 'secret of app-of-ada' }
  for (const headers of [{}, { authorization: world.root.key }, { authorization: ada.csrf }])
    assertRefused(
      await world.call('POST', '/oauth-clients/app-of-ada/revoke_all', { body: secret, headers }),
      401,
      NEEDED,
    )
  const cookie = `portal_session=${ada.cookie}`
  const alone = await world.call('POST', '/oauth-clients/app-of-ada/revoke_all', { body: secret, headers: { cookie } })
  assertRefused(alone, 403, /CSRF token/)
  assert.equal(await live(three), true)
  assertDone(await all('app-of-ada', new URLSearchParams(secret).toString()), 'tokens revoked successfully')
  assert.deepEqual([await live(three), await live(bens)], [false, true])
  assert.equal(await live(await tokenOf('ada')), true, 'the app goes on')
})
