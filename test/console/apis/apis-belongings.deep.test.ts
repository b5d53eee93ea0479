import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  at,
  choose,
  documentOf,
  field,
  follow,
  heading,
  inspect,
  makeApi,
  pick,
  save,
  saved,
  startApis,
  tab,
  withSettings,
} from '../../worlds/console/apis-world.ts'

test('what belongs to an API: labels, owners, webhooks, nodes, traffic', async (t) => {
  const world = await startApis(t, { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' })
  const id = await makeApi(world, 'Pets', '/pets/')
  const recorded = withSettings(await documentOf(world, id), (settings) => {
    settings.middleware = { global: { trafficLogs: { enabled: true } } }
  })
  assert.equal((await world.api('PUT', `/api/apis/oas/${id}`, recorded)).status, 200)
  await answers(world, 200, '/pets/')
  const page = await world.open(world.admin, `/apis/${id}`)
  await labels(world, page, id)
  await owners(world, page, id)
  await webhooks(world, page, id)
  await traffic(page, id)
})

async function labels(world: ApisWorld, page: Page, id: string): Promise<void> {
  await tab(page, 'Labels')
  await choose(page, page.getByRole('combobox', { name: /^Label/ }), 'Business Domain')
  await field(page, /^Value/).fill('Retail <b>')
  await page.getByRole('button', { name: 'Apply' }).click()
  await saved(page)
  await page.getByRole('button', { name: /^Remove business/i }).waitFor()
  await field(page, 'Categories').fill('shop 🛒')
  await page.keyboard.press('Enter')
  await save(page)
  await saved(page)
  await inspect(page, 'api-labels')
  const facts = (await world.api('GET', `/api/apis?facts=1&category=${encodeURIComponent('shop 🛒')}`)).json
  assert.equal(at(facts, 'apis', '0', 'labels', 'length'), 1)
  await page.getByRole('button', { name: /^Remove business/i }).click()
  await saved(page, 'Label removed')
  assert.deepEqual((await world.api('GET', `/api/apis/${id}/labels`)).json, [])
  await follow(page, page.getByRole('link', { name: 'All labels' }), 'Labels')
}

async function owners(world: ApisWorld, page: Page, id: string): Promise<void> {
  const group = await world.api('POST', '/api/usergroups', { name: 'Pet people', user_permissions: { apis: 'read' } })
  assert.equal(group.status, 200, group.text)
  await tab(page, 'Owners')
  await page.getByText('No owners').waitFor()
  await choose(page, page.getByRole('combobox', { name: 'Users', exact: true }), /Olu/)
  await choose(page, page.getByRole('combobox', { name: 'Groups', exact: true }), 'Pet people')
  await save(page)
  await saved(page)
  await page.getByText('No owners').waitFor({ state: 'detached' })
  await inspect(page, 'api-owners')
  assert.equal((await world.api('GET', `/api/apis/${id}`, undefined, world.owner)).status, 200)
  const access = (await world.api('GET', `/api/apis/${id}/access`)).json
  assert.deepEqual(at(access, 'userGroupIds'), [at(group.json, 'Meta')])
}

async function traffic(page: Page, id: string): Promise<void> {
  await tab(page, 'Nodes')
  await page.getByRole('row').filter({ hasText: 'Loaded' }).first().waitFor()
  await inspect(page, 'api-nodes')
  await tab(page, 'Traffic')
  await page.getByRole('link', { name: 'Open analytics' }).waitFor()
  await inspect(page, 'api-traffic')
  await pick(page, 'Time', 'Last hour')
  await eventually('the hour is in the address', () => new URL(page.url()).searchParams.get('range') === '1h')
  await pick(page, 'Time', 'Last 7 days')
  await eventually('the week stands in the address', () => new URL(page.url()).searchParams.get('range') === '7d')
  await page
    .getByRole('switch', { name: / as a table$/ })
    .first()
    .click()
  const days = page.getByRole('table').first().getByRole('row')
  await eventually('each day is a row', async () => (await days.count()) > 7)
  await days.nth(1).getByRole('button').click()
  await heading(page, 'Requests').waitFor()
  await becomes(() => new URL(page.url()).searchParams.get('api'), id)
  await page.goBack()
  await page.getByRole('link', { name: 'View requests' }).click()
  await page.getByRole('row').filter({ hasText: 'Pets' }).first().waitFor()
  await becomes(() => new URL(page.url()).searchParams.get('api'), id)
  await page.goBack()
  await page.getByRole('link', { name: 'Open analytics' }).click()
  await heading(page, 'Analytics').waitFor()
  await becomes(() => new URL(page.url()).searchParams.get('api'), id)
  await page.goBack()
}

/** A webhook is called when the API changes, until it is removed. */
async function webhooks(world: ApisWorld, page: Page, id: string): Promise<void> {
  const heard = () => world.origin.seen.filter(({ target }) => target === '/heard').length
  const hook = { name: 'Bell 🔔', method: 'POST', target_path: `${world.origin.url}/heard` }
  assert.equal((await world.api('POST', '/api/hooks', hook)).status, 200)
  await tab(page, 'Webhooks')
  await page.getByText('No webhooks').waitFor()
  await choose(page, page.getByRole('combobox', { name: /^Event/ }), 'API updated')
  await choose(page, page.getByRole('combobox', { name: /^Webhook/ }), hook.name)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await saved(page, 'Webhook added')
  await page.getByRole('cell', { name: 'API updated' }).waitFor()
  await inspect(page, 'api-webhooks')
  await follow(page, page.getByRole('link', { name: 'All webhooks' }), 'Webhooks')
  await follow(page, page.getByRole('link', { name: hook.name }), hook.name)
  await eventually('the webhook is told of its own adding', () => heard() > 0)
  await page.getByRole('button', { name: `Remove ${hook.name}` }).click()
  await saved(page, 'Webhook removed')
  const { json } = await world.api('GET', `/api/apis/${id}`)
  assert.deepEqual(at(json, 'hook_references'), [])
}
