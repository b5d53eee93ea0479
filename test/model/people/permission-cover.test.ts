import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { covers, type Permissions } from '../../../src/model/people/permission.ts'

const CASES: readonly [string, Permissions, Permissions, boolean][] = [
  ['an administrator may give everything', { IsAdmin: 'admin' }, { IsAdmin: 'admin' }, true],
  ['an empty object is an administrator', { apis: 'write' }, {}, false],
  ['an empty object may give everything', {}, { IsAdmin: 'admin', ResetPassword: 'admin' }, true],
  ['write covers read', { apis: 'write' }, { apis: 'read' }, true],
  ['read does not cover write', { apis: 'read' }, { apis: 'write' }, false],
  ['another key is another right', { apis: 'write' }, { keys: 'read' }, false],
  ['deny gives nothing', { apis: 'read' }, { apis: 'read', keys: 'deny' }, true],
  ['IsAdmin false gives nothing', { apis: 'read' }, { IsAdmin: 'false' }, true],
  ['what an administrator is denied it cannot give', { IsAdmin: 'admin', keys: 'deny' }, { IsAdmin: 'admin' }, false],
  ['nor singly', { IsAdmin: 'admin', keys: 'deny' }, { keys: 'read' }, false],
  ['but with the same denial', { IsAdmin: 'admin', keys: 'deny' }, { IsAdmin: 'admin', keys: 'deny' }, true],
  ['a custom right is a right', { apis: 'write' }, { tester: 'read' }, false],
  ['which whoever has it may give', { tester: 'write' }, { tester: 'read' }, true],
  ['ResetPassword is for administrators', { users: 'write' }, { ResetPassword: 'admin' }, false],
  ['or whoever has it', { ResetPassword: 'admin' }, { ResetPassword: 'admin' }, true],
  ['owned analytics are fewer', { analytics: 'read', owned_analytics: 'owned' }, { analytics: 'read' }, false],
  ['than all', { analytics: 'read' }, { analytics: 'read', owned_analytics: 'owned' }, true],
  [
    'the mark counts only where analytics are read',
    { analytics: 'write', owned_analytics: 'owned' },
    { analytics: 'read' },
    true,
  ],
]

for (const [name, held, wanted, expected] of CASES) {
  test(`rights cover others: ${name}`, () => assert.equal(covers(held, wanted), expected))
}

const rights = fc.dictionary(
  fc.constantFrom('apis', 'keys', 'users', 'tester', 'analytics', 'IsAdmin', 'ResetPassword', 'owned_analytics'),
  fc.constantFrom('read', 'write', 'deny', 'admin', 'false', 'owned', 'all'),
  { maxKeys: 5 },
)

test('covering is an order: reflexive and transitive', () => {
  fc.assert(
    fc.property(rights, rights, rights, (a, b, c) => {
      assert.ok(covers(a, a))
      if (covers(a, b) && covers(b, c)) assert.ok(covers(a, c))
    }),
    { numRuns: process.env.GATEHOUSE_DEEP === '1' ? 200_000 : 5_000 },
  )
})
