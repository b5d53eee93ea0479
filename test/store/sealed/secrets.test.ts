import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { equalSecrets, hashKey, newSecret, seal, secretBytes, unseal } from '../../../src/model/secrets/secret.ts'
import { openSecrets } from '../../../src/store/secrets/secret-file.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const key = secretBytes(newSecret())

test('what is sealed comes back under the same key and context only', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (plain, context) => {
      const sealed = seal(key, plain, context)
      assert.deepEqual(unseal(key, sealed, context), Buffer.from(plain))
      assert.throws(() => unseal(key, sealed, `${context}x`), { code: 'seal_broken' })
      assert.throws(() => unseal(secretBytes(newSecret()), sealed, context), { code: 'seal_broken' })
    }),
  )
})

test('a sealed value that was changed anywhere is refused', () => {
  const sealed = seal(key, 'the text', 'context')
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed)
    changed[i]! ^= 1
    assert.throws(() => unseal(key, changed, 'context'), { code: 'seal_broken' }, `byte ${i}`)
  }
  for (let length = 0; length < sealed.length; length++) {
    assert.throws(() => unseal(key, sealed.subarray(0, length), 'context'), { code: 'seal_broken' }, `length ${length}`)
  }
})

test('one text is never sealed twice alike', () => {
  assert.equal(new Set(Array.from({ length: 100 }, () => seal(key, 'text', '').toString('hex'))).size, 100)
})

test('secrets are equal only when they are, whatever their lengths', () => {
  fc.assert(fc.property(fc.string(), fc.string(), (a, b) => equalSecrets(a, b) === (a === b) && equalSecrets(a, a)))
})

test('the hash of a key is its SHA-256', () => {
  assert.equal(hashKey('abc').toString('hex'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('the secrets of an installation are made once, for its user alone', (t) => {
  const folder = temporaryFolder(t)
  const secrets = openSecrets(folder)
  const { gateway_secret_previous, admin_secret_previous, seal_key_previous, ...made } = secrets
  assert.deepEqual([gateway_secret_previous, admin_secret_previous, seal_key_previous], ['', '', ''])
  assert.deepEqual(Object.keys(made), ['gateway_secret', 'admin_secret', 'seal_key'])
  assert.equal(new Set(Object.values(made)).size, 3)
  for (const secret of Object.values(made)) assert.equal(secretBytes(secret).length, 32)
  assert.deepEqual(openSecrets(folder), secrets)
  assert.deepEqual(readdirSync(folder), ['secrets.json'])
  assert.equal(statSync(join(folder, 'secrets.json')).mode & 0o777, 0o600)
})

test('damaged secrets are refused without a word of them, and kept', (t) => {
  const damaged = [
    '',
    '{',
    '[]',
    '{"gateway_secret":"shhh"}',
    '{"gateway_secret":"a","admin_secret":"b","seal_key":"shhh"}',
  ]
  for (const text of damaged) {
    const folder = temporaryFolder(t)
    const path = join(folder, 'secrets.json')
    writeFileSync(path, text)
    assert.throws(
      () => openSecrets(folder),
      (error: Error & { code: string }) => {
        assert.equal(error.code, 'setting_invalid')
        assert.ok(!`${error.message} ${error.cause}`.includes('shhh'))
        return true
      },
    )
    assert.equal(readFileSync(path, 'utf8'), text)
  }
})

test('a folder that cannot be written is named', (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), '')
  assert.throws(() => openSecrets(join(folder, 'file')), { code: 'data_folder_unreadable', message: /secrets\.json/ })
  assert.throws(() => openSecrets(join(folder, 'none')), { code: 'data_folder_unwritable', message: /secrets\.json/ })
})
