import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REFERENCE_KINDS, type ReferenceKind } from '../../../src/model/documents/references.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { OWNED, startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'
import { classic, defined, rights } from '../../worlds/base/definitions.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'

/** A write that refers to something: method, path, body, and the kind of document of which there must be none. */
type Write = readonly [method: string, path: string, body: unknown, without?: string]

const URL = 'http://127.0.0.1:1'
const inner = (id: string) => `svc://${id}/x`
const api = (more: JsonObject): Write => [
  'POST',
  '/api/apis',
  { api_definition: { ...classic('new', '/new/', URL), ...more } },
]
const proxied = (proxy: JsonObject): Write =>
  api({ proxy: { listen_path: '/new/', target_url: URL, strip_listen_path: true, ...proxy } })
const rules = (extended_paths: JsonObject): Write =>
  api({
    version_data: {
      not_versioned: true,
      versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
    },
  })
const rewrite = (more: JsonObject): Write =>
  rules({ url_rewrites: [{ path: '/a', method: 'GET', match_pattern: '.*', ...more }] })
const document = (more: JsonObject): Write => ['POST', '/api/apis/oas', defined({ id: 'new', url: URL, ...more })]
const JWT = {
  use_keyless: false,
  enable_jwt: true,
  jwt_signing_method: 'hmac',
  jwt_source: Buffer.from('a-shared-secret-of-32-bytes-or-more').toString('base64'),
  jwt_policy_field_name: 'pol',
}
const CALLBACK = 'https://app.test/cb'
const HASH = 'c'.repeat(64)

/** Every place where a document names an API. */
const TO_APIS: Readonly<Record<string, (id: string, world: World) => Write>> = {
  'upstream, classic': (id) => proxied({ target_url: inner(id) }),
  'upstream in capitals': (id) => proxied({ target_url: `SVC://${id}` }),
  'target that borrows the scheme of another': (id) =>
    proxied({ target_url: 'svc://self/', enable_load_balancing: true, target_list: [`${id}/x`] }),
  'target of a version': (id) =>
    api({
      definition: { location: 'header', key: 'v' },
      version_data: { not_versioned: false, versions: { one: { name: 'one', override_target: inner(id) } } },
    }),
  'rewrite, classic': (id) => rewrite({ rewrite_to: inner(id) }),
  'trigger, classic': (id) =>
    rewrite({
      rewrite_to: '/b',
      triggers: [{ on: 'all', rewrite_to: inner(id), options: { path_part_matches: { a: { match_rx: 'a' } } } }],
    }),
  'version, classic': (id) =>
    api({
      definition: { enabled: true, name: 'v1', location: 'header', key: 'v', default: 'self', versions: { v2: id } },
    }),
  upstream: (id) => document({ url: inner(id) }),
  version: (id) =>
    document({
      info: {
        versioning: {
          enabled: true,
          name: 'v1',
          location: 'header',
          key: 'v',
          default: 'self',
          versions: [{ name: 'v2', id }],
        },
      },
    }),
  rewrite: (id) =>
    document({
      paths: { '/a': { get: { operationId: 'a', responses: { 200: { description: '' } } } } },
      operations: { a: { urlRewrite: { enabled: true, pattern: '.*', rewriteTo: inner(id) } } },
    }),
  'import that names the upstream': (id) => [
    'POST',
    `/api/apis/oas/import?upstreamURL=${encodeURIComponent(inner(id))}&listenPath=%2Fnew%2F`,
    { openapi: '3.0.3', info: { title: 'new', version: '1' }, paths: {} },
  ],
  'change of a classic API': (id, { open }) => [
    'PUT',
    `/api/apis/${open.api}`,
    { api_definition: classic(open.api, '/changed/', inner(id)) },
  ],
  'change of an API': (id, { open }) => ['PUT', `/api/apis/oas/${open.oas}`, defined({ id: open.oas, url: inner(id) })],
  'import over an API': (id, { open }) => [
    'PATCH',
    `/api/apis/oas/${open.oas}?upstreamURL=${encodeURIComponent(inner(id))}`,
    { openapi: '3.0.3', info: { title: 'new', version: '1' }, paths: {} },
  ],
}

