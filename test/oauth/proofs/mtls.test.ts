import assert from 'node:assert/strict'
import { hash, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { Fault } from '../../../src/errors/fault.ts'
import type { OAuthClient } from '../../../src/model/oauth-clients/oauth-client.ts'
import { readBinding } from '../../../src/oauth/proofs/dpop.ts'
import { certificateFits, certificateThumbprint, provesCertificate } from '../../../src/oauth/proofs/mtls.ts'
import { makeCall, makeWorld } from '../../worlds/oauth/proof-world.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

const { cert, fingerprint } = makeCertificate('client.example.com')
const x509 = new X509Certificate(cert)
const x5t = hash('sha256', x509.raw, 'base64url')
const other = hash('sha256', 'another certificate', 'hex')
const client = (certificate?: string) => ({ certificate }) as OAuthClient

test('the thumbprint is base64url of the SHA-256 of the DER; without a certificate there is none', () => {
  assert.equal(certificateThumbprint(fingerprint), x5t)
  assert.equal(certificateThumbprint(fingerprint.toUpperCase()), x5t)
  for (const text of ['', 'x', fingerprint.slice(1), `${fingerprint}00`]) assert.equal(certificateThumbprint(text), '')
})

test('a token is proved by its own certificate only', () => {
  assert.equal(provesCertificate(fingerprint, x5t), true)
  assert.equal(provesCertificate(other, x5t), false)
  assert.equal(provesCertificate('', x5t), false)
  assert.equal(provesCertificate('', ''), false)
})

test('a client of tls_client_auth comes with the certificate that it is registered with', () => {
  const call = makeCall({ peerCertificate: fingerprint })
  assert.equal(certificateFits(client(fingerprint), call), true)
  assert.equal(certificateFits(client(x509.fingerprint256), call), true)
  assert.equal(certificateFits(client(other), call), false)
  assert.equal(certificateFits(client(x509.subject), call), false)
  assert.equal(certificateFits(client(''), makeCall()), false)
  assert.equal(certificateFits(client(), makeCall()), false)
  assert.equal(certificateFits(client(fingerprint), makeCall()), false)
})

test('off, allowed and required', async (t) => {
  const world = makeWorld(t.after.bind(t))
  const withIt = makeCall({ peerCertificate: fingerprint })
  const bind = (call: ReturnType<typeof makeCall>, mutualTls: 'off' | 'allowed' | 'required') =>
    readBinding(world, call, { dpop: 'off', mutualTls })
  assert.deepEqual(await bind(withIt, 'off'), { jkt: '', x5t: '' })
  assert.deepEqual(await bind(withIt, 'allowed'), { jkt: '', x5t })
  assert.deepEqual(await bind(makeCall(), 'allowed'), { jkt: '', x5t: '' })
  assert.deepEqual(await bind(withIt, 'required'), { jkt: '', x5t })
  const refused = (error: unknown) => error instanceof Fault && error.code === 'oauth_invalid_request'
  await assert.rejects(bind(makeCall(), 'required'), refused)
})
