import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import type { Locator, Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { eventually } from '../base/eventually.ts'
import { type ApisWorld, at, documentOf, field, save, saved } from './apis-world.ts'
import { settled } from './world.ts'

/** A section of the form of settings. */
export const section = (page: Page, name: string) =>
  page.getByRole('region', { name: new RegExp(`^${name}(?! TLS)`) }).first()

/** Opens a section where it is folded, and answers it. */
export async function unfolded(page: Page, name: string): Promise<Locator> {
  const control = page.getByRole('button', { name: new RegExp(`^${name}(?! TLS)`) })
  if ((await control.getAttribute('aria-expanded')) !== 'true') await control.click()
  const place = section(page, name)
  await place.waitFor()
  // While it unfolds, what is in it moves away from below the pointer.
  await settled(page)
  return place
}

/** Saves, and waits until it is done. */
export async function put(page: Page): Promise<void> {
  await save(page)
  await saved(page)
}

/** Saves what the dashboard refuses, and waits for its words at the field or thing that they are about. */
export async function refused(page: Page, place: Locator, words: RegExp): Promise<void> {
  await save(page)
  await place.getByText(words).first().waitFor()
}

/** Types words into a list of them. */
export async function list(place: Locator, name: string | RegExp, words: readonly string[]): Promise<void> {
  for (const word of words) {
    await field(place, name).fill(word)
    await field(place, name).press('Enter')
  }
}

/** Takes everything out of a list of words. */
export async function emptied(place: Locator, name: string | RegExp): Promise<void> {
  const whole = field(place, name).locator('xpath=ancestor::*[contains(@class, "mantine-TagsInput-root")]')
  const outs = whole.locator('.mantine-Pill-remove')
  for (let left = await outs.count(); left > 0; left--) await outs.first().click()
}

/** Opens the form of a new thing of a list, fills it in and adds it. */
export async function add(
  page: Page,
  place: Locator,
  verb: string,
  title: string,
  fill: (dialog: Locator) => Promise<unknown>,
): Promise<void> {
  await place.getByRole('button', { name: verb, exact: true }).click()
  await inDialog(page, title, 'Add', fill)
}

/** Opens the form of a thing by its name, changes it, and takes the change over. */
export async function change(
  page: Page,
  place: Locator,
  { name, title }: { readonly name: string | RegExp; readonly title: string },
  fill: (dialog: Locator) => Promise<unknown>,
): Promise<void> {
  await place.getByRole('row').getByRole('button', { name }).first().click()
  await inDialog(page, title, 'Apply', fill)
}

async function inDialog(page: Page, title: string, verb: string, fill: (dialog: Locator) => Promise<unknown>) {
  const dialog = page.getByRole('dialog', { name: title, exact: true })
  await dialog.waitFor()
  await fill(dialog)
  await dialog.getByRole('button', { name: verb, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Takes a thing out of its list. */
export const takeOut = (place: Locator, name: string) =>
  place.getByRole('button', { name: `Remove ${name}`, exact: true }).click()

/** The gateway's settings. */
export const toldOf = async (world: ApisWorld, id: string, ...names: readonly string[]) =>
  at(await documentOf(world, id), 'x-svc-api-gateway', ...names)

/** The states of an API's targets on the gateway. */
export async function targetStates(world: ApisWorld, id: string): Promise<Record<string, string>> {
  const { upstreams = [] } = (await world.product.svc('GET', '/svc/node')).json as {
    upstreams?: { api_id: string; targets: { target: string; state: string }[] }[]
  }
  const own = upstreams.find(({ api_id }) => api_id === id)?.targets ?? []
  return Object.fromEntries(own.map(({ target, state }) => [new URL(target).port, state]))
}

/** Waits until a request through the gateway is answered in a way. */
export async function through(
  world: ApisWorld,
  what: string,
  path: string,
  holds: (answer: Awaited<ReturnType<ApisWorld['through']>>) => boolean,
): Promise<void> {
  await eventually(what, async () => holds(await world.through(path)))
}

/** An origin over TLS; `seen` holds the fingerprint of the client certificate of each request, '' without one. */
export async function secureOrigin(
  t: TestContext,
  options: ServerOptions,
): Promise<{ readonly url: string; readonly seen: string[] }> {
  const seen: string[] = []
  const server = createServer({ requestCert: true, rejectUnauthorized: false, ...options }, (request, response) => {
    const { fingerprint256 = '' } = (request.socket as TLSSocket).getPeerCertificate()
    seen.push(fingerprint256.replaceAll(':', '').toLowerCase())
    response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** Makes a classic API open to everybody. Answers its id. */
export async function makeClassic(world: ApisWorld, name: string, path: string): Promise<string> {
  const definition = {
    ...{ name, active: true, use_keyless: true },
    proxy: { listen_path: path, target_url: world.origin.url, strip_listen_path: true },
  }
  const made = await world.api('POST', '/api/apis', { api_definition: definition })
  if (made.status !== 200) throw new Error(made.text)
  return String((made.json as JsonObject).ID)
}
