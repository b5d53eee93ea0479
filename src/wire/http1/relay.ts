import { hash } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { type Fault, prebuilt, toFault } from '../../errors/fault.ts'
import type { OriginUser } from '../connect/origin.ts'
import type { InterimOutlet, Origin, OriginOutlet } from '../connect/origin-port.ts'
import type { Upstream } from '../connect/upstream.ts'
import { connectionLine, dateLine, isBodiless, lengthLine, statusLine } from './answer.ts'
import { BufferedBody } from './buffered-body.ts'
import type { BodyFilter, CutBy, WireExchange } from './exchange.ts'
import { FIELD, type Fields } from './fields.ts'
import type { BodySink } from './intake.ts'
import { LAST_CHUNK, SMALL_BYTES } from './outlet.ts'
import { keep } from './read-buffer.ts'
import { REFUSAL } from './refusals.ts'
import type { AnswerHead } from './response-head.ts'
import { WebSocketTunnel } from './websocket-tunnel.ts'

/** The client's end of a tunnel: a socket, or a stream of HTTP/2. */
export interface TunnelSocket {
  /** False when it wants to be left alone until `clientDrained`. */
  write(bytes: Buffer): boolean
  end(): void
}

/** The client's connection as a relay uses it. */
export interface RelaySide {
  readonly x: WireExchange
  /** Carries tunnels. */
  readonly socket: TunnelSocket
  readonly outlet: Pick<OriginOutlet, 'body'> & InterimOutlet
  /** The gateway looks at the head of the answer. */
  respond(): string
  /** True when the client's connection can be reused after this response. */
  keeps(): boolean
  /** Reads the request body into the relay from now on, `100 Continue` first where the client waits for it. */
  wantBody(): void
  pauseBody(): void
  resumeBody(): void
  /** The client's socket is full: nothing more is read from the upstream until `clientDrained`. */
  writeStalled(): void
  /** Nothing of an answer was sent, and the gateway decides: why none came, or the whole body of one that is held. */
  relayBack(how: Fault | Buffer): void
  /** The answer is complete. */
  relayFinished(keep: boolean): void
  /** The answer was begun and cannot be completed. */
  relayCut(by: CutBy): void
  /** The connection is a tunnel from now on. */
  relayTunnel(): void
}

/** Methods whose requests may be sent twice (RFC 9110 section 9.2.2). */
export const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
const NOTHING = Buffer.alloc(0)
const BODY_SPENT = prebuilt('internal', 'forwarded again after the body was handed on')
const TOO_LARGE_TO_HOLD = prebuilt('answer_too_large')
/** RFC 6455 section 1.3. */
const KEY_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const WRONG_UPGRADE = prebuilt('upstream_malformed', '101 for another protocol, or none for a WebSocket')

/** Carries the requests of one client connection to upstreams and the answers back, one at a time. */
export class Relay implements OriginUser, BodySink {
  private readonly side: RelaySide
  private origin: Origin | undefined
  private upstream!: Upstream
  /** The request to the upstream. A concatenated text is not read: that would have V8 copy it. */
  private method = ''
  /** Request line and fields as the gateway gave them. */
  private head = ''
  /** Head of the request, or of the answer, until the first body bytes go out with it. */
  private unsent = ''
  private unsentAnswer = ''
  /** The one write that held head and whole body; '' when the request cannot be sent again from it. */
  private onlyWrite = ''
  private requestDone = false
  private answering = false
  private dropBody = false
  private chunked = false
  private keep = false
  private tunnel = false
  private webSocket: WebSocketTunnel | undefined
  private held: BufferedBody | undefined
  private originEnded = false
  private clientEnded = false

  constructor(side: RelaySide) {
    this.side = side
  }

  get x(): WireExchange {
    return this.side.x
  }

  get answer(): Fields {
    return this.side.x.response
  }

  /** Hands the exchange on. */
  begin(upstream: Upstream, method: string, head: string): void {
    const { x } = this.side
    this.upstream = upstream
    this.method = method
    this.head = head
    this.onlyWrite = ''
    this.answering = false
    this.requestDone = false
    this.tunnel = false
    this.unsentAnswer = ''
    x.upstreamAt = performance.now()
    if (!x.bodyUntouched && x.body === undefined) {
      this.side.relayBack(BODY_SPENT)
      return
    }
    if (x.bodyLimitBytes > 0 && x.bodyLength > x.bodyLimitBytes) {
      this.side.relayBack(x.bodyFault ?? REFUSAL.bodyTooLarge)
      return
    }
    const origin = upstream.take(this)
    this.origin = origin
    if (origin.open) this.send(x.upstreamAt)
  }

