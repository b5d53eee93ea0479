import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { Locator, Page, Request } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { type ApisWorld, IS_DEEP, ODD_NAME, startApis } from '../../worlds/console/apis-world.ts'
import { checkThemes, settled, shoot } from '../../worlds/console/world.ts'

interface Counted extends ApisWorld {
  /** Id of an API that asks for a key. */
  readonly apiId: string
  /** Sends requests with the key, or without one: they are refused. */
  send(path: string, times: number, isKnown?: boolean): Promise<void>
}

/** An API with an odd name, a key, and requests: five that work, two to nowhere, three refused. */
async function counted(t: TestContext): Promise<Counted> {
  const world = await startApis(t)
  world.origin.script = ({ target }, response) => {
    response.statusCode = target.startsWith('/lost') ? 404 : 200
    response.end('{}')
  }
  const made = await world.api('POST', '/api/apis/oas', {
    ...{ openapi: '3.0.3', info: { title: ODD_NAME, version: '1' } },
    paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'Pets' } } } } },
    ...{
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
      security: [{ key: [] }],
    },
    'x-svc-api-gateway': {
      info: { name: ODD_NAME, state: { active: true } },
      upstream: { url: world.origin.url },
      server: {
        listenPath: { value: '/counted/', strip: true },
        authentication: { enabled: true, securitySchemes: { key: { enabled: true } } },
      },
      middleware: {
        global: { trafficLogs: { enabled: true } },
        operations: { listPets: { trackEndpoint: { enabled: true } } },
      },
    },
  })
  assert.equal(made.status, 200, made.text)
  const api = String((made.json as JsonObject).ID)
  const rights = { [api]: { api_id: api, api_name: ODD_NAME, versions: ['Default'] } }
  const key = await world.api('POST', '/api/keys', { alias: 'Reporter', tags: ['nightly'], access_rights: rights })
  assert.equal(key.status, 200, key.text)
  const headers = { 'x-key': String((key.json as JsonObject).key_id) }
  const send: Counted['send'] = async (path, times, isKnown = true) => {
    for (let i = 0; i < times; i++) await world.through(`/counted${path}`, isKnown ? headers : {})
  }
  await eventually('the gateway serves it', async () => (await world.through('/counted/pets')).status === 401)
  await send('/pets', 5)
  await send('/lost', 2)
  await send('/pets', 2, false)
  await eventually('all are counted and recorded', async () => {
    const logs = (await world.api('GET', `/api/logs?p=1&start=1&api=${api}`)).json as { data?: JsonObject[] }
    return (logs.data?.length ?? 0) >= 10
  })
  return { ...world, apiId: api, send }
}

const words = (page: Page) => new URL(page.url()).searchParams
/** The first of the four numbers. */
async function total(page: Page): Promise<string> {
  const text = await page.getByRole('region', { name: 'Requests', exact: true }).innerText()
  return text.replace(/\s+/g, ' ').split(' ')[1] ?? ''
}
const breakdown = (page: Page) => page.getByRole('region', { name: 'Breakdown' })

/** Rows of a table without its head. */
const rowsOf = (table: Locator) => table.locator('tbody').getByRole('row')

async function saved(page: Page, button: Locator): Promise<{ name: string; lines: string[] }> {
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()])
  const text = readFileSync(await file.path(), 'utf8')
  return { name: file.suggestedFilename(), lines: text.trim().split('\n') }
}

