import assert from 'node:assert/strict'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { RecordInput } from '../../../src/store/ports/records.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { type GatewayWorld, gatewayWorld } from '../../worlds/dashboard/gateway-world.ts'
import { startTestDashboard, type TestDashboard, type TestUser } from '../../worlds/dashboard/harness.ts'
import { PASSWORD, person } from '../../worlds/dashboard/sign-in-world.ts'

const AT = 1_700_000_000_000
const START = AT / 1000 - 1000

const record = (more: Partial<RecordInput> = {}): RecordInput => ({
  ...{ at: AT, orgId: 'org', apiId: 'a', status: 200, method: 'GET', keyHash: '', clientId: '', tags: '', path: '/x' },
  requestId: '',
  fields: {},
  ...more,
})

async function open(t: TestContext, env: Record<string, string> = {}): Promise<TestDashboard> {
  const world = await startTestDashboard({ env })
  t.after(() => world.close())
  return world
}

async function logs(world: TestDashboard, as: TestUser, query: string): Promise<{ data: JsonObject[]; pages: number }> {
  const answer = await world.call('GET', `/api/logs/?${query}`, { as })
  assert.equal(answer.status, 200, answer.text)
  return answer.json as { data: JsonObject[]; pages: number }
}

const paths = ({ data }: { data: JsonObject[] }) => data.map(({ Path }) => Path).join(' ')

test('a request at the gateway is in the log browser, in the names that clients read', async (t) => {
  const world = await gatewayWorld(t)
  const { gateway, origin, root, api, key, orgId } = world
  await api('shop', {
    definition: { proxy: { listen_path: '/shop/', target_url: origin.url, strip_listen_path: true }, tags: ['eu'] },
  })
  const made = await key({
    access_rights: { shop: { api_id: 'shop', versions: ['Default'] } },
    alias: 'ann',
    tags: ['gold'],
  })
  await gateway.gateway.live.settled(await world.store.documents.revision())
  const headers = { authorization: made.key, 'user-agent': 'test/1' }
  const served = await gateway.call('/shop/x?a=1', { headers })
  assert.equal(served.status, 200)
  const start = Math.floor(gateway.clock.wall() / 1000) - 10
  let found: JsonObject | undefined
  await eventually('it is there', async () => {
    found = (await logs(world, root, `start=${start}&p=-1`)).data[0]
    return found !== undefined
  })
  const day = new Date(gateway.clock.wall())
  const { RequestTime, Latency, Network, Steps, ...rest } = found!
  assert.deepEqual(rest, {
    ...{ Method: 'GET', Host: `127.0.0.1:${gateway.port}`, Path: '/shop/x', RawPath: '/shop/x?a=1', ContentLength: 0 },
    ...{ UserAgent: 'test/1', Day: day.getUTCDate(), Month: day.getUTCMonth() + 1, Year: day.getUTCFullYear() },
    ...{ Hour: day.getUTCHours(), ResponseCode: 200, APIKey: made.hash, TimeStamp: day.toISOString() },
    ...{ APIVersion: 'Non Versioned', APIName: found!.APIName, APIID: 'shop', OrgID: orgId, OauthID: '' },
    ...{ RawRequest: '', RawResponse: '', IPAddress: '127.0.0.1' },
    Geo: {
      Country: { ISOCode: '' },
      City: { GeoNameID: 0, Names: {} },
      Location: { Latitude: 0, Longitude: 0, TimeZone: '' },
    },
    ...{ Tags: ['eu', 'gold'], Alias: 'ann', TrackPath: false },
    ExpireAt: new Date(day.getTime() + 7 * 86_400_000).toISOString(),
    ...{ RequestID: served.headers['x-request-id'], ErrorCode: '', ErrorBody: '' },
  })
  const names = (Steps as { Name: string }[]).map(({ Name }) => Name)
  assert.deepEqual([names.includes('takePermits'), names.at(-1)], [true, 'forward'])
  const byId = await logs(world, root, `p=1&request_id=${served.headers['x-request-id']}`)
  assert.deepEqual(byId.data, [found])
  assert.deepEqual(Object.keys(Latency as JsonObject), ['Total', 'Upstream', 'Gateway'])
  assert.ok(Number.isInteger(RequestTime) && Number((Network as JsonObject).BytesIn) > 0)
  assert.equal((await logs(world, root, `start=${start}&key=${made.hash}`)).data.length, 1)
  assert.equal((await logs(world, root, `start=${start}&key=${made.key}`)).data.length, 0)
  assert.ok(!JSON.stringify(found).includes(made.key))
})

