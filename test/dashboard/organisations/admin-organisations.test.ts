import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import { DOCUMENT_KINDS } from '../../../src/model/documents/kinds.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Change } from '../../../src/store/ports/ports.ts'
import { assertDone, assertRefused, bodyOf, dashboardFor } from '../../worlds/dashboard/people.ts'

const PATH = '/admin/organisations'
const UNKNOWN_ID = '65a0000000000000000000ff'
const UNKNOWN = 'Could not retrieve org detail'
const ORG = {
  owner_name: 'Acme',
  owner_slug: 'acme',
  cname: 'portal.acme.test',
  cname_enabled: true,
  apis: null,
  event_options: { key_event: { webhook: 'https://hooks.acme.test' } },
  hybrid_enabled: true,
  sso_enabled: true,
  own_field: { kept: true },
}

/** Node status and gateway commands belong to the installation. */
const OF_NONE = ['organisation', 'installation', 'node', 'addresses', 'order']
/** Every kind of document but those that belong to no organisation: a new kind is among them. */
const OF_ORGANISATIONS = Object.keys(DOCUMENT_KINDS).filter((kind) => !OF_NONE.includes(kind))

/** A document of every kind, and a key, of one organisation. */
function fill(orgId: string, which: number): Change[] {
  const ids = new Map(OF_ORGANISATIONS.map((kind, index) => [kind, `${which}${index}`.padStart(24, '0') as DocumentId]))
  // The text of a documentation has the same id.
  ids.set('portal_documentation_text', ids.get('portal_documentation')!)
  const row = { body: { org_id: orgId }, orgId, apiIds: [], policyIds: [], clientId: '', evictAt: 0 }
  return [
    ...[...ids].map(([kind, id]): Change => {
      const own = Object.fromEntries(
        ['api_id', 'id', 'ID', 'cert_id', 'client_id', 'key', 'name', 'email', 'email_address', 'slug', 'by_user'].map(
          (name) => [name, `${name} ${which}`],
        ),
      )
      const body = { ...own, org_id: orgId, OrgID: orgId, developer_id: ids.get('developer')! }
      return { op: 'put', kind, id, body }
    }),
    { op: 'putSession', hash: Buffer.alloc(32, which + 1), row },
  ]
}

test('an organisation is made, shown, replaced as a whole and deleted', async (t) => {
  const dashboard = await dashboardFor(t)
  const call = (method: string, path: string, body?: unknown) =>
    dashboard.call(method, path, { as: 'installation', body })
  const made = bodyOf(await call('POST', `${PATH}/`, ORG))
  assert.equal(made.Message, 'Org created')
  const id = String(made.Meta)
  const shown = bodyOf(await call('GET', `${PATH}/${id}`))
  assert.deepEqual(shown, {
    ...ORG,
    ...{ id, apis: [], developer_quota: 0, developer_count: 0, org_options_meta: {}, ui: {} },
  })
  const { organisations, pages } = bodyOf(await call('GET', PATH))
  assert.deepEqual(
    [(organisations as JsonObject[]).find((each) => each.id === id), (organisations as JsonObject[]).length, pages],
    [shown, 2, 1],
  )
  assertDone(await call('PUT', `${PATH}/${id}`, { owner_name: 'Acme 2', id: UNKNOWN_ID }), 'Org updated')
  const after = bodyOf(await call('GET', `${PATH}/${id}`))
  assert.equal(after.owner_name, 'Acme 2')
  assert.deepEqual([after.id, after.owner_slug, after.cname_enabled, after.event_options], [id, '', false, {}])
  assert.ok(!('own_field' in after))
  assertDone(await call('DELETE', `${PATH}/${id}`), 'Org deleted')
  for (const method of ['GET', 'DELETE']) assertRefused(await call(method, `${PATH}/${id}`), 404, UNKNOWN)
  assertRefused(await call('PUT', `${PATH}/${id}`, ORG), 404, UNKNOWN)
})

test('an import keeps the id, and is refused a second time', async (t) => {
  const dashboard = await dashboardFor(t)
  const call = (body: unknown) => dashboard.call('POST', `${PATH}/import`, { as: 'installation', body })
  const id = '5e9d9544a1dcd60001d0ed20'
  assertDone(await call({ ...ORG, id }), 'Org imported', id)
  assertRefused(await call({ ...ORG, id }), 403, /^Failed to save new Org object to DB/)
  for (const wrong of [undefined, '', 'x', 7, id.toUpperCase()])
    assertRefused(await call({ ...ORG, ...(wrong !== undefined && { id: wrong }) }), 400, /id: must be 24/)
})

