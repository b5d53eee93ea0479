import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { eventually } from '../base/eventually.ts'
import { openPage, startBrowser } from '../browser/chromium.ts'
import { type Receiver, startReceiver } from '../oauth/receiver.ts'
import { type ConsoleUser, type ConsoleWorld, signIn, startConsole } from './world.ts'

/** The product, and a receiver of messages that is also the upstream of an API. */
export interface Platform extends ConsoleWorld {
  readonly receiver: Receiver
  open(person: ConsoleUser, path: string, allow?: readonly RegExp[]): Promise<Page>
}

/** Webhooks may go to this machine, and backups are made. */
export const SETTINGS = { SVC_WEBHOOKS_ALLOWPRIVATE: 'true', SVC_BACKUP_FOLDER: 'backups' }
/** Where the API in the classic format is. */
export const API = '/api/apis/bells'

/** An open API in the classic format, whose upstream is the receiver. */
export async function makeBells(world: ConsoleWorld, receiver: Receiver): Promise<void> {
  const api_definition = {
    ...{ api_id: 'bells', name: 'Bells', active: true, use_keyless: true },
    proxy: { listen_path: '/bells/', target_url: new URL(receiver.url).origin, strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  }
  const made = await world.api('POST', '/api/apis', { api_definition })
  assert.equal(made.status, 200, made.text)
}

/** Starts all of it; it ends with the test. */
export async function startPlatform(t: TestContext): Promise<Platform> {
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const [world, browser] = await Promise.all([startConsole(t, SETTINGS), startBrowser(t)])
  await makeBells(world, receiver)
  return {
    ...{ ...world, receiver },
    async open(person, path, allow = []) {
      const { page } = await openPage(t, browser, { base: world.base, allow })
      await signIn(page, person, path)
      return page
    },
  }
}

/** Chooses from a list that opens below its field. */
export async function pick(page: Page, field: Locator, option: string): Promise<void> {
  await field.click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

/**
 * Waits until the page of that name is drawn, with what its tables show. The menu and the address name it earlier: until its module
 * is read, the previous page is shown.
 */
export async function arrived(page: Page, name: string): Promise<void> {
  const title = name === 'Home' ? /^Welcome/ : name
  await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
  await eventually(`all of ${name} has come`, async () => (await page.locator('[aria-busy=true]').count()) === 0)
}

/** Opens the command bar by its keys. The page listens to them a moment after it is drawn: until then nothing comes of them. */
export async function openBar(page: Page): Promise<Locator> {
  const bar = page.getByRole('dialog', { name: 'Search or jump to…' })
  const text = bar.getByRole('textbox')
  await eventually('the bar opens, and takes what is typed', async () => {
    if ((await text.count()) > 0) return text.evaluate((field) => field === document.activeElement)
    await page.keyboard.press('Control+k')
    return false
  })
  return bar
}

/** A day passes: what waits is given up. */
export async function giveUp(path: string): Promise<void> {
  const store = await openStore({ path })
  try {
    const [row] = await store.outbox.due(Date.now() + 86_400_000, 1)
    assert.ok(row !== undefined)
    const outcome = { is: 'dead', error: 'answered 500' } as const
    await store.documents.commit([{ op: 'settleDelivery', id: row.id, outcome }], undefined)
  } finally {
    await store.close()
  }
}
