import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { makeCertificate } from '../../worlds/wire/certificates.ts'
import { openGate } from '../../worlds/wire/gate.ts'
import { answering, type OriginConnection, type OriginScript, openOrigin } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, type Message, statusOf, turn, until, within } from '../../worlds/wire/raw.ts'
import { choiceOf } from '../../worlds/wire/tls-gate.ts'
import { bufferBytes, legsEnd, nothingLeft, othersAreServed } from '../../worlds/wire/until-quiet.ts'

const MB = 1 << 20
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\n'
const UPGRADE = get('/tunnel', 'Upgrade: raw\r\nConnection: Upgrade\r\n')

/** Takes an upgrade and hands the connection on; answers any other request with 200. */
function tunnelling(talk: (connection: OriginConnection, request: Message) => Promise<void>): OriginScript {
  return async (connection) => {
    for (;;) {
      const request = await connection.request()
      if (request === undefined) return
      if (fieldOf(request, 'upgrade') !== undefined) return talk(connection, request)
      connection.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    }
  }
}

/** Sends everything back, with back-pressure, and ends when the other side does. */
const echoing = tunnelling(async (connection) => {
  connection.write(SWITCH)
  const early = connection.inbox.pending
  connection.inbox.stop()
  connection.socket.write(early)
  connection.socket.pipe(connection.socket)
  await once(connection.socket, 'close')
})

async function openTunnel(port: number): Promise<Client> {
  const client = await Client.connect(port)
  const answer = await client.ask(UPGRADE)
  assert.equal(statusOf(answer), 101)
  assert.equal(fieldOf(answer, 'upgrade'), 'raw')
  assert.match(fieldOf(answer, 'connection') ?? '', /upgrade/i)
  return client
}

/** The next `size` bytes of a tunnel as text. */
async function receive(client: Client, size: number): Promise<string> {
  return (await client.inbox.take(`${size} bytes`, () => size)).bytes.toString('latin1')
}

async function webSocketServer(t: TestContext): Promise<number> {
  const http = createServer()
  const server = new WebSocketServer({ server: http })
  server.on('connection', (socket) => {
    socket.on('error', () => {})
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
    socket.on('close', (code) => socket.close(code))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of server.clients) socket.terminate()
    http.closeAllConnections()
    http.close()
  })
  return (http.address() as AddressInfo).port
}

const CERTIFICATE = makeCertificate('ws.example')

for (const secure of [false, true]) {
  test(`WebSocket messages of every size come back${secure ? ' over TLS' : ''}, and so does the close code`, async (t) => {
    const originPort = await webSocketServer(t)
    const tls = () => choiceOf(CERTIFICATE, { named: false })
    const gate = await openGate(t, { originPort, ...(secure ? { tls } : {}) })
    const url = `${secure ? 'wss' : 'ws'}://127.0.0.1:${gate.port}/socket?a=b`
    const socket = new WebSocket(url, { rejectUnauthorized: false })
    await within('open', once(socket, 'open'))
    for (const size of [0, 1, 125, 126, 65_535, 65_536, 3 * MB]) {
      const sent = randomBytes(size)
      socket.send(sent)
      const [back] = (await within(`an echo of ${size}`, once(socket, 'message'))) as [Buffer]
      assert.ok(back.equals(sent), `${size} bytes`)
    }
    socket.ping('x')
    await within('a pong', once(socket, 'pong'))
    socket.close(4321)
    const [code] = (await within('the close', once(socket, 'close'))) as [number]
    assert.equal(code, 4321)
    await nothingLeft(gate)
    assert.equal(gate.done.all, 1)
  })
}

test('the upstream sees the request to upgrade as it was meant', async (t) => {
  const origin = await openOrigin(t, echoing)
  const gate = await openGate(t, { originPort: origin.port })
  const client = await openTunnel(gate.port)
  const call = origin.calls[0]
  assert.ok(call !== undefined)
  assert.equal(fieldOf(call, 'upgrade'), 'raw')
  assert.equal(fieldOf(call, 'connection')?.toLowerCase(), 'upgrade')
  client.destroy()
  await nothingLeft(gate)
  await legsEnd(origin)
})

test('an upstream that refuses is passed on, and the connection serves on', async (t) => {
  const origin = await openOrigin(
    t,
    answering((request) =>
      fieldOf(request, 'upgrade') === undefined
        ? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
        : 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nX-Why: a\r\n\r\nno',
    ),
  )
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  const answer = await client.ask(UPGRADE)
  assert.equal(statusOf(answer), 403)
  assert.equal(fieldOf(answer, 'x-why'), 'a')
  assert.equal(answer.body.toString(), 'no')
  if (fieldOf(answer, 'connection') !== 'close') assert.equal(statusOf(await client.ask(UPGRADE)), 403)
  client.destroy()
  await othersAreServed(gate)
  await nothingLeft(gate)
})

