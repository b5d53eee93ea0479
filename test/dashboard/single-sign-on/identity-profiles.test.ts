import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { openProfile } from '../../../src/publish/single-sign-on/idp-profiles.ts'
import { startTestDashboard, type TestDashboardOptions } from '../../worlds/dashboard/harness.ts'

const PATH = '/api/tib/profiles'

async function world(t: TestContext, options: TestDashboardOptions = {}) {
  const dashboard = await startTestDashboard(options)
  t.after(dashboard.close)
  const admin = await dashboard.admin()
  const stored = async (id: string) => (await dashboard.store.documents.find('idp_profile', 'id', id))!
  return {
    ...dashboard,
    admin,
    stored,
    create: (body: JsonObject) => dashboard.call('POST', PATH, { as: admin, body }),
    /** The profile as it would be used. */
    opened: async (id: string) => openProfile(dashboard.parts, await stored(id)),
  }
}

const OPENID = { Name: 'openid-connect', Key: 'client', Secret: 'hush', DiscoverURL: 'https://idp.example.test' }

function openId(more: JsonObject = {}, config: JsonObject = {}): JsonObject {
  return {
    ID: 'staff',
    Name: 'Staff',
    ActionType: 'GenerateOrLoginUserProfile',
    ProviderName: 'SocialProvider',
    Type: 'redirect',
    CustomThing: { kept: [1, 'two'] },
    ProviderConfig: { UseProviders: [OPENID], ...config },
    ...more,
  }
}

const directory = (config: JsonObject = {}): JsonObject => ({
  ...openId({ ProviderName: 'ADProvider', Type: 'passthrough' }),
  ProviderConfig: {
    ...{ LDAPServer: 'ldap.example.test', LDAPPort: '636', LDAPUseSSL: true },
    ...{ LDAPAdminUser: 'cn=reader', LDAPAdminPassword: 'hush', LDAPFilter: '(uid=*USERNAME*)' },
    ...config,
  },
})

const saml = (config: JsonObject = {}): JsonObject => ({
  ...openId({ ProviderName: 'SAMLProvider' }),
  ProviderConfig: { IDPMetadataURL: 'https://idp.example.test/metadata', ...config },
})

interface Told {
  Status: string
  ID: string
  Error: string
  Data: JsonObject
}

test('profiles are created, listed, read in both shapes, replaced and deleted', async (t) => {
  const { call, admin, orgId, create } = await world(t)
  const made = await create(openId({ OrgID: 'aaaaaaaaaaaaaaaaaaaaaaaa' }))
  assert.equal(made.status, 200, made.text)
  const shape = openId({ OrgID: orgId }, { UseProviders: [{ ...OPENID, Secret: '' }] })
  assert.deepEqual(made.json, { Status: 'ok', ID: 'staff', Data: shape })
  const one = (await call('GET', `${PATH}/staff/`, { as: admin })).json
  assert.deepEqual(one, { ...shape, Status: 'ok', Data: shape })
  assert.deepEqual((await call('GET', PATH, { as: admin })).json, { Status: 'ok', ID: '', Data: [shape] })
  const changed: JsonObject = { ...shape, Name: 'Colleagues' }
  delete changed.ID
  const put = await call('PUT', `${PATH}/staff`, { as: admin, body: changed })
  assert.deepEqual(put.json, { Status: 'ok', ID: 'staff', Data: { ...shape, Name: 'Colleagues' } })
  const named = (await create(openId({ ID: '' }))).json as Told
  assert.match(named.ID, /^[0-9a-f]{24}$/)
  assert.deepEqual((await call('DELETE', `${PATH}/staff`, { as: admin })).json, { Status: 'ok', ID: 'staff', Data: {} })
  const gone = await call('GET', `${PATH}/staff`, { as: admin })
  assert.deepEqual([gone.status, gone.json], [404, { Status: 'error', Error: 'Profile not found' }])
})

