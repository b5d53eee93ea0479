import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  addMethod,
  answers,
  at,
  choose,
  confirmDelete,
  copies,
  field,
  flip,
  follow,
  heading,
  idIn,
  inspect,
  makeApi,
  ODD_NAME,
  save,
  saved,
  startApis,
} from '../../worlds/console/apis-world.ts'
import { checkThemes } from '../../worlds/console/world.ts'

const REFUSED = [/status of 40[0-4]/]
const PLAN = `Plan ${ODD_NAME}`

test('policies say what keys may do; keys are made, used, rotated, switched off and deleted', async (t) => {
  const world = await startApis(t)
  const orders = await makeApi(world, 'Orders', '/orders/', 'token')
  const stock = await makeApi(world, 'Stock', '/stock/', 'token')
  const page = await world.open(world.admin, '/policies', REFUSED)
  const plan = await makePolicy(world, page)
  await mergePolicies(world, page, plan, stock)
  await twoPeople(world, page, plan)
  const key = await makeKey(page)
  const rotated = await useKey(world, page, key)
  await findKeys(world, page, orders)
  await ownRights(world, page)
  await makeUser(world, page)
  await othersSee(world, plan)
  await deleteBoth(world, page, plan, rotated)
})

async function makePolicy(world: ApisWorld, page: Page): Promise<string> {
  await heading(page, 'Policies').waitFor()
  await inspect(page, 'policies')
  await page.getByRole('button', { name: 'Create policy' }).first().click()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('Required', { exact: true }).waitFor()
  await page.getByText('Choose at least one API').waitFor()
  await page.getByLabel(/^Name/).fill(PLAN)
  const rights = field(page, 'Add API')
  await rights.fill('ord')
  await page.getByRole('option', { name: 'Orders' }).click()
  await flip(page, 'Restrict paths')
  await page.getByLabel('Path 1', { exact: true }).fill('^/orders/open')
  await field(page, 'Requests').fill('50')
  await field(page, 'Quota').fill('5')
  await field(page, /^Tags/).fill('gold')
  await page.keyboard.press('Enter')
  await inspect(page, 'policy-new')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await saved(page)
  await heading(page, PLAN).waitFor()
  const id = idIn(page)
  const stored = (await world.api('GET', `/api/portal/policies/${id}`)).json
  assert.deepEqual([at(stored, 'name'), at(stored, 'rate'), at(stored, 'quota_max')], [PLAN, 50, 5])
  return id
}

async function mergePolicies(world: ApisWorld, page: Page, plan: string, stock: string): Promise<void> {
  const more = {
    ...{ name: 'Extra', active: true, rate: 10, per: 1, quota_max: -1 },
    access_rights: { [stock]: { api_id: stock, api_name: 'Stock', versions: ['Default'] } },
  }
  assert.equal((await world.api('POST', '/api/portal/policies', more)).status, 200)
  const merged = page.getByRole('table', { name: 'Effective access' })
  await merged.getByRole('link', { name: 'Orders' }).waitFor()
  await field(page, 'Other policies').fill('Extra')
  await page.getByRole('option', { name: 'Extra' }).click()
  await page.keyboard.press('Escape')
  await merged.getByRole('link', { name: 'Stock' }).waitFor()
  await merged.getByText('GET ^/orders/open').waitFor()
  await inspect(page, 'policy')
  await follow(page, merged.getByRole('link', { name: 'Orders' }), 'Orders')
  await page.goto('/policies')
  await page.getByLabel('Search by name or id').fill('extra')
  await eventually('the search stands in the address', () => /q=extra/.test(page.url()))
  await page.getByRole('link', { name: 'Extra' }).click()
  await heading(page, 'Extra').waitFor()
  await page.goBack()
  await eventually('the search is kept', () => /q=extra/.test(page.url()))
  await page.goto(`/policies/${plan}`)
  await becomes(() => page.getByLabel(/^Name/).inputValue(), PLAN)
}

async function twoPeople(world: ApisWorld, page: Page, plan: string): Promise<void> {
  await field(page, 'Quota').fill('7')
  const path = `/api/portal/policies/${plan}`
  assert.equal((await world.api('PATCH', path, { tags: ['theirs'] })).status, 200)
  await save(page)
  const dialog = page.getByRole('dialog', { name: 'Someone else changed this while you were editing' })
  await dialog.getByText('"theirs"').waitFor()
  await inspect(page, 'policy-conflict')
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await dialog.waitFor({ state: 'detached' })
  await saved(page)
  const stored = (await world.api('GET', path)).json
  assert.deepEqual([at(stored, 'quota_max'), at(stored, 'tags')], [7, ['gold']])
}

