import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call } from '../base/client.ts'
import { becomes } from '../base/eventually.ts'
import { type ApisWorld, dismissed, IS_DEEP, makeApi, startApis } from './apis-world.ts'
import { copied } from './clipboard.ts'
import { shoot as shootWidths } from './world.ts'

/** An API that takes keys, an API that takes tokens, policies for both, and nobody yet who uses them. */
export interface PortalWorld extends ApisWorld {
  /** A call of the administrator that must be answered with 200. */
  done(method: string, path: string, body?: unknown): Promise<JsonObject>
  /** The gateway's answer to a key. */
  withKey(key: string): Promise<number>
  /** The gateway's answer to a token. */
  withToken(token: string): Promise<number>
  /** A token for an app, or '' when it gets none. */
  token(clientId: string, secret: string): Promise<string>
}

export async function startPortal(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<PortalWorld> {
  const world = await startApis(t, env)
  const done: PortalWorld['done'] = async (method, path, body) => {
    const answer = await world.api(method, path, body)
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`)
    return answer.json as JsonObject
  }
  const orders = await makeApi(world, 'Orders', '/orders/', 'token')
  const ledger = await makeApi(world, 'Ledger', '/ledger/', 'oauth')
  for (const [id, apiId, quota] of [
    ['gold', orders, 100],
    ['silver', orders, -1],
    ['apps', ledger, -1],
  ] as const)
    await done('POST', '/api/portal/policies', {
      ...{ id, name: NAMES[id], active: true, rate: 1000, per: 1, quota_max: quota, quota_renewal_rate: 3600 },
      access_rights: { [apiId]: { api_id: apiId, api_name: apiId, versions: ['Default'], allowed_urls: [] } },
    })
  return {
    ...world,
    done,
    withKey: async (key) => (await world.through('/orders/', { 'x-key': key })).status,
    withToken: async (token) => (await world.through('/ledger/', { authorization: `Bearer ${token}` })).status,
    async token(clientId, secret) {
      const answer = await call(world.product.port, '/ledger/oauth/token', {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'grant_type=client_credentials',
      })
      return answer.status === 200 ? String((answer.json as JsonObject).access_token) : ''
    },
  }
}

/** The policies by their ids. */
export const NAMES = { gold: 'Gold <i>&</i> ذهب 🥇', silver: 'Silver', apps: 'Ledger apps' } as const

export const DEVELOPERS = '/api/portal/developers'
/** Who develops in the journeys. */
export const EMAIL = 'dev@partner.example'

/** The record of a developer as the API shows it. */
export async function recordOf({ done }: PortalWorld, email = EMAIL): Promise<JsonObject> {
  return done('GET', `${DEVELOPERS}/email/${encodeURIComponent(email)}`)
}

/** Keys of a developer as the API shows them, the newest first of each line of successors. */
export async function keysOf(world: PortalWorld): Promise<JsonObject[]> {
  const { id } = await recordOf(world)
  return (await world.done('GET', `${DEVELOPERS}/${id}/keys?p=-1`)).Data as JsonObject[]
}

/** Opens the menu of a row and chooses from it. */
export async function fromMenu(page: Page, menu: string | RegExp, item: string): Promise<void> {
  await page.getByRole('button', { name: menu }).click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}

/** Chooses from a list that closes with the choice. */
export async function pickOption(page: Page, field: Locator, option: string): Promise<void> {
  await field.click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

/** Searches a field of several choices, takes one of what is found, and closes its list. */
export async function addChoice(page: Page, field: Locator, option: string): Promise<void> {
  await field.fill(option.slice(0, 4))
  await page.getByRole('option', { name: option, exact: true }).click()
  await field.press('Escape')
}

/** Types the requested name, and nothing before it, and continues. */
export async function confirm(page: Page, name: string, verb: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  const button = dialog.getByRole('button', { name: verb, exact: true })
  await dialog.getByRole('textbox').fill(`${name}?`)
  await becomes(() => button.isDisabled(), true, 'another name does nothing')
  await dialog.getByRole('textbox').fill(name)
  await button.click()
  await dialog.waitFor({ state: 'detached' })
}

/** The secrets that a dialog shows once, in its order, as they are copied; checks that it says so. */
export async function takeSecrets(page: Page, title: string): Promise<string[]> {
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.waitFor()
  const secrets: string[] = []
  for (const shown of await dialog.locator('pre').all()) {
    secrets.push(await copied(page, shown.locator('xpath=..').getByRole('button')))
    assert.equal(secrets.at(-1), await shown.innerText())
  }
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await dialog.waitFor({ state: 'detached' })
  return secrets
}

/** Waits until the page says that something is done, and closes the message so that the next one can be recognised. */
export async function told(page: Page, text = 'Saved'): Promise<void> {
  const note = page.getByRole('alert').filter({ has: page.getByText(text, { exact: true }) })
  await dismissed(note)
}

/** Looks at the page in all widths, in deep runs: the others go one way, at one width. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (IS_DEEP) await shootWidths(page, name)
}
