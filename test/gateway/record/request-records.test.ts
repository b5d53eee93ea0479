import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { Store } from '../../../src/store/ports/ports.ts'
import type { RecordRow } from '../../../src/store/ports/records.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { classic, defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'
import { Client } from '../../worlds/wire/raw.ts'

interface Scene {
  readonly gateway: TestGateway
  readonly origin: Origin
  readonly store: Store
  api(definition: JsonObject): Promise<void>
  key(session: JsonObject): Promise<string>
  /** Closes the gateway and answers what it has recorded, oldest first. */
  recorded(): Promise<RecordRow[]>
}

async function open(t: TestContext, env: Record<string, string> = {}, given?: Store): Promise<Scene> {
  const origin = await startOrigin()
  const store = given ?? openMemoryStore()
  const gateway = await startTestGateway({ store, env, clock: new FakeClock(1_700_000_000_000) })
  t.after(async () => {
    await gateway.close()
    await origin.close()
    await store.close()
  })
  return {
    ...{ gateway, origin, store },
    async api(definition) {
      const path = 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis'
      const made = await gateway.svc('POST', path, definition)
      assert.equal(made.status, 200, made.text)
    },
    async key(session) {
      return ((await gateway.svc('POST', '/svc/keys', session)).json as { key: string }).key
    },
    async recorded() {
      await gateway.gateway.stop()
      return (await store.records.after({ after: 0, limit: 1000 })) as RecordRow[]
    },
  }
}

test('a record says what a request was, what came of it and whose it was', async (t) => {
  const { gateway, origin, api, key, recorded } = await open(t)
  await api(
    defined({
      ...{ id: 'k', url: origin.url, keyIn: 'X-Key', info: { orgId: 'org1', name: 'Shop' } },
      paths: { '/tracked': { get: { operationId: 'tracked' } }, '/silent': { get: { operationId: 'silent' } } },
      operations: { tracked: { trackEndpoint: { enabled: true } }, silent: { doNotTrackEndpoint: { enabled: true } } },
    }),
  )
  await api(classic('quiet', '/quiet/', origin.url, { do_not_track: true }))
  const secret = await key({ access_rights: rights('k'), alias: 'ann', tags: ['gold'], org_id: 'org1' })
  const headers = { 'x-key': secret, 'user-agent': 'test/1' }
  await gateway.call('/k/tracked?a=1&b=%C3%A4', { headers })
  await gateway.call('/k/silent', { headers })
  await gateway.call('/quiet/x')
  await gateway.call('/nowhere')
  await gateway.call('/k//a/../x', { method: 'POST', headers, body: 'hello' })
  await gateway.call('/k/x', { headers: { 'x-key': 'unknown-key-of-nobody' } })
  origin.script = (_, response) => {
    response.writeHead(503)
    response.end()
  }
  await gateway.call('/k/x', { headers })
  const rows = await recorded()
  assert.deepEqual(
    rows.map(({ method, path, status }) => [method, path, status]),
    [
      ['GET', '/k/tracked', 200],
      ['POST', '/k/x', 200],
      ['GET', '/k/x', 403],
      ['GET', '/k/x', 503],
    ],
  )
  const [first, posted, refused, failed] = rows as [RecordRow, RecordRow, RecordRow, RecordRow]
  const { latency, request_time, bytes_in, bytes_out, steps, ...fields } = first.fields as JsonObject & {
    latency: Record<string, number>
  }
  assert.deepEqual(
    { ...first, requestId: '', fields },
    {
      ...{ id: 1, at: 1_700_000_000_000, orgId: 'org1', apiId: 'k', status: 200, method: 'GET', path: '/k/tracked' },
      ...{ keyHash: hash('sha256', secret, 'hex'), clientId: '', tags: 'gold', requestId: '' },
      fields: {
        ...{ host: `127.0.0.1:${gateway.port}`, raw_path: '/k/tracked?a=1&b=%C3%A4', content_length: 0 },
        ...{ user_agent: 'test/1', api_version: 'Non Versioned', api_name: 'Shop', alias: 'ann' },
        ...{ ip_address: '127.0.0.1', error_code: '', track_path: true, endpoint: 'GET /tracked' },
        geo: { country: '', city: 0, city_name: '', latitude: 0, longitude: 0, time_zone: '' },
      },
    },
  )
  assert.ok(latency.total! >= latency.upstream! && request_time === latency.total)
  assert.ok(Number(bytes_in) > 0 && Number(bytes_out) > 0)
  assert.deepEqual([posted.fields.raw_path, posted.fields.content_length], ['/k//a/../x', 5])
  assert.deepEqual([refused.keyHash, refused.fields.error_code], ['', 'key_unknown'])
  for (const { requestId } of [first, refused])
    assert.match(requestId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const names = (steps as [string, number, number][]).map(([name]) => name)
  assert.ok(names.includes('authenticate') && names.includes('takePermits'), names.join())
  assert.equal(failed.fields.error_code, '')
})

test('without records nothing is recorded, and counts go on', async (t) => {
  const { gateway, origin, api, recorded, store } = await open(t, { SVC_ANALYTICS_RECORDSENABLED: 'false' })
  await api(defined({ id: 'open', url: origin.url }))
  await gateway.call('/open/x')
  assert.deepEqual(await recorded(), [])
  assert.equal((await store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 9 }))[0]?.count, 1)
})

