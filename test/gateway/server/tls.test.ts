import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { SlowStore } from '../../worlds/gateway/slow-store.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { type Certificate, makeCertificate } from '../../worlds/wire/certificates.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'

const FALLBACK = makeCertificate('fallback.example')
const SWAPPED = makeCertificate('swapped.example')
const SHOP = makeCertificate('shop.example')
const CLIENT = makeCertificate('client one')
const OTHER_CLIENT = makeCertificate('client two')

interface Secure {
  readonly gateway: TestGateway
  readonly folder: string
  readonly url: string
  /** SHA-256 of the certificate that a handshake with this name meets; the error's code when it fails. */
  met(serverName: string): Promise<string>
  /** Status of a request over TLS. */
  status(serverName: string, path: string, host?: string, client?: Certificate): Promise<number>
}

async function open(t: TestContext, env: Record<string, string> = {}, slow = false): Promise<Secure> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'cert.pem'), FALLBACK.cert)
  writeFileSync(join(folder, 'key.pem'), FALLBACK.key)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const store = slow ? new SlowStore(openMemoryStore()) : openMemoryStore()
  t.after(() => store.close())
  const gateway = await startTestGateway({
    store,
    env: {
      SVC_GW_TLS_ENABLED: 'true',
      SVC_GW_TLS_LISTENPORT: '0',
      SVC_GW_TLS_CERTFILE: join(folder, 'cert.pem'),
      SVC_GW_TLS_KEYFILE: join(folder, 'key.pem'),
      ...env,
    },
  })
  t.after(() => gateway.close())
  const port = gateway.gateway.tlsPort!
  const connect = (servername: string, client?: Certificate) =>
    Client.connect(port, {
      ...(servername !== '' && { servername }),
      rejectUnauthorized: false,
      ...(client !== undefined && { cert: client.cert, key: client.key }),
    })
  return {
    gateway,
    folder,
    url: origin.url,
    async met(serverName) {
      try {
        const client = await connect(serverName)
        const { fingerprint256 } = (client.socket as TLSSocket).getPeerCertificate()
        client.destroy()
        return fingerprint256.replaceAll(':', '').toLowerCase()
      } catch (error) {
        return String((error as NodeJS.ErrnoException).code ?? (error as Error).message)
      }
    },
    async status(serverName, path, host = serverName, certificate) {
      const client = await connect(serverName, certificate)
      const answer = await client.ask(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      client.destroy()
      return statusOf(answer)
    },
  }
}

function onDomain(id: string, url: string, name: string, server: object = {}) {
  return defined({
    id,
    url,
    server: { listenPath: { value: `/${id}/`, strip: true }, customDomain: { enabled: true, name }, ...server },
  })
}

async function certify(gateway: TestGateway, { cert, key }: Certificate): Promise<string> {
  const added = await gateway.svc('POST', '/svc/certs', `${cert}\n${key}`)
  assert.equal(added.status, 200, added.text)
  return (added.json as { id: string }).id
}

test('TLS traffic meets the certificate of the files, also after it was replaced', async (t) => {
  const { gateway, folder, url, met, status } = await open(t)
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url }))
  assert.equal(await met('anything.example'), FALLBACK.fingerprint)
  assert.equal(await met(''), FALLBACK.fingerprint)
  assert.equal(await status('anything.example', '/a/x'), 200)
  const kept = await Client.connect(gateway.gateway.tlsPort!, { rejectUnauthorized: false })
  const ask = async () => statusOf(await kept.ask('GET /a/x HTTP/1.1\r\nHost: b\r\n\r\n'))
  assert.equal(await ask(), 200)
  // First the certificate, then the key: between the two the pair does not fit, and the old one serves on.
  writeFileSync(join(folder, 'cert.new'), SWAPPED.cert)
  renameSync(join(folder, 'cert.new'), join(folder, 'cert.pem'))
  await eventually('the half-changed pair was noticed', () =>
    gateway.log.some(({ message }) => /do not fit/.test(message)),
  )
  assert.equal(await met('anything.example'), FALLBACK.fingerprint)
  writeFileSync(join(folder, 'key.new'), SWAPPED.key)
  renameSync(join(folder, 'key.new'), join(folder, 'key.pem'))
  await eventually('the new pair serves', async () => (await met('anything.example')) === SWAPPED.fingerprint)
  assert.equal(await ask(), 200, 'a connection from before goes on')
  kept.destroy()
})

