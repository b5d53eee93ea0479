import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { call } from '../../worlds/base/client.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  at,
  documentOf,
  field,
  flip,
  follow,
  heading,
  idIn,
  inspect,
  ODD_NAME,
  pasteOver,
  pick,
  save,
  saved,
  startApis,
} from '../../worlds/console/apis-world.ts'
import { checkThemes } from '../../worlds/console/world.ts'

const BROKEN_LINE = 3
const MEGABYTE = 1_000_000

const operation = (operationId: string, summary: string) => ({
  ...{ operationId, summary, responses: { 200: { description: 'Well' } } },
})

/** A small document whose service is the origin. */
function petsOf(world: ApisWorld, paths: Record<string, unknown>): Record<string, unknown> {
  return {
    ...{ openapi: '3.0.3', info: { title: ODD_NAME, version: '1' }, servers: [{ url: world.origin.url }] },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
    security: [{ key: [] }],
    paths,
  }
}

const PATHS = {
  '/pets': { get: operation('listPets', 'All pets <i>'), post: operation('addPet', 'One more') },
  '/pets/{id}': { delete: operation('removePet', 'Away') },
}
/** One operation more, one that says something else, one gone. */
const NEWER = {
  '/pets': { get: operation('listPets', 'All pets, by name'), post: operation('addPet', 'One more') },
  '/pets/{id}': { get: operation('readPet', 'One of them') },
}

