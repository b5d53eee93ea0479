import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { WEATHER_QUOTA } from '../../examples/portal/demo-apis.ts'
import { type Example, startExample } from '../../examples/portal/start-example.ts'
import { becomes, eventually } from '../worlds/base/eventually.ts'
import { checkAccessible, openPage, startBrowser } from '../worlds/browser/chromium.ts'

const OUTPUT = join(import.meta.dirname, '../../test-output')
const WIDTHS = [1280, 768, 375]
const PASSWORD = 'correct horse battery'
const IS_DEEP = process.env.GATEHOUSE_DEEP === '1'

let example: Example

before(async () => {
  mkdirSync(OUTPUT, { recursive: true })
  example = await startExample({ gatewayPort: 0, dashboardPort: 0, portalPort: 0, loginPort: 0 })
})
after(() => example.stop())

/** Checks a page at three widths, without a piece outside of it; deep runs also in the dark, with pictures. */
async function look(page: Page, name: string): Promise<void> {
  await checkAccessible(page)
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    if (IS_DEEP) await page.screenshot({ path: join(OUTPUT, `portal-${name}-light-${width}.png`), fullPage: true })
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    assert.ok(Number(wide) <= width, `${name} is ${wide} wide at ${width}`)
  }
  if (IS_DEEP) await lookInTheDark(page, name)
  await page.setViewportSize({ width: WIDTHS[0]!, height: 900 })
}

