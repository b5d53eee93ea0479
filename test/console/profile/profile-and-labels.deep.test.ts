import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call } from '../../worlds/base/client.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import { copied } from '../../worlds/console/clipboard.ts'
import { openBar } from '../../worlds/console/platform-world.ts'
import {
  type ConsoleWorld,
  checkThemes,
  PASSWORD,
  passwordOf,
  shoot,
  signIn,
  startConsole,
} from '../../worlds/console/world.ts'

const REFUSED = [/status of 40[13]/, /status of 409/]

test('the own profile: names by those who may, credential, password, sessions', async (t) => {
  const world = await startConsole(t)
  const browser = await startBrowser(t)
  const { page } = await openPage(t, browser, { base: world.base, allow: REFUSED })
  const { reader } = world
  await signIn(page, reader, '/profile')
  await page.getByText('You cannot change your name').waitFor()
  await becomes(() => page.getByLabel('First name').isDisabled(), true)
  await checkThemes(page)
  await shoot(page, 'profile')

  await page.getByRole('tab', { name: 'API credential' }).click()
  assert.ok(!(await page.content()).includes(reader.key), 'hidden until it is asked for')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText(reader.key, { exact: true }).waitFor()
  await checkThemes(page)
  await page.getByRole('button', { name: 'Hide' }).click()
  assert.ok(!(await page.content()).includes(reader.key), 'hidden again')
  await page.getByRole('button', { name: 'Regenerate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Regenerate' }).click()
  await page.getByText('Credential regenerated').waitFor()
  const key = await copied(page, page.getByRole('button', { name: 'Copy Your API credential' }))
  assert.match(key, /^[0-9a-f]{64}$/)
  assert.ok((await copied(page, page.getByRole('button', { name: 'Copy Try it' }))).includes(key))
  const status = async (as: string) =>
    (await world.api('GET', '/api/users/me', undefined, { ...reader, key: as })).status
  assert.deepEqual([await status(reader.key), await status(key)], [401, 200])
  await shoot(page, 'profile-credential')

  const { page: other } = await openPage(t, browser, { base: world.base, allow: REFUSED })
  await signIn(other, reader)
  await page.getByRole('tab', { name: 'Sessions' }).click()
  await page.getByText('Current').waitFor()
  await checkThemes(page)
  await shoot(page, 'profile-sessions')
  await page.getByRole('button', { name: 'End the session of Chrome on Linux' }).click()
  await page.getByText('Session ended').waitFor()
  await other.reload()
  await signIn(other, reader)
  await page.reload()
  await page.getByRole('button', { name: 'End all other sessions' }).click()
  await page.getByText('All other sessions ended').waitFor()
  await other.reload()
  await other.getByRole('heading', { name: 'Sign in to Gatehouse' }).waitFor()
  await page.getByRole('tab', { name: 'Details' }).click()
  await page.getByText('You cannot change your name').waitFor()

  await page.getByRole('tab', { name: 'Security' }).click()
  await page.getByRole('button', { name: 'Change password' }).click()
  await passwordOf(page, 'Current password').fill('wrong')
  await passwordOf(page, 'New password').fill('Another-horse-8')
  await passwordOf(page, 'Confirm new password').fill('Another-horse-9')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Passwords do not match').waitFor()
  await passwordOf(page, 'Confirm new password').fill('Another-horse-8')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('The current password is missing or wrong').waitFor()
  await passwordOf(page, 'Current password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed').waitFor()
  const body = JSON.stringify({ email: reader.email, password: 'Another-horse-8' })
  assert.equal((await call(world.product.dashboardPort, '/api/login', { method: 'POST', body })).status, 200)
  await page.getByRole('tab', { name: 'Sessions' }).click()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByRole('heading', { name: 'Sign in to Gatehouse' }).waitFor()
})

