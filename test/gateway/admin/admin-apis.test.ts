import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { publishApi } from '../../../src/publish/apis/apis.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { classicApi, oasApi } from '../../worlds/gateway/admin-fixtures.ts'

async function start(t: TestContext, env: Record<string, string> = {}): Promise<TestGateway> {
  const gate = await startTestGateway({ env })
  t.after(() => gate.close())
  return gate
}

const seen = (answer: { json: unknown }) => answer.json as JsonObject
const listed = (answer: { json: unknown }) => answer.json as JsonObject[]
const states = async (gate: TestGateway) =>
  Object.fromEntries(
    ((seen(await gate.svc('GET', '/svc/node')).apis ?? []) as JsonObject[]).map(({ api_id, state }) => [api_id, state]),
  )

test('a classic API is made, read, listed, changed and deleted, each in force at once', async (t) => {
  const gate = await start(t)
  assert.deepEqual((await gate.svc('GET', '/svc/apis')).json, [])
  const made = seen(await gate.svc('POST', '/svc/apis', classicApi('Bills', '/bills/', { x_kept: { a: [null] } })))
  assert.match(String(made.key), /^[0-9a-f]{32}$/)
  assert.deepEqual([made.status, made.action], ['ok', 'added'])
  assert.equal((await gate.call('/bills/1')).status, 502)
  const read = seen(await gate.svc('GET', `/svc/apis/${made.key}`))
  assert.deepEqual([read.api_id, read.name, read.x_kept], [made.key, 'Bills', { a: [null] }])
  assert.match(String(read.id), /^[0-9a-f]{24}$/)
  assert.deepEqual(listed(await gate.svc('GET', '/svc/apis')), [read])
  const moved = await gate.svc('PUT', `/svc/apis/${made.key}`, {
    ...read,
    proxy: { ...(read.proxy as JsonObject), listen_path: '/moved/' },
  })
  assert.deepEqual(seen(moved), { key: made.key, status: 'ok', action: 'modified' })
  assert.deepEqual([(await gate.call('/bills/1')).status, (await gate.call('/moved/1')).status], [404, 502])
  assert.equal(seen(await gate.svc('GET', `/svc/apis/${made.key}`)).id, read.id)
  const gone = await gate.svc('DELETE', `/svc/apis/${made.key}/`)
  assert.deepEqual(seen(gone), { key: made.key, status: 'ok', action: 'deleted' })
  assert.equal((await gate.call('/moved/1')).status, 404)
})

