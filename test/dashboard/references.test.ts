import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentId } from '../../src/model/ids.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { classic, defined, rights } from '../definitions.ts'
import type { TestUser } from './harness.ts'
import { OWNED, startWorld, type World } from './matrix-world.ts'

/** A write that refers to an API or a policy: method, path, body. */
type Write = readonly [method: string, path: string, body: unknown]

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

/** Where an API is named to give rights on it. One that is not there gives none. */
const RIGHTS: Readonly<Record<string, (id: string, world: World) => Write>> = {
  policy: (id) => ['POST', '/api/portal/policies', { name: 'new', rate: 1, per: 1, access_rights: rights(id) }],
  'policy by list': (id) => [
    'POST',
    '/api/portal/policies',
    { name: 'new', rate: 1, per: 1, access_rights_array: [{ api_id: id, api_name: '', versions: [] }] },
  ],
  'change of a policy': (id, { open }) => [
    'PATCH',
    `/api/portal/policies/${open.policy}`,
    { access_rights: rights(id) },
  ],
  key: (id) => ['POST', '/api/keys', { access_rights: rights(id) }],
  'key of choice': (id) => ['POST', '/api/keys/a-key-of-my-own-choice', { access_rights: rights(id) }],
  'basic user': (id) => [
    'POST',
    '/api/apis/keys/basic/somebody',
    { access_rights: rights(id), basic_auth_data: { password: 'abcdefgh1' } },
  ],
  'change of a key': (id, { open }) => ['PUT', `/api/keys/${open.key}`, { access_rights: rights(open.api, id) }],
  'moved key': (id) => ['POST', '/api/moves/keys', { key_hash: HASH, session: { access_rights: rights(id) } }],
  'moved client': (id) => [
    'POST',
    '/api/moves/clients',
    { client_id: 'new', api_ids: [id], redirect_uris: [CALLBACK] },
  ],
  documentation: (id) => ['POST', '/api/portal/documentation', { api_id: id, documentation: 'YQ==' }],
  'catalogue entry': (id) => ['PUT', '/api/portal/catalogue', { apis: [{ name: 'new', api_id: id }] }],
  categories: (id) => ['PUT', `/api/apis/oas/${id}/categories`, { categories: ['x'] }],
  migration: (id) => ['POST', '/api/apis/migrate', { mode: 'direct', apiIDs: [id] }],
}

const TO_POLICIES: Readonly<Record<string, (id: string, world: World) => Write>> = {
  'default of tokens': (id) => api({ ...JWT, jwt_default_policies: [id] }),
  'scope of tokens': (id) =>
    api({ ...JWT, scopes: { jwt: { scope_claim_name: 'scope', scope_to_policy: { a: id } } } }),
  key: (id) => ['POST', '/api/keys', { apply_policies: [id] }],
  'one policy of a key': (id) => ['POST', '/api/keys', { apply_policy_id: id }],
  preview: (id) => ['POST', '/api/keys/preview', { apply_policies: [id] }],
  'change of a key': (id, { open }) => ['PUT', `/api/keys/${open.key}`, { apply_policies: [open.policy, id] }],
  'moved key': (id) => ['POST', '/api/moves/keys', { key_hash: HASH, session: { apply_policies: [id] } }],
  client: (id, { open }) => [
    'POST',
    `/api/apis/oauth/${open.api}`,
    { redirect_uri: CALLBACK, policies: [open.policy, id] },
  ],
  'one policy of a client': (id, { open }) => [
    'PUT',
    `/api/apis/oauth/${open.api}/${open.client}`,
    { redirect_uri: CALLBACK, policies: [open.policy, id] },
  ],
  'catalogue entry': (id) => ['PUT', '/api/portal/catalogue', { apis: [{ name: 'new', policy_id: id }] }],
  documentation: (id) => ['POST', '/api/portal/documentation', { api_id: id, documentation: 'YQ==' }],
}

async function start(t: { after(close: () => unknown): void }) {
  const world = await startWorld()
  t.after(world.close)
  const writer = (await world.actor('non-owner', { who: 'apis', names: [] })) as TestUser
  const stranger = (await world.actor('admin of another organisation', { who: 'apis', names: [] })) as TestUser
  const far = { api_definition: classic('far', '/far/', URL) }
  assert.equal((await world.call('POST', '/api/apis', { as: stranger, body: far })).status, 200)
  const send = async ([method, path, body]: Write) => {
    const before = await world.fingerprint()
    const answer = await world.call(method, path, { as: writer, body })
    const isUnchanged = (await world.fingerprint()) === before
    await world.restore()
    return { ...answer, isUnchanged }
  }
  return { world, send }
}

test('nobody refers to an API that others own, or that is not there: neither is told from the other', async (t) => {
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
    assert.match([...told][0]!, /there is no such API/, name)
  }
})

test('nobody gives rights on what others own, nor policies of others', async (t) => {
  const { world, send } = await start(t)
  const both = { name: 'both', id: 'both', rate: 1, per: 1, access_rights: rights(world.open.api, world.owned.api) }
  const admin = await world.admin()
  assert.equal((await world.call('POST', '/api/portal/policies', { as: admin, body: both })).status, 200)
  const [stored] = (await world.store.documents.list('policy', { where: { name: 'both' }, limit: 1 })).rows
  const again = () =>
    world.store.documents.commit(
      [{ op: 'put', kind: 'policy', id: stored!.id as DocumentId, body: stored!.body }],
      undefined,
    )
  for (const [table, good, ids] of [
    [RIGHTS, world.open.api, [world.owned.api]],
    [TO_POLICIES, world.open.policy, [world.owned.policy, 'both']],
  ] as const)
    for (const [name, write] of Object.entries(table)) {
      const fine = await send(write(good, world))
      assert.ok(fine.status < 300, `${name}: ${fine.text}`)
      for (const id of ids) {
        // It says something about a policy, and gives nobody its rights.
        if (name === 'documentation' && id === 'both') continue
        // What the world does not know it takes away.
        await again()
        const before = await world.fingerprint()
        const [method, path, body] = write(id, world)
        const as = (await world.actor('non-owner', { who: 'apis', names: [] })) as TestUser
        const { status, text } = await world.call(method, path, { as, body })
        assert.ok(status >= 400 && status < 500, `${name} ${id}: ${status} ${text}`)
        assert.equal(await world.fingerprint(), before, `${name} ${id}`)
        assert.ok(!text.includes(OWNED), `${name}: ${text}`)
        await world.restore()
      }
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
  assert.equal((await put(writer, URL, { info: { versioning } })).status, 200)
  const gone = await world.call('DELETE', `/api/apis/oas/${open.oas}`, { as: writer })
  assert.equal(gone.status, 403, gone.text)
  assert.match(gone.text, /1 version that others own/)
  const [base] = (await store.documents.list('api', { where: { api_id: open.oas }, limit: 1 })).rows
  assert.deepEqual(base!.body.version_ids, [owned.api])
  await world.restore()
})