test('where keys are kept a key finds its requests by itself', async (t) => {
  const world = await gatewayWorld(t, { SVC_GW_HASHKEYS: 'false' })
  await world.api('shop')
  const { key, hash } = await world.key({ access_rights: { shop: { api_id: 'shop', versions: ['Default'] } } })
  await world.store.records.append([record({ orgId: world.orgId, keyHash: hash }), record({ orgId: world.orgId })])
  for (const name of [key, hash, hash.toUpperCase()])
    assert.equal((await logs(world, world.root, `start=${START}&key=${name}`)).data.length, 1, name)
  assert.equal((await logs(world, world.root, `start=${START}&key=nobody`)).data.length, 0)
})

test('records are filtered by everything, and paged', async (t) => {
  const world = await open(t)
  const admin = await world.admin()
  const { orgId } = world
  await world.store.records.append(
    [
      record({ at: AT, path: '/a', keyHash: 'a'.repeat(64), tags: 'x,y' }),
      record({ at: AT + 1000, path: '/b', status: 500, apiId: 'b' }),
      record({ at: AT + 2000, path: '/c/deep', method: 'POST', clientId: 'cl', status: 404 }),
      record({ at: AT + 3000, path: '/d', orgId: 'other' }),
    ].map((one) => (one.orgId === 'org' ? { ...one, orgId } : one)),
    [{ at: AT, orgId, apiId: 'a', count: 7 }],
  )
  const find = async (query: string) => paths(await logs(world, admin, query))
  assert.equal(await find(`start=${START}`), '/c/deep /b /a')
  assert.equal(await find(`end=${AT / 1000 + 1}`), '/b /a')
  assert.equal(await find(`start=${AT / 1000 + 1}&end=${AT / 1000 + 1}`), '/b')
  const cases = {
    'api=b': '/b',
    'api=none': '',
    'errors=1': '/c/deep /b',
    'errors=0': '/c/deep /b /a',
    [`key=${'a'.repeat(64)}`]: '/a',
    'path=deep': '/c/deep',
    'method=post': '/c/deep',
    'status=500': '/b',
    'client=cl': '/c/deep',
    'tag=y': '/a',
    "tag=y'%20OR%201=1--": '',
    'path=%27%3B%20DROP%20TABLE%20record%3B--': '',
    'errors=1&method=GET': '/b',
    'unknown=1': '/c/deep /b /a',
  }
  for (const [query, expected] of Object.entries(cases))
    assert.equal(await find(`start=${START}&${query}`), expected, query)
  const answer = await world.call('GET', `/api/logs?start=${START}`, { as: admin })
  assert.equal(answer.headers['x-svc-records-dropped'], '7')
  assert.equal((await logs(world, admin, `start=${START}&p=-1`)).pages, 0)
  assert.deepEqual(await logs(world, admin, `start=${AT / 1000 + 900}`), { data: [], pages: 1 })
  const many = Array.from({ length: 25 }, (_, i) => record({ at: AT + 10_000 + i, orgId, path: `/${i}` }))
  await world.store.records.append(many)
  const third = await logs(world, admin, `start=${START}&p=3`)
  assert.deepEqual([third.pages, third.data.length], [3, 8])
  assert.equal((await logs(world, admin, `start=${START}&p=-2`)).data.length, 28)
  assert.equal((await logs(world, admin, `start=${START}&p=0`)).data.length, 28)
  assert.deepEqual((await logs(world, admin, `start=${START}&p=99`)).data, [])
  const large = await logs(world, admin, `start=${START}&p=2&page_size=20`)
  assert.deepEqual([large.pages, large.data.length], [2, 8])
  for (const size of ['0', '1001', 'x'])
    assert.equal((await world.call('GET', `/api/logs?start=1&page_size=${size}`, { as: admin })).status, 400, size)
})

