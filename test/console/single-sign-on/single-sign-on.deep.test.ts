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
/** The values of the SAML fields at first, and then. */
const SAML_MEMBERS = [
  ...['IDPMetadataURL', 'EntityId', 'CertLocation', 'SAMLEmailClaim', 'SAMLForenameClaim', 'SAMLSurnameClaim'],
  ...['SAMLBaseURL', 'FailureRedirect'],
] as const
const SAML_NEW = {
  ...{ 'Metadata URL': 'https://idp.example.test/metadata', 'Entity ID': 'urn:gatehouse', Certificate: 'abc123' },
  ...{ 'Email attribute': 'mail', 'First name attribute': 'givenName' },
  ...{ 'Last name attribute': 'sn', 'Dashboard URL': 'https://admin.example.test' },
  'Failure URL': '/?error=refused',
}
const SAML_NEXT = {
  ...{ 'Metadata URL': 'https://idp.example.test/other', 'Entity ID': 'urn:other', Certificate: '' },
  ...{ 'Email attribute': 'email', 'First name attribute': 'first' },
  ...{ 'Last name attribute': 'last', 'Dashboard URL': 'https://gate.example.test' },
  'Failure URL': '/',
}
const LDAP_NAMES = {
  ...{ 'Email attribute': 'mail', 'First name attribute': 'givenname' },
  'Last name attribute': 'uid',
}
const KEY = 'Issue an API key with a policy'
const SESSION = 'Open a dashboard session'
const CLEAR = 'None: passwords are sent in clear'
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
  await page.getByText('No identity provider yet').waitFor()
  await checkThemes(page)
  const group = async (name: string, user_permissions: JsonObject) =>
    String(
      ((await world.api('POST', '/api/usergroups', { name, active: true, user_permissions })).json as JsonObject).Meta,
    )
  const operators = await group('Operators', { apis: 'read', users: 'read' })
  const guests = await group('Guests', { apis: 'read' })
  await page.getByRole('link', { name: 'Add identity provider' }).first().click()
  await page.getByText('Single sign-on is switched off').waitFor()
  await allowSso(world, true)
  await page.reload()
  await page.getByText('All users who sign in this way are administrators').waitFor()
  const add = page.getByRole('button', { name: 'Add identity provider' })
  const missing = async (number: number) => {
    await add.click()
    await becomes(() => page.getByText('Required', { exact: true }).count(), number)
  }
  await missing(3)
  const action = page.getByRole('combobox', { name: 'After signing in' })
  await pickOption(page, action, KEY)
  await missing(4)
  await fillAll(page, { 'Key policy': 'gold' })
  await missing(3)
  await pickOption(page, action, SESSION)
  const discovery = `${issuer}/.well-known/openid-configuration`
  await fillAll(page, { Name: NAME, ID: 'staff', 'Return URL': '/profile', 'Discovery URL': discovery })
  await fillAll(page, { 'Client ID': 'gatehouse', 'Client secret': CLIENT_SECRET })
  await page.getByLabel('Advanced').check()
  await addScopes(page, 'openid', 'email', 'profile')
  await fillAll(page, { 'Dashboard URL': world.base, 'Failure URL': REFUSAL })
  await fillAll(page, { 'Allowed email domain': 'example.test', 'Required group': 'ops' })
  await page.getByLabel('Existing users only').check()
  await fillAll(page, { 'Email claim': 'email', 'User ID claim': 'sub' })
  await fillAll(page, { 'Group claim': 'groups', Separator: ';' })
  await mapGroup(page, 'ops', 'Operators')
  await mapGroup(page, 'mistaken', 'Guests')
  await page.getByRole('button', { name: 'Remove mistaken' }).click()
  await pickOption(page, page.getByRole('combobox', { name: 'Default group' }), 'Guests')
  await page.getByText('All users who sign in this way are administrators').waitFor({ state: 'detached' })
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
  await page.getByRole('button', { name: 'Add mapping' }).click()
  await page.getByLabel('Provider group').last().fill(theirs)
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
  await page.getByRole('link', { name: 'Test sign-in' }).click()
  const test = await popup
  await signInThere(test, 'eve')
  await page.getByText('Sign-in succeeded: eve@example.test').waitFor()
  // A page behind another is drawn once a second only.
  await test.close()
  await page.bringToFront()
  await page.getByText('Access: 2 permissions.').waitFor()
  await checkThemes(page)
  await shoot(page, 'identity-test')
  await page.getByRole('button', { name: 'Continue as this user' }).click()
  await page.getByText('You do not have access').waitFor()
  await page.getByRole('button', { name: /^Signed in as/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Gatehouse' }).waitFor()
  await signIn(page, world.admin, '/identity')
}

/** Who is second sees what the other saved; then every field is changed, and people are refused by what it says. */
async function changeProfile(all: World): Promise<void> {
  const { t, world, browser, page, issuer } = all
  const before = await profileOf(all, 'staff')
  await page.goto('/identity/staff')
  await fillAll(page, { 'Client ID': 'mistaken' })
  await world.api('PUT', '/api/tib/profiles/staff', { ...before, ReturnURL: '/labels' })
  await save(page)
  const question = page.getByRole('dialog', { name: 'Someone else changed this while you were editing' })
  await question.getByRole('button', { name: 'Continue editing' }).click()
  await becomes(() => passwordOf(page, 'Client ID').inputValue(), 'mistaken')
  await save(page)
  await question.getByRole('button', { name: 'Take theirs' }).click()
  await eventually('theirs is shown', async () => (await passwordOf(page, 'Return URL').inputValue()) === '/labels')
  await becomes(() => passwordOf(page, 'Client ID').inputValue(), 'gatehouse')

  await page.getByLabel('Advanced').check()
  await pickOption(page, page.getByRole('combobox', { name: 'After signing in' }), KEY)
  await fillAll(page, { 'Key policy': 'gold', 'Return URL': '/users', 'Client ID': 'other' })
  await fillAll(page, { 'Discovery URL': 'https://login.example.test/', 'Client secret': 'another' })
  await addScopes(page, 'offline_access')
  await fillAll(page, { 'Dashboard URL': 'https://admin.example.test' })
  await fillAll(page, { 'Failure URL': '/', 'Allowed email domain': 'elsewhere.test' })
  await fillAll(page, { 'Required group': 'all', 'Email claim': 'mail' })
  await page.getByLabel('Existing users only').uncheck()
  await fillAll(page, { 'User ID claim': 'oid', 'Group claim': 'roles', Separator: ',' })
  await page.getByRole('button', { name: 'Remove ops' }).click()
  await mapGroup(page, 'all', 'Guests')
  await pickOption(page, page.getByRole('combobox', { name: 'Default group' }), 'Operators')
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
  await guest.getByText('Single sign-on was refused').waitFor()
}

async function saml(all: World): Promise<void> {
  const { page } = all
  const { metadata } = new SamlIdp(makeRsaPair('idp'))
  await page.goto('/identity/new')
  await page.getByText('SAML 2.0').click()
  await checkThemes(page)
  await page.getByLabel('Advanced').check()
  await fillAll(page, { Name: 'Campus', ID: 'campus', ...SAML_NEW, Metadata: metadata })
  await page.getByRole('button', { name: 'Add identity provider' }).click()
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
  await page.getByLabel('Advanced').check()
  await fillAll(page, { Name: 'Staff list', ID: 'list', Server: '127.0.0.1', Port: String(port) })
  await pickOption(page, page.getByRole('combobox', { name: 'Encryption' }), CLEAR)
  await page.getByText('Passwords would be sent to the directory in clear').waitFor()
  await fillAll(page, { 'Bind DN template': `uid=*USERNAME*,${BASE}`, 'Search user DN': ADMIN.dn })
  await fillAll(page, { 'Search user password': ADMIN.password, 'Base DN': BASE })
  await fillAll(page, { Filter: '((objectClass=person)(uid=*USERNAME*))', 'Email domain': 'list.example.test' })
  await pickOption(page, page.getByRole('combobox', { name: 'Search scope', exact: true }), 'One level')
  await fillAll(page, { ...LDAP_NAMES, 'Failure URL': REFUSAL })
  await checkThemes(page)
  await shoot(page, 'identity-ldap')
  await page.getByRole('button', { name: 'Add identity provider' }).click()
  await heading(page, 'Staff list').waitFor()
  await enterByDirectory(all, 'ada', 'right', 'ada.of@example.test')
  assert.match(String(filters[0]), /uid=ada/)

  // Without a search user: users bind with their own names and read their addresses.
  await fillAll(page, { 'Search user DN': 'nobody', 'Search user password': 'none' })
  await fillAll(page, { Server: 'localhost', Port: '389', 'Search user DN': '', Filter: '', 'Base DN': '' })
  await fillAll(page, { 'Bind DN template': `uid=*USERNAME*,ou=none,${BASE}` })
  for (const encryption of ['StartTLS (usually port 389)', CLEAR])
    await pickOption(page, page.getByRole('combobox', { name: 'Encryption' }), encryption)
  await pickOption(page, page.getByRole('combobox', { name: 'Search scope', exact: true }), 'Whole subtree')
  const names = Object.keys(LDAP_NAMES)
  await fillAll(page, { ...Object.fromEntries(names.map((name) => [name, 'cn'])), 'Email domain': 'example.test' })
  await fillAll(page, { 'Failure URL': '/' })
  await fillAll(page, { Server: '127.0.0.1', Port: String(port), 'Bind DN template': `uid=*USERNAME*,${BASE}` })
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
  await page.getByRole('button', { name: /^Signed in as/ }).waitFor()
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
  await page.getByText('Enter a JSON object.').waitFor()
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
  await page.getByText('No identity provider yet').waitFor()
  await page.goto('/identity/staff')
  await heading(page, 'Identity provider not found').waitFor()
  await checkThemes(page)
  await page.getByRole('link', { name: 'Back to list' }).click()
  await heading(page, 'Single sign-on').waitFor()
}
