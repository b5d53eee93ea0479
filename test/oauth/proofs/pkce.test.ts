import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseForm } from '../../../src/oauth/messages/form.ts'
import { readChallenge, verifierFits } from '../../../src/oauth/proofs/pkce.ts'
import { CHALLENGE, faultOf, VERIFIER } from '../../worlds/oauth/front-fixtures.ts'

const RUNS = process.env.GATEHOUSE_DEEP === '1' ? 20_000 : 500
const confidential = { auth_method: 'any' } as const
const open = { requirePkce: false }

const read = (query: string, client: { auth_method: 'any' | 'none' } = confidential, rules = open) =>
  readChallenge(parseForm(query), client, rules)

test('the verifier of RFC 7636 appendix B fits its challenge', () => {
  assert.equal(read(`code_challenge=${CHALLENGE}&code_challenge_method=S256`), CHALLENGE)
  assert.ok(verifierFits(CHALLENGE, VERIFIER))
})

test('PKCE is optional for confidential clients only, and only where the API does not require it', () => {
  assert.equal(read(''), '')
  assert.throws(() => read('', { auth_method: 'none' }), faultOf('oauth_invalid_request', 'must use PKCE'))
  assert.throws(() => read('', confidential, { requirePkce: true }), faultOf('oauth_invalid_request', 'must use PKCE'))
})

for (const [what, query] of [
  ['plain', `code_challenge=${CHALLENGE}&code_challenge_method=plain`],
  ['no method, which means plain', `code_challenge=${CHALLENGE}`],
  ['a method in other letters', `code_challenge=${CHALLENGE}&code_challenge_method=s256`],
  ['a method without a challenge', 'code_challenge_method=S256'],
  ['a challenge that is too short', `code_challenge=${CHALLENGE.slice(1)}&code_challenge_method=S256`],
  ['a challenge that is too long', `code_challenge=${CHALLENGE}A&code_challenge_method=S256`],
  ['a padded challenge', `code_challenge=${CHALLENGE.slice(1)}%3D&code_challenge_method=S256`],
  ['a challenge with a line feed behind it', `code_challenge=${CHALLENGE}%0A&code_challenge_method=S256`],
  ['two challenges', `code_challenge=${CHALLENGE}&code_challenge=${CHALLENGE}&code_challenge_method=S256`],
  ['two methods', `code_challenge=${CHALLENGE}&code_challenge_method=S256&code_challenge_method=plain`],
] as const) {
  test(`refused: ${what}`, () => {
    assert.throws(() => read(query), faultOf('oauth_invalid_request'))
  })
}

test('a verifier is required exactly where the code has a challenge', () => {
  assert.ok(verifierFits('', undefined))
  assert.ok(!verifierFits('', VERIFIER))
  assert.ok(!verifierFits(CHALLENGE, undefined))
  assert.ok(!verifierFits(CHALLENGE, ''))
  assert.ok(!verifierFits(CHALLENGE, CHALLENGE), 'the challenge itself is no verifier')
  assert.ok(!verifierFits(CHALLENGE, `${VERIFIER}\n`))
})

const UNRESERVED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~'
const verifier = fc.array(fc.constantFrom(...UNRESERVED), { minLength: 43, maxLength: 128 }).map((all) => all.join(''))
const challengeOf = (text: string) => createHash('sha256').update(text).digest('base64url')

test('property: every well-formed verifier fits its own challenge', () => {
  fc.assert(
    fc.property(verifier, (text) => verifierFits(challengeOf(text), text)),
    { numRuns: RUNS },
  )
})

test('property: no other verifier fits', () => {
  fc.assert(
    fc.property(verifier, verifier, (own, other) => own === other || !verifierFits(challengeOf(own), other)),
    { numRuns: RUNS },
  )
})

test('property: a verifier that is not well-formed never fits, even with the right hash', () => {
  const malformed = fc.oneof(
    verifier.map((text) => text.slice(0, 42)),
    verifier.map((text) => text.padEnd(129, 'x')),
    fc
      .tuple(verifier, fc.constantFrom(' ', '+', '/', '=', 'é', '\n', '%'))
      .map(([text, odd]) => odd + text.slice(0, 100)),
  )
  fc.assert(
    fc.property(malformed, (text) => !verifierFits(challengeOf(text), text)),
    { numRuns: RUNS },
  )
})
