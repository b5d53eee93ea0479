import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { arrived, openBar, type Platform, startPlatform } from '../../worlds/console/platform-world.ts'
import { type ConsoleUser, checkThemes } from '../../worlds/console/world.ts'

/** Pages that need no permission, or one that the owner has. */
const OF_OWNER = [
  'Home',
  'APIs',
  'Policies',
  'Keys',
  'Analytics',
  'Requests',
  'Organisations',
  'Signing keys',
  'Labels',
]
const CLOSED_TO_OWNER = [
  ...['/developers', '/key-requests', '/catalogue', '/portal-settings', '/users', '/groups', '/identity', '/audit'],
  ...['/nodes', '/webhooks', '/certificates', '/settings'],
]
/** Controls that change something; a user without the permission finds them neither on a page nor in the bar, or disabled with the reason. */
const CHANGES = /^(?:Add|Approve|Change|Create|Decline|Delete|Import|Make|Move|New|Remove|Rotate|Save|Upload)\b/

test('each kind of people is led where they may look, and to nothing that they may not do', async (t) => {
  const world = await startPlatform(t)
  await t.test('a reader sees every page, and changes nothing on any', () => readsAll(world))
  await t.test('an owner sees what the work with APIs needs, and no more', () => ownsSome(world))
})

/** Follows the whole menu. The page that answers a call with a refusal fails the test by its console. */
async function follow(page: Page): Promise<readonly string[]> {
  const menu = page.getByRole('navigation', { name: 'Menu' })
  const names = await menu.getByRole('link').allInnerTexts()
  for (const name of names) {
    await menu.getByRole('link', { name, exact: true }).click()
    await menu.locator('a[data-active]', { hasText: name }).waitFor()
    await arrived(page, name)
    await becomes(() => page.getByText('You do not have access').count(), 0, name)
  }
  return names
}

/**
 * Notes every enabled control that changes something, on this page and on all that follow, from the first rendering: controls that
 * only flash up are noted too.
 */
async function watchChanges(page: Page): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  await page.exposeFunction('noteChange', (control: string) => void found.add(control))
  await page.addInitScript(watch, CHANGES.source)
  await page.evaluate(watch, CHANGES.source)
  return found
}

/** Runs in the browser: it can use nothing from outside of itself. */
function watch(pattern: string): void {
  const changes = new RegExp(pattern)
  const note = Reflect.get(window, 'noteChange') as (control: string) => Promise<void>
  const look = () => {
    for (const one of document.querySelectorAll<HTMLElement>('#content :is(button, a[href], [role=button])')) {
      const name = (one.ariaLabel ?? one.innerText).trim()
      const isOff = one.matches(':disabled') || one.ariaDisabled === 'true'
      // A page that goes away takes its last words with it.
      if (!isOff && changes.test(name)) note(`${name} on ${location.pathname}`).catch(() => {})
    }
  }
  const options = { subtree: true, childList: true, attributes: true, characterData: true }
  new MutationObserver(look).observe(document, options)
  look()
}

async function readsAll(world: Platform): Promise<void> {
  await seesChanges(world)
  const page = await world.open(world.reader, '/')
  const found = await watchChanges(page)
  const names = await follow(page)
  assert.ok(names.length >= 19, names.join())
  for (const [path, title] of [
    ['/apis/bells', 'Bells'],
    [`/users/${world.owner.id}`, 'Olu Test'],
  ] as const) {
    await page.goto(path)
    await arrived(page, title)
  }
  await checkThemes(page)
  assert.deepEqual([...found], [])
  await beginsNothing(world, world.reader)
}

/** A user with permissions is watched as well: the watch can find something. */
async function seesChanges(world: Platform): Promise<void> {
  const page = await world.open(world.admin, '/')
  const found = await watchChanges(page)
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'APIs', exact: true }).click()
  await eventually('a change is noted after a link', () => found.has('Create API on /apis'))
  await page.goto('/labels')
  await eventually('a change is noted after a load', () => found.has('Create label on /labels'))
  await page.context().close()
}

async function ownsSome(world: Platform): Promise<void> {
  const page = await world.open(world.owner, '/')
  assert.deepEqual(await follow(page), OF_OWNER)
  const found = await watchChanges(page)
  for (const path of CLOSED_TO_OWNER) {
    await page.goto(path)
    await page.getByText('You do not have access').waitFor()
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  await checkThemes(page)
  assert.deepEqual([...found], [])
  await beginsNothing(world, world.owner)
}

/** The command bar offers no action to those who may not do it. */
async function beginsNothing(world: Platform, person: ConsoleUser): Promise<void> {
  for (const one of [world.admin, person]) {
    const page = await world.open(one, '/')
    const bar = await openBar(page)
    await bar.getByRole('textbox').fill('upload')
    const action = bar.getByRole('button', { name: 'Upload certificate' })
    await (one === person ? bar.getByText('Nothing found') : action).waitFor()
    await page.context().close()
  }
}
