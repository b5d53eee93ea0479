import { performance } from 'node:perf_hooks'
import { type Fault, toFault } from '../../errors/fault.ts'
import type { Upstream } from '../connect/upstream.ts'
import { type Field, KIND } from '../hpack/field.ts'
import { dateLine, isBodiless, sentStatus, statusLine } from '../http1/answer.ts'
import type { CutBy, ExchangeLink, WireExchange, WireHandler } from '../http1/exchange.ts'
import { Collector, Discard } from '../http1/intake.ts'
import type { RepeatedAnswer } from '../http1/outlet.ts'
import { REFUSAL } from '../http1/refusals.ts'
import { Relay, type RelaySide, type TunnelSocket } from '../http1/relay.ts'
import { DRAIN_BYTES, LINGER_MS, type WireLimits } from '../listen/limits.ts'
import { sweep, type Timed } from '../listen/sweep.ts'
import { CODE } from './codes.ts'
import type { GoawayReason } from './goaway.ts'
import { isMalformed, readStreamRequest, requestTrailerLines } from './request-text.ts'
import type { FramedStream, StreamUser } from './stream.ts'
import { StreamIntake } from './stream-intake.ts'
import { StreamOutlet } from './stream-outlet.ts'

/** The connection as a lane sees it. */
export interface LaneOwner<X extends WireExchange> {
  readonly handler: WireHandler<X>
  readonly limits: WireLimits
  /** Stream and exchange are both over: the lane may carry another. */
  free(lane: Lane<X>): void
}

/** Without a stream. */
const FREE = 0
/** The handler has the exchange. */
const HANDLING = 1
const RELAYING = 2
const TUNNEL = 5
/** Answered; what was written still goes out. */
const ANSWERED = 3
/** The stream is gone, the handler still at work. */
const GONE = 4

const NOTHING = Buffer.alloc(0)

/** Carries one request after another of an HTTP/2 connection: each stream has a lane to itself while it lasts. */
export class Lane<X extends WireExchange> implements Timed, ExchangeLink, RelaySide, StreamUser {
  sweepIndex = -1
  /** A stream whose client has ended it is one that waits for its answer. */
  readonly ended = false
  readonly x: X
  /** Carries the bytes of a WebSocket (RFC 8441 section 5). */
  readonly socket: TunnelSocket = {
    write: (bytes) => this.stream?.send(bytes, 0, bytes.length, false) ?? true,
    // A WebSocket whose one side has ended is over: the client need not say so.
    end: () => {
      this.stream?.send(NOTHING, 0, 0, true)
      this.relay.tunnelEnd()
    },
  }
  readonly outlet: StreamOutlet
  private readonly owner: LaneOwner<X>
  private readonly relay = new Relay(this)
  private readonly intake: StreamIntake
  private readonly discard = new Discard(
    () => {},
    () => this.stream?.part(CODE.none),
  )
  private stream: FramedStream | undefined
  private state = FREE
  /** True while `handle` was called and `done` was not. */
  private exchanging = false
  /** True for an extended CONNECT: its bytes are no body. */
  private connects = false
  /** When a client that does not read is given up; 0 = it reads. */
  private writeDeadline = 0
  private sentBefore = 0

  constructor(owner: LaneOwner<X>, x: X) {
    this.owner = owner
    this.x = x
    x.link = this
    x.http2 = true
    this.outlet = new StreamOutlet(x)
    this.intake = new StreamIntake(x, owner.limits.bodyIdleMs)
  }

  /** Takes a stream whose head has come; `ended` = without a body. */
  start(stream: FramedStream, fields: readonly Field[], tooLarge: boolean, ended: boolean): void {
    const { x, owner } = this
    stream.user = this
    this.stream = stream
    this.outlet.stream = stream
    this.writeDeadline = 0
    this.state = ANSWERED
    x.method = ''
    x.requestTrailers = ''
    x.answerTrailers = undefined
    sweep.add(this)
    const refused = tooLarge ? REFUSAL.headTooLarge : readStreamRequest(x, fields, ended, owner.limits)
    this.connects = refused === undefined && x.upgrade !== ''
    this.intake.start(stream, ended || this.connects)
    if (refused === undefined) this.begin(stream)
    else if (isMalformed(refused)) stream.session.streamError(stream.id, CODE.protocol)
    else {
      // Its line may have been refused before its method was read.
      x.method = fields.find(({ kind }) => kind === KIND.method)?.value ?? ''
      this.refuse(refused, `${x.method} ${fields.find(({ kind }) => kind === KIND.path)?.value ?? ''}`)
    }
  }

