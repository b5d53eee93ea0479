import type { Millis } from '../model/clock.ts'
import type { Hit, HitDimensions } from '../model/hit.ts'
import type { DocumentId } from '../model/ids.ts'
import type { JsonObject } from '../model/json.ts'
import type { Instant, Limit } from '../model/limit.ts'

/** At once where the adapter can answer from memory or a local file, later where it cannot. Callers handle both. */
export type Awaitable<T> = T | Promise<T>

/** Grows by one with every commit; 0 before the first. */
export type Revision = number

/** A noun that the store keeps. Its indexes are declared in `model/kinds.ts`. */
export type Kind = string

export interface StoredDocument {
  readonly kind: Kind
  readonly id: DocumentId
  /** Revision of the commit that wrote it last. */
  readonly revision: Revision
  readonly body: JsonObject
}

export type Change =
  /** Writes the whole body. `ifRevision`: 0 = must not exist yet; n = must be at that revision. @throws Fault `revision_conflict` */
  | { op: 'put'; kind: Kind; id: DocumentId; body: JsonObject; ifRevision?: Revision }
  /** Deletes; a document that is not there is no error. */
  | { op: 'delete'; kind: Kind; id: DocumentId; ifRevision?: Revision }
  /** Writes the session stored under `hash` (32 bytes). `ifAbsent`: fails with `already_exists` if there is one; `ifPresent`: fails with `not_found` if there is none. */
  | { op: 'putSession'; hash: Uint8Array; row: SessionInput; ifAbsent?: boolean; ifPresent?: boolean }
  | { op: 'deleteSession'; hash: Uint8Array }
  /**
   * Writes a ticket under `hash` (32 bytes). `ifAbsent`: fails with `already_exists` if there is one that has not lapsed.
   * `ifVersion`: fails with `ticket_unusable` unless it is there with this version, unused.
   */
  | { op: 'putTicket'; hash: Uint8Array; row: TicketInput; ifAbsent?: boolean; ifVersion?: number }
  /** Uses a ticket up. Fails with `ticket_unusable` when there is none of the sort, it has lapsed by `now`, or it was used before. */
  | { op: 'claimTicket'; hash: Uint8Array; sort: TicketSort; now: Millis }
  | { op: 'deleteTicket'; hash: Uint8Array }
  /** Deletes all sessions and all tickets of a family, used ones too; the feed names the sessions. */
  | { op: 'endFamily'; family: string }
  /** Puts a message into the outbox. Messages of one queue are delivered in the order of their commits. */
  | { op: 'putDelivery'; row: DeliveryInput }
  /** What became of a try: `delivered` ones are forgotten, others wait for `nextAt`, or are kept as dead until somebody sends them again. */
  | { op: 'settleDelivery'; id: number; outcome: DeliveryOutcome }

/**
 * Something of the authorization server that is used once, or until it lapses: an authorization code, a refresh token, a
 * device code and the user code that stands for it, a pushed request, the id of a proof that was seen.
 */
export type TicketSort = 'code' | 'refresh' | 'device' | 'user_code' | 'request' | 'proof'

export interface TicketInput {
  readonly sort: TicketSort
  readonly apiId: string
  /** '' for proofs. */
  readonly clientId: string
  /** What it shares with the tokens that came from the same grant; '' = nothing. */
  readonly family: string
  /** From then on it cannot be used; it is still found, so that a late use can be told from an unknown one. */
  readonly expiresAt: Millis
  /** From then on nobody finds it, and the store forgets it. Not before `expiresAt`. */
  readonly keepUntil: Millis
  readonly body: JsonObject
}

export interface TicketRow extends TicketInput {
  readonly hash: Uint8Array
  /** 1 when it was put first, one more with each put since. */
  readonly version: number
  /** When it was used; 0 = not yet. */
  readonly claimedAt: Millis
}

export interface DeliveryInput {
  /** What is delivered in order: the API. */
  readonly queue: string
  /** The message, sealed: it may hold tokens. */
  readonly sealed: Uint8Array
  readonly createdAt: Millis
}

export interface DeliveryRow extends DeliveryInput {
  /** Grows with every message. */
  readonly id: number
  readonly attempts: number
  /** Not to be tried before. */
  readonly nextAt: Millis
  /** Given up: it holds nothing up any more. */
  readonly dead: boolean
  /** Of the last try; '' = none yet. Holds no secret. */
  readonly error: string
}

