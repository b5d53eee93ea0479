import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { userOf } from '../../../src/model/people/user.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { publishApi, removeApi } from '../../../src/publish/apis/apis.ts'
import { createKey, deleteKey, updateKey } from '../../../src/publish/keys/keys.ts'
import { rotateKey } from '../../../src/publish/keys/rotate-key.ts'
import {
  createClient,
  deleteClient,
  rotateClient,
  updateClient,
} from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { newGroup, updateGroup } from '../../../src/publish/people/groups.ts'
import { deleteUser, newUser, renewCredential, updateUser } from '../../../src/publish/people/users.ts'
import { createPolicy, updatePolicy } from '../../../src/publish/policies/policies.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { definition, draft, group, openUndoWorld } from '../../worlds/dashboard/undo-world.ts'

test('keys: creation, change and deletion are undone; a rotation is not', async (t) => {
  const { parts, undo, orgId, store, api, last, admin, user } = await openUndoWorld(t)
  await api('orders')
  const session = {
    org_id: orgId,
    access_rights: { orders: { api_id: 'orders', versions: ['Default'] } },
    rate: 5,
    per: 1,
  }
  const made = await createKey(parts, { session, keepQuota: true, actor: 'test' })
  const row = async (hash: string) => store.tokens.getSession(Buffer.from(hash, 'hex'))
  const reader = await user({ audit_logs: 'read', keys: 'read' })
  assert.equal((await undo(reader)).status, 403)
  const first = (await row(made.keyHash))!
  assert.equal((await undo()).status, 200)
  assert.equal(await row(made.keyHash), undefined)
  assert.equal((await undo()).status, 200)
  assert.deepEqual(await row(made.keyHash), first)
  await updateKey(parts, { row: first, session: { ...session, rate: 9 }, keepQuota: true, actor: 'test' })
  assert.equal((await row(made.keyHash))!.body.rate, 9)
  assert.equal((await undo()).status, 200)
  assert.deepEqual((await row(made.keyHash))!.body, first.body)
  await deleteKey(parts, (await row(made.keyHash))!, 'test')
  const deletion = (await last()).id
  assert.equal((await undo()).status, 200)
  assert.deepEqual(await row(made.keyHash), first)
  assert.equal((await undo(admin, deletion)).status, 409)
  const rotated = await rotateKey(parts, (await row(made.keyHash))!, 'test')
  const refused = await undo()
  assert.equal(refused.status, 409)
  assert.equal(await row(made.keyHash), undefined)
  assert.notEqual(await row(rotated.keyHash), undefined)
})

test('a later change stands in the way and is named, whoever made it', async (t) => {
  const { call, admin, undo, last, parts, orgId, body } = await openUndoWorld(t)
  const { policy } = await createPolicy(parts, { id: 'gold', name: 'Gold', org_id: orgId }, 'test')
  const first = (await last()).id
  await updatePolicy(parts, { id: 'gold' }, { name: 'Gold 2' }, 'test')
  const second = (await last()).id
  const refused = await undo(admin, first)
  assert.equal(refused.status, 409)
  assert.deepEqual(refused.json, {
    Status: 'Error',
    Message: `The change cannot be undone: policy ${policy._id} was changed since by audit entry ${second}`,
    Meta: null,
  })
  assert.equal((await body('policy', String(policy._id)))!.name, 'Gold 2')
  // unrecorded changes block the undo too, without a name
  const id = String(policy._id) as DocumentId
  await parts.documents.commit([{ op: 'put', kind: 'policy', id, body: { ...policy, name: 'Gold 3' } }], undefined)
  assert.match((await undo(admin, second)).text, /by a change that is not recorded/)
  const note = { actor: 'test', action: 'List things', orgId, at: parts.clock.wall(), detail: {} }
  await parts.documents.note(note)
  assert.equal((await undo()).status, 409)
  assert.equal((await call('POST', `/api/audit-logs/${second}/undo`)).status, 401)
})

