/** Bounds of a listener's connections. */
export interface WireLimits {
  readonly maxHeadBytes: number
  readonly maxFields: number
  readonly allowUnderscores: boolean
  /** From the first byte of a head (on a new connection: from its opening) to its last. */
  readonly headTimeoutMs: number
  /** Longest wait for the next request on an open connection. */
  readonly keepAliveMs: number
  /** Longest silence while a body is awaited from the client, or the client does not read. */
  readonly bodyIdleMs: number
  readonly tlsHandshakeMs: number
  /** Unfinished TLS handshakes at once. */
  readonly maxHandshakes: number
  /** Streams that a connection of HTTP/2 may have open at once; 0 = HTTP/2 is not spoken. */
  readonly http2Streams: number
}

/** Unread bytes kept for later; beyond that the socket is paused. */
export const MAX_PENDING_BYTES = 65_536
/** Longest rest of a request body that is read for the sake of keeping the connection. */
export const DRAIN_BYTES = 65_536
/** Longest wait for such a rest, and for the client to close after our last answer. */
export const LINGER_MS = 2000
/** A client that has closed its sending side is taken for gone when the answer makes no progress for so long. */
export const HALF_CLOSED_MS = 1000
