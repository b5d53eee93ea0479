import type { Socket } from 'node:net'

/** The writing side of an origin. */
export interface OriginOutlet {
  /** Writes latin1 text: a head, and behind it perhaps a whole body. */
  text(text: string): boolean
  /**
   * Writes a head (perhaps '') and body bytes, `chunked` or as they are, `last` with the end of the body.
   * Answers false when it wants to be left alone until `originDrained`.
   */
  body(before: string, chunked: boolean, chunk: Buffer, from: number, to: number, last: boolean): boolean
}

/** The writing side of a client, for interim answers. */
export interface InterimOutlet {
  /** Writes the head of an interim answer. Answers false when the client does not read. */
  interim(head: string): boolean
}

/** Trailers of one exchange, as `name: value\r\n` lines. */
export interface Trailing {
  /** False for a client that gets no trailers, and sends none. */
  readonly http2: boolean
  requestTrailers: string
  /** undefined when none can come. */
  answerTrailers: string | undefined
  /** Continuation of either; called when they are sent. */
  forwardedTrailers(): string
  answeredTrailers(): string
}

/** The upstream connection as a relay uses it, for any version of HTTP. */
export interface Origin {
  /** True once requests may be written. */
  readonly open: boolean
  /** Requests that were sent on it before the present one. */
  readonly used: number
  /** Carries tunnels; undefined where there can be none. */
  readonly socket: Socket | undefined
  readonly outlet: OriginOutlet | undefined
  /** True when it frames bodies itself: they are never written within the text of their head. */
  readonly framing: boolean
  /** Says what is being asked, before its first byte is written; `now` in milliseconds of performance.now(). */
  ask(bodiless: boolean, mayUpgrade: boolean, now: number): void
  /** A part of the body will be written, and not the last: the upstream may answer and close before it has all. */
  bodyContinues?(): void
  /** The last byte of the request was written: from now on the head of the answer is due. */
  sent(now: number): void
  /** The upstream does not take what the client sends. */
  stalled(): void
  unstalled(): void
  /** Reads no more until `resume`. */
  pause(): void
  resume(): void
  /** Its user has had enough of an answer that has no body. */
  abandon(): void
  /** Ends the request without a word to its user. */
  destroy(): void
  /** Parts with a tunnel whose both directions were ended. */
  leave(): void
}