async function lookInTheDark(page: Page, name: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.screenshot({ path: join(OUTPUT, `portal-${name}-dark-${WIDTHS.at(-1)}.png`), fullPage: true })
  await checkAccessible(page)
  await page.emulateMedia({ colorScheme: 'light' })
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click()
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

async function signUp(page: Page, email: string): Promise<void> {
  await link(page, 'Sign up')
  await page.getByLabel('Your name').fill('Ada Example')
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByLabel('Company').fill('Engines & Sons')
}

/** Values that are shown once, by their label. */
async function shown(page: Page): Promise<Record<string, string>> {
  const names = await page.locator('.secrets dt').allInnerTexts()
  const values = await page.locator('.secrets dd').allInnerTexts()
  return Object.fromEntries(names.map((name, i) => [name, values[i]!.trim()]))
}

async function weather(key: string): Promise<number> {
  const answer = await fetch(`${example.gatewayUrl}/weather/now/Lisbon`, { headers: { authorization: key } })
  await answer.arrayBuffer()
  return answer.status
}

test('a developer gets a key, uses it up, rotates and revokes it, waits for another, and leaves', async (t) => {
  const { page } = await openPage(t, await startBrowser(t), { base: example.portalUrl, allow: [/status of 40[034]/] })
  await page.goto('/')
  await heading(page, 'APIs')
  await look(page, 'catalogue')
  await link(page, 'Weather')
  await page.locator('summary', { hasText: '/now/{place}' }).click()
  await look(page, 'entry')
  await becomes(() => page.locator('.prose strong', { hasText: 'all larger towns' }).count(), 2)
  await becomes(() => page.getByText('Celsius or Fahrenheit.').isVisible(), true)

  await signUp(page, 'ada@example.test')
  await look(page, 'sign-up')
  await button(page, 'Sign up')
  await heading(page, 'APIs')
  await eventually('a mail welcomes her', () => example.mails.some(({ to }) => to === 'ada@example.test'))
  await link(page, 'Weather')
  await look(page, 'entry-member')
  await button(page, 'Get a key')
  await heading(page, 'Your key for Weather')
  await look(page, 'shown')
  const { Key: key = '' } = await shown(page)
  assert.ok(key.length > 20)
  await page.reload()
  await heading(page, 'Shown before')
  assert.ok(!(await page.content()).includes(key))

  for (let call = 0; call < WEATHER_QUOTA; call++) assert.equal(await weather(key), 200)
  assert.equal(await weather(key), 429)
  await page.goto('/keys')
  await page.getByText(`${WEATHER_QUOTA} of ${WEATHER_QUOTA} requests used`).waitFor()
  await eventually('the requests are counted', async () => {
    await page.goto('/usage')
    const [served, failed] = await page.locator('.totals dd').allInnerTexts()
    return Number(served) === WEATHER_QUOTA && Number(failed) === 1
  })
  await look(page, 'usage')

  await page.goto('/keys')
  await link(page, 'Weather')
  await look(page, 'key')
  await page.getByLabel('Get a new key').selectOption('3600')
  await button(page, 'Rotate')
  await heading(page, 'Your new key')
  const { Key: next = '' } = await shown(page)
  assert.notEqual(next, key)
  const reset = (keyId: string) =>
    example.admin('POST', `/api/portal/developers/${developerId}/keys/${keyId}/reset_quota`, {})
  const { Data: developers } = await example.admin('GET', '/api/portal/developers?q=ada@example.test')
  const [developer] = developers as { id: string; subscriptions: Record<string, string> }[]
  const developerId = developer!.id
  await reset(developer!.subscriptions.weather!)
  assert.deepEqual([await weather(key), await weather(next)], [200, 200], 'both are good for an hour')
  await link(page, 'Done, I have it')
  await heading(page, 'Keys')
  await becomes(() => page.locator('.tag.rotated').count(), 1)

  await link(page, 'APIs')
  await link(page, 'Parcels')
  await page.getByLabel('Company').fill('Engines & Sons')
  await page.getByLabel('What for').fill('The shop')
  await look(page, 'request')
  await button(page, 'Ask for a key')
  await heading(page, 'Keys')
  await page.getByText('Your request for Parcels is on its way').waitFor()
  await look(page, 'keys')
  const { Data: requests } = await example.admin('GET', '/api/portal/requests?approved=false')
  const [request] = requests as { id: string; fields: Record<string, string> }[]
  assert.deepEqual(request!.fields, { Company: 'Engines & Sons', 'What for': 'The shop' })
  const { RawKey } = await example.admin('PUT', `/api/portal/requests/approve/${request!.id}`)
  await eventually('the key goes out by mail', () => example.mails.some(({ text }) => text.includes(String(RawKey))))
  await page.reload()
  await page.getByRole('link', { name: 'Parcels' }).waitFor()
  const parcel = await fetch(`${example.gatewayUrl}/parcels/7`, { headers: { authorization: String(RawKey) } })
  assert.deepEqual([parcel.status, await parcel.json()], [200, { parcel: '7', state: 'delivered' }])

  await page
    .locator('.card.key', { has: page.locator('.tag.active') })
    .getByRole('link', { name: 'Weather' })
    .click()
  await page.getByText('Revoke this key').click()
  await button(page, 'Revoke it')
  await page.getByText('The key is revoked.').waitFor()
  assert.deepEqual([await weather(key), await weather(next)], [403, 403])

  await link(page, 'Account')
  await look(page, 'account')
  await page.getByText('Delete this account').click()
  await page.locator('form[action="/account/delete"] input[name=password]').fill('something else')
  await button(page, 'Delete my account')
  await page.getByText('This is not your password.').waitFor()
  await page.getByText('Delete this account').click()
  await page.locator('form[action="/account/delete"] input[name=password]').fill(PASSWORD)
  await button(page, 'Delete my account')
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  const gone = await fetch(`${example.gatewayUrl}/parcels/7`, { headers: { authorization: String(RawKey) } })
  assert.equal(gone.status, 403)
})

test('an app gets tokens, loses them one by one and all together, gets another secret, and goes', async (t) => {
  const { page } = await openPage(t, await startBrowser(t), { base: example.portalUrl, allow: [/status of 40[034]/] })
  await page.goto('/')
  await signUp(page, 'grace@example.test')
  await button(page, 'Sign up')
  await link(page, 'Apps')
  await heading(page, 'Apps')
  await look(page, 'apps-none')
  await link(page, 'An app for Orders')
  await page.getByLabel('Name of your app').fill('Order Desk')
  await page.getByLabel('Redirect URI').fill('https://desk.example.test/callback')
  await page.getByLabel('What it is for').fill('To see what is late')
  await look(page, 'app-request')
  await button(page, 'Get an app')
  await heading(page, 'Your app for Orders')
  const { 'Client id': clientId = '', 'Client secret': secret = '' } = await shown(page)
  const ask = async (password: string) => {
    const answer = await fetch(`${example.gatewayUrl}/orders/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${password}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    const { access_token: token } = (await answer.json()) as { access_token?: string }
    return token ?? ''
  }
  const orders = async (token: string) => {
    const answer = await fetch(`${example.gatewayUrl}/orders/late`, { headers: { authorization: `Bearer ${token}` } })
    await answer.arrayBuffer()
    return answer.status
  }
  const [first, second] = [await ask(secret), await ask(secret)]
  assert.deepEqual([await orders(first), await orders(second)], [200, 200])

  await link(page, 'Done, I have it')
  await look(page, 'apps')
  await link(page, 'Order Desk')
  assert.ok(!(await page.content()).includes(secret))
  await page.getByLabel('A token that got lost').fill(first)
  await button(page, 'Revoke it')
  await page.getByText('The token is revoked.').waitFor()
  assert.deepEqual([await orders(first), await orders(second)].map(refused), [true, false])
  await look(page, 'app')
  await page.getByLabel('Client secret').fill('not the secret')
  await button(page, 'Revoke all tokens')
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Client secret').fill(secret)
  await button(page, 'Revoke all tokens')
  await page.getByText('All tokens are revoked.').waitFor()
  assert.ok(refused(await orders(second)))

  await page.getByText('New secret', { exact: true }).click()
  await button(page, 'Make a new secret')
  await heading(page, 'The new secret')
  const { 'Client secret': other = '' } = await shown(page)
  assert.notEqual(other, secret)
  const third = await ask(other)
  assert.deepEqual(
    [await orders(await ask(secret)), await orders(third)],
    [200, 200],
    'both secrets are good for a day',
  )
  await link(page, 'Done, I have it')
  await link(page, 'Order Desk')
  await page.getByText('Delete this app', { exact: true }).click()
  await button(page, 'Delete it')
  await page.getByText('The app is deleted.').waitFor()
  assert.deepEqual([refused(await orders(third)), await ask(other)], [true, ''])
})

const refused = (status: number) => status === 401 || status === 403

test('a developer signs in and out, resets a password, and collects a key by a mailed link', async (t) => {
  const { page } = await openPage(t, await startBrowser(t), { base: example.portalUrl, allow: [/status of 40[034]/] })
  await page.goto('/')
  await signUp(page, 'alan@example.test')
  await button(page, 'Sign up')
  await button(page, 'Sign out')
  await page.goto('/keys')
  await heading(page, 'Sign in')
  await page.getByLabel('Email address').fill('Alan@Example.test')
  await page.getByLabel('Password').fill('wrong words here')
  await button(page, 'Sign in')
  await page.getByRole('alert').waitFor()
  await look(page, 'sign-in')
  await link(page, 'Forgotten your password?')
  await look(page, 'forgotten')
  await page.getByLabel('Email address').fill('alan@example.test')
  await button(page, 'Send me a link')
  await heading(page, 'Look into your mail')
  const linkOf = (pattern: RegExp) => {
    const texts = example.mails.filter(({ to }) => to === 'alan@example.test').map(({ text }) => text)
    return pattern.exec(texts.join('\n'))?.[0] ?? ''
  }
  const RESET = /http\S+reset-password#\S+/
  await eventually('the link comes', () => linkOf(RESET) !== '')
  await page.goto(linkOf(RESET))
  await page.getByLabel('Link of the mail').fill(page.url())
  await page.getByLabel('New password').fill('another good one')
  await look(page, 'reset')
  await button(page, 'Set the password')
  await heading(page, 'Password changed')
  await page.goto('/sign-in?next=/usage')
  await page.getByLabel('Email address').fill('alan@example.test')
  await page.getByLabel('Password').fill('another good one')
  await button(page, 'Sign in')
  await heading(page, 'Usage')

  await example.admin('PUT', '/api/portal/configuration', { secure_key_approval: true })
  t.after(() => example.admin('PUT', '/api/portal/configuration', { secure_key_approval: false }))
  await page.goto('/apis/weather')
  await button(page, 'Get a key')
  await heading(page, 'Keys')
  const COLLECT = /http\S+\/collect\?code=\S+/
  await eventually('the link to the key comes', () => linkOf(COLLECT) !== '')
  await page.goto(linkOf(COLLECT))
  await look(page, 'collect')
  await button(page, 'Show it to me')
  await heading(page, 'Your key')
  assert.equal(await weather((await shown(page)).Key!), 200)
  await page.goto(linkOf(COLLECT))
  await heading(page, 'Not found')
  await look(page, 'not-found')
})
