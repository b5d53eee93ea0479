import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { ValueSchemas } from '../../../src/model/apis/check/value-schema.ts'
import { readingApi, readingNewApi } from '../../../src/model/apis/read/read.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { newPatternWork } from '../../../src/model/patterns/pattern-work.ts'
import { defined } from '../../worlds/base/definitions.ts'

const COUNT = 200
const named = <T>(count: number, of: (index: number) => readonly [string, T]): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => of(index)))

const RULES: Readonly<Record<string, JsonObject>> = {
  allow: { allow: { enabled: true } },
  check: { validateRequest: { enabled: true } },
  rewrite: { urlRewrite: { enabled: true, pattern: '.*', rewriteTo: '/x' } },
}

test('a definition is read in a part for each rule of an operation, or more', () => {
  for (const [name, rule] of Object.entries(RULES)) {
    const definition = defined({
      ...{ id: 'a', url: 'http://127.0.0.1:9' },
      paths: named(COUNT, (i) => [
        `/p${i}`,
        { get: { operationId: `o${i}`, responses: { 200: { description: '' } } } },
      ]),
      operations: named(COUNT, (i) => [`o${i}`, rule]),
    })
    const document = { ...{ api_id: 'a', org_id: '', name: 'a', format: 'oas' as const }, definition }
    for (const reading of [readingApi, readingNewApi])
      assert.ok([...reading(document)].length >= COUNT, `${name} ${[...reading(document)].length}`)
  }
})

/** Schemas that lead to each other in any way, the first of them within itself at last. */
const graphs = fc.integer({ min: 1, max: 8 }).chain((count) => {
  const to = fc.nat({ max: count - 1 }).map((index): JsonObject => ({ $ref: `#/components/schemas/S${index}` }))
  const leaf = fc.constantFrom<JsonObject>(
    { type: 'integer' },
    { maxLength: 1 },
    { required: ['a'] },
    { minProperties: 1 },
  )
  const member = fc.oneof(to, leaf)
  const schema = fc.record(
    {
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), member),
      items: to,
      // Behind a later schema alone: a circle that looks at nothing is left out, and Ajv runs into it.
      allOf: fc.constant([{ type: ['object', 'array', 'string'] }]),
      required: fc.constant(['a']),
      unevaluatedProperties: fc.constant(false),
    },
    { requiredKeys: [] },
  )
  return fc.array(schema, { minLength: count, maxLength: count })
})
const values = fc.letrec<{ any: Json }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<Json>(1, 'x', 'xx', null),
    fc.array(tie('any'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('any'), { maxKeys: 3 }),
  ),
})).any as fc.Arbitrary<Json>

test('schemas that are compiled one by one judge as when Ajv compiles them together', () => {
  const said = new Map<boolean, number>()
  fc.assert(
    fc.property(graphs, fc.array(values, { minLength: 5, maxLength: 20 }), (schemas, all) => {
      const components = { schemas: Object.fromEntries(schemas.map((schema, index) => [`S${index}`, schema])) }
      const document = { openapi: '3.1.0', paths: {}, components } as unknown as JsonObject
      const ajv = new Ajv2020({ strict: false, unevaluated: true })
      const fitsTogether = ajv.compile({ components, $ref: '#/components/schemas/S0' })
      const { check, code, unchecked } = new ValueSchemas(document, []).at(['components', 'schemas', 'S0'])
      assert.deepEqual(unchecked, [])
      assert.equal(code.isReady(false), false)
      const parts = [...code.compile(false)].length
      assert.ok(parts <= schemas.length && code.isReady(false) && !code.isReady(true), `${parts}`)
      for (const value of all) {
        const fits = check(value, newPatternWork()).length === 0
        assert.equal(fits, fitsTogether(value), JSON.stringify({ value, schemas }))
        said.set(fits, (said.get(fits) ?? 0) + 1)
      }
      Array.from(code.compile(true))
      for (const value of all) {
        const flaws = check(value, newPatternWork())
        assert.equal(flaws.length === 0, fitsTogether(value), JSON.stringify({ value, schemas }))
      }
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 1000 : 30 },
  )
  assert.ok((said.get(true) ?? 0) > 20 && (said.get(false) ?? 0) > 20, JSON.stringify([...said]))
})
