import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { EXPECTED, type Expectation } from '../../worlds/access-matrix/expectations.ts'
import { callOf, rowsOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { type Answer, call } from '../../worlds/base/client.ts'
import { spread } from '../../worlds/base/spread.ts'
import { ADMIN_SECRET, type TestUser } from '../../worlds/dashboard/harness.ts'
import { person, signedIn } from '../../worlds/dashboard/sign-in-world.ts'
import { watchedStore } from '../../worlds/dashboard/watched-store.ts'
import { PASSWORD as PORTAL_PASSWORD, PortalBrowser } from '../../worlds/portal/portal-people.ts'

/** One in so many of those who may GET a path that only reads is tried, unless the run is a long one. */
const SPREAD = 3

/** A world whose store reports every write, and whose gateway reports every reload. */
async function watchedWorld(t: TestContext, writes: string[]): Promise<World> {
  const clock = new FakeClock()
  const store = watchedStore(openMemoryStore({ clock }), (write) => {
    // A refusal of a known user is recorded for every method.
    if (!write.startsWith('documents.note') || !write.includes('"refused":')) writes.push(write)
  })
  t.after(() => store.close())
  const world = await startWorld({
    ...{ clock, store },
    // The deprecated call that changes a key by GET is on.
    env: { SVC_PORTAL_ALLOWUNSAFEGET: 'true' },
    parts: { settled: async () => void writes.push('gateway.settled') },
  })
  t.after(world.close)
  return world
}

type Things = World['open']

/** The path of a route about things that are there; `self`: the id of a caller who asks about the own record. */
function pathOf({ path }: Pick<Route, 'path'>, expected: Expectation, things: Things, self?: string): string {
  const { names, own, onlyOwn, query = '' } = expected
  let number = 0
  const named = path.replace(/\{[^}]*\}/g, () => {
    const at = number++
    const isOwn = at === (own ?? onlyOwn) && self !== undefined
    return encodeURIComponent(isOwn ? self : things[names[at] ?? 'none'])
  })
  return named + query
}

function credentialOf(as: TestUser | 'installation' | undefined): Record<string, string> {
  if (as === undefined) return {}
  return as === 'installation' ? { 'admin-auth': ADMIN_SECRET } : { authorization: as.key }
}

/** HEAD and GET of a path; what is wrong when HEAD writes, is answered otherwise than GET, or is taken where GET writes. */
async function compare(world: World, writes: string[], path: string, headers: Record<string, string>) {
  const ask = async (method: string): Promise<Answer & { written: string[] }> => {
    writes.length = 0
    const answer = await call(world.port, path, { method, headers })
    return { ...answer, written: [...writes] }
  }
  const head = await ask('HEAD')
  const get = await ask('GET')
  if (get.written.length > 0) await world.restore()
  if (head.written.length > 0) return `HEAD writes: ${head.written}`
  if (head.text !== '') return 'HEAD has a body'
  if (head.status === 405) return head.headers.allow?.split(', ').includes('GET') ? undefined : 'Allow lacks GET'
  if (get.written.length > 0) return `GET writes, and HEAD is answered ${head.status}: ${get.written}`
  return head.status === get.status ? undefined : `HEAD is answered ${head.status}, GET ${get.status}`
}

