import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import Provider from 'oidc-provider'
import type { Browser, Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call } from '../base/client.ts'
import { ODD_NAME } from './apis-world.ts'
import { type ConsoleWorld, passwordOf } from './world.ts'

export const SECRET = 'the-admin-secret-of-this-test'
export const CLIENT_SECRET = 'secret of the client at the provider'
export const NAME = `Acme & Co ${ODD_NAME}`

/** A dashboard, and a provider at which people sign in. */
export interface World {
  readonly t: TestContext
  readonly world: ConsoleWorld
  readonly browser: Browser
  readonly page: Page
  readonly issuer: string
}

/** A real OpenID provider, at which everybody is who they say. */
export async function startOpenId(t: TestContext, callback: string): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'gatehouse', client_secret: CLIENT_SECRET, redirect_uris: [callback] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    cookies: { keys: ['a key of the provider'] },
    ttl: { Session: 600, Grant: 600, Interaction: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: `${id}@example.test`,
        email_verified: true,
        name: 'Io Elsewhere',
        groups: 'night;ops',
      }),
    }),
  })
  server.on('request', provider.callback())
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return issuer
}

/** Turns single sign-on of the organisation on or off, as the operator of the installation. */
export async function allowSso(world: ConsoleWorld, sso_enabled: boolean): Promise<void> {
  const { id } = (await world.api('GET', '/api/org')).json as JsonObject
  const send = (method: string, body?: JsonObject) =>
    call(world.product.dashboardPort, `/admin/organisations/${id}`, {
      method,
      headers: { 'admin-auth': SECRET },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const stored = (await send('GET')).json as JsonObject
  assert.equal((await send('PUT', { ...stored, sso_enabled })).status, 200)
}

/** The provider's pages ask another host for a font: they are to do without. */
export async function withoutFonts(page: Page): Promise<void> {
  const fonts = 'https://fonts.googleapis.com/**'
  await page.context().route(fonts, (route) => route.fulfill({ contentType: 'text/css', body: '' }))
}

/** Signs a user in at the provider, and consents. */
export async function signInThere(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login)
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  const consent = page.locator('input[name=prompt][value=consent]')
  await consent.or(page.locator('#content')).first().waitFor({ state: 'attached' })
  if ((await consent.count()) > 0) await page.locator('button[type=submit]').click()
}

/** Fills the fields of a form by their labels. */
export async function fillAll(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await passwordOf(page, label).fill(value)
}

/** A profile as it is stored. */
export async function profileOf({ world }: World, id: string): Promise<JsonObject> {
  return ((await world.api('GET', `/api/tib/profiles/${id}`)).json as { Data: JsonObject }).Data
}
