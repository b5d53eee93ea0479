import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'

const EXTENSION = 'x-svc-api-gateway'

async function start(t: TestContext): Promise<TestGateway> {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  return gate
}

const OPERATION: JsonObject = {
  responses: { 200: { description: 'ok', content: { 'application/json': { example: 1 } } } },
}
const PLAIN: JsonObject = {
  openapi: '3.2.0',
  info: { title: 'New', version: '1' },
  servers: [{ url: 'http://127.0.0.1:9/' }],
  paths: {
    '/a': { get: OPERATION, put: { ...OPERATION, operationId: 'own' }, query: OPERATION },
    '/b': { additionalOperations: { LINK: OPERATION } },
    '/c#part': { get: OPERATION },
  },
}
const IMPORT = '/svc/apis/oas/import?listenPath=/n/&apiID=n'

test('OpenAPI 3.2 is taken, and operations that nothing applies to are listed', async (t) => {
  const gate = await start(t)
  const made = (await gate.svc('POST', IMPORT, PLAIN)).json as { warnings: JsonObject[] }
  assert.deepEqual(
    made.warnings.map(({ path }) => path),
    ['paths["/c#part"]', 'paths["/a"].query', 'paths["/b"].additionalOperations'],
  )
})

test('the public export equals the imported document, also where an import named operations', async (t) => {
  const gate = await start(t)
  await gate.svc('POST', `${IMPORT}&mockResponse=true&allowList=true`, PLAIN)
  const stored = (await gate.svc('GET', '/svc/apis/oas/n')).json as JsonObject
  assert.equal(
    Object.keys((stored[EXTENSION] as { middleware: { operations: object } }).middleware.operations).length,
    2,
  )
  assert.deepEqual((await gate.svc('GET', '/svc/apis/oas/n/export?mode=public')).json, PLAIN)
  assert.equal((await gate.call('/n/a')).text, '1')
  // A newer document without the names keeps the settings of the operations, and gets no names either.
  const newer = { ...PLAIN, info: { title: 'Newer', version: '2' } }
  assert.equal((await gate.svc('PATCH', '/svc/apis/oas/n', newer)).status, 200)
  assert.deepEqual((await gate.svc('GET', '/svc/apis/oas/n/export?mode=public')).json, newer)
  assert.equal((await gate.call('/n/a')).text, '1')
})

test('Swagger 2.0 and values without quotes are refused by their name', async (t) => {
  const gate = await start(t)
  const swagger = await gate.svc('POST', IMPORT, { swagger: '2.0', info: PLAIN.info!, paths: {} })
  assert.equal(swagger.status, 400)
  assert.match(swagger.text, /swagger: is Swagger 2\.0: convert it to OpenAPI 3 first/)
  const yaml =
    'openapi: 3.0.3\ninfo:\n  title: yes\n  version: 1.0\nservers: [{ url: "http://127.0.0.1:9/" }]\npaths: {}\n'
  const headers = { 'content-type': 'application/yaml', 'x-svc-authorization': 'secret-of-the-test-gateway' }
  const answer = await gate.call(IMPORT, { method: 'POST', headers, body: yaml })
  assert.match(answer.text, /info\.version: must be a text, not 1: put it in quotes/)
  assert.doesNotMatch(answer.text, /info\.title/)
})

test('security of operations that the gateway does not follow is listed', async (t) => {
  const gate = await start(t)
  const document: JsonObject = {
    ...PLAIN,
    openapi: '3.0.3',
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-Key' },
        other: { type: 'apiKey', in: 'header', name: 'X-Other' },
      },
    },
    security: [{ key: [] }],
    paths: {
      '/open': { get: { ...OPERATION, security: [] } },
      '/either': { get: { ...OPERATION, security: [{}, { key: [] }] } },
      '/other': { get: { ...OPERATION, security: [{ other: [] }] } },
      '/same': { get: { ...OPERATION, security: [{ key: [] }] } },
    },
  }
  const made = (await gate.svc('POST', `${IMPORT}&authentication=true`, document)).json as { warnings: JsonObject[] }
  const open = 'lets everybody in, but a credential is asked for: "ignoreAuthentication" opens an operation'
  assert.deepEqual(made.warnings, [
    { path: 'paths["/open"].get.security', message: open },
    { path: 'paths["/either"].get.security', message: open },
    {
      path: 'paths["/other"].get.security',
      message: 'names no scheme that is enabled: the enabled ones are asked for in its place',
    },
  ])
  for (const path of ['open', 'either', 'other', 'same'])
    assert.equal((await gate.call(`/n/${path}`)).status, 401, path)
})
