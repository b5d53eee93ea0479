import { createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { Inbox, type Message } from './raw.ts'

/** One connection that the gate opened to the scripted upstream. */
export interface OriginConnection {
  /** 0 for the first connection of the origin. */
  readonly number: number
  readonly socket: Socket
  readonly inbox: Inbox
  /** Reads one request and records it, complete or not. Undefined at the end of the connection. */
  request(): Promise<Message | undefined>
  /** Writes latin1 text or bytes. */
  write(bytes: string | Buffer): void
}

/** The script of the upstream for one connection. Its failure is kept in `Origin.failures`. */
export type OriginScript = (connection: OriginConnection) => Promise<void>

/** A scripted upstream on a free port, closed with its test. */
export interface Origin {
  readonly port: number
  /** Requests in order of arrival, with what arrived of them. */
  readonly calls: Message[]
  /** Request lines of requests whose head has arrived. */
  readonly heads: string[]
  /** Connections ever accepted. */
  accepted(): number
  /** Connections open now. */
  open(): number
  readonly failures: unknown[]
}

/** Answers every request on every connection with 200 and `ok`, framed right for HEAD. */
export const polite: OriginScript = answering(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')

/** A script that answers each complete request with the bytes that `answer` gives; '' ends the connection. */
export function answering(answer: (request: Message, connection: OriginConnection) => string): OriginScript {
  return async (connection) => {
    for (;;) {
      const request = await connection.request()
      if (request === undefined || !request.complete) return
      const bytes = answer(request, connection)
      if (bytes === '') return
      const bodiless = request.start.startsWith('HEAD ')
      connection.write(bodiless ? bytes.slice(0, bytes.indexOf('\r\n\r\n') + 4) : bytes)
    }
  }
}

/** Starts a scripted upstream; `tls` makes it speak TLS. */
export async function openOrigin(
  t: TestContext | { after(fn: () => unknown): void },
  script: OriginScript = polite,
  tls?: TlsOptions,
): Promise<Origin> {
  const calls: Message[] = []
  const heads: string[] = []
  const failures: unknown[] = []
  const sockets = new Set<Socket>()
  let accepted = 0

  const serve = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    const inbox = new Inbox(socket)
    inbox.onHead = (start) => heads.push(start)
    const connection: OriginConnection = {
      number: accepted++,
      socket,
      inbox,
      write: (bytes) => {
        if (socket.writable) socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
      },
      request: async () => {
        const message = await inbox.message()
        if (message !== undefined) calls.push(message)
        return message
      },
    }
    script(connection)
      .catch((failure: unknown) => failures.push(failure))
      .finally(() => socket.end())
  }

  const server: Server =
    tls === undefined
      ? createServer({ allowHalfOpen: true, noDelay: true }, serve)
      : createTlsServer({ ...tls, allowHalfOpen: true }, serve)
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port, calls, heads, failures, accepted: () => accepted, open: () => sockets.size }
}
