import { hash } from 'node:crypto'
import { connect as connectTcp, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import type { FaultCode } from '../../errors/catalog.ts'
import { type Fault, prebuilt } from '../../errors/fault.ts'
import { BodyDecoder } from '../http1/body.ts'
import { Fields } from '../http1/fields.ts'
import { Outlet } from '../http1/outlet.ts'
import { keep, readInto } from '../http1/read-buffer.ts'
import { AnswerHead, MAX_ANSWER_HEAD_BYTES } from '../http1/response-head.ts'
import { INCOMPLETE } from '../http1/scan.ts'
import { sweep, type Timed } from '../listen/sweep.ts'
import { readsBeforeWriteErrors } from './late-write-errors.ts'
import type { Origin, Trailing } from './origin-port.ts'

/** Who asked an upstream and waits for its answer. */
export interface OriginUser {
  /** Where the fields of the answer go. */
  readonly answer: Fields
  /** Where trailers are taken from and left. */
  readonly x?: Trailing
  /** The connection is open: the request may be sent. Not called when it was open already. */
  originReady(): void
  /** The head of the final answer has come, or 101. In the same turn `originBody` or, after 101, `originTunnel` follows. */
  originHead(head: AnswerHead): void
  /** The head of an interim answer other than 100 and 101 has come; its fields are in `answer` until the next head. */
  originInterim(status: number): void
  /** Decoded body bytes, perhaps none. When `finished` they are the last, and the connection is no longer the user's. */
  originBody(chunk: Buffer, from: number, to: number, finished: boolean): void
  /** Bytes of a tunnel, after 101. */
  originTunnel(chunk: Buffer): void
  /** The upstream sends nothing more on a tunnel. */
  originTunnelEnd(): void
  /** The socket takes bytes again after a write had answered false. */
  originDrained(): void
  /** No (complete) answer will come; the connection is gone. `silent` when no byte of an answer had come. */
  originFailed(fault: Fault, silent: boolean): void
}

/** The pool as a connection sees it. */
export interface OriginPool {
  readonly port: number
  /** Of a Unix socket, instead of address and port. */
  readonly path?: string | undefined
  /** Options for TLS, undefined for plain TCP. */
  readonly tls: ConnectionOptions | undefined
  /** Hashes of keys or certificates, one of which TLS must meet; undefined = any trusted certificate. */
  readonly pins?: ReadonlySet<string> | undefined
  readonly connectTimeoutMs: number
  readonly headTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly totalTimeoutMs: number
  readonly idleKeepMs: number
  /** Takes a connection that is ready for another request, `bodiless` after an answer without a body; false when it is not wanted. */
  release(connection: OriginConnection, bodiless: boolean): boolean
  /** Counts a connection that will be released after a rest; false when it is not wanted. */
  rest(connection: OriginConnection): boolean
  /** The origin sent bytes beyond an answer, `bodiless` when it was one without a body. */
  surplus(bodiless: boolean): void
  /** The connection ended. */
  forget(connection: OriginConnection): void
  /** This address took the connection. */
  reached(address: string): void
  session(session: Buffer): void
}

const CONNECTING = 0
const IDLE = 1
const AWAITING = 2
const BODY = 3
const TUNNEL = 4
const DEAD = 5

const NOTHING = Buffer.alloc(0)
const USUAL_HEAD_BYTES = 4096
/** Interim answers (RFC 9110 section 15.2) before the final one, `100 Continue` among them. */
export const MAX_INTERIM = 32
/** An idle connection is given up this long before the upstream said that it would close it. */
const HINT_MARGIN_MS = 1000
/**
 * A connection serves no request for this long after HEAD: many origins send a body with the answer, often in a later write, and what
 * arrives while a request is under way cannot be distinguished from its answer.
 */
const REST_MS = 100

/** One connection to an upstream, used for one request at a time. */
export class OriginConnection implements Origin, Timed {
  sweepIndex = -1
  readonly framing = false
  /** Requests that were sent on it before the present one. */
  used = 0
  socket: Socket | undefined
  outlet: Outlet | undefined
  private readonly pool: OriginPool
  private user: OriginUser | undefined
  private state = CONNECTING
  private readonly head = new AnswerHead()
  private readonly body = new BodyDecoder(true)
  private partial: Buffer | undefined
  private silent = true
  private interims = 0
  private requestSent = false
  private bodiless = false
  /** The latest answer has no body, whatever its fields say. */
  private answerBodiless = false
  private resting = false
  private mayUpgrade = false
  private readsFirst = false
  private addresses: readonly string[] = []
  /** Next deadline of the phase it is in, and of the whole exchange; 0 = none. */
  private deadline = 0
  private totalDeadline = 0

  constructor(pool: OriginPool, user: OriginUser) {
    this.pool = pool
    this.user = user
    this.deadline = performance.now() + pool.connectTimeoutMs
    sweep.add(this)
  }

  /** True once requests may be written. */
  get open(): boolean {
    return this.state !== CONNECTING && this.state !== DEAD
  }

  /** False when it broke and the news of that are still on their way. */
  get usable(): boolean {
    return this.socket?.destroyed === false
  }

  /** Connects to the first of the addresses that takes it. */
  connect(addresses: readonly string[]): void {
    if (this.state !== CONNECTING) return
    this.addresses = addresses
    this.dial(0)
  }

  private dial(index: number): void {
    const address = this.addresses[index]!
    const { port, path, tls } = this.pool
    const onread = readInto((chunk) => this.onData(chunk))
    const reading = onread === undefined ? {} : { onread }
    const place = path === undefined ? { host: address, port, noDelay: true, keepAlive: true } : { path }
    const basic = { ...place, allowHalfOpen: true, ...reading }
    const socket = tls === undefined ? connectTcp(basic) : connectTls({ ...tls, ...basic })
    this.socket = socket
    this.outlet = new Outlet(socket)
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      if (this.state !== CONNECTING || this.socket !== socket) return
      const { pins } = this.pool
      if (pins !== undefined && !isPinned(socket as TLSSocket, pins)) {
        this.fail(WRONG_PIN)
        return
      }
      this.pool.reached(address)
      this.state = AWAITING
      this.deadline = 0
      this.user?.originReady()
    })
    if (tls !== undefined) (socket as TLSSocket).on('session', (session) => this.pool.session(session))
    socket.on('error', (error: NodeJS.ErrnoException) => this.onError(socket, index, error))
    socket.on('close', () => this.onClose(socket))
    socket.on('end', () => this.onEnd(socket))
    socket.on('drain', () => this.user?.originDrained())
    if (onread === undefined) socket.on('data', (chunk: Buffer) => this.onData(chunk))
  }

  /** Gives an idle connection to its next user. */
  assign(user: OriginUser): void {
    this.user = user
    this.state = AWAITING
    this.deadline = 0
    this.used++
  }

  /**
   * Says what is being asked, before its first byte is written; `now` in milliseconds of performance.now().
   * `bodiless` for HEAD, `mayUpgrade` when the answer may be 101.
   */
  ask(bodiless: boolean, mayUpgrade: boolean, now: number): void {
    this.silent = true
    this.interims = 0
    this.requestSent = false
    this.bodiless = bodiless
    this.mayUpgrade = mayUpgrade
    const total = this.pool.totalTimeoutMs
    this.totalDeadline = total === 0 ? 0 : now + total
  }

  bodyContinues(): void {
    if (this.readsFirst) return
    this.readsFirst = true
    readsBeforeWriteErrors(this.socket!)
  }

  /** The last byte of the request was written: from now on the head of the answer is due. */
  sent(now: number): void {
    this.requestSent = true
    if (this.state === AWAITING) this.deadline = now + this.pool.headTimeoutMs
  }

  /** The upstream does not take what the client sends: from now on it must, before the idle timeout. */
  stalled(): void {
    if (this.state === AWAITING || this.state === TUNNEL) this.deadline = this.idleDeadline()
  }

  /** The upstream took what was written; the next bytes are the client's business. */
  unstalled(): void {
    if (this.state === TUNNEL || (this.state === AWAITING && !this.requestSent)) this.deadline = 0
  }

  /** Reads no more until `resume`: the client is slower than the upstream. */
  pause(): void {
    this.deadline = 0
    this.socket?.pause()
  }

  resume(): void {
    if (this.state === BODY) this.deadline = this.idleDeadline()
    this.socket?.resume()
  }

  /** Its user has had enough of an answer that has no body: the connection goes back to the others. */
  abandon(): void {
    this.user = NOBODY
  }

  /** Ends the connection without a word to its user. */
  destroy(): void {
    if (this.state === DEAD) return
    this.state = DEAD
    this.user = undefined
    this.partial = undefined
    sweep.remove(this)
    this.pool.forget(this)
    this.outlet?.cut()
  }

  /** Parts with a connection whose both directions were ended: what was written still goes out. */
  leave(): void {
    if (this.state === DEAD) return
    this.state = DEAD
    this.user = undefined
    sweep.remove(this)
    this.pool.forget(this)
    this.socket?.destroySoon()
  }

  /** Ends the connection and tells its user why. */
  fail(fault: Fault): void {
    const { user, silent } = this
    this.destroy()
    user?.originFailed(fault, silent)
  }

  tick(now: number): void {
    const due = (this.deadline !== 0 && now >= this.deadline) || (this.totalDeadline !== 0 && now >= this.totalDeadline)
    if (!due) return
    if (this.resting) this.endRest(now)
    else if (this.state === IDLE) this.destroy()
    else this.fail(prebuilt('upstream_timeout', TIMEOUT_DETAIL[this.state]))
  }

  private idleDeadline(): number {
    const idle = this.pool.idleTimeoutMs
    return idle === 0 ? 0 : performance.now() + idle
  }

  private onData(chunk: Buffer): void {
    if (this.state === BODY) this.takeBody(chunk, 0, false)
    else if (this.state === AWAITING && this.user !== undefined) this.takeHead(chunk)
    else if (this.state === TUNNEL) this.user?.originTunnel(chunk)
    else this.takeSurplus(chunk)
  }

  /** Unsolicited bytes: they could be taken for the response to the next request. */
  private takeSurplus(chunk: Buffer): void {
    if (this.state === IDLE && !isIdleTimeout(chunk)) this.pool.surplus(this.answerBodiless)
    this.destroy()
  }

  private takeHead(arrived: Buffer): void {
    const chunk = this.partial === undefined ? arrived : Buffer.concat([this.partial, arrived])
    this.partial = undefined
    this.silent = false
    const { head } = this
    let at = 0
    for (;;) {
      const end = this.parseHead(chunk, at)
      if (end < 0) {
        // First bytes that begin no answer belong to the one before: of this request's answer nothing has come.
        this.silent = at === 0 && this.used > 0
        if (this.silent) this.pool.surplus(this.answerBodiless)
        this.fail(this.silent ? SURPLUS : head.fault)
        return
      }
      if (end === INCOMPLETE) {
        if (at < chunk.length) this.partial = keep(chunk.subarray(at))
        return
      }
      at += end
      if (head.status >= 200) break
      if (head.status !== 101) {
        if (++this.interims > MAX_INTERIM) {
          this.fail(TOO_MANY_INTERIM)
          return
        }
        // `100 Continue` is ours to give, not the upstream's.
        if (head.status !== 100) this.user!.originInterim(head.status)
        if (this.user === undefined) return
        continue
      }
      if (!this.mayUpgrade) {
        this.fail(UNASKED_UPGRADE)
        return
      }
      this.beginTunnel(chunk, at)
      return
    }
    const none = this.bodiless || head.status === 204 || head.status === 304
    this.answerBodiless = none
    this.body.start(none ? 0 : head.length)
    this.state = BODY
    const user = this.user!
    user.originHead(head)
    if (this.user !== undefined) this.takeBody(chunk, at, true)
  }

  /** Most heads are small, and most of a full read is body: only where that is wrong, more than the first bytes become text. */
  private parseHead(chunk: Buffer, at: number): number {
    const bytes = at === 0 ? chunk : chunk.subarray(at)
    const end = this.parseText(bytes, USUAL_HEAD_BYTES)
    if (end === INCOMPLETE && bytes.length > USUAL_HEAD_BYTES) return this.parseText(bytes, MAX_ANSWER_HEAD_BYTES)
    return end
  }

  private parseText(bytes: Buffer, limitBytes: number): number {
    const text = bytes.toString('latin1', 0, Math.min(bytes.length, limitBytes))
    return this.head.parseRepaired(bytes, text, this.user!.answer)
  }

  private takeBody(chunk: Buffer, at: number, first: boolean): void {
    const { body } = this
    const user = this.user!
    const end = body.take(chunk, at)
    if (end < 0) {
      this.fail(prebuilt('upstream_malformed', `answer body: ${body.flaw}`))
      return
    }
    if (body.finished) this.finish(end < chunk.length)
    else if (!first || this.deadline !== 0) this.deadline = this.idleDeadline()
    user.originBody(chunk, body.from, body.to, body.finished)
  }

  /** The answer is complete: back to the pool, unless this connection cannot be trusted with another request. */
  private finish(leftover: boolean): void {
    this.user = undefined
    if (leftover) this.pool.surplus(this.answerBodiless)
    const reusable = !leftover && this.head.keepAlive && this.requestSent && !this.body.endsWithConnection
    this.totalDeadline = 0
    if (!reusable || this.socket!.destroyed || this.socket!.readableEnded) {
      this.destroy()
      return
    }
    this.state = IDLE
    if (!this.bodiless) this.release(performance.now())
    else if (this.pool.rest(this)) {
      this.resting = true
      this.deadline = performance.now() + REST_MS
    } else this.destroy()
    if (this.state === IDLE && this.socket!.isPaused()) this.socket!.resume()
  }

  private endRest(now: number): void {
    this.resting = false
    this.release(now)
  }

  private release(now: number): void {
    const { idleKeepMs } = this.pool
    const hint = this.head.keepSeconds
    const keep = hint < 0 ? idleKeepMs : Math.min(idleKeepMs, hint * 1000 - HINT_MARGIN_MS)
    this.deadline = now + keep
    if (keep <= 0 || !this.pool.release(this, this.answerBodiless)) this.destroy()
  }

  private beginTunnel(chunk: Buffer, at: number): void {
    this.state = TUNNEL
    this.deadline = 0
    this.totalDeadline = 0
    const user = this.user!
    user.originHead(this.head)
    if (this.user === user && at < chunk.length) user.originTunnel(chunk.subarray(at))
  }

  private onEnd(socket: Socket): void {
    if (socket !== this.socket) return
    if (this.state === TUNNEL) {
      this.user?.originTunnelEnd()
      return
    }
    if (this.state === BODY && this.body.endsWithConnection) {
      const user = this.user!
      this.user = undefined
      this.destroy()
      user.originBody(NOTHING, 0, 0, true)
      return
    }
    if (this.user === undefined) {
      this.destroy()
      return
    }
    this.fail(this.silent ? CLOSED : CUT_SHORT)
  }

  private onError(socket: Socket, index: number, error: NodeJS.ErrnoException): void {
    if (socket !== this.socket || this.state === DEAD) return
    if (this.state === CONNECTING && index + 1 < this.addresses.length) {
      socket.destroy()
      this.dial(index + 1)
      return
    }
    const code = error.code === 'ETIMEDOUT' ? 'upstream_timeout' : 'upstream_unreachable'
    this.fail(prebuilt(code, error.code ?? error.message))
  }

  private onClose(socket: Socket): void {
    if (socket !== this.socket || this.state === DEAD) return
    if (this.user === undefined) this.destroy()
    else this.fail(this.silent ? CLOSED : CUT_SHORT)
  }
}

