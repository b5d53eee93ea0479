import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf, classicApi, listedIds, oasApi, plainOas } from '../../worlds/dashboard/api-samples.ts'
import { startTestDashboard, type TestDashboardOptions } from '../../worlds/dashboard/harness.ts'

const EXTENSION = 'x-svc-api-gateway'

async function start(t: TestContext, options: TestDashboardOptions = {}) {
  const world = await startTestDashboard(options)
  t.after(() => world.close())
  const admin = await world.admin()
  const add = async (apiId: string, path: string, query = '') => {
    world.clock.advance(1000)
    const answer = await world.call('POST', `/api/apis/oas${query}`, { as: admin, body: oasApi(apiId, path) })
    assert.equal(answer.status, 200, answer.text)
    return String(bodyOf(answer).Meta)
  }
  const read = async (apiId: string) => bodyOf(await world.call('GET', `/api/apis/oas/${apiId}`, { as: admin }))
  return { ...world, admin, add, read }
}

const infoOf = (document: JsonObject) => (document[EXTENSION] as JsonObject).info as JsonObject

test('an OpenAPI API is created, read, replaced and deleted by both ids', async (t) => {
  const { admin, call, orgId, read } = await start(t)
  const made = await call('POST', '/api/apis/oas/', {
    as: admin,
    body: oasApi('pets', '/pets/', { orgId: 'of-others' }),
  })
  const id = String(bodyOf(made).Meta)
  assert.equal(made.text, `{"Status":"OK","Message":"API created","Meta":"${id}","ID":"pets"}`)
  const document = await read('pets')
  assert.deepEqual([infoOf(document).dbId, infoOf(document).orgId], [id, orgId])
  const changed = oasApi('pets', '/pets/', { name: 'Changed' })
  const put = await call('PUT', `/api/apis/oas/${id}?accept_additional_properties=true`, { as: admin, body: changed })
  assert.deepEqual(put.json, { Status: 'OK', Message: 'API updated.', Meta: null })
  assert.equal(infoOf(await read(id)).name, 'Changed')
  const plain = await call('PUT', '/api/apis/oas/pets', { as: admin, body: plainOas('Pets') })
  assert.equal(plain.status, 400)
  assert.equal((await call('DELETE', '/api/apis/oas/pets', { as: admin })).status, 200)
  for (const [method, status] of [
    ['GET', 400],
    ['PUT', 404],
    ['PATCH', 404],
    ['DELETE', 404],
  ] as const)
    assert.equal((await call(method, '/api/apis/oas/pets', { as: admin, body: changed })).status, status, method)
})

test('an update drops neither categories nor owners', async (t) => {
  const { add, admin, call, user } = await start(t)
  await add('pets', '/pets/')
  const owner = await user({ apis: 'write' })
  await call('PUT', '/api/apis/oas/pets/categories/', { as: admin, body: { categories: ['b', ' a', 'b', ' '] } })
  await call('PUT', '/api/apis/pets/access', { as: admin, body: { userIds: [owner.id], userGroupIds: [] } })
  const body = oasApi('pets', '/pets/', { name: 'Changed' })
  assert.equal((await call('PUT', '/api/apis/oas/pets', { as: admin, body })).status, 200)
  assert.equal((await call('PATCH', '/api/apis/oas/pets', { as: admin, body: plainOas('Pets') })).status, 200)
  const wrapper = bodyOf(await call('GET', '/api/apis/pets', { as: admin }))
  assert.deepEqual([wrapper.categories, wrapper.user_owners], [['b', 'a'], [owner.id]])
})

test('YAML comes in, and goes out where it is accepted', async (t) => {
  const { admin, call, read } = await start(t)
  const yaml = [
    'openapi: 3.0.3',
    'info: {title: Pets, version: "1"}',
    'paths: {}',
    `${EXTENSION}:`,
    '  info: {id: yaml, name: Yaml, state: {active: true}}',
    '  upstream: {url: "http://up.test/"}',
    '  server: {listenPath: {value: /yaml/, strip: true}}',
  ].join('\n')
  const typed = { 'content-type': 'application/yaml' }
  assert.equal((await call('POST', '/api/apis/oas', { as: admin, body: yaml, headers: typed })).status, 200)
  assert.equal(infoOf(await read('yaml')).name, 'Yaml')
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const again = yaml.replace('name: Yaml', 'name: Again')
  assert.equal((await call('PUT', '/api/apis/oas/yaml', { as: admin, body: again, headers: form })).status, 200)
  const accepting = { accept: 'application/x-yaml' }
  const out = await call('GET', '/api/apis/oas/yaml', { as: admin, headers: accepting })
  assert.match(String(out.headers['content-type']), /^application\/x-yaml/)
  assert.match(out.text, /^openapi: 3\.0\.3$/m)
  assert.match(out.text, /name: Again/)
})

