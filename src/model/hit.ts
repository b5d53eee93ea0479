/** Upper bounds (ms) of the latency histogram; a last bucket takes what is slower. The same everywhere, so that sums add up. */
export const LATENCY_BOUNDS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000] as const

export interface Latency {
  sumMs: number
  minMs: number
  maxMs: number
  /** `LATENCY_BOUNDS_MS.length + 1` counts. */
  buckets: number[]
}

/** Requests that had all their dimensions in common, within one hour. */
export interface Hit {
  /** Hours since the Unix epoch, UTC. */
  readonly hour: number
  readonly orgId: string
  readonly apiId: string
  /** `Non Versioned` when the API is not versioned. */
  readonly version: string
  /** Hash (hex) of the key or token, '' for keyless calls. Never the key. */
  readonly keyHash: string
  readonly alias: string
  readonly clientId: string
  /** Policy, session, header and node tags, sorted, joined by commas. */
  readonly tags: string
  /** `METHOD /path` of a tracked endpoint, '' otherwise. */
  readonly endpoint: string
  readonly status: number
  count: number
  /** 2xx. */
  success: number
  /** 400 and above. */
  error: number
  /** Unix milliseconds. */
  lastAt: number
  total: Latency
  upstream: Latency
}
