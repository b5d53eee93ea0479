import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { openMemoryStore } from '../../../src/store/memory/open.ts'
import { defined } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { type Origin, startOrigin } from '../../worlds/servers/origin.ts'
import { Client, fieldOf, get, statusOf } from '../../worlds/wire/raw.ts'

const BOUND_MS = 400

async function open(t: TestContext, boundMs: number): Promise<{ gateway: TestGateway; origin: Origin }> {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway({ env: { SVC_GW_DRAINTIMEOUTMS: String(boundMs) } })
  t.after(() => gateway.close())
  const made = await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url }))
  assert.equal(made.status, 200)
  return { gateway, origin }
}

/** How the port answers a new connection. */
function knock(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve('open')
    })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
  })
}

test('a request in flight is finished, new connections are refused, idle ones end at once', async (t) => {
  const { gateway, origin } = await open(t, 10_000)
  const idle = await Client.connect(gateway.port)
  assert.equal(statusOf(await idle.ask(get('/a/x'))), 200)
  let answer = () => {}
  origin.script = (_request, response) => {
    answer = () => response.end('finished')
  }
  const busy = await Client.connect(gateway.port)
  busy.write(get('/a/slow'))
  await eventually('the request is in flight', () => origin.seen.length === 2)

  const stopped = gateway.gateway.stop()
  assert.equal((await idle.inbox.toEnd()).length, 0)
  idle.destroy()
  await eventually('new connections are refused', async () => (await knock(gateway.port)) === 'ECONNREFUSED')
  assert.equal(gateway.gateway.ready(), false)
  answer()
  const got = await busy.answer()
  assert.equal(statusOf(got!), 200)
  assert.equal(got!.body.toString(), 'finished')
  assert.equal(fieldOf(got!, 'connection'), 'close')
  busy.destroy()
  await stopped
})

test('a connection that was opened just before gets an answer to its first request', async (t) => {
  const { gateway } = await open(t, 10_000)
  const client = await Client.connect(gateway.port)
  const stopped = gateway.gateway.stop()
  await eventually('new connections are refused', async () => (await knock(gateway.port)) === 'ECONNREFUSED')
  client.write(get('/a/x'))
  const answer = await client.answer()
  assert.equal(answer && statusOf(answer), 200)
  client.destroy()
  await stopped
})

test('an answer that streams goes on to its end, byte for byte', async (t) => {
  const { gateway, origin } = await open(t, 10_000)
  const pieces: (() => void)[] = []
  origin.script = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: 0\n\n')
    for (let i = 1; i <= 5; i++) pieces.push(() => response.write(`data: ${i}\n\n`))
    pieces.push(() => response.end())
  }
  const client = await Client.connect(gateway.port)
  client.write(get('/a/events'))
  await eventually('the stream has begun', () => client.inbox.pending.includes('data: 0'))
  const stopped = gateway.gateway.stop()
  for (const piece of pieces) {
    piece()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const answer = await client.answer()
  assert.equal(answer?.complete, true)
  assert.equal(answer?.body.toString(), Array.from({ length: 6 }, (_, i) => `data: ${i}\n\n`).join(''))
  client.destroy()
  await stopped
})

test('what does not end in time is cut at the bound, and counted', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  origin.script = () => {}
  const store = openMemoryStore()
  t.after(() => store.close())
  const gateway = await startTestGateway({ store, env: { SVC_GW_DRAINTIMEOUTMS: String(BOUND_MS) } })
  await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'a', url: origin.url }))
  const client = await Client.connect(gateway.port)
  client.write(get('/a/never'))
  await eventually('the request is in flight', () => origin.seen.length === 1)
  const from = performance.now()
  await gateway.gateway.stop()
  assert.ok(performance.now() - from >= BOUND_MS - 5)
  assert.equal(await client.answer(), undefined)
  const hits = await store.hits.sum({ fromHour: 0, toHour: 1e6, limit: 10 })
  assert.equal(
    hits.reduce((sum, { count }) => sum + count, 0),
    1,
  )
})

/** A server of WebSockets that sends each message back, and the codes with which its sockets were closed. */
async function webSockets(t: TestContext): Promise<{ url: string; closed: number[]; sockets: Set<WebSocket> }> {
  const http = createServer()
  const server = new WebSocketServer({ server: http })
  const closed: number[] = []
  server.on('connection', (socket) => {
    socket.on('message', (data) => socket.send(`back ${data}`))
    socket.on('close', (code) => closed.push(code))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, closed, sockets: server.clients }
}

test('a WebSocket is served while the gateway drains, then both ends get 1001', async (t) => {
  const { url, closed } = await webSockets(t)
  const { gateway } = await open(t, 3_600_000)
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'ws', url }))).status, 200)
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/ws/socket`)
  const received: string[] = []
  const ended = new Promise<number>((resolve) => socket.on('close', resolve))
  socket.on('error', () => {})
  socket.on('message', (data) => received.push(String(data)))
  await new Promise((resolve) => socket.on('open', resolve))
  await gateway.gateway.drain(1)
  socket.send('still here')
  await eventually('the message came back while draining', () => received.includes('back still here'))
  await gateway.gateway.stop()
  assert.equal(await ended, 1001)
  await eventually('the upstream saw the end', () => closed.length === 1)
  assert.deepEqual(closed, [1001])
})

test('a message on its way is finished before the Close frame', async (t) => {
  const { url, sockets } = await webSockets(t)
  const { gateway } = await open(t, 3_600_000)
  assert.equal((await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'ws', url }))).status, 200)
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/ws/socket`)
  const received: number[] = []
  const ended = new Promise<number>((resolve) => socket.on('close', resolve))
  socket.on('error', () => {})
  socket.on('message', (data: Buffer) => received.push(data.length))
  await new Promise((resolve) => socket.on('open', resolve))
  const size = 16 << 20
  const begun = new Promise<void>((resolve) =>
    (socket as unknown as { _socket: Socket })._socket.once('data', () => {
      socket.pause()
      resolve()
    }),
  )
  const [upstream] = sockets
  upstream!.send(Buffer.alloc(size))
  await begun
  const stopped = gateway.gateway.stop()
  socket.resume()
  assert.equal(await ended, 1001)
  assert.deepEqual(received, [size])
  await stopped
})

test('without anything in flight a stop takes no time, and a second one is the same', async (t) => {
  const { gateway } = await open(t, 600_000)
  let isStopped = false
  void Promise.all([gateway.gateway.stop(), gateway.gateway.stop()]).then(() => {
    isStopped = true
  })
  await eventually('it has stopped, long before its bound', () => isStopped)
})
