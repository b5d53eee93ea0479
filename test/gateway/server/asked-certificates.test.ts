import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'
import { makeCertificate } from '../../worlds/wire/certificates.ts'
import { Client, statusOf } from '../../worlds/wire/raw.ts'

const SERVER = makeCertificate('gateway.example')
const ANN = makeCertificate('ann')
const SECRET = Buffer.from('a secret of at least 32 bytes, for tokens').toString('base64')

const scheme = (settings: JsonObject): JsonObject => ({
  authentication: { enabled: true, securitySchemes: { s: { enabled: true, ...settings } } },
})
const declared = (s: JsonObject): JsonObject => ({ components: { securitySchemes: { s } }, security: [{ s: [] }] })
const KEY = declared({ type: 'apiKey', in: 'header', name: 'X-Key' })
const JWT = declared({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })
const OAUTH = declared({ type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'oauth/token', scopes: {} } } })
const CORS = { cors: { enabled: true, allowedOrigins: ['https://app.example'] } }

interface Row {
  readonly document?: JsonObject
  readonly server?: JsonObject
  readonly global?: JsonObject
  readonly asks: boolean
}

/** Kinds of APIs, each alone on the gateway: whether its clients are asked for a certificate. */
const KINDS: Readonly<Record<string, Row>> = {
  open: { asks: false },
  'allow list': { server: { clientCertificates: { enabled: true, allowlist: [ANN.fingerprint] } }, asks: true },
  key: { document: KEY, server: scheme({}), asks: false },
  'certificate as key': { document: KEY, server: scheme({ enableClientCertificate: true }), asks: true },
  jwt: { document: JWT, server: scheme({ source: SECRET, signingMethod: 'hmac', defaultPolicies: ['p'] }), asks: true },
  'jwt of browsers': {
    document: JWT,
    server: scheme({ source: SECRET, signingMethod: 'hmac', defaultPolicies: ['p'] }),
    global: CORS,
    asks: false,
  },
  oauth: { document: OAUTH, server: scheme({}), asks: false },
  'oauth with bound tokens': { document: OAUTH, server: scheme({ mutualTls: 'allowed' }), asks: true },
}

async function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-asked-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'cert.pem'), SERVER.cert)
  writeFileSync(join(folder, 'key.pem'), SERVER.key)
  const gate = await startTestGateway({
    env: {
      SVC_GW_TLS_ENABLED: 'true',
      SVC_GW_TLS_LISTENPORT: '0',
      SVC_GW_TLS_CERTFILE: join(folder, 'cert.pem'),
      SVC_GW_TLS_KEYFILE: join(folder, 'key.pem'),
    },
  })
  t.after(() => gate.close())
  return gate
}

const save = async (gate: TestGateway, id: string, row: Row, org = 'one', more: JsonObject = {}) => {
  const { document, server, global } = row
  const draft = {
    id,
    url: 'http://127.0.0.1:9',
    info: { orgId: org },
    server: { ...server, ...more },
    ...(global && { global }),
  }
  const answer = await gate.svc('POST', '/svc/apis/oas', { ...defined(draft), ...document })
  assert.equal(answer.status, 200, answer.text)
}

/** True when a handshake with this name asks for a certificate: in TLS 1.2 anyone can see it (RFC 5246 section 7.4.4). */
function asks(gate: TestGateway, servername: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const raw = connect(gate.gateway.tlsPort!, '127.0.0.1')
    const bytes: Buffer[] = []
    const tap = new Duplex({ read() {}, write: (chunk, _encoding, done) => void raw.write(chunk, done) })
    raw.on('data', (chunk: Buffer) => {
      bytes.push(chunk)
      tap.push(chunk)
    })
    raw.on('error', reject)
    const socket = connectTls({ socket: tap, servername, maxVersion: 'TLSv1.2', rejectUnauthorized: false })
    socket.on('error', reject)
    socket.once('secureConnect', () => {
      resolve(messageTypes(Buffer.concat(bytes)).includes(13))
      socket.destroy()
      raw.destroy()
    })
  })
}

/** Types of the handshake messages before encryption begins. */
function messageTypes(bytes: Buffer): number[] {
  const parts: Buffer[] = []
  for (let at = 0; bytes[at] === 22; ) {
    const end = at + 5 + bytes.readUInt16BE(at + 3)
    parts.push(bytes.subarray(at + 5, end))
    at = end
  }
  const messages = Buffer.concat(parts)
  const types: number[] = []
  for (let at = 0; at + 4 <= messages.length; at += 4 + messages.readUIntBE(at + 1, 3)) types.push(messages[at]!)
  return types
}

