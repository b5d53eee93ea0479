import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { compactVerify, jwtVerify, SignJWT } from 'jose'
import type { JsonObject } from '../../../src/model/json/json.ts'
import {
  JWT_ALGORITHMS,
  JWT_LIMIT,
  type JwtAlgorithm,
  readJwt,
  signJwt,
  verifyJwt,
} from '../../../src/oauth/signing-keys/jwt.ts'

const deep = process.env.GATEHOUSE_DEEP === '1'
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const otherEc = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const keyPairs: Record<JwtAlgorithm, { publicKey: KeyObject; privateKey: KeyObject }> = {
  ES256: ec,
  RS256: rsa,
  PS256: rsa,
}
const CLAIMS = { sub: 'ä €', n: 1.5, list: [1, { a: null }] }

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const accepts = (text: string, key: KeyObject = ec.publicKey) => {
  const jwt = readJwt(text, ['jwt'])
  return typeof jwt !== 'string' && verifyJwt(jwt, key)
}
const valid = signJwt({ typ: 'JWT', alg: 'ES256' }, CLAIMS, ec.privateKey)
const [head, body, signature] = valid.split('.') as [string, string, string]

for (const alg of JWT_ALGORITHMS) {
  const { publicKey, privateKey } = keyPairs[alg]

  test(`${alg}: what we sign, jose verifies`, async () => {
    const text = signJwt({ typ: 'JWT', alg, kid: '1' }, CLAIMS, privateKey)
    const { payload, protectedHeader } = await jwtVerify(text, publicKey, { algorithms: [alg] })
    assert.deepEqual(payload, CLAIMS)
    assert.deepEqual(protectedHeader, { typ: 'JWT', alg, kid: '1' })
  })

  test(`${alg}: what jose signs, we read and verify`, async () => {
    const text = await new SignJWT(CLAIMS).setProtectedHeader({ alg, typ: 'application/JWT' }).sign(privateKey)
    const jwt = readJwt(text, ['jwt'])
    assert.ok(typeof jwt !== 'string')
    assert.deepEqual(jwt.claims, CLAIMS)
    assert.equal(verifyJwt(jwt, publicKey), true)
    assert.equal(verifyJwt(jwt, otherEc.publicKey), false)
  })
}

test('a key signs only with an algorithm of its own type', () => {
  assert.throws(() => signJwt({ alg: 'RS256' }, {}, ec.privateKey), TypeError)
  assert.throws(() => signJwt({ alg: 'none' }, {}, ec.privateKey), TypeError)
})

test('an algorithm that does not fit the key is refused, and does not throw', async () => {
  const text = await new SignJWT(CLAIMS).setProtectedHeader({ alg: 'RS256', typ: 'JWT' }).sign(rsa.privateKey)
  assert.equal(accepts(text, ec.publicKey), false)
  assert.equal(accepts(valid, rsa.publicKey), false)
  const pss = await new SignJWT(CLAIMS).setProtectedHeader({ alg: 'PS256', typ: 'JWT' }).sign(rsa.privateKey)
  const relabelled = `${encode({ alg: 'RS256', typ: 'JWT' })}.${pss.split('.').slice(1).join('.')}`
  assert.equal(accepts(relabelled, rsa.publicKey), false)
})

test('an EC signature under the name of an RSA algorithm is refused, though the key made it', () => {
  for (const alg of ['RS256', 'PS256']) {
    const signed = `${encode({ alg, typ: 'JWT' })}.${body}`
    const der = sign('sha256', Buffer.from(signed), { key: ec.privateKey, dsaEncoding: 'der' })
    assert.equal(accepts(`${signed}.${der.toString('base64url')}`), false)
  }
})

