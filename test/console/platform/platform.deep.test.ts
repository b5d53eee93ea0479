import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import { confirmDelete, ODD_NAME, saved } from '../../worlds/console/apis-world.ts'
import {
  API,
  arrived,
  giveUp,
  makeBells,
  openBar,
  type Platform,
  pick,
  SETTINGS,
  startPlatform,
} from '../../worlds/console/platform-world.ts'
import { checkThemes, folderFor, shoot, signIn, startConsole } from '../../worlds/console/world.ts'
import { startProduct } from '../../worlds/flows/product.ts'
import { oauthApi } from '../../worlds/gateway/oauth-fixtures.ts'
import { startReceiver } from '../../worlds/oauth/receiver.ts'
import { expired, selfSigned } from '../../worlds/wire/engine-certificate.ts'

const words = (page: Page) => new URL(page.url()).searchParams
const DAY_MS = 86_400_000
const REFUSED = [/status of 40[01349]/]

async function undoes(world: Platform): Promise<void> {
  const read = async () => (await world.api('GET', API)).json as { api_definition: JsonObject }
  const { api_definition: api } = await read()
  const off = await world.api('PUT', API, { api_definition: { ...api, active: false } })
  assert.equal(off.status, 200, off.text)
  const status = async () => (await world.through('/bells/ring')).status
  await eventually('it is switched off', async () => (await status()) === 404)

  const page = await world.open(world.admin, '/audit', REFUSED)
  await page.getByRole('link', { name: 'api.update' }).first().waitFor()
  await checkThemes(page)
  await shoot(page, 'audit')
  await page.getByRole('link', { name: 'Sign in', exact: true }).first().click()
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Next page' }).click()
  await eventually('the page stands in the address', () => words(page).get('p') === '2')
  await page.getByRole('button', { name: '1', exact: true }).click()
  await page.getByLabel('User').fill(world.admin.email)
  await page.getByLabel('Action').fill('api.update')
  await eventually(
    'it stands in the address',
    () => words(page).get('action') === 'api.update' && words(page).get('user') !== null,
  )
  await pick(page, page.getByRole('combobox', { name: 'Method' }), 'PUT')
  // Midnight may come meanwhile.
  const day = (later: number) => new Date(Date.now() + later * DAY_MS).toISOString().slice(0, 10)
  await page.getByLabel('From').fill(day(-1))
  await page.getByLabel('To', { exact: true }).fill(day(1))
  await page.reload()
  await page.getByRole('link', { name: 'api.update' }).waitFor()
  for (const type of ['CSV', 'JSON'] as const) {
    await page.getByRole('button', { name: 'Export' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: type }).click(),
    ])
    const text = readFileSync(await file.path(), 'utf8')
    assert.ok(text.includes(API) && !text.includes('/api/users'), text.slice(0, 500))
  }
  await page.getByLabel('Action').fill('nothing.such')
  await page.getByText('No entries match').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByLabel('Action').fill('api.update')
  await page.getByRole('link', { name: 'api.update' }).first().click()

  await page.getByRole('heading', { name: 'Changes' }).waitFor()
  await page.getByText('"active": false').first().waitFor()
  await checkThemes(page)
  await shoot(page, 'audit-entry')
  const undo = async () => {
    await page.locator('#content').getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
  }
  await page.locator('#content').getByRole('button', { name: 'Undo' }).click()
  await checkThemes(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await undo()
  await saved(page, 'Change undone')
  assert.equal((await read()).api_definition.active, true)
  await eventually('the gateway serves it again', async () => (await status()) !== 404)
  await undo()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  await shoot(page, 'audit-undo-refused')

  const address = new URL(page.url()).pathname
  const readers = await world.open(world.reader, address, REFUSED)
  await readers.getByRole('heading', { name: 'Changes' }).waitFor()
  const refused = readers.getByRole('button', { name: 'Undo' })
  await becomes(() => refused.getAttribute('aria-disabled'), 'true')
  await refused.hover()
  await readers.getByText('You need the permission “apis: write”.').waitFor()
  await readers.goto('/audit/0123456789abcdef01234567')
  await readers.getByRole('heading', { name: 'Entry not found', level: 1 }).waitFor()
  await readers.getByRole('link', { name: 'Back to list' }).click()
  await readers.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor()
  const owners = await world.open(world.owner, '/audit')
  await owners.getByText('You do not have access').waitFor()
  await becomes(() => owners.getByRole('button', { name: 'Export' }).count(), 0)
}

