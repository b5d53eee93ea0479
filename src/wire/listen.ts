import { createServer, type Server, type Socket } from 'node:net'
import { fault } from '../errors/fault.ts'
import { Connection, type ConnectionOwner } from './connection.ts'
import type { WireExchange, WireHandler } from './exchange.ts'
import { type ChooseTls, Handshake, type Secured } from './handshake.ts'
import type { WireLimits } from './limits.ts'
import { acceptReading, byEvents } from './read-buffer.ts'

export type { TlsChoice } from './handshake.ts'
export type { WireLimits } from './limits.ts'

export interface ListenOptions<X extends WireExchange> {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly handler: WireHandler<X>
  readonly limits: WireLimits
  /** Present = TLS. Asked for every handshake, so a new certificate needs no restart. `serverName` '' without SNI. */
  readonly tls?: ChooseTls
}

export interface Listener {
  readonly port: number
  /** Open connections now. */
  connections(): number
  /** Stops accepting, ends idle connections, lets exchanges in flight finish for at most `boundMs`, then cuts. */
  drain(boundMs: number): Promise<void>
}

const BACKLOG = 4096
/** Longest wait for the connections that a drain has cut. */
const CUT_WITHIN_MS = 1000

/** Opens a listener. @throws Fault `port_in_use` naming the port */
export async function listen<X extends WireExchange>(options: ListenOptions<X>): Promise<Listener> {
  const gate = new Gate(options)
  const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true, pauseOnConnect: true }, (socket) =>
    gate.accept(socket),
  )
  await opened(server, options)
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : options.port
  return {
    port,
    connections: () => gate.size,
    drain: (boundMs) => gate.drain(server, boundMs),
  }
}

function opened<X extends WireExchange>(server: Server, options: ListenOptions<X>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const detail = `${options.host}:${options.port}: ${error.code ?? error.message}`
      reject(fault('port_in_use', detail, error))
    })
    server.listen({ host: options.host, port: options.port, backlog: BACKLOG }, () => {
      server.removeAllListeners('error')
      server.on('error', () => {}) // a failed accept (no descriptors left) concerns that connection alone
      resolve()
    })
  })
}

/** The connections of one listener. */
class Gate<X extends WireExchange> implements ConnectionOwner<X> {
  readonly handler: WireHandler<X>
  readonly limits: WireLimits
  draining = false
  private readonly tls: ChooseTls | undefined
  private readonly open = new Set<Connection<X>>()
  private readonly handshakes = new Set<Handshake>()
  private emptied: (() => void) | undefined

  constructor(options: ListenOptions<X>) {
    this.handler = options.handler
    this.limits = options.limits
    this.tls = options.tls
  }

  /** Open connections, those within their TLS handshake too. */
  get size(): number {
    return this.open.size + this.handshakes.size
  }

  accept(socket: Socket): void {
    const { maxConnections, maxHandshakes, tlsHandshakeMs } = this.limits
    const full = maxConnections > 0 && this.size >= maxConnections
    if (this.draining || full || (this.tls !== undefined && this.handshakes.size >= maxHandshakes)) {
      socket.destroy()
      return
    }
    if (this.tls === undefined) {
      this.open.add(new Connection(acceptReading(socket), this, undefined))
      return
    }
    const settled = (handshake: Handshake, secured: Secured | undefined) => this.settled(handshake, secured)
    this.handshakes.add(new Handshake(socket, this.tls, tlsHandshakeMs, settled))
  }

  private settled(handshake: Handshake, secured: Secured | undefined): void {
    this.handshakes.delete(handshake)
    if (secured !== undefined && !this.draining) this.open.add(new Connection(byEvents(secured.socket), this, secured))
    else secured?.socket.destroy()
    this.checkEmpty()
  }

  closed(connection: Connection<X>): void {
    this.open.delete(connection)
    this.checkEmpty()
  }

  private checkEmpty(): void {
    if (this.size === 0) this.emptied?.()
  }

  async drain(server: Server, boundMs: number): Promise<void> {
    this.draining = true
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const handshake of this.handshakes) handshake.fail()
    for (const connection of this.open) connection.drain()
    if (this.open.size > 0) await this.emptyWithin(boundMs)
    for (const connection of this.open) connection.destroy()
    await stopped
    // The server is told first; what was cut still has its `done` to say.
    if (this.open.size > 0) await this.emptyWithin(CUT_WITHIN_MS)
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
