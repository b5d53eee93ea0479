import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { becomes } from '../../worlds/base/eventually.ts'
import {
  type ApisWorld,
  documentOf,
  inspect,
  makeApi,
  saved,
  startApis,
  tab,
  withSettings,
} from '../../worlds/console/apis-world.ts'

/** An object with a page, and what its history must say. */
interface Kept {
  readonly kind: string
  /** Makes one; answers the path of its page. */
  readonly make: (world: ApisWorld) => Promise<string>
  /** Gives it another name, or something else that can be read back. */
  readonly change: (world: ApisWorld, path: string, text: string) => Promise<unknown>
  readonly read: (world: ApisWorld, path: string) => Promise<unknown>
  /** The member that the change is about, as the history names it. */
  readonly member: string
  /** Opens the history on the page. */
  readonly open: (page: Page) => Promise<unknown>
}

const lastOf = (path: string) => decodeURIComponent(path.split('/').at(-1)!)
const openTab = (page: Page) => tab(page, 'History')

async function ask(world: ApisWorld, method: string, path: string, body?: unknown): Promise<JsonObject> {
  const answer = await world.api(method, path, body)
  assert.equal(answer.status, 200, `${method} ${path} ${answer.text}`)
  return answer.json as JsonObject
}

const policyAt = (path: string) => `/api/portal/policies/${lastOf(path)}`
const developerAt = (path: string) => `/api/portal/developers/${lastOf(path)}`
const userAt = (path: string) => `/api/users/${lastOf(path)}`
const keyAt = (path: string) => `/api/keys/${lastOf(path)}?hashed=1`
const clientAt = (path: string) => path.replace(/^\/apis\/(.*)\?.*view=client:(.*)$/, '/api/apis/oauth/$1/$2')

const KEPT: readonly Kept[] = [
  {
    kind: 'API',
    make: async (world) => `/apis/${await makeApi(world, 'Pets', '/pets/')}`,
    change: async (world, path, text) => {
      const document = withSettings(await documentOf(world, lastOf(path)), (settings) => {
        ;(settings.info as JsonObject).name = text
      })
      await ask(world, 'PUT', `/api/apis/oas/${lastOf(path)}`, document)
    },
    read: async (world, path) =>
      ((await documentOf(world, lastOf(path)))['x-svc-api-gateway'] as { info: JsonObject }).info.name,
    member: 'info.name',
    open: openTab,
  },
  {
    kind: 'policy',
    make: async (world) => `/policies/${await makePolicy(world)}`,
    change: (world, path, text) => changePolicy(world, path, { name: text }),
    read: async (world, path) => (await ask(world, 'GET', policyAt(path))).name,
    member: 'name',
    open: openTab,
  },
  {
    kind: 'key',
    make: async (world) => {
      const id = await makeApi(world, 'Keyed', '/keyed/', 'token')
      const rights = { [id]: { api_id: id, api_name: 'Keyed', versions: ['Default'] } }
      return `/keys/${(await ask(world, 'POST', '/api/keys', { ...KEY, alias: 'Gold', access_rights: rights })).key_hash}`
    },
    change: async (world, path, text) => {
      const { data } = (await ask(world, 'GET', keyAt(path))) as { data: JsonObject }
      await ask(world, 'PUT', keyAt(path), { ...data, alias: text })
    },
    read: async (world, path) => ((await ask(world, 'GET', keyAt(path))) as { data: JsonObject }).data.alias,
    member: 'alias',
    open: openTab,
  },
  {
    kind: 'user',
    make: async (world) => `/users/${world.reader.id}`,
    change: (world, path, text) => ask(world, 'PUT', userAt(path), { last_name: text }),
    read: async (world, path) => (await ask(world, 'GET', userAt(path))).last_name,
    member: 'last_name',
    open: openTab,
  },
  {
    kind: 'developer',
    make: async (world) => {
      await ask(world, 'POST', '/api/portal/developers', {
        email: 'dev@example.test',
        password: 'Correct-horse-7',
        fields: {},
      })
      const { Data } = (await ask(world, 'GET', '/api/portal/developers')) as { Data: JsonObject[] }
      return `/developers/${Data[0]!.id}`
    },
    change: async (world, path, text) => {
      const developer = await ask(world, 'GET', developerAt(path))
      await ask(world, 'PUT', developerAt(path), { ...developer, fields: { Company: text } })
    },
    read: async (world, path) => ((await ask(world, 'GET', developerAt(path))).fields as JsonObject).Company,
    member: 'fields.Company',
    open: openTab,
  },
  {
    kind: 'client',
    make: async (world) => {
      const id = await makeApi(world, 'Orders', '/orders/', 'oauth')
      const { client_id } = await ask(world, 'POST', `/api/apis/oauth/${id}`, {
        redirect_uri: 'https://app.test/cb',
        description: 'Gold',
      })
      return `/apis/${id}?tab=clients&view=client:${client_id}`
    },
    change: (world, path, text) =>
      ask(world, 'PUT', clientAt(path), { redirect_uri: 'https://app.test/cb', description: text }),
    read: async (world, path) => (await ask(world, 'GET', clientAt(path))).description,
    member: 'description',
    open: async (page) => page.getByRole('heading', { name: 'History' }).waitFor(),
  },
]