test('records are there without anybody asking for them', async (t) => {
  const { gateway, origin, api, store } = await open(t)
  await api(defined({ id: 'open', url: origin.url }))
  await gateway.call('/open/x')
  await eventually('it is recorded', async () => (await store.records.last()) === 1)
})

test('of too many requests a sample is recorded, and the others are told', async (t) => {
  const { gateway, origin, api, recorded, store } = await open(t, { SVC_ANALYTICS_RECORDSPERSECOND: '10' })
  await api(defined({ id: 'open', url: origin.url, info: { orgId: 'org1' } }))
  const startedAt = performance.now()
  for (let i = 0; i < 300; i++) await gateway.call(`/open/${i}`)
  const seconds = Math.ceil((performance.now() - startedAt) / 1000)
  await eventually('the last ones are told', async () => {
    const { text } = await gateway.svc('GET', '/metrics')
    const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
    return value('svc_records_stored_total') + value('svc_records_dropped_total') === 300
  })
  const rows = await recorded()
  assert.ok(rows.length >= 5 && rows.length <= 10 * seconds, `${rows.length} in ${seconds} s`)
  assert.equal(await store.records.dropped({ orgId: 'org1', apiId: 'open' }), 300 - rows.length)
  assert.equal(await store.records.dropped({ orgId: 'org2' }), 0)
  assert.equal((await store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 9 }))[0]?.count, 300)
})

test('no more are kept than the setting says, and none beyond their days', async (t) => {
  const env = { SVC_ANALYTICS_RECORDSKEPT: '50', SVC_ANALYTICS_RECORDSDAYS: '2' }
  const { gateway, origin, api, store } = await open(t, env)
  await api(defined({ id: 'open', url: origin.url }))
  await store.records.append([
    {
      at: gateway.clock.wall() - 2 * 86_400_000 - 1,
      orgId: '',
      apiId: 'old',
      status: 200,
      method: 'GET',
      keyHash: '',
      clientId: '',
      tags: '',
      path: '/',
      requestId: '',
      fields: {},
    },
    {
      at: gateway.clock.wall() - 2 * 86_400_000 + 1,
      orgId: '',
      apiId: 'young',
      status: 200,
      method: 'GET',
      keyHash: '',
      clientId: '',
      tags: '',
      path: '/',
      requestId: '',
      fields: {},
    },
  ])
  await gateway.call('/open/x')
  const count = async (apiId?: string) => (await store.records.list({ limit: 0, ...(apiId && { apiId }) })).total
  await eventually('the old one is gone', async () => (await count('old')) === 0)
  assert.equal(await count('young'), 1)
  for (let i = 0; i < 90; i++) await gateway.call('/open/x')
  await eventually('all came and some went', async () => (await store.records.last()) === 93 && (await count()) === 50)
})

const SECRETS = {
  header: 'S3CR3T-in-a-header-0001',
  query: 'S3CR3T-in-a-query-00002',
  cookie: 'S3CR3T-in-a-cookie-0003',
  bearer: 'S3CR3T-as-a-bearer-0004',
  json: 'S3CR3T-in-a-body-000005',
  form: 'S3CR3T-in-a-form-000006',
  answer: 'S3CR3T-in-an-answer-007',
  basic: Buffer.from('user:S3CR3T-basic-8').toString('base64'),
  path: 'S3CR3T-key-in-a-path-09',
  cut: 'S3CR3T-behind-the-cut-10',
}

