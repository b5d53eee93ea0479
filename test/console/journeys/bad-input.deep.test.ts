import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  confirmDelete,
  heading,
  IS_DEEP,
  LONG_NAME,
  ODD_NAME,
  save,
  saved,
  startApis,
} from '../../worlds/console/apis-world.ts'
import { checkThemes, passwordOf, settled, shoot } from '../../worlds/console/world.ts'

const POLICIES = '/api/portal/policies'
const DROPPED = [/ERR_FAILED/, /ERR_INTERNET_DISCONNECTED/, /status of 40[014]/, /status of 412/]

/** A policy of this name on the sample API. Answers its `_id`. */
async function policy(world: ApisWorld, name: string): Promise<string> {
  const rights = { sample: { api_id: 'sample', api_name: 'Sample', versions: ['Default'] } }
  const body = { name, active: true, rate: 100, per: 60, access_rights: rights }
  const made = await world.api('POST', POLICIES, body)
  assert.equal(made.status, 200, made.text)
  return String((made.json as JsonObject).Message)
}

async function stored(world: ApisWorld, id: string): Promise<JsonObject> {
  return (await world.api('GET', `${POLICIES}/${id}`)).json as JsonObject
}

/** As another user, through the API. */
async function changeBehind(world: ApisWorld, id: string, change: JsonObject): Promise<void> {
  const done = await world.api('PATCH', `${POLICIES}/${id}`, change)
  assert.equal(done.status, 200, done.text)
}

const nameField = (page: Page) => page.getByRole('textbox', { name: 'Name', exact: true })

async function losesConnection(world: ApisWorld): Promise<void> {
  const id = await policy(world, 'Fragile')
  const page = await world.open(world.admin, `/policies/${id}`, DROPPED)
  const it = (url: URL) => url.pathname === `${POLICIES}/${id}`
  await nameField(page).fill('Sturdy')
  // The request is lost on its way there.
  await page.route(it, (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()))
  await save(page)
  await page.getByText('The dashboard did not respond').waitFor()
  await becomes(() => nameField(page).inputValue(), 'Sturdy')
  assert.equal((await stored(world, id)).name, 'Fragile')
  await shoot(page, 'save-lost')
  await page.unroute(it)
  await save(page)
  await saved(page)
  assert.equal((await stored(world, id)).name, 'Sturdy')

  // The answer is lost on its way back: what is stored is what was meant, and saving again is no quarrel with oneself.
  await nameField(page).fill('Sturdier')
  await page.route(it, async (route) => {
    if (route.request().method() !== 'PUT') return route.continue()
    await route.fetch()
    return route.abort()
  })
  await save(page)
  await page.getByText('The dashboard did not respond').waitFor()
  assert.equal((await stored(world, id)).name, 'Sturdier')
  await page.unroute(it)
  await save(page)
  await saved(page)
  await becomes(() => page.getByRole('dialog').count(), 0)

  // The connection is lost while the user types, and comes back.
  await nameField(page).fill('Sturdiest')
  await page.context().setOffline(true)
  await save(page)
  await page.getByText('Dashboard unreachable').waitFor()
  await page.context().setOffline(false)
  await page.getByText('Reconnected').waitFor()
  await becomes(() => nameField(page).inputValue(), 'Sturdiest')
  await save(page)
  await saved(page)
  assert.equal((await stored(world, id)).name, 'Sturdiest')
}

