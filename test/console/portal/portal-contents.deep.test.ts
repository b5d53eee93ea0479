import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { answers, heading, LONG_NAME, makeApi, ODD_NAME, save, tab } from '../../worlds/console/apis-world.ts'
import {
  confirm,
  NAMES,
  type PortalWorld,
  pickOption,
  shoot,
  startPortal,
  told,
} from '../../worlds/console/portal-world.ts'
import { checkThemes, settled } from '../../worlds/console/world.ts'

/** Refusals that the journeys bring about themselves. */
const REFUSED = [/status of 40[03]/, /elsewhere: https:\/\/a\.example\//]
const CATALOGUE = '/api/portal/catalogue'
const DOCUMENT = {
  ...{ openapi: '3.0.3', info: { title: 'Orders <b>', version: '1.2' } },
  paths: {
    '/orders': {
      get: { summary: 'List orders', tags: ['Orders'], responses: { 200: { description: 'All of them' } } },
    },
    '/old': { delete: { summary: 'Gone soon', deprecated: true, responses: {} } },
  },
}

const dialog = (page: Page) => page.getByRole('dialog')
const item = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })

async function entriesOf({ done }: PortalWorld): Promise<JsonObject[]> {
  return (await done('GET', CATALOGUE)).apis as JsonObject[]
}
const namesIn = async (world: PortalWorld) => (await entriesOf(world)).map(({ name }) => name)

async function portal(t: TestContext) {
  const world = await startPortal(t)
  const weather = await makeApi(world, 'Weather', '/weather/')
  await answers(world, 200, '/weather/')
  return { world, weather, page: await world.open(world.admin, '/catalogue', REFUSED) }
}

test('the catalogue: entries, their order, texts, documentation and rules', async (t) => {
  const { world, weather, page } = await portal(t)
  await t.test('entries offer policies, or APIs without keys', () => addEntries(world, page, weather))
  await t.test('they are dragged by keys and by the pointer, shown and hidden', () => orderEntries(world, page))
  await t.test('a switch never goes back for a moment, however soon it is used again', () => switchOften(world, page))
  await t.test('texts are written with what developers see beside them', () => writeTexts(world, page))
  await t.test('documentation comes from a text, a file or an address', () => document(world, page))
  await t.test('an entry has rules of its own, in force for what is asked for', () => ruleEntry(world, page))
  await t.test('a reader looks', () => readsCatalogue(world))
  await t.test('an entry goes by its name', () => removeEntry(world, page))
})

async function addEntries(world: PortalWorld, page: Page, weather: string): Promise<void> {
  await page.getByText('The catalogue is empty').waitFor()
  await checkThemes(page)
  await shoot(page, 'catalogue-empty')
  const open = () => page.getByRole('button', { name: 'Add entry' }).first().click()
  const add = () => dialog(page).getByRole('button', { name: 'Add entry' }).click()
  await page.getByRole('button', { name: 'Add entry' }).last().click()
  await add()
  await becomes(() => dialog(page).getByText('Required', { exact: true }).count(), 2)
  await pickOption(page, dialog(page).getByRole('combobox', { name: 'Policy' }), NAMES.gold)
  await becomes(() => dialog(page).getByLabel('Name').inputValue(), NAMES.gold, 'the name is proposed')
  await dialog(page).getByLabel('Name').fill(ODD_NAME)
  await dialog(page).getByLabel('Publish now').check()
  await checkThemes(page)
  await shoot(page, 'catalogue-add')
  await add()
  await page.getByRole('heading', { name: ODD_NAME }).waitFor()
  await becomes(() => new URL(page.url()).search, '?entry=gold')

  await open()
  await pickOption(page, dialog(page).getByRole('combobox', { name: 'Type' }), KEYLESS)
  await pickOption(page, dialog(page).getByRole('combobox', { name: 'API' }), 'Weather')
  await add()
  await page.getByRole('heading', { name: 'Weather' }).waitFor()
  await open()
  await dialog(page).getByRole('combobox', { name: 'Policy' }).click()
  const taken = page.getByRole('option', { name: `${NAMES.gold} (already in the catalogue)` })
  await taken.waitFor()
  await becomes(() => taken.getAttribute('data-combobox-disabled'), 'true')
  await page.getByRole('option', { name: NAMES.silver }).click()
  await dialog(page).getByLabel('Name').fill(LONG_NAME)
  await add()
  await page.getByRole('heading', { name: LONG_NAME }).waitFor()
  assert.deepEqual(
    (await entriesOf(world)).map(({ policy_id, api_id, show }) => [policy_id, api_id, show]),
    [
      ['gold', '', true],
      ['', weather, false],
      ['silver', '', false],
    ],
  )
  await page.reload()
  await page.getByRole('heading', { name: LONG_NAME }).waitFor()
  await checkThemes(page)
  await shoot(page, 'catalogue')
  await page.locator('#content').getByRole('link', { name: NAMES.silver }).click()
  await heading(page, NAMES.silver).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: LONG_NAME }).waitFor()
}