test('no secret reaches the data folder, wherever it was sent, and with everything recorded', async (t) => {
  const path = temporaryFolder(t)
  const store = await openStore({ path })
  const env = { SVC_ANALYTICS_DETAILEDRECORDING: 'true', SVC_ANALYTICS_DETAILEDMAXBYTES: '2000' }
  const { gateway, origin, api, recorded } = await open(t, env, store)
  origin.script = ({ target }, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': `sid=${SECRETS.answer}` })
    response.write('{"access_token":"')
    response.end(`${SECRETS.answer}","echo":${JSON.stringify(target)}}`)
  }
  for (const [id, auth] of [
    ['h', { auth_header_name: 'X-Shop' }],
    ['q', { use_param: true, param_name: 'shop' }],
    ['c', { use_cookie: true, cookie_name: 'shop' }],
  ] as const)
    await api(
      classic(id, `/${id}/`, origin.url, {
        ...{ use_keyless: false, use_standard_auth: true },
        auth: { auth_header_name: 'Authorization', ...auth },
        auth_configs: { authToken: { auth_header_name: 'Authorization', ...auth } },
        strip_auth_data: false,
      }),
    )
  await api(defined({ id: 'open', url: origin.url }))
  for (const [id, secret] of [
    ['h', SECRETS.header],
    ['q', SECRETS.query],
    ['c', SECRETS.cookie],
    ['h', SECRETS.path],
  ] as const) {
    const made = await gateway.svc('POST', `/svc/keys/${secret}`, { access_rights: rights(id) })
    assert.equal(made.status, 200, made.text)
  }
  const ok = async (where: string, options: Parameters<TestGateway['call']>[1] = {}) => {
    const { status, text } = await gateway.call(where, options)
    assert.equal(status, 200, `${where}: ${text}`)
  }
  await ok('/h/x', { headers: { 'x-shop': SECRETS.header, 'x-note': SECRETS.header } })
  await ok(`/h/${SECRETS.path}/x?y=${SECRETS.path}`, { headers: { 'x-shop': SECRETS.path } })
  await ok(`/q/x?shop=${SECRETS.query}&a=1`)
  await ok('/c/x', { headers: { cookie: `a=1; shop=${SECRETS.cookie}` } })
  await ok(`/open/x?access_token=${SECRETS.bearer}`, { headers: { authorization: `Bearer ${SECRETS.bearer}` } })
  await ok('/open/x', { headers: { authorization: `Basic ${SECRETS.basic}` } })
  const type = { 'content-type': 'application/json' }
  await ok('/open/j', { method: 'POST', headers: type, body: JSON.stringify({ user: { password: SECRETS.json } }) })
  const padding = 'x'.repeat(1970)
  await ok('/open/j', { method: 'POST', headers: type, body: JSON.stringify({ padding, token: SECRETS.cut }) })
  await ok('/open/f', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'transfer-encoding': 'chunked' },
    body: `username=u&password=${SECRETS.form}`,
  })
  const wrong = await gateway.call('/h/x', { headers: { 'x-shop': `${SECRETS.header}-wrong` } })
  assert.equal(wrong.status, 403)
  const rows = await recorded()
  assert.equal(rows.length, 10)
  const { rows: whole } = await store.records.list({ limit: 100 })
  const shown = whole.map(
    (row) => Buffer.from(row.detail!.request).toString() + Buffer.from(row.detail!.response).toString(),
  )
  assert.ok(shown.some((text) => text.includes('username=u&password=***')))
  assert.ok(shown.some((text) => text.includes('"access_token":"***"')))
  assert.ok(rows.some(({ fields }) => fields.raw_path === '/q/x?shop=***&a=1'))
  assert.ok(rows.some(({ fields, path: seen }) => seen === '/h/***/x' && fields.raw_path === '/h/***/x?y=***'))
  await store.close()
  for (const name of readdirSync(path)) {
    const bytes = readFileSync(join(path, name)).toString('latin1')
    for (const [where, secret] of Object.entries(SECRETS)) {
      assert.ok(!bytes.includes(secret), `${where} stands in ${name}`)
      assert.ok(!bytes.includes(secret.slice(0, 16)), `most of ${where} stands in ${name}`)
    }
  }
})