/** Times of minutes count exactly these, in the numbers, the charts and the table; keys are counted in whole hours, and the page says so. */
async function countsByMinute(world: Counted, page: Page): Promise<void> {
  for (const [text, word, minutes] of [
    ['5 min', '5m', 5],
    ['15 min', '15m', 15],
    ['1 h', '1h', 60],
    ['6 h', '6h', 360],
  ] as const) {
    await page.getByRole('radiogroup', { name: 'Time' }).getByText(text, { exact: true }).click()
    await eventually('the time is in the address', () => words(page).get('range') === word)
    const asked = new Set<string>()
    const note = (request: Request) => {
      const { pathname, search, searchParams } = new URL(request.url())
      if (searchParams.get('res') === 'minute') asked.add(pathname + search)
    }
    page.on('request', note)
    await page.reload()
    // The page asks for the period before as well; the same is asked here, as the browser forgets the bodies of answers.
    let shown: string | undefined
    await eventually('the numbers are those of the chart', async () => {
      const number = await total(page)
      for (const path of asked) {
        const { data } = (await world.api('GET', path)).json as { readonly data: readonly { readonly hits: number }[] }
        if (String(data.reduce((sum, { hits }) => sum + hits, 0)) === number) shown = path
      }
      return shown !== undefined
    })
    page.off('request', note)
    const query = new URL(shown!, page.url()).searchParams
    const [from, to] = ['from', 'to'].map((name) => Number(query.get(name) ?? 0))
    // At midnight an end needs no parameter.
    if (from !== 0 && to !== 0) assert.equal(to! - from!, minutes * 60)
    await page.getByText(/^Counts by minute/).waitFor()
  }
  await shoot(page, 'analytics-minutes')
  await breakdown(page).getByRole('tab', { name: 'Key', exact: true }).click()
  await breakdown(page)
    .getByText(/^Counted by hour/)
    .waitFor()
  await breakdown(page).getByRole('button', { name: 'Reporter' }).click()
  await page.getByText(/are counted by hour:/).waitFor()
  await eventually('all of the key', async () => (await total(page)) === '7')
  await shoot(page, 'analytics-hours-of-a-key')
  await page.getByRole('button', { name: /^Remove filter Key/ }).click()
  await page.getByText('24 h', { exact: true }).click()
  await breakdown(page).getByRole('tab', { name: 'API', exact: true }).click()
}

/** After an upgrade minutes are counted from the next hour on: what was asked for before is shown in hours, and not asked for again. */
async function fallsBackToHours(world: Counted): Promise<void> {
  const page = await world.open(world.admin, '/analytics', [/400/])
  let refused = 0
  const byMinute = (url: URL) => url.searchParams.get('res') === 'minute'
  await page.route(byMinute, (route) => {
    refused++
    return route.fulfill({ status: 400, json: { Status: 'Error', Message: 'The date range is not valid', Meta: null } })
  })
  const byHour = page.waitForResponse((answer) => new URL(answer.url()).searchParams.get('res') === 'hour')
  await page.goto(new URL('/analytics?range=15m&by=api', page.url()).href)
  assert.equal((await byHour).status(), 200)
  await page.getByText(/^Counts by hour/).waitFor()
  await eventually('the numbers are there', async () => Number(await total(page)) >= 10)
  await becomes(() => page.getByText('The date range is not valid').count(), 0)
  const before = refused
  await page.getByRole('radiogroup', { name: 'Time' }).getByText('6 h', { exact: true }).click()
  await page.getByText(/^Counts by hour/).waitFor()
  await eventually('the time is in the address', () => words(page).get('range') === '6h')
  assert.ok(before > 0 && refused === before)
}

