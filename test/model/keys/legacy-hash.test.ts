import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import {
  jsonToken,
  type LegacyAlgorithm,
  legacyAlgorithmOf,
  legacyHash,
  legacyPlaces,
  legacyRowHash,
  legacyToken,
} from '../../../src/model/keys/legacy-hash.ts'

/** Published with the Go implementation (spaolacci/murmur3), and the 32-bit ones with many others; seed 0. */
const VECTORS = [
  ['', '00000000', '0000000000000000', '00000000000000000000000000000000'],
  ['hello', '248bfa47', 'cbd8a7b341bd9b02', 'cbd8a7b341bd9b025b1e906a48ae1d19'],
  ['hello, world', '149bbb7f', '342fac623a5ebc8e', '342fac623a5ebc8e4cdcbc079642414d'],
  ['19 Jan 2038 at 3:14:07 AM', 'e31e8a70', 'b89e5988b737affc', 'b89e5988b737affc664fc2950231b2cb'],
  ['The quick brown fox jumps over the lazy dog.', 'd5c48bfc', 'cd99481f9ee902c9', 'cd99481f9ee902c9695da1a38987b6e7'],
] as const

test('murmur3 of 32, 64 and 128 bits gives the published values', () => {
  for (const [text, of32, of64, of128] of VECTORS) {
    assert.equal(legacyHash('murmur32', text), of32, text)
    assert.equal(legacyHash('murmur64', text), of64, text)
    assert.equal(legacyHash('murmur128', text), of128, text)
    assert.equal(legacyHash('sha256', text), hash('sha256', text, 'hex'))
  }
  assert.equal(legacyHash('murmur32', 'The quick brown fox jumps over the lazy dog'), '2e4ff723')
})

test('the algorithm of a hash shows in its length, and that of a token in its own words', () => {
  for (const [, ...hashes] of VECTORS.slice(1))
    assert.deepEqual(hashes.map(legacyAlgorithmOf), ['murmur32', 'murmur64', 'murmur128'])
  assert.equal(legacyAlgorithmOf(hash('sha256', 'x', 'hex')), 'sha256')
  for (const other of ['', '248bfa4', '248BFA47', 'not hex!']) assert.equal(legacyAlgorithmOf(other), undefined)
  const token = jsonToken('5e9d9544a1dcd60001d0ed20', 'mine', 'murmur128')
  assert.ok(token.startsWith('eyJ'))
  assert.deepEqual(legacyToken(token), { org: '5e9d9544a1dcd60001d0ed20', id: 'mine', algorithm: 'murmur128' })
  const others = ['eyJ', 'plain', Buffer.from('{"org":"o","id":"i","h":"md5"}').toString('base64'), 'ey'.repeat(300)]
  for (const other of others) assert.equal(legacyToken(other), undefined, other)
})

test('a credential is looked up in its own form and those of chosen keys only', () => {
  const orgs = ['5e9d9544a1dcd60001d0ed20', 'b']
  const all: LegacyAlgorithm[] = ['murmur32', 'murmur64', 'murmur128', 'sha256']
  assert.equal(legacyPlaces('my-key', all, orgs).length, 3 + 4 * 4)
  const places = (credential: string, algorithm: LegacyAlgorithm) =>
    legacyPlaces(credential, [algorithm], orgs).map(({ rowHash }) => rowHash.toString('hex'))
  const at = (algorithm: LegacyAlgorithm, text: string) =>
    legacyRowHash(algorithm, legacyHash(algorithm, text)).toString('hex')
  for (const algorithm of all) {
    assert.ok(places('my-key', algorithm).includes(at(algorithm, `${orgs[0]}my-key`)))
    assert.ok(places('my-key', algorithm).includes(at(algorithm, jsonToken('b', 'my-key', algorithm))))
  }
  const token = jsonToken('b', 'my-key', 'murmur64')
  assert.deepEqual(places(token, 'murmur64'), [at('murmur64', token)])
  assert.deepEqual(places(token, 'murmur32'), [])
  assert.deepEqual(legacyPlaces('x'.repeat(513), all, orgs), [])
  assert.deepEqual(legacyPlaces('my-key', [], orgs), [])
})

test('no hash of an earlier product, and nothing made of it, is a credential by itself', () => {
  const hex = legacyHash('murmur64', 'my-key')
  const row = legacyRowHash('murmur64', hex).toString('hex')
  for (const sent of [hex, `legacy key\0murmur64\0${hex}`, row]) assert.notEqual(hash('sha256', sent, 'hex'), row)
  assert.notEqual(row, legacyRowHash('murmur32', hex).toString('hex'))
})
