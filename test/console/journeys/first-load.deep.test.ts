import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { AREAS } from '../../../console/src/texts/areas.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import { makeApi, startApis } from '../../worlds/console/apis-world.ts'
import { settled, signIn, startConsole } from '../../worlds/console/world.ts'

const MOST_SIGN_IN_BYTES = 150_000
const MOST_SIGN_IN_FILES = 8
const MOST_API_BYTES = 300_000

/** The scripts that a page loads from now on, by their names, and the compressed bytes of each. */
function scriptsOf(page: Page): ReadonlyMap<string, number> {
  const scripts = new Map<string, number>()
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (!pathname.endsWith('.js')) return
    const { 'content-encoding': encoding, 'content-length': length } = response.headers()
    assert.equal(encoding, 'br', pathname)
    scripts.set(pathname, Number(length))
  })
  return scripts
}

const bytesOf = (scripts: ReadonlyMap<string, number>) => [...scripts.values()].reduce((sum, bytes) => sum + bytes, 0)

test('the sign-in needs few scripts, and the page of an API no editor and no texts of others', async (t) => {
  const [world, browser] = await Promise.all([startApis(t), startBrowser(t)])
  const id = await makeApi(world, 'Pets', '/pets/')
  const { page } = await openPage(t, browser, { base: world.base, allow: [/401/] })
  const first = scriptsOf(page)
  await page.goto('/apis')
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  await page.waitForLoadState('networkidle')
  t.diagnostic(`before the sign-in: ${bytesOf(first)} bytes in ${first.size} files, brotli`)
  assert.ok(first.size <= MOST_SIGN_IN_FILES, [...first.keys()].join())
  assert.ok(bytesOf(first) < MOST_SIGN_IN_BYTES, `${bytesOf(first)}`)
  await signIn(page, world.admin, `/apis/${id}`)
  await page.getByRole('heading', { name: 'Pets', level: 1 }).waitFor()
  await page.getByRole('textbox', { name: 'Name' }).first().waitFor()
  await page.waitForLoadState('networkidle')
  t.diagnostic(`page of an API, the sign-in included: ${bytesOf(first)} bytes in ${first.size} files, brotli`)
  const largest = [...first].sort(([, a], [, b]) => b - a).slice(0, 12)
  assert.ok(bytesOf(first) < MOST_API_BYTES, `${bytesOf(first)}: ${largest.join(' ')}`)
  const before = new Set(first.keys())
  await page.getByRole('radiogroup', { name: 'View' }).getByText('Text', { exact: true }).click()
  await page.getByRole('textbox', { name: 'OpenAPI document with gateway settings' }).waitFor()
  assert.ok(
    [...first.keys()].some((name) => !before.has(name)),
    'the editor is loaded when it is opened',
  )
})

/** Pages and tabs, each opened by its address: nothing but its own modules brings its texts. */
const POLICY = { name: 'Pets', active: true, state: 'active', rate: 5, per: 1, quota_max: -1 }
const pathsOf = (api: string, policy: string) => [
  ...['/', '/apis', '/apis/new', '/apis/new?from=openapi', '/policies', '/policies/new', `/policies/${policy}`],
  ...['/keys', '/keys/new', '/users', '/users/new', '/groups', '/groups/new', '/identity', '/identity/new'],
  ...['/organisations', '/audit', '/nodes', '/webhooks', '/certificates', '/signing-keys', '/developers'],
  ...['/developers/new', '/key-requests', '/catalogue', '/portal-settings', '/analytics', '/requests', '/profile'],
  ...['/settings', '/labels', ...TABS.map((name) => `/apis/${api}?tab=${name}`)],
]
const TABS = [
  ...['settings', 'authentication', 'try', 'traffic', 'keys', 'clients', 'versions', 'owners', 'labels'],
  ...['webhooks', 'nodes', 'danger'],
]
/** A text that no module brought is shown by its name. */
const NAMES = Object.keys(AREAS)