async function looksCloser(world: Counted): Promise<void> {
  const page = await world.open(world.admin, '/analytics')
  await eventually('the number of requests', async () => (await total(page)) === '10')
  await checkThemes(page)
  await shoot(page, 'analytics')

  await countsByMinute(world, page)

  await page.getByText('7 days', { exact: true }).click()
  await eventually('the time stands in the address', () => words(page).get('range') === '7d')
  await page.getByLabel('Compare with previous period').click()
  await eventually('so does what is compared', () => words(page).get('compare') === 'no')
  await page.reload()
  await becomes(() => page.getByLabel('Compare with previous period').isChecked(), false)
  await page.getByLabel('Compare with previous period').click()

  await page.getByRole('button', { name: 'From – to' }).click()
  const range = page.getByRole('dialog')
  const day = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 16)
  await range.getByLabel('To').fill(day(5))
  await range.getByLabel('From').fill(day(1))
  await range.getByText('The end must be after the start').waitFor()
  await becomes(() => range.getByRole('button', { name: 'Show' }).isDisabled(), true)
  await range.getByLabel('To').fill(day(-1))
  await checkThemes(page)
  await range.getByRole('button', { name: 'Show' }).click()
  await eventually('a time of one’s own stands in the address', () => words(page).get('range') === 'custom')
  await page.getByText('24 h', { exact: true }).click()

  const refresh = page.getByRole('radiogroup', { name: 'Refresh' })
  for (const [text, word] of [
    ['Every 10 s', '10'],
    ['Off', 'off'],
    ['Every minute', null],
  ] as const) {
    await refresh.getByText(text, { exact: true }).click()
    await eventually(`the refresh is ${text}`, () => words(page).get('refresh') === word)
  }
  const legend = page.getByRole('group', { name: 'Lines of Requests and errors' })
  const errors = legend.getByRole('switch', { name: 'Errors', exact: true })
  for (const shown of [false, true]) {
    await errors.click()
    await becomes(() => errors.getAttribute('aria-checked'), String(shown))
  }
  for (const name of ['Requests and errors', 'Latency']) {
    await page.getByLabel(`${name} as a table`).click()
    await page.getByRole('table', { name }).waitFor()
  }
  await settled(page)
  await shoot(page, 'analytics-tables')
  const charts = await saved(page, page.getByRole('button', { name: 'Download charts (CSV)' }))
  assert.equal(charts.name, 'analytics.csv')
  assert.ok(charts.lines.length > 1)

  // An hour leads to its minutes, a minute to its single requests, and back; each has a link to them as well.
  const bucket = page.getByRole('table', { name: 'Requests and errors' }).getByRole('button').first()
  await bucket.click()
  await page.waitForURL(/\/analytics\?.*range=custom/)
  await page.getByText(/^Counts by minute/).waitFor()
  await bucket.click()
  await page.waitForURL(/\/requests\?range=custom/)
  await page.goBack()
  await page.getByRole('heading', { name: 'Analytics', level: 1 }).waitFor()
  await page.goBack()
  await page.getByText(/^Counts by hour/).waitFor()
  const table24 = page.getByRole('table', { name: 'Requests and errors' })
  if ((await table24.count()) === 0) await page.getByLabel('Requests and errors as a table').click()
  await table24
    .getByRole('link', { name: /^View requests of/ })
    .first()
    .click()
  await page.waitForURL(/\/requests\?range=custom/)
  await page.goBack()
  await page.getByRole('link', { name: 'View requests', exact: true }).click()
  await page.waitForURL(/\/requests/)
  await page.goBack()

  const table = breakdown(page).getByRole('table').first()
  await breakdown(page).getByRole('button', { name: ODD_NAME, exact: true }).waitFor()
  for (const column of ['Errors', 'Requests']) {
    await table.getByRole('button', { name: column }).click()
    await table
      .getByRole('columnheader', { name: column })
      .and(page.locator('[aria-sort=ascending],[aria-sort=descending]'))
      .waitFor()
  }
  const rows = await saved(page, page.getByRole('button', { name: 'Download table (CSV)' }))
  assert.equal(rows.name, 'analytics-api.csv')
  assert.ok(
    rows.lines.some((line) => line.includes(world.apiId)),
    rows.lines.join('\n'),
  )

  // From the API to the key, from the key to what it was answered, from there to the single requests.
  await breakdown(page).getByRole('button', { name: ODD_NAME, exact: true }).click()
  await breakdown(page).getByRole('button', { name: 'Reporter' }).click()
  await breakdown(page).getByRole('button', { name: '404', exact: true }).waitFor()
  await eventually('the number follows', async () => (await total(page)) === '7')
  await page.getByLabel('Errors only').click()
  await eventually('and that of errors', async () => (await total(page)) === '2')
  await shoot(page, 'analytics-closer')
  await page.getByRole('button', { name: /^Remove filter Key/ }).click()
  await eventually('a filter goes', () => words(page).get('key') === null && words(page).get('api') === world.apiId)
  await page.goBack()
  await eventually('and comes back', () => words(page).get('key') !== null)
  await breakdown(page).getByRole('link', { name: 'View requests of 404' }).click()
  await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
  await eventually(
    'two requests',
    async () => (await rowsOf(page.getByRole('table', { name: 'Requests' })).count()) === 2,
  )
  await page.goBack()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await eventually('nothing is left out', () => words(page).get('api') === null)
}

async function tellsApart(world: Counted): Promise<void> {
  const page = await world.open(world.reader, '/analytics')
  const shown: Readonly<Record<string, string | RegExp>> = {
    Version: ODD_NAME,
    Key: 'Reporter',
    'OAuth client': 'No OAuth client has called',
    Endpoint: 'GET /pets',
    Status: '401',
    Tag: 'nightly',
    Developer: 'No portal developer has called in this period',
    Country: /Unknown|Countries need/,
    API: ODD_NAME,
  }
  for (const [tab, text] of Object.entries(shown)) {
    await breakdown(page).getByRole('tab', { name: tab, exact: true }).click()
    await breakdown(page).getByText(text).first().waitFor()
    if (IS_DEEP) await checkThemes(page)
    if (IS_DEEP) await shoot(page, `analytics-by-${tab}`)
  }
  await breakdown(page).getByRole('tab', { name: 'Key', exact: true }).click()
  await breakdown(page).getByRole('button', { name: 'No key' }).click()
  await eventually('the number of those who showed none', async () => (await total(page)) === '3')
  await page.goto('/analytics?range=1h&api=nowhere&by=key')
  await breakdown(page).getByText('No requests in this period').waitFor()
  await checkThemes(page)
  await shoot(page, 'analytics-empty')
}