async function showsNodes(world: Platform): Promise<void> {
  const page = await world.open(world.reader, '/nodes')
  const nodes = page.getByRole('table', { name: 'Nodes' })
  // A gateway thread for each core: each is a node.
  await nodes.getByText('Up', { exact: true }).first().waitFor()
  await nodes.getByText('All APIs').first().waitFor()
  await page.getByText(/^Last backup: /).waitFor()
  const standings = page.getByRole('table', { name: 'API sync status' })
  const bells = standings.getByRole('row').filter({ hasText: 'Bells' })
  await bells.getByText(': Loaded').first().waitFor()
  await checkThemes(page)
  await shoot(page, 'nodes')
  await page.getByLabel('Search by name').fill('nothing such')
  await page.getByText('No API matches “nothing such”.').waitFor()
  assert.equal(words(page).get('q'), 'nothing such')
  await page.getByLabel('Only out-of-sync APIs').click()
  await page.getByText('All APIs are in sync').waitFor()
  await shoot(page, 'nodes-well')
  await page.reload()
  await page.getByText('All APIs are in sync').waitFor()
  await page.getByLabel('Only out-of-sync APIs').click()
  await bells.getByRole('link', { name: 'Bells' }).click()
  await page.getByRole('heading', { name: 'Bells', level: 1 }).waitFor()
  const owners = await world.open(world.owner, '/nodes')
  await owners.getByText('You do not have access').waitFor()
}

