import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  at,
  choose,
  documentOf,
  field,
  heading,
  holdsOnePage,
  IS_DEEP,
  inspect,
  makeApi,
  makeMany,
  pasteOver,
  pick,
  save,
  saved,
  startApis,
  tab,
  watchList,
} from '../../worlds/console/apis-world.ts'
import { checkThemes } from '../../worlds/console/world.ts'

test('APIs of both formats', async (t) => {
  const world = await startApis(t)
  await t.test('a classic one is edited by the same form and turned into OpenAPI', () => classic(world))
  await t.test('the list is searched, filtered, sorted and paged by its address, and stays smooth', (each) =>
    list(world, each),
  )
})

async function classic(world: ApisWorld): Promise<void> {
  const definition = {
    ...{ name: 'Classic', use_keyless: true, active: true, version_data: { not_versioned: true, versions: {} } },
    proxy: { listen_path: '/classic/', target_url: world.origin.url, strip_listen_path: true },
  }
  const made = await world.api('POST', '/api/apis', { api_definition: definition })
  assert.equal(made.status, 200, made.text)
  const id = String(at(made.json, 'ID'))
  const page = await world.open(world.owner, `/apis/${id}`)
  await page.getByLabel(/^Listen path/).fill('/old/')
  await page.getByRole('button', { name: /^IP access/ }).click()
  await field(page, 'Block list').fill('127.0.0.0/8')
  await page.keyboard.press('Enter')
  await checkThemes(page)
  await save(page)
  await saved(page)
  await answers(world, 403, '/old/')
  await page
    .getByRole('button', { name: /^Remove/ })
    .or(page.locator('.mantine-Pill-remove'))
    .first()
    .click()
  await save(page)
  await saved(page)
  await answers(world, 200, '/old/')
  const { api_definition: stored } = (await world.api('GET', `/api/apis/${id}`)).json as Record<string, object>
  const renamed = JSON.stringify({ ...stored, name: 'Written anew' }, null, 2)
  await pick(page, 'View', 'Text')
  await pasteOver(page, page.getByRole('textbox', { name: 'Classic definition' }), renamed)
  await save(page)
  await saved(page)
  await heading(page, 'Written anew').waitFor()
  await tab(page, 'Danger')
  await page.getByRole('button', { name: 'Convert to OpenAPI' }).click()
  await page.getByRole('link', { name: 'Import new version of the document' }).waitFor()
  assert.equal(at(await documentOf(world, id), 'openapi'), '3.0.3')
  await answers(world, 200, '/old/')
}

/** One API of all carries a label, and is what the list holds when that is chosen. */
async function byLabel(world: ApisWorld, page: Page, rows: Locator): Promise<void> {
  const label = await world.api('POST', '/api/labels', { name: 'Team', values: ['retail'] })
  assert.equal(label.status, 200, label.text)
  const { labels } = (await world.api('GET', '/api/labels?p=-1')).json as { labels: JsonObject[] }
  const { key } = labels.find(({ name }) => name === 'Team')!
  const { apis } = (await world.api('GET', '/api/apis?facts=1&q=service%2000003')).json as { apis: JsonObject[] }
  const carried = await world.api('POST', `/api/apis/${apis[0]!.id}/labels`, { key, value: 'retail' })
  assert.equal(carried.status, 200, carried.text)
  await page.reload()
  const filter = page.getByRole('combobox', { name: 'Any label' })
  await choose(page, filter, 'retail (1)')
  await rows.filter({ hasText: 'Service 00003' }).waitFor()
  await eventually('the others are gone', async () => (await rows.count()) === 1)
  await becomes(() => new URL(page.url()).searchParams.get('labels'), `${key}:retail`)
  await page.getByRole('button', { name: 'Clear all' }).click()
  await eventually('all are back', async () => (await rows.count()) > 1)
}

const SORTS: Readonly<Record<string, string>> = { State: 'active', Authentication: 'auth_type', Updated: 'updated_at' }