const KEY_ROUTES: Readonly<Record<string, (session: JsonObject, world: World) => Write>> = {
  key: (session) => ['POST', '/api/keys', session],
  'key of choice': (session) => ['POST', '/api/keys/a-key-of-my-own-choice', session],
  preview: (session) => ['POST', '/api/keys/preview', session],
  'basic user': (session) => [
    'POST',
    '/api/apis/keys/basic/somebody',
    { ...session, basic_auth_data: { password: 'abcdefgh1' } },
  ],
  'change of a key': (session, { open }) => ['PUT', `/api/keys/${open.key}`, session],
  'moved key': (session) => ['POST', '/api/moves/keys', { key_hash: HASH, session }],
  'rules of an authorization': (session) => [
    'POST',
    '/api/apis/oauth/codes/authorize-client',
    new URLSearchParams({
      ...{ response_type: 'code', client_id: 'codes-client', redirect_uri: CALLBACK },
      key_rules: JSON.stringify(session),
    }).toString(),
  ],
}
const keys = (session: (id: string, world: World) => JsonObject) =>
  Object.fromEntries(
    Object.entries(KEY_ROUTES).map(([name, write]) => [
      name,
      (id: string, world: World) => write(session(id, world), world),
    ]),
  )
const catalogue = (entry: (id: string, world: World) => JsonObject) => ({
  'catalogue entry': (id: string, world: World): Write => [
    'PUT',
    '/api/portal/catalogue',
    { apis: [{ name: 'new', ...entry(id, world) }] },
  ],
  'entry of a new catalogue': (id: string, world: World): Write => [
    'POST',
    '/api/portal/catalogue',
    { apis: [{ name: 'new', ...entry(id, world) }] },
    'catalogue',
  ],
})
const besides = (beside: (id: string) => JsonObject) => ({
  'new API': (id: string): Write => [
    'POST',
    '/api/apis',
    { api_definition: classic('new', '/new/', URL), ...beside(id) },
  ],
  'change of an API': (id: string, { open }: World): Write => [
    'PUT',
    `/api/apis/${open.api}`,
    { api_definition: classic(open.api, '/changed/', URL), ...beside(id) },
  ],
})
const policy = (body: (id: string, world: World) => JsonObject) => ({
  policy: (id: string, world: World): Write => [
    'POST',
    '/api/portal/policies',
    { name: 'new', rate: 1, per: 1, ...body(id, world) },
  ],
  'change of a policy': (id: string, world: World): Write => [
    'PATCH',
    `/api/portal/policies/${world.open.policy}`,
    body(id, world),
  ],
  'another policy in its place': (id: string, world: World): Write => [
    'PUT',
    `/api/portal/policies/${world.open.policy}`,
    { name: 'new', rate: 1, per: 1, ...body(id, world) },
  ],
})
const profile = (more: JsonObject): Write => [
  'POST',
  '/api/tib/profiles',
  {
    ...{ ID: 'new', Name: 'New', ActionType: 'GenerateTemporaryAuthToken', ProviderName: 'ADProvider' },
    ProviderConfig: { LDAPServer: 'ldap.test', LDAPUserDN: 'uid=*USERNAME*,dc=test' },
    ...more,
  },
]

type Places = Readonly<Record<string, (id: string, world: World) => Write>>

