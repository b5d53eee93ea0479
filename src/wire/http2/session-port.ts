import type { ListBounds } from '../hpack/decoder.ts'
import type { Field } from '../hpack/field.ts'
import type { GoawayReason } from './goaway.ts'
import type { WindowOptions } from './receive-windows.ts'
import type { FramedStream } from './stream.ts'

/** The role of a session, and its bounds. */
export interface SessionOptions extends ListBounds, WindowOptions {
  readonly server: boolean
  /** Identifiers (SETTING) and values that are sent first. */
  readonly settings: readonly (readonly [number, number])[]
  /** Streams that the peer may open at once. */
  readonly maxStreams: number
  /** Longest wait for the rest of a field block, and for the answer to our SETTINGS. */
  readonly headTimeoutMs: number
  /** Longest that a peer may take nothing of what waits for it. */
  readonly stallMs: number
}

/** Receiver of session events. */
export interface SessionOwner {
  /** A client has begun a stream: its user must be set, or the stream reset. `ended` = without a body. */
  sessionRequest(stream: FramedStream, fields: readonly Field[], tooLarge: boolean, ended: boolean): void
  /** The peer has said how many streams it takes, or that it takes no more. */
  sessionChanged(): void
  /** GOAWAY ends the connection now; its streams end next. */
  sessionGoaway(reason: GoawayReason): void
  /** All streams are over. `ended` = nothing more will come of this session; its socket may still be open. */
  sessionIdle(ended: boolean): void
}
