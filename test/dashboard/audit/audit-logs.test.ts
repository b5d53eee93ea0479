import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { purgeOldAudit } from '../../../src/dashboard/audit/purge.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { redact } from '../../../src/model/secrets/redact.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import type { AuditRow, Store } from '../../../src/store/ports/ports.ts'
import { startTestDashboard, type TestDashboardOptions } from '../../worlds/dashboard/harness.ts'

interface Rec extends JsonObject {
  _id: string
  action: string
  user: string
  status: number
  url: string
  diff: string
}

const DAY_MS = 86_400_000

async function world(t: TestContext, options: TestDashboardOptions = {}) {
  const dashboard = await startTestDashboard(options)
  t.after(dashboard.close)
  const { call, parts, orgId } = dashboard
  const admin = await dashboard.admin()
  return {
    ...dashboard,
    admin,
    async logs(query = '', as = admin): Promise<{ audit_logs: Rec[]; pages: number }> {
      const answer = await call('GET', `/api/audit-logs${query}`, { as })
      assert.equal(answer.status, 200, answer.text)
      return answer.json as { audit_logs: Rec[]; pages: number }
    },
    async note(
      action: string,
      more: { orgId?: string; method?: string; url?: string; ip?: string; status?: number; user?: string } = {},
    ) {
      const {
        orgId: org = orgId,
        method = 'GET',
        url = '/api/x',
        ip = '192.0.2.1',
        status = 200,
        user = 'a@b.c',
      } = more
      await parts.documents.note({
        ...{ actor: user, action, orgId: org, at: parts.clock.wall(), detail: {} },
        request: { id: 'r', method, url, ip, user, status },
      })
    },
  }
}

test('a change is recorded with who, what, from where, before and after', async (t) => {
  const { call, admin, logs, clock } = await world(t)
  const made = await call('POST', '/api/labels', { as: admin, body: { name: 'Tier', values: ['1'] } })
  const { id } = made.json as { id: string }
  await call('PUT', `/api/labels/${id}?x=1`, { as: admin, body: { values: ['1', '2'] } })
  const { audit_logs: records, pages } = await logs()
  assert.equal(pages, 1)
  assert.deepEqual(
    records.map(({ action }) => action),
    ['label.update', 'label.create'],
  )
  const [update] = records
  assert.deepEqual(Object.keys(update!), [
    ...['_id', 'req_id', 'org_id', 'date', 'timestamp', 'ip', 'user', 'action', 'method', 'url', 'status', 'diff'],
  ])
  assert.match(update!._id, /^[0-9a-f]{24}$/)
  assert.equal(update!.date, new Date(clock.wall()).toUTCString().replace('GMT', 'UTC'))
  assert.equal(update!.timestamp, Math.floor(clock.wall() / 1000))
  assert.deepEqual(
    [update!.user, update!.method, update!.url, update!.status, update!.ip],
    [admin.email, 'PUT', `/api/labels/${id}?x=***`, 200, '127.0.0.1'],
  )
  assert.equal(update!.diff, `@ label ${id}\n- /values: ["1"]\n+ /values: ["1","2"]`)
  const one = (await call('GET', `/api/audit-logs/${update!._id}`, { as: admin })).json as Rec
  const [change] = one.changes as { kind: string; id: string; before: JsonObject; after: JsonObject }[]
  assert.deepEqual(
    [change!.kind, change!.id, change!.before.values, change!.after.values],
    ['label', id, ['1'], ['1', '2']],
  )
})

