import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  at,
  documentOf,
  field,
  flip,
  inspect,
  makeApi,
  pick,
  save,
  saved,
  startApis,
  tab,
} from '../../worlds/console/apis-world.ts'

const review = (page: Page) => page.getByRole('region', { name: 'Changes', exact: true })
/** Each thread of the gateway is a node. */
const LIVE = /^Live on (\d+) of \1 nodes? in /
const toast = (page: Page) => page.getByRole('alert').filter({ hasText: 'Saved' })

async function ask(world: ApisWorld, method: string, path: string, body?: unknown): Promise<JsonObject> {
  const answer = await world.api(method, path, body)
  assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
  return answer.json as JsonObject
}

/** Takes the save back by the message about it. */
async function undo(page: Page): Promise<void> {
  await toast(page).getByRole('button', { name: 'Undo' }).click()
  await saved(page, 'Change undone')
}

test('before a save an API, a policy and a key say what changes and for whom, and after it Undo', async (t) => {
  const world = await startApis(t)
  const id = await makeApi(world, 'Pets', '/pets/', 'token')
  const rights = { [id]: { api_id: id, api_name: 'Pets', versions: ['Default'] } }
  const policy = String(
    (await ask(world, 'POST', '/api/portal/policies', { ...LIMITS, name: 'Gold', access_rights: rights })).Message,
  )
  const made = await ask(world, 'POST', '/api/keys', {
    ...LIMITS,
    alias: 'App',
    apply_policies: [policy],
    access_rights: rights,
  })
  await answers(world, 200, '/pets/x', { 'x-key': String(made.key_id) })
  const page = await world.open(world.admin, `/apis/${id}`)
  await ofApi(world, page, id)
  await ofAuthentication(world, page, id)
  await ofPolicy(world, page, policy)
  await ofKey(world, page, String(made.key_hash))
})

const LIMITS = { active: true, state: 'active', rate: 100, per: 60, quota_max: -1 }

async function ofApi(world: ApisWorld, page: Page, id: string): Promise<void> {
  const name = page.getByLabel(/^Name/)
  await name.fill('Cats')
  await flip(page, 'Strip listen path')
  await review(page).getByText('Name Pets → Cats').waitFor()
  await review(page).getByText('Strip listen path on → off').waitFor()
  await review(page)
    .getByText(/^Affects 1 key · /)
    .waitFor()
  await inspect(page, 'review-api')
  await review(page).getByRole('button', { name: 'Show difference' }).click()
  await review(page)
    .getByRole('region', { name: 'Difference to the stored version' })
    .getByText('Cats')
    .first()
    .waitFor()
  await inspect(page, 'review-api-difference')
  await review(page).getByRole('button', { name: 'Hide difference' }).click()
  await save(page)
  await toast(page).getByText(LIVE).waitFor()
  await inspect(page, 'review-api-saved')
  await undo(page)
  await becomes(() => name.inputValue(), 'Pets', 'the form follows')
  assert.equal(at(await documentOf(world, id), 'x-svc-api-gateway', 'info', 'name'), 'Pets')
  await pick(page, 'View', 'Text')
  const editor = page.getByRole('textbox', { name: /^OpenAPI document/ })
  await editor.click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.type('"x-team": "birds",')
  await review(page).getByText('x-team').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  await becomes(() => review(page).count(), 0)
}

async function ofAuthentication(world: ApisWorld, page: Page, id: string): Promise<void> {
  await tab(page, 'Authentication')
  await field(page, /^Header name/)
    .first()
    .fill('X-Other')
  await review(page).getByText('X-Key → X-Other').waitFor()
  await save(page)
  await toast(page).getByText(LIVE).waitFor()
  await undo(page)
  assert.ok(JSON.stringify(await documentOf(world, id)).includes('"X-Key"'))
}

async function ofPolicy(world: ApisWorld, page: Page, policy: string): Promise<void> {
  await page.goto(`/policies/${policy}`)
  await page.getByLabel(/^Name/).first().fill('Silver')
  await review(page).getByText('Name Gold → Silver').waitFor()
  await review(page).getByText('Affects 1 key').waitFor()
  await inspect(page, 'review-policy')
  await save(page)
  await undo(page)
  assert.equal((await ask(world, 'GET', `/api/portal/policies/${policy}`)).name, 'Gold')
}

