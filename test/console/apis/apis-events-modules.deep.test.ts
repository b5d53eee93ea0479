import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  at,
  choose,
  field,
  flip,
  inspect,
  makeApi,
  startApis,
  tab,
} from '../../worlds/console/apis-world.ts'
import {
  add,
  change,
  list,
  makeClassic,
  put,
  refused,
  takeOut,
  through,
  toldOf,
  unfolded,
} from '../../worlds/console/resilience-world.ts'
import { folderFor } from '../../worlds/console/world.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const REFUSED = [/status of 4\d\d/]

test('receivers are told of events as the form says, in both formats', async (t) => {
  const world = await startApis(t, { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' })
  const hook = await startOrigin()
  t.after(() => hook.close())
  const id = await makeApi(world, 'Told', '/told/', 'token')
  const page = await world.open(world.admin, `/apis/${id}`, REFUSED)
  const place = await unfolded(page, 'Events')
  await place.getByText('No event handlers.').waitFor()
  await add(page, place, 'Add event handler', 'Event', async (dialog) => {
    await choose(page, dialog.getByRole('combobox', { name: /^Event/ }), 'Rate limit exceeded')
    await field(dialog, /^URL/).fill('ftp://example.org')
    await choose(page, dialog.getByRole('combobox', { name: /^Method/ }), 'PUT')
    await list(dialog, /^Headers/, ['X-From: gateway'])
    await field(dialog, /^Cooldown/).fill('1')
    await flip(dialog, 'Enabled')
    await inspect(page, 'event-handler')
  })
  await place.getByText('Off', { exact: true }).waitFor()
  await change(page, place, { name: 'Rate limit exceeded', title: 'Event' }, async (dialog) => {
    await choose(page, dialog.getByRole('combobox', { name: /^Event/ }), 'Authentication failed')
    await flip(dialog, 'Enabled')
  })
  await refused(page, place, /must be an absolute http or https URL/)
  await inspect(page, 'events-refused')
  await change(page, place, { name: 'Authentication failed', title: 'Event' }, async (dialog) => {
    await dialog.getByText(/must be an absolute http or https URL/).waitFor()
    await field(dialog, /^URL/).fill(`${hook.url}/hook`)
  })
  await add(page, place, 'Add event handler', 'Event', async (dialog) => {
    await choose(page, dialog.getByRole('combobox', { name: /^Handler/ }), 'Gateway log')
    await field(dialog, /^Log prefix/).fill('orders are refused: ')
  })
  await inspect(page, 'events')
  await put(page)
  await answers(world, 401, '/told/x')
  await eventually('the receiver is told', () => hook.seen.length > 0)
  const { method, target, headers, body } = hook.seen[0]!
  assert.deepEqual([method, target, headers['x-from']], ['PUT', '/hook', 'gateway'])
  assert.equal((JSON.parse(body) as JsonObject).event, 'AuthFailure')
  await eventually('the log says so', () => world.product.output().includes('orders are refused: '))
  assert.equal(at(await toldOf(world, id, 'server', 'eventHandlers'), '0', 'cooldownPeriod'), '1s')
  await place.getByRole('button', { name: 'Remove Authentication failed' }).first().click()
  await place.getByRole('button', { name: 'Remove Authentication failed' }).click()
  await place.getByText('No event handlers.').waitFor()
  await put(page)
  assert.equal(await toldOf(world, id, 'server', 'eventHandlers'), undefined)
  await place.getByRole('link', { name: 'Use one of those' }).click()
  await page.getByRole('tab', { name: 'Webhooks', selected: true }).waitFor()
  await inClassic(world, page, hook.url)
})

async function inClassic(world: ApisWorld, page: Page, hook: string): Promise<void> {
  const id = await makeClassic(world, 'Older events', '/older/')
  await page.goto(`/apis/${id}`)
  const place = await unfolded(page, 'Events')
  await add(page, place, 'Add event handler', 'Event', (dialog) => field(dialog, /^URL/).fill(hook))
  await put(page)
  const { api_definition: stored } = (await world.api('GET', `/api/apis/${id}`)).json as { api_definition: JsonObject }
  assert.deepEqual(at(stored, 'event_handlers', 'events', 'AuthFailure'), [
    { handler_name: 'eh_web_hook_handler', handler_meta: { target_path: hook, event_timeout: 60 } },
  ])
  const reader = await world.open(world.reader, `/apis/${id}`)
  const seen = await unfolded(reader, 'Events')
  await seen.getByRole('button', { name: 'Authentication failed' }).click()
  const dialog = reader.getByRole('dialog', { name: 'Event', exact: true })
  assert.equal(await field(dialog, /^URL/).inputValue(), hook)
  assert.ok(await field(dialog, /^URL/).isDisabled())
  assert.equal(await reader.getByRole('button', { name: /^(?:Add |Remove |Save)/ }).count(), 0)
}

const MODULE = `
export function first(exchange) {
  exchange.headers.append('X-Order', 'first')
  exchange.headers.set('X-Bytes', String(exchange.body?.length))
}
export function second(exchange) { exchange.headers.append('X-Order', 'second') }
export function name(answer, exchange) { answer.headers.set('X-Shop', exchange.config.shop) }
`

test('functions of modules are called as the form says', async (t) => {
  const folder = join(folderFor(t), 'modules')
  mkdirSync(folder)
  writeFileSync(join(folder, 'shop.ts'), MODULE)
  const world = await startApis(t, { SVC_GW_MODULES_PATH: folder })
  const id = await makeApi(world, 'Shop', '/shop/')
  const page = await world.open(world.admin, `/apis/${id}`, REFUSED)
  const place = await unfolded(page, 'Plugins')
  await place.getByText(/A plugin is a TypeScript file in the folder that the administrator chose/).waitFor()
  await place.getByText('No plugin functions.').waitFor()
  const call = (file: string, name: string, where: string) =>
    add(page, place, 'Add function', 'Function', async (dialog) => {
      await choose(page, dialog.getByRole('combobox', { name: /^Phase/ }), where)
      await field(dialog, /^File/).fill(file)
      await field(dialog, /^Function/).fill(name)
      if (name === 'first') await field(dialog, /^Maximum request body/).fill('1000')
      if (name === 'name') await inspect(page, 'module-function')
    })
  await call('../shop.ts', 'second', 'Before the upstream request')
  await call('shop.ts', 'first', 'Before the upstream request')
  await call('shop.ts', 'name', 'On the response')
  await flip(place, 'Pass configuration to the functions')
  await field(place, /^Configuration/).fill('{"shop": ')
  await place.getByText('Invalid JSON').waitFor()
  await field(place, /^Configuration/).fill('{"shop": "corner"}')
  await refused(page, place, /must be a file below the folder/)
  await inspect(page, 'modules-refused')
  await change(page, place, { name: '../shop.ts › second', title: 'Function' }, (dialog) =>
    field(dialog, /^File/).fill('shop.ts'),
  )
  await inspect(page, 'modules')
  await put(page)
  await through(world, 'the answer passes', '/shop/x', ({ headers }) => headers['x-shop'] === 'corner')
  const order = () => world.origin.seen.at(-1)?.headers['x-order']
  assert.equal(order(), 'second, first')
  assert.equal(world.origin.seen.at(-1)?.headers['x-bytes'], '0', 'it is shown the body, which is empty')
  await place.getByRole('button', { name: 'Move shop.ts › second down' }).click()
  await put(page)
  await eventually('they change places', async () => {
    await world.through('/shop/x')
    return order() === 'first, second'
  })
  await place.getByRole('button', { name: 'Move shop.ts › second up' }).click()
  await change(page, place, { name: 'shop.ts › first', title: 'Function' }, (dialog) => flip(dialog, 'Enabled'))
  await put(page)
  await eventually('one is left out', async () => {
    await world.through('/shop/x')
    return order() === 'second'
  })
  for (const name of ['first', 'second', 'name']) await takeOut(place, `shop.ts › ${name}`)
  await put(page)
  await eventually('none is called', async () => {
    const { headers } = await world.through('/shop/x')
    return order() === undefined && headers['x-shop'] === undefined
  })
})

test('without a plugin folder the form says how to set one, and the node why it does not serve', async (t) => {
  const world = await startApis(t)
  const id = await makeApi(world, 'Closed', '/closed/')
  const page = await world.open(world.admin, `/apis/${id}`)
  const place = await unfolded(page, 'Plugins')
  await place.getByText('Plugins are disabled').first().waitFor()
  await place.getByText(/^SVC_GW_MODULES_PATH=/).waitFor()
  await add(page, place, 'Add function', 'Function', async (dialog) => {
    await field(dialog, /^File/).fill('shop.ts')
    await field(dialog, /^Function/).fill('first')
  })
  await inspect(page, 'modules-closed')
  await put(page)
  await tab(page, 'Nodes')
  await page
    .getByText(/it calls modules: set gateway\.modules\.path/)
    .first()
    .waitFor()
  await answers(world, 200, '/closed/x')
})
