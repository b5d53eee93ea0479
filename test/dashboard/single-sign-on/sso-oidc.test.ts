import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { journey, START, signInThere, world } from '../../worlds/dashboard/openid-world.ts'
import { Browser, locationOf, sessionIn, ssoWorld, whyRefused } from '../../worlds/dashboard/sso-world.ts'

const quiet = { concurrency: false }

test('a browser signs in at an OpenID provider and is let in with its groups', quiet, async (t) => {
  const dashboard = await world(t, {
    ada: { email: 'Ada@Example.test', email_verified: true, name: 'Ada Byron', groups: ['ops', 'other'] },
    bob: { email: 'bob@example.test', groups: 'none of ours' },
    carl: { email: 'carl@example.test', groups: 'x readers' },
  })
  const readers = await dashboard.group({ apis: 'read' })
  const ops = await dashboard.group({ hooks: 'write' })
  const stored = (await dashboard.call('GET', '/api/tib/profiles/staff', { as: dashboard.boss })).json as {
    Data: JsonObject
  }
  const mapped = { ...stored.Data, CustomUserGroupField: 'groups', UserGroupMapping: { ops, readers } }
  assert.equal(
    (await dashboard.call('PUT', '/api/tib/profiles/staff', { as: dashboard.boss, body: mapped })).status,
    200,
  )
  const ada = await journey(dashboard, 'ada')
  assert.deepEqual([ada.end.status, locationOf(ada.end)], [303, '/'], ada.end.text + whyRefused(dashboard))
  const session = await sessionIn(dashboard, ada.browser)
  assert.equal(session?.via, 'sso')
  assert.equal(session?.user.email_address, 'ada@example.test')
  assert.equal(session?.user.first_name, 'Ada Byron')
  assert.deepEqual(session?.user.permissions, { hooks: 'write' })
  // In none of the groups: no sign-in, though nothing else is configured.
  const bob = await journey(dashboard, 'bob')
  assert.equal(bob.end.status, 403)
  assert.match(whyRefused(dashboard), /give no rights/)
  assert.equal(await sessionIn(dashboard, bob.browser), undefined)
  const carl = await journey(dashboard, 'carl')
  assert.deepEqual((await sessionIn(dashboard, carl.browser))?.user.permissions, { apis: 'read' })
})

test('the request to the provider has state, nonce and PKCE, and a cookie of its own', quiet, async (t) => {
  const dashboard = await world(t, {})
  const begun = await new Browser().visit(dashboard.base + START)
  const asked = new URL(locationOf(begun)).searchParams
  assert.equal(asked.get('code_challenge_method'), 'S256')
  for (const name of ['state', 'nonce', 'code_challenge']) assert.match(asked.get(name) ?? '', /^[\w-]{43}$/, name)
  assert.equal(asked.get('scope'), 'openid email profile')
  const [cookie = ''] = begun.headers.getSetCookie()
  assert.match(cookie, /^gatehouse_sso=[\w-]+; Path=\/auth\/staff; Max-Age=600; HttpOnly; SameSite=Lax$/)
  assert.ok(!cookie.includes(asked.get('state')!))
})

test('an answer is taken once, and only in the browser that asked', quiet, async (t) => {
  const dashboard = await world(t, { ada: { email: 'ada@example.test' } })
  const browser = new Browser()
  const answer = await signInThere(dashboard, browser, 'ada')
  const refused = async (who: Browser, url: URL, why: RegExp) => {
    const { status, headers } = await who.visit(url)
    assert.equal(status, 403)
    assert.deepEqual(headers.getSetCookie(), [])
    assert.match(whyRefused(dashboard), why)
  }
  await refused(new Browser(), answer, /has not begun/)
  const thief = new Browser()
  await thief.visit(dashboard.base + START)
  await refused(thief, answer, /state/)
  const changed = new URL(answer)
  changed.searchParams.set('state', 'x'.repeat(43))
  await refused(browser, changed, /state/)
  const failed = new URL(answer)
  failed.searchParams.delete('code')
  failed.searchParams.set('error', 'access_denied')
  await refused(browser, failed, /./)
  const foreign = new URL(answer)
  foreign.searchParams.set('iss', 'http://127.0.0.1:1')
  await refused(browser, foreign, /iss/)
  const end = await browser.visit(answer)
  assert.equal(end.status, 303, whyRefused(dashboard))
  await refused(browser, answer, /./)
  const late = new Browser()
  const lapsed = await signInThere(dashboard, late, 'ada')
  dashboard.clock.advance(600_000)
  await refused(late, lapsed, /has not begun/)
})

