import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { loadConfig } from '../../../src/config/load.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { readHook } from '../../../src/model/webhooks/hook.ts'
import { createHook } from '../../../src/publish/webhooks/hooks.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { classic, defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Receiver, startReceiver } from '../../worlds/oauth/receiver.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

interface Told {
  readonly event: string
  readonly key: string
  readonly path: string
  readonly trigger_limit?: number
  readonly usage_percentage?: number
  readonly [member: string]: unknown
}

interface Scene {
  readonly gateway: TestGateway
  readonly clock: FakeClock
  readonly receiver: Receiver
  /** The messages at the receiver, once there are this many. */
  told(count: number): Promise<Told[]>
  key(more?: JsonObject): Promise<{ key: string; key_hash: string }>
  /** One number of the metrics page. */
  count(name: string): Promise<number>
}

const ORG = newDocumentId(0)
const NAMES = [
  'AuthFailure',
  'KeyExpired',
  'VersionFailure',
  'RatelimitExceeded',
  'QuotaExceeded',
  'OrgRateLimitExceeded',
  'OrgQuotaExceeded',
  'TriggerExceeded',
  'TokenCreated',
  'TokenUpdated',
  'TokenDeleted',
]

const hook = (target: string, more: JsonObject = {}) => ({
  handler_name: 'eh_web_hook_handler',
  handler_meta: { method: 'POST', target_path: target, header_map: { 'X-Mine': 'yes' }, event_timeout: 0, ...more },
})

