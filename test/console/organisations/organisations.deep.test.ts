import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { call } from '../../worlds/base/client.ts'
import { becomes } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import { checkThemes, PASSWORD, shoot, signIn, startConsole } from '../../worlds/console/world.ts'

/** Refusals that the journey brings about itself. */
const REFUSED = [/status of 40[0134]/]
const SECRET = 'the-admin-secret-of-this-test'

test('a user without organisation reads all or the chosen one, and changes nothing', async (t) => {
  const world = await startConsole(t, { SVC_DB_ADMINSECRET: SECRET })
  const admin = async (path: string, body: unknown) => {
    const sent = { method: 'POST', headers: { 'admin-auth': SECRET }, body: JSON.stringify(body) }
    const answer = await call(world.product.dashboardPort, path, sent)
    assert.equal(answer.status, 200, answer.text)
    return answer.json as JsonObject
  }
  const name = `<i>Globex</i> شركة 🏭 ${'x'.repeat(170)}`
  const { Meta: other } = await admin('/admin/organisations', { owner_name: name })
  const root = { email: 'root@example.test', password: PASSWORD, firstName: 'Root' }
  const account = { email_address: root.email, password: PASSWORD, first_name: 'Root', active: true }
  await admin('/admin/users', { ...account, org_id: '' })
  const theirs = { ...account, email_address: 'glo@globex.example', first_name: 'Glo', org_id: other }
  await admin('/admin/users', theirs)
  const { page } = await openPage(t, await startBrowser(t), { base: world.base, allow: REFUSED })
  await signIn(page, root, '/users')
  const field = page.getByRole('combobox', { name: 'Organisation to view' })
  const people = ['Ada', 'Glo', 'Olu', 'Rae', 'Root']
  const seen = async () =>
    (await page.getByRole('cell').getByRole('link').allInnerTexts()).map((text) => text.split(' ')[0])
  await page.getByRole('link', { name: 'Glo', exact: false }).waitFor()
  assert.deepEqual((await seen()).sort(), people)
  await becomes(() => page.getByRole('link', { name: 'Add user' }).count(), 0)
  await checkThemes(page)
  await field.fill('Globex')
  await page.getByRole('option', { name }).click()
  await page.getByRole('heading', { name: 'Welcome, Root' }).waitFor()
  await page.goto('/users')
  await page.getByRole('link', { name: 'Glo', exact: false }).waitFor()
  assert.deepEqual(await seen(), ['Glo'])
  await page.goto('/developers')
  await page.getByRole('button', { name: 'Add developer' }).first().hover()
  await page.getByText('You belong to no organisation: you can view everything and change nothing.').waitFor()
  await page.goto('/organisations')
  await page.getByText(`Viewing ${name}`).waitFor()
  await checkThemes(page)
  await shoot(page, 'organisation-looked-at')
  await page.getByRole('button', { name: 'View Acme' }).click()
  await page.getByRole('heading', { name: 'Welcome, Root' }).waitFor()
  await page.goto('/users')
  await page.getByRole('link', { name: 'Ada', exact: false }).waitFor()
  assert.deepEqual((await seen()).sort(), ['Ada', 'Olu', 'Rae'])
  await page.goto('/organisations')
  await page.getByRole('button', { name: 'View all' }).click()
  await page.getByRole('heading', { name: 'Welcome, Root' }).waitFor()
  await page.goto('/users')
  await page.getByRole('link', { name: 'Glo', exact: false }).waitFor()
  assert.deepEqual((await seen()).sort(), people)
  await page.goto('/profile')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await checkThemes(page)
})
