import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2'
import { performance } from 'node:perf_hooks'
import { type Fault, prebuilt } from '../../errors/fault.ts'
import type { OriginUser } from '../origin.ts'
import type { Origin, OriginOutlet } from '../origin-port.ts'
import { keep } from '../read-buffer.ts'
import { AnswerHead } from '../response-head.ts'
import { sweep, type Timed } from '../sweep.ts'
import { addFields, trailerLines, trailerObject } from './header-list.ts'

/** What a request needs to know of its pool, and asks of it. */
export interface Http2OriginPool {
  readonly secure: boolean
  readonly headTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly totalTimeoutMs: number
  /** Finds a session for the request: `attach` follows, or `fail`. `tell` = its user waits to hear of it. */
  place(origin: Http2Origin, tell: boolean): void
  /** The stream of the request is over, whether its session goes on or not. */
  left(session: ClientHttp2Session): void
}

const NOTHING = Buffer.alloc(0)
/** Bytes of a request that are kept until its answer begins, to be sent again when its stream is refused. */
const MAX_KEPT_BYTES = 16_384
const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants

const CLOSED = prebuilt('upstream_unreachable', 'stream closed without an answer')
const REFUSED = prebuilt('upstream_unreachable', 'stream refused')
const CUT_SHORT = prebuilt('upstream_malformed', 'stream ended before the answer did')
const MALFORMED = prebuilt('upstream_malformed', 'malformed answer head')
const TIMEOUT = prebuilt('upstream_timeout', 'waiting for the answer')
const SILENCE = prebuilt('upstream_timeout', 'silence within the answer')

/**
 * One request to an upstream, on a stream of an HTTP/2 session. Takes the request as HTTP/1.1 words it, and gives the answer in the
 * same words, so that the rules for both are those of HTTP/1.1.
 */
export class Http2Origin implements Origin, OriginOutlet, Timed {
  sweepIndex = -1
  readonly used = 0
  readonly socket = undefined
  readonly framing = true
  readonly outlet: OriginOutlet = this
  private readonly pool: Http2OriginPool
  private user: OriginUser | undefined
  private session: ClientHttp2Session | undefined
  private stream: ClientHttp2Stream | undefined
  private readonly head = new AnswerHead()
  private bodiless = false
  private requestDone = false
  private answering = false
  private refusedOnce = false
  /** What the request consists of so far, to be sent again; undefined when it has become too much. */
  private kept: { head: string; body: Buffer[]; bytes: number } | undefined = { head: '', body: [], bytes: 0 }
  private deadline = 0
  private totalDeadline = 0

  constructor(pool: Http2OriginPool, user: OriginUser) {
    this.pool = pool
    this.user = user
  }

  get open(): boolean {
    return this.session !== undefined
  }

  /** True while somebody waits for the answer. */
  get wanted(): boolean {
    return this.user !== undefined
  }

  /** There is no session yet: waits for one as long as for an answer. */
  await(): void {
    this.deadline = performance.now() + this.pool.headTimeoutMs
    sweep.add(this)
  }

  /** Gives the request its session. `tell` = its user waits to hear of it. */
  attach(session: ClientHttp2Session, tell: boolean): void {
    this.session = session
    this.deadline = 0
    if (this.refusedOnce) this.sendAgain()
    else if (tell) this.user?.originReady()
  }

  ask(bodiless: boolean, _mayUpgrade: boolean, now: number): void {
    this.bodiless = bodiless
    const total = this.pool.totalTimeoutMs
    this.totalDeadline = total === 0 ? 0 : now + total
    sweep.add(this)
  }

  sent(now: number): void {
    this.requestDone = true
    if (!this.answering) this.deadline = now + this.pool.headTimeoutMs
  }

  stalled(): void {
    if (!this.answering) this.deadline = this.idleDeadline()
  }

  unstalled(): void {
    if (!this.answering && !this.requestDone) this.deadline = 0
  }