test('a request is found by its id at any time, by who may see it', async (t) => {
  const world = await open(t, { SVC_ANALYTICS_RECORDSDAYS: '3', SVC_ANALYTICS_RECORDSKEPT: '500' })
  const admin = await world.admin()
  const { orgId } = world
  await world.store.records.append([
    record({ orgId, requestId: 'mine', path: '/mine', at: 5 }),
    record({ orgId, requestId: 'twice', path: '/1' }),
    record({ orgId, requestId: 'twice', path: '/2', at: AT + 1, status: 500 }),
    record({ orgId: 'other', requestId: 'theirs', path: '/theirs' }),
    record({ orgId, requestId: '', path: '/older', fields: { request_id: 'before' } }),
  ])
  const find = async (query: string) => paths(await logs(world, admin, query))
  assert.equal(await find('request_id=mine'), '/mine')
  assert.equal(await find(`request_id=mine&start=${START}`), '')
  assert.equal(await find('request_id=twice'), '/2 /1')
  assert.equal(await find('request_id=twice&errors=1'), '/2')
  assert.equal(await find('request_id=theirs'), '')
  assert.equal(await find(`request_id=${encodeURIComponent("' OR 1=1 --")}`), '')
  const { headers } = await world.call('GET', '/api/logs?request_id=lapsed', { as: admin })
  assert.deepEqual([headers['x-svc-records-days'], headers['x-svc-records-kept']], ['3', '500'])
  const older = (await logs(world, admin, `start=${START}&path=/older`)).data[0]
  assert.equal(older?.RequestID, 'before')
})

test('a time that is missing, malformed or reversed is refused by name', async (t) => {
  const world = await open(t)
  const admin = await world.admin()
  const wrong = [
    '',
    'p=1',
    'start=x',
    'start=-1',
    'start=1.5',
    `start=${'9'.repeat(20)}`,
    'start=2&end=1',
    'status=x&start=1',
  ]
  for (const query of wrong) {
    const answer = await world.call('GET', `/api/logs?${query}`, { as: admin })
    assert.equal(answer.status, 400, `${query}: ${answer.text}`)
  }
  for (const query of ['start=0', 'end=0', `start=${START}&end=${START}`, `start=${START}&p=-1`])
    assert.equal((await world.call('GET', `/api/logs?${query}`, { as: admin })).status, 200, query)
})

