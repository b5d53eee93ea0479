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
  await place.getByText('Nobody is told.').waitFor()
  await add(page, place, 'Add a receiver', 'Event', async (dialog) => {
    await choose(page, dialog.getByRole('combobox', { name: /^When/ }), 'A rate limit refuses')
    await field(dialog, /^Address/).fill('ftp://example.org')
    await choose(page, dialog.getByRole('combobox', { name: /^Method/ }), 'PUT')
    await list(dialog, /^Headers/, ['X-From: gateway'])
    await field(dialog, /^Then stay silent for/).fill('1')
    await flip(dialog, 'On')
    await inspect(page, 'event-handler')
  })
  await place.getByText('Off', { exact: true }).waitFor()
  await change(page, place, { name: 'A rate limit refuses', title: 'Event' }, async (dialog) => {
    await choose(page, dialog.getByRole('combobox', { name: /^When/ }), 'A credential is refused')
    await flip(dialog, 'On')
  })
  await refused(page, place, /^a webhook target must/)
  await inspect(page, 'events-refused')
  await change(page, place, { name: 'A credential is refused', title: 'Event' }, async (dialog) => {
    await dialog.getByText(/^a webhook target must/).waitFor()
    await field(dialog, /^Address/).fill(`${hook.url}/hook`)
  })
  await add(page, place, 'Add a receiver', 'Event', async (dialog) => {
    await choose(page, dialog.getByRole('combobox', { name: /^Tell/ }), 'The log of the gateway')
    await field(dialog, /^Lines begin with/).fill('orders are refused: ')
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
  await place.getByRole('button', { name: 'Take A credential is refused out' }).first().click()
  await place.getByRole('button', { name: 'Take A credential is refused out' }).click()
  await place.getByText('Nobody is told.').waitFor()
  await put(page)
  assert.equal(await toldOf(world, id, 'server', 'eventHandlers'), undefined)
  await place.getByRole('link', { name: 'Tell one of those' }).click()
  await page.getByRole('tab', { name: 'Webhooks', selected: true }).waitFor()
  await inClassic(world, page, hook.url)
})

async function inClassic(world: ApisWorld, page: Page, hook: string): Promise<void> {
  const id = await makeClassic(world, 'Older events', '/older/')
  await page.goto(`/apis/${id}`)
  const place = await unfolded(page, 'Events')
  await add(page, place, 'Add a receiver', 'Event', (dialog) => field(dialog, /^Address/).fill(hook))
  await put(page)
  const { api_definition: stored } = (await world.api('GET', `/api/apis/${id}`)).json as { api_definition: JsonObject }
  assert.deepEqual(at(stored, 'event_handlers', 'events', 'AuthFailure'), [
    { handler_name: 'eh_web_hook_handler', handler_meta: { target_path: hook, event_timeout: 60 } },
  ])
  const reader = await world.open(world.reader, `/apis/${id}`)
  const seen = await unfolded(reader, 'Events')
  await seen.getByRole('button', { name: 'A credential is refused' }).click()
  const dialog = reader.getByRole('dialog', { name: 'Event', exact: true })
  assert.equal(await field(dialog, /^Address/).inputValue(), hook)
  assert.ok(await field(dialog, /^Address/).isDisabled())
  assert.equal(await reader.getByRole('button', { name: /^(?:Add a|Take |Save)/ }).count(), 0)
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
  const place = await unfolded(page, 'Modules')
  await place.getByText(/It is code that you trust/).waitFor()
  await place.getByText('No module is called.').waitFor()
  const call = (file: string, name: string, where: string) =>
    add(page, place, 'Add a function', 'Function', async (dialog) => {
      await choose(page, dialog.getByRole('combobox', { name: /^Where on the way/ }), where)
      await field(dialog, /^File/).fill(file)
      await field(dialog, /^Function/).fill(name)
      if (name === 'first') await field(dialog, /^Longest body of a request/).fill('1000')
      if (name === 'name') await inspect(page, 'module-function')
    })
  await call('../shop.ts', 'second', 'Last, before the service is asked')
  await call('shop.ts', 'first', 'Last, before the service is asked')
  await call('shop.ts', 'name', 'When the service has answered')
  await flip(place, 'Tell the functions something')
  await field(place, /^What they are told/).fill('{"shop": ')
  await place.getByText('Not taken over yet').waitFor()
  await field(place, /^What they are told/).fill('{"shop": "corner"}')
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
  await place.getByRole('button', { name: 'Call shop.ts › second later' }).click()
  await put(page)
  await eventually('they change places', async () => {
    await world.through('/shop/x')
    return order() === 'first, second'
  })
  await place.getByRole('button', { name: 'Call shop.ts › second earlier' }).click()
  await change(page, place, { name: 'shop.ts › first', title: 'Function' }, (dialog) => flip(dialog, 'On'))
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
  const place = await unfolded(page, 'Modules')
  await place.getByText('Modules are not allowed here').first().waitFor()
  await place.getByText(/^SVC_GW_MODULES_PATH=/).waitFor()
  await add(page, place, 'Add a function', 'Function', async (dialog) => {
    await field(dialog, /^File/).fill('shop.ts')
    await field(dialog, /^Function/).fill('first')
  })
  await inspect(page, 'modules-closed')
  await put(page)
  await tab(page, 'Nodes')
  await page.getByText(/gateway\.modules\.path does not allow/).waitFor()
  await answers(world, 200, '/closed/x')
})
