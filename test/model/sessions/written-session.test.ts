import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../src/model/json/json.ts'
import { wholeSession } from '../../../src/model/sessions/session-zeros.ts'
import { sessionToStore } from '../../../src/model/sessions/written-session.ts'

const LIMIT = { rate: 50, per: 60, quota_max: 100, quota_renewal_rate: 3600 }
const RIGHT = { api_id: 'a', versions: ['Default'], limit: LIMIT }
const shown: JsonObject = { apply_policies: ['p'], access_rights: { a: RIGHT, b: { ...RIGHT, api_id: 'b' } }, ...LIMIT }
const STORED: readonly JsonObject[] = [
  { apply_policies: ['p'] },
  { apply_policies: ['p'], narrowed_by: { rate: 9, per: 60 } },
  { apply_policies: ['p'], narrowed_by: { access_rights: { a: RIGHT } }, access_rights: { a: RIGHT } },
]

/** Members without content, as programs in Go write them. */
const zeros = fc.dictionary(
  fc.constantFrom('throttle_interval', 'max_query_depth', 'allowed_urls', 'allowed_types', 'endpoints', 'other'),
  fc.constantFrom<Json>(0, '', false, null, [], {}),
)

test('property: members without content change nothing of a session that is sent back', () => {
  fc.assert(
    fc.property(fc.constantFrom(...STORED), zeros, zeros, zeros, (stored, ofSession, ofRight, ofLimit) => {
      const right = { ...ofRight, ...RIGHT, limit: { ...ofLimit, ...LIMIT } }
      const rights = { a: right, b: { ...right, api_id: 'b' } }
      const sent = { ...ofSession, ...shown, access_rights: rights }
      assert.deepEqual(sessionToStore(sent, { stored, shown }), stored)
    }),
  )
})

test('rights with all members, as an alias shows them, are the same ones when sent back', () => {
  for (const stored of STORED) {
    const { access_rights, narrowed_by } = sessionToStore(wholeSession(shown), { stored, shown })
    assert.deepEqual([access_rights, narrowed_by], [stored.access_rights, stored.narrowed_by])
  }
})
