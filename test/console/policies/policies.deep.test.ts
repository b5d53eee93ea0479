import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  addMethod,
  at,
  choose,
  field,
  flip,
  heading,
  idIn,
  inspect,
  makeApi,
  save,
  saved,
  startApis,
} from '../../worlds/console/apis-world.ts'

const DAY_S = 86_400
const NO_PARTITIONS = { quota: false, rate_limit: false, acl: false, per_api: false, complexity: false }
const PLAN = 'Plan'

test('everything that a policy can say is said by its form, and policies are found by it', async (t) => {
  const world = await startApis(t)
  await makeApi(world, 'Orders', '/orders/', 'token')
  const stock = await makeApi(world, 'Stock', '/stock/', 'token')
  const extra = {
    ...{ name: 'Extra', active: true, rate: 10, per: 1, quota_max: -1 },
    access_rights: { [stock]: { api_id: stock, api_name: 'Stock', versions: ['Default'] } },
  }
  const page = await world.open(world.admin, '/policies')
  const plan = await makePolicy(world, page)
  assert.equal((await world.api('POST', '/api/portal/policies', extra)).status, 200)
  await findPolicies(page)
  await changePolicy(world, page, plan)
})

async function makePolicy(world: ApisWorld, page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Create policy' }).first().click()
  await page.getByLabel(/^Name/).fill(PLAN)
  const rights = field(page, 'Add API')
  await rights.fill('ord')
  await page.getByRole('option', { name: 'Orders' }).click()
  await flip(page, 'Restrict paths')
  await page.getByLabel('Path 1', { exact: true }).fill('^/orders/open')
  await page.getByRole('button', { name: 'Add path' }).click()
  await page.getByLabel('Path 2', { exact: true }).fill('^/orders/gone')
  await page.getByRole('button', { name: 'Add path' }).click()
  await page.getByLabel('Path 3', { exact: true }).fill('^/orders/new')
  await addMethod(page, 3, 'POST')
  await page.getByRole('button', { name: 'Remove path 2' }).click()
  await rights.fill('sto')
  await page.getByRole('option', { name: 'Stock' }).click()
  await page.getByRole('button', { name: 'Remove Stock' }).click()
  await field(page, /^Versions/).fill('v2')
  await page.keyboard.press('Enter')
  await flip(page, 'Separate limits for this API')
  await page.getByLabel('Requests', { exact: true }).last().waitFor()
  await flip(page, 'Separate limits for this API')
  await choose(page, field(page, 'State'), 'Draft')
  await field(page, 'Requests').fill('50')
  await choose(page, field(page, 'per'), '1 hour')
  await field(page, 'Quota').fill('5')
  await choose(page, field(page, 'Renews every'), '1 week')
  await flip(page, 'Count limits per API')
  for (const name of ['Access rights', 'Rate', 'Quota']) await page.getByRole('checkbox', { name }).uncheck()
  await page.getByLabel(/^New keys expire after/).fill('30')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('Required', { exact: true }).waitFor()
  for (const name of ['Access rights', 'Rate', 'Quota']) await page.getByRole('checkbox', { name }).check()
  await flip(page, 'Count limits per API')
  await field(page, /^Tags/).fill('gold')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await saved(page)
  await heading(page, PLAN).waitFor()
  const id = idIn(page)
  const stored = (await world.api('GET', `/api/portal/policies/${id}`)).json
  const of = (...names: readonly string[]) => names.map((name) => at(stored, name))
  assert.deepEqual(of('name', 'rate', 'per', 'quota_max', 'quota_renewal_rate'), [PLAN, 50, 3600, 5, 604_800])
  assert.deepEqual(of('state', 'key_expires_in', 'partitions'), ['draft', 30 * DAY_S, NO_PARTITIONS])
  const [right] = Object.values(at(stored, 'access_rights') as object)
  assert.deepEqual(at(right, 'versions'), ['Default', 'v2'])
  assert.deepEqual(at(right, 'allowed_urls'), [
    { url: '^/orders/open', methods: ['GET'] },
    { url: '^/orders/new', methods: ['GET', 'POST'] },
  ])
  return id
}

