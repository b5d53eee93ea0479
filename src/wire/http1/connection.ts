import { performance } from 'node:perf_hooks'
import { type Fault, toFault } from '../../errors/fault.ts'
import type { Upstream } from '../connect/upstream.ts'
import type { Secured } from '../listen/handshake.ts'
import { DRAIN_BYTES, HALF_CLOSED_MS, LINGER_MS, MAX_PENDING_BYTES } from '../listen/limits.ts'
import { isPreface, PREFACE_BYTES, REJECTION } from '../listen/preamble.ts'
import { sweep, type Timed } from '../listen/sweep.ts'
import { connectionLine, dateLine, isBodiless, sentStatus, statusLine } from './answer.ts'
import type { ConnectionOwner } from './connection-owner.ts'
import type { CutBy, ExchangeLink, WireExchange } from './exchange.ts'
import { parseRequestHead } from './head.ts'
import { Collector, Discard, RequestIntake } from './intake.ts'
import { Outlet, type RepeatedAnswer, resetSocket } from './outlet.ts'
import type { Accepted } from './read-buffer.ts'
import { REFUSAL } from './refusals.ts'
import { Relay, type RelaySide } from './relay.ts'
import { asksForHead } from './request-line.ts'
import { REFUSED, verdict } from './scan.ts'

/** Characters of a refused request that its answer may depend on. */
const LINE_START = 64
const READING = 0 // waiting for a head, or within one
const HANDLING = 1 // the handler has the exchange
const RELAYING = 2
/** Answered; the rest of the request body is read and thrown away. */
const DRAINING = 3
const TUNNEL = 4
/** Answered for the last time: what still comes is ignored until the client has closed too. */
const CLOSING = 5
const DEAD = 6

/** One connection of a client: reads heads, hands exchanges to the handler, writes answers, in order, one at a time. */
export class HttpConnection<X extends WireExchange> implements Timed, ExchangeLink, RelaySide {
  sweepIndex = -1
  readonly x: X
  readonly accepted: Accepted
  readonly socket: Accepted['socket']
  readonly outlet: Outlet
  private readonly owner: ConnectionOwner<X>
  private readonly intake: RequestIntake
  private readonly relay = new Relay(this)
  private readonly discard: Discard
  private state = READING
  private pumping = false
  private first = true
  private headBegun = false
  /** True while `handle` was called and `done` was not. */
  private exchanging = false
  /** Next deadline of the state it is in, and of a client that does not read; 0 = none. */
  private deadline: number
  private writeDeadline = 0
  private bytesOutBefore = 0

  /** `secured` describes the TLS handshake of the socket; undefined for a plain one. */
  constructor(accepted: Accepted, owner: ConnectionOwner<X>, secured: Secured | undefined) {
    const { socket } = accepted
    const x = owner.handler.make()
    this.accepted = accepted
    this.x = x
    this.socket = socket
    this.outlet = new Outlet(socket)
    this.owner = owner
    x.link = this
    x.peerAddress = accepted.address
    x.secure = secured !== undefined
    x.serverName = secured?.serverName ?? ''
    x.askedCertificate = secured?.askedCertificate ?? false
    x.peerCertificate = secured?.peerCertificate ?? ''
    this.intake = new RequestIntake(x, this.outlet, owner.limits.bodyIdleMs)
    this.discard = new Discard(
      () => this.nextRequest(),
      () => this.close(),
    )
    this.deadline = performance.now() + owner.limits.headTimeoutMs
    sweep.add(this)
    socket.on('end', () => this.onEnd())
    socket.on('drain', () => this.onDrain())
    socket.on('error', () => {}) // `close` follows and tells all we act on
    socket.on('close', () => this.onClose())
    accepted.read((chunk) => this.onData(chunk))
  }

  // --- bytes of the client

  private onData(chunk: Buffer): void {
    if (this.state === TUNNEL) {
      if (!this.relay.tunnelData(chunk)) this.socket.pause()
      return
    }
    if (this.state >= CLOSING) return
    this.intake.push(chunk)
    this.pump()
    this.intake.retain()
  }

  /** Uses what has arrived as far as the state allows; a loop, so that pipelined requests need no recursion. */
  private pump(): void {
    if (this.pumping) return
    const { intake } = this
    this.pumping = true
    while (intake.pending !== undefined && (this.state === READING ? this.readHead() : intake.feed()));
    this.pumping = false
    if (intake.pending === undefined || intake.pending.length <= MAX_PENDING_BYTES || this.state >= CLOSING) return
    if (intake.sink === undefined) this.socket.pause()
  }

  /** Reads the next head. False when it has to wait. */
  private readHead(): boolean {
    if (this.outlet.full) return this.awaitReader()
    const { x, owner, intake } = this
    const chunk = intake.pending!
    const text = chunk.toString('latin1', 0, Math.min(chunk.length, owner.limits.maxHeadBytes + 1))
    if (this.first && isPreface(text)) return this.readPreface(text)
    const end = parseRequestHead(chunk, text, x, owner.limits)
    if (end === REFUSED) return this.refuse(verdict.fault)
    const now = performance.now()
    if (end > 0) {
      intake.skip(end)
      this.begin(now, end)
      return true
    }
    if (!this.headBegun && !this.first) this.deadline = now + owner.limits.headTimeoutMs
    this.headBegun = true
    return false
  }