/** HAProxy and Apache answer 408 to a connection that stays idle, and close it. */
function isIdleTimeout(chunk: Buffer): boolean {
  return /^HTTP\/1\.[01] 408 /.test(chunk.toString('latin1', 0, 13))
}

/** Waits for nothing any more. */
const NOBODY: OriginUser = {
  answer: new Fields(),
  originReady() {},
  originHead() {},
  originInterim() {},
  originBody() {},
  originTunnel() {},
  originTunnelEnd() {},
  originDrained() {},
  originFailed() {},
}

const detailed = (code: FaultCode, detail: string) => prebuilt(code, detail)
const SURPLUS = detailed('upstream_malformed', 'bytes behind an earlier answer')
const TOO_MANY_INTERIM = detailed('upstream_malformed', `more than ${MAX_INTERIM} interim answers`)
const UNASKED_UPGRADE = detailed('upstream_malformed', 'unsolicited 101')
const CUT_SHORT = detailed('upstream_malformed', 'connection ended before the answer did')
const CLOSED = detailed('upstream_unreachable', 'connection closed without an answer')
const WRONG_PIN = detailed('upstream_pin_mismatch', 'the public key of the upstream is none of the pinned ones')
const TIMEOUT_DETAIL = ['connecting', '', 'waiting for the answer', 'silence within the answer', 'tunnel idle']

/**
 * True when the certificate that the peer has proved to own is one of these, or holds one of these public keys (RFC 7469 section 2.4).
 * Certificates behind it in the chain do not count: anyone with any certificate of that authority could present the chain.
 */
export function isPinned(socket: TLSSocket, pins: ReadonlySet<string>): boolean {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined) return false
  const key = certificate.publicKey.export({ type: 'spki', format: 'der' })
  return pins.has(hash('sha256', key, 'hex')) || pins.has(hash('sha256', certificate.raw, 'hex'))
}
