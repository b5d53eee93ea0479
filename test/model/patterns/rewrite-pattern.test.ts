import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileRewritePattern } from '../../../src/model/patterns/rewrite-target.ts'

/** Near the ends of what one, two, three and four bytes hold, of letters, and of surrogates. */
const EDGES = [
  0x61, 0x7f, 0x80, 0xbf, 0xc0, 0xe9, 0x7ff, 0x800, 0x4e00, 0x9fff, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x1f600, 0x10ffff,
]
const code = fc.oneof(
  fc.tuple(fc.constantFrom(...EDGES), fc.integer({ min: -2, max: 2 })).map(([edge, by]) => edge + by),
  fc.integer({ min: 0x80, max: 0x10ffff }),
)
const character = code
  .filter((each) => each >= 0x80 && each <= 0x10ffff && (each < 0xd800 || each > 0xdfff))
  .map((each) => String.fromCodePoint(each))
const letter = fc.oneof(character, fc.constantFrom('a', 'z', 'A', '5', '-', '.', ' ', '"'))
const ordered = fc
  .tuple(character, character)
  .map((ends) => ends.sort((a, b) => a.codePointAt(0)! - b.codePointAt(0)!).join('-'))
const members = fc
  .array(
    fc.oneof(
      ordered,
      letter.map((each) => (each === '-' ? '\\-' : each)),
      fc.constantFrom('\\d', 'a-f'),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((all) => all.join(''))

test('a class with any characters matches the escapes of those that it holds, and of no others', () => {
  const said = new Set<boolean>()
  let taken = 0
  fc.assert(
    fc.property(members, fc.array(letter, { minLength: 20, maxLength: 40 }), (inner, letters) => {
      const pattern = `^/([${inner}])$`
      const expected = new RegExp(pattern, 'u')
      let expression: RegExp
      try {
        expression = compileRewritePattern(pattern)
      } catch (error) {
        assert.match(String(error), /too large once/)
        return
      }
      taken++
      // The characters at the ends of ranges, and their neighbours.
      const ends = [...inner].map((each) => each.codePointAt(0)!).flatMap((each) => [each - 1, each, each + 1])
      const near = ends.filter((each) => each >= 0x80 && each <= 0x10ffff && (each < 0xd800 || each > 0xdfff))
      for (const each of [...letters, ...near.map((one) => String.fromCodePoint(one))]) {
        const holds = expected.test(`/${each}`)
        said.add(holds)
        assert.equal(expression.test(`/${encodeURIComponent(each)}`), holds, JSON.stringify({ pattern, each }))
      }
    }),
    { numRuns: 400 },
  )
  assert.equal(said.size, 2)
  assert.ok(taken > 200, String(taken))
})

test('a class is a group that does not capture, and can be repeated', () => {
  const found = compileRewritePattern('^/([à-ü]+)/([é%20x]{2})$').exec('/%C3%A9%C3%A0/x%20')
  assert.deepEqual([found?.[1], found?.[2]], ['%C3%A9%C3%A0', 'x%20'])
  assert.deepEqual(compileRewritePattern('^/[一-鿿]{2,3}$').test('/%E6%96%87%E5%AD%97'), true)
  for (const pattern of ['^/[^é]$', '^/[^%C3%A9]$', '^/[ü-à]$', '^/[%C3]$', '^/[]$', '^/[é', '^/é]['])
    assert.throws(() => compileRewritePattern(pattern), { code: 'pattern_invalid' }, pattern)
})