/** The key that a dialog shows this once. */
async function shownKey(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: title })
  const key = await dialog.locator('pre').first().innerText()
  const command = await dialog.getByLabel('Command', { exact: true }).innerText()
  assert.ok(command.startsWith('curl -i -H ') && command.includes(`: ${key}'`), command)
  await copies(dialog.getByRole('button', { name: 'Copy Command' }), command)
  await copies(dialog.getByRole('button', { name: 'Copy Key' }), key)
  await inspect(page, `key-${title.toLowerCase().replaceAll(' ', '-')}`)
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await dialog.waitFor({ state: 'detached' })
  return key
}

async function makeKey(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Create key' }).click()
  await heading(page, 'Create key').waitFor()
  const preview = page.getByRole('table', { name: 'Effective access' })
  await preview.getByText('GET ^/orders/open').waitFor()
  await follow(page, preview.getByRole('link', { name: 'Orders' }), 'Orders')
  await choose(page, page.getByRole('combobox', { name: /^Policies/ }), 'Extra')
  await preview.getByRole('link', { name: 'Stock' }).waitFor()
  await page.locator('.mantine-Pill-remove').nth(1).click()
  await preview.getByRole('link', { name: 'Stock' }).waitFor({ state: 'detached' })
  await page.getByLabel(/^Alias/).fill(ODD_NAME)
  await page.getByLabel(/^Expires/).fill('2001-01-01')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Choose a day in the future').waitFor()
  await page.getByLabel(/^Expires/).fill('')
  await inspect(page, 'key-new')
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = await shownKey(page, 'Key created')
  await heading(page, ODD_NAME).waitFor()
  assert.ok(!(await page.content()).includes(key))
  return key
}

