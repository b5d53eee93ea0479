import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import { heading, save, tab } from '../../worlds/console/apis-world.ts'
import { confirm, pickOption, shoot, told } from '../../worlds/console/portal-world.ts'
import {
  allowSso,
  CLIENT_SECRET,
  fillAll,
  NAME,
  profileOf,
  SECRET,
  signInThere,
  startOpenId,
  type World,
  withoutFonts,
} from '../../worlds/console/single-sign-on-world.ts'
import { checkThemes, passwordOf, signIn, startConsole } from '../../worlds/console/world.ts'
import { ADMIN, BASE, directory } from '../../worlds/dashboard/ldap-directory.ts'
import { makeRsaPair, SamlIdp } from '../../worlds/dashboard/saml-idp.ts'

/** Refusals that the journeys bring about themselves. */
const REFUSED = [/status of 40[0134]/]
/** What the fields of SAML hold at first, and then. */
const SAML_MEMBERS = [
  ...['IDPMetadataURL', 'EntityId', 'CertLocation', 'SAMLEmailClaim', 'SAMLForenameClaim', 'SAMLSurnameClaim'],
  ...['SAMLBaseURL', 'FailureRedirect'],
] as const
const SAML_NEW = {
  ...{ 'Metadata address': 'https://idp.example.test/metadata', 'Entity id': 'urn:gatehouse', Certificate: 'abc123' },
  ...{ 'Attribute of the email address': 'mail', 'Attribute of the first name': 'givenName' },
  ...{ 'Attribute of the last name': 'sn', 'Address of this dashboard': 'https://admin.example.test' },
  'Send those who are refused to': '/?error=refused',
}
const SAML_NEXT = {
  ...{ 'Metadata address': 'https://idp.example.test/other', 'Entity id': 'urn:other', Certificate: '' },
  ...{ 'Attribute of the email address': 'email', 'Attribute of the first name': 'first' },
  ...{ 'Attribute of the last name': 'last', 'Address of this dashboard': 'https://gate.example.test' },
  'Send those who are refused to': '/',
}
const LDAP_NAMES = {
  ...{ 'Attribute of the email address': 'mail', 'Attribute of the first name': 'givenname' },
  'Attribute of the last name': 'uid',
}
const KEY = 'Give out an API key with a policy'
const SESSION = 'Open a session of the dashboard'
const CLEAR = 'None: passwords travel in the clear'
/** The sign-in page after a refusal. */
const REFUSAL = '/?error=refused'

test('identity profiles: made by a form, tried, used for signing in, changed as JSON, deleted', async (t) => {
  const world = await startConsole(t, { SVC_DB_ADMINSECRET: SECRET, SVC_SSO_ALLOWPRIVATE: 'true' })
  const issuer = await startOpenId(t, `${world.base}/auth/staff/openid-connect/callback`)
  const browser = await startBrowser(t)
  const { page } = await openPage(t, browser, { base: world.base, allow: REFUSED })
  await signIn(page, world.admin, '/identity')
  const all = { t, world, browser, page, issuer }
  await t.test('a provider is set up, with warnings where they are due', () => setUp(all))
  await t.test('people sign in by it from the page of sign-in', () => useDoor(all))
  await t.test('the test says who came in, and with which rights', () => tryProfile(all))
  await t.test('it is changed, by two people at once too, and keeps out whom it says', () => changeProfile(all))
  await t.test('SAML has a form of its own', () => saml(all))
  await t.test('a directory has one too, and lets people in', () => ldap(all))
  await t.test('what no form knows is changed as JSON', () => asJson(all))
  await t.test('a reader looks', () => looksOnly(all))
  await t.test('profiles go by their names', () => deleteProfiles(all))
})

