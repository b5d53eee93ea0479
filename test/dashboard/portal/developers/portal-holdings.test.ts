import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { DocumentId } from '../../../../src/model/documents/ids.ts'
import { isObject, type JsonObject } from '../../../../src/model/json/json.ts'
import { DEVELOPER_ID } from '../../../../src/model/portal/developers/developer.ts'
import { type GatewayWorld, gatewayWorld } from '../../../worlds/dashboard/gateway-world.ts'
import { keyedApi } from '../../../worlds/dashboard/key-world.ts'
import { assertRefused, bodyOf } from '../../../worlds/dashboard/people.ts'
import { DEVELOPERS } from '../../../worlds/portal/portal-people.ts'

interface HeldWorld extends GatewayWorld {
  developer(email: string): Promise<string>
  read(id: string): Promise<JsonObject>
  put(id: string, body: JsonObject): Promise<JsonObject>
  /** A key by a policy; answers itself. */
  issue(id: string, ...policies: string[]): Promise<string>
}

/** A gateway with an API that asks for keys and one with an authorization server, and a policy for each. */
async function heldWorld(t: TestContext): Promise<HeldWorld> {
  const world = await gatewayWorld(t)
  const { root, asked, origin } = world
  const proxy = { listen_path: '/orders/', target_url: origin.url, strip_listen_path: true }
  await world.api('orders', { definition: { ...keyedApi('orders'), proxy } })
  await world.oauth({ id: 'sales' })
  for (const id of ['gold', 'silver']) await world.policy(id, ['orders'])
  await world.policy('apps', ['sales'])
  return {
    ...world,
    developer: async (email) => String((await asked(200, 'POST', DEVELOPERS, root, { email })).Message),
    read: (id) => asked(200, 'GET', `${DEVELOPERS}/${id}`, root),
    put: (id, body) => asked(200, 'PUT', `${DEVELOPERS}/${id}`, root, body),
    issue: async (id, ...policies) =>
      String((await asked(200, 'POST', `${DEVELOPERS}/${id}/keys`, root, { apply_policies: policies })).RawKey),
  }
}

const usable = async (world: HeldWorld, key: string) =>
  (await world.gateway.call('/orders/x', { headers: { authorization: key } })).status === 200
const [one, first] = [
  (map: unknown) => Object.entries(map as JsonObject)[0]!,
  (map: unknown) => Object.keys(map as JsonObject)[0]!,
]

test('a developer goes with keys, apps, tokens and requests, in one commit', async (t) => {
  const world = await heldWorld(t)
  const id = await world.developer('ada@example.test')
  const ben = await world.developer('ben@example.test')
  const [key, bens] = [await world.issue(id, 'gold'), await world.issue(ben, 'gold')]
  const app = await world.asked(200, 'POST', `${DEVELOPERS}/${id}/keys`, world.root, {
    apply_policies: ['apps'],
    oauth_info: { redirect_uri: 'https://app.test/cb' },
  })
  const token = await world.token('sales', String(app.client_id), String(app.secret))
  await world.asked(200, 'PUT', '/api/portal/configuration', world.root, { require_key_approval: true })
  const request = { by_user: id, for_plan: 'silver', version: 'v2', fields: {} }
  await world.asked(200, 'POST', '/api/portal/requests', world.root, request)
  assert.deepEqual([await usable(world, key), await world.use('/sales/x', token)], [true, 200])
  assert.equal((await world.store.documents.list('key_request', { limit: 1 })).total, 1)
  const api = await world.asked(200, 'GET', `${DEVELOPERS}/api/orders`, world.root)
  assert.deepEqual((api.Data as JsonObject[]).map((row) => row.id).sort(), [id, ben].sort())
  assert.equal(((await world.asked(200, 'GET', `${DEVELOPERS}/api/sales`, world.root)).Data as unknown[]).length, 1)
  await world.asked(404, 'GET', `${DEVELOPERS}/api/nothing`, world.root)

  const before = await world.store.documents.revision()
  await world.asked(200, 'DELETE', `${DEVELOPERS}/${id}`, world.root)
  assert.equal(await world.store.documents.revision(), before + 1)
  assert.deepEqual([await usable(world, key), await usable(world, bens)], [false, true])
  assert.notEqual(await world.use('/sales/x', token), 200)
  assert.equal((await world.store.documents.list('key_request', { limit: 1 })).total, 0)
  assert.equal((await world.store.documents.list('oauth_client', { limit: 1 })).total, 0)
  const { rows } = await world.store.tokens.listSessions({ limit: 100 })
  assert.deepEqual(
    rows.map(({ body }) => body[DEVELOPER_ID]),
    [ben],
  )
})

