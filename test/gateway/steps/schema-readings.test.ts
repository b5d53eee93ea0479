import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isMultiple } from '../../../src/model/apis/check/schema-work.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { oasApi } from '../../worlds/gateway/admin-fixtures.ts'

/** A schema as authors write it, with bodies that they mean to let in and bodies that they mean to keep out. */
type Row = readonly [schema: Json, takes: readonly Json[], refuses: readonly Json[]]

const REF = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })
const text = { type: 'string' }

const ROWS: readonly Row[] = [
  [{ nullable: true, oneOf: [text, { type: 'number' }] }, [null, 'a', 1], [true]],
  [{ nullable: true, allOf: [REF('Text')] }, [null, 'a'], [1]],
  [{ nullable: true, $ref: '#/components/schemas/Text' }, [null, 'a'], [1]],
  [{ nullable: true, description: 'anything' }, [null, 1, 'a'], []],
  [{ type: 'string', nullable: true, maxLength: 1 }, [null, 'a'], ['ab']],
  [{ type: 'number', multipleOf: 0.01 }, [19.99, 0.07, 1, -4.35, 1e21, 0], [19.991, 0.001, 1e-7]],
  [{ type: 'number', multipleOf: 0.1 }, [0.3, 1.1, 123456789.3], [0.35]],
  [{ type: 'number', multipleOf: 3 }, [9, 9007199254740990], [10, 1.5]],
  [REF('Made'), [{ name: 'a' }, { id: 1, name: 'a' }], [{ id: 1 }]],
  [{ allOf: [REF('Base'), { properties: { id: { type: 'integer', readOnly: true } } }] }, [{ name: 'a' }], [{}]],
  [{ allOf: [{ required: ['id', 'name'] }, REF('Made')] }, [{ name: 'a' }], [{ id: 1 }]],
  [{ required: ['id', 'at'], properties: { id: REF('Id'), at: { allOf: [REF('Id')] } } }, [{}], [{ id: 'a' }]],
  [{ type: 'object', required: ['w'], properties: { w: { type: 'string', writeOnly: true } } }, [{ w: 'a' }], [{}]],
  [{ type: 'string', format: 'date' }, ['2024-02-29'], ['2023-02-29', '2024-04-31', '2024-13-01']],
  [
    { type: 'string', format: 'date-time' },
    ['2024-02-29T10:00:00Z', '2016-12-31T23:59:60Z'],
    ['2023-02-29T10:00:00Z', '2024-01-01T25:00:00Z', '2024-01-01T10:00:00'],
  ],
  [{ type: 'string', pattern: '^\\p{L}+$' }, ['Zoë', '𐐀'], ['a1']],
  [{ type: 'string', pattern: '^.{1,4000}$' }, ['a', 'a'.repeat(4000), '😀'.repeat(4000)], ['', 'a'.repeat(4001)]],
  [{ type: 'string', pattern: '^(?=.*\\d)(?=.*[A-Z]).{8,}$' }, ['Passw0rdX'], ['password', 'PASSWORD1a'.slice(0, 7)]],
  [{ type: 'array', items: [text, { type: 'number' }], additionalItems: false }, [['a', 1]], [['a', 1, 2], [1]]],
  [{ type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false }, [2, 3], [1, 4]],
  [{ type: 'object', example: { $id: 'same' }, properties: { example: text } }, [{ example: 'a' }], [{ example: 1 }]],
  [{ type: 'object', example: { $id: 'same' }, default: { $id: 'same' } }, [{}], [1]],
  [REF('default'), [{ enum: 'a' }], [{ enum: 1 }, {}]],
  [
    { type: 'object', properties: { constructor: text, valueOf: { type: 'number' } }, required: ['toString'] },
    [{ toString: 1 }, { toString: 1, constructor: 'a', valueOf: 2 }],
    [{}, { toString: 1, constructor: 1 }, { toString: 1, valueOf: 'a' }],
  ],
  [REF('Tree'), [{ inner: [{ inner: [] }] }], [{ inner: [{ inner: 1 }] }]],
  [{ $ref: '#/paths/~10/post/requestBody/content/application~1json/schema' }, [null, 1], [true]],
]