  private begin(stream: FramedStream): void {
    const { x } = this
    if (x.hasLength) stream.contentLeft = x.bodyLength
    x.begin(performance.now(), x.request.text.length)
    this.exchanging = true
    this.state = HANDLING
    try {
      this.owner.handler.handle(x)
    } catch (error) {
      this.relayBack(toFault(error))
    }
  }

  /** Answers a head that made no exchange. */
  private refuse(fault: Fault, line: string): void {
    const { fields, body } = this.owner.handler.refuse(fault, line)
    this.state = ANSWERED
    this.write(fault.entry.status, fields, Buffer.from(body))
    this.writeStalled()
    this.endUnread()
  }

  // --- what the handler does with an exchange

  reply(status: number, fields: string, body: string | Uint8Array | undefined): void {
    if (this.state === GONE) this.finish()
    if (this.state !== HANDLING) return
    const { x } = this
    const bytes = body === undefined ? undefined : bytesOf(body)
    x.status = status
    // Success would say that the tunnel is open (RFC 9110 section 9.3.6).
    if (this.connects && status < 300) {
      this.cut('upstream', CODE.connect)
      return
    }
    x.bytesOut = this.write(this.connects ? status : sentStatus(status, fields), fields, bytes)
    this.endAnswer()
  }

  private write(status: number, fields: string, body: Buffer | undefined): number {
    const { x } = this
    const bytes = body ?? NOTHING
    const toHead = x.method === 'HEAD'
    // An upstream's answer to HEAD speaks of a body that it does not have.
    const bare = body === undefined || isBodiless(status) || (toHead && x.forwarded)
    const head = statusLine(status) + fields + dateLine() + (bare ? '' : `Content-Length: ${bytes.length}\r\n`)
    const size = bare || toHead ? 0 : bytes.length
    this.outlet.body(head, false, bytes, 0, size, true)
    return head.length + size
  }

  repeat(answer: RepeatedAnswer, extra: string): void {
    if (this.state === GONE) this.finish()
    if (this.state !== HANDLING) return
    const { x } = this
    const bytes = answer.bytes ?? Buffer.from(answer.text, 'latin1')
    const size = x.method === 'HEAD' || isBodiless(answer.status) ? 0 : bytes.length
    const head = answer.head + extra + answer.headEnd
    x.status = answer.status
    x.bytesOut = head.length + size
    this.outlet.body(head, false, bytes, 0, size, true)
    this.endAnswer()
  }

  forward(upstream: Upstream, method: string, head: string): void {
    if (this.state === GONE) this.finish()
    if (this.state !== HANDLING) return
    this.state = RELAYING
    this.relay.begin(upstream, method, head)
  }

  holdBody(bytes: number): boolean {
    return this.owner.handler.holdBody?.(this.x, bytes) ?? true
  }

  readBody(limitBytes: number): Promise<Buffer> {
    const { x } = this
    if (x.body !== undefined) return Promise.resolve(x.body)
    const collector = new Collector(limitBytes, (bytes) => this.holdBody(bytes))
    if (this.state !== HANDLING) collector.bodyFailed(REFUSAL.clientGone)
    else if (limitBytes > 0 && x.bodyLength > limitBytes) collector.bodyFailed(REFUSAL.bodyTooLarge)
    else this.intake.pour(collector)
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
    return true
  }

  wantBody(): void {
    this.intake.pour(this.relay)
  }

  pauseBody(): void {
    this.intake.pause()
  }

  resumeBody(): void {
    if (this.state === TUNNEL) this.stream?.resume()
    else this.intake.resume()
  }

  writeStalled(): void {
    this.writeDeadline = performance.now() + this.owner.limits.bodyIdleMs
  }

  relayBack(how: Fault | Buffer): void {
    if (this.state === GONE || this.state === FREE) return
    this.state = HANDLING
    this.intake.release()
    try {
      if (how instanceof Error) this.owner.handler.failed(this.x, how)
      else this.owner.handler.held?.(this.x, how)
    } catch {
      this.relayCut('upstream') // the handler cannot even say what failed
    }
  }

  relayFinished(): void {
    this.endAnswer()
  }