async function setUp(all: World): Promise<void> {
  const { world, page, issuer } = all
  await page.getByText('No way to sign in elsewhere yet').waitFor()
  await checkThemes(page)
  const group = async (name: string, user_permissions: JsonObject) =>
    String(
      ((await world.api('POST', '/api/usergroups', { name, active: true, user_permissions })).json as JsonObject).Meta,
    )
  const operators = await group('Operators', { apis: 'read', users: 'read' })
  const guests = await group('Guests', { apis: 'read' })
  await page.getByRole('link', { name: 'Add a way to sign in' }).first().click()
  await page.getByText('Single sign-on is switched off').waitFor()
  await allowSso(world, true)
  await page.reload()
  await page.getByText('Everybody who comes in this way is an administrator').waitFor()
  const add = page.getByRole('button', { name: 'Add a way to sign in' })
  const missing = async (number: number) => {
    await add.click()
    await becomes(() => page.getByText('This is needed').count(), number)
  }
  await missing(3)
  const action = page.getByRole('combobox', { name: 'After signing in' })
  await pickOption(page, action, KEY)
  await missing(4)
  await fillAll(page, { 'Policy of the key': 'gold' })
  await missing(3)
  await pickOption(page, action, SESSION)
  const discovery = `${issuer}/.well-known/openid-configuration`
  await fillAll(page, { Name: NAME, Id: 'staff', 'Then go to': '/profile', 'Discovery address': discovery })
  await fillAll(page, { 'Client id': 'gatehouse', 'Client secret': CLIENT_SECRET })
  await page.getByLabel('Show what is rarely needed').check()
  await addScopes(page, 'openid', 'email', 'profile')
  await fillAll(page, { 'Address of this dashboard': world.base, 'Send those who are refused to': REFUSAL })
  await fillAll(page, { 'Only addresses of the domain': 'example.test', 'Only members of the group': 'ops' })
  await page.getByLabel('Only those who have a user here').check()
  await fillAll(page, { 'Claim of the email address': 'email', 'Claim that tells people apart': 'sub' })
  await fillAll(page, { 'Claim of the groups': 'groups', 'Separated by': ';' })
  await mapGroup(page, 'ops', 'Operators')
  await mapGroup(page, 'mistaken', 'Guests')
  await page.getByRole('button', { name: 'Remove mistaken' }).click()
  await pickOption(page, page.getByRole('combobox', { name: 'Everybody else' }), 'Guests')
  await page.getByText('Everybody who comes in this way is an administrator').waitFor({ state: 'detached' })
  await checkThemes(page)
  await shoot(page, 'identity-new')
  await add.click()
  await heading(page, NAME).waitFor()
  await page.getByText(`${world.base}/auth/staff/openid-connect/callback`).waitFor()
  const stored = await profileOf(all, 'staff')
  assert.deepEqual(stored.UserGroupMapping, { ops: operators })
  assert.deepEqual([stored.DefaultUserGroupID, stored.SSOOnlyForRegisteredUsers], [guests, true])
  assert.deepEqual(stored.ProviderConstraints, { Domain: 'example.test', Group: 'ops' })
  assert.deepEqual([stored.CustomEmailField, stored.CustomUserIDField], ['email', 'sub'])
  await checkThemes(page)
  await shoot(page, 'identity')
}

async function addScopes(page: Page, ...scopes: readonly string[]): Promise<void> {
  for (const scope of scopes) {
    await page.getByRole('combobox', { name: 'Scopes' }).fill(scope)
    await page.keyboard.press('Enter')
  }
}

async function mapGroup(page: Page, theirs: string, ours: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a group' }).click()
  await page.getByLabel('Group at the provider').last().fill(theirs)
  await pickOption(page, page.getByRole('combobox', { name: 'Group here' }).last(), ours)
}

async function useDoor({ t, world, browser, issuer }: World): Promise<void> {
  const elsewhere = new RegExp(`(?:elsewhere|console): .*${new URL(issuer).host}`)
  const { page } = await openPage(t, browser, { base: world.base, allow: [elsewhere, /fonts\.googleapis\.com/] })
  await withoutFonts(page)
  await page.goto('/users')
  await page.getByRole('link', { name: `Sign in with ${NAME}` }).waitFor()
  await checkThemes(page)
  await shoot(page, 'sign-in-sso')
  await page.getByRole('link', { name: `Sign in with ${NAME}` }).click()
  await signInThere(page, 'io')
  await page.getByText('io@example.test').first().waitFor()
  await becomes(() => new URL(page.url()).pathname, '/profile', 'where the profile leads')
  await page.getByText('apis: read', { exact: false }).waitFor()
  await checkThemes(page)
}

