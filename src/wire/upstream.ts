/** One origin server: scheme, host, port, and how long we wait for it. Holds its idle connections. */
export interface UpstreamOptions {
  /** Host name or address, without brackets. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
  /** Server name for TLS; defaults to `host`. */
  readonly serverName?: string
  /** PEM of additional certificate authorities for TLS. */
  readonly ca?: string
  /** Skips the check of the upstream's certificate. */
  readonly insecure?: boolean
  readonly connectTimeoutMs: number
  /** From the last byte of the request handed over to the head of the answer. */
  readonly headTimeoutMs: number
  /** Longest silence within a body, either way. 0 = none. */
  readonly idleTimeoutMs: number
  /** From handing on to the end of the answer. 0 = none (streams). */
  readonly totalTimeoutMs: number
  readonly maxIdle: number
  readonly idleKeepMs: number
}

export class Upstream {
  readonly options: UpstreamOptions

  constructor(options: UpstreamOptions) {
    this.options = options
  }

  /** Closes idle connections and lets busy ones end. */
  close(): void {
    throw new Error('wire: to be written')
  }
}
