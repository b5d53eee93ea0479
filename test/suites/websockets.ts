import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws'
import { type StartedProxy, startProxy } from './proxies.ts'
import { patiently, type SuiteCase, suiteOf } from './suite.ts'

interface World {
  readonly proxy: StartedProxy
  /** WebSockets that are open at the upstream. */
  readonly open: ReadonlySet<WebSocket>
}

/** Around the three forms of a length (RFC 6455 section 5.2), and beyond the buffers of proxies. */
const SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, 1_000_000]

type Talk = (socket: WebSocket, world: World) => Promise<void>

/** Opens a WebSocket and talks over it. */
function over(
  name: string,
  talk: Talk,
  path = '/',
  options: ClientOptions = {},
  protocols: string[] = [],
): SuiteCase<World> {
  return {
    section: '6455',
    name,
    async run(world) {
      const socket = new WebSocket(`ws://127.0.0.1:${world.proxy.http1}${path}`, protocols, options)
      socket.on('error', () => {})
      try {
        // A message may come with the answer to the handshake.
        if (path !== '/greeting') await patiently('handshake', world.proxy.patienceMs, once(socket, 'open'))
        await patiently('end', world.proxy.patienceMs * 2, talk(socket, world))
      } finally {
        socket.terminate()
      }
    },
  }
}

async function next(socket: WebSocket): Promise<{ data: Buffer; isBinary: boolean }> {
  const [data, isBinary] = (await once(socket, 'message')) as [Buffer, boolean]
  return { data, isBinary }
}

const echoed = (size: number, binary: boolean) =>
  over(`a ${binary ? 'binary' : 'text'} message of ${size} bytes comes back`, async (socket) => {
    const sent = Buffer.alloc(size, 'é')
    const message = binary ? sent : 'x'.repeat(size)
    socket.send(message)
    const { data, isBinary } = await next(socket)
    assert.equal(isBinary, binary)
    assert.ok(data.equals(Buffer.from(message)))
  })

const closed = (code: number) =>
  over(`a close with code ${code} and a reason is answered`, async (socket) => {
    socket.close(code, 'because')
    const [got, reason] = (await once(socket, 'close')) as [number, Buffer]
    assert.deepEqual([got, String(reason)], [code, 'because'])
  })

const TUNNELS: readonly SuiteCase<World>[] = [
  ...SIZES.flatMap((size) => [echoed(size, false), echoed(size, true)]),
  ...[1000, 1001, 3000, 4999].map(closed),
  over('a ping is answered', async (socket) => {
    socket.ping('abc')
    const [data] = (await once(socket, 'pong')) as [Buffer]
    assert.equal(String(data), 'abc')
  }),
  over('a message in fragments comes back whole', async (socket) => {
    socket.send('a', { fin: false })
    socket.send('b', { fin: false })
    socket.send('c')
    assert.equal(String((await next(socket)).data), 'abc')
  }),
  over('200 messages come back in order', async (socket) => {
    const heard: string[] = []
    const all = new Promise<void>((resolve) =>
      socket.on('message', (data) => {
        heard.push(String(data))
        if (heard.length === 200) resolve()
      }),
    )
    const sent = Array.from({ length: 200 }, (_, i) => String(i))
    for (const each of sent) socket.send(each)
    await all
    assert.deepEqual(heard, sent)
  }),
  over(
    'the subprotocol that the upstream chooses comes back',
    async (socket) => {
      assert.equal(socket.protocol, 'two')
    },
    '/',
    {},
    ['one', 'two'],
  ),
  over(
    'compressed messages pass (RFC 7692)',
    async (socket) => {
      assert.match(socket.extensions, /permessage-deflate/)
      socket.send('y'.repeat(100_000))
      assert.equal((await next(socket)).data.length, 100_000)
    },
    '/',
    { perMessageDeflate: true },
  ),
  over(
    'a message that comes with the handshake arrives',
    async (socket) => {
      assert.equal(String((await next(socket)).data), 'hello')
    },
    '/greeting',
  ),
  over('a close by the upstream arrives with its code', async (socket) => {
    socket.send('close 4001')
    const [code] = (await once(socket, 'close')) as [number]
    assert.equal(code, 4001)
  }),
  over('an upstream that breaks off ends the client', async (socket) => {
    socket.send('break off')
    const [code] = (await once(socket, 'close')) as [number]
    assert.equal(code, 1006)
  }),
  over('a client that breaks off ends the upstream', async (socket, { open }) => {
    const [there] = open
    const ended = once(there!, 'close')
    socket.terminate()
    await ended
  }),
  {
    section: '6455',
    name: 'an upgrade that the upstream refuses is passed on',
    async run({ proxy }) {
      const socket = new WebSocket(`ws://127.0.0.1:${proxy.http1}/refused`)
      socket.on('error', () => {})
      const [, response] = await patiently('answer', proxy.patienceMs, once(socket, 'unexpected-response'))
      assert.equal(response.statusCode, 403)
      response.destroy()
    },
  },
]

