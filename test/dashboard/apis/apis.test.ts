import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf, classicApi, listedIds, oasApi } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestDashboardOptions } from '../../worlds/dashboard/harness.ts'

const MISSING = { Status: 'Error', Message: 'Could not retrieve API detail', Meta: null }

async function start(t: TestContext, options: TestDashboardOptions = {}) {
  const world = await startTestDashboard(options)
  t.after(() => world.close())
  const admin = await world.admin()
  const add = async (apiId: string, path: string, more: JsonObject = {}, beside: JsonObject = {}) => {
    world.clock.advance(1000)
    const body = { api_definition: classicApi(apiId, path, more), ...beside }
    const answer = await world.call('POST', '/api/apis', { as: admin, body })
    assert.equal(answer.status, 200, answer.text)
    return String(bodyOf(answer).Meta)
  }
  const addOas = async (apiId: string, path: string, info: JsonObject = {}) => {
    world.clock.advance(1000)
    const answer = await world.call('POST', '/api/apis/oas', { as: admin, body: oasApi(apiId, path, info) })
    assert.equal(answer.status, 200, answer.text)
    return String(bodyOf(answer).Meta)
  }
  return { ...world, admin, add, addOas }
}

test('a classic API is created, read by both ids, replaced and deleted', async (t) => {
  const { admin, call, orgId } = await start(t)
  const made = await call('POST', '/api/apis/', {
    as: admin,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: { api_definition: classicApi('orders', '/orders/', { tags: null, 'x-own': { kept: true } }) },
  })
  const { Meta: id } = bodyOf(made)
  assert.equal(made.text, `{"Status":"OK","Message":"API created","Meta":"${id}","ID":"orders"}`)
  for (const path of [`/api/apis/${id}`, '/api/apis/orders', '/api//apis/orders/']) {
    const read = bodyOf(await call('GET', path, { as: admin }))
    const definition = read.api_definition as JsonObject
    assert.deepEqual(Object.keys(read), [
      ...['api_model', 'api_definition', 'hook_references', 'is_site', 'sort_by'],
      ...['user_owners', 'user_group_owners', 'created_at', 'updated_at'],
    ])
    assert.deepEqual([definition.id, definition.api_id, definition.org_id], [id, 'orders', orgId])
    assert.deepEqual(definition['x-own'], { kept: true })
    assert.deepEqual(definition.tags, [])
  }
  const changed = { api_definition: classicApi('orders', '/orders/', { name: 'Other', org_id: 'of-another', id: 'x' }) }
  const put = await call('PUT', `/api/apis/${id}`, { as: admin, body: changed })
  assert.deepEqual(put.json, { Status: 'OK', Message: 'API updated', Meta: null })
  const after = bodyOf(await call('GET', '/api/apis/orders', { as: admin })).api_definition as JsonObject
  assert.deepEqual([after.name, after.org_id, after.id], ['Other', orgId, id])
  assert.deepEqual((await call('DELETE', '/api/apis/orders', { as: admin })).json, {
    Status: 'OK',
    Message: 'API deleted',
    Meta: null,
  })
  assert.deepEqual((await call('GET', '/api/apis', { as: admin })).json, { apis: [], pages: 1 })
  assert.deepEqual((await call('GET', '/api/apis?p=-2', { as: admin })).json, { apis: [], pages: 0 })
})

test('an API that is not there: 400 to read it, 404 to change or delete it', async (t) => {
  const { admin, call } = await start(t)
  const body = { api_definition: classicApi('x', '/x/') }
  const answers: [string, string, number][] = [
    ['GET', '/api/apis/none', 400],
    ['PUT', '/api/apis/none', 404],
    ['DELETE', '/api/apis/65a000000000000000000001', 404],
    ['GET', '/api/apis/none/url', 400],
    ['GET', '/api/apis/..%2f..%2fadmin', 400],
    ['GET', '/api/apis/%00', 400],
    ['GET', '/api/apis/__proto__', 400],
  ]
  for (const [method, path, status] of answers) {
    const answer = await call(method, path, { as: admin, ...(method === 'PUT' && { body }) })
    assert.equal(answer.status, status, `${method} ${path}`)
    assert.deepEqual(answer.json, MISSING)
  }
})