test('CSV holds what matches, and no cell of it is a formula', async (t) => {
  const world = await open(t)
  const admin = await world.admin()
  await world.store.records.append([
    record({
      orgId: world.orgId,
      path: '/a,"b"',
      method: '=cmd()',
      tags: 'x,y',
      fields: { user_agent: '@SUM(1)', latency: { upstream: 3 } },
    }),
    record({ orgId: world.orgId, at: AT + 1, path: '+1', status: 500 }),
  ])
  const answer = await world.call('GET', `/api/logs?start=${START}&type=csv`, { as: admin })
  assert.match(String(answer.headers['content-type']), /^text\/csv/)
  assert.match(String(answer.headers['content-disposition']), /^attachment; filename="logs\.csv"$/)
  const [head, first, second, end] = answer.text.split('\r\n')
  assert.match(head!, /^TimeStamp,Method,Host,Path,/)
  assert.match(first!, /,'\+1,/)
  assert.match(second!, /,'=cmd\(\),,"\/a,""b""",,200,0,3,a,/)
  assert.match(second!, /,'@SUM\(1\),0,"x,y",,$/)
  assert.equal(end, '')
  const few = await world.call('GET', `/api/logs?start=${START}&type=csv&errors=1`, { as: admin })
  assert.equal(few.text.split('\r\n').length, 3)
})

test('details come as base64', async (t) => {
  const world = await open(t)
  const admin = await world.admin()
  const bytes = Buffer.from('GET / HTTP/1.1\r\n\r\n\xff', 'latin1')
  await world.store.records.append([
    record({ orgId: world.orgId, detail: { request: bytes, response: Buffer.alloc(0) } }),
  ])
  for (const page of ['', '&p=-1']) {
    const [row] = (await logs(world, admin, `start=${START}${page}`)).data
    assert.deepEqual([row!.RawRequest, row!.RawResponse], [bytes.toString('base64'), ''])
  }
})

/** Two APIs of an organisation, one of which Ada owns, and one of another organisation. */
async function owned(t: TestContext): Promise<{ world: GatewayWorld; ada: TestUser; bob: TestUser }> {
  const world = await gatewayWorld(t, { SVC_DB_ENABLEOWNERSHIP: 'true' })
  const ada = await world.user({ log: 'read' })
  const bob = await world.user({ log: 'read' })
  const other = await world.organisation()
  await world.api('adas', { users: [ada.id] })
  await world.api('nobodys')
  await world.api('foreign', { orgId: other })
  await world.store.records.append([
    record({ orgId: world.orgId, apiId: 'adas', path: '/adas' }),
    record({ orgId: world.orgId, apiId: 'nobodys', path: '/nobodys' }),
    record({ orgId: world.orgId, apiId: 'gone', path: '/gone' }),
    record({ orgId: other, apiId: 'foreign', path: '/foreign' }),
  ])
  return { world, ada, bob }
}

test('records of APIs that others own, and of other organisations, are not there', async (t) => {
  const { world, ada, bob } = await owned(t)
  const find = async (as: TestUser, query = '') => paths(await logs(world, as, `start=${START}${query}`))
  assert.equal(await find(ada), '/nobodys /adas')
  assert.equal(await find(bob), '/nobodys')
  assert.equal(await find(bob, '&p=-1'), '/nobodys')
  assert.equal(await find(bob, '&api=adas'), '')
  assert.equal(await find(bob, '&api=foreign'), '')
  assert.equal(await find(world.root), '/gone /nobodys /adas')
  assert.equal(await find(await world.user({ log: 'read' }, { orgId: '' })), '/foreign /gone /nobodys /adas')
  const csv = await world.call('GET', `/api/logs?start=${START}&type=csv`, { as: bob })
  assert.ok(!csv.text.includes('/adas') && csv.text.includes('/nobodys'))
  const denied = await world.call('GET', `/api/logs?start=${START}`, { as: await world.user({ analytics: 'read' }) })
  assert.equal(denied.status, 403)
})

interface Tail {
  readonly status: number
  readonly type: string
  /** The text so far. */
  text(): string
  paths(): string
  ended(): boolean
  leave(): void
}

async function tail(
  t: TestContext,
  world: TestDashboard,
  query: string,
  headers: Record<string, string>,
): Promise<Tail> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpRequest({
      host: '127.0.0.1',
      port: world.port,
      path: `/api/logs/live${query}`,
      headers,
      agent: false,
    })
    sent.on('response', resolve)
    sent.on('error', reject)
    sent.end()
  })
  let text = ''
  let ended = false
  response.setEncoding('utf8')
  response.on('data', (part: string) => {
    text += part
  })
  response.on('end', () => {
    ended = true
  })
  response.on('error', () => {
    ended = true
  })
  t.after(() => response.destroy())
  return {
    status: response.statusCode ?? 0,
    type: String(response.headers['content-type']),
    text: () => text,
    paths: () => [...text.matchAll(/"Path":"([^"]*)"/g)].map(([, path]) => path).join(' '),
    ended: () => ended,
    leave: () => response.destroy(),
  }
}

