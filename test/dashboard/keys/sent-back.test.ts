import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { EXPECTED, type Expectation } from '../../worlds/access-matrix/expectations.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'

/** When something was written, by whom it is noted: what every write changes. */
const NOTES: ReadonlySet<string> = new Set(['last_updated', 'updated_at', 'LastUpdated', 'revision', 'version'])

/** A plain document is put over a definition there: one with the extension is refused. */
const REFUSED: ReadonlySet<string> = new Set([
  'PATCH /api/apis/oas/{}',
  // The policy of the world asks for an OAuth client since its key was made.
  'PUT /api/portal/developers/{}/keys/{}',
  'PUT /portal/developers/{}/keys/{}',
])

const ANYBODY: Expectation = { who: 'apis', names: [] }

/** A route that writes what its path names, as it is called here. */
interface Written {
  readonly route: Route
  readonly path: string
  readonly as: TestUser | 'installation'
  /** The read of the same path; undefined where nothing reads it. */
  readonly read: JsonObject | undefined
}

async function startFilled(): Promise<World> {
  const world = await startWorld()
  const made = [
    ['/admin/org/keys', { org_id: world.orgId, rate: 5, per: 1, quota_max: 10, quota_renewal_rate: 60, own: 'note' }],
    [`/admin/organisations/${world.orgId}/permissions`, { key: 'own_right', label: 'Own right' }],
  ] as const
  for (const [path, body] of made) {
    const { status, text } = await world.call('POST', path, { as: 'installation', body })
    assert.ok(status < 300, text)
  }
  const as = await world.actor('admin', ANYBODY)
  const { json: policy } = await world.call('GET', `/api/portal/policies/${world.open.policy}`, { as })
  for (const [path, body] of [
    ['/api/portal/css', { page_css: 'a { color: red }' }],
    ['/api/portal/js', { page_js: 'let a' }],
    ['/api/portal/menus', { is_active: true, menus: {} }],
    [`/api/portal/policies/${world.open.policy}`, policy as JsonObject],
  ] as const) {
    const { status, text } = await world.call('PUT', path, { as, body })
    assert.ok(status < 300, text)
  }
  // The first actor asked for fixes the state of the world that is restored.
  await world.actor('self', ANYBODY)
  return world
}

/** Routes that read a path which others write. */
function readersOf({ dashboard: { routes } }: World): Map<string, Route> {
  return new Map(routes.filter(({ method }) => method === 'GET').map((route) => [route.path, route]))
}

async function writtenBy(world: World, route: Route, things: World['open']): Promise<Written> {
  const expected = EXPECTED.get(callOf(route))!
  const as = expected.who === 'installation' ? 'installation' : ((await world.actor('admin', ANYBODY)) as TestUser)
  let number = 0
  const path = route.path.replace(/\{[^}]*\}/g, (placeholder) =>
    encodeURIComponent(placeholder === '{permission}' ? 'own_right' : things[expected.names[number++] ?? 'none']),
  )
  if (!readersOf(world).has(route.path)) return { route, path, as, read: undefined }
  const { status, json } = await world.call('GET', path, { as })
  if (status !== 200 || !isObject(json)) return { route, path, as, read: undefined }
  // A key is read with what its hash is, and written under the key itself.
  const read = isObject(json.data) && typeof json.key_hash === 'string' ? json.data : json
  return { route, path, as, read: read as JsonObject }
}

