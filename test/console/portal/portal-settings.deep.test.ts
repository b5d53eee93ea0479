import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import { LONG_NAME, ODD_NAME, pick, save, tab } from '../../worlds/console/apis-world.ts'
import { confirm, shoot, told } from '../../worlds/console/portal-world.ts'
import { type ConsoleWorld, checkThemes, signIn, startConsole } from '../../worlds/console/world.ts'

/** Refusals that the journeys bring about themselves. */
const REFUSED = [/status of 40[039]/]

const dialog = (page: Page) => page.getByRole('dialog')
const json = async ({ api }: ConsoleWorld, path: string) => (await api('GET', `/api/portal/${path}`)).json as JsonObject

async function settings(t: TestContext) {
  const world = await startConsole(t)
  const browser = await startBrowser(t)
  const { page } = await openPage(t, browser, { base: world.base, allow: REFUSED })
  await signIn(page, world.admin, '/portal-settings')
  return { world, browser, page }
}

test('the settings of the portal: people, requests, mails, look, pages and menus', async (t) => {
  const { world, browser, page } = await settings(t)
  await t.test('who signs up, and what is asked', () => access(world, page))
  await t.test('how keys are asked for', () => requests(world, page))
  await t.test('what mails say', () => mails(world, page))
  await t.test('where the portal is and how it looks', () => look(world, page))
  await t.test('pages are made, changed and deleted', () => pages(world, page))
  await t.test('menus lead to them', () => menus(world, page))
  await t.test('a reader changes nothing', async (inner) => {
    const { page: reader } = await openPage(inner, browser, { base: world.base })
    await signIn(reader, world.reader, '/portal-settings')
    for (const name of ['Key requests', 'Email', 'Address and appearance', 'Pages and menus', 'Sign-up and sign-in']) {
      await tab(reader, name)
      await reader.getByRole('tabpanel', { name }).getByRole('textbox').or(reader.getByRole('switch')).first().waitFor()
      await becomes(() => reader.getByRole('button', { name: /^Save|^Add|^Move|^Remove/ }).count(), 0, name)
    }
    await becomes(() => reader.getByLabel('Open sign-up').isDisabled(), true)
    await checkThemes(reader)
  })
})

async function access(world: ConsoleWorld, page: Page): Promise<void> {
  await page.getByLabel('Sign in after sign-up').uncheck()
  await page.getByLabel('Catalogue for signed-in developers only').check()
  for (const [at, name] of ['Name', ODD_NAME, 'Company'].entries()) {
    await page.getByRole('button', { name: 'Add field' }).click()
    await page.getByLabel(`Sign-up fields: name ${at + 1}`).fill(name)
  }
  await page.getByRole('button', { name: 'Move Company up' }).click()
  await page.getByRole('button', { name: 'Move Name down' }).click()
  await page.getByRole('button', { name: 'Add field' }).click()
  await save(page)
  await page.getByText('Enter a name for every field').waitFor()
  await page.getByRole('button', { name: 'Remove', exact: false }).last().click()
  await checkThemes(page)
  await shoot(page, 'portal-settings')
  await save(page)
  await told(page)
  const { signup_fields, disable_auto_login, catalogue_login_only } = await json(world, 'configuration')
  assert.deepEqual(signup_fields, ['Company', 'Name', ODD_NAME])
  assert.deepEqual([disable_auto_login, catalogue_login_only], [true, true])
  await meetAnother(world, page)
  await page.getByLabel('Password sign-in').uncheck()
  await tab(page, 'Key requests')
  const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' })
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await page.getByLabel('Open sign-up').uncheck()
  await page.getByLabel('Sign in after sign-up').waitFor({ state: 'detached' })
  await save(page)
  await told(page)
  const stored = await json(world, 'configuration')
  assert.deepEqual([stored.disable_signup, stored.disable_login], [true, true])
}