async function meetsAnother(world: ApisWorld): Promise<void> {
  const id = await policy(world, 'Shared')
  const page = await world.open(world.admin, `/policies/${id}`, DROPPED)
  const dialog = page.getByRole('dialog', { name: 'Someone else changed this while you were editing' })
  await nameField(page).fill('Mine')
  await changeBehind(world, id, { name: 'Theirs' })
  await save(page)
  await dialog.getByText('"name": "Theirs"').waitFor()
  await dialog.getByText('"name": "Mine"').waitFor()
  await checkThemes(page)
  await shoot(page, 'conflict')
  await dialog.getByRole('button', { name: 'Continue editing' }).click()
  await becomes(() => nameField(page).inputValue(), 'Mine')
  assert.equal((await stored(world, id)).name, 'Theirs')
  await save(page)
  await dialog.getByRole('button', { name: 'Take theirs' }).click()
  await eventually('theirs is shown', async () => (await nameField(page).inputValue()) === 'Theirs')
  await nameField(page).fill('Mine again')
  await changeBehind(world, id, { name: 'Theirs again' })
  await save(page)
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await saved(page)
  assert.equal((await stored(world, id)).name, 'Mine again')

  // Another saves between the look before the save and the save itself: the dashboard refuses, and the page looks again.
  let times = 0
  await page.route(
    (url) => url.pathname === `${POLICIES}/${id}`,
    async (route) => {
      if (route.request().method() === 'PUT' && times++ === 0) await changeBehind(world, id, { name: 'In silence' })
      return route.continue()
    },
  )
  await nameField(page).fill('Mine at last')
  await save(page)
  await dialog.getByText('"name": "In silence"').waitFor()
  assert.equal((await stored(world, id)).name, 'In silence')
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await saved(page)
  assert.equal((await stored(world, id)).name, 'Mine at last')
}

async function endsSession(world: ApisWorld): Promise<void> {
  const id = await policy(world, 'Interrupted')
  const page = await world.open(world.owner, `/policies/${id}`, DROPPED)
  await nameField(page).fill('Went on')
  await world.api('POST', '/api/logout/everywhere', undefined, world.owner)
  await save(page)
  const again = page.getByRole('dialog', { name: 'Your session has ended' })
  await passwordOf(again).fill(world.owner.password)
  await again.getByRole('button', { name: 'Sign in', exact: true }).click()
  await again.waitFor({ state: 'detached' })
  await becomes(() => nameField(page).inputValue(), 'Went on')
  await save(page)
  await saved(page)
  assert.equal((await stored(world, id)).name, 'Went on')

  // Another person at the same screen sees nothing of the page below.
  await nameField(page).fill('Of the first')
  await world.api('POST', '/api/logout/everywhere', undefined, world.owner)
  await save(page)
  await again.getByLabel('Email address').fill(world.reader.email)
  await passwordOf(again).fill(world.reader.password)
  await again.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL((url) => url.pathname === '/')
  await page.getByRole('button', { name: `Signed in as ${world.reader.firstName} Test` }).waitFor()
  assert.equal((await stored(world, id)).name, 'Went on')
}

async function goesBack(world: ApisWorld): Promise<void> {
  const id = await policy(world, ODD_NAME)
  const page = await world.open(world.admin, '/policies', DROPPED)
  await page.getByRole('link', { name: ODD_NAME }).click()
  await heading(page, ODD_NAME).waitFor()
  await nameField(page).fill('Not saved')
  await page.goBack()
  const question = page.getByRole('dialog', { name: 'Discard unsaved changes?' })
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await becomes(() => nameField(page).inputValue(), 'Not saved')
  await page.reload()
  await heading(page, ODD_NAME).waitFor()
  await page.getByRole('button', { name: /^Delete/ }).click()
  await confirmDelete(page, ODD_NAME)
  await page.waitForURL(/\/policies$/)
  await page.goto(`/policies/${id}`)
  await page.getByRole('link', { name: 'Back to list' }).click()
  await page.waitForURL(/\/policies$/)
  await page.goBack()
  await page.getByRole('link', { name: 'Back to list' }).waitFor()
  await checkThemes(page)
}

const NOBODYS = [
  '/apis/nothing',
  '/policies/nothing',
  '/keys/nothing',
  '/users/nothing',
  '/groups/nothing',
  '/identity/nothing',
  '/webhooks/nothing',
  '/developers/nothing',
  '/audit/nothing',
  '/no/such/page',
]

/** Addresses that lead to nothing say so, in words, under a heading, with a way out. */
async function leadsNowhere(world: ApisWorld): Promise<void> {
  const page = await world.open(world.admin, '/labels', [/status of 4\d\d/])
  for (const path of NOBODYS) {
    await page.goto(path)
    await page.getByText(/^(It was deleted, or you do not have access|It may have been deleted)/).waitFor()
    assert.ok(
      (await page.getByRole('button', { name: 'Go back' }).count()) +
        (await page.getByRole('link', { name: 'Back to list' }).count()) ===
        1,
      path,
    )
    if (IS_DEEP) await checkThemes(page)
  }
}