async function makePolicy(world: ApisWorld): Promise<string> {
  const id = await makeApi(world, 'Limited', '/limited/', 'token')
  const rights = { [id]: { api_id: id, api_name: 'Limited', versions: ['Default'] } }
  const policy = { ...POLICY, name: 'Gold', access_rights: rights }
  return String((await ask(world, 'POST', '/api/portal/policies', policy)).Message)
}

async function changePolicy(world: ApisWorld, path: string, change: JsonObject): Promise<void> {
  await ask(world, 'PUT', policyAt(path), { ...(await ask(world, 'GET', policyAt(path))), ...change })
}

const POLICY = { active: true, state: 'active', rate: 5, per: 60, quota_max: -1 }
const KEY = { rate: 5, per: 60, quota_max: -1, expires: 0 }

test('the page of every object shows its changes in sentences, and the latest is undone there', async (t) => {
  const world = await startApis(t)
  const page = await world.open(world.admin, '/')
  for (const kept of KEPT) await t.test(kept.kind, () => through(world, page, kept))
})

async function through(world: ApisWorld, page: Page, { kind, make, change, read, member, open }: Kept): Promise<void> {
  const path = await make(world)
  await change(world, path, 'Silver')
  await change(world, path, 'Bronze')
  await page.goto(path)
  await open(page)
  const entries = page.getByRole('list', { name: 'History' }).getByRole('listitem')
  const latest = entries.first()
  await latest.getByText(member, { exact: true }).waitFor()
  await latest.getByText('"Silver" → "Bronze"').first().waitFor()
  await latest.getByText(world.admin.email).waitFor()
  await entries.nth(1).getByText('→ "Silver"').first().waitFor()
  await inspect(page, `history-${kind}`)
  await latest.getByRole('button', { name: 'Show difference' }).click()
  await latest
    .getByRole('region', { name: /^Changes by/ })
    .getByText('Bronze')
    .first()
    .waitFor()
  await inspect(page, `history-${kind}-difference`)
  await latest.getByRole('button', { name: 'Hide difference' }).click()
  const older = entries.nth(1).getByRole('button', { name: 'Undo' })
  await becomes(() => older.getAttribute('aria-disabled'), 'true')
  await older.hover()
  await page.getByRole('tooltip', { name: /^Changed since/ }).waitFor()
  await latest.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click()
  await saved(page, 'Change undone')
  assert.equal(await read(world, path), 'Silver')
  await entries.first().getByText('undid a change').waitFor()
  await latest.getByRole('link', { name: 'Audit entry' }).click()
  await page.waitForURL('**/audit/*')
}

test('a long history is paged, and one who may not read the audit log sees none', async (t) => {
  const world = await startApis(t)
  const path = `/policies/${await makePolicy(world)}`
  for (let rate = 6; rate < 20; rate++) await changePolicy(world, path, { rate })
  const page = await world.open(world.reader, `${path}?tab=history`)
  const list = page.getByRole('list', { name: 'History' })
  await list.getByText('18 → 19').waitFor()
  await becomes(() => list.getByRole('button', { name: 'Undo' }).first().getAttribute('aria-disabled'), 'true')
  await page.getByRole('button', { name: '2', exact: true }).click()
  await list.getByText('created this').waitFor()
  await page.reload()
  await list.getByText('created this').waitFor()
  await tab(page, 'Settings')
  await page.getByLabel(/^Name/).waitFor()
  const other = await world.open(world.owner, path)
  await other.getByLabel(/^Name/).first().waitFor()
  assert.equal(await other.getByRole('tab', { name: 'History' }).count(), 0)
})
