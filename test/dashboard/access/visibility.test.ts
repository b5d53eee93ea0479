import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import { bare, ok } from '../../../src/dashboard/routes/answer.ts'
import type { Owned, Route } from '../../../src/dashboard/routes/route.ts'
import type { DashboardParts } from '../../../src/dashboard/server/parts.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import type { SessionInput } from '../../../src/store/ports/ports.ts'
import { startTestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'

const OWNED: readonly Owned['noun'][] = ['api', 'policy', 'key', 'oauth_client']

/** The part of the store that a caller sees: lists by visibility, and one of each noun by its ownership declaration. */
function routes({ documents }: DashboardParts): Route[] {
  const ids = (rows: readonly { body: JsonObject }[], name: string) => rows.map(({ body }) => body[name]!).sort()
  const one = (noun: Owned['noun']): Route => ({
    method: 'GET',
    path: `/api/${noun}/{id}`,
    access: { permission: 'apis' },
    owned: { noun, by: 'id' },
    summary: 'One',
    answers: { 200: Type.Unknown() },
    run: () => ok('seen'),
  })
  const seen: Route = {
    method: 'GET',
    path: '/api/seen',
    access: { permission: 'apis' },
    summary: 'All',
    answers: { 200: Type.Unknown() },
    async run({ visibility }) {
      const apis = await documents.list('api', { where: visibility.where(), limit: 100 })
      const policies = await documents.list('policy', { where: visibility.whereOrg(), limit: 100 })
      return bare({
        apis: ids(apis.rows, 'api_id'),
        policies: ids(
          policies.rows.filter((row) => visibility.policy(row)),
          'id',
        ),
        apiIds: visibility.apiIds()?.toSorted() ?? null,
        everything: visibility.everything,
      })
    },
  }
  return [seen, ...OWNED.map(one)]
}

/** Two organisations; in the first an API of nobody, one of Ada, one of a group, and what is based on them. */
async function world(t: TestContext, ownership = 'true') {
  const dashboard = await startTestDashboard({ routes, env: { SVC_DB_ENABLEOWNERSHIP: ownership } })
  t.after(dashboard.close)
  const { store, user, group, orgId, organisation, call } = dashboard
  const groupId = await group({ apis: 'write' })
  const ada = await user({ apis: 'write' })
  const otherOrg = await organisation()
  const people = {
    ada,
    bob: await user({ apis: 'write' }),
    carol: await user({}, { groupId }),
    admin: await dashboard.admin(),
    stranger: await dashboard.admin(otherOrg),
    unbounded: await user({ apis: 'read' }, { orgId: '' }),
  }
  const put = async (kind: string, body: JsonObject) => {
    const id = newDocumentId()
    await store.documents.commit([{ op: 'put', kind, id, body }], undefined)
    return id
  }
  const api = (api_id: string, owners: JsonObject, org = orgId) =>
    put('api', { api_id, org_id: org, name: api_id, ...owners })
  const policy = (id: string, apis: string[], org = orgId) =>
    put('policy', { id, org_id: org, access_rights: Object.fromEntries(apis.map((apiId) => [apiId, {}])) })
  const key = async (name: string, own: Partial<SessionInput>) => {
    const row: SessionInput = { body: {}, orgId, apiIds: [], policyIds: [], clientId: '', evictAt: 0, ...own }
    await store.documents.commit([{ op: 'putSession', hash: hashKey(name), row }], undefined)
  }
  await api('open', {})
  const adas = await api('adas', { user_owners: [ada.id], user_group_owners: [] })
  await api('grouped', { user_group_owners: [groupId] })
  await api('abroad', {}, otherOrg)
  await policy('p-open', ['open'])
  await policy('p-both', ['adas', 'grouped'])
  await policy('p-adas', ['adas'])
  await policy('p-gone', ['deleted'])
  await policy('p-abroad', ['abroad'], otherOrg)
  await key('key-adas', { apiIds: ['adas'] })
  await key('key-policy', { policyIds: ['p-both'] })
  await key('key-abroad', { orgId: otherOrg, apiIds: ['abroad'] })
  await put('oauth_client', {
    client_id: 'client-groups',
    org_id: orgId,
    api_ids: ['grouped'],
    registered_by_policy: '',
  })
  const look = async (as: TestUser) => (await call('GET', '/api/seen', { as })).json as JsonObject
  const status = async (as: TestUser, path: string) => (await call('GET', `/api/${path}`, { as })).status
  return { ...dashboard, ...people, look, status, adas }
}

test('APIs and policies are seen by their owners, the others by everybody of the organisation', async (t) => {
  const { look, ada, bob, carol, admin, stranger, unbounded } = await world(t)
  assert.deepEqual(await look(ada), {
    apis: ['adas', 'open'],
    policies: ['p-adas', 'p-both', 'p-gone', 'p-open'],
    apiIds: ['adas', 'open'],
    everything: false,
  })
  assert.deepEqual((await look(bob)).apis, ['open'])
  assert.deepEqual((await look(bob)).policies, ['p-gone', 'p-open'])
  assert.deepEqual((await look(carol)).apis, ['grouped', 'open'])
  assert.deepEqual((await look(carol)).policies, ['p-both', 'p-gone', 'p-open'])
  const all = { apis: ['adas', 'grouped', 'open'], policies: ['p-adas', 'p-both', 'p-gone', 'p-open'] }
  assert.deepEqual(await look(admin), { ...all, apiIds: null, everything: true })
  assert.deepEqual(await look(stranger), { apis: ['abroad'], policies: ['p-abroad'], apiIds: null, everything: true })
  const everywhere = await look(unbounded)
  assert.deepEqual(everywhere.apis, ['abroad', 'adas', 'grouped', 'open'])
  assert.equal((everywhere.policies as string[]).length, 5)
})

test('with ownership off owners hide nothing', async (t) => {
  const { look, bob, status, stranger } = await world(t, 'false')
  assert.deepEqual((await look(bob)).apis, ['adas', 'grouped', 'open'])
  assert.equal(await status(bob, 'api/adas'), 200)
  assert.deepEqual((await look(stranger)).apis, ['abroad'])
})

test('a call about what others own is refused with 401, and about what is not there is not', async (t) => {
  const { status, ada, bob, carol, admin, stranger, adas } = await world(t)
  const rows: [string, TestUser, number][] = [
    ['api/adas', ada, 200],
    ['api/adas', bob, 401],
    ['api/adas', admin, 200],
    [`api/${adas}`, bob, 401],
    ['api/open', bob, 200],
    ['api/grouped', carol, 200],
    ['api/grouped', ada, 401],
    ['api/nowhere', bob, 200],
    ['api/abroad', bob, 200],
    ['policy/p-both', bob, 401],
    ['policy/p-both', carol, 200],
    ['policy/p-adas', carol, 401],
    ['policy/p-gone', bob, 200],
    ['policy/p-abroad', bob, 200],
    ['key/key-adas', bob, 401],
    ['key/key-adas', ada, 200],
    [`key/${hashKey('key-adas').toString('hex')}`, bob, 401],
    ['key/key-policy', bob, 401],
    ['key/key-policy', carol, 200],
    ['key/key-abroad', bob, 200],
    ['key/none', bob, 200],
    ['oauth_client/client-groups', ada, 401],
    ['oauth_client/client-groups', carol, 200],
    ['api/adas', stranger, 200],
  ]
  for (const [path, as, expected] of rows) assert.equal(await status(as, path), expected, `${path} ${as.email}`)
})

test('a change of owners counts at once, and so does a deletion', async (t) => {
  const { status, look, bob, ada, store, adas } = await world(t)
  assert.equal(await status(bob, 'api/adas'), 401)
  const stored = await store.documents.get('api', adas)
  const body = { ...stored!.body, user_owners: [bob.id] }
  await store.documents.commit([{ op: 'put', kind: 'api', id: adas, body }], undefined)
  assert.equal(await status(bob, 'api/adas'), 200)
  assert.equal(await status(ada, 'api/adas'), 401)
  assert.deepEqual((await look(bob)).policies, ['p-adas', 'p-both', 'p-gone', 'p-open'])
  await store.documents.commit([{ op: 'delete', kind: 'api', id: adas }], undefined)
  assert.deepEqual((await look(ada)).policies, ['p-adas', 'p-gone', 'p-open'])
})