  originReady(): void {
    const now = performance.now()
    if (this.onlyWrite === '') {
      this.send(now)
      return
    }
    this.ask(now)
    this.origin!.outlet!.text(this.onlyWrite)
    this.origin!.sent(now)
  }

  private ask(now: number): Origin {
    const origin = this.origin!
    origin.ask(this.method === 'HEAD', this.side.x.upgrade !== '', now)
    return origin
  }

  private send(now: number): void {
    const { x } = this.side
    const origin = this.ask(now)
    if (x.body !== undefined) {
      this.sendWhole(origin, x.body, now)
      return
    }
    if (x.bodyLength === 0) {
      this.requestDone = true
      origin.outlet!.text(this.head + bodilessFraming(x))
      origin.sent(now)
      return
    }
    const framing = x.bodyLength < 0 ? 'Transfer-Encoding: chunked' : `Content-Length: ${x.bodyLength}`
    this.unsent = `${this.head}${framing}\r\n\r\n`
    this.side.wantBody()
    if (this.unsent === '' || this.origin !== origin) return
    const head = this.unsent
    this.unsent = ''
    origin.outlet!.text(head)
  }

  private sendWhole(origin: Origin, body: Buffer, now: number): void {
    this.requestDone = true
    // Once, however often it is sent.
    if (this.side.x.bodyUntouched) this.side.x.bodyObserver?.requestPart(body, 0, body.length)
    origin.outlet!.body(`${this.head}Content-Length: ${body.length}\r\n\r\n`, false, body, 0, body.length, true)
    this.side.x.bodyUntouched = false
    origin.sent(now)
  }

  bodyPart(chunk: Buffer, from: number, to: number, last: boolean): void {
    const { origin, side } = this
    if (origin === undefined) return // answered early: the rest is read only to be thrown away
    const { x } = side
    const first = this.unsent
    this.unsent = ''
    const chunked = x.bodyLength < 0
    if (to > from) x.bodyUntouched = false
    x.bodyObserver?.requestPart(chunk, from, to)
    if (first !== '' && last && to - from <= SMALL_BYTES && !origin.framing) {
      this.sendOnce(origin, first, chunk.toString('latin1', from, to), chunked)
      return
    }
    if (!last) origin.bodyContinues?.()
    const ready = origin.outlet!.body(first, chunked, chunk, from, to, last)
    if (last) {
      this.requestDone = true
      origin.sent(performance.now())
    } else if (!ready) {
      side.pauseBody()
      origin.stalled()
    }
  }

  /** Head and whole body in one write, remembered so that it can be repeated on another connection. */
  private sendOnce(origin: Origin, head: string, body: string, chunked: boolean): void {
    const framed = !chunked || body === '' ? body : `${body.length.toString(16)}\r\n${body}\r\n`
    this.onlyWrite = head + framed + (chunked ? LAST_CHUNK : '')
    this.requestDone = true
    origin.outlet!.text(this.onlyWrite)
    origin.sent(performance.now())
  }

  bodyFailed(fault: Fault): void {
    this.dropOrigin()
    if (this.answering) this.side.relayCut('client')
    else this.side.relayBack(fault)
  }

  originDrained(): void {
    if (!this.tunnel && this.requestDone) return
    this.origin?.unstalled()
    this.side.resumeBody()
  }

  /** Sends an interim answer on (RFC 9110 section 15.2), edited as trailers are. HTTP/1.0 knows none. */
  originInterim(status: number): void {
    const { x, outlet } = this.side
    if (!x.http11 || this.answering) return
    const head = `${statusLine(status)}${x.interimLines()}\r\n`
    x.bytesOut += head.length
    if (!outlet.interim(head)) this.side.writeStalled()
  }

  originHead(head: AnswerHead): void {
    const { x } = this.side
    x.upstreamHeadAt = performance.now()
    x.status = head.status
    x.forwarded = true
    const refusesTunnel = x.http2 && x.upgrade !== '' && head.status >= 200 && head.status < 300
    if ((head.status === 101 && !this.upgradeFits()) || refusesTunnel) {
      this.answerFailed(WRONG_UPGRADE, false)
      return
    }
    if (x.holdLimitBytes > 0 && head.status >= x.holdFrom && head.status !== 101) {
      this.held = new BufferedBody(x.holdLimitBytes)
      return
    }
    // An attempt whose answer broke off has left its own.
    x.dropEncoder()
    let extra = ''
    try {
      extra = this.side.respond()
    } catch (error) {
      this.answerFailed(toFault(error), head.status === 304)
      return
    }
    this.answering = true
    if (head.status === 101) this.openTunnel(extra)
    else this.frameAnswer(head, extra)
  }

