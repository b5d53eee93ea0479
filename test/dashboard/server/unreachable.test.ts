import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { entriesOf } from '../../../src/model/portal/catalogue/catalogue.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { type ActorKind, EXPECTED, type Thing } from '../../worlds/access-matrix/expectations.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { OURS, OWNED, SECRET, startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { spread } from '../../worlds/base/spread.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'

/** The things of its own that an actor must not read in any answer. */
const MUST_NOT_READ: Readonly<Partial<Record<ActorKind, string>>> = {
  'non-owner': OWNED,
  'read-only': SECRET,
  'unbounded reader': SECRET,
  'admin of another organisation': OURS,
}
/** In every way that a list or a single one is asked for. */
const QUERIES = [
  '',
  '?p=-1',
  `?p=-1&facts=1&compressed=0&mode=detailed&q=${OWNED}`,
  '?p=-1&download=true&type=csv&facts=1',
]
/** Calls that never end, or whose responses name public objects. */
const SKIPPED = new Set(['GET /api/logs/live'])
/** Readers of the audit log see who did what, with the names of things. */
const NAMES_ALL = new Set(['GET /api/audit-logs', 'GET /api/audit-logs/{}'])

const userOf = (world: World, kind: ActorKind) => world.actor(kind, { who: 'apis', names: [] }) as Promise<TestUser>

/** Every name of things that a placeholder may be given, one thing at a time. */
function idsOf(world: World): string[] {
  const all = Object.entries(world.owned).filter(([thing]) => thing !== 'organisation' && thing !== 'none')
  return [...all.map(([, id]) => id), hashKey(world.owned.key).toString('hex')]
}

const sentIn = (path: string, id: string) => path.split('/').includes(encodeURIComponent(id))

/** One in so many of the names that belong elsewhere is tried at a route, unless the run is a long one. */
const SPREAD = 6

/** Each placeholder with what belongs there, and then each of them with other things: in long runs with all. */
function* pathsOf(world: World, route: Route): Generator<string> {
  const names = EXPECTED.get(callOf(route))?.names ?? []
  const fits = (things: Readonly<Record<Thing, string>>) => {
    let at = 0
    return route.path.replace(/\{[^}]*\}/g, () => encodeURIComponent(things[names[at++] ?? 'none']))
  }
  yield fits(world.open)
  yield fits(world.owned)
  if (!route.path.includes('{')) return
  const turn = world.dashboard.routes.indexOf(route)
  for (const id of spread(idsOf(world), turn, SPREAD)) yield route.path.replace(/\{[^}]*\}/g, encodeURIComponent(id))
}

/** Lists are asked for in every way, one thing in turns: outside long runs plainly and in one way more. */
function queriesAt({ path }: Route, turn: number): readonly string[] {
  return path.includes('{') ? ['', ...spread(QUERIES.slice(1), turn, QUERIES.length - 1)] : QUERIES
}

test('no route shows a user what others own, nor a secret without the right to write it', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const wrong: string[] = []
  let calls = 0
  // The sent values may come back, the longest first.
  const ids = idsOf(world).sort((a, b) => b.length - a.length)
  for (const [kind, text] of Object.entries(MUST_NOT_READ)) {
    const as = await userOf(world, kind as ActorKind)
    for (const route of world.dashboard.routes) {
      const call = callOf(route)
      if (route.method !== 'GET' || SKIPPED.has(call) || (text !== SECRET && NAMES_ALL.has(call))) continue
      for (const [at, path] of [...new Set(pathsOf(world, route))].entries()) {
        // Names in the wrong places are tried as one who may look everywhere but there.
        if (at >= 2 && kind !== 'non-owner') break
        for (const query of at < 2 ? queriesAt(route, calls) : ['']) {
          calls++
          const answer = await world.call('GET', path + query, { as, headers: { accept: 'application/x-yaml, */*' } })
          const told = ids.filter((id) => sentIn(path, id)).reduce((rest, id) => rest.replaceAll(id, ''), answer.text)
          if (told.includes(text)) wrong.push(`${kind} GET ${path}${query}: ${answer.status} ${told.slice(0, 300)}`)
        }
      }
    }
  }
  t.diagnostic(`${calls} calls`)
  assert.deepEqual(wrong, [])
})

test('no route lets a non-owner change or end things of others', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const as = await userOf(world, 'non-owner')
  const before = await ownedState(world)
  const wrong: string[] = []
  let calls = 0
  for (const route of world.dashboard.routes) {
    if (route.method === 'GET') continue
    for (const path of new Set(pathsOf(world, route))) {
      calls++
      const revision = await world.store.documents.revision()
      const body = EXPECTED.get(callOf(route))?.body ?? {}
      const answer = await world.call(route.method, path, { as, body })
      if ((await world.store.documents.revision()) === revision) continue
      if (JSON.stringify(await ownedState(world)) !== JSON.stringify(before))
        wrong.push(`${route.method} ${path}: ${answer.status} ${answer.text.slice(0, 200)}`)
      await world.restore()
    }
  }
  t.diagnostic(`${calls} calls`)
  assert.deepEqual(wrong, [])
})

/** Everything of an owner: documents of their APIs, and their parts of shared documents. */
async function ownedState({ store, owned, orgId }: World): Promise<unknown> {
  const of = async (kind: string, where: Readonly<Record<string, string>>) =>
    (await store.documents.list(kind, { where, limit: 1000 })).rows.map(({ id, body }) => ({ id, body }))
  const apis = (await of('api', { org_id: orgId })).filter(({ body }) =>
    [owned.api, owned.oas].includes(String(body.api_id)),
  )
  const policies = (await of('policy', { org_id: orgId })).filter(({ body }) => body.id === owned.policy)
  const clients = (await of('oauth_client', { org_id: orgId })).filter(({ body }) =>
    [owned.client, owned.app].includes(String(body.client_id)),
  )
  const [catalogue] = await of('catalogue', { org_id: orgId })
  const entries = entriesOf(catalogue?.body).filter(({ policy_id }) => policy_id === owned.policy)
  const [developer] = (await of('developer', { org_id: orgId })).filter(({ id }) => id === owned.developer)
  const { keys, subscriptions, oauth_clients } = developer?.body ?? {}
  const sessions = []
  for (const hash of [hashKey(owned.key), Buffer.from(owned.held_key, 'hex')])
    sessions.push(await store.tokens.getSession(hash))
  const requests = (await of('key_request', { org_id: orgId })).filter(({ id }) => id === owned.request)
  const documents = (await of('portal_documentation', { org_id: orgId })).filter(({ id }) => id === owned.documentation)
  const held = { keys, subscriptions, oauth_clients }
  return { apis, policies, clients, entries, held, sessions, requests, documents }
}
