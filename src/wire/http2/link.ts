import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { UpstreamOptions } from '../connect/upstream.ts'
import { ENTRY_OVERHEAD_BYTES } from '../hpack/field.ts'
import { MAX_ANSWER_FIELDS, MAX_ANSWER_HEAD_BYTES } from '../http1/response-head.ts'
import { LINGER_MS } from '../listen/limits.ts'
import { SETTING } from './codes.ts'
import type { GoawayReason } from './goaway.ts'
import { Http2Session } from './session.ts'
import type { SessionOwner } from './session-port.ts'

/** Streams at once on one session, where the upstream allows them. */
const MAX_STREAMS = 100
/** Bytes that an upstream may send on one stream, and on all of a session, before they are read. */
const STREAM_WINDOW_BYTES = 262_144
const SESSION_WINDOW_BYTES = 1_048_576
const MAX_LIST_BYTES = MAX_ANSWER_HEAD_BYTES + MAX_ANSWER_FIELDS * ENTRY_OVERHEAD_BYTES

/** The events of a link for its pool. */
export interface LinkPool {
  /** The upstream has said for the first time how many streams it takes. */
  ready(link: Link): void
  /** There may be room for another stream. */
  roomier(): void
  /** It takes no more streams. */
  gone(link: Link): void
}

/** An open session of an upstream. */
export class Link implements SessionOwner {
  readonly session: Http2Session
  private readonly socket: Socket
  private readonly pool: LinkPool
  /** The error of the upstream for which its session was ended; '' = there was none. */
  goaway: GoawayReason | '' = ''
  /** Requests that have a place here. */
  private places = 0
  private known = false
  private dropped = false
  /** When it is closed for want of use; 0 = in use. */
  private idleUntil = 0

  /** `socket` is connected; its bytes must be given to `session.push`. */
  constructor(socket: Socket, options: UpstreamOptions, pool: LinkPool) {
    this.socket = socket
    this.pool = pool
    socket.on('close', () => this.session.destroy())
    this.session = new Http2Session(
      socket,
      {
        server: false,
        settings: [
          [SETTING.enablePush, 0],
          [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
          [SETTING.maxHeaderListSize, MAX_LIST_BYTES],
        ],
        maxListBytes: MAX_LIST_BYTES,
        maxFields: MAX_ANSWER_FIELDS,
        maxStreams: 0,
        firstWindowBytes: STREAM_WINDOW_BYTES,
        streamWindowBytes: STREAM_WINDOW_BYTES,
        sessionWindowBytes: SESSION_WINDOW_BYTES,
        mostStreamBytes: STREAM_WINDOW_BYTES,
        headTimeoutMs: options.connectTimeoutMs,
        stallMs: options.idleTimeoutMs === 0 ? Number.POSITIVE_INFINITY : options.idleTimeoutMs,
      },
      this,
    )
  }

  /** Takes a place for a request; false when there is none. */
  place(): boolean {
    const { closing, peer } = this.session
    if (closing || this.places >= Math.min(MAX_STREAMS, peer.maxStreams)) return false
    this.places++
    this.idleUntil = 0
    return true
  }

  /** A request that had a place is over. */
  left(idleKeepMs: number): void {
    this.places--
    if (this.places === 0) this.rest(idleKeepMs)
  }

  /** Nobody uses it: keeps it for so long. */
  rest(idleKeepMs: number): void {
    if (this.places > 0) return
    if (idleKeepMs === 0) this.session.endDrain()
    else this.idleUntil = performance.now() + idleKeepMs
  }

  /** Looks at its deadlines; `now` in milliseconds of performance.now(). */
  check(now: number): void {
    this.session.check(now)
    if (this.idleUntil !== 0 && now >= this.idleUntil) this.session.endDrain()
  }

  /** Upstreams open no streams: the session ends when one does. */
  sessionRequest(): void {}

  sessionChanged(): void {
    if (this.session.closing) this.drop()
    else if (this.known) this.pool.roomier()
    else if (this.session.peer.known) {
      this.known = true
      this.pool.ready(this)
    }
  }

  sessionGoaway(reason: GoawayReason): void {
    if (reason !== 'no_error') this.goaway = reason
  }

  sessionIdle(ended: boolean): void {
    if (!ended) return
    this.drop()
    if (!this.socket.destroyed) setTimeout(() => this.socket.destroy(), LINGER_MS).unref()
  }

  private drop(): void {
    if (this.dropped) return
    this.dropped = true
    this.pool.gone(this)
  }
}
