import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../src/errors/fault.ts'
import { jsonFlaw } from '../../../src/gateway/server/json-flaw.ts'
import { preferredType } from '../../../src/gateway/server/preferred-type.ts'
import { toClassic, toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { compileExpression } from '../../../src/model/patterns/pattern.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'

interface Flaw {
  readonly at: string
  readonly reason: string
}

const JSON_TYPE = { 'content-type': 'application/json' }

async function open(t: TestContext, ...apis: ((url: string) => JsonObject)[]): Promise<[TestGateway, Origin]> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  for (const api of apis) {
    const definition = api(origin.url)
    const made = await gateway.svc('POST', 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis', definition)
    assert.equal(made.status, 200, made.text)
  }
  return [gateway, origin]
}

/** An API whose only operation checks bodies by this schema. */
const checking = (schema: JsonObject) => (url: string) =>
  defined({
    id: 'v',
    url,
    paths: { '/a': { post: { operationId: 'a', requestBody: { content: { 'application/json': { schema } } } } } },
    operations: { a: { validateRequest: { enabled: true } } },
  })

test('hostile bodies are refused within bounds, and the upstream sees none of them', async (t) => {
  const items = { type: 'array', items: { type: 'string' } }
  const [gateway, origin] = await open(t, checking({ type: ['object', 'array'], properties: { items }, items: {} }))
  const send = (body: string, headers: Record<string, string> = {}) =>
    gateway.call('/v/a', { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body })
  const flaws = async (body: string) => {
    const answer = await send(body)
    assert.equal(answer.status, 422, answer.text.slice(0, 200))
    return (answer.json as { faults: Flaw[] }).faults
  }
  assert.deepEqual(await flaws(`${'['.repeat(65)}${']'.repeat(65)}`), [
    { at: 'body', reason: 'is nested deeper than 64 levels' },
  ])
  assert.deepEqual(await flaws('['.repeat(400_000)), [{ at: 'body', reason: 'is nested deeper than 64 levels' }])
  assert.deepEqual(await flaws('[1]\u0000'), [{ at: 'body', reason: 'must be JSON in UTF-8' }])
  assert.deepEqual(await flaws('{"__proto__":1,"__proto__":1}'), [{ at: 'body', reason: 'names a member twice' }])
  const many = JSON.stringify({ items: Array(1000).fill(1) })
  const told = await flaws(many)
  assert.equal(told.length, 20)
  assert.deepEqual(told[19], { at: 'body/items/19', reason: 'must be string' })
  // So many that all of them are not even looked for.
  assert.equal((await flaws(JSON.stringify({ items: Array(50_000).fill(1) }))).length, 1)
  assert.equal((await send(JSON.stringify({ items: ['x'.repeat(1_048_576)] }))).status, 413)
  assert.equal(origin.seen.length, 0)
  const chunked = await send('{"items":["x"]}', { 'transfer-encoding': 'chunked' })
  assert.equal(chunked.status, 200)
  assert.equal(origin.seen[0]!.body, '{"items":["x"]}')
})

test('a pattern of a schema takes no more than linear time on any text', async (t) => {
  const [gateway] = await open(t, checking({ type: 'string', pattern: '^((a+)+)+$' }))
  const body = JSON.stringify(`${'a'.repeat(200_000)}b`)
  assert.equal((await gateway.call('/v/a', { method: 'POST', headers: JSON_TYPE, body })).status, 422)
})

test('what is published in one format is served the same in the other', async (t) => {
  const paths = {
    '/pets': {
      post: {
        operationId: 'make',
        requestBody: { content: { 'application/json': { schema: { type: 'object', required: ['name'] } } } },
        responses: { 201: { description: 'made', content: { 'application/json': { example: { id: 1 } } } } },
      },
      get: { operationId: 'list', responses: { 200: { description: 'all' } } },
    },
  }
  const operations = {
    make: {
      validateRequest: { enabled: true, errorResponseCode: 400 },
      mockResponse: { enabled: true, fromOASExamples: { enabled: true } },
    },
    list: { urlRewrite: { enabled: true, pattern: '^/pets', rewriteTo: '/animals' } },
  }
  const [gateway, origin] = await open(t, (url) => defined({ id: 'p', url, paths, operations }))
  const served = async (path: string) => {
    const headers = JSON_TYPE
    assert.equal((await gateway.call(path, { method: 'POST', headers, body: '{}' })).status, 400)
    const made = await gateway.call(path, { method: 'POST', headers, body: '{"name":"Tom"}' })
    assert.deepEqual([made.status, made.json], [201, { id: 1 }])
    await gateway.call(path)
    assert.equal(origin.seen.at(-1)!.target, '/animals')
  }
  await served('/p/pets')
  const stored = (await gateway.svc('GET', '/svc/apis/oas/p')).json as JsonObject
  const there = toClassic(stored)
  assert.deepEqual(there.lost, [])
  assert.equal((await gateway.svc('DELETE', '/svc/apis/oas/p')).status, 200)
  const { id: _id, ...definition } = there.definition
  assert.equal((await gateway.svc('POST', '/svc/apis', definition)).status, 200)
  await served('/p/pets')
  assert.deepEqual(toOas(there.definition).document, stored)
})

test('explain tells what each step would do, without a request', async (t) => {
  const inside = (url: string) => defined({ id: 'inside', url, info: { state: { active: true, internal: true } } })
  const rewrite = (rewriteTo: string) => ({ urlRewrite: { enabled: true, pattern: '^/(\\w+)$', rewriteTo } })
  const outside = (url: string) =>
    defined({
      id: 'outside',
      url,
      paths: Object.fromEntries(
        ['mock', 'check', 'move', 'lead', 'post'].map((id) => [
          `/${id}`,
          { get: { operationId: id, parameters: [{ name: 'q', in: 'query', required: id === 'check' }] } },
        ]),
      ),
      operations: {
        mock: { mockResponse: { enabled: true, code: 203 } },
        check: { validateRequest: { enabled: true, errorResponseCode: 418 } },
        move: rewrite('/to/$1?x=1'),
        lead: rewrite('svc://inside/$1'),
        post: { transformRequestMethod: { enabled: true, toMethod: 'PUT' } },
      },
    })
  const [gateway, origin] = await open(t, inside, outside)
  const explain = async (url: string) => {
    const answer = await gateway.svc('POST', '/svc/explain', { method: 'GET', url, headers: {} })
    assert.equal(answer.status, 200, answer.text)
    return answer.json as { steps: Record<string, unknown>[]; result: Record<string, unknown> }
  }
  const mock = await explain('/outside/mock')
  assert.deepEqual(mock.steps.at(-1), { step: 'answerMock', outcome: 'answered', status: 203 })
  const check = await explain('/outside/check')
  assert.deepEqual(check.steps.at(-1), {
    step: 'validateRequest',
    outcome: 'refused',
    reason: 'query q is missing',
    code: 'request_invalid',
  })
  assert.equal(check.result.status, 418)
  const move = await explain('/outside/move')
  assert.ok(move.steps.some(({ step, detail }) => step === 'rewriteUrl' && detail === 'to /to/move?x=1'))
  assert.equal(move.result.path, '/to/move')
  const post = await explain('/outside/post')
  assert.ok(post.steps.some(({ step, detail }) => step === 'changeMethod' && detail === 'to PUT'))
  assert.equal(post.result.method, 'PUT')
  const lead = await explain('/outside/lead')
  assert.deepEqual(
    lead.steps.filter(({ outcome }) => outcome !== 'passed'),
    [
      { step: 'rewriteUrl', outcome: 'led on', detail: 'API inside, /lead' },
      { step: 'forward', outcome: 'forwarded' },
    ],
  )
  assert.equal(origin.seen.length, 0)
})

test('an API without any of this takes the steps that it took before', async (t) => {
  const [gateway] = await open(t, (url) => classic('plain', '/plain/', url))
  const answer = await gateway.svc('POST', '/svc/explain', { method: 'GET', url: '/plain/', headers: {} })
  const { steps } = answer.json as { steps: { step: string }[] }
  assert.deepEqual(
    steps.map(({ step }) => step),
    ['takePermits', 'forward'],
  )
})

test('a JSON text is flawed when, and only when, it names a member twice or nests too deep', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 0, max: 2 }), (value, indent) => {
      assert.equal(jsonFlaw(JSON.stringify(value, null, indent)), undefined)
    }),
  )
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), (name, a, b) => {
      const spelled = JSON.stringify(name)
      const escaped = `"${[...spelled.slice(1, -1)].join('')}"`
      const other =
        name === ''
          ? '""'
          : `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${JSON.stringify(name.slice(1)).slice(1)}`
      for (const twice of [spelled, escaped, other]) {
        const text = `[{${spelled}: ${JSON.stringify(a)} , ${twice}:${JSON.stringify(b)}}]`
        assert.equal(jsonFlaw(text), 'names a member twice', text)
      }
    }),
  )
})

