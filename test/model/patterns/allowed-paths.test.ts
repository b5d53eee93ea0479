import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compilePattern } from '../../../src/model/patterns/pattern.ts'

/** The expression that the incumbent makes of a path of `allowed_urls`, as it documents it. */
function expressionThere(path: string): RegExp {
  const [opened, closed] = [path.split('{').length, path.split('}').length]
  const named = opened > 1 && opened === closed ? path.replace(/\{[^}]+\}/g, '([^/]+)') : path
  return new RegExp(named.replaceAll('/*/', '/[^/]+/').replaceAll('/*', '/.*'))
}

test('a path of allowed_urls finds the requests that it finds at the incumbent', () => {
  const piece = fc.constantFrom('/', '/a', '/b', '/*', '/*/', '/{id}', '/{id}/', 'a', '^', '$', '.', '(a|/b)', 'a?')
  const path = fc.array(fc.constantFrom('a', 'b', 'ab', '*'), { maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), path, (pieces, asked) => {
      const pattern = pieces.join('')
      assert.equal(compilePattern(pattern).test(asked), expressionThere(pattern).test(asked), `${pattern} ${asked}`)
    }),
    { numRuns: 3_000 },
  )
})

for (const [pattern, found, missed] of [
  ['^/a/*/b$', '/a/x/b', '/a/x/y/b'],
  ['^/a/*/b$', '/a/x/b', '/a//b'],
  ['^/a/*', '/a/x/y', '/b/a'],
  ['^/*/*/c$', '/a/b/c', '/c'],
] as const)
  test(`${pattern} takes ${found} and not ${missed}`, () => {
    const compiled = compilePattern(pattern)
    assert.deepEqual([compiled.test(found), compiled.test(missed)], [true, false])
  })
