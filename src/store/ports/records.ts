import type { JsonObject } from '../../model/json/json.ts'
import type { Millis } from '../../model/time/clock.ts'

/** At once where the adapter can answer from memory or a local file. */
type Awaitable<T> = T | Promise<T>

/** One finished request, as it is stored. The caller has removed the secrets. */
export interface RecordInput {
  /** When the request began. */
  readonly at: Millis
  readonly orgId: string
  readonly apiId: string
  readonly status: number
  readonly method: string
  /** Hash (hex) of the key or token; '' without one. Never the key. */
  readonly keyHash: string
  readonly clientId: string
  /** Joined by commas. */
  readonly tags: string
  /** Without the query. */
  readonly path: string
  /** That of the answer; '' = none is known. */
  readonly requestId: string
  /** Everything else: kept and given back, not searched. */
  readonly fields: JsonObject
  /** Heads and bodies, where the request was recorded whole. */
  readonly detail?: RecordDetail
}

export interface RecordDetail {
  readonly request: Uint8Array
  readonly response: Uint8Array
}

export interface RecordRow extends RecordInput {
  /** Grows with every record, and is never given to another. */
  readonly id: number
}

/** Requests of one API that began within one minute and are not among the records. */
export interface DroppedRecords {
  readonly at: Millis
  readonly orgId: string
  readonly apiId: string
  readonly count: number
}

/** All that are given must match; '' asks for nothing, but as `orgId`. */
export interface RecordQuery {
  readonly orgId?: string
  /** One, or several any one of which will do; an empty list matches nothing. */
  readonly apiId?: string | readonly string[]
  /** Inclusive. */
  readonly from?: Millis
  /** Exclusive. */
  readonly to?: Millis
  readonly status?: number
  /** Only those with a status of 400 and above. */
  readonly errors?: boolean
  readonly method?: string
  readonly keyHash?: string
  readonly clientId?: string
  readonly tag?: string
  /** Part of the path, with regard to case. */
  readonly path?: string
  /** The whole id. Found by an index, at any age. */
  readonly requestId?: string
}

/** Single requests, newest first by the time when they began. They may be incomplete: see `dropped`. */
export interface Records {
  /**
   * Adds records, all or none, and what was left out. Durable when it resolves. At most some hundred at a time: others wait
   * about 20 microseconds for each. @throws Fault `internal` when one of them is malformed, `store_full`, `store_away`
   */
  append(records: readonly RecordInput[], dropped?: readonly DroppedRecords[]): Promise<void>
  /** A page, at most 1,000 rows, and the number of all that match. About 20 ms for 100,000 records. */
  list(query: RecordQuery & { offset?: number; limit: number }): Awaitable<{ rows: RecordRow[]; total: number }>
  /** All that match, in batches; records that come meanwhile are left out. */
  scan(query: RecordQuery): AsyncIterable<RecordRow[]>
  /** The next records behind the id `after` that match, in the order in which they came, without details; at most 1,000. */
  after(query: RecordQuery & { after: number; limit: number }): Awaitable<RecordRow[]>
  /** Id of the newest record, 0 when there was none. */
  last(): Awaitable<number>
  /** How many requests of the minutes that the time touches were not recorded. */
  dropped(query: Pick<RecordQuery, 'orgId' | 'apiId' | 'from' | 'to'>): Awaitable<number>
  /**
   * Forgets what began before, and the oldest beyond the newest `keep`, in rounds that leave room for others; answers how many
   * records. @throws Fault `store_full`, `store_away`
   */
  purgeRecords(limits: { readonly before: Millis; readonly keep: number }): Promise<number>
}