test('a switch to something that was not asked for is 502', async (t) => {
  const switches = [
    SWITCH.replace('raw', 'other'),
    SWITCH.replace('Upgrade: raw\r\n', ''),
    SWITCH.replace('raw', 'raw, other'),
    SWITCH.replace('raw', ''),
  ]
  for (const bytes of switches) {
    const origin = await openOrigin(
      t,
      tunnelling(async (connection) => {
        connection.write(bytes)
        await connection.inbox.toEnd()
      }),
    )
    const gate = await openGate(t, { originPort: origin.port })
    const client = await Client.connect(gate.port)
    assert.equal(statusOf(await client.ask(UPGRADE)), 502, bytes)
    client.destroy()
    await nothingLeft(gate)
    await legsEnd(origin)
  }
})

test('bytes glued to the 101, and bytes sent before it, arrive', async (t) => {
  const origin = await openOrigin(
    t,
    tunnelling(async (connection) => {
      connection.write(`${SWITCH}welcome`)
      const { bytes } = await connection.inbox.take('the early bytes', ({ pending }) => (pending.length < 5 ? -1 : 5))
      connection.write(`got ${bytes}`)
      await connection.inbox.toEnd()
    }),
  )
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  const answer = await client.ask(`${UPGRADE}early`)
  assert.equal(statusOf(answer), 101)
  assert.equal(await receive(client, 'welcomegot early'.length), 'welcomegot early')
  client.end()
  await client.inbox.toEnd()
  client.destroy()
  await nothingLeft(gate)
  await legsEnd(origin)
})

test('a request behind an upgrade is tunnel, not a request', async (t) => {
  const origin = await openOrigin(t, echoing)
  const gate = await openGate(t, { originPort: origin.port })
  const client = await openTunnel(gate.port)
  const text = get('/smuggled')
  client.write(text)
  assert.equal(await receive(client, text.length), text)
  client.destroy()
  await nothingLeft(gate)
  assert.equal(gate.done.all, 1)
  assert.deepEqual(origin.heads, ['GET /tunnel HTTP/1.1'])
})

test('each side can end its half and go on reading', async (t) => {
  const origin = await openOrigin(
    t,
    tunnelling(async (connection, request) => {
      connection.write(SWITCH)
      if (request.start.includes('first')) {
        connection.socket.end('bye')
        const rest = await connection.inbox.toEnd()
        assert.equal(rest.toString(), 'late words')
        return
      }
      const all = await connection.inbox.toEnd()
      connection.write(`read ${all} to its end`)
    }),
  )
  const gate = await openGate(t, { originPort: origin.port })

  const early = await openTunnel(gate.port)
  early.write('hello')
  early.end()
  assert.equal((await early.inbox.toEnd()).toString(), 'read hello to its end')
  early.destroy()
  await nothingLeft(gate)

  const late = await Client.connect(gate.port)
  assert.equal(statusOf(await late.ask(UPGRADE.replace('/tunnel', '/first'))), 101)
  assert.equal((await late.inbox.toEnd()).toString(), 'bye')
  late.write('late words')
  late.end()
  await nothingLeft(gate)
  late.destroy()
  await legsEnd(origin)
  assert.deepEqual(origin.failures, [])
})

test('20 MB pass both ways at once, unchanged, through slow readers', async (t) => {
  const size = 20 * MB
  const origin = await openOrigin(t, echoing)
  const gate = await openGate(t, { originPort: origin.port })
  const client = await openTunnel(gate.port)
  const data = randomBytes(size)
  const back = createHash('sha256')
  let got = 0
  client.inbox.stop()
  client.socket.on('data', (chunk: Buffer) => {
    got += chunk.length
    back.update(chunk)
    client.socket.pause()
    setImmediate(() => client.socket.resume())
  })
  client.write(data)
  await until('everything came back', () => got === size)
  assert.equal(back.digest('hex'), createHash('sha256').update(data).digest('hex'))
  client.destroy()
  await nothingLeft(gate)
  await legsEnd(origin)
})

