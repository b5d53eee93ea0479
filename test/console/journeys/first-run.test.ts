import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import {
  checkThemes,
  folderFor,
  PASSWORD,
  passwordOf,
  shoot,
  signIn,
  startConsole,
  firstSteps as steps,
} from '../../worlds/console/world.ts'
import { startProduct } from '../../worlds/flows/product.ts'

const LINK = /http:\/\/127\.0\.0\.1:\d+(\/bootstrap#token=[\w-]{43})\s/

/** Runs a command as if pasted into a shell. */
async function paste(command: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-c', command], { timeout: 20_000 })).stdout
}

async function firstStart(t: TestContext) {
  const product = await startProduct(t, folderFor(t), {
    SVC_GW_LISTENHOST: '127.0.0.1',
    SVC_DB_LISTENHOST: '127.0.0.1',
  })
  await eventually('the set-up link is printed', () => LINK.test(product.output()))
  const { page } = await openPage(t, await startBrowser(t), { base: `http://127.0.0.1:${product.dashboardPort}` })
  return { product, page, link: LINK.exec(product.output())![1]! }
}

/** Follows a link of a step, looks where it leads, and comes back. */
async function lookAt(page: Page, link: string, to: string): Promise<void> {
  await steps(page).getByRole('link', { name: link }).click()
  await page.getByRole('heading', { name: to, level: 1 }).waitFor()
  await page.goBack()
}
const ticked = (page: Page, title: string) => page.getByText(`${title} (done)`, { exact: true })

test('the printed commands lead from the set-up link to the first request through the gateway', async (t) => {
  const { page, link } = await firstStart(t)
  await page.goto(link)
  await page.getByRole('button', { name: 'Set up and sign in' }).click()
  await becomes(() => page.getByText('Required', { exact: true }).count(), 3, 'what is missing is said at its place')
  await page.getByLabel('Organisation').fill('Acme <b>&</b> Søhne')
  await page.getByLabel('First name').fill('Ada')
  await page.getByLabel('Last name').fill('Lovelace')
  await page.getByLabel('Email address').fill('ada@example.test')
  await passwordOf(page).fill(PASSWORD)
  await checkThemes(page)
  await shoot(page, 'set-up')
  await page.getByRole('button', { name: 'Set up and sign in' }).click()

  await page.getByRole('heading', { name: 'Welcome, Ada' }).waitFor()
  await becomes(() => new URL(page.url()).hash, '', 'the token is in no history')
  await page.getByText('Acme <b>&</b> Søhne').first().waitFor()
  await checkThemes(page)
  await shoot(page, 'home-new')

  await lookAt(page, 'Create API', 'Create API')
  const commands = steps(page).locator('pre')
  await steps(page).getByRole('button', { name: 'Or with curl' }).click()
  assert.match(await paste(await commands.first().innerText()), /API created/)
  await ticked(page, 'Create an API').waitFor()
  await lookAt(page, 'Choose its access', 'Create key')
  await steps(page).getByRole('button', { name: 'Or with curl' }).click()
  assert.match(await paste(await commands.first().innerText()), /key_hash/)
  await ticked(page, 'Create a key or a client').waitFor()
  await checkThemes(page)
  await shoot(page, 'home-third-step')
  const call = await commands.last().innerText()
  await eventually('the gateway serves it', async () => /^HTTP\/1\.1 200/.test(await paste(call)))

  await page.getByRole('heading', { name: 'You are ready' }).waitFor()
  await page.getByRole('region', { name: 'Last 24 hours' }).getByText('none yesterday').waitFor()
  await checkThemes(page)
  await shoot(page, 'home-ready')
  await page.getByRole('button', { name: 'Hide' }).click()
  await page.getByRole('heading', { name: 'You are ready' }).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('heading', { name: 'Last 24 hours' }).waitFor()
  await becomes(() => page.getByRole('heading', { name: 'You are ready' }).count(), 0)

  await page.goto('/bootstrap#token=used')
  await page.reload()
  await page.getByText('This installation is already set up').waitFor()
  await checkThemes(page)
  await shoot(page, 'set-up-closed')
  await page.getByRole('link', { name: 'Go to sign-in' }).click()
  await page.getByRole('button', { name: 'Signed in as Ada Lovelace' }).waitFor()
})

test('a new key is shown once, works, and is in the command of the next step', async (t) => {
  const world = await startConsole(t)
  const { page } = await openPage(t, await startBrowser(t), { base: world.base })
  const extension = {
    info: { name: "Ada's orders", state: { active: true } },
    upstream: { url: `${world.base}/hello` },
    server: {
      listenPath: { value: '/orders/', strip: true },
      authentication: { enabled: true, securitySchemes: { key: { enabled: true } } },
    },
    middleware: { global: { trafficLogs: { enabled: true } } },
  }
  const made = await world.api('POST', '/api/apis/oas', {
    ...{ openapi: '3.0.3', info: { title: "Ada's orders", version: '1' }, paths: {} },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
    security: [{ key: [] }],
    'x-svc-api-gateway': extension,
  })
  assert.equal(made.status, 200, made.text)
  await signIn(page, world.admin)
  await page.getByRole('button', { name: 'Create key now' }).click()
  const dialog = page.getByRole('dialog')
  const key = await dialog.locator('pre').innerText()
  await checkThemes(page)
  await shoot(page, 'first-key')
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await dialog.waitFor({ state: 'detached' })
  const command = await steps(page).locator('pre').last().innerText()
  assert.ok(command.includes(`X-Key: ${key}`), command)
  const call = () => world.through('/orders/', { 'x-key': key })
  await eventually('the gateway takes the key', async () => (await call()).status === 200)
  await page.getByRole('heading', { name: 'You are ready' }).waitFor()
})
