import { constants, type ServerHttp2Stream } from 'node:http2'
import { performance } from 'node:perf_hooks'
import { type Fault, toFault } from '../../errors/fault.ts'
import { dateLine, isBodiless, statusLine } from '../answer.ts'
import type { ExchangeLink, WireExchange, WireHandler } from '../exchange.ts'
import { Collector, Discard } from '../intake.ts'
import { DRAIN_BYTES, LINGER_MS, type WireLimits } from '../limits.ts'
import { REFUSAL } from '../refusals.ts'
import { Relay, type RelaySide } from '../relay.ts'
import type { RepeatedAnswer } from '../repeated-answer.ts'
import { sweep, type Timed } from '../sweep.ts'
import type { Upstream } from '../upstream.ts'
import { readRequest } from './request-text.ts'
import { StreamIntake } from './stream-intake.ts'
import { StreamOutlet } from './stream-outlet.ts'

/** What a lane needs to know of its connection, and tells it. */
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
/** Answered; what was written still goes out. */
const ANSWERED = 3
/** The stream is gone, the handler still at work. */
const GONE = 4

const NOTHING = Buffer.alloc(0)
/** How the answers of gRPC begin that are trailers alone. */
const GRPC_ANSWER = 'Content-Type: application/grpc\r\n'
const { NGHTTP2_NO_ERROR, NGHTTP2_INTERNAL_ERROR, NGHTTP2_CANCEL } = constants

/** Carries one request after another of an HTTP/2 connection: each stream has a lane to itself while it lasts. */
export class Lane<X extends WireExchange> implements Timed, ExchangeLink, RelaySide {
  sweepIndex = -1
  readonly x: X
  readonly socket = undefined
  readonly outlet: StreamOutlet
  private readonly owner: LaneOwner<X>
  private readonly relay = new Relay(this)
  private readonly intake: StreamIntake
  private readonly discard = new Discard(
    () => {},
    () => this.stream?.close(NGHTTP2_NO_ERROR),
  )
  private stream: ServerHttp2Stream | undefined
  private state = FREE
  /** True while `handle` was called and `done` was not. */
  private exchanging = false
  /** When a client that does not read is given up; 0 = it reads. */
  private writeDeadline = 0

  constructor(owner: LaneOwner<X>, x: X) {
    this.owner = owner
    this.x = x
    x.link = this
    x.http2 = true
    this.outlet = new StreamOutlet(x, () => this.endUnread())
    this.intake = new StreamIntake(x, owner.limits.bodyIdleMs)
  }

  /** Takes a stream whose head has come; `ended` = without a body. */
  start(stream: ServerHttp2Stream, rawHeaders: readonly string[], ended: boolean): void {
    const { x, owner } = this
    this.stream = stream
    this.outlet.stream = stream
    this.outlet.trailing = false
    this.writeDeadline = 0
    x.method = ''
    x.requestTrailers = ''
    x.answerTrailers = undefined
    this.intake.start(stream, ended)
    stream.on('drain', () => this.drained(stream))
    stream.on('aborted', () => this.lose(stream))
    stream.on('close', () => this.closed(stream))
    sweep.add(this)
    const refused = readRequest(x, rawHeaders, ended, owner.limits)
    if (refused === undefined) this.begin()
    else this.refuse(refused)
  }

  private begin(): void {
    const { x } = this
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
  private refuse(fault: Fault): void {
    const { fields, body } = this.owner.handler.refuse(fault)
    this.state = ANSWERED
    this.write(fault.entry.status, fields, Buffer.from(body))
    this.endUnread()
  }

  // --- what the handler does with an exchange

  reply(status: number, fields: string, body: string | Uint8Array | undefined): void {
    if (this.state === GONE) this.finish()
    if (this.state !== HANDLING) return
    const { x } = this
    const bytes = body === undefined ? undefined : bytesOf(body)
    x.status = status
    // To callers of gRPC every answer is 200 and says in its trailers what became of the call; records keep the status.
    x.bytesOut = this.write(fields.startsWith(GRPC_ANSWER) ? 200 : status, fields, bytes)
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

  forward(upstream: Upstream, head: string): void {
    if (this.state === GONE) this.finish()
    if (this.state !== HANDLING) return
    this.state = RELAYING
    this.relay.begin(upstream, head)
  }

  readBody(limitBytes: number): Promise<Buffer> {
    const { x } = this
    if (x.body !== undefined) return Promise.resolve(x.body)
    const collector = new Collector(limitBytes)
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
    this.intake.resume()
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
      this.relayCut() // the handler cannot even say what failed
    }
  }

  relayFinished(): void {
    this.endAnswer()
  }

  relayCut(): void {
    const { stream } = this
    stream?.close(NGHTTP2_INTERNAL_ERROR)
    if (stream !== undefined) this.lose(stream)
  }

  relayTunnel(): void {
    this.relayCut()
  }

  // --- the end

  private endAnswer(): void {
    this.state = ANSWERED
    this.intake.release()
    this.writeStalled()
    this.finish()
    if (!this.outlet.trailing) this.endUnread()
  }

  /** What a client still sends is thrown away within bounds; then it is told that all was said (RFC 9113 section 8.1). */
  private endUnread(): void {
    const { intake, stream } = this
    if (stream === undefined || stream.destroyed || intake.finished) return
    this.x.bodyLimitBytes = 0
    intake.pour(this.discard.start(DRAIN_BYTES))
    intake.awaitFor(LINGER_MS)
  }

  private finish(): void {
    if (!this.exchanging) return
    this.exchanging = false
    this.owner.handler.done(this.x)
    this.x.end()
    if (this.state === GONE) this.leave()
  }

  private drained(stream: ServerHttp2Stream): void {
    if (stream !== this.stream) return
    this.writeDeadline = 0
    if (this.state === RELAYING) this.relay.clientDrained()
  }

  /** The stream ended before the exchange did. */
  private lose(stream: ServerHttp2Stream): void {
    if (stream !== this.stream || (this.state !== HANDLING && this.state !== RELAYING)) return
    const handling = this.state === HANDLING
    const { sink } = this.intake
    this.state = GONE
    this.intake.release()
    this.x.aborted = true
    this.relay.dropOrigin()
    // A handler at work still has the exchange in hand: it is done when it answers.
    if (handling) sink?.bodyFailed(REFUSAL.clientGone)
    else this.finish()
  }

  private closed(stream: ServerHttp2Stream): void {
    if (stream !== this.stream) return
    this.lose(stream)
    this.stream = undefined
    this.outlet.stream = undefined
    if (this.exchanging) this.state = GONE
    else this.leave()
  }

  private leave(): void {
    if (this.stream !== undefined || this.state === FREE) return
    this.state = FREE
    sweep.remove(this)
    this.owner.free(this)
  }

  tick(now: number): void {
    const { intake } = this
    if (this.writeDeadline !== 0 && now >= this.writeDeadline) this.stream?.close(NGHTTP2_CANCEL)
    // While an answer flows, its own silence is what counts: a stream of answers may have nothing more to ask.
    else if (intake.due(now) && !(this.state === RELAYING && this.stream?.headersSent)) intake.fail(REFUSAL.bodyTimeout)
  }

  /** Ends the stream whatever it does. */
  cut(): void {
    const { stream } = this
    if (stream === undefined) return
    stream.close(NGHTTP2_CANCEL)
    this.lose(stream)
  }
}

function bytesOf(body: string | Uint8Array): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  return Buffer.from(body.buffer, body.byteOffset, body.length)
}
