import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import { certificateKeyOf } from '../../../src/publish/certificates/certificates.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { selfSigned } from '../../worlds/wire/engine-certificate.ts'

async function start(t: TestContext, clock?: FakeClock): Promise<TestGateway> {
  const gate = await startTestGateway(clock === undefined ? {} : { clock })
  t.after(() => gate.close())
  return gate
}

const seen = (answer: { json: unknown }) => answer.json as JsonObject

test('a certificate is kept with its key sealed, listed, described and deleted', async (t) => {
  const gate = await start(t)
  const pair = selfSigned('api.example.org', 'www.example.org')
  const added = await gate.svc('POST', '/svc/certs?org_id=one', pair.cert + pair.key)
  const id = `one${pair.fingerprint}`
  assert.deepEqual(seen(added), { id, status: 'ok', message: 'Certificate added' })
  const stored = await gate.store.documents.find('certificate', 'cert_id', id)
  assert.ok(!JSON.stringify(stored).includes('PRIVATE KEY'))
  assert.match(String(certificateKeyOf(stored!.body, Buffer.alloc(32, 7))), /PRIVATE KEY/)
  assert.throws(() => certificateKeyOf(stored!.body, Buffer.alloc(32, 8)), { code: 'seal_broken' })
  assert.deepEqual(seen(await gate.svc('GET', '/svc/certs')), { certs: [id] })
  assert.deepEqual(seen(await gate.svc('GET', '/svc/certs?org_id=two')), { certs: [] })
  const one = await gate.svc('GET', `/svc/certs/${id}`)
  const { not_before, not_after, ...facts } = seen(one)
  assert.deepEqual(facts, {
    id,
    fingerprint: pair.fingerprint,
    has_private: true,
    issuer: 'CN=api.example.org',
    subject: 'CN=api.example.org',
    dns_names: ['api.example.org', 'www.example.org'],
    is_ca: true,
  })
  assert.deepEqual([not_before, not_after], ['2000-01-01T00:00:00.000Z', '2099-12-31T23:59:59.000Z'])
  assert.ok(!one.text.includes('PRIVATE'))
  assert.deepEqual(seen(await gate.svc('GET', '/svc/certs?mode=detailed')), { certs: [seen(one)] })
  assert.deepEqual((await gate.svc('GET', `/svc/certs/nobody,${id}`)).json, [null, seen(one)])
  for (let time = 0; time < 2; time++) {
    assert.deepEqual(seen(await gate.svc('DELETE', `/svc/certs/${id}`)), { status: 'ok', message: 'removed' })
  }
  const gone = await gate.svc('GET', `/svc/certs/${id}`)
  assert.deepEqual([gone.status, seen(gone).message], [404, 'Certificate with given SHA256 fingerprint not found'])
})

test('a certificate may come without a key, and with the rest of its chain', async (t) => {
  const gate = await start(t)
  const [leaf, issuer] = [selfSigned('leaf.example'), selfSigned('issuer.example')]
  assert.equal(seen(await gate.svc('POST', '/svc/certs', `${leaf.cert}\n${issuer.cert}`)).id, leaf.fingerprint)
  const stored = await gate.store.documents.find('certificate', 'cert_id', leaf.fingerprint)
  assert.equal(String(stored?.body.certificate).split('BEGIN CERTIFICATE').length, 3)
  assert.equal(seen(await gate.svc('GET', `/svc/certs/${leaf.fingerprint}`)).has_private, false)
})

test('what is no certificate, is there already, or does not fit its key is refused', async (t) => {
  const gate = await start(t)
  const [pair, other] = [selfSigned('a.example'), selfSigned('b.example')]
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const locked = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString()
  for (const [pem, reason] of [
    ['', /no PEM block/],
    ['nonsense', /no PEM block/],
    [pair.key, /no PEM block/],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', /cannot be read/],
    [pair.cert.slice(0, 200), /no PEM block/],
    [pair.cert + other.key, /does not belong/],
    [pair.cert + pair.key + pair.key, /more than one private key/],
    [pair.cert + locked, /encrypted/],
    [`${pair.cert}-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n`, /cannot be read/],
    [`${pair.cert}-----BEGIN PRIVATE KEY-----\n`, /cannot be read/],
    [pair.cert.repeat(11), /more than 10/],
  ] as const) {
    const refused = await gate.svc('POST', '/svc/certs', pem)
    assert.equal(refused.status, 400, String(reason))
    assert.match(String(seen(refused).message), reason)
    assert.ok(!refused.text.includes('PRIVATE KEY-----'))
  }
  await gate.svc('POST', '/svc/certs', pair.cert)
  const twice = await gate.svc('POST', '/svc/certs', pair.cert + pair.key)
  assert.equal(twice.status, 409)
  assert.equal((await gate.svc('POST', '/svc/certs?org_id=other', pair.cert)).status, 200)
  assert.equal((await gate.svc('POST', '/svc/certs', 'x'.repeat(300_000))).status, 413)
})

test('an expired certificate is kept with a warning', async (t) => {
  const gate = await start(t, new FakeClock(Date.UTC(2101, 0, 1)))
  const added = seen(await gate.svc('POST', '/svc/certs', selfSigned('old.example').cert))
  assert.equal(added.status, 'ok')
  assert.match(String(added.warning), /expired/)
})