test('the log is searched by every filter, paged, and each organisation sees its own', async (t) => {
  const { call, admin, logs, note, clock, organisation, user } = await world(t)
  const elsewhere = await organisation()
  clock.wallMs = Date.parse('2025-01-02T23:59:59Z')
  await note('first', { user: 'Ada@x.test', ip: '192.0.2.7', method: 'POST', url: '/api/apis/one?key=1', status: 403 })
  clock.advance(2000)
  await note('second', { url: '/api/policies' })
  clock.advance(DAY_MS)
  await note('third')
  await note('foreign', { orgId: elsewhere })
  const actions = async (query: string) => (await logs(query)).audit_logs.map(({ action }) => action)
  assert.deepEqual(await actions(''), ['third', 'second', 'first'])
  const found: [query: string, actions: string[]][] = [
    ['?user=ada', ['first']],
    ['?action=second', ['second']],
    ['?ip=192.0.2.7', ['first']],
    ['?method=post', ['first']],
    ['?status=403', ['first']],
    ['?url=/apis/', ['first']],
    ['?url=key', []],
    ['?url=/API', []],
    ['?from_date=2025-01-03', ['third', 'second']],
    ['?to_date=2025-01-02', ['first']],
    ['?from_date=2025-01-03&to_date=2025-01-03', ['second']],
    ['?user=ada&status=200', []],
    ['?user=&status=', ['third', 'second', 'first']],
    ['?p=-1', ['third', 'second', 'first']],
    ['?p=2', []],
  ]
  for (const [query, expected] of found) assert.deepEqual(await actions(query), expected, query)
  assert.equal((await logs('?p=-1')).pages, 0)
  for (const wrong of ['from_date=2025-02-30', 'to_date=yesterday', 'status=x', 'type=xml', 'from_date=2025-1-1'])
    assert.equal((await call('GET', `/api/audit-logs?${wrong}`, { as: admin })).status, 400, wrong)
  const foreigner = await user({ audit_logs: 'read' }, { orgId: elsewhere })
  assert.deepEqual(
    (await logs('', foreigner)).audit_logs.map(({ action }) => action),
    ['foreign'],
  )
  const unbounded = await user({ audit_logs: 'read' }, { orgId: '' })
  assert.equal((await logs('', unbounded)).audit_logs.length, 4)
})

test('the log is for those who may read it, and an entry of others is not there', async (t) => {
  const { call, admin, logs, note, user, organisation } = await world(t)
  await note('secret')
  const [{ _id }] = (await logs()).audit_logs as [Rec]
  const paths = ['/api/audit-logs', `/api/audit-logs/${_id}`, '/api/audit-logs?download=true']
  for (const path of paths) {
    assert.equal((await call('GET', path)).status, 401)
    const refused = await call('GET', path, { as: await user({ apis: 'write', system: 'write' }) })
    assert.equal(refused.status, 403)
    assert.equal((await call('GET', path, { as: await user({ audit_logs: 'read' }) })).status, 200)
  }
  const other = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  const absent = { Status: 'Error', Message: 'could not retrieve audit record', Meta: null }
  for (const id of [_id, 'nonsense', 'ffffffffffffffffffffffff', '__proto__']) {
    const answer = await call('GET', `/api/audit-logs/${id}`, { as: other })
    assert.equal(answer.status, 404)
    assert.deepEqual(answer.json, absent)
    assert.deepEqual((await call('POST', `/api/audit-logs/${id}/undo`, { as: other })).json, absent)
  }
  assert.equal((await call('GET', '/api/audit-logs/nonsense', { as: admin })).status, 404)
})

test('the whole log is handed out as CSV and as JSON, and no cell is a formula', async (t) => {
  const { call, admin, note } = await world(t)
  await note('one', { user: '=cmd|"x",1', url: '/api/a,b' })
  await note('two')
  const json = await call('GET', '/api/audit-logs?download=true&type=json&p=1', { as: admin })
  assert.match(json.headers['content-disposition'] ?? '', /^attachment; filename="audit_logs\.json"$/)
  assert.deepEqual(
    (json.json as Rec[]).map(({ action }) => action),
    ['two', 'one'],
  )
  const csv = await call('GET', '/api/audit-logs?download=true&type=csv', { as: admin })
  assert.match(csv.headers['content-type'] ?? '', /^text\/csv/)
  const [head, , second, end] = csv.text.split('\r\n')
  assert.match(head!, /^_id,req_id,org_id,date,timestamp,ip,user,action,method,url,status,diff$/)
  assert.ok(second!.includes(`,"'=cmd|""x"",1",one,GET,"/api/a,b",200,`), String(second))
  assert.equal(end, '')
  assert.equal((await call('GET', '/api/audit-logs?download=true&user=nobody', { as: admin })).text, '[]')
})