for (const slow of [false, true]) {
  test(`a stored certificate serves its domain, from the next handshake on${slow ? ' (store that answers later)' : ''}`, async (t) => {
    const { gateway, url, met, status } = await open(t, {}, slow)
    const id = await certify(gateway, SHOP)
    const certificates = { customDomain: { enabled: true, name: 'shop.example', certificates: [id] } }
    const made = await gateway.svc('POST', '/svc/apis/oas', onDomain('shop', url, 'shop.example', certificates))
    assert.equal(made.status, 200, made.text)
    await eventually('the domain has its certificate', async () => (await met('shop.example')) === SHOP.fingerprint)
    assert.equal(await met('SHOP.example'), SHOP.fingerprint)
    assert.equal(await met('other.example'), FALLBACK.fingerprint)
    assert.equal(await status('shop.example', '/shop/x'), 200)
    assert.equal(await status('other.example', '/shop/x'), 404)
    assert.equal((await gateway.svc('DELETE', '/svc/apis/oas/shop')).status, 200)
    await eventually('the domain is forgotten', async () => (await met('shop.example')) === FALLBACK.fingerprint)
    await gateway.svc('POST', '/svc/apis/oas', onDomain('shop', url, 'shop.example', certificates))
    await eventually('and known again', async () => (await met('shop.example')) === SHOP.fingerprint)
    await gateway.svc('DELETE', `/svc/certs/${id}`)
    await eventually('its certificate is gone', async () => (await met('shop.example')) === FALLBACK.fingerprint)
  })
}

test('the ends of the certificates in use are told, and of no others', async (t) => {
  const { gateway, url } = await open(t)
  const until = '2031-01-01T00:00:00Z'
  const id = await certify(gateway, makeCertificate('ends.example', { from: '2020-01-01T00:00:00Z', until }))
  const certificates = { customDomain: { enabled: true, name: 'ends.example', certificates: [id] } }
  const told = async () => {
    const { text } = await gateway.svc('GET', '/metrics')
    return text.match(/^svc_certificate_expiry_timestamp_seconds\{.*$/gm)
  }
  const line = (name: string, end: string) =>
    `svc_certificate_expiry_timestamp_seconds{certificate="${name}"} ${Date.parse(end) / 1000}`
  const file = line('file', '2049-12-31T23:59:59Z')
  assert.deepEqual(await told(), [file])
  for (let i = 0; i < 2; i++) {
    await gateway.svc('POST', '/svc/apis/oas', onDomain('ends', url, 'ends.example', certificates))
    await becomes(told, [line(id, until), file])
    await gateway.svc('DELETE', '/svc/apis/oas/ends')
    await becomes(told, [file])
  }
})

test('a certificate of one organisation serves no domain of another', async (t) => {
  const { gateway, url, met } = await open(t)
  const [ours, theirs] = ['1'.repeat(24), '2'.repeat(24)]
  const added = await gateway.svc('POST', `/svc/certs?org_id=${ours}`, `${SHOP.cert}\n${SHOP.key}`)
  const { id } = added.json as { id: string }
  for (const [name, orgId] of [
    ['stolen', theirs],
    ['shop', ours],
  ] as const) {
    const customDomain = { enabled: true, name: `${name}.example`, certificates: [id] }
    const server = { listenPath: { value: `/${name}/`, strip: true }, customDomain }
    const made = await gateway.svc('POST', '/svc/apis/oas', defined({ id: name, url, server, info: { orgId } }))
    assert.equal(made.status, 200, made.text)
  }
  await eventually('the domain has its certificate', async () => (await met('shop.example')) === SHOP.fingerprint)
  assert.equal(await met('stolen.example'), FALLBACK.fingerprint)
})

test('a domain of an API in a file has its certificate too', async (t) => {
  const apis = mkdtempSync(join(tmpdir(), 'gatehouse-tls-apis-'))
  t.after(() => rmSync(apis, { recursive: true }))
  const { gateway, url, met } = await open(t, { SVC_GW_APPPATH: apis })
  const id = await certify(gateway, SHOP)
  const certificates = { customDomain: { enabled: true, name: 'shop.example', certificates: [id] } }
  writeFileSync(join(apis, 'shop.json'), JSON.stringify(onDomain('shop', url, 'shop.example', certificates)))
  await eventually('the domain has its certificate', async () => (await met('shop.example')) === SHOP.fingerprint)
})

test('without files a handshake for an unknown name is refused, one for a known domain is not', async (t) => {
  const { gateway, url, met } = await open(t, { SVC_GW_TLS_CERTFILE: '', SVC_GW_TLS_KEYFILE: '' })
  assert.doesNotMatch(await met('other.example'), /^[0-9a-f]{64}$/)
  const id = await certify(gateway, SHOP)
  const certificates = { customDomain: { enabled: true, name: 'shop.example', certificates: [id] } }
  await gateway.svc('POST', '/svc/apis/oas', onDomain('shop', url, 'shop.example', certificates))
  await eventually('the domain has its certificate', async () => (await met('shop.example')) === SHOP.fingerprint)
  assert.doesNotMatch(await met('other.example'), /^[0-9a-f]{64}$/)
})

test('a client certificate is asked for on the domain that wants one, and only there', async (t) => {
  const { gateway, url, status } = await open(t)
  const asked = { clientCertificates: { enabled: true, allowlist: [CLIENT.fingerprint] } }
  for (const api of [onDomain('bank', url, 'bank.example', asked), onDomain('free', url, 'free.example')])
    assert.equal((await gateway.svc('POST', '/svc/apis/oas', api)).status, 200)
  await eventually('the domain asks', async () => (await status('bank.example', '/bank/x', undefined, CLIENT)) === 200)
  assert.equal(await status('bank.example', '/bank/x'), 401)
  assert.equal(await status('bank.example', '/bank/x', undefined, OTHER_CLIENT), 403)
  assert.equal(await status('free.example', '/free/x'), 200)
  assert.equal(await status('free.example', '/free/x', undefined, CLIENT), 200)
  // A connection opened for one domain is no way into another: nobody asked it for a certificate. The client must open its own.
  assert.equal(await status('free.example', '/bank/x', 'bank.example', CLIENT), 421)
  const plain = await gateway.call('/bank/x', { headers: { host: 'bank.example' } })
  assert.deepEqual([plain.status, plain.json], [401, { error: 'Client certificate required' }])
  await gateway.svc('PUT', '/svc/apis/oas/bank', onDomain('bank', url, 'bank.example'))
  assert.equal(await status('bank.example', '/bank/x'), 200)
})

test('files that do not fit together, or are not there, stop the start and name the settings', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-bad-'))
  writeFileSync(join(folder, 'cert.pem'), FALLBACK.cert)
  writeFileSync(join(folder, 'key.pem'), SWAPPED.key)
  const start = (cert: string, key: string) =>
    startTestGateway({
      env: {
        SVC_GW_TLS_ENABLED: 'true',
        SVC_GW_TLS_LISTENPORT: '0',
        SVC_GW_TLS_CERTFILE: join(folder, cert),
        SVC_GW_TLS_KEYFILE: join(folder, key),
      },
    })
  for (const [cert, key] of [
    ['cert.pem', 'key.pem'],
    ['cert.pem', 'nothing.pem'],
    ['key.pem', 'key.pem'],
  ] as const)
    await assert.rejects(start(cert, key), /gateway\.tls\.(cert|key)_file/)
  rmSync(folder, { recursive: true })
})