test('heads and bodies are recorded where an API asks for it, up to the bound, and nowhere else', async (t) => {
  const { gateway, origin, api, recorded, store } = await open(t, { SVC_ANALYTICS_DETAILEDMAXBYTES: '100' })
  origin.script = (_, response) => {
    response.writeHead(201, { 'content-type': 'text/plain', 'x-origin': 'yes' })
    response.end('answer '.repeat(1000))
  }
  const server = (path: string) => ({
    listenPath: { value: path, strip: true },
    detailedActivityLogs: { enabled: true },
  })
  await api(classic('whole', '/whole/', origin.url, { enable_detailed_recording: true }))
  await api(defined({ id: 'drawn', url: origin.url, server: server('/drawn/') }))
  await api(
    defined({
      id: 'shut',
      url: origin.url,
      keyIn: 'X-Key',
      server: { ...server('/shut/'), authentication: { enabled: true, securitySchemes: { key: { enabled: true } } } },
    }),
  )
  await api(defined({ id: 'plain', url: origin.url }))
  const body = 'b'.repeat(100_000)
  const post = { method: 'POST', headers: { 'content-type': 'text/plain', 'x-one': 'two' }, body }
  for (const id of ['whole', 'drawn', 'shut', 'plain']) await gateway.call(`/${id}/x?q=1`, post)
  await gateway.call('/drawn/empty')
  await recorded()
  const { rows } = await store.records.list({ limit: 10 })
  const details = new Map(rows.map((row) => [`${row.apiId} ${row.path}`, row.detail]))
  assert.equal(details.get('plain /plain/x'), undefined)
  for (const id of ['whole', 'drawn']) {
    const detail = details.get(`${id} /${id}/x`)!
    const [head, kept] = Buffer.from(detail.request).toString().split('\r\n\r\n')
    assert.match(head!, new RegExp(`^POST /${id}/x\\?q=1 HTTP/1\\.1\r\n`))
    assert.match(head!, /\r\nx-one: two(?:\r\n|$)/i)
    assert.equal(kept, 'b'.repeat(100))
    const [answer, text] = Buffer.from(detail.response).toString().split('\r\n\r\n')
    assert.match(answer!, /^HTTP\/1\.1 201 Created\r\n/)
    assert.match(answer!, /\r\nx-origin: yes\r\n/i)
    assert.equal(text, 'answer '.repeat(1000).slice(0, 100))
  }
  const refused = details.get('shut /shut/x')!
  assert.equal(Buffer.from(refused.request).toString().split('\r\n\r\n')[1], '')
  assert.match(Buffer.from(refused.response).toString(), /^HTTP\/1\.1 401 Unauthorized\r\n[\s\S]*\r\n\r\n\{"error"/)
  assert.match(Buffer.from(details.get('drawn /drawn/empty')!.request).toString(), /^GET \/drawn\/empty HTTP\/1\.1\r\n/)
})

test('hostile paths are recorded as they are, bounded, and break nothing', async (t) => {
  const { gateway, origin, api, recorded } = await open(t, { SVC_GW_MAXHEADBYTES: '65536' })
  await api(defined({ id: 'open', url: origin.url }))
  const long = `/open/${'x'.repeat(8000)}`
  const paths = [
    '/open/%3Cscript%3Ealert(1)%3C/script%3E?q=%22%3E%3Cimg%20src=x%3E',
    '/open/%1b%5b31m%7f',
    "/open/=cmd'/c%20calc'!A1",
    '/open/%F0%9F%92%A9/%c3%bf',
    long,
  ]
  for (const path of paths) assert.equal((await gateway.call(path)).status, 200, path)
  assert.equal((await gateway.call(`/open/${'x'.repeat(16_384)}`)).status, 414)
  for (const path of ['/open/%00', '/open/%ff%fe']) assert.equal((await gateway.call(path)).status, 400, path)
  const client = await Client.connect(gateway.port)
  client.write(
    `GET http://evil.example/open/absolute?token=hidden-value HTTP/1.1\r\nHost: evil.example\r\nUser-Agent: \xe4\xff${'a'.repeat(3000)}\r\n\r\n`,
  )
  await eventually('it is answered', () => client.inbox.pending.length > 0)
  client.destroy()
  const rows = await recorded()
  assert.deepEqual(
    rows.slice(0, 5).map(({ fields }) => fields.raw_path),
    [...paths.slice(0, 4), long.slice(0, 2048)],
  )
  assert.equal(rows[4]?.path, long.slice(0, 2048))
  const last = rows[5]!
  assert.deepEqual([last.path, last.fields.host], ['/open/absolute', 'evil.example'])
  assert.equal(last.fields.raw_path, '/open/absolute?token=***')
  assert.equal(String(last.fields.user_agent).length, 512)
})

test('with a full disk traffic goes on, and what is not recorded is counted', async (t) => {
  const store = await openStore({ path: temporaryFolder(t), limitBytes: 1_500_000 })
  const { gateway, origin, api } = await open(t, {}, store)
  await api(defined({ id: 'open', url: origin.url }))
  const filling = Array.from({ length: 100 }, () => ({
    ...{ at: 1, orgId: 'o', apiId: 'filling', status: 200, method: 'GET', keyHash: '', clientId: '', tags: '' },
    ...{ path: `/${'x'.repeat(2000)}`, requestId: '', fields: {} },
  }))
  await assert.rejects(
    async () => {
      for (let i = 0; i < 100; i++) await store.records.append(filling)
    },
    { code: 'store_full' },
  )
  const value = async (name: string) => {
    const { text } = await gateway.svc('GET', '/metrics')
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
  }
  let sent = 0
  await eventually('one was left out', async () => {
    assert.equal((await gateway.call(`/open/${'y'.repeat(2000)}`)).status, 200)
    sent++
    return (await value('svc_records_dropped_total')) > 0
  })
  await eventually('every request is accounted for', async () => {
    return (await value('svc_records_dropped_total')) + (await value('svc_records_stored_total')) === sent
  })
  const told = gateway.log.filter(({ message }) => message.startsWith('cannot store request records'))
  assert.ok(
    told.length > 0 &&
      told.length <= 1 + gateway.log.filter(({ message }) => message.includes('storing request records again')).length,
  )
})