test('100,000 rows are sent as they are read, not gathered before', async (t) => {
  const store = openMemoryStore()
  t.after(() => store.close())
  const row = (i: number): AuditRow => ({
    ...{ id: i.toString(16).padStart(24, '0'), revision: i, actor: 'a', action: 'x', orgId: 'o', at: i, changes: [] },
    detail: {},
  })
  // The store gives nothing after its first batch before the caller has something of the answer.
  let go = () => {}
  const gate = { arrived: Promise.resolve() }
  const shut = () => {
    gate.arrived = new Promise((resolve) => {
      go = resolve
    })
  }
  const audit: Store['audit'] = {
    list: (query) => store.audit.list(query),
    listIds: (query) => store.audit.listIds(query),
    get: (id) => store.audit.get(id),
    state: (id) => store.audit.state(id),
    purgeAudit: (before) => store.audit.purgeAudit(before),
    async *scan() {
      for (let start = 0; start < 100_000; start += 500) {
        yield Array.from({ length: 500 }, (_, i) => row(start + i))
        await gate.arrived
      }
    },
  }
  const { port, admin } = await world(t, { store: { ...store, audit } })
  const got = async (path: string): Promise<string> => {
    shut()
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: admin.key } })
    const chunks: string[] = []
    const decoder = new TextDecoder()
    for await (const chunk of answer.body!) {
      chunks.push(decoder.decode(chunk, { stream: true }))
      go()
    }
    return chunks.join('')
  }
  const csv = await got('/api/audit-logs?download=true&type=csv')
  assert.equal(csv.split('\r\n').length, 100_002)
  const { audit_logs: list } = JSON.parse(await got('/api/audit-logs?p=-1')) as { audit_logs: unknown[] }
  assert.equal(list.length, 100_000)
})

test('entries older than the retention are forgotten at the start and later', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const env = { SVC_DB_AUDIT_RETENTIONDAYS: '30' }
  const first = await world(t, { store, clock, env })
  await first.note('old', { orgId: 'x' })
  clock.advance(20 * DAY_MS)
  await first.note('newer', { orgId: 'x' })
  assert.equal(await purgeOldAudit(first.parts), 0)
  clock.advance(11 * DAY_MS)
  const kept = async () => (await store.audit.list({ orgId: 'x', limit: 10 })).rows.map(({ action }) => action)
  assert.deepEqual(await kept(), ['newer', 'old'])
  const second = await startTestDashboard({ store, clock, env })
  await second.close()
  assert.deepEqual(await kept(), ['newer'])
  clock.advance(20 * DAY_MS)
  const forever = await world(t, { store, clock, env: { SVC_DB_AUDIT_RETENTIONDAYS: '0' } })
  assert.equal(await purgeOldAudit(forever.parts), 0)
  assert.deepEqual(await kept(), ['newer'])
})

test('with the log off nothing is recorded', async (t) => {
  const { call, admin, logs, note } = await world(t, {
    env: { SVC_DB_AUDIT_ENABLED: 'false', SVC_DB_AUDIT_READS: 'true' },
  })
  assert.equal((await call('POST', '/api/labels', { as: admin, body: { name: 'Tier' } })).status, 200)
  await call('GET', '/api/labels', { as: admin })
  assert.deepEqual((await logs()).audit_logs, [])
  await note('by another process')
  assert.equal((await logs()).audit_logs.length, 1)
})

const detailed = { SVC_DB_AUDIT_DETAILEDRECORDING: 'true', SVC_DB_AUDIT_READS: 'true' }

