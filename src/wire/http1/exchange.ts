import type { Fault } from '../../errors/fault.ts'
import type { Trailing } from '../connect/origin-port.ts'
import type { Upstream } from '../connect/upstream.ts'
import type { GoawayReason } from '../http2/goaway.ts'
import type { PeerCertificate } from '../listen/peer-certificate.ts'
import { Fields } from './fields.ts'
import type { RepeatedAnswer } from './outlet.ts'

/**
 * Who ended an exchange before its answer was complete: `stop` = this process, at the end of its drain; `timeout` = it, tired of a client that does not read;
 * `revoked` = it, because the key or the API of a tunnel ended; `goaway` = it, because of what the client sent on its connection.
 */
export type CutBy = 'client' | 'upstream' | 'stop' | 'timeout' | 'revoked' | 'goaway'

/** The gateway's handler of a listener's exchanges. One object for all connections. */
export interface WireHandler<X extends WireExchange> {
  /** Makes the exchange that a new connection will reuse for all its requests. */
  make(): X
  /** The head of a request is read and valid. Must lead, now or later, to exactly one `x.reply` or `x.forward`. */
  handle(x: X): void
  /**
   * The head of the final upstream answer is in `x.response` (its hop-by-hop fields dropped) and `x.status`.
   * May drop fields and change `x.status`. Answers more `Name: value\r\n` lines to append.
   */
  respond(x: X): string
  /** `x.forward` could not get an answer head. Must lead to `x.reply` (or another `x.forward` if `x.bodyUntouched`). */
  failed(x: X, fault: Fault): void
  /** The whole answer of an exchange with `holdLimitBytes` is here, its head as for `respond`. Must lead to `x.reply`. */
  held?(x: X, body: Buffer): void
  /**
   * Further bytes of a body that is read into memory: false where it has no room for them, which refuses the request (`busy`). They are
   * in memory until `done`.
   */
  holdBody?(x: X, bytes: number): boolean
  /** The last byte of the answer was handed to the socket, or the connection ended before (`x.aborted`). Once per `handle`. */
  done(x: X): void
  /** A head was refused before there was an exchange to speak of; the wire answers and closes. Gives the body and fields of that answer; `line` is how the request began (`GET /a`), as far as it came. */
  refuse(fault: Fault, line: string): { fields: string; body: string }
  /** An HTTP/2 connection from `address` ends with GOAWAY. */
  goaway?(reason: GoawayReason, address: string): void
}

/** Observes bodies as they pass. Copies what it keeps: the next read overwrites the buffer. */
export interface BodyObserver {
  /** Decoded bytes of the request, as they are handed on. */
  requestPart(chunk: Uint8Array, from: number, to: number): void
  /** Decoded bytes of the upstream's answer, as they are sent to the client. */
  answerPart(chunk: Uint8Array, from: number, to: number): void
}

/** Takes what passes of the upstream's answer for another purpose than to send it. Copies what it keeps. */
export interface BodyConsumer {
  /** Decoded bytes of the body. */
  take(chunk: Buffer, from: number, to: number): void
}

/** The connection of an exchange. */
export interface ExchangeLink {
  /** Whether there is room in memory for further bytes of a body (`WireHandler.holdBody`). */
  holdBody(bytes: number): boolean
  /** The client has closed its sending side. */
  readonly ended: boolean
  reply(status: number, fields: string, body: string | Uint8Array | undefined): void
  repeat(answer: RepeatedAnswer, extra: string): void
  forward(upstream: Upstream, method: string, head: string): void
  readBody(limitBytes: number): Promise<Buffer>
  /** Ends a tunnel; absent where there can be none. */
  cutTunnel?(): void
}

/** Changes a body part by part, and its length: a body that passes one is framed without. */
export interface BodyEncoder {
  /** Encodes these bytes, with the `last` also the end. The buffer is the caller's. */
  encode(chunk: Buffer, from: number, to: number, last: boolean): Buffer
  close(): void
}

/** Changes the body of an answer before anything else sees it; what it lets out is what is kept, recorded and encoded. */
export interface BodyFilter {
  /** True while it is to say whether there will be an answer at all: nothing is sent before it lets something out. */
  readonly holdsHead: boolean
  /** Answers what goes out now. The buffer is the caller's. @throws Fault where there is no going on */
  filter(chunk: Buffer, from: number, to: number, last: boolean): Buffer
}