test('secrets are sealed, never shown, kept when sent blank, replaced when sent', async (t) => {
  const { call, admin, create, stored, opened, store, orgId } = await world(t)
  const handler = { DashboardCredential: 'hush-1', OAuth: { Secret: 'hush-2', ClientId: 'c' } }
  await create(openId({ IdentityHandlerConfig: handler, UserGroupMapping: { 'Top Secret': 'group' } }))
  const text = JSON.stringify(await stored('staff'))
  assert.ok(!text.includes('hush'))
  const { Data: shown } = (await call('GET', `${PATH}/staff`, { as: admin })).json as Told
  assert.ok(!JSON.stringify(shown).includes('hush'))
  assert.deepEqual(shown.UserGroupMapping, { 'Top Secret': 'group' })
  assert.equal(shown.sealed_secrets, undefined)
  const clear = await opened('staff')
  assert.deepEqual(clear.IdentityHandlerConfig, handler)
  await call('PUT', `${PATH}/staff`, { as: admin, body: { ...shown, sealed_secrets: {}, ceiling: {} } })
  assert.deepEqual((await opened('staff')).IdentityHandlerConfig, handler)
  const next = openId({}, { UseProviders: [{ ...OPENID, Secret: 'new' }] })
  await call('PUT', `${PATH}/staff`, { as: admin, body: next })
  assert.deepEqual(((await opened('staff')).ProviderConfig as JsonObject).UseProviders, [{ ...OPENID, Secret: 'new' }])
  const { rows } = await store.audit.list({ orgId, limit: 10 })
  assert.ok(rows.length >= 2)
  assert.ok(!JSON.stringify(rows).includes('hush'))
})

test('a secret that nobody sends goes to no other address', async (t) => {
  const { call, admin, create, opened } = await world(t)
  const put = (body: JsonObject) => call('PUT', `${PATH}/staff`, { as: admin, body })
  await create(openId())
  const moved = { ...OPENID, Secret: '', DiscoverURL: 'https://evil.example.test' }
  const refused = await put(openId({}, { UseProviders: [moved] }))
  assert.equal(refused.status, 400)
  assert.match((refused.json as Told).Error, /the address has changed/)
  assert.equal((await put(openId({}, { UseProviders: [{ ...moved, Secret: 'mine' }] }))).status, 200)
  assert.equal((await put(directory())).status, 200)
  for (const change of [{ LDAPServer: 'evil.example.test' }, { LDAPPort: '389' }, { LDAPUseSSL: false }])
    assert.equal((await put(directory({ LDAPAdminPassword: '', ...change }))).status, 400, JSON.stringify(change))
  assert.equal((await put(directory({ LDAPAdminPassword: '', LDAPEmailAttribute: 'mail' }))).status, 200)
  assert.equal(((await opened('staff')).ProviderConfig as JsonObject).LDAPAdminPassword, 'hush')
})