test('HS256 with the public key as the secret is refused', () => {
  const secret = createPublicKey(ec.publicKey.export({ type: 'spki', format: 'pem' })).export({
    type: 'spki',
    format: 'pem',
  })
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(CLAIMS)}`
  const text = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
  assert.equal(readJwt(text, ['jwt']), 'the alg of the token is not allowed')
})

const withHeader = (header: JsonObject) => `${encode(header)}.${body}.${signature}`

const REFUSED: Record<string, [text: string, flaw: RegExp]> = {
  nothing: ['', /three parts/],
  'two parts': [`${head}.${body}`, /three parts/],
  'four parts': [`${valid}.x`, /three parts/],
  'five parts, as encrypted ones have': [`${valid}.x.y`, /three parts/],
  'no signature': [`${head}.${body}.`, /base64url/],
  'no claims': [`${head}..${signature}`, /base64url/],
  'alg none': [withHeader({ alg: 'none', typ: 'JWT' }), /alg/],
  'alg None': [withHeader({ alg: 'None', typ: 'JWT' }), /alg/],
  'no alg': [withHeader({ typ: 'JWT' }), /alg/],
  'alg in a list': [withHeader({ alg: ['ES256'], typ: 'JWT' }), /alg/],
  'alg __proto__': [withHeader({ alg: '__proto__', typ: 'JWT' }), /alg/],
  'alg HS512': [withHeader({ alg: 'HS512', typ: 'JWT' }), /alg/],
  'alg ES384': [withHeader({ alg: 'ES384', typ: 'JWT' }), /alg/],
  'another typ': [withHeader({ alg: 'ES256', typ: 'at+jwt' }), /typ/],
  'no typ where one is needed': [withHeader({ alg: 'ES256' }), /typ/],
  'typ that is no text': [withHeader({ alg: 'ES256', typ: 1 }), /typ/],
  crit: [withHeader({ alg: 'ES256', typ: 'JWT', crit: ['exp'] }), /critical/],
  'crit null': [withHeader({ alg: 'ES256', typ: 'JWT', crit: null }), /critical/],
  'a header that is a list': [`${encode([1])}.${body}.${signature}`, /header/],
  'claims that are a text': [`${head}.${encode('x')}.${signature}`, /claims/],
  'claims with a member twice': [
    `${head}.${Buffer.from('{"sub":"a","sub":"b"}').toString('base64url')}.${signature}`,
    /claims/,
  ],
  padding: [`${valid}=`, /base64url/],
  'a blank in front': [` ${valid}`, /base64url/],
  'a line feed at the end': [`${valid}\n`, /base64url/],
  'base64 instead of base64url': [
    `${head}.${Buffer.from('{"a":"~~~???"}').toString('base64')}.${signature}`,
    /base64url/,
  ],
  'too long': [`${head}.${'A'.repeat(JWT_LIMIT)}.${signature}`, /too long/],
}

for (const [what, [text, flaw]] of Object.entries(REFUSED)) {
  test(`refused: ${what}`, () => {
    const answer = readJwt(text, ['jwt'])
    assert.ok(typeof answer === 'string')
    assert.match(answer, flaw)
  })
}

test('a token without typ is read where that is allowed', () => {
  assert.ok(typeof readJwt(withHeader({ alg: 'ES256' }), ['', 'jwt']) !== 'string')
})

test('spare bits of the last character are refused: a token has one spelling', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const at = alphabet.indexOf(signature.at(-1)!)
  // 64 bytes leave four spare bits in the last character.
  for (let spare = 1; spare < 16; spare++) {
    const twin = signature.slice(0, -1) + alphabet[(at & 0x30) | ((at + spare) & 0x0f)]
    assert.deepEqual(Buffer.from(twin, 'base64url'), Buffer.from(signature, 'base64url'))
    assert.equal(accepts(`${head}.${body}.${twin}`), false)
  }
})

test('ECDSA signatures of other lengths, in DER, or of zeros are refused', async () => {
  const raw = Buffer.from(signature, 'base64url')
  for (const bytes of [raw.subarray(0, 63), Buffer.concat([raw, Buffer.alloc(1)]), Buffer.alloc(64), Buffer.alloc(1)])
    assert.equal(accepts(`${head}.${body}.${bytes.toString('base64url')}`), false)
  const der = Buffer.concat([
    Buffer.from([0x30, 0x44, 0x02, 0x20]),
    raw.subarray(0, 32),
    Buffer.from([2, 32]),
    raw.subarray(32),
  ])
  assert.equal(accepts(`${head}.${body}.${der.toString('base64url')}`), false)
  await assert.doesNotReject(compactVerify(valid, ec.publicKey))
})

const mutation = fc.oneof(
  fc.record({
    is: fc.constant('replace' as const),
    at: fc.nat(),
    with: fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
  }),
  fc.record({
    is: fc.constant('insert' as const),
    at: fc.nat(),
    with: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
  }),
  fc.record({ is: fc.constant('delete' as const), at: fc.nat(), with: fc.constant('') }),
  fc.record({ is: fc.constant('repeat' as const), at: fc.nat(), with: fc.constant('') }),
)

test('a valid token that is changed anywhere is never accepted', () => {
  assert.equal(accepts(valid), true)
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 3 }), (mutations) => {
      let text = valid
      for (const { is, at: anywhere, with: piece } of mutations) {
        const at = anywhere % text.length
        if (is === 'replace') text = text.slice(0, at) + piece + text.slice(at + 1)
        if (is === 'insert') text = text.slice(0, at) + piece + text.slice(at)
        if (is === 'delete') text = text.slice(0, at) + text.slice(at + 1)
        if (is === 'repeat') text = text.slice(0, at) + text.slice(at - 7, at) + text.slice(at)
        if (text === '') text = '.'
      }
      fc.pre(text !== valid)
      assert.equal(accepts(text), false)
    }),
    { numRuns: deep ? 50_000 : 3_000 },
  )
})

test('any text at all is answered in words and throws nothing', () => {
  const part = fc.oneof(
    fc.base64String(),
    fc.string(),
    fc.json().map((text) => Buffer.from(text).toString('base64url')),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      assert.equal(accepts(parts.join('.')), false)
    }),
    { numRuns: deep ? 50_000 : 3_000 },
  )
})
