import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
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
  LONG_NAME,
  makeApi,
  ODD_NAME,
  pasteOver,
  pick,
  save,
  saved,
  startApis,
  tab,
  withSettings,
} from '../../worlds/console/apis-world.ts'
import { checkThemes } from '../../worlds/console/world.ts'

const EDITOR = 'OpenAPI document with gateway settings'
const GONE = [/status of 40[0-4]/]
const RIVAL = 'Name by somebody else'

const nameOf = async (world: ApisWorld, id: string) =>
  at(await documentOf(world, id), 'x-svc-api-gateway', 'info', 'name')

/** Replaces all of the editor's text. */
const retype = (page: Page, text: string) => pasteOver(page, page.getByRole('textbox', { name: EDITOR }), text)

test('an API from scratch: made, set up as a form and as text, versioned, owned, tried, deleted', async (t) => {
  const world = await startApis(t)
  const page = await world.open(world.admin, '/apis', [...GONE, /ERR_INTERNET_DISCONNECTED/, /status of 409/])
  const id = await makeFromScratch(world, page)
  await editBothWays(world, page, id)
  await twoPeople(world, page, id)
  await versions(world, page)
  await tryIt(world, page, id)
  await othersSee(world, id)
  await deleteIt(world, page, id)
})

async function makeFromScratch(world: ApisWorld, page: Page): Promise<string> {
  await heading(page, 'APIs').waitFor()
  await page.getByRole('link', { name: /^Protected sample/ }).waitFor()
  await inspect(page, 'apis')
  await page.getByRole('button', { name: 'Create API' }).click()
  await pick(page, 'Source', 'From OpenAPI')
  await page.getByText('or drop it here').waitFor()
  await pick(page, 'Source', 'From scratch')
  await page.getByLabel(/^Upstream URL/).fill('orders')
  await page.getByLabel(/^Listen path/).fill('pets')
  await page.getByRole('button', { name: 'Create API' }).click()
  await page.getByText('Required', { exact: true }).waitFor()
  await page.getByText('Start the path with a slash, for example /orders/').waitFor()
  await page.getByText('Enter a full URL that starts with http:// or https://').waitFor()
  await checkThemes(page)
  await page.getByLabel(/^Name/).fill(ODD_NAME)
  await page.getByLabel(/^Listen path/).fill('')
  await page.getByLabel(/^Upstream URL/).fill(world.origin.url)
  await choose(page, page.getByRole('combobox', { name: /^Authentication/ }), 'No authentication')
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Create API' }).click()
  await page.getByText('The dashboard did not respond').waitFor()
  await inspect(page, 'api-new')
  await page.context().setOffline(false)
  await page.getByText('Reconnected').waitFor()
  await page.getByRole('button', { name: 'Create API' }).click()
  await heading(page, ODD_NAME).waitFor()
  assert.equal((await answers(world, 200, '/b-pets-b/cats')).text, '/cats')
  await page.reload()
  await heading(page, ODD_NAME).waitFor()
  // Until its gateways are known only the path is shown.
  await page.getByText(`${world.gateway}/b-pets-b/`).first().waitFor()
  await copies(page.getByRole('button', { name: 'Copy' }).first(), `${world.gateway}/b-pets-b/`)
  return idIn(page)
}

