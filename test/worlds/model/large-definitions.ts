import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../base/definitions.ts'

const times = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => of(index))
const named = <T>(count: number, of: (index: number) => readonly [string, T]) => Object.fromEntries(times(count, of))

const operation = (operationId: string, more: JsonObject = {}): JsonObject => ({
  operationId,
  ...more,
  responses: { 200: { description: '' } },
})
const bodyOf = (schema: JsonObject): JsonObject => ({ requestBody: { content: { 'application/json': { schema } } } })

/** A definition of `count` operations, each with these rules. */
function operations(
  count: number,
  rules: (index: number) => JsonObject,
  more: (index: number) => JsonObject = () => ({}),
) {
  return {
    paths: named(count, (i) => [`/things/${i}`, { post: operation(`op${i}`, more(i)) }]),
    operations: named(count, (i) => [`op${i}`, rules(i)]),
  }
}

const CHECKED = { validateRequest: { enabled: true } }
const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` })

/** Parts of definitions that are as large as they may be, each in one thing. */
const PARTS: Readonly<Record<string, () => JsonObject>> = {
  operations: () => operations(10_000, () => ({ allow: { enabled: true } })),
  'operations whose requests are checked': () => operations(10_000, () => CHECKED),
  'header edits': () =>
    operations(64, () => ({
      transformRequestHeaders: { enabled: true, add: times(500, (i) => ({ name: `X-H-${i}`, value: `${i}` })) },
    })),
  triggers: () =>
    operations(1, () => ({
      urlRewrite: {
        ...{ enabled: true, pattern: '.*', rewriteTo: '/x' },
        triggers: times(50, (trigger) => ({
          ...{ condition: 'all', rewriteTo: `/y${trigger}` },
          rules: times(100, (i) => ({ in: 'query', name: `q${i}`, pattern: `^(a|b)${trigger}c${i}[a-z]+x?e{60}$` })),
        })),
      },
    })),
  patterns: () => ({
    ...operations(
      19,
      () => CHECKED,
      (i) => bodyOf(ref(`S${i}`)),
    ),
    schemas: named(19, (i) => [
      `S${i}`,
      { properties: named(500, (of) => [`p${of}`, { pattern: `^[a-z]{1,3}x${i}y${of}[0-9]+$` }]) },
    ]),
  }),
  'schemas that lead to each other': () => ({
    ...operations(
      1,
      () => CHECKED,
      () => bodyOf(ref('S0')),
    ),
    schemas: named(1500, (i) => [
      `S${i}`,
      { required: ['a'], properties: { a: ref(`S${(i + 1) % 1500}`), b: ref(`S${(i * 7 + 3) % 1500}`) } },
    ]),
  }),
  'choices with defaults': () => ({
    ...operations(
      1,
      () => ({ validateRequest: { enabled: true, fillDefaults: true } }),
      () => bodyOf({ properties: named(38, (i) => [`c${i}`, ref(`C${i}`)]) }),
    ),
    schemas: named(38, (i) => [
      `C${i}`,
      { oneOf: times(240, (of) => ({ properties: { [`k${i}_${of}`]: { type: 'integer', default: of } } })) },
    ]),
  }),
}

/** Definitions that are as large as they may be, each in one thing, by what that is. */
export function largeDefinitions(url: string): Readonly<Record<string, JsonObject>> {
  const all = Object.entries(PARTS).map(([name, make], index) => {
    const { schemas, ...parts } = make()
    const definition = defined({ id: `large${index}`, url, ...parts })
    return [name, { ...definition, ...(schemas && { components: { ...(definition.components as object), schemas } }) }]
  })
  return Object.fromEntries(all)
}
