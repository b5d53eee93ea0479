import type { Json, JsonObject } from '../../../src/model/json/json.ts'

/** A schema of an OpenAPI document, and bodies of growing size that cost much to check by it. */
export interface HostileSchema {
  readonly name: string
  readonly schema: JsonObject
  readonly components?: JsonObject
  /** OpenAPI 3.1, where JSON Schema 2020-12 is read. */
  readonly modern?: true
  readonly body: (size: number) => Json
  /** Size that takes more than the budget, and one that fits; left out = no size of up to 1 MB does. */
  readonly over?: number
  readonly fits: number
}

const many = <T>(count: number, of: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => of(index))
const members = (count: number, of: (index: number) => Json, name = (index: number) => `k${index}`): JsonObject =>
  Object.fromEntries(many(count, (index) => [name(index), of(index)]))
const nested = (depth: number): Json => (depth === 0 ? 1 : [nested(depth - 1)])
const A = { $ref: '#/components/schemas/A' }
const list = (items: Json): JsonObject => ({ type: 'array', items })

export const HOSTILE: readonly HostileSchema[] = [
  {
    name: 'anyOf',
    schema: A,
    components: { A: list({ anyOf: [A, { allOf: [A] }] }) },
    body: nested,
    fits: 8,
    over: 30,
  },
  {
    name: 'oneOf',
    schema: A,
    components: { A: { oneOf: [list(A), { ...list(A), minItems: 9 }] } },
    body: nested,
    fits: 8,
    over: 30,
  },
  {
    name: 'allOf',
    schema: A,
    components: { A: { allOf: [list({ anyOf: [A, { type: 'number' }] }), list({ anyOf: [A, { type: 'number' }] })] } },
    body: nested,
    fits: 8,
    over: 30,
  },
  {
    name: 'not',
    schema: A,
    components: {
      A: list({
        allOf: [
          { not: { not: { anyOf: [A, { type: 'string' }] } } },
          { not: { not: { anyOf: [A, { type: 'number' }] } } },
        ],
      }),
    },
    body: nested,
    fits: 8,
    over: 30,
  },
  {
    name: 'if',
    schema: A,
    modern: true,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    components: { A: list({ if: A, else: { anyOf: [A, { type: 'number' }] }, then: A }) },
    body: nested,
    fits: 8,
    over: 40,
  },
  {
    name: 'dependentSchemas',
    schema: A,
    modern: true,
    components: { A: { dependentSchemas: { a: { properties: { a: A } }, b: { properties: { a: A } } } } },
    body: (size) => many(size, () => 0).reduce<Json>((inner) => ({ a: inner, b: 1 }), 1),
    fits: 8,
    over: 30,
  },
  {
    name: '$dynamicRef',
    modern: true,
    schema: A,
    components: {
      A: {
        $dynamicAnchor: 'x',
        type: 'array',
        items: {
          anyOf: [{ allOf: [{ $dynamicRef: '#x' }, { type: 'string' }] }, { $dynamicRef: '#x' }, { type: 'number' }],
        },
      },
    },
    body: nested,
    fits: 8,
    over: 30,
  },
  {
    name: 'anyOf of many',
    schema: list({ anyOf: many(500, (i) => ({ type: 'object', required: [`k${i}`] })) }),
    body: (size) => many(size, () => ({ k499: 1 })),
    fits: 10,
    over: 2000,
  },
  {
    name: 'oneOf of many types',
    schema: list({ oneOf: [...many(499, () => ({ type: 'string' })), { type: 'number' }] }),
    body: (size) => many(size, () => 1),
    fits: 10,
    over: 5000,
  },
  {
    name: 'patternProperties',
    schema: {
      patternProperties: members(
        200,
        () => ({ type: 'string' }),
        (i) => `a*a*b${i}`,
      ),
    },
    body: (size) =>
      members(
        size,
        () => 1,
        (i) => 'a'.repeat(50) + i,
      ),
    fits: 10,
    over: 3000,
  },
  {
    name: 'enum of objects',
    schema: list({ enum: many(3000, (a) => ({ a })) }),
    body: (size) => many(size, () => ({ a: 2999 })),
    fits: 20_000,
  },
  {
    name: 'enum of deep values',
    schema: A,
    components: { A: { ...list(A), not: { enum: [[['x']]] } } },
    body: (size) => many(60, () => 0).reduce<Json>((inner) => [inner], 'y'.repeat(size)),
    fits: 500,
    over: 900_000,
  },
  {
    name: 'const',
    schema: list({ not: { const: many(2000, (i) => ({ i })) } }),
    body: (size) => many(size, () => many(20, (i) => ({ i }))),
    fits: 10,
    over: 10_000,
  },
  {
    name: 'uniqueItems',
    schema: { ...list({ ...list({}), uniqueItems: true }), uniqueItems: true },
    body: (size) => many(size, (i) => many(20, (j) => [i, j])),
    fits: 1000,
  },
  {
    name: 'contains',
    schema: list({ ...list({}), contains: { const: 5 } }),
    body: (size) => many(size, () => [...many(100, () => 1), 5]),
    fits: 1000,
  },
  {
    name: 'pattern',
    schema: list({ type: 'string', pattern: '(?:[a-c]|[x-z]){8}[0-9]|a*a*a*b|^' }),
    body: (size) => ['x'.repeat(size)],
    fits: 10_000,
    over: 900_000,
  },
  {
    name: 'pattern of many',
    schema: list({ type: 'string', pattern: '^(?:[a-z]|-){1,40}$|^[a-z]*$' }),
    body: (size) => many(size, () => 'abc-def'),
    fits: 1000,
    over: 60_000,
  },
  {
    name: 'format email',
    schema: list({ type: 'string', format: 'email' }),
    body: (size) => many(size, () => 'a@b.example'),
    fits: 50_000,
  },
  {
    name: 'format url',
    schema: list({ type: 'string', format: 'url' }),
    body: (size) => [`http://${':'.repeat(size / 4)}${'@'.repeat(size / 4)}a.example${'/'.repeat(size / 2)}`],
    fits: 900_000,
  },
  {
    name: 'multipleOf',
    schema: list({ type: 'number', multipleOf: 1e-300 }),
    body: (size) => many(size, () => 1),
    fits: 1000,
  },
  {
    name: 'properties of many',
    schema: list({ properties: members(500, () => ({ type: 'string' })) }),
    body: (size) => many(size, () => ({})),
    fits: 100,
    over: 2000,
  },
  {
    name: 'required of many',
    schema: list({ anyOf: [{ required: many(5000, (i) => `k${i}`) }, true] }),
    body: (size) => many(size, () => members(20, () => 1)),
    fits: 100,
    over: 100_000,
  },
  {
    name: 'additionalProperties',
    schema: list({ properties: members(8, () => ({})), additionalProperties: { minimum: 0 } }),
    body: (size) =>
      many(size, () =>
        members(
          100,
          () => 1,
          (i) => `x${i}`,
        ),
      ),
    fits: 100,
    over: 8000,
  },
  {
    name: 'propertyNames',
    modern: true,
    schema: list({ propertyNames: { maxLength: 10 }, maxProperties: 1000 }),
    body: (size) => many(size, () => members(100, () => 1)),
    fits: 100,
    over: 8000,
  },
  {
    name: 'unevaluatedProperties',
    modern: true,
    schema: A,
    components: {
      A: list({
        unevaluatedProperties: true,
        anyOf: [{ allOf: many(50, (i) => ({ $ref: `#/components/schemas/P${i}` })) }, true],
      }),
      ...Object.fromEntries(
        many(50, (i) => [
          `P${i}`,
          {
            properties: members(
              20,
              () => ({}),
              (j) => `k${i}_${j}`,
            ),
            if: { minProperties: 0 },
            // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
            then: {
              properties: members(
                20,
                () => ({}),
                (j) => `q${i}_${j}`,
              ),
            },
          },
        ]),
      ),
    },
    body: (size) => many(size, () => ({})),
    fits: 3,
    over: 2000,
  },
]