  /** HTTP/2 with prior knowledge: the one place where the engine of a plain connection is chosen. */
  private readPreface(text: string): false {
    this.headBegun = true
    if (text.length < PREFACE_BYTES) return false
    const bytes = this.intake.pending!
    if (this.owner.speakHttp2 === undefined) {
      this.socket.write(REJECTION)
      this.close()
      return false
    }
    this.state = DEAD
    this.intake.pending = undefined
    sweep.remove(this)
    this.owner.speakHttp2(this, bytes)
    return false
  }

  /** No new request for a client that does not read its answers. */
  private awaitReader(): boolean {
    this.writeStalled()
    this.socket.pause()
    return false
  }

  private begin(now: number, headBytes: number): void {
    const { x } = this
    this.first = false
    this.headBegun = false
    this.deadline = 0
    this.intake.body.start(x.bodyLength)
    x.begin(now, headBytes)
    this.exchanging = true
    this.state = HANDLING
    try {
      this.owner.handler.handle(x)
    } catch (error) {
      this.relayBack(toFault(error))
    }
  }

  // --- what the handler does with an exchange

  reply(status: number, fields: string, body: string | Uint8Array | undefined): void {
    if (this.state === DEAD) this.finishExchange()
    if (this.state !== HANDLING) return
    const { x, outlet } = this
    const keep = this.keeps()
    const head = statusLine(sentStatus(status, fields)) + fields + dateLine()
    const tail = `${connectionLine(x.http11, keep)}\r\n`
    x.status = status
    if (isBodiless(status) || (x.forwarded && x.method === 'HEAD')) {
      x.bytesOut = head.length + tail.length
      outlet.text(head + tail)
    } else x.bytesOut = outlet.answer(head, tail, body ?? '', x.method === 'HEAD')
    this.endAnswer(keep)
  }

  repeat(answer: RepeatedAnswer, extra: string): void {
    if (this.state === DEAD) this.finishExchange()
    if (this.state !== HANDLING) return
    const { x, outlet } = this
    const keep = this.keeps()
    x.status = answer.status
    x.bytesOut = outlet.repeat(answer, extra + connectionLine(x.http11, keep), x.method === 'HEAD')
    this.endAnswer(keep)
  }

  forward(upstream: Upstream, method: string, head: string): void {
    if (this.state === DEAD) this.finishExchange()
    if (this.state !== HANDLING) return
    this.state = RELAYING
    if (this.intake.ended) this.deadline = performance.now() + HALF_CLOSED_MS
    this.relay.begin(upstream, method, head)
  }

  get ended(): boolean {
    return this.intake.ended
  }

  holdBody(bytes: number): boolean {
    return this.owner.handler.holdBody?.(this.x, bytes) ?? true
  }

  readBody(limitBytes: number): Promise<Buffer> {
    const { x, intake } = this
    if (x.body !== undefined) return Promise.resolve(x.body)
    const collector = new Collector(limitBytes, (bytes) => this.holdBody(bytes))
    if (this.state !== HANDLING) collector.bodyFailed(REFUSAL.clientGone)
    else if (limitBytes > 0 && x.bodyLength > limitBytes) collector.bodyFailed(REFUSAL.bodyTooLarge)
    else if (intake.body.finished) collector.bodyPart(Buffer.alloc(0), 0, 0, true)
    else intake.pour(collector)
    return collector.promise.then((body) => {
      x.body = body
      return body
    })
  }

  // --- what the relay asks for

  respond(): string {
    return this.owner.handler.respond(this.x)
  }

  keeps(): boolean {
    const { x, intake } = this
    if (!x.keepAlive || intake.broken || intake.ended || this.owner.draining) return false
    if (intake.body.finished) return true
    return !x.expectContinue && intake.body.remainingLength <= DRAIN_BYTES
  }

  wantBody(): void {
    this.intake.pour(this.relay)
  }

  pauseBody(): void {
    this.intake.deadline = 0
    this.socket.pause()
  }

  resumeBody(): void {
    if (this.intake.sink !== undefined) this.intake.await()
    this.socket.resume()
  }

  writeStalled(): void {
    this.writeDeadline = performance.now() + this.owner.limits.bodyIdleMs
  }

  relayBack(how: Fault | Buffer): void {
    if (this.state === DEAD) return
    this.state = HANDLING
    this.deadline = 0
    this.intake.release()
    try {
      if (how instanceof Error) this.owner.handler.failed(this.x, how)
      else this.owner.handler.held?.(this.x, how)
    } catch {
      this.outlet.destroy() // the handler cannot even say what failed
    }
  }

  relayFinished(keep: boolean): void {
    this.endAnswer(keep)
  }

  relayCut(by: CutBy): void {
    this.x.cutBy = by
    // Without a length only a reset tells the client that the body is not complete.
    if (this.x.http11) this.outlet.destroy()
    else resetSocket(this.socket)
    this.onClose()
  }