async function open(
  t: TestContext,
  api: (origin: string, target: string) => JsonObject,
  env: Record<string, string> = {},
): Promise<Scene> {
  const clock = new FakeClock()
  const origin = await startOrigin()
  t.after(() => origin.close())
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const gateway = await startTestGateway({ clock, env: { SVC_WEBHOOKS_ALLOWPRIVATE: 'true', ...env } })
  t.after(() => gateway.close())
  const definition = api(origin.url, receiver.url)
  const made = await gateway.svc('POST', 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis', definition)
  assert.equal(made.status, 200, made.text)
  const told = async (count: number) => {
    await eventually(`${count} messages`, () => receiver.received.length >= count)
    return receiver.received.map(({ body }) => JSON.parse(body) as Told)
  }
  const key = async (more: JsonObject = {}) => {
    const sent = { org_id: ORG, access_rights: rights('k'), quota_max: -1, ...more }
    const created = await gateway.svc('POST', '/svc/keys', sent)
    assert.equal(created.status, 200, created.text)
    return created.json as { key: string; key_hash: string }
  }
  const count = async (name: string) =>
    Number(new RegExp(`^${name} (\\d+)`, 'm').exec((await gateway.svc('GET', '/metrics')).text)?.[1] ?? 0)
  return { gateway, clock, receiver, told, key, count }
}

/** An API with key authentication and handlers of these events. */
const telling =
  (names: readonly string[], meta: JsonObject = {}, more: JsonObject = {}) =>
  (url: string, target: string) => ({
    ...classic('k', '/k/', url),
    org_id: ORG,
    use_keyless: false,
    auth: { auth_header_name: 'X-Key' },
    event_handlers: { events: Object.fromEntries(names.map((name) => [name, [hook(target, meta)]])) },
    ...more,
  })

test('refusals raise events by name, with the hash of the key and no secret', async (t) => {
  const { gateway, clock, receiver, told, key } = await open(
    t,
    telling(NAMES.filter((name) => !name.startsWith('Token') && name !== 'TriggerExceeded')),
  )
  const call = (headers: Record<string, string>) => gateway.call('/k/a/b?token=hidden-in-query', { headers })
  assert.equal((await call({})).status, 401)
  assert.equal((await call({ 'X-Key': 'a-key-that-nobody-knows' })).status, 403)
  const [rated, spent, old] = [
    await key({ rate: 1, per: 60 }),
    await key({ quota_max: 1, quota_renewal_rate: 3600 }),
    await key({ expires: Math.floor(clock.wall() / 1000) + 10, alias: 'of Ada' }),
  ]
  for (const each of [rated, spent]) {
    assert.equal((await call({ 'X-Key': each.key })).status, 200)
    assert.equal((await call({ 'X-Key': each.key })).status, 429)
  }
  clock.advance(60_000)
  assert.equal((await call({ 'X-Key': old.key })).status, 401)
  await gateway.svc('PUT', `/svc/org/keys/${ORG}`, { quota_max: 1, quota_renewal_rate: 3600, rate: 0, per: 0 })
  await gateway.svc('POST', `/svc/org/keys/${ORG}`, { quota_max: 1, quota_renewal_rate: 3600, rate: 0, per: 0 })
  const free = await key()
  assert.equal((await call({ 'X-Key': free.key })).status, 200)
  assert.equal((await call({ 'X-Key': free.key })).status, 429)
  const messages = await told(6)
  const of = (event: string) => messages.filter((message) => message.event === event)
  assert.deepEqual(
    of('AuthFailure').map(({ key: hash, message }) => [hash, message]),
    [
      ['', 'Authorization field missing'],
      ['', 'Access to this API has been disallowed'],
    ],
  )
  assert.equal(of('RatelimitExceeded')[0]!.key, rated.key_hash)
  assert.equal(of('QuotaExceeded')[0]!.key, spent.key_hash)
  assert.deepEqual([of('KeyExpired')[0]!.key, of('KeyExpired')[0]!.alias], [old.key_hash, 'of Ada'])
  assert.equal(of('OrgQuotaExceeded')[0]!.key, free.key_hash)
  const { path, origin, api_id: apiId, org_id: orgId, method } = messages[0]!
  assert.deepEqual([path, origin, apiId, orgId, method], ['/k/a/b', '127.0.0.1', 'k', ORG, 'GET'])
  const sent = JSON.stringify(receiver.received)
  for (const secret of [rated.key, spent.key, old.key, free.key, 'a-key-that-nobody-knows', 'hidden-in-query'])
    assert.ok(!sent.includes(secret), secret)
  assert.ok(receiver.received.every(({ headers }) => headers['x-mine'] === 'yes'))
})

test('a request for no version is told of as such', async (t) => {
  const versioned = (url: string, target: string) => ({
    ...classic('v', '/v/', url),
    org_id: ORG,
    definition: { location: 'header', key: 'X-Version' },
    version_data: { not_versioned: false, versions: { one: { name: 'one' } } },
    event_handlers: { events: { VersionFailure: [hook(target)] } },
  })
  const { gateway, told } = await open(t, versioned)
  await gateway.call('/v/a')
  await gateway.call('/v/a', { headers: { 'X-Version': 'two' } })
  await gateway.call('/v/a', { headers: { 'X-Version': 'one' } })
  assert.deepEqual(
    (await told(2)).map(({ event }) => event),
    ['VersionFailure', 'VersionFailure'],
  )
})

test('changes of keys raise events at the APIs of their organisation that they name', async (t) => {
  const { gateway, receiver, told, key } = await open(t, telling(NAMES))
  const foreign = { org_id: newDocumentId(1), access_rights: rights('k'), alias: 'of another organisation' }
  assert.equal((await gateway.svc('POST', '/svc/keys/create', foreign)).status, 400)
  const made = await key({ alias: 'of Ada' })
  const body = { org_id: ORG, access_rights: rights('k'), quota_max: -1, alias: 'of Eve' }
  assert.equal((await gateway.svc('PUT', `/svc/keys/${made.key}`, body)).status, 200)
  assert.equal((await gateway.svc('DELETE', `/svc/keys/${made.key}`)).status, 200)
  assert.deepEqual(
    (await told(3)).map(({ event, key: hash, alias }) => [event, hash, alias]),
    [
      ['TokenCreated', made.key_hash, 'of Ada'],
      ['TokenUpdated', made.key_hash, 'of Eve'],
      ['TokenDeleted', made.key_hash, 'of Eve'],
    ],
  )
  assert.ok(!JSON.stringify(receiver.received).includes(made.key))
})

test('each share of a quota raises one event in a period, under any concurrency', async (t) => {
  const { gateway, clock, told, key, count } = await open(t, telling(['TriggerExceeded']), {
    SVC_GW_MONITOR_GLOBALTRIGGERLIMIT: '90',
  })
  const made = await key({ quota_max: 10, quota_renewal_rate: 3600, monitor: { trigger_limits: [80, 50] } })
  const all = (calls: number) =>
    Promise.all(Array.from({ length: calls }, () => gateway.call('/k/a', { headers: { 'X-Key': made.key } })))
  await all(4)
  await all(8)
  const first = await told(3)
  assert.deepEqual(
    first.map(({ trigger_limit: limit, usage_percentage: used, key: hash }) => [limit, used, hash]),
    [
      [50, 50, made.key_hash],
      [80, 80, made.key_hash],
      [90, 90, made.key_hash],
    ],
  )
  clock.advance(3_600_001)
  await all(5)
  const messages = await told(4)
  assert.equal(messages[3]!.trigger_limit, 50)
  assert.equal(await count('svc_events_told_total'), 4)
})

test('a receiver gets no repetition within its cooldown, and the count of what it missed', async (t) => {
  const { gateway, clock, told, key, count } = await open(
    t,
    telling(['AuthFailure', 'QuotaExceeded'], { event_timeout: 30 }),
  )
  const [one, two] = [await key({ quota_max: 1 }), await key({ quota_max: 1 })]
  for (let n = 0; n < 5; n++) await gateway.call('/k/a')
  for (let n = 0; n < 3; n++)
    for (const { key: sent } of [one, two]) await gateway.call('/k/a', { headers: { 'X-Key': sent } })
  await eventually('all are seen', async () => (await count('svc_events_told_total')) === 3)
  assert.equal(await count('svc_events_held_total'), 6)
  assert.deepEqual((await told(3)).map(({ event }) => event).sort(), ['AuthFailure', 'QuotaExceeded', 'QuotaExceeded'])
  clock.advance(30_001)
  await gateway.call('/k/a')
  await told(4)
})

test('without a cooldown a flood of refusals is a trickle of messages all the same', async (t) => {
  const { gateway, told, count } = await open(t, telling(['AuthFailure']))
  for (let n = 0; n < 100; n++) await gateway.call(`/k/${n}`)
  await told(20)
  assert.equal(await count('svc_events_told_total'), 20)
  assert.equal(await count('svc_events_held_total'), 80)
})

test('handlers of an OpenAPI definition, and of the log', async (t) => {
  const api = (url: string, target: string) =>
    defined({
      id: 'k',
      url,
      keyIn: 'X-Key',
      info: { orgId: ORG },
      server: {
        eventHandlers: [
          { enabled: true, trigger: 'authfailure', type: 'webhook', url: target, method: 'PUT', cooldownPeriod: '1m' },
          { enabled: false, trigger: 'AuthFailure', type: 'webhook', url: `${target}/off` },
          { enabled: true, trigger: 'AuthFailure', type: 'log', logPrefix: 'watch: ' },
        ],
      },
    })
  const { gateway, receiver, told } = await open(t, api)
  await gateway.call('/k/a')
  await gateway.call('/k/a')
  assert.equal((await told(1))[0]!.event, 'AuthFailure')
  assert.equal(receiver.received[0]!.method, 'PUT')
  const lines = () => gateway.log.filter(({ fields }) => fields.event === 'AuthFailure')
  await eventually('both are logged', () => lines().length === 2)
  assert.equal(lines()[0]!.message, 'watch: Authorization field missing')
  assert.deepEqual([lines()[0]!.level, lines()[0]!.fields.api_id], ['warn', 'k'])
  assert.equal(receiver.received.length, 1)
})

test('a webhook of the organisation is notified only by the APIs that name it', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const receiver = await startReceiver()
  t.after(() => receiver.close())
  const gateway = await startTestGateway({ store, clock, env: { SVC_WEBHOOKS_ALLOWPRIVATE: 'true' } })
  t.after(() => gateway.close())
  const { config } = loadConfig({ env: {}, cwd: import.meta.dirname })
  const sent = { name: 'ours', method: 'POST', target_path: receiver.url, header_map: { 'X-Mine': 'yes' } }
  const draft = readHook(sent, { allowPrivate: true })
  const id = await createHook(
    { ...store, sealKey: Buffer.alloc(32, 7), defaultOrg: () => '', locks: new KeyedMutex(), config, clock },
    { orgId: ORG, id: undefined, draft },
    'test',
  )
  assert.equal((await gateway.svc('POST', '/svc/apis', telling([])('http://127.0.0.1:9', ''))).status, 200)
  await gateway.call('/k/a')
  const stored = (await store.documents.find('api', 'api_id', 'k'))!
  const references = [{ event_name: 'AuthFailure', event_timeout: 60, hook: { id, name: 'ours' } }]
  const body = { ...stored.body, hook_references: references }
  const revision = await store.documents.commit([{ op: 'put', kind: 'api', id: stored.id, body }], undefined)
  await gateway.gateway.live.settled(revision)
  await gateway.call('/k/a')
  await gateway.call('/k/a')
  await eventually('it is told', () => receiver.received.length === 1)
  assert.equal(receiver.received[0]!.headers['x-mine'], 'yes')
  assert.equal((JSON.parse(receiver.received[0]!.body) as Told).event, 'AuthFailure')
})