test('what cannot be stored is refused, and nothing of it is', async (t) => {
  const { admin, call, add, store } = await start(t)
  await add('orders', '/orders/')
  const before = await store.documents.revision()
  const post = (body: unknown, query = '') => call('POST', `/api/apis${query}`, { as: admin, body })
  const same = await post({ api_definition: classicApi('orders', '/elsewhere/') })
  assert.deepEqual([same.status, bodyOf(same).Message], [409, 'This ID cannot be used. Choose another one.'])
  const taken = await post({ api_definition: classicApi('other', '/orders') })
  assert.equal(taken.status, 409)
  assert.match(String(bodyOf(taken).Message), /API orders \(API orders\)/)
  const own = await post({ api_definition: classicApi('own', '/svc/x/') })
  assert.equal(own.status, 400)
  assert.equal((await post('{"api_definition":')).status, 403)
  assert.deepEqual((await post('{"api_definition":')).json, {
    Status: 'Error',
    Message: 'Request body malformed',
    Meta: null,
  })
  assert.equal((await post('{"api_definition":{"__proto__":{"a":1}}}')).status, 403)
  assert.equal((await post(`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`)).status, 403)
  assert.equal((await post({})).status, 400)
  assert.equal((await post({ api_definition: 'x' })).status, 400)
  assert.equal((await post({ api_definition: { name: 'no proxy' } })).status, 400)
  assert.equal((await post({ api_definition: oasApi('o', '/o/') })).status, 400)
  const bomb = { enable_ip_whitelisting: true, allowed_ips: ['not an address'] }
  assert.equal((await post({ api_definition: classicApi('b', '/b/', bomb) })).status, 400)
  assert.equal((await post({ api_definition: classicApi('r', '/r/{id:(a+)+$}/') })).status, 400)
  const nameless = await post({ api_definition: classicApi('v', '/v/') }, '?base_api_id=orders')
  assert.deepEqual(
    [nameless.status, bodyOf(nameless).Message],
    [400, 'version name header should be set with base API ID'],
  )
  assert.equal(
    (await post({ api_definition: classicApi('v', '/v/') }, '?base_api_id=x&new_version_name=v2')).status,
    400,
  )
  assert.equal(await store.documents.revision(), before)
})

test('five APIs at one listen path are stored with enable_duplicate_slugs', async (t) => {
  const { add, admin, call } = await start(t, { env: { SVC_DB_ENABLEDUPLICATESLUGS: 'true' } })
  for (const id of ['a', 'b', 'c', 'd', 'e']) await add(id, '/same/')
  assert.equal(listedIds(await call('GET', '/api/apis', { as: admin })).length, 5)
})

test('lists are paged, sorted, searched and filtered', async (t) => {
  const { add, addOas, admin, call, clock } = await start(t, { env: { SVC_DB_PAGESIZE: '2' } })
  await add('orders', '/orders/', { name: 'Orders #shop' })
  await add('users', '/users/', { name: 'users', internal: true })
  await addOas('pets', '/pets/', { name: 'Pets' })
  await add('keyed', '/keyed/', { name: 'Keys', use_keyless: false, use_standard_auth: true })
  await call('PUT', '/api/apis/oas/pets/categories', { as: admin, body: { categories: ['zoo', ' zoo ', ''] } })
  const ids = async (query: string) => listedIds(await call('GET', `/api/apis${query}`, { as: admin }))
  assert.deepEqual(await ids(''), ['keyed', 'pets'])
  assert.deepEqual(await ids('?p=2'), ['users', 'orders'])
  assert.deepEqual(await ids('?p=3'), [])
  assert.equal(bodyOf(await call('GET', '/api/apis?p=1', { as: admin })).pages, 2)
  const all = await call('GET', '/api/apis?p=0&sort=name', { as: admin })
  assert.deepEqual([listedIds(all), bodyOf(all).pages], [['keyed', 'orders', 'pets', 'users'], 0])
  assert.deepEqual(await ids('?p=-1&sort=-name'), ['users', 'pets', 'orders', 'keyed'])
  assert.deepEqual(await ids('?p=-1&sort=created_at'), ['orders', 'users', 'pets', 'keyed'])
  assert.deepEqual(await ids('?q=ERS'), ['users', 'orders'])
  assert.deepEqual(await ids('?q=%23sho'), ['orders'])
  assert.deepEqual(await ids('?q=%23zoo'), ['pets'])
  assert.deepEqual(await ids('?q=%25'), [])
  assert.deepEqual(await ids('?category=shop,zoo'), ['pets', 'orders'])
  assert.deepEqual(await ids('?auth_type=authToken'), ['keyed'])
  assert.deepEqual(await ids('?p=-1&auth_type=keyless,oauth'), ['pets', 'users', 'orders'])
  assert.deepEqual(await ids('?api_type=internal'), ['users'])
  assert.deepEqual(await ids('?q=ers&api_type=rest'), ['orders'])
  assert.deepEqual(await ids('/search?q=pet'), ['pets'])
  assert.equal((await call('GET', '/api/apis?sort=id', { as: admin })).status, 400)
  assert.equal((await call('GET', `/api/apis?q=${'a'.repeat(300)}`, { as: admin })).status, 400)
  const short = bodyOf(await call('GET', '/api/apis?compressed=1&q=pets', { as: admin })).apis as JsonObject[]
  assert.deepEqual(Object.keys(short[0]!), ['api_definition'])
  const facts = bodyOf(await call('GET', '/api/apis?facts=1&q=users', { as: admin })).apis as JsonObject[]
  assert.deepEqual(
    [facts[0]?.api_id, facts[0]?.listen_path, facts[0]?.internal, facts[0]?.auth_types, facts[0]?.nodes],
    ['users', '/users/', true, ['keyless'], {}],
  )
  assert.deepEqual([await ids('?active=false'), (await ids('?p=-1&active=true')).length], [[], 4])
  assert.equal((await call('GET', '/api/apis?active=maybe', { as: admin })).status, 400)
  clock.advance(1000)
  await call('PUT', '/api/apis/orders', { as: admin, body: { api_definition: classicApi('orders', '/orders/') } })
  assert.deepEqual(await ids('?sort=-updated_at'), ['orders', 'keyed'])
})

