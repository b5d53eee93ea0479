import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const ALIAS = 'acme'

interface Described {
  readonly parameters?: readonly JsonObject[]
  readonly schema?: Json
  readonly schemas?: JsonObject
  readonly type?: string
}

/** A gateway with one operation, whose description each publication replaces. */
async function open(t: TestContext) {
  const origin = await startOrigin()
  const gateway = await startTestGateway({ env: { SVC_COMPAT_VENDORALIASES: ALIAS } })
  t.after(() => Promise.all([origin.close(), gateway.close()]))
  let count = 0
  /** Answers what sends a request to the operation. */
  const publish = async (described: Described, rule: JsonObject = { fillDefaults: true }, word = 'svc') => {
    const { parameters = [], schema, schemas = {}, type = 'application/json' } = described
    const id = `d${count++}`
    const made = await gateway.svc('POST', `/${word}/apis/oas`, {
      openapi: '3.0.3',
      info: { title: 'd', version: '1' },
      components: { schemas },
      paths: {
        '/a': {
          post: {
            operationId: 'a',
            parameters: [...parameters],
            ...(schema !== undefined && { requestBody: { content: { [type]: { schema } } } }),
            responses: { 200: { description: 'ok' } },
          },
        },
      },
      [`x-${word}-api-gateway`]: {
        info: { id, name: id, state: { active: true } },
        upstream: { url: origin.url },
        server: { listenPath: { value: `/${id}/`, strip: true } },
        middleware: { operations: { a: { validateRequest: { enabled: true, ...rule } } } },
      },
    })
    assert.equal(made.status, 200, made.text)
    const call = async (query = '', body = '', headers: Record<string, string> = {}) => {
      const before = origin.seen.length
      const answer = await gateway.call(`/${id}/a${query}`, {
        method: 'POST',
        headers: { ...(body !== '' && { 'content-type': type }), ...headers },
        ...(body !== '' && { body }),
      })
      return { ...answer, upstream: origin.seen[before] }
    }
    return { call, text: made.text }
  }
  return { publish }
}

const query = (name: string, value: Json, more: JsonObject = {}) => ({
  ...{ name, in: 'query', ...more },
  schema: { type: typeOf(value), default: value },
})
const typeOf = (value: Json) => (Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value)

test('parameters that are left out go on with their defaults, in their styles', async (t) => {
  const { publish } = await open(t)
  const list = ['a b', 'c,d'] as Json
  const pairs = { k: 1, l: 'é' } as Json
  const cases: readonly (readonly [parameter: JsonObject, sent: string, expected: string])[] = [
    [query('n', 5), '', '?n=5'],
    [query('n', 5), '?', '?n=5'],
    [query('n', 5), '?z=%7B', '?z=%7B&n=5'],
    [query('n', 5), '?n=3', '?n=3'],
    [query('n', 5), '?N=3', '?N=3&n=5'],
    [query('b', false), '', '?b=false'],
    [query('f', 1.5), '', '?f=1.5'],
    [query('s', "a b&c='é"), '', '?s=a+b%26c%3D%27%C3%A9'],
    [query('s', ''), '', '?s='],
    [query('l', list), '', '?l=a+b&l=c%2Cd'],
    [query('l', list, { explode: false }), '', '?l=a+b,c%2Cd'],
    [query('l', list, { explode: false, style: 'spaceDelimited' }), '', '?l=a+b+c%2Cd'],
    [query('l', list, { explode: false, style: 'pipeDelimited' }), '', '?l=a+b%7Cc%2Cd'],
    [query('l', list), '?l=x', '?l=x'],
    [query('o', pairs), '', '?k=1&l=%C3%A9'],
    [query('o', pairs, { explode: false }), '', '?o=k,1,l,%C3%A9'],
    [query('o', pairs, { style: 'deepObject' }), '', '?o%5Bk%5D=1&o%5Bl%5D=%C3%A9'],
    [query('l', []), '', ''],
    [
      { name: 'j', in: 'query', content: { 'application/json': { schema: { default: { a: [1] } } } } },
      '',
      '?j=%7B%22a%22%3A%5B1%5D%7D',
    ],
    [{ name: 'n', in: 'query', schema: { allOf: [{ type: 'integer' }, { default: 4 }] } }, '', '?n=4'],
    [{ name: 'n', in: 'query', schema: { $ref: '#/components/schemas/N' } }, '', '?n=9'],
  ]
  for (const [parameter, sent, expected] of cases) {
    const { call } = await publish({ parameters: [parameter], schemas: { N: { type: 'integer', default: 9 } } })
    const { status, text, upstream } = await call(sent)
    assert.equal(status, 200, `${JSON.stringify(parameter)} ${text}`)
    assert.equal(upstream!.target, `/a${expected}`, JSON.stringify(parameter))
  }
})