const KEYLESS = 'API without authentication: shown only'

async function orderEntries(world: PortalWorld, page: Page): Promise<void> {
  const handle = (name: string) => page.getByRole('button', { name: `Move ${name}`, exact: true })
  await handle(ODD_NAME).focus()
  await page.keyboard.press('Space')
  await page.getByText(`${ODD_NAME} is now in position 1`).waitFor({ state: 'attached' })
  await page.keyboard.press('ArrowDown')
  await page.getByText(`${ODD_NAME} is now in position 2`).waitFor({ state: 'attached' })
  await page.keyboard.press('Space')
  await eventually('the order is stored', async () => (await namesIn(world))[1] === ODD_NAME)
  await settled(page)
  const [from, to] = [await handle(LONG_NAME).boundingBox(), await handle('Weather').boundingBox()]
  await page.mouse.move(from!.x + 8, from!.y + 8)
  await page.mouse.down()
  await page.mouse.move(to!.x + 8, from!.y - 20, { steps: 4 })
  await page.mouse.move(to!.x + 8, to!.y + 2, { steps: 8 })
  await page.mouse.up()
  await eventually('the order is stored', async () => (await namesIn(world))[0] === LONG_NAME)
  assert.deepEqual(await namesIn(world), [LONG_NAME, 'Weather', ODD_NAME])
  await afterDrag(page)

  await page.getByLabel('Publish Weather').check({ force: true })
  await eventually('it is shown', async () => (await entriesOf(world))[1]!.show === true)
  await page.getByLabel(`Publish ${ODD_NAME}`).uncheck({ force: true })
  await eventually('it is hidden', async () => (await entriesOf(world))[2]!.show === false)
}

/** A dragged element ignores clicks for a moment after the drop, so that the drop is not taken for one. */
async function afterDrag(page: Page): Promise<void> {
  const title = item(page, 'Weather')
    .getByRole('button', { name: /Weather/ })
    .last()
  await eventually('clicks arrive again', async () => {
    await title.click()
    return (await title.getAttribute('aria-current')) === 'true'
  })
}

/** The driver reads a switch as soon as its click is over: one that shows its old state until the next timer fails every third time. */
async function switchOften(world: PortalWorld, page: Page): Promise<void> {
  for (let times = 0; times < 20; times++) {
    const show = times % 2 === 0
    await page.getByLabel(`Publish ${ODD_NAME}`).setChecked(show, { force: true })
    await eventually('it is stored', async () => (await entriesOf(world))[2]!.show === show)
  }
}

async function writeTexts(world: PortalWorld, page: Page): Promise<void> {
  await item(page, 'Weather')
    .getByRole('button', { name: /Weather/ })
    .last()
    .click()
  await page.goto('/catalogue?entry=gold')
  await page.getByLabel('Name', { exact: false }).first().waitFor()
  await page.getByLabel(/^Short description/).fill('مرحبا <b>short</b>')
  const text =
    '# Orders\n\n**Fast** <script>alert(1)</script>\n\n![logo](https://elsewhere.example/x.png) [more](https://a.example)'
  await page.getByRole('textbox', { name: /^Description/ }).fill(text)
  await page.getByText('Image: logo').waitFor()
  await followLink(page)
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Name of field 2').fill('Price')
  await page.getByRole('button', { name: 'Remove 1', exact: true }).click()
  await page.getByLabel('Value of Price').fill('12 €')
  await checkThemes(page)
  await shoot(page, 'catalogue-texts')
  const catalogue = await world.done('GET', CATALOGUE)
  const theirs = (catalogue.apis as JsonObject[]).map((one) => ({ ...one, long_description: 'Theirs' }))
  await world.done('PUT', CATALOGUE, { apis: theirs })
  await save(page)
  await dialog(page).getByText('Theirs').first().waitFor()
  await dialog(page).getByRole('button', { name: 'Keep mine' }).click()
  await told(page)
  const entry = (await entriesOf(world)).find(({ policy_id }) => policy_id === 'gold')!
  assert.deepEqual([entry.long_description, entry.fields], [text, { Price: '12 €' }])
  assert.equal((await entriesOf(world))[0]!.long_description, 'Theirs', 'what others wrote elsewhere stays')
  await takeTheirs(world, page)
}

