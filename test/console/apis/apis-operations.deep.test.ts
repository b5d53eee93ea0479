import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call } from '../../worlds/base/client.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  at,
  choose,
  documentOf,
  field,
  flip,
  inspect,
  save,
  saved,
  startApis,
} from '../../worlds/console/apis-world.ts'

const EXAMPLES = {
  'application/json': { examples: { cat: { value: { name: 'Tom' } }, dog: { value: { name: 'Rex' } } } },
}
const PATHS = {
  '/pets': {
    get: { operationId: 'listPets', responses: { 200: { description: 'All', content: EXAMPLES } } },
    post: {
      operationId: 'addPet',
      requestBody: {
        content: {
          'application/json': {
            schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
          },
        },
      },
      responses: { 201: { description: 'Added' } },
    },
  },
  '/stock': {
    get: { operationId: 'readStock', responses: { 200: { description: 'All' } } },
    put: { operationId: 'putStock', responses: { 200: { description: 'Kept' } } },
  },
  '/old/{id}': { get: { operationId: 'readOld', responses: { 200: { description: 'One' } } } },
}

test('mocks, checks, rewrites and other methods are set for single operations, and come true', async (t) => {
  const world = await startApis(t)
  const id = await makePets(world)
  const page = await world.open(world.admin, `/apis/${id}`, [/status of 4\d\d/])
  await page.getByRole('button', { name: /^Operations \(5\)/ }).click()
  await mocks(world, page, id)
  await checks(world, page, id)
  await rewrites(world, page, id)
  await templates(world, page, id)
  await kept(world, page, id)
  await breaks(world, page, id)
})

/** An API open to everybody, whose service says method and path. Answers its id. */
async function makePets(world: ApisWorld): Promise<string> {
  world.origin.script = ({ method, target }, response) => response.end(`${method} ${target}`)
  const made = await world.api('POST', '/api/apis/oas', {
    ...{ openapi: '3.0.3', info: { title: 'Pets', version: '1' }, paths: PATHS },
    'x-svc-api-gateway': {
      info: { name: 'Pets', state: { active: true } },
      upstream: { url: world.origin.url },
      server: { listenPath: { value: '/pets/', strip: true }, authentication: { enabled: false } },
      middleware: { global: { trafficLogs: { enabled: true }, cache: { enabled: true } } },
    },
  })
  assert.equal(made.status, 200, made.text)
  return String((made.json as JsonObject).ID)
}

/** Opens what is said of one operation, changes it, and saves. */
async function set(page: Page, operation: string, change: (dialog: Locator) => Promise<void>): Promise<void> {
  const [method = '', path = ''] = operation.split(' ')
  const row = page.getByRole('row').filter({ has: page.getByText(method, { exact: true }) })
  await row.getByRole('button', { name: path, exact: true }).click()
  const dialog = page.getByRole('dialog', { name: operation })
  await dialog.waitFor()
  await change(dialog)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await save(page)
  await saved(page)
}

const settings = async (world: ApisWorld, id: string, operation: string) =>
  at(await documentOf(world, id), 'x-svc-api-gateway', 'middleware', 'operations', operation)
const kindOf = (dialog: Locator) => dialog.getByRole('combobox', { name: /^Mock response/ })

async function mocks(world: ApisWorld, page: Page, id: string): Promise<void> {
  await set(page, 'GET /pets', async (dialog) => {
    await choose(page, kindOf(dialog), 'Fixed response')
    await field(dialog, /^Status/).fill('203')
    await field(dialog, /^Response headers/).fill('Cache-Control: no-cache, no-store')
    await page.keyboard.press('Enter')
    await field(dialog, /^Response body/).fill('{"name": "Paul"}')
    await flip(dialog, 'Do not track')
    await inspect(page, 'operation-mock')
  })
  const answer = await answers(world, 203, '/pets/pets')
  assert.deepEqual([answer.text, answer.headers['cache-control']], ['{"name": "Paul"}', 'no-cache, no-store'])
  assert.equal(at(await settings(world, id, 'listPets'), 'doNotTrackEndpoint', 'enabled'), true)
  await set(page, 'GET /pets', async (dialog) => {
    await choose(page, kindOf(dialog), 'Examples of the OpenAPI document')
    await field(dialog, /^Status/).fill('')
    await field(dialog, /^Example name/).fill('dog')
    await field(dialog, /^Content type/).fill('application/json')
    await flip(dialog, 'Do not track')
  })
  assert.deepEqual((await answers(world, 200, '/pets/pets')).json, { name: 'Rex' })
  await set(page, 'GET /pets', (dialog) => choose(page, kindOf(dialog), 'Off'))
  await eventually('the service is asked', async () => (await world.through('/pets/pets')).text === 'GET /pets')
}

async function checks(world: ApisWorld, page: Page, id: string): Promise<void> {
  await set(page, 'POST /pets', async (dialog) => {
    await flip(dialog, 'Validate requests')
    await field(dialog, /^Error status/).fill('400')
    await choose(page, dialog.getByRole('combobox', { name: /^Fill in defaults/ }), 'Off')
  })
  const post = (body: JsonObject) =>
    call(world.product.port, '/pets/pets', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    })
  await eventually('what does not fit is refused', async () => (await post({ name: 7 })).status === 400)
  assert.match((await post({})).text, /faults/)
  assert.equal((await post({ name: 'Tom' })).text, 'POST /pets')
  await set(page, 'POST /pets', (dialog) => flip(dialog, 'Validate requests'))
  await eventually('everything is let through', async () => (await post({ name: 7 })).status === 200)
  const held = at(await settings(world, id, 'addPet'), 'validateRequest')
  assert.deepEqual(
    held,
    { enabled: false, errorResponseCode: 400, fillDefaults: false },
    'what was said stays for the next time',
  )
}