/** A masked frame of a client (RFC 6455 section 5.2), of up to 125 bytes or of more than 65,535. */
function masked(text: string): Buffer {
  const mask = Buffer.from([1, 2, 3, 4])
  const body = Buffer.from(text).map((byte, i) => byte ^ mask[i & 3]!)
  const long = Buffer.alloc(9)
  long[0] = 0xff
  long.writeUInt32BE(body.length, 5)
  return Buffer.concat([Buffer.from([0x81]), body.length < 126 ? Buffer.from([0x80 | body.length]) : long, mask, body])
}

/** Opens a WebSocket over HTTP/2 and talks over its stream. */
function extended(
  name: string,
  path: string,
  talk: (stream: ClientHttp2Stream, status: number) => Promise<void>,
): SuiteCase<World> {
  return {
    section: '8441',
    name,
    async run({ proxy }) {
      const session = connect(`http://127.0.0.1:${proxy.http2}`)
      session.on('error', () => {})
      try {
        const [settings] = await patiently('SETTINGS', proxy.patienceMs, once(session, 'remoteSettings'))
        assert.equal(settings.enableConnectProtocol, true, 'SETTINGS offer it')
        const fields = { ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http', ':path': path }
        const stream = session.request(
          { ...fields, ':authority': 'a.example', 'sec-websocket-version': '13' },
          { endStream: false },
        )
        stream.on('error', () => {})
        const [head] = await patiently('answer', proxy.patienceMs, once(stream, 'response'))
        await patiently('end', proxy.patienceMs * 2, talk(stream, Number(head[':status'])))
      } finally {
        session.destroy()
      }
    },
  }
}

async function bytesOf(stream: ClientHttp2Stream, count: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0)
  while (bytes.length < count) {
    const [part] = (await once(stream, 'data')) as [Buffer]
    bytes = Buffer.concat([bytes, part])
  }
  return bytes
}

const STREAMS: readonly SuiteCase<World>[] = [
  extended('a message comes back', '/', async (stream, status) => {
    assert.equal(status, 200)
    stream.write(masked('hi'))
    assert.deepEqual([...(await bytesOf(stream, 4))], [0x81, 2, 104, 105])
  }),
  extended('a message of 70,000 bytes comes back', '/', async (stream) => {
    stream.write(masked('x'.repeat(70_000)))
    assert.equal((await bytesOf(stream, 70_010)).length, 70_010)
  }),
  extended('a message that comes with the handshake arrives', '/greeting', async (stream) => {
    assert.equal(String((await bytesOf(stream, 7)).subarray(2)), 'hello')
  }),
  extended('a close by the upstream arrives and ends the stream', '/', async (stream) => {
    stream.write(masked('close 4001'))
    const ended = once(stream, 'end')
    const frame = await bytesOf(stream, 4)
    assert.deepEqual([...frame], [0x88, 2, 4001 >> 8, 4001 & 255])
    stream.end(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 4001 >> 8, 4001 & 255]))
    await ended
  }),
  extended('an upgrade that the upstream refuses is passed on', '/refused', async (_stream, status) => {
    assert.equal(status, 403)
  }),
  extended('a client that resets the stream leaves the connection good', '/', async (stream) => {
    const session = stream.session as ClientHttp2Session
    stream.close(constants.NGHTTP2_CANCEL)
    await once(stream, 'close')
    const other = session.request({ ':path': '/plain' })
    const [head] = await once(other, 'response')
    assert.equal(head[':status'], 200)
  }),
]

/** WebSockets through a proxy, over HTTP/1.1 and HTTP/2. */
export const websockets = suiteOf<World>({
  name: 'WebSocket',
  sections: { 6455: 'RFC 6455: over HTTP/1.1', 8441: 'RFC 8441: over HTTP/2' },
  cases: [...TUNNELS, ...STREAMS],
  async open(name, ending) {
    const http = createServer((_request, response) => response.end('plain'))
    const server = new WebSocketServer({
      noServer: true,
      perMessageDeflate: true,
      maxPayload: 1 << 24,
      handleProtocols: (offered) => (offered.has('two') ? 'two' : false),
    })
    http.on('upgrade', (request, socket, head) => {
      socket.on('error', () => {})
      if (request.url === '/refused') {
        socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno')
        return
      }
      server.handleUpgrade(request, socket, head, (webSocket) => {
        if (request.url === '/greeting') webSocket.send('hello')
        talkBack(webSocket)
      })
    })
    await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready))
    ending.after(() => {
      for (const socket of server.clients) socket.terminate()
      http.closeAllConnections()
      http.close()
    })
    const { port } = http.address() as AddressInfo
    return { open: server.clients, proxy: await startProxy(name, { port }, ending) }
  },
})

function talkBack(socket: WebSocket): void {
  socket.on('error', () => {})
  socket.on('message', (data, isBinary) => {
    const [word, code] = data.toString().slice(0, 20).split(' ')
    if (word === 'close') socket.close(Number(code))
    else if (word === 'break') socket.terminate()
    else socket.send(data, { binary: isBinary })
  })
}
