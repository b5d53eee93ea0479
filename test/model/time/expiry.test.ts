import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EvictionRules, evictAt, expiresByPolicies, isExpired } from '../../../src/model/time/expiry.ts'

const NOW = 1_000_000_000

test('a session ends in the second that it names; 0, -1 and absent never do', () => {
  assert.equal(isExpired({ expires: 1_000_001 }, NOW), false)
  assert.equal(isExpired({ expires: 1_000_000 }, NOW), true)
  assert.equal(isExpired({ expires: 1_000_000 }, NOW - 1), false)
  for (const session of [{}, { expires: 0 }, { expires: -1 }]) assert.equal(isExpired(session, NOW), false)
})

test('the last policy with a life gives a new key its expiry', () => {
  assert.equal(
    expiresByPolicies([{ key_expires_in: 60 }, undefined, { key_expires_in: 90 }, { key_expires_in: 0 }], NOW),
    1_000_090,
  )
  assert.equal(expiresByPolicies([{}, undefined], NOW), undefined)
})

test('when the store may forget a session: the first rule that applies', () => {
  const none: EvictionRules = { forcedLifetimeS: 0, apiLifetimesS: [], respectExpires: false }
  const all = {
    expires: 2_000_000,
    post_expiry_action: 'delete',
    post_expiry_grace_period: 5,
    session_lifetime: 10,
  } as const
  assert.equal(evictAt(all, NOW, { ...none, forcedLifetimeS: 7, apiLifetimesS: [20] }), NOW + 7000)
  assert.equal(evictAt(all, NOW, { ...none, apiLifetimesS: [20] }), 2_000_005_000)
  assert.equal(evictAt({ ...all, post_expiry_action: 'retain' }, NOW, { ...none, apiLifetimesS: [20] }), 0)
  assert.equal(evictAt({ ...all, expires: 0 }, NOW, none), NOW + 10_000)
  assert.equal(evictAt({}, NOW, { ...none, apiLifetimesS: [20, 0, 30] }), NOW + 30_000)
  assert.equal(
    evictAt({ expires: 2_000_000 }, NOW, { ...none, apiLifetimesS: [20], respectExpires: true }),
    2_000_000_000,
  )
  assert.equal(evictAt({ expires: 2_000_000 }, NOW, none), 0)
})
