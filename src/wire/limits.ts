/** Bounds of a listener's connections. */
export interface WireLimits {
  readonly maxHeadBytes: number
  readonly maxFields: number
  /** From the first byte of a head (on a new connection: from its opening) to its last. */
  readonly headTimeoutMs: number
  /** Longest wait for the next request on an open connection. */
  readonly keepAliveMs: number
  /** Longest silence while a body is awaited from the client, or the client does not read. */
  readonly bodyIdleMs: number
  readonly tlsHandshakeMs: number
  /** Unfinished TLS handshakes at once. */
  readonly maxHandshakes: number
  /** Open connections at once; 0 = no bound. */
  readonly maxConnections: number
}
