import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { type ApisWorld, at, choose, heading, makeApi, makeMany, startApis } from '../../worlds/console/apis-world.ts'
import { checkThemes } from '../../worlds/console/world.ts'

const NUMBER = 30
const THE_17TH = 'Batch 00016'

test('lists have actions on many rows and on one, sizes of pages, and keys', async (t) => {
  const world = await startApis(t)
  const ids = new Map<string, string>()
  await makeMany(NUMBER, async (number) => {
    const name = `Batch ${number}`
    ids.set(name, await makeApi(world, name, `/batch-${number}/`, 'token'))
  })
  const page = await world.open(world.admin, '/apis?q=batch&sort=name&size=50', [/status of 4\d\d/])
  await t.test('the 17th of many fails, is named, and the rest goes its way', () => failing(world, page, ids))
  await t.test('a label, an owner and a file for several APIs', () => several(world, page, ids))
  await t.test('the keyboard goes through rows, chooses and opens them', () => keyboard(page))
  await t.test('the menu of a row deletes it after its name is typed', () => one(world, page, ids))
  await t.test('keys and policies have the same', () => others(world, page, ids))
})

const bar = (page: Page) => page.getByRole('region', { name: 'Selected rows' })
const dialogOf = (page: Page) => page.getByRole('dialog')
const box = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true })

async function act(page: Page, label: string): Promise<Locator> {
  await bar(page).getByRole('button', { name: label, exact: true }).click()
  return dialogOf(page)
}

async function isActive(world: ApisWorld, id: string): Promise<unknown> {
  return at((await world.api('GET', `/api/apis/${id}`)).json, 'api_definition', 'active')
}

async function failing(world: ApisWorld, page: Page, ids: Map<string, string>): Promise<void> {
  await page.getByText(`1–${NUMBER} of ${NUMBER}`).waitFor()
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await bar(page).getByText(`${NUMBER} selected`).waitFor()
  await checkThemes(page)
  const gone = ids.get(THE_17TH)!
  // Another user deletes it while the question is asked.
  const dialog = await act(page, 'Deactivate')
  await dialog.getByText('Batch 00000').waitFor()
  await checkThemes(page)
  assert.equal((await world.api('DELETE', `/api/apis/${gone}`)).status, 200)
  ids.delete(THE_17TH)
  await dialog.getByRole('button', { name: 'Deactivate', exact: true }).click()
  await dialog.getByText(`1 of ${NUMBER} failed`).waitFor()
  const named = dialog.getByRole('listitem')
  assert.equal(await named.count(), 1)
  assert.match(await named.innerText(), new RegExp(`^${THE_17TH}: .+`))
  await checkThemes(page)
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await bar(page).getByText('1 selected').waitFor()
  for (const id of ids.values()) assert.equal(await isActive(world, id), false)
  await bar(page).getByRole('button', { name: 'Clear selection' }).click()
  await bar(page).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByText(`1–${ids.size} of ${ids.size}`).waitFor()
}

async function several(world: ApisWorld, page: Page, ids: Map<string, string>): Promise<void> {
  const label = await world.api('POST', '/api/labels', { name: 'Team', values: ['retail', 'bank'] })
  assert.equal(label.status, 200, label.text)
  await page.reload()
  const chosen = ['Batch 00001', 'Batch 00003']
  for (const name of chosen) await box(page, name).check()
  let dialog = await act(page, 'Set label')
  await choose(page, dialog.getByRole('combobox', { name: 'Label' }), 'Team')
  await choose(page, dialog.getByRole('combobox', { name: 'Value' }), 'bank')
  await checkThemes(page)
  await dialog.getByRole('button', { name: 'Set label' }).click()
  await dialog.waitFor({ state: 'detached' })
  for (const name of chosen) {
    const { json } = await world.api('GET', `/api/apis/${ids.get(name)}/labels`)
    assert.deepEqual(
      (json as JsonObject[]).map(({ value }) => value),
      ['bank'],
    )
  }
  await becomes(() => bar(page).count(), 0)
  for (const name of chosen) await box(page, name).check()
  dialog = await act(page, 'Add owner')
  await choose(page, dialog.getByRole('combobox', { name: 'Owner' }), world.owner.email)
  await dialog.getByRole('button', { name: 'Add owner' }).click()
  await dialog.waitFor({ state: 'detached' })
  for (const name of chosen) {
    const { json } = await world.api('GET', `/api/apis/${ids.get(name)}/access`)
    assert.equal((at(json, 'userIds') as string[]).length, 1)
  }
  for (const name of chosen) await box(page, name).check()
  dialog = await act(page, 'Export')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Export', exact: true }).click(),
  ])
  const exported = JSON.parse(readFileSync((await file.path())!, 'utf8')) as unknown[]
  await dialog.waitFor({ state: 'detached' })
  assert.deepEqual(exported.map((document) => at(document, 'x-svc-api-gateway', 'info', 'name')).sort(), chosen)
  await becomes(() => bar(page).count(), 0)
}