test('header fields and cookies that are left out go on with their defaults', async (t) => {
  const { publish } = await open(t)
  const parameters = [
    { name: 'X-Limit', in: 'header', schema: { type: 'integer', default: 5 } },
    { name: 'X-List', in: 'header', schema: { type: 'array', items: { type: 'string' }, default: ['a', 'b'] } },
    { name: 'theme', in: 'cookie', schema: { type: 'string', default: 'dark' } },
  ]
  const { call } = await publish({ parameters })
  const bare = (await call()).upstream!.headers
  assert.deepEqual([bare['x-limit'], bare['x-list'], bare.cookie], ['5', 'a,b', 'theme=dark'])
  const given = (await call('', '', { 'X-Limit': '6', 'X-List': 'c', Cookie: 'a=1; theme=light' })).upstream!.headers
  assert.deepEqual([given['x-limit'], given['x-list'], given.cookie], ['6', 'c', 'a=1; theme=light'])
  assert.equal((await call('', '', { Cookie: 'a=1' })).upstream!.headers.cookie, 'a=1; theme=dark')
})

test('a default that cannot be sent or does not fit is told or refused', async (t) => {
  const { publish } = await open(t)
  const told = /has a default that is not filled in/
  const header = (name: string, value: Json) => ({ name, in: 'header', schema: { default: value } })
  for (const parameter of [
    header('Content-Length', '7'),
    header('Transfer_Encoding', 'chunked'),
    header('Host', 'other.example'),
    header('X-A', 'a\r\nX-B: c'),
    header('X-A', '→'),
    { name: 'c', in: 'cookie', schema: { default: 'a; b=c' } },
    { name: 'o', in: 'query', schema: { type: 'array', items: {}, default: [[1]] } },
  ]) {
    const { call, text } = await publish({ parameters: [parameter] })
    assert.match(text, told, JSON.stringify(parameter))
    const { status, upstream } = await call()
    assert.equal(status, 200)
    assert.deepEqual(
      [upstream!.target, upstream!.headers['x-b'], upstream!.headers.cookie],
      ['/a', undefined, undefined],
    )
    assert.notEqual(upstream!.headers.host, 'other.example')
  }
  const wrong = await publish({ parameters: [{ ...query('n', 'x'), schema: { type: 'integer', default: 'x' } }] })
  assert.equal((await wrong.call()).status, 422)
  const required = await publish({ parameters: [{ ...query('n', 5), required: true }] })
  assert.equal((await required.call()).status, 422)
  const form = await publish({
    schema: { properties: { a: { default: 1 } } },
    type: 'application/x-www-form-urlencoded',
  })
  assert.match(form.text, told)
  assert.equal((await form.call('', 'b=2')).upstream!.body, 'b=2')
})

const NODE = {
  type: 'object',
  properties: { left: { $ref: '#/components/schemas/Node' }, v: { type: 'integer', default: 1 } },
}
const CAT = {
  type: 'object',
  required: ['kind', 'lives'],
  properties: { kind: { enum: ['cat'] }, lives: { default: 9 } },
}
const DOG = { type: 'object', required: ['kind'], properties: { kind: { enum: ['dog'] }, good: { default: true } } }
const object = (properties: JsonObject, more: JsonObject = {}) => ({ type: 'object', properties, ...more })

