import type { Fault } from '../errors/fault.ts'
import { Fields } from './fields.ts'
import type { Upstream } from './upstream.ts'

/** What the gateway does with the exchanges of a listener. One object for all connections. */
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
  /** The last byte of the answer was handed to the socket, or the connection ended before (`x.aborted`). Once per `handle`. */
  done(x: X): void
  /** A head was refused before there was an exchange to speak of; the wire answers and closes. Gives the body and fields of that answer. */
  refuse(fault: Fault): { fields: string; body: string }
}

/**
 * One request and its answer on one connection. Fixed shape, reused: nothing of it may be kept after `done`
 * without copying. The gateway's exchange extends it with its own fields.
 */
export class WireExchange {
  // --- the request head, set before `handle`
  method = ''
  /** Normalised path: begins with `/`, dot segments and doubled slashes resolved, unreserved characters decoded, other escapes in upper case. */
  path = '/'
  /** Query without its `?`; '' when there is none. Valid characters only, otherwise as sent. */
  query = ''
  /** True when the target had a `?`, even an empty one. */
  hasQuery = false
  /** Host without port, lower case; '' when there is none (HTTP/1.0). */
  host = ''
  /** The Host field as sent. */
  authority = ''
  /** True for HTTP/1.1 (and later, 2), false for HTTP/1.0. */
  http11 = true
  readonly request: Fields = new Fields()
  /** Length announced by Content-Length; -1 when chunked; 0 when there is no body. */
  bodyLength = 0
  /** Protocol asked for by `Upgrade` with `Connection: upgrade` on a bodiless HTTP/1.1 request; '' otherwise. */
  upgrade = ''

  // --- the connection
  secure = false
  /** Address of the peer of the socket. */
  peerAddress = ''
  /** SHA-256 (hex) of the client certificate that TLS verified possession of; '' without one. */
  peerCertificate = ''

  // --- settings for this request, from the gateway
  /** Largest body that is let through; 0 = no bound. Exceeding it while streaming ends the exchange with `bodyFault`. */
  bodyLimitBytes = 0
  bodyFault: Fault | undefined

  // --- the answer
  status = 0
  readonly response: Fields = new Fields()
  /** True when no byte of the request body has been handed on, so that another upstream may be tried. */
  bodyUntouched = true
  /** True when the client went away, or the answer was cut, before its end. */
  aborted = false
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

  /**
   * Answers in full. `fields` are `Name: value\r\n` lines without Content-Length, Connection and Date, which the wire adds.
   * A request body not read yet is read to its end and thrown away within bounds, else the connection closes after the answer.
   */
  reply(_status: number, _fields: string, _body: string | Uint8Array | undefined): void {
    throw new Error('wire: to be written')
  }

  /**
   * Hands the request on. `head` is request line, Host and fields, each line ended by CRLF, without framing and without the
   * empty line: the wire adds Content-Length or Transfer-Encoding, streams the body with back-pressure, calls
   * `respond` or `failed`, streams the answer back, and `done`.
   */
  forward(_upstream: Upstream, _head: string): void {
    throw new Error('wire: to be written')
  }

  /** Reads the whole body. @throws Fault `body_too_large` over `limitBytes`, `client_gone` when the client ends early */
  readBody(_limitBytes: number): Promise<Buffer> {
    throw new Error('wire: to be written')
  }
}