test('an organisation is refused in the words of each reason', async (t) => {
  const dashboard = await dashboardFor(t)
  const post = (body: unknown) => dashboard.call('POST', PATH, { as: 'installation', body })
  const wrong = [
    { owner_name: 7 },
    { owner_name: 'a\nb' },
    { owner_name: 'x'.repeat(257) },
    { apis: {} },
    { event_options: [] },
    { sso_enabled: 'yes' },
    { additional_permissions: { IsAdmin: 'x' } },
  ]
  for (const body of wrong) assertRefused(await post(body), 400, /^Organisation object validation failed: \w+/)
  assertRefused(await post('{'), 403, 'Request body malformed')
})

test('a deleted organisation takes everything of its own with it, and nothing of others', async (t) => {
  const dashboard = await dashboardFor(t)
  const { call, store } = dashboard
  const make = async (cname: string) =>
    String(bodyOf(await call('POST', PATH, { as: 'installation', body: { ...ORG, cname } })).Meta)
  // The first of them is the default organisation.
  await make('first.test')
  const [doomed, other] = [await make('doomed.test'), await make('other.test')]
  const user = await dashboard.admin(doomed)
  const [witness, neighbour] = [doomed, other].map((orgId, which) => fill(orgId, which))
  for (const changes of [witness!, neighbour!]) await store.documents.commit(changes, undefined)
  const left = async (changes: readonly Change[]) => {
    const found: string[] = []
    for (const change of changes) {
      if (change.op === 'put' && (await store.documents.get(change.kind, change.id)) !== undefined)
        found.push(change.kind)
      if (change.op === 'putSession' && (await store.tokens.getSession(change.hash)) !== undefined)
        found.push('session')
    }
    return found
  }
  const everything = await left(witness!)
  assert.deepEqual(everything.sort(), [...OF_ORGANISATIONS, 'session'].sort())
  const organisations = async () => (await store.documents.list('organisation', { limit: 9 })).total
  const before = await organisations()
  assertDone(await call('DELETE', `${PATH}/${doomed}`, { as: 'installation' }), 'Org deleted')
  assert.deepEqual(await left(witness!), [])
  assert.deepEqual((await left(neighbour!)).sort(), everything)
  assert.equal(await organisations(), before - 1)
  assertRefused(await call('GET', '/api/users/me', { as: user }), 401, 'Not authorised')
  for (const kind of OF_ORGANISATIONS) {
    const { rows } = await store.documents.list(kind, { limit: 1000 })
    // A note keeps its id from the next one.
    const others = rows.filter(({ body }) => body.noun !== 'organisation')
    assert.ok(!JSON.stringify(others).includes(doomed), kind)
  }
})

test('custom permissions are made, shown, changed and taken away one by one', async (t) => {
  const dashboard = await dashboardFor(t, {
    env: { SVC_DB_SECURITY_ADDITIONALPERMISSIONS: '{"start":"From the settings"}' },
  })
  const path = `${PATH}/${dashboard.orgId}/permissions`
  const call = (method: string, where = '', body?: unknown) =>
    dashboard.call(method, path + where, { as: 'installation', body })
  const list = async () => bodyOf(await call('GET')).additional_permissions
  assert.deepEqual(await list(), { start: 'From the settings' })
  assertDone(await call('POST', '', { key: 'tester', label: 'Tester' }), 'Additional permission created', 'tester')
  assertRefused(await call('POST', '', { key: 'tester', label: 'Tester' }), 409, 'Permission already exists')
  assert.deepEqual(bodyOf(await call('GET', '/tester')), { key: 'tester', label: 'Tester' })
  assertDone(await call('PUT', '/tester', { label: 'Tests' }), 'Additional permission updated')
  assert.deepEqual(await list(), { start: 'From the settings', tester: 'Tests' })
  assertDone(await call('DELETE', '/start'), 'Additional permission deleted')
  assert.deepEqual(await list(), { tester: 'Tests' })
  const admin = await dashboard.admin()
  assert.deepEqual(bodyOf(await dashboard.call('GET', '/api/org/permissions', { as: admin })), {
    additional_permissions: { tester: 'Tests' },
  })
  bodyOf(await dashboard.call('PUT', `${PATH}/${dashboard.orgId}`, { as: 'installation', body: ORG }))
  assert.deepEqual(await list(), { tester: 'Tests' }, 'a replaced organisation keeps them')
  for (const method of ['GET', 'DELETE'])
    assertRefused(await call(method, '/none'), 404, 'Could not retrieve permission')
  assertRefused(await call('PUT', '/constructor', { label: 'x' }), 404, 'Could not retrieve permission')
  assertRefused(await call('POST', '', { key: 'IsAdmin', label: 'x' }), 400, /^Organisation object validation failed/)
  assertRefused(await call('POST', '', { key: 'x' }), 400, /label/)
  const elsewhere = `${PATH}/${UNKNOWN_ID}/permissions`
  assertRefused(await dashboard.call('GET', elsewhere, { as: 'installation' }), 404, UNKNOWN)
})

