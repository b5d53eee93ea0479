import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { eventually } from '../base/eventually.ts'
import { heading, tab } from './apis-world.ts'
import { ledTo } from './clipboard.ts'
import {
  confirm,
  DEVELOPERS,
  EMAIL,
  fromMenu,
  keysOf,
  NAMES,
  type PortalWorld,
  recordOf,
  takeSecrets,
} from './portal-world.ts'

const dialog = (page: Page) => page.getByRole('dialog')

/** Requests for keys on the page of who asks: what is asked for is looked at, declined, approved and forgotten there. */
export async function decideHere(world: PortalWorld, page: Page): Promise<void> {
  const { id } = await recordOf(world)
  const asks = (Use: string) =>
    world.done('POST', '/api/portal/requests', { by_user: id, apply_policies: ['silver'], fields: { Use } })
  const asked = (use: string) => page.getByRole('row').filter({ hasText: use })
  await asks('In vain')
  await tab(page, 'Key requests')
  await asked('In vain').getByRole('link', { name: NAMES.silver }).click()
  await heading(page, NAMES.silver).waitFor()
  await page.goBack()
  await asked('In vain').getByRole('button', { name: 'Decline' }).click()
  await dialog(page).getByLabel('Reason').fill('Ask again in May')
  await dialog(page).getByRole('button', { name: 'Decline' }).click()
  assert.match(await ledTo(dialog(page).getByRole('link', { name: 'Write email' })), /body=Ask%20again%20in%20May$/)
  await dialog(page).getByRole('button', { name: 'Close', exact: true }).last().click()
  await asked('In vain').waitFor({ state: 'detached' })
  await asks('Here')
  await page.reload()
  await asked('Here').getByRole('button', { name: 'Approve' }).click()
  await dialog(page).getByRole('link', { name: NAMES.silver }).click()
  await heading(page, NAMES.silver).waitFor()
  await page.goBack()
  await asked('Here').getByRole('button', { name: 'Approve' }).click()
  await dialog(page).getByRole('button', { name: 'Approve' }).click()
  const [key = ''] = await takeSecrets(page, 'Key created')
  await eventually('the key works', async () => (await world.withKey(key)) === 200)
  // Of each policy a developer holds one key.
  const held = (await keysOf(world)).find(({ policies }) => (policies as string[]).includes('silver'))!
  await world.done('DELETE', `${DEVELOPERS}/${id}/keys/${held.key_id}`)
  await fromMenu(page, `Actions for ${EMAIL}`, 'Delete')
  await confirm(page, EMAIL, 'Delete')
  await asked('Here').waitFor({ state: 'detached' })
  assert.deepEqual((await world.done('GET', '/api/portal/requests?p=-1')).Data, [])
}
