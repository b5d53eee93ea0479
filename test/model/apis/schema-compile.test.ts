import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ValueSchemas } from '../../../src/model/apis/check/value-schema.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { newPatternWork } from '../../../src/model/patterns/pattern-work.ts'

const KEYWORDS = [
  ...['type', 'enum', 'const', 'multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains', 'maxContains'],
  ...['uniqueItems', 'required', 'dependentRequired', 'pattern', 'format', 'allOf', 'anyOf', 'oneOf', 'prefixItems'],
  ...['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'additionalProperties', 'unevaluatedProperties'],
  ...['unevaluatedItems', 'items', 'additionalItems', 'properties', 'patternProperties', 'dependentSchemas'],
  ...['dependencies', '$ref', '$dynamicRef', '$recursiveRef', '$id', '$anchor', '$defs', '$schema', 'nullable'],
  ...['discriminator', '$async', 'formatMinimum', 'elements', 'id', 'readOnly', 'default'],
]
const VALUES: readonly Json[] = [
  ...[0, -1, 1.5, 5e-324, '', 'string', '(', '#', '#/x', 'http://x/y', 'date', 'constructor', null, true, false],
  ...[
    [],
    ['string', 'null'],
    ['a', 'a'],
    {},
    { a: ['b'] },
    { a: {} },
    [{}],
    [{ type: 'string' }, true],
    { type: 'object' },
  ],
  ...[{ $data: '1/a' }, { '(': {} }, JSON.parse('{"__proto__":{}}') as Json],
]
const WRAPPED: readonly ((schema: JsonObject) => JsonObject)[] = [
  (schema) => schema,
  (schema) => ({ not: schema }),
  (schema) => ({ if: schema, contains: schema, items: schema, unevaluatedProperties: false }),
]

test('no value of a keyword makes a schema that cannot be compiled', () => {
  const failed: string[] = []
  for (const keyword of KEYWORDS)
    for (const value of VALUES)
      for (const wrapped of WRAPPED) {
        const schema = wrapped({ [keyword]: value })
        const { check, code } = new ValueSchemas({ schema }, []).at(['schema'])
        try {
          Array.from(code.compile(true))
          for (const each of [{ a: 1 }, [1], 'a', null]) check(each, newPatternWork())
        } catch (error) {
          failed.push(`${JSON.stringify(schema)}: ${String(error)}`)
        }
      }
  assert.deepEqual(failed, [])
})