async function editBothWays(world: ApisWorld, page: Page, id: string): Promise<void> {
  const name = page.getByLabel(/^Name/)
  const editor = page.getByRole('textbox', { name: EDITOR })
  await name.waitFor()
  await inspect(page, 'api-form')
  assert.equal(await editor.count(), 0)
  await pick(page, 'View', 'Both')
  await editor.waitFor()
  await inspect(page, 'api-settings')
  await name.fill(LONG_NAME)
  await page.getByText('Unsaved changes').waitFor()
  await editor.click()
  await page.keyboard.press('Control+End')
  await editor.getByText('"listenPath"').waitFor()
  const document = await documentOf(world, id)
  await retype(page, '{\n  "openapi": "3.0.3",\n  "info": oops\n}')
  await page.getByText('The text has errors').waitFor()
  await page.getByText('Check line 3').waitFor()
  await becomes(() => name.isDisabled(), true, 'the form waits for the text')
  await becomes(() => page.getByRole('button', { name: 'Save', exact: true }).isDisabled(), true)
  await inspect(page, 'api-settings-broken')

  const wrong = withSettings(document, (settings) => {
    ;(settings.server as JsonObject).listenPath = { value: 3 }
  })
  const wrongText = JSON.stringify(wrong, null, 2)
  const line = wrongText.split('\n').findIndex((each) => each.includes('"value": 3')) + 1
  await retype(page, wrongText)
  await save(page)
  await page.getByText(`Check line ${line}`).waitFor()
  await page.locator('.cm-lint-marker-error').first().waitFor()
  assert.notEqual(await nameOf(world, id), LONG_NAME)
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.getByText('Unsaved changes').waitFor({ state: 'detached' })

  await retype(
    page,
    JSON.stringify(
      withSettings(document, (settings) => {
        ;(settings.info as JsonObject).name = LONG_NAME
      }),
      null,
      2,
    ),
  )
  await eventually('the form follows the text', async () => (await name.inputValue()) === LONG_NAME)
  await page.getByLabel(/^Listen path/).fill('/pets/')
  await page.getByRole('button', { name: /^Limits/ }).click()
  await flip(page, 'Rate limit')
  await field(page, 'Requests').fill('2')
  await field(page, 'Period (seconds)').fill('60')
  await save(page)
  await saved(page)
  await heading(page, LONG_NAME).waitFor()
  await answers(world, 429, '/pets/')
  assert.equal((await world.through('/b-pets-b/')).status, 404)
  await inspect(page, 'api-long-name')
  await flip(page, 'Rate limit')
  await name.fill(ODD_NAME)
  await save(page)
  await saved(page)
  await heading(page, ODD_NAME).waitFor()
  await answers(world, 200, '/pets/')
  await pick(page, 'View', 'Text')
  await becomes(() => name.count(), 0)
  await page.reload()
  await editor.waitFor()
  await becomes(() => new URL(page.url()).searchParams.get('view'), 'text')
  await pick(page, 'View', 'Both')
}

async function twoPeople(world: ApisWorld, page: Page, id: string): Promise<void> {
  const name = page.getByLabel(/^Name/)
  const dialog = page.getByRole('dialog', { name: 'Someone else changed this while you were editing' })
  const meanwhile = async (theirs: string) => {
    const document = withSettings(await documentOf(world, id), (settings) => {
      ;(settings.info as JsonObject).name = theirs
    })
    assert.equal((await world.api('PUT', `/api/apis/oas/${id}`, document)).status, 200)
  }
  await name.fill('Mine')
  await meanwhile(RIVAL)
  await save(page)
  await dialog.getByText(RIVAL).waitFor()
  await inspect(page, 'conflict')
  await dialog.getByRole('button', { name: 'Continue editing' }).click()
  await becomes(() => name.inputValue(), 'Mine')
  await save(page)
  await dialog.getByRole('button', { name: 'Take theirs' }).click()
  await heading(page, RIVAL).waitFor()
  await becomes(() => name.inputValue(), RIVAL)
  await name.fill('Mine after all')
  await meanwhile('Another name')
  await save(page)
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await heading(page, 'Mine after all').waitFor()
  assert.equal(await nameOf(world, id), 'Mine after all')
  await saved(page)

  await name.fill(ODD_NAME)
  await page.getByRole('link', { name: 'APIs', exact: true }).first().click()
  const leave = page.getByRole('dialog', { name: 'Discard unsaved changes?' })
  await leave.getByRole('button', { name: 'Keep editing' }).click()
  await becomes(() => name.inputValue(), ODD_NAME)
  await save(page)
  await saved(page)
  await heading(page, ODD_NAME).waitFor()
  await name.fill('Not worth it')
  await page.locator('.mantine-Breadcrumbs-root').getByRole('link', { name: 'APIs' }).click()
  await leave.getByRole('button', { name: 'Discard changes' }).click()
  await heading(page, 'APIs').waitFor()
  await page.getByRole('link', { name: ODD_NAME }).click()
  await heading(page, ODD_NAME).waitFor()
  await becomes(() => name.inputValue(), ODD_NAME)
}

