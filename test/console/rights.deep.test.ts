import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../eventually.ts'
import { type Platform, startPlatform } from './platform-world.ts'
import { type ConsoleUser, checkThemes } from './world.ts'

/** Pages that need no permission, or one that the owner has. */
const OF_OWNER = ['Home', 'APIs', 'Policies', 'Keys', 'Analytics', 'Requests', 'Organisations', 'Labels']
const CLOSED_TO_OWNER = [
  ...['/developers', '/key-requests', '/catalogue', '/portal-settings', '/users', '/groups', '/identity', '/audit'],
  ...['/nodes', '/webhooks', '/certificates', '/settings'],
]
/** What changes something; whoever may not, finds it neither on a page nor in the bar, or switched off with the reason. */
const CHANGES = /^(?:Add|Approve|Change|Create|Decline|Delete|Import|Make|Move|New|Remove|Rotate|Save|Upload)\b/

test('each kind of people is led where they may look, and to nothing that they may not do', async (t) => {
  const world = await startPlatform(t)
  await t.test('a reader sees every page, and changes nothing on any', () => readsAll(world))
  await t.test('an owner sees what the work with APIs needs, and no more', () => ownsSome(world))
})

/** Follows the whole menu. The page that answers a call with a refusal fails the test by its console. */
async function follow(page: Page, each: (name: string) => Promise<void>): Promise<readonly string[]> {
  const menu = page.getByRole('navigation', { name: 'Menu' })
  const names = await menu.getByRole('link').allInnerTexts()
  for (const name of names) {
    await menu.getByRole('link', { name, exact: true }).click()
    await eventually(`${name} is there`, async () => (await menu.locator('a[data-active]').innerText()) === name)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await eventually('all has come', async () => (await page.locator('[aria-busy=true]').count()) === 0)
    assert.equal(await page.getByText('You may not see this').count(), 0, name)
    await each(name)
  }
  return names
}

/** What changes something and can be pressed. */
async function changesOn(page: Page): Promise<readonly string[]> {
  const found: string[] = []
  for (const button of await page.locator('#content').getByRole('button', { name: CHANGES }).all()) {
    const isOff = (await button.isDisabled()) || (await button.getAttribute('aria-disabled')) === 'true'
    if (!isOff) found.push((await button.getAttribute('aria-label')) ?? (await button.innerText()))
  }
  for (const link of await page.locator('#content').getByRole('link', { name: CHANGES }).all())
    found.push(await link.innerText())
  return found
}

async function readsAll(world: Platform): Promise<void> {
  const page = await world.open(world.reader, '/')
  const names = await follow(page, async (name) => assert.deepEqual(await changesOn(page), [], name))
  assert.ok(names.length >= 19, names.join())
  for (const path of ['/apis/bells', `/users/${world.owner.id}`]) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await eventually('all has come', async () => (await page.locator('[aria-busy=true]').count()) === 0)
    assert.deepEqual(await changesOn(page), [], path)
  }
  await checkThemes(page)
  await beginsNothing(world, world.reader)
}

async function ownsSome(world: Platform): Promise<void> {
  const page = await world.open(world.owner, '/')
  assert.deepEqual(await follow(page, async () => {}), OF_OWNER)
  for (const path of CLOSED_TO_OWNER) {
    await page.goto(path)
    await page.getByText('You may not see this').waitFor()
    await page.getByRole('heading', { level: 1 }).waitFor()
    assert.deepEqual(await changesOn(page), [], path)
  }
  await checkThemes(page)
  await beginsNothing(world, world.owner)
}

/** The command bar offers no action to those who may not do it. */
async function beginsNothing(world: Platform, person: ConsoleUser): Promise<void> {
  for (const one of [world.admin, person]) {
    const page = await world.open(one, '/')
    await page.keyboard.press('Control+k')
    const bar = page.getByRole('dialog', { name: 'Search or jump to…' })
    await bar.getByRole('textbox').fill('upload')
    const action = bar.getByRole('button', { name: 'Upload a certificate' })
    await (one === person ? bar.getByText('Nothing found') : action).waitFor()
    await page.context().close()
  }
}
