import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

const SCHEMA = {
  type: 'object',
  required: ['n'],
  additionalProperties: false,
  properties: {
    n: { type: 'integer', maximum: 9 },
    b: { type: 'boolean' },
    s: { type: 'string', maxLength: 3 },
    l: { type: 'array', items: { type: 'integer' }, maxItems: 2 },
  },
}
const FORM = 'application/x-www-form-urlencoded'

async function open(t: import('node:test').TestContext) {
  const origin = await startOrigin()
  const gateway = await startTestGateway()
  t.after(() => Promise.all([origin.close(), gateway.close()]))
  const of = (...types: string[]) => Object.fromEntries(types.map((type) => [type, { schema: SCHEMA }]))
  const bodies = {
    '/typed': of('application/json', FORM, 'multipart/form-data'),
    '/range': of('application/*', 'multipart/*'),
    '/any': of('*/*'),
    '/text': { 'text/plain': { schema: { type: 'string', maxLength: 3 } }, 'text/*': { schema: { type: 'integer' } } },
  }
  const made = await gateway.svc('POST', '/svc/apis/oas', {
    openapi: '3.0.3',
    info: { title: 'f', version: '1' },
    paths: Object.fromEntries(
      Object.entries(bodies).map(([path, content]) => [
        path,
        {
          post: {
            operationId: path.slice(1),
            requestBody: { required: true, content },
            responses: { 200: { description: 'ok' } },
          },
        },
      ]),
    ),
    'x-svc-api-gateway': {
      info: { id: 'f', name: 'f', state: { active: true } },
      upstream: { url: origin.url },
      server: { listenPath: { value: '/f/', strip: true } },
      middleware: {
        operations: Object.fromEntries(
          Object.keys(bodies).map((path) => [path.slice(1), { validateRequest: { enabled: true } }]),
        ),
      },
    },
  })
  assert.equal(made.status, 200, made.text)
  const send = async (path: string, type: string, body: string) => {
    const answer = await gateway.call(`/f${path}`, { method: 'POST', headers: { 'content-type': type }, body })
    if (answer.status === 200) assert.equal(origin.seen.at(-1)!.body, body, 'forwarded as sent')
    return answer
  }
  return { send }
}

type Value = Readonly<Record<string, string | number | boolean | readonly number[]>>

const pairsOf = (value: Value) =>
  Object.entries(value).flatMap(([name, each]) => [each].flat().map((text) => [name, String(text)] as const))

const ENCODED: readonly (readonly [type: string, encode: (value: Value) => string])[] = [
  ['application/json', (value) => JSON.stringify(value)],
  [FORM, (value) => new URLSearchParams(pairsOf(value).map(([name, text]) => [name, text])).toString()],
  [
    'multipart/form-data; boundary=X',
    (value) =>
      `${pairsOf(value)
        .map(([name, text]) => `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`)
        .join('')}--X--\r\n`,
  ],
]

test('one value is judged the same in JSON and in forms', async (t) => {
  const { send } = await open(t)
  const values = fc.record(
    {
      n: fc.integer({ min: 0, max: 12 }),
      b: fc.boolean(),
      s: fc.string({ unit: fc.constantFrom('a', '&', '=', '+', '"', '%'), maxLength: 5 }),
      l: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 3 }),
      z: fc.constant('unknown'),
    },
    { requiredKeys: [] },
  )
  const seen = new Set<number>()
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('/typed', '/range', '/any'), values, async (path, value) => {
      if (Object.keys(value).length === 0) return
      const statuses: number[] = []
      for (const [type, encode] of ENCODED) statuses.push((await send(path, type, encode(value))).status)
      assert.deepEqual(new Set(statuses).size, 1, `${path} ${JSON.stringify(value)} ${statuses.join()}`)
      seen.add(statuses[0]!)
    }),
    {
      numRuns: process.env.GATEHOUSE_DEEP === '1' ? 2000 : 60,
      // Most random values are not valid.
      examples: [
        ['/typed', { n: 3 }],
        ['/any', { n: 3, z: 'unknown' as const }],
      ],
    },
  )
  assert.deepEqual([...seen].sort(), [200, 422])
})

test('forms that are none, fields given twice and text are judged too', async (t) => {
  const { send } = await open(t)
  const cases: readonly (readonly [path: string, type: string, body: string, status: number, reason?: RegExp])[] = [
    ['/typed', FORM, 'n=x', 422, /body\/n/],
    ['/typed', FORM, 'n=1&n=2', 422, /holds \\"n\\" more than once/],
    ['/typed', 'multipart/form-data; boundary=X', 'no part', 422, /must be a form/],
    ['/typed', 'multipart/form-data', '--X--', 422, /must be a form/],
    ['/typed', 'text/plain', 'n=1', 422, /content-type/],
    ['/range', 'application/xml', '<n/>', 200],
    ['/any', 'image/png', 'bytes', 200],
    ['/text', 'text/plain; charset=utf-8', 'abc', 200],
    ['/text', 'text/plain', 'abcd', 422, /body/],
    ['/text', 'text/csv', '12', 200],
    ['/text', 'text/csv', 'a,b', 422, /body/],
  ]
  for (const [path, type, body, status, reason] of cases) {
    const answer = await send(path, type, body)
    assert.equal(answer.status, status, `${path} ${type} ${body} ${answer.text}`)
    if (reason !== undefined) assert.match(answer.text, reason)
  }
})

/** A field with its encoding, what is sent, and whether it fits. */
type EncodedRow = readonly [schema: JsonObject, encoding: JsonObject, fitting: string, other: string]

