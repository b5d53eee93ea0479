import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../../worlds/base/eventually.ts'
import {
  answers,
  documentOf,
  heading,
  IS_DEEP,
  inspect,
  LONG_NAME,
  makeApi,
  withSettings,
} from '../../worlds/console/apis-world.ts'
import { DEVELOPERS, type PortalWorld, startPortal } from '../../worlds/console/portal-world.ts'
import { settled } from '../../worlds/console/world.ts'

const ROWS = IS_DEEP ? 10_000 : 1500
const PAGE_ROWS = 1000
const PAGES = Math.ceil(ROWS / PAGE_ROWS)
const LOADED_AT_ONCE = 500
/** More than so many rows are never in the page, however long its list is. */
const MOST_DRAWN = 100
const AT_ONCE = 32

const numbered = (at: number) => `person${String(at).padStart(5, '0')}@many.example`

test('lists of ten thousand are paged, searched and sorted, and draw what is looked at', async (t) => {
  const world = await startPortal(t, {
    SVC_DB_PAGESIZE: String(PAGE_ROWS),
    SVC_ANALYTICS_RECORDSPERSECOND: '10000',
  })
  const page = await world.open(world.admin, '/developers')
  await t.test('developers', () => developers(world, page))
  await t.test('users', () => users(world, page))
  await t.test('the audit log, which knows who made all of them', () => audit(page))
  await t.test('single requests', () => requests(world, page))
})

