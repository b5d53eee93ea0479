import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import { isObject, type JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { eventsOf } from '../../../src/publish/events/domain-events.ts'
import { createKey, deleteKey } from '../../../src/publish/keys/keys.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { type Receiver, startReceiver } from '../../worlds/oauth/receiver.ts'

interface Shape extends JsonObject {
  id: string
  name: string
  target_path: string
}

const OPEN = { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' }
const SEAL_KEY = Buffer.alloc(32, 7)

async function world(t: TestContext, env: Record<string, string> = OPEN) {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  const dashboard = await startTestDashboard({ env, clock, store, parts: { sealKey: SEAL_KEY } })
  t.after(async () => {
    await dashboard.close()
    await store.close()
  })
  const { call } = dashboard
  const admin = await dashboard.admin()
  return {
    ...dashboard,
    admin,
    list: async () => ((await call('GET', '/api/hooks?p=-1', { as: admin })).json as { hooks: Shape[] }).hooks,
    async hook(body: JsonObject): Promise<Shape> {
      const answer = await call('POST', '/api/hooks', { as: admin, body: { method: 'POST', ...body } })
      assert.deepEqual(answer.json, { Status: 'OK', Message: 'Webhook created', Meta: null })
      const all = ((await call('GET', '/api/hooks?p=-1', { as: admin })).json as { hooks: Shape[] }).hooks
      return all.find(({ name }) => name === body.name)!
    },
  }
}

async function receiver(t: TestContext): Promise<Receiver> {
  const started = await startReceiver()
  t.after(() => started.close())
  return started
}

test('a webhook is created, listed, read, changed and deleted, in the words that clients know', async (t) => {
  const { call, admin, hook, user, store } = await world(t)
  const header_map = { Authorization: 'Bearer very-secret', 'X-One': '1' }
  const made = await hook({ name: 'One', target_path: 'https://h.test/in', header_map, event_timeout: 60, mine: [1] })
  const { id, org_id } = made
  assert.deepEqual(Object.entries(made), [
    ['api_model', {}],
    ['id', id],
    ['org_id', org_id],
    ['name', 'One'],
    ['method', 'POST'],
    ['target_path', 'https://h.test/in'],
    ['template_path', ''],
    ['header_map', header_map],
    ['event_timeout', 60],
    ['mine', [1]],
  ])
  const stored = await store.documents.get('hook', id as DocumentId)
  assert.ok(!JSON.stringify(stored).includes('very-secret'))
  const reader = await user({ hooks: 'read' })
  const masked = { ...made, header_map: { Authorization: '***', 'X-One': '***' } }
  for (const [as, shown] of [
    [reader, masked],
    [admin, made],
  ] as const) {
    assert.deepEqual((await call('GET', `/api/hooks/${id}/`, { as })).json, shown)
    assert.deepEqual((await call('GET', '/api/hooks', { as })).json, { hooks: [shown], pages: 1 })
  }
  // A mask, or no value, keeps the stored value.
  for (const header_map of [masked.header_map, { Authorization: '', 'X-One': '1' }]) {
    assert.equal((await call('PUT', `/api/hooks/${id}`, { as: admin, body: { ...made, header_map } })).status, 200)
    assert.deepEqual((await call('GET', `/api/hooks/${id}`, { as: admin })).json, made)
  }
  const body = { name: 'Two', method: 'put', target_path: 'http://h.test/', id: 'other', org_id: 'other' }
  const changed = await call('PUT', `/api/hooks/${id}`, { as: admin, body })
  assert.deepEqual(changed.json, { Status: 'OK', Message: 'Hook updated', Meta: null })
  const read = (await call('GET', `/api/hooks/${id}`, { as: reader })).json as Shape
  assert.deepEqual([read.id, read.org_id, read.name, read.method, read.header_map], [id, org_id, 'Two', 'PUT', {}])
  const gone = await call('DELETE', `/api/hooks/${id}`, { as: admin })
  assert.deepEqual(gone.json, { Status: 'OK', Message: 'Webhook deleted', Meta: null })
  assert.deepEqual((await call('GET', '/api/hooks', { as: reader })).json, { hooks: [], pages: 1 })
})

test('a target that is no URI as it was typed is stored and shown as one', async (t) => {
  const { hook } = await world(t)
  const typed = 'https://h.test/ü{a b}/%?q={a|b}&p=50%&e=%20#`'
  const { target_path: shown } = await hook({ name: 'Typed', target_path: typed })
  assert.match(shown, /^[!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]+$/)
  assert.equal(shown, 'https://h.test/%C3%BC%7Ba%20b%7D/%25?q=%7Ba%7Cb%7D&p=50%25&e=%20#%60')
  assert.equal((await hook({ name: 'Again', target_path: shown })).target_path, shown)
})

test('a target that is longer than new ones may be is taken where it is sent back unchanged', async (t) => {
  const { call, admin, hook, store } = await world(t)
  for (const target_path of [`https://h.test/${'%7B'.repeat(1000)}`, `https://h.test/${'{'.repeat(1000)}`]) {
    const { id } = await hook({ name: target_path.slice(0, 20), target_path: 'https://h.test/' })
    const { body } = (await store.documents.get('hook', id as DocumentId))!
    const before = { ...body, target_path }
    await store.documents.commit([{ op: 'put', kind: 'hook', id: id as DocumentId, body: before }], undefined)
    const read = async () => (await call('GET', `/api/hooks/${id}`, { as: admin })).json as Shape
    const shown = await read()
    assert.ok(shown.target_path.length > 2048)
    const back = await call('PUT', `/api/hooks/${id}`, { as: admin, body: { ...shown, method: 'PUT' } })
    assert.equal(back.status, 200, back.text)
    assert.deepEqual(await read(), { ...shown, method: 'PUT' })
    const longer = { ...shown, target_path: `${shown.target_path}x` }
    assert.equal((await call('PUT', `/api/hooks/${id}`, { as: admin, body: longer })).status, 400)
  }
})

test('what is no webhook, is there already, or is not for the caller is refused', async (t) => {
  const { call, admin, hook, user, organisation, list } = await world(t, {})
  const good = { name: 'x', method: 'POST', target_path: 'https://h.test/' }
  const bad: JsonObject[] = [
    { method: 'POST' },
    { target_path: 'https://h.test/' },
    { ...good, method: 'TRACE' },
    { ...good, target_path: 'ftp://h.test/' },
    { ...good, target_path: 'https://u:p@h.test/' },
    { ...good, target_path: 'http://127.0.0.1/' },
    { ...good, target_path: 'http://0x7f.1/' },
    { ...good, target_path: 'http://[::ffff:169.254.169.254]/' },
    { ...good, target_path: `https://h.test/${'x'.repeat(2048)}` },
    { ...good, target_path: `https://h.test/${'{'.repeat(1000)}` },
    { ...good, header_map: { 'X-A\r\nX-B': '1' } },
    { ...good, header_map: { 'X-A': '1\r\nX-B: 2' } },
    { ...good, header_map: { Host: 'other' } },
    { ...good, header_map: { 'X-Svc-Signature': 'forged' } },
    { ...good, header_map: { 'X-A': 1 } },
    { ...good, header_map: [] },
    { ...good, event_timeout: -1 },
    { ...good, shared_secret: 'a\nb' },
    { ...good, name: 'a\u0007' },
  ]
  for (const body of bad) {
    const answer = await call('POST', '/api/hooks', { as: admin, body })
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.ok(!answer.text.includes('u:p@'))
  }
  assert.match((await call('POST', '/api/hooks', { as: admin, body: {} })).text, /Webhook object validation failed/)
  assert.equal((await call('POST', '/api/hooks', { as: admin, body: '{' })).status, 403)
  assert.deepEqual(await list(), [])
  const { id } = await hook(good)
  const again = await call('POST', '/api/hooks', { as: admin, body: { ...good, id } })
  assert.equal(again.status, 409)
  assert.equal((again.json as { Message: string }).Message, 'Duplicate webhook_id.')
  const paths = [`/api/hooks/${id}`, '/api/hooks/nonsense', '/api/hooks/ffffffffffffffffffffffff']
  const foreign = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  for (const path of paths) {
    assert.equal((await call('GET', path, { as: foreign })).status, 400, path)
    assert.equal((await call('PUT', path, { as: foreign, body: good })).status, 404, path)
    assert.equal((await call('DELETE', path, { as: foreign })).status, 404, path)
    assert.equal((await call('POST', `${path}/test`, { as: foreign })).status, 404, path)
  }
  const reader = await user({ hooks: 'read' })
  const other = await user({ apis: 'write' })
  for (const [method, path] of [
    ['POST', '/api/hooks'],
    ['PUT', paths[0]!],
    ['DELETE', paths[0]!],
    ['POST', `${paths[0]}/test`],
  ] as const) {
    assert.equal((await call(method, path, { as: reader, body: good })).status, 403)
    assert.equal((await call(method, path, { body: good })).status, 401)
  }
  assert.equal((await call('GET', '/api/hooks', { as: other })).status, 403)
  assert.equal((await list()).length, 1)
})

test('the id of a deleted webhook is of use to its organisation alone, whose undo puts it back', async (t) => {
  const { call, admin, hook, organisation, user } = await world(t)
  const other = await user({ hooks: 'write' }, { orgId: await organisation() })
  const { id } = await hook({ name: 'first', target_path: 'http://127.0.0.1:1/' })
  const theirs = { id, name: 'second', method: 'POST', target_path: 'http://127.0.0.1:1/' }
  const create = async (as: typeof admin, body: JsonObject) => (await call('POST', '/api/hooks', { as, body })).status
  assert.equal((await call('DELETE', `/api/hooks/${id}`, { as: admin })).status, 200)
  assert.equal(await create(other, theirs), 409)
  const { audit_logs: entries } = (await call('GET', '/api/audit-logs?p=1', { as: admin })).json as JsonObject
  const [{ _id: entry }] = entries as [JsonObject]
  const undone = await call('POST', `/api/audit-logs/${entry}/undo`, { as: admin })
  assert.equal(undone.status, 200, undone.text)
  assert.equal((await call('DELETE', `/api/hooks/${id}`, { as: admin })).status, 200)
  assert.equal(await create(other, theirs), 409)
  assert.equal(await create(admin, { ...theirs, name: 'third' }), 200)
  assert.equal(await create(other, { ...theirs, id: 'f'.repeat(24) }), 200)
})

test('a test message is sent with the fields of the webhook, signed, and its end is told', async (t) => {
  const { call, admin, hook } = await world(t)
  const to = await receiver(t)
  const header_map = { Authorization: 'Bearer very-secret', 'user-agent': 'mine' }
  const { id } = await hook({ name: 'h', method: 'PUT', target_path: to.url, header_map, shared_secret: 's3cret' })
  const send = () => call('POST', `/api/hooks/${id}/test`, { as: admin })
  assert.deepEqual((await send()).json, { Status: 'OK', Message: 'Webhook delivered', Meta: null })
  const [message] = to.received
  assert.equal(message!.method, 'PUT')
  assert.equal(message!.headers.authorization, 'Bearer very-secret')
  assert.equal(message!.headers['user-agent'], 'Svc-Dash-Hookshot')
  assert.deepEqual(JSON.parse(message!.body), { event: 'test', data: { hook_id: id } })
  const [, at, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(message!.headers['x-svc-signature']))!
  assert.equal(mac, createHmac('sha256', 's3cret').update(`${at}.${message!.body}`).digest('hex'))
  // the shared secret stays when none is sent, and goes with ''
  const change = (more: JsonObject) =>
    call('PUT', `/api/hooks/${id}`, { as: admin, body: { name: 'h', method: 'GET', target_path: to.url, ...more } })
  await change({})
  await send()
  assert.deepEqual([to.received[1]!.method, to.received[1]!.body], ['GET', ''])
  assert.equal(to.received[1]!.headers['x-svc-shared-secret'], 's3cret')
  await change({ shared_secret: '' })
  await send()
  assert.equal(to.received[2]!.headers['x-svc-shared-secret'], undefined)
  to.script = (_message, response) => void response.writeHead(500).end('internal details')
  const failed = await send()
  assert.equal(failed.status, 400)
  assert.deepEqual(failed.json, { Status: 'Error', Message: 'The webhook was not delivered: answered 500', Meta: null })
  await to.close()
  assert.match((await send()).text, /not delivered: no connection: ECONNREFUSED/)
})

const definition = (orgId: string, more: JsonObject = {}): JsonObject => ({
  ...{ api_id: 'orders', name: 'Orders', org_id: orgId, active: true, use_standard_auth: true },
  proxy: { listen_path: '/orders/', target_url: 'http://127.0.0.1:1/' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  ...more,
})

interface Told {
  event: string
  data: JsonObject
}

test('events reach each receiver once, durably and without secrets', async (t) => {
  const { call, admin, hook, store, clock, orgId } = await world(t)
  const [forOrg, forHook] = [await receiver(t), await receiver(t)]
  const organisation = (await store.documents.get('organisation', orgId as DocumentId))!
  const event_options = Object.fromEntries(
    ['api_event', 'key_event'].map((name) => [name, { webhook: forOrg.url, email: '', redis: false }]),
  )
  await store.documents.commit(
    [{ op: 'put', kind: 'organisation', id: orgId as DocumentId, body: { ...organisation.body, event_options } }],
    undefined,
  )
  const { id, name } = await hook({ name: 'h', target_path: forHook.url, header_map: { 'X-Token': 'very-secret' } })
  const references = [
    { event_name: 'api_event', event_timeout: 0, hook: { id, name } },
    { event_name: 'hashed_key_event.deleted', event_timeout: 0, hook: { name } },
    { event_name: 'api_event', event_timeout: 0, hook: { name: 'no such' } },
  ]
  const api_definition = definition(orgId, { jwt_source: 'c2VjcmV0', auth: { auth_header_name: 'Authorization' } })
  const body = { api_definition, hook_references: references }
  const made = await call('POST', '/api/apis', { as: admin, body })
  assert.equal(made.status, 200, made.text)
  // nobody delivers yet: the messages wait in the store
  assert.equal(forOrg.received.length, 0)
  const gateway = await startTestGateway({ store, clock, env: OPEN })
  t.after(() => gateway.close())
  const session = {
    ...{ org_id: orgId, rate: 5, per: 1, hmac_string: 'hmac-secret', meta_data: { api_key: 'meta-secret', plan: 'x' } },
    access_rights: { orders: { api_id: 'orders', versions: ['Default'] } },
  }
  const key = await call('POST', '/api/keys', { as: admin, body: session })
  assert.equal(key.status, 200, key.text)
  const { key_hash, key_id } = key.json as { key_hash: string; key_id: string }
  assert.equal((await call('DELETE', `/api/apis/orders/keys/${key_hash}?hashed=1`, { as: admin })).status, 200)
  assert.equal((await call('DELETE', '/api/apis/orders', { as: admin })).status, 200)
  await eventually('all messages arrive', () => forOrg.received.length >= 4 && forHook.received.length >= 3)
  const told = ({ received }: Receiver) => received.map((message) => JSON.parse(message.body) as Told)
  const events = (at: Receiver) => told(at).map(({ event }) => event)
  // in order for each queue
  const sorted = (at: Receiver, sort: string) => events(at).filter((event) => event.startsWith(`${sort}.`))
  assert.deepEqual(sorted(forOrg, 'api_event'), ['api_event.created', 'api_event.deleted'])
  assert.deepEqual(sorted(forOrg, 'key_event'), ['key_event.created', 'key_event.deleted'])
  assert.deepEqual(events(forHook), ['api_event.created', 'hashed_key_event.deleted', 'api_event.deleted'])
  assert.equal(forHook.received[0]!.headers['x-token'], 'very-secret')
  const [first] = told(forHook)
  assert.equal((first!.data.api_definition as JsonObject).api_id, 'orders')
  assert.ok(isObject(first!.data) && Array.isArray(first!.data.hook_references))
  assert.equal(told(forHook)[1]!.data.key_hash, key_hash)
  const everything = [...forOrg.received, ...forHook.received].map((message) => message.body).join()
  for (const secret of [key_id, 'very-secret', 'hmac-secret', 'meta-secret'])
    assert.ok(!everything.includes(secret), secret)
  await eventually('the outbox is empty', async () => (await store.outbox.nextAt()) === undefined)
})

test('a message waits for its receiver, follows the webhook, and is deleted with it', async (t) => {
  const { call, admin, hook, store, clock, orgId } = await world(t)
  const gateway = await startTestGateway({ store, clock, env: OPEN })
  t.after(() => gateway.close())
  const [bad, good] = [await receiver(t), await receiver(t)]
  bad.script = (_message, response) => void response.writeHead(500).end()
  const { id } = await hook({ name: 'h', target_path: bad.url })
  const hook_references = [{ event_name: 'api_event', event_timeout: 0, hook: { id } }]
  await call('POST', '/api/apis', { as: admin, body: { api_definition: definition(orgId), hook_references } })
  await eventually('the first try is written down', async () => ((await store.outbox.nextAt()) ?? 0) > clock.wall())
  await call('PUT', `/api/hooks/${id}`, { as: admin, body: { name: 'h', method: 'POST', target_path: good.url } })
  clock.advance(60_000)
  await eventually('it arrives at the new address', () => good.received.length === 1)
  good.script = bad.script
  await call('PUT', '/api/apis/orders', {
    as: admin,
    body: { api_definition: definition(orgId, { name: 'B' }), hook_references },
  })
  await eventually('the next one fails', async () => ((await store.outbox.nextAt()) ?? 0) > clock.wall())
  await call('DELETE', `/api/hooks/${id}`, { as: admin })
  clock.advance(60_000)
  await eventually('it is dropped with the webhook', async () => (await store.outbox.nextAt()) === undefined)
  assert.equal(good.received.length, 2)
})

test('webhooks of another organisation are not told, and tokens of clients make no noise', async (t) => {
  const { call, admin, user, organisation, store, orgId, parts } = await world(t)
  const foreign = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  const target_path = 'http://127.0.0.1:1/'
  await call('POST', '/api/hooks', { as: foreign, body: { name: 'theirs', method: 'POST', target_path } })
  const { id } = (await store.documents.list('hook', { limit: 1 })).rows[0]!
  const hook_references = [{ event_name: 'api_event', event_timeout: 0, hook: { id, name: 'theirs' } }]
  await call('POST', '/api/apis', { as: admin, body: { api_definition: definition(orgId), hook_references } })
  assert.equal(await store.outbox.nextAt(), undefined)
  const named = { event_options: { key_event: { webhook: target_path } } }
  const { body } = (await store.documents.get('organisation', orgId as DocumentId))!
  await store.documents.commit(
    [{ op: 'put', kind: 'organisation', id: orgId as DocumentId, body: { ...body, ...named } }],
    undefined,
  )
  const session = (clientId: string) => ({ body: {}, orgId, apiIds: [], policyIds: [], clientId, evictAt: 0 })
  const about = async (clientId: string) =>
    (await eventsOf(parts, [{ op: 'putSession', hash: Buffer.alloc(32, 1), row: session(clientId) }])).changes
  assert.equal((await about('')).length, 1)
  assert.deepEqual(await about('client'), [])
  // publishers outside the dashboard tell nobody
  const rights = { orders: { api_id: 'orders', versions: ['Default'] } }
  const made = await createKey(parts, {
    session: { org_id: orgId, access_rights: rights },
    keepQuota: true,
    actor: 't',
  })
  const row = (await store.tokens.getSession(Buffer.from(made.keyHash, 'hex')))!
  await deleteKey(parts, row, 't')
  assert.equal(await store.outbox.nextAt(), undefined)
})