const NUMBERS = { type: 'array', items: { type: 'integer' }, maxItems: 2 }
const POINT = { type: 'object', properties: { x: { type: 'integer' }, y: { type: 'integer' } }, required: ['x'] }

test('fields of a form are read as their encoding spells them', async (t) => {
  const rows: readonly EncodedRow[] = [
    [NUMBERS, { explode: false }, 'f=1,2', 'f=1,a'],
    [NUMBERS, { explode: false }, 'f=1', 'f=1&f=2'],
    [NUMBERS, { style: 'pipeDelimited' }, 'f=1%7C2', 'f=1%7C2%7C3'],
    [NUMBERS, { style: 'spaceDelimited' }, 'f=1+2', 'f=1+a'],
    [NUMBERS, { style: 'form', explode: true }, 'f=1&f=2', 'f=1,2'],
    [POINT, { style: 'deepObject' }, 'f[x]=1&f[y]=2', 'f[y]=2'],
    [POINT, { explode: false }, 'f=x,1,y,2', 'f=x,a'],
    [POINT, { style: 'form' }, 'x=1&y=2', 'x=a&y=2'],
    [POINT, { contentType: 'application/json' }, 'f=%7B%22x%22%3A1%7D', 'f=%7B%22y%22%3A1%7D'],
    [{ type: 'string', maxLength: 1 }, { contentType: 'application/json' }, 'f=%22a%22', 'f=a'],
    [{ type: 'string', maxLength: 1 }, { contentType: 'image/png, text/*' }, 'f=a', 'f=ab'],
  ]
  const { saved, send } = await openEncoded(t, rows)
  assert.deepEqual((saved.json as { warnings?: unknown }).warnings, undefined)
  for (const [index, [schema, encoding, fitting, other]] of rows.entries()) {
    const shown = JSON.stringify([schema, encoding])
    assert.equal((await send(index, fitting)).status, 200, `${shown} ${fitting}`)
    assert.equal((await send(index, other)).status, 422, `${shown} ${other}`)
  }
})

test('a field of a form that cannot be read is reported and passes, the others are checked', async (t) => {
  const lists = { type: 'array', items: NUMBERS }
  const rows: readonly EncodedRow[] = [
    [lists, { explode: false }, 'f=1,2', 'f=a'],
    [POINT, { contentType: 'application/xml' }, 'f=<x/>', 'f=a'],
    [NUMBERS, { style: 'matrix' }, 'f=;f=1', 'f=a'],
  ]
  const { saved, send } = await openEncoded(t, rows)
  const { warnings } = saved.json as { warnings: { path: string; message: string }[] }
  for (const [index, [, , ...sent]] of rows.entries()) {
    const at = `paths["/${index}"].post.requestBody.content["application/x-www-form-urlencoded"].encoding.f`
    assert.ok(
      warnings.some(({ path }) => path === at),
      JSON.stringify(warnings),
    )
    for (const text of sent) {
      assert.equal((await send(index, text)).status, 200, text)
      assert.equal((await send(index, `${text}&n=1`)).status, 200, text)
      assert.equal((await send(index, `${text}&n=one`)).status, 422, 'the other fields are checked')
    }
  }
})

/** An API with an operation for each row. */
async function openEncoded(t: import('node:test').TestContext, rows: readonly EncodedRow[]) {
  const origin = await startOrigin()
  const gateway = await startTestGateway()
  t.after(() => Promise.all([origin.close(), gateway.close()]))
  const base = oasApi('E', '/e/', { id: 'e', upstream: origin.url })
  const paths = rows.map(([f, encoding], index) => {
    const schema = { type: 'object', properties: { f, n: { type: 'integer' } } }
    const requestBody = { required: true, content: { [FORM]: { schema, encoding: { f: encoding } } } }
    return [`/${index}`, { post: { operationId: `o${index}`, requestBody, responses: {} } }] as const
  })
  const operations = Object.fromEntries(
    rows.map((_row, index) => [`o${index}`, { validateRequest: { enabled: true } }]),
  )
  const saved = await gateway.svc('POST', '/svc/apis/oas', {
    ...{ ...base, paths: Object.fromEntries(paths) },
    'x-svc-api-gateway': { ...(base['x-svc-api-gateway'] as JsonObject), middleware: { operations } },
  })
  assert.equal(saved.status, 200, saved.text)
  const send = (index: number, body: string) =>
    gateway.call(`/e/${index}`, { method: 'POST', headers: { 'content-type': FORM }, body })
  return { saved, send }
}

test('a form of thousands of fields is refused before one is read', async (t) => {
  const { send } = await open(t)
  const many = (count: number, field: (i: number) => string, join: string) =>
    Array.from({ length: count }, (_, i) => field(i)).join(join)
  const part = (name: string) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1\r\n`
  const multipart = (count: number) => `${many(count, (i) => part(i === 0 ? 'n' : `k${i}`), '')}--x--\r\n`
  const rows = [
    [FORM, (count: number) => many(count, (i) => (i === 0 ? 'n=1' : `k${i}=1`), '&')],
    [FORM, (count: number) => many(count, (i) => `k[${i}]=1`, '&')],
    [FORM, (count: number) => many(count, () => 'k=1', '&')],
    ['multipart/form-data; boundary=x', multipart],
    ['multipart/form-data; boundary="x"', multipart],
  ] as const
  for (const [type, make] of rows) {
    const refused = await send('/typed', type, make(10_002))
    assert.equal(refused.status, 422, type)
    assert.match(refused.text, /holds more than 10000 fields/, type)
    assert.doesNotMatch((await send('/typed', type, make(100))).text, /holds more than/, type)
  }
})
