import assert from 'node:assert/strict'
import { test } from 'node:test'
import { largeBodyTurn } from '../../../src/dashboard/server/large-body.ts'
import { ValueSchemas } from '../../../src/model/apis/check/value-schema.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { newPatternWork } from '../../../src/model/patterns/pattern-work.ts'

test('parts of large bodies never share a turn of the event loop; small ones never wait', async () => {
  let turn = 0
  let counting = true
  const count = () => {
    turn++
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  const turns: number[] = []
  const work = async (size: number) => {
    const body = new Uint8Array(size)
    for (let part = 0; part < 3; part++) {
      await largeBodyTurn(body)
      turns.push(turn)
    }
  }
  await work(1000)
  assert.deepEqual(turns, [0, 0, 0])
  turns.length = 0
  await Promise.all([1, 2, 3, 4].map(() => work(2 << 20)))
  counting = false
  assert.equal(new Set(turns).size, 12, turns.join(' '))
})

test('schemas that say the same are compiled once, each place by its own meaning', () => {
  const parameter = (schema: JsonObject): JsonObject => ({ schema })
  const paths = {
    '/a': {
      get: { parameters: [{ type: 'string' }, { type: 'integer' }, { $ref: '#/components/schemas/s' }].map(parameter) },
    },
    '/b': { get: { parameters: [{ type: 'string' }, { $ref: '#/components/schemas/s' }].map(parameter) } },
  }
  const document = { openapi: '3.0.3', paths, components: { schemas: { s: { maxLength: 2 } } } }
  const schemas = new ValueSchemas(document, [])
  const check = (path: string, index: number) =>
    schemas.at(['paths', path, 'get', 'parameters', String(index), 'schema']).check
  assert.equal(check('/a', 0), check('/b', 0))
  assert.equal(check('/a', 2), check('/b', 1))
  assert.notEqual(check('/a', 0), check('/a', 1))
  assert.deepEqual(check('/b', 1)('abc', newPatternWork()).length, 1)
  assert.deepEqual(check('/a', 1)('abc', newPatternWork()).length, 1)
  assert.deepEqual(check('/b', 0)('abc', newPatternWork()), [])
})