export type DeliveryOutcome =
  | { readonly is: 'delivered' }
  | { readonly is: 'failed'; readonly nextAt: Millis; readonly error: string }
  | { readonly is: 'dead'; readonly error: string }
  /** A dead one is to be sent again, as the first of its queue. */
  | { readonly is: 'again'; readonly nextAt: Millis }

/** What is kept of a session besides its body: the columns that lists and expiry need. */
export interface SessionInput {
  readonly body: JsonObject
  readonly orgId: string
  /** API ids and policy ids that the session names, for lists. */
  readonly apiIds: readonly string[]
  readonly policyIds: readonly string[]
  /** Client id of an OAuth token, '' for a key. */
  readonly clientId: string
  /** When the store may forget the row; 0 = never. Not the expiry that callers see. */
  readonly evictAt: Millis
  /** The raw key, encrypted, where it must be shown again; else undefined. */
  readonly sealedKey?: Uint8Array
  /** The grant that an access token came from, so that all of it can be ended at once; '' or absent = none. */
  readonly family?: string
}

export interface SessionRow extends SessionInput {
  readonly hash: Uint8Array
}

/** Who changed what: written in the same transaction as the change. Secrets are redacted before they get here. */
export interface AuditEntry {
  readonly actor: string
  readonly action: string
  readonly orgId: string
  readonly at: Millis
  readonly detail: JsonObject
}

export interface ListQuery {
  /** Index name to value; all must match. Only indexes declared for the kind. */
  readonly where?: Readonly<Record<string, string>>
  /** Declared index to sort by, or undefined for the order of ids. */
  readonly order?: string
  readonly descending?: boolean
  readonly offset?: number
  /** At most 1,000. */
  readonly limit: number
}

/**
 * Documents: everything people configure. Reads never wait for writers; a read after an acknowledged commit sees it.
 * All methods @throws Fault `store_away` (503) when the store cannot be reached.
 */
export interface Documents {
  /** One document by storage id. One indexed read. */
  get(kind: Kind, id: DocumentId): Awaitable<StoredDocument | undefined>
  /** One document by a unique index of its kind (`api` by `api_id`). One indexed read. */
  find(kind: Kind, index: string, value: string): Awaitable<StoredDocument | undefined>
  /** A page, sorted and filtered in the store, and the number of all that match. */
  list(kind: Kind, query: ListQuery): Awaitable<{ rows: StoredDocument[]; total: number }>
  /** All of a kind in order of id, in batches, on one consistent snapshot per batch. For loading. */
  scan(kind: Kind): AsyncIterable<StoredDocument[]>
  /**
   * Writes all changes and the audit entry in one transaction, or nothing. Resolves after the commit is durable and after
   * this process's feed listeners have been called with it.
   * @throws Fault `revision_conflict` (409), `already_exists` (409, names the index), `not_found` (404), `store_full` (503)
   */
  commit(changes: readonly Change[], audit: AuditEntry | undefined): Promise<Revision>
  /** Revision of the last commit. */
  revision(): Awaitable<Revision>
}

/** All that are given must match. */
export interface SessionFilter {
  readonly orgId?: string
  readonly apiId?: string
  readonly policyId?: string
  readonly clientId?: string
}

/** Sessions (keys and access tokens), and the tickets of the authorization server. */
export interface Tokens {
  /** One session by the SHA-256 of its key or token (32 bytes). Under 1 ms from a cold cache. Rows past `evictAt` are not found. */
  getSession(hash: Uint8Array): Awaitable<SessionRow | undefined>
  /**
   * A page in order of creation, at most 1,000 rows. `after` is the `next` of the page before, which goes on where that page
   * ended whatever is deleted meanwhile; `next` is undefined after the last page. A hash (hex) is taken too: the page begins
   * behind that session, or at the beginning when it is gone.
   */
  listSessions(
    query: SessionFilter & { after?: string; limit: number },
  ): Awaitable<{ rows: SessionRow[]; next: string | undefined }>
  /** How many match. Walks the index: about 0.1 ms for a thousand, 100 ms for a million. */
  countSessions(query: SessionFilter): Awaitable<number>
  /** One ticket by the SHA-256 of its value, used and lapsed ones too, until `keepUntil`. Sees every acknowledged commit. */
  getTicket(hash: Uint8Array): Awaitable<TicketRow | undefined>
}