test('a deleted API comes back with its clients and in the versions of others', async (t) => {
  const { parts, api, undo, body, store } = await openUndoWorld(t)
  const base = await api('base')
  const version = { baseApiId: 'base', baseName: 'v1', name: 'v2', setDefault: false }
  const definitionOfV2 = definition('v2', (await body('api', base.id))!.org_id as string)
  const made = await publishApi(parts, { format: 'classic', definition: definitionOfV2, version, actor: 'test' })
  const client = { client_id: 'c1', redirect_uri: 'https://app.test/cb' }
  await createClient(parts, { body: client, apiId: 'v2', actor: 'test' })
  const before = [await body('api', base.id), await body('api', made.id)]
  await removeApi(parts, { apiId: 'v2', actor: 'test' })
  assert.equal(await store.documents.find('oauth_client', 'client_id', 'c1'), undefined)
  const answer = await undo()
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual([await body('api', base.id), await body('api', made.id)], before)
  assert.deepEqual((await store.documents.find('oauth_client', 'client_id', 'c1'))!.body.api_ids, ['v2'])
})

test('what has become impossible meanwhile is refused', async (t) => {
  const { parts, api, undo, last, admin, orgId, call } = await openUndoWorld(t)
  await api('one')
  await removeApi(parts, { apiId: 'one', actor: 'test' })
  const removal = (await last()).id
  await api('two', { proxy: { listen_path: '/one/', target_url: 'http://127.0.0.1:1/' } })
  const making = (await last()).id
  assert.equal((await undo(admin, removal)).status, 409, 'the listen path is taken')
  await createClient(parts, { body: { client_id: 'c', redirect_uri: 'https://a.test/' }, apiId: 'two', actor: 'test' })
  const registering = (await last()).id
  assert.equal((await undo(admin, making)).status, 409, 'a client is based on the API')
  await deleteClient(parts, { client_id: 'c' }, { actor: 'test' })
  const unregistering = (await last()).id
  assert.equal((await undo(admin, making)).status, 200)
  assert.equal((await undo(admin, unregistering)).status, 409, 'the API of the client is gone')
  assert.equal((await undo(admin, registering)).status, 409)
  const { group: made } = await newGroup(parts, group(orgId), 'test')
  const grouping = (await last()).id
  await newUser(parts, { ...draft(orgId), groupId: made.id }, 'test')
  assert.equal((await undo(admin, grouping)).status, 400, 'somebody is in the group')
  const label = (await call('POST', '/api/labels', { as: admin, body: { name: 'Tier' } })).json as { id: string }
  const labelling = (await last()).id
  await api('three')
  await call('POST', '/api/three/labels', { as: admin, body: { key: 'tier', value: '1' } })
  assert.equal((await undo(admin, labelling)).status, 409, 'an API carries the label')
  assert.equal((await call('GET', `/api/labels/${label.id}`, { as: admin })).status, 200)
})

test('nobody gains rights by undoing', async (t) => {
  const { parts, undo, user, orgId, store, last, admin, body, group: testGroup } = await openUndoWorld(t)
  const rules = { actor: 'test', action: 'user.update', mayLeaveNoAdmin: true, sharedEmail: false }
  const stored = async (id: string) => userOf((await store.documents.get('user', id as DocumentId))!)
  const { user: former } = await newUser(parts, { ...draft(orgId), permissions: { IsAdmin: 'admin' } }, 'test')
  await updateUser(parts, former, { user_permissions: { apis: 'read' } }, rules)
  const demotion = (await last()).id
  const clerk = await user({ users: 'write', user_groups: 'write', audit_logs: 'read', apis: 'read' })
  assert.equal((await undo(clerk, demotion)).status, 403)
  assert.deepEqual((await stored(former.id)).user_permissions, { apis: 'read' })
  await deleteUser(parts, await stored(former.id), 'test')
  assert.equal((await undo(clerk)).status, 200, 'rights that the clerk has')
  await updateUser(parts, await stored(former.id), { user_permissions: { keys: 'write' } }, rules)
  assert.equal((await undo(clerk)).status, 403, 'acts upon one who has more')
  await deleteUser(parts, await stored(former.id), 'test')
  assert.equal((await undo(clerk)).status, 403, 'brings one back who has more')
  assert.equal((await undo(admin)).status, 200)
  const groupId = await testGroup({ apis: 'read' })
  const { revision } = (await store.documents.get('user_group', groupId as DocumentId))!
  const before = { ...(await body('user_group', groupId)), id: groupId, revision }
  await updateGroup(
    parts,
    before as unknown as Parameters<typeof updateGroup>[1],
    { user_permissions: { log: 'read' } },
    'test',
  )
  assert.equal((await undo(clerk)).status, 403)
})