test('every call of the admin API asks for the admin secret', async (t) => {
  const dashboard = await dashboardFor(t)
  const admin = await dashboard.admin()
  const routes = dashboard.dashboard.routes.filter(({ path }) => path.startsWith('/admin/'))
  assert.ok(routes.length >= 25)
  for (const { method, path } of routes) {
    const where = path.replaceAll(/\{\w+\}/g, UNKNOWN_ID)
    for (const headers of [{}, { 'admin-auth': '' }, { 'admin-auth': 'wrong' }, { 'x-admin-auth': 'x' }])
      assertRefused(await dashboard.call(method, where, { as: admin, headers }), 401, 'Not authorised')
  }
})

test('limits of organisations are kept as keys', async (t) => {
  const dashboard = await dashboardFor(t)
  const id = dashboard.orgId
  const call = (method: string, path: string, body?: unknown) =>
    dashboard.call(method, `/admin/org/keys${path}`, { as: 'installation', body })
  const made = bodyOf(await call('POST', '', { org_id: id, quota_max: 100, quota_renewal_rate: 60 }))
  assert.deepEqual([made.key_id, (made.data as JsonObject).quota_max], [id, 100])
  assert.deepEqual(bodyOf(await call('GET', '')), { data: { keys: [id] }, pages: 1 })
  bodyOf(await call('PUT', `/${id}`, { quota_max: 200, quota_renewal_rate: 60 }))
  assert.equal((bodyOf(await call('GET', `/${id}`)).data as JsonObject).quota_max, 200)
  const moved = await call('PUT', `/${id}`, { org_id: UNKNOWN_ID })
  assertRefused(moved, 400, 'Updating orgID of org key is not allowed')
  assertRefused(await call('PUT', `/${UNKNOWN_ID}`, {}), 404, "Org key doesn't exist")
  assertDone(await call('DELETE', `/${id}`), 'Key deleted successfully.')
  for (const method of ['GET', 'DELETE']) assertRefused(await call(method, `/${id}`), 404, "Org key doesn't exist")
})

test('reload waits for the gateway, and the purge of tokens wants a scope', async (t) => {
  const asked: number[] = []
  const settled = async (revision: number) => void asked.push(revision)
  const dashboard = await dashboardFor(t, { parts: { settled } })
  const call = (method: string, path: string) => dashboard.call(method, path, { as: 'installation' })
  assert.deepEqual(bodyOf(await call('GET', '/admin/system/reload')), { status: 'ok' })
  assert.deepEqual(asked, [await dashboard.store.documents.revision()])
  assertRefused(await call('DELETE', '/admin/oauth/tokens'), 422, 'scope parameter is required')
  assertRefused(await call('DELETE', '/admin/oauth/tokens?scope=all'), 400, 'unknown scope')
  assertDone(await call('DELETE', '/admin/oauth/tokens?scope=lapsed'), 'success')
})

test('generate-portals gives the portal its host, by a form', async (t) => {
  const { call, orgId } = await dashboardFor(t)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const generate = (id: string, body: string) =>
    call('POST', `${PATH}/${id}/generate-portals`, { as: 'installation', body, headers })
  assertDone(await generate(orgId, 'domain=portal.acme.test'), 'Org updated')
  const shown = bodyOf(await call('GET', `${PATH}/${orgId}`, { as: 'installation' }))
  assert.deepEqual(
    [shown.cname, shown.cname_enabled, shown.owner_name],
    ['portal.acme.test', true, 'First organisation'],
  )
  assertRefused(await generate(UNKNOWN_ID, 'domain=portal.acme.test'), 404, 'Could not generate APIs')
})

test('no call gives an organisation the portal host of another one; its own it may keep', async (t) => {
  const { call, orgId } = await dashboardFor(t)
  const as = 'installation'
  const taken = 'Another organisation has this host'
  const first = bodyOf(await call('POST', PATH, { as, body: { ...ORG, cname: 'portal.one.test' } })).Meta as string
  const body = { ...ORG, cname: 'Portal.One.test' }
  const form = {
    as,
    body: 'domain=PORTAL.one.test',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  } as const
  assertRefused(await call('POST', PATH, { as, body }), 409, taken)
  assertRefused(await call('POST', `${PATH}/import`, { as, body: { ...body, id: UNKNOWN_ID } }), 409, taken)
  assertRefused(await call('PUT', `${PATH}/${orgId}`, { as, body }), 409, taken)
  assertRefused(await call('POST', `${PATH}/${orgId}/generate-portals`, form), 409, taken)
  assertDone(await call('PUT', `${PATH}/${first}`, { as, body }), 'Org updated')
  assertDone(await call('PUT', `${PATH}/${first}`, { as, body: { ...body, cname: '' } }), 'Org updated')
  assertDone(await call('POST', `${PATH}/${orgId}/generate-portals`, form), 'Org updated')
})