test('unknown APIs, other ids and the other format are refused', async (t) => {
  const gate = await start(t)
  await gate.svc('POST', '/svc/apis', classicApi('C', '/c/', { api_id: 'c' }))
  await gate.svc('POST', '/svc/apis/oas', oasApi('O', '/o/', { id: 'o' }))
  const said = async (method: string, path: string, body?: unknown) => {
    const answer = await gate.svc(method, path, body)
    return [answer.status, seen(answer).message]
  }
  for (const [method, path, body] of [
    ['GET', '/svc/apis/none'],
    ['GET', '/svc/apis/none/versions'],
    ['GET', '/svc/apis/oas/none'],
    ['GET', '/svc/apis/oas/none/export'],
    ['GET', '/svc/apis/oas/none/versions'],
    ['PUT', '/svc/apis/none', classicApi('C', '/c/')],
    ['PUT', '/svc/apis/oas/none', oasApi('O', '/o/')],
    ['PATCH', '/svc/apis/oas/none', {}],
    ['DELETE', '/svc/apis/none'],
    ['DELETE', '/svc/apis/oas/none'],
  ] as const) {
    assert.deepEqual(await said(method, path, body), [404, 'API not found'], `${method} ${path}`)
  }
  for (const [method, path, body, hint] of [
    ['GET', '/svc/apis/oas/c', undefined, /classic format.*\/svc\/apis\//],
    ['PUT', '/svc/apis/oas/c', oasApi('O', '/o/'), /classic format/],
    ['PUT', '/svc/apis/o', classicApi('O', '/o/'), /OpenAPI format.*\/svc\/apis\/oas\//],
    ['POST', '/svc/apis', oasApi('P', '/p/'), /\/svc\/apis\/oas/],
    ['PUT', '/svc/apis/c', classicApi('C', '/c/', { api_id: 'd' }), /must match/],
    ['PUT', '/svc/apis/oas/o', oasApi('O', '/o/', { id: 'd' }), /must match/],
  ] as const) {
    const [status, message] = await said(method, path, body)
    assert.equal(status, 400, `${method} ${path}`)
    assert.match(String(message), hint)
  }
  assert.equal((await gate.svc('POST', '/svc/apis', classicApi('C2', '/c2/', { api_id: 'c' }))).status, 409)
  assert.equal((await gate.svc('POST', '/svc/apis/oas', oasApi('C2', '/c2/', { id: 'c' }))).status, 409)
  assert.equal((await gate.svc('DELETE', '/svc/apis/oas/c')).status, 200)
})

test('an invalid or unsupported definition is refused with the place of the error', async (t) => {
  const gate = await start(t)
  for (const [definition, reason] of [
    [classicApi('C', 'no-slash'), /listen_path/],
    [classicApi('C', '/svc/x/'), /taken/],
    [classicApi('C', '/hello'), /taken/],
    [classicApi('C', '/metrics/'), /taken/],
    [classicApi('C', '/c/', { active: 'yes' }), /active/],
    [classicApi('C', '/c/', { api_id: 5 }), /api_id/],
    [classicApi('C', '/c/', { proxy: { listen_path: '/c/', target_url: 'ftp://x/' } }), /target_url/],
    [classicApi('C', '/c/', { use_keyless: false, use_openid: true }), /OpenID Connect/],
    [{}, /./],
  ] as const) {
    const refused = await gate.svc('POST', '/svc/apis', definition)
    assert.ok([400, 409].includes(refused.status), refused.text)
    assert.match(String(seen(refused).message), reason)
  }
  const oas = await gate.svc('POST', '/svc/apis/oas', {
    openapi: '3.0.3',
    info: { title: 'x', version: '1' },
    paths: {},
  })
  assert.equal(oas.status, 400)
  assert.match(oas.text, /x-svc-api-gateway.*import/)
  assert.deepEqual((await gate.svc('GET', '/svc/apis')).json, [])
})

test('a refused change leaves the API as it was', async (t) => {
  const gate = await start(t)
  const made = seen(await gate.svc('POST', '/svc/apis', classicApi('C', '/c/', { api_id: 'c' })))
  assert.equal((await gate.svc('PUT', `/svc/apis/${made.key}`, classicApi('C', 'broken'))).status, 400)
  assert.equal((await gate.call('/c/')).status, 502)
})

test('one listen path goes to one API: 409 names the other', async (t) => {
  const gate = await start(t)
  const post = (...args: Parameters<typeof oasApi>) => gate.svc('POST', '/svc/apis/oas', oasApi(...args))
  assert.equal((await post('First', '/same/', { id: 'first' })).status, 200)
  for (const path of ['/same/', '/same', '/SAME/']) {
    const status = (await post('Second', path)).status
    assert.equal(status, path === '/SAME/' ? 200 : 409, path)
  }
  const refused = await post('Second', '/same/')
  assert.match(String(seen(refused).message), /\/same\/.*API first \(First\)/)
  assert.equal((await post('Other host', '/same/', { domain: 'other.example' })).status, 200)
  assert.equal((await post('Inside', '/same/', { internal: true })).status, 200)
  assert.equal((await post('Off', '/same/', { id: 'off', active: false })).status, 200)
  const on = await gate.svc('PUT', '/svc/apis/oas/off', oasApi('Off', '/same/', { id: 'off' }))
  assert.equal(on.status, 409)
  assert.equal((await post('T1', '/t/{a}/', {})).status, 200)
  assert.equal((await post('T2', '/t/{b}/', {})).status, 409)
  assert.equal((await post('Self', '/self/', { id: 'self' })).status, 200)
  assert.equal((await gate.svc('PUT', '/svc/apis/oas/self', oasApi('Self', '/self/', { id: 'self' }))).status, 200)
  await gate.svc('DELETE', '/svc/apis/oas/first')
  assert.equal((await post('Heir', '/same/')).status, 200)
})

test('of many APIs for one path at once, one gets it', async (t) => {
  const gate = await start(t)
  const config = {
    gateway: { hash_keys: true, min_token_length: 16, allow_explicit_policy_id: true, enable_duplicate_slugs: false },
    compat: { vendor_aliases: [] },
  }
  const { documents, counters } = gate.store
  const parts = { documents, counters, config, defaultOrg: () => '', locks: new KeyedMutex() }
  // Handed over in one turn, so that without a queue each would look before any has written.
  const ended = await Promise.allSettled(
    Array.from({ length: 12 }, (_, n) =>
      publishApi(parts, { format: 'oas', definition: oasApi(`A${n}`, '/one/'), actor: 'test' }),
    ),
  )
  const refused = ended.flatMap((each) => (each.status === 'rejected' ? [(each.reason as { code: string }).code] : []))
  assert.deepEqual(refused, Array(11).fill('listen_path_taken'))
  assert.equal(listed(await gate.svc('GET', '/svc/apis/oas')).length, 1)
})

test('tags that no node can share keep APIs apart', async (t) => {
  const gate = await start(t)
  const post = async (name: string, tags?: string[]) =>
    (await gate.svc('POST', '/svc/apis/oas', oasApi(name, '/tagged/', tags && { tags }))).status
  assert.equal(await post('East', ['east']), 200)
  assert.equal(await post('West', ['west']), 200)
  assert.equal(await post('Both', ['west', 'north']), 409)
  assert.equal(await post('Untagged'), 409)
})

test('enable_duplicate_slugs stores the second one, unserved until the path is free', async (t) => {
  const gate = await start(t, { SVC_GW_ENABLEDUPLICATESLUGS: 'true' })
  await gate.svc('POST', '/svc/apis/oas', oasApi('First', '/same/', { id: 'first' }))
  assert.equal((await gate.svc('POST', '/svc/apis/oas', oasApi('Second', '/same/', { id: 'second' }))).status, 200)
  assert.deepEqual(await states(gate), { first: 'loaded', second: 'taken' })
  await gate.svc('DELETE', '/svc/apis/oas/first')
  assert.deepEqual(await states(gate), { second: 'loaded' })
})

test('with enable_duplicate_slugs a contested path stays with its API over a restart', async (t) => {
  const clock = new FakeClock()
  const store = openMemoryStore({ clock })
  t.after(() => store.close())
  const env = { SVC_GW_ENABLEDUPLICATESLUGS: 'true' }
  const first = await startTestGateway({ store, clock, env })
  const put = async (id: string, active: boolean) => {
    clock.advance(1)
    assert.equal((await first.svc('PUT', `/svc/apis/oas/${id}`, oasApi(id, '/same/', { id, active }))).status, 200)
  }
  for (const id of ['older', 'newer'])
    assert.equal((await first.svc('POST', '/svc/apis/oas', oasApi(id, '/same/', { id }))).status, 200)
  await put('older', false)
  await put('older', true)
  // a change that has nothing to do with the place costs nothing
  await put('newer', true)
  const held = { older: 'taken', newer: 'loaded' }
  assert.deepEqual(await states(first), held)
  await first.close()
  const second = await startTestGateway({ store, clock, env })
  t.after(() => second.close())
  assert.deepEqual(await states(second), held)
})

test('a version is added to its base in one step, listed, and taken out when it goes', async (t) => {
  const gate = await start(t)
  await gate.svc('POST', '/svc/apis/oas', oasApi('Base', '/v/', { id: 'base' }))
  const add = (query: string, id: string) =>
    gate.svc('POST', `/svc/apis/oas?base_api_id=${query}`, oasApi(id, `/${id}/`, { id, internal: true }))
  for (const query of ['base&base_api_version_name=v1', 'none&new_version_name=v2', 'base&new_version_name=v2']) {
    const refused = await add(query, 'two')
    assert.equal(refused.status, 422, refused.text)
  }
  assert.equal((await gate.svc('GET', '/svc/apis/oas/two')).status, 404)
  assert.equal((await add('base&base_api_version_name=v1&new_version_name=v1', 'two')).status, 409)
  const made = await add('base&base_api_version_name=v1&new_version_name=v2&set_default=true', 'two')
  assert.equal(made.status, 200, made.text)
  assert.equal((await add('base&new_version_name=v2', 'three')).status, 409)
  assert.equal((await add('base&new_version_name=v3', 'three')).status, 200)
  const child = await gate.svc('GET', '/svc/apis/oas/two')
  assert.equal(child.headers['x-svc-base-api-id'], 'base')
  assert.equal((await gate.svc('GET', '/svc/apis/two')).headers['x-svc-base-api-id'], 'base')
  assert.equal((await gate.svc('GET', '/svc/apis/oas/base')).headers['x-svc-base-api-id'], undefined)
  const versions = {
    id: 'base',
    name: 'Base',
    versionName: 'v1',
    internal: false,
    expirationDate: '',
    isDefaultVersion: false,
  }
  const expected = {
    status: 'success',
    apis: [
      versions,
      { ...versions, id: 'two', name: 'two', versionName: 'v2', internal: true, isDefaultVersion: true },
      { ...versions, id: 'three', name: 'three', versionName: 'v3', internal: true },
    ],
  }
  assert.deepEqual(seen(await gate.svc('GET', '/svc/apis/oas/base/versions')), expected)
  assert.deepEqual(seen(await gate.svc('GET', '/svc/apis/base/versions')), expected)
  await gate.svc('DELETE', '/svc/apis/two')
  const after = seen(await gate.svc('GET', '/svc/apis/base/versions')).apis as JsonObject[]
  assert.deepEqual(
    after.map(({ id, isDefaultVersion }) => [id, isDefaultVersion]),
    [
      ['base', true],
      ['three', false],
    ],
  )
})

test('a classic base takes versions too', async (t) => {
  const gate = await start(t)
  await gate.svc('POST', '/svc/apis', classicApi('Base', '/v/', { api_id: 'base' }))
  const query = 'base_api_id=base&base_api_version_name=one&new_version_name=two'
  assert.equal(
    (await gate.svc('POST', `/svc/apis?${query}`, classicApi('Two', '/two/', { api_id: 'two', internal: true })))
      .status,
    200,
  )
  const { definition } = seen(await gate.svc('GET', '/svc/apis/base'))
  assert.deepEqual(definition, {
    enabled: true,
    name: 'one',
    location: 'header',
    key: 'x-api-version',
    default: 'self',
    versions: { two: 'two' },
  })
})

test('the classic list shows OpenAPI APIs in classic words', async (t) => {
  const gate = await start(t)
  await gate.svc('POST', '/svc/apis/oas', oasApi('O', '/o/', { id: 'o' }))
  for (const shown of [listed(await gate.svc('GET', '/svc/apis'))[0], seen(await gate.svc('GET', '/svc/apis/o'))]) {
    assert.deepEqual(
      [shown?.api_id, shown?.is_oas, (shown?.proxy as JsonObject | undefined)?.listen_path],
      ['o', true, '/o/'],
    )
  }
})

test('reload reads everything again; many at once become few', async (t) => {
  const gate = await start(t)
  for (const path of [
    '/svc/reload',
    '/svc/reload/',
    '/svc/reload/group',
    '/svc/reload?block=true',
    '/svc/reload/group?block=true',
  ]) {
    const answer = await gate.svc('GET', path)
    assert.deepEqual([answer.status, answer.json], [200, { status: 'ok', message: '' }], path)
  }
  const before = gate.gateway.live.reloads
  await Promise.all(Array.from({ length: 20 }, () => gate.svc('GET', '/svc/reload?block=true')))
  assert.ok(gate.gateway.live.reloads > before)
  assert.ok(gate.gateway.live.reloads <= before + 20)
})