test('the last administrator cannot be undone away', async (t) => {
  const w = await openUndoWorld(t)
  const orgId = await w.organisation()
  const only = await w.user({ IsAdmin: 'admin' }, { orgId })
  const stored = userOf((await w.store.documents.get('user', only.id as DocumentId))!)
  const rules = { actor: 'test', action: 'user.update', mayLeaveNoAdmin: true, sharedEmail: false }
  await updateUser(w.parts, stored, { user_permissions: { apis: 'read' } }, rules)
  const changed = userOf((await w.store.documents.get('user', only.id as DocumentId))!)
  await updateUser(w.parts, changed, { user_permissions: { IsAdmin: 'admin' } }, rules)
  const [entry] = (await w.store.audit.list({ orgId, limit: 1 })).rows
  assert.equal((await w.undo(only, entry!.id)).status, 400)
})

test('credentials that were replaced stay so, and signing in is no obstacle', async (t) => {
  const { parts, undo, orgId, store, last, admin, api } = await openUndoWorld(t)
  const { user } = await newUser(parts, draft(orgId), 'test')
  const stored = async () => userOf((await store.documents.get('user', user.id))!)
  const rules = { actor: 'test', action: 'user.update', mayLeaveNoAdmin: false, sharedEmail: false }
  await updateUser(parts, await stored(), { first_name: 'Eve' }, rules)
  const naming = (await last()).id
  await renewCredential(parts, await stored(), { overlapS: 0, actor: 'test' })
  const renewed = await stored()
  assert.equal((await undo()).status, 409)
  await updateUser(parts, await stored(), { last_login_date: '2025-01-02T00:00:00Z' }, rules)
  assert.equal((await undo(admin, naming)).status, 200)
  const now = await stored()
  assert.equal(now.first_name, 'Ada')
  assert.equal(now.access_hmac, renewed.access_hmac)
  await api('orders')
  const made = await createClient(parts, {
    body: { client_id: 'c', redirect_uri: 'https://a.test/' },
    apiId: 'orders',
    actor: 'test',
  })
  await updateClient(parts, { client_id: 'c' }, { body: { redirect_uri: 'https://b.test/' }, actor: 'test' })
  const updating = (await last()).id
  assert.equal((await undo(admin, updating)).status, 200)
  // tokens that a deletion ended stay so: they carry the former epoch
  const epoch = async () => (await store.documents.find('oauth_client', 'client_id', 'c'))!.body.epoch
  const before = await epoch()
  await deleteClient(parts, { client_id: 'c' }, { actor: 'test' })
  assert.equal((await undo()).status, 200)
  assert.notEqual(await epoch(), before)
  await rotateClient(parts, { client_id: 'c' }, { overlapS: 0, actor: 'test' })
  assert.equal((await undo()).status, 409)
  assert.notEqual(made.secret, '')
})

test('with ownership on only an owner undoes', async (t) => {
  const { parts, undo, user, api, store, last, admin } = await openUndoWorld(t, {
    env: { SVC_DB_ENABLEOWNERSHIP: 'true' },
  })
  const owner = await user({ apis: 'write', audit_logs: 'read' })
  const other = await user({ apis: 'write', audit_logs: 'read' })
  const { id } = await api('mine')
  const { body } = (await store.documents.get('api', id))!
  const entry = { actor: 'test', action: 'api.update', orgId: String(body.org_id), at: parts.clock.wall(), detail: {} }
  const put = (more: JsonObject) =>
    parts.documents.commit([{ op: 'put', kind: 'api', id, body: { ...body, ...more } }], entry)
  await put({ user_owners: [owner.id] })
  assert.equal((await undo(other)).status, 401)
  await put({ user_owners: [owner.id], categories: ['x'] })
  const change = (await last()).id
  assert.equal((await undo(other, change)).status, 401)
  assert.equal((await undo(owner, change)).status, 200)
  await removeApi(parts, { apiId: 'mine', actor: 'test' })
  assert.equal((await undo(other)).status, 401)
  assert.equal((await undo(owner)).status, 200)
  // a user cannot restore the permissions that they have lost
  await put({ user_owners: [other.id] })
  assert.equal((await undo(owner)).status, 401)
  assert.equal((await undo(admin)).status, 200)
})

