import { type ClientHttp2Session, connect } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { connect as connectTls, type SecureContext, TLSSocket } from 'node:tls'
import { type Fault, prebuilt, toFault } from '../../errors/fault.ts'
import type { OriginUser } from '../origin.ts'
import type { Origin } from '../origin-port.ts'
import { isPinned } from '../pins.ts'
import { sweep, type Timed } from '../sweep.ts'
import { secureOptions, Upstream, type UpstreamOptions } from '../upstream.ts'
import { Http2Origin, type Http2OriginPool } from './origin.ts'
import { Undecided } from './undecided.ts'

/** Streams at once on one session, where the upstream allows them. */
const MAX_STREAMS = 100
/** Sessions at once: requests beyond their streams wait. */
const MAX_SESSIONS = 32
/** Bytes that an upstream may send on one stream, and on all of a session, before they are read. */
const STREAM_WINDOW_BYTES = 262_144
const SESSION_WINDOW_BYTES = 1_048_576
/** How long an upstream that chose HTTP/1.1 is taken to speak only that. */
const HTTP11_FOR_MS = 600_000

/** Repeated fields pass as they do in HTTP/1.1. Node takes this for clients too, its types do not say so. */
const AS_SENT: object = { strictSingleValueFields: false }

const WRONG_PIN = prebuilt('upstream_pin_mismatch', 'the public key of the upstream is none of the pinned ones')
const NOT_HTTP2 = prebuilt('upstream_unreachable', 'the upstream speaks HTTP/2 no more')

/** An open session, and how many streams it carries. */
interface Held {
  readonly session: ClientHttp2Session
  streams: number
  /** When it is closed for want of use; 0 = in use. */
  idleUntil: number
}

/**
 * An origin server that is asked over HTTP/2: with prior knowledge when it is plain (RFC 9113 section 3.3), by ALPN over TLS.
 * One that chooses HTTP/1.1 there is asked over that.
 */
export class Http2Upstream extends Upstream implements Timed {
  sweepIndex = -1
  private readonly requests: Http2OriginPool
  private readonly sessions: Held[] = []
  private readonly queue: Http2Origin[] = []
  private readonly undecided: Undecided[] = []
  private dialling = false
  private ended = false
  private speaks: 'http/1.1' | 'h2' | undefined
  private http11Until = 0

  constructor(options: UpstreamOptions) {
    super(options)
    this.speaks = options.secure ? undefined : 'h2'
    this.requests = {
      ...options,
      place: (origin, tell) => this.place(origin, tell),
      left: (session) => this.left(session),
    }
  }

  override take(user: OriginUser): Origin {
    if (this.speaks === 'http/1.1' && performance.now() >= this.http11Until) this.speaks = undefined
    if (this.speaks === 'http/1.1') return super.take(user)
    if (this.speaks === undefined) return this.decideLater(user)
    return this.request(user)
  }

  override open(user: OriginUser): Origin {
    if (this.speaks === 'http/1.1') return super.open(user)
    const origin = this.take(user)
    if (origin.open) queueMicrotask(() => user.originReady())
    return origin
  }

  private request(user: OriginUser): Http2Origin {
    const origin = new Http2Origin(this.requests, user)
    this.place(origin, false)
    return origin
  }

  private decideLater(user: OriginUser): Origin {
    const origin = new Undecided(user)
    this.undecided.push(origin)
    this.dial()
    return origin
  }

  private place(origin: Http2Origin, tell: boolean): void {
    const held = this.sessions.find((one) => one.streams < room(one.session))
    if (held === undefined) {
      this.queue.push(origin)
      origin.await()
      this.dial()
      return
    }
    held.streams++
    held.idleUntil = 0
    origin.attach(held.session, tell)
  }

  private left(session: ClientHttp2Session): void {
    const held = this.sessions.find((one) => one.session === session)
    if (held === undefined) return
    held.streams--
    if (held.streams === 0) this.rest(held)
    this.serveQueue()
  }

  private rest(held: Held): void {
    const { idleKeepMs } = this.options
    if (this.ended || idleKeepMs === 0) held.session.close()
    else held.idleUntil = performance.now() + idleKeepMs
  }

  private serveQueue(): void {
    while (this.queue.length > 0) {
      const held = this.sessions.find((one) => one.streams < room(one.session))
      if (held === undefined) {
        this.dial()
        return
      }
      const origin = this.queue.shift()!
      if (!origin.wanted) continue
      held.streams++
      held.idleUntil = 0
      origin.attach(held.session, true)
    }
  }

