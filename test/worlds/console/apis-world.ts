import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../base/client.ts'
import { becomes, eventually } from '../base/eventually.ts'
import { openPage, startBrowser } from '../browser/chromium.ts'
import { type Origin, startOrigin } from '../servers/origin.ts'
import { copied } from './clipboard.ts'
import { type ConsoleUser, type ConsoleWorld, checkThemes, shoot, signIn, startConsole } from './world.ts'

/** A name that breaks pages which interpret names as markup, or ignore text direction. */
export const ODD_NAME = '<b>Pets</b> & متجر 🙂'
export const LONG_NAME = `Long ${'Wörter\u202e '.repeat(12)}${'x'.repeat(90)}`.slice(0, 200)
export const IS_DEEP = process.env.GATEHOUSE_DEEP === '1'

/** The product, a service behind its gateway that says which path it saw, and a browser. */
export interface ApisWorld extends ConsoleWorld {
  readonly origin: Origin
  /** A page with a signed-in user; `allow` names the errors that the test causes itself. */
  open(person: ConsoleUser, path: string, allow?: readonly RegExp[]): Promise<Page>
}

/** Starts all of it; it ends with the test. */
export async function startApis(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<ApisWorld> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const [world, browser] = await Promise.all([startConsole(t, env), startBrowser(t)])
  origin.script = ({ target }, response) => response.end(target)
  return { ...world, origin, open: (person, path, allow) => open(t, { world, browser }, person, path, allow) }
}

async function open(
  t: TestContext,
  { world, browser }: { readonly world: ConsoleWorld; readonly browser: Browser },
  person: ConsoleUser,
  path: string,
  allow: readonly RegExp[] = [],
): Promise<Page> {
  const { page } = await openPage(t, browser, { base: world.base, allow })
  await signIn(page, person, path)
  return page
}

/** Makes an API that forwards to the service; `auth` as the page calls it. Answers its id. */
export async function makeApi(
  world: ApisWorld,
  name: string,
  path: string,
  auth: 'keyless' | 'token' | 'oauth' = 'keyless',
): Promise<string> {
  const scheme = auth === 'oauth' ? { type: 'oauth2', flows: FLOWS } : { type: 'apiKey', in: 'header', name: 'X-Key' }
  const isOpen = auth === 'keyless'
  const made = await world.api('POST', '/api/apis/oas', {
    ...{ openapi: '3.0.3', info: { title: name, version: '1' }, paths: {} },
    ...(!isOpen && { components: { securitySchemes: { [auth]: scheme } }, security: [{ [auth]: [] }] }),
    'x-svc-api-gateway': {
      info: { name, state: { active: true } },
      upstream: { url: world.origin.url },
      server: {
        listenPath: { value: path, strip: true },
        authentication: isOpen ? { enabled: false } : { enabled: true, securitySchemes: { [auth]: { enabled: true } } },
      },
    },
  })
  assert.equal(made.status, 200, made.text)
  return String((made.json as JsonObject).ID)
}

const FLOWS = { clientCredentials: { tokenUrl: '/oauth/token', scopes: { read: 'Read' } } }

/** The document of an API in OpenAPI format. */
export async function documentOf(world: ApisWorld, id: string): Promise<JsonObject> {
  const answer = await world.api('GET', `/api/apis/${id}`)
  assert.equal(answer.status, 200, answer.text)
  return (answer.json as { oas: JsonObject }).oas
}

/** The document with other settings of the gateway. */
export function withSettings(document: JsonObject, change: (settings: JsonObject) => void): JsonObject {
  const copy = structuredClone(document)
  change(copy['x-svc-api-gateway'] as JsonObject)
  return copy
}

/** The value at a path of a document. */
export function at(tree: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((here, name) => (here as Record<string, unknown> | undefined)?.[name], tree)
}

/** Waits until the gateway answers a request with a status, and answers what it answered. */
export async function answers(
  world: ApisWorld,
  status: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  let answer: Answer | undefined
  await eventually(`${path} answers ${status}`, async () => {
    answer = await world.through(path, headers)
    return answer.status === status
  })
  return answer!
}

/** The id that the address of the page names an API, a policy or a key by. */
export function idIn(page: Page): string {
  return decodeURIComponent(new URL(page.url()).pathname.split('/')[2]!)
}

/** Chooses from a list that opens below its field. */
export async function choose(page: Page, field: Locator, option: string | RegExp): Promise<void> {
  const closesItself = await field.evaluate((element) => element.matches('.mantine-Select-input'))
  await field.click()
  const chosen = page.getByRole('option', { name: option, ...(typeof option === 'string' && { exact: true }) })
  await chosen.click()
  // Lists from which several can be chosen stay open. Where the list is closed, Escape would close the dialog around the field.
  if (closesItself) await chosen.waitFor({ state: 'hidden' })
  else if ((await field.getAttribute('aria-expanded')) === 'true') await page.keyboard.press('Escape')
}

