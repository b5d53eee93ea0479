import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import { test } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { selfSigned } from '../../worlds/wire/engine-certificate.ts'
import { type Gate, openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { Client, get, opened, statusOf, until, within } from '../../worlds/wire/raw.ts'
import { choiceOf } from '../../worlds/wire/tls-gate.ts'

const OPEN = selfSigned('open.test')
const ASK = selfSigned('ask.test')
const OTHER = selfSigned('other.test')
const DEFAULT = selfSigned('default.test')
const CALLER = selfSigned('caller')

async function openTlsGate(t: Parameters<typeof openGate>[0], limits = {}): Promise<{ gate: Gate; replace(): void }> {
  const origin = await openOrigin(t)
  const choices = new Map([
    ['open.test', choiceOf(OPEN)],
    ['ask.test', choiceOf(ASK, { ask: true })],
    ['shared-open.test', choiceOf(OTHER)],
    ['', choiceOf(DEFAULT, { named: false })],
  ])
  const { context } = choices.get('shared-open.test')!
  choices.set('shared-ask.test', { ...choices.get('ask.test')!, context })
  const gate = await openGate(t, { originPort: origin.port, limits, tls: (name) => choices.get(name) })
  return { gate, replace: () => choices.set('open.test', choiceOf(OTHER)) }
}

async function secured(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
  await opened(socket, 'secureConnect')
  return socket
}

function served(socket: TLSSocket): string {
  const fingerprint = socket.getPeerX509Certificate()?.fingerprint256 ?? ''
  return fingerprint.replaceAll(':', '').toLowerCase()
}

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  const only = { minVersion: version, maxVersion: version }

  test(`${version}: each domain shows its own certificate, and requests pass`, async (t) => {
    const { gate } = await openTlsGate(t)
    for (const [servername, certificate] of [
      ['open.test', OPEN],
      ['OPEN.test', OPEN],
      ['ask.test', ASK],
      ['', DEFAULT],
    ] as const) {
      const socket = await secured(gate.port, servername === '' ? only : { servername, ...only })
      assert.equal(served(socket), certificate.fingerprint, servername)
      const client = new Client(socket)
      assert.equal(statusOf(await client.ask(get('/'))), 200)
      assert.equal(statusOf(await client.ask(get('/'))), 200)
      client.destroy()
    }
    assert.ok(gate.peers.every((peer) => peer.secure))
  })

  test(`${version}: a client certificate is asked for on its domain only, and its fingerprint is told`, async (t) => {
    const { gate } = await openTlsGate(t)
    const own = { cert: CALLER.cert, key: CALLER.key, ...only }
    for (const [servername, options, expected] of [
      ['open.test', own, ''],
      ['ask.test', own, CALLER.fingerprint],
      ['ask.test', only, ''],
    ] as const) {
      const client = new Client(await secured(gate.port, { servername, ...options }))
      await client.ask(get('/'))
      assert.equal(gate.peers.at(-1)?.certificate, expected)
      client.destroy()
    }
  })

  test(`${version}: a session of one domain skips no question of another`, async (t) => {
    const { gate } = await openTlsGate(t)
    const first = await secured(gate.port, { servername: 'shared-open.test', ...only })
    const session = new Promise<Buffer>((resolve) => first.once('session', resolve))
    await new Client(first).ask(get('/'))
    // TLS 1.2 gives its session within the handshake, TLS 1.3 after it.
    const ticket = version === 'TLSv1.2' ? first.getSession() : await within('a ticket', session)
    assert.ok(ticket !== undefined)
    first.destroy()
    const again = await secured(gate.port, { servername: 'shared-open.test', session: ticket, ...only })
    assert.equal(again.isSessionReused(), true, 'where nothing is asked, sessions are resumed')
    again.destroy()
    const own = { cert: CALLER.cert, key: CALLER.key, ...only }
    const asked = await secured(gate.port, { servername: 'shared-ask.test', session: ticket, ...own })
    assert.equal(asked.isSessionReused(), false)
    await new Client(asked).ask(get('/'))
    assert.equal(gate.peers.at(-1)?.certificate, CALLER.fingerprint)
    asked.destroy()
  })

  test(`${version}: a domain that asks gives no session to come back with`, async (t) => {
    const { gate } = await openTlsGate(t)
    const first = await secured(gate.port, { servername: 'ask.test', ...only })
    await new Client(first).ask(get('/'))
    const session = first.getSession()
    first.destroy()
    const own = { cert: CALLER.cert, key: CALLER.key, ...only }
    const second = await secured(gate.port, { servername: 'ask.test', ...(session ? { session } : {}), ...own })
    assert.equal(second.isSessionReused(), false)
    await new Client(second).ask(get('/'))
    assert.equal(gate.peers.at(-1)?.certificate, CALLER.fingerprint)
    second.destroy()
  })
}

