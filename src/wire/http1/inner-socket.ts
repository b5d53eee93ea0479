import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Secured } from '../listen/handshake.ts'
import type { WireLimits } from '../listen/limits.ts'
import { HttpConnection } from './connection.ts'
import type { ConnectionOwner } from './connection-owner.ts'
import type { WireExchange, WireHandler } from './exchange.ts'
import { byEvents } from './read-buffer.ts'

/** The apparent peer of a connection within the process: that of the request that it is part of. */
export interface InnerPeer {
  readonly address: string
  /** undefined for a plain connection. */
  readonly secured: Pick<Secured, 'serverName' | 'askedCertificate' | 'peerCertificate'> | undefined
}

/** One end of a connection within the process, with what our connections ask of a socket besides a stream. */
class InnerSocket extends Duplex {
  readonly remoteAddress: string
  readonly connecting = false
  other!: InnerSocket
  #taken: (() => void) | undefined

  constructor(remoteAddress: string) {
    super({ allowHalfOpen: true })
    this.remoteAddress = remoteAddress
  }

  override _read(): void {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, written: () => void): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk)
    this.other.give(bytes, written)
  }

  override _final(done: () => void): void {
    this.other.give(null, done)
  }

  override _destroy(_error: Error | null, done: () => void): void {
    done()
    if (!this.other.destroyed) this.other.destroy()
  }

  resetAndDestroy(): void {
    this.destroy()
  }

  setTimeout(): this {
    return this
  }

  private give(bytes: Buffer | null, written: () => void): void {
    if (this.destroyed || this.push(bytes)) written()
    else this.#taken = written
  }
}

/**
 * Opens a connection within the process, whose requests take the way of every other: the answer is its client's end.
 * Both ends go when either does.
 */
export function openInner<X extends WireExchange>(
  handler: WireHandler<X>,
  limits: WireLimits,
  { address, secured }: InnerPeer,
): Duplex {
  const ours = new InnerSocket(address)
  const theirs = new InnerSocket('')
  ours.other = theirs
  theirs.other = ours
  const owner: ConnectionOwner<X> = { handler, limits, draining: false, closed() {} }
  // A connection asks of its socket what an InnerSocket has; the type asks for all of net.Socket.
  const socket = ours as Duplex as Socket
  new HttpConnection(byEvents(socket), owner, secured as Secured | undefined)
  return theirs
}