async function tellsWebhooks(world: Platform): Promise<void> {
  const { receiver } = world
  const page = await world.open(world.admin, '/webhooks', REFUSED)
  await page.getByText('No webhooks yet').waitFor()
  await checkThemes(page)
  await shoot(page, 'webhooks-empty')
  await page.getByRole('button', { name: 'Add webhook' }).last().click()
  const dialog = page.getByRole('dialog', { name: 'Add webhook' })
  const add = () => dialog.getByRole('button', { name: 'Add webhook' }).click()
  await add()
  await becomes(() => dialog.getByText('Required', { exact: true }).count(), 2)
  await dialog.getByLabel('Name').fill(ODD_NAME)
  await dialog.getByRole('textbox', { name: /^URL/ }).fill('ftp://example.test/')
  await dialog.getByLabel('Additional headers').fill('no colon')
  await add()
  await dialog.getByText('Each line needs a name, a colon and a value.').waitFor()
  await dialog.getByLabel('Additional headers').fill('X-Team: blue')
  await add()
  await dialog.getByRole('alert').waitFor()
  await checkThemes(page)
  await shoot(page, 'webhook-new')
  await dialog.getByRole('textbox', { name: /^URL/ }).fill(receiver.url)
  await dialog.getByLabel('Shared secret').fill('sesame')
  await pick(page, dialog.getByRole('combobox', { name: 'Method' }), 'PUT')
  await add()
  await page.getByRole('link', { name: ODD_NAME }).click()
  const head = page.getByRole('heading', { name: ODD_NAME, level: 1 })
  await head.waitFor()
  await page.getByText('All delivered').waitFor()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Delivered: the receiver accepted the message.').waitFor()
  const message = receiver.received.find(({ path }) => path === '/hook')
  assert.deepEqual([message!.method, message!.headers['x-team']], ['PUT', 'blue'])
  assert.ok(message!.headers['x-svc-signature'] !== undefined)
  receiver.script = (_message, response) => void response.writeHead(503).end()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText(/The webhook was not delivered.*503/).waitFor()
  await checkThemes(page)
  await shoot(page, 'webhook')

  // A message about an API waits for another try, as the receiver refuses it.
  const id = new URL(page.url()).pathname.split('/')[2]!
  const { api_definition } = (await world.api('GET', API)).json as JsonObject
  const hook_references = [{ event_name: 'api_event', event_timeout: 0, hook: { id } }]
  const told = await world.api('PUT', API, { api_definition, hook_references })
  assert.equal(told.status, 200, told.text)
  await page.getByText('Retrying').waitFor()
  await shoot(page, 'webhook-waits')
  receiver.script = undefined

  await page.getByLabel('Shared secret').fill('another')
  await page.getByRole('textbox', { name: /^URL/ }).fill(`${receiver.url}/again`)
  await page.getByLabel('Additional headers').fill('')
  await pick(page, page.getByRole('combobox', { name: 'Method' }), 'POST')
  await page.getByLabel('Stop signing messages').click()
  await page.getByLabel('Name').fill('Told')
  await page.getByRole('button', { name: 'Save' }).click()
  await saved(page)
  await page.getByRole('heading', { name: 'Told', level: 1 }).waitFor()
  const number = receiver.received.length
  await page.getByRole('button', { name: 'Send test' }).click()
  await eventually('it is not signed', () => {
    const last = receiver.received.slice(number).find(({ body }) => body.includes('"test"'))
    return last?.path === '/hook/again' && last.method === 'POST' && last.headers['x-svc-signature'] === undefined
  })
  const readers = await world.open(world.reader, `/webhooks/${id}`)
  await readers.getByRole('heading', { name: 'Told', level: 1 }).waitFor()
  await becomes(() => readers.getByLabel('Name').isDisabled(), true)
  for (const name of ['Save', 'Delete webhook', 'Send test'])
    await becomes(() => readers.getByRole('button', { name }).count(), 0, name)
  await readers.close()

  await page.getByRole('button', { name: 'Delete webhook' }).click()
  await confirmDelete(page, 'Told', 'APIs that use it no longer notify anyone')
  await page.getByText('No webhooks yet').waitFor()
  assert.equal((await world.api('GET', `/api/hooks/${id}`)).status, 400)
  await page.goto(`/webhooks/${id}`)
  await page.getByRole('heading', { name: 'Webhook not found', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Back to list' }).click()
}

async function keepsCertificates(world: Platform): Promise<void> {
  const pair = selfSigned('api.example.test', 'www.example.test')
  const other = selfSigned('zoo.example.test')
  const page = await world.open(world.admin, '/certificates', REFUSED)
  await page.getByText('No certificates yet').waitFor()
  await checkThemes(page)
  await page.getByRole('button', { name: 'Upload certificate' }).last().click()
  const dialog = page.getByRole('dialog', { name: 'Upload certificate' })
  const upload = () => dialog.getByRole('button', { name: 'Upload certificate' }).click()
  await dialog.getByLabel('PEM text').fill('-----BEGIN CERTIFICATE-----\nbroken')
  await upload()
  await dialog.getByRole('alert').waitFor()
  await checkThemes(page)
  await shoot(page, 'certificate-upload')
  const file = (name: string, text: string) => ({ name, mimeType: 'application/x-pem-file', buffer: Buffer.from(text) })
  const choosing = page.waitForEvent('filechooser')
  await dialog.getByRole('button', { name: 'Choose files' }).click()
  const files = [file('api.crt', pair.cert), file('api.key', pair.key)]
  await (await choosing).setFiles(files)
  await upload()
  await page.getByRole('button', { name: 'api.example.test', exact: true }).waitFor()
  await page.locator('#content').getByRole('button', { name: 'Upload certificate' }).click()
  await dialog.getByLabel('PEM text').fill(other.cert)
  await upload()
  await page.getByRole('button', { name: 'zoo.example.test' }).waitFor()
  const { certificates } = (await world.api('GET', '/api/certs/details')).json as { certificates: JsonObject[] }
  assert.deepEqual(certificates.map(({ has_private }) => has_private).sort(), [false, true])
  await page.locator('#content').getByRole('button', { name: 'Upload certificate' }).click()
  await dialog.getByLabel('PEM text').fill(expired('old.example.test').cert)
  await upload()
  await page.getByRole('alert').filter({ hasText: 'The certificate expired on 2001-01-01' }).waitFor()

  const id = String(certificates.find(({ has_private }) => has_private === true)!.id)
  const { api_definition: api } = (await world.api('GET', API)).json as { api_definition: JsonObject }
  const used = await world.api('PUT', API, { api_definition: { ...api, certificates: [id] } })
  assert.equal(used.status, 200, used.text)
  await page.reload()
  await page.getByRole('row').filter({ hasText: 'api.example.test' }).getByText(String(api.name)).waitFor()
  await checkThemes(page)
  await shoot(page, 'certificates')
  await page.getByRole('button', { name: 'api.example.test', exact: true }).click()
  const drawer = page.getByRole('dialog', { name: 'api.example.test' })
  await drawer.getByText('With private key').waitFor()
  await drawer.getByText('api.example.test, www.example.test').waitFor()
  assert.equal(words(page).get('id'), id)
  await checkThemes(page)
  await shoot(page, 'certificate')
  await drawer.getByRole('link', { name: String(api.name) }).click()
  await page.getByRole('heading', { name: String(api.name), level: 1 }).waitFor()
  await page.goBack()
  const question = page.getByRole('dialog', { name: 'Delete api.example.test?' })
  const ask = () => drawer.getByRole('button', { name: 'Delete api.example.test' }).click()
  await ask()
  await question.getByRole('link', { name: String(api.name) }).click()
  await page.getByRole('heading', { name: String(api.name), level: 1 }).waitFor()
  await page.goBack()
  await ask()
  await question.getByRole('button', { name: 'Remove it from all APIs first' }).click()
  await question.getByText('No API uses it.').waitFor()
  const after = (await world.api('GET', API)).json as { api_definition: JsonObject }
  assert.deepEqual(after.api_definition.certificates, [])
  await question.getByRole('textbox').fill('api.example.test')
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'api.example.test', exact: true }).waitFor({ state: 'detached' })
  assert.equal((await world.api('GET', `/api/certs/${id}`)).status, 404)

  const readers = await world.open(world.reader, '/certificates')
  await readers.getByRole('button', { name: 'zoo.example.test' }).click()
  const seen = readers.getByRole('dialog', { name: 'zoo.example.test' })
  await seen.getByText('Certificate only').waitFor()
  await becomes(() => readers.getByRole('button', { name: /^(Delete|Upload)/ }).count(), 0)
  await seen.getByRole('button', { name: 'Close' }).click()
  await seen.waitFor({ state: 'detached' })
}

