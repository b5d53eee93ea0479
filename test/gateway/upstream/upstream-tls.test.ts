import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { createSecureServer, type SecureServerOptions } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { originTlsFor } from '../../../src/gateway/upstream/targets.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { type Cared, caredFor } from '../../worlds/gateway/upstream-fixtures.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'

const SERVER = makeCertificate('up.example')
const CLIENT = makeCertificate('the gateway')
const OTHER = makeCertificate('another gateway')

type Protocol = 'HTTP/1.1' | 'HTTP/2'

/** An origin over TLS that speaks a protocol; `seen` holds the fingerprint of the client certificate of each request, '' without one. */
async function secureOrigin(
  t: TestContext,
  protocol: Protocol,
  options: SecureServerOptions = {},
): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = []
  const sockets = new Set<Socket>()
  const keys = { cert: SERVER.cert, key: SERVER.key, ...options }
  const note = (socket: unknown) => {
    const { fingerprint256 = '' } = (socket as TLSSocket).getPeerCertificate()
    seen.push(fingerprint256.replaceAll(':', '').toLowerCase())
  }
  const server =
    protocol === 'HTTP/1.1'
      ? createServer(keys, (request, response) => {
          note(request.socket)
          response.end('HTTP/1.1')
        })
      : createSecureServer({ ...keys, allowHTTP1: false }, (request, response) => {
          note(request.stream.session?.socket)
          response.end('HTTP/2')
        })
  server.on('secureConnection', (socket: Socket) => sockets.add(socket))
  server.on('sessionError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** No check of the server's certificate by an authority, and a connection for each request. */
const LOOSE = { tlsTransport: { insecureSkipVerify: true } }
const FRESH = { SVC_GW_UPSTREAMKEEPMS: '0', SVC_GW_PROXYENABLEHTTP2: 'true' }

async function put(gateway: Cared, url: string, upstream: JsonObject): Promise<void> {
  const answer = await gateway.svc(
    'PUT',
    '/svc/apis/oas/a',
    defined({ id: 'a', url, upstream: { ...LOOSE, ...upstream } }),
  )
  assert.equal(answer.status, 200, answer.text)
}

async function store(gateway: Cared, { cert, key }: { cert: string; key: string }): Promise<string> {
  const made = await gateway.svc('POST', '/svc/certs', `${cert}${key}`)
  assert.equal(made.status, 200, made.text)
  return (made.json as { id: string }).id
}

const showing = (certificate: string, domain = '127.0.0.1'): JsonObject => ({
  mutualTLS: { enabled: true, domainToCertificates: [{ domain, certificate }] },
})

const pinning = (...publicKeys: string[]): JsonObject => ({
  certificatePinning: { enabled: true, domainToPublicKeysMapping: [{ domain: '*', publicKeys }] },
})

const loggedCodes = ({ log }: Cared) => log.map(({ fields }) => fields.code).filter((code) => code !== undefined)

for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) {
  test(`${protocol}: an upstream that requires a client certificate gets the stored one, by host`, async (t) => {
    const origin = await secureOrigin(t, protocol, { ca: [CLIENT.cert], requestCert: true })
    const gateway = await caredFor(t, { url: origin.url, upstream: LOOSE }, FRESH)
    const refused = async (why: string) => assert.equal((await gateway.call('/a/x')).status, 502, why)
    await refused('without a certificate')
    const [right, wrong] = [await store(gateway, CLIENT), await store(gateway, OTHER)]
    await put(gateway, origin.url, showing(right))
    assert.equal((await gateway.call('/a/x')).text, protocol)
    assert.deepEqual(origin.seen, [CLIENT.fingerprint])
    await put(gateway, origin.url, showing(wrong))
    await refused('with another certificate')
    await put(gateway, origin.url, showing(right, 'other.example'))
    await refused('that host is another')
    assert.equal(origin.seen.length, 1)
  })

  test(`${protocol}: without the certificate that it should show, the gateway sends nothing`, async (t) => {
    const origin = await secureOrigin(t, protocol, { requestCert: true, rejectUnauthorized: false })
    const gateway = await caredFor(t, { url: origin.url, upstream: { ...LOOSE, ...showing('0'.repeat(64)) } }, FRESH)
    const refused = await gateway.call('/a/x')
    assert.deepEqual([refused.status, refused.json], [502, { error: 'There was a problem proxying the request' }])
    assert.deepEqual(loggedCodes(gateway), ['upstream_identity_missing'])
    const id = await store(gateway, CLIENT)
    await put(gateway, origin.url, showing(id))
    assert.equal((await gateway.call('/a/x')).status, 200)
    assert.equal((await gateway.svc('DELETE', `/svc/certs/${id}`)).status, 200)
    await eventually('it is shown no more', async () => (await gateway.call('/a/x')).status === 502)
    assert.ok(origin.seen.every((print) => print === CLIENT.fingerprint))
  })

  test(`${protocol}: a pinned key matches in hex, base64 and by certificate; others are refused first`, async (t) => {
    const origin = await secureOrigin(t, protocol)
    const gateway = await caredFor(t, { url: origin.url, upstream: LOOSE }, FRESH)
    const key = new X509Certificate(SERVER.cert).publicKey.export({ type: 'spki', format: 'der' })
    const digest = createHash('sha256').update(key)
    const hash = digest.copy().digest('hex')
    const wrong = 'ab'.repeat(32)
    for (const pins of [
      [hash],
      [hash.toUpperCase()],
      [`sha256/${digest.digest('base64')}`],
      [SERVER.fingerprint],
      [wrong, hash],
    ]) {
      await put(gateway, origin.url, pinning(...pins))
      assert.equal((await gateway.call('/a/x')).text, protocol, String(pins))
    }
    const seen = origin.seen.length
    await put(gateway, origin.url, pinning(wrong))
    const refused = await gateway.call('/a/x')
    assert.deepEqual([refused.status, refused.json], [502, { error: 'There was a problem proxying the request' }])
    assert.deepEqual(loggedCodes(gateway), ['upstream_pin_mismatch'])
    assert.equal(origin.seen.length, seen)
    await put(gateway, origin.url, { certificatePinning: { enabled: false, domainToPublicKeysMapping: [] } })
    assert.equal((await gateway.call('/a/x')).status, 200)
  })

  test(`${protocol}: health checks show the certificate and heed the pins too`, async (t) => {
    const origin = await secureOrigin(t, protocol, { ca: [CLIENT.cert], requestCert: true })
    const gateway = await caredFor(t, { url: origin.url, upstream: LOOSE }, FRESH)
    const id = await store(gateway, CLIENT)
    const uptimeTests = { enabled: true, tests: [{ url: '/' }], interval: '100ms', unhealthyThreshold: 1 }
    await put(gateway, origin.url, { ...showing(id), uptimeTests })
    await eventually('it was checked', () => origin.seen.length > 0)
    await put(gateway, origin.url, { ...showing(id), ...pinning('ab'.repeat(32)), uptimeTests })
    await eventually('it is down', () => gateway.told.some(({ kind }) => kind === 'HostDown'))
    assert.match(String(gateway.told[0]?.detail.reason), /upstream_pin_mismatch/)
  })
}

test('the nearest name of a host decides', () => {
  const names = ['a.b.example:8443', 'a.b.example', '*.b.example', '*.example', '*']
  const tls = { certificates: names.map((name) => [name, name] as const), pins: [['*', ['x']]] as const }
  const chosen = (host: string, port: number) => originTlsFor(host, port, tls).certificate
  assert.equal(chosen('a.b.example', 8443), 'a.b.example:8443')
  assert.equal(chosen('a.b.example', 443), 'a.b.example')
  assert.equal(chosen('c.b.example', 443), '*.b.example')
  assert.equal(chosen('b.example', 443), '*.example')
  assert.equal(chosen('example', 443), '*')
  assert.deepEqual(originTlsFor('any', 1, tls).pins, ['x'])
  assert.deepEqual(originTlsFor('any', 1, { certificates: [['other', 'x']], pins: [] }), {
    certificate: '',
    pins: undefined,
  })
})