/** Another user changes other fields at the same time: they are shown, and taken. */
async function meetAnother(world: ConsoleWorld, page: Page): Promise<void> {
  const members = page.getByLabel('Catalogue for signed-in developers only')
  await members.uncheck()
  const theirs = await world.api('PUT', '/api/portal/configuration', { signup_fields: ['Theirs', 'Name'] })
  assert.equal(theirs.status, 200, theirs.text)
  await save(page)
  await dialog(page).getByText('"Theirs"').waitFor()
  await dialog(page).getByRole('button', { name: 'Continue editing' }).click()
  await becomes(() => members.isChecked(), false)
  await save(page)
  await dialog(page).getByRole('button', { name: 'Take theirs' }).click()
  await dialog(page).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove Theirs' }).click()
  await becomes(() => members.isChecked(), true, 'one’s own is given up')
  await save(page)
  await told(page)
  const { signup_fields, catalogue_login_only } = await json(world, 'configuration')
  assert.deepEqual([signup_fields, catalogue_login_only], [['Name'], true])
}

async function requests(world: ConsoleWorld, page: Page): Promise<void> {
  await tab(page, 'Key requests')
  await page.getByLabel('Require approval').check()
  await page.getByLabel('Developers collect their keys').check()
  await page.getByText('Email is not configured').waitFor()
  await page.getByLabel('Allow several policies per request').check()
  await page.getByLabel('Redirect key requests').check()
  await page.getByLabel('Redirect URL').fill('ftp://elsewhere.example')
  await page.getByLabel('Limit OAuth apps per developer').check()
  await page.getByLabel('Maximum OAuth apps').fill('3')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Key request fields: name 1').fill('Mistaken')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Key request fields: name 2').fill('Use')
  await page.getByRole('button', { name: 'Remove Mistaken' }).click()
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Key request fields: name 2').fill('Where')
  for (const step of ['up', 'down', 'up']) await page.getByRole('button', { name: `Move Where ${step}` }).click()
  await save(page)
  await page.getByText('Enter a URL that starts with http:// or https://').waitFor()
  await page.getByLabel('Redirect URL').fill('https://pay.example/')
  await checkThemes(page)
  await shoot(page, 'portal-settings-requests')
  await save(page)
  await told(page)
  const { oauth_usage_limit, redirect_to, key_request_fields } = await json(world, 'configuration')
  assert.deepEqual([oauth_usage_limit, redirect_to, key_request_fields], [3, 'https://pay.example/', ['Where', 'Use']])
  await page.reload()
  await page.getByRole('tab', { name: 'Key requests', selected: true }).waitFor()
  await becomes(() => page.getByLabel('Require approval').isChecked(), true)
}

async function mails(world: ConsoleWorld, page: Page): Promise<void> {
  await tab(page, 'Email')
  await page.getByLabel('Sender name').fill('Acme <portal>')
  await page.getByLabel('Sender address').fill('nobody')
  await save(page)
  await page.getByText('Enter a valid email address').waitFor()
  await page.getByLabel('Sender address').fill('portal@example.test')
  await page.getByLabel('Contact address').fill('help@example.test')
  await checkThemes(page)
  await shoot(page, 'portal-settings-mails')
  await save(page)
  await told(page)
  for (const name of ['Password reset', 'Welcome', 'Key']) {
    await pick(page, 'Email', name)
    await page.getByLabel('Send this email').waitFor()
  }
  await sendOne(world, page, 'Welcome', 'welcome_email')
  await sendOne(world, page, 'Key', 'key_email')
  await page.getByLabel('Send this email').check()
  await page.getByLabel('Omit keys and secrets from the email').check()
  await page.getByLabel('Subject').fill('{{nobody}}')
  await save(page)
  await page.getByText('{{nobody}} is unknown').waitFor()
  await page.getByLabel('Subject').fill('Hello {{name}} <b>')
  await page.getByRole('textbox', { name: /^Text/ }).fill('Your key for ')
  await page.getByRole('button', { name: '{{api}}' }).click()
  await page.getByLabel('Sign-off').fill('مع التحية 🙂')
  await page.getByText('Hello Ada Lovelace <b>').waitFor()
  await page.getByText('Orders', { exact: false }).last().waitFor()
  await checkThemes(page)
  await shoot(page, 'portal-settings-mail-text')
  await save(page)
  await told(page)
  const { mail_options: options } = (await json(world, 'configuration')) as { mail_options: JsonObject }
  const { key_email: copy } = options.email_copy as { key_email: JsonObject }
  assert.equal(options.mail_from_name, 'Acme <portal>')
  assert.deepEqual([copy.enabled, copy.hide_token_data, copy.sign_off], [true, true, 'مع التحية 🙂'])
  assert.match(String(copy.body), /\{\{api\}\}/)
}

