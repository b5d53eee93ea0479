import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { becomes, eventually } from '../../worlds/base/eventually.ts'
import { startTestDashboard } from '../../worlds/dashboard/harness.ts'
import { PASSWORD, person, signInWorld } from '../../worlds/dashboard/sign-in-world.ts'
import { type Certificate, makeCertificate } from '../../worlds/wire/certificates.ts'
import { Client, fieldOf, statusOf } from '../../worlds/wire/raw.ts'

const FIRST = makeCertificate('dashboard.example')
const SECOND = makeCertificate('dashboard.example')
const HSTS = 'max-age=31536000'

function filesOf(t: TestContext, { cert, key }: Certificate) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-dashboard-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  const env = { SVC_DB_TLS_ENABLED: 'true', SVC_DB_TLS_CERTFILE: certFile, SVC_DB_TLS_KEYFILE: keyFile }
  return { certFile, keyFile, env }
}

interface Sent {
  readonly status: number
  readonly headers: IncomingMessage['headers']
}

/** Sends one request over TLS, trusting the first certificate alone. */
function send(
  port: number,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path,
      headers,
      ca: FIRST.cert,
      servername: 'dashboard.example',
      agent: false,
    }
    const sent = request(options, (answer) => {
      answer.resume()
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers }))
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

test('over TLS every answer has HSTS, and every cookie is Secure', async (t) => {
  const world = await signInWorld(t, { env: filesOf(t, FIRST).env })
  const { port } = world
  for (const [method, path, wanted] of [
    ['GET', '/hello', 200],
    ['GET', '/nothing/here', 404],
    ['GET', '/api/apis', 401],
    ['PUT', '/hello', 405],
    ['POST', '/api/login', 400],
    ['GET', '/console/nothing.js', 404],
    ['GET', '/%zz', 400],
  ] as const) {
    const { status, headers } = await send(port, method, path, method === 'GET' ? undefined : {})
    assert.deepEqual([status, headers['strict-transport-security']], [wanted, HSTS], `${method} ${path}`)
  }
  const page = await send(port, 'GET', '/', undefined, { accept: 'text/html' })
  assert.equal(page.headers['strict-transport-security'], HSTS)
  const raw = await Client.connect(port, { rejectUnauthorized: false })
  const malformed = await raw.ask('GET / HTTP/1.1\r\nno colon\r\n\r\n')
  assert.deepEqual([statusOf(malformed), fieldOf(malformed, 'strict-transport-security')], [400, HSTS])
  raw.destroy()
  const { email } = await person(world)
  const login = await send(port, 'POST', '/api/login', { email, password: PASSWORD })
  assert.equal(login.status, 200)
  const [cookie = ''] = login.headers['set-cookie'] ?? []
  assert.match(cookie, /; HttpOnly; SameSite=Lax; Secure$/)
})

test('without TLS, or with hsts_seconds 0, nothing promises it', async (t) => {
  const plain = await signInWorld(t)
  const { headers } = await plain.call('GET', '/hello')
  assert.equal(headers['strict-transport-security'], undefined)
  const { env } = filesOf(t, FIRST)
  const quiet = await signInWorld(t, { env: { ...env, SVC_DB_TLS_HSTSSECONDS: '0' } })
  assert.equal((await send(quiet.port, 'GET', '/hello')).headers['strict-transport-security'], undefined)
})

test('the port speaks TLS 1.2 and 1.3 alone, with strong suites, without renegotiation', async (t) => {
  const { port } = await signInWorld(t, { env: filesOf(t, FIRST).env })
  const plain = connect(port, '127.0.0.1')
  t.after(() => plain.destroy())
  let answered = ''
  plain.on('data', (bytes: Buffer) => {
    answered += bytes.toString('latin1')
  })
  const closed = new Promise((resolve) => plain.on('close', resolve))
  plain.on('error', () => {})
  plain.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n')
  await closed
  assert.doesNotMatch(answered, /Gatehouse/)
  const reach = (options: object) => Client.connect(port, { rejectUnauthorized: false, ...options })
  const weak = { maxVersion: 'TLSv1.2', ciphers: 'ALL:!ECDHE+AESGCM:!ECDHE+CHACHA20:@SECLEVEL=0' }
  await assert.rejects(reach(weak), /alert/i)
  await assert.rejects(reach({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }), /alert/i)
  const client = await reach({ maxVersion: 'TLSv1.2' })
  const refused = new Promise<Error | null>((resolve) => {
    ;(client.socket as TLSSocket).renegotiate({ rejectUnauthorized: false }, resolve)
    client.socket.on('error', resolve)
  })
  assert.match(String(await refused), /no renegotiation/)
  client.destroy()
})

test('a connection that never begins its handshake is closed', async (t) => {
  const { port } = await signInWorld(t, { env: filesOf(t, FIRST).env })
  const silent = connect(port, '127.0.0.1')
  t.after(() => silent.destroy())
  silent.resume()
  await once(silent, 'close', { signal: AbortSignal.timeout(60_000) })
})

test('a changed certificate is served from the next connection on', async (t) => {
  const { certFile, keyFile, env } = filesOf(t, FIRST)
  const { port, log } = await signInWorld(t, { env })
  const met = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(socket.getPeerX509Certificate()!.fingerprint256.replaceAll(':', '').toLowerCase())
        socket.destroy()
      })
      socket.on('error', reject)
    })
  const kept = await Client.connect(port, { rejectUnauthorized: false })
  t.after(() => kept.destroy())
  assert.equal(await met(), FIRST.fingerprint)
  const replace = (file: string, text: string) => {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  replace(certFile, SECOND.cert)
  await eventually('the half-changed pair was noticed', () => log.some(({ message }) => /do not fit/.test(message)))
  assert.equal(await met(), FIRST.fingerprint)
  replace(keyFile, SECOND.key)
  await becomes(met, SECOND.fingerprint)
  assert.equal(statusOf(await kept.ask('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n')), 200)
})

test('files that are missing or do not fit stop the start and name the setting', async (t) => {
  const { env, certFile } = filesOf(t, { ...FIRST, key: SECOND.key })
  await assert.rejects(startTestDashboard({ env }), /dashboard\.tls\.cert_file/)
  await assert.rejects(startTestDashboard({ env: { SVC_DB_TLS_ENABLED: 'true' } }), /SVC_DB_TLS_CERTFILE/)
  const half = { SVC_DB_TLS_ENABLED: 'true', SVC_DB_TLS_CERTFILE: certFile }
  await assert.rejects(startTestDashboard({ env: half }), /SVC_DB_TLS_KEYFILE/)
})