async function ofKey(world: ApisWorld, page: Page, hash: string): Promise<void> {
  await page.goto(`/keys/${hash}?edit=yes`)
  await page
    .getByLabel(/^(Alias|Name)/)
    .first()
    .fill('Program')
  await review(page).getByText('App → Program').waitFor()
  await review(page)
    .getByText(/^Affects .*request/)
    .waitFor()
  await inspect(page, 'review-key')
  await save(page)
  await undo(page)
  const { data } = (await ask(world, 'GET', `/api/keys/${hash}?hashed=1`)) as { data: JsonObject }
  assert.equal(data.alias, 'App')
}

test('Undo of a save that another changed since says so, and takes nothing back', async (t) => {
  const world = await startApis(t)
  const id = await makeApi(world, 'Pets', '/pets/', 'token')
  const rights = { [id]: { api_id: id, api_name: 'Pets', versions: ['Default'] } }
  const gold = { ...LIMITS, name: 'Gold', access_rights: rights }
  const policy = String((await ask(world, 'POST', '/api/portal/policies', gold)).Message)
  const page = await world.open(world.admin, `/policies/${policy}`, [/status of 409/])
  await page.getByLabel(/^Name/).first().fill('Silver')
  await save(page)
  await toast(page).waitFor()
  await ask(world, 'PUT', `/api/portal/policies/${policy}`, { ...gold, name: 'Bronze' })
  await toast(page).getByRole('button', { name: 'Undo' }).click()
  await toast(page).getByRole('alert').waitFor()
  assert.equal((await ask(world, 'GET', `/api/portal/policies/${policy}`)).name, 'Bronze')
  const owner = await world.open(world.owner, `/policies/${policy}`)
  await owner.getByLabel(/^Name/).first().fill('Mine')
  await save(owner)
  await toast(owner).waitFor()
  assert.equal(await toast(owner).getByRole('button', { name: 'Undo' }).count(), 0)
})

test('a part of the form that cannot be loaded offers another try and loses no edits', async (t) => {
  const world = await startApis(t)
  const id = await makeApi(world, 'Pets', '/pets/')
  const page = await world.open(world.admin, `/apis/${id}`, [/failed: GET .*\.js/, /console: /])
  const name = page.getByLabel(/^Name/)
  await name.fill('Cats')
  await review(page).waitFor()
  const part = '**/operations-*.js'
  await page.route(part, (route) => route.abort())
  await page.getByRole('button', { name: /^Operations/ }).click()
  const fault = page.getByRole('alert').filter({ hasText: 'could not be loaded' })
  await fault.getByRole('button', { name: 'Try again' }).click()
  await fault.waitFor()
  assert.equal(await name.inputValue(), 'Cats')
  await page.unroute(part)
  await fault.getByRole('button', { name: 'Try again' }).click()
  await becomes(() => fault.count(), 0)
  await save(page)
  await saved(page)
})

test('the message after a save names the nodes that do not serve the API, and asks no longer', async (t) => {
  const world = await startApis(t)
  const id = await makeApi(world, 'Pets', '/pets/')
  const page = await world.open(world.admin, `/apis/${id}`)
  const asked: string[] = []
  await page.route(`**/api/apis/${id}/nodes`, async (route) => {
    asked.push(route.request().url())
    const answer = (await (await route.fetch()).json()) as { revision: number; nodes: JsonObject[] }
    const taken = { node: 'edge-2', state: 'taken', reason: 'Fish has its path', revision: 0 }
    await route.fulfill({ json: { ...answer, nodes: [...answer.nodes, taken] } })
  })
  await page.getByLabel(/^Name/).fill('Cats')
  await save(page)
  await toast(page).getByText('Not on edge-2: Fish has its path').waitFor()
  await toast(page)
    .getByText(/^Live on (\d+) of \d+ nodes(?! so far)/)
    .waitFor()
  const number = asked.length
  await toast(page).waitFor({ state: 'hidden' })
  assert.equal(asked.length, number)
})
