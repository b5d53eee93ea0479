import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashSync } from 'bcryptjs'
import { isPasswordHash, verifyPassword } from '../../../src/model/passwords/passwords.ts'
import { isBcryptHash, looksLikeBcrypt, verifyBcrypt } from '../../../src/model/passwords/passwords-bcrypt.ts'

const PASSWORD = 'correct horse battery'
const HASH = hashSync(PASSWORD, 4)

test('a bcrypt hash of each usual sort opens with its password alone', async () => {
  for (const sort of ['$2a$', '$2b$', '$2y$']) {
    const stored = sort + HASH.slice(4)
    assert.equal(isPasswordHash(stored), true, sort)
    assert.equal(await verifyPassword(stored, PASSWORD), true, sort)
    assert.equal(await verifyPassword(stored, `${PASSWORD}!`), false, sort)
    assert.equal(await verifyPassword(stored, stored), false, 'the hash itself opens nothing')
  }
})

test('a hash that others made is known, whatever characters the password has', async () => {
  // Made by the reference implementation (crypt_blowfish).
  assert.equal(await verifyBcrypt('$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*U'), true)
  assert.equal(await verifyBcrypt('$2y$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e', 'ÿÿ£'), false)
  for (const password of ['päßwörd', '密码密码', ' ', 'x'.repeat(72)])
    assert.equal(await verifyBcrypt(hashSync(password, 4), password), true, password)
})

test('of what is too costly, flawed or no hash nothing is taken', async () => {
  const rest = HASH.slice(7)
  for (const text of [
    `$2b$15$${rest}`,
    `$2b$31$${rest}`,
    `$2b$03$${rest}`,
    `$2x$10$${rest}`,
    `$2$10$${rest}`,
    '$2b$10$short',
  ]) {
    assert.equal(isBcryptHash(text), false, text)
    assert.equal(isPasswordHash(text), false, text)
    assert.equal(await verifyPassword(text, PASSWORD), false, text)
  }
  assert.equal(isBcryptHash(`$2b$14$${rest}`), true)
  assert.equal(looksLikeBcrypt(`$2b$31$${rest}`), true)
  assert.equal(looksLikeBcrypt('$argon2id$v=19'), false)
})

test('many at once are all answered, and this thread goes on meanwhile', async () => {
  const stored = hashSync(PASSWORD, 10)
  let turns = 0
  let done = false
  const count = () => {
    turns++
    if (!done) setImmediate(count)
  }
  count()
  const right = await Promise.all(Array.from({ length: 6 }, (_, i) => verifyPassword(stored, i % 2 ? PASSWORD : 'no')))
  done = true
  assert.deepEqual(right, [false, true, false, true, false, true])
  // On this thread it would be a turn for each tenth of a second.
  assert.ok(turns > 200, `${turns} turns`)
})
