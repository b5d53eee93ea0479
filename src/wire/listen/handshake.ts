import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type SecureContext, TLSSocket } from 'node:tls'
import { NO_HELLO, readServerName } from './client-hello.ts'
import type { WireLimits } from './limits.ts'
import { type PeerCertificate, peerCertificateOf } from './peer-certificate.ts'
import { sweep, type Timed } from './sweep.ts'

/** A server's handling of a handshake for one name. */
export interface TlsChoice {
  /**
   * The context that the handshake begins in, with protocol versions and suites. Tickets belong to it, so names that ask for a certificate
   * have a separate one without tickets: no session of a name that does not ask, or asked and got none, can be resumed where one is asked
   * for. For clients that name no server it holds the certificate.
   */
  readonly begin: SecureContext
  /** The context with the certificate of the name. */
  readonly context: SecureContext
  /** Ask the client for a certificate (its possession is proved by TLS; whether it is allowed is the gateway's business). */
  readonly askCertificate: boolean
}

export type ChooseTls = (serverName: string) => TlsChoice | undefined

/** A finished handshake. */
export interface Secured {
  readonly socket: TLSSocket
  readonly serverName: string
  /** True when the client was asked for a certificate. */
  readonly askedCertificate: boolean
  /** The client's certificate; '' without one. */
  readonly peerCertificate: PeerCertificate | ''
}

/** Alert `unrecognized_name` (RFC 8446 section 6), fatal, as a record. */
const UNKNOWN_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112])

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
      secureContext: choice.begin,
      ...(name !== '' && { SNICallback: this.byName(choice) }),
    })
    socket.on('error', () => this.fail())
    socket.on('close', () => this.fail())
    socket.on('end', () => this.fail())
    socket.once('secure', () => this.finish(socket, name, choice.askCertificate))
  }

  /** OpenSSL reads the name again, and has the last word: another answer than the one the handshake began with ends it. */
  private byName({ askCertificate }: TlsChoice) {
    return (name: string, answer: (error: Error | null, context?: SecureContext) => void) => {
      const same = this.choose(name.toLowerCase())
      if (same?.askCertificate === askCertificate) answer(null, same.context)
      else answer(new Error('server name changed'))
    }
  }

  private finish(socket: TLSSocket, serverName: string, askedCertificate: boolean): void {
    if (this.over) return
    const certificate = socket.getPeerX509Certificate()
    this.settle({
      socket,
      serverName,
      askedCertificate,
      peerCertificate: certificate === undefined ? '' : peerCertificateOf(certificate),
    })
  }
}
