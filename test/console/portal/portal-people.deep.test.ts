import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { heading, LONG_NAME, ODD_NAME, save, tab } from '../../worlds/console/apis-world.ts'
import { copied, ledTo } from '../../worlds/console/clipboard.ts'
import { decideHere } from '../../worlds/console/portal-decisions.ts'
import {
  addChoice,
  confirm,
  DEVELOPERS,
  EMAIL,
  fromMenu,
  keysOf,
  NAMES,
  type PortalWorld,
  pickOption,
  recordOf,
  shoot,
  startPortal,
  takeSecrets,
  told,
} from '../../worlds/console/portal-world.ts'
import { checkThemes, passwordOf } from '../../worlds/console/world.ts'

/** Refusals that the journeys bring about themselves. */
const REFUSED = [/status of 40[034]/, /ERR_INTERNET_DISCONNECTED/]

const dialog = (page: Page) => page.getByRole('dialog')
const fact = (page: Page, text: string) => page.getByRole('definition').filter({ hasText: text })

test('administrators and limited users manage developers, keys, apps and requests', async (t) => {
  const world = await startPortal(t)
  const page = await world.open(world.admin, '/developers', REFUSED)
  await t.test('an account is added by hand, with names of any sort', () => addDeveloper(world, page))
  await t.test('a key is given, used, given other policies, rotated and revoked', () => workOnKeys(world, page))
  await t.test('an app is made, changed, gets another secret, and goes', () => workOnApps(world, page))
  await t.test('requests are approved, declined and forgotten', () => decide(world, page))
  await t.test('two people change one account; a password is set', () => changeDetails(world, page))
  await t.test('a reader looks, and an owner without the right is told so', () => looksOnly(world))
  await t.test('an account goes with all that it holds', () => deleteDeveloper(world, page))
})

async function addDeveloper(world: PortalWorld, page: Page): Promise<void> {
  await page.getByText('No developers yet').waitFor()
  await page.getByRole('link', { name: 'Portal settings', exact: true }).last().click()
  await heading(page, 'Portal settings').waitFor()
  await page.goBack()
  await page.getByText('No developers yet').waitFor()
  await checkThemes(page)
  await shoot(page, 'developers-none')
  await page.getByRole('button', { name: 'Add developer' }).last().click()
  await heading(page, 'Add developer').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Add developer' }).first().click()
  const add = page.getByRole('button', { name: 'Add developer', exact: true })
  await add.click()
  await page.getByText('Required', { exact: true }).waitFor()
  await page.getByLabel('Email address').fill('nobody')
  await add.click()
  await page.getByText('Enter a valid email address').waitFor()
  await page.getByLabel('Email address').fill(EMAIL)
  await passwordOf(page).fill('Correct-horse-7')
  await page.getByLabel('Value of Name').fill(ODD_NAME)
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Name of field 2').fill('شركة 🏢')
  await page.getByLabel('Value of شركة 🏢').fill(LONG_NAME)
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Name of field 3').fill('Name')
  await add.click()
  await page.getByText('Use each field name only once').waitFor()
  await page.getByRole('button', { name: 'Remove Name' }).last().click()
  await checkThemes(page)
  await shoot(page, 'developer-new')
  await add.click()
  await heading(page, EMAIL).waitFor()
  for (const text of [ODD_NAME, LONG_NAME]) await fact(page, text).waitFor()
  await page.getByText('Never signed in').waitFor()
  await page.getByText('No keys', { exact: true }).waitFor()
  await checkThemes(page)
  await shoot(page, 'developer')
  const { fields } = await recordOf(world)
  assert.deepEqual(fields, { Name: ODD_NAME, 'شركة 🏢': LONG_NAME })
  const login = { username: EMAIL, password: 'Correct-horse-7' }
  assert.equal((await world.api('POST', `${DEVELOPERS}/verify_credentials`, login)).status, 200)
}

