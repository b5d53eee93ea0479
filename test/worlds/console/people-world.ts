import type { TestContext } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call } from '../base/client.ts'
import { becomes } from '../base/eventually.ts'
import type { ConsoleWorld } from './world.ts'

/** Who is added, changed and deleted. */
export const EMAIL = 'new@example.test'

export interface People {
  readonly t: TestContext
  readonly world: ConsoleWorld
  readonly browser: Browser
  readonly page: Page
}

/** Who signs in with these now, by what the API says; undefined for nobody. */
export async function permissionsOf(
  world: ConsoleWorld,
  email: string,
  password: string,
): Promise<JsonObject | undefined> {
  const port = world.product.dashboardPort
  const login = await call(port, '/api/login', { method: 'POST', body: JSON.stringify({ email, password }) })
  if (login.status !== 200) return undefined
  const cookie = String(login.headers['set-cookie']?.[0]).split(';')[0]!
  const session = (await call(port, '/api/session', { headers: { cookie } })).json as { user: JsonObject }
  return session.user.permissions as JsonObject
}

/** A user as the API shows it. */
export async function found({ world }: People, email = EMAIL): Promise<JsonObject> {
  const { json } = await world.api('POST', '/api/users/search', { filters: { query: email } })
  return (json as { users: JsonObject[] }).users[0]!
}

/** A choice of the matrix; it is below its mark. */
export const right = (page: Page, permission: string, choice: string): Locator =>
  page.getByRole('radio', { name: `${permission}: ${choice}`, exact: true })

/** Sets all permissions to the same. */
export async function setAll(page: Page, choice: 'None' | 'Read' | 'Write'): Promise<void> {
  await page.getByRole('button', { name: choice, exact: true }).click()
  for (const permission of ['APIs', 'Keys', 'Users'])
    await becomes(() => right(page, permission, choice).isChecked(), true)
}