  pause(): void {
    this.deadline = 0
    this.stream?.pause()
  }

  resume(): void {
    if (this.answering) this.deadline = this.idleDeadline()
    this.stream?.resume()
  }

  abandon(): void {
    this.destroy()
  }

  leave(): void {
    this.destroy()
  }

  destroy(): void {
    if (this.user === undefined) return
    this.user = undefined
    sweep.remove(this)
    if (this.stream !== undefined) this.stream.close(NGHTTP2_CANCEL)
    else if (this.session !== undefined) this.pool.left(this.session)
  }

  /** Ends the request and tells its user why. */
  fail(fault: Fault): void {
    const { user, answering } = this
    this.destroy()
    user?.originFailed(fault, !answering)
  }

  tick(now: number): void {
    const due = (this.deadline !== 0 && now >= this.deadline) || (this.totalDeadline !== 0 && now >= this.totalDeadline)
    if (due) this.fail(this.answering ? SILENCE : TIMEOUT)
  }

  private idleDeadline(): number {
    const idle = this.pool.idleTimeoutMs
    return idle === 0 ? 0 : performance.now() + idle
  }

  // --- the request

  text(text: string): boolean {
    const bodyFrom = text.indexOf('\r\n\r\n') + 4
    const head = text.slice(0, bodyFrom)
    const body = Buffer.from(text.slice(bodyFrom), 'latin1')
    return this.body(head, false, body, 0, body.length, body.length > 0 || !hasBody(head))
  }

  body(before: string, _chunked: boolean, chunk: Buffer, from: number, to: number, last: boolean): boolean {
    if (this.user === undefined) return true
    if (before !== '') this.begin(before, last && from === to)
    const { stream } = this
    if (stream === undefined || stream.destroyed || stream.closed || stream.writableEnded) return true
    const bytes = to === from ? NOTHING : keep(chunk.subarray(from, to))
    this.remember(bytes)
    if (this.answering) this.deadline = this.idleDeadline()
    if (bytes.length === 0) {
      if (last) stream.end()
      return true
    }
    if (!last) return stream.write(bytes)
    stream.end(bytes)
    return true
  }

  private remember(bytes: Buffer): void {
    const { kept } = this
    if (kept === undefined || bytes.length === 0) return
    kept.bytes += bytes.length
    if (kept.bytes > MAX_KEPT_BYTES) this.kept = undefined
    else kept.body.push(bytes)
  }

  private begin(head: string, bare: boolean): void {
    if (this.kept !== undefined) this.kept.head = head
    const session = this.session!
    const mayTrail = !bare && this.user?.x?.http2 === true
    const stream = session.request(requestList(head, this.pool.secure), { endStream: bare, waitForTrailers: mayTrail })
    this.stream = stream
    if (mayTrail) stream.once('wantTrailers', () => this.trail(stream))
    stream.on('response', (_headers, flags, raw) => this.takeHead(stream, raw, flags))
    stream.on('trailers', (_headers: unknown, _flags: unknown, raw: readonly string[]) =>
      this.takeTrailers(stream, raw),
    )
    stream.on('drain', () => {
      if (stream === this.stream) this.user?.originDrained()
    })
    stream.on('error', () => {}) // `close` follows
    stream.on('close', () => this.closed(stream, session))
  }

  private trail(stream: ClientHttp2Stream): void {
    if (!stream.destroyed && !stream.closed) stream.sendTrailers(trailerObject(this.user?.x?.requestTrailers ?? ''))
  }

  /** The stream was refused before the upstream looked at it (RFC 9113 section 8.7): all of it again on another. */
  private sendAgain(): void {
    const kept = this.kept!
    const { head, body } = kept
    this.kept = undefined
    this.begin(head, body.length === 0 && this.requestDone)
    const stream = this.stream!
    for (const bytes of body) stream.write(bytes)
    if (!this.requestDone) return
    if (body.length > 0) stream.end()
    this.sent(performance.now())
  }

