import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  at,
  confirmDelete,
  field,
  heading,
  idIn,
  inspect,
  makeApi,
  save,
  saved,
  startApis,
  tab,
} from '../../worlds/console/apis-world.ts'

const REFUSED = [/status of 40[0-4]/]
/** Inputs that a read-only user may use: they search, or choose what is shown. */
const LOOKING =
  '[placeholder="Type to search policies"],[type=search],[type=radio],[aria-label$=" as a table"],[aria-label*="Search"],[role=combobox][aria-label],[aria-label^="Select "]'

test('who owns little, and who may only look', async (t: TestContext) => {
  const world = await startApis(t)
  const hidden = await makeApi(world, 'Hidden', '/hidden/', 'token')
  const own = { userIds: [world.admin.id], userGroupIds: [] }
  assert.equal((await world.api('PUT', `/api/apis/${hidden}/access`, own)).status, 200)
  const rights = (id: string, name: string) => ({ [id]: { api_id: id, api_name: name, versions: ['Default'] } })
  const theirs = { alias: 'Key of others', access_rights: rights(hidden, 'Hidden') }
  assert.equal((await world.api('POST', '/api/keys', theirs)).status, 200)
  await t.test('an owner creates, changes and deletes an API with policy and key, and sees no others', () =>
    owner(world),
  )
  await t.test('a reader sees everything and can change nothing', () => reader(world, rights))
})

async function owner(world: ApisWorld): Promise<void> {
  const page = await world.open(world.owner, '/apis/new', REFUSED)
  await page.getByLabel(/^Name/).fill('Owned')
  await page.getByLabel(/^Upstream URL/).fill(world.origin.url)
  await page.getByRole('button', { name: 'Create API' }).click()
  await heading(page, 'Owned').waitFor()
  const id = idIn(page)
  assert.deepEqual(at((await world.api('GET', `/api/apis/${id}/access`)).json, 'userIds'), [world.owner.id])

  await page.goto('/policies/new')
  await page.getByLabel(/^Name/).fill('Of an owner')
  await field(page, 'Add API').fill('hidd')
  await page.getByText('Nothing found').waitFor()
  await field(page, 'Add API').fill('own')
  await page.getByRole('option', { name: 'Owned' }).click()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await heading(page, 'Of an owner').waitFor()
  await page.getByRole('link', { name: 'Create key' }).click()
  await page.getByLabel(/^Alias/).fill('Key of an owner')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Key created' })
  const key = await dialog.locator('pre').first().innerText()
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await answers(world, 200, '/owned/', { authorization: key })
  await seesNoOther(page)
  await changesAndEnds(world, page, id, key)
}

async function seesNoOther(page: Page): Promise<void> {
  await page.goto('/keys')
  await page.getByRole('link', { name: 'Key of an owner' }).waitFor()
  await becomes(() => page.getByText('Key of others').count(), 0)
  await inspect(page, 'owner-keys')
  const menu = page.getByRole('navigation')
  for (const name of ['Users', 'Groups', 'Audit log', 'Certificates'])
    await becomes(() => menu.getByRole('link', { name }).count(), 0, name)
  for (const path of ['/users', '/audit', '/webhooks']) {
    await page.goto(path)
    await page.getByText('You do not have access').waitFor()
  }
}

async function changesAndEnds(world: ApisWorld, page: Page, id: string, key: string): Promise<void> {
  await page.goto(`/apis/${id}`)
  await page.getByLabel(/^Listen path/).fill('/mine/')
  await save(page)
  await saved(page)
  await answers(world, 200, '/mine/', { authorization: key })
  await page.goto('/keys')
  await page.getByRole('link', { name: 'Key of an owner' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await confirmDelete(page, 'Key of an owner')
  await answers(world, 403, '/mine/', { authorization: key })
  await page.goto('/policies')
  await page.getByRole('link', { name: 'Of an owner' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await confirmDelete(page, 'Of an owner')
  await page.goto(`/apis/${id}?tab=danger`)
  await page.getByRole('button', { name: 'Delete API' }).click()
  await confirmDelete(page, 'Owned')
  await heading(page, 'APIs').waitFor()
  await answers(world, 404, '/mine/')
}

async function reader(world: ApisWorld, rights: (id: string, name: string) => object): Promise<void> {
  const id = await makeApi(world, 'Seen', '/seen/', 'oauth')
  const policy = { name: 'Seen plan', active: true, rate: 9, per: 1, quota_max: -1, access_rights: rights(id, 'Seen') }
  const plan = await world.api('POST', '/api/portal/policies', policy)
  assert.equal(plan.status, 200, plan.text)
  const key = { alias: 'Seen key', access_rights: rights(id, 'Seen') }
  assert.equal((await world.api('POST', '/api/keys', key)).status, 200)
  const page = await world.open(world.reader, `/apis/${id}`, REFUSED)
  await heading(page, 'Seen').waitFor()
  for (const name of await page.getByRole('tab').allInnerTexts()) {
    await tab(page, name)
    const panel = page.getByRole('tabpanel', { name, exact: true })
    await eventually(`${name} is drawn`, async () => (await panel.innerText()) !== '')
    await changesNothing(page)
  }
  await inspect(page, 'reader-danger')
  await page.goto(`/policies/${at(plan.json, 'Message')}`)
  await heading(page, 'Seen plan').waitFor()
  await changesNothing(page)
  await page.goto('/keys')
  await becomes(() => page.getByText('Key of others').count(), 0)
  await page.getByRole('link', { name: 'Seen key' }).click()
  await heading(page, 'Seen key').waitFor()
  await changesNothing(page)
  for (const path of ['/apis/new', '/policies/new', '/keys/new', `/apis/${id}/import`]) {
    await page.goto(path)
    await page.getByText('You do not have access').waitFor()
  }
}

/** Nothing on the page takes a word or a turn, and no button saves, adds, ends or deletes. */
async function changesNothing(page: Page): Promise<void> {
  await page.locator('#content [aria-busy=true]').first().waitFor({ state: 'hidden' })
  const open = page.locator(`#content :is(input,textarea):not(:disabled):not(:is(${LOOKING})):visible`)
  assert.deepEqual(await open.evaluateAll((all) => all.map((each) => each.outerHTML)), [], page.url())
  const verbs =
    /^(Save|Add|Create|Delete|Rotate|Activate|Deactivate|Edit|Make|Register|Revoke|Convert|Apply|Remove|Import|Upload|Purge|Reset)\b/
  const enabled = page.locator('#content button:not(:disabled):not([aria-disabled=true])').filter({ hasText: verbs })
  await becomes(() => enabled.allInnerTexts(), [], page.url())
}
