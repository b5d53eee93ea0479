import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { unitePermissions } from '../../../src/model/people/permission.ts'
import { type Answer, call as plainCall } from '../../worlds/base/client.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'

type Env = Readonly<Record<string, string>>

async function world(t: TestContext, env: Env = {}) {
  const dashboard = await startTestDashboard({ env })
  t.after(dashboard.close)
  const { call, store, orgId } = dashboard
  const organisation = (await store.documents.get('organisation', orgId as never))!
  const body = { ...organisation.body, sso_enabled: true }
  await store.documents.commit([{ op: 'put', kind: 'organisation', id: organisation.id, body }], undefined)
  const nonce = async (wanted: object, path = '/admin/sso') => {
    const given = { ForSection: 'dashboard', OrgID: orgId, ...wanted }
    const answer = await call('POST', path, { as: 'installation', body: given })
    assert.equal(answer.status, 200, answer.text)
    return (answer.json as { Meta: string }).Meta
  }
  const tap = (value: string) => call('GET', `/tap?nonce=${encodeURIComponent(value)}`)
  return {
    ...{ ...dashboard, nonce, tap },
    /** Signs in by a nonce and answers what the session may do. */
    async enter(wanted: object): Promise<Session> {
      return sessionOf(dashboard.call, await tap(await nonce(wanted)))
    },
  }
}

interface Session {
  cookie: string
  user: { id: string; email_address: string; group_id: string; is_admin: boolean; permissions: object }
  csrf_token: string
  via: string
}