  /** Parts with an answer that is not wanted. `bodiless`: it is over, and its connection can serve another request. */
  private answerFailed(fault: Fault, bodiless: boolean): void {
    this.held = undefined
    this.side.x.forwarded = false
    if (bodiless) this.origin!.abandon()
    else this.origin!.destroy()
    this.origin = undefined
    this.side.relayBack(fault)
  }

  /** Prepares the head of the answer; it goes out with the first bytes of the body. */
  private frameAnswer(head: AnswerHead, extra: string): void {
    const { x } = this.side
    const bodiless = isBodiless(x.status)
    this.dropBody = bodiless || x.method === 'HEAD'
    this.chunked = false
    this.keep = this.side.keeps()
    const length = x.bodyEncoder === undefined && x.bodyFilter === undefined ? head.length : -1
    let out = statusLine(x.status) + x.response.kept() + extra
    if (!x.response.has(FIELD.date)) out += dateLine()
    if (this.dropBody) {
      if (length >= 0 && (!bodiless || x.status === 304)) out += lengthLine(length)
    } else if (isBodiless(head.status) || this.method === 'HEAD') out += 'Content-Length: 0\r\n'
    else if (length >= 0) out += lengthLine(length)
    else if (x.http11) {
      this.chunked = true
      out += 'Transfer-Encoding: chunked\r\n'
    } else this.keep = false
    this.unsentAnswer = `${out}${connectionLine(x.http11, this.keep)}\r\n`
  }

  originBody(chunk: Buffer, from: number, to: number, finished: boolean): void {
    const { side, held } = this
    if (held !== undefined) {
      if (!held.add(chunk, from, to)) this.answerFailed(TOO_LARGE_TO_HOLD, false)
      else if (finished) this.handBack(held.bytes())
      return
    }
    if (side.x.bodyFilter !== undefined && !this.dropBody) this.filterPart(side.x.bodyFilter, chunk, from, to, finished)
    else this.sendPart(chunk, from, this.dropBody ? from : to, finished)
  }

  private filterPart(filter: BodyFilter, chunk: Buffer, from: number, to: number, finished: boolean): void {
    let part: Buffer
    try {
      part = filter.filter(chunk, from, to, finished)
    } catch (error) {
      if (this.unsentAnswer !== '') {
        this.unsentAnswer = ''
        this.answering = false
        this.answerFailed(toFault(error), false)
        return
      }
      this.dropOrigin()
      this.side.relayCut('upstream')
      return
    }
    if (part.length > 0 || finished || !filter.holdsHead) this.sendPart(part, 0, part.length, finished)
  }

  private sendPart(chunk: Buffer, from: number, end: number, finished: boolean): void {
    const { side } = this
    const { x } = side
    const before = this.unsentAnswer
    this.unsentAnswer = ''
    x.bodyObserver?.answerPart(chunk, from, end)
    x.bodyConsumer?.take(chunk, from, end)
    const encoded = this.dropBody ? undefined : x.bodyEncoder?.encode(chunk, from, end, finished)
    x.bytesOut += before.length + (encoded?.length ?? end - from)
    const ready =
      encoded === undefined
        ? side.outlet.body(before, this.chunked, chunk, from, end, finished)
        : side.outlet.body(before, this.chunked, encoded, 0, encoded.length, finished)
    if (!ready) side.writeStalled()
    if (finished) {
      this.origin = undefined
      this.head = ''
      this.onlyWrite = ''
      side.relayFinished(this.keep)
      return
    }
    if (!ready) this.origin?.pause()
  }

  private handBack(body: Buffer): void {
    this.held = undefined
    this.origin = undefined
    this.head = ''
    this.onlyWrite = ''
    this.side.relayBack(body)
  }

  /** The client's socket takes bytes again. */
  clientDrained(): void {
    this.origin?.resume()
  }

  originFailed(fault: Fault, silent: boolean): void {
    const reused = this.origin !== undefined && this.origin.used > 0
    this.origin = undefined
    this.unsent = ''
    // Of an answer whose first bytes broke off, nothing was sent: there is still one to give.
    if (this.unsentAnswer !== '') this.answering = false
    this.unsentAnswer = ''
    if (this.held !== undefined || !this.answering) this.side.x.forwarded = false
    this.held = undefined
    if (this.answering) {
      this.side.relayCut('upstream')
      return
    }
    if (silent && reused && fault.code !== 'upstream_timeout' && this.mayRepeat()) {
      this.origin = this.upstream.open(this)
      return
    }
    // The upstream has had all of it and may have acted: nobody may send it to another (RFC 9110 section 9.2.2).
    if (this.requestDone && !this.isIdempotent()) this.side.x.bodyUntouched = false
    this.side.relayBack(fault)
  }