/** A list that could not be read is read again on request, and the page works. */
async function triesAgain(world: ApisWorld): Promise<void> {
  await policy(world, 'Reached at last')
  const page = await world.open(world.admin, '/labels', [...DROPPED, /status of 503/])
  const it = (url: URL) => url.pathname === `${POLICIES}/search`
  await page.route(it, (route) => route.fulfill({ status: 503, json: { Status: 'Error', Message: 'Too much to do' } }))
  await page.goto('/policies')
  await page.getByRole('alert').filter({ hasText: 'Too much to do' }).waitFor()
  await checkThemes(page)
  await page.unroute(it)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: 'Reached at last' }).waitFor()
  await becomes(() => page.getByText('Too much to do').count(), 0)
}

/** Pages with a name that is markup, one that runs from right to left, and one without a space, at the three widths. */
async function bearsNames(world: ApisWorld): Promise<void> {
  const names = [`${ODD_NAME}!`, LONG_NAME, 'اسم طويل جداً לשון קודש']
  const addresses: string[] = ['/policies', '/groups', '/webhooks', '/apis', '/labels', '/nodes', '/']
  for (const [i, name] of names.entries()) {
    addresses.push(`/policies/${await policy(world, name)}`)
    const api = await world.api('POST', '/api/apis', {
      api_definition: {
        ...{ name, active: true, use_keyless: true },
        proxy: { listen_path: `/odd-${i}/`, target_url: world.origin.url, strip_listen_path: true },
        version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
      },
    })
    assert.equal(api.status, 200, api.text)
    addresses.push(`/apis/${(api.json as JsonObject).Meta}`)
    const group = await world.api('POST', '/api/usergroups', {
      name,
      description: name,
      user_permissions: { apis: 'read' },
    })
    assert.equal(group.status, 200, group.text)
    addresses.push(`/groups/${(group.json as JsonObject).Meta}`)
    await world.api('POST', '/api/hooks', {
      name,
      method: 'POST',
      target_path: `https://example.com/${'long/'.repeat(30)}`,
    })
    await world.api('POST', '/api/labels', { name, values: [name.slice(0, 60)] })
  }
  const page = await world.open(world.admin, '/')
  for (const path of IS_DEEP ? addresses : addresses.filter((address) => !/^\/\w+\/\w+$/.test(address))) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await eventually('all has come', async () => (await page.locator('[aria-busy=true]').count()) === 0)
    await shoot(page, `names${path.replaceAll('/', '-')}`)
    if (IS_DEEP) await checkThemes(page)
  }
  await becomes(() => page.locator('#content b:has-text("Pets")').count(), 0, 'markup is text')
}

/** More labels than anybody reads: they are found by typing, and the page stays smooth. */
async function holdsLabels(world: ApisWorld): Promise<void> {
  const number = IS_DEEP ? 1000 : 60
  for (let i = 0; i < number; i++) {
    const made = await world.api('POST', '/api/labels', { name: `Stage ${i}`, values: [] })
    assert.equal(made.status, 200, made.text)
  }
  const page = await world.open(world.reader, '/labels')
  await page.getByRole('cell', { name: 'Stage 0', exact: true }).waitFor()
  await settled(page)
  await page.getByLabel('Search').fill(`Stage ${number - 1}`)
  await page.getByRole('cell', { name: `Stage ${number - 1}`, exact: true }).waitFor()
}

test('bad input', async (t: TestContext) => {
  const world = await startApis(t)
  await t.test('a save that is lost on its way, or whose answer is, costs nothing that was typed', () =>
    losesConnection(world),
  )
  await t.test('who saves second sees the difference and chooses, however close they were', () => meetsAnother(world))
  await t.test('a session that ends over a form goes on where it was', () => endsSession(world))
  await t.test('back, reload and what was deleted', () => goesBack(world))
  await t.test('what could not be read is read again when asked for', () => triesAgain(world))
  await t.test('addresses that lead nowhere say so', () => leadsNowhere(world))
  await t.test('names break no page', () => bearsNames(world))
  await t.test('very many labels', () => holdsLabels(world))
})
