// node scripts/run.mjs scripts/pictures.ts: draws the pictures of the README from the real product, with the machine's Chromium.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBrowser } from '../test/worlds/browser/chromium.ts'
import { PASSWORD, signIn, startConsole } from '../test/worlds/console/world.ts'

const FOLDER = join(import.meta.dirname, '../docs/images')
const NAMES = ['Orders', 'Payments', 'Catalogue', 'Weather'] as const

test('pictures of the console', async (t) => {
  const world = await startConsole(t)
  const { product, api, admin } = world
  for (const name of NAMES) {
    const id = name.toLowerCase()
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
  const browser = await startBrowser(t)
  mkdirSync(FOLDER, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({
      ...{ baseURL: world.base, colorScheme, viewport: { width: 1280, height: 760 } },
      ...{ locale: 'en-GB', timezoneId: 'Europe/Berlin' },
    })
    await signIn(page, { ...admin, password: PASSWORD }, '/apis/orders?view=both')
    await page.getByRole('heading', { name: 'General' }).waitFor()
    await page.waitForLoadState('networkidle')
    await page.mouse.move(0, 0)
    await page.screenshot({ path: join(FOLDER, `console-${colorScheme}.png`), animations: 'disabled' })
    await page.close()
  }
})
