import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

async function start(t: TestContext, env: Record<string, string> = {}): Promise<TestGateway> {
  const gate = await startTestGateway({ env })
  t.after(() => gate.close())
  return gate
}

const EXTENSION = 'x-svc-api-gateway'
const seen = (answer: { json: unknown }) => answer.json as JsonObject
const extension = (answer: { json: unknown }) => seen(answer)[EXTENSION] as JsonObject

const PLAIN: JsonObject = {
  openapi: '3.0.3',
  info: { title: 'Imported', version: '1' },
  servers: [{ url: 'https://up.example/base' }],
  paths: { '/pets': { get: { operationId: 'pets', responses: { 200: { description: 'ok' } } } } },
}

test('an OpenAPI document comes back as it was sent, with the ids filled in', async (t) => {
  const gate = await start(t)
  const document: JsonObject = { ...oasApi('O', '/o/'), 'x-other': { kept: true }, paths: PLAIN.paths! }
  const made = seen(await gate.svc('POST', '/svc/apis/oas', document))
  const read = await gate.svc('GET', `/svc/apis/oas/${made.key}`)
  const { info, ...rest } = extension(read)
  const { info: sentInfo, ...sent } = document[EXTENSION] as JsonObject
  assert.deepEqual(rest, sent)
  const { id, dbId, orgId, ...named } = info as JsonObject
  assert.deepEqual(named, sentInfo)
  assert.deepEqual([id, orgId], [made.key, ''])
  assert.match(String(dbId), /^[0-9a-f]{24}$/)
  assert.deepEqual([seen(read).paths, seen(read)['x-other']], [document.paths, { kept: true }])
  const again = await gate.svc('PUT', `/svc/apis/oas/${made.key}`, seen(read))
  assert.deepEqual(seen(again), { key: made.key, status: 'ok', action: 'modified' })
  assert.deepEqual((await gate.svc('GET', `/svc/apis/oas/${made.key}`)).json, read.json)
})

test('mode=public leaves the extension out; export is a file', async (t) => {
  const gate = await start(t)
  await gate.svc('POST', '/svc/apis/oas', oasApi('O', '/o/', { id: 'o' }))
  assert.equal(EXTENSION in seen(await gate.svc('GET', '/svc/apis/oas/o?mode=public')), false)
  assert.equal((await gate.svc('GET', '/svc/apis/oas/o?mode=private')).status, 400)
  const one = await gate.svc('GET', '/svc/apis/oas/o/export')
  assert.equal(one.headers['content-disposition'], 'attachment; filename="o.json"')
  assert.ok(EXTENSION in seen(one))
  const all = await gate.svc('GET', '/svc/apis/oas/export?mode=public')
  assert.match(String(all.headers['content-disposition']), /^attachment/)
  assert.deepEqual(
    (all.json as JsonObject[]).map((document) => EXTENSION in document),
    [false],
  )
})

test('with a public address, documents name it first among their servers', async (t) => {
  const gate = await start(t, { SVC_GW_PUBLICURL: 'https://api.example.org/edge/' })
  await gate.svc('POST', '/svc/apis/oas', {
    ...oasApi('O', '/o/', { id: 'o' }),
    servers: [{ url: 'https://up.example' }],
  })
  const { servers } = seen(await gate.svc('GET', '/svc/apis/oas/o'))
  assert.deepEqual(servers, [{ url: 'https://api.example.org/edge/o/' }, { url: 'https://up.example' }])
})