async function keyboard(page: Page): Promise<void> {
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
  await page.keyboard.press('/')
  await becomes(() => page.evaluate(() => (document.activeElement as HTMLInputElement).type), 'search')
  await page.keyboard.press('j')
  await becomes(() => page.getByRole('searchbox').inputValue(), 'j')
  await page.getByRole('searchbox').fill('batch')
  await page.getByRole('searchbox').blur()
  await page.getByText('Batch 00000').waitFor()
  for (const [key, name] of [
    ['j', 'Batch 00000'],
    ['j', 'Batch 00001'],
    ['j', 'Batch 00002'],
    ['k', 'Batch 00001'],
  ] as const) {
    await page.keyboard.press(key)
    await becomes(focused, name)
  }
  await page.keyboard.press('x')
  await becomes(() => box(page, 'Batch 00001').isChecked(), true)
  await page.keyboard.press('x')
  await becomes(() => bar(page).count(), 0)
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.getByText('Select the row').waitFor()
  await checkThemes(page)
  await help.getByRole('switch', { name: 'Single-key shortcuts' }).click()
  await help.getByRole('button', { name: 'Close' }).click()
  await help.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Batch 00004' }).focus()
  await page.keyboard.press('j')
  assert.equal(await focused(), 'Batch 00004', 'they are switched off')
  await page.keyboard.press('?')
  await help.getByRole('switch', { name: 'Single-key shortcuts' }).click()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Batch 00004' }).focus()
  await page.keyboard.press('j')
  await becomes(focused, 'Batch 00005')
  await page.keyboard.press('Enter')
  await heading(page, 'Batch 00005').waitFor()
  await page.goBack()
  await page.getByText('Batch 00000').waitFor()
}

async function one(world: ApisWorld, page: Page, ids: Map<string, string>): Promise<void> {
  const name = 'Batch 00002'
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const dialog = dialogOf(page)
  const remove = dialog.getByRole('button', { name: 'Delete', exact: true })
  assert.equal(await remove.isDisabled(), true)
  await dialog.getByLabel(`Type ${name} to confirm`).fill(name)
  await remove.click()
  await page.getByRole('link', { name }).waitFor({ state: 'detached' })
  assert.notEqual((await world.api('GET', `/api/apis/${ids.get(name)}`)).status, 200)
}

async function others(world: ApisWorld, page: Page, ids: Map<string, string>): Promise<void> {
  const id = ids.get('Batch 00001')!
  const right = { [id]: { api_id: id, api_name: 'Batch', versions: ['Default'] } }
  const hashes: string[] = []
  for (const alias of ['Ann', 'Bob', 'Cid']) {
    const made = await world.api('POST', '/api/keys', { alias, access_rights: right })
    hashes.push(String(at(made.json, 'key_hash')))
  }
  for (const name of ['Gold', 'Silver'])
    assert.equal((await world.api('POST', '/api/portal/policies', { name, access_rights: right })).status, 200)
  await page.goto('/keys')
  await page.getByLabel(/^Search by alias/).fill(hashes[1]!.slice(0, 8))
  await eventually(
    'one is left',
    async () => (await page.getByRole('link', { name: /^(?:Ann|Bob|Cid)$/ }).count()) === 1,
  )
  await page.getByLabel(/^Search by alias/).fill('')
  for (const alias of ['Ann', 'Bob']) await box(page, alias).check()
  let dialog = await act(page, 'Deactivate')
  await dialog.getByRole('button', { name: 'Deactivate' }).click()
  await becomes(() => page.getByRole('row').getByText('Inactive', { exact: true }).count(), 2)
  await checkThemes(page)
  for (const alias of ['Ann', 'Cid']) await box(page, alias).check()
  dialog = await act(page, 'Delete')
  await dialog.getByLabel('Type 2 to confirm').fill('2')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('link', { name: 'Ann' }).waitFor({ state: 'detached' })
  const { keys } = (await world.api('GET', '/api/keys/detailed?p=-1')).json as { keys: JsonObject[] }
  assert.deepEqual(
    keys.map(({ key_hash }) => key_hash).filter((hash) => hashes.includes(String(hash))),
    [hashes[1]],
  )
  await page.goto('/policies')
  for (const name of ['Gold', 'Silver']) await box(page, name).check()
  dialog = await act(page, 'Block')
  await dialog.getByRole('button', { name: 'Block' }).click()
  await becomes(() => page.getByRole('row').getByText('Blocked', { exact: true }).count(), 2)
  await checkThemes(page)
}
