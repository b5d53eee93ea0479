import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compilePattern } from '../../../src/model/patterns/pattern.ts'
import { foldLetters, foldWithOrigins } from '../../../src/model/text/fold.ts'

test('a letter folds to one text in each of its cases, whatever its neighbours', () => {
  for (let code = 0; code <= 0x1ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const letter = String.fromCodePoint(code)
    const folded = foldLetters(letter)
    for (const other of [letter.toUpperCase(), letter.toLowerCase(), folded])
      assert.equal(foldLetters(other), folded, code.toString(16))
    assert.equal(foldLetters(`Α${letter}`), foldLetters('Α') + folded, code.toString(16))
  }
  assert.equal(foldLetters('ΟΔΟΣ'), foldLetters('οδος'))
  assert.equal(foldLetters('STRASSE'), foldLetters('straße'))
  assert.equal(foldLetters('\u{10400}'), foldLetters('\u{10428}'))
})

const LETTERS = ['A', 'z', 'É', 'Σ', 'ς', 'ß', 'ẞ', 'İ', 'ı', 'ſ', 'K', 'ÿ', '-', '.', '\u{10400}']
const text = fc.array(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: 6 }).map((letters) => letters.join(''))

/** Each letter in one of its cases. */
function recased(letters: string, dice: readonly number[]): string {
  return [...letters]
    .map((letter, i) => [letter, letter.toUpperCase(), letter.toLowerCase()][dice[i % dice.length]! % 3]!)
    .join('')
}

test('a pattern that ignores case matches every case in words, escapes and classes', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(9), { minLength: 3, maxLength: 7 }), (letters, dice) => {
      const sent = foldLetters(recased(letters, dice))
      const plain = letters.replace(/[.-]/g, '\\$&')
      const spellings = [
        plain,
        encodeURIComponent(letters).replace(/[.-]/g, '\\$&'),
        plain.replace(/[A-Z]/g, (letter) => `\\x${letter.charCodeAt(0).toString(16)}`),
        letters
          .replace(/[^-.\p{Cs}]/gu, (letter) => (letter.length === 1 ? `[${letter}]` : letter))
          .replace(/[.-]/g, '\\$&'),
        letters
          .replace(/[^-.]/gu, (letter) => (letter.length === 1 ? `[${letter}-${letter}]` : letter))
          .replace(/(?<=^|\]|[-.])[-.]/g, '\\$&'),
      ]
      for (const pattern of spellings) assert.match(sent, compilePattern(`^${pattern}$`, true), pattern)
      assert.doesNotMatch(`${sent}x`, compilePattern(`^${plain}$`, true))
    }),
    { numRuns: 1000 },
  )
  assert.match('admin', compilePattern('^[A-Z]+$', true))
  assert.doesNotMatch('admin', compilePattern('^[^A-Z]+$', true))
  assert.match('éa', compilePattern('^[À-Ö]\\D$', true))
  assert.doesNotMatch('admin', compilePattern('^[A-Z]+$'))
})

test('parts of a folded text are found again in the text', () => {
  fc.assert(
    fc.property(text, text, (left, right) => {
      const { text: folded, origins } = foldWithOrigins(left + right)
      assert.equal(folded, foldLetters(left + right))
      assert.equal((left + right).slice(origins[foldLetters(left).length], origins[folded.length]), right)
    }),
  )
})
