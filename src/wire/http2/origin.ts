import { performance } from 'node:perf_hooks'
import { type Fault, prebuilt } from '../../errors/fault.ts'
import { MAX_INTERIM, type OriginUser } from '../connect/origin.ts'
import type { Origin, OriginOutlet } from '../connect/origin-port.ts'
import type { HeaderEncoder } from '../hpack/encoder.ts'
import { type Field, isPseudo, KIND } from '../hpack/field.ts'
import { keep } from '../http1/read-buffer.ts'
import { AnswerHead } from '../http1/response-head.ts'
import { sweep, type Timed } from '../listen/sweep.ts'
import { CODE } from './codes.ts'
import type { Link } from './link.ts'
import { trailerLines } from './request-text.ts'
import { type FramedStream, type StreamUser, UNKNOWN_LENGTH } from './stream.ts'

/** The pool as a request sees it. */
export interface Http2OriginPool {
  readonly secure: boolean
  readonly headTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly totalTimeoutMs: number
  /** Finds a link for the request: `attach` follows, or `fail`. `tell` = its user waits to hear of it. */
  place(origin: Http2Origin, tell: boolean): void
  /** The stream of the request is over; its link may stay open. */
  left(link: Link): void
}

const NOTHING = Buffer.alloc(0)
/** Bytes of a request that are kept until its answer begins, to be sent again when its stream is refused. */
const MAX_KEPT_BYTES = 16_384
/** Module state: memory of this thread for one answer at a time, which is read at once. */
const parsed = new AnswerHead()

const CLOSED = prebuilt('upstream_unreachable', 'stream closed without an answer')
const REFUSED = prebuilt('upstream_unreachable', 'stream refused')
const CUT_SHORT = prebuilt('upstream_malformed', 'stream ended before the answer did')
const TOO_MANY_INTERIM = prebuilt('upstream_malformed', `more than ${MAX_INTERIM} interim answers`)
const MALFORMED = prebuilt('upstream_malformed', 'malformed answer head')
const TIMEOUT = prebuilt('upstream_timeout', 'waiting for the answer')
const SILENCE = prebuilt('upstream_timeout', 'silence within the answer')

/**
 * One request to an upstream, on a stream of an HTTP/2 session. Takes the request as HTTP/1.1 words it, and gives the answer in the
 * same words, so that the rules for both are those of HTTP/1.1.
 */
export class Http2Origin implements Origin, OriginOutlet, StreamUser, Timed {
  sweepIndex = -1
  readonly used = 0
  readonly socket = undefined
  readonly framing = true
  readonly outlet: OriginOutlet = this
  private readonly pool: Http2OriginPool
  private user: OriginUser | undefined
  private link: Link | undefined
  private stream: FramedStream | undefined
  private bodiless = false
  private requestDone = false
  private answering = false
  private interims = 0
  private refusedOnce = false
  /** The request so far, to be sent again; undefined when it has become too much. */
  private kept: { head: string; body: Buffer[]; bytes: number } | undefined = { head: '', body: [], bytes: 0 }
  private deadline = 0
  private totalDeadline = 0

  constructor(pool: Http2OriginPool, user: OriginUser) {
    this.pool = pool
    this.user = user
  }

  get open(): boolean {
    return this.link !== undefined
  }

  /** True while a caller waits for the response. */
  get wanted(): boolean {
    return this.user !== undefined
  }

  /** There is no link yet: waits for one as long as for an answer. */
  await(): void {
    this.deadline = performance.now() + this.pool.headTimeoutMs
    sweep.add(this)
  }

  /** Gives the request its link. `tell` = its user waits to hear of it. */
  attach(link: Link, tell: boolean): void {
    this.link = link
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
    this.end(CODE.cancel)
  }

  private end(code: number): void {
    if (this.user === undefined) return
    this.user = undefined
    sweep.remove(this)
    const { stream, link } = this
    this.stream = undefined
    this.link = undefined
    stream?.reset(code)
    if (link !== undefined) this.pool.left(link)
  }

  /** Ends the request and tells its user why. */
  fail(fault: Fault): void {
    this.failAs(CODE.cancel, fault)
  }