async function useKey(world: ApisWorld, page: Page, key: string): Promise<string> {
  const hash = idIn(page)
  await answers(world, 200, '/orders/open', { 'x-key': key })
  assert.equal((await world.through('/orders/other', { 'x-key': key })).status, 403)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await page.getByLabel(/^Alias/).fill('Shop')
  await answers(world, 200, '/orders/open', { 'x-key': key })
  await save(page)
  await saved(page)
  await heading(page, 'Shop').waitFor()
  await page.getByText('5 of 7 left').first().waitFor()
  await eventually('its use is known', async () => {
    await page.reload()
    await heading(page, 'Shop').waitFor()
    return (await page.getByText(/seconds? ago|minute/).count()) > 1
  })
  await inspect(page, 'key')
  await page.getByRole('button', { name: 'Reset quota' }).click()
  await saved(page, 'Quota reset')
  await page.getByText('7 of 7 left').first().waitFor()

  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
  await saved(page, 'Key deactivated')
  await answers(world, 403, '/orders/open', { 'x-key': key })
  await page.getByText('Inactive', { exact: true }).waitFor()
  await checkThemes(page)
  await page.getByRole('button', { name: 'Activate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click()
  await saved(page, 'Key activated')
  await answers(world, 200, '/orders/open', { 'x-key': key })

  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  await choose(page, page.getByRole('dialog').getByRole('combobox', { name: /^Old one stays valid/ }), /^No time/)
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const next = await shownKey(page, 'New key')
  await answers(world, 200, '/orders/open', { 'x-key': next })
  await answers(world, 403, '/orders/open', { 'x-key': key })
  await page.waitForURL((url) => !url.pathname.endsWith(hash))
  await heading(page, 'Shop').waitFor()
  return next
}

async function findKeys(world: ApisWorld, page: Page, orders: string): Promise<void> {
  const right = { [orders]: { api_id: orders, api_name: 'Orders', versions: ['Default'] } }
  for (let number = 0; number < 30; number++) {
    const made = await world.api('POST', '/api/keys', { alias: `Caller ${number}`, access_rights: right })
    assert.equal(made.status, 200, made.text)
  }
  await page.goto('/keys')
  const search = page.getByLabel(/^Search by alias/)
  await page.getByRole('button', { name: 'Next page' }).click()
  await eventually('the page stands in the address', () => /p=2/.test(page.url()))
  await search.fill('caller 17')
  await page.getByRole('link', { name: 'Caller 17' }).waitFor()
  await eventually('one is left', async () => (await page.getByRole('row').count()) === 2)
  await search.fill('')
  await choose(page, page.getByRole('combobox', { name: 'Policy', exact: true }), PLAN)
  await page.getByRole('link', { name: 'Caller 17' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Shop' }).waitFor()
  await inspect(page, 'keys')
  await page.goto(`/keys?api=${orders}`)
  await eventually('the API is named', async () => (await field(page, 'API').inputValue()) === 'Orders')
  await field(page, 'API').fill('sto')
  await page.getByRole('option', { name: 'Stock' }).click()
  await page.getByText('No keys found').waitFor()
  assert.ok(!page.url().includes(orders))
}

/** Says what a key may do at the API that it names: one version more, one path alone, and limits. */
async function sayRights(page: Page, version: string, path: string): Promise<void> {
  await field(page, 'Add API').fill('Stock')
  await page.getByRole('option', { name: 'Stock' }).click()
  await page.getByRole('button', { name: 'Remove Stock' }).click()
  await field(page, /^Versions/).fill(version)
  await page.keyboard.press('Enter')
  await flip(page, 'Restrict paths')
  await page.getByLabel('Path 1', { exact: true }).fill('^/orders/kiosk')
  await page.getByRole('button', { name: 'Add path' }).click()
  await page.getByLabel('Path 2', { exact: true }).fill(`^/orders/${path}`)
  await addMethod(page, 2, 'PUT')
  await page.getByRole('button', { name: 'Remove path 1' }).click()
  await flip(page, 'Separate limits for this API')
  await page.getByLabel('Requests', { exact: true }).first().fill('2')
  await choose(page, field(page, 'per'), '1 hour')
  await page.getByLabel('Quota', { exact: true }).last().fill('9')
  await choose(page, page.getByRole('combobox', { name: 'Renews every' }).last(), '1 week')
}

/** A custom key with its own access rights and limits, which gets a policy instead later. */
async function ownRights(world: ApisWorld, page: Page): Promise<void> {
  const key = 'kiosk-key-that-was-there-before'
  await page.goto('/keys')
  await page.getByRole('link', { name: 'Create key' }).click()
  await choose(page, page.getByRole('combobox', { name: /^Access/ }), 'Custom access rights')
  await field(page, 'Add API').fill('Orders')
  await page.getByRole('option', { name: 'Orders' }).click()
  await sayRights(page, 'v2', 'desk')
  await page.getByLabel(/^Alias/).fill('Kiosk')
  await field(page, /^Tags/).fill('kiosk')
  await page.keyboard.press('Enter')
  for (const [row, name] of ['floor', 'door'].entries()) {
    await page.getByRole('button', { name: 'Add field' }).click()
    await page.getByLabel(`Name of field ${row + 1}`).fill(name)
    await page.getByLabel(`Value of ${name}`).fill('second')
  }
  await page.getByRole('button', { name: 'Remove door' }).click()
  await page.getByLabel(/^Custom key/).fill(key)
  await page.getByRole('button', { name: 'Create key' }).click()
  assert.equal(await shownKey(page, 'Key created'), key)
  await heading(page, 'Kiosk').waitFor()
  const read = async () => at((await world.api('GET', `/api/keys/${idIn(page)}?hashed=1`)).json, 'data')
  const made = await read()
  assert.deepEqual(
    ['quota_max', 'quota_renewal_rate', 'tags', 'meta_data'].map((name) => at(made, name)),
    [9, 604_800, ['kiosk'], { floor: 'second' }],
  )
  for (const status of [200, 200, 429])
    assert.equal((await world.through('/orders/desk', { 'x-key': key })).status, status)
  assert.equal((await world.through('/orders/kiosk', { 'x-key': key })).status, 403)
  await follow(page, page.getByRole('link', { name: 'View traffic' }), 'Analytics')

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await flip(page, 'Restrict paths')
  await flip(page, 'Separate limits for this API')
  await sayRights(page, 'v3', 'shelf')
  await save(page)
  await saved(page)
  const right = Object.values(at(await read(), 'access_rights') as object)[0]
  assert.deepEqual(at(right, 'versions'), ['Default', 'v2', 'v3'])
  assert.deepEqual(at(right, 'allowed_urls'), [{ url: '^/orders/shelf', methods: ['GET', 'PUT'] }])
  assert.equal((await world.through('/orders/desk', { 'x-key': key })).status, 403)

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await follow(
    page,
    page.getByRole('table', { name: 'Effective access' }).getByRole('link', { name: 'Orders' }),
    'Orders',
  )
  await choose(page, page.getByRole('combobox', { name: /^Access/ }), 'Policies')
  await choose(page, page.getByRole('combobox', { name: /^Policies/ }), 'Extra')
  await page.getByLabel(/^Expires/).fill('2099-12-31')
  await field(page, /^Tags/).fill('moved')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Name of field 2').fill('door')
  await page.getByLabel('Value of door').fill('north')
  await save(page)
  await saved(page)
  await answers(world, 200, '/stock/', { 'x-key': key })
  await answers(world, 403, '/orders/desk', { 'x-key': key })
  const changed = await read()
  assert.deepEqual(at(changed, 'meta_data'), { floor: 'second', door: 'north' })
  assert.deepEqual(at(changed, 'tags'), ['kiosk', 'moved'])
  assert.equal(new Date(Number(at(changed, 'expires')) * 1000).getUTCFullYear(), 2099)
  await follow(page, page.getByRole('link', { name: 'Extra' }), 'Extra')
  await follow(page, page.getByRole('link', { name: 'Stock' }), 'Stock')
}

async function makeUser(world: ApisWorld, page: Page): Promise<void> {
  await page.goto('/keys/new')
  await choose(page, page.getByRole('combobox', { name: /^Type/ }), 'Basic-auth user')
  await page.getByLabel(/^User name/).fill('printer')
  await page.getByLabel(/^Password/).fill('Paper-jam-42')
  await choose(page, page.getByRole('combobox', { name: /^Access/ }), 'Custom access rights')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Add at least one API').waitFor()
  await field(page, 'Add API').fill('sto')
  await page.getByRole('option', { name: 'Stock' }).click()
  await checkThemes(page)
  await page.getByRole('button', { name: 'Create key' }).click()
  await heading(page, 'printer').waitFor()
  await page.getByText('Basic-auth user').first().waitFor()
  await becomes(() => page.getByRole('button', { name: 'Rotate' }).getAttribute('aria-disabled'), 'true')
  assert.equal((await world.api('GET', `/api/keys/${idIn(page)}?hashed=1`)).status, 200)
}

async function othersSee(world: ApisWorld, plan: string): Promise<void> {
  const reader = await world.open(world.reader, `/policies/${plan}`)
  await heading(reader, PLAN).waitFor()
  await becomes(() => reader.getByLabel(/^Name/).isDisabled(), true)
  for (const name of ['Delete', 'Save']) await becomes(() => reader.getByRole('button', { name }).count(), 0, name)
  await inspect(reader, 'policy-read')
  await follow(reader, reader.getByRole('link', { name: 'Orders' }).first(), 'Orders')
  await reader.goto('/keys')
  await reader
    .getByRole('link', { name: /^Caller/ })
    .first()
    .click()
  await reader.getByRole('heading', { name: 'Effective access' }).waitFor()
  await becomes(() => reader.getByRole('button', { name: 'Edit' }).count(), 0)
  await checkThemes(reader)
  await reader.goto('/keys/new')
  await reader.getByText('You do not have access').waitFor()

  const owner = await world.open(world.owner, '/policies', REFUSED)
  await owner.getByRole('link', { name: PLAN }).waitFor()
  await owner.goto('/keys/nothing')
  await heading(owner, 'Key not found').waitFor()
  await owner.getByRole('link', { name: 'Back to list' }).click()
  await heading(owner, 'Keys').waitFor()
  await checkThemes(owner)
}

async function deleteBoth(world: ApisWorld, page: Page, plan: string, key: string): Promise<void> {
  await page.goto(`/policies/${plan}`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByText('Keys with this policy: 1').waitFor()
  await checkThemes(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Keys with this policy' }).click()
  await page.getByRole('link', { name: 'Shop' }).click()
  await heading(page, 'Shop').waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await confirmDelete(page, 'Shop', 'Requests with it are refused')
  await heading(page, 'Keys').waitFor()
  await answers(world, 403, '/orders/open', { 'x-key': key })
  await page.goBack()
  await page.goto(`/policies/${plan}`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await confirmDelete(page, PLAN)
  await heading(page, 'Policies').waitFor()
  assert.equal((await world.api('GET', `/api/portal/policies/${plan}`)).status, 404)
  await page.goto(`/policies/${plan}`)
  await heading(page, 'Policy not found').waitFor()
  await checkThemes(page)
}
