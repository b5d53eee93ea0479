import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { PERMISSION_KEYS } from '../../../src/model/people/permission.ts'
import { hashKey } from '../../../src/model/secrets/secret.ts'
import { createKey } from '../../../src/publish/keys/keys.ts'
import { createClient } from '../../../src/publish/oauth-clients/oauth-clients.ts'
import { createPolicy } from '../../../src/publish/policies/policies.ts'
import { startWorld } from '../../worlds/access-matrix/matrix-world.ts'
import { rights } from '../../worlds/base/definitions.ts'
import type { TestUser } from '../../worlds/dashboard/harness.ts'

const DEVELOPERS = '/api/portal/developers'

test('a developer keeps the keys and apps that a writer does not see', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { owned, open, store } = world
  const writer = (await world.actor('non-owner', { who: 'portal', names: [] })) as TestUser
  const path = `${DEVELOPERS}/${owned.developer}`
  const send = (method: string, at: string, body?: unknown) => world.call(method, at, { as: writer, body })
  const holdings = async () => {
    const stored = await store.documents.get('developer', owned.developer as DocumentId)
    const { keys, subscriptions, oauth_clients } = stored!.body
    const row = await store.tokens.getSession(Buffer.from(owned.held_key, 'hex'))
    return JSON.stringify([
      keys,
      subscriptions,
      oauth_clients,
      row,
      await store.documents.find('oauth_client', 'client_id', owned.app),
    ])
  }
  const before = await holdings()
  const shown = (await send('GET', path)).json as JsonObject
  assert.deepEqual([shown.keys, shown.subscriptions, shown.oauth_clients], [{}, {}, {}])
  for (const body of [shown, { ...shown, oauth_clients: {} }, { email: shown.email, fields: {} }]) {
    const put = await send('PUT', path, body)
    assert.equal(put.status, 200, put.text)
    assert.equal((put.json as JsonObject).Meta, null)
    assert.equal(await holdings(), before)
  }
  assert.equal((await send('PATCH', path, { oauth_clients: null, keys: null })).status, 200)
  const app = { client_id: owned.app, client_name: 'mine now' }
  assert.equal((await send('PATCH', path, { oauth_clients: { [owned.policy]: [app] } })).status, 200)
  assert.equal(await holdings(), before)
  // A label is not for others to give, and shows nothing of the policies that a key does not have.
  const relabelled = await send('PATCH', path, { keys: { [owned.held_key]: [open.policy] } })
  assert.equal(relabelled.status, 400, relabelled.text)
  const forged = { keys: { [owned.held_key]: [open.policy] } }
  assert.equal((await world.call('PATCH', path, { as: await world.admin(), body: forged })).status, 400)
  assert.deepEqual(((await send('GET', `${path}/keys`)).json as JsonObject).Data, [])
  const gone = await send('DELETE', path)
  assert.equal(gone.status, 403, gone.text)
  assert.match(gone.text, /1 key, 1 OAuth app, 1 key request for APIs that others own/)
  assert.ok(!gone.text.includes(owned.policy))
  await world.restore()
})

test('a key request names no API of others, by either way', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { open, owned } = world
  const writer = (await world.actor('non-owner', { who: 'portal', names: [] })) as TestUser
  const path = '/api/portal/requests'
  const send = async (method: string, at: string, body: JsonObject) =>
    (await world.call(method, at, { as: writer, body })).status
  const asking = { by_user: open.developer, apply_policies: [open.policy] }
  for (const for_api of [owned.api, owned.policy, 'not-there']) {
    assert.equal(await send('PUT', `${path}/${open.request}`, { for_api }), 400, for_api)
    assert.equal(await send('POST', path, { ...asking, for_api }), 400, for_api)
  }
  assert.equal(await send('PUT', `${path}/${open.request}`, { for_api: open.api }), 200)
})

test('certificates and webhooks that APIs of others use stay as they are', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { open, owned, store } = world
  const writer = (await world.actor('non-owner', { who: 'hooks', names: [] })) as TestUser
  const body = { hook_references: [{ event_name: 'api_event', hook: { id: open.hook } }] }
  const named = await world.call('PUT', `/api/apis/${owned.api}/webhooks`, { as: await world.admin(), body })
  assert.equal(named.status, 200, named.text)
  const hook = { name: 'other', method: 'POST', target_path: 'https://elsewhere.test/' }
  for (const [method, path] of [
    ['PUT', `/api/hooks/${open.hook}`],
    ['DELETE', `/api/hooks/${open.hook}`],
    ['DELETE', `/api/certs/${open.certificate}`],
  ] as const) {
    const refused = await world.call(method, path, { as: writer, body: method === 'PUT' ? hook : undefined })
    assert.equal(refused.status, 403, `${method} ${path} ${refused.text}`)
    assert.match(refused.text, /used by 1 API that others own/)
  }
  assert.equal((await store.documents.list('hook', { where: { name: 'ours-3f9a-one' }, limit: 1 })).total, 1)
  assert.equal((await world.call('DELETE', `/api/certs/${open.spare_certificate}`, { as: writer })).status, 200)
})

