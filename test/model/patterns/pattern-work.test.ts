import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { operationIndex } from '../../../src/gateway/routing/operation-index.ts'
import { pathMatcher } from '../../../src/model/patterns/matcher.ts'
import { compilePattern } from '../../../src/model/patterns/pattern.ts'
import { MOST_PATTERN_WORK, newPatternWork, WORK_OF_EXPRESSION } from '../../../src/model/patterns/pattern-work.ts'
import { mergePolicies } from '../../../src/model/policies/merge-policies.ts'
import type { Policy, Session } from '../../../src/model/sessions/session.ts'
import { compileAccess } from '../../../src/model/sessions/session-access.ts'

const PIECES = [
  'a',
  'b',
  '/',
  '^',
  '$',
  '.',
  '*',
  '+',
  '?',
  '|',
  '(',
  ')',
  '[ab]',
  '[^/]',
  '{id}',
  '/*',
  '\\d',
  '\\.',
  '\\/',
  '{2}',
  '-',
  '%20',
  '1',
]
const patterns = fc.array(fc.constantFrom(...PIECES), { maxLength: 10 }).map((pieces) => pieces.join(''))
const paths = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '1', '-', ' ', '\n'), maxLength: 12 })

test('a pattern that is compared by its literal parts first matches what its expression matches', () => {
  const said = new Set<boolean>()
  fc.assert(
    fc.property(patterns, fc.array(paths, { minLength: 5, maxLength: 20 }), (text, all) => {
      let expression: RegExp
      try {
        expression = compilePattern(text)
      } catch {
        return
      }
      const matcher = pathMatcher(text)
      for (const path of all) {
        const expected = expression.test(path)
        said.add(expected)
        assert.equal(matcher.test(path, newPatternWork()), expected, JSON.stringify({ text, path }))
      }
    }),
    { numRuns: 1000 },
  )
  assert.equal(said.size, 2)
})

test('what is literal of a pattern is found', () => {
  const parts = (text: string) => {
    const { prefix, part, exact } = pathMatcher(text)
    return [prefix, part, exact]
  }
  assert.deepEqual(parts('^/pay/items$'), ['/pay/items', '', true])
  assert.deepEqual(parts('^/pay/{id}/items/.*'), ['/pay/', '/items/', false])
  assert.deepEqual(parts('/pay/v1\\.0'), ['', '/pay/v1.0', false])
  assert.deepEqual(parts('^/a|/b'), ['', '', false])
  assert.deepEqual(parts('^/ab*'), ['/a', '', false])
})

const many = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, index) => of(index))
const narrow = (index: number) => `^/([a-y]+)/([0-9]*${index}x)`
const literal = (index: number) => `^/pay/items/${index}/.*`

/** A key with as many policies as it takes to hold these patterns. */
function grantOf(urls: readonly string[], endpoints: readonly string[] = []) {
  const policies: Policy[] = []
  for (let at = 0; at < Math.max(urls.length, endpoints.length, 1); at += 500) {
    const right = {
      ...{ api_id: 'pay', versions: ['Default'] },
      allowed_urls: urls.slice(at, at + 500).map((url) => ({ url, methods: ['GET'] })),
      endpoints: endpoints
        .slice(at, at + 500)
        .map((path) => ({ path, methods: [{ name: 'GET', limit: { rate: 5, per: 1 } }] })),
    }
    policies.push({ id: `p${at}`, org_id: 'o', access_rights: { pay: right }, rate: 1000, per: 1 } as unknown as Policy)
  }
  const session = { apply_policies: policies.map(({ id }) => id), org_id: 'o' } as unknown as Session
  const merged = mergePolicies(session, policies)
  assert.ok(!(merged instanceof Error), String(merged))
  return compileAccess(merged, 'pay', 'c')!
}

const OVER = { code: 'patterns_over_budget' }

test('a key whose policies hold more patterns than the budget is refused in bounded work', () => {
  const path = '/pay/items/7/x'
  const grant = grantOf(many(6000, narrow))
  const account = newPatternWork()
  assert.throws(() => grant.allows('GET', path, account), OVER)
  assert.ok(
    account.patternWork <= MOST_PATTERN_WORK + WORK_OF_EXPRESSION + 1000 * path.length,
    String(account.patternWork),
  )
  // Paths that fit early are served, and the next request begins with a full budget.
  assert.equal(grantOf(['^/pay/items/.*', ...many(6000, narrow)]).allows('GET', path, newPatternWork()), true)
  assert.equal(grantOf(many(500, narrow)).allows('GET', path, newPatternWork()), false)
})

test('literal patterns are compared without their expressions: thousands stay within the budget', () => {
  const grant = grantOf(many(6000, literal))
  const account = newPatternWork()
  assert.equal(grant.allows('GET', '/pay/items/5999/x', account), true)
  assert.ok(account.patternWork < 6000 * 100, String(account.patternWork))
  assert.equal(grant.allows('GET', '/pay/other', account), false)
})

test('limits by endpoint have the same budget', () => {
  assert.throws(() => grantOf([], many(6000, narrow)).limitsFor('GET', '/items/7/x', newPatternWork()), OVER)
  assert.equal(grantOf([], many(500, narrow)).limitsFor('GET', '/items/7/x', newPatternWork()).length, 1)
})

test('operations that are expressions have the same budget', () => {
  const find = (count: number) => {
    const rules = many(count, narrow).map((path) => ({
      rule: { method: '', path, ignoreCase: false } as Parameters<typeof operationIndex>[0][number]['rule'],
      operation: {} as Parameters<typeof operationIndex>[0][number]['operation'],
    }))
    return () => operationIndex(rules, 'contains')('GET', '/items/7/x', newPatternWork())
  }
  assert.throws(find(5000), OVER)
  assert.equal(find(1000)(), undefined)
})

test('the work of an expression grows with its parts and with the text', () => {
  const workOf = (pattern: string, length: number) => {
    const account = newPatternWork()
    pathMatcher(pattern).test('a'.repeat(length), account)
    return account.patternWork - WORK_OF_EXPRESSION
  }
  const one = workOf('[ab]', 1000)
  assert.ok(workOf('[ab]'.repeat(20), 1000) > 8 * one, 'twenty parts')
  assert.ok(workOf('[ab]', 10_000) > 8 * one, 'a text ten times as long')
})