/** Without the notes of writes, without what is blank, in the order of names; seals, which are random, as such. */
function lasting(value: Json, name = ''): Json {
  if (Array.isArray(value)) return value.map((each) => lasting(each))
  if (typeof value === 'string') return /^(?:sealed|access_sealed|sealed_members)$/.test(name) ? 'sealed' : value
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([each]) => !NOTES.has(each))
  const members = kept.map(([each, member]): [string, Json] => [each, lasting(member, each)])
  return Object.fromEntries(members.filter(([, member]) => !isBlank(member)).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function isBlank(value: Json): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** Everything that is stored, by kind and id, each as text. */
async function stored(world: World): Promise<ReadonlyMap<string, string>> {
  const [documents, sessions] = JSON.parse(await world.fingerprint()) as [JsonObject[], JsonObject[]]
  const nameOf = (each: JsonObject) =>
    each.kind === undefined ? `session ${JSON.stringify(each.hash)}` : `${each.kind} ${each.id}`
  return new Map([...documents, ...sessions].map((each) => [nameOf(each), JSON.stringify(lasting(each))]))
}

/** The differences from before; '' = none. */
function changesOf(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string {
  const names = new Set([...before.keys(), ...after.keys()])
  const changed = [...names].filter((name) => before.get(name) !== after.get(name))
  return changed.map((name) => `${name}:\n  ${before.get(name)}\n  ${after.get(name)}`).join('\n')
}

test('whatever is read is sent back to the same path without changing anything', async (t) => {
  const world = await startFilled()
  t.after(world.close)
  const flaws: string[] = []
  let pairs = 0
  for (const route of world.dashboard.routes.filter(({ method }) => method === 'PUT' || method === 'PATCH')) {
    const { path, as, read } = await writtenBy(world, route, world.open)
    if (read === undefined) {
      if (readersOf(world).has(route.path)) flaws.push(`${callOf(route)}: cannot be read`)
      continue
    }
    pairs++
    const before = await stored(world)
    const { status, text } = await world.call(route.method, path, { as, body: read })
    if (status >= 300 && !REFUSED.has(callOf(route))) flaws.push(`${callOf(route)}: ${status} ${text.slice(0, 200)}`)
    const changes = changesOf(before, await stored(world))
    if (changes !== '') flaws.push(`${callOf(route)}: ${changes}`)
    await world.restore()
  }
  t.diagnostic(`${pairs} pairs`)
  assert.equal(flaws.join('\n'), '')
})

/** Identifying members of documents of any kind. */
const IDS = ['id', '_id', 'ID', 'api_id', 'client_id', 'key_hash', 'org_id', 'OrgID', 'dbId', 'orgId'] as const

test('an identifier of another object in a body changes neither that object nor this one', async (t) => {
  const world = await startFilled()
  t.after(world.close)
  const far = await world.organisation({ owner_name: 'Far' })
  await world.actor('unbounded self', ANYBODY)
  const flaws: string[] = []
  let calls = 0
  for (const route of world.dashboard.routes) {
    const writes =
      route.method === 'PUT' || route.method === 'PATCH' || /^POST .*\}$/.test(`${route.method} ${route.path}`)
    // The portal's older spellings are the same calls.
    if (!writes || route.path.startsWith('/portal/')) continue
    const { path, as, read } = await writtenBy(world, route, world.open)
    if (read === undefined) continue
    const before = await stored(world)
    for (const body of bodiesWith(read, strangerOf(route, world), far)) {
      calls++
      const revision = await world.store.documents.revision()
      const { status, text } = await world.call(route.method, path, { as, body })
      const told = `${callOf(route)}: ${status} ${text.slice(0, 100)}`
      if (status >= 500) flaws.push(told)
      if ((await world.store.documents.revision()) === revision) continue
      const changes = identityChanges(before, await stored(world))
      if (changes !== '') flaws.push(`${told} ${changes}`)
      await world.restore()
    }
  }
  t.diagnostic(`${calls} calls`)
  assert.ok(calls > 100)
  assert.equal(flaws.join('\n'), '')
})

/** The thing that the last placeholder of a route names, of those that others own. */
function strangerOf(route: Route, { owned }: World): string {
  const name = EXPECTED.get(callOf(route))!.names.at(-1) ?? 'api'
  return owned[name]
}

/** The body with each identifier at its top, in a definition, and in the extension of a document. */
function* bodiesWith(read: JsonObject, stranger: string, far: string): Generator<JsonObject> {
  const { api_definition: definition, [EXTENSION]: extension } = read
  for (const name of IDS) {
    const value = /org/i.test(name) ? far : stranger
    yield { ...read, [name]: value }
    if (isObject(definition)) yield { ...read, api_definition: { ...definition, [name]: value } }
    if (!isObject(extension)) continue
    const info = isObject(extension.info) ? extension.info : {}
    yield { ...read, [EXTENSION]: { ...extension, info: { ...info, [name]: value } } }
  }
}

const EXTENSION = 'x-svc-api-gateway'

/** Objects that were added, removed, or changed identity; more than one that changed in any way. */
function identityChanges(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string {
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const changed = names.filter((name) => before.get(name) !== after.get(name))
  const wrong = changed.filter((name) => {
    const [was, is] = [before.get(name), after.get(name)]
    return was === undefined || is === undefined || identityOf(was) !== identityOf(is)
  })
  return [...wrong, ...(changed.length > 1 ? changed : [])]
    .map((name) => `${name}: ${after.get(name)?.slice(0, 500)}`)
    .join('\n')
}

/** The identifying members of a stored object, and its owner, in the spelling of its kind; other names are notes that nothing reads. */
function identityOf(text: string): string {
  const { kind, id, hash, orgId, clientId, body } = JSON.parse(text) as Record<string, Json>
  const own = isObject(body) ? body : {}
  const document = isObject(own.definition) ? own.definition : {}
  const extension = document[EXTENSION]
  const info = isObject(extension) && isObject(extension.info) ? extension.info : undefined
  const inside = info === undefined ? [document.id, document.api_id, document.org_id] : [info.id, info.dbId, info.orgId]
  const named: Readonly<Record<string, readonly (Json | undefined)[]>> = {
    api: [own.api_id, ...inside],
    oauth_client: [own.client_id],
    idp_profile: [own.ID, own.OrgID],
    policy: [own.id, own._id],
  }
  const ids = named[String(kind)] ?? []
  return JSON.stringify([kind, id, hash, orgId, clientId, ...ids, kind === 'idp_profile' ? '' : own.org_id])
}