async function workOnKeys(world: PortalWorld, page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Give access' }).click()
  const give = dialog(page).getByRole('button', { name: 'Give access' })
  await give.click()
  await dialog(page).getByText('Required', { exact: true }).waitFor()
  await addChoice(page, dialog(page).getByRole('combobox', { name: 'Policies' }), NAMES.gold)
  await pickOption(page, dialog(page).getByRole('combobox', { name: 'Expires' }), 'In 30 days')
  await dialog(page).getByRole('button', { name: 'Add field' }).click()
  await dialog(page).getByLabel('Name of field 1').fill('Project')
  await dialog(page).getByLabel('Value of Project').fill(ODD_NAME)
  await dialog(page).getByRole('button', { name: 'Add field' }).click()
  await dialog(page).getByLabel('Name of field 2').fill('Mistaken')
  await dialog(page).getByRole('button', { name: 'Remove Mistaken' }).click()
  await checkThemes(page)
  await shoot(page, 'give-access')
  await give.click()
  const [key = ''] = await takeSecrets(page, 'Key created')
  await eventually('the gateway takes the key', async () => (await world.withKey(key)) === 200)
  const row = page.getByRole('row').filter({ hasText: 'Project' })
  await row.getByRole('link', { name: NAMES.gold }).waitFor()
  const [made] = await keysOf(world)
  assert.equal((made!.fields as JsonObject).Project, ODD_NAME)
  assert.ok(!Object.hasOwn(made!.fields as JsonObject, 'Mistaken'))
  assert.equal(await copied(page, row.getByRole('button', { name: 'Copy key hash' })), made!.key_id)
  await row.getByRole('link', { name: NAMES.gold }).click()
  await heading(page, NAMES.gold).waitFor()
  await page.goBack()
  await row.waitFor()
  assert.ok(Math.abs(Number(made!.expires) * 1000 - Date.now() - 30 * 86_400_000) < 600_000, String(made!.expires))
  await eventually('the quota is counted', async () => Number((await keysOf(world))[0]!.quota_remaining) < 100)
  await page.reload()
  await page.getByText(/^[1-9]\d* of 100$/).waitFor()
  await checkThemes(page)
  await shoot(page, 'developer-key')
  const menu = /^Actions for /
  await fromMenu(page, menu, 'Reset quota')
  await page.getByText('Quota reset').waitFor()
  await page.getByText('0 of 100').waitFor()

  await fromMenu(page, menu, 'Change policies')
  await addChoice(page, dialog(page).getByRole('combobox', { name: 'Policies' }), NAMES.silver)
  await save(page)
  await row.getByRole('link', { name: NAMES.silver }).waitFor()
  assert.deepEqual((await keysOf(world))[0]!.policies, ['gold', 'silver'])

  await fromMenu(page, menu, 'Rotate')
  await pickOption(page, dialog(page).getByRole('combobox', { name: 'Old one stays valid for' }), '1 hour')
  await dialog(page).getByRole('button', { name: 'Rotate' }).click()
  await dialog(page).getByText('The old one is valid until').waitFor()
  const [second = ''] = await takeSecrets(page, 'Key created')
  await eventually('both work', async () => (await world.withKey(second)) === 200 && (await world.withKey(key)) === 200)
  await page.getByText('Replaced').waitFor()
  await checkThemes(page)

  const newest = (await keysOf(world)).find(({ status }) => status === 'active')!
  const name = String(newest.key_id).slice(0, 10)
  await fromMenu(page, `Actions for ${name}`, 'Revoke')
  await dialog(page).getByText(NAMES.silver).waitFor()
  await confirm(page, name, 'Revoke')
  await page.getByText('No keys', { exact: true }).waitFor()
  await eventually('neither works', async () => {
    return (await world.withKey(second)) === 403 && (await world.withKey(key)) === 403
  })
}

