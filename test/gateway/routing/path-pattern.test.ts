import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PathPattern } from '../../../src/gateway/routing/path-pattern.ts'

test('a placeholder is at least one character of one segment, a last star any tail', () => {
  const id = new PathPattern('/a/{id}', false)
  assert.ok(id.matches('/a/1'))
  assert.ok(!id.matches('/a/'))
  assert.ok(!id.matches('/a/1/2'))
  assert.ok(!id.matches('/A/1'))
  const tail = new PathPattern('/a/*', false)
  for (const path of ['/a', '/a/', '/a/b/c']) assert.ok(tail.matches(path), path)
  assert.ok(!tail.matches('/ab'))
  assert.ok(new PathPattern('/File-{x}.{y}', true).matches('/fILE-a.b'))
  assert.ok(!new PathPattern('/file-{x}.{y}', false).matches('/file-.b'))
})

const segment = fc.stringMatching(/^[a.-]{1,6}$/)
const template = fc
  .array(fc.oneof(fc.constantFrom('a', '.', '-'), fc.constant('{x}')), { minLength: 1, maxLength: 6 })
  .map((pieces) => pieces.join(''))
  // Dot segments are resolved.
  .filter((text) => text !== '.' && text !== '..')

test('agrees with the regular expression that says the same', () => {
  fc.assert(
    fc.property(
      fc.array(template, { minLength: 1, maxLength: 3 }),
      fc.array(segment, { minLength: 1, maxLength: 3 }),
      (pattern, path) => {
        const source = pattern.map((each) => each.replace(/[.-]/g, '\\$&').replace(/(?:\{x\})+/g, '[^/]+')).join('/')
        const text = `/${path.join('/')}`
        assert.equal(
          new PathPattern(`/${pattern.join('/')}`, false).matches(text),
          new RegExp(`^/${source}$`).test(text),
        )
      },
    ),
    { numRuns: 2000 },
  )
})
