import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { allRoutes } from '../../../src/dashboard/routes/routes.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import { isObject, type JsonObject } from '../../../src/model/json/json.ts'
import { TOKEN_FACTS } from '../../../src/model/oauth-clients/oauth-token.ts'
import { type SealKey, seal } from '../../../src/model/secrets/secret.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { hookQueue } from '../../../src/publish/events/events.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Change, SessionRow } from '../../../src/store/ports/ports.ts'
import { EXPECTED, type Thing } from '../../worlds/access-matrix/expectations.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import type { Answer } from '../../worlds/base/client.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { spread } from '../../worlds/base/spread.ts'

/** More than a store hands out at a time, and than any page has. */
const MANY = 1_050
const PAGE_SIZE = 10
const COMMIT_ROWS = 350

/** One call in so many is tried, others after each change of the sources; all of them in long runs. */
const SPREAD = 3

/** Members that tell documents of a kind apart: copies have others. */
const DISTINCT: Readonly<Record<string, readonly string[]>> = {
  api: ['api_id'],
  policy: ['id'],
  org_session: ['org_id'],
  certificate: ['cert_id'],
  oauth_client: ['client_id'],
  hook: ['name'],
  asset: ['id'],
  label: ['key', 'name'],
  idp_profile: ['ID'],
  user: ['email_address'],
  user_group: ['name'],
  organisation: ['owner_name'],
  node: ['name'],
  developer: ['email'],
  key_request: [],
  portal_page: ['slug'],
  portal_documentation: [],
}

/** Calls whose lists do not grow with what is stored, or grow with what this world has not. */
const BOUNDED: readonly (readonly [names: RegExp, why: string])[] = [
  [/ (?!\S*\/(?:oauth|clients|notifications|api)\/\{\w*\}$)\S*\{\w*\}$/, 'one thing, as it was written'],
  [/\/\{\w*\}\/(?:access|webhooks|urls|versions|categories|labels|export|permissions)$/, 'members of one thing'],
  [/\/developers\/\{\}\/keys$/, 'keys within the record of one developer'],
  [/\/portal\/developers\/oauth\/\{\}$|\/clients\/apis\/\{cid\}$/, 'one client, as it was written'],
  [
    /\/(?:catalogue|portal\/configuration|portal\/menus|requests\/\{\}\/collect|users\/me|sessions|passkeys)$/,
    'one document',
  ],
  [
    /\/(?:(?:svc-)?openapi\.json|schema|schemas\/apidefs|schemas\/apidefs\/oas|system\/settings|system\/address)$/,
    'the product',
  ],
  [/\/(?:sso\/settings|login\/options|api\/org|organisations(?:\/list)?|bootstrap|system\/stats)$/, 'one organisation'],
  [/\/oauth\/signing-keys$/, 'one ring of keys for each algorithm'],
  [/\/login\/(?:doors|providers)$/, 'a public page with a bound'],
  [/\/apis\/\{\}\/warnings$/, 'one definition, whose size has a bound'],
  [/\/apis\/\{\}\/urls?$/, 'the addresses of one API, by settings'],
  [/ \/api\/(?:usage|errors|activity|uptime|logs)\b/, 'of traffic: analytics.test.ts and logs.test.ts'],
]

/** The differences of copies: one category, no secrets that are sealed under the id of the original, and none waits or signs in. */
const CHANGED: Readonly<Record<string, (copy: JsonObject) => JsonObject>> = {
  api: ({ categories, ...copy }) => ({ ...copy, categories: [...(categories as string[]), 'all'] }),
  certificate: (copy) => ({ ...copy, not_after: new Date(0).toISOString() }),
  oauth_client: (copy) => ({ ...copy, secrets: [] }),
  idp_profile: ({ sealed_secrets: _sealed, ...copy }) => copy,
  user: (copy) => ({ ...copy, access_hmac: '', access_sealed: '' }),
  key_request: (copy) => ({ ...copy, approved: true }),
}

test('no list ends without saying so: every row comes, or a page with a way to the next', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  const gateway = await startTestGateway({ store, clock })
  const routes: Route[] = []
  const world = await startWorld({
    ...{ store, clock, env: { SVC_DB_PAGESIZE: String(PAGE_SIZE) }, parts: { sealKey: Buffer.alloc(32, 7) } },
    routes(parts) {
      routes.push(...allRoutes(parts))
      return routes
    },
  })
  t.after(async () => {
    await world.close()
    await gateway.close()
    await store.close()
  })
  await addSingles(world, clock)
  const turn = Number(process.env.GATEHOUSE_SEED ?? 0)
  const lists = spread([...dashboardLists(world, routes), ...gatewayLists(world, gateway)], turn, SPREAD)
  await multiply(world, clock)
  const ended: string[] = []
  for (const { name, isList, walk } of lists) {
    const rows = await walk()
    const isWhole = rows === undefined ? !isList : rows >= MANY
    const isKnown = BOUNDED.some(([names]) => names.test(name))
    if (!isWhole && !isKnown) ended.push(`${name} answers ${rows ?? 'no'} rows`)
  }
  assert.deepEqual(ended, [])
})