async function versions(world: ApisWorld, page: Page): Promise<void> {
  await tab(page, 'Versions')
  await checkThemes(page)
  await page.getByRole('button', { name: 'Create version' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^Current version name/).fill('v1')
  await dialog.getByLabel(/^Version name/).fill('v2')
  await dialog.getByLabel(/^Name \*/).fill('Pets, second')
  await dialog.getByLabel(/^Listen path/).fill('/pets-next/')
  await dialog.getByLabel(/^Upstream URL/).fill(`${world.origin.url}/second`)
  await flip(dialog, 'Make default')
  await checkThemes(page)
  await dialog.getByRole('button', { name: 'Create version' }).click()
  await saved(page, 'Version created')
  await page.getByRole('link', { name: 'Pets, second' }).waitFor()
  await inspect(page, 'api-versions')
  const asked = (path: string, headers: Record<string, string> = {}) =>
    eventually(`${path} leads to the second`, async () => /^\/second/.test((await world.through(path, headers)).text))
  for (const path of ['/pets/', '/pets-next/']) await asked(path)
  await follow(page, page.getByRole('link', { name: 'Pets, second' }), 'Pets, second')
  await page.getByRole('button', { name: 'Actions for version v1' }).click()
  await page.getByRole('menuitem', { name: 'Make default' }).click()
  await saved(page)
  await eventually('the base is the default', async () => (await world.through('/pets/')).text === '/')
  await asked('/pets/', { 'x-api-version': 'v2' })
  const actions = page.getByRole('button', { name: 'Actions for version v2' })
  await actions.click()
  await page.getByRole('menuitem', { name: 'Make default' }).click()
  await saved(page)
  await asked('/pets/')
  await actions.click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await dialog.getByLabel(/^Version name/).fill('next')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await saved(page)
  await choose(page, page.getByRole('combobox', { name: 'Location', exact: true }), 'Query parameter')
  await page.getByLabel(/^Name/).fill('v')
  await save(page)
  await saved(page)
  await eventually(
    'the base is asked for in the query',
    async () => (await world.through('/pets/?v=v1')).text === '/?v=v1',
  )
  assert.notEqual((await world.through('/pets/?v=none')).status, 200)
  await flip(page, 'Strip version')
  await flip(page, 'Fall back to the default')
  await save(page)
  await saved(page)
  await eventually('the service does not see it', async () => (await world.through('/pets/?v=v1')).text === '/')
  await asked('/pets/?v=none')
  await otherAddress(world, page)
  await page.reload()
  await page.getByRole('button', { name: 'Actions for version next' }).click()
  await page.getByRole('menuitem', { name: 'Delete API' }).click()
  await confirmDelete(page, 'Pets, second')
  await page.getByRole('link', { name: 'Pets, second' }).waitFor({ state: 'detached' })
  await eventually('callers get the base again', async () => (await world.through('/pets/')).text === '/')
}

/** A third version becomes the base of the others, gives that back, and is removed as a separate API. */
async function otherAddress(world: ApisWorld, page: Page): Promise<void> {
  const id = idIn(page)
  const count = async (base: string) =>
    at((await world.api('GET', `/api/apis/${base}/versions`)).json, 'apis', 'length')
  const act = async (version: string, what: string) => {
    await page.getByRole('button', { name: `Actions for version ${version}` }).click()
    await page.getByRole('menuitem', { name: what }).click()
    await saved(page)
  }
  await page.getByRole('button', { name: 'Create version' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^Version name/).fill('v3')
  await dialog.getByLabel(/^Name \*/).fill('Pets, third')
  await dialog.getByRole('button', { name: 'Create version' }).click()
  await saved(page, 'Version created')
  const third = page.getByRole('link', { name: 'Pets, third' })
  await third.waitFor()
  const other = String(await third.getAttribute('href')).split('/')[2]!
  await act('v3', 'Make base version')
  assert.deepEqual([await count(id), await count(other)], [1, 3])
  await page.goto(`/apis/${other}?tab=versions`)
  await act('v1', 'Make base version')
  assert.deepEqual([await count(id), await count(other)], [3, 1])
  await page.goto(`/apis/${id}?tab=versions`)
  await act('v3', 'Remove version, keep API')
  await third.waitFor({ state: 'detached' })
  await answers(world, 200, '/pets-v2/')
}

async function tryIt(world: ApisWorld, page: Page, id: string): Promise<void> {
  await tab(page, 'Try it')
  await page.getByLabel(/^Path/).fill('/pets/größe?q=1')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByLabel('Response body').getByText('/gr%C3%B6%C3%9Fe?q=1').waitFor()
  await page.getByText('forwarded', { exact: true }).waitFor()
  assert.equal(world.origin.seen.at(-1)?.target, '/gr%C3%B6%C3%9Fe?q=1')
  await choose(page, page.getByRole('combobox', { name: /^Method/ }), 'POST')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Name of field 1').fill('X-Cart')
  await page.getByLabel('Value of X-Cart').fill('full')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Name of field 2').fill('X-Bag')
  await page.getByLabel('Value of X-Bag').fill('empty')
  await page.getByRole('button', { name: 'Remove X-Bag' }).click()
  await page.getByLabel(/^Body/).first().fill('{"pet":1}')
  await page.getByRole('button', { name: 'Send' }).click()
  await eventually('the service has it all', () => world.origin.seen.at(-1)?.body === '{"pet":1}')
  assert.deepEqual(
    ['x-cart', 'x-bag'].map((name) => world.origin.seen.at(-1)?.headers[name]),
    ['full', undefined],
  )
  await page.getByRole('button', { name: 'Response headers' }).click()
  await page.getByRole('rowheader', { name: /^content-length|^transfer-encoding/i }).waitFor()
  await page.getByRole('button', { name: 'curl command' }).click()
  await inspect(page, 'api-try')

  await tab(page, 'Authentication')
  await choose(page, page.getByRole('combobox', { name: /^Authentication/ }), 'API key (auth token)')
  await page.getByLabel(/^Header name/).fill('X-Key')
  await inspect(page, 'api-authentication')
  await save(page)
  await saved(page)
  await answers(world, 401, '/pets/')
  const made = await world.api('POST', '/api/keys', {
    ...{ alias: 'tried', access_rights: { [id]: { api_id: id, api_name: 'pets', versions: ['Default'] } } },
  })
  assert.equal(made.status, 200, made.text)
  await tab(page, 'Try it')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('refused', { exact: true }).waitFor()
  await page.getByLabel('Key or token').fill(String(at(made.json, 'key_id')))
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('forwarded', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'curl command' }).click()
  assert.ok(!(await page.locator('#content').innerText()).includes(String(at(made.json, 'key_id'))))
}

async function othersSee(world: ApisWorld, id: string): Promise<void> {
  const shared = await makeApi(world, 'For all', '/for-all/')
  const reader = await world.open(world.reader, `/apis/${shared}`)
  await heading(reader, 'For all').waitFor()
  await becomes(() => reader.getByLabel(/^Name/).isDisabled(), true)
  await becomes(() => reader.getByRole('link', { name: 'Import new version of the document' }).count(), 0)
  await tab(reader, 'Danger')
  for (const name of ['Deactivate API', 'Delete API'])
    await becomes(() => reader.getByRole('button', { name }).getAttribute('aria-disabled'), 'true')
  await checkThemes(reader)
  await tab(reader, 'Try it')
  await reader.getByText('You do not have access').waitFor()
  await tab(reader, 'Versions')
  await becomes(() => reader.getByRole('button', { name: /^Actions for/ }).count(), 0)
  await reader.goto('/apis/new')
  await reader.getByText('You do not have access').waitFor()

  const access = { userIds: [world.owner.id], userGroupIds: [] }
  assert.equal((await world.api('PUT', `/api/apis/${id}/access`, access)).status, 200)
  const hidden = await makeApi(world, 'Of the administrator', '/hidden/')
  const owned = await world.api('PUT', `/api/apis/${hidden}/access`, { userIds: [world.admin.id], userGroupIds: [] })
  assert.equal(owned.status, 200, owned.text)
  const owner = await world.open(world.owner, '/apis', GONE)
  await owner.getByRole('link', { name: ODD_NAME }).waitFor()
  await becomes(() => owner.getByText('Of the administrator').count(), 0)
  await owner.goto(`/apis/${hidden}`)
  await heading(owner, 'API not found').waitFor()
  await inspect(owner, 'api-gone')
  await owner.goto(`/apis/${id}?tab=owners`)
  await owner.getByRole('tabpanel', { name: 'Owners' }).getByText('Olu Test').waitFor()
}

async function deleteIt(world: ApisWorld, page: Page, id: string): Promise<void> {
  await tab(page, 'Danger')
  await page.getByRole('button', { name: 'Deactivate API' }).click()
  await saved(page)
  await answers(world, 404, '/pets/')
  await page.getByRole('button', { name: 'Activate API' }).click()
  await saved(page)
  await answers(world, 401, '/pets/')
  await inspect(page, 'api-danger')
  await page.getByRole('button', { name: 'Delete API' }).click()
  await page.getByRole('dialog').getByText('Keys with access to it: 1').waitFor()
  await checkThemes(page)
  await confirmDelete(page, ODD_NAME, 'Calls are refused at once')
  await heading(page, 'APIs').waitFor()
  await answers(world, 404, '/pets/')
  assert.equal((await world.api('GET', `/api/apis/${id}`)).status, 400)
  await page.goBack()
  await page.goto(`/apis/${id}`)
  await heading(page, 'API not found').waitFor()
  await page.getByRole('link', { name: 'Back to list' }).click()
  await heading(page, 'APIs').waitFor()
}