/** Turns a mail on or off. */
async function sendOne(world: ConsoleWorld, page: Page, name: string, sort: string): Promise<void> {
  await pick(page, 'Email', name)
  const sends = page.getByLabel('Send this email')
  const before = await sends.isChecked()
  await sends.setChecked(!before)
  await save(page)
  await told(page)
  const { mail_options } = (await json(world, 'configuration')) as { mail_options: JsonObject }
  assert.equal(((mail_options.email_copy as JsonObject)[sort] as JsonObject).enabled, !before)
}

async function look(world: ConsoleWorld, page: Page): Promise<void> {
  await tab(page, 'Address and appearance')
  await page.getByLabel('Portal URL').fill('nowhere')
  await page.getByRole('button', { name: 'Save' }).first().click()
  await page.getByText('Enter a URL that starts with http:// or https://').waitFor()
  await page.getByLabel('Portal URL').fill('https://developers.example.test')
  await page.getByRole('button', { name: 'Save' }).first().click()
  await told(page)
  await page.getByLabel('Portal host').fill('https://developers.example.test')
  await page.getByRole('button', { name: 'Save' }).last().click()
  await page.getByText('Enter a host').waitFor()
  await page.getByLabel('Portal host').fill('developers.example.test')
  await page.getByLabel('Page style sheet').fill('h1 { color: teal }')
  await page.getByLabel('Email style sheet').fill('p { margin: 0 }')
  await page.getByLabel('Page script').fill('console.log(1)')
  await checkThemes(page)
  await shoot(page, 'portal-settings-look')
  await page.getByRole('button', { name: 'Save' }).last().click()
  await told(page)
  assert.equal((await json(world, 'configuration')).portal_url, 'https://developers.example.test')
  const { page_css, email_css } = await json(world, 'css')
  assert.deepEqual([page_css, email_css], ['h1 { color: teal }', 'p { margin: 0 }'])
  assert.equal((await json(world, 'js')).page_js, 'console.log(1)')
  const { cname } = (await world.api('GET', '/api/org')).json as JsonObject
  assert.equal(cname, 'developers.example.test')
}