test('a side that does not read stops the other, in both directions; nothing is kept for it', async (t) => {
  const plenty = 200 * MB
  const release = Promise.withResolvers<void>()
  const piece = Buffer.alloc(MB, 7)
  const origin = await openOrigin(
    t,
    tunnelling(async (connection) => {
      connection.write(SWITCH)
      connection.inbox.stop()
      connection.socket.pause()
      pump(connection.socket, piece, plenty)
      await release.promise
      connection.socket.on('data', () => {})
      connection.socket.resume()
      await once(connection.socket, 'close')
    }),
  )
  const gate = await openGate(t, { originPort: origin.port })
  const client = await openTunnel(gate.port)
  const before = bufferBytes()
  client.inbox.stop()
  client.socket.pause()
  const sent = pump(client.socket, piece, plenty)
  let last = -1
  let still = 0
  await until('the client is stopped', () => {
    still = sent() === last ? still + 1 : 0
    last = sent()
    return still > 100
  })
  assert.ok(sent() < plenty, 'the pipe is finite')
  assert.ok(bufferBytes() - before < 32 * MB, `${(bufferBytes() - before) / MB} MB are held`)
  await othersAreServed(gate)
  release.resolve()
  client.destroy()
  await nothingLeft(gate)
})

/** Writes pieces as fast as they are taken; answers how to learn how many bytes were handed over. */
function pump(socket: Client['socket'], piece: Buffer, total: number): () => number {
  let handed = 0
  const more = () => {
    while (handed < total && socket.writable) {
      handed += piece.length
      if (!socket.write(piece)) return
    }
  }
  socket.on('drain', more)
  more()
  return () => handed
}

test('a side that breaks off ends the other', async (t) => {
  for (const reset of [true, false]) {
    const origin = await openOrigin(t, echoing)
    const gate = await openGate(t, { originPort: origin.port })
    const client = await openTunnel(gate.port)
    client.destroy(reset)
    await nothingLeft(gate)
    await legsEnd(origin)
    assert.equal(gate.done.all, 1)
  }
  const origin = await openOrigin(
    t,
    tunnelling(async (connection) => {
      connection.write(SWITCH)
      await connection.inbox.take('a byte', ({ pending }) => (pending.length > 0 ? 1 : -1))
      connection.socket.resetAndDestroy()
    }),
  )
  const gate = await openGate(t, { originPort: origin.port })
  const client = await openTunnel(gate.port)
  client.write('x')
  await client.inbox.toEnd()
  client.destroy()
  await nothingLeft(gate)
  assert.equal(gate.done.all, 1)
})

test('a quiet tunnel outlives every bound that requests have', async (t) => {
  const bound = 150
  const origin = await openOrigin(t, echoing)
  const gate = await openGate(t, {
    originPort: origin.port,
    limits: { keepAliveMs: bound, headTimeoutMs: bound, bodyIdleMs: bound },
    upstream: { headTimeoutMs: bound, totalTimeoutMs: bound, idleKeepMs: bound },
  })
  const client = await openTunnel(gate.port)
  for (let round = 0; round < 2; round++) {
    const idle = await Client.connect(gate.port)
    assert.equal(statusOf(await idle.ask(get('/'))), 200)
    await idle.inbox.toEnd()
    idle.destroy()
  }
  client.write('still here')
  assert.equal(await receive(client, 'still here'.length), 'still here')
  client.destroy()
  await nothingLeft(gate)
})

test('a drain waits for tunnels, and cuts them at its bound', async (t) => {
  const origin = await openOrigin(t, echoing)
  const patient = await openGate(t, { originPort: origin.port })
  const first = await openTunnel(patient.port)
  const drained = patient.listener.drain(60_000)
  first.write('during the drain')
  assert.equal(await receive(first, 16), 'during the drain')
  first.end()
  await within('the drain ends with the tunnel', drained)
  first.destroy()

  const hasty = await openGate(t, { originPort: origin.port })
  const tunnels = await Promise.all([0, 1, 2].map(() => openTunnel(hasty.port)))
  await within('the drain ends at its bound', hasty.listener.drain(100))
  for (const tunnel of tunnels) {
    await tunnel.inbox.toEnd()
    tunnel.destroy()
  }
  await nothingLeft(hasty)
  await legsEnd(origin)
  assert.equal(hasty.done.all, 3)
})

test('hundreds of tunnels echo, and leave nothing when they go in any way', async (t) => {
  const origin = await openOrigin(t, echoing)
  const gate = await openGate(t, { originPort: origin.port })
  const tunnels = await Promise.all(Array.from({ length: 300 }, () => openTunnel(gate.port)))
  for (const [number, tunnel] of tunnels.entries()) tunnel.write(`tunnel ${number}`.padEnd(12))
  for (const [number, tunnel] of tunnels.entries()) {
    assert.equal(await receive(tunnel, 12), `tunnel ${number}`.padEnd(12))
  }
  for (const [number, tunnel] of tunnels.entries()) {
    if (number % 3 === 0) tunnel.end()
    else tunnel.destroy(number % 3 === 1)
    if (number % 10 === 0) await turn()
  }
  await nothingLeft(gate)
  await legsEnd(origin)
  for (const tunnel of tunnels) tunnel.destroy()
  assert.equal(gate.done.all, 300)
})