async function searches(world: Counted): Promise<void> {
  const page = await world.open(world.admin, '/requests')
  const table = page.getByRole('table', { name: 'Requests' })
  const count = (number: number) => eventually(`${number} rows`, async () => (await rowsOf(table).count()) === number)
  await count(10)
  await checkThemes(page)
  await shoot(page, 'requests')
  await page.getByLabel('Errors only').click()
  await count(5)
  await page.getByLabel('Status').fill('404')
  await count(2)
  assert.equal(words(page).get('status'), '404')
  await page.reload()
  await count(2)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await count(10)
  await page.getByLabel('Path').fill('lost')
  await count(2)
  await page.getByLabel('Path').fill('')
  await page.getByRole('combobox', { name: 'Method' }).click()
  await page.getByRole('option', { name: 'POST' }).click()
  await page.getByText('No requests recorded in this period').waitFor()
  await checkThemes(page)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByLabel('Tag').fill('nightly')
  await count(7)
  await page.getByLabel('Key', { exact: true }).fill('nobody')
  await page.getByText('No requests recorded in this period').waitFor()
  await page.getByLabel('Key', { exact: true }).fill('')
  await page.getByRole('button', { name: 'From – to' }).click()
  const range = page.getByRole('dialog')
  const day = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 16)
  await range.getByLabel('From').fill(day(3))
  await range.getByLabel('To').fill(day(2))
  await range.getByRole('button', { name: 'Show' }).click()
  await page.getByText('No requests recorded in this period').waitFor()
  assert.equal(words(page).get('range'), 'custom')
  await page.getByText('24 h', { exact: true }).click()
  await count(7)
  await page.getByLabel('OAuth client').fill('nobody')
  await page.getByText('No requests recorded in this period').waitFor()
  await page.getByLabel('OAuth client').fill('')
  await page.getByRole('combobox', { name: 'API', exact: true }).fill('Pets')
  await page.getByRole('option', { name: ODD_NAME }).click()
  await count(7)
  await page.getByRole('button', { name: 'Fewer filters' }).click()
  const file = await saved(page, page.getByRole('button', { name: 'CSV' }))
  assert.deepEqual([file.name, file.lines.length], ['requests.csv', 8])

  await page
    .getByRole('button', { name: /^GET \/counted\/lost/ })
    .first()
    .click()
  const drawer = page.getByRole('dialog', { name: 'Request' })
  await drawer.getByText('Headers and bodies are not recorded').waitFor()
  await drawer.getByRole('cell', { name: 'Reporter' }).waitFor()
  await checkThemes(page)
  await shoot(page, 'request')
  await drawer.getByRole('link', { name: 'Requests to this path' }).click()
  await drawer.waitFor({ state: 'detached' })
  await count(2)
  await page.getByRole('button', { name: /^GET/ }).first().click()
  await drawer.getByRole('link', { name: 'Requests of this key' }).click()
  await count(7)
  await page.getByRole('button', { name: /^GET/ }).first().click()
  await drawer.getByRole('link', { name: 'Requests to this API' }).click()
  await count(10)
  await page
    .getByRole('button', { name: /^GET \/counted\/lost/ })
    .first()
    .click()
  await drawer.getByRole('link', { name: 'Open the key' }).click()
  await page.getByRole('heading', { name: 'Reporter', level: 1 }).waitFor()
  await page.goBack()
  await page
    .getByRole('button', { name: /^GET \/counted\/lost/ })
    .first()
    .click()
  await drawer.getByRole('link', { name: 'Open the API' }).click()
  await page.getByRole('heading', { name: ODD_NAME, level: 1 }).waitFor()
  await page.goBack()
  await world.send('/pets', 1)
  await eventually('one more is there when it is asked for', async () => {
    await page.getByRole('button', { name: 'Refresh' }).click()
    return (await rowsOf(table).count()) === 11
  })

  await page.getByText('Live', { exact: true }).click()
  await page.getByText('Waiting for requests').waitFor()
  await page.getByRole('status').getByText('Receiving').waitFor()
  await world.send('/pets', 1)
  await count(1)
  await page.getByRole('button', { name: 'Pause' }).click()
  await world.send('/lost', 2)
  await page.getByText('Paused, 2 new').waitFor()
  await checkThemes(page)
  await shoot(page, 'requests-live')
  await becomes(() => rowsOf(table).count(), 1)
  await page.getByRole('button', { name: 'Resume' }).click()
  await count(3)
  await page
    .getByRole('button', { name: /^GET \/counted\/lost/ })
    .first()
    .click()
  await drawer.getByText('Live requests have no headers and bodies').waitFor()
  await drawer.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await page.getByText('Waiting for requests').waitFor()
}

