import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

const PATTERN = Buffer.from(Uint8Array.from({ length: 65_536 }, (_, i) => (i * 31 + (i >> 8)) & 0xff))

/** Both ports of the upstream. */
export interface Upstream {
  readonly http1: number
  /** HTTP/2 without TLS. */
  readonly http2: number
}

/** SHA-256, in hex, of what `/bytes/{count}` answers. */
export function digestOfBytes(count: number): string {
  const hash = createHash('sha256')
  for (const block of blocks(count)) hash.update(block)
  return hash.digest('hex')
}

/**
 * Starts an upstream of Node over HTTP/1.1 and HTTP/2: `/bytes/{n}`, `/upload` (answers count and SHA-256 of the body, and the trailers of the request), `/trailers`,
 * `/last` (the connection ends with the answer, without notice), `/target` (answers the target of the request) and WebSockets that send back what they get.
 */
export async function startUpstream(): Promise<Upstream> {
  const serve = (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) => {
    answer(request as IncomingMessage, response as ServerResponse).catch(() => response.destroy())
  }
  const http1 = createServer(serve)
  const sockets = new WebSocketServer({ server: http1, maxPayload: 1 << 25 })
  sockets.on('connection', echo)
  const http2 = createHttp2Server(serve)
  for (const server of [http1, http2]) {
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    server.unref()
  }
  return { http1: (http1.address() as AddressInfo).port, http2: (http2.address() as AddressInfo).port }
}

function echo(socket: WebSocket): void {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  socket.on('error', () => socket.terminate())
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://upstream')
  const [, what, count] = pathname.split('/')
  response.setHeader('x-target', request.url ?? '')
  if (what === 'target') {
    response.end(request.url)
    return
  }
  if (what === 'bytes') return sendBytes(response, Number(count))
  if (what === 'upload') return tellUpload(request, response)
  if (what === 'trailers') {
    response.writeHead(200, { trailer: 'x-checksum' })
    response.write('body')
    response.addTrailers({ 'x-checksum': 'abc' })
    response.end()
    return
  }
  // The kind of server that ends connections which its client means to use again.
  if (what === 'last') response.on('finish', () => request.socket.end())
  request.resume()
  response.end('ok')
}

async function sendBytes(response: ServerResponse, count: number): Promise<void> {
  response.writeHead(200, { 'content-length': count, 'content-type': 'application/octet-stream' })
  for (const block of blocks(count)) {
    if (!response.write(block)) await new Promise((resolve) => response.once('drain', resolve))
  }
  response.end()
}

async function tellUpload(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    hash.update(chunk as Buffer)
  }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ bytes, sha256: hash.digest('hex'), trailers: request.trailers }))
}

function* blocks(count: number): Generator<Buffer> {
  for (let left = count; left > 0; left -= PATTERN.length) yield PATTERN.subarray(0, Math.min(left, PATTERN.length))
}
