import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { NO_HELLO, readServerName } from './client-hello.ts'
import type { WireLimits } from './limits.ts'
import { type PeerCertificate, peerCertificateOf } from './peer-certificate.ts'
import { sweep, type Timed } from './sweep.ts'

/** A server's handling of a handshake for one name. */
export interface TlsChoice {
  readonly context: SecureContext
  /** Ask the client for a certificate (its possession is proved by TLS; whether it is allowed is the gateway's business). */
  readonly askCertificate: boolean
}

export type ChooseTls = (serverName: string) => TlsChoice | undefined

/** A finished handshake. */
export interface Secured {
  readonly socket: TLSSocket
  readonly serverName: string
  /** The client's certificate; '' without one. */
  readonly peerCertificate: PeerCertificate | ''
}

/** Alert `unrecognized_name` (RFC 8446 section 6), fatal, as a record. */
const UNKNOWN_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112])

const TLS_BASE = { minVersion: 'TLSv1.2', sessionIdContext: 'gatehouse' } as const

/**
 * Module state: a cache of immutable values. Contexts that handshakes with a server name begin in; the name's certificate is put in later. Tickets belong to the context that a
 * handshake began in: domains that ask for a certificate have a separate one without tickets, so that no session of a domain that
 * does not ask, or asked and got none, can be resumed on one that does.
 */
let asking: SecureContext | undefined
let plain: SecureContext | undefined

function baseContext(ask: boolean): SecureContext {
  if (!ask) {
    plain ??= createSecureContext(TLS_BASE)
    return plain
  }
  asking ??= createSecureContext({ ...TLS_BASE, secureOptions: constants.SSL_OP_NO_TICKET })
  return asking
}

/** One TLS handshake, from the first byte of the client to the finished socket. */
export class Handshake implements Timed {
  sweepIndex = -1
  private readonly raw: Socket
  private readonly choose: ChooseTls
  private readonly http2: boolean
  private readonly deadline: number
  private readonly settled: (self: Handshake, secured: Secured | undefined) => void
  private hello: Buffer | undefined
  private over = false

  /** `settled` is called once: with the socket, or undefined when the handshake failed, timed out or was refused. */
  constructor(
    raw: Socket,
    choose: ChooseTls,
    { tlsHandshakeMs, http2Streams }: Pick<WireLimits, 'tlsHandshakeMs' | 'http2Streams'>,
    settled: (self: Handshake, secured: Secured | undefined) => void,
  ) {
    this.raw = raw
    this.choose = choose
    this.settled = settled
    this.http2 = http2Streams > 0
    this.deadline = performance.now() + tlsHandshakeMs
    sweep.add(this)
    raw.on('error', () => {}) // `close` follows
    raw.on('close', () => this.settle(undefined))
    raw.on('end', () => this.fail())
    raw.on('data', this.onHello)
    raw.resume()
  }

  tick(now: number): void {
    if (now >= this.deadline) this.fail()
  }

  /** Ends the handshake. */
  fail(): void {
    if (this.over) return
    this.raw.destroy()
    this.settle(undefined)
  }

  private settle(secured: Secured | undefined): void {
    if (this.over) return
    this.over = true
    sweep.remove(this)
    this.settled(this, secured)
  }

  private readonly onHello = (chunk: Buffer): void => {
    if (this.over) return
    this.hello = this.hello === undefined ? chunk : Buffer.concat([this.hello, chunk])
    const name = readServerName(this.hello)
    if (name === undefined) return
    if (name === NO_HELLO) {
      this.fail()
      return
    }
    this.begin(name, this.hello)
  }

  private begin(name: string, hello: Buffer): void {
    const choice = this.choose(name)
    if (choice === undefined) {
      this.raw.end(UNKNOWN_NAME, () => this.fail())
      return
    }
    const { raw } = this
    this.hello = undefined
    raw.off('data', this.onHello)
    raw.pause()
    raw.removeAllListeners('end')
    raw.unshift(hello)
    const socket = new TLSSocket(raw, {
      isServer: true,
      requestCert: choice.askCertificate,
      rejectUnauthorized: false,
      ALPNProtocols: this.http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
      ...(name === '' ? { secureContext: choice.context } : this.byName(choice)),
    })
    socket.on('error', () => this.fail())
    socket.on('close', () => this.fail())
    socket.on('end', () => this.fail())
    socket.once('secure', () => this.finish(socket, name))
  }

  /** OpenSSL reads the name again, and has the last word: another answer than the one the handshake began with ends it. */
  private byName(choice: TlsChoice) {
    return {
      secureContext: baseContext(choice.askCertificate),
      SNICallback: (name: string, answer: (error: Error | null, context?: SecureContext) => void) => {
        const same = this.choose(name.toLowerCase())
        if (same?.askCertificate === choice.askCertificate) answer(null, same.context)
        else answer(new Error('server name changed'))
      },
    }
  }

  private finish(socket: TLSSocket, serverName: string): void {
    if (this.over) return
    const certificate = socket.getPeerX509Certificate()
    this.settle({
      socket,
      serverName,
      peerCertificate: certificate === undefined ? '' : peerCertificateOf(certificate),
    })
  }
}
