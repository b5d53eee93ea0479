import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { CATALOG } from '../../../src/errors/catalog.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call } from '../../worlds/base/client.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import { copied, ledTo } from '../../worlds/console/clipboard.ts'
import {
  type ConsoleWorld,
  checkThemes,
  folderFor,
  PASSWORD,
  passwordOf,
  shoot,
  signIn,
  startConsole,
} from '../../worlds/console/world.ts'
import { startMailServer } from '../../worlds/dashboard/mail-server.ts'
import { startProduct } from '../../worlds/flows/product.ts'

const PERIOD_MS = 30_000
/** Browsers write every refused call into their console: those that a test brings about are no trouble. */
const REFUSED = [/status of 40[13]/]

/** The code of an app; `later` of its periods from now, as one counts once only. */
function codeOf(secret: string, later = 0): string {
  return TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + later * PERIOD_MS })
}

async function typeCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Digit 1').focus()
  await page.keyboard.type(code)
}

/** An app of this device takes the secret from the link. */
async function openApp(page: Page, secret: string): Promise<void> {
  const link = page.getByRole('link', { name: 'open it in an app on this device' })
  const { protocol, searchParams } = new URL(await ledTo(link))
  assert.deepEqual([protocol, searchParams.get('secret')], ['otpauth:', secret])
}

/** As if more time had passed since the sign-in than is thought fresh: the call is refused once, in the dashboard's words. */
async function asLater(page: Page, path: string | RegExp): Promise<void> {
  const { status, text } = CATALOG.verification_needed
  await page.route(
    ({ pathname }) => (typeof path === 'string' ? pathname === path : path.test(pathname)),
    (route) =>
      route.fulfill({
        ...{ status, headers: { 'x-error-code': 'verification_needed' } },
        json: { Status: 'Error', Message: text, Meta: null },
      }),
    { times: 1 },
  )
}

