import { connect as connectTcp, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { connect as connectTls, type SecureContext, TLSSocket } from 'node:tls'
import { type Fault, prebuilt, toFault } from '../../errors/fault.ts'
import { isPinned, type OriginUser } from '../connect/origin.ts'
import type { Origin } from '../connect/origin-port.ts'
import { secureOptions, Upstream, type UpstreamOptions } from '../connect/upstream.ts'
import { readInto } from '../http1/read-buffer.ts'
import { NO_DESCRIPTORS } from '../listen/connection-limit.ts'
import { sweep, type Timed } from '../listen/sweep.ts'
import { Link, type LinkPool } from './link.ts'
import { Http2Origin, type Http2OriginPool } from './origin.ts'
import { UnnegotiatedOrigin } from './unnegotiated-origin.ts'

const WRONG_PIN = prebuilt('upstream_pin_mismatch', 'the public key of the upstream is none of the pinned ones')

/** How dialling ends, once: with a session that is ready, an upstream of TLS that chose HTTP/1.1, or neither. */
interface Dialled extends Omit<LinkPool, 'ready'> {
  ready(link: Link): void
  http11(): void
  failed(fault: Fault): void
}

/** Sessions at once: requests beyond their streams wait. */
const MAX_SESSIONS = 32
/** How long an upstream that chose HTTP/1.1 is taken to speak only that. */
const HTTP11_FOR_MS = 600_000

const NOT_HTTP2 = prebuilt('upstream_unreachable', 'the upstream speaks HTTP/2 no more')

/**
 * An origin server that is asked over HTTP/2: with prior knowledge when it is plain (RFC 9113 section 3.3), by ALPN over TLS.
 * One that chooses HTTP/1.1 there is asked over that.
 */
export class Http2Upstream extends Upstream implements Timed {
  sweepIndex = -1
  private readonly requests: Http2OriginPool
  private readonly links: Link[] = []
  private readonly queue: Http2Origin[] = []
  private readonly undecided: UnnegotiatedOrigin[] = []
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
      left: (link) => this.left(link),
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
    const origin = new UnnegotiatedOrigin(user)
    this.undecided.push(origin)
    this.dial()
    return origin
  }

  private place(origin: Http2Origin, tell: boolean): void {
    const link = this.free()
    if (link === undefined) {
      this.queue.push(origin)
      origin.await()
      this.dial()
      return
    }
    origin.attach(link, tell)
  }

  /** A link on which a place was taken. */
  private free(): Link | undefined {
    for (let i = 0; i < this.links.length; i++) if (this.links[i]!.place()) return this.links[i]
    return undefined
  }

  private left(link: Link): void {
    link.left(this.ended ? 0 : this.options.idleKeepMs)
    if (this.queue.length > 0) this.serveQueue()
  }

  private serveQueue(): void {
    while (this.queue.length > 0) {
      if (!this.queue[0]!.wanted) {
        this.queue.shift()
        continue
      }
      const link = this.free()
      if (link === undefined) {
        this.dial()
        return
      }
      this.queue.shift()!.attach(link, true)
    }
  }

  tick(now: number): void {
    for (const link of [...this.links]) link.check(now)
  }

  override close(): void {
    super.close()
    this.ended = true
    for (const link of [...this.links]) link.session.endDrain()
  }

  // --- connections

  private dial(): void {
    if (this.dialling || this.links.length >= MAX_SESSIONS) return
    this.dialling = true
    const { identity } = this.options
    if (identity === undefined) this.dialAs(undefined)
    else
      identity().then(
        (context) => this.dialAs(context),
        (error) => this.dialFailed(toFault(error)),
      )
  }

  private dialAs(context: SecureContext | undefined): void {
    const handlers: Dialled = {
      ready: (link) => this.use(link),
      http11: () => this.chosenHttp11(),
      failed: (fault) => this.dialFailed(fault),
      roomier: () => this.serveQueue(),
      gone: (link) => this.drop(link),
    }
    dial(this.options, context, handlers)
  }

  private chosenHttp11(): void {
    this.dialling = false
    this.speaks = 'http/1.1'
    this.http11Until = performance.now() + HTTP11_FOR_MS
    for (const origin of this.undecided.splice(0)) origin.decide((user) => super.open(user))
    for (const origin of this.queue.splice(0)) origin.fail(NOT_HTTP2)
  }

  private use(link: Link): void {
    this.dialling = false
    this.speaks = 'h2'
    this.links.push(link)
    sweep.add(this)
    for (const origin of this.undecided.splice(0)) origin.decide((user) => this.request(user))
    this.serveQueue()
    link.rest(this.ended ? 0 : this.options.idleKeepMs)
  }

  /** No more streams on this link. */
  private drop(link: Link): void {
    const at = this.links.indexOf(link)
    if (at >= 0) this.links.splice(at, 1)
    if (this.links.length === 0) sweep.remove(this)
    if (this.queue.length > 0) this.dial()
  }

  private dialFailed(fault: Fault): void {
    this.dialling = false
    for (const origin of this.undecided.splice(0)) origin.fail(fault)
    for (const origin of this.queue.splice(0)) origin.fail(fault)
  }
}

/** Opens a session to an upstream. Nothing is asked before the upstream has said how many streams it takes. */
function dial(options: UpstreamOptions, context: SecureContext | undefined, handlers: Dialled): void {
  const { host, port, secure, connectTimeoutMs, pins, sockets } = options
  if (sockets?.take() === false) {
    sockets.giveBack()
    queueMicrotask(() => handlers.failed(NO_DESCRIPTORS))
    return
  }
  let link: Link | undefined
  let settled = false
  let error: NodeJS.ErrnoException | undefined
  const take = (bytes: Buffer) => link?.session.push(bytes)
  const onread = secure ? undefined : readInto(take)
  const basic = { host, port, noDelay: true, keepAlive: true, ...(onread === undefined ? {} : { onread }) }
  const socket: Socket = secure
    ? connectTls({ ...basic, ...secureOptions(options, context), ALPNProtocols: ['h2', 'http/1.1'] })
    : connectTcp(basic)
  const timer = setTimeout(() => socket.destroy(timedOut()), connectTimeoutMs)
  const settle = (then: () => void) => {
    if (settled) return
    settled = true
    clearTimeout(timer)
    then()
  }
  socket.on('error', (reason) => {
    error = reason
  })
  socket.on('close', () => {
    sockets?.giveBack()
    settle(() => handlers.failed(faultOf(error)))
  })
  socket.once(secure ? 'secureConnect' : 'connect', () => {
    if (pins !== undefined && socket instanceof TLSSocket && !isPinned(socket, pins)) {
      settle(() => handlers.failed(WRONG_PIN))
      socket.destroy()
      return
    }
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
      settle(() => handlers.http11())
      socket.destroy()
      return
    }
    link = new Link(socket, options, {
      roomier: () => handlers.roomier(),
      ready: (ready) => settle(() => handlers.ready(ready)),
      gone: (gone) => {
        handlers.gone(gone)
        if (!settled) socket.destroy()
      },
    })
    if (onread === undefined) socket.on('data', take)
  })
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