/** JWT access tokens of an API before and after its key is rotated, then retired. */
async function keepsSigningKeys(world: Platform): Promise<void> {
  const empty = await world.open(world.admin, '/signing-keys')
  await empty.getByText('No signing keys yet').waitFor()
  await becomes(() => empty.getByRole('button', { name: 'Rotate keys' }).count(), 0)
  const { receiver } = world
  const definition = oauthApi(new URL(receiver.url).origin, { id: 'signed', settings: { accessTokenFormat: 'jwt' } })
  const made = await world.api('POST', '/api/apis/oas', definition)
  assert.equal(made.status, 200, made.text)
  const keysOf = async () =>
    (await world.api('GET', '/api/oauth/signing-keys')).json as { keys: { kid: string; state: string }[] }
  await eventually('the key set is published', async () => (await world.through('/signed/oauth/jwks')).status === 200)
  const [first] = (await keysOf()).keys
  const page = await world.open(world.admin, '/signing-keys')
  const keys = page.getByRole('table', { name: 'Signing keys' })
  await keys.getByText('Current', { exact: true }).waitFor()
  await checkThemes(page)
  await page.locator('#content').getByRole('button', { name: 'Rotate keys' }).click()
  const rotation = page.getByRole('dialog', { name: 'Rotate signing keys?' })
  await rotation.getByRole('button', { name: 'Cancel' }).click()
  await page.locator('#content').getByRole('button', { name: 'Rotate keys' }).click()
  await checkThemes(page)
  await rotation.getByRole('button', { name: 'Rotate keys' }).click()
  await saved(page, 'Signing keys rotated')
  await keys.getByText('Next', { exact: true }).waitFor()
  await shoot(page, 'signing-keys')
  const retire = () =>
    page
      .locator('#content')
      .getByRole('button', { name: `Retire now: ${first!.kid}` })
      .click()
  const question = page.getByRole('dialog', { name: 'Retire this key now?' })
  await retire()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await retire()
  await question.getByText(first!.kid).waitFor()
  await checkThemes(page)
  await question.getByRole('button', { name: 'Retire now' }).click()
  await saved(page, 'Signing key retired')
  await keys.getByRole('row').filter({ hasText: first!.kid }).getByText('Retired', { exact: true }).waitFor()
  assert.deepEqual(
    (await keysOf()).keys.map(({ state }) => state),
    ['current', 'retired'],
  )
  const keySet = (await world.through('/signed/oauth/jwks')).text
  assert.ok(!keySet.includes(first!.kid))
  const readers = await world.open(world.reader, '/signing-keys')
  await readers.getByText('Retired', { exact: true }).waitFor()
  await becomes(() => readers.getByRole('button', { name: /^(Rotate|Retire)/ }).count(), 0)
}