test('what is not valid, or not built, is refused by name and nothing is stored', async (t) => {
  const { create, store } = await world(t)
  const provider = (more: JsonObject) => openId({}, { UseProviders: [{ ...OPENID, ...more }] })
  const cases: [JsonObject, RegExp][] = [
    [openId({ ID: '../etc' }), /ID/],
    [openId({ ID: 'a/b' }), /ID/],
    [openId({ ID: 7 }), /ID/],
    [openId({ Name: 7 }), /Name/],
    [openId({ Name: 'a\nb' }), /Name/],
    [openId({ ActionType: 'GenerateOrLoginDeveloperProfile' }), /GenerateOrLoginDeveloperProfile is not supported/],
    [openId({ ActionType: 'GenerateOAuthTokenForClient' }), /GenerateOAuthTokenForClient is not supported/],
    [openId({ ActionType: 'Other' }), /ActionType/],
    [openId({ ActionType: 'GenerateTemporaryAuthToken' }), /MatchedPolicyID/],
    [openId({ ProviderName: 'ProxyProvider' }), /ProxyProvider is not supported/],
    [openId({ ProviderName: 'toString' }), /ProviderName/],
    [openId({ Type: 'passthrough' }), /Type/],
    [openId({ ProviderConfig: [] }), /ProviderConfig/],
    [openId({ UserGroupMapping: { a: 1 } }), /UserGroupMapping/],
    [openId({ SSOOnlyForRegisteredUsers: 'true' }), /SSOOnlyForRegisteredUsers/],
    [openId({ ProviderConstraints: { Domain: ['example.test'] } }), /Domain/],
    [openId({ ReturnURL: 'https://evil.example.test/' }), /ReturnURL/],
    [openId({ ReturnURL: '//evil.example.test/' }), /ReturnURL/],
    [openId({ ReturnURL: '/\\evil.example.test/' }), /ReturnURL/],
    [openId({ ReturnURL: 'javascript:alert(1)' }), /ReturnURL/],
    [openId({}, { FailureRedirect: 'https://evil.example.test/' }), /FailureRedirect/],
    [openId({}, { UseProviders: [] }), /UseProviders/],
    [openId({}, { UseProviders: ['x'] }), /UseProviders/],
    [openId({}, { UseProviders: [OPENID, OPENID] }), /twice/],
    [openId({}, { JWE: { Enabled: true } }), /JWE/],
    [provider({ Name: 'gplus' }), /gplus is not supported/],
    [provider({ Name: 'github' }), /github is not supported/],
    [provider({ Key: '' }), /Key/],
    [provider({ DiscoverURL: 'idp' }), /DiscoverURL/],
    [provider({ Scopes: ['a b'] }), /Scopes/],
    [saml({ IDPMetadataURL: '' }), /IDPMetadata/],
    [saml({ SAMLBinding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST' }), /SAMLBinding/],
    [saml({ CertLocation: '/etc/passwd' }), /CertLocation/],
    [directory({ LDAPServer: 'ldap://x/' }), /LDAPServer/],
    [directory({ LDAPPort: '0' }), /LDAPPort/],
    [directory({ LDAPFilter: '(uid=*)' }), /LDAPFilter/],
    [directory({ LDAPAdminUser: '', LDAPUserDN: 'uid=ada' }), /LDAPUserDN/],
    [directory({ LDAPSearchScope: 7 }), /LDAPSearchScope/],
  ]
  for (const [body, why] of cases) {
    const answer = await create(body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.equal((answer.json as Told).Status, 'error')
    assert.match((answer.json as Told).Error, why)
  }
  assert.equal((await store.documents.list('idp_profile', { limit: 1 })).total, 0)
  for (const body of [saml(), directory()]) {
    assert.equal((await create({ ...body, ID: String(body.ProviderName) })).status, 200)
  }
})

test('an id stands once, and the one in the body must be the one in the path', async (t) => {
  const { call, admin, create, organisation, user } = await world(t)
  await create(openId())
  assert.match(((await create(openId())).json as Told).Error, /ID: cannot be used/)
  const foreign = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  assert.equal((await call('POST', PATH, { as: foreign, body: openId() })).status, 400)
  assert.equal((await call('PUT', `${PATH}/staff`, { as: admin, body: openId({ ID: 'other' }) })).status, 400)
  assert.equal((await call('PUT', `${PATH}/none`, { as: admin, body: openId({ ID: 'none' }) })).status, 404)
  assert.equal((await call('POST', PATH, { as: admin, body: '{' })).status, 403)
  for (const method of ['GET', 'PUT', 'DELETE'])
    assert.equal((await call(method, `${PATH}/staff`, { as: foreign, body: openId() })).status, 404, method)
  assert.deepEqual(((await call('GET', PATH, { as: foreign })).json as Told).Data, [])
  const reader = await user({ idm: 'read' })
  assert.equal((await call('GET', `${PATH}/staff`, { as: reader })).status, 200)
  assert.equal((await call('DELETE', `${PATH}/staff`, { as: reader })).status, 403)
  assert.equal((await call('GET', PATH)).status, 401)
})

test('a sign-in may lead to the dashboard and to registered addresses', async (t) => {
  const env = {
    SVC_DB_PUBLICURL: 'https://dash.example.test',
    SVC_SSO_RETURNURLS: 'https://other.example.test/tap?x=1',
  }
  const { create } = await world(t, { env })
  for (const [place, status] of [
    ['', 200],
    ['/tap', 200],
    ['/apis?p=2', 200],
    ['https://dash.example.test/tap', 200],
    ['https://other.example.test/tap?x=1', 200],
    ['https://other.example.test/tap', 400],
    ['https://dash.example.test.evil.test/', 400],
    ['https://dash.example.test@evil.test/', 400],
    ['http://dash.example.test/', 400],
    ['/\t/evil.test', 400],
  ] as const)
    assert.equal((await create(openId({ ID: '', ReturnURL: place }))).status, status, place)
})
