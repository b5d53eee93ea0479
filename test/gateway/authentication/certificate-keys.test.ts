import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { type Certificate, makeCertificate } from '../../worlds/wire/certificates.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'

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
  return { gate, status, origin }
}

const seen = (answer: { json: unknown }) => answer.json as JsonObject
const session = (certificate: string, more: JsonObject = {}): JsonObject => ({
  access_rights: rights('a'),
  certificate,
  ...more,
})

test('a key for a client certificate works with that certificate alone', async (t) => {
  const { gate, status } = await open(t)
  assert.equal(await status(ANN), 403)
  const made = await gate.svc('POST', '/svc/keys/create', session(ANN.fingerprint, { alias: 'ann' }))
  assert.equal(made.status, 200, made.text)
  assert.equal(seen(made).key, '')
  const hash = String(seen(made).key_hash)
  assert.equal(await status(ANN), 200)
  assert.equal(await status(BOB), 403)
  assert.equal(await status(), 401)
  // Public values are no key.
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

test('a certificate key ends with the stored certificate for good', async (t) => {
  const { gate, status } = await open(t)
  const store = async () => {
    const added = await gate.svc('POST', '/svc/certs', ANN.cert as never)
    assert.equal(added.status, 200, added.text)
    return String(seen(added).id)
  }
  const id = await store()
  assert.equal((await gate.svc('POST', '/svc/keys/create', session(id))).status, 200)
  assert.equal(await status(ANN), 200)
  assert.equal((await gate.svc('DELETE', `/svc/certs/${id}`)).status, 200)
  assert.equal(await status(ANN), 403)
  assert.equal(await store(), id)
  assert.equal(await status(ANN), 403)
})

test('a key that names certificates opens nothing without one of them, however it came by them', async (t) => {
  const { gate, status } = await open(t)
  const clients = [undefined, ANN, BOB]
  const opens = async (key: string, names: readonly (readonly Certificate[])[], what: string) => {
    // The oracle: each member that names certificates lists the client's.
    const fits = (client: Certificate | undefined) =>
      client !== undefined && names.every((list) => list.includes(client))
    for (const client of clients) {
      const wanted = fits(client) ? 200 : client === undefined ? 401 : 403
      assert.equal(await status(client, key), wanted, `${what} with ${client?.fingerprint}`)
    }
    assert.equal((await gate.call('/a/x', { headers: { authorization: key } })).status, fits(undefined) ? 200 : 401)
  }
  const bindings = (...certificates: Certificate[]) => ({
    mtls_static_certificate_bindings: certificates.map(({ fingerprint }) => fingerprint.toUpperCase()),
  })
  const members: readonly [JsonObject, Certificate[][]][] = [
    [{ certificate: ANN.fingerprint }, [[ANN]]],
    [bindings(ANN), [[ANN]]],
    [bindings(ANN, BOB), [[ANN, BOB]]],
    [{ certificate: BOB.fingerprint, ...bindings(ANN, BOB) }, [[BOB], [ANN, BOB]]],
    [{ certificate: BOB.fingerprint, ...bindings(ANN) }, [[BOB], [ANN]]],
  ]
  for (const [i, [named, names]] of members.entries()) {
    const body = { access_rights: rights('a'), ...named }
    const custom = `a-key-of-my-own-choice-${i}`
    assert.equal((await gate.svc('POST', `/svc/keys/${custom}`, body)).status, 200)
    await opens(custom, names, `custom ${JSON.stringify(named)}`)
    const plain = seen(await gate.svc('POST', '/svc/keys/create', { access_rights: rights('a') }))
    assert.equal((await gate.svc('PUT', `/svc/keys/${plain.key}`, body)).status, 200)
    await opens(String(plain.key), names, `added ${JSON.stringify(named)}`)
    const rotated = seen(await gate.svc('POST', `/svc/keys/${plain.key}/rotate`))
    await opens(String(rotated.key), names, `rotated ${JSON.stringify(named)}`)
  }
})

test('signed requests of a bound key need its certificate too', async (t) => {
  const { gate, origin } = await open(t)
  const authentication = { enabled: true, hmac: { enabled: true, allowedAlgorithms: ['hmac-sha256'] } }
  const api = defined({
    id: 'h',
    url: origin.url,
    server: { listenPath: { value: '/h/', strip: true }, authentication },
  })
  assert.equal((await gate.svc('POST', '/svc/apis/oas', api)).status, 200)
  const key = 'a-key-that-signs-requests'
  const signs = { access_rights: rights('h'), hmac_enabled: true, hmac_string: 'the secret of the key' }
  const ask = async () => {
    const date = new Date(gate.clock.wallMs).toUTCString()
    const text = `(request-target): get /h/x\ndate: ${date}`
    const value = createHmac('sha256', signs.hmac_string).update(text).digest('base64')
    const parameters = `keyId="${key}",algorithm="hmac-sha256",headers="(request-target) date",signature="${value}"`
    return (await gate.call('/h/x', { headers: { date, authorization: `Signature ${parameters}` } })).status
  }
  assert.equal((await gate.svc('POST', `/svc/keys/${key}`, signs)).status, 200)
  assert.equal(await ask(), 200)
  assert.equal((await gate.svc('PUT', `/svc/keys/${key}`, { ...signs, certificate: ANN.fingerprint })).status, 200)
  assert.equal(await ask(), 401)
})

test('what names no certificate binds nothing: such members are refused, and any at users', async (t) => {
  const { gate } = await open(t)
  const body = { access_rights: rights('a') }
  const made = seen(await gate.svc('POST', '/svc/keys/create', body))
  const user = { ...body, basic_auth_data: { password: 'a good long password' } }
  assert.equal((await gate.svc('POST', '/svc/keys/ann', user)).status, 200)
  for (const [member, good, bad] of [
    ['certificate', ANN.fingerprint, ['nonsense', `other${ANN.fingerprint}`]],
    ['mtls_static_certificate_bindings', [ANN.fingerprint], [['nonsense'], [ANN.fingerprint, 'nonsense'], ['']]],
  ] as const) {
    for (const value of bad) {
      for (const [method, path] of [
        ['POST', '/svc/keys/create'],
        ['POST', '/svc/keys/a-key-of-my-own-choice'],
        ['PUT', `/svc/keys/${made.key}`],
      ] as const) {
        const answer = await gate.svc(method, path, { ...body, [member]: value })
        assert.equal(answer.status, 400, `${method} ${path} ${member} ${value}: ${answer.text}`)
        assert.match(answer.text, new RegExp(member))
      }
    }
    for (const name of ['ann', 'bob']) {
      const answer = await gate.svc('POST', `/svc/keys/${name}`, { ...user, [member]: good })
      assert.equal(answer.status, 400, `${name} ${member}: ${answer.text}`)
    }
  }
})

test('an API that does not ask for it takes no certificate for a key', async (t) => {
  const { gate, status } = await open(t)
  assert.equal((await gate.svc('POST', '/svc/keys/create', session(ANN.fingerprint))).status, 200)
  assert.equal(await status(ANN), 200)
  const api = defined({ id: 'a', url: 'http://127.0.0.1:9', keyIn: 'Authorization' })
  assert.equal((await gate.svc('PUT', '/svc/apis/oas/a', api)).status, 200)
  assert.equal(await status(ANN), 401)
})

/** Valid for an hour from the moment at which clocks of tests begin. */
const HOUR = makeCertificate('an hour', { from: '2023-11-14T22:13:20Z', until: '2023-11-14T23:13:20Z' })
const BEGIN_MS = Date.parse('2023-11-14T22:13:20Z')
const END_MS = Date.parse('2023-11-14T23:13:20.999Z')

/** The answers to one client as the clock moves over the dates of its certificate, on a connection that stays open. */
async function overDates(gate: TestGateway, ask: () => Promise<readonly [status: number, text: string]>) {
  const at = async (ms: number) => {
    gate.clock.wallMs = ms
    return ask()
  }
  const [before, first, last, after] = [
    await at(BEGIN_MS - 1),
    await at(BEGIN_MS),
    await at(END_MS),
    await at(END_MS + 1),
  ]
  assert.deepEqual([first[0], last[0]], [200, 200])
  assert.deepEqual([before[0], after[0]], [403, 403])
  assert.match(before[1], /"error": ?"Certificate is not valid yet"/)
  assert.match(after[1], /"error": ?"Certificate has expired"/)
}

/** Makes requests on one connection with that certificate. */
async function overHttp1(t: TestContext, gate: TestGateway) {
  const socket = await Client.connect(gate.gateway.tlsPort!, {
    ...{ rejectUnauthorized: false, cert: HOUR.cert, key: HOUR.key },
  })
  t.after(() => socket.destroy())
  return async () => {
    const answer = await socket.ask('GET /a/x HTTP/1.1\r\nHost: a\r\n\r\n')
    return [statusOf(answer), answer.body.toString()] as const
  }
}

function overHttp2(t: TestContext, gate: TestGateway) {
  const session = connectHttp2(`https://127.0.0.1:${gate.gateway.tlsPort}`, {
    ...{ rejectUnauthorized: false, cert: HOUR.cert, key: HOUR.key },
  })
  t.after(() => session.destroy())
  return () =>
    new Promise<readonly [number, string]>((resolve, reject) => {
      const stream = session.request({ ':path': '/a/x', ':authority': 'a' })
      let status = 0
      let text = ''
      stream.on('response', (headers) => {
        status = Number(headers[':status'])
      })
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('error', reject)
      stream.on('end', () => resolve([status, text]))
      stream.end()
    })
}

test('a certificate is valid from its first to its last second on open connections too', async (t) => {
  const { gate } = await open(t)
  const made = await gate.svc('POST', '/svc/keys/create', session(HOUR.fingerprint))
  assert.equal(made.status, 200, made.text)
  await overDates(gate, await overHttp1(t, gate))
  await overDates(gate, overHttp2(t, gate))
})

test('the dates count for the list of certificates that an API lets in, too', async (t) => {
  const { gate, origin } = await open(t)
  const clientCertificates = { enabled: true, allowlist: [HOUR.fingerprint] }
  const server = { listenPath: { value: '/a/', strip: true }, clientCertificates }
  // The first API has every connection asked for a certificate.
  const listed = defined({ id: 'b', path: '/a/', url: origin.url, server })
  const first = defined({
    ...{ id: 'a', path: '/other/', url: origin.url, keyIn: 'Authorization' },
    authentication: { securitySchemes: { key: { enabled: true, enableClientCertificate: true } } },
  })
  assert.equal((await gate.svc('PUT', '/svc/apis/oas/a', first)).status, 200)
  assert.equal((await gate.svc('POST', '/svc/apis/oas', listed)).status, 200)
  await overDates(gate, await overHttp1(t, gate))
  const other = await Client.connect(gate.gateway.tlsPort!, { rejectUnauthorized: false, cert: BOB.cert, key: BOB.key })
  t.after(() => other.destroy())
  assert.equal(statusOf(await other.ask('GET /a/x HTTP/1.1\r\nHost: a\r\n\r\n')), 403)
})
