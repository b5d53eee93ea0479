import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { API_BOUNDS, boundFlaws } from '../../../src/model/apis/check/bounds.ts'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { normalisedExpression, normalisedPattern } from '../../../src/model/patterns/pattern.ts'
import { compileWeight } from '../../../src/model/patterns/pattern-work.ts'
import { mergePolicies } from '../../../src/model/policies/merge-policies.ts'
import { COMMON, checkFields, checksOf, Findings } from '../../../src/model/sessions/session-fields.ts'

const PARTS = [
  'a',
  'k',
  '\\pL',
  '\\PN',
  '[\\pLx]',
  '[^\\p{Greek}]',
  '{2}',
  '{3,9}',
  '+',
  '(?i)',
  '(?i:k)',
  '(k|\\pL)',
  '.',
  '\\d',
]

test('property: what an expression is written out to is no longer than twice its weight', () => {
  let compiled = 0
  const expression = fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(expression, (source) => {
      let text: string
      try {
        text = normalisedExpression(source).text
      } catch {
        return
      }
      compiled++
      assert.ok(text.length <= 100 + 2 * compileWeight(source), `${source}: ${text.length} of ${compileWeight(source)}`)
    }),
    { numRuns: 300 },
  )
  assert.ok(compiled > 50, `only ${compiled} compiled`)
})

test('ordinary expressions weigh what they are long', () => {
  for (const source of ['^/orders/[^/]+$', '/a/{id}', '(get|set)[A-Z]\\w*', 'caf\\x{e9}']) {
    normalisedPattern(source)
    assert.equal(compileWeight(source), source.length)
  }
})

/** Short, and together more than the bounds allow. */
const heavy = (count: number) => Array.from({ length: count }, (_, index) => `/${index}\\pL\\pL\\pL\\pL\\pL`)

test('every place that bounds the characters of expressions bounds their weight', () => {
  const place = (path: readonly string[], values: readonly Json[]): Json => {
    const [step, ...rest] = path
    if (step === undefined) return values[0]!
    if (step !== '*') return { [step]: place(rest, values) }
    if (rest.includes('*')) return { one: place(rest, values) }
    return Object.fromEntries(values.map((value, index) => [`m${index}`, place(rest, [value])]))
  }
  let places = 0
  for (const format of ['classic', 'oas'] as const)
    for (const { at, counts } of API_BOUNDS[format]) {
      if (counts !== 'characters') continue
      places++
      const definition = place(at.split('.'), heavy(at.includes('*') ? 100 : 1)) as JsonObject
      const refused = boundFlaws(format, definition).filter(({ reason }) => reason.includes('characters'))
      assert.equal(refused.length, 1, `${format} ${at}`)
    }
  assert.ok(places >= 7, `${places} places`)
  for (const member of ['allowed_urls', 'endpoints']) {
    const entries = heavy(100).map((text) =>
      member === 'endpoints' ? { path: text, methods: [] } : { url: text, methods: ['GET'] },
    )
    const access_rights = { a: { api_id: 'a', versions: [], [member]: entries } }
    const findings = new Findings()
    checkFields({ access_rights }, checksOf(COMMON), '', findings)
    assert.match(JSON.stringify(findings), /characters of patterns/, member)
    assert.match(String(mergePolicies({ access_rights } as never, [])), /characters, at most/, member)
  }
})