/** Single requests are as much one's own as their API is. */
async function seesOwn(world: Counted): Promise<void> {
  const give = async (id: string) => {
    const given = await world.api('PUT', `/api/apis/${world.apiId}/access`, { userIds: [id], userGroupIds: [] })
    assert.equal(given.status, 200, given.text)
  }
  await give(world.admin.id)
  const page = await world.open(world.owner, '/requests')
  await page.getByText('No requests recorded in this period').waitFor()
  await give(world.owner.id)
  await eventually('they are there when they are asked for', async () => {
    await page.getByRole('button', { name: 'Refresh' }).click()
    return (await rowsOf(page.getByRole('table', { name: 'Requests' })).count()) > 0
  })
  await page
    .getByRole('button', { name: /^GET \/counted\/lost/ })
    .first()
    .click()
  await page.getByRole('dialog', { name: 'Request' }).getByRole('link', { name: 'Open the API' }).click()
  await page.getByRole('heading', { name: ODD_NAME, level: 1 }).waitFor()
}

/** A page that was left open with a time of one's own, or without refreshing, ends its next time when that is chosen. */
async function endsNow(world: Counted): Promise<void> {
  const tomorrow = Date.now() + 86_400_000
  const last = new Date(tomorrow)
  const dates = `/${last.getUTCDate()}/${last.getUTCMonth() + 1}/${last.getUTCFullYear()}`
  for (const words of ['range=custom&from=2026-01-01T00:00&to=2026-01-02T00:00', 'refresh=off']) {
    const page = await world.open(world.admin, `/analytics?${words}`)
    await page.getByText('7 days', { exact: true }).waitFor()
    await settled(page)
    await page.clock.setFixedTime(tomorrow)
    const asked = page.waitForRequest((request) => new URL(request.url()).pathname.endsWith(dates))
    await page.getByText('7 days', { exact: true }).click()
    await asked
    await page.close()
  }
}

async function refuses(world: Counted): Promise<void> {
  const made = await world.api('POST', '/api/users', {
    ...{
      email_address: 'nan@example.test',
      first_name: 'Nan',
      last_name: 'T',
      active: true,
      password: world.admin.password,
    },
    user_permissions: { apis: 'read' },
  })
  assert.equal(made.status, 200, made.text)
  const nan = { ...world.reader, email: 'nan@example.test' }
  const page = await world.open(nan, '/analytics')
  await page.getByText('You do not have access').waitFor()
  await page.goto('/requests')
  await page.getByText('You do not have access').waitFor()
  await checkThemes(page)
  for (const name of ['Analytics', 'Requests'])
    await becomes(() => page.getByRole('navigation').getByRole('link', { name, exact: true }).count(), 0)
  await seesOwn(world)
  const mine = await world.api('PUT', `/api/users/${world.owner.id}`, {
    user_permissions: { apis: 'write', analytics: 'read', owned_analytics: 'owned' },
  })
  assert.equal(mine.status, 200, mine.text)
  const owners = await world.open(world.owner, '/analytics?by=key')
  await owners.getByText('You see the traffic of the APIs visible to you, by API, version and status').waitFor()
  await becomes(() => breakdown(owners).getByRole('tab').allInnerTexts(), ['API', 'Version', 'Status'])
  await checkThemes(owners)
  await shoot(owners, 'analytics-owned')
}

test('the numbers', async (t) => {
  const world = await counted(t)
  await t.test('requests are counted, told apart, compared, looked at closer and saved as files', () =>
    looksCloser(world),
  )
  await t.test('a time that is not counted by minute is shown in hours', () => fallsBackToHours(world))
  await t.test('everything that requests are told apart by has a tab, with or without rows', () => tellsApart(world))
  await t.test('single requests are searched, opened, followed as they come, and saved', () => searches(world))
  await t.test('a time that is chosen on a page that was open for long ends now', () => endsNow(world))
  await t.test('whoever may not see numbers is told so, and owners see those of their own', () => refuses(world))
})