test('detailed recording keeps what was sent and answered, and no secret of either', async (t) => {
  const { call, admin, logs, user } = await world(t, { env: detailed })
  const headers = {
    Cookie: 'authorisation=cookie-secret',
    'X-Secret-Token': 'header-secret',
    'User-Agent': 'test-agent',
  }
  const body = {
    ...{
      first_name: 'Ada',
      last_name: 'Byron',
      email_address: 'ada@example.test',
      password: 'Body-Secret-1234',
      active: true,
    },
    user_permissions: { apis: 'read' },
  }
  assert.equal((await call('POST', '/api/users', { as: admin, body, headers })).status, 200)
  const users = await call('GET', '/api/users?token=query-secret', { as: admin })
  const keys = (users.json as { users: { access_key: string }[] }).users.map((each) => each.access_key)
  assert.ok(keys.some((key) => key !== ''))
  const { audit_logs: records } = await logs('?p=-1')
  const made = records.find(({ method, request_dump: dump }) => method === 'POST' && dump !== undefined)!
  assert.match(String(made.request_dump), /^POST \/api\/users HTTP\/1\.1\r\n/)
  assert.match(String(made.request_dump), /user-agent: test-agent\r\n/)
  assert.match(String(made.request_dump), /"email_address":"ada@example.test","password":"\*\*\*"/)
  assert.match(String(made.response_dump), /^HTTP\/1\.1 200\r\n\r\n\{"Status":"OK"/)
  const read = records.find(({ method, url }) => method === 'GET' && url.startsWith('/api/users'))!
  assert.equal(read.url, '/api/users?token=***')
  const everything = JSON.stringify([records, (await call('GET', '/api/audit-logs?download=true', { as: admin })).text])
  const secrets = ['cookie-secret', 'header-secret', 'Body-Secret-1234', 'query-secret', admin.key]
  for (const secret of [...secrets, ...keys.filter((key) => key !== '')])
    assert.ok(!everything.includes(secret), secret)
  const one = await call('GET', `/api/audit-logs/${records.at(-1)!._id}`, { as: await user({ audit_logs: 'read' }) })
  assert.ok(!one.text.includes('argon2'))
})

test('without detailed recording nothing is dumped, and only requested reads are recorded', async (t) => {
  const quiet = await world(t)
  await quiet.call('GET', '/api/labels', { as: quiet.admin })
  assert.deepEqual((await quiet.logs()).audit_logs, [])
  const reading = await world(t, { env: { SVC_DB_AUDIT_READS: 'true' } })
  await reading.call('GET', '/api/labels', { as: reading.admin })
  const [record] = (await reading.logs()).audit_logs
  assert.equal(record!.url, '/api/labels')
  assert.equal(record!.request_dump, undefined)
  // Who may read these needs the right to write; it is a read all the same.
  await reading.call('GET', '/api/moves/keys/secrets', { as: reading.admin })
  assert.equal((await reading.logs('?size=1')).audit_logs[0]!.url, '/api/moves/keys/secrets')
})

test('secrets are taken out wherever they stand, and nothing else is', () => {
  const secrets: JsonObject = {
    ...{ password: 's', client_secret: 's', access_key: 's', Authorization: 's', refresh_token: 's', hmac_string: 's' },
    ...{
      PWHistory: ['s', 's'],
      secrets: [{ sealed: 's', until: 5 }],
      access_hmac: 's',
      password_hash: 's',
      shared_secret: 's',
    },
    ...{
      recovery_codes: ['s'],
      DashboardCredential: 's',
      LDAPAdminPassword: 's',
      sealed_key: 's',
      RawKey: 's',
      key_id: 's',
    },
    header: { name: 'X-Api-Key', value: 's' },
    passkeys: [{ public_key: 'ok', name: 'ok' }],
    nested: [{ basic_auth_data: { password: 's', hash_type: 'ok' } }],
    url: 'https://s:s@host/path',
    text: 'before -----BEGIN PRIVATE KEY-----\ns\n-----END PRIVATE KEY----- after',
  }
  const redacted = redact(secrets)
  const texts: string[] = []
  JSON.stringify(redacted, (_name, value) => {
    if (typeof value === 'string') texts.push(value)
    return value as unknown
  })
  assert.ok(!texts.includes('s'), JSON.stringify(redacted))
  assert.equal((redacted as JsonObject).url, 'https://***@host/path')
  assert.equal((redacted as JsonObject).text, 'before *** after')
  const plain: JsonObject = {
    ...{
      name: 'x',
      auth_header_name: 'Authorization',
      password_max_days: 3,
      password_updated: 'd',
      token_type: 'bearer',
    },
    ...{ strip_auth_data: true, use_standard_auth: true, key_hash: 'ab', event_options: {}, target_url: 'http://up/' },
    securitySchemes: { a: { type: 'apiKey', name: 'Authorization', in: 'header' } },
    access_rights: { orders: { api_id: 'orders', versions: ['Default'] } },
  }
  assert.deepEqual(redact(plain), plain)
})
