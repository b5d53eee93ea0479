import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { defined, rights } from '../../worlds/base/definitions.ts'
import { eventually } from '../../worlds/base/eventually.ts'
import { startTestGateway, type TestGateway } from '../../worlds/base/harness.ts'
import { FLAG, FrameClient, fate, frame, literals, TYPE } from '../../worlds/wire/frames.ts'
import { within } from '../../worlds/wire/raw.ts'

interface World {
  readonly gateway: TestGateway
  readonly session: ClientHttp2Session
  /** Requests that the upstream got, and its ends of the WebSockets. */
  readonly asked: IncomingMessage[]
  readonly sockets: WebSocket[]
  readonly closed: number[]
  /** Upgrades of these paths are answered so, not accepted. */
  readonly script: Record<string, (socket: Socket) => void>
}

async function world(t: TestContext, more: Partial<Parameters<typeof defined>[0]> = {}): Promise<World> {
  const http = createServer((_request, response) => response.end('plain'))
  const [asked, sockets, closed, script]: [IncomingMessage[], WebSocket[], number[], World['script']] = [[], [], [], {}]
  const server = new WebSocketServer({ noServer: true, handleProtocols: (names) => [...names].at(-1) ?? false })
  http.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
    asked.push(message)
    const other = script[message.url!]
    if (other !== undefined) other(socket)
    else server.handleUpgrade(message, socket, head, (opened) => server.emit('connection', opened))
  })
  server.on('connection', (socket: WebSocket) => {
    sockets.push(socket)
    socket.on('message', (data, binary) => socket.send(data, { binary }))
    socket.on('close', (code) => closed.push(code))
    socket.on('error', () => {})
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const gateway = await startTestGateway({ env: { SVC_GW_DRAINTIMEOUTMS: '3600000' } })
  const session = connect(`http://127.0.0.1:${gateway.port}`)
  session.on('error', () => {})
  t.after(async () => {
    session.destroy()
    await gateway.close()
    for (const socket of sockets) socket.terminate()
    http.closeAllConnections()
    http.close()
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const made = await gateway.svc('POST', '/svc/apis/oas', defined({ id: 'ws', url, ...more }))
  assert.equal(made.status, 200, made.text)
  if (session.remoteSettings.maxHeaderListSize === undefined) await once(session, 'remoteSettings')
  return { gateway, session, asked, sockets, closed, script }
}

async function ask(session: ClientHttp2Session, path: string, headers: Record<string, string> = {}) {
  const stream = session.request(
    {
      ...{
        ':method': 'CONNECT',
        ':protocol': 'websocket',
        ':scheme': 'http',
        ':authority': 'a.example',
        ':path': path,
      },
      ...{ 'sec-websocket-version': '13', ...headers },
    },
    { endStream: false },
  )
  stream.on('error', () => {})
  const [answer] = (await within('an answer', once(stream, 'response'))) as [
    IncomingHttpHeaders & { ':status': number },
  ]
  return { stream, answer, status: answer[':status'] }
}

/** A client of WebSockets that nobody here wrote, on a stream that is a tunnel. */
function webSocket(stream: ClientHttp2Stream): WebSocket {
  const socket = new WebSocket(null as never, undefined, { closeTimeout: 60_000 } as object) as WebSocket & {
    _isServer: boolean
    setSocket(socket: unknown, head: Buffer, options: object): void
  }
  socket._isServer = false
  socket.setSocket(stream, Buffer.alloc(0), { maxPayload: 1 << 28, allowSynchronousEvents: true })
  return socket
}

test('messages of every size pass both ways, beside other requests of the connection', async (t) => {
  const { session, asked, closed } = await world(t)
  assert.equal(session.remoteSettings.enableConnectProtocol, true)
  const { stream, answer, status } = await ask(session, '/ws/chat?x=y', {
    'sec-websocket-protocol': 'a, b',
    'sec-websocket-key': 'the gateway has its own',
    'x-mine': 'yes',
  })
  assert.equal(status, 200)
  const tunnel = [answer['sec-websocket-protocol'], answer['sec-websocket-accept'], answer.upgrade, answer.connection]
  assert.deepEqual(tunnel, ['b', undefined, undefined, undefined])
  assert.deepEqual([asked[0]!.method, asked[0]!.url, asked[0]!.headers['x-mine']], ['GET', '/chat?x=y', 'yes'])
  assert.equal(asked[0]!.headers['x-forwarded-host'], 'a.example')
  const socket = webSocket(stream)
  for (const size of [0, 1, 125, 126, 70_000, 3_000_000]) {
    const sent = Buffer.alloc(size, size % 251)
    socket.send(sent)
    const [echoed] = await within('a message', once(socket, 'message'))
    assert.ok(sent.equals(echoed as Buffer), `${size} bytes`)
    const beside = session.request({ ':path': '/ws/plain' })
    let text = ''
    for await (const part of beside) text += part
    assert.equal(text, 'plain')
  }
  socket.close(4000, 'bye')
  const [code] = await within('close', once(socket, 'close'))
  assert.equal(code, 4000)
  await eventually('the upstream is told', () => closed.length === 1)
  assert.equal(closed[0], 4000)
  const again = webSocket((await ask(session, '/ws/again')).stream)
  again.send('still')
  assert.equal(String((await within('a message', once(again, 'message')))[0]), 'still')
})

const ACCEPT = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'

test('an answer that opens no tunnel is one, and ends the stream', async (t) => {
  const { session, script } = await world(t, {
    keyIn: 'x-key',
    paths: { '/mock': { get: { operationId: 'mock', responses: { 200: { description: 'ok' } } } } },
    operations: {
      mock: { mockResponse: { enabled: true, code: 200, body: '{}' }, ignoreAuthentication: { enabled: true } },
    },
  })
  assert.equal((await ask(session, '/ws/x')).status, 401)
  assert.equal((await ask(session, '/nothing/x')).status, 404)
  const open = await world(t)
  const answers: Record<string, [text: string, status: number]> = {
    '/404': ['HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone', 404],
    '/200': ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsome', 502],
    '/other': ['HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n', 502],
    '/no-accept': [`${ACCEPT}\r\n`, 502],
    '/wrong-accept': [`${ACCEPT}Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n`, 502],
  }
  for (const [path, [text]] of Object.entries(answers)) open.script[path] = (socket) => socket.end(text)
  for (const [path, [, status]] of Object.entries(answers)) {
    const { stream, status: got } = await ask(open.session, `/ws${path}`)
    assert.equal(got, status, path)
    stream.resume()
    await within('the end', once(stream, 'close'))
  }
  assert.deepEqual(script, {})
})

test('what is no WebSocket is refused, or resets its stream', async (t) => {
  const { gateway, session } = await world(t, {
    paths: { '/mock': { get: { operationId: 'mock', responses: { 200: { description: 'ok' } } } } },
    operations: { mock: { mockResponse: { enabled: true, code: 200, body: '{}' } } },
  })
  const fateOf = async (changes: Record<string, string | undefined>): Promise<string> => {
    const given = { ':method': 'CONNECT', ':path': '/ws/x', ':protocol': 'websocket', ...changes }
    const fields = Object.entries({ ':scheme': 'http', ':authority': 'a', ...given })
    const client = await FrameClient.connect(gateway.port)
    const list = literals(fields.filter((field): field is [string, string] => field[1] !== undefined))
    client.send(frame(TYPE.headers, FLAG.endHeaders, 1, list))
    const end = await fate(client)
    client.destroy()
    return end
  }
  for (const changes of [
    { ':method': 'GET' },
    { ':scheme': undefined },
    { ':path': undefined },
    { ':protocol': undefined, ':method': 'GET', connection: 'upgrade' },
    { 'content-length': '0' },
  ])
    assert.equal(await fateOf(changes), 'reset 1', JSON.stringify(changes))
  for (const changes of [{ ':protocol': 'connect-udp' }, { ':protocol': undefined }, { ':protocol': 'WebSocket' }])
    assert.equal(await fateOf(changes), 'status 501', JSON.stringify(changes))
  // A refusal of a call of gRPC is 200 with trailers, which would open a tunnel here.
  assert.equal(await fateOf({ ':path': '/nothing/x', 'content-type': 'application/grpc' }), 'status 404')
  // Success without a tunnel has no words.
  const mocked = session.request(
    { ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http', ':authority': 'a', ':path': '/ws/mock' },
    { endStream: false },
  )
  const [error] = await within('a reset', once(mocked, 'error'))
  assert.match(String(error), /CONNECT_ERROR/)
})

test('either side may drop it, and the other is told', async (t) => {
  const { session, sockets, closed } = await world(t)
  const first = await ask(session, '/ws/x')
  first.stream.close(8)
  await eventually('the upstream is told', () => closed.length === 1)
  const second = await ask(session, '/ws/x')
  await eventually('both are there', () => sockets.length === 2)
  sockets[1]!.terminate()
  second.stream.resume()
  await within('the stream ends', once(second.stream, 'close'))
  const beside = session.request({ ':path': '/ws/plain' })
  const [answer] = await once(beside, 'response')
  assert.equal(answer[':status'], 200)
})

test('a client that does not read holds its upstream back, and gets all of it', async (t) => {
  const { session, sockets } = await world(t)
  const { stream } = await ask(session, '/ws/x')
  await eventually('it is there', () => sockets.length === 1)
  const size = 64 << 20
  sockets[0]!.send(Buffer.alloc(size))
  let left = 0
  await eventually('the upstream is held', () => {
    const before = left
    left = sockets[0]!.bufferedAmount
    return left > size / 2 && left === before
  })
  const [message] = await within('the message', once(webSocket(stream), 'message'))
  assert.equal((message as Buffer).length, size)
})

test('it ends with its key, and with the gateway between two frames', async (t) => {
  const { gateway, session, closed } = await world(t, { keyIn: 'x-key' })
  const made = await gateway.svc('POST', '/svc/keys/create', { access_rights: rights('ws') })
  const other = await gateway.svc('POST', '/svc/keys/create', { access_rights: rights('ws') })
  const [key, stays] = [made, other].map(({ json }) => String((json as JsonObject).key)) as [string, string]
  const first = await ask(session, '/ws/x', { 'x-key': key })
  const second = webSocket((await ask(session, '/ws/x', { 'x-key': stays })).stream)
  assert.equal((await gateway.svc('DELETE', `/svc/keys/${key}`)).status, 200)
  await within('the stream ends', once(first.stream, 'close'))
  await eventually('the upstream is told', () => closed.length === 1)
  second.send('still here')
  await within('a message', once(second, 'message'))
  const ended = once(second, 'close')
  await gateway.gateway.stop()
  assert.equal((await within('the end', ended))[0], 1001)
  await eventually('the upstream is told', () => closed.length === 2)
  assert.equal(closed[1], 1001)
})
