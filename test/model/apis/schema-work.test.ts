import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { MOST_COMPILED, MOST_ENTRIES, MOST_IN_SCHEMA } from '../../../src/model/apis/check/compile-cost.ts'
import { ValueSchemas } from '../../../src/model/apis/check/value-schema.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { BoundedExpression } from '../../../src/model/patterns/bounded-expression.ts'
import { normalisedExpression } from '../../../src/model/patterns/pattern.ts'
import { MOST_PATTERN_WORK, newPatternWork } from '../../../src/model/patterns/pattern-work.ts'
import { HOSTILE } from '../../worlds/model/hostile-schemas.ts'

const OVER = { code: 'patterns_over_budget' }

function checkOf(schema: JsonObject, components: JsonObject = {}, modern = false) {
  const document = {
    openapi: modern ? '3.1.0' : '3.0.3',
    paths: { x: { schema } },
    components: { schemas: components },
  }
  const { check, code } = new ValueSchemas(document, []).at(['paths', 'x', 'schema'])
  Array.from(code.compile(true))
  return check
}

/** An account that counts what is spent on it once it is empty. */
function countingAccount() {
  let work = 0
  const account = {
    late: 0,
    get patternWork() {
      return work
    },
    set patternWork(value: number) {
      if (work > MOST_PATTERN_WORK) this.late++
      work = value
    },
  }
  return account
}

for (const { name, schema, components, modern, body, fits, over } of HOSTILE) {
  test(`a hostile schema is checked within the budget: ${name}`, () => {
    const check = checkOf(schema, components, modern)
    if (fits > 0) check(body(fits), newPatternWork())
    if (over === undefined) return
    const account = countingAccount()
    let refused = false
    try {
      refused = check(body(over), account).length > 0
    } catch (error) {
      assert.equal((error as { code?: string }).code, OVER.code)
      refused = true
    }
    assert.ok(refused, `${account.patternWork}`)
    // The same, where a refused value is checked for further errors.
    assert.ok(account.late <= 1, `${account.late}`)
    assert.throws(() => check(body(Math.max(fits, 1)), { patternWork: MOST_PATTERN_WORK }), OVER)
  })
}

for (const [name, schema, value] of [
  ['contains a constant', { contains: { const: 1 } }, 2],
  ['contains a reference', { contains: { $ref: '#/components/schemas/one' } }, 2],
  ['contains a choice', { contains: { enum: [1, 3] } }, 2],
  ['contains a multiple', { contains: { multipleOf: 2 } }, 3],
  ['contains a list that contains', { contains: { contains: { const: 1 } } }, [2, 2]],
  ['does not contain', { not: { contains: { const: 1 } } }, 2],
  ['all are of a choice', { items: { enum: [1] } }, 2],
  ['all are of a reference', { items: { $ref: '#/components/schemas/one' } }, 2],
  ['all are of alternatives', { items: { anyOf: [{ const: 1 }, { const: 3 }] } }, 2],
] as const)
  test(`errors are not copied for each that is found: ${name}`, () => {
    const check = checkOf({ type: 'array', ...schema } as JsonObject, { one: { const: 1 } }, true)
    const list = Array.from({ length: 1000 }, () => value)
    let copied = 0
    const { concat } = Array.prototype
    const replace = (value: unknown) =>
      Object.defineProperty(Array.prototype, 'concat', { value, writable: true, configurable: true })
    replace(function counted(this: unknown[], ...others: unknown[]) {
      copied += this.length
      return concat.apply(this, others)
    })
    let flaws: readonly unknown[]
    try {
      flaws = check(list as unknown as Json, newPatternWork())
    } finally {
      replace(concat)
    }
    assert.equal(flaws.length > 0, !('not' in schema))
    assert.ok(copied < 5000, `${copied}`)
  })

