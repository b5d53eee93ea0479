import assert from 'node:assert/strict'
import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import {
  readKeyAddress,
  readKeySet,
  readStaticKey,
  verifySignature,
} from '../../../src/model/authentication/jwt-key.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

const SIGNED = Buffer.from('a.b')

test('a key is used with its own algorithms only, whatever is asked for', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const [key] = readKeySet({ keys: [publicKey.export({ format: 'jwk' }) as JsonObject] }, '')!
  const made = (hash: string) => sign(hash, SIGNED, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  assert.equal(verifySignature(key!, 'ES256', SIGNED, made('sha256')), true)
  // The numbers of a signature over another hash fit the same curve.
  const wide = { ...key!, algorithms: ['ES256', 'ES384'] }
  assert.equal(verifySignature(key!, 'ES384', SIGNED, made('sha384')), false)
  assert.equal(verifySignature(wide, 'ES384', SIGNED, made('sha384')), false)
  for (const name of ['none', '', 'HS256', 'constructor']) {
    const anything = { ...key!, algorithms: [name] }
    if (name !== 'HS256') assert.equal(verifySignature(anything, name, SIGNED, made('sha256')), false)
    assert.equal(verifySignature(key!, name, SIGNED, made('sha256')), false)
  }
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const [only] = readKeySet(
    { keys: [{ ...(rsa.publicKey.export({ format: 'jwk' }) as JsonObject), alg: 'RS256' }] },
    '',
  )!
  assert.deepEqual(only!.algorithms, ['RS256'])
  assert.equal(verifySignature(only!, 'RS256', SIGNED, sign('sha256', SIGNED, rsa.privateKey)), true)
  assert.equal(verifySignature(only!, 'RS512', SIGNED, sign('sha512', SIGNED, rsa.privateKey)), false)
})

test('a key of a definition may be a PEM, its base64, or a certificate', () => {
  const { publicKey } = generateKeyPairSync('ed25519')
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const wrapped = Buffer.from(pem).toString('base64').replace(/.{64}/g, '$&\n')
  for (const source of [pem, Buffer.from(pem).toString('base64'), Buffer.from(pem).toString('base64url'), wrapped]) {
    const key = readStaticKey(source, 'eddsa')
    assert.ok(typeof key !== 'string', String(key))
    assert.deepEqual(key.algorithms, ['EdDSA', 'Ed25519'])
  }
  const { cert } = makeCertificate('issuer')
  const family = new X509Certificate(cert).publicKey.asymmetricKeyType === 'rsa' ? 'rsa' : 'ecdsa'
  assert.ok(typeof readStaticKey(cert, family) !== 'string')
})

test('the address of a key set is http or https, plainly or in base64', () => {
  const url = 'https://idp.example/jwks?a=1'
  assert.equal(readKeyAddress(url), url)
  assert.equal(readKeyAddress(Buffer.from(url).toString('base64')), url)
  for (const text of [
    '',
    'file:///etc/passwd',
    'ftp://x/',
    'https://',
    'http://a b/',
    Buffer.from('x').toString('base64'),
  ])
    assert.equal(readKeyAddress(text), undefined, text)
})