test('labels are made, renamed, searched and deleted; one in use stays, and others only look', async (t) => {
  const world = await startConsole(t)
  const browser = await startBrowser(t)
  const { page } = await openPage(t, browser, { base: world.base, allow: REFUSED })
  const name = `Équipe <b>مرحبا</b> 🙂 ${'long'.repeat(20)}`
  await signIn(page, world.admin, '/labels')
  await page.getByRole('button', { name: 'Create label' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^Name/).fill(name)
  await dialog.getByLabel(/^Values/).fill('a team')
  await page.keyboard.press('Enter')
  await checkThemes(page)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('row').filter({ hasText: 'a team' }).waitFor()
  await checkThemes(page)
  await shoot(page, 'labels')
  await page.getByRole('button', { name: `Edit ${name}` }).click()
  await dialog.getByLabel(/^Name/).fill('Squad')
  await dialog.getByLabel(/^Values/).fill('b team')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell', { name: 'Squad', exact: true }).waitFor()
  const { labels } = (await world.api('GET', '/api/labels?p=-1')).json as { labels: JsonObject[] }
  const made = labels.find((label) => label.name === 'Squad')!
  assert.deepEqual(made.values, ['a team', 'b team'])
  const applied = await world.api('POST', '/api/apis/sample/labels', { key: made.key, value: 'a team' })
  assert.equal(applied.status, 200, applied.text)

  await page.reload()
  await page.getByRole('link', { name: 'APIs with Squad' }).waitFor()
  await page.getByLabel('Search').fill('squ')
  await eventually('the search stands in the address', () => new URL(page.url()).search === '?q=squ')
  await becomes(() => page.getByRole('row').count(), 2)
  const askDelete = async () => {
    await page.getByRole('button', { name: 'Delete Squad' }).click()
    await dialog.getByLabel(/^Type/).fill('Squad')
    await dialog.getByRole('button', { name: 'Delete' }).click()
  }
  await askDelete()
  await dialog.getByText('1 API carries it').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  assert.equal(
    (await world.api('DELETE', `/api/apis/sample/labels/${encodeURIComponent(String(made.key))}`)).status,
    200,
  )
  await askDelete()
  await page.getByText('No labels match').waitFor()
  assert.equal((await world.api('GET', `/api/labels/${made.id}`)).status, 404)

  const { page: owners } = await openPage(t, browser, { base: world.base })
  await signIn(owners, world.owner, '/labels')
  await owners.getByRole('cell', { name: 'Business Domain' }).waitFor()
  await becomes(() => owners.getByRole('button', { name: 'Create label' }).getAttribute('aria-disabled'), 'true')
  await becomes(() => owners.getByRole('button', { name: /^Delete/ }).count(), 0)
})

test('a list of a thousand labels renders as it is scrolled, and labels find APIs', async (t) => {
  const world = await startConsole(t)
  const names = Array.from({ length: 1000 }, (_, at) =>
    `Label ${String(at).padStart(4, '0')} ${'تسمية 🏷️ '.repeat(at % 9)}`.trim(),
  )
  const keys: string[] = []
  for (let from = 0; from < names.length; from += 50) {
    const some = names.slice(from, from + 50)
    const made = await Promise.all(some.map((name) => world.api('POST', '/api/labels', { name, values: ['a', 'b'] })))
    for (const { status, text, json } of made) {
      assert.equal(status, 200, text)
      keys.push(String((json as JsonObject).key))
    }
  }
  const carried = { key: keys[999]!, value: 'b' }
  assert.equal((await world.api('POST', '/api/apis/sample/labels', carried)).status, 200)
  const { page } = await openPage(t, await startBrowser(t), { base: world.base, allow: REFUSED })
  await signIn(page, world.admin, '/labels')
  await page.getByText(names[0]!, { exact: true }).waitFor()
  const drawn = await page.getByRole('row').count()
  assert.ok(drawn < 100, `${drawn} rows are drawn`)
  await checkThemes(page)
  await shoot(page, 'labels-thousand')
  await page.getByRole('region', { name: 'Labels' }).focus()
  await eventually('the last one is reached by keys', async () => {
    await page.keyboard.press('End')
    return (await page.getByText(names[999]!, { exact: true }).count()) > 0
  })
  await changeLast(page, world)
  await page.getByRole('button', { name: 'Create label' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^Name/).fill('x'.repeat(200))
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('At most 128 characters').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByLabel('Search').fill('Last')
  await page.getByRole('link', { name: 'APIs with Last' }).click()
  await page.getByRole('heading', { name: 'APIs', level: 1 }).waitFor()
  await becomes(() => new URL(page.url()).searchParams.get('labels'), `${carried.key}:b`)
  await page
    .getByRole('link', { name: /sample/i })
    .first()
    .waitFor()
  await becomes(() => page.getByRole('row').count(), 2)
})

/** Works on the end of the list of a thousand, where only what is looked at is drawn. */
async function changeLast(page: Page, { api }: ConsoleWorld): Promise<void> {
  const list = page.getByRole('region', { name: 'Labels' })
  const dialog = page.getByRole('dialog')
  await list.getByRole('link', { name: /^APIs with Label 0999/ }).click()
  await page.getByRole('heading', { name: 'APIs', level: 1 }).waitFor()
  await page.goBack()
  await list.focus()
  const last = list.getByRole('button', { name: /^Edit Label 0999/ })
  await eventually('the last one is reached again', async () => {
    await page.keyboard.press('End')
    return (await last.count()) > 0
  })
  await last.click()
  await dialog.getByLabel(/^Name/).fill('Last')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await list.getByText('Last', { exact: true }).waitFor()
  await list.getByRole('button', { name: /^Delete Label 0998/ }).click()
  const asked = dialog.getByLabel(/^Type/)
  await asked.fill(String(await dialog.getByRole('heading').innerText()).replace(/^Delete |\?$/g, ''))
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.waitFor({ state: 'detached' })
  const { labels } = (await api('GET', '/api/labels?p=-1')).json as { labels: JsonObject[] }
  assert.ok(labels.some(({ name }) => name === 'Last'))
  assert.ok(!labels.some(({ name }) => String(name).startsWith('Label 0998')))
}

test('settings show where they come from, and the command bar leads anywhere by keys alone', async (t) => {
  const world = await startConsole(t, { SVC_DB_ADMINSECRET: 'the-admin-secret-of-this-test' })
  const browser = await startBrowser(t)
  const { page } = await openPage(t, browser, { base: world.base })
  await signIn(page, world.admin)
  await page.getByRole('heading', { name: 'Last 24 hours' }).waitFor()
  await openBar(page)
  await page.keyboard.type('sample')
  await page.getByRole('button', { name: /^Protected sample/ }).waitFor()
  await checkThemes(page)
  await shoot(page, 'command-bar')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('rae@')
  await page.getByText(world.reader.email).waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Settin')
  await page.getByRole('button', { name: /^Settings/ }).waitFor()
  // The previous results stay until the next response.
  await page.getByText(world.reader.email).waitFor({ state: 'hidden' })
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /ettings$/, level: 1 }).waitFor()

  await page.goto('/settings')
  const row = page.getByRole('row').filter({ hasText: 'dashboard.admin_secret' })
  await row.getByText('Set (hidden)').waitFor()
  await row.getByText('Environment', { exact: true }).waitFor()
  assert.equal(
    await copied(page, row.getByRole('button', { name: 'Copy SVC_DB_ADMINSECRET', exact: true })),
    'SVC_DB_ADMINSECRET',
  )
  assert.ok(!(await page.content()).includes('the-admin-secret-of-this-test'))
  await checkThemes(page)
  await page.getByText('Configured', { exact: true }).click()
  await page.getByLabel('Search').fill('listen')
  await eventually('the filter stands in the address', () => /from=set/.test(page.url()) && /q=listen/.test(page.url()))
  await becomes(() => page.getByRole('row').filter({ hasText: 'page_size' }).count(), 0)
  await page.getByRole('row').filter({ hasText: 'gateway.listen_port' }).waitFor()
  await shoot(page, 'settings')

  const { page: owners } = await openPage(t, browser, { base: world.base })
  await signIn(owners, world.owner, '/settings')
  await owners.getByText('You do not have access').waitFor()
})