async function workOnApps(world: PortalWorld, page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Give access' }).click()
  await addChoice(page, dialog(page).getByRole('combobox', { name: 'Policies' }), NAMES.apps)
  await dialog(page).getByLabel('Create an OAuth app instead of a key').check()
  await dialog(page).getByLabel('App name').fill(ODD_NAME)
  await dialog(page).getByLabel('Redirect URI').fill('https://app.example.test/callback')
  await dialog(page).getByLabel('Description').fill('Reads <script>alert(1)</script>')
  await dialog(page).getByRole('button', { name: 'Give access' }).click()
  const [clientId = '', secret = ''] = await takeSecrets(page, 'OAuth app created')
  let token = ''
  await eventually('the app gets a token', async () => {
    token = await world.token(clientId, secret)
    return token !== ''
  })
  assert.equal(await world.withToken(token), 200)
  await tab(page, 'OAuth apps (1)')
  const row = page.getByRole('row').filter({ hasText: ODD_NAME })
  await row.waitFor()
  await checkThemes(page)
  await shoot(page, 'developer-apps')
  assert.equal(await copied(page, row.getByRole('button', { name: 'Copy client ID' })), clientId)
  await row.getByRole('link', { name: NAMES.apps }).click()
  await heading(page, NAMES.apps).waitFor()
  await page.goBack()
  await row.waitFor()

  const menu = `Actions for ${ODD_NAME}`
  await fromMenu(page, menu, 'Edit')
  await dialog(page).getByLabel('App name').fill('Ledger app')
  await dialog(page).getByLabel('Redirect URI').fill('https://app.example.test/back')
  await dialog(page).getByLabel('Use case').fill('Month end')
  await dialog(page).getByLabel('Description').fill('Reads')
  await save(page)
  await page.getByRole('cell').filter({ hasText: 'Month end' }).waitFor()
  const app = await world.done('GET', `${DEVELOPERS}/oauth/${clientId}`)
  assert.deepEqual([app.client_name, app.redirect_uri], ['Ledger app', 'https://app.example.test/back'])

  await fromMenu(page, 'Actions for Ledger app', 'Rotate secret')
  await pickOption(page, dialog(page).getByRole('combobox', { name: 'Old one stays valid for' }), 'No time: revoke now')
  await dialog(page).getByRole('button', { name: 'Rotate' }).click()
  await dialog(page).getByText('The old one no longer works').waitFor()
  const [, next = ''] = await takeSecrets(page, 'OAuth app created')
  await eventually('the new secret works alone', async () => {
    return (await world.token(clientId, next)) !== '' && (await world.token(clientId, secret)) === ''
  })
  await fromMenu(page, 'Actions for Ledger app', 'Delete')
  await confirm(page, 'Ledger app', 'Delete')
  await page.getByText('No OAuth apps', { exact: true }).waitFor()
  await eventually('its tokens end', async () => [401, 403].includes(await world.withToken(token)))
  await tab(page, 'Keys (0)')
  await page.getByText('No keys', { exact: true }).waitFor()
}