/** By its state, what it gives access to, and in each order. */
async function findPolicies(page: Page): Promise<void> {
  await page.goto('/policies')
  const rows = page.getByRole('row')
  const first = (name: string, by: string) =>
    eventually(`${name} comes first by ${by}`, async () => (await rows.nth(1).innerText()).trimStart().startsWith(name))
  await first('Extra', 'date')
  await page.getByRole('button', { name: 'Updated' }).click()
  await first(PLAN, 'date, oldest first')
  await page.getByRole('button', { name: 'Name' }).click()
  await first('Extra', 'name')
  await page.getByRole('button', { name: 'State' }).click()
  await eventually('the order stands in the address', () => /sort=-?state/.test(page.url()))
  await choose(page, page.getByRole('combobox', { name: 'State' }), 'Draft')
  await page.getByRole('link', { name: 'Extra' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: PLAN }).waitFor()
  await choose(page, page.getByRole('combobox', { name: 'State' }), 'Blocked')
  await page.getByText('No policy matches').waitFor()
  await page.getByRole('button', { name: 'Show all' }).last().click()
  await field(page, 'Access to API').fill('stoc')
  await page.getByRole('option', { name: 'Stock' }).click()
  await page.getByRole('link', { name: PLAN }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Extra' }).waitFor()
}

/** The same again on the page of the policy, up to what keys are made by later on. */
async function changePolicy(world: ApisWorld, page: Page, id: string): Promise<void> {
  await page.goto(`/policies/${id}`)
  await choose(page, field(page, 'State'), 'Active')
  await page.getByRole('button', { name: 'Remove path 2' }).click()
  await page.getByRole('button', { name: 'Add path' }).click()
  await page.getByLabel('Path 2', { exact: true }).fill('^/orders/none')
  await addMethod(page, 2, 'GET')
  await flip(page, 'Restrict paths')
  await flip(page, 'Restrict paths')
  await page.getByLabel('Path 1', { exact: true }).fill('^/orders/open')
  await page.locator('.mantine-Pill-remove').nth(1).click()
  await field(page, /^Versions/).fill('v3')
  await page.keyboard.press('Enter')
  await flip(page, 'Separate limits for this API')
  const own = page.getByLabel('Requests', { exact: true })
  await own.first().fill('3')
  await page.getByLabel('Quota', { exact: true }).first().fill('4')
  await own.last().fill('60')
  await choose(page, page.getByRole('combobox', { name: 'per' }).last(), '1 minute')
  await choose(page, page.getByRole('combobox', { name: 'Renews every' }).last(), '1 day')
  await flip(page, 'Count limits per API')
  await page.getByLabel(/^New keys expire after/).fill('0')
  await field(page, /^Tags/).fill('silver')
  await page.keyboard.press('Enter')
  await field(page, 'Add API').fill('sto')
  await page.getByRole('option', { name: 'Stock' }).click()
  await save(page)
  await saved(page)
  const path = `/api/portal/policies/${id}`
  const stored = (await world.api('GET', path)).json
  const of = (...names: readonly string[]) => names.map((name) => at(stored, name))
  assert.deepEqual(of('state', 'rate', 'per', 'key_expires_in', 'tags'), ['active', 60, 60, 0, ['gold', 'silver']])
  assert.deepEqual(of('partitions'), [{ ...NO_PARTITIONS, per_api: true }])
  const rights = Object.values(at(stored, 'access_rights') as object)
  assert.deepEqual(rights.map((right) => at(right, 'limit', 'rate') ?? null).sort(), [3, null])
  await inspect(page, 'policy-limits')
  await page.getByRole('button', { name: 'Remove Stock' }).click()
  await flip(page, 'Count limits per API')
  for (const name of ['Access rights', 'Rate', 'Quota']) await page.getByRole('checkbox', { name }).uncheck()
  await page.getByRole('checkbox', { name: 'Access rights' }).check()
  await save(page)
  await saved(page)
  const left = (await world.api('GET', path)).json
  assert.equal(Object.keys(at(left, 'access_rights') as object).length, 1)
  assert.deepEqual(at(left, 'partitions'), { ...NO_PARTITIONS, acl: true })
}