test('hostile documents are refused, and nothing is stored', async (t) => {
  const { admin, call, store } = await start(t, { env: { SVC_DB_MAXBODYBYTES: '4194304' } })
  const revision = await store.documents.revision()
  const post = (body: string, type = 'application/yaml') =>
    call('POST', '/api/apis/oas', { as: admin, body, headers: { 'content-type': type } })
  const laughs = ['a: &a [x,x,x,x,x,x,x,x,x,x]']
  for (let level = 0; level < 9; level++) {
    const [name, before] = [String.fromCharCode(98 + level), String.fromCharCode(97 + level)]
    laughs.push(`${name}: &${name} [${Array(10).fill(`*${before}`).join(',')}]`)
  }
  assert.equal((await post(laughs.join('\n'))).status, 403)
  const broken = await post('a: [')
  assert.deepEqual(
    [broken.status, /^Request body malformed: .* at line 1/.test(String(bodyOf(broken).Message))],
    [403, true],
  )
  assert.equal((await post('just a text')).status, 403)
  assert.match(String(bodyOf(await post('openapi: 3.0.3\nopenapi: 3.1.0\n')).Message), /"openapi" is given twice/)
  assert.equal((await post('__proto__: {a: 1}')).status, 403)
  assert.equal((await post(`a: ${'b'.repeat(5 << 20)}`)).status, 413)
  assert.equal((await post(`{"a":"${'b'.repeat(5 << 20)}"}`, 'application/json')).status, 413)
  assert.equal((await post('{"openapi":', 'application/json')).status, 403)
  assert.equal((await post(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`, 'application/json')).status, 403)
  assert.equal((await post('', 'application/json')).status, 403)
  const missing = await post(JSON.stringify(plainOas('Pets')))
  assert.equal(missing.status, 400)
  assert.match(String(bodyOf(missing).Message), /x-svc-api-gateway/)
  assert.equal(await store.documents.revision(), revision)
})

test('a plain document is imported with what the query says of it', async (t) => {
  const { admin, call, read } = await start(t)
  const query = 'listenPath=/shop/&upstreamURL=http%3A%2F%2Fother.test%2F&allowList=true&customDomain=shop.test'
  const made = await call('POST', `/api/apis/oas/import?${query}`, { as: admin, body: plainOas('Pets') })
  assert.deepEqual([made.status, bodyOf(made).Message], [200, 'API created'])
  const { server, upstream, middleware } = (await read(String(bodyOf(made).ID)))[EXTENSION] as JsonObject as {
    server: JsonObject
    upstream: JsonObject
    middleware: { operations: JsonObject }
  }
  assert.deepEqual(server.listenPath, { value: '/shop/', strip: true })
  assert.equal((server.customDomain as JsonObject).name, 'shop.test')
  assert.equal(upstream.url, 'http://other.test/')
  assert.deepEqual(middleware.operations.listPets, { allow: { enabled: true } })
  const extended = await call('POST', '/api/apis/oas/import', { as: admin, body: oasApi('x', '/x/') })
  assert.equal(extended.status, 400)
  assert.equal((await call('POST', '/api/apis/oas/import?allowList=maybe', { as: admin, body: {} })).status, 400)
  const mock = await call('POST', '/api/apis/oas/import?mockResponse=1', { as: admin, body: plainOas('Pets') })
  assert.equal(mock.status, 400)
})

test('a file of a form is imported like a body', async (t) => {
  const { admin, call } = await start(t)
  const boundary = 'xxboundaryxx'
  const part = (headers: string, content: string) => `--${boundary}\r\n${headers}\r\n\r\n${content}\r\n`
  const body =
    part('Content-Disposition: form-data; name="note"', 'hello') +
    part('Content-Disposition: form-data; name="file"; filename="pets.json"', JSON.stringify(plainOas('Pets'))) +
    `--${boundary}--\r\n`
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  assert.equal((await call('POST', '/api/apis/oas/import?listenPath=/pets/', { as: admin, body, headers })).status, 200)
  const broken = await call('POST', '/api/apis/oas/import', { as: admin, body: 'x', headers })
  assert.equal(broken.status, 403)
})

test('PATCH keeps the extension and takes the rest', async (t) => {
  const { add, admin, call, read } = await start(t)
  await add('pets', '/pets/')
  const body = plainOas('New title', { paths: { '/new': { get: { operationId: 'new', responses: {} } } } })
  const tried = await call('PATCH', '/api/apis/oas/pets?listenPath=/animals/&dry_run=true', { as: admin, body })
  assert.deepEqual([tried.status, Object.keys(bodyOf(tried).paths as JsonObject)], [200, ['/new']])
  assert.deepEqual(Object.keys((await read('pets')).paths as JsonObject), ['/pets'])
  const patched = await call('PATCH', '/api/apis/oas/pets?listenPath=/animals/', { as: admin, body })
  assert.deepEqual([patched.status, bodyOf(patched).Message], [200, 'API updated.'])
  const after = await read('pets')
  assert.deepEqual(Object.keys(after.paths as JsonObject), ['/new'])
  assert.equal(infoOf(after).name, 'API pets')
  const extended = await call('PATCH', '/api/apis/oas/pets', { as: admin, body: oasApi('pets', '/pets/') })
  assert.equal(extended.status, 400)
})

test('a dry run shows what would be stored, and stores nothing', async (t) => {
  const { add, admin, call, store, user } = await start(t)
  await add('pets', '/pets/')
  const unbounded = await user({ IsAdmin: 'admin' }, { orgId: '' })
  const revision = await store.documents.revision()
  const run = (body: JsonObject, query = '') => call('POST', `/api/apis/oas/dry-run${query}`, { as: admin, body })
  const shown = bodyOf(await run(plainOas('Shop'), '?listenPath=/shop/'))
  assert.match(String(infoOf(shown).dbId), /^[0-9a-f]{24}$/)
  assert.equal(infoOf(bodyOf(await run(oasApi('other', '/other/')))).id, 'other')
  assert.equal((await run(oasApi('pets', '/x/'))).status, 409)
  assert.equal((await run(oasApi('x', '/pets/'))).status, 409)
  assert.equal((await call('POST', '/api/apis/oas/dry-run', { as: unbounded, body: plainOas('S') })).status, 403)
  assert.equal(await store.documents.revision(), revision)
})

test('an export is a file; public ones are without the extension', async (t) => {
  const { add, admin, call } = await start(t)
  await add('pets/../x"', '/pets/')
  const path = `/api/apis/oas/${encodeURIComponent('pets/../x"')}/export`
  const whole = await call('GET', path, { as: admin })
  assert.equal(whole.headers['content-disposition'], 'attachment; filename="pets_.._x_.json"')
  assert.ok(EXTENSION in bodyOf(whole))
  assert.equal(EXTENSION in bodyOf(await call('GET', `${path}?mode=public`, { as: admin })), false)
  assert.equal((await call('GET', `${path}?mode=all`, { as: admin })).status, 400)
  assert.equal((await call('GET', '/api/apis/oas/none/export', { as: admin })).status, 400)
})

test('a classic API is none of the OpenAPI calls', async (t) => {
  const { admin, call } = await start(t)
  await call('POST', '/api/apis', { as: admin, body: { api_definition: classicApi('old', '/old/') } })
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['PATCH', ''],
    ['GET', '/export'],
    ['GET', '/urls'],
  ] as const) {
    const answer = await call(method, `/api/apis/oas/old${path}`, { as: admin, body: oasApi('old', '/old/') })
    assert.equal(answer.status, 400, `${method} ${path}`)
  }
})

test('clients of the incumbent find the extension under its name', async (t) => {
  const { add, admin, call } = await start(t, { env: { SVC_COMPAT_VENDORALIASES: 'acme' } })
  await add('ours', '/ours/')
  const { [EXTENSION]: extension, ...plain } = oasApi('theirs', '/theirs/')
  const body = { ...plain, 'x-acme-api-gateway': extension! }
  assert.equal((await call('POST', '/api/apis/oas', { as: admin, body })).status, 200)
  for (const path of ['/api/apis/oas/ours', '/api/apis/oas/theirs', '/api/apis/oas/ours/export'])
    assert.ok('x-acme-api-gateway' in bodyOf(await call('GET', path, { as: admin })), path)
  const listed = (await call('GET', '/api/apis', { as: admin })).json as { apis: { oas: JsonObject }[] }
  assert.ok(listed.apis.every(({ oas }) => 'x-acme-api-gateway' in oas))
  assert.ok(EXTENSION in bodyOf(await call('GET', '/api/apis/oas/theirs?extension=svc', { as: admin })))
  const both = { ...body, [EXTENSION]: extension! }
  assert.equal((await call('PUT', '/api/apis/oas/theirs', { as: admin, body: both })).status, 400)
})

test('documents are fetched only where that is allowed, and never from private networks', async (t) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (request.url === '/moved') response.writeHead(302, { location: '/pets.json' }).end()
    else if (request.url === '/large') response.end(Buffer.alloc(17 << 20, 0x20))
    else if (request.url === '/pets.yaml')
      response.setHeader('content-type', 'text/yaml').end(JSON.stringify(plainOas('Y')))
    else response.end(JSON.stringify(plainOas('Pets')))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const url = (path: string, host = '127.0.0.1') => ({ url: `http://${host}:${port}${path}` })
  const at = (world: Awaited<ReturnType<typeof start>>, body: JsonObject, path = 'a') =>
    world.call('POST', `/api/apis/oas/import?listenPath=/${path}/`, { as: world.admin, body })

  const off = await start(t)
  assert.equal((await at(off, url('/pets.json'))).status, 400)
  const on = await start(t, { env: { SVC_DB_IMPORTURL_ENABLED: 'true' } })
  const inside = ['127.0.0.1', 'localhost', '2130706433', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '10.0.0.1']
  for (const host of inside) {
    const answer = await at(on, url('/pets.json', host))
    assert.equal(answer.status, 400, host)
    assert.match(String(bodyOf(answer).Message), /set dashboard\.import_url\.allow_private to reach it/, host)
  }
  for (const target of ['file:///etc/passwd', 'gopher://example.org/', 'http://user:pw@example.org/', 'nonsense'])
    assert.equal((await at(on, { url: target })).status, 400, target)
  assert.deepEqual(asked, [])

  const open = { SVC_DB_IMPORTURL_ENABLED: 'true', SVC_DB_IMPORTURL_ALLOWPRIVATE: 'true' }
  const free = await start(t, { env: open })
  assert.equal((await at(free, url('/pets.json'))).status, 200)
  assert.equal((await at(free, url('/pets.yaml'), 'b')).status, 200)
  assert.equal((await at(free, url('/moved'), 'c')).status, 400)
  assert.equal((await at(free, url('/large'), 'd')).status, 400)
  assert.deepEqual(listedIds(await free.call('GET', '/api/apis', { as: free.admin })).length, 2)
  await free.add('pets', '/pets/')
  const patched = await free.call('PATCH', '/api/apis/oas/pets', { as: free.admin, body: url('/pets.json') })
  assert.equal(patched.status, 200)
})

test('parts that cannot be checked are listed by preview, save and page of the API', async (t) => {
  const { admin, call } = await start(t)
  const parameters = [{ name: 'q', in: 'query', schema: { type: 'string', pattern: '(a)\\1' } }]
  const body = { ...plainOas('Pets'), paths: { '/pets': { get: { parameters, responses: {} } } } }
  const query = 'validateRequest=true&listenPath=/pets/'
  const expected = [
    {
      path: 'paths["/pets"].get.parameters[0].schema.pattern',
      message: 'is not checked (GET /pets): backreferences are not taken at character 5',
    },
  ]
  const tried = await call('POST', `/api/apis/oas/dry-run?report=true&${query}`, { as: admin, body })
  assert.deepEqual(bodyOf(tried).warnings, expected)
  assert.ok(EXTENSION in (bodyOf(tried).document as JsonObject))
  const made = bodyOf(await call('POST', `/api/apis/oas/import?${query}`, { as: admin, body }))
  assert.deepEqual(made.Warnings, expected)
  const warnings = async () => bodyOf(await call('GET', `/api/apis/${made.ID}/warnings`, { as: admin })).warnings
  assert.deepEqual(await warnings(), expected)
  await call('PATCH', `/api/apis/oas/${made.ID}?validateRequest=false`, { as: admin, body })
  assert.deepEqual(await warnings(), [])
})