test('what the profile asks of the person: domain, verified address, registered, group', quiet, async (t) => {
  const accounts = {
    near: { email: 'a@notexample.test' },
    sub: { email: 'a@sub.example.test' },
    unproved: { email: 'boss@example.test', email_verified: false },
    nobody: {},
    right: { email: 'a@example.test', email_verified: true, groups: ['staff'] },
    outside: { email: 'b@example.test', groups: ['guests'] },
  }
  const dashboard = await world(
    t,
    accounts,
    {
      ProviderConstraints: { Domain: 'Example.test', Group: 'staff' },
      CustomUserGroupField: 'groups',
      SSOOnlyForRegisteredUsers: true,
    },
    { SVC_DB_SSOENABLEUSERLOOKUP: 'true' },
  )
  for (const [login, why] of [
    ['near', /domain/],
    ['sub', /domain/],
    ['unproved', /verified/],
    ['nobody', /domain/],
    ['outside', /group/],
    ['right', /registered/],
  ] as const) {
    const { browser, end } = await journey(dashboard, login)
    assert.equal(end.status, 403, login)
    assert.match(whyRefused(dashboard), why, login)
    assert.equal(await sessionIn(dashboard, browser), undefined)
  }
  const { id } = await dashboard.user({ apis: 'read' })
  const user = (await dashboard.store.documents.get('user', id as never))!
  const body = { ...user.body, email_address: 'a@example.test' }
  await dashboard.store.documents.commit([{ op: 'put', kind: 'user', id: user.id, body }], undefined)
  const { browser } = await journey(dashboard, 'right')
  assert.equal((await sessionIn(dashboard, browser))?.user.id, id)
})

test('a profile by somebody with fewer rights gives no more than they have', quiet, async (t) => {
  const dashboard = await world(t, { ada: { email: 'ada@example.test' } })
  const writer = await dashboard.user({ idm: 'write', apis: 'read' })
  const { json } = await dashboard.call('GET', '/api/tib/profiles/staff', { as: writer })
  const sent = { ...(json as { Data: JsonObject }).Data, Name: 'Other staff', ceiling: { IsAdmin: 'admin' } }
  assert.equal((await dashboard.call('PUT', '/api/tib/profiles/staff', { as: writer, body: sent })).status, 200)
  assert.equal((await journey(dashboard, 'ada')).end.status, 403)
  const group = await dashboard.group({ apis: 'read' })
  const body = { ...sent, DefaultUserGroupID: group }
  assert.equal((await dashboard.call('PUT', '/api/tib/profiles/staff', { as: writer, body })).status, 200)
  const { browser } = await journey(dashboard, 'ada')
  assert.deepEqual((await sessionIn(dashboard, browser))?.user.permissions, { apis: 'read' })
})

test('what somebody set up ends with that user, and gives no more than the user has today', quiet, async (t) => {
  const dashboard = await world(t, { ada: { email: 'ada@example.test' } })
  const group = await dashboard.group({ apis: 'read' })
  const boss = await dashboard.admin()
  const { json } = await dashboard.call('GET', '/api/tib/profiles/staff', { as: boss })
  const { Data: stored } = json as { Data: JsonObject }
  const changes: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    'fewer rights': (id) =>
      dashboard.call('PUT', `/api/users/${id}`, { as: boss, body: { user_permissions: { idm: 'write' } } }),
    'switched off': (id) => dashboard.call('PUT', `/api/users/${id}`, { as: boss, body: { active: false } }),
    deleted: (id) => dashboard.call('DELETE', `/api/users/${id}`, { as: boss }),
  }
  for (const [name, change] of Object.entries(changes)) {
    const writer = await dashboard.user({ idm: 'write', users: 'write', apis: 'read' })
    const body = { ...stored, Name: name, DefaultUserGroupID: group }
    const saved = await dashboard.call('PUT', '/api/tib/profiles/staff', { as: writer, body })
    assert.equal(saved.status, 200, saved.text)
    const made = await dashboard.call('POST', '/api/sso', {
      as: writer,
      body: { EmailAddress: 'any@example.test', GroupID: group },
    })
    assert.equal(made.status, 200, made.text)
    const nonce = String((made.json as JsonObject).Meta)
    const { browser } = await journey(dashboard, 'ada')
    assert.deepEqual((await sessionIn(dashboard, browser))?.user.permissions, { apis: 'read' }, name)
    const changed = (await change(writer.id)) as { status: number; text: string }
    assert.equal(changed.status, 200, changed.text)
    const left = await sessionIn(dashboard, browser)
    assert.ok(left === undefined || Object.keys(left.user.permissions).length === 0, `${name}: the session goes on`)
    assert.notEqual((await journey(dashboard, 'ada')).end.status, 303, name)
    assert.equal((await browser.visit(`${dashboard.base}/tap?nonce=${nonce}`)).status, 403, `${name}: nonce`)
  }
})