/** A call by its route, and how many rows come of it, page by page and at once, whichever are fewer; undefined = it answers no list. */
interface List {
  readonly name: string
  readonly isList: boolean
  readonly walk: () => Promise<number | undefined>
}

function dashboardLists(world: World, routes: readonly Route[]): List[] {
  return routes
    .filter((route) => route.method === 'GET')
    .flatMap((route) => {
      const expected = EXPECTED.get(callOf(route))
      if (expected === undefined || expected.query !== undefined) return []
      let number = 0
      const path = route.path.replace(/\{[^}]*\}/g, () =>
        encodeURIComponent(world.open[expected.names[number++] ?? 'none']),
      )
      const as = expected.who === 'installation' ? ('installation' as const) : undefined
      const actor = async () => as ?? (await world.actor('admin', expected))
      const ask = async (query: string) => world.call('GET', path + query, { as: await actor() })
      const way = 'p' in (route.query ?? {}) ? 'p' : 'after' in (route.query ?? {}) ? 'after' : ''
      return [{ name: callOf(route), walk: () => walk(ask, way), isList: hasArray(route) }]
    })
}

function gatewayLists(world: World, gateway: TestGateway): List[] {
  const named: Readonly<Record<string, string>> = { api: world.open.api, apiID: world.open.api, cid: world.open.client }
  return gateway.gateway.calls
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => {
      const filled = path.replace(/\{([^}]*)\}/g, (_all, name: string) => encodeURIComponent(named[name] ?? 'none'))
      const ask = (query: string) => gateway.svc('GET', `/svc${filled}${query}`)
      return { name: `GET /svc${path}`, walk: () => walkPlain(ask), isList: false }
    })
}

/** True for a route that declares a list somewhere in its answer. */
function hasArray({ answers }: Route): boolean {
  return JSON.stringify(answers[200] ?? {}).includes('"type":"array"')
}

async function walk(ask: (query: string) => Promise<Answer>, way: string): Promise<number | undefined> {
  const first = await ask('')
  const rows = rowsOf(first)
  if (rows === undefined) return undefined
  if (way === 'p') {
    const whole = rowsOf(await ask('?p=-1'))?.length ?? 0
    return Math.min(whole, await countPages(ask, first, whole))
  }
  if (way === 'after') return walkAfter(ask, rows)
  return rows.length
}

/** The administration API declares no queries: without a `next`, a list is complete. */
async function walkPlain(ask: (query: string) => Promise<Answer>): Promise<number | undefined> {
  const first = await ask('')
  const rows = rowsOf(first)
  if (rows === undefined) return undefined
  if (first.headers['x-next'] !== undefined) return walkAfter(ask, rows)
  return first.headers['x-pages'] === undefined ? rows.length : countPages(ask, await ask('?p=1'), 0)
}

/** Rows of all pages, of which the first is given and the last is requested; without a page count, the one in which `whole` ends. */
async function countPages(ask: (query: string) => Promise<Answer>, first: Answer, whole: number): Promise<number> {
  const size = rowsOf(first)!.length
  const last = pagesOf(first) ?? Math.ceil(whole / Math.max(1, size))
  if (last <= 1) return size
  const rows = rowsOf(await ask(`?p=${last}`)) ?? []
  return (last - 1) * size + rows.length
}

async function walkAfter(ask: (query: string) => Promise<Answer>, first: readonly unknown[]): Promise<number> {
  let count = 0
  for (let rows = first; rows.length > 0; ) {
    count += rows.length
    rows = rowsOf(await ask(`?after=${(rows.at(-1) as { id: number }).id}`)) ?? []
  }
  return count
}

/** The number of pages in a response. */
function pagesOf({ json, headers }: Answer): number | undefined {
  const { pages, Pages } = isObject(json) ? json : {}
  const told = headers['x-pages'] ?? pages ?? Pages
  return told === undefined ? undefined : Number(told)
}

/** The longest list of an answer, however deep in it. */
function rowsOf({ status, json }: Answer): readonly unknown[] | undefined {
  return status === 200 ? longest(json) : undefined
}

