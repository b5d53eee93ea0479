import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault } from '../../../src/errors/fault.ts'
import type { Json } from '../../../src/model/json/json.ts'
import { readJsonText } from '../../../src/model/json/json-body.ts'

/** A JSON text in pieces: numbers are texts, so that no reader has rounded them. */
type Piece =
  | { readonly number: string }
  | { readonly text: string }
  | Piece[]
  | { readonly members: Readonly<Record<string, Piece>> }

const digits = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n })
const near = fc.bigInt({ min: -3n, max: 3n }).map((n) => 2n ** 53n + n)
const int64 = fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n - 1n, 2n ** 54n)
const literal = fc.oneof(
  fc
    .oneof(
      digits,
      near,
      int64,
      near.map((n) => -n),
    )
    .map(String),
  fc.integer().map(String),
  fc.constantFrom('1e20', '1E+400', '-1e999', '0.1', '12345678901234567890.5', '1.0e300', '-0', '9007199254740993e0'),
)
const name = fc.constantFrom('a', 'b', 'id', '9007199254740993', 'schema')
const { piece } = fc.letrec<{ piece: Piece }>((tie) => ({
  piece: fc.oneof(
    { maxDepth: 4 },
    literal.map((number) => ({ number })),
    fc.constantFrom('9007199254740993', '\\"12345678901234567890').map((text) => ({ text })),
    fc.array(tie('piece'), { maxLength: 3 }),
    fc.dictionary(name, tie('piece'), { maxKeys: 3, noNullPrototype: true }).map((members) => ({ members })),
  ),
}))

function written(each: Piece): string {
  if (Array.isArray(each)) return `[${each.map(written).join(' , ')}]`
  if ('number' in each) return each.number
  if ('text' in each) return `"${each.text}"`
  return `{${Object.entries(each.members)
    .map(([key, value]) => `"${key}" :${written(value)}`)
    .join(',')}}`
}

/** Places of numbers that this runtime cannot keep, in the order of its readers. */
function lostIn(each: Piece, value: Json, at: string): string[] {
  if (Array.isArray(each)) return each.flatMap((item, i) => lostIn(item, (value as Json[])[i]!, `${at}[${i}]`))
  if ('text' in each) return []
  if ('members' in each)
    return Object.entries(each.members).flatMap(([key, item]) =>
      lostIn(item, (value as Record<string, Json>)[key]!, at === '' ? key : `${at}.${key}`),
    )
  if (!Number.isFinite(value)) return [at]
  return /^-?\d+$/.test(each.number) && BigInt(each.number) ** 2n > (2n ** 53n - 1n) ** 2n ? [at] : []
}

test('an integer is kept digit for digit, or its place is named', () => {
  fc.assert(
    fc.property(piece, (sent) => {
      const text = written(sent)
      const lost = lostIn(sent, JSON.parse(text) as Json, '')
      // A number with an exponent may have the value of another that is written out.
      try {
        const value = readJsonText(text)
        assert.deepEqual(lost, [], text)
        assert.deepEqual(value, JSON.parse(text))
      } catch (error) {
        assert.ok(error instanceof Fault && error.code === 'body_invalid', String(error))
        assert.ok(lost.length > 0, `${text}: ${error.message}`)
        assert.match(error.message, /2\^53/)
      }
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 100_000 : 2_000 },
  )
})

const OAS = (more: string) => `{"openapi":"3.0.3","info":{"title":"x"},${more}}`
const MAX = '{"type":"integer","maximum":9223372036854775807}'
const CASES: Readonly<Record<string, readonly [text: string, place: string | undefined]>> = {
  'a bound in a document': [OAS(`"components":{"schemas":{"a":${MAX}}}`), undefined],
  'a bound in a document within a list': [`{"apis":[{"oas":${OAS(`"x":${MAX}`)}}]}`, undefined],
  'our part of a document': [OAS(`"x-svc-api-gateway":{"a":[1,${MAX}]}`), 'x-svc-api-gateway.a[1].maximum'],
  'our part under another word': [OAS(`"x-tyk-api-gateway":{"n":9007199254740993}`), 'x-tyk-api-gateway.n'],
  'an infinite bound in a document': [OAS('"x":{"maximum":1e400}'), 'x.maximum'],
  'a check of a classic definition': [`{"validate_json":[{"schema":${MAX},"path":"/a"}]}`, undefined],
  'beside a document': [`{"n":9007199254740993,"oas":${OAS('"x":1')}}`, 'n'],
  'a member called openapi in free data': ['{"meta_data":{"openapi":"3","n":9007199254740993}}', 'meta_data.n'],
  'the whole body': ['12345678901234567890', 'the body'],
}
for (const [title, [text, place]] of Object.entries(CASES))
  test(`large integers: ${title}`, () => {
    if (place === undefined) assert.deepEqual(readJsonText(text), JSON.parse(text))
    else
      assert.throws(
        () => readJsonText(text),
        (error) => error instanceof Fault && error.message.startsWith(`${place}: `),
      )
  })