test('a live tail gets what comes and may be seen, and goes on where it was left', async (t) => {
  const { world, ada, bob } = await owned(t)
  const adas = await tail(t, world, '', { authorization: ada.key })
  const bobs = await tail(t, world, '?errors=1', { authorization: bob.key })
  assert.equal(adas.status, 200)
  assert.match(adas.type, /^text\/event-stream/)
  await eventually('both listen', () => adas.text() !== '' && bobs.text() !== '')
  const more = (path: string, apiId: string, status = 200) => record({ orgId: world.orgId, apiId, path, status })
  await world.store.records.append([more('/1', 'adas', 500), more('/2', 'nobodys', 500), more('/3', 'nobodys')])
  await eventually('they come', () => adas.paths() === '/1 /2 /3' && bobs.paths() === '/2')
  assert.match(adas.text(), /^retry: 3000\n\nid: 5\nevent: record\ndata: \{"Method":"GET",/)
  adas.leave()
  const again = await tail(t, world, '', { authorization: ada.key, 'last-event-id': '6' })
  await eventually('what was missed comes', () => again.paths() === '/3')
  const foreign = await tail(t, world, '?seconds=0', { authorization: bob.key, 'last-event-id': '0' })
  await eventually('it ends after its time', () => foreign.ended())
  assert.equal(foreign.paths(), '/nobodys /2 /3')
})

test('a live tail loses sight of an API that gets an owner', async (t) => {
  const { world, bob } = await owned(t)
  const bobs = await tail(t, world, '', { authorization: bob.key })
  await eventually('it listens', () => bobs.text() !== '')
  const found = (await world.store.documents.find('api', 'api_id', 'nobodys'))!
  const body = { ...found.body, user_owners: ['someone-else'] }
  await world.store.documents.commit([{ op: 'put', kind: 'api', id: found.id, body }], undefined)
  await world.store.records.append([record({ orgId: world.orgId, apiId: 'nobodys', path: '/late' })])
  await world.api('another')
  await world.store.records.append([record({ orgId: world.orgId, apiId: 'another', path: '/seen' })])
  await eventually('the second comes', () => bobs.paths() !== '')
  assert.equal(bobs.paths(), '/seen')
})

test('a live tail ends with the session, the right, the user, and the dashboard', async (t) => {
  const world = await startTestDashboard()
  let open = true
  t.after(() => (open ? world.close() : undefined))
  const { email } = await person(world)
  const signedIn = await world.call('POST', '/api/login', { body: { email, password: PASSWORD } })
  assert.equal(signedIn.status, 200, signedIn.text)
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!
  const csrf = (signedIn.json as { Meta?: JsonObject }).Meta?.csrf_token
  const byCookie = await tail(t, world, '', { cookie })
  assert.equal(byCookie.status, 200)
  await eventually('it listens', () => byCookie.text() !== '')
  const out = await world.call('POST', '/api/logout', { headers: { cookie, 'x-csrf-token': String(csrf) } })
  assert.equal(out.status, 200, out.text)
  await eventually('it ended with the session', () => byCookie.ended())

  const user = await world.user({ log: 'read' })
  const byKey = await tail(t, world, '', { authorization: user.key })
  await eventually('it listens', () => byKey.text() !== '')
  const found = (await world.store.documents.get('user', user.id as Parameters<typeof world.store.documents.get>[1]))!
  const put = (more: JsonObject) =>
    world.store.documents.commit(
      [{ op: 'put', kind: 'user', id: found.id, body: { ...found.body, ...more } }],
      undefined,
    )
  await put({ user_permissions: { analytics: 'read' } })
  await eventually('it ended with the right', () => byKey.ended())

  await put({})
  const last = await tail(t, world, '', { authorization: user.key })
  await eventually('it listens', () => last.text() !== '')
  open = false
  await world.close()
  await eventually('it ended with the dashboard', () => last.ended())
})

test('ten live tails of a user are open at most, and take no room from other users', async (t) => {
  const world = await open(t)
  const admin = await world.admin()
  const other = await world.user({ log: 'read' })
  const tails: Tail[] = []
  for (let i = 0; i < 10; i++) tails.push(await tail(t, world, '', { authorization: admin.key }))
  assert.ok(tails.every(({ status }) => status === 200))
  const refusal = await tail(t, world, '', { authorization: admin.key })
  assert.equal(refusal.status, 503)
  await eventually('it says why', () => refusal.ended())
  assert.match(refusal.text(), /^\{"Status":"Error","Message":"No more than 10 live logs of a user can be open at once/)
  assert.equal((await tail(t, world, '?seconds=0', { authorization: other.key })).status, 200)
  for (const one of tails) one.leave()
  await eventually('there is room again', async () => {
    const next = await tail(t, world, '?seconds=0', { authorization: admin.key })
    return next.status === 200
  })
})