/** Another value of the same type. */
function other(value: Json): Json {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return /^\d{4}-/.test(value) ? '2001-02-03T04:05:06Z' : `${value}x`
  return Array.isArray(value) ? [...value, 'x'] : { ...value, x: 'x' }
}

test('no member of a policy that others share is changed by an owner of a part of its APIs', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { open, owned, parts, orgId, store } = world
  const access_rights = rights(open.api, owned.api)
  await createPolicy(parts, { access_rights, org_id: orgId, id: 'shared', name: 'Shared', tags: ['a'] }, 'test')
  const writer = (await world.actor('non-owner', { who: 'policies', names: [] })) as TestUser
  const stored = async () => {
    const { last_updated: _at, ...rest } = (await store.documents.find('policy', 'org_policy', `${orgId}/shared`))!.body
    return rest
  }
  const path = '/api/portal/policies/shared'
  const shown = (await world.call('GET', path, { as: writer })).json as JsonObject
  assert.equal((await world.call('PUT', path, { as: writer, body: shown })).status, 200)
  const before = await stored()
  for (const member of Object.keys(shown)) {
    if (['access_rights', 'access_rights_array', 'last_updated'].includes(member)) continue
    const body = { [member]: other(shown[member]!) }
    await world.call('PATCH', path, { as: writer, body })
    assert.deepEqual(await stored(), before, `PATCH ${member}`)
    await world.call('PUT', path, { as: writer, body: { ...shown, ...body } })
    assert.deepEqual(await stored(), before, `PUT ${member}`)
  }
})

test('secrets of shared things are shown to nobody who may not change them', async (t) => {
  const world = await startWorld()
  t.after(world.close)
  const { open, owned, parts, orgId, store } = world
  const actor = 'test'
  const planted = (what: string) => `planted-in-${what}`
  const meta_data = (what: string) => ({ api_token: planted(what) })
  const access_rights = Object.fromEntries(
    [open.api, owned.api].map((api_id) => [api_id, { api_id, versions: ['Default'] }]),
  )
  const access = { access_rights, org_id: orgId }
  await createPolicy(parts, { ...access, id: 'shared', name: 'Shared', meta_data: meta_data('policy') }, actor)
  const key = 'shared-key-of-the-matrix'
  const session = {
    ...{ ...access, alias: 'shared', hmac_enabled: true, hmac_string: planted('key'), meta_data: meta_data('key') },
    jwt_data: { secret: planted('jwt') },
  }
  await createKey(parts, { session, key, keepQuota: false, actor })
  const client = { client_id: 'shared', redirect_uri: 'https://a.test/', secret: planted('client') }
  const at = { api_ids: [open.api, owned.api], meta_data: meta_data('client') }
  await createClient(parts, { body: { ...client, ...at }, orgId, actor })
  const admin = await world.admin()
  const hook = {
    name: 'shared',
    method: 'POST',
    target_path: 'https://a.test/',
    header_map: { 'X-Pin': planted('hook') },
  }
  await world.call('POST', '/api/hooks', { as: admin, body: hook })
  const hookId = (await store.documents.list('hook', { where: { name: 'shared' }, limit: 1 })).rows[0]!.id
  const body = { hook_references: [{ event_name: 'api_event', hook: { id: hookId } }] }
  await world.call('PUT', `/api/apis/${owned.api}/webhooks`, { as: admin, body })
  const hash = hashKey(key).toString('hex')
  const writer = (await world.actor('non-owner', { who: 'keys', names: [] })) as TestUser
  const every = await world.user(Object.fromEntries(PERMISSION_KEYS.map((name) => [name, 'write'])))
  const paths = [
    ...[`/api/keys/${hash}`, `/api/keys/${hash}?facts=1`, '/api/keys/detailed?p=-1', '/api/keys/detailed?q=shared'],
    ...[`/api/apis/${open.api}/keys/${hash}`, `/api/apis/-/keys/${hash}`, '/api/moves/keys', '/api/moves/keys/secrets'],
    ...['/api/portal/policies', '/api/portal/policies/shared', '/api/portal/policies/search?q=shared'],
    ...[`/api/apis/oauth/${open.api}`, `/api/apis/oauth/${open.api}/shared`, '/api/moves/clients'],
    ...['/api/moves/clients/secrets', '/api/hooks', `/api/hooks/${hookId}`],
  ]
  let shown = 0
  for (const path of paths) {
    const { text, status } = await world.call('GET', path, { as: admin })
    if (status === 200 && text.includes('planted-in-')) shown++
    for (const as of [writer, every]) {
      const answer = await world.call('GET', path, { as })
      assert.doesNotMatch(answer.text, /planted-in-/, path)
    }
  }
  const path = `/api/keys/${hash}?hashed=1`
  const seen = ((await world.call('GET', path, { as: every })).json as JsonObject).data
  const written = await world.call('PUT', path, { as: every, body: seen })
  assert.equal(written.status, 200, written.text)
  assert.doesNotMatch(written.text, /planted-in-/)
  assert.match((await world.call('GET', path, { as: admin })).text, /planted-in-key/, 'writing back keeps them')
  assert.ok(shown > 10, `only ${shown} paths show a secret to an administrator`)
})