test('the list shows OpenAPI APIs in both formats, and never null', async (t) => {
  const { add, addOas, admin, call } = await start(t)
  const id = await addOas('pets', '/pets/')
  await add('nulls', '/nulls/', { tags: null, config_data: null, version_data: null, auth: null })
  const { text, json } = await call('GET', '/api/apis?sort=name', { as: admin })
  assert.doesNotMatch(text, /:null/)
  const [nulls, pets] = (json as unknown as { apis: JsonObject[] }).apis as [JsonObject, JsonObject]
  assert.equal('oas' in nulls, false)
  const definition = pets.api_definition as JsonObject
  assert.deepEqual(
    [definition.id, definition.api_id, definition.is_oas, definition.slug],
    [id, 'pets', true, 'api-pets'],
  )
  assert.equal((definition.proxy as JsonObject).listen_path, '/pets/')
  const info = ((pets.oas as JsonObject)['x-svc-api-gateway'] as JsonObject).info as JsonObject
  assert.deepEqual([info.dbId, info.id], [id, 'pets'])
  assert.deepEqual(pets.categories, [])
})

test('the id of an API is not changed by a replacement', async (t) => {
  const { add, admin, call } = await start(t)
  const id = await add('first', '/one/')
  await add('taken', '/two/')
  const to = (apiId: string) =>
    call('PUT', `/api/apis/${id}`, { as: admin, body: { api_definition: classicApi(apiId, '/one/') } })
  for (const other of ['taken', 'second']) {
    const refused = await to(other)
    assert.equal(refused.status, 400)
    assert.ok(refused.text.includes(`The API is first, the definition names ${other}.`), refused.text)
  }
  assert.equal((await to('first')).status, 200)
  assert.equal(bodyOf(await call('GET', '/api/apis/first', { as: admin })).api_model instanceof Object, true)
})

test('an OpenAPI API: the classic path deletes it, and replaces it only where that is allowed', async (t) => {
  const { addOas, admin, call } = await start(t)
  const id = await addOas('pets', '/pets/')
  const body = { api_definition: classicApi('pets', '/pets/') }
  assert.equal((await call('PUT', '/api/apis/pets', { as: admin, body })).status, 400)
  assert.equal((await call('DELETE', `/api/apis/${id}`, { as: admin })).status, 200)
  const unsafe = await start(t, { env: { SVC_DB_ALLOWUNSAFEOAS: 'true' } })
  await unsafe.addOas('pets', '/pets/')
  const read = bodyOf(await unsafe.call('GET', '/api/apis/pets', { as: unsafe.admin }))
  const changed = { ...read, api_definition: { ...(read.api_definition as JsonObject), name: 'Changed' } }
  assert.equal((await unsafe.call('PUT', '/api/apis/pets', { as: unsafe.admin, body: changed })).status, 200)
  const oas = bodyOf(await unsafe.call('GET', '/api/apis/oas/pets', { as: unsafe.admin }))
  assert.ok((oas.paths as JsonObject)['/pets'], 'what only OpenAPI can say stays')
  assert.equal(((oas['x-svc-api-gateway'] as JsonObject).info as JsonObject).name, 'Changed')
})