  tick(now: number): void {
    for (const held of this.sessions) if (held.idleUntil !== 0 && now >= held.idleUntil) held.session.close()
  }

  override close(): void {
    super.close()
    this.ended = true
    for (const { session } of this.sessions) session.close()
  }

  // --- connections

  private dial(): void {
    if (this.dialling || this.sessions.length >= MAX_SESSIONS) return
    this.dialling = true
    const { identity } = this.options
    if (identity === undefined) this.dialAs(undefined)
    else
      identity().then(
        (context) => this.dialAs(context),
        (error) => this.notDialled(toFault(error)),
      )
  }

  private notDialled(fault: Fault): void {
    this.dialling = false
    this.dialFailed(fault)
  }

  private dialAs(context: SecureContext | undefined): void {
    const { host, port, secure, connectTimeoutMs, pins } = this.options
    const basic = { host, port, noDelay: true, keepAlive: true }
    const socket = secure
      ? connectTls({ ...basic, ...secureOptions(this.options, context), ALPNProtocols: ['h2', 'http/1.1'] })
      : connectTcp(basic)
    const timer = setTimeout(() => socket.destroy(timedOut()), connectTimeoutMs)
    let error: NodeJS.ErrnoException | undefined
    const settle = (then: () => void) => {
      clearTimeout(timer)
      socket.off('close', lost)
      this.dialling = false
      then()
    }
    const lost = () => settle(() => this.dialFailed(faultOf(error)))
    socket.on('error', (reason) => {
      error = reason
    })
    socket.on('close', lost)
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      if (pins !== undefined && socket instanceof TLSSocket && !isPinned(socket, pins)) {
        settle(() => this.dialFailed(WRONG_PIN))
        socket.destroy()
        return
      }
      if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') settle(() => this.chosenHttp11(socket))
      else this.openSession(socket, settle)
    })
  }

  private chosenHttp11(socket: Socket): void {
    socket.destroy()
    this.speaks = 'http/1.1'
    this.http11Until = performance.now() + HTTP11_FOR_MS
    for (const origin of this.undecided.splice(0)) origin.decide((user) => super.open(user))
    for (const origin of this.queue.splice(0)) origin.fail(NOT_HTTP2)
  }

  /** Nothing is asked before the upstream has said how many streams it takes. */
  private openSession(socket: Socket, settle: (then: () => void) => void): void {
    const session = connect(this.options.secure ? 'https://upstream' : 'http://upstream', {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      ...AS_SENT,
    })
    session.setLocalWindowSize(SESSION_WINDOW_BYTES)
    session.on('error', () => {}) // `close` follows
    session.on('goaway', () => this.drop(session))
    session.on('close', () => this.drop(session))
    session.once('remoteSettings', () => settle(() => this.use(session)))
    session.on('remoteSettings', () => this.serveQueue())
  }

  private use(session: ClientHttp2Session): void {
    this.speaks = 'h2'
    const held: Held = { session, streams: 0, idleUntil: 0 }
    this.sessions.push(held)
    sweep.add(this)
    for (const origin of this.undecided.splice(0)) origin.decide((user) => this.request(user))
    this.serveQueue()
    if (held.streams === 0) this.rest(held)
  }

  /** No more streams on this session. */
  private drop(session: ClientHttp2Session): void {
    const at = this.sessions.findIndex((one) => one.session === session)
    if (at >= 0) this.sessions.splice(at, 1)
    if (this.sessions.length === 0) sweep.remove(this)
    if (this.queue.length > 0) this.dial()
  }

  private dialFailed(fault: Fault): void {
    for (const origin of this.undecided.splice(0)) origin.fail(fault)
    for (const origin of this.queue.splice(0)) origin.fail(fault)
  }
}

/** Streams that a session may carry at once; none once it takes no more. */
function room(session: ClientHttp2Session): number {
  if (session.closed || session.destroyed) return 0
  return Math.min(MAX_STREAMS, session.remoteSettings.maxConcurrentStreams ?? MAX_STREAMS)
}

function timedOut(): NodeJS.ErrnoException {
  return Object.assign(new Error('connecting'), { code: 'ETIMEDOUT' })
}

function faultOf(error: NodeJS.ErrnoException | undefined): Fault {
  const code = error?.code ?? 'closed while connecting'
  if (code === 'ETIMEDOUT') return prebuilt('upstream_timeout', 'connecting')
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return prebuilt('upstream_unresolved', code)
  return prebuilt('upstream_unreachable', code)
}