/** Every place and route that names something, by what it names; APIs in definitions of APIs are above. */
const PLACES: Readonly<Record<ReferenceKind, Places>> = {
  api: {
    ...policy((id) => ({ access_rights: rights(id) })),
    'policy by list': (id) => [
      'POST',
      '/api/portal/policies',
      { name: 'new', rate: 1, per: 1, access_rights_array: [{ api_id: id, api_name: '', versions: [] }] },
    ],
    ...keys((id) => ({ access_rights: rights(id) })),
    'change of a key beside its own': (id, { open }) => [
      'PUT',
      `/api/keys/${open.key}`,
      { access_rights: rights(open.api, id) },
    ],
    'moved client': (id) => [
      'POST',
      '/api/moves/clients',
      { client_id: 'new', api_ids: [id], redirect_uris: [CALLBACK] },
    ],
    ...catalogue((id) => ({ api_id: id })),
    'catalogue entry beside a policy': (id, { open }) => [
      'PUT',
      '/api/portal/catalogue',
      { apis: [{ name: 'new', policy_id: open.policy, api_id: id }] },
    ],
  },
  policy: {
    'default of tokens': (id) => api({ ...JWT, jwt_default_policies: [id] }),
    'policy of clients that register themselves': (id) =>
      api({
        use_keyless: false,
        use_oauth2: true,
        oauth_meta: { registration_policies: [id], open_registration: true },
      }),
    'scope of tokens': (id) =>
      api({ ...JWT, scopes: { jwt: { scope_claim_name: 'scope', scope_to_policy: { a: id } } } }),
    ...keys((id) => ({ apply_policies: [id] })),
    ...Object.fromEntries(
      Object.entries(keys((id, { open }) => ({ apply_policies: [open.policy], apply_policy_id: id }))).map(
        ([name, write]) => [`${name}, beside a list`, write],
      ),
    ),
    'one policy of a key': (id) => ['POST', '/api/keys', { apply_policy_id: id }],
    'change of a key beside its own': (id, { open }) => [
      'PUT',
      `/api/keys/${open.key}`,
      { apply_policies: [open.policy, id] },
    ],
    client: (id, { open }) => [
      'POST',
      `/api/apis/oauth/${open.api}`,
      { redirect_uri: CALLBACK, policies: [open.policy, id] },
    ],
    'change of a client': (id, { open }) => [
      'PUT',
      `/api/apis/oauth/${open.api}/${open.client}`,
      { redirect_uri: CALLBACK, policies: [open.policy, id] },
    ],
    'moved client': (id, { open }) => [
      'POST',
      '/api/moves/clients',
      { client_id: 'new', api_ids: [open.api], redirect_uris: [CALLBACK], policies: [id] },
    ],
    ...catalogue((id) => ({ policy_id: id })),
    'key of a developer': (id, { open }) => [
      'POST',
      `/api/portal/developers/${open.developer}/keys`,
      { policies: [id], oauth_info: { redirect_uri: CALLBACK } },
    ],
    'key request': (id, { open }) => [
      'POST',
      '/api/portal/requests',
      { by_user: open.developer, apply_policies: [id], oauth_info: { redirect_uri: CALLBACK } },
    ],
    'label of a key': (id, { open }) => [
      'PATCH',
      `/api/portal/developers/${open.developer}`,
      { keys: { [open.held_key]: [id] } },
    ],
    'identity profile': (id) => profile({ MatchedPolicyID: id }),
  },
  client: keys((id, { open }) => ({ apply_policies: [open.policy], oauth_keys: { [open.api]: id } })),
  documentation: catalogue((id, { open }) => ({ policy_id: open.policy, documentation: id })),
  subject: { documentation: (id) => ['POST', '/api/portal/documentation', { api_id: id, documentation: 'YQ==' }] },
  hook: {
    ...besides((id) => ({ hook_references: [{ event_name: 'QuotaExceeded', hook: { id } }] })),
    webhooks: (id, { open }) => [
      'PUT',
      `/api/apis/${open.api}/webhooks`,
      { hook_references: [{ event_name: 'QuotaExceeded', hook: { id } }] },
    ],
  },
  user: {
    ...besides((id) => ({ user_owners: [id] })),
    access: (id, { open }) => ['PUT', `/api/apis/${open.api}/access`, { userIds: [id] }],
  },
  user_group: {
    ...besides((id) => ({ user_group_owners: [id] })),
    access: (id, { open }) => ['PUT', `/api/apis/${open.api}/access`, { userGroupIds: [id] }],
  },
}

/** Paths that name an API: nothing of it is written into another document. */
const PATHS: Places = {
  categories: (id) => ['PUT', `/api/apis/oas/${id}/categories`, { categories: ['x'] }],
  migration: (id) => ['POST', '/api/apis/migrate', { mode: 'direct', apiIDs: [id] }],
}

