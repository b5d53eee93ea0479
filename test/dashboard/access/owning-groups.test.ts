import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { PERMISSION_KEYS } from '../../../src/model/people/permission.ts'
import { startTestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'

const EVERY = Object.fromEntries(PERMISSION_KEYS.map((key) => [key, 'write']))
const ENV = { SVC_DB_ENABLEOWNERSHIP: 'true', SVC_DB_SSOENABLEUSERLOOKUP: 'true' }

type Call = readonly [method: string, path: string, body?: JsonObject]

/** A group, a member of it, and a user in no group. */
interface Cast {
  readonly group: string
  readonly member: TestUser
  readonly plain: TestUser
}

const profile = (id: string, more: JsonObject): JsonObject => ({
  ...{ ID: id, Name: id, ActionType: 'GenerateOrLoginUserProfile', ProviderName: 'ADProvider', ReturnURL: '/tap' },
  ProviderConfig: { LDAPServer: 'ldap.test', LDAPUserDN: 'uid=*USERNAME*,dc=test' },
  ...more,
})

/** Every way to come to be a member of a group, to sign in as one, and to decide who is one. */
const WAYS: Readonly<Record<string, (cast: Cast) => Call>> = {
  'new user': ({ group }) => [
    'POST',
    '/api/users',
    { email_address: 'new@x.test', group_id: group, user_permissions: { apis: 'read' } },
  ],
  'change of a user': ({ group, plain }) => ['PUT', `/api/users/${plain.id}`, { group_id: group }],
  'taking a member out': ({ member }) => ['PUT', `/api/users/${member.id}`, { group_id: '' }],
  'nonce with a group': ({ group }) => ['POST', '/api/sso', { EmailAddress: 'any@x.test', GroupID: group }],
  'nonce with groups': ({ group }) => ['POST', '/api/sso', { EmailAddress: 'any@x.test', GroupsIDs: [group] }],
  'nonce for a member': ({ member }) => ['POST', '/api/sso', { EmailAddress: member.email }],
  'profile with a default group': ({ group }) => [
    'POST',
    '/api/tib/profiles',
    profile('new', { DefaultUserGroupID: group }),
  ],
  'profile with a mapping': ({ group }) => [
    'POST',
    '/api/tib/profiles',
    profile('new', { CustomUserGroupField: 'groups', UserGroupMapping: { staff: group } }),
  ],
  'another provider for a profile that maps to it': ({ group }) => [
    'PUT',
    '/api/tib/profiles/mapped',
    profile('mapped', {
      ...{ DefaultUserGroupID: group },
      ProviderConfig: { LDAPServer: 'evil.test', LDAPUserDN: 'uid=*USERNAME*,dc=test' },
    }),
  ],
  'a profile that no longer maps to it': () => ['PUT', '/api/tib/profiles/mapped', profile('mapped', {})],
  'the end of a profile that maps to it': () => ['DELETE', '/api/tib/profiles/mapped'],
  'rights of the group': ({ group }) => ['PUT', `/api/usergroups/${group}`, { user_permissions: { apis: 'deny' } }],
  'name of the group': ({ group }) => ['PUT', `/api/usergroups/${group}`, { name: 'Other' }],
  'description of the group': ({ group }) => ['PUT', `/api/usergroups/${group}`, { description: 'Other' }],
  'age of passwords in the group': ({ group }) => ['PUT', `/api/usergroups/${group}`, { password_max_days: 1 }],
  'switch of the group': ({ group }) => ['PUT', `/api/usergroups/${group}`, { active: false }],
}

test('only administrators and members decide who is in a group that owns APIs', async (t) => {
  const { call, user, group, admin, store, orgId, close } = await startTestDashboard({ env: ENV })
  t.after(close)
  const { documents } = store
  const organisation = (await documents.get('organisation', orgId as never))!
  const enabled = { ...organisation.body, sso_enabled: true }
  await documents.commit([{ op: 'put', kind: 'organisation', id: organisation.id, body: enabled }], undefined)
  const boss = await admin()
  const outsider = await user(EVERY)
  const plain = await user({ apis: 'read' })
  const owner = await user({ apis: 'read' })
  const castOf = async (): Promise<Cast> => {
    const id = await group(EVERY)
    return { group: id, member: await user(EVERY, { groupId: id }), plain }
  }
  const [owning, idle] = [await castOf(), await castOf()]
  const api = {
    api_id: 'owned',
    org_id: orgId,
    name: 'Owned',
    user_owners: [owner.id],
    user_group_owners: [owning.group],
  }
  const apiId = '65a0000000000000000000a1' as never
  await documents.commit([{ op: 'put', kind: 'api', id: apiId, body: api }], undefined)
  const send = ([method, path, body]: Call, as: TestUser) => call(method, path, { as, body })
  const undo = async (as: TestUser) => {
    const [entry] = (await store.audit.list({ orgId, limit: 1 })).rows
    return call('POST', `/api/audit-logs/${entry!.id}/undo`, { as })
  }
  const mapped = (cast: Cast): Call => [
    'POST',
    '/api/tib/profiles',
    profile('mapped', { DefaultUserGroupID: cast.group }),
  ]
  for (const [name, way] of Object.entries(WAYS)) {
    for (const [cast, as, may] of [
      [owning, outsider, false],
      [owning, owning.member, true],
      [owning, boss, true],
      [idle, outsider, true],
    ] as const) {
      assert.equal((await send(mapped(cast), boss)).status, 200)
      const revision = await documents.revision()
      const answer = await send(way(cast), as)
      assert.equal(answer.status, may ? 200 : 403, `${name}, ${as.email}: ${answer.text}`)
      if (!may) assert.match(answer.text, /group that owns APIs/, name)
      const written = (await documents.revision()) !== revision
      assert.equal(written, may, name)
      if (may && !name.startsWith('nonce')) assert.equal((await undo(boss)).status, 200, name)
      assert.equal((await call('DELETE', '/api/tib/profiles/mapped', { as: boss })).status, 200)
    }
  }
  for (const [method, path, body] of [
    ['PUT', `/api/users/${owner.id}`, { active: false }],
    ['PUT', `/api/users/${owner.id}`, { user_permissions: { apis: 'deny' } }],
    ['PUT', `/api/users/${owner.id}/actions/key/reset`],
    ['DELETE', `/api/users/${owner.id}`],
    ['PUT', `/api/users/${owning.member.id}`, { active: false }],
    ['PUT', `/api/users/${owning.member.id}/actions/key/reset`],
    ['DELETE', `/api/users/${owning.member.id}`],
  ] satisfies Call[]) {
    const refused = await call(method, path, { as: outsider, body })
    assert.equal(refused.status, 403, `${method} ${path} ${JSON.stringify(body)}: ${refused.text}`)
  }
  assert.equal((await call('PUT', `/api/users/${plain.id}`, { as: outsider, body: { first_name: 'P' } })).status, 200)
  // Undoing what an administrator did is a way too.
  const { group: id, member } = owning
  assert.equal((await send(mapped(owning), boss)).status, 200)
  for (const done of [
    ['PUT', `/api/users/${member.id}`, { group_id: '' }],
    ['DELETE', `/api/users/${member.id}`],
    ['PUT', '/api/tib/profiles/mapped', profile('mapped', {})],
    ['DELETE', '/api/tib/profiles/mapped'],
    ['POST', '/api/tib/profiles', profile('mapped-too', { DefaultUserGroupID: id })],
    ['PUT', `/api/usergroups/${id}`, { active: false }],
    ['PUT', `/api/usergroups/${id}`, { name: 'Other' }],
    ['PUT', `/api/usergroups/${id}`, { user_permissions: { apis: 'deny' } }],
  ] satisfies Call[]) {
    assert.equal((await send(done, boss)).status, 200)
    const refused = await undo(outsider)
    assert.deepEqual(
      [refused.status, /group that owns APIs/.test(refused.text)],
      [403, true],
      `${done} ${refused.text}`,
    )
    assert.equal((await undo(boss)).status, 200, String(done))
  }
  // A nonce opens nothing that came to be owned since.
  const { Meta: nonce } = (await send(['POST', '/api/sso', { EmailAddress: plain.email }], outsider)).json as JsonObject
  assert.equal((await send(['PUT', '/api/apis/owned/access', { userIds: [plain.id] }], boss)).status, 200)
  assert.equal((await call('GET', `/tap?nonce=${encodeURIComponent(String(nonce))}`)).status, 403)
  assert.equal((await send(['POST', '/api/sso', { EmailAddress: plain.email }], outsider)).status, 403)
})

test('a default group that owns APIs counts as named where a sign-in names none', async (t) => {
  const id = '65a0000000000000000000b2'
  const env = { ...ENV, SVC_DB_SSODEFAULTGROUPID: id }
  const { call, user, admin, store, orgId, close } = await startTestDashboard({ env })
  t.after(close)
  const { documents } = store
  const organisation = (await documents.get('organisation', orgId as never))!
  const body = { org_id: orgId, name: 'default', active: true, user_permissions: { apis: 'read' } }
  const api = { api_id: 'owned', org_id: orgId, name: 'Owned', user_owners: [], user_group_owners: [id] }
  await documents.commit(
    [
      { op: 'put', kind: 'organisation', id: organisation.id, body: { ...organisation.body, sso_enabled: true } },
      { op: 'put', kind: 'user_group', id: id as never, body },
      { op: 'put', kind: 'api', id: '65a0000000000000000000a1' as never, body: api },
    ],
    undefined,
  )
  for (const [as, status] of [
    [await user(EVERY), 403],
    [await admin(), 200],
  ] as const) {
    assert.equal((await call('POST', '/api/sso', { as, body: { EmailAddress: 'any@x.test' } })).status, status)
    assert.equal((await call('POST', '/api/tib/profiles', { as, body: profile('plain', {}) })).status, status)
  }
})

test('an unchanged profile keeps its guarantor, and keys of hidden policies stay', async (t) => {
  const { call, user, admin, store, orgId, close } = await startTestDashboard({ env: ENV })
  t.after(close)
  const { documents } = store
  const put = (kind: string, id: string, body: JsonObject) =>
    documents.commit([{ op: 'put', kind, id: id as never, body }], undefined)
  const organisation = (await documents.get('organisation', orgId as never))!
  await put('organisation', organisation.id, { ...organisation.body, sso_enabled: true })
  const owner = await user({ apis: 'read' })
  await put('api', '65a0000000000000000000a1', { api_id: 'owned', org_id: orgId, name: 'O', user_owners: [owner.id] })
  const rights = { owned: { api_id: 'owned', versions: ['Default'] } }
  await put('policy', '65a0000000000000000000a2', { id: 'gold', org_id: orgId, access_rights: rights, active: true })
  const [boss, outsider] = [await admin(), await user(EVERY)]
  const path = '/api/tib/profiles'
  const plain = profile('plain', {
    ProviderConfig: {
      LDAPServer: 'a.test',
      LDAPUserDN: 'uid=*USERNAME*',
      LDAPAdminUser: 'cn=a',
      LDAPFilter: '(uid=*USERNAME*)',
      LDAPAdminPassword: 'p',
    },
  })
  const keys = profile('keys', { ActionType: 'GenerateTemporaryAuthToken', MatchedPolicyID: 'gold' })
  for (const body of [plain, keys]) {
    const made = await call('POST', path, { as: boss, body })
    assert.equal(made.status, 200, made.text)
  }
  const answers = async (id: string) => {
    const { rows } = await documents.list('idp_profile', { where: { id }, limit: 1 })
    return rows[0]?.body.voucher
  }
  const { json } = await call('GET', `${path}/plain`, { as: outsider })
  assert.equal((await call('PUT', `${path}/plain`, { as: outsider, body: json })).status, 200)
  assert.equal(await answers('plain'), undefined)
  const changed = { ...(json as JsonObject), ReturnURL: '/other' }
  assert.equal((await call('PUT', `${path}/plain`, { as: outsider, body: changed })).status, 200)
  assert.deepEqual(await answers('plain'), { user_id: outsider.id, group_id: '' })
  for (const [method, body] of [['DELETE'], ['PUT', { ...keys, MatchedPolicyID: '' }], ['PUT', keys]] as const) {
    const refused = await call(method, `${path}/keys`, { as: outsider, ...(body !== undefined && { body }) })
    assert.equal(refused.status, 400, `${method}: ${refused.text}`)
    assert.doesNotMatch(refused.text, /owned/)
  }
  assert.equal((await call('DELETE', `${path}/keys`, { as: boss })).status, 200)
})