test('members with names of the language are compared as others', () => {
  const value = JSON.parse('{"valueOf":1,"toString":2,"__proto__":3,"hasOwnProperty":4}') as JsonObject
  for (const schema of [{ const: value }, { enum: [value] }]) {
    assert.deepEqual(checkOf(schema)(structuredClone(value), newPatternWork()), [])
    assert.equal(checkOf(schema)({ ...value, valueOf: 2 }, newPatternWork()).length, 1)
  }
})

test('an ordinary body of 1 MB is checked', () => {
  const word = { type: 'string', maxLength: 100 }
  const check = checkOf({
    type: 'array',
    items: {
      type: 'object',
      required: ['id', 'name'],
      additionalProperties: false,
      properties: {
        id: { type: 'integer', minimum: 0 },
        name: { ...word, pattern: '^[A-Za-z0-9 ]{1,64}$' },
        email: { type: 'string', format: 'email', pattern: '^[^@]+@[^@]+\\.[a-z]+$' },
        country: { ...word, enum: ['DE', ...Array.from({ length: 250 }, (_, i) => `C${i}`)] },
        tags: { type: 'array', items: word, uniqueItems: true },
        created: { type: 'string', format: 'date-time' },
        uuid: { type: 'string', format: 'uuid', pattern: '^[0-9a-f]{8}-[0-9a-f]{4}' },
      },
    },
  })
  const body = Array.from({ length: 5300 }, (_, id) => ({
    ...{ id, name: `Name ${id}`, email: `user${id}@mail.example`, country: 'C249', tags: ['a', 'b'] },
    ...{ created: '2024-01-01T00:00:00Z', uuid: '123e4567-e89b-12d3-a456-426614174000' },
  }))
  assert.deepEqual(check(body, newPatternWork()), [])
})

const values: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, 0, 1, 5, -0, 1.5, '', 'a', 'ab', 'b'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

const REFERENCES = ['A', 'B'].map((name) => ({ $ref: `#/components/schemas/${name}` }))
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object']
const schemas: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject }>((tie) => {
  const inner = tie('schema')
  const some = fc.array(inner, { minLength: 1, maxLength: 3 })
  const named = fc.dictionary(fc.constantFrom('a', 'b', 'c'), inner, { maxKeys: 3, noNullPrototype: true })
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 })
  const keywords = {
    ...{ type: fc.constantFrom(...TYPES), enum: fc.array(values, { minLength: 1, maxLength: 4 }), const: values },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ...{ anyOf: some, oneOf: some, allOf: some, not: inner, if: inner, then: inner, else: inner },
    ...{
      properties: named,
      required: names,
      additionalProperties: inner,
      propertyNames: inner,
      minProperties: fc.nat(2),
    },
    ...{
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c', 'x*b'), inner, {
        maxKeys: 2,
        noNullPrototype: true,
      }),
    },
    ...{ items: inner, contains: inner, uniqueItems: fc.boolean(), minItems: fc.nat(2), maxItems: fc.nat(3) },
    ...{
      pattern: fc.constantFrom('^a+$', 'a*b', 'b'),
      maxLength: fc.nat(2),
      minimum: fc.nat(2),
      multipleOf: fc.constantFrom(1, 2, 0.5),
    },
    ...{ dependentSchemas: named, unevaluatedProperties: inner, unevaluatedItems: inner, prefixItems: some },
  }
  const one = fc.oneof(
    ...Object.entries(keywords).map(([name, value]) => (value as fc.Arbitrary<unknown>).map((v) => ({ [name]: v }))),
  )
  return {
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonObject>({}, { type: 'string' }, { minimum: 1 }),
      fc.array(one, { minLength: 1, maxLength: 3 }).map((parts) => Object.assign({}, ...parts) as JsonObject),
      fc
        .tuple(one, fc.constantFrom(...REFERENCES))
        .map(([part, reference]) => ({ ...part, ...reference }) as JsonObject),
    ),
  }
}).schema