const BODIES: readonly (readonly [schema: Json, sent: string, expected: string])[] = [
  [object({ d: { type: 'integer', default: 7 } }), '{}', '{"d":7}'],
  [object({ d: { default: 7 } }), ' {"a" : 1.0, "n":12345678901234567890}', '{"a":1.0,"n":12345678901234567890,"d":7}'],
  [
    object({ d: { default: 7.5 } }),
    '{"a":"1.0 \\"2.0\\\\","1.0":[-0,1e+05,"\\u0031.0"]}',
    '{"a":"1.0 \\"2.0\\\\","1.0":[-0,1e+05,"1.0"],"d":7.5}',
  ],
  [object({ d: { default: 7 } }), '{"d": 0 }', '{"d": 0 }'],
  [object({ d: { default: 7 } }), '{"d":null}', '{"d":7}'],
  [object({ d: { default: false } }, { required: ['d'] }), '{}', '{"d":false}'],
  [object({ d: { default: 7, readOnly: true } }), '{}', '{}'],
  [object({ o: object({ d: { default: 1 } }) }), '{}', '{}'],
  [object({ o: object({ d: { default: 1 } }) }), '{"o":{"__proto__":{"a":1}}}', '{"o":{"__proto__":{"a":1},"d":1}}'],
  [object({ o: { ...object({ d: { default: 1 } }), default: {} } }), '{}', '{"o":{"d":1}}'],
  [
    { type: 'array', items: object({ d: { default: 'é' } }) },
    '[{},{"d":"x"},{"e":1e2}]',
    '[{"d":"é"},{"d":"x"},{"e":1e2,"d":"é"}]',
  ],
  [object({ toString: { default: 1 } }), '{}', '{"toString":1}'],
  [
    { allOf: [object({ a: { default: 1 } }), { $ref: '#/components/schemas/Cat' }] },
    '{"kind":"cat"}',
    '{"kind":"cat","a":1,"lives":9}',
  ],
  [
    { oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }] },
    '{"kind":"dog"}',
    '{"kind":"dog","good":true}',
  ],
  [
    { anyOf: [{ $ref: '#/components/schemas/Dog' }, { $ref: '#/components/schemas/Cat' }] },
    '{"kind":"cat"}',
    '{"kind":"cat","lives":9}',
  ],
  [
    object({}, { additionalProperties: object({ d: { default: 1 } }) }),
    '{"x":{},"y":{"d":2}}',
    '{"x":{"d":1},"y":{"d":2}}',
  ],
  [{ $ref: '#/components/schemas/Node' }, '{"left":{"left":{}}}', '{"left":{"left":{"v":1},"v":1},"v":1}'],
  [{ $ref: '#/components/schemas/Circle' }, '{}', '{"c":1}'],
]
const SCHEMAS = {
  Node: NODE,
  Cat: CAT,
  Dog: DOG,
  Circle: { allOf: [{ $ref: '#/components/schemas/Circle' }, object({ c: { default: 1 } })] },
}

test('members that a JSON body leaves out go on with their defaults, the rest as it was sent', async (t) => {
  const { publish } = await open(t)
  for (const [schema, sent, expected] of BODIES) {
    const { call } = await publish({ schema, schemas: SCHEMAS })
    const { status, text, upstream } = await call('', sent, { 'Content-Digest': 'sha-256=:AA==:' })
    assert.equal(status, 200, `${JSON.stringify(schema)} ${text}`)
    assert.equal(Buffer.from(upstream!.body, 'latin1').toString(), expected, JSON.stringify(schema))
    assert.equal(upstream!.headers['content-length'], String(Buffer.byteLength(expected)))
    assert.equal(upstream!.headers['content-digest'] === undefined, sent !== expected)
  }
  const { call } = await publish({ schema: object({ d: { default: 'x', type: 'integer' } }) })
  assert.equal((await call('', '{}')).status, 422)
  assert.equal((await call()).upstream!.body, '')
})

test('alternatives behind alternatives are tried within the budget of the request', async (t) => {
  const { publish } = await open(t)
  const levels = Array.from({ length: 40 }, (_, level) => {
    const next = { $ref: `#/components/schemas/L${level + 1}` }
    return [`L${level}`, { anyOf: [{ allOf: [next], required: ['x'] }, next] }] as [string, Json]
  })
  const schemas = Object.fromEntries<Json>([...levels, ['L40', object({ d: { default: 1 } }, { required: ['y'] })]])
  const { call } = await publish({ schema: { $ref: '#/components/schemas/L0' }, schemas })
  assert.equal((await call('', '{}')).status, 503)
})

