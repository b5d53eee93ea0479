import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { type Gate, openGate } from '../../worlds/wire/gate.ts'
import { openOrigin } from '../../worlds/wire/origin.ts'
import { below, seeded } from '../../worlds/wire/random.ts'
import { Client, get, opened, statusOf, turn, until, within } from '../../worlds/wire/raw.ts'
import { AS_CALLER, CALLER, choose, refusesHandshake, served, to } from '../../worlds/wire/tls-gate.ts'
import { legsEnd, nothingLeft } from '../../worlds/wire/until-quiet.ts'

/** Whole handshakes must be done within it, on a machine that does much besides. */
const SHORT_MS = 1_000
const DEEP = process.env.GATEHOUSE_DEEP === '1'
const SEED = Number(process.env.GATEHOUSE_SEED ?? 1)

/** The first flight of a client that asks for this name. */
async function helloFor(servername: string): Promise<Buffer> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const arrived = new Promise<Buffer>((resolve) => {
    server.once('connection', (socket: Socket) => {
      socket.once('data', (hello) => {
        resolve(Buffer.from(hello))
        socket.destroy()
      })
    })
  })
  const client = connectTls({ host: '127.0.0.1', port, ...to(servername) })
  client.on('error', () => {})
  const hello = await within('a client hello', arrived)
  client.destroy()
  server.close()
  return hello
}

async function rawClient(gate: Gate): Promise<Client> {
  const socket = connectTcp({ host: '127.0.0.1', port: gate.port, noDelay: true, allowHalfOpen: true })
  await opened(socket, 'connect')
  return new Client(socket)
}

test('garbage instead of a handshake is closed, whatever it is', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  const hello = await helloFor('plain.example')
  const header = (type: number, length: number) => Buffer.from([type, 3, 1, length >> 8, length & 255])
  const garbage: readonly (Buffer | string)[] = [
    get('/'),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    Buffer.alloc(1000),
    Buffer.alloc(70_000, 0xff),
    Buffer.concat([header(22, 4), Buffer.from([1, 0xff, 0xff, 0xff]), Buffer.alloc(70_000)]),
    Buffer.concat([header(22, 4), Buffer.from([2, 0, 0, 0])]),
    Buffer.concat([header(23, 100), Buffer.alloc(100)]),
    Buffer.concat([header(21, 2), Buffer.from([2, 40])]),
    Buffer.concat([header(20, 1), Buffer.from([1])]),
    Buffer.concat([header(22, 0xffff), Buffer.alloc(0xffff)]),
    Buffer.concat([header(22, 0), header(22, 0), Buffer.from('x')]),
    Buffer.concat([hello, Buffer.from('garbage behind the hello, long enough to be a record')]),
    Buffer.concat([hello, hello]),
  ]
  for (const [number, bytes] of garbage.entries()) {
    const client = await rawClient(gate)
    client.write(bytes)
    const said = await client.inbox.toEnd()
    assert.ok(!said.includes('HTTP/1.1 200'), `garbage ${number}`)
    client.destroy()
    await served(gate, to('plain.example'))
  }
  await nothingLeft(gate)
  assert.ok(gate.peers.every((peer) => peer.secure))
})

test('a client hello that is changed anywhere or cut anywhere harms nobody', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  const hello = await helloFor('mutual.example')
  const random = seeded(SEED)
  for (let round = 0; round < (DEEP ? 5000 : 300); round++) {
    const bytes = Buffer.from(hello)
    for (let changes = below(random, 4); changes > 0; changes--) bytes[below(random, bytes.length)] = below(random, 256)
    const client = await rawClient(gate)
    client.write(round % 3 === 0 ? bytes.subarray(0, below(random, bytes.length)) : bytes)
    if (round % 2 === 0) client.end()
    await turn()
    await turn()
    client.destroy(random() < 0.3)
    if (round % 50 === 0) await served(gate, to('plain.example'))
  }
  await served(gate, to('mutual.example', AS_CALLER))
  await nothingLeft(gate)
})

/** A port that hands the client's bytes on one by one. */
async function dripper(t: { after(fn: () => void): void }, port: number): Promise<number> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    const onward = connectTcp({ host: '127.0.0.1', port, noDelay: true })
    sockets.push(socket, onward)
    for (const one of [socket, onward]) one.on('error', () => {})
    onward.pipe(socket)
    const forward = async () => {
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        for (const byte of chunk) {
          onward.write(Buffer.of(byte))
          await turn()
        }
      }
      onward.end()
    }
    forward().catch(() => onward.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}