/** A link of the preview opens a new page, without access to this one. */
async function followLink(page: Page): Promise<void> {
  await page
    .context()
    .route('https://a.example/', (route) => route.fulfill({ contentType: 'text/html', body: 'There' }))
  const opened = page.waitForEvent('popup')
  await page.getByRole('link', { name: 'more' }).click()
  const other = await opened
  await other.getByText('There').waitFor()
  assert.equal(await other.evaluate(() => window.opener), null)
  await other.close()
}

/** Who was second gives in: nothing of theirs is lost, and nothing of one's own is stored. */
async function takeTheirs(world: PortalWorld, page: Page): Promise<void> {
  const { apis } = await world.done('GET', CATALOGUE)
  const ours = (of: unknown) => (of as JsonObject[]).find(({ policy_id }) => policy_id === 'gold')!
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await name.fill('Mistaken')
  const theirs = (apis as JsonObject[]).map((one) => (one === ours(apis) ? { ...one, fields: { Price: '13 €' } } : one))
  await world.done('PUT', CATALOGUE, { apis: theirs })
  await save(page)
  await dialog(page).getByRole('button', { name: 'Continue editing' }).click()
  await becomes(() => name.inputValue(), 'Mistaken')
  await save(page)
  await dialog(page).getByRole('button', { name: 'Take theirs' }).click()
  await eventually('theirs is shown', async () => (await name.inputValue()) === ODD_NAME)
  await becomes(() => page.getByLabel('Value of Price').inputValue(), '13 €')
  assert.equal(ours((await world.done('GET', CATALOGUE)).apis).name, ODD_NAME)
}

async function document(world: PortalWorld, page: Page): Promise<void> {
  const stored = async () =>
    String((await entriesOf(world)).find(({ policy_id }) => policy_id === 'gold')!.documentation)
  await tab(page, 'Documentation')
  await page.getByRole('button', { name: 'Add documentation' }).click()
  await save(page)
  await page.getByText('Required', { exact: true }).waitFor()
  await page.getByRole('textbox', { name: /^Text/ }).fill('{"openapi": ')
  await page.getByText('Invalid OpenAPI document').waitFor()
  await page.getByRole('textbox', { name: /^Text/ }).fill(JSON.stringify(DOCUMENT))
  await page.getByText('Operations: 2').waitFor()
  await checkThemes(page)
  await save(page)
  await told(page, 'Documentation saved')
  await page.getByRole('button', { name: /List orders/ }).click()
  await page.getByText('All of them').waitFor()
  await checkThemes(page)
  await shoot(page, 'catalogue-documentation')
  const first = await stored()
  const text = String((await world.done('GET', `/api/portal/documentation/${first}`)).documentation)
  assert.equal(Buffer.from(text, 'base64').toString(), JSON.stringify(DOCUMENT))

  await page.getByRole('button', { name: 'Replace' }).click()
  const buffer = Buffer.from('openapi: 3.0.3\ninfo: { title: Yaml, version: "1" }\npaths: {}\n')
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose file' }).click()
  await (await chooser).setFiles({ name: 'orders.yaml', mimeType: 'application/yaml', buffer })
  await page.getByText('orders.yaml').waitFor()
  await save(page)
  await told(page, 'Documentation saved')
  await page.getByText('Operations: 0').waitFor()
  await page.getByText('Yaml', { exact: true }).waitFor()
  assert.notEqual(await stored(), first)
  assert.equal((await world.api('GET', `/api/portal/documentation/${first}`)).status, 404, 'what it replaced is gone')

  await page.getByRole('button', { name: 'Replace' }).click()
  await pickOption(page, page.getByRole('combobox', { name: 'Type' }), 'URL of an OpenAPI document')
  await page.getByRole('textbox', { name: /^URL of an OpenAPI document/ }).fill('javascript:alert(1)')
  await save(page)
  await page.getByText('Enter a URL that starts with http:// or https://').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog', { name: 'Discard unsaved changes?' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove', exact: true }).last().click()
  await dialog(page).getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No documentation', { exact: true }).waitFor()
  assert.equal(await stored(), '')
}

