// node scripts/run.mjs scripts/pictures.ts: draws the pictures of the README from the real product, with the machine's Chromium.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBrowser } from '../test/worlds/browser/chromium.ts'
import { PASSWORD, signIn, startConsole } from '../test/worlds/console/world.ts'

const FOLDER = join(import.meta.dirname, '../docs/images')
const APIS = [
  { id: 'orders', name: 'Orders', requests: 160 },
  { id: 'payments', name: 'Payments', requests: 90 },
  { id: 'catalogue', name: 'Catalogue', requests: 240 },
  { id: 'weather', name: 'Weather', requests: 60 },
] as const

test('pictures of the console', async (t) => {
  const world = await startConsole(t)
  const { product, api, admin } = world
  const rights = Object.fromEntries(APIS.map(({ id }) => [id, { api_id: id, versions: ['Default'] }]))
  for (const { id, name } of APIS) {
    await api('POST', '/api/apis/oas', {
      ...{ openapi: '3.0.3', info: { title: name, version: '1' }, paths: {}, security: [{ key: [] }] },
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
      'x-svc-api-gateway': {
        info: { id, name, state: { active: true } },
        upstream: { url: `http://127.0.0.1:${product.port}/sample/` },
        server: {
          listenPath: { value: `/${id}/`, strip: true },
          authentication: { enabled: true, securitySchemes: { key: { enabled: true } } },
        },
        middleware: { global: { trafficLogs: { enabled: true } } },
      },
    })
  }
  const made = await api('POST', '/api/keys', { alias: 'Mobile app', access_rights: rights })
  const { key_id: key } = made.json as { key_id: string }
  for (const { id, requests } of APIS)
    for (let n = 0; n < requests; n++)
      await world.through(`/${id}/items/${n % 7}`, n % 23 === 0 ? {} : { authorization: key })

  const browser = await startBrowser(t)
  mkdirSync(FOLDER, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({
      ...{ baseURL: world.base, colorScheme, viewport: { width: 1280, height: 760 } },
      ...{ locale: 'en-GB', timezoneId: 'Europe/Berlin' },
    })
    await signIn(page, { ...admin, password: PASSWORD }, '/analytics')
    await page.getByText('Catalogue').first().waitFor({ timeout: 90_000 })
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: join(FOLDER, `console-${colorScheme}.png`), animations: 'disabled' })
    await page.close()
  }
})