/** Adds a method to those of a path, whose field is filled with what was chosen: there is no free place in it to click at. */
export async function addMethod(page: Page, row: number, method: string): Promise<void> {
  await page.getByRole('combobox', { name: `Methods of path ${row}`, exact: true }).dispatchEvent('click')
  await page.getByRole('option', { name: method, exact: true }).click()
  await page.keyboard.press('Escape')
}

/** Says what hangs on it, takes the name and nothing else, and deletes. */
export async function confirmDelete(page: Page, name: string, depends?: RegExp | string): Promise<void> {
  const dialog = page.getByRole('dialog')
  const button = dialog.getByRole('button', { name: /^Delete/ })
  if (depends !== undefined) await dialog.getByText(depends).waitFor()
  const field = dialog.getByRole('textbox')
  await field.fill(`${name}!`)
  await becomes(() => button.isDisabled(), true, 'another name deletes nothing')
  await field.fill(name)
  await button.click()
  await dialog.waitFor({ state: 'detached' })
}

/** Waits for the message that something was saved, and closes it so that the next one can be recognised. */
export async function saved(page: Page, text = 'Saved'): Promise<void> {
  await dismissed(page.getByRole('alert').filter({ hasText: text }))
}

/** Waits for a message and takes it away. It also goes by itself: a slow machine may come too late to close it. */
export async function dismissed(notes: Locator): Promise<void> {
  await notes.first().waitFor()
  await eventually('the message is gone', async () => {
    if ((await notes.count()) === 0) return true
    await notes
      .first()
      .locator('.mantine-Notification-closeButton')
      .click({ timeout: 1000 })
      .catch(() => undefined)
    return false
  })
}

export const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()
export const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true }).click()
export const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1, exact: typeof name === 'string' })

/** One of a row of choices, of which all can be seen. */
export const pick = (page: Page, group: string, name: string) =>
  page.getByRole('radiogroup', { name: group }).getByText(name, { exact: true }).click()

/** Turns a switch. */
export const flip = (place: Page | Locator, name: string) =>
  place.getByRole('switch', { name: new RegExp(`^${name.replace(/[()]/g, '\\$&')}`) }).click()

/** A field into which words are typed, whether it offers some to choose from or not. */
export const field = (place: Page | Locator, name: string | RegExp) =>
  place.getByRole('textbox', { name }).or(place.getByRole('combobox', { name })).first()

/** Pastes a text over all text of an editor. */
export async function pasteOver(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.click()
  await page.keyboard.press('Control+a')
  await editor.evaluate((element, words) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', words)
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  }, text)
}

/** Checks the text that a button copies. */
export async function copies(button: Locator, text: string): Promise<void> {
  const page = button.page()
  assert.equal(await copied(page, button), text)
  // Closes the button's tooltip.
  await page.mouse.move(0, 0)
  await page.getByRole('tooltip').waitFor({ state: 'hidden' })
}

/** Follows a link, looks for the heading of the page behind it, and comes back. */
export async function follow(page: Page, link: Locator, to: string | RegExp): Promise<void> {
  const before = page.url()
  await link.click()
  await heading(page, to).waitFor()
  await page.goBack()
  await page.waitForURL(before)
}

const AT_ONCE = 25

/** Makes very many of something, numbered by five digits, some at a time. */
export async function makeMany(many: number, make: (number: string) => Promise<unknown>): Promise<void> {
  for (let made = 0; made < many; made += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, many - made) }, (_, index) => make(String(made + index).padStart(5, '0'))),
    )
}

/** How much a list of very many costs: lists that were read, and the longest time that the page was busy. */
export interface ListWatch {
  /** How many times a page of the list was read since this was last asked. */
  reads(): number
  /** The longest task of the page so far, in milliseconds; 0 when none took long. */
  longestMs(): Promise<number>
}

/** Counts from now on what a page does about a list that the dashboard serves at `path`. */
export async function watchList(page: Page, path: string): Promise<ListWatch> {
  let count = 0
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === path) count++
  })
  await page.addInitScript(() => {
    const observer = new PerformanceObserver((list) => {
      const longest = Math.max(...list.getEntries().map(({ duration }) => duration))
      Reflect.set(window, 'longestTask', Math.max(longest, Number(Reflect.get(window, 'longestTask') ?? 0)))
    })
    observer.observe({ type: 'longtask', buffered: true })
  })
  return {
    reads() {
      const seen = count
      count = 0
      return seen
    },
    longestMs: () => page.evaluate(() => Number(Reflect.get(window, 'longestTask') ?? 0)),
  }
}

/** A list holds one page of rows, however many there are, and not much besides. */
export async function holdsOnePage(page: Page): Promise<void> {
  const rows = await page.getByRole('table').getByRole('row').count()
  assert.ok(rows <= MOST_ROWS + 1, `${rows} rows stand in the table`)
  const elements = await page.locator('#content *').count()
  assert.ok(elements < MOST_ELEMENTS, `${elements} elements stand on the page`)
}

const MOST_ROWS = 25
const MOST_ELEMENTS = 2500

/** Nobody is shut out of what the page shows; deep runs look at it in both themes and three widths, and keep pictures. */
export async function inspect(page: Page, name: string): Promise<void> {
  await checkThemes(page)
  if (IS_DEEP) await shoot(page, name)
}