test('the upstream is told that the client came over TLS', async (t) => {
  const { gateway, status, url } = await open(t)
  const origin = await startOrigin()
  t.after(() => origin.close())
  assert.notEqual(url, origin.url)
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url }))
  assert.equal(await status('x.example', '/a/x'), 200)
  assert.equal(origin.seen[0]?.headers['x-forwarded-proto'], 'https')
  assert.equal((await gateway.call('/a/x')).status, 200)
  assert.equal(origin.seen[1]?.headers['x-forwarded-proto'], 'http')
})

test('settings choose the versions, suites and curves, with and without a server name', async (t) => {
  const rows = [
    { env: {}, takes: [{}, { maxVersion: 'TLSv1.2' }, { ecdhCurve: 'P-384' }], refuses: [{ ecdhCurve: 'P-521' }] },
    { env: { SVC_GW_TLS_MINVERSION: '1.3' }, takes: [{}], refuses: [{ maxVersion: 'TLSv1.2' }] },
    {
      env: { SVC_GW_TLS_CIPHERSUITES: 'TLS_AES_256_GCM_SHA384,ECDHE-ECDSA-AES256-GCM-SHA384' },
      takes: [{}, { maxVersion: 'TLSv1.2' }, { ciphers: 'TLS_AES_256_GCM_SHA384' }],
      refuses: [
        { ciphers: 'TLS_AES_128_GCM_SHA256', minVersion: 'TLSv1.3' },
        { ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' },
      ],
    },
    { env: { SVC_GW_TLS_CURVES: 'P-521' }, takes: [{ ecdhCurve: 'P-521' }], refuses: [{ ecdhCurve: 'X25519' }] },
  ] as const
  for (const { env, takes, refuses } of rows) {
    const { gateway } = await open(t, env)
    const reach = (options: object, servername: string) =>
      Client.connect(gateway.gateway.tlsPort!, {
        ...{ rejectUnauthorized: false, ...options },
        ...(servername !== '' && { servername }),
      }).then((client) => client.destroy())
    for (const name of ['', 'any.example']) {
      for (const options of takes) await reach(options, name)
      for (const options of refuses)
        await assert.rejects(
          reach(options, name),
          /alert/i,
          `${JSON.stringify(env)} ${JSON.stringify(options)} ${name}`,
        )
    }
  }
})

test('suites that the settings do not know, and none for the version, stop the start', async () => {
  const start = (env: Record<string, string>) => startTestGateway({ env: { SVC_GW_TLS_ENABLED: 'true', ...env } })
  for (const [name, value] of [
    ['CIPHERSUITES', 'AES128-SHA'],
    ['CIPHERSUITES', 'ECDHE-ECDSA-AES128-CCM'],
    ['CURVES', 'secp256k1'],
    ['CURVES', '[]'],
    ['MINVERSION', '1.1'],
  ] as const)
    await assert.rejects(start({ [`SVC_GW_TLS_${name}`]: value }), new RegExp(`SVC_GW_TLS_${name}`), value)
  const none = { SVC_GW_TLS_MINVERSION: '1.3', SVC_GW_TLS_CIPHERSUITES: 'ECDHE-ECDSA-AES128-GCM-SHA256' }
  await assert.rejects(start(none), /must hold a suite of TLS 1.3/)
})