/** Does something for every row, several at once. */
async function fill(one: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < ROWS) await one(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** How often the page calls an address while something is done to it. */
async function callsOf(page: Page, path: string, act: () => Promise<unknown>): Promise<number> {
  let number = 0
  const count = (request: { url(): string }) => {
    if (new URL(request.url()).pathname === path) number++
  }
  page.on('request', count)
  await act()
  page.off('request', count)
  return number
}

async function fewAreDrawn(page: Page): Promise<void> {
  const number = await page.getByRole('row').count()
  assert.ok(number > 1 && number < MOST_DRAWN, `${number} rows are drawn`)
}

/** Goes to the end of what the table holds, by keys. */
async function toEnd(page: Page, label: string, text: string): Promise<void> {
  const list = page.getByRole('region', { name: label, exact: true })
  const isReached = async () => {
    await list.press('End')
    return (await page.getByText(text, { exact: true }).count()) > 0
  }
  await eventually('the last row is reached', isReached)
  await fewAreDrawn(page)
}

const words = (page: Page) => new URL(page.url()).search

async function developers(world: PortalWorld, page: Page): Promise<void> {
  await fill((at) => world.done('POST', DEVELOPERS, { email: numbered(at), fields: { Name: LONG_NAME } }))
  await page.reload()
  await heading(page, 'Developers').waitFor()
  await page.getByText('many.example').first().waitFor()
  await fewAreDrawn(page)
  await page.getByRole('button', { name: 'Developer', exact: true }).click()
  await page.getByText(numbered(0), { exact: true }).waitFor()
  await toEnd(page, 'Developers', numbered(PAGE_ROWS - 1))
  const paged = await callsOf(page, DEVELOPERS, async () => {
    await page.getByRole('button', { name: String(PAGES), exact: true }).click()
    await eventually('the last page', () => words(page) === `?sort=email&page=${PAGES}`)
    await toEnd(page, 'Developers', numbered(ROWS - 1))
  })
  assert.equal(paged, 1, 'one call for a page')
  await inspect(page, 'developers')
  await page.getByRole('link', { name: numbered(ROWS - 1) }).click()
  await heading(page, numbered(ROWS - 1)).waitFor()
  await page.goBack()
  await page.reload()
  await toEnd(page, 'Developers', numbered(ROWS - 1))
  await page.goto('/developers?page=99')
  await eventually('the last page is shown', () => words(page) === `?page=${PAGES}`)
  await page.getByLabel('Search by email address').fill(numbered(707))
  await eventually('one is left', async () => (await page.getByRole('row').count()) === 2)
  await page.getByRole('link', { name: numbered(707) }).waitFor()
  for (const [column, sort] of [
    ['Joined', 'date_created'],
    ['Developer', 'email'],
  ] as const) {
    await page.getByRole('button', { name: column, exact: true }).click()
    await eventually('the order stands beside the search', () => new URLSearchParams(words(page)).get('sort') === sort)
    await page.getByRole('link', { name: numbered(707) }).waitFor()
  }
  await page.getByLabel('Search by email address').fill('<nobody>')
  await page.getByRole('button', { name: 'Clear search' }).click()
  await page.getByRole('button', { name: 'Joined' }).click()
  await eventually(
    'the order stands in the address',
    () => new URLSearchParams(words(page)).get('sort') === 'date_created',
  )
  await page.getByText('many.example').first().waitFor()
  await fewAreDrawn(page)
}

async function users(world: PortalWorld, page: Page): Promise<void> {
  await fill((at) =>
    world.done('POST', '/api/users', {
      ...{ email_address: numbered(at), first_name: `Nº ${at}`, last_name: LONG_NAME, active: false },
      user_permissions: { apis: 'read' },
    }),
  )
  await page.goto('/users')
  await page.getByText('many.example').first().waitFor()
  await fewAreDrawn(page)
  await page.getByRole('button', { name: 'Next page' }).click()
  await eventually('the page stands in the address', () => words(page) === '?p=2')
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
  await fewAreDrawn(page)
  await inspect(page, 'users-many')
  await page.getByRole('region', { name: 'Users' }).getByRole('link').first().click()
  await page.getByLabel('Email address').waitFor()
  await page.goBack()
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
  await page.getByLabel('Search by email address').fill(numbered(ROWS - 1))
  await eventually(
    'one is left',
    async () => (await page.getByRole('table', { name: 'Users' }).getByRole('row').count()) === 2,
  )
  await page.getByText(numbered(ROWS - 1)).waitFor()
}

async function audit(page: Page): Promise<void> {
  await page.goto('/audit')
  await page.getByRole('link', { name: 'user.create' }).first().waitFor()
  await fewAreDrawn(page)
  await page.getByLabel('Action').fill('developer.create')
  await page.getByRole('link', { name: 'developer.create' }).first().waitFor()
  await page.getByRole('button', { name: String(PAGES), exact: true }).click()
  await eventually('the last page', () => new URLSearchParams(words(page)).get('p') === String(PAGES))
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
  await fewAreDrawn(page)
  await page.getByRole('region', { name: 'Audit log' }).focus()
  await page.keyboard.press('End')
  await settled(page)
  await fewAreDrawn(page)
  await page.getByRole('region', { name: 'Audit log' }).getByRole('link').last().click()
  await page.getByRole('heading', { name: 'Changes' }).waitFor()
}

async function requests(world: PortalWorld, page: Page): Promise<void> {
  const id = await makeApi(world, 'Counted', '/counted/')
  const recorded = withSettings(await documentOf(world, id), (settings) => {
    settings.middleware = { global: { trafficLogs: { enabled: true } } }
  })
  await world.done('PUT', `/api/apis/oas/${id}`, recorded)
  await answers(world, 200, '/counted/')
  await fill((at) => world.through(`/counted/${at % 10}`))
  await page.goto('/requests?range=1h')
  const table = page.getByRole('region', { name: 'Requests' })
  await table.waitFor()
  const more = page.getByRole('button', { name: 'Load older requests' })
  const shown = (number: number) => page.getByText(new RegExp(`^${number.toLocaleString('en-GB')} shown`)).waitFor()
  for (let loaded = LOADED_AT_ONCE; loaded < ROWS; loaded += LOADED_AT_ONCE) {
    await shown(loaded)
    await more.click()
  }
  await shown(ROWS)
  await fewAreDrawn(page)
  await table.focus()
  await page.keyboard.press('End')
  await settled(page)
  await fewAreDrawn(page)
  await table.getByRole('button', { name: /^GET/ }).last().click()
  const drawer = page.getByRole('dialog', { name: 'Request' })
  await drawer.getByRole('link', { name: 'Open the API' }).waitFor()
  await drawer.getByRole('button', { name: 'Close' }).click()
  await page.getByLabel('Path').fill('/counted/7')
  await eventually(
    'a tenth is left',
    async () =>
      (await table.getByRole('table').getAttribute('aria-rowcount')) ===
      String(Math.min(ROWS / 10, LOADED_AT_ONCE) + 1),
  )
  await fewAreDrawn(page)
  await inspect(page, 'requests-many')
}
