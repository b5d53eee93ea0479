import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'

/** Texts that break what was written for friendly ones. */
export const NASTY: readonly string[] = [
  '',
  ' ',
  '../../etc/passwd',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  'a\r\nSet-Cookie: x=y',
  '\u0000',
  '(a+)+$',
  '[',
  '%',
  '_',
  '*',
  'é'.normalize('NFD'),
  '\u202e',
  'constructor',
  'toString',
  'http://169.254.169.254/latest/',
  '-1',
  '1e400',
  'x'.repeat(5000),
]

const nasty = fc.constantFrom(...NASTY)
const text = fc.oneof(fc.string({ maxLength: 30 }), nasty)
const number = fc.oneof(
  fc.integer({ min: -2, max: 5 }),
  fc.double({ noNaN: true }),
  fc.constantFrom(2 ** 53, -(2 ** 63), 1e308),
)

const anything: fc.Arbitrary<unknown> = fc.oneof(
  { depthSize: 'small', withCrossShrink: true },
  text,
  number,
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(text, fc.oneof(text, number, fc.constant(null)), { maxKeys: 3 }).map((value) => ({ ...value })),
)

/** Values that mostly fit a JSON Schema, with every now and then one that does not, at any depth. */
export function fitting(schema: JsonObject, depth = 0): fc.Arbitrary<unknown> {
  const own = depth > 4 ? anything : ownOf(schema, depth)
  return fc.oneof({ weight: 9, arbitrary: own }, { weight: 1, arbitrary: anything })
}

function ownOf(schema: JsonObject, depth: number): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  const choices = (schema.anyOf ?? schema.oneOf) as JsonObject[] | undefined
  if (Array.isArray(choices)) return fc.oneof(...choices.map((choice) => fitting(choice, depth + 1)))
  switch (schema.type) {
    case 'object':
      return objectOf(schema, depth)
    case 'array':
      return fc.array(fitting((schema.items as JsonObject) ?? {}, depth + 1), { maxLength: 3 })
    case 'string':
      return text
    case 'integer':
      return fc.integer({ min: -2, max: 1000 })
    case 'number':
      return number
    case 'boolean':
      return fc.boolean()
    default:
      return anything
  }
}

function objectOf(schema: JsonObject, depth: number): fc.Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>
  const required = (schema.required ?? []) as string[]
  const members = Object.fromEntries(Object.entries(properties).map(([name, own]) => [name, fitting(own, depth + 1)]))
  const more = fc.dictionary(text, anything, { maxKeys: 1 }).map((value) => ({ ...value }))
  return fc
    .tuple(fc.record(members, { requiredKeys: required.filter((name) => name in members) }), more)
    .map(([known, unknown]) => ({ ...unknown, ...known }))
}