test('a registered address elsewhere gets a nonce that opens the session', quiet, async (t) => {
  const elsewhere = 'https://dash.example.test/tap'
  const dashboard = await world(t, { ada: {} }, { ReturnURL: elsewhere }, { SVC_SSO_RETURNURLS: elsewhere })
  const { end, browser } = await journey(dashboard, 'ada')
  const url = new URL(locationOf(end))
  assert.equal(url.origin + url.pathname, elsewhere, whyRefused(dashboard))
  assert.equal(await sessionIn(dashboard, browser), undefined)
  const tapped = await browser.visit(`${dashboard.base}/tap${url.search}`)
  assert.equal(tapped.status, 303)
  assert.equal((await sessionIn(dashboard, browser))?.user.email_address, 'ssoSession@ssoSession.com')
})

test('a sign-in can make a key with the policy of the profile; the one before ends', quiet, async (t) => {
  const dashboard = await world(
    t,
    { ada: { email: 'ada@example.test' } },
    {
      ActionType: 'GenerateTemporaryAuthToken',
      MatchedPolicyID: 'gold',
      ReturnURL: '/keys',
      IdentityHandlerConfig: { TokenAuth: { Expires: 600 } },
    },
  )
  assert.equal((await journey(dashboard, 'ada')).end.status, 403)
  assert.match(whyRefused(dashboard), /policy/)
  const rights = { a: { api_id: 'a', api_name: 'a', versions: ['Default'] } }
  const policy = {
    id: 'gold',
    name: 'Gold',
    org_id: dashboard.orgId,
    active: true,
    access_rights: rights,
    partitions: {},
  }
  const made = await dashboard.call('POST', '/api/portal/policies', { as: dashboard.boss, body: policy })
  assert.equal(made.status, 200, made.text)
  const hashes: Uint8Array[] = []
  for (let round = 0; round < 2; round++) {
    const { end, browser } = await journey(dashboard, 'ada')
    assert.match(locationOf(end), /^\/keys#token=[^&]+$/, whyRefused(dashboard))
    assert.equal(await sessionIn(dashboard, browser), undefined)
    const { rows } = await dashboard.store.tokens.listSessions({ orgId: dashboard.orgId, limit: 10 })
    assert.equal(rows.length, 1)
    assert.deepEqual(rows[0]!.body.apply_policies, ['gold'])
    assert.equal(rows[0]!.body.expires, Math.floor(dashboard.clock.wall() / 1000) + 600)
    hashes.push(rows[0]!.hash)
  }
  assert.notDeepEqual(hashes[0], hashes[1])
})

test('providers on private networks, and what is not there, are refused', quiet, async (t) => {
  const dashboard = await ssoWorld(t, { SVC_SSO_ALLOWPRIVATE: 'false' })
  let asked = 0
  const inside = createServer((_request, response) => {
    response.end('{}')
  })
  inside.on('connection', () => asked++)
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
  t.after(() => inside.close())
  const port = (inside.address() as AddressInfo).port
  const profile = (id: string, url: string) => ({
    ...{ ID: id, ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'SocialProvider' },
    ProviderConfig: {
      CallbackBaseURL: dashboard.base,
      UseProviders: [{ Name: 'openid-connect', Key: 'k', DiscoverURL: url }],
    },
  })
  const addresses = [
    `http://127.0.0.1:${port}`,
    `http://localhost:${port}`,
    `https://localhost:${port}`,
    `https://127.0.0.1:${port}`,
    `http://[::ffff:127.0.0.1]:${port}`,
    'http://0x7f.1/',
  ]
  for (const [i, url] of [...addresses, 'file:///etc/passwd', 'http://169.254.169.254/'].entries()) {
    await dashboard.profile(profile(`p${i}`, url))
    assert.equal((await new Browser().visit(`${dashboard.base}/auth/p${i}/openid-connect`)).status, 403, url)
    if (url.startsWith('http')) assert.match(whyRefused(dashboard), /\bsso\.allow_private\b/, url)
  }
  assert.equal(asked, 0)
  for (const path of [
    '/auth/none/openid-connect',
    '/auth/p0/saml',
    '/auth/p0/google',
    '/auth/__proto__/openid-connect',
    '/auth/p0/openid-connect/x',
  ])
    assert.equal((await new Browser().visit(dashboard.base + path)).status, 404, path)
  const { store, orgId } = dashboard
  const organisation = (await store.documents.get('organisation', orgId as never))!
  await store.documents.commit(
    [{ op: 'put', kind: 'organisation', id: organisation.id, body: { ...organisation.body, sso_enabled: false } }],
    undefined,
  )
  const disabled = await new Browser().visit(`${dashboard.base}/auth/p0/openid-connect`)
  assert.equal(disabled.status, 403)
  assert.match(disabled.text, /SSO not enabled for org\./)
})