/** An API with codes and a client without policies; and one of each thing in another organisation. */
async function makeOthers(world: World) {
  const admin = await world.admin()
  const stranger = (await world.actor('admin of another organisation', { who: 'apis', names: [] })) as TestUser
  const made = async (as: TestUser, method: string, path: string, body: JsonObject) => {
    const answer = await world.call(method, path, { as, body })
    assert.equal(answer.status, 200, `${path} ${answer.text}`)
    return answer.json as JsonObject
  }
  const oauth = (id: string) =>
    classic(id, `/${id}/`, URL, {
      ...{ use_keyless: false, use_oauth2: true, use_standard_auth: false },
      oauth_meta: { allowed_access_types: ['authorization_code'], auth_login_redirect: 'https://login.test/' },
    })
  await made(admin, 'POST', '/api/apis', { api_definition: oauth('codes') })
  const client = { redirect_uri: CALLBACK, secret: 'a-secret-of-this-client' }
  await made(admin, 'POST', '/api/apis/oauth/codes', { ...client, client_id: 'codes-client' })
  const both = rights(world.open.api, world.owned.api)
  await made(admin, 'POST', '/api/portal/policies', { name: 'both', id: 'both', rate: 1, per: 1, access_rights: both })
  await made(stranger, 'POST', '/api/apis', { api_definition: oauth('far') })
  const far = { name: 'far', id: 'far-policy', rate: 1, per: 1, access_rights: rights('far') }
  await made(stranger, 'POST', '/api/portal/policies', far)
  await made(stranger, 'POST', '/api/apis/oauth/far', { ...client, client_id: 'far-client' })
  const text = { api_id: 'far', documentation: 'YQ==' }
  const { Message: documentation } = await made(stranger, 'POST', '/api/portal/documentation', text)
  await made(stranger, 'POST', '/api/hooks', { name: 'far', method: 'POST', target_path: 'https://far.test/' })
  const [hook] = (await world.store.documents.list('hook', { where: { org_id: stranger.orgId }, limit: 1 })).rows
  const [owned] = (await world.store.documents.list('policy', { where: { id: world.owned.policy }, limit: 1 })).rows
  const foreign = {
    ...{ api: 'far', policy: 'far-policy', client: 'far-client', subject: 'far', documentation: String(documentation) },
    ...{ hook: hook!.id, user: stranger.id, user_group: await world.group({}, { orgId: stranger.orgId }) },
  } satisfies Record<ReferenceKind, string>
  return { foreign, storedPolicy: owned!.id }
}

async function start(t: { after(close: () => unknown): void }) {
  const world = await startWorld()
  t.after(world.close)
  const others = await makeOthers(world)
  const writer = (await world.actor('non-owner', { who: 'apis', names: [] })) as TestUser
  const send = async ([method, path, body, without]: Write, as = writer) => {
    if (without !== undefined) {
      const [gone] = (await world.store.documents.list(without, { where: { org_id: world.orgId }, limit: 1 })).rows
      await world.store.documents.commit([{ op: 'delete', kind: without, id: gone!.id }], undefined)
    }
    const before = await world.fingerprint()
    const answer = await world.call(method, path, { as, body })
    const isUnchanged = (await world.fingerprint()) === before
    await world.restore()
    return { ...answer, isUnchanged }
  }
  return { world, send, ...others }
}

test('references to foreign and to missing APIs are refused alike', async (t) => {
  const { world, send } = await start(t)
  for (const [name, write] of Object.entries(TO_APIS)) {
    const fine = await send(write(world.open.api, world))
    assert.equal(fine.status, 200, `${name}: ${fine.text}`)
    const told = new Set<string>()
    for (const id of [world.owned.api, world.owned.oas, 'not-there', 'far']) {
      const { status, text, isUnchanged } = await send(write(id, world))
      assert.equal(status, 400, `${name} ${id}: ${text}`)
      assert.ok(isUnchanged, `${name} ${id}`)
      assert.ok(!text.includes(OWNED), `${name}: ${text}`)
      told.add(text)
    }
    assert.equal(told.size, 1, name)
    assert.match([...told][0]!, /API not found/, name)
  }
})

