import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { LAUNCH_ARGS, placeOfBrowser } from '../test/worlds/browser/chromium.ts'
import { importApis } from './fill-gateway.ts'
import { startProduct } from './product.ts'
import { median, progress, show, table } from './report.ts'
import { sized } from './sizes.ts'

const APIS = sized(10_000, 200)
const TIMES = 10
/** Rows of a page of the list. */
const PAGE_ROWS = 10
const PAGE_TURNS = Math.min(20, APIS / PAGE_ROWS - 1)
/** A page that does not turn ends the bench. */
const TURN_WITHIN_MS = 10_000
const WANTED_MS = 1000
const ADMIN = { email: 'admin@bench.example', password: 'Correct-horse-7' }
const VIEW = { width: 1280, height: 900 }

/** The time of one page load until something on it can be used, in milliseconds, and the longest task of its thread in that time. */
interface PageLoad {
  readonly usableMs: number
  readonly longestMs: number
}

/**
 * How soon the console can be used from localhost, each time by a browser that has nothing of it yet, and how a list of many rows
 * turns its pages. The dashboard runs on one core, the browser with all its processes on the other. Answers its part of the report.
 */
export async function consoleLoads({ folder: root }: { readonly folder: string }): Promise<string> {
  const folder = join(root, 'gateway')
  mkdirSync(folder, { recursive: true })
  const env = {
    SVC_BOOTSTRAP_ORGANISATION: 'Bench',
    SVC_BOOTSTRAP_EMAIL: ADMIN.email,
    SVC_BOOTSTRAP_PASSWORD: ADMIN.password,
  }
  const product = await startProduct({ folder, env })
  const browser = await chromium.launch({ executablePath: await placeOfBrowser(), args: LAUNCH_ARGS })
  try {
    await importApis(product.dashboardUrl, APIS, 9)
    await product.started.settled()
    const base = product.dashboardUrl
    const storageState = await signedIn(browser, base)
    const signIn = await loads(browser, { baseURL: base }, async (page) => {
      await page.goto('/')
      await page.getByLabel('Email address').fill('a')
    })
    const home = await loads(browser, { baseURL: base, storageState }, async (page) => {
      await page.goto('/')
      await page.locator('#content').getByRole('heading', { level: 1 }).waitFor()
      await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'APIs', exact: true }).hover()
    })
    const list = await loads(browser, { baseURL: base, storageState }, async (page) => {
      await page.goto('/apis')
      await firstRow(page).waitFor()
    })
    const turns = await pageTurns(browser, { baseURL: base, storageState })
    return report({ signIn, home, list }, turns)
  } finally {
    await browser.close()
    await product.started.stop()
  }
}

type Opened = Parameters<Browser['newContext']>[0]

async function opened(browser: Browser, options: Opened): Promise<[BrowserContext, Page]> {
  const context = await browser.newContext({ ...options, viewport: VIEW })
  await context.addInitScript(() => {
    const note = (list: PerformanceObserverEntryList) => {
      for (const { duration } of list.getEntries())
        Reflect.set(window, 'longestTask', Math.max(duration, Number(Reflect.get(window, 'longestTask') ?? 0)))
    }
    new PerformanceObserver(note).observe({ type: 'longtask', buffered: true })
  })
  return [context, await context.newPage()]
}

const firstRow = (page: Page) => page.getByRole('table').getByRole('row').nth(1)
const longestTask = (page: Page) => page.evaluate(() => Number(Reflect.get(window, 'longestTask') ?? 0))

async function signedIn(browser: Browser, base: string) {
  const [context, page] = await opened(browser, { baseURL: base })
  await page.goto('/')
  await page.getByLabel('Email address').fill(ADMIN.email)
  await page.getByLabel(/^Password/).fill(ADMIN.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.locator('#content').waitFor()
  const state = await context.storageState()
  await context.close()
  return state
}

/** Loads a page again and again, each time with nothing of it in a cache, until `use` has used it. */
async function loads(browser: Browser, options: Opened, use: (page: Page) => Promise<void>): Promise<PageLoad[]> {
  const found: PageLoad[] = []
  for (let i = 0; i <= TIMES; i++) {
    const [context, page] = await opened(browser, options)
    await use(page)
    const usableMs = await page.evaluate(() => performance.now())
    // The first warms the dashboard up.
    if (i > 0) found.push({ usableMs, longestMs: await longestTask(page) })
    await context.close()
  }
  return found
}

/** Turns the pages of the list, and waits for the new rows each time; milliseconds from click to row, and the longest task. */
async function pageTurns(browser: Browser, options: Opened): Promise<{ turnMs: number[]; longestMs: number }> {
  const [context, page] = await opened(browser, options)
  await page.goto('/apis')
  await firstRow(page).waitFor()
  await page.evaluate(() => Reflect.set(window, 'longestTask', 0))
  const turnMs: number[] = []
  for (let i = 0; i < PAGE_TURNS; i++) {
    turnMs.push(
      await page.evaluate(async (withinMs) => {
        const row = () => document.querySelector('#content table tbody tr')?.textContent
        const before = row()
        const from = performance.now()
        document.querySelector<HTMLElement>('[aria-label="Next page"]')!.click()
        while (row() === before || row() === undefined) {
          if (performance.now() - from > withinMs) throw new Error('the list does not turn its page')
          await new Promise((done) => requestAnimationFrame(done))
        }
        return performance.now() - from
      }, TURN_WITHIN_MS),
    )
  }
  const longestMs = await longestTask(page)
  await context.close()
  return { turnMs, longestMs }
}

function report(
  { signIn, home, list }: Readonly<Record<'signIn' | 'home' | 'list', readonly PageLoad[]>>,
  { turnMs, longestMs }: { readonly turnMs: readonly number[]; readonly longestMs: number },
): string {
  const row = (name: string, times: readonly PageLoad[], wanted: string) => {
    const usable = times.map(({ usableMs }) => usableMs)
    progress(`${name}: ${usable.map((ms) => show(ms)).join(', ')} ms`)
    const longest = Math.max(...times.map((one) => one.longestMs))
    return [name, show(median(usable)), show(Math.max(...usable)), wanted, show(longest)]
  }
  const rows = [
    row('sign-in page, until its field takes what is typed', signIn, show(WANTED_MS)),
    row('home, signed in, until its menu can be used', home, show(WANTED_MS)),
    row(`list of ${show(APIS)} APIs, until its rows stand there`, list, ''),
    ['next page of that list', show(median(turnMs)), show(Math.max(...turnMs)), '', show(longestMs)],
  ]
  return `## The console

Chromium on one core, gateway and dashboard on the other, over localhost; ${TIMES} loads each with empty caches, ${PAGE_TURNS} turns of the page. In milliseconds.

${table(['', 'median', 'slowest', 'wanted below', 'longest task'], rows)}`
}