  relayCut(by: CutBy): void {
    this.cut(by, CODE.internal)
  }

  relayTunnel(): void {
    this.state = TUNNEL
    this.stream?.resume()
  }

  cutTunnel(): void {
    if (this.state === TUNNEL) this.cut('revoked', CODE.cancel)
  }

  /** The connection is being drained: a WebSocket ends between two frames. */
  leaveTunnel(): void {
    if (this.state === TUNNEL) this.relay.leaveTunnel()
  }

  /** Resets the stream, where its answer is not complete. */
  cut(by: CutBy, code: number): void {
    this.x.cutBy = by
    this.stream?.reset(code)
  }

  // --- the end

  private endAnswer(): void {
    this.state = ANSWERED
    this.intake.release()
    this.writeStalled()
    this.finish()
    this.endUnread()
  }

  /** Discards what a client still sends, within bounds; then it gets the end of the stream (RFC 9113 section 8.1). */
  private endUnread(): void {
    const { intake, stream } = this
    if (this.connects) stream?.part(CODE.none)
    if (stream === undefined || intake.finished) return
    this.x.bodyLimitBytes = 0
    intake.pour(this.discard.start(DRAIN_BYTES))
    if (this.stream === stream) intake.awaitFor(LINGER_MS)
  }

  private finish(): void {
    if (!this.exchanging) return
    this.exchanging = false
    this.owner.handler.done(this.x)
    this.x.end()
    if (this.stream === undefined) this.leave()
  }

  // --- what the stream tells

  streamFields(fields: readonly Field[], tooLarge: boolean, last: boolean): boolean {
    const lines = requestTrailerLines(fields)
    if (lines === undefined || tooLarge || !last) return false
    this.x.requestTrailers = lines
    return true
  }

  streamBody(chunk: Buffer, from: number, to: number, last: boolean): void {
    if (this.connects) this.tunnelBody(chunk.subarray(from, to), last)
    else this.intake.take(chunk, from, to, last)
  }

  private tunnelBody(bytes: Buffer, last: boolean): void {
    if (this.state !== TUNNEL) return
    if (bytes.length > 0 && !this.relay.tunnelData(bytes)) this.stream?.pause()
    if (last) this.relay.tunnelEnd()
  }

  streamDrained(): void {
    this.writeDeadline = 0
    if (this.state === RELAYING || this.state === TUNNEL) this.relay.clientDrained()
  }

  streamClosed(stream: FramedStream): void {
    if (stream !== this.stream) return
    this.stream = undefined
    this.outlet.stream = undefined
    // With the last byte of the answer written, the exchange ends as if the stream were still there.
    if (!stream.sentEnd || this.state === TUNNEL) this.lose()
    if (!this.exchanging) this.leave()
  }

  /** The connection is about to be ended because of what the client sent on it. */
  endsBy(reason: GoawayReason): void {
    this.x.goaway = reason
    this.x.cutBy ||= 'goaway'
  }

  /** The stream ended before the exchange did. */
  private lose(): void {
    if (this.state !== HANDLING && this.state !== RELAYING && this.state !== TUNNEL) return
    const handling = this.state === HANDLING
    const { sink } = this.intake
    this.state = GONE
    this.intake.release()
    this.x.aborted = true
    this.x.cutBy ||= 'client'
    this.relay.dropOrigin()
    // A handler at work still has the exchange in hand: it is done when it answers.
    if (handling) {
      sink?.bodyFailed(REFUSAL.clientGone)
      this.x.onClientGone?.()
    } else this.finish()
  }

  private leave(): void {
    if (this.state === FREE) return
    this.state = FREE
    sweep.remove(this)
    this.owner.free(this)
  }

  tick(now: number): void {
    const { intake, stream } = this
    if (stream === undefined) return
    const moved = stream.sentBytes !== this.sentBefore
    this.sentBefore = stream.sentBytes
    if (moved && this.writeDeadline !== 0) this.writeStalled()
    if (this.writeDeadline !== 0 && now >= this.writeDeadline) this.cut('timeout', CODE.cancel)
    // While an answer flows, its own silence is what counts: a stream of answers may have nothing more to ask.
    else if (intake.due(now) && !(this.state === RELAYING && stream.sentHead)) intake.fail(REFUSAL.bodyTimeout)
  }
}

function bytesOf(body: string | Uint8Array): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  return Buffer.from(body.buffer, body.byteOffset, body.length)
}