test('a whole record only lists keys: it creates, revokes and takes over none', async (t) => {
  const world = await heldWorld(t)
  const id = await world.developer('ada@example.test')
  const ben = await world.developer('ben@example.test')
  const [key, bens] = [await world.issue(id, 'gold', 'silver'), await world.issue(ben, 'gold')]
  const shown = await world.read(id)
  const hash = first(shown.keys)
  const theirs = first((await world.read(ben)).keys)
  const plain = await world.key({ apply_policies: ['silver'] })

  await world.put(id, { ...shown, keys: {}, subscriptions: {} })
  assert.deepEqual(await world.read(id), shown)
  await world.put(id, { ...shown, keys: { [hash]: ['silver'] } })
  const after = await world.read(id)
  assert.deepEqual([after.keys, after.subscriptions], [{ [hash]: ['silver'] }, { silver: hash }])
  const missing = { ['a'.repeat(64)]: ['gold'], 'no hash': ['x'] }
  await world.put(id, { ...shown, keys: { [hash]: ['gold', 'silver'], ...missing } })
  assert.deepEqual(await world.read(id), shown)
  for (const stolen of [theirs, plain.hash]) {
    const path = `${DEVELOPERS}/${id}`
    const body = { ...shown, keys: { ...(shown.keys as JsonObject), [stolen]: ['gold'] } }
    assertRefused(await world.call('PUT', path, { as: world.root, body }), 400, /not a key of this developer/)
    const patch = await world.call('PATCH', path, { as: world.root, body: { keys: { [stolen]: ['gold'] } } })
    assertRefused(patch, 400, /not a key of this developer/)
    const made = await world.call('POST', DEVELOPERS, { as: world.root, body: { email: 'c@b.test', keys: body.keys } })
    assertRefused(made, 400, /not a key of this developer/)
  }
  for (const label of [['apps'], ['gold', 'apps'], ['nothing'], ['GOLD']]) {
    const sent = { ...shown, keys: { [hash]: label } }
    const answer = await world.call('PUT', `${DEVELOPERS}/${id}`, { as: world.root, body: sent })
    assertRefused(answer, 400, /is not a policy of the key/)
  }
  for (const label of ['gold', [7], [''], { a: 1 }]) {
    const body = { ...shown, keys: { [hash]: label } }
    assertRefused(await world.call('PUT', `${DEVELOPERS}/${id}`, { as: world.root, body }), 400, /keys: each must/)
  }
  assert.deepEqual(await world.read(id), shown)
  assert.deepEqual([await usable(world, key), await usable(world, bens)], [true, true])
})

test('apps that a record omits stay and are named; edits of the others apply', async (t) => {
  const world = await heldWorld(t)
  const id = await world.developer('ada@example.test')
  const redirect_uri = 'https://app.test/cb'
  const tokens: string[] = []
  for (let i = 0; i < 2; i++) {
    const body = { apply_policies: ['apps'], oauth_info: { redirect_uri } }
    const app = await world.asked(200, 'POST', `${DEVELOPERS}/${id}/keys`, world.root, body)
    tokens.push(await world.token('sales', String(app.client_id), String(app.secret)))
  }
  const shown = await world.read(id)
  const [policy, apps] = one(shown.oauth_clients) as [string, JsonObject[]]
  assert.equal(apps.length, 2)
  assert.deepEqual(
    apps.map(({ secret }) => secret),
    ['', ''],
  )
  const { oauth_clients: _apps, ...without } = shown
  await world.put(id, without)
  await world.put(id, { ...shown, oauth_clients: null })
  assert.deepEqual(await world.read(id), shown)

  const kept = { ...apps[1]!, app_description: 'Shop', redirect_uri: 'https://evil.test/', date_created: 'x' }
  const body = { ...shown, oauth_clients: { [policy]: [kept, { client_id: 'made up' }] } }
  const answer = await world.asked(200, 'PUT', `${DEVELOPERS}/${id}`, world.root, body)
  assert.deepEqual(answer.Meta, { kept: { oauth_clients: [apps[0]!.client_id] } })
  const left = (await world.read(id)).oauth_clients as JsonObject
  assert.deepEqual(left, { [policy]: [apps[0], { ...apps[1], app_description: 'Shop' }] })
  const lives = async () => Promise.all(tokens.map((token) => world.use('/sales/x', token)))
  const gone = { oauth_clients: { [policy]: null } }
  const patched = await world.asked(200, 'PATCH', `${DEVELOPERS}/${id}`, world.root, gone)
  assert.deepEqual(patched.Meta, { kept: { oauth_clients: apps.map(({ client_id }) => client_id) } })
  assert.deepEqual((await world.read(id)).oauth_clients, left)
  assert.deepEqual(await lives(), [200, 200])
  assert.equal((await world.store.documents.list('oauth_client', { limit: 1 })).total, 2)
})

test('deletions and new keys at once leave no key without its developer', async (t) => {
  const world = await heldWorld(t)
  const ids = await Promise.all(Array.from({ length: 5 }, (_, i) => world.developer(`d${i}@example.test`)))
  const path = (id: string) => `${DEVELOPERS}/${id}`
  const issue = (id: string, policy: string) =>
    world.call('POST', `${path(id)}/keys`, { as: world.root, body: { apply_policies: [policy] } })
  const answers = await Promise.all(
    ids.flatMap((id) => [issue(id, 'gold'), world.call('DELETE', path(id), { as: world.root }), issue(id, 'silver')]),
  )
  for (const { status, text } of answers) assert.ok([200, 404].includes(status), text)
  for (const id of ids) {
    assert.equal(await world.store.documents.get('developer', id as DocumentId), undefined)
    assertRefused(await issue(id, 'gold'), 404, /./)
  }
  const { rows } = await world.store.tokens.listSessions({ limit: 100 })
  assert.deepEqual(
    rows.filter(({ body }) => typeof body[DEVELOPER_ID] === 'string'),
    [],
  )
})

test('developers of an API that others own are not for everybody', async (t) => {
  const world = await gatewayWorld(t, { SVC_DB_ENABLEOWNERSHIP: 'true' })
  const [owner, other] = [await world.user({ portal: 'read' }), await world.user({ portal: 'read' })]
  await world.api('owned', { users: [owner.id] })
  const path = `${DEVELOPERS}/api/owned`
  assert.ok(isObject(bodyOf(await world.call('GET', path, { as: owner }))))
  assertRefused(await world.call('GET', path, { as: other }), 401, 'Not authorised')
})
