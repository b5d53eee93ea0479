import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { defined, rights } from '../definitions.ts'
import { startTestGateway } from '../harness.ts'
import { startOrigin } from '../origin.ts'
import { type Certificate, makeCertificate } from '../wire/certificates.ts'
import { Client, statusOf } from '../wire/raw.ts'

const SERVER = makeCertificate('gateway.example')
const ANN = makeCertificate('ann')
const BOB = makeCertificate('bob')

async function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-certificates-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'cert.pem'), SERVER.cert)
  writeFileSync(join(folder, 'key.pem'), SERVER.key)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gate = await startTestGateway({
    env: {
      SVC_GW_TLS_ENABLED: 'true',
      SVC_GW_TLS_LISTENPORT: '0',
      SVC_GW_TLS_CERTFILE: join(folder, 'cert.pem'),
      SVC_GW_TLS_KEYFILE: join(folder, 'key.pem'),
    },
  })
  t.after(() => gate.close())
  const authentication = { securitySchemes: { key: { enabled: true, enableClientCertificate: true } } }
  const api = defined({ id: 'a', url: origin.url, keyIn: 'Authorization', authentication })
  assert.equal((await gate.svc('POST', '/svc/apis/oas', api)).status, 200)
  const status = async (client?: Certificate, key = '') => {
    const with_ = client === undefined ? {} : { cert: client.cert, key: client.key }
    const socket = await Client.connect(gate.gateway.tlsPort!, { rejectUnauthorized: false, ...with_ })
    const field = key === '' ? '' : `Authorization: ${key}\r\n`
    const answer = await socket.ask(`GET /a/x HTTP/1.1\r\nHost: a\r\n${field}\r\n`)
    socket.destroy()
    return statusOf(answer)
  }
  return { gate, status }
}

const seen = (answer: { json: unknown }) => answer.json as JsonObject
const session = (certificate: string, more: JsonObject = {}): JsonObject => ({
  access_rights: rights('a'),
  certificate,
  ...more,
})

test('a key made for a client certificate is used by whoever has that certificate, and by nobody else', async (t) => {
  const { gate, status } = await open(t)
  assert.equal(await status(ANN), 403)
  const made = await gate.svc('POST', '/svc/keys/create', session(ANN.fingerprint, { alias: 'ann' }))
  assert.equal(made.status, 200, made.text)
  assert.equal(seen(made).key, '')
  const hash = String(seen(made).key_hash)
  assert.equal(await status(ANN), 200)
  assert.equal(await status(BOB), 403)
  assert.equal(await status(), 401)
  // What everybody may know is no key.
  for (const known of [ANN.fingerprint, hash, ANN.fingerprint.toUpperCase()])
    for (const client of [undefined, BOB, ANN]) assert.equal(await status(client, known), 403)
  const plain = await gate.svc('POST', '/svc/keys/create', { access_rights: rights('a') })
  assert.equal(await status(BOB, String(seen(plain).key)), 200)
  assert.equal((await gate.svc('DELETE', `/svc/keys/${hash}?hashed=true`)).status, 200)
  assert.equal(await status(ANN), 403)
})

test('such a key is limited like any other, keeps its certificate, and is not rotated', async (t) => {
  const { gate, status } = await open(t)
  const made = await gate.svc('POST', '/svc/keys/create', session(ANN.fingerprint, { rate: 1, per: 60 }))
  const path = `/svc/keys/${seen(made).key_hash}?hashed=true`
  assert.equal(await status(ANN), 200)
  assert.equal(await status(ANN), 429)
  for (const other of ['', BOB.fingerprint])
    assert.equal((await gate.svc('PUT', path, session(other))).status, 400, other)
  assert.equal((await gate.svc('PUT', path, session(ANN.fingerprint, { is_inactive: true }))).status, 200)
  assert.equal(await status(ANN), 403)
  assert.equal((await gate.svc('PUT', path, session(ANN.fingerprint.toUpperCase()))).status, 200)
  assert.equal(await status(ANN), 200)
  const rotated = await gate.svc('POST', `/svc/keys/${seen(made).key_hash}/rotate?hashed=true`)
  assert.equal(rotated.status, 400, rotated.text)
  assert.equal(await status(ANN), 200)
  for (const bad of ['x', 'a'.repeat(63), `other${ANN.fingerprint}`])
    assert.equal((await gate.svc('POST', '/svc/keys/create', session(bad))).status, 400, bad)
})

test('an API that does not ask for it takes no certificate for a key', async (t) => {
  const { gate, status } = await open(t)
  assert.equal((await gate.svc('POST', '/svc/keys/create', session(ANN.fingerprint))).status, 200)
  assert.equal(await status(ANN), 200)
  const api = defined({ id: 'a', url: 'http://127.0.0.1:9', keyIn: 'Authorization' })
  assert.equal((await gate.svc('PUT', '/svc/apis/oas/a', api)).status, 200)
  assert.equal(await status(ANN), 401)
})