async function rewrites(world: ApisWorld, page: Page, id: string): Promise<void> {
  await set(page, 'GET /old/{id}', async (dialog) => {
    await flip(dialog, 'URL rewrite')
    await field(dialog, /^Pattern/).fill('^/old/([0-9]+)$')
    await field(dialog, /^Rewrite to/).fill('/new?id=$1')
    await choose(page, dialog.getByRole('combobox', { name: /^Change method/ }), 'POST')
    await inspect(page, 'operation-rewrite')
  })
  await eventually('another path by another method', async () => {
    return (await world.through('/pets/old/7')).text === 'POST /new?id=7'
  })
  await set(page, 'GET /old/{id}', async (dialog) => {
    // A second choice of the same entry takes it back.
    await choose(page, dialog.getByRole('combobox', { name: /^Change method/ }), 'POST')
    await flip(dialog, 'URL rewrite')
  })
  await eventually('as it came', async () => (await world.through('/pets/old/7')).text === 'GET /old/7')
  assert.equal(at(await settings(world, id, 'readOld'), 'transformRequestMethod', 'enabled') ?? false, false)
}

async function templates(world: ApisWorld, page: Page, id: string): Promise<void> {
  world.origin.script = ({ body }, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(body || '{}')
  const fill = (words: string) => (dialog: Locator) => field(dialog, /^Request template/).fill(words)
  await page.getByRole('row', { name: /PUT/ }).getByRole('button', { name: '/stock', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'PUT /stock' })
  await flip(dialog, 'Transform request body')
  await fill('{"of": {{ .of ')(dialog)
  await flip(dialog, 'Request template can read key metadata')
  await page.keyboard.press('Escape')
  await save(page)
  // A refusal is shown at the operation, and at its field.
  await page.getByRole('row', { name: /PUT/ }).getByRole('alert').waitFor()
  await inspect(page, 'operation-refused')
  await set(page, 'PUT /stock', async (again) => {
    await field(again, /^Request template/).waitFor()
    assert.equal(await field(again, /^Request template/).getAttribute('aria-invalid'), 'true')
    await fill('{"of": {{ .of }}, "größe": 1}')(again)
    await flip(again, 'Transform response body')
    await field(again, /^Response template/).fill('{"was": {{ .of }}}')
    await flip(again, 'Response template can read key metadata')
    await inspect(page, 'operation-templates')
  })
  const change = () => call(world.product.port, '/pets/stock', { method: 'PUT', body: '{"of": ["a\\"", 2]}' })
  await eventually('the answer is another', async () => (await change()).text === '{"was": ["a\\"",2]}')
  assert.equal(Buffer.from(world.origin.seen.at(-1)!.body, 'latin1').toString(), '{"of": ["a\\"",2], "größe": 1}')
  await set(page, 'PUT /stock', async (again) => {
    await flip(again, 'Transform request body')
    await flip(again, 'Transform response body')
  })
  await eventually('nothing is changed', async () => (await change()).text === '{"of": ["a\\"", 2]}')
  const held = await settings(world, id, 'putStock')
  assert.equal(at(held, 'transformRequestBody', 'enableSession'), true, 'what was said stays for the next time')
}

async function kept(world: ApisWorld, page: Page, id: string): Promise<void> {
  const isStored = async () => (await world.through('/pets/stock')).headers['x-svc-cached-response'] === '1'
  await set(page, 'GET /stock', async (dialog) => {
    await flip(dialog, 'Cache responses')
    await field(dialog, /^Cached statuses/).fill('200')
    await page.keyboard.press('Enter')
    await field(dialog, /^TTL/).fill('600')
  })
  await eventually('the second answer is a kept one', isStored)
  assert.deepEqual(await settings(world, id, 'readStock'), {
    cache: { timeout: 600, cacheResponseCodes: [200], enabled: true },
  })
  await set(page, 'GET /stock', (dialog) => flip(dialog, 'Cache responses'))
  await eventually('no answer is a kept one', async () => !(await isStored()))
}

async function breaks(world: ApisWorld, page: Page, id: string): Promise<void> {
  world.origin.script = (_request, response) => response.writeHead(500).end()
  await set(page, 'GET /stock', async (dialog) => {
    await flip(dialog, 'Circuit breaker')
    await field(dialog, /^Failure threshold/).fill('100')
    await field(dialog, /^Sample size/).fill('2')
    await field(dialog, /^Open for/).fill('600')
    await flip(dialog, 'Half-open: let one call through first')
    await inspect(page, 'operation-breaker')
  })
  await answers(world, 503, '/pets/stock')
  const asked = world.origin.seen.length
  await answers(world, 503, '/pets/stock')
  assert.equal(world.origin.seen.length, asked, 'the service is not asked')
  assert.deepEqual(at(await settings(world, id, 'readStock'), 'circuitBreaker'), {
    ...{ threshold: 1, sampleSize: 2, coolDownPeriod: 600, halfOpenStateEnabled: false, enabled: true },
  })
  await set(page, 'GET /stock', (dialog) => flip(dialog, 'Circuit breaker'))
  await answers(world, 500, '/pets/stock')
}