/** Every page by the menu, on a phone too; the theme; the skip link; what the bar finds and begins. */
async function leadsAnywhere(world: Platform): Promise<void> {
  await world.api('POST', '/api/hooks', { name: 'Bell', method: 'POST', target_path: 'https://example.com/' })
  const page = await world.open(world.admin, '/')
  const menu = page.getByRole('navigation', { name: 'Menu' })
  const names = await menu.getByRole('link').allInnerTexts()
  assert.ok(names.length >= 20, names.join())
  for (const name of names) {
    await menu.getByRole('link', { name, exact: true }).click()
    await menu.locator('a[data-active]', { hasText: name }).waitFor()
    await arrived(page, name)
  }
  const bar = await openBar(page)
  await bar.getByRole('textbox').fill('bell')
  await bar.getByRole('button', { name: /^Bell Webhooks/ }).click()
  await page.getByRole('heading', { name: 'Bell', level: 1 }).waitFor()
  await page.getByRole('button', { name: /^Search or jump to…/ }).click()
  await bar.getByRole('textbox').fill('upload')
  await bar.getByRole('button', { name: 'Upload certificate' }).click()
  await page.getByRole('dialog', { name: 'Upload certificate' }).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Toggle dark mode' }).click()
  await eventually('it is dark', () =>
    page.evaluate(() => document.documentElement.dataset.mantineColorScheme === 'dark'),
  )
  await page.reload()
  await eventually('and stays so', () =>
    page.evaluate(() => document.documentElement.dataset.mantineColorScheme === 'dark'),
  )
  await page.getByRole('button', { name: 'Toggle dark mode' }).click()

  // A link from elsewhere that is wrong leads on nevertheless.
  await page.goto('/no/such/page')
  await page.getByRole('button', { name: 'Go back' }).click()
  await page.getByRole('heading', { name: 'Welcome, Ada' }).waitFor()

  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByRole('button', { name: 'Menu' }).click()
  await menu.getByRole('link', { name: 'Nodes' }).click()
  await page.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor()
  await menu.waitFor({ state: 'hidden' })
  await page.keyboard.press('Tab')
  await becomes(() => page.evaluate(() => document.activeElement?.textContent), 'Skip to content')
  await page.keyboard.press('Enter')
  await eventually('the skip link leads to the content', () => page.evaluate(() => location.hash === '#content'))
  await page.getByRole('button', { name: 'Signed in as Ada' }).click()
  await page.getByRole('menuitem', { name: 'Your profile' }).click()
  await page.getByRole('heading', { name: 'Your profile', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Signed in as Ada' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Gatehouse' }).waitFor()
}

test('the platform', async (t) => {
  const world = await startPlatform(t)
  await t.test('the audit log is searched, saved and read, and a change is taken back', () => undoes(world))
  await t.test('nodes say what they serve', () => showsNodes(world))
  await t.test('webhooks are made, tried, changed and deleted, and say what did not arrive', () => tellsWebhooks(world))
  await t.test('certificates are uploaded, looked at, taken out of APIs and deleted', () => keepsCertificates(world))
  await t.test('signing keys are rotated and retired', () => keepsSigningKeys(world))
  await t.test('menu and command bar lead anywhere', () => leadsAnywhere(world))
})

test('a message that was given up is sent again when somebody asks for it', async (t) => {
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  receiver.script = (_message, response) => void response.writeHead(500).end()
  const folder = folderFor(t)
  const world = await startConsole(t, SETTINGS, folder)
  await makeBells(world, receiver)
  await world.api('POST', '/api/hooks', { name: 'Bell', method: 'POST', target_path: receiver.url })
  const { hooks } = (await world.api('GET', '/api/hooks')).json as { hooks: { id: string }[] }
  const { api_definition } = (await world.api('GET', API)).json as JsonObject
  const hook_references = [{ event_name: 'api_event', event_timeout: 0, hook: { id: hooks[0]!.id } }]
  await world.api('PUT', API, { api_definition, hook_references })
  await eventually('it was refused once', () => receiver.received.length === 1)
  await world.product.stop()
  await giveUp(`${folder}/data`)
  receiver.script = undefined
  const product = await startProduct(t, folder, SETTINGS)
  const { page } = await openPage(t, await startBrowser(t), { base: `http://127.0.0.1:${product.dashboardPort}` })
  await signIn(page, world.admin, '/webhooks')
  await page.getByText('1 failed').waitFor()
  await page.getByRole('link', { name: 'Bell' }).click()
  await page.getByText('Failed', { exact: true }).waitFor()
  await checkThemes(page)
  await shoot(page, 'webhook-given-up')
  await page.getByRole('button', { name: 'Resend' }).click()
  await saved(page, 'Message queued again')
  await eventually('it has arrived', () => receiver.received.length === 2)
  await page.getByText('All delivered').waitFor()
})