test('names of others, of other organisations and of nobody are refused alike', async (t) => {
  const { world, send, foreign, storedPolicy } = await start(t)
  const { open, owned } = world
  const nobody = 'f'.repeat(24)
  const good = { ...open, subject: open.api, user_group: open.group }
  /** Things that the writer does not see: of the own organisation, of another one, of none. */
  const bad: Readonly<Record<ReferenceKind, readonly string[]>> = {
    api: [owned.api, foreign.api, 'not-there'],
    policy: [owned.policy, storedPolicy, 'both', foreign.policy, 'not-there', nobody],
    client: [owned.client, foreign.client, 'not-there'],
    documentation: [owned.documentation, foreign.documentation, nobody, 'x'],
    subject: [owned.api, owned.policy, foreign.subject, 'not-there'],
    hook: [foreign.hook, nobody, 'x'],
    user: [foreign.user, nobody, 'x'],
    user_group: [foreign.user_group, nobody, 'x'],
  }
  for (const kind of REFERENCE_KINDS)
    for (const [name, write] of Object.entries(PLACES[kind])) {
      const fine = await send(write(good[kind], world))
      assert.ok(fine.status < 300, `${kind}, ${name}: ${fine.text}`)
      const told = new Set<string>()
      for (const id of bad[kind]) {
        // It also gives access to an API of others, which is said.
        if (id === 'both' && name.startsWith('key ')) continue
        const { status, text, isUnchanged } = await send(write(id, world))
        assert.ok(status >= 400 && status < 500, `${kind}, ${name}, ${id}: ${status} ${text}`)
        assert.ok(isUnchanged, `${kind}, ${name}, ${id}`)
        assert.ok(!text.replaceAll(id, '').includes(OWNED), `${kind}, ${name}: ${text}`)
        told.add(text.replaceAll(id, '*'))
      }
      assert.equal(told.size, 1, `${kind}, ${name}: ${[...told].join(' ')}`)
    }
  for (const [name, write] of Object.entries(PATHS)) {
    const { status, isUnchanged } = await send(write(owned.api, world))
    assert.ok(status >= 400 && status < 500 && isUnchanged, name)
  }
  // Owners are users and groups of the organisation, also for administrators, who may name all else before it exists.
  const admin = (await world.actor('admin', { who: 'apis', names: [] })) as TestUser
  for (const kind of ['user', 'user_group'] as const)
    for (const [name, write] of Object.entries(PLACES[kind]))
      for (const id of bad[kind]) assert.equal((await send(write(id, world), admin)).status, 400, `${name} ${id}`)
  assert.equal((await send(PLACES.api.key!('not-there', world), admin)).status, 200)
  const unknown = await send(PLACES.policy['rules of an authorization']!('not-there', world), admin)
  assert.match(unknown.text, /no such policy: not-there/)
})

/** Places in definitions, which gateways take as they were sent: of files too, where no store knows of a policy's `_id`. */
const AS_SENT: ReadonlySet<string> = new Set([
  ...['default of tokens', 'policy of clients that register themselves', 'scope of tokens'],
])

test('every call that takes the id of a policy takes its _id, and stores the id', async (t) => {
  const { world } = await start(t)
  const { open, store } = world
  const [stored] = (await store.documents.list('policy', { where: { id: open.policy }, limit: 1 })).rows
  assert.notEqual(stored!.id, open.policy)
  const admin = (await world.actor('admin', { who: 'apis', names: [] })) as TestUser
  const writer = (await world.actor('non-owner', { who: 'apis', names: [] })) as TestUser
  const occurrences = async () => (await world.fingerprint()).split(stored!.id).length
  const before = await occurrences()
  for (const as of [writer, admin])
    for (const [name, write] of Object.entries(PLACES.policy)) {
      if (AS_SENT.has(name)) continue
      const [method, path, body, without] = write(stored!.id, world)
      if (without !== undefined) {
        const [gone] = (await store.documents.list(without, { where: { org_id: world.orgId }, limit: 1 })).rows
        await store.documents.commit([{ op: 'delete', kind: without, id: gone!.id }], undefined)
      }
      const { status, text } = await world.call(method, path, { as, body })
      assert.ok(status < 300, `${name}: ${status} ${text}`)
      assert.equal(await occurrences(), before, `${name}: the _id is stored`)
      await world.restore()
    }
})