test('tokens of clients stay revoked, and forbidden changes are not undone', async (t) => {
  const { parts, undo, orgId, store, admin, last, body, call } = await openUndoWorld(t)
  const hash = Buffer.alloc(32, 9)
  const row = { body: {}, orgId, apiIds: [], policyIds: [], clientId: 'c', evictAt: 0 }
  const entry = (action: string) => ({ actor: 'test', action, orgId, at: parts.clock.wall(), detail: {} })
  await store.documents.commit([{ op: 'putSession', hash, row }], undefined)
  await store.documents.commit([{ op: 'deleteSession', hash }], entry('oauth_token.revoke'))
  assert.equal((await undo()).status, 409)
  assert.equal(await store.tokens.getSession(hash), undefined)
  // custom permissions are the administrators' own; whether there is single sign-on is not
  const stored = (await store.documents.get('organisation', orgId as DocumentId))!
  const put = async (more: JsonObject) =>
    store.documents.commit(
      [{ op: 'put', kind: 'organisation', id: stored.id, body: { ...stored.body, ...more } }],
      entry('organisation.update'),
    )
  await put({ sso_enabled: true })
  assert.equal((await undo()).status, 403)
  await put({})
  const named = { additional_permissions: { mine: 'Mine' } }
  assert.equal((await call('PUT', '/api/org/permissions', { as: admin, body: named })).status, 200)
  assert.equal((await undo()).status, 200)
  assert.equal((await body('organisation', orgId))!.additional_permissions, undefined)
  for (const kind of ['installation', 'oauth_key', 'node', 'addresses', 'order', 'org_session']) {
    const id = 'abcdefabcdefabcdefabcdef' as DocumentId
    await store.documents.commit([{ op: 'put', kind, id, body: { org_id: orgId, name: kind } }], entry('x'))
    assert.equal((await undo(admin, (await last()).id)).status, 403, kind)
    assert.notEqual(await body(kind, id), undefined)
  }
})

test('identity profiles are put back, whoever may write them', async (t) => {
  const { undo, orgId, store, parts, user, body } = await openUndoWorld(t)
  const id = 'abcdefabcdefabcdefabcdef' as DocumentId
  const entry = { actor: 'test', action: 'idp_profile.update', orgId, at: parts.clock.wall(), detail: {} }
  const put = (Name: string) =>
    store.documents.commit([{ op: 'put', kind: 'idp_profile', id, body: { ID: 'a', OrgID: orgId, Name } }], entry)
  await put('one')
  await put('two')
  assert.equal((await undo(await user({ audit_logs: 'read', idm: 'read' }))).status, 403)
  assert.equal((await undo(await user({ audit_logs: 'read', idm: 'write' }))).status, 200)
  assert.equal((await body('idp_profile', id))!.Name, 'one')
})

test('a signed-in change after another account took the address is not undone', async (t) => {
  const { parts, undo, orgId, store, last, admin } = await openUndoWorld(t)
  const { user } = await newUser(parts, draft(orgId), 'test')
  await deleteUser(parts, userOf((await store.documents.get('user', user.id))!), 'test')
  const deletion = (await last()).id
  const second = await newUser(parts, draft(orgId), 'test')
  assert.equal((await undo(admin, deletion)).status, 403)
  await deleteUser(parts, userOf((await store.documents.get('user', second.user.id))!), 'test')
  assert.equal((await undo(admin, deletion)).status, 200)
})

test('the gateway serves what was put back when the answer is there', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  const gateway = await startTestGateway({ store, clock })
  const waited: number[] = []
  const settled = (revision: number) => {
    waited.push(revision)
    return gateway.gateway.live.settled(revision)
  }
  const w = await openUndoWorld(t, { store, clock, parts: { settled } })
  t.after(async () => {
    await gateway.close()
    await store.close()
  })
  const keyless = { use_oauth2: false, use_keyless: true }
  await w.api('orders', keyless)
  const status = async () => (await gateway.call('/orders/x')).status
  await settled(await store.documents.revision())
  assert.equal(await status(), 502)
  await removeApi(w.parts, { apiId: 'orders', actor: 'test' })
  await settled(await store.documents.revision())
  assert.equal(await status(), 404)
  assert.equal((await w.undo()).status, 200)
  assert.ok(waited.includes(await store.documents.revision()), 'the answer waits for the gateway')
  assert.equal(await status(), 502)
  assert.equal((await w.undo()).status, 200)
  assert.equal(await status(), 404)
})