async function pages(world: ConsoleWorld, page: Page): Promise<void> {
  await tab(page, 'Pages and menus')
  await page.getByText('No pages yet').waitFor()
  await checkThemes(page)
  await page.getByRole('button', { name: 'Add page' }).click()
  const add = dialog(page).getByRole('button', { name: 'Add page' })
  await add.click()
  await becomes(() => dialog(page).getByText('Required', { exact: true }).count(), 2)
  await dialog(page).getByLabel('Title').fill(`${LONG_NAME}${LONG_NAME}`)
  await dialog(page).getByLabel('Path').fill('../secret')
  await dialog(page).getByLabel('Values').fill('[]')
  await add.click()
  await dialog(page).getByText('At most 256 characters').waitFor()
  await dialog(page).getByText('Enter / or words of letters, digits').waitFor()
  await dialog(page).getByText('Enter a JSON object').waitFor()
  await dialog(page).getByLabel('Title').fill(LONG_NAME)
  await dialog(page).getByLabel('Path').fill('/')
  await dialog(page).getByLabel('Home page').check()
  await dialog(page).getByLabel('Template').fill('home')
  await dialog(page).getByLabel('Values').fill('{"Lead": "<b>Hi</b>"}')
  await checkThemes(page)
  await shoot(page, 'portal-page')
  await add.click()
  await page.getByRole('cell').filter({ hasText: LONG_NAME }).waitFor()
  const [made] = (await json(world, 'pages')).Data as JsonObject[]
  assert.deepEqual([made!.slug, made!.is_homepage, made!.fields], ['/', true, { Lead: '<b>Hi</b>' }])
  await shoot(page, 'portal-pages')

  await page.getByRole('button', { name: `Edit ${LONG_NAME}` }).click()
  await dialog(page).getByLabel('Title').fill(ODD_NAME)
  const { id: _id, ...rest } = made!
  await world.api('PUT', `/api/portal/pages/${made!.id}`, { ...rest, template_name: 'theirs' })
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await page
    .getByRole('dialog', { name: 'Someone else changed this while you were editing' })
    .getByText('Keep mine')
    .click()
  await page.getByRole('cell').filter({ hasText: ODD_NAME }).waitFor()
  assert.equal((await json(world, `pages/${made!.id}`)).template_name, 'home')
  await page.getByRole('button', { name: `Edit ${ODD_NAME}` }).click()
  await dialog(page).getByLabel('Path').fill('guides/first')
  await dialog(page).getByLabel('Home page').uncheck()
  await dialog(page).getByLabel('Template').fill('guide')
  await dialog(page).getByLabel('Values').fill('{"Steps": ["a", 2]}')
  await dialog(page).getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell').filter({ hasText: 'guides/first' }).waitFor()
  const { slug, is_homepage, template_name, fields } = await json(world, `pages/${made!.id}`)
  assert.deepEqual([slug, is_homepage, template_name, fields], ['guides/first', false, 'guide', { Steps: ['a', 2] }])
  await page.getByRole('button', { name: `Delete ${ODD_NAME}` }).click()
  await confirm(page, ODD_NAME, 'Delete')
  await page.getByText('No pages yet').waitFor()
  assert.equal((await world.api('GET', `/api/portal/pages/${made!.id}`)).status, 404)
}

async function menus(world: ConsoleWorld, page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add menu' }).click()
  await save(page)
  await page.getByText('Enter a name for every menu').waitFor()
  await page.getByLabel('Name of menu 1').fill('main')
  const line = async (at: number, title: string, url: string) => {
    await page.getByRole('button', { name: 'Add item' }).click()
    await page.getByLabel(`Title of item ${at} of main`).fill(title)
    await page.getByLabel(`Address of item ${at} of main`).fill(url)
  }
  await line(1, ODD_NAME, 'javascript:alert(1)')
  await line(2, 'Guides', '/guides')
  await save(page)
  await page.getByText(`“${ODD_NAME}” must link to a path`).waitFor()
  await page.getByLabel('Address of item 1 of main').fill('mailto:help@example.test')
  await page.getByRole('button', { name: 'Move item 2 of main up' }).click()
  await line(3, 'Odd', '/odd')
  await page.getByRole('button', { name: 'Move item 1 of main down' }).click()
  await page.getByRole('button', { name: 'Remove item 3 of main' }).click()
  await page.getByLabel('Show menus').check()
  await page.getByRole('button', { name: 'Add menu' }).click()
  await page.getByRole('button', { name: 'Remove menu', exact: false }).last().click()
  await checkThemes(page)
  await shoot(page, 'portal-menus')
  await save(page)
  await told(page)
  const stored = await json(world, 'menus')
  assert.equal(stored.is_active, true)
  const main = [
    { title: ODD_NAME, url: 'mailto:help@example.test' },
    { title: 'Guides', url: '/guides' },
  ]
  assert.deepEqual(stored.menus, { main })
  await page.reload()
  await becomes(() => page.getByLabel('Title of item 2 of main').inputValue(), 'Guides')
}