/**
 * One request and its answer on one connection. Fixed shape, reused: nothing of it may be kept after `done`
 * without copying. The gateway's exchange extends it with its own fields.
 */
export class WireExchange implements Trailing {
  // --- the request head, set before `handle`
  method = ''
  /** Path in normal form (`PathForms`), or `*` for `OPTIONS *` (RFC 9112 section 3.2.4). */
  path = '/'
  /** Path as it was sent, dot segments resolved. The same string as `path` where that is in normal form. */
  sentPath = '/'
  /** Query without its `?`, for rules; '' when there is none. As sent, but for a lone `%` and bytes beyond ASCII, which are escapes. */
  query = ''
  /** Query as it was sent. The same string as `query` where that differs in nothing. */
  sentQuery = ''
  /** True when the target had a `?`, even an empty one. */
  hasQuery = false
  /** Host without port, lower case; '' when there is none (HTTP/1.0). */
  host = ''
  /** The Host field as sent; without one (HTTP/1.0) the authority of a target in absolute form, else ''. */
  authority = ''
  /** True for HTTP/1.1 (and later, 2), false for HTTP/1.0. */
  http11 = true
  readonly request: Fields = new Fields()
  /** Length announced by Content-Length; -1 when chunked; 0 when there is no body. */
  bodyLength = 0
  /** Protocol asked for by `Upgrade` with `Connection: upgrade` on a bodiless HTTP/1.1 request; '' otherwise. */
  upgrade = ''
  /** True when the length came as Content-Length, `0` too. */
  hasLength = false
  /** True when the client waits for `100 Continue`, which the wire sends when the body is first wanted. */
  expectContinue = false
  /** True when the client is ready for another request on this connection. */
  keepAlive = true

  // --- the connection
  /** True for a stream of HTTP/2. */
  http2 = false
  secure = false
  /** Address of the peer of the socket. */
  peerAddress = ''
  /** True when TLS asked the client for a certificate. */
  askedCertificate = false
  /** The client certificate; '' without one. */
  peerCertificate: PeerCertificate | '' = ''
  /** Name that TLS was opened with (SNI), lower case; '' without TLS or without a name. */
  serverName = ''
  /** The connection; undefined for an exchange made by hand (explain, tests), whose `reply` only sets `status`. */
  link: ExchangeLink | undefined

  // --- settings for this request, from the gateway
  /** Largest body that is let through; 0 = no bound. Exceeding it while streaming ends the exchange with `bodyFault`. */
  bodyLimitBytes = 0
  bodyFault: Fault | undefined
  /** The whole body once `readBody` has it. `forward` sends this, not what came; the gateway may put another in its place. */
  body: Buffer | undefined
  /** Largest body of an answer that is read whole and given to `held`, of which nothing is sent yet; 0 = answers stream. */
  holdLimitBytes = 0
  /** Least status of the answers that `holdLimitBytes` is for. */
  holdFrom = 0
  /** Who looks at the bodies of this exchange; forgotten at its end. */
  bodyObserver: BodyObserver | undefined
  /** Trailer lines of the request, from one HTTP/2 side to the other. */
  requestTrailers = ''
  /** Trailer lines of the answer; undefined when none can come. */
  answerTrailers: string | undefined
  /** Who keeps the upstream's answer; forgotten at the end of the exchange. */
  bodyConsumer: BodyConsumer | undefined
  /** Changes the body of the answer on its way to the client; closed at the end of the exchange. */
  bodyEncoder: BodyEncoder | undefined
  /** Changes the body of the answer, and its length; forgotten at the end of the exchange. */
  bodyFilter: BodyFilter | undefined
  /** Called once when the client leaves while the handler has the exchange; forgotten at its end. */
  onClientGone: (() => void) | undefined

  // --- the answer
  status = 0
  readonly response: Fields = new Fields()
  /**
   * True when another upstream may be tried: no byte of the request body has been handed on, and nothing at all of a
   * request that may not be sent twice.
   */
  bodyUntouched = true
  /** True when the client went away, or the answer was cut, before its end. */
  aborted = false
  /** Who ended it then. */
  cutBy: CutBy | '' = ''
  /** Why the connection was ended under it by GOAWAY; '' = it was not. */
  goaway: GoawayReason | '' = ''
  /** True when `status` came from the upstream. */
  forwarded = false