test('the chosen type is one that the Accept field takes, and the best of them', () => {
  const types = ['application/json', 'application/xml', 'text/plain']
  const range = fc.tuple(
    fc.constantFrom(...types, 'application/*', 'text/*', '*/*', 'image/png'),
    fc.constantFrom('', ';q=0', ';q=0.5', ';q=1', ';level=1;q=0.2'),
  )
  const quality = (accept: string, type: string) => (preferredType(accept, [type]) === undefined ? 0 : 1)
  fc.assert(
    fc.property(fc.array(range, { minLength: 1, maxLength: 6 }), (ranges) => {
      const accept = ranges.map((parts) => parts.join('')).join(', ')
      const taken = types.filter((type) => quality(accept, type) > 0)
      const found = preferredType(accept, types)
      assert.equal(found === undefined, taken.length === 0, accept)
      if (found !== undefined) assert.ok(taken.includes(found), accept)
    }),
  )
  assert.equal(preferredType('application/xml;q=0.5, application/json;q=0.4', types), 'application/xml')
  assert.equal(preferredType('*/*, application/json;q=0.1', types), 'application/xml')
})

test('an expression finds what the same expression of the language finds, groups and all', () => {
  const part = fc.constantFrom(
    'a',
    'b',
    '(a)',
    '(b|a)',
    '(?:ab)',
    '[ab]',
    '.',
    'a*?',
    '(a*)',
    'a{1,2}',
    '(b){0,2}',
    'b+?',
    '\\w',
  )
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 6 }),
      fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }),
      (parts, letters) => {
        const source = parts.join('')
        const text = letters.join('')
        assert.deepEqual([...(compileExpression(source).exec(text) ?? [])], [...(new RegExp(source).exec(text) ?? [])])
      },
    ),
  )
  for (const refused of ['(a)\\1', '(?=a)', '(?<!a)b', '(a){99}', 'a'.repeat(1001), '(a', '[a'])
    assert.throws(
      () => compileExpression(refused),
      (error) => error instanceof Fault && error.code === 'pattern_invalid',
    )
})

test('no definition turns a request into a method that no upstream is asked with', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const paths = { '/x': { get: { operationId: 'x', responses: { '200': { description: 'x' } } } } }
  for (const [toMethod, status] of [
    ['PURGE', 200],
    ...['', 'A B', 'CONNECT', 'connect', 'TRACE', 'PRI', 'pri'].map((method) => [method, 400] as const),
  ] as const) {
    const operations = { x: { transformRequestMethod: { enabled: true, toMethod } } }
    const made = await gate.svc(
      'POST',
      '/svc/apis/oas',
      defined({ id: `to-${status}`, url: 'http://127.0.0.1:1/', paths, operations }),
    )
    assert.equal(made.status, status, `${toMethod} ${made.text}`)
  }
})