  private failAs(code: number, fault: Fault): void {
    const { user, answering } = this
    this.end(code)
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
    if (this.kept !== undefined) this.remember(before, chunk, from, to)
    if (this.answering) this.deadline = this.idleDeadline()
    if (before !== '') this.begin(before, last && from === to)
    // Without a stream it is kept, for the one that it will be asked on again.
    return this.stream?.send(chunk, from, to, last, this.trailers(last)) ?? false
  }

  /** The trailers of a client that may send them. */
  private trailers(last: boolean): string | undefined {
    if (!last) return undefined
    const x = this.user?.x
    if (x === undefined || x.requestTrailers === '') return undefined
    return x.forwardedTrailers() || undefined
  }

  private remember(before: string, chunk: Buffer, from: number, to: number): void {
    const kept = this.kept!
    if (before !== '') kept.head = before
    kept.bytes += to - from
    if (kept.bytes > MAX_KEPT_BYTES) this.kept = undefined
    else if (to > from) kept.body.push(keep(chunk.subarray(from, to)))
  }

  private begin(head: string, bare: boolean): void {
    const { session } = this.link!
    const stream = session.open()
    if (stream === undefined) {
      // Its session has just ended: nobody has seen the request.
      queueMicrotask(() => this.refused())
      return
    }
    this.stream = stream
    stream.user = this
    stream.mayReceive = false
    writeRequest(session.encoder, head, this.pool.secure)
    stream.head(bare && this.trailers(true) === undefined)
  }

  /** The stream was refused before the upstream looked at it (RFC 9113 section 8.7): all of it again on another, once. */
  private refused(): void {
    if (this.user === undefined) return
    this.leaveLink()
    if (this.refusedOnce || this.kept === undefined) {
      this.fail(REFUSED)
      return
    }
    this.refusedOnce = true
    this.pool.place(this, true)
  }

  private leaveLink(): void {
    const { link } = this
    this.stream = undefined
    this.link = undefined
    if (link !== undefined) this.pool.left(link)
  }

  private sendAgain(): void {
    const { kept } = this
    if (kept === undefined) {
      this.fail(REFUSED)
      return
    }
    this.kept = undefined
    this.begin(kept.head, kept.body.length === 0 && this.requestDone)
    let ready = true
    for (const bytes of kept.body) ready = this.stream?.send(bytes, 0, bytes.length, false) ?? false
    if (this.requestDone) {
      this.stream?.send(NOTHING, 0, 0, true, this.trailers(true))
      this.sent(performance.now())
    } else if (ready) this.user?.originDrained()
  }

  // --- the answer

  streamFields(fields: readonly Field[], tooLarge: boolean, last: boolean): boolean {
    const { user } = this
    if (user === undefined) return true
    if (this.answering) return this.takeTrailers(user, fields, tooLarge || !last)
    const status = tooLarge ? '' : statusOf(fields)
    if (status.startsWith('1') && !last) {
      this.takeInterim(user, status, fields)
      return true
    }
    if (status !== '' && this.takeHead(user, status, fields, last)) return true
    this.failAs(
      CODE.protocol,
      status === '' ? flawOf(fields, tooLarge) : parsed.status < 200 ? MALFORMED : parsed.fault,
    )
    return true
  }

  /** An interim answer (RFC 9110 section 15.2); 101 has no place in HTTP/2 (RFC 9113 section 8.6). */
  private takeInterim(user: OriginUser, status: string, fields: readonly Field[]): void {
    const text = answerText(status, fields)
    const bytes = Buffer.from(text, 'latin1')
    if (status === '101' || parsed.parse(bytes, text, user.answer) !== bytes.length)
      this.failAs(CODE.protocol, MALFORMED)
    else if (++this.interims > MAX_INTERIM) this.failAs(CODE.enhanceYourCalm, TOO_MANY_INTERIM)
    else if (status !== '100') user.originInterim(parsed.status)
  }

  private takeTrailers(user: OriginUser, fields: readonly Field[], wrong: boolean): boolean {
    const lines = trailerLines(fields)
    if (lines === undefined || wrong) return false
    if (user.x?.answerTrailers !== undefined) user.x.answerTrailers = lines
    return true
  }

