import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { openapiRoute } from '../../../src/gateway/admin/openapi-route.ts'
import type { AdminRequest } from '../../../src/gateway/admin/request.ts'
import type { AdminRoute } from '../../../src/gateway/admin/route.ts'
import { ADMIN_OPERATIONS, adminOpenapiOf } from '../../../src/gateway/admin-openapi/admin-openapi.ts'
import { isObject, type JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'

type Operations = Record<string, Record<string, JsonObject>>
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

async function documentOf(gate: TestGateway): Promise<JsonObject> {
  const { status, json } = await gate.svc('GET', '/svc/openapi.json')
  assert.equal(status, 200)
  return json as JsonObject
}

/** The calls of the tables in the sources: method and path. */
const DESCRIBED = Object.entries(ADMIN_OPERATIONS).map(([named, described]) => {
  const [method = '', path = ''] = named.split(' ')
  return { method, path, isAliasOnly: described === 'alias-only' }
})

test('a description that could not be made is made with the next call', async () => {
  const described: AdminRoute = { method: 'GET', path: '/keys', run: () => assert.fail() }
  const tables = [[{ ...described, path: '/nobody/knows' }], [described]]
  const { run } = openapiRoute('1', () => tables.shift()!)
  const ask = async () => run({} as AdminRequest)
  await assert.rejects(ask(), /is not described/)
  const { body } = await ask()
  assert.ok(isObject((JSON.parse(String(body)) as JsonObject).paths))
  assert.equal((await ask()).body, body)
  assert.equal(tables.length, 0)
})

test('the document of the administration calls is served behind the secret, as it is committed', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const committed = new URL('../../../docs/generated/svc-openapi.json', import.meta.url)
  const { info, ...rest } = JSON.parse(readFileSync(committed, 'utf8')) as JsonObject
  const served = await documentOf(gate)
  assert.deepEqual({ ...served, info: undefined }, { ...rest, info: undefined })
  assert.deepEqual({ ...(served.info as JsonObject), version: '' }, { ...(info as JsonObject), version: '' })
  assert.equal((await gate.svc('GET', '/svc/openapi.json', undefined, { 'x-svc-authorization': 'none' })).status, 403)
})

test('every described call is served with its methods, and no other call is', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const paths = (await documentOf(gate)).paths as Operations
  for (const [path, methods] of Object.entries(paths)) {
    const { status, headers } = await gate.svc('OPTIONS', path.replace(/\{[^}]*\}/g, 'x'))
    assert.equal(status, 405, path)
    const served = String(headers.allow).split(', ').sort()
    assert.deepEqual(
      served,
      Object.keys(methods)
        .map((each) => each.toUpperCase())
        .sort(),
      path,
    )
  }
  for (const { method, path, isAliasOnly } of DESCRIBED) {
    assert.ok(METHODS.includes(method), method)
    assert.equal(paths[`/svc${path}`]?.[method.toLowerCase()] === undefined, isAliasOnly, `${method} ${path}`)
    if (isAliasOnly) assert.equal((await gate.svc(method, `/svc${path}`, {})).status, 404, path)
  }
})

test('a call that nothing describes has no document', () => {
  const calls = [...DESCRIBED, { method: 'GET', path: '/new' }] as Parameters<typeof adminOpenapiOf>[0]
  assert.throws(() => adminOpenapiOf(calls, '0'), /GET \/new: is not described/)
})

test('administration calls have unique ids, refusals by name, and named components', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const document = await documentOf(gate)
  const ids: string[] = []
  for (const [path, methods] of Object.entries(document.paths as Operations))
    for (const [method, operation] of Object.entries(methods)) {
      ids.push(String(operation.operationId).toLowerCase())
      const where = `${method} ${path}`
      assert.ok(operation.summary && (operation.tags as string[]).length === 1, where)
      const responses = operation.responses as JsonObject
      const wanted = [
        ...(path.startsWith('/svc/') ? [400, 403] : []),
        ...(path.includes('{') ? [404] : []),
        ...(method === 'get' ? [] : [409, 412]),
      ]
      assert.deepEqual(
        wanted.filter((status) => responses[status] === undefined),
        [],
        where,
      )
      assert.deepEqual(inlineObjects(operation, where), [])
    }
  assert.equal(new Set(ids).size, ids.length)
})

/** Places below a value of objects with members that are written out there. */
function inlineObjects(value: unknown, place: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each, at) => inlineObjects(each, `${place}/${at}`))
  if (!isObject(value)) return []
  const own = value.type === 'object' && value.properties !== undefined ? [place] : []
  return [...own, ...Object.entries(value).flatMap(([name, each]) => inlineObjects(each, `${place}/${name}`))]
}