  private isIdempotent(): boolean {
    return IDEMPOTENT.has(this.method)
  }

  /**
   * An idle connection that closed under the request, or on which what follows an earlier answer came: it may be sent again when that does no harm and all of it is at hand.
   * Once, because the second connection is a new one.
   */
  private mayRepeat(): boolean {
    const { x } = this.side
    if (!this.isIdempotent()) return false
    return x.body !== undefined || x.bodyLength === 0 || this.onlyWrite !== ''
  }

  /** The client is gone: the upstream is no longer wanted. */
  dropOrigin(): void {
    this.origin?.destroy()
    this.origin = undefined
  }

  private upgradeFits(): boolean {
    const { x } = this.side
    const chosen = x.response.known(FIELD.upgrade)
    if (chosen === undefined || chosen === '' || (x.http2 && !acceptsKey(x))) return false
    return x.upgrade
      .toLowerCase()
      .split(',')
      .some((one) => one.trim() === chosen.toLowerCase())
  }

  private openTunnel(extra: string): void {
    const { x, outlet } = this.side
    this.tunnel = true
    this.webSocket = chosenIsWebSocket(x) ? new WebSocketTunnel() : undefined
    this.originEnded = false
    this.clientEnded = false
    x.status = 101
    // Over HTTP/2 a tunnel opens with 200 (RFC 8441 section 5.1); records keep the status.
    if (x.http2) x.response.drop('sec-websocket-accept')
    const upgrade = x.http2 ? '' : `Connection: Upgrade\r\nUpgrade: ${x.response.known(FIELD.upgrade)}\r\n`
    const head = `${statusLine(x.http2 ? 200 : 101)}${x.response.kept()}${extra}${upgrade}\r\n`
    x.bytesOut += head.length
    outlet.body(head, false, NOTHING, 0, 0, false)
    this.side.relayTunnel()
  }

  originTunnel(received: Buffer): void {
    const chunk = this.webSocket === undefined ? received : this.webSocket.fromUpstream(received)
    if (chunk === undefined) return
    this.side.x.bytesOut += chunk.length
    if (this.side.socket.write(keep(chunk))) return
    this.side.writeStalled()
    this.origin?.pause()
  }

  /** Bytes of the client in a tunnel. Answers false when the client must be paused until `originDrained`. */
  tunnelData(received: Buffer): boolean {
    if (this.origin === undefined) return true
    this.side.x.bytesIn += received.length
    const chunk = this.webSocket === undefined ? received : this.webSocket.fromClient(received)
    this.closeDoneClient()
    if (chunk === undefined) return true
    if (this.origin.socket!.write(keep(chunk))) return true
    this.origin.stalled()
    return false
  }

  /** Ends a WebSocket with Close frames. Other tunnels stay: nothing is known of what they carry. */
  leaveTunnel(): void {
    if (this.webSocket === undefined || this.origin === undefined) return
    const { toClient, toUpstream } = this.webSocket.leave()
    if (toClient !== undefined) this.side.socket.write(toClient)
    if (toUpstream !== undefined) this.origin.socket!.write(toUpstream)
    this.closeDoneClient()
  }

  /** A client that has said its last word waits for the server to close (RFC 6455 section 7.1.1). */
  private closeDoneClient(): void {
    if (this.webSocket?.clientIsDone === true) this.side.socket.end()
  }

  originTunnelEnd(): void {
    this.originEnded = true
    this.side.socket.end()
    if (this.clientEnded) this.endTunnel()
  }

  /** The client sends nothing more on the tunnel; the other way stays open. */
  tunnelEnd(): void {
    this.clientEnded = true
    this.origin?.socket?.end()
    if (this.originEnded) this.endTunnel()
  }

  private endTunnel(): void {
    if (!this.tunnel) return
    this.tunnel = false
    this.origin?.leave()
    this.origin = undefined
    this.side.relayFinished(false)
  }
}

/** The key of a WebSocket over HTTP/2 is the gateway's, which alone can check the answer to it (RFC 6455 section 4.1). */
function acceptsKey({ request, response }: WireExchange): boolean {
  const wanted = hash('sha1', `${request.get('sec-websocket-key')}${KEY_SUFFIX}`, 'base64')
  return response.get('sec-websocket-accept') === wanted
}

function chosenIsWebSocket({ response }: WireExchange): boolean {
  return response.known(FIELD.upgrade)?.toLowerCase() === 'websocket'
}

function bodilessFraming(x: WireExchange): string {
  if (x.upgrade !== '') return `Connection: Upgrade\r\nUpgrade: ${x.upgrade}\r\n\r\n`
  return x.hasLength ? 'Content-Length: 0\r\n\r\n' : '\r\n'
}
