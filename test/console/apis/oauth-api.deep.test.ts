import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Answer, call } from '../../worlds/base/client.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  at,
  choose,
  confirmDelete,
  copies,
  documentOf,
  field,
  flip,
  follow,
  heading,
  idIn,
  inspect,
  ODD_NAME,
  save,
  saved,
  startApis,
  tab,
} from '../../worlds/console/apis-world.ts'
import { checkThemes } from '../../worlds/console/world.ts'

const LOGIN_PAGE = 'https://login.example.test/agree'
const CALLBACK = 'https://app.example.test/back'

interface Client {
  readonly id: string
  readonly secret: string
}

/** Sends a form to the authorization server as the client itself would. */
function sendAs(world: ApisWorld, { id, secret }: Client, path: string, body: string): Promise<Answer> {
  const credentials = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${credentials}` }
  return call(world.product.port, `/orders/oauth/${path}`, { method: 'POST', headers, body })
}

/** Asks the gateway for a token. Answers it, or '' when it is refused. */
async function tokenFor(world: ApisWorld, client: Client): Promise<string> {
  const { status, json } = await sendAs(world, client, 'token', 'grant_type=client_credentials&scope=read')
  return status === 200 ? String(at(json, 'access_token')) : ''
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** The secrets that the dialog shows, which it then lets go. */
async function shownOnce(page: Page, title: string): Promise<string[]> {
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.getByText('Shown only now').waitFor()
  const shown = await dialog.locator('pre').allInnerTexts()
  await copies(dialog.getByRole('button', { name: /^Copy / }).last(), shown.at(-1)!)
  await inspect(page, `secret-${title.toLowerCase().replaceAll(' ', '-')}`)
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await dialog.waitFor({ state: 'detached' })
  assert.ok(!(await page.content()).includes(shown.at(-1)!), 'a secret stands nowhere else')
  return shown
}

test('an API with its own authorization server: settings, login page, clients, tokens', async (t) => {
  const world = await startApis(t)
  const page = await world.open(world.admin, '/apis/new', [/status of 40[0-4]/])
  await page.getByLabel(/^Name/).fill('Orders')
  await page.getByLabel(/^Upstream URL/).fill(world.origin.url)
  await choose(page, page.getByRole('combobox', { name: /^Authentication/ }), /^OAuth 2.0/)
  await page.getByRole('button', { name: 'Create API' }).click()
  await heading(page, 'Orders').waitFor()
  const id = idIn(page)
  await settings(world, page, id)
  const right = { [id]: { api_id: id, api_name: 'Orders', versions: ['Default'] } }
  for (const name of ['Partners', 'Trial <i>']) {
    const policy = { name, active: true, rate: 100, per: 1, quota_max: -1, access_rights: right }
    assert.equal((await world.api('POST', '/api/portal/policies', policy)).status, 200)
  }
  const client = await register(world, page)
  await places(world, page, client)
  await tokens(world, page, client)
  await rotate(world, page, client)
  await edit(world, page, id, client)
  await readerSees(world, id, client)
  await endIt(world, page, id, client)
})

async function settings(world: ApisWorld, page: Page, id: string): Promise<void> {
  await tab(page, 'Authentication')
  await field(page, 'Grant types').waitFor()
  await checkThemes(page)
  await page.getByLabel('Login page').fill('login')
  await field(page, /^Scopes/).fill('read Read orders\nwrite')
  await choose(page, page.getByRole('combobox', { name: /^Access token format/ }), 'JWT')
  await page.getByLabel(/^Access token lifetime \(seconds\)/).fill('600')
  await page.getByLabel(/^Authorization code lifetime \(seconds\)/).fill('120')
  await flip(page, 'Refresh tokens')
  await page.getByLabel(/^Refresh token lifetime \(seconds\)/).waitFor({ state: 'detached' })
  await flip(page, 'Refresh tokens')
  await page.getByLabel(/^Refresh token lifetime \(seconds\)/).fill('86400')
  await page.getByLabel(/^Refresh token reuse grace period \(seconds\)/).fill('5')
  await choose(page, page.getByRole('combobox', { name: /^Signing algorithm/ }), /RS256/)
  await choose(page, page.getByRole('combobox', { name: /^Type of JWT access tokens/ }), 'JWT')
  await choose(page, field(page, 'Grant types'), /^Password/)
  await choose(page, field(page, 'Response types'), 'code')
  await flip(page, 'Require PKCE')
  await flip(page, 'Device authorization')
  await choose(page, page.getByRole('combobox', { name: /^DPoP-bound tokens/ }), 'Allowed')
  await choose(page, page.getByRole('combobox', { name: /^Certificate-bound tokens \(mTLS\)/ }), 'Allowed')
  await page.getByLabel(/^Notification URL/).fill('https://hooks.example.test/tokens')
  await page.getByLabel(/^Notification secret/).fill('shared-secret-of-this-test')
  await save(page)
  await page.getByText('Enter a full URL that starts with http:// or https://').waitFor()
  await page.getByLabel('Login page').fill(LOGIN_PAGE)
  await inspect(page, 'oauth-settings')
  await save(page)
  await saved(page)
  const scheme = at(
    await documentOf(world, id),
    'x-svc-api-gateway',
    'server',
    'authentication',
    'securitySchemes',
    'oauth',
  )
  for (const [name, value] of Object.entries({
    ...{ authLoginRedirect: LOGIN_PAGE, accessTokenFormat: 'jwt', accessTokenLifetime: 600, requirePkce: true },
    ...{ deviceAuthorization: true, dpop: 'allowed', mutualTls: 'allowed', accessTokenSigningAlgorithm: 'RS256' },
    accessTokenType: 'JWT',
    ...{
      authorizationCodeLifetime: 120,
      refreshToken: true,
      refreshTokenLifetime: 86_400,
      refreshReuseGraceSeconds: 5,
    },
  }))
    assert.equal(at(scheme, name), value, name)
  assert.deepEqual(at(scheme, 'allowedAuthorizeTypes'), ['code'])
  assert.ok(at(await documentOf(world, id), 'components', 'securitySchemes', 'oauth', 'flows', 'password'))
  assert.equal(at(scheme, 'notifications', 'sharedSecret'), 'shared-secret-of-this-test')
  await page.reload()
  await becomes(() => field(page, /^Scopes/).inputValue(), 'read Read orders\nwrite')
}

async function register(world: ApisWorld, page: Page): Promise<Client> {
  await tab(page, 'OAuth clients')
  await page.getByText('No clients yet').waitFor()
  await checkThemes(page)
  await page.getByRole('button', { name: 'Register client' }).click()
  await page.getByRole('button', { name: 'Register client' }).click()
  await page.getByText('Required', { exact: true }).first().waitFor()
  await page.getByLabel(/^Name/).first().fill(ODD_NAME)
  await choose(page, page.getByRole('combobox', { name: /^Client authentication/ }), /in the Authorization header/)
  await field(page, /^Client ID/).fill('orders-app')
  await field(page, /^Client secret/).fill('a-secret-that-the-app-has-already')
  await page.getByLabel(/^Access token lifetime/).fill('120')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Name of field 1').fill('team')
  await page.getByLabel('Value of team').fill('retail')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Name of field 2').fill('stage')
  await page.getByLabel('Value of stage').fill('trial')
  await page.getByRole('button', { name: 'Remove stage' }).click()
  await field(page, /^Redirect URIs/).fill(CALLBACK)
  await page.keyboard.press('Enter')
  await choose(page, page.getByRole('combobox', { name: /^Policies/ }), 'Partners')
  await inspect(page, 'client-new')
  await page.getByRole('button', { name: 'Register client' }).click()
  const [id = '', secret = ''] = await shownOnce(page, 'Client registered')
  assert.deepEqual([id, secret], ['orders-app', 'a-secret-that-the-app-has-already'])
  await page.getByRole('heading', { name: ODD_NAME, level: 2 }).waitFor()
  const stored = (await world.api('GET', `/api/apis/oauth/${idIn(page)}/${id}`)).json
  assert.deepEqual(
    ['auth_method', 'token_lifetime', 'metadata'].map((name) => at(stored, name)),
    ['client_secret_basic', 120, { team: 'retail' }],
  )
  await follow(page, page.getByRole('link', { name: 'Partners' }), 'Partners')
  await page.getByRole('button', { name: 'All clients' }).click()
  await copies(page.getByRole('row').filter({ hasText: id }).getByRole('button', { name: 'Copy' }), id)
  await follow(page, page.getByRole('link', { name: 'Partners' }), 'Partners')
  await page.getByRole('button', { name: ODD_NAME, exact: true }).click()
  await page.getByRole('heading', { name: ODD_NAME, level: 2 }).waitFor()
  assert.ok((await asked(world, id)).startsWith(LOGIN_PAGE), 'people are led to the login page that the form names')
  return { id, secret }
}

/** Where a person is sent whom the client asks to agree; '' = nowhere. */
async function asked(world: ApisWorld, clientId: string): Promise<string> {
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: CALLBACK, scope: 'read', state: 's' },
    ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
  })
  return String((await world.through(`/orders/oauth/authorize?${query}`)).headers.location ?? '')
}

/** Where the token is read, and how consent is requested. */
async function places(world: ApisWorld, page: Page, client: Client): Promise<void> {
  const put = async () => {
    await save(page)
    await saved(page)
  }
  const token = await tokenFor(world, client)
  await tab(page, 'Authentication')
  await flip(page, 'Require pushed authorization requests')
  await flip(page, 'Header')
  await flip(page, 'Query parameter')
  await page.getByLabel(/^Parameter name/).fill('token')
  await flip(page, 'Cookie')
  await page.getByLabel(/^Cookie name/).fill('seat')
  await put()
  await answers(world, 401, '/orders/', bearer(token))
  assert.equal((await answers(world, 200, `/orders/?token=${token}`)).text, `/?token=${token}`)
  await answers(world, 200, '/orders/', { cookie: `seat=${token}` })
  assert.ok(!(await asked(world, client.id)).startsWith(LOGIN_PAGE), 'a request that was not pushed is refused')
  await flip(page, 'Strip credentials')
  await flip(page, 'Header')
  await page.getByLabel(/^Header name/).fill('X-Token')
  await flip(page, 'Require pushed authorization requests')
  await put()
  await answers(world, 200, '/orders/', { 'x-token': token })
  assert.equal((await answers(world, 200, `/orders/?token=${token}`)).text, '/', 'the service does not see it')
  await flip(page, 'Query parameter')
  await flip(page, 'Cookie')
  await page.getByLabel(/^Header name/).fill('Authorization')
  await put()
  assert.equal((await sendAs(world, client, 'revoke', `token=${token}`)).status, 200)
  await eventually('it is refused', async () => (await world.through('/orders/', bearer(token))).status !== 200)
  await tab(page, 'OAuth clients')
  await page.getByRole('button', { name: ODD_NAME, exact: true }).click()
}

async function tokens(world: ApisWorld, page: Page, client: Client): Promise<void> {
  const [first, second, third] = [
    await tokenFor(world, client),
    await tokenFor(world, client),
    await tokenFor(world, client),
  ]
  assert.equal(first.split('.').length, 3, 'a JWT, as the form says')
  for (const token of [first, second, third]) await answers(world, 200, '/orders/', bearer(token))
  await page.reload()
  const revoke = page.getByRole('button', { name: /^Revoke [0-9a-f]{6}/ })
  await revoke.nth(2).waitFor()
  await inspect(page, 'client')
  await revoke.first().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await saved(page, 'Token revoked')
  await eventually('two tokens are left', async () => (await revoke.count()) === 2)
  const works = async (token: string) => (await world.through('/orders/', bearer(token))).status === 200
  await eventually('one of them is refused', async () => {
    const left = await Promise.all([first, second, third].map(works))
    return left.filter(Boolean).length === 2
  })
  await page.getByRole('button', { name: 'Revoke all' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke all' }).click()
  await saved(page, 'All tokens revoked')
  await page.getByText('No active tokens').waitFor()
  for (const token of [first, second, third])
    await eventually('all of them are refused', async () => !(await works(token)))
}

async function rotate(world: ApisWorld, page: Page, client: Client): Promise<void> {
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await checkThemes(page)
  const dialog = page.getByRole('dialog')
  await choose(page, dialog.getByRole('combobox', { name: /^Old one stays valid for/ }), '1 hour')
  await dialog.getByRole('button', { name: 'Rotate' }).click()
  const [secret = ''] = await shownOnce(page, 'New client secret')
  for (const each of [client, { ...client, secret }]) assert.notEqual(await tokenFor(world, each), '', 'both are good')
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await choose(page, dialog.getByRole('combobox', { name: /^Old one stays valid for/ }), 'No time: revoke now')
  await dialog.getByRole('button', { name: 'Rotate' }).click()
  const [last = ''] = await shownOnce(page, 'New client secret')
  assert.deepEqual(
    [await tokenFor(world, client), await tokenFor(world, { ...client, secret })],
    ['', ''],
    'old ones are good no longer',
  )
  assert.notEqual(await tokenFor(world, { ...client, secret: last }), '')
  await page.getByRole('button', { name: 'Show secret' }).click()
  await dialog.getByText(last, { exact: true }).waitFor()
  await becomes(() => dialog.getByText('Shown only now').count(), 0, 'it can be shown again')
  await dialog.getByRole('button', { name: 'Close' }).click()
}

async function edit(world: ApisWorld, page: Page, apiId: string, { id }: Client): Promise<void> {
  const path = `/api/apis/oauth/${apiId}/${encodeURIComponent(id)}`
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel(/^Description/).fill('Mine')
  const theirs = await world.api('PUT', path, { description: 'Theirs' })
  assert.equal(theirs.status, 200, theirs.text)
  await save(page)
  const dialog = page.getByRole('dialog', { name: 'Someone else changed this while you were editing' })
  await dialog.getByText('"Theirs"').waitFor()
  await checkThemes(page)
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await saved(page)
  await page.getByText('Mine', { exact: true }).waitFor()
  assert.equal(at((await world.api('GET', path)).json, 'description'), 'Mine')
  await page.getByRole('button', { name: 'Edit' }).click()
  await choose(page, page.getByRole('combobox', { name: /^Client authentication/ }), /^Signed JWT/)
  await page.getByLabel(/^URL of the public keys/).fill('https://app.example.test/keys')
  await field(page, /^Public keys/).waitFor({ state: 'detached' })
  await flip(page, 'Require pushed authorization requests (PAR)')
  await save(page)
  await saved(page)
  const { json } = await world.api('GET', path)
  assert.deepEqual(
    ['auth_method', 'jwks_uri', 'require_pushed_authorization_requests'].map((name) => at(json, name)),
    ['private_key_jwt', 'https://app.example.test/keys', true],
  )
}

async function readerSees(world: ApisWorld, apiId: string, { id }: Client): Promise<void> {
  const reader = await world.open(world.reader, `/apis/${apiId}?tab=clients`)
  await reader.getByRole('button', { name: ODD_NAME, exact: true }).click()
  await reader.getByText(id).first().waitFor()
  await reader.getByText('Active tokens').waitFor()
  for (const name of ['Edit', 'Rotate secret', 'Delete', 'Revoke all', 'Show secret'])
    await becomes(() => reader.getByRole('button', { name, exact: true }).count(), 0, name)
  await checkThemes(reader)
  await tab(reader, 'Authentication')
  await becomes(() => reader.getByLabel('Login page').isDisabled(), true)
  await becomes(() => reader.getByRole('button', { name: 'Save' }).count(), 0)
  await checkThemes(reader)
}

async function endIt(world: ApisWorld, page: Page, apiId: string, client: Client): Promise<void> {
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await confirmDelete(page, ODD_NAME, 'Its tokens are revoked at once, and it gets no new ones')
  await page.getByText('No clients yet').waitFor()
  assert.equal(await tokenFor(world, client), '')
  assert.equal((await world.api('GET', `/api/apis/oauth/${apiId}/${encodeURIComponent(client.id)}`)).status, 404)
}