test('a reference that stood there may stay, in its place and words alone', async (t) => {
  const { world } = await start(t)
  const { open, owned, store, parts } = world
  const admin = await world.admin()
  const put = (as: TestUser, url: string, more: JsonObject = {}) =>
    world.call('PUT', `/api/apis/oas/${open.oas}`, { as, body: defined({ id: open.oas, url, ...more }) })
  assert.equal((await put(admin, `svc://${owned.api}/one`)).status, 200)
  const writer = (await world.actor('non-owner', { who: 'apis', names: [] })) as TestUser
  assert.equal(
    (await put(writer, `svc://${owned.api}/one`, { info: { orgId: parts.defaultOrg(), name: 'Renamed' } })).status,
    200,
  )
  assert.equal((await put(writer, `svc://${owned.api}/two`)).status, 400)
  const versioning = {
    enabled: true,
    name: 'v1',
    location: 'header',
    key: 'v',
    default: 'self',
    versions: [{ name: 'v2', id: owned.api }],
  }
  assert.equal((await put(writer, URL, { info: { versioning } })).status, 400)
  // A version of others neither goes nor gets another name, and its base stays.
  assert.equal((await put(admin, URL, { info: { versioning } })).status, 200)
  for (const versions of [[], [{ name: 'v3', id: owned.api }], [{ name: 'v2', id: open.api }]]) {
    const refused = await put(writer, URL, { info: { versioning: { ...versioning, versions } } })
    assert.ok([400, 403].includes(refused.status), refused.text)
  }
  const server = (more: JsonObject) => ({ listenPath: { value: `/${open.oas}/`, strip: true }, ...more })
  const state = { active: true, internal: false }
  for (const [name, more] of Object.entries<JsonObject>({
    'versions off': { info: { versioning: { ...versioning, enabled: false } } },
    'no versioning': { info: {} },
    'another header': { info: { versioning: { ...versioning, key: 'w' } } },
    'another place': { info: { versioning: { ...versioning, location: 'url-param' } } },
    'segment of the path': { info: { versioning: { ...versioning, location: 'url', urlVersioningPattern: '^x' } } },
    'name of its own': { info: { versioning: { ...versioning, name: 'v2' } } },
    'switched off': { info: { versioning, state: { ...state, active: false } } },
    internal: { info: { versioning, state: { ...state, internal: true } } },
    'another listen path': { info: { versioning }, server: server({ listenPath: { value: '/away/', strip: true } }) },
    'a domain': { info: { versioning }, server: server({ customDomain: { enabled: true, name: 'away.example' } }) },
    tags: { info: { versioning }, server: server({ gatewayTags: { enabled: true, tags: ['away'] } }) },
  })) {
    const refused = await put(writer, URL, more)
    assert.equal(refused.status, 403, `${name}: ${refused.text}`)
  }
  assert.equal((await put(writer, URL, { info: { versioning: { ...versioning, default: 'v2' } } })).status, 200)
  assert.equal((await put(writer, URL, { info: { versioning } })).status, 200)
  const next = { as: writer, body: defined({ id: 'next', url: URL }) }
  assert.equal((await world.call('POST', '/api/apis/oas', next)).status, 200)
  const versions = [...versioning.versions, { name: 'v3', id: 'next' }]
  assert.equal((await put(writer, URL, { info: { versioning: { ...versioning, versions } } })).status, 200)
  const rebased = await world.call('PATCH', `/api/apis/oas/${open.oas}/rebase/next`, { as: writer })
  assert.equal(rebased.status, 403, rebased.text)
  assert.equal((await put(writer, URL, { info: { versioning } })).status, 200)
  const gone = await world.call('DELETE', `/api/apis/oas/${open.oas}`, { as: writer })
  assert.equal(gone.status, 403, gone.text)
  assert.match(gone.text, /1 version that others own/)
  const [base] = (await store.documents.list('api', { where: { api_id: open.oas }, limit: 1 })).rows
  assert.deepEqual(base!.body.version_ids, [owned.api])
  await world.restore()
})