async function list(world: ApisWorld, t: TestContext): Promise<void> {
  const many = IS_DEEP ? 10_000 : 60
  await makeMany(many, (number) => makeApi(world, `Service ${number}`, `/s${number}/`))
  const page = await world.open(world.admin, '/labels')
  const watch = await watchList(page, '/api/apis')
  await page.goto('/apis')
  const rows = page.getByRole('row').filter({ hasText: 'Service' })
  await page.getByLabel('Search').fill('service')
  await eventually('the search stands in the address', () => new URL(page.url()).searchParams.get('q') === 'service')
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await rows.filter({ hasText: `Service ${String(many - 1).padStart(5, '0')}` }).waitFor()
  for (const name of ['State', 'Authentication', 'Updated']) {
    await page.getByRole('button', { name, exact: true }).click()
    await becomes(() => new URL(page.url()).searchParams.get('sort'), SORTS[name])
    await rows.first().waitFor()
  }
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await rows.filter({ hasText: 'Service 00000' }).waitFor()
  await page.getByRole('button', { name: 'Next page' }).click()
  await rows.filter({ hasText: 'Service 00025' }).waitFor()
  await page.reload()
  await rows.filter({ hasText: 'Service 00025' }).waitFor()
  await becomes(() => rows.count(), 25)
  await page.getByText(`26–50 of ${many.toLocaleString('en-US')}`).waitFor()
  await choose(page, page.getByRole('combobox', { name: 'Rows per page' }), '50')
  await becomes(() => rows.count(), 50)
  await becomes(() => new URL(page.url()).searchParams.get('size'), '50')
  await choose(page, page.getByRole('combobox', { name: 'Rows per page' }), '25')
  await becomes(() => rows.count(), 25)
  await inspect(page, 'apis-many')
  await page.goto(`/apis?q=service&page=${many}`)
  await rows.filter({ hasText: `Service ${String(many - 1).padStart(5, '0')}` }).waitFor()

  await choose(page, page.getByRole('combobox', { name: 'Any state' }), 'Inactive')
  await page.getByText('No API matches').waitFor()
  await becomes(() => new URL(page.url()).searchParams.get('active'), 'false')
  await page.getByRole('button', { name: 'Clear all' }).click()
  await byLabel(world, page, rows)
  await choose(page, page.getByRole('combobox', { name: 'Any authentication' }), 'API key')
  await page.getByRole('link', { name: /^Protected sample/ }).waitFor()
  await eventually('the others are gone', async () => (await rows.count()) === 0)
  await page.getByRole('link', { name: /^Protected sample/ }).click()
  await heading(page, /^Protected sample/).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: /^Protected sample/ }).waitFor()
  await becomes(() => new URL(page.url()).searchParams.get('auth_type'), 'authToken')
  if (!IS_DEEP) return
  await page.goto('/apis')
  await page.getByRole('link', { name: /^Protected sample/ }).waitFor()
  watch.reads()
  await page.getByLabel('Search').pressSequentially('service 0999')
  await rows.filter({ hasText: 'Service 09990' }).waitFor()
  assert.ok(watch.reads() <= 'service 0999'.length, 'no more is read than was typed')
  await holdsOnePage(page)
  await page.getByRole('button', { name: 'Clear all' }).click()
  await page.getByRole('link', { name: /^Protected sample/ }).waitFor()
  for (const name of ['Next page', 'Next page', 'Previous page']) {
    const before = performance.now()
    const answered = page.waitForResponse((response) => response.url().includes('/api/apis?'))
    await page.getByRole('button', { name }).click()
    await answered
    t.diagnostic(`a page of ${many} APIs after ${Math.round(performance.now() - before)} ms`)
    await holdsOnePage(page)
  }
  t.diagnostic(`longest task of the page: ${Math.round(await watch.longestMs())} ms`)
}