const COMPONENTS: JsonObject = {
  Text: text,
  Id: { type: 'integer', readOnly: true },
  Base: { type: 'object', required: ['id', 'name'], properties: { name: text } },
  Made: { allOf: [REF('Base'), { type: 'object', properties: { id: REF('Id') } }] },
  default: { type: 'object', required: ['enum'], properties: { enum: text, required: text, nullable: text } },
  Tree: { type: 'object', properties: { inner: { type: 'array', items: REF('Tree') } } },
}

test('schemas mean what their authors mean by them', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const base = oasApi('R', '/r/', { id: 'r' })
  const paths = ROWS.map(([schema], index) => {
    const requestBody = { required: true, content: { 'application/json': { schema } } }
    return [`/${index}`, { post: { operationId: `o${index}`, requestBody, responses: {} } }] as const
  })
  const operations = Object.fromEntries(
    ROWS.map((_row, index) => [`o${index}`, { validateRequest: { enabled: true } }]),
  )
  const saved = await gate.svc('POST', '/svc/apis/oas', {
    ...{ ...base, paths: Object.fromEntries(paths), components: { schemas: COMPONENTS } },
    'x-svc-api-gateway': { ...(base['x-svc-api-gateway'] as JsonObject), middleware: { operations } },
  })
  assert.deepEqual(saved.json, { key: 'r', status: 'ok', action: 'added' })
  for (const [index, [schema, takes, refuses]] of ROWS.entries()) {
    const sent = [...takes.map((body) => [body, false] as const), ...refuses.map((body) => [body, true] as const)]
    for (const [body, isRefused] of sent) {
      const headers = { 'content-type': 'application/json' }
      const answer = await gate.call(`/r/${index}`, { method: 'POST', headers, body: JSON.stringify(body) })
      assert.ok([422, 502].includes(answer.status), answer.text)
      const shown = JSON.stringify([schema, body]).slice(0, 500)
      assert.equal(answer.status === 422, isRefused, shown)
    }
  }
})

test('dates that do not exist are refused wherever a request carries them', async (t) => {
  const gate = await startTestGateway()
  t.after(() => gate.close())
  const schema = { type: 'string', format: 'date' }
  const places = ['query', 'header', 'path', 'cookie'] as const
  const parameters = places.map((place) => ({ in: place, name: `d-${place}`, required: true, schema }))
  const content = { type: 'object', properties: { at: schema } }
  const base = oasApi('D', '/d/', { id: 'd' })
  const saved = await gate.svc('POST', '/svc/apis/oas', {
    ...base,
    paths: {
      '/{d-path}': {
        post: {
          operationId: 'at',
          parameters,
          requestBody: { content: { 'application/json': { schema: content } } },
          responses: {},
        },
      },
    },
    'x-svc-api-gateway': {
      ...(base['x-svc-api-gateway'] as JsonObject),
      middleware: { operations: { at: { validateRequest: { enabled: true } } } },
    },
  })
  assert.equal(saved.status, 200, saved.text)
  const send = (wrong: string, date: string) => {
    const at = (place: string) => (place === wrong ? date : '2024-02-29')
    const headers = { 'content-type': 'application/json', 'd-header': at('header'), cookie: `d-cookie=${at('cookie')}` }
    const body = JSON.stringify({ at: at('body') })
    return gate.call(`/d/${at('path')}?d-query=${at('query')}`, { method: 'POST', headers, body })
  }
  // Nothing answers at the upstream: 502 is a request that was handed on.
  assert.equal((await send('', '')).status, 502)
  for (const place of [...places, 'body'])
    for (const date of ['2026-02-30', '2025-02-29', '2026-04-31', '2026-13-01', '2026-00-10', '2026-1-1'])
      assert.equal((await send(place, date)).status, 422, `${place} ${date}`)
})

test('a multiple is one of the decimals that spell two numbers', () => {
  const places = fc.integer({ min: 0, max: 6 })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9999 }),
      places,
      fc.integer({ min: -99_999, max: 99_999 }),
      fc.nat(9),
      (digits, point, factor, off) => {
        const divisor = Number(`${digits}e-${point}`)
        const value = Number(`${BigInt(digits) * BigInt(factor) * 10n + BigInt(off)}e-${point + 1}`)
        assert.equal(
          isMultiple(value, divisor),
          (BigInt(digits) * BigInt(factor) * 10n + BigInt(off)) % (BigInt(digits) * 10n) === 0n,
        )
      },
    ),
  )
})