test('hooks, owners and the bare definition of the spec are taken', async (t) => {
  const { add, admin, call, user, group } = await start(t)
  const owner = await user({ apis: 'read' })
  const owners = { user_owners: [owner.id], user_group_owners: [await group({ apis: 'read' })] }
  const hooks = [{ event_name: 'QuotaExceeded', event_timeout: 60, hook: { id: 'x' } }]
  await add('orders', '/orders/', {}, { ...owners, hook_references: hooks })
  const read = async () => {
    const { user_owners, user_group_owners, hook_references } = bodyOf(
      await call('GET', '/api/apis/orders', { as: admin }),
    )
    return { user_owners, user_group_owners, hook_references }
  }
  assert.deepEqual(await read(), { ...owners, hook_references: hooks })
  const put = (body: JsonObject) => call('PUT', '/api/apis/orders', { as: admin, body })
  assert.equal((await put({ api_definition: classicApi('orders', '/orders/') })).status, 200)
  assert.deepEqual(await read(), { ...owners, hook_references: hooks }, 'what is not sent stays')
  assert.equal(
    (await put({ ...classicApi('orders', '/orders/'), user_owners: [], user_group_owners: null })).status,
    200,
  )
  assert.deepEqual(await read(), {
    user_owners: [],
    user_group_owners: owners.user_group_owners,
    hook_references: hooks,
  })
})

test('APIs of other organisations are not there, and their ids name nothing', async (t) => {
  const { add, admin: first, call, organisation, user } = await start(t)
  const id = await add('orders', '/orders/')
  const stranger = await user({ IsAdmin: 'admin' }, { orgId: await organisation() })
  assert.deepEqual(listedIds(await call('GET', '/api/apis?p=-1', { as: stranger })), [])
  for (const name of ['orders', id]) {
    assert.deepEqual((await call('GET', `/api/apis/${name}`, { as: stranger })).json, MISSING)
    assert.equal((await call('DELETE', `/api/apis/${name}`, { as: stranger })).status, 404)
    assert.equal((await call('GET', `/api/apis/${name}/access`, { as: stranger })).status, 404)
  }
  // An api_id that looks like the storage id of others hides nothing from them.
  const post = (body: JsonObject) => call('POST', '/api/apis', { as: stranger, body })
  assert.equal((await post({ api_definition: classicApi(id, '/mine/') })).status, 200)
  const read = bodyOf(await call('GET', `/api/apis/${id}`, { as: first })).api_definition as JsonObject
  assert.equal(read.api_id, 'orders')
  const taken = await post({ api_definition: classicApi('z', '/orders/') })
  assert.equal(taken.status, 409)
  assert.doesNotMatch(taken.text, /API orders/)
  const base = await call('POST', '/api/apis?base_api_id=orders&new_version_name=v2&base_api_version_name=v1', {
    as: stranger,
    body: { api_definition: classicApi('z', '/z/') },
  })
  assert.equal(base.status, 400)
  const unbounded = await user({ IsAdmin: 'admin' }, { orgId: '' })
  assert.equal(listedIds(await call('GET', '/api/apis', { as: unbounded })).length, 2)
  assert.equal((await call('DELETE', '/api/apis/orders', { as: unbounded })).status, 403)
})

test('where an API answers', async (t) => {
  const { add, admin, call } = await start(t, { env: { SVC_GW_PUBLICURL: 'https://api.example.org' } })
  await add('orders', '/orders/')
  await add('domain', '/x/', { domain: 'shop.example.org' })
  assert.deepEqual((await call('GET', '/api/apis/orders/url', { as: admin })).json, {
    ApiURL: 'https://api.example.org/orders/',
    BasePath: '/orders/',
    Host: 'https://api.example.org',
  })
  assert.equal(bodyOf(await call('GET', '/api/apis/domain/url', { as: admin })).Host, 'https://shop.example.org')
})

test('permissions: reading needs read, changing needs write, with two spaces before the path', async (t) => {
  const { add, call, user } = await start(t)
  await add('orders', '/orders/')
  const reader = await user({ apis: 'read' })
  const other = await user({ keys: 'write' })
  assert.equal((await call('GET', '/api/apis/orders', { as: reader })).status, 200)
  const refused = await call('POST', '/api/apis', { as: reader, body: {} })
  assert.equal(refused.status, 403)
  assert.equal(bodyOf(refused).Message, 'access denied: You do not have permission to access  /api/apis')
  assert.equal((await call('GET', '/api/apis', { as: other })).status, 403)
  const nobody = await call('GET', '/api/apis')
  assert.deepEqual([nobody.status, bodyOf(nobody).Message], [401, 'Not authorised'])
})

test('to clear the key sets of an API has every gateway forget them', async (t) => {
  const { add, admin, call, store } = await start(t)
  await add('orders', '/orders/')
  const told: string[] = []
  const leave = store.feed.subscribe(({ changes }) => told.push(...changes.map(({ kind }) => kind)))
  t.after(leave)
  const done = await call('DELETE', '/api/cache/jwks/orders', { as: admin })
  assert.deepEqual([done.status, done.json], [200, { status: 'OK', message: 'success' }])
  assert.deepEqual(told, ['order'])
  assert.equal((await call('DELETE', '/api/cache/jwks/none', { as: admin })).status, 404)
})
