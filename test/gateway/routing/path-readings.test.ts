import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

const ON = { enabled: true }
const SLASHES = ['%2f', '%2F', '%5c', '%5C']

/** A gateway with the API `o`, whose operations are named by `METHOD /path`. */
async function open(
  t: TestContext,
  rules: Record<string, JsonObject>,
  more: JsonObject = {},
): Promise<[TestGateway, Origin]> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const paths: Record<string, JsonObject> = {}
  for (const [name, { parameters }] of Object.entries(rules)) {
    const [method, path] = name.split(' ') as [string, string]
    const described = { operationId: name, responses: { 200: { description: 'ok' } } }
    const own = parameters === undefined ? described : { ...described, parameters }
    paths[path] = { ...paths[path], [method.toLowerCase()]: own }
  }
  const operations = Object.fromEntries(Object.entries(rules).map(([name, { parameters, ...rule }]) => [name, rule]))
  const server = { allowEncodedSlashes: true, ...more }
  const made = await gateway.svc(
    'POST',
    '/svc/apis/oas',
    defined({ id: 'o', url: origin.url, server, paths, operations }),
  )
  assert.equal(made.status, 200, made.text)
  return [gateway, origin]
}

const inPath = (name: string, schema: JsonObject) => ({ name, in: 'path', required: true, schema })

test('a check holds for every path that the request may be for its upstream', async (t) => {
  const [gateway, origin] = await open(t, {
    'GET /f/{n}/*': { validateRequest: ON, parameters: [inPath('n', { type: 'string', not: { enum: ['secret'] } })] },
    'GET /t/{a}/{b}': {
      validateRequest: ON,
      parameters: [inPath('a', { type: 'string', maxLength: 5 }), inPath('b', { type: 'string' })],
    },
  })
  const status = async (path: string) => (await gateway.call(`/o${path}`)).status
  assert.deepEqual([await status('/f/secret/x'), await status('/f/open/x')], [422, 200])
  for (const slash of SLASHES) {
    origin.seen.length = 0
    assert.equal(await status(`/f/secret${slash}x/y`), 422, slash)
    assert.equal(await status(`/t/aaaaaaaaa${slash}b`), 422, slash)
    assert.deepEqual(origin.seen, [])
    assert.equal(await status(`/f/open${slash}x/y`), 200, slash)
    assert.equal(await status(`/t${slash}a/b`), 200, slash)
  }
})

test('operations that edit a request differently are not joined: ambiguous ones are refused', async (t) => {
  const edits: Record<string, [JsonObject, JsonObject | undefined]> = {
    removed: [
      { transformRequestHeaders: { ...ON, remove: ['X-Role'] } },
      { transformRequestHeaders: { ...ON, remove: ['X-Other'] } },
    ],
    added: [{ transformRequestHeaders: { ...ON, add: [{ name: 'X-Role', value: 'admin' }] } }, undefined],
    method: [{ transformRequestMethod: { ...ON, toMethod: 'POST' } }, undefined],
    mocked: [{ mockResponse: { ...ON, code: 201 } }, { mockResponse: { ...ON, code: 202 } }],
    moved: [
      { urlRewrite: { ...ON, pattern: '.*', rewriteTo: '/one' } },
      { urlRewrite: { ...ON, pattern: '.*', rewriteTo: '/two' } },
    ],
  }
  const rules = Object.entries(edits).flatMap(([name, [below, above]]) => [
    [`GET /${name}/{x}/y`, below] as const,
    [`GET /${name}/{x}`, above ?? { track: ON }] as const,
  ])
  const [gateway, origin] = await open(t, {
    ...Object.fromEntries(rules),
    'GET /alone/{x}/y': { transformRequestHeaders: { ...ON, remove: ['X-Role'] } },
    'GET /alone/{x}': { track: ON },
  })
  for (const name of Object.keys(edits)) {
    assert.notEqual((await gateway.call(`/o/${name}/1/y`)).status, 400, name)
    assert.notEqual((await gateway.call(`/o/${name}/1`)).status, 400, name)
    origin.seen.length = 0
    for (const slash of SLASHES) {
      const answer = await gateway.call(`/o/${name}/1${slash}y`)
      assert.equal(answer.status, 400, name + slash)
      assert.match(answer.text, /encoded slashes decoded/)
    }
    assert.deepEqual(origin.seen, [])
  }
  for (const slash of SLASHES) {
    assert.equal((await gateway.call(`/o/alone/1${slash}y`, { headers: { 'X-Role': 'admin' } })).status, 200)
    assert.equal(origin.seen.at(-1)!.headers['x-role'], undefined, slash)
  }
})

test('a trigger on parts of the path judges every path that the request may be', async (t) => {
  const trigger = { condition: 'all', rules: [{ in: 'path', name: 'p', pattern: '^admin$' }], rewriteTo: '/denied' }
  const [gateway, origin] = await open(t, {
    'GET /*': { urlRewrite: { ...ON, pattern: '.*', rewriteTo: '$0', triggers: [trigger] } },
  })
  assert.equal((await gateway.call('/o/x/admin')).status, 200)
  assert.equal(origin.seen.at(-1)!.target, '/denied')
  for (const slash of SLASHES) {
    origin.seen.length = 0
    assert.equal((await gateway.call(`/o/x${slash}admin`)).status, 400, slash)
    assert.deepEqual(origin.seen, [])
  }
  assert.equal((await gateway.call('/o/x%2Fy')).status, 200)
  assert.equal(origin.seen.at(-1)!.target, '/x%2Fy')
})

test('no part of a request brings a refused slash into a rewritten path', async (t) => {
  const trigger = {
    condition: 'all',
    rules: [{ in: 'header', name: 'To', pattern: '.+' }],
    rewriteTo: '/h/$svc_context.trigger-0-To-0',
  }
  const [gateway, origin] = await open(
    t,
    { 'GET /q': { urlRewrite: { ...ON, pattern: '^/q\\?to=([^&]*)$', rewriteTo: '/f/$1', triggers: [trigger] } } },
    { allowEncodedSlashes: false },
  )
  for (const to of ['a%2fb', 'a%2F..%2Fb', 'a%5cb']) assert.equal((await gateway.call(`/o/q?to=${to}`)).status, 400, to)
  for (const to of ['a/b', 'a/../b', 'a\\b']) {
    assert.equal((await gateway.call('/o/q?to=x', { headers: { To: to } })).status, 400, to)
  }
  assert.equal(origin.seen.length, 0)
  assert.equal((await gateway.call('/o/q?to=a%20b')).status, 200)
  assert.equal(origin.seen.at(-1)!.target, '/f/a%20b')
})