async function decide(world: PortalWorld, page: Page): Promise<void> {
  await world.done('PUT', '/api/portal/configuration', { require_key_approval: true, enable_multi_selection: true })
  await decideHere(world, page)
  const { id } = await recordOf(world)
  const first = `For ${ODD_NAME}`
  for (const [policy, use] of [
    ['gold', first],
    ['silver', 'For nothing'],
  ] as const)
    await world.done('POST', '/api/portal/requests', { by_user: id, apply_policies: [policy], fields: { Use: use } })
  const row = (use: string) => page.getByRole('row').filter({ hasText: use })
  await page.goto('/key-requests')
  await row(first).waitFor()
  await checkThemes(page)
  await shoot(page, 'key-requests')
  await row(first).getByRole('link', { name: EMAIL }).click()
  await heading(page, EMAIL).waitFor()
  await page.goBack()

  await row(first).getByRole('button', { name: 'Approve' }).click()
  await dialog(page).getByText(first).waitFor()
  await dialog(page).getByText('The key is created and shown to you once').waitFor()
  await checkThemes(page)
  // The rights of the policy are read before it is given.
  await dialog(page).getByRole('link', { name: NAMES.gold }).click()
  await heading(page, NAMES.gold).waitFor()
  await page.goBack()
  await row(first).getByRole('button', { name: 'Approve' }).click()
  await dialog(page).getByRole('button', { name: 'Approve' }).click()
  const [key = ''] = await takeSecrets(page, 'Key created')
  await eventually('the key works', async () => (await world.withKey(key)) === 200)
  await row(first).waitFor({ state: 'detached' })

  await row('For nothing').getByRole('button', { name: 'Decline' }).click()
  await dialog(page).getByLabel('Reason').fill('Not <now>')
  await dialog(page).getByRole('button', { name: 'Decline' }).click()
  const mail = dialog(page).getByRole('link', { name: 'Write email' })
  assert.match(await ledTo(mail), /^mailto:dev%40partner\.example\?.*body=Not%20%3Cnow%3E$/)
  assert.equal(await copied(page, dialog(page).getByRole('button', { name: 'Copy Reason' })), 'Not <now>')
  await dialog(page).getByRole('button', { name: 'Close', exact: true }).last().click()
  await page.getByText('No pending requests').waitFor()

  await page.getByText('Approved', { exact: true }).click()
  await row(first).waitFor()
  await becomes(() => new URL(page.url()).search, '?state=approved')
  await page.reload()
  await row(first).waitFor()
  await fromMenu(page, `Actions for ${EMAIL}`, 'Delete')
  await confirm(page, EMAIL, 'Delete')
  await page.getByText('No requests', { exact: true }).waitFor()
  assert.deepEqual((await world.done('GET', '/api/portal/requests?p=-1')).Data, [])
  assert.equal(await world.withKey(key), 200, 'the key stays')
  await page.getByRole('link', { name: 'Approval settings' }).click()
  await page.getByRole('tab', { name: 'Key requests', selected: true }).waitFor()
}

async function changeDetails(world: PortalWorld, page: Page): Promise<void> {
  const { id } = await recordOf(world)
  await page.goto(`/developers/${id}?tab=details`)
  await page.getByLabel('Value of Name').fill('Mine')
  await page.getByLabel('Inactive').check()
  await world.done('PATCH', `${DEVELOPERS}/${id}`, { fields: { Name: 'Theirs' } })
  await save(page)
  await dialog(page).getByText('"Name": "Theirs"').waitFor()
  await checkThemes(page)
  await shoot(page, 'conflict')
  await dialog(page).getByRole('button', { name: 'Continue editing' }).click()
  await becomes(() => page.getByLabel('Value of Name').inputValue(), 'Mine')
  await save(page)
  await dialog(page).getByRole('button', { name: 'Keep mine' }).click()
  await told(page)
  const { fields, inactive } = await recordOf(world)
  assert.deepEqual([(fields as JsonObject).Name, inactive], ['Mine', true])
  await changeFields(world, page)
  await page.getByText('Inactive', { exact: true }).first().waitFor()
  await checkThemes(page)

  await page.getByLabel('Value of Name').fill('Half typed')
  await page.context().setOffline(true)
  await save(page)
  await page.getByText('The dashboard did not respond').waitFor()
  await page.context().setOffline(false)
  await save(page)
  await told(page)
  assert.equal(((await recordOf(world)).fields as JsonObject).Name, 'Half typed')

  await fromMenu(page, 'More', 'Set password')
  await passwordOf(dialog(page), 'New password').fill('x')
  await dialog(page).getByRole('button', { name: 'Set password' }).click()
  await dialog(page).getByRole('alert').waitFor()
  await passwordOf(dialog(page), 'New password').fill('Another-horse-8')
  await dialog(page).getByRole('button', { name: 'Set password' }).click()
  await page.getByText('Password set').waitFor()
  const login = { username: EMAIL, password: 'Another-horse-8' }
  assert.equal((await world.api('POST', `${DEVELOPERS}/verify_credentials`, login)).status, 200)
}