/** Messages that were accepted and not yet delivered. Written by commits, so that what a message tells of and the message itself are there together. */
export interface Outbox {
  /** Of each queue its oldest message that is not dead, where it is due at `now`; at most `limit` queues. */
  due(now: Millis, limit: number): Awaitable<DeliveryRow[]>
  /** When the next message will be due; undefined when none waits. */
  nextAt(): Awaitable<Millis | undefined>
  /** A page of a queue in order of id, after the id `after` (0 = from the beginning); `dead` = only those that were given up. */
  list(query: { queue: string; dead: boolean; after: number; limit: number }): Awaitable<DeliveryRow[]>
  get(id: number): Awaitable<DeliveryRow | undefined>
}

/**
 * Rate and quota counters. In one process `take` answers at once; in a cluster it may answer later.
 * A quota count is durable within a second; a rate count need not survive a restart.
 */
export interface Counters {
  /**
   * Takes one permit from every limit, or none from any: a refused call costs nothing anywhere.
   * Writes `remaining` and `resetMs` of every limit. Answers the index of the first limit that refuses, else -1.
   * Limits are checked in the order given. @throws Fault `store_away` when counts cannot be had (cluster)
   */
  take(limits: readonly Limit[], now: Instant): Awaitable<number>
  /** Writes `remaining` and `resetMs` of every limit without taking anything; answers what `take` would. */
  peek(limits: readonly Limit[], now: Instant): Awaitable<number>
  /** Starts the count of a quota anew, or gives it this many used permits (`used`), in a new window. */
  resetQuota(id: string, used?: number): Awaitable<void>
  /** Gives the counts of `from` to `to`: a rotated key keeps what its predecessor has used. */
  carry(from: string, to: string): Awaitable<void>
}

export interface FeedEvent {
  readonly revision: Revision
  readonly changes: readonly { readonly op: 'put' | 'delete'; readonly kind: Kind; readonly id: DocumentId }[]
  /** Hashes of sessions that were written or deleted. */
  readonly sessions: readonly Uint8Array[]
}

/** Tells every part of the installation what was committed, in order, each commit once. */
export interface Feed {
  /** Calls `listener` after each commit of any process. Listeners must not throw. Answers the function that ends it. */
  subscribe(listener: (event: FeedEvent) => void): () => void
}

/** Which call of a source this is, so that one that got no answer can be repeated without counting twice. */
export interface HitBatch {
  /** A name that nobody else uses, such as random text of the process. */
  readonly source: string
  /** Grows with every batch of the source, from 1. */
  readonly number: number
}

/** Aggregated counts of requests. */
export interface Hits {
  /**
   * Adds the rows to what is stored for the same hour, dimensions and status, all or none. Durable when it resolves. The rows
   * are copied before the call returns, at about a microsecond each: hand in some thousand at a time.
   * With a `batch` the call may be repeated: what the store has of a source up to this number is not added again.
   * @throws Fault `store_full` (nothing was added), `store_away` (the rows may be there: repeat the call with the same batch)
   */
  add(rows: readonly Hit[], batch?: HitBatch): Promise<void>
  /** Sums per hour and the dimensions named by `by`: newest hour first, within it the larger count first. */
  sum(query: HitQuery): Awaitable<Hit[]>
}

/** A dimension of hits that sums can be kept apart by. */
export type HitDimension = keyof HitDimensions | 'status'

export interface HitQuery {
  /** First and last hour, both inclusive. */
  readonly fromHour: number
  readonly toHour: number
  readonly where?: Readonly<
    Partial<Record<'orgId' | 'apiId' | 'version' | 'keyHash' | 'clientId' | 'endpoint', string>>
  >
  /** Dimensions to keep apart, all by default. The others are merged and read '' (`status`: 0) in the answer. */
  readonly by?: readonly HitDimension[]
  readonly limit: number
}

export interface Store {
  readonly documents: Documents
  readonly tokens: Tokens
  readonly outbox: Outbox
  readonly counters: Counters
  readonly feed: Feed
  readonly hits: Hits
  /** Finishes what was accepted, saves quota counts, lets go of files and sockets. */
  close(): Promise<void>
}