test('HEAD of every path changes nothing, for every actor who may GET it', async (t) => {
  const writes: string[] = []
  const world = await watchedWorld(t, writes)
  const wrong: string[] = []
  let acting = 0
  for (const [turn, route] of world.dashboard.routes.filter(({ method }) => method === 'GET').entries()) {
    const rows = rowsOf(route).filter(({ outcome }) => outcome === 'admitted' || outcome === 'looked at')
    // Where GET changes something everybody is tried in every run.
    for (const { kind, expected } of route.once === true ? rows : spread(rows, turn, SPREAD)) {
      const as = await world.actor(kind, expected)
      const about = kind === 'owner' || kind === 'group owner' || kind === 'admin about what others own'
      const self = /self$/.test(kind) && typeof as === 'object' ? as.id : undefined
      const path = pathOf(route, expected, about ? world.owned : world.open, self)
      const flaw = await compare(world, writes, path, credentialOf(as))
      if (flaw !== undefined) wrong.push(`${callOf(route)} as ${kind}: ${flaw}`)
      if (route.once === true) acting++
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(acting > 20, `${acting}`)
})

test('HEAD is refused, and not taken for another path, where there is no GET that only reads', async (t) => {
  const writes: string[] = []
  const world = await watchedWorld(t, writes)
  const admin = await world.admin()
  const reads = new Set(
    world.dashboard.routes
      .filter(({ method, once }) => method === 'GET' && once !== true)
      .map((route) => patternOf(route)),
  )
  const wrong: string[] = []
  for (const route of world.dashboard.routes) {
    if (reads.has(patternOf(route))) continue
    const path = pathOf(route, EXPECTED.get(callOf(route))!, world.open)
    for (const accept of ['*/*', 'text/html']) {
      writes.length = 0
      const headers = { ...credentialOf(admin), 'admin-auth': ADMIN_SECRET, accept }
      const { status, headers: answered } = await call(world.port, path, { method: 'HEAD', headers })
      const listed = String(answered.allow).split(', ')
      if (status !== 405 || !listed.includes(route.method) || writes.length > 0)
        wrong.push(`${callOf(route)}: ${status}, Allow: ${listed}, ${writes}`)
    }
  }
  assert.deepEqual(wrong, [])
})

const patternOf = ({ path }: Pick<Route, 'path'>) => path.replace(/\{[^}]*\}/g, '{}')

test('HEAD with the session of a user, and with that of a developer, changes nothing', async (t) => {
  const writes: string[] = []
  const world = await watchedWorld(t, writes)
  const user = await signedIn(world, await person(world))
  const admin = await world.admin()
  const developer = { email: 'with-a-session@example.test', password: PORTAL_PASSWORD, fields: {} }
  assert.equal((await world.call('POST', '/api/portal/developers', { as: admin, body: developer })).status, 200)
  const portal = new PortalBrowser(world)
  const entered = await portal.send('POST', '/portal/login', {
    email: developer.email,
    password: PORTAL_PASSWORD,
    org_id: world.orgId,
  })
  assert.equal(entered.status, 200, entered.text)
  const cookie = `authorisation=${user.cookie}; portal_session=${portal.cookie}`
  const wrong: string[] = []
  for (const route of world.dashboard.routes.filter(({ method }) => method === 'GET')) {
    const path = pathOf(route, EXPECTED.get(callOf(route))!, world.open)
    writes.length = 0
    const { status } = await call(world.port, path, { method: 'HEAD', headers: { cookie } })
    if (writes.length > 0) wrong.push(`${callOf(route)}: ${status}, ${writes}`)
  }
  assert.deepEqual(wrong, [])
  assert.equal((await call(world.port, '/api/session', { headers: { cookie } })).status, 200)
  assert.equal((await call(world.port, '/portal/csrf', { headers: { cookie } })).status, 200)
})

test('HEAD uses up no nonce of single sign-on', async (t) => {
  const writes: string[] = []
  const world = await watchedWorld(t, writes)
  const admin = await world.admin()
  const organisation = (await world.store.documents.get('organisation', world.orgId as DocumentId))!
  const enabled = { ...organisation.body, sso_enabled: true }
  await world.store.documents.commit(
    [{ op: 'put', kind: 'organisation', id: organisation.id, body: enabled }],
    undefined,
  )
  const person = { ForSection: 'dashboard', OrgID: world.orgId, EmailAddress: 'comes@example.test' }
  const sections: readonly [string, string][] = [
    ['dashboard', '/tap'],
    ['portal', '/portal/sso'],
  ]
  for (const [section, path] of sections) {
    const body = { ...person, ForSection: section }
    const made = await world.call('POST', '/admin/sso', { as: 'installation', body })
    assert.equal(made.status, 200, made.text)
    const nonce = (made.json as JsonObject).Meta
    const carrier = { email: person.EmailAddress, fields: {}, nonce }
    if (section === 'portal') await world.call('POST', '/api/portal/developers', { as: admin, body: carrier })
    writes.length = 0
    const head = await call(world.port, `${path}?nonce=${nonce}`, { method: 'HEAD', headers: { accept: 'text/html' } })
    assert.deepEqual([head.status, head.headers.allow, writes], [405, 'GET', []])
    const get = await call(world.port, `${path}?nonce=${nonce}`, { headers: credentialOf(admin) })
    assert.equal(get.status, 303, `${path}: ${get.text}`)
  }
})

test('HEAD of the console and of its files is answered as GET, without a body', async (t) => {
  const writes: string[] = []
  const world = await watchedWorld(t, writes)
  for (const path of ['/', '/apis', '/console/', '/console/index.html', '/reset-password?token=some-token']) {
    const flaw = await compare(world, writes, path, { accept: 'text/html' })
    assert.equal(flaw, undefined, path)
  }
})
