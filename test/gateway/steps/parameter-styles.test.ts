import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

/** A parameter, the texts that spell the one value which its schema takes, and some that do not. */
interface Row {
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly style?: string
  readonly explode?: boolean
  readonly schema: JsonObject
  readonly more?: JsonObject
  readonly fits: readonly string[]
  readonly refused?: readonly string[]
}

// The values of the tables of OpenAPI 3.0.4 and 3.1.1, section "Style Examples".
const LIST = { type: 'array', items: { type: 'string' }, const: ['blue', 'black', 'brown'] }
const NUMBERS = { R: { type: 'integer' }, G: { type: 'integer' }, B: { type: 'integer' } }
const OBJECT = { type: 'object', properties: NUMBERS, const: { R: 100, G: 200, B: 150 } }
const TEXT = { type: 'string', const: 'blue' }
const union = (...anyOf: JsonObject[]): JsonObject => ({ anyOf })
const INTEGER = { type: 'integer' }
const NULL = { type: 'null' }
const query = (schema: JsonObject, fits: string[], refused: string[] = [], more: Partial<Row> = {}): Row => ({
  ...{ in: 'query', schema, fits, refused },
  ...more,
})

const ROWS: readonly Row[] = [
  {
    in: 'path',
    style: 'matrix',
    explode: false,
    schema: TEXT,
    fits: [';color=blue'],
    refused: ['blue', ';colour=blue'],
  },
  {
    in: 'path',
    style: 'matrix',
    explode: false,
    schema: LIST,
    fits: [';color=blue,black,brown'],
    refused: [';color=blue'],
  },
  { in: 'path', style: 'matrix', explode: true, schema: LIST, fits: [';color=blue;color=black;color=brown'] },
  { in: 'path', style: 'matrix', explode: false, schema: OBJECT, fits: [';color=R,100,G,200,B,150'] },
  {
    in: 'path',
    style: 'matrix',
    explode: true,
    schema: OBJECT,
    fits: [';R=100;G=200;B=150'],
    refused: [';R=100;G=200;B'],
  },
  { in: 'path', style: 'label', explode: false, schema: TEXT, fits: ['.blue'], refused: ['blue'] },
  { in: 'path', style: 'label', explode: false, schema: LIST, fits: ['.blue,black,brown', '.blue.black.brown'] },
  { in: 'path', style: 'label', explode: true, schema: LIST, fits: ['.blue.black.brown'] },
  { in: 'path', style: 'label', explode: false, schema: OBJECT, fits: ['.R,100,G,200,B,150', '.R.100.G.200.B.150'] },
  { in: 'path', style: 'label', explode: true, schema: OBJECT, fits: ['.R=100.G=200.B=150'] },
  {
    ...{ in: 'path', style: 'label', explode: true, fits: ['.0.5', '.1.2'], refused: ['.x'] },
    schema: { type: 'array', items: { type: 'number', enum: [3, 0.5, 1, 2] } },
  },
  {
    ...{ in: 'path', style: 'label', explode: true, fits: ['.r=3.g=0.5'], refused: ['.r=3.g=5'] },
    schema: { type: 'object', properties: { r: { type: 'integer' }, g: { type: 'number', const: 0.5 } } },
  },
  { in: 'path', schema: LIST, fits: ['blue,black,brown'], refused: ['blue'] },
  { in: 'path', schema: OBJECT, fits: ['R,100,G,200,B,150'], refused: ['R,100,G', 'R,100,G,200,B,x'] },
  { in: 'path', explode: true, schema: OBJECT, fits: ['R=100,G=200,B=150'] },
  { in: 'header', schema: LIST, fits: ['blue,black,brown', 'blue, black, brown'], refused: ['blue'] },
  { in: 'header', schema: OBJECT, fits: ['R,100,G,200,B,150'] },
  { in: 'header', explode: true, schema: OBJECT, fits: ['R=100,G=200,B=150'], refused: ['R=100,G=200,B=x'] },
  { in: 'cookie', explode: false, schema: LIST, fits: ['color=blue,black,brown'] },
  { in: 'cookie', explode: false, schema: OBJECT, fits: ['color=R,100,G,200,B,150'] },
  { in: 'cookie', schema: OBJECT, fits: ['R=100; G=200; B=150'], refused: ['R=100; G=200'] },
  query(TEXT, ['color=blue'], ['color=', 'color=blue&color=blue']),
  query(TEXT, ['color=', 'color=blue'], ['color=red'], { more: { allowEmptyValue: true } }),
  query(LIST, ['color=blue&color=black&color=brown'], ['color=blue,black,brown']),
  query(LIST, ['color=blue,black,brown'], ['color=blue&color=black&color=brown'], { explode: false }),
  query(OBJECT, ['R=100&G=200&B=150', 'B=150&R=100&G=200&more=1'], ['R=100&G=200', 'R=100&G=200&B=150&R=1']),
  query(OBJECT, ['color=R,100,G,200,B,150'], ['color=R,100'], { explode: false }),
  query(LIST, ['color=blue%20black%20brown'], [], { style: 'spaceDelimited', explode: false }),
  query(OBJECT, ['color=R%20100%20G%20200%20B%20150'], [], { style: 'spaceDelimited', explode: false }),
  query(LIST, ['color=blue%7Cblack%7Cbrown', 'color=blue|black|brown'], [], { style: 'pipeDelimited', explode: false }),
  query(OBJECT, ['color=R%7C100%7CG%7C200%7CB%7C150'], [], { style: 'pipeDelimited', explode: false }),
  query(
    OBJECT,
    ['color[R]=100&color[G]=200&color[B]=150', 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
    ['color[R]=100&color[G]=200&color[B]=x'],
    { style: 'deepObject' },
  ),
  query(
    {
      type: 'object',
      properties: { a: { type: 'array', items: INTEGER }, b: { type: 'object', properties: { c: INTEGER } } },
      const: { a: [1, 2], b: { c: 3 } },
    },
    [
      'color[a][]=1&color[a][]=2&color[b][c]=3',
      'color[a]=1&color[a]=2&color[b][c]=3',
      'color[a][1]=2&color[a][0]=1&color[b][c]=3',
    ],
    ['color[a]=1&color[b][c]=3'],
    { style: 'deepObject' },
  ),
  query(TEXT, ['color=blue'], [], { more: { allowReserved: true } }),
  // Frameworks write every optional number like this.
  query(union(INTEGER, NULL), ['color=1', 'color=', 'color=null'], ['color=x', 'color=1.5']),
  query(
    { oneOf: [{ type: 'number', minimum: 5 }, { type: 'boolean' }] },
    ['color=5', 'color=true'],
    ['color=4', 'color=yes'],
  ),
  query({ allOf: [{ $ref: '#/components/schemas/Number' }, { maximum: 9 }] }, ['color=9'], ['color=10', 'color=x']),
  query({ type: ['integer', 'null'], maximum: 9 }, ['color=9'], ['color=10']),
  query(union(INTEGER, { type: 'string', pattern: '^all$' }), ['color=1', 'color=all'], ['color=some']),
  query({ type: 'string', minLength: 2 }, ['color=12', 'color=true'], ['color=1']),
  query(
    union({ type: 'array', items: INTEGER }, NULL),
    ['color=1&color=2', 'color=1', 'color=null'],
    ['color=x', 'color=1&color=x'],
  ),
  query(
    { type: 'array', items: union(INTEGER, { type: 'string', pattern: '^[1a]+$' }) },
    ['color=1&color=a1'],
    ['color=b'],
  ),
  query({ enum: [1, 2] }, ['color=1'], ['color=3', 'color=x']),
  query({ const: true }, ['color=true'], ['color=false']),
  query({ $ref: '#/components/schemas/Maybe' }, ['color=1', 'color=null'], ['color=x']),
]

const COMPONENTS: JsonObject = {
  Number: { type: 'integer' },
  Maybe: { anyOf: [{ $ref: '#/components/schemas/Number' }, { type: 'null' }] },
}

function documentOf(rows: readonly Row[]): JsonObject {
  const base = oasApi('S', '/s/', { id: 's' })
  const paths = rows.map((row, index) => {
    const { style, explode, schema, more } = row
    const parameter = { name: 'color', in: row.in, required: true, schema, ...(style && { style }), ...more }
    const parameters = [explode === undefined ? parameter : { ...parameter, explode }]
    const path = row.in === 'path' ? `/${index}/{color}` : `/${index}/x`
    return [path, { get: { operationId: `o${index}`, parameters, responses: {} } }] as const
  })
  const operations = Object.fromEntries(
    rows.map((_row, index) => [`o${index}`, { validateRequest: { enabled: true } }]),
  )
  const extension = base['x-svc-api-gateway'] as JsonObject
  return {
    ...{ ...base, openapi: '3.1.0', paths: Object.fromEntries(paths) as Json, components: { schemas: COMPONENTS } },
    'x-svc-api-gateway': { ...extension, middleware: { operations } },
  }
}

async function isRefused(gate: TestGateway, row: Row, index: number, text: string): Promise<boolean> {
  const at = row.in === 'path' ? text : row.in === 'query' ? `x?${text}` : 'x'
  const headers = row.in === 'header' ? { color: text } : row.in === 'cookie' ? { cookie: text } : {}
  const answer = await gate.call(`/s/${index}/${at}`, { headers })
  assert.ok([422, 502].includes(answer.status), `${answer.status} for ${text}`)
  return answer.status === 422
}

test('parameters of every style are read as OpenAPI says, by all kinds that their schema takes', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const saved = await gate.svc('POST', '/svc/apis/oas', documentOf(ROWS))
  assert.deepEqual(saved.json, { key: 's', status: 'ok', action: 'added' })
  for (const [index, row] of ROWS.entries()) {
    const named = (text: string) => `${row.in} ${row.style} ${row.explode} ${JSON.stringify(row.schema)}: ${text}`
    for (const text of row.fits) assert.equal(await isRefused(gate, row, index, text), false, named(text))
    for (const text of row.refused ?? []) assert.equal(await isRefused(gate, row, index, text), true, named(text))
    if (row.in !== 'path')
      assert.equal(await isRefused(gate, row, index, row.in === 'query' ? '' : 'y=1'), true, named('none'))
  }
})

test('a parameter that no style spells is listed, and the others are checked', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const inner: JsonObject = { type: 'array', items: { type: 'object' } }
  const rows = [
    ...[query(inner, ['color=1']), { in: 'query', style: 'matrix', schema: TEXT, fits: [] } as const],
    query(TEXT, [], [], { more: { content: { 'application/xml': {} } } }),
  ]
  const document = documentOf([...rows, query(TEXT, [])])
  const { warnings } = (await gate.svc('POST', '/svc/apis/oas', document)).json as { warnings: JsonObject[] }
  const places = rows.map((_row, index) => `paths["/${index}/x"].get.parameters[0]`)
  // The last one has a schema beside its content.
  assert.deepEqual(
    warnings.map(({ path }) => path),
    [...places.slice(0, -1), `${places.at(-1)}.schema`, places.at(-1)],
  )
  for (const [index, row] of rows.entries()) assert.equal(await isRefused(gate, row, index, 'color=1'), false)
  assert.equal(await isRefused(gate, query(TEXT, []), 3, 'color=1'), true)
})
