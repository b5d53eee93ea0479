import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { openGate } from '../../worlds/wire/gate.ts'
import { type OriginScript, openOrigin, polite } from '../../worlds/wire/origin.ts'
import { Client, fieldOf, get, statusOf, until, within } from '../../worlds/wire/raw.ts'

const ASK = 'GET /t HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: echo\r\n\r\n'
const ACCEPT = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: Echo\r\nX-A: b\r\n\r\n'

/** Accepts the upgrade and sends every byte back, each side closed when the other is. */
const echo: OriginScript = async (connection) => {
  await connection.request()
  connection.inbox.stop()
  connection.write(`${ACCEPT}welcome `)
  const early = connection.inbox.pending
  if (early.length > 0) connection.write(early)
  connection.socket.pipe(connection.socket)
  await once(connection.socket, 'close')
}

test('WebSocket messages of every size pass both ways', async (t) => {
  const http = createServer()
  const server = new WebSocketServer({ server: http })
  server.on('connection', (socket) => socket.on('message', (data, binary) => socket.send(data, { binary })))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const gate = await openGate(t, { originPort: (http.address() as AddressInfo).port })
  const client = new WebSocket(`ws://127.0.0.1:${gate.port}/chat?x=y`)
  await within('open', once(client, 'open'))
  for (const size of [0, 1, 125, 126, 70_000, 3_000_000]) {
    const sent = Buffer.alloc(size, size % 251)
    client.send(sent)
    const [echoed] = await within('a message', once(client, 'message'))
    assert.ok(sent.equals(echoed as Buffer), `${size} bytes`)
  }
  client.close(4000, 'bye')
  const [code] = await within('close', once(client, 'close'))
  assert.equal(code, 4000)
  await until('the exchange is done', () => gate.done.all === 1)
  await until('nothing stays open', () => gate.listener.connections() === 0)
  assert.equal(gate.done.aborted, 0)
  server.close()
  http.close()
})

test('a tunnel carries what came early, and closes each direction by itself', async (t) => {
  const origin = await openOrigin(t, echo)
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  const answer = await client.ask(`${ASK}early `)
  assert.deepEqual(
    [statusOf(answer), fieldOf(answer, 'upgrade'), fieldOf(answer, 'connection'), fieldOf(answer, 'x-a')],
    [101, 'Echo', 'Upgrade', 'b'],
  )
  client.write('late')
  await until('the echo', () => client.inbox.pending.toString() === 'welcome early late')
  client.write(' last')
  client.end()
  assert.equal((await client.inbox.toEnd()).toString(), 'welcome early late last')
  await until('the exchange is done', () => gate.done.all === 1)
  await until('nothing stays open', () => gate.listener.connections() === 0 && origin.open() === 0)
  assert.deepEqual([gate.done.aborted, gate.upstream.idleCount], [0, 0])
})

test('a tunnel holds back the faster side', async (t) => {
  const size = 128 << 20
  let sent = 0
  let sentAt = 0
  const origin = await openOrigin(t, async (connection) => {
    await connection.request()
    connection.write(ACCEPT)
    const piece = Buffer.alloc(1 << 18)
    const pump = () => {
      while (sent < size && connection.socket.writable) {
        sent += piece.length
        sentAt = performance.now()
        if (!connection.socket.write(piece)) return
      }
    }
    connection.socket.on('drain', pump)
    pump()
    await once(connection.socket, 'close')
  })
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  assert.equal(statusOf(await client.ask(ASK)), 101)
  client.inbox.stop()
  client.socket.pause()
  let received = client.inbox.pending.length
  await until('the upstream is held', () => sentAt > 0 && performance.now() > sentAt + 300)
  assert.ok(sent < size / 2, `${sent} bytes were taken for a client that does not read`)
  client.socket.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  client.socket.resume()
  await until('all has come', () => received === size)
  client.destroy()
})

test('either side may drop a tunnel, and the other is let go', async (t) => {
  const origin = await openOrigin(t, async (connection) => {
    await connection.request()
    connection.write(ACCEPT)
    await until('the word', () => connection.inbox.pending.length > 0 || connection.inbox.ended)
    if (connection.inbox.pending.toString() === 'drop') connection.socket.resetAndDestroy()
    else await connection.inbox.toEnd()
  })
  const gate = await openGate(t, { originPort: origin.port })
  for (const [word, reset] of [
    ['drop', false],
    ['stay', false],
    ['stay', true],
  ] as const) {
    const client = await Client.connect(gate.port)
    await client.ask(ASK)
    client.write(word)
    if (word === 'drop') await client.inbox.toEnd()
    else client.destroy(reset)
    await until('both sides are gone', () => gate.listener.connections() === 0 && origin.open() === 0)
    client.destroy()
  }
  assert.equal(gate.inFlight(), 0)
})

test('anything but 101 is an ordinary answer, and the connection goes on', async (t) => {
  const origin = await openOrigin(t, polite)
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  for (let round = 0; round < 2; round++) {
    const answer = await client.ask(ASK)
    assert.deepEqual([statusOf(answer), answer.body.toString(), fieldOf(answer, 'upgrade')], [200, 'ok', undefined])
    const call = origin.calls.at(-1)!
    assert.deepEqual([fieldOf(call, 'upgrade'), fieldOf(call, 'connection')], ['echo', 'Upgrade'])
  }
  assert.equal(statusOf(await client.ask(get('/'))), 200)
  assert.equal(origin.accepted(), 1)
  client.destroy()
})

test('a 101 for another protocol than was asked for is refused', async (t) => {
  for (const upgrade of ['', 'Upgrade: h2c\r\n', 'Upgrade: \r\n']) {
    const origin = await openOrigin(t, async (connection) => {
      await connection.request()
      connection.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${upgrade}\r\n`)
      await connection.inbox.toEnd()
    })
    const gate = await openGate(t, { originPort: origin.port })
    const client = await Client.connect(gate.port)
    assert.equal(statusOf(await client.ask(ASK)), 502)
    assert.deepEqual(gate.failures, ['upstream_malformed'])
    await until('it was dropped', () => origin.open() === 0)
    client.destroy()
  }
})

test('h2c is never tunnelled: the request passes without its upgrade', async (t) => {
  const origin = await openOrigin(t, polite)
  const gate = await openGate(t, { originPort: origin.port })
  const client = await Client.connect(gate.port)
  const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'
  assert.equal(statusOf(await client.ask(get('/', upgrade))), 200)
  const names = origin.calls[0]?.fields.map(([name]) => name)
  assert.deepEqual(names, ['host', 'x-seen-host'])
  client.destroy()
})
