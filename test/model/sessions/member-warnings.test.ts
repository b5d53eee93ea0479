import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { POLICY_SCHEMA } from '../../../src/model/policies/policy.ts'
import { sessionMemberFlaws } from '../../../src/model/sessions/member-warnings.ts'
import { SESSION_SCHEMA } from '../../../src/model/sessions/session.ts'

const SCHEMAS = { key: SESSION_SCHEMA, policy: POLICY_SCHEMA }

for (const [kind, schema] of Object.entries(SCHEMAS)) {
  test(`of a ${kind} names of every object are members as any other`, () => {
    const names = [...Object.getOwnPropertyNames(Object.prototype)]
    const own = Object.fromEntries(names.map((name) => [name, 1])) as JsonObject
    const body = { ...own, access_rights: { a: { ...own, limit: own }, constructor: own } }
    assert.deepEqual(sessionMemberFlaws(JSON.parse(JSON.stringify(body)), schema), [])
  })

  test(`of a ${kind} only so many unknown names are compared with the known ones, which is said`, () => {
    // Each is as long as known ones are, so that nothing but the number ends the search.
    const unknown = (from: number, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`zzzzzz${from + at}zz`, 1]))
    const inRights = { access_rights: { a: { ...unknown(0, 50), limit: unknown(0, 40) } } }
    const few = { ...unknown(0, 5), ...inRights, aply_policie: 1, quota_maxx: 1 }
    assert.ok(sessionMemberFlaws(few, schema).some(({ at }) => at.join() === 'quota_maxx'))
    const many = { ...unknown(0, 120), ...inRights, quota_maxx: 1 }
    assert.deepEqual(sessionMemberFlaws(many, schema), [
      {
        at: ['zzzzzz100zz'],
        reason:
          'is the first of 111 unknown members that were not looked at for misspelt names: 100 others are unknown too',
      },
    ])
  })

  test(`of a ${kind} a misspelt member is warned of at each API, however many there are`, () => {
    const rights = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`a${at}`, { allowed_url: [1] }]))
    assert.equal(sessionMemberFlaws({ access_rights: rights }, schema).length, 99)
  })
}
