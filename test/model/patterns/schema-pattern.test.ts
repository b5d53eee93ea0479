import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SchemaPattern } from '../../../src/model/patterns/schema-pattern.ts'

const UNITS_PER_MS = 500_000

const atom = fc.constantFrom(
  ...['a', 'b', '.', '\\d', '\\w', '[ab]', '[^a]', '\\p{L}', '\\P{L}', '\\p{Script=Greek}', '\u{1F600}', '\\u{1F600}'],
  ...['[\\p{Lu}\\-]', '(?=.*b)', '(?!a)', '(?<=a)', '\\/', '-'],
)
const rounds = fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{1,3}', '{0,40}', '{2,}', '*?')
const part: fc.Arbitrary<string> = fc
  .tuple(atom, rounds)
  .map(([text, sign]) => (text.startsWith('(?') ? text : text + sign))
const sequence = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
const group = fc.tuple(sequence, sequence, rounds).map(([one, other, sign]) => `(?:${one}|${other})${sign}`)
const pattern = fc
  .tuple(
    fc.constantFrom('', '^'),
    fc.array(fc.oneof(sequence, group), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '$'),
  )
  .map(([start, parts, end]) => start + parts.join('') + end)
const text = fc
  .array(fc.constantFrom('a', 'b', 'B', '1', ' ', '-', '/', 'é', 'λ', '\u{1F600}', '\u{20000}'), { maxLength: 12 })
  .map((letters) => letters.join(''))

test('a pattern of a schema finds what ECMA-262 with the flag u finds', () => {
  let taken = 0
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 5, maxLength: 10 }), (source, texts) => {
      const expected = new RegExp(source, 'u')
      let own: SchemaPattern
      try {
        own = new SchemaPattern(source)
      } catch {
        return
      }
      taken++
      // One repetition in another runs in the linear engine only, which takes a character beyond U+FFFF for two.
      const isNested = /\)[*+{]/.test(source)
      for (const each of texts.filter((one) => !isNested || !/[^\0-\uFFFF]/u.test(one)))
        assert.equal(own.test(each), expected.test(each), JSON.stringify({ source, each }))
    }),
    { numRuns: 1500 },
  )
  assert.ok(taken > 500, String(taken))
})

test('ordinary patterns of documents are taken, and cost little', () => {
  const plain = [
    ...[
      '^.{1,4000}$',
      '^\\p{L}[\\p{L}\\p{N} .-]*$',
      '^(?=.*[A-Z])(?=.*\\d).{8,}$',
      '^(?!.*\\.\\.)[a-z.]+$',
      '[\\s\\S]{1,1024}',
    ],
    ...[
      '^[\\w\\-]+$',
      '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
      '^.{0,65535}$',
      '^[^/]{1,512}$',
    ],
  ]
  for (const source of plain) assert.ok(new SchemaPattern(source).workOf('a'.repeat(200)) < UNITS_PER_MS, source)
  for (const source of ['(a)\\1', '(?i)a', '(?=(a+)+$)b', '[', 'a'.repeat(5000)])
    assert.throws(() => new SchemaPattern(source), { code: 'pattern_invalid' }, source)
})

test('the work of a pattern is charged before it is done', () => {
  for (const source of [
    '(?=a)a*a*a*b',
    '\\p{L}*\\p{L}*1',
    '(?:(?=.*b)a)*c',
    '^(?=.*a.*a.*a.*b).*$',
    '.{0,4000}.{0,4000}\\p{Lu}$',
  ]) {
    const own = new SchemaPattern(source)
    let length = 10
    while (own.workOf('a'.repeat(length * 2)) < 20_000_000 && length < 1_000_000) length *= 2
    const worst = 'a'.repeat(length)
    const start = performance.now()
    own.test(worst)
    const spent = (performance.now() - start) * UNITS_PER_MS
    // A busy machine may take ten times as long; a wrong bound is off by the length.
    assert.ok(
      spent < 20 * Math.max(own.workOf(worst), UNITS_PER_MS),
      `${source} ${length} ${spent} ${own.workOf(worst)}`,
    )
  }
})
