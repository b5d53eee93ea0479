import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { compact, es, signer } from '../gateway/jwt-fixtures.ts'
import { type Certificate, makeCertificate } from '../wire/certificates.ts'
import {
  type ApisWorld,
  answers,
  at,
  choose,
  documentOf,
  field,
  flip,
  heading,
  idIn,
  inspect,
  save,
  saved,
  startApis,
  tab,
} from './apis-world.ts'
import { folderFor } from './world.ts'

export const ANN = makeCertificate('ann')
export const BOB = makeCertificate('bob')
export const ISSUER = signer('ES256', 'k1')

export const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
export const method = (page: Page) => page.getByRole('combobox', { name: /^Authentication/ })
export const named = (page: Page, name: RegExp) => page.getByRole('combobox', { name })

export async function put(page: Page): Promise<void> {
  await save(page)
  await saved(page)
}

/** The product with TLS on a separate port, and a service that serves a key set. */
export async function startWays(t: TestContext): Promise<ApisWorld> {
  const folder = folderFor(t)
  const server = makeCertificate('gateway.example')
  writeFileSync(join(folder, 'cert.pem'), server.cert)
  writeFileSync(join(folder, 'key.pem'), server.key)
  const world = await startApis(t, {
    SVC_WEBHOOKS_ALLOWPRIVATE: 'true',
    SVC_GW_TLS_ENABLED: 'true',
    SVC_GW_TLS_LISTENPORT: '0',
    SVC_GW_TLS_CERTFILE: join(folder, 'cert.pem'),
    SVC_GW_TLS_KEYFILE: join(folder, 'key.pem'),
  })
  world.origin.script = ({ target }, response) =>
    response.end(target === '/keys.json' ? JSON.stringify({ keys: [ISSUER.jwk] }) : target)
  return world
}

/** Adds an API by the short form. Answers its id, on its page. */
export async function addApi(world: ApisWorld, page: Page, name: string, way: string | RegExp): Promise<string> {
  await page.goto('/apis/new')
  await page.getByLabel(/^Name/).fill(name)
  await page.getByLabel(/^Upstream URL/).fill(world.origin.url)
  await choose(page, named(page, /^Authentication/), way)
  await page.getByRole('button', { name: 'Create API' }).click()
  await saved(page, 'API created')
  await heading(page, name).waitFor()
  await tab(page, 'Authentication')
  await method(page).waitFor()
  return idIn(page)
}

/** The authentication settings of the gateway. */
export const told = async (world: ApisWorld, id: string, ...names: readonly string[]) =>
  at(await documentOf(world, id), 'x-svc-api-gateway', 'server', 'authentication', ...names)

export const rightsOn = (id: string) => ({ [id]: { api_id: id, api_name: id, versions: ['Default'] } })

/** A policy with rights on an API. Answers its id. */
export async function makePolicy(world: ApisWorld, name: string, apiId: string): Promise<string> {
  const body = { name, active: true, rate: 100, per: 1, quota_max: -1, access_rights: rightsOn(apiId) }
  const made = await world.api('POST', '/api/portal/policies', { id: name.toLowerCase(), ...body })
  assert.equal(made.status, 200, made.text)
  return name.toLowerCase()
}

/** The secrets that a dialog shows once, in their order. */
export async function shownOnce(page: Page, title: string): Promise<string[]> {
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.locator('pre').first().waitFor()
  const shown = await dialog.locator('pre').allInnerTexts()
  await inspect(page, `auth-${title.toLowerCase().replaceAll(' ', '-')}`)
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await dialog.waitFor({ state: 'detached' })
  return shown
}

/** A token that is good now. */
export const payload = (more: JsonObject = {}): JsonObject => {
  const now = Math.floor(Date.now() / 1000)
  return { sub: 'ann', iss: 'us', aud: 'tokens', iat: now, exp: now + 600, ...more }
}
export const signed = (more: JsonObject = {}) =>
  compact({ alg: 'ES256', kid: 'k1' }, payload(more), es(ISSUER.privateKey))
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A request that is signed as draft-cavage-http-signatures-12 has it. */
export function cavage(path: string, keyId: string, secret: string, digest = 'sha256'): Record<string, string> {
  const date = new Date().toUTCString()
  const text = `(request-target): get ${path}\ndate: ${date}`
  const signature = createHmac(digest, secret).update(text).digest('base64')
  const words = `keyId="${keyId}",algorithm="hmac-${digest}",headers="(request-target) date",signature="${signature}"`
  return { date, authorization: `Signature ${words}` }
}

/** The same as an HTTP message signature (RFC 9421). */
export function messageSigned(path: string, keyId: string, secret: string): Record<string, string> {
  const input = `("@method" "@request-target");created=${Math.floor(Date.now() / 1000)};keyid="${keyId}"`
  const text = `"@method": GET\n"@request-target": ${path}\n"@signature-params": ${input}`
  const signature = createHmac('sha256', secret).update(text).digest('base64')
  return { 'signature-input': `sig=${input}`, signature: `sig=:${signature}:` }
}

/** The gateway's response over TLS, to a client with this certificate. */
export function overTls(world: ApisWorld, path: string, client?: Certificate): Promise<number> {
  const port = Number(/tls +https:\/\/127\.0\.0\.1:(\d+)/.exec(world.product.output())?.[1])
  const own = client === undefined ? {} : { cert: client.cert, key: client.key }
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false, ...own },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}

/** Has a credential read in the query and in a cookie for a while, and asks at both. It is in the header of this name before and after. */
export async function moveAbout(
  world: ApisWorld,
  page: Page,
  way: string,
  { path, header, proof }: { readonly path: string; readonly header: string; readonly proof: string },
): Promise<void> {
  const form = part(page, way)
  await flip(form, 'Header')
  await flip(form, 'Query parameter')
  await field(form, /^Parameter name/).fill('proof')
  await flip(form, 'Cookie')
  await field(form, /^Cookie name/).fill('proof')
  await put(page)
  if (proof !== '') {
    await answers(world, 401, path, { [header]: proof })
    await answers(world, 200, `${path}?proof=${encodeURIComponent(proof)}`)
    await answers(world, 200, path, { cookie: `proof=${proof}` })
  }
  await flip(form, 'Query parameter')
  await flip(form, 'Cookie')
  await flip(form, 'Header')
  await field(form, /^Header name/).fill(header)
  await put(page)
  if (proof !== '') await answers(world, 200, path, { [header]: proof })
}
