import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  compileNormalised,
  compilePattern,
  normalisedExpression,
  normalisedRewrite,
} from '../../../src/model/patterns/pattern.ts'
import { encodedPath } from '../../../src/model/patterns/readable-path.ts'

interface Recorded {
  readonly pattern: string
  readonly taken: boolean
  /** Texts, each with what was found in it. */
  readonly found: readonly (readonly [text: string, found?: string])[]
}

/** Finds of Go's regexp (`test/worlds/patterns/write-re2.ts`). */
const RECORDED = readFileSync(join(import.meta.dirname, '../../worlds/patterns/re2.txt'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded)
  .filter(({ taken }) => taken)
const said = (pattern: string, text: string) => JSON.stringify({ pattern, text })

test('expressions find what RE2 finds, in both engines', () => {
  let compared = 0
  for (const { pattern, found } of RECORDED) {
    const piece = normalisedExpression(pattern)
    const engines = [compileNormalised({ ...piece, choices: Number.POSITIVE_INFINITY })]
    if (piece.choices < 7) engines.push(compileNormalised(piece))
    for (const [text, match] of found)
      for (const engine of engines) {
        compared++
        assert.equal(engine.exec(text)?.[0], match, `${said(pattern, text)} by ${engine}`)
      }
  }
  assert.ok(compared > 4000, String(compared))
})

test('patterns of paths find what RE2 finds', () => {
  let compared = 0
  for (const { pattern, found } of RECORDED) {
    // Escapes, slashes and braces of paths mean more.
    if (/[/{%]/.test(pattern)) continue
    const expression = compilePattern(pattern)
    for (const [text, match] of found) {
      if (/[\n\t]/.test(text)) continue
      compared++
      assert.equal(expression.test(text), match !== undefined, said(pattern, text))
    }
  }
  assert.ok(compared > 1000, String(compared))
})

/** undefined for one that its escapes make too large. */
function rewriteOf(pattern: string): RegExp | undefined {
  try {
    return compileNormalised(normalisedRewrite(pattern))
  } catch (error) {
    assert.match(String(error), /too large/)
    return undefined
  }
}

test('patterns of rewrites find in escaped paths what RE2 finds in the text', () => {
  let compared = 0
  for (const { pattern, found } of RECORDED) {
    // One by one, escapes are other characters than the one that they are for.
    if (/[.%]|\[\^|\[:\^|\\[DWSPbB]|\\p\{?\^?[LN]/.test(pattern)) continue
    const expression = rewriteOf(pattern)
    if (expression === undefined) continue
    for (const [text, match] of found) {
      if (/[\n\tſK]/.test(text)) continue
      compared++
      const path = encodedPath(text)
      // The digits and letters of escapes are some too.
      if (match !== undefined || path === text)
        assert.equal(expression.test(path), match !== undefined, said(pattern, text))
    }
  }
  assert.ok(compared > 300, String(compared))
})