test('import makes an API of a plain document, by the query', async (t) => {
  const gate = await start(t)
  const made = await gate.svc('POST', '/svc/apis/oas/import?listenPath=/pets/&apiID=pets&allowList=true', PLAIN)
  assert.deepEqual(seen(made), { key: 'pets', status: 'ok', action: 'added' })
  const stored = extension(await gate.svc('GET', '/svc/apis/oas/pets'))
  assert.deepEqual(stored.upstream, { url: 'https://up.example/base' })
  assert.deepEqual((stored.server as JsonObject).listenPath, { value: '/pets/', strip: true })
  assert.equal((await gate.call('/pets/other')).status, 403)
  for (const [query, body, reason] of [
    ['', { ...PLAIN, [EXTENSION]: {} }, /must not be in the document/],
    ['', { ...PLAIN, servers: [] }, /servers/],
    ['', { ...PLAIN, servers: [{ url: '/relative' }] }, /absolute/],
    ['?upstreamURL=nonsense', PLAIN, /upstream/],
    ['?validateRequest=perhaps', PLAIN, /true or false/],
    ['?mockResponse=perhaps', PLAIN, /true or false/],
    ['?allowList=perhaps', PLAIN, /true or false/],
    ['?authentication=true', PLAIN, /security/],
    ['', { openapi: '2.0' }, /openapi/],
  ] as const) {
    const refused = await gate.svc('POST', `/svc/apis/oas/import${query}`, body)
    assert.equal(refused.status, 400, `${query} ${refused.text}`)
    assert.match(String(seen(refused).message), reason)
  }
})

test('PATCH puts a new document around the extension that is there', async (t) => {
  const gate = await start(t)
  await gate.svc('POST', '/svc/apis/oas', { ...oasApi('O', '/o/', { id: 'o' }), paths: PLAIN.paths! })
  const changed = await gate.svc('PATCH', '/svc/apis/oas/o?upstreamURL=http://127.0.0.1:9/new', {
    ...PLAIN,
    info: { title: 'New', version: '2' },
  })
  assert.deepEqual(seen(changed), { key: 'o', status: 'ok', action: 'modified' })
  const after = await gate.svc('GET', '/svc/apis/oas/o')
  assert.deepEqual(seen(after).info, { title: 'New', version: '2' })
  assert.deepEqual(extension(after).upstream, { url: 'http://127.0.0.1:9/new' })
  assert.equal((await gate.svc('PATCH', '/svc/apis/oas/o', { ...PLAIN, [EXTENSION]: {} })).status, 400)
})

test('YAML is taken when the Content-Type says so', async (t) => {
  const gate = await start(t)
  const yaml = `openapi: 3.0.3
info: { title: Y, version: "1" }
servers:
  - &up { url: "https://up.example" }
paths:
  /a: { get: { operationId: a, responses: { 200: { description: ok } } } }
x-again: *up
`
  for (const type of [
    'application/yaml',
    'text/yaml; charset=utf-8',
    'application/x-yaml',
    'application/vnd.oai.openapi+yaml',
  ]) {
    const path = `/svc/apis/oas/import?listenPath=/${type.replace(/\W/g, '')}/`
    assert.equal((await gate.svc('POST', path, yaml, { 'content-type': type })).status, 200, type)
  }
  assert.equal(
    (await gate.svc('POST', '/svc/apis/oas/import', yaml, { 'content-type': 'application/json' })).status,
    400,
  )
  const [document] = (await gate.svc('GET', '/svc/apis/oas')).json as JsonObject[]
  assert.deepEqual(document?.['x-again'], { url: 'https://up.example' })
})

for (const [what, text] of [
  [
    'aliases that blow up',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`)}]`).join('\n')}`,
  ],
  ['a member called __proto__', '__proto__: { polluted: true }'],
  ['nesting without end', `a: ${'['.repeat(20_000)}`],
  ['what is no YAML', 'a: [1, 2'],
  ['a list', '- a\n- b'],
  ['a number that JSON lacks', 'openapi: .inf'],
] as const) {
  test(`YAML is refused for ${what}`, async (t) => {
    const gate = await start(t)
    const refused = await gate.svc('POST', '/svc/apis/oas/import', text, { 'content-type': 'application/yaml' })
    assert.equal(refused.status, 400, refused.text)
    assert.equal(({} as JsonObject).polluted, undefined)
  })
}
