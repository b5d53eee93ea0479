import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** One message as a receiver saw it. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Which connection it came on, from 1. */
  readonly connection: number
}

/** A real webhook receiver on loopback. */
export interface Receiver {
  readonly port: number
  readonly url: string
  readonly received: Received[]
  /** Answers from now on; without a script every message gets 200. */
  script: ((message: Received, response: ServerResponse) => void) | undefined
  connections(): number
  /** Ends it, or with `closed` connections only. */
  close(): Promise<void>
}

/** Starts a receiver, with TLS where a certificate is given. `port` 0 = any free one. */
export async function startReceiver({
  port = 0,
  tls,
}: {
  readonly port?: number
  readonly tls?: { readonly cert: string; readonly key: string }
} = {}): Promise<Receiver> {
  const received: Received[] = []
  const numbers = new WeakMap<object, number>()
  let connections = 0
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (!numbers.has(request.socket)) numbers.set(request.socket, ++connections)
      const { method = '', url: path = '', headers } = request
      const connection = numbers.get(request.socket)!
      const message = { method, path, headers, body: Buffer.concat(chunks).toString('utf8'), connection }
      received.push(message)
      if (receiver.script !== undefined) receiver.script(message, response)
      else response.writeHead(200).end('{}')
    })
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const bound = (server.address() as AddressInfo).port
  const receiver: Receiver = {
    port: bound,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${bound}/hook`,
    received,
    script: undefined,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return receiver
}