  // --- the answer

  private takeHead(stream: ClientHttp2Stream, raw: readonly string[], flags: number): void {
    const { user } = this
    if (user === undefined || stream !== this.stream) return
    const ended = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
    const bytes = Buffer.from(answerText(raw), 'latin1')
    const text = bytes.toString('latin1')
    if (this.head.parse(bytes, text, user.answer) !== bytes.length || this.head.status < 200) {
      this.fail(MALFORMED)
      return
    }
    this.kept = undefined
    this.answering = true
    this.deadline = this.idleDeadline()
    const none = this.bodiless || this.head.status === 204 || this.head.status === 304
    if (user.x !== undefined && !none) user.x.answerTrailers = ''
    user.originHead(this.head)
    if (this.user !== user) return
    if (ended) {
      stream.resume()
      this.finish(stream)
      return
    }
    user.originBody(NOTHING, 0, 0, false)
    stream.on('data', (chunk: Buffer) => this.takeBody(stream, chunk))
    stream.on('end', () => this.finish(stream))
  }

  private takeBody(stream: ClientHttp2Stream, chunk: Buffer): void {
    if (stream !== this.stream || this.user === undefined) return
    this.deadline = this.idleDeadline()
    this.user.originBody(chunk, 0, chunk.length, false)
  }

  private takeTrailers(stream: ClientHttp2Stream, raw: readonly string[]): void {
    const { user } = this
    if (user?.x !== undefined && stream === this.stream) user.x.answerTrailers = trailerLines(raw)
  }

  private finish(stream: ClientHttp2Stream): void {
    const { user } = this
    // A stream that was reset ends too, without its answer being complete: `close` says which it was.
    if (user === undefined || stream !== this.stream || stream.rstCode !== NGHTTP2_NO_ERROR) return
    this.user = undefined
    sweep.remove(this)
    if (!this.requestDone) stream.close(NGHTTP2_CANCEL)
    user.originBody(NOTHING, 0, 0, true)
  }

  private closed(stream: ClientHttp2Stream, session: ClientHttp2Session): void {
    this.pool.left(session)
    if (stream !== this.stream || this.user === undefined) return
    // Without an id it was never sent: its session had just ended.
    const refused = stream.rstCode === NGHTTP2_REFUSED_STREAM || stream.id === undefined
    if (refused && !this.refusedOnce && this.kept !== undefined) {
      this.refusedOnce = true
      this.stream = undefined
      this.session = undefined
      this.pool.place(this, true)
      return
    }
    if (this.answering) this.fail(CUT_SHORT)
    else this.fail(refused ? REFUSED : CLOSED)
  }
}

/** True when the framing of a head announces a body. */
function hasBody(head: string): boolean {
  return /\r\n(?:Content-Length: [1-9]|Transfer-Encoding: )/.test(head)
}

/** The head of a request as names and values, pseudo-header fields first (RFC 9113 section 8.3.1). */
function requestList(head: string, secure: boolean): string[] {
  const methodEnd = head.indexOf(' ')
  const targetEnd = head.indexOf(' ', methodEnd + 1)
  const hostFrom = head.indexOf('\r\nHost: ') + '\r\nHost: '.length
  const list = [
    ...[':method', head.slice(0, methodEnd), ':scheme', secure ? 'https' : 'http'],
    ...[':authority', head.slice(hostFrom, head.indexOf('\r\n', hostFrom))],
    ...[':path', head.slice(methodEnd + 1, targetEnd), 'te', 'trailers'],
  ]
  addFields(list, head, head.indexOf('\r\n') + 2)
  return list
}

/** The head of an answer as HTTP/1.1 words it. */
function answerText(raw: readonly string[]): string {
  let status = ''
  let lines = ''
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    if (name === ':status') status = raw[i + 1]!
    else lines += `${name}: ${raw[i + 1]}\r\n`
  }
  return `HTTP/1.1 ${status} \r\n${lines}\r\n`
}
