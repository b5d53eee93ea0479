import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { type BlockList, connect, createServer, type Server, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { fault } from '../../errors/fault.ts'
import { HttpConnection } from '../http1/connection.ts'
import type { ConnectionOwner, OpenConnection, UpgradedAway } from '../http1/connection-owner.ts'
import type { WireExchange, WireHandler } from '../http1/exchange.ts'
import { type Accepted, acceptReading, byEvents, releaseReading } from '../http1/read-buffer.ts'
import { Http2Connection } from '../http2/connection.ts'
import type { ConnectionLimit } from './connection-limit.ts'
import { type ChooseTls, Handshake, type Secured } from './handshake.ts'
import type { WireLimits } from './limits.ts'
import { isProxied, Preamble, type Preceded } from './preamble.ts'

export type { TlsChoice } from './handshake.ts'
export type { WireLimits } from './limits.ts'

export interface ListenOptions<X extends WireExchange> {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  /** Listens on a Unix socket with these permissions, instead of host and port. */
  readonly socket?: { readonly path: string; readonly mode: number }
  /** True = other processes listen there too, and the system spreads connections over all (SO_REUSEPORT). */
  readonly shared?: boolean
  readonly handler: WireHandler<X>
  readonly limits: WireLimits
  /** Shared with the listeners whose connections count with those of this one. */
  readonly admission: ConnectionLimit
  /** Present = TLS. Asked for every handshake, so a new certificate needs no restart. `serverName` '' without SNI. */
  readonly tls?: ChooseTls
  /** Those whose connections begin with the PROXY protocol; undefined = nobody's do. */
  readonly proxies?: BlockList | undefined
}

export interface PortListener {
  readonly port: number
  /** Open connections now. */
  connections(): number
  /** Keeps accepting, but every answer is the last of its connection (HTTP/1.1; streams of HTTP/2 continue). */
  announceDrain(): void
  /**
   * Stops accepting, ends idle connections, lets exchanges in flight finish for at most `boundMs`, then cuts. Answers how many connections
   * were cut.
   */
  drain(boundMs: number): Promise<number>
}

const BACKLOG = 4096
const LOCAL_ADDRESS = '127.0.0.1'
/** Longest wait for the connections that a drain has cut. */
const CUT_WITHIN_MS = 1000

/** Why a port or socket cannot be opened, and what to do. */
export function closedPlace(place: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'EADDRINUSE') return `${place} is in use by another process (${code}): stop it, or choose another`
  if (code === 'EACCES') return `${place} may not be opened by this user (${code}): choose another`
  return `${place}: ${code ?? message}`
}

/** Opens a listener. @throws Fault `port_in_use` naming the port */
export async function listen<X extends WireExchange>(options: ListenOptions<X>): Promise<PortListener> {
  const gate = new Gate(options)
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, pauseOnConnect: true }, (socket) =>
    gate.accept(socket),
  )
  if (options.socket !== undefined) await removeStale(options.socket.path)
  await opened(server, options)
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : options.port
  return {
    port,
    connections: () => gate.size,
    announceDrain: () => gate.announceDrain(),
    drain: (boundMs) => gate.drain(server, boundMs),
  }
}

function opened<X extends WireExchange>(server: Server, options: ListenOptions<X>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const place = options.socket?.path ?? `${options.host}:${options.port}`
      reject(fault('port_in_use', closedPlace(place, error), error))
    })
    const { host, port, socket, shared: reusePort = false } = options
    const place = socket === undefined ? { host, port, reusePort } : { path: socket.path }
    server.listen({ ...place, backlog: BACKLOG }, () => {
      if (socket !== undefined) chmodSync(socket.path, socket.mode)
      server.removeAllListeners('error')
      // A failed accept concerns that connection alone.
      server.on('error', () => options.admission.refuse('descriptors'))
      resolve()
    })
  })
}

/** Removes the socket of a process that ended without doing so. One in use is left, and any other file. */
function removeStale(path: string): Promise<void> {
  return new Promise((resolve) => {
    const probe = connect({ path })
    probe.on('connect', () => {
      probe.destroy()
      resolve()
    })
    probe.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED' && lstatSync(path, { throwIfNoEntry: false })?.isSocket()) unlinkSync(path)
      resolve()
    })
  })
}