test('a new certificate serves the next handshake', async (t) => {
  const { gate, replace } = await openTlsGate(t)
  const before = new Client(await secured(gate.port, { servername: 'open.test' }))
  replace()
  const after = await secured(gate.port, { servername: 'open.test' })
  assert.equal(served(after), OTHER.fingerprint)
  assert.equal(statusOf(await before.ask(get('/'))), 200, 'the open connection goes on')
  before.destroy()
  after.destroy()
})

test('an unknown name, a bare HTTP request and TLS 1.1 end the connection', async (t) => {
  const { gate } = await openTlsGate(t)
  await assert.rejects(secured(gate.port, { servername: 'unknown.test' }), /unrecognized name|closed before/)
  await assert.rejects(
    secured(gate.port, {
      servername: 'open.test',
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL:@SECLEVEL=0',
    }),
  )
  const plain = await Client.connect(gate.port)
  plain.write(get('/'))
  assert.equal(await plain.answer(), undefined)
  await until('nothing is left', () => gate.listener.connections() === 0)
})

test('a hello that stops ends at the timeout', async (t) => {
  const { gate } = await openTlsGate(t, { tlsHandshakeMs: 500 })
  const pieces = connectTcp({ host: '127.0.0.1', port: gate.port, noDelay: true })
  const slow = await new Promise<string>((resolve) => {
    pieces.once('close', () => resolve('closed'))
    pieces.write(Buffer.from([22, 3, 1, 1]))
  })
  assert.equal(slow, 'closed')
  await until('nothing is left', () => gate.listener.connections() === 0)
})

test('handshakes over their bound are turned away', async (t) => {
  const { gate } = await openTlsGate(t, { maxHandshakes: 2 })
  const idle = [connectTcp(gate.port, '127.0.0.1'), connectTcp(gate.port, '127.0.0.1')]
  await until('both wait', () => gate.listener.connections() === 2)
  await assert.rejects(secured(gate.port, { servername: 'open.test' }))
  for (const socket of idle) socket.destroy()
  await until('both are gone', () => gate.listener.connections() === 0)
  const socket = await secured(gate.port, { servername: 'open.test' })
  socket.destroy()
})

test('upstreams over TLS are checked, and sessions resumed', async (t) => {
  const sessions: boolean[] = []
  const origin = await openOrigin(
    t,
    async (connection) => {
      sessions.push((connection.socket as TLSSocket).isSessionReused())
      while ((await connection.request()) !== undefined) {
        connection.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok')
      }
    },
    { cert: OPEN.cert, key: OPEN.key },
  )
  for (const [upstream, status] of [
    [{ secure: true, ca: OPEN.cert }, 200],
    [{ secure: true, ca: OPEN.cert, serverName: 'open.test' }, 200],
    [{ secure: true, insecure: true }, 200],
    [{ secure: true }, 502],
    [{ secure: true, ca: OPEN.cert, serverName: 'else.test' }, 502],
  ] as const) {
    const gate = await openGate(t, { originPort: origin.port, upstream })
    const client = await Client.connect(gate.port)
    for (let round = 0; round < 3; round++) assert.equal(statusOf(await client.ask(get('/'))), status)
    client.destroy()
  }
  assert.ok(sessions.includes(true), 'a session was resumed')
})