const signOut = async (page: Page) => {
  await page.getByRole('button', { name: /^Signed in as/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Gatehouse' }).waitFor()
}

const submit = (page: Page, name = 'Sign in') => page.getByRole('button', { name, exact: true }).click()

/** The page under the name localhost, where passkeys are allowed. */
async function openAtLocalhost(t: TestContext, world: ConsoleWorld, allow: readonly RegExp[] = REFUSED) {
  const base = world.base.replace('127.0.0.1', 'localhost')
  const { page } = await openPage(t, await startBrowser(t), { base, allow })
  return page
}

test('a wrong password is reported, throttled, and the requested address is kept', async (t) => {
  const world = await startConsole(t, { SVC_DB_SECURITY_LOGINFAILUREUSERNAMELIMIT: '3' })
  const allow = [...REFUSED, /status of 429/]
  const { page } = await openPage(t, await startBrowser(t), { base: world.base, allow })
  await page.goto('/profile?tab=sessions')
  await page.getByRole('heading', { name: 'Sign in to Gatehouse' }).waitFor()
  await checkThemes(page)
  await shoot(page, 'sign-in')
  await submit(page)
  await becomes(() => page.getByText('Required', { exact: true }).count(), 2)
  await page.getByLabel('Email address').fill(world.reader.email)
  for (let tries = 0; tries < 3; tries++) {
    await passwordOf(page).fill(`wrong-${tries}`)
    const answered = page.waitForResponse((response) => response.url().endsWith('/api/login'))
    await submit(page)
    await answered
    await page.getByText('The email address or the password is wrong').waitFor()
  }
  await submit(page)
  await page.getByText('Too many failed attempts').waitFor()
  await page.getByText(/You can try again in \d+:\d\d\./).waitFor()
  await checkThemes(page)
  await shoot(page, 'sign-in-throttled')
  await page.getByLabel('Email address').fill(world.admin.email)
  await passwordOf(page).fill(PASSWORD)
  await submit(page)
  await page.getByRole('heading', { name: 'Sessions' }).waitFor()
  await becomes(() => new URL(page.url()).search, '?tab=sessions')
})

test('a second factor is set up with an app, asked for, and stood in for by a recovery code', async (t) => {
  const world = await startConsole(t)
  const page = await openAtLocalhost(t, world)
  await signIn(page, world.reader, '/profile?tab=security')
  await asLater(page, '/api/second-factor/totp')
  await page.getByRole('button', { name: 'Set up app' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirm it is you' })
  await passwordOf(proof).fill('wrong')
  await proof.getByRole('button', { name: 'Continue' }).click()
  await proof.getByRole('alert').waitFor()
  await checkThemes(page)
  await shoot(page, 'prove')
  await passwordOf(proof).fill(PASSWORD)
  await proof.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor()
  const secret = await copied(page, page.getByRole('button', { name: 'Copy Authenticator secret' }))
  await openApp(page, secret)
  await checkThemes(page)
  await shoot(page, 'authenticator')
  await typeCode(page, '000000')
  await page.getByText('The code is wrong or was used already').waitFor()
  await typeCode(page, codeOf(secret))
  const dialog = page.getByRole('dialog', { name: 'Second factor set up' })
  const [recovery = '', ...rest] = (await copied(page, dialog.getByRole('button', { name: /^Copy / }))).split('\n')
  assert.equal(rest.length, 9)
  await checkThemes(page)
  await shoot(page, 'recovery-codes')
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByText('10 left').waitFor()

  await signOut(page)
  await page.getByLabel('Email address').fill(world.reader.email)
  await passwordOf(page).fill(PASSWORD)
  await submit(page)
  await page.getByText('Six-digit code from your authenticator app').waitFor()
  await checkThemes(page)
  await shoot(page, 'second-factor')
  await typeCode(page, codeOf(secret, 1))
  await page.locator('#content').waitFor()

  await signOut(page)
  const begun = await call(world.product.dashboardPort, '/api/login', {
    method: 'POST',
    body: JSON.stringify({ email: world.reader.email, password: PASSWORD }),
  })
  const { ticket } = (begun.json as { Meta: { ticket: string } }).Meta
  // The address after single sign-on of a user with a second factor here.
  await page.goto(`/?x=1#sign_in=${ticket}&to=%2Flabels`)
  await page.getByText('Six-digit code from your authenticator app').waitFor()
  await becomes(() => new URL(page.url()).hash, '')
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByLabel('Recovery code').fill('not at hand')
  await page.getByRole('button', { name: 'Use a code from the app' }).click()
  await typeCode(page, '000000')
  await page.getByRole('alert').waitFor()
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await page.getByLabel('Recovery code').fill(recovery)
  await checkThemes(page)
  await submit(page, 'Continue')
  await page.getByRole('heading', { name: 'Labels', level: 1 }).waitFor()
  await page.goto('/profile?tab=security')
  await page.getByText('9 left').waitFor()
  await page.getByRole('button', { name: 'Remove app' }).click()
  const end = page.getByRole('dialog', { name: 'Remove app' })
  await passwordOf(end, 'Current password').fill(PASSWORD)
  await end.getByLabel(/^Code from the app, or a recovery code/).fill(rest[0]!)
  await end.getByRole('button', { name: 'Remove app' }).click()
  await page.getByText('You get them when you set up a second factor.').waitFor()
  const factor = (await world.api('GET', '/api/second-factor', undefined, world.reader)).json as JsonObject
  assert.deepEqual(factor.totp, { enabled: false, confirmed_at: '' })
})

test('a passkey is added, renamed, signs in alone, and is removed', async (t) => {
  const world = await startConsole(t)
  const page = await openAtLocalhost(t, world)
  const devices = await page.context().newCDPSession(page)
  await devices.send('WebAuthn.enable')
  await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
  await signIn(page, world.owner, '/profile?tab=security')
  await page.getByRole('button', { name: 'Add passkey' }).click()
  const add = page.getByRole('dialog', { name: 'Add passkey' })
  await add.getByLabel(/^Name/).fill('Laptop 💻')
  await checkThemes(page)
  await add.getByRole('button', { name: 'Add passkey' }).click()
  const codes = page.getByRole('dialog', { name: 'Recovery codes' })
  await codes.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByRole('cell', { name: 'Laptop 💻', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Rename Laptop 💻' }).click()
  const rename = page.getByRole('dialog')
  await rename.getByLabel(/^Name/).fill('<i>Key ring</i>')
  await rename.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell', { name: '<i>Key ring</i>', exact: true }).waitFor()
  await checkThemes(page)
  await shoot(page, 'passkeys')

  await world.api('POST', '/api/logout/everywhere', undefined, world.owner)
  await page.getByRole('tab', { name: 'Sessions' }).click()
  const again = page.getByRole('dialog', { name: 'Your session has ended' })
  await again.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await again.waitFor({ state: 'detached' })
  await page.getByText('Current').waitFor()
  await signOut(page)
  await submit(page, 'Sign in with a passkey')
  await page.locator('#content').waitFor()
  await signOut(page)
  await page.getByLabel('Email address').fill(world.owner.email)
  await passwordOf(page).fill(PASSWORD)
  await submit(page)
  await page.getByRole('button', { name: 'Use a recovery code' }).waitFor()
  await checkThemes(page)
  await submit(page, 'Use a passkey')
  await page.locator('#content').waitFor()
  await page.goto('/profile?tab=security')
  await asLater(page, /^\/api\/passkeys\/./)
  await page.getByRole('button', { name: 'Remove <i>Key ring</i>' }).click()
  const gone = page.getByRole('dialog', { name: 'Delete <i>Key ring</i>?' })
  await gone.getByLabel(/^Type/).fill('<i>Key ring</i>')
  await gone.getByRole('button', { name: 'Delete' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirm it is you' })
  await proof.getByLabel('Recovery code').fill('not at hand')
  await proof.getByRole('button', { name: 'Continue' }).click()
  await proof.getByRole('alert').waitFor()
  await proof.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByText('No passkeys yet.').waitFor()
})

test('an organisation asks for a second factor, an installation for another first password', async (t) => {
  const secret = 'the-admin-secret-of-this-test'
  const { dashboardPort: port } = await startProduct(t, folderFor(t), {
    ...{ SVC_GW_LISTENHOST: '127.0.0.1', SVC_DB_LISTENHOST: '127.0.0.1', SVC_DB_ADMINSECRET: secret },
    ...{
      SVC_BOOTSTRAP_ORGANISATION: 'Acme',
      SVC_BOOTSTRAP_EMAIL: 'ada@example.test',
      SVC_BOOTSTRAP_PASSWORD: PASSWORD,
    },
    SVC_DB_SECURITY_FORCEFIRSTLOGINPWRESET: 'true',
  })
  const send = async (method: string, path: string, body: JsonObject | undefined, headers: Record<string, string>) => {
    const answer = await call(port, path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  const { organisations } = await send('GET', '/admin/organisations', undefined, { 'admin-auth': secret })
  const [{ id: org_id }] = organisations as [JsonObject]
  const email = 'new@example.test'
  const user = { email_address: email, active: true, password: PASSWORD, org_id: org_id! }
  const { Message: key } = await send('POST', '/admin/users', user, { 'admin-auth': secret })
  await send('PUT', '/api/org/second-factor', { required: true }, { authorization: String(key) })
  const base = `http://localhost:${port}`
  const { page } = await openPage(t, await startBrowser(t), { base, allow: [...REFUSED, /status of 400/] })
  await page.goto('/')
  await page.getByLabel('Email address').fill(email)
  await passwordOf(page).fill(PASSWORD)
  await submit(page)
  await page.getByText('Your password has expired').waitFor()
  await passwordOf(page, 'New password').fill(PASSWORD)
  await submit(page, 'Continue')
  await page.getByRole('alert').waitFor()
  await passwordOf(page, 'New password').fill('Another-horse-8')
  await checkThemes(page)
  await submit(page, 'Continue')
  await page.getByText('Your organisation requires a second factor').waitFor()
  const shared = await page.locator('pre').innerText()
  await openApp(page, shared)
  await checkThemes(page)
  await shoot(page, 'second-factor-asked')
  await typeCode(page, codeOf(shared))
  const codes = page.getByRole('dialog')
  assert.equal((await codes.locator('pre').innerText()).split('\n').length, 10)
  await codes.getByRole('button', { name: 'I have copied it' }).click()
  await page.locator('#content').waitFor()

  await page.goto('/profile?tab=security')
  await page.getByText('Your organisation requires a second factor').waitFor()
  await asLater(page, '/api/second-factor/recovery-codes')
  await page.getByRole('button', { name: 'Generate new codes' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirm it is you' })
  await proof.getByLabel('Code from the app, or a recovery code').fill(codeOf(shared, 1))
  await proof.getByRole('button', { name: 'Continue' }).click()
  const fresh = page.getByRole('dialog', { name: 'Recovery codes' })
  assert.equal((await fresh.locator('pre').innerText()).split('\n').length, 10)
  await fresh.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByText('10 left').waitFor()
})

test('an expired session or a lost connection loses no typed text', async (t) => {
  const world = await startConsole(t)
  const allow = [...REFUSED, /ERR_INTERNET_DISCONNECTED/]
  const { page } = await openPage(t, await startBrowser(t), { base: world.base, allow })
  await signIn(page, world.admin, '/profile')
  await page.getByLabel('First name').fill('Augusta')
  await page.getByLabel('Last name').fill('King')
  await world.api('POST', '/api/logout/everywhere')
  await page.getByRole('button', { name: 'Save' }).click()
  const again = page.getByRole('dialog', { name: 'Your session has ended' })
  await again.waitFor()
  await checkThemes(page)
  await shoot(page, 'session-ended')
  await becomes(() => again.getByLabel('Email address').inputValue(), world.admin.email)
  await again.getByLabel('Email address').fill(world.admin.email.toUpperCase())
  await passwordOf(again).fill(PASSWORD)
  await again.getByRole('button', { name: 'Sign in', exact: true }).click()
  await again.waitFor({ state: 'detached' })
  await becomes(() => page.getByLabel('First name').inputValue(), 'Augusta')

  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The dashboard did not respond').waitFor()
  await page.getByText('Dashboard unreachable').waitFor()
  await shoot(page, 'connection-lost')
  await page.context().setOffline(false)
  await page.getByText('Reconnected').waitFor()
  await becomes(() => page.getByLabel('First name').inputValue(), 'Augusta')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const me = (await world.api('GET', '/api/users/me')).json as JsonObject
  assert.deepEqual([me.first_name, me.last_name], ['Augusta', 'King'])
})

test('somebody with accounts in two organisations chooses; what single sign-on refused is said', async (t) => {
  const secret = 'the-admin-secret-of-this-test'
  const world = await startConsole(t, { SVC_DB_ADMINSECRET: secret, SVC_DB_ENABLEMULTIORGUSERS: 'true' })
  const admin = async (path: string, body: unknown) => {
    const headers = { 'admin-auth': secret }
    const answer = await call(world.product.dashboardPort, path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  const { Meta: org } = await admin('/admin/organisations', { owner_name: 'شركة ثانية' })
  const { email, password } = world.admin
  await admin('/admin/users', {
    ...{ email_address: email, password, first_name: 'Ada', last_name: 'B', active: true, org_id: org },
  })
  const { page } = await openPage(t, await startBrowser(t), { base: world.base, allow: REFUSED })
  await page.goto('/?error=access_denied')
  await page.getByText('Single sign-on was refused').waitFor()
  await checkThemes(page)
  await page.getByLabel('Email address').fill(email)
  await passwordOf(page).fill(password)
  await submit(page)
  await page.getByText('Choose an organisation').waitFor()
  await checkThemes(page)
  await shoot(page, 'choose-organisation')
  await page.getByRole('button', { name: 'Start over' }).click()
  await page.getByLabel('Email address').fill(email)
  await passwordOf(page).fill(password)
  await submit(page)
  await page.getByLabel('شركة ثانية').check()
  await submit(page, 'Continue')
  await page.getByRole('banner').getByText('شركة ثانية').waitFor()
})

test('a forgotten password is set by the link of a mail', async (t) => {
  const mail = await startMailServer(t)
  const world = await startConsole(t, {
    SVC_DB_PUBLICURL: 'http://localhost:9',
    SVC_DB_EMAILBACKEND_ENABLEEMAILNOTIFICATIONS: 'true',
    SVC_DB_EMAILBACKEND_CODE: 'smtp',
    SVC_DB_EMAILBACKEND_DEFAULTFROMEMAIL: 'gatehouse@example.test',
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPHOST: '127.0.0.1',
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPPORT: String(mail.port),
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPTLS: 'none',
  })
  const { page } = await openPage(t, await startBrowser(t), { base: world.base })
  await page.goto('/')
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  await page.getByRole('link', { name: 'Go to sign-in' }).click()
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  await checkThemes(page)
  await shoot(page, 'forgotten')
  await page.getByLabel('Email address').fill(world.reader.email)
  await submit(page, 'Send link')
  await page.getByText('a mail is on its way').waitFor()
  await eventually('the mail has come', () => mail.mails.length === 1)
  const link = /http:\/\/localhost:9(\/\S+)/.exec(mail.mails[0]!.text)![1]!
  await page.goto(link)
  await passwordOf(page, 'New password').fill('Another-horse-8')
  await checkThemes(page)
  await submit(page, 'Set password')
  await page.getByText('Password set').waitFor()
  await becomes(() => new URL(page.url()).hash, '')
  await page.getByRole('link', { name: 'Go to sign-in' }).click()
  await signIn(page, { ...world.reader, password: 'Another-horse-8' })
})
