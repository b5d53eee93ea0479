import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ExpressionIndex } from '../../../src/gateway/routing/expression-index.ts'
import { pathExpression } from '../../../src/model/apis/check/path-flaws.ts'
import { pathMatcher } from '../../../src/model/patterns/matcher.ts'
import { newPatternWork } from '../../../src/model/patterns/pattern-work.ts'
import { foldLetters } from '../../../src/model/text/fold.ts'
import { assertLinear } from '../../worlds/base/growth.ts'

/** Few characters, so that paths and templates often meet. */
const word = fc.string({ unit: fc.constantFrom('a', 'a', 'b', 'A', '-', 'é', '𝄞'), minLength: 1, maxLength: 4 })
const segment = fc.oneof(
  { weight: 4, arbitrary: word },
  { weight: 3, arbitrary: fc.constant('{x}') },
  { weight: 1, arbitrary: fc.tuple(word, word).map(([one, other]) => `${one}{x}${other}`) },
  { weight: 1, arbitrary: word.map((each) => `{x}${each}`) },
)
const template = fc
  .tuple(fc.array(segment, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '', '', '/'))
  .map(([segments, end]) => `/${segments.join('/')}${end}`)
const path = fc
  .tuple(fc.array(word, { maxLength: 6 }), fc.constantFrom('', '/'))
  .map(([segments, end]) => `/${segments.join('/')}${end}`)

/** Says the same as a template, in the engine of JavaScript alone. */
const oracle = (text: string, matching: string) =>
  new RegExp(
    `${matching === 'prefix' ? '^' : ''}${text
      .split('{x}')
      .map((literal) => literal.replace(/[-/]/g, '\\$&'))
      .join('[^/]+')}`,
  )

test('the index finds what each expression finds by itself', () => {
  fc.assert(
    fc.property(
      fc.array(template, { minLength: 1, maxLength: 12 }),
      fc.array(path, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('prefix', 'contains'),
      fc.boolean(),
      (templates, paths, matching, fold) => {
        const folded = (text: string) => (fold ? foldLetters(text) : text)
        const index = new ExpressionIndex(
          templates.map((entry) => ({
            entry,
            matcher: pathMatcher(pathExpression(entry, matching as 'prefix' | 'contains'), fold),
          })),
        )
        for (const each of paths) {
          const found: string[] = []
          index.walk(folded(each), (entry) => found.push(entry), newPatternWork())
          const expected = templates.filter((text) => oracle(folded(text), matching).test(folded(each)))
          assert.deepEqual(found.sort(), expected.sort(), `${each} ${matching}`)
        }
      },
    ),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 100_000 : 2_000 },
  )
})

test('expressions that begin alike are not compared one after another', () => {
  for (const [front, back] of [
    ['/service', '/items'],
    ['/api/v1/service', ''],
    ['/a/service', '/items/{id}'],
    ['/service', '/[a-z]+$'],
  ]) {
    const workOf = (count: number, asked: string): number => {
      const index = new ExpressionIndex(
        Array.from({ length: count }, (_, entry) => ({
          entry,
          matcher: pathMatcher(`${front}${1000 + entry}${back}`),
        })),
      )
      const account = newPatternWork()
      index.walk(asked, () => {}, account)
      return account.patternWork
    }
    for (const asked of [`${front}1003/items/4`, `${front}9999/items`, `/x${front}1003`, '/other'])
      assert.equal(workOf(2000, asked), workOf(10, asked), `${front} ${asked}`)
  }
})

test('placeholders of a path are found in time that grows with its length, whatever they hold', async () => {
  // Two spellings of any tail.
  const tailed = (path: string) => path.split('/*').join('/.*')
  const spelled = (path: string) =>
    (path.split('{').length === path.split('}').length ? path.replace(/(?<!\\[pPx])\{[^}]+\}/g, '{_}') : path)
      .split('/*/')
      .join('/{_}/')
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{', '}', 'a', '\\', 'p', 'x', '/', '*', ','), maxLength: 24 }),
      (path) => assert.equal(tailed(pathExpression(path, 'contains')), tailed(spelled(path))),
    ),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 100_000 : 2_000 },
  )
  for (const [front, unit, back] of [
    ['}', '{', ''],
    ['', '{}', ''],
    ['', '\\p{a}', ''],
    ['', '{a', '}'],
    ['', '{a}', ''],
  ] as const)
    await assertLinear(
      front + unit + back,
      (path) => pathExpression(path, 'contains'),
      (length) =>
        (front === '' ? '' : front.repeat(length)) + unit.repeat(length) + (back === '' ? '' : back.repeat(length)),
      65_536,
    )
})
