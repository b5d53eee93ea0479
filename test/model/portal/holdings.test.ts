import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/model/json/json.ts'
import {
  appIdsOf,
  appsOf,
  keysOf,
  subscriptionsOf,
  withApp,
  withKey,
  withoutApp,
  withoutKey,
  withoutPolicy,
  withRotatedKey,
} from '../../../src/model/portal/developers/holdings.ts'

const EMPTY: JsonObject = { email: 'ada@example.test', keys: {}, subscriptions: {}, api_keys: {}, oauth_clients: {} }

type Edit = (body: JsonObject) => JsonObject
const hash = fc.constantFrom('k1', 'k2', 'k3', '__proto__', 'constructor')
const policy = fc.constantFrom('a', 'b', 'c', '__proto__', 'toString')
const edits: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(hash, fc.uniqueArray(policy)).map(
    ([keyHash, policies]): Edit =>
      (body) =>
        withKey(body, keyHash, policies),
  ),
  hash.map(
    (keyHash): Edit =>
      (body) =>
        withoutKey(body, keyHash),
  ),
  fc.tuple(hash, hash).map(
    ([from, to]): Edit =>
      (body) =>
        keysOf(body).has(from) && !keysOf(body).has(to) ? withRotatedKey(body, from, to) : body,
  ),
  policy.map(
    (id): Edit =>
      (body) =>
        withoutPolicy(body, id),
  ),
)

test('every policy of a key has one subscription, which points to a key that gives it', () => {
  fc.assert(
    fc.property(fc.array(edits, { maxLength: 20 }), (list) => {
      const body = list.reduce((before, edit) => edit(before), EMPTY)
      const keys = keysOf(body)
      const subscriptions = subscriptionsOf(body)
      for (const [id, keyHash] of subscriptions) assert.ok(keys.get(keyHash)?.includes(id))
      assert.deepEqual(new Set(subscriptions.keys()), new Set([...keys.values()].flat()))
      assert.equal(body.email, EMPTY.email)
      // As it comes out of a store.
      assert.deepEqual(keysOf(JSON.parse(JSON.stringify(body))), keys)
      assert.equal(Object.getPrototypeOf(body.keys), Object.prototype)
    }),
  )
})

test('a subscription stays with its key, else moves to another key of the policy', () => {
  const two = withKey(withKey(EMPTY, 'k1', ['a', 'b']), 'k2', ['b', 'c'])
  assert.deepEqual(two.subscriptions, { a: 'k1', b: 'k1', c: 'k2' })
  assert.deepEqual(withoutKey(two, 'k1').subscriptions, { c: 'k2', b: 'k2' })
  assert.deepEqual(withKey(two, 'k1', ['a']).subscriptions, { a: 'k1', c: 'k2', b: 'k2' })
  assert.deepEqual(withRotatedKey(two, 'k1', 'k9').subscriptions, { a: 'k9', b: 'k9', c: 'k2' })
  assert.deepEqual(Object.keys(withRotatedKey(two, 'k1', 'k9').keys as JsonObject), ['k9', 'k2'])
  assert.deepEqual(withoutPolicy(two, 'b').keys, { k1: ['a'], k2: ['c'] })
})

test('keys by API, of old, follow', () => {
  const body = { ...withKey(EMPTY, 'k1', ['a']), api_keys: { orders: 'k1', stock: 'elsewhere' } }
  assert.deepEqual(withRotatedKey(body, 'k1', 'k2').api_keys, { orders: 'k2', stock: 'elsewhere' })
  assert.deepEqual(withoutKey(body, 'k1').api_keys, { stock: 'elsewhere' })
})

test('an app stands once, where it was or under its new policy', () => {
  const one = withApp(withApp(EMPTY, 'a', { client_id: 'x' }), 'a', { client_id: 'y' })
  assert.deepEqual(appIdsOf(one), ['x', 'y'])
  assert.deepEqual(appIdsOf(withApp(one, 'a', { client_id: 'x', use_case: 'new' })), ['x', 'y'])
  const moved = withApp(one, '__proto__', { client_id: 'x' })
  assert.deepEqual(
    [...appsOf(moved)],
    [
      ['a', [{ client_id: 'y' }]],
      ['__proto__', [{ client_id: 'x' }]],
    ],
  )
  assert.deepEqual([...appsOf(withoutApp(moved, 'y')).keys()], ['__proto__'])
  assert.deepEqual(withoutPolicy(one, 'a').oauth_clients, {})
})

test('a record that is not what it should be is read as far as it goes', () => {
  for (const keys of [null, 1, 'x', [], { k1: 'a', k2: [1, 'b'] }] as const) {
    const body = { keys, subscriptions: keys, oauth_clients: keys, api_keys: keys } as unknown as JsonObject
    assert.ok(keysOf(withKey(body, 'k3', ['c'])).has('k3'))
    assert.deepEqual(appIdsOf(body), [])
  }
})
