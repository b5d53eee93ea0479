import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { calculateJwkThumbprint, type JWK } from 'jose'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { publicJwk, readPublicJwk } from '../../../src/oauth/signing-keys/jwk.ts'

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwkOf = (key: KeyObject) => key.export({ format: 'jwk' }) as JsonObject
const ecJwk = jwkOf(ec.publicKey)
const rsaJwk = jwkOf(rsa.publicKey)

for (const [name, jwk] of Object.entries({ EC: ecJwk, RSA: rsaJwk })) {
  test(`${name}: the thumbprint is that of jose, whatever describes the key`, async () => {
    const read = readPublicJwk({ use: 'sig', ...jwk, kid: 'x', alg: 'y', unknown: [1] })
    assert.equal(read?.thumbprint, await calculateJwkThumbprint(jwk as JWK))
    assert.deepEqual(jwkOf(read!.key), jwk)
    // from the memory of keys
    assert.equal(readPublicJwk(jwk)?.key, read?.key)
  })
}

test('the example of RFC 7638 section 3.1', () => {
  const n =
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMs' +
    'tn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbI' +
    'SD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw'
  const read = readPublicJwk({ kty: 'RSA', n, e: 'AQAB', alg: 'RS256', kid: '2011-04-29' })
  assert.equal(read?.thumbprint, 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
})

test('publicJwk shows the public part of a private key only', () => {
  assert.deepEqual(publicJwk(ec.privateKey).jwk, { crv: 'P-256', kty: 'EC', x: ecJwk.x, y: ecJwk.y })
  assert.deepEqual(publicJwk(rsa.privateKey).jwk, { e: 'AQAB', kty: 'RSA', n: rsaJwk.n })
})

const small = jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey)
const zeroPadded = Buffer.concat([Buffer.alloc(1), Buffer.from(String(rsaJwk.n), 'base64url')]).toString('base64url')

const REFUSED: Record<string, unknown> = {
  nothing: undefined,
  'a text': 'x',
  'a list': [ecJwk],
  'an EC private key': jwkOf(ec.privateKey),
  'an RSA private key': jwkOf(rsa.privateKey),
  'a public key with d': { ...ecJwk, d: null },
  'a symmetric key': { kty: 'oct', k: 'AAAA' },
  'a public key with k': { ...ecJwk, k: 'AAAA' },
  'no kty': { ...ecJwk, kty: undefined },
  'another curve': jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey),
  Ed25519: jwkOf(generateKeyPairSync('ed25519').publicKey),
  'no y': { ...ecJwk, y: undefined },
  'no point of the curve': { ...ecJwk, y: ecJwk.x },
  'the point at infinity': { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) },
  'coordinates too large for the field': { ...ecJwk, x: `${'_'.repeat(42)}8` },
  'a coordinate with padding': { ...ecJwk, x: `${ecJwk.x}=` },
  'a coordinate with spare bits': { ...ecJwk, x: spareBits(String(ecJwk.x)) },
  'a short coordinate': { ...ecJwk, x: String(ecJwk.x).slice(0, 42) },
  'RSA of 1,024 bits': small,
  'RSA of 16,384 bits': { ...rsaJwk, n: `${'_'.repeat(2730)}w` },
  'a modulus with a zero in front': { ...rsaJwk, n: zeroPadded },
  'an exponent of 1': { ...rsaJwk, e: 'AQ' },
  'an even exponent': { ...rsaJwk, e: 'Ag' },
  'a huge exponent': { ...rsaJwk, e: rsaJwk.n },
  'a modulus that is a number': { ...rsaJwk, n: 5 },
}

function spareBits(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)!) | 1]
}

for (const [what, jwk] of Object.entries(REFUSED)) {
  test(`refused: ${what}`, () => assert.equal(readPublicJwk(jwk), undefined))
}