async function tryProfile({ world, page }: World): Promise<void> {
  await withoutFonts(page)
  const popup = page.waitForEvent('popup')
  await page.getByRole('link', { name: 'Sign in as a test' }).click()
  const test = await popup
  await signInThere(test, 'eve')
  await page.getByText('It works: eve@example.test came in').waitFor()
  // A page behind another is drawn once a second only.
  await test.close()
  await page.bringToFront()
  await page.getByText('With these rights: 2 permissions.').waitFor()
  await checkThemes(page)
  await shoot(page, 'identity-test')
  await page.getByRole('button', { name: 'Go on as this person' }).click()
  await page.getByText('You may not see this').waitFor()
  await page.getByRole('button', { name: /^You: / }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Gatehouse' }).waitFor()
  await signIn(page, world.admin, '/identity')
}

/** Who is second sees what the other saved; then every field is changed, and people are refused by what it says. */
async function changeProfile(all: World): Promise<void> {
  const { t, world, browser, page, issuer } = all
  const before = await profileOf(all, 'staff')
  await page.goto('/identity/staff')
  await fillAll(page, { 'Client id': 'mistaken' })
  await world.api('PUT', '/api/tib/profiles/staff', { ...before, ReturnURL: '/labels' })
  await save(page)
  const question = page.getByRole('dialog', { name: 'Somebody else has changed this meanwhile' })
  await question.getByRole('button', { name: 'Go on editing' }).click()
  await becomes(() => passwordOf(page, 'Client id').inputValue(), 'mistaken')
  await save(page)
  await question.getByRole('button', { name: 'Take theirs' }).click()
  await eventually('theirs is shown', async () => (await passwordOf(page, 'Then go to').inputValue()) === '/labels')
  await becomes(() => passwordOf(page, 'Client id').inputValue(), 'gatehouse')

  await page.getByLabel('Show what is rarely needed').check()
  await pickOption(page, page.getByRole('combobox', { name: 'After signing in' }), KEY)
  await fillAll(page, { 'Policy of the key': 'gold', 'Then go to': '/users', 'Client id': 'other' })
  await fillAll(page, { 'Discovery address': 'https://login.example.test/', 'Client secret': 'another' })
  await addScopes(page, 'offline_access')
  await fillAll(page, { 'Address of this dashboard': 'https://admin.example.test' })
  await fillAll(page, { 'Send those who are refused to': '/', 'Only addresses of the domain': 'elsewhere.test' })
  await fillAll(page, { 'Only members of the group': 'all', 'Claim of the email address': 'mail' })
  await page.getByLabel('Only those who have a user here').uncheck()
  await fillAll(page, { 'Claim that tells people apart': 'oid', 'Claim of the groups': 'roles', 'Separated by': ',' })
  await page.getByRole('button', { name: 'Remove ops' }).click()
  await mapGroup(page, 'all', 'Guests')
  await pickOption(page, page.getByRole('combobox', { name: 'Everybody else' }), 'Operators')
  await save(page)
  await told(page)
  const stored = await profileOf(all, 'staff')
  const { UseProviders: providers, ...config } = stored.ProviderConfig as { UseProviders: JsonObject[] } & JsonObject
  assert.deepEqual(config, { CallbackBaseURL: 'https://admin.example.test', FailureRedirect: '/' })
  const [{ Key: key, DiscoverURL: discovery, Scopes: scopes }] = providers as [JsonObject]
  assert.deepEqual([key, discovery], ['other', 'https://login.example.test/'])
  assert.deepEqual(scopes, ['openid', 'email', 'profile', 'offline_access'])
  const { ID: _id, UserGroupMapping: mapping, DefaultUserGroupID: group, ...rest } = stored
  const { DefaultUserGroupID: guests, UserGroupMapping: operators } = before
  assert.deepEqual([Object.entries(mapping as JsonObject), [group]], [[['all', guests]], Object.values(operators!)])
  const kind = { ActionType: 'GenerateTemporaryAuthToken', MatchedPolicyID: 'gold', ReturnURL: '/users' }
  const claims = { CustomEmailField: 'mail', CustomUserIDField: 'oid', CustomUserGroupField: 'roles' }
  const limits = { Domain: 'elsewhere.test', Group: 'all' }
  const expected = { ...kind, ...claims, UserGroupSeparator: ',', SSOOnlyForRegisteredUsers: false }
  for (const [name, value] of Object.entries(expected)) assert.equal(rest[name], value, name)
  assert.deepEqual(rest.ProviderConstraints, limits)

  const again = structuredClone({ ...before, ProviderConstraints: { Domain: 'elsewhere.test' } }) as JsonObject
  const { UseProviders: client } = again.ProviderConfig as { UseProviders: JsonObject[] }
  client[0]!.Secret = CLIENT_SECRET
  const put = await world.api('PUT', '/api/tib/profiles/staff', again)
  assert.equal(put.status, 200, put.text)
  const elsewhere = new RegExp(`(?:elsewhere|console): .*${new URL(issuer).host}`)
  const { page: guest } = await openPage(t, browser, {
    base: world.base,
    allow: [elsewhere, /fonts\.googleapis/, /403/],
  })
  await withoutFonts(guest)
  await guest.goto('/')
  await guest.getByRole('link', { name: `Sign in with ${NAME}` }).click()
  await signInThere(guest, 'io')
  await guest.getByText('Single sign-on did not let you in').waitFor()
}

async function saml(all: World): Promise<void> {
  const { page } = all
  const { metadata } = new SamlIdp(makeRsaPair('idp'))
  await page.goto('/identity/new')
  await page.getByText('SAML 2.0').click()
  await checkThemes(page)
  await page.getByLabel('Show what is rarely needed').check()
  await fillAll(page, { Name: 'Campus', Id: 'campus', ...SAML_NEW, Metadata: metadata })
  await page.getByRole('button', { name: 'Add a way to sign in' }).click()
  await heading(page, 'Campus').waitFor()
  const config = async () => (await profileOf(all, 'campus')).ProviderConfig as JsonObject
  const held = (of: JsonObject) => SAML_MEMBERS.map((name) => of[name])
  assert.deepEqual(held(await config()), Object.values(SAML_NEW))
  assert.equal((await config()).IDPMetadata, metadata)
  await fillAll(page, { ...SAML_NEXT, Metadata: '' })
  await save(page)
  await told(page)
  assert.deepEqual(held(await config()), Object.values(SAML_NEXT))
  assert.equal((await config()).IDPMetadata, '')
  await checkThemes(page)
  await shoot(page, 'identity-saml')
}

async function ldap(all: World): Promise<void> {
  const { t, page } = all
  const { port, filters } = await directory(t, [
    { uid: 'ada', password: 'right', mail: 'ada.of@example.test' },
    { uid: 'bob', password: 'bobs' },
  ])
  await page.goto('/identity/new')
  await page.getByText('LDAP directory').click()
  await page.getByLabel('Server').waitFor()
  await becomes(() => new URL(page.url()).search, '?kind=ldap')
  await page.getByLabel('Show what is rarely needed').check()
  await fillAll(page, { Name: 'Staff list', Id: 'list', Server: '127.0.0.1', Port: String(port) })
  await pickOption(page, page.getByRole('combobox', { name: 'Encryption' }), CLEAR)
  await page.getByText('Passwords would travel to the directory in the clear').waitFor()
  await fillAll(page, { 'Name to bind as': `uid=*USERNAME*,${BASE}`, 'Look-up user': ADMIN.dn })
  await fillAll(page, { 'Password of the look-up user': ADMIN.password, 'Search below': BASE })
  await fillAll(page, { Filter: '((objectClass=person)(uid=*USERNAME*))', 'Mail domain': 'list.example.test' })
  await pickOption(page, page.getByRole('combobox', { name: 'Search', exact: true }), 'One level')
  await fillAll(page, { ...LDAP_NAMES, 'Send those who are refused to': REFUSAL })
  await checkThemes(page)
  await shoot(page, 'identity-ldap')
  await page.getByRole('button', { name: 'Add a way to sign in' }).click()
  await heading(page, 'Staff list').waitFor()
  await enterByDirectory(all, 'ada', 'right', 'ada.of@example.test')
  assert.match(String(filters[0]), /uid=ada/)

  // Without a search user: users bind with their own names and read their addresses.
  await fillAll(page, { 'Look-up user': 'nobody', 'Password of the look-up user': 'none' })
  await fillAll(page, { Server: 'localhost', Port: '389', 'Look-up user': '', Filter: '', 'Search below': '' })
  await fillAll(page, { 'Name to bind as': `uid=*USERNAME*,ou=none,${BASE}` })
  for (const encryption of ['StartTLS, usually at port 389', CLEAR])
    await pickOption(page, page.getByRole('combobox', { name: 'Encryption' }), encryption)
  await pickOption(page, page.getByRole('combobox', { name: 'Search', exact: true }), 'Everything below')
  const names = Object.keys(LDAP_NAMES)
  await fillAll(page, { ...Object.fromEntries(names.map((name) => [name, 'cn'])), 'Mail domain': 'example.test' })
  await fillAll(page, { 'Send those who are refused to': '/' })
  await fillAll(page, { Server: '127.0.0.1', Port: String(port), 'Name to bind as': `uid=*USERNAME*,${BASE}` })
  await save(page)
  await told(page)
  await enterByDirectory(all, 'bob', 'bobs', 'bob@example.test')
}

/** Signs in on the page of sign-in with a password of the directory. */
async function enterByDirectory({ t, world, browser }: World, login: string, password: string, email: string) {
  const { page } = await openPage(t, browser, { base: world.base })
  await page.goto('/')
  const form = page.locator('form').filter({ hasText: 'Staff list' })
  await form.getByLabel('User name at Staff list').fill(login)
  await passwordOf(form).fill(password)
  await checkThemes(page)
  await form.getByRole('button', { name: 'Sign in with Staff list' }).click()
  await page.getByRole('button', { name: /^You: / }).waitFor()
  await page.goto('/profile')
  await page.getByText(email).first().waitFor()
  await page.context().close()
}

async function asJson({ world, page }: World): Promise<void> {
  await tab(page, 'JSON')
  const editor = page.getByRole('textbox', { name: 'JSON' })
  await editor.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('[]')
  await save(page)
  await page.getByText('This is no JSON object.').waitFor()
  const { Data: stored } = (await world.api('GET', '/api/tib/profiles/list')).json as { Data: JsonObject }
  await editor.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(JSON.stringify({ ...stored, Name: 'Directory', Extra: 'kept' }))
  await checkThemes(page)
  await save(page)
  await told(page)
  await tab(page, 'Settings')
  await page.getByRole('textbox', { name: 'Name', exact: false }).first().fill('Mine')
  await world.api('PUT', '/api/tib/profiles/list', { ...stored, Name: 'Theirs', Extra: 'kept' })
  await save(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Keep mine' }).click()
  await told(page)
  const after = (await world.api('GET', '/api/tib/profiles/list')).json as { Data: JsonObject }
  assert.deepEqual([after.Data.Name, after.Data.Extra], ['Mine', 'kept'])
}

async function looksOnly({ t, world, browser }: World): Promise<void> {
  const { page: reader } = await openPage(t, browser, { base: world.base })
  await reader.goto('/identity')
  await reader.getByLabel('Email address').fill(world.reader.email)
  await passwordOf(reader).first().fill(world.reader.password)
  await reader.getByRole('button', { name: 'Sign in', exact: true }).click()
  await shoot(reader, 'identity-list')
  await reader.getByRole('link', { name: 'Mine' }).click()
  await becomes(() => reader.getByLabel('Server').isDisabled(), true)
  await becomes(() => reader.getByRole('button', { name: /^Save|^Delete|^Add/ }).count(), 0)
  await checkThemes(reader)
}

async function deleteProfiles({ world, page }: World): Promise<void> {
  for (const [id, name] of [
    ['campus', 'Campus'],
    ['list', 'Mine'],
    ['staff', NAME],
  ] as const) {
    await page.goto(`/identity/${id}`)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await confirm(page, name, 'Delete')
    await heading(page, 'Single sign-on').waitFor()
    assert.notEqual((await world.api('GET', `/api/tib/profiles/${id}`)).status, 200)
  }
  await page.getByText('No way to sign in elsewhere yet').waitFor()
  await page.goto('/identity/staff')
  await heading(page, 'There is no such way to sign in').waitFor()
  await checkThemes(page)
  await page.getByRole('link', { name: 'Back to the list' }).click()
  await heading(page, 'Single sign-on').waitFor()
}
