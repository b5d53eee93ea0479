import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  answers,
  flip,
  inspect,
  makeApi,
  save,
  saved,
  startApis,
  tab,
} from '../../worlds/console/apis-world.ts'

const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const fact = (page: Page, name: string) =>
  part(page, 'In force').locator('dt', { hasText: name }).locator('xpath=following-sibling::dd').first()
const LIMITS = { active: true, state: 'active', rate: 100, per: 60, quota_max: 5000, quota_renewal_rate: 3600 }

async function ask(world: ApisWorld, method: string, path: string, body?: unknown): Promise<JsonObject> {
  const answer = await world.api(method, path, body)
  assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
  return answer.json as JsonObject
}

test('the overview of an API, a policy and a key says how it is, who calls, and what to do next', async (t) => {
  const world = await startApis(t)
  const id = await makeApi(world, 'Pets', '/pets/', 'token')
  const rights = { [id]: { api_id: id, api_name: 'Pets', versions: ['Default'] } }
  const gold = { ...LIMITS, name: 'Gold', access_rights: rights }
  const policy = String((await ask(world, 'POST', '/api/portal/policies', gold)).Message)
  const made = await ask(world, 'POST', '/api/keys', { alias: 'App', apply_policies: [policy] })
  const page = await world.open(world.admin, `/apis/${id}?tab=overview`)
  await part(page, 'Last 24 hours').getByText('No requests yet').waitFor()
  await inspect(page, 'overview-new')
  for (const step of ['Set limits and authentication', 'Create a key', 'Send a request']) {
    await part(page, 'Last 24 hours').getByRole('link', { name: step }).click()
    await page.waitForURL((url) => url.searchParams.get('tab') !== 'overview')
    await page.goBack()
    await part(page, 'Last 24 hours').waitFor()
  }
  await part(page, 'Last 24 hours').getByText('Requests of this API are not counted').waitFor()
  await part(page, 'Last 24 hours').getByRole('link', { name: 'Turn on logging' }).click()
  await page.getByRole('button', { name: /^Logging/ }).click()
  await flip(page, 'Record')
  await save(page)
  await saved(page)
  await tab(page, 'Overview')
  await becomes(() => page.getByText('Requests of this API are not counted').count(), 0)
  const key = { 'x-key': String(made.key_id) }
  await answers(world, 200, '/pets/a', key)
  for (const header of [key, key, { 'x-key': 'none' }]) await world.through('/pets/b', header)
  await eventually('the requests are counted', async () => {
    await page.reload()
    const words = await part(page, 'Last 24 hours').innerText()
    return /Requests\s+[4-9]\b/.test(words) && /Errors\s+[1-9]/.test(words)
  })
  await eventually('every node has it', async () =>
    /^(\d+) of \1 nodes?$/.test(await fact(page, 'Loaded on').innerText()),
  )
  await becomes(() => fact(page, 'Authentication').innerText(), 'API key')
  await part(page, 'Latest changes').getByText('created this').waitFor()
  await inspect(page, 'overview-api')
  await fact(page, 'Loaded on').getByRole('link').click()
  await page.waitForURL('**tab=nodes')

  await page.goto(`/policies/${policy}`)
  await tab(page, 'Overview')
  await becomes(() => fact(page, 'Rate limit').innerText(), '100 per minute')
  await becomes(() => fact(page, 'APIs').innerText(), 'Pets')
  await inspect(page, 'overview-policy')
  await fact(page, 'Keys').getByRole('link', { name: '1' }).click()
  await page.waitForURL('**/keys?policy=*')

  await page.goto(`/keys/${made.key_hash}?tab=overview`)
  await fact(page, 'Policies').getByRole('link', { name: 'Gold' }).waitFor()
  await eventually('the requests of the key are counted', async () =>
    /Requests\s+[3-9]\b/.test(await part(page, 'Last 24 hours').innerText()),
  )
  await inspect(page, 'overview-key')
})

test('the overview of a user and a developer says how it is, and what changed last', async (t) => {
  const world = await startApis(t)
  const page = await world.open(world.admin, `/users/${world.reader.id}`)
  await tab(page, 'Overview')
  await becomes(() => fact(page, 'State').innerText(), 'Active')
  await part(page, 'Latest changes').getByText('created this').waitFor()
  await inspect(page, 'overview-user')
  const developer = { email: 'dev@example.test', password: 'Correct-horse-7', fields: {} }
  await ask(world, 'POST', '/api/portal/developers', developer)
  const { Data } = (await ask(world, 'GET', '/api/portal/developers')) as { Data: JsonObject[] }
  await page.goto(`/developers/${Data[0]!.id}`)
  await tab(page, 'Overview')
  await becomes(() => fact(page, 'Keys').innerText(), '0')
  await part(page, 'Last 24 hours').getByText('p95 latency').waitFor()
  await inspect(page, 'overview-developer')
})

test('the page of a client shows its traffic', async (t) => {
  const world = await startApis(t)
  const id = await makeApi(world, 'Orders', '/orders/', 'oauth')
  const { client_id } = await ask(world, 'POST', `/api/apis/oauth/${id}`, { redirect_uri: 'https://app.test/cb' })
  const page = await world.open(world.admin, `/apis/${id}?tab=clients&view=client:${client_id}`)
  await part(page, 'Last 24 hours').getByText('p95 latency').waitFor()
  await becomes(() => part(page, 'Last 24 hours').getByText('0 per hour').count(), 1)
  await inspect(page, 'overview-client')
})
