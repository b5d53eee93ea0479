import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { fromDebian } from '../../../scripts/debian.mjs'
import { beforeServersStop } from '../base/ending.ts'
import { recordControls } from '../console/recorder.ts'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** Without these a browser without a network looks for its maker's servers at every start. */
const QUIET: readonly string[] = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
/** The arguments that the browser is started with. */
export const LAUNCH_ARGS = [...QUIET, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
/** For one change on a page: a busy machine is slow. */
const LONGEST_MS = 60_000
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The machine's browser, which ends with the test. Installed from Debian's packages where there is none and we may. */
export async function startBrowser(t: TestContext): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: await placeOfBrowser(), args: LAUNCH_ARGS })
  t.after(() => browser.close())
  return browser
}

/** Where the browser of the machine is. @throws Error that says what to install, where there is none */
export const placeOfBrowser = () => fromDebian('chromium', () => PLACES.find((path) => existsSync(path)))

/** A page, and everything that went wrong on it: it is checked when the test ends. */
export interface WatchedPage {
  readonly page: Page
  /** Errors of the page's console, failed requests, answers of 500 and above, requests to other hosts. */
  readonly troubles: string[]
}

/** Opens a page that notes what should not happen. `allow` names what this test brings about itself. */
export async function openPage(
  t: TestContext,
  browser: Browser,
  {
    base,
    allow = [],
    ...options
  }: BrowserContextOptions & { readonly base: string; readonly allow?: readonly RegExp[] },
): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL: base, locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
  context.setDefaultTimeout(LONGEST_MS)
  await recordControls(context)
  const page = await context.newPage()
  const troubles: string[] = []
  const note = (text: string) => {
    if (!allow.some((pattern) => pattern.test(text))) troubles.push(text)
  }
  const { origin } = new URL(base)
  page.on(
    'console',
    (message) => message.type() === 'error' && note(`console: ${message.text()} ${message.location().url}`),
  )
  page.on('pageerror', (error) => note(`page: ${error.message}`))
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? ''
    // a page that is closed drops its pending requests
    if (why !== 'net::ERR_ABORTED') note(`failed: ${request.method()} ${request.url()} ${why}`)
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (/^https?:$/.test(url.protocol) && url.origin !== origin) note(`elsewhere: ${request.url()}`)
  })
  // Requests that the page still makes would be refused by a server that is gone.
  beforeServersStop(t, () => context.close())
  t.after(async () => {
    await context.close()
    assert.deepEqual(troubles, [])
  })
  return { page, troubles }
}

/**
 * Looks for what people with disabilities could not use; the page must hold nothing of it. `colours`: only for what depends on the
 * theme, where the rest has been looked at.
 */
export async function checkAccessible(page: Page, what: 'all' | 'colours' = 'all'): Promise<void> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe)
  const options = { resultTypes: ['violations'], ...(what === 'colours' && { runOnly: ['color-contrast'] }) }
  const found = (await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`,
  )) as string[]
  assert.deepEqual(found, [], `${page.url()} can be used by everybody`)
}