test('a definition whose handlers make no sense is refused, and says where', async (t) => {
  const { gateway } = await open(t, telling([]))
  const refused = async (events: JsonObject) => {
    const answer = await gateway.svc('POST', '/svc/apis', {
      ...classic('x', '/x/', 'http://127.0.0.1:9'),
      event_handlers: { events },
    })
    assert.equal(answer.status, 400, answer.text)
    return answer.text
  }
  const target = 'https://example.org/hook'
  assert.match(await refused({ Sunrise: [hook(target)] }), /event_handlers\.events\.Sunrise: is not an event/)
  assert.match(await refused({ AuthFailure: [hook('ftp://example.org')] }), /event_handlers\.events\.AuthFailure\[0\]/)
  assert.match(await refused({ AuthFailure: [hook(target, { method: 'BREW' })] }), /method/)
  assert.match(await refused({ AuthFailure: [hook(target, { header_map: { Host: 'a' } })] }), /header_map/)
  assert.match(
    await refused({ AuthFailure: [{ handler_name: 'eh_dynamic_handler' }] }),
    /not served by this gateway yet/,
  )
  const document = defined({
    id: 'y',
    url: 'http://127.0.0.1:9',
    server: { eventHandlers: [{ enabled: true, trigger: 'Sunrise', type: 'log' }] },
  })
  const answer = await gateway.svc('POST', '/svc/apis/oas', document)
  assert.match(answer.text, /eventHandlers\[0\]\.trigger/)
})

test('a receiver on a private network is told nothing unless the settings allow it', async (t) => {
  const { gateway, receiver, count } = await open(t, telling(['AuthFailure']), { SVC_WEBHOOKS_ALLOWPRIVATE: 'false' })
  await gateway.call('/k/a')
  await eventually('it is put out', async () => (await count('svc_events_told_total')) === 1)
  await eventually('it is tried', () => gateway.log.some(({ message }) => /could not be delivered/.test(message)))
  assert.equal(receiver.received.length, 0)
})
