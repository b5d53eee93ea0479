import {
  constants,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerSessionOptions,
} from 'node:http2'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { ConnectionOwner, OpenConnection } from '../connection-owner.ts'
import type { WireExchange, WireHandler } from '../exchange.ts'
import type { Secured } from '../handshake.ts'
import type { WireLimits } from '../limits.ts'
import { sweep, type Timed } from '../sweep.ts'
import { Lane, type LaneOwner } from './lane.ts'

/** Who is at the other end of a connection. */
export interface Http2Peer {
  readonly address: string
  /** undefined for a plain connection. */
  readonly secured: Secured | undefined
}

/** Lanes kept for the next streams of a connection. */
const MAX_SPARE_LANES = 16
/** Handlers may be at work for so many times the streams that may be open: more are left behind by streams that were reset (CVE-2023-44487). */
const ABANDONED_RATIO = 2
/** Streams that a client may reset at once, and then in a second: browsers that leave a page reset what it loads. */
const RESET_BURST = 200
const RESETS_PER_SECOND = 33
/** Frames of protocol errors, and refused streams, that one connection may cause. */
const MAX_INVALID_FRAMES = 100
const MAX_OUTSTANDING = 10
/** Options of Node that its types do not know. */
const UNTYPED: object = { maxOutstandingSettings: MAX_OUTSTANDING }
/** Pseudo-header fields, Host among them. */
const PSEUDO_FIELDS = 5
/** What a field counts for besides its bytes (RFC 9113 section 6.5.2). */
const FIELD_OVERHEAD_BYTES = 32
/** Bytes that a client may send on all its streams before the first of them is read. */
const WINDOW_BYTES = 1_048_576
/** Longest wait for a client to close its side after we have closed ours. */
const LINGER_MS = 2000

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_FLAG_END_STREAM } = constants

/** One HTTP/2 connection of a client (RFC 9113): each of its streams becomes an exchange. Framing, HPACK and flow control are nghttp2's. */
export class Http2Connection<X extends WireExchange> implements Timed, OpenConnection, LaneOwner<X> {
  sweepIndex = -1
  readonly handler: WireHandler<X>
  readonly limits: WireLimits
  private readonly owner: ConnectionOwner<X>
  private readonly socket: Socket
  private readonly peer: Http2Peer
  private readonly session: ServerHttp2Session
  private readonly busy = new Set<Lane<X>>()
  private readonly spare: Lane<X>[] = []
  /** When an idle connection is closed, or one that we closed is cut; 0 = it is busy. */
  private deadline: number
  private over = false

  /** `socket` holds all that the client has sent, its preface included. */
  constructor(socket: Socket, owner: ConnectionOwner<X>, peer: Http2Peer) {
    this.handler = owner.handler
    this.limits = owner.limits
    this.owner = owner
    this.socket = socket
    this.peer = peer
    this.deadline = performance.now() + owner.limits.headTimeoutMs
    sweep.add(this)
    // Half a connection is of no use to HTTP/2.
    socket.allowHalfOpen = false
    socket.on('error', () => {}) // `close` follows
    socket.on('close', () => this.onClose())
    if (peer.secured !== undefined) markSecured(socket)
    this.session = performServerHandshake(socket, sessionOptions(owner.limits))
    this.session.on('error', () => this.linger())
    this.session.on('close', () => this.onClose())
    this.session.on('stream', (stream, _headers, flags, rawHeaders) => this.begin(stream, flags, rawHeaders))
    this.session.setLocalWindowSize(WINDOW_BYTES)
  }

  private begin(stream: ServerHttp2Stream, flags: number, rawHeaders: readonly string[]): void {
    stream.on('error', () => {}) // `close` follows and tells all we act on
    // Reset in the very read that it came with.
    if (stream.destroyed || stream.closed) return
    if (this.busy.size >= this.limits.http2Streams * ABANDONED_RATIO) {
      this.session.destroy(new Error('too many abandoned streams'), NGHTTP2_ENHANCE_YOUR_CALM)
      return
    }
    const lane = this.spare.pop() ?? this.makeLane()
    this.busy.add(lane)
    this.deadline = 0
    lane.start(stream, rawHeaders, (flags & NGHTTP2_FLAG_END_STREAM) !== 0)
  }

  private makeLane(): Lane<X> {
    const x = this.handler.make()
    const { address, secured } = this.peer
    x.peerAddress = address
    x.secure = secured !== undefined
    x.serverName = secured?.serverName ?? ''
    x.peerCertificate = secured?.peerCertificate ?? ''
    return new Lane(this, x)
  }

  free(lane: Lane<X>): void {
    this.busy.delete(lane)
    if (this.spare.length < MAX_SPARE_LANES) this.spare.push(lane)
    if (this.busy.size > 0 || this.over) return
    if (this.session.closed || this.session.destroyed) this.linger()
    else this.deadline = performance.now() + this.limits.keepAliveMs
  }

  tick(now: number): void {
    if (this.deadline === 0 || now < this.deadline) return
    if (this.session.closed || this.session.destroyed) this.destroy()
    else this.drain()
  }

  /** Takes no new streams (GOAWAY, RFC 9113 section 6.8) and ends with the last of those that are open. */
  drain(): void {
    if (!this.session.closed && !this.session.destroyed) this.session.close()
    if (this.busy.size === 0) this.linger()
  }

  /** What still goes out goes out; then the connection ends, whether the client closes it or not. */
  private linger(): void {
    this.deadline = performance.now() + LINGER_MS
  }

  /** Ends the connection whatever it does. */
  destroy(): void {
    for (const lane of this.busy) lane.cut()
    this.session.destroy()
    this.socket.destroy()
  }

  private onClose(): void {
    if (this.over) return
    this.over = true
    sweep.remove(this)
    for (const lane of this.busy) lane.cut()
    this.owner.closed(this)
  }
}

/** Node's own TLS server says so of its sockets; a session would wait for it. */
function markSecured(socket: Socket): void {
  ;(socket as unknown as { secureConnecting: boolean }).secureConnecting = false
}

function sessionOptions({ http2Streams, maxHeadBytes, maxFields }: WireLimits): ServerSessionOptions {
  return {
    settings: {
      maxConcurrentStreams: http2Streams,
      maxHeaderListSize: maxHeadBytes + maxFields * FIELD_OVERHEAD_BYTES,
    },
    maxHeaderListPairs: maxFields + PSEUDO_FIELDS,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionRejectedStreams: MAX_INVALID_FRAMES,
    maxOutstandingPings: MAX_OUTSTANDING,
    ...UNTYPED,
    streamResetBurst: RESET_BURST,
    streamResetRate: RESETS_PER_SECOND,
    // Repeated fields pass as they do in HTTP/1.1; those that matter are checked by our own rules.
    strictSingleValueFields: false,
  }
}
