import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../worlds/base/eventually.ts'
import {
  field,
  heading,
  holdsOnePage,
  IS_DEEP,
  inspect,
  makeApi,
  makeMany,
  startApis,
  tab,
  watchList,
} from '../../worlds/console/apis-world.ts'

test('ten thousand keys are paged, searched and filtered, and the page stays small', async (t: TestContext) => {
  const world = await startApis(t)
  const orders = await makeApi(world, 'Orders', '/orders/', 'token')
  await makeApi(world, 'Stock', '/stock/', 'token')
  const right = { [orders]: { api_id: orders, api_name: 'Orders', versions: ['Default'] } }
  const many = IS_DEEP ? 10_000 : 80
  await makeMany(many, async (number) => {
    const made = await world.api('POST', '/api/keys', { alias: `Caller ${number}`, access_rights: right })
    assert.equal(made.status, 200, made.text)
  })
  const page = await world.open(world.admin, '/policies')
  const watch = await watchList(page, '/api/keys/detailed')
  await page.goto('/keys')
  const callers = page.getByRole('link', { name: /^Caller/ })
  await callers.nth(9).waitFor()
  await holdsOnePage(page)
  watch.reads()
  for (const name of ['Next page', 'Next page', 'Previous page']) {
    const first = await callers.first().innerText()
    await page.getByRole('button', { name }).click()
    await eventually('another page is shown', async () => (await callers.first().innerText()) !== first)
    await holdsOnePage(page)
  }
  assert.ok(watch.reads() <= 3, 'each page is read at most once')
  await page.getByRole('button', { name: '1', exact: true }).click()
  await eventually('the first page stands in the address', () => !/p=[^1]/.test(page.url()))
  const last = `Caller ${String(many - 1).padStart(5, '0')}`
  await page.getByLabel(/^Search by alias/).pressSequentially(last)
  await page.getByRole('link', { name: last }).waitFor()
  await eventually('one is left', async () => (await callers.count()) === 1)
  assert.ok(watch.reads() <= last.length + 2, 'no more is read than was typed')
  await page.getByLabel(/^Search by alias/).fill('')
  await field(page, 'API').fill('ord')
  await page.getByRole('option', { name: 'Orders' }).click()
  await callers.nth(9).waitFor()
  await holdsOnePage(page)
  await inspect(page, 'keys-many')
  await page.goto(`/keys?p=${many}`)
  await callers.first().waitFor()
  await holdsOnePage(page)

  await page.goto(`/apis/${orders}`)
  await tab(page, 'Keys')
  await callers.nth(9).waitFor()
  await page.getByRole('button', { name: 'Next page' }).click()
  await eventually('the page stands in the address', () => /keys=2/.test(page.url()))
  await callers.nth(9).waitFor()
  await holdsOnePage(page)
  await page.getByLabel(/^Search by alias/).fill(last)
  await page.getByRole('link', { name: last }).click()
  await heading(page, last).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Remove Orders' }).waitFor()
  t.diagnostic(`longest task of the page: ${Math.round(await watch.longestMs())} ms`)
})