test('no page shows the name of a text in place of the text', async (t) => {
  const world = await startApis(t)
  const api = await makeApi(world, 'Pets', '/pets/', 'oauth')
  const made = await world.api('POST', '/api/portal/policies', { ...POLICY, access_rights: { [api]: { api_id: api } } })
  const policy = String((made.json as { Message?: string }).Message)
  const page = await world.open(world.admin, '/')
  for (const path of pathsOf(api, policy)) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.waitForLoadState('networkidle')
    const html = await page.locator('body').innerHTML()
    assert.deepEqual(
      NAMES.filter((name) => html.includes(`>${name}<`) || html.includes(`"${name}"`)),
      [],
      path,
    )
  }
})

test('before the first script has run the page shows its frame', async (t) => {
  const [world, browser] = await Promise.all([startConsole(t), startBrowser(t)])
  const { page } = await openPage(t, browser, { base: world.base, allow: [/failed: GET .*\.js/, /console: /] })
  await page.route('**/*.js', (route) => route.abort())
  await page.goto('/apis')
  await page.getByText('Gatehouse').waitFor()
})

const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: element } = document
    return element instanceof HTMLInputElement ? `field ${element.labels?.[0]?.textContent}` : element?.textContent
  })

test('a navigation moves the focus to the heading, and a new form to its first field', async (t) => {
  const world = await startApis(t)
  await makeApi(world, 'Pets', '/pets/', 'token')
  const page = await world.open(world.admin, '/')
  const menu = page.getByRole('navigation', { name: 'Menu' })
  for (const name of ['APIs', 'Policies', 'Keys', 'Requests', 'Users', 'Audit log', 'Nodes', 'Webhooks', 'Settings']) {
    await menu.getByRole('link', { name, exact: true }).click()
    const heading = page.getByRole('heading', { level: 1 })
    await eventually(`the focus is on the heading of ${name}`, async () => {
      const text = await focused(page)
      return text !== undefined && text !== '' && text === (await heading.textContent())
    })
  }
  for (const [path, name] of [
    ['/policies', 'Create policy'],
    ['/users', 'Add user'],
    ['/groups', 'Create group'],
    ['/keys', 'Create key'],
  ] as const) {
    await page.goto(path)
    const role = { name, exact: true }
    await page.getByRole('link', role).or(page.getByRole('button', role)).first().click()
    await page.waitForURL(`**${path}/new`)
    await eventually(`the focus is in a field of ${path}/new`, async () =>
      String(await focused(page)).startsWith('field '),
    )
  }
  await page.goBack()
  await becomes(
    async () => (await focused(page)) === (await page.getByRole('heading', { level: 1 }).textContent()),
    true,
  )
})

/** A control, and how it comes into its other state. */
interface Control {
  readonly path: string
  readonly what: string
  /** The part that shows the state, by a selector of CSS. */
  readonly shown: string
  /** The part that is clicked. */
  readonly clicked: string
}

const CONTROLS: readonly Control[] = [
  { path: '/requests', what: 'switch', shown: '.mantine-Switch-track', clicked: '.mantine-Switch-track' },
  {
    path: '/requests',
    what: 'segment',
    shown: '.mantine-SegmentedControl-control:has([value=live])',
    clicked: '.mantine-SegmentedControl-control:has([value=live])',
  },
  {
    path: '/analytics?by=key',
    what: 'tab',
    shown: '[role=tab]:has-text("Status")',
    clicked: '[role=tab]:has-text("Status")',
  },
]

test('in a contrast theme every control shows what is on and what is chosen', async (t) => {
  const world = await startApis(t)
  const page = await world.open(world.admin, '/')
  await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
  for (const { path, what, shown, clicked } of CONTROLS) {
    await page.goto(path)
    const part = page.locator(shown).first()
    await part.waitFor()
    const picture = async () => {
      await page.mouse.move(0, 0)
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
      await settled(page)
      return (await part.screenshot()).toString('base64')
    }
    const before = await picture()
    await page.locator(clicked).first().click()
    await eventually(`the ${what} of ${path} looks different`, async () => (await picture()) !== before)
  }
})
