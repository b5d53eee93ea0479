import { performance } from 'node:perf_hooks'
import { ENTRY_OVERHEAD_BYTES, type Field } from '../hpack/field.ts'
import type { ConnectionOwner, OpenConnection } from '../http1/connection-owner.ts'
import type { WireExchange, WireHandler } from '../http1/exchange.ts'
import type { Accepted } from '../http1/read-buffer.ts'
import type { Secured } from '../listen/handshake.ts'
import type { WireLimits } from '../listen/limits.ts'
import { LINGER_MS } from '../listen/limits.ts'
import { PREFACE } from '../listen/preamble.ts'
import { sweep, type Timed } from '../listen/sweep.ts'
import { CODE, DEFAULT_WINDOW_BYTES, SETTING } from './codes.ts'
import type { GoawayReason } from './goaway.ts'
import { Lane, type LaneOwner } from './lane.ts'
import { Http2Session } from './session.ts'
import type { SessionOptions, SessionOwner } from './session-port.ts'
import type { FramedStream } from './stream.ts'

/** Lanes kept for the next streams of a connection. */
const MAX_SPARE_LANES = 16
/** Handlers may be at work for so many times the streams that may be open: more are left behind by streams that were reset (CVE-2023-44487). */
const ABANDONED_RATIO = 2
/** Pseudo-header fields, Host among them. */
const PSEUDO_FIELDS = 6
/** Bytes that a client may send on one stream whose body is wanted, and on all of them, before they are taken. */
const STREAM_WINDOW_BYTES = 262_144
const SESSION_WINDOW_BYTES = 1_048_576
const MOST_STREAM_BYTES = 4_194_304

/** One HTTP/2 connection of a client (RFC 9113): each of its streams becomes an exchange. */
export class Http2Connection<X extends WireExchange> implements Timed, OpenConnection, LaneOwner<X>, SessionOwner {
  sweepIndex = -1
  readonly handler: WireHandler<X>
  readonly limits: WireLimits
  private readonly owner: ConnectionOwner<X>
  private readonly address: string
  private readonly secured: Secured | undefined
  private readonly session: Http2Session
  private readonly busy = new Set<Lane<X>>()
  private readonly spare: Lane<X>[] = []
  /** Bytes of the preface that are still to come. */
  private prefaceLeft = PREFACE.length
  /** When an idle connection is closed, or one that we closed is cut; 0 = it is busy. */
  private deadline: number
  private over = false

  /** `secured` describes the TLS handshake of the socket; undefined for a plain one. */
  constructor({ socket, address, read }: Accepted, owner: ConnectionOwner<X>, secured: Secured | undefined) {
    this.handler = owner.handler
    this.limits = owner.limits
    this.owner = owner
    this.address = address
    this.secured = secured
    this.deadline = performance.now() + owner.limits.headTimeoutMs
    sweep.add(this)
    socket.on('error', () => {}) // `close` follows
    socket.on('close', () => this.onClose())
    // Half a connection is of no use to HTTP/2.
    socket.on('end', () => this.end())
    this.session = new Http2Session(socket, sessionOptions(owner.limits), this)
    read((bytes) => this.take(bytes))
  }

  /** Bytes have arrived, beginning with the preface. */
  take(bytes: Buffer): void {
    if (this.prefaceLeft === 0) {
      this.session.push(bytes)
      return
    }
    const count = Math.min(this.prefaceLeft, bytes.length)
    const from = PREFACE.length - this.prefaceLeft
    this.prefaceLeft -= count
    if (bytes.toString('latin1', 0, count) !== PREFACE.slice(from, from + count)) this.session.fail(CODE.protocol)
    else if (count < bytes.length) this.session.push(bytes.subarray(count))
  }

  sessionRequest(stream: FramedStream, fields: readonly Field[], tooLarge: boolean, ended: boolean): void {
    if (this.busy.size >= this.limits.http2Streams * ABANDONED_RATIO) {
      this.session.fail(CODE.enhanceYourCalm, 'abandoned_requests')
      return
    }
    const lane = this.spare.pop() ?? this.makeLane()
    this.busy.add(lane)
    this.deadline = 0
    lane.start(stream, fields, tooLarge, ended)
  }

  private makeLane(): Lane<X> {
    const x = this.handler.make()
    const { address, secured } = this
    x.peerAddress = address
    x.secure = secured !== undefined
    x.serverName = secured?.serverName ?? ''
    x.askedCertificate = secured?.askedCertificate ?? false
    x.peerCertificate = secured?.peerCertificate ?? ''
    return new Lane(this, x)
  }

  free(lane: Lane<X>): void {
    this.busy.delete(lane)
    if (this.spare.length < MAX_SPARE_LANES) this.spare.push(lane)
    if (this.busy.size > 0 || this.deadline !== 0) return
    this.deadline = performance.now() + (this.session.closing ? LINGER_MS : this.limits.keepAliveMs)
  }

  sessionChanged(): void {}

  sessionGoaway(reason: GoawayReason): void {
    this.handler.goaway?.(reason, this.address)
    if (reason !== 'no_error') for (const lane of this.busy) lane.endsBy(reason)
  }

  sessionIdle(ended: boolean): void {
    if (ended) this.linger()
  }

  tick(now: number): void {
    this.session.check(now)
    if (this.deadline === 0 || now < this.deadline) return
    if (this.session.ended) this.end()
    else if (this.session.closing) this.session.endDrain()
    else this.drain()
  }

  /** Takes no new streams (GOAWAY, RFC 9113 section 6.8) and ends with the last of those that are open. */
  drain(): void {
    this.session.drain()
    for (const lane of this.busy) lane.leaveTunnel()
    if (this.busy.size === 0) this.linger()
  }

  /** Pending output is sent; then the connection ends, whether the client closes it or not. */
  private linger(): void {
    if (!this.over) this.deadline = performance.now() + LINGER_MS
  }

  /** Ends the connection in any state. */
  destroy(): void {
    for (const lane of this.busy) lane.x.cutBy = 'stop'
    this.end()
  }

  private end(): void {
    this.session.output.flush()
    this.session.destroy()
  }

  private onClose(): void {
    if (this.over) return
    this.over = true
    sweep.remove(this)
    this.session.destroy()
    this.owner.closed(this)
  }
}

function sessionOptions({
  http2Streams,
  maxHeadBytes,
  maxFields,
  headTimeoutMs,
  bodyIdleMs,
}: WireLimits): SessionOptions {
  const maxListBytes = maxHeadBytes + maxFields * ENTRY_OVERHEAD_BYTES
  return {
    server: true,
    settings: [
      [SETTING.maxConcurrentStreams, http2Streams],
      [SETTING.maxHeaderListSize, maxListBytes],
      [SETTING.enableConnectProtocol, 1],
    ],
    maxListBytes,
    maxFields: maxFields + PSEUDO_FIELDS,
    maxStreams: http2Streams,
    firstWindowBytes: DEFAULT_WINDOW_BYTES,
    streamWindowBytes: STREAM_WINDOW_BYTES,
    sessionWindowBytes: SESSION_WINDOW_BYTES,
    mostStreamBytes: MOST_STREAM_BYTES,
    headTimeoutMs,
    stallMs: bodyIdleMs,
  }
}
