import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConnectionOptions, createSecureContext, type TLSSocket } from 'node:tls'
import { makeCertificate } from '../../worlds/wire/certificates.ts'
import { openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { Client, get, statusOf, turn, within } from '../../worlds/wire/raw.ts'
import {
  AS_CALLER,
  CALLER,
  certificateOf,
  choiceOf,
  choose,
  MUTUAL,
  PLAIN,
  refusesHandshake,
  served,
  to,
} from '../../worlds/wire/tls-gate.ts'
import { nothingLeft } from '../../worlds/wire/until-quiet.ts'

const OTHER = makeCertificate('plain.example')

test('the server name picks the certificate; letter case does not matter', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    assert.equal((await served(gate, to('plain.example', { maxVersion }))).shown, PLAIN.fingerprint)
    assert.equal((await served(gate, to('mutual.example', { maxVersion }))).shown, MUTUAL.fingerprint)
    assert.equal((await served(gate, to('Mutual.Example', { maxVersion }))).shown, MUTUAL.fingerprint)
    assert.equal((await served(gate, to('', { maxVersion }))).shown, PLAIN.fingerprint, 'without a name')
  }
  await nothingLeft(gate)
})

test('a name that nobody serves ends the handshake and nothing else', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  for (const name of ['unknown.example', 'plain.example.evil', 'a'.repeat(250), 'xn--nxasmq6b.example']) {
    await refusesHandshake(gate, to(name))
  }
  await served(gate, to('plain.example'))
  await nothingLeft(gate)
})

test('protocols before TLS 1.2 are refused', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    const old = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' }
    await assert.rejects(Client.connect(gate.port, to('plain.example', old)), { code: /ALERT_PROTOCOL_VERSION/ })
  }
  await nothingLeft(gate)
})

test('a new certificate is shown from the next handshake on; open connections live on', async (t) => {
  const origin = await openOrigin(t)
  let certificate = PLAIN
  const gate = await openGate(t, {
    originPort: origin.port,
    tls: (name) => choiceOf(certificate, { named: name !== '' }),
  })
  for (const servername of ['plain.example', '']) {
    certificate = PLAIN
    const early = await Client.connect(gate.port, to(servername))
    const session = await sessionOf(early)
    certificate = OTHER
    assert.equal((await served(gate, to(servername))).shown, OTHER.fingerprint)
    await served(gate, to(servername, { session }))
    assert.equal(statusOf(await early.ask(get('/'))), 200)
    assert.equal(certificateOf(early), PLAIN.fingerprint)
    early.destroy()
  }
  await nothingLeft(gate)
})

/** The session of a connection, which TLS 1.3 gives only after the handshake. Makes one request. */
async function sessionOf(client: Client): Promise<Buffer> {
  let session: Buffer | undefined = (client.socket as TLSSocket).getSession()
  client.socket.on('session', (latest: Buffer) => {
    session = latest
  })
  assert.equal(statusOf(await client.ask(get('/'))), 200)
  for (let turns = 0; turns < 10; turns++) await turn()
  assert.ok(session !== undefined)
  return session
}

test('a client certificate is asked for on the domain that wants it, and nowhere else', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    assert.equal((await served(gate, to('mutual.example', { ...AS_CALLER, maxVersion }))).seen, CALLER.fingerprint)
    assert.equal(
      (await served(gate, to('mutual.example', { maxVersion }))).seen,
      '',
      'one without is let in, and known',
    )
    assert.equal((await served(gate, to('plain.example', { ...AS_CALLER, maxVersion }))).seen, '', 'not asked')
    assert.equal((await served(gate, to('', { ...AS_CALLER, maxVersion }))).seen, '', 'not asked')
  }
  await nothingLeft(gate)
})

test('resumption brings no certificate to or from a foreign domain', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const session = async (name: string, more: ConnectionOptions) => {
      const client = await Client.connect(gate.port, to(name, { ...more, maxVersion }))
      const taken = await sessionOf(client)
      client.destroy()
      return taken
    }
    const nameless = await session('plain.example', {})
    const offered = await session('plain.example', AS_CALLER)
    const anonymous = await session('mutual.example', {})
    const known = await session('mutual.example', AS_CALLER)
    const seen = async (name: string, from: Buffer, more: ConnectionOptions) =>
      (await served(gate, to(name, { ...more, maxVersion, session: from }))).seen
    for (const from of [nameless, offered, anonymous]) {
      assert.equal(await seen('mutual.example', from, {}), '', `${maxVersion}: nobody's session, no certificate`)
      assert.equal(await seen('mutual.example', from, AS_CALLER), CALLER.fingerprint, `${maxVersion}: asked again`)
    }
    for (const from of [nameless, offered, anonymous, known]) {
      assert.equal(await seen('plain.example', from, AS_CALLER), '', `${maxVersion}: not asked`)
      assert.equal(await seen('', from, AS_CALLER), '', `${maxVersion}: not asked without a name`)
    }
    assert.equal(await seen('mutual.example', known, AS_CALLER), CALLER.fingerprint)
    assert.ok(['', CALLER.fingerprint].includes(await seen('mutual.example', known, {})))
  }
  await nothingLeft(gate)
})

test('a certificate without its key gets nobody in', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  const stranger = makeCertificate('caller')
  assert.throws(() => createSecureContext({ cert: CALLER.cert, key: stranger.key }))
  assert.equal((await served(gate, to('mutual.example', stranger))).seen, stranger.fingerprint)
  assert.notEqual(stranger.fingerprint, CALLER.fingerprint)
  await nothingLeft(gate)
})

test('renegotiation is refused', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  for (const name of ['plain.example', 'mutual.example', '']) {
    const client = await Client.connect(gate.port, to(name, { ...AS_CALLER, maxVersion: 'TLSv1.2' }))
    assert.equal(statusOf(await client.ask(get('/'))), 200)
    const refused = new Promise<Error | null>((resolve) => {
      ;(client.socket as TLSSocket).renegotiate({ rejectUnauthorized: false }, resolve)
      client.socket.on('error', resolve)
    })
    assert.match(String(await within('the renegotiation is refused', refused)), /no renegotiation/, name)
    client.destroy()
  }
  await served(gate, to('plain.example'))
  await nothingLeft(gate)
})

/** All that OpenSSL knows for TLS 1.2 but what RFC 9113 section 9.2.2 and RFC 9325 section 4.2 leave. */
const WEAK = 'ALL:!ECDHE+AESGCM:!ECDHE+CHACHA20:@SECLEVEL=0'

test('TLS 1.2 is spoken with forward secrecy and authenticated encryption alone', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  for (const name of ['plain.example', 'mutual.example', '']) {
    const weak = { maxVersion: 'TLSv1.2', ciphers: WEAK } as const
    await assert.rejects(Client.connect(gate.port, to(name, weak)), { code: /ALERT_HANDSHAKE_FAILURE/ }, name)
    const strong = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' } as const
    await served(gate, to(name, strong))
  }
  await nothingLeft(gate)
})