async function ruleEntry(world: PortalWorld, page: Page): Promise<void> {
  const outcome = async (email: string) => {
    const { Message: by_user } = await world.done('POST', '/api/portal/developers', { email })
    const request = { by_user: by_user!, apply_policies: ['gold'], fields: {} }
    return (await world.done('POST', '/api/portal/requests', request)).Meta as JsonObject | null
  }
  const { RawKey: key } = (await outcome('first@partner.example'))!
  await eventually('the key works', async () => (await world.withKey(String(key))) === 200)
  await tab(page, 'Overrides')
  await page.getByLabel('Override portal settings').check()
  await page.getByLabel('Require approval').check()
  await page.getByLabel('Redirect key requests').check()
  await save(page)
  await page.getByText('Required', { exact: true }).waitFor()
  await page.getByLabel('Redirect URL').fill('https://pay.example/')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Key request fields: name 1').fill('Why')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Key request fields: name 2').fill('Mistaken')
  await page.getByRole('button', { name: 'Add field' }).click()
  await page.getByLabel('Key request fields: name 3').fill('When')
  await page.getByRole('button', { name: 'Remove Mistaken' }).click()
  for (const step of ['up', 'down', 'up']) await page.getByRole('button', { name: `Move When ${step}` }).click()
  await checkThemes(page)
  await shoot(page, 'catalogue-rules')
  await save(page)
  await told(page)
  const { config } = (await entriesOf(world)).find(({ policy_id }) => policy_id === 'gold')!
  assert.deepEqual((config as JsonObject).key_request_fields, ['When', 'Why'])
  assert.equal((await outcome('second@partner.example'))?.RawKey, undefined, 'it waits now')
  await page.getByLabel('Override portal settings').uncheck()
  await save(page)
  await told(page)
  assert.ok((await outcome('third@partner.example'))?.RawKey)
  await tab(page, 'Texts')
  await becomes(() => page.getByLabel('Value of Price').inputValue(), '13 €', 'the rules changed no text')
}

async function readsCatalogue(world: PortalWorld): Promise<void> {
  const reader = await world.open(world.reader, '/catalogue?entry=gold')
  await reader.getByRole('heading', { name: ODD_NAME }).waitFor()
  await becomes(() => reader.getByRole('button', { name: /^Move|^Remove|^Save/ }).count(), 0)
  await becomes(() => reader.getByLabel('Publish Weather').isDisabled(), true)
  await becomes(() => reader.getByLabel(/^Short description/).isDisabled(), true)
  await checkThemes(reader)
  await reader.goto('/portal-settings?tab=pages')
  await reader.getByText('No pages yet').waitFor()
  await becomes(() => reader.getByRole('button', { name: /^Add|^Save/ }).count(), 0)
}

async function removeEntry(world: PortalWorld, page: Page): Promise<void> {
  await page.goto('/catalogue?entry=silver')
  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByRole('button', { name: 'All entries' }).click()
  await item(page, 'Weather').getByText('Weather').click()
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.getByRole('heading', { name: 'Weather' }).waitFor()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Forecast')
  await save(page)
  await told(page)
  assert.deepEqual(await namesIn(world), [LONG_NAME, 'Forecast', ODD_NAME])
  const address = page.url()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await confirm(page, 'Forecast', 'Remove')
  await page.getByText('Choose an entry').waitFor()
  assert.deepEqual(await namesIn(world), [LONG_NAME, ODD_NAME])
  await page.goto(address)
  await heading(page, 'Catalogue').waitFor()
  await page.getByText('Choose an entry').waitFor()
}
