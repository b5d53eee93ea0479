import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { type Answer, call } from '../base/client.ts'
import { checkAccessible } from '../browser/chromium.ts'
import { type Product, startProduct } from '../flows/product.ts'

/** A user who signs in with a password. */
export interface Person {
  readonly email: string
  readonly password: string
  readonly firstName: string
}

/** A person who has an account, with the API credential of the same. */
export interface ConsoleUser extends Person {
  readonly id: string
  readonly key: string
}

/** The whole product with three kinds of people, for journeys through its pages. */
export interface ConsoleWorld {
  readonly product: Product
  /** Address of the dashboard, which serves the console. */
  readonly base: string
  /** Address of the gateway. */
  readonly gateway: string
  readonly admin: ConsoleUser
  /** May write APIs, policies, keys and clients; sees of them what it owns, or nobody does. */
  readonly owner: ConsoleUser
  /** May read everything and change nothing. */
  readonly reader: ConsoleUser
  /** A call of the dashboard's API, by the administrator unless another user is named. */
  api(method: string, path: string, body?: unknown, as?: ConsoleUser): Promise<Answer>
  /** A request through the gateway. */
  through(path: string, headers?: Record<string, string>): Promise<Answer>
}

export const PASSWORD = 'Correct-horse-7'
const ADMIN: Person = { email: 'ada@example.test', password: PASSWORD, firstName: 'Ada' }
const OWNER: Person = { email: 'olu@example.test', password: PASSWORD, firstName: 'Olu' }
const READER: Person = { email: 'rae@example.test', password: PASSWORD, firstName: 'Rae' }
const OWNER_MAY = { apis: 'write', policies: 'write', keys: 'write', oauth: 'write', analytics: 'read', log: 'read' }
const KINDS = [
  'apis',
  'policies',
  'keys',
  'oauth',
  'analytics',
  'log',
  'portal',
  'users',
  'user_groups',
  'idm',
  'certs',
]
const READER_MAY = Object.fromEntries([...KINDS, 'hooks', 'audit_logs', 'system'].map((name) => [name, 'read']))

/** A folder that goes with the test. */
export function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-console-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts the product in an empty folder, set up, with ownership on and its three kinds of people. */
export async function startConsole(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
  folder: string = folderFor(t),
): Promise<ConsoleWorld> {
  const product = await startProduct(t, folder, {
    SVC_GW_LISTENHOST: '127.0.0.1',
    SVC_DB_LISTENHOST: '127.0.0.1',
    SVC_DB_ENABLEOWNERSHIP: 'true',
    SVC_BOOTSTRAP_ORGANISATION: 'Acme',
    SVC_BOOTSTRAP_EMAIL: ADMIN.email,
    SVC_BOOTSTRAP_PASSWORD: ADMIN.password,
    ...env,
  })
  const { dashboardPort: port } = product
  const send = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
    call(port, path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const admin = await readUser(port, ADMIN)
  const make = async (person: Person, permissions: Readonly<Record<string, string>>): Promise<ConsoleUser> => {
    const body = {
      ...{ email_address: person.email, first_name: person.firstName, last_name: 'Test', active: true },
      ...{ password: person.password, user_permissions: permissions },
    }
    const made = await send('POST', '/api/users', body, { authorization: admin.key })
    assert.equal(made.status, 200, made.text)
    return readUser(port, person)
  }
  await send('PUT', `/api/users/${admin.id}`, { first_name: ADMIN.firstName }, { authorization: admin.key })
  return {
    product,
    base: `http://127.0.0.1:${port}`,
    gateway: `http://127.0.0.1:${product.port}`,
    admin,
    owner: await make(OWNER, OWNER_MAY),
    reader: await make(READER, READER_MAY),
    api: (method, path, body, as = admin) => send(method, path, body, { authorization: as.key }),
    through: (path, headers) => product.call(path, headers),
  }
}

/** Signs in once to find id and credential of a person. */
async function readUser(port: number, person: Person): Promise<ConsoleUser> {
  const { email, password } = person
  const login = await call(port, '/api/login', { method: 'POST', body: JSON.stringify({ email, password }) })
  assert.equal(login.status, 200, login.text)
  const cookie = String(login.headers['set-cookie']?.[0]).split(';')[0]!
  const me = (await call(port, '/api/users/me', { headers: { cookie } })).json as JsonObject
  return { ...person, id: String(me.id), key: String(me.access_key) }
}

/** Signs in through the page, at any address, and waits for the console. */
export async function signIn(page: Page, { email, password }: Person, path = '/'): Promise<void> {
  await page.goto(path)
  await page.getByLabel('Email address').fill(email)
  await passwordOf(page).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.locator('#content').waitFor()
}

/** The field of the password; its label ends with a star where it is needed. */
export function passwordOf(page: Page | Locator, label = 'Password'): Locator {
  return page.getByLabel(new RegExp(`^${label}(?: \\*)?$`))
}

const IS_DEEP = process.env.GATEHOUSE_DEEP === '1'

/** Nothing on the page may shut anybody out, in light and, in deep runs, in dark; leaves it light. */
export async function checkThemes(page: Page): Promise<void> {
  for (const colorScheme of IS_DEEP ? (['dark', 'light'] as const) : (['light'] as const)) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.waitForFunction((scheme) => document.documentElement.dataset.mantineColorScheme === scheme, colorScheme)
    await settled(page)
    await checkAccessible(page, colorScheme === 'light' ? 'all' : 'colours')
  }
}

/** The region of the home page that leads to the first request. */
export const firstSteps = (page: Page) => page.getByRole('region', { name: 'Get started' })

/** Waits until nothing on the page moves. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.getAnimations().every(({ playState, effect }) => {
      const isEndless = effect?.getComputedTiming().iterations === Number.POSITIVE_INFINITY
      return isEndless || playState !== 'running'
    }),
  )
}

const WIDTHS = [390, 820, 1280] as const
const KEEPS_PICTURES = process.env.GATEHOUSE_PICTURES === '1'
const SHOTS = join(import.meta.dirname, '../../../test-output/console')

/** Nothing of the page may reach over the edge of any of the three widths. With GATEHOUSE_PICTURES=1 a picture of each is kept. Leaves it wide. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (KEEPS_PICTURES) mkdirSync(SHOTS, { recursive: true })
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    await page.evaluate(() => window.scrollTo(0, 0))
    await settled(page)
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    assert.ok(over <= 0, `${page.url()} reaches ${over} px over the edge at ${width}`)
    if (KEEPS_PICTURES) await page.screenshot({ path: join(SHOTS, `${name}-${width}.png`), fullPage: true })
  }
}