async function sessionOf(
  call: (method: string, path: string, options: { headers: Record<string, string> }) => Promise<Answer>,
  entered: Answer,
): Promise<Session> {
  assert.equal(entered.status, 303, entered.text)
  assert.equal(entered.headers.location, '/')
  const [set = ''] = entered.headers['set-cookie'] ?? []
  assert.match(set, /^authorisation=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
  const cookie = set.split(';')[0]!
  const answer = await call('GET', '/api/session', { headers: { cookie } })
  assert.equal(answer.status, 200, answer.text)
  return { ...(answer.json as Session), cookie }
}

const ids = (session: Session) => session.user.permissions

test('a nonce is base64 of a UUID and opens one browser session', async (t) => {
  const { call, nonce, tap, orgId } = await world(t)
  const answer = await call('POST', '/admin/sso/', {
    as: 'installation',
    body: JSON.stringify({
      ForSection: 'dashboard',
      OrgID: orgId,
      EmailAddress: 'Ada@Example.test',
      DisplayName: 'Ada',
    }),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const { Meta: value, ...rest } = answer.json as { Meta: string }
  assert.deepEqual(rest, { Status: 'OK', Message: 'SSO Nonce created' })
  assert.match(Buffer.from(value, 'base64').toString(), /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const session = await sessionOf(call, await tap(value))
  assert.equal(session.via, 'sso')
  assert.equal(session.user.email_address, 'ada@example.test')
  const again = await tap(value)
  assert.equal(again.status, 403)
  assert.equal(again.headers['set-cookie'], undefined)
  const both = await nonce({ EmailAddress: 'race@example.test' })
  const raced = await Promise.all([tap(both), tap(both), tap(both)])
  assert.deepEqual(raced.map(({ status }) => status).sort(), [303, 403, 403])
})

test('whoever only looks where a link leads uses nothing up', async (t) => {
  const { port, nonce, tap, dashboard } = await world(t)
  const value = await nonce({})
  const looked = await plainCall(port, `/tap?nonce=${encodeURIComponent(value)}`, { method: 'HEAD' })
  assert.deepEqual([looked.status, looked.headers['set-cookie']], [405, undefined])
  assert.equal((await tap(value)).status, 303)
  for (const { path } of dashboard.routes.filter(({ once }) => once)) {
    const { status } = await plainCall(port, path.replace(/\{[^}]*\}/g, 'x'), { method: 'HEAD' })
    assert.equal(status, 405, path)
  }
  assert.equal((await plainCall(port, '/hello', { method: 'HEAD' })).status, 200)
})

test('a nonce lapses after 60 seconds, and is good for its section only', async (t) => {
  const { nonce, tap, clock } = await world(t)
  const [late, early, portal] = [await nonce({}), await nonce({}), await nonce({ ForSection: 'portal' })]
  clock.advance(59_999)
  assert.equal((await tap(early)).status, 303)
  clock.advance(1)
  assert.equal((await tap(late)).status, 403)
  assert.equal((await tap(portal)).status, 403)
  for (const value of ['', 'nonsense', '%00', 'x'.repeat(5000)]) assert.equal((await tap(value)).status, 403, value)
})

test('a refused sign-in leads to the configured address', async (t) => {
  const { tap } = await world(t, { SVC_DB_SSOCUSTOMLOGINERRORURL: 'https://login.example.test/failed' })
  const answer = await tap('used')
  assert.deepEqual([answer.status, answer.headers.location], [303, 'https://login.example.test/failed'])
  const other = await world(t, { SVC_DB_SSOCUSTOMLOGINURL: 'https://login.example.test/?a="b&c' })
  assert.match((await other.tap('used')).text, /href="https:\/\/login\.example\.test\/\?a=&#34;b&#38;c"/)
})

test('a payload that is not valid is refused', async (t) => {
  const { call, orgId } = await world(t)
  for (const body of [
    { ForSection: 'console' },
    { ForSection: 1 },
    { OrgID: 'aaaaaaaaaaaaaaaaaaaaaaaa' },
    { OrgID: '../..' },
    { OrgID: {} },
    { EmailAddress: 'nobody' },
    { EmailAddress: 'a\r\nb@example.test' },
    { GroupsIDs: 'a' },
    { GroupsIDs: [1] },
    { GroupsIDs: Array(101).fill('a') },
    { DisplayName: 'x'.repeat(300) },
  ]) {
    const answer = await call('POST', '/admin/sso', { as: 'installation', body: { OrgID: orgId, ...body } })
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(
      (answer.json as { Message: string }).Message,
      /^Cannot create an SSO session for an invalid payload: \[Error: /,
    )
  }
  const unknown = await call('POST', '/admin/sso', { as: 'installation', body: { OrgID: 'none' } })
  assert.deepEqual(unknown.json, {
    Status: 'Error',
    Message: "Cannot create an SSO session for an invalid payload: [Error: Org id not found ('none').]",
    Meta: null,
  })
  assert.equal((await call('POST', '/admin/sso', { as: 'installation', body: '{' })).status, 403)
  assert.equal((await call('POST', '/admin/sso', { body: {} })).status, 401)
})

test('without mapping a guest is an administrator; deny_without_mapping refuses', async (t) => {
  const open = await world(t)
  const session = await open.enter({ EmailAddress: 'ada@example.test' })
  assert.equal(session.user.is_admin, true)
  assert.ok(open.log.some(({ level, message }) => level === 'warn' && message.includes('sso.deny_without_mapping')))
  const settings = await open.call('GET', '/api/sso/settings', { headers: { cookie: session.cookie } })
  assert.match((settings.json as { warning: string }).warning, /administrator/)
  const closed = await world(t, { SVC_SSO_DENYWITHOUTMAPPING: 'true' })
  assert.equal((await closed.tap(await closed.nonce({ EmailAddress: 'ada@example.test' }))).status, 403)
  const admin = await closed.admin()
  const told = await closed.call('GET', '/api/sso/settings', { as: admin })
  assert.equal((told.json as { warning: string }).warning, '')
})

test('groups give their rights: one, the union of several; who gets none is refused', async (t) => {
  const { enter, group, organisation, nonce, tap } = await world(t)
  const readers = await group({ apis: 'read', keys: 'write', policies: 'deny' })
  const writers = await group({ apis: 'write', keys: 'deny', policies: 'read' })
  const foreign = await group({ apis: 'write' }, { orgId: await organisation() })
  const inactive = await group({ apis: 'write' }, { active: false })
  const empty = await group({})
  const marked = await group({ IsAdmin: 'admin', ResetPassword: 'admin', apis: 'read' })
  assert.deepEqual(ids(await enter({ GroupID: readers })), { apis: 'read', keys: 'write' })
  assert.deepEqual(ids(await enter({ GroupsIDs: [readers, writers], GroupID: 'ignored' })), {
    ...{ apis: 'write', keys: 'write', policies: 'read' },
  })
  assert.deepEqual(ids(await enter({ GroupID: marked })), { apis: 'read' })
  for (const id of ['nonsense', 'aaaaaaaaaaaaaaaaaaaaaaaa', foreign, inactive, empty]) {
    const refused = await tap(await nonce({ GroupID: id }))
    assert.deepEqual([refused.status, refused.headers['set-cookie']], [403, undefined], id)
  }
})

test('GroupID and GroupsIDs: absent means both empty; unknown groups let nobody in', async (t) => {
  const { enter, nonce, tap, group, call, orgId, admin } = await world(t)
  const [one, other] = [await group({ apis: 'read' }), await group({ keys: 'read' })]
  const NONE = 'refused'
  const [left, right] = [{ apis: 'read' }, { keys: 'read' }]
  const LISTS = [undefined, null, [], [''], ['gone'], [other], ['', other]]
  /** Each value of GroupID, and what a guest may do with it beside each of the lists. */
  const TABLE: readonly (readonly [unknown, readonly (object | string)[]])[] = [
    [undefined, ['admin', 'admin', NONE, NONE, NONE, right, right]],
    [null, ['admin', 'admin', NONE, NONE, NONE, right, right]],
    ['', ['admin', 'admin', NONE, NONE, NONE, right, right]],
    [' ', [NONE, NONE, NONE, NONE, NONE, right, right]],
    ['gone', [NONE, NONE, NONE, NONE, NONE, right, right]],
    [one, [left, left, left, left, NONE, right, right]],
  ].map(([id, row]) => [
    id,
    (row as unknown[]).map((may) => (may === 'admin' ? { IsAdmin: 'admin' } : may) as object | string),
  ])
  for (const [GroupID, row] of TABLE)
    for (const [at, GroupsIDs] of LISTS.entries()) {
      const wanted = { GroupID, GroupsIDs }
      if (row[at] === NONE) assert.equal((await tap(await nonce(wanted))).status, 403, JSON.stringify(wanted))
      else assert.deepEqual(ids(await enter(wanted)), row[at], JSON.stringify(wanted))
    }
  const owner = await admin()
  for (const wrong of [0, 1, false, true, {}, { a: one }])
    for (const body of [
      { GroupID: wrong },
      { GroupsIDs: wrong },
      { GroupID: one, GroupsIDs: wrong },
      { GroupID: [one] },
    ])
      for (const [path, as] of [
        ['/admin/sso', 'installation'],
        ['/api/sso', owner],
      ] as const) {
        const answer = await call('POST', path, { as, body: { ForSection: 'dashboard', OrgID: orgId, ...body } })
        assert.equal(answer.status, 400, `${path} ${JSON.stringify(body)}`)
      }
  for (const name of ['groupid', 'GroupId', 'GroupIDs', 'GroupsIds', 'group_id', 'group_ids', 'groups_ids'])
    assert.equal(
      (await call('POST', '/admin/sso', { as: 'installation', body: { OrgID: orgId, [name]: '' } })).status,
      400,
      name,
    )
})

test('a guest lives in its session only, and a group that changes counts at once', async (t) => {
  const { enter, group, call, store, orgId } = await world(t)
  const id = await group({ users: 'read' })
  const { cookie, csrf_token: csrf, user } = await enter({ EmailAddress: 'ada@example.test', GroupID: id })
  assert.equal((await store.documents.list('user', { limit: 10 })).total, 0)
  assert.equal(user.group_id, id)
  assert.equal((await call('GET', '/api/users', { headers: { cookie } })).status, 200)
  const me = await call('GET', '/api/users/me', { headers: { cookie } })
  assert.equal((me.json as { email_address: string }).email_address, 'ada@example.test')
  const stored = (await store.documents.get('user_group', id as never))!
  const put = (body: object) =>
    store.documents.commit(
      [{ op: 'put', kind: 'user_group', id: stored.id, body: { ...stored.body, ...body } }],
      undefined,
    )
  await put({ user_permissions: { apis: 'read' } })
  assert.equal((await call('GET', '/api/users', { headers: { cookie } })).status, 403)
  await put({ active: false })
  assert.equal((await call('GET', '/api/users', { headers: { cookie } })).status, 403)
  const out = await call('POST', '/api/logout', { headers: { cookie, 'x-csrf-token': csrf } })
  assert.equal(out.status, 200, out.text)
  assert.equal((await call('GET', '/api/session', { headers: { cookie } })).status, 401)
  await put({ active: true })
  const second = await enter({ EmailAddress: 'ada@example.test', GroupID: id })
  assert.equal(second.user.id, user.id)
  await store.documents.commit([{ op: 'delete', kind: 'organisation', id: orgId as never }], undefined)
  assert.equal((await call('GET', '/api/session', { headers: { cookie: second.cookie } })).status, 401)
})

test('the default group and the default rights', async (t) => {
  const clean = await world(t, { SVC_DB_SSOPERMISSIONDEFAULTS: '{"apis":"read","keys":"write"}' })
  assert.deepEqual(ids(await clean.enter({})), { apis: 'read', keys: 'write' })
  const id = await clean.group({ apis: 'write', keys: 'read' })
  assert.deepEqual(ids(await clean.enter({ GroupID: id })), { apis: 'write', keys: 'write' })
  // The id must be known before the start.
  const usual = 'bbbbbbbbbbbbbbbbbbbbbbbb'
  const grouped = await world(t, { SVC_DB_SSODEFAULTUSERGROUP: usual })
  assert.equal((await grouped.tap(await grouped.nonce({}))).status, 403)
  const body = { org_id: grouped.orgId, name: 'Usual', active: true, user_permissions: { hooks: 'read' } }
  await grouped.store.documents.commit([{ op: 'put', kind: 'user_group', id: usual as never, body }], undefined)
  const session = await grouped.enter({})
  assert.deepEqual([ids(session), session.user.group_id], [{ hooks: 'read' }, usual])
  const other = await grouped.group({ apis: 'read' })
  assert.deepEqual(ids(await grouped.enter({ GroupID: other })), { apis: 'read' })
  const both = startTestDashboard({
    env: { SVC_DB_SSODEFAULTUSERGROUP: 'a', SVC_DB_SSODEFAULTGROUPID: 'b' },
  })
  await assert.rejects(both, /given twice/)
})

test('with the look-up on, registered users come as themselves, or alone where required', async (t) => {
  const { user, group, enter, nonce, tap, organisation, store } = await world(t, { SVC_DB_SSOENABLEUSERLOOKUP: 'true' })
  const ada = await user({ apis: 'read' })
  const admin = await user({ IsAdmin: 'admin' })
  const other = await group({ apis: 'write' })
  const session = await enter({ EmailAddress: ada.email.toUpperCase(), GroupID: other })
  assert.deepEqual([session.user.id, ids(session)], [ada.id, { apis: 'read' }])
  assert.equal((await enter({ EmailAddress: admin.email, GroupID: other })).user.is_admin, true)
  const member = await user({ IsAdmin: 'admin' }, { groupId: other })
  assert.deepEqual(ids(await enter({ Email: member.email })), { apis: 'write' })
  const inactive = await user({ IsAdmin: 'admin' }, { active: false })
  assert.equal((await tap(await nonce({ EmailAddress: inactive.email }))).status, 403)
  const stranger = { EmailAddress: 'stranger@example.test', SSOOnlyForRegisteredUsers: true }
  assert.equal((await tap(await nonce(stranger))).status, 403)
  assert.equal((await tap(await nonce({ SSOOnlyForRegisteredUsers: true }))).status, 403)
  const foreign = await user({ apis: 'read' }, { orgId: await organisation() })
  assert.equal((await tap(await nonce({ EmailAddress: foreign.email, SSOOnlyForRegisteredUsers: true }))).status, 403)
  assert.equal((await tap(await nonce({ EmailAddress: ada.email, UserNotAllowed: true }))).status, 403)
  assert.equal((await store.documents.list('user', { limit: 10 })).total, 5)
})

test('with the look-up off, an address of a user and SSOOnlyForRegisteredUsers change nothing', async (t) => {
  const { user, group, enter } = await world(t)
  const admin = await user({ IsAdmin: 'admin' })
  const readers = await group({ apis: 'read' })
  const wanted = { EmailAddress: admin.email, GroupID: readers, SSOOnlyForRegisteredUsers: true }
  const session = await enter(wanted)
  assert.notEqual(session.user.id, admin.id)
  assert.deepEqual(ids(session), { apis: 'read' })
})

test('POST /api/sso needs enabled single sign-on and the right to write users', async (t) => {
  const { call, user, admin, orgId, organisation, tap } = await world(t)
  const caller = await admin()
  const ask = (as: Parameters<typeof user>[0] | typeof caller, body: object) =>
    call('POST', '/api/sso', { as: as as typeof caller, body: { ForSection: 'dashboard', ...body } })
  const own = await ask(caller, { EmailAddress: 'ada@example.test', OrgID: orgId })
  assert.equal((await tap((own.json as { Meta: string }).Meta)).status, 303)
  assert.equal((await ask(caller, {})).status, 200)
  const elsewhere = await organisation({ sso_enabled: true })
  assert.equal((await ask(caller, { OrgID: elsewhere })).status, 400)
  const disabled = await organisation()
  const refused = await ask(await admin(disabled), {})
  assert.equal(refused.status, 403)
  assert.equal((refused.json as { Message: string }).Message, 'SSO not enabled for org.')
  for (const ForSection of ['dashboard', 'portal']) {
    const asked = await call('POST', '/admin/sso', { as: 'installation', body: { ForSection, OrgID: disabled } })
    assert.equal(asked.text, refused.text)
  }
  assert.equal((await ask(await user({ users: 'read' }), {})).status, 403)
  assert.equal((await ask(await user({ IsAdmin: 'admin' }, { orgId: '' }), {})).status, 403)
  assert.equal((await call('POST', '/api/sso', { body: {} })).status, 401)
})

test('whoever makes a nonce cannot give rights that they do not have, nor when it is used', async (t) => {
  const { call, user, group, tap, store } = await world(t, { SVC_DB_SSOENABLEUSERLOOKUP: 'true' })
  const writer = await user({ users: 'write', apis: 'read' })
  const boss = await user({ IsAdmin: 'admin' })
  const ask = (body: object) => call('POST', '/api/sso', { as: writer, body: { ForSection: 'dashboard', ...body } })
  // Nothing configured: an administrator.
  assert.equal((await ask({ EmailAddress: 'ada@example.test' })).status, 403)
  assert.equal((await ask({ EmailAddress: boss.email })).status, 403)
  assert.equal((await ask({ GroupID: await group({ apis: 'write' }) })).status, 403)
  const readers = await group({ apis: 'read' })
  const allowed = await ask({ GroupID: readers })
  assert.equal(allowed.status, 200, allowed.text)
  const stored = (await store.documents.get('user_group', readers as never))!
  const body = { ...stored.body, user_permissions: { apis: 'write' } }
  await store.documents.commit([{ op: 'put', kind: 'user_group', id: stored.id, body }], undefined)
  assert.equal((await tap((allowed.json as { Meta: string }).Meta)).status, 403)
})

test('united rights: the higher of each, never an administrator by accident', () => {
  assert.deepEqual(unitePermissions([]), { IsAdmin: 'false' })
  assert.deepEqual(unitePermissions([{}, {}]), { IsAdmin: 'false' })
  assert.deepEqual(unitePermissions([{ IsAdmin: 'false' }, { apis: 'deny' }]), { IsAdmin: 'false' })
  assert.deepEqual(unitePermissions([{ IsAdmin: 'admin' }, { apis: 'deny' }]), { IsAdmin: 'admin' })
  const owned = { analytics: 'read', owned_analytics: 'owned' }
  assert.deepEqual(unitePermissions([owned, { apis: 'read' }]), { ...owned, apis: 'read' })
  assert.deepEqual(unitePermissions([owned, { analytics: 'read' }]), { analytics: 'read' })
})

test('the page of sign-in knows where each profile begins', async (t) => {
  const { call, admin } = await world(t)
  const as = await admin()
  const kinds = [
    [
      'SocialProvider',
      'redirect',
      { UseProviders: [{ Name: 'openid-connect', Key: 'k', Secret: 's', DiscoverURL: 'http://127.0.0.1:1/' }] },
    ],
    ['SAMLProvider', 'redirect', { IDPMetadata: '<EntityDescriptor/>' }],
    ['ADProvider', 'form', { LDAPServer: '127.0.0.1', LDAPPort: '1', LDAPUserDN: 'uid=*USERNAME*' }],
  ] as const
  for (const [ProviderName, , ProviderConfig] of kinds) {
    const Type = ProviderName === 'ADProvider' ? 'passthrough' : 'redirect'
    const profile = { ID: `by-${ProviderName}`, Name: ProviderName, Type, ActionType: 'GenerateOrLoginUserProfile' }
    const made = await call('POST', '/api/tib/profiles', { as, body: { ...profile, ProviderName, ProviderConfig } })
    assert.equal(made.status, 200, made.text)
  }
  const { identity_providers: providers } = (await call('GET', '/api/login/options')).json as {
    identity_providers: { name: string; url: string; kind: string }[]
  }
  // The deprecated spelling has another name for them.
  assert.deepEqual(((await call('GET', '/api/login/doors')).json as { doors: unknown }).doors, providers)
  assert.deepEqual(
    providers.map(({ name, kind }) => [name, kind]),
    kinds.map(([name, kind]) => [name, kind]).sort(),
  )
  for (const { url } of providers) assert.notEqual((await call('GET', url)).status, 404, url)
})
