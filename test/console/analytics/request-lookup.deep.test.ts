import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { documentOf, makeApi, startApis, withSettings } from '../../worlds/console/apis-world.ts'
import { checkThemes, shoot } from '../../worlds/console/world.ts'

/** A support person has a request id from a mail: it opens its request from the command bar and from the search. */
test('a request id opens its request, with its steps and the rule that refused', async (t) => {
  const world = await startApis(t)
  const id = await makeApi(world, 'Pets', '/pets/', 'token')
  const document = withSettings(await documentOf(world, id), (settings) => {
    settings.middleware = { global: { trafficLogs: { enabled: true } } }
  })
  assert.equal((await world.api('PUT', `/api/apis/oas/${id}`, document)).status, 200)
  await eventually('the gateway serves it', async () => (await world.through('/pets/x')).status === 401)
  let refused = ''
  await eventually('a refused request is recorded', async () => {
    if (refused === '') refused = String((await world.through('/pets/x')).headers['x-request-id'])
    const found = (await world.api('GET', `/api/logs?request_id=${refused}`)).json as { data?: JsonObject[] }
    return found.data?.length === 1
  })
  const page = await world.open(world.admin, '/')
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByRole('textbox', { name: 'Search or jump to…' }).fill(refused)
  await page.getByRole('button', { name: `Request ${refused}` }).click()
  const drawer = page.getByRole('dialog', { name: 'Request' })
  await drawer.getByText('Refused by the gateway: credential_missing').waitFor()
  await drawer.getByText('Authorization field missing').waitFor()
  const steps = drawer.getByRole('table', { name: 'Steps of the gateway' })
  await steps.getByRole('row', { name: /^Authenticate / }).waitFor()
  await checkThemes(page)
  await shoot(page, 'request-refused')
  await drawer.getByRole('link', { name: 'Open the authentication of the API' }).click()
  await page.getByRole('tab', { name: 'Authentication', selected: true }).waitFor()
  assert.equal(new URL(page.url()).pathname, `/apis/${id}`)

  await page.goto('/requests?range=1h&errors=1&path=nowhere')
  await page.getByLabel('Request ID').fill(refused)
  await drawer.getByRole('cell', { name: refused }).waitFor()
  assert.deepEqual([...new URL(page.url()).searchParams.keys()], ['request_id'])
  await drawer.getByRole('button', { name: 'Close' }).click()
  await page.getByText('All recorded requests, whenever they were').waitFor()
  await page.getByLabel('Request ID').fill('a'.repeat(20))
  await page.getByText(`No request recorded with the ID ${'a'.repeat(20)}`).waitFor()
  await page.getByText('this one may have expired').waitFor()
  await checkThemes(page)
  await shoot(page, 'request-not-recorded')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('24 h', { exact: true }).waitFor()
})