/** The connections of one listener. */
class Gate<X extends WireExchange> implements ConnectionOwner<X> {
  readonly handler: WireHandler<X>
  readonly limits: WireLimits
  readonly speakHttp2: ConnectionOwner<X>['speakHttp2']
  draining = false
  /** True for a Unix socket. */
  private readonly local: boolean
  /** True once it takes no more connections. */
  private closing = false
  private readonly admission: ConnectionLimit
  private readonly tls: ChooseTls | undefined
  private readonly proxies: BlockList | undefined
  private readonly open = new Set<OpenConnection>()
  private readonly handshakes = new Set<Handshake>()
  private readonly preambles = new Set<Preamble>()
  private emptied: (() => void) | undefined

  constructor(options: ListenOptions<X>) {
    this.handler = options.handler
    this.limits = options.limits
    this.admission = options.admission
    this.admission.join(this)
    this.tls = options.tls
    this.proxies = options.proxies
    this.local = options.socket !== undefined
    if (options.limits.http2Streams > 0) this.speakHttp2 = (given, bytes) => this.takeOver(given, bytes)
  }

  /** Open connections, those within their TLS handshake too. */
  get size(): number {
    return this.open.size + this.handshakes.size + this.preambles.size
  }

  accept(socket: Socket): void {
    if (this.closing || !this.admission.admits()) {
      socket.destroy()
      return
    }
    if (this.tls !== undefined && this.handshakes.size >= this.limits.maxHandshakes) {
      this.admission.refuse('handshakes')
      socket.destroy()
      return
    }
    if (this.proxies !== undefined && isProxied(this.proxies, socket)) this.awaitPreamble(socket)
    else if (this.tls === undefined) this.serve(this.placed(acceptReading(socket)))
    else this.shakeHands(socket, this.tls, socket.remoteAddress ?? '')
  }

  private awaitPreamble(socket: Socket): void {
    const accepted = this.tls === undefined ? acceptReading(socket) : byEvents(socket)
    const settled = (preamble: Preamble, preceded: Preceded | undefined) => {
      this.preambles.delete(preamble)
      if (preceded === undefined || this.closing) accepted.socket.destroy()
      else if (this.tls === undefined) this.serve(preceded.after())
      else this.shakeHands(releaseReading(socket, preceded.rest), this.tls, preceded.address)
      this.checkEmpty()
    }
    this.preambles.add(new Preamble(accepted, this.limits.headTimeoutMs, settled))
  }

  /** A peer on a Unix socket has no address: it is a program of this machine. */
  private placed(accepted: Accepted): Accepted {
    return this.local ? { ...accepted, address: LOCAL_ADDRESS } : accepted
  }

  private serve(accepted: Accepted): void {
    this.open.add(new HttpConnection(accepted, this, undefined))
  }

  private shakeHands(socket: Socket, tls: ChooseTls, address: string): void {
    const settled = (handshake: Handshake, secured: Secured | undefined) => {
      this.handshakes.delete(handshake)
      if (secured !== undefined && !this.closing) this.open.add(this.secured(secured, address))
      else secured?.socket.destroy()
      this.checkEmpty()
    }
    this.handshakes.add(new Handshake(socket, tls, this.limits, settled))
  }

  private secured(secured: Secured, address: string): OpenConnection {
    const { socket } = secured
    const accepted = { ...byEvents(socket), address }
    return socket.alpnProtocol === 'h2'
      ? new Http2Connection(accepted, this, secured)
      : new HttpConnection(accepted, this, secured)
  }

  private takeOver(given: UpgradedAway, bytes: Buffer): void {
    this.open.delete(given)
    const connection = new Http2Connection(given.accepted, this, undefined)
    this.open.add(connection)
    connection.take(bytes)
  }

  closed(connection: OpenConnection): void {
    this.open.delete(connection)
    this.checkEmpty()
  }

  private checkEmpty(): void {
    if (this.size === 0) this.emptied?.()
  }

  announceDrain(): void {
    this.draining = true
  }

  async drain(server: Server, boundMs: number): Promise<number> {
    this.draining = true
    // Connections that the system has accepted are taken first: with the port they would be reset.
    await setImmediate()
    this.closing = true
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const handshake of this.handshakes) handshake.fail()
    for (const preamble of this.preambles) preamble.fail()
    for (const connection of this.open) connection.drain()
    if (this.open.size > 0) await this.emptyWithin(boundMs)
    const cut = this.open.size
    for (const connection of this.open) connection.destroy()
    await stopped
    // The server is closed first; cut exchanges still report `done`.
    if (this.open.size > 0) await this.emptyWithin(CUT_WITHIN_MS)
    return cut
  }

  private emptyWithin(boundMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, boundMs)
      this.emptied = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