const file = (name: string, text: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
const give = (page: Page, name: string, text: string) =>
  page.locator('input[type=file]').setInputFiles(file(name, text))
const preview = (page: Page) => page.getByRole('heading', { name: 'Preview' })
const add = (page: Page) => page.getByRole('button', { name: 'Create API' }).click()

test('APIs from OpenAPI documents', async (t) => {
  const world = await startApis(t, { SVC_DB_IMPORTURL_ENABLED: 'true', SVC_DB_IMPORTURL_ALLOWPRIVATE: 'true' })
  await t.test('by file, address and paste, imported again, broken ones marked', () => everyWay(world))
  await t.test('one of five megabytes is shown, imported, edited and saved', (each) => large(world, each))
})

async function everyWay(world: ApisWorld): Promise<void> {
  const page = await world.open(world.admin, '/apis/new?from=openapi', [/status of 4\d\d/])
  const id = await byFile(world, page)
  await setOperation(world, page, id)
  await importOver(world, page, id)
  await byPaste(world, page)
  await byAddress(world, page)
  await othersMay(world, id)
}

async function byFile(world: ApisWorld, page: Page): Promise<string> {
  const whole = JSON.stringify(petsOf(world, PATHS), null, 2)
  const lines = whole.split('\n')
  await page.getByText('or drop it here').waitFor()
  await inspect(page, 'import')
  await give(page, 'pets.json', lines.with(BROKEN_LINE - 1, '  "info": oops,').join('\n'))
  await page.getByRole('alert').getByText(`Line ${BROKEN_LINE}:`).waitFor()
  await page
    .locator('.cm-line')
    .nth(BROKEN_LINE - 1)
    .locator('.cm-lintRange-error')
    .waitFor()
  await inspect(page, 'import-broken')
  await give(page, 'pets.json', JSON.stringify({ swagger: '2.0', info: { title: 'Old', version: '1' } }))
  await page.getByRole('alert').first().waitFor()
  await becomes(() => preview(page).count(), 0)
  await inspect(page, 'import-refused')

  await give(page, 'pets.json', whole)
  await preview(page).waitFor()
  await page.getByText('3 operations').waitFor()
  await page.getByRole('cell', { name: 'All pets <i>' }).waitFor()
  await flip(page, 'Allow only its operations')
  await flip(page, 'Enable its authentication')
  await page.getByLabel(/^Listen path/).fill('/p/')
  await page.getByText('/p/', { exact: true }).waitFor()
  await inspect(page, 'import-preview')
  await add(page)
  await heading(page, ODD_NAME).waitFor()
  await answers(world, 401, '/p/pets')
  const id = idIn(page)
  assert.equal(at(await documentOf(world, id), 'paths', '/pets', 'get', 'operationId'), 'listPets')
  return id
}

async function setOperation(world: ApisWorld, page: Page, id: string): Promise<void> {
  await page.getByRole('button', { name: /^Operations \(3\)/ }).click()
  await page.getByRole('button', { name: '/pets', exact: true }).first().click()
  const dialog = page.getByRole('dialog', { name: 'GET /pets' })
  await flip(dialog, 'No authentication')
  await flip(dialog, 'Track in analytics')
  await field(dialog, /^Requests/).fill('500')
  await field(dialog, /^Period/).fill('60')
  await field(dialog, /^Upstream timeout/).fill('1')
  await field(dialog, /^Maximum body size/).fill('5')
  await inspect(page, 'operation')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await save(page)
  await saved(page)
  await answers(world, 200, '/p/pets')
  const settings = at(await documentOf(world, id), 'x-svc-api-gateway', 'middleware', 'operations', 'listPets')
  assert.equal(at(settings, 'ignoreAuthentication', 'enabled'), true)
  assert.equal(at(settings, 'trackEndpoint', 'enabled'), true)
  assert.deepEqual(at(settings, 'rateLimit'), { enabled: true, rate: 500, per: '60s' })
  assert.deepEqual(at(settings, 'requestSizeLimit'), { enabled: true, value: 5 })
  world.origin.script = ({ target }, response) => void (target === '/pets?q=never' || response.end(target))
  assert.equal((await world.through('/p/pets?q=never')).status, 504, 'nobody waits longer than said')

  await page.getByRole('button', { name: '/pets/{id}', exact: true }).click()
  const removal = page.getByRole('dialog', { name: 'DELETE /pets/{id}' })
  await flip(removal, 'Allow')
  await flip(removal, 'Block')
  await flip(removal, 'Internal')
  await page.keyboard.press('Escape')
  await save(page)
  await saved(page)
  assert.equal((await call(world.product.port, '/p/pets/7', { method: 'DELETE' })).status, 403)
  await page.getByRole('button', { name: '/pets/{id}', exact: true }).click()
  await flip(removal, 'Block')
  await flip(removal, 'Internal')
  await flip(removal, 'Allow')
  await page.keyboard.press('Escape')
  await save(page)
  await saved(page)
}

async function importOver(world: ApisWorld, page: Page, id: string): Promise<void> {
  await page.getByRole('link', { name: 'Import new version of the document' }).click()
  await heading(page, `Import into ${ODD_NAME}`).waitFor()
  const trail = page.locator('.mantine-Breadcrumbs-root')
  await follow(page, trail.getByRole('link', { name: 'APIs' }), 'APIs')
  await follow(page, trail.getByRole('link', { name: ODD_NAME }), ODD_NAME)
  await give(page, 'pets-2.json', JSON.stringify(petsOf(world, NEWER)))
  for (const text of ['1 added', '1 changed', '1 removed', '1 unchanged'])
    await page.getByText(text, { exact: true }).waitFor()
  const changed = page.getByRole('row').filter({ hasText: 'All pets, by name' })
  await changed.getByText('Kept', { exact: true }).waitFor()
  await inspect(page, 'import-over')
  await page.getByRole('link', { name: 'Cancel' }).click()
  await heading(page, ODD_NAME).waitFor()
  assert.ok(at(await documentOf(world, id), 'paths', '/pets/{id}', 'delete'), 'nothing has changed')
  await page.getByRole('link', { name: 'Import new version of the document' }).click()
  await pick(page, 'Document source', 'Paste')
  const newer = JSON.stringify(petsOf(world, NEWER))
  await pasteOver(page, page.getByRole('textbox', { name: 'OpenAPI document' }), newer)
  await flip(page, 'Allow all of its operations')
  const answerReads = await delayReadsAfterWrite(page)
  await page.getByRole('button', { name: 'Import' }).click()
  await heading(page, ODD_NAME).waitFor()
  await answers(world, 403, '/p/pets/7')
  await page.getByRole('link', { name: 'Import new version of the document' }).click()
  const allowed = page.getByRole('switch', { name: /^Allow all of its operations/ })
  await allowed.waitFor({ state: 'attached' })
  await answerReads()
  await becomes(() => allowed.isChecked(), false, 'the switch follows what was saved')
  await give(page, 'pets-2.json', newer)
  await flip(page, 'Allow all of its operations')
  await page.getByRole('button', { name: 'Import' }).click()
  await heading(page, ODD_NAME).waitFor()
  const paths = at(await documentOf(world, id), 'paths')
  assert.equal(at(paths, '/pets/{id}', 'delete'), undefined)
  assert.equal(at(paths, '/pets/{id}', 'get', 'operationId'), 'readPet')
  assert.equal((await world.through('/p/pets')).status, 200, 'what it was told about an operation is kept')
  await answers(world, 401, '/p/pets/7')
}

/** Lets reads of APIs wait from the next write on, as on a slow network, until the function that this returns is called. */
async function delayReadsAfterWrite(page: Page): Promise<() => Promise<void>> {
  const pattern = '**/api/apis/**'
  const { promise, resolve } = Promise.withResolvers<void>()
  let isWritten = false
  await page.route(pattern, async (route) => {
    const isRead = route.request().method() === 'GET'
    const isTrial = route.request().url().includes('dry_run')
    if (isRead && isWritten) await promise
    isWritten ||= !isRead && !isTrial
    await route.continue().catch(() => {})
  })
  return async () => {
    resolve()
    await page.unroute(pattern)
  }
}

async function byPaste(world: ApisWorld, page: Page): Promise<void> {
  await page.goto('/apis/new?from=openapi&source=paste')
  const editor = page.getByRole('textbox', { name: 'OpenAPI document' })
  const yaml = (title: string) =>
    `openapi: 3.1.0\ninfo:\n  title: ${title}\n  version: '1'\nservers:\n  - url: ${world.origin.url}\npaths: {}\n`
  await pasteOver(page, editor, yaml('"broken'))
  await page.getByRole('alert').first().waitFor()
  await inspect(page, 'import-yaml-broken')
  await page.keyboard.press('Control+Home')
  await page.keyboard.type('x')
  await page.keyboard.press('Backspace')
  await pasteOver(page, editor, yaml('Pasted words'))
  await preview(page).waitFor()
  await page.getByText('The document lists no operations').waitFor()
  await checkThemes(page)
  await page.reload()
  await pasteOver(page, editor, yaml('Pasted words'))
  await preview(page).waitFor()
  await add(page)
  await heading(page, 'Pasted words').waitFor()
  await answers(world, 200, '/pasted-words/')
}

async function byAddress(world: ApisWorld, page: Page): Promise<void> {
  const text = JSON.stringify({ ...petsOf(world, PATHS), info: { title: 'From elsewhere', version: '1' } })
  world.origin.script = ({ target }, response) => response.end(target === '/openapi.json' ? text : target)
  await page.goto('/apis/new?from=openapi')
  await pick(page, 'Document source', 'URL')
  await page.getByLabel('Document URL').fill(`${world.origin.url}/nothing`)
  await page.getByRole('alert').first().waitFor()
  await inspect(page, 'import-address')
  await page.getByLabel('Document URL').fill(`${world.origin.url}/openapi.json`)
  await preview(page).waitFor()
  await checkThemes(page)
  await add(page)
  await heading(page, 'From elsewhere').waitFor()
  await answers(world, 200, '/from-elsewhere/pets')
}

async function othersMay(world: ApisWorld, id: string): Promise<void> {
  const reader = await world.open(world.reader, `/apis/${id}/import`)
  await reader.getByText('You do not have access').waitFor()
  await checkThemes(reader)
  const owner = await world.open(world.owner, '/apis/new?from=openapi')
  await give(
    owner,
    'own.json',
    JSON.stringify({ ...petsOf(world, PATHS), info: { title: 'Of an owner', version: '1' } }),
  )
  await preview(owner).waitFor()
  await add(owner)
  await heading(owner, 'Of an owner').waitFor()
  const { json } = await world.api('GET', `/api/apis/${idIn(owner)}/access`)
  assert.deepEqual(at(json, 'userIds'), [world.owner.id])
}

async function large(world: ApisWorld, t: TestContext): Promise<void> {
  const page = await world.open(world.admin, '/apis/new?from=openapi')
  const paths: Record<string, unknown> = {}
  const words = 'A sentence that says in many words what is done here. '.repeat(20)
  for (let size = 0, number = 0; size < 5 * MEGABYTE; size += 1_150, number++)
    paths[`/things/${number}`] = { get: { ...operation(`thing${number}`, `Thing ${number}`), description: words } }
  const text = JSON.stringify({ ...petsOf(world, paths), info: { title: 'Large', version: '1' } }, null, 2)
  assert.ok(text.length > 5 * MEGABYTE)
  const measured = async (what: string, work: () => Promise<unknown>) => {
    const before = performance.now()
    await work()
    t.diagnostic(`${what}: ${Math.round(performance.now() - before)} ms`)
  }
  await measured('shown before it is imported', async () => {
    await give(page, 'large.json', text)
    await preview(page).waitFor()
  })
  await inspect(page, 'import-large')
  await measured('imported and open', async () => {
    await add(page)
    await heading(page, 'Large').waitFor()
    await page.getByLabel(/^Name/).waitFor()
  })
  const name = page.getByLabel(/^Name/)
  await measured('a letter typed', async () => {
    await name.focus()
    await page.keyboard.press('End')
    await page.keyboard.type('r')
    await eventually('it stands there', async () => (await name.inputValue()) === 'Larger')
  })
  await page.getByText('Unsaved changes').waitFor()
  await measured('saved', async () => {
    await save(page)
    await heading(page, 'Larger').waitFor()
  })
  assert.equal(at(await documentOf(world, idIn(page)), 'x-svc-api-gateway', 'info', 'name'), 'Larger')
  await answers(world, 200, '/large/things/1')
}