test('a short body that asks for a long default many times is refused', async (t) => {
  const { publish } = await open(t)
  const long = 'x'.repeat(1000)
  const lists: readonly Json[] = [
    { type: 'array', items: object({ d: { default: long } }) },
    { type: 'array', items: object({ d: { default: {}, properties: { e: { default: [long] } } } }) },
    { type: 'array', items: object({ [long]: { default: 1 } }) },
  ]
  for (const schema of lists) {
    const { call } = await publish({ schema })
    const of = async (count: number) => (await call('', JSON.stringify(Array(count).fill({})))).status
    assert.deepEqual([await of(100), await of(10_000)], [200, 503])
  }
})

test('defaults are filled in where the operation, or the origin of its definition, says so', async (t) => {
  const { publish } = await open(t)
  const described = { parameters: [query('n', 5)], schema: object({ d: { default: 7 } }) }
  for (const [rule, word, fills] of [
    [{}, 'svc', false],
    [{ fillDefaults: false }, 'svc', false],
    [{ fillDefaults: true }, 'svc', true],
    [{}, ALIAS, true],
    [{ fillDefaults: null }, ALIAS, true],
    [{ fillDefaults: false }, ALIAS, false],
  ] as const) {
    const { call } = await publish(described, rule, word)
    const { upstream } = await call('', '{ }')
    assert.deepEqual(
      [upstream!.target, upstream!.body],
      fills ? ['/a?n=5', '{"d":7}'] : ['/a', '{ }'],
      `${word} ${JSON.stringify(rule)}`,
    )
  }
})

test('bodies are filled in as another engine fills them in', async (t) => {
  const { publish } = await open(t)
  const names = fc.constantFrom('a', 'b', 'c', 'd/e')
  const leaf = fc.constantFrom<JsonObject>(
    ...[0, false, '', 'x', [], [{}], {}, { a: {} }].map((each) => ({ default: each })),
  )
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => {
    const properties = fc.dictionary(names, tie('schema'), { minKeys: 1, maxKeys: 3 }) as fc.Arbitrary<JsonObject>
    return {
      schema: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        { arbitrary: leaf, weight: 1 },
        { arbitrary: properties.map((each) => ({ properties: each })), weight: 3 },
        { arbitrary: properties.map((each) => ({ properties: each, default: {} })), weight: 1 },
        { arbitrary: tie('schema').map((items) => ({ items })), weight: 1 },
        { arbitrary: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })), weight: 1 },
        { arbitrary: tie('schema').map((each) => ({ properties: { a: {} }, additionalProperties: each })), weight: 1 },
      ),
    }
  })
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      { arbitrary: fc.constantFrom<Json>(1, 'y', true), weight: 1 },
      { arbitrary: fc.dictionary(names, tie('value'), { maxKeys: 3 }) as fc.Arbitrary<Json>, weight: 4 },
      { arbitrary: fc.array(tie('value'), { maxLength: 3 }) as fc.Arbitrary<Json>, weight: 1 },
    ),
  }))
  let changed = 0
  await fc.assert(
    fc.asyncProperty(schema, fc.array(value, { minLength: 6, maxLength: 9 }), async (described, values) => {
      const fill = new Ajv2020({ useDefaults: true, strict: false, allErrors: true }).compile({
        properties: { in: described },
      })
      const { call } = await publish({ schema: { properties: { in: described } } })
      for (const each of values) {
        const text = JSON.stringify({ in: each })
        const { status, upstream } = await call('', text)
        assert.equal(status, 200)
        const expected = JSON.parse(text)
        fill(expected)
        assert.deepEqual(JSON.parse(upstream!.body), expected, text)
        if (JSON.stringify(expected) !== text) changed++
      }
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 1000 : 25 },
  )
  assert.ok(changed > 0, 'nothing was filled in')
})