  // --- times, milliseconds of performance.now()
  startedAt = 0
  /** When the upstream was asked; 0 = never. */
  upstreamAt = 0
  /** When the head of its answer had arrived; 0 = never. */
  upstreamHeadAt = 0
  bytesIn = 0
  bytesOut = 0

  /** A valid head of `headBytes` has been read into this exchange: forgets what the last request left. For the wire alone. */
  begin(now: number, headBytes: number): void {
    this.startedAt = now
    this.upstreamAt = 0
    this.upstreamHeadAt = 0
    this.bytesIn = headBytes
    this.bytesOut = 0
    this.status = 0
    this.forwarded = false
    this.aborted = false
    this.cutBy = ''
    this.goaway = ''
    this.bodyUntouched = true
    this.bodyLimitBytes = 0
    this.bodyFault = undefined
    this.body = undefined
    this.holdLimitBytes = 0
    this.holdFrom = 0
  }

  /** Closes the encoder of an answer: it is not for another one. For the wire only. */
  dropEncoder(): void {
    this.bodyEncoder?.close()
    this.bodyEncoder = undefined
  }

  /** The exchange is over: releases its texts, so that an idle connection does not retain a head or slices of it. For the wire only. */
  end(): void {
    this.path = '/'
    this.sentPath = '/'
    this.query = ''
    this.sentQuery = ''
    this.host = ''
    this.authority = ''
    this.upgrade = ''
    this.bodyFault = undefined
    this.body = undefined
    this.bodyObserver = undefined
    this.bodyConsumer = undefined
    this.bodyFilter = undefined
    this.dropEncoder()
    this.onClientGone = undefined
    this.request.clear('')
    this.response.clear('')
  }

  forwardedTrailers(): string {
    return this.requestTrailers
  }

  /** The fields of the interim answer in `response` that are sent on. */
  interimLines(): string {
    return this.response.kept()
  }

  answeredTrailers(): string {
    return this.answerTrailers ?? ''
  }

  /**
   * Answers in full. `fields` are `Name: value\r\n` lines without Content-Length, Connection and Date, which the wire adds.
   * A request body not read yet is read to its end and thrown away within bounds, else the connection closes after the answer.
   * Does nothing when the client is gone.
   */
  reply(status: number, fields: string, body: string | Uint8Array | undefined): void {
    if (this.link === undefined) this.status = status
    else this.link.reply(status, fields, body)
  }

  /** Answers as before: `extra` are `Name: value\r\n` lines that belong to this request. Does nothing when the client is gone. */
  repeat(answer: RepeatedAnswer, extra: string): void {
    if (this.link === undefined) this.status = answer.status
    else this.link.repeat(answer, extra)
  }

  /**
   * Hands the request on. `head` is request line (which asks with `method`), Host and fields, each line ended by CRLF, without
   * framing and without the empty line: the wire adds Content-Length or Transfer-Encoding, Connection and Upgrade, streams the
   * body with back-pressure, calls `respond` or `failed`, streams the answer back, and `done`.
   */
  forward(upstream: Upstream, method: string, head: string): void {
    this.link?.forward(upstream, method, head)
  }

  /** Counts bytes that a body takes in memory besides those that came; false where there is no room for them. */
  holdBody(bytes: number): boolean {
    return this.link?.holdBody(bytes) ?? true
  }

  /** True once the client has closed its side of the connection: most have left then, and none sends anything more. */
  get callerEnded(): boolean {
    return this.link?.ended ?? false
  }

  /**
   * Reads the whole body, and keeps it in `body`.
   * @throws Fault `body_too_large` over `limitBytes` (0 = no bound), `client_gone` when the client ends early,
   * `request_timeout` when it stops sending, `request_malformed` when its chunks are; all but the first are answered by closing
   */
  readBody(limitBytes: number): Promise<Buffer> {
    if (this.link === undefined) return Promise.resolve(this.body ?? Buffer.alloc(0))
    return this.link.readBody(limitBytes)
  }
}