/** Another address and other fields; another user is faster again, and their version is taken. */
async function changeFields(world: PortalWorld, page: Page): Promise<void> {
  const { id } = await recordOf(world)
  await page.getByLabel('Email address').fill('moved@partner.example')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Name of field 3').fill('Team')
  await page.getByLabel('Value of Team').fill('Blue')
  await page.getByRole('button', { name: 'Remove شركة 🏢' }).click()
  await save(page)
  await told(page)
  const moved = await recordOf(world, 'moved@partner.example')
  assert.deepEqual([moved.id, moved.fields], [id, { Name: 'Mine', Team: 'Blue' }])
  await page.getByLabel('Value of Team').fill('Red')
  await world.done('PATCH', `${DEVELOPERS}/${id}`, { email: EMAIL })
  await save(page)
  await dialog(page).getByRole('button', { name: 'Take theirs' }).click()
  await dialog(page).waitFor({ state: 'detached' })
  await eventually('theirs is shown', async () => (await page.getByLabel('Email address').inputValue()) === EMAIL)
  await becomes(() => page.getByLabel('Value of Team').inputValue(), 'Blue')
  assert.deepEqual((await recordOf(world)).fields, { Name: 'Mine', Team: 'Blue' })
}

async function looksOnly(world: PortalWorld): Promise<void> {
  const { id } = await recordOf(world)
  await world.done('POST', '/api/portal/requests', { by_user: id, apply_policies: ['silver'], fields: {} })
  const reader = await world.open(world.reader, `/developers/${id}`, [])
  await becomes(() => reader.getByRole('button', { name: 'Give access' }).getAttribute('aria-disabled'), 'true')
  await reader.getByRole('cell').first().waitFor()
  await becomes(() => reader.getByRole('button', { name: /^Actions for|^More$/ }).count(), 0)
  await tab(reader, 'Details')
  await becomes(() => reader.getByLabel('Email address').isDisabled(), true)
  await becomes(() => reader.getByLabel('Value of Name').isDisabled(), true)
  await becomes(() => reader.getByRole('button', { name: /^Save|^Add|^Remove/ }).count(), 0)
  await checkThemes(reader)
  await reader.goto('/key-requests')
  await reader.getByRole('button', { name: 'Approve' }).hover()
  await reader.getByText('You need the permission “portal: write”.').waitFor()
  await reader.goto('/developers/new')
  await reader.getByText('You do not have access').waitFor()
  const owner = await world.open(world.owner, `/developers/${id}`, [])
  await owner.getByText('You do not have access').waitFor()
  await checkThemes(owner)
  await shoot(owner, 'portal-not-allowed')
}

async function deleteDeveloper(world: PortalWorld, page: Page): Promise<void> {
  const { id } = await recordOf(world)
  const { RawKey: key } = await world.done('POST', `${DEVELOPERS}/${id}/keys`, { apply_policies: ['silver'] })
  await eventually('the key works', async () => (await world.withKey(String(key))) === 200)
  await page.goto('/developers?q=partner')
  await page.getByRole('link', { name: EMAIL }).click()
  await fromMenu(page, 'More', 'Delete developer')
  await dialog(page).getByText('Keys: 2. Calls with them are refused from now on.').waitFor()
  await dialog(page).getByText('Key requests: 1.').waitFor()
  await checkThemes(page)
  await shoot(page, 'delete-developer')
  await confirm(page, EMAIL, 'Delete')
  await heading(page, 'Developers').waitFor()
  await eventually('the key is refused', async () => (await world.withKey(String(key))) === 403)
  assert.equal((await world.api('GET', `${DEVELOPERS}/${id}`)).status, 404)
  await page.goBack()
  await heading(page, 'Developers').waitFor()
  await page.goto(`/developers/${id}`)
  await heading(page, 'Developer not found').waitFor()
  await checkThemes(page)
  await page.getByRole('link', { name: 'Back to list' }).click()
  await heading(page, 'Developers').waitFor()
}