test('a handshake that arrives byte by byte succeeds', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  const port = await dripper(t, gate.port)
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const client = await Client.connect(port, to('mutual.example', { ...AS_CALLER, maxVersion }))
    assert.equal(statusOf(await client.ask(get('/'))), 200)
    assert.equal(gate.peers.at(-1)?.certificate, CALLER.fingerprint)
    client.destroy()
  }
  await nothingLeft(gate)
})

test('a handshake that does not get on ends by its bound', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose, limits: { tlsHandshakeMs: SHORT_MS } })
  const hello = await helloFor('plain.example')
  for (const part of [hello.subarray(0, 0), hello.subarray(0, 3), hello.subarray(0, 100), hello]) {
    const client = await rawClient(gate)
    client.write(part)
    await served(gate, to('plain.example'))
    await client.inbox.toEnd()
    client.destroy()
  }
  const idle = await Client.connect(gate.port, to('plain.example'))
  const stuck = await rawClient(gate)
  await stuck.inbox.toEnd()
  assert.equal(statusOf(await idle.ask(get('/'))), 200, 'the bound is for handshakes only')
  idle.destroy()
  stuck.destroy()
  await nothingLeft(gate)
})

test('unfinished handshakes are capped; finished ones do not count', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose, limits: { maxHandshakes: 3 } })
  const hello = await helloFor('plain.example')
  const finished = await Promise.all([0, 1, 2].map(() => Client.connect(gate.port, to('plain.example'))))
  const one = await Client.connect(gate.port, to('plain.example'))
  const stuck = await Promise.all([0, 1, 2].map(() => rawClient(gate)))
  for (const client of stuck) client.write(hello.subarray(0, 50))
  await until('the gate holds them', () => gate.listener.connections() === 7)
  await refusesHandshake(gate, to('plain.example'))
  for (const client of [...finished, one]) assert.equal(statusOf(await client.ask(get('/'))), 200)
  for (const client of stuck) client.destroy()
  await until('the gate lets them go', () => gate.listener.connections() === 4)
  await served(gate, to('plain.example'))
  for (const client of [...finished, one]) client.destroy()
  await nothingLeft(gate)
})

test('a client without close_notify leaves nothing, and no half body passes as whole', async (t) => {
  const origin = await openOrigin(t)
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  const parts = [
    '',
    'GET / HT',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhello',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
  ]
  for (const part of parts) {
    for (const leave of ['end', 'destroy', 'resetAndDestroy'] as const) {
      const tcp = connectTcp({ host: '127.0.0.1', port: gate.port, noDelay: true })
      const socket = connectTls({ socket: tcp, ...to('plain.example') })
      await opened(socket, 'secureConnect')
      socket.write(part)
      const heads = origin.heads.length
      if (part.startsWith('POST')) await until('the upstream has the head', () => origin.heads.length > heads)
      tcp[leave]()
      await nothingLeft(gate)
      socket.destroy()
    }
  }
  await legsEnd(origin)
  assert.ok(origin.calls.every((call) => !call.complete))
})

test('large bodies pass both ways over TLS, unchanged', async (t) => {
  const body = randomBytes(4 << 20)
  const origin = await openOrigin(t, async (connection) => {
    const request = await connection.request()
    if (request === undefined) return
    connection.write(`HTTP/1.1 200 OK\r\nContent-Length: ${request.body.length}\r\n\r\n`)
    connection.write(request.body)
    await connection.inbox.toEnd()
  })
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  const client = await Client.connect(gate.port, to('plain.example'))
  client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`)
  const answer = await client.ask(body)
  assert.ok(answer.body.equals(body))
  client.destroy()
  await nothingLeft(gate)
})

test('a drain closes idle TLS connections and unfinished handshakes, and lets an answer finish', async (t) => {
  const release = Promise.withResolvers<void>()
  const origin = await openOrigin(t, async (connection) => {
    await connection.request()
    await release.promise
    connection.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    await connection.inbox.toEnd()
  })
  const gate = await openGate(t, { originPort: origin.port, tls: choose })
  const idle = await Client.connect(gate.port, to('plain.example'))
  const stuck = await rawClient(gate)
  const busy = await Client.connect(gate.port, to('plain.example'))
  busy.write(get('/'))
  await until('the upstream is asked', () => origin.calls.length === 1)
  const drained = gate.listener.drain(60_000)
  assert.equal(await idle.answer(), undefined)
  await stuck.inbox.toEnd()
  release.resolve()
  const answer = await busy.answer()
  assert.equal(answer === undefined ? 0 : statusOf(answer), 200)
  for (const client of [idle, stuck, busy]) client.destroy()
  await within('the drain ends', drained)
  await nothingLeft(gate)
})