function longest(value: unknown): readonly unknown[] | undefined {
  const within = Array.isArray(value) ? value : isObject(value as JsonObject) ? Object.values(value as JsonObject) : []
  const lists = within.map(longest).filter((list) => list !== undefined)
  if (Array.isArray(value)) lists.push(value)
  return lists.toSorted((a, b) => b.length - a.length)[0]
}

/** Secrets of a webhook under its own id. */
function sealedFor(sealKey: SealKey, id: string): string {
  return seal(sealKey, JSON.stringify({ header_map: {}, shared_secret: '' }), `hook:${id}`).toString('base64')
}

/** One of each of what the world has none of. */
async function addSingles({ parts, open, orgId }: World, clock: FakeClock): Promise<void> {
  const put = (kind: string, body: JsonObject): Change => ({ op: 'put', kind, id: newDocumentId(clock.wall()), body })
  const node = {
    name: 'one',
    hostname: 'one',
    version: '1',
    management: false,
    up: true,
    behind: false,
    started_at: '2026-11-27T00:00:00.000Z',
  }
  const told = { revision: 1, loaded: 0, troubled: 0, troubles: [], seen_at: new Date(clock.wall()).toISOString() }
  await parts.documents.commit(
    [
      put('org_session', { org_id: orgId, rate: 1, per: 1 }),
      put('node', { ...node, ...told, segmented: false, tags: [], settings: {} }),
      ...[open.api, hookQueue(orgId, open.hook)].map((queue): Change => {
        return { op: 'putDelivery', row: { queue, sealed: randomBytes(8), createdAt: clock.wall() } }
      }),
    ],
    undefined,
  )
}

/** The names in the original of the copies, where they matter: a certificate, or whose list the copies are to be in. */
const ORIGINALS: Readonly<Record<string, readonly Thing[]>> = {
  api: ['certificate', 'oas'],
  oauth_client: ['client'],
  developer: ['policy'],
}

/** Copies of every document, key and message, with other names. */
async function multiply({ parts, open, orgId }: World, clock: FakeClock): Promise<void> {
  const changes: Change[] = []
  for (const [kind, members] of Object.entries(DISTINCT))
    for await (const batch of parts.documents.scan(kind)) {
      const copied = ORIGINALS[kind]?.map(
        (thing) => batch.find(({ body }) => JSON.stringify(body).includes(open[thing]))!,
      )
      for (const { body } of copied ?? batch.slice(0, 1))
        for (let i = 0; i < MANY; i++) {
          const id = newDocumentId(clock.wall())
          const copy = copyOf(kind, body, members, i)
          changes.push({
            op: 'put',
            kind,
            id,
            body: kind === 'hook' ? { ...copy, sealed: sealedFor(parts.sealKey, id) } : copy,
          })
        }
      break
    }
  const { rows } = await parts.tokens.listSessions({ orgId, limit: 1000 })
  const [key] = rows.filter(({ apiIds }) => apiIds.includes(open.api))
  for (let i = 0; i < MANY; i++) changes.push({ op: 'putSession', hash: randomBytes(32), row: sessionOf(key!) })
  const client = await parts.documents.find('oauth_client', 'client_id', open.client)
  const facts = {
    api_id: open.api,
    epoch: client!.body.epoch!,
    policies: [],
    scope: '',
    family: '',
    issued_at: 1,
    username: '',
  }
  const token = {
    ...sessionOf(key!),
    clientId: open.client,
    body: { ...key!.body, [TOKEN_FACTS]: facts, expires: 9_999_999_999 },
  }
  for (let i = 0; i < MANY; i++) changes.push({ op: 'putSession', hash: randomBytes(32), row: token })
  for (const queue of [open.api, hookQueue(orgId, open.hook)])
    for (let i = 0; i < MANY; i++)
      changes.push({ op: 'putDelivery', row: { queue, sealed: randomBytes(8), createdAt: clock.wall() } })
  for (let i = 0; i < changes.length; i += COMMIT_ROWS)
    await parts.documents.commit(changes.slice(i, i + COMMIT_ROWS), undefined)
  const at = clock.wall()
  for (let i = 0; i < MANY; i++)
    await parts.documents.commit([], { actor: 'test', action: 'test', orgId, at, detail: {} })
}

function sessionOf({ hash: _hash, ...row }: SessionRow) {
  return row
}

function copyOf(kind: string, body: JsonObject, members: readonly string[], i: number): JsonObject {
  let text = JSON.stringify(body)
  for (const member of members) {
    const value = JSON.stringify(body[member] ?? '').slice(1, -1)
    if (value !== '')
      text = text.replaceAll(
        value,
        member === 'email_address' || member === 'email' ? `c${i}-${value}` : `${value}-c${i}`,
      )
  }
  const copy = JSON.parse(text) as JsonObject
  return CHANGED[kind]?.(copy) ?? copy
}