  relayTunnel(): void {
    const { intake, socket } = this
    const { pending } = intake
    this.state = TUNNEL
    this.deadline = 0
    this.outlet.flush()
    intake.pending = undefined
    if (pending !== undefined) this.onData(pending)
    if (intake.ended) this.relay.tunnelEnd()
    else if (socket.isPaused()) socket.resume()
  }

  // --- between requests, and the end

  private endAnswer(keep: boolean): void {
    const unread = !this.intake.body.finished
    this.intake.release()
    this.finishExchange()
    if (this.state === DEAD) return
    if (!keep) this.close()
    else if (unread) this.drainBody()
    else this.nextRequest()
  }

  private drainBody(): void {
    this.state = DRAINING
    this.deadline = performance.now() + LINGER_MS
    this.x.bodyLimitBytes = 0
    this.intake.pour(this.discard.start(DRAIN_BYTES))
  }

  private finishExchange(): void {
    if (!this.exchanging) return
    this.exchanging = false
    this.owner.handler.done(this.x)
    this.x.end()
  }

  private nextRequest(): void {
    const { intake, socket, owner } = this
    if (intake.ended || owner.draining) {
      this.close()
      return
    }
    this.state = READING
    this.deadline = performance.now() + owner.limits.keepAliveMs
    if (socket.isPaused()) socket.resume()
    if (intake.pending !== undefined) this.pump()
  }

  /** Answers a head that made no exchange, and closes. */
  private refuse(fault: Fault): false {
    const line = this.intake.pending?.toString('latin1', 0, LINE_START) ?? ''
    const { fields, body } = this.owner.handler.refuse(fault, line)
    const head = statusLine(fault.entry.status) + fields + dateLine()
    this.outlet.answer(head, 'Connection: close\r\n\r\n', body, asksForHead(this.intake.pending))
    this.close()
    return false
  }

  /** Ends our side; what the client had begun to send is let in and ignored, so that it gets to read our answer. */
  private close(): void {
    if (this.state >= CLOSING) return
    this.state = CLOSING
    this.intake.pending = undefined
    this.intake.release()
    this.deadline = performance.now() + LINGER_MS
    this.outlet.end()
    this.socket.resume()
  }

  private onEnd(): void {
    const { intake } = this
    intake.ended = true
    if (this.state === TUNNEL) this.relay.tunnelEnd()
    else if (this.state === READING || this.state === DRAINING) this.close()
    else if (intake.sink !== undefined) this.outlet.destroy()
    else if (this.state === RELAYING || (this.state === HANDLING && this.x.onClientGone !== undefined))
      this.deadline = performance.now() + HALF_CLOSED_MS
  }

  private onDrain(): void {
    this.writeDeadline = 0
    if (this.state === RELAYING || this.state === TUNNEL) this.relay.clientDrained()
    if (this.state !== READING) return
    this.socket.resume()
    this.pump()
  }

  private onClose(): void {
    if (this.state === DEAD) return
    const handling = this.state === HANDLING
    const { sink } = this.intake
    this.state = DEAD
    this.intake.pending = undefined
    this.intake.release()
    sweep.remove(this)
    this.owner.closed(this)
    if (!this.exchanging) return
    this.x.aborted = true
    this.x.cutBy ||= 'client'
    this.relay.dropOrigin()
    // A handler at work still has the exchange in hand: it is done when it answers.
    if (handling) {
      sink?.bodyFailed(REFUSAL.clientGone)
      this.x.onClientGone?.()
    } else this.finishExchange()
  }

  tick(now: number): void {
    const { intake } = this
    if (this.outlet.full && this.writeDeadline === 0) this.writeStalled()
    if (this.writeDeadline !== 0 && now >= this.writeDeadline) this.cut('timeout')
    else if (intake.deadline !== 0 && now >= intake.deadline && this.state !== DRAINING)
      intake.fail(REFUSAL.bodyTimeout)
    else if (this.deadline !== 0 && now >= this.deadline) this.expire(now)
  }

  private expire(now: number): void {
    const progress = this.state === RELAYING && this.x.bytesOut !== this.bytesOutBefore
    this.bytesOutBefore = this.x.bytesOut
    this.deadline = progress ? now + HALF_CLOSED_MS : 0
    if (progress) return
    if (this.state !== READING) this.cut('client')
    else if (this.headBegun) this.refuse(REFUSAL.timeout)
    else this.close()
  }

  /** The listener is being drained: an idle connection ends at once, a busy one after its answer, a WebSocket between two frames. */
  drain(): void {
    // Its first request may be on the way: a client that sees the end instead cannot know that it was not served.
    if (this.state === READING && this.first) this.deadline = Math.min(this.deadline, performance.now() + LINGER_MS)
    else if (this.state === READING && !this.headBegun) this.close()
    else if (this.state === TUNNEL) this.relay.leaveTunnel()
  }

  /** Ends the connection in any state. */
  destroy(): void {
    this.cut('stop')
  }

  cutTunnel(): void {
    if (this.state === TUNNEL) this.cut('revoked')
  }

  private cut(by: CutBy): void {
    this.x.cutBy = by
    this.outlet.cut()
  }
}