test('a schema says the same of a value as it does where nothing is charged', () => {
  const said = new Map<boolean, number>()
  fc.assert(
    fc.property(
      schemas,
      schemas,
      schemas,
      fc.array(values, { minLength: 4, maxLength: 8 }),
      fc.boolean(),
      (schema, a, b, all, modern) => {
        // One that leads to itself with the same value has no end.
        const components = { A: { properties: { a }, items: b }, B: { items: a } }
        const plain = new Ajv2020({
          strict: false,
          validateSchema: false,
          logger: false,
          unicodeRegExp: false,
        })
        addFormats.default(plain)
        plain.addSchema({ paths: { x: { schema } }, components: { schemas: components } } as JsonObject, 'd')
        const expected = plain.compile({ $ref: 'd#/paths/x/schema' })
        const check = checkOf(schema, components, modern)
        for (const value of all) {
          let fits: boolean
          try {
            fits = expected(value) as boolean
          } catch {
            // The engine fails where some alternatives of `oneOf` have judged members and others have not.
            return
          }
          said.set(fits, (said.get(fits) ?? 0) + 1)
          assert.equal(
            check(value, newPatternWork()).length === 0,
            fits,
            JSON.stringify({ value, schema, components, modern }),
          )
        }
      },
    ),
    { numRuns: 60 },
  )
  assert.ok((said.get(true) ?? 0) > 20 && (said.get(false) ?? 0) > 20)
})

test('a schema whose code would take long to compile is left out, and listed', () => {
  const many = (count: number, of: (index: number) => Json) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, of(i)]))
  const refused = (schema: JsonObject, reason: RegExp) => {
    const document = { openapi: '3.0.3', paths: { x: { schema } } }
    const { check, unchecked } = new ValueSchemas(document, []).at(['paths', 'x', 'schema'])
    assert.match(unchecked.map((flaw) => flaw.reason).join(), reason)
    assert.deepEqual(unchecked[0]?.at, ['paths', 'x', 'schema'])
    assert.deepEqual(check(-1, newPatternWork()), [])
  }
  checkOf({ anyOf: Object.values(many(MOST_ENTRIES, () => ({ minimum: 1 }))) })
  for (const keyword of ['anyOf', 'oneOf', 'allOf'])
    refused({ [keyword]: Object.values(many(MOST_ENTRIES + 1, () => ({ minimum: 1 }))) }, /more than 500 entries/)
  for (const keyword of ['properties', 'patternProperties'])
    refused({ [keyword]: many(MOST_ENTRIES + 1, () => ({ minimum: 1 })) }, /more than 500 entries/)
  const wide = { properties: many(50, () => ({ properties: many(MOST_IN_SCHEMA / 50, () => ({ minimum: 1 })) })) }
  refused(wide, /more than 2000 keywords/)
  const document = { openapi: '3.0.3', paths: {}, components: many(MOST_COMPILED, (minimum) => ({ minimum })) }
  const engine = new ValueSchemas(document, [])
  const unchecked = Object.keys(document.components).flatMap((name) => engine.at(['components', name]).unchecked)
  assert.match(unchecked.map(({ reason }) => reason).join(), /more than 20000/)
})

test('an expression finds the same in whichever engine, and its work grows with the text at most', () => {
  const pieces = ['a', 'b', '^', '$', '.', '*', '+', '?', '|', '(', ')', '[ab]', '{2}', '{1,3}', '(?:', '\\d']
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', '1'), { maxLength: 60 }).map((letters) => letters.join(''))
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...pieces), { maxLength: 10 }),
      fc.array(texts, { maxLength: 10 }),
      (parts, all) => {
        let plain: RegExp
        try {
          normalisedExpression(parts.join(''))
          plain = new RegExp(parts.join(''))
        } catch {
          return
        }
        const piece = normalisedExpression(parts.join(''))
        const bounded = new BoundedExpression(piece)
        for (const text of all)
          assert.deepEqual(
            bounded.exec(text)?.slice(),
            plain.exec(text)?.slice(),
            JSON.stringify([parts.join(''), text]),
          )
        for (const length of [10, 100, 1000, 100_000])
          assert.ok(bounded.workOf(length) <= 10_000 + length * 16 * (piece.size + 2), `${parts.join('')} ${length}`)
      },
    ),
    { numRuns: 500 },
  )
})