  private takeHead(user: OriginUser, status: string, fields: readonly Field[], last: boolean): boolean {
    const text = answerText(status, fields)
    const bytes = Buffer.from(text, 'latin1')
    if (parsed.parse(bytes, text, user.answer) !== bytes.length || parsed.status < 200) return false
    const stream = this.stream!
    const none = this.bodiless || parsed.status === 204 || parsed.status === 304
    this.kept = undefined
    this.answering = true
    this.deadline = this.idleDeadline()
    stream.mayReceive = true
    stream.contentLeft = none ? 0 : parsed.length >= 0 ? parsed.length : UNKNOWN_LENGTH
    if (user.x !== undefined && !none) user.x.answerTrailers = ''
    user.originHead(parsed)
    if (this.user !== user || stream.closed) return true
    if (!last) user.originBody(NOTHING, 0, 0, false)
    stream.resume()
    return true
  }

  streamBody(chunk: Buffer, from: number, to: number, last: boolean): void {
    const { user, stream } = this
    if (user === undefined) return
    if (!last) {
      this.deadline = this.idleDeadline()
      user.originBody(chunk, from, to, false)
      return
    }
    this.user = undefined
    sweep.remove(this)
    if (!this.requestDone) stream?.reset(CODE.cancel)
    user.originBody(chunk, from, to, true)
  }

  streamDrained(): void {
    this.user?.originDrained()
  }

  streamClosed(stream: FramedStream, code: number): void {
    if (stream !== this.stream) return
    if (code === CODE.refusedStream && this.user !== undefined && !this.answering) {
      this.refused()
      return
    }
    const reason = this.link?.goaway ?? ''
    this.leaveLink()
    if (this.user === undefined) return
    const fault = this.answering ? CUT_SHORT : CLOSED
    this.fail(reason === '' ? fault : prebuilt(fault.code, `HTTP/2 session ended: ${reason}`))
  }
}

/** True when the framing of a head announces a body. */
function hasBody(head: string): boolean {
  return /\r\n(?:Content-Length: [1-9]|Transfer-Encoding: )/.test(head)
}

/** Writes the head of a request, pseudo-header fields first (RFC 9113 section 8.3.1). */
function writeRequest(encoder: HeaderEncoder, head: string, secure: boolean): void {
  const methodEnd = head.indexOf(' ')
  const targetEnd = head.indexOf(' ', methodEnd + 1)
  const hostFrom = head.indexOf('\r\nHost: ') + '\r\nHost: '.length
  encoder.begin(head)
  encoder.pseudo(':method', head.slice(0, methodEnd))
  encoder.pseudo(':scheme', secure ? 'https' : 'http')
  encoder.pseudo(':authority', head.slice(hostFrom, head.indexOf('\r\n', hostFrom)))
  encoder.pseudo(':path', head.slice(methodEnd + 1, targetEnd))
  encoder.field('te', 'trailers')
  encoder.lines(head, head.indexOf('\r\n') + 2)
}

/** The fault of fields that are no head of an answer, with the name of the field. */
function flawOf(fields: readonly Field[], tooLarge: boolean): Fault {
  if (tooLarge) return prebuilt('upstream_malformed', 'answer head: too large')
  const wrong = fields.find(({ kind }, at) =>
    at === 0 ? kind !== KIND.status : kind === KIND.malformed || isPseudo(kind),
  )
  const name = /^:?[\w-]{1,64}/.exec(wrong?.name ?? ':status')?.[0] ?? 'without a name'
  return prebuilt('upstream_malformed', `answer head: malformed field (${name})`)
}

/** The status of an answer's fields; '' when they are malformed. */
function statusOf(fields: readonly Field[]): string {
  const first = fields[0]
  if (first?.kind !== KIND.status || !/^[1-9][0-9]{2}$/.test(first.value)) return ''
  for (let i = 1; i < fields.length; i++) {
    const { kind } = fields[i]!
    if (kind === KIND.malformed || isPseudo(kind)) return ''
  }
  return first.value
}

/** The head of an answer as HTTP/1.1 words it. */
function answerText(status: string, fields: readonly Field[]): string {
  let lines = ''
  for (let i = 1; i < fields.length; i++) lines += fields[i]!.line
  return `HTTP/1.1 ${status} \r\n${lines}\r\n`
}