const status = async (gate: TestGateway, path: string, fields = '') => {
  const certificate = { rejectUnauthorized: false, cert: ANN.cert, key: ANN.key }
  const client = await Client.connect(gate.gateway.tlsPort!, certificate)
  const answer = await client.ask(`GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`)
  client.destroy()
  return statusOf(answer)
}

test('a handshake asks for a certificate where an API needs one, and only there', async (t) => {
  const gate = await open(t)
  for (const [name, row] of Object.entries(KINDS)) {
    await save(gate, 'x', row)
    assert.equal(await asks(gate, 'any.example'), row.asks, name)
    assert.equal((await gate.svc('DELETE', '/svc/apis/oas/x')).status, 200)
    const customDomain = { enabled: true, name: 'x.example' }
    await save(gate, 'x', row, 'one', { customDomain })
    assert.deepEqual([await asks(gate, 'x.example'), await asks(gate, 'any.example')], [row.asks, false], name)
    assert.equal((await gate.svc('DELETE', '/svc/apis/oas/x')).status, 200)
  }
})

test('APIs with keys are asked where their organisation issues tokens bound to certificates', async (t) => {
  const gate = await open(t)
  await save(gate, 'o', KINDS['oauth with bound tokens']!, 'one', {
    customDomain: { enabled: true, name: 'o.example' },
  })
  await save(gate, 'other', KINDS.key!, 'two')
  assert.equal(await asks(gate, 'any.example'), false)
  await save(gate, 'k', KINDS.key!, 'one')
  assert.equal(await asks(gate, 'any.example'), true)
})

test('an internal API that needs a certificate is asked for at the domains of its organisation', async (t) => {
  const gate = await open(t)
  await save(gate, 'outer', KINDS.open!, 'one', { customDomain: { enabled: true, name: 'x.example' } })
  await save(gate, 'other', KINDS.open!, 'two', { customDomain: { enabled: true, name: 'y.example' } })
  const inner = defined({
    ...{ id: 'inner', url: 'http://127.0.0.1:9', server: KINDS['allow list']!.server! },
    info: { orgId: 'one', state: { active: true, internal: true } },
  })
  assert.equal((await gate.svc('POST', '/svc/apis/oas', inner)).status, 200)
  assert.deepEqual([await asks(gate, 'x.example'), await asks(gate, 'y.example')], [true, false])
})

test('an allow list and a bound JSON Web Token work whatever other organisations save and delete', async (t) => {
  const gate = await open(t)
  const origin = await startOrigin()
  t.after(() => origin.close())
  const { server } = KINDS['allow list']!
  const listed = defined({ id: 'listed', url: origin.url, info: { orgId: 'one' }, server: server! })
  assert.equal((await gate.svc('POST', '/svc/apis/oas', listed)).status, 200)
  const policy = { id: 'p', org_id: 'one', access_rights: rights('jwt'), active: true }
  assert.equal((await gate.svc('POST', '/svc/policies', policy)).status, 200)
  const jwtServer = scheme({ source: SECRET, signingMethod: 'hmac', defaultPolicies: ['p'] })
  const jwt = { ...defined({ id: 'jwt', url: origin.url, info: { orgId: 'one' }, server: jwtServer }), ...JWT }
  assert.equal((await gate.svc('POST', '/svc/apis/oas', jwt)).status, 200)
  const token = tokenOf({ sub: 'ann', exp: Math.floor(gate.clock.wallMs / 1000) + 600 })
  const works = async () => {
    assert.equal(await status(gate, '/listed/x'), 200)
    assert.equal(await status(gate, '/jwt/x', `Authorization: Bearer ${token}\r\n`), 200)
  }
  await works()
  await save(gate, 'w', KINDS['certificate as key']!, 'two')
  await works()
  assert.equal((await gate.svc('DELETE', '/svc/apis/oas/w')).status, 200)
  await works()
})

/** A token that its issuer bound to Ann's certificate (RFC 8705 section 3.1). */
function tokenOf(claims: JsonObject): string {
  const cnf = { 'x5t#S256': Buffer.from(ANN.fingerprint, 'hex').toString('base64url') }
  const part = (value: JsonObject) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ ...claims, cnf })}`
  const key = Buffer.from(SECRET, 'base64')
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}
