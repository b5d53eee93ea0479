import type { FaultCode } from '../../errors/catalog.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Instant, Limit } from '../../model/limits/limit.ts'
import type { MetricRegistry, WatchedThread } from '../../model/metrics/metric-registry.ts'
import type { PartHealth } from '../../model/nodes/health.ts'
import type { Clock, Millis } from '../../model/time/clock.ts'
import type {
  Change,
  DeliveryRow,
  Kind,
  Revision,
  SessionInput,
  SessionRow,
  StoredDocument,
  TicketRow,
} from './changes.ts'
import type { Hits } from './hits.ts'
import type { Records } from './records.ts'

export type {
  Change,
  DashboardTicketType,
  DeliveryInput,
  DeliveryOutcome,
  DeliveryRow,
  Kind,
  Revision,
  SessionInput,
  SessionRow,
  StoredDocument,
  TicketInput,
  TicketRow,
  TicketType,
} from './changes.ts'
export type {
  HitBatch,
  HitDimension,
  HitQuery,
  Hits,
  UsageDimension,
  UsagePer,
  UsageQuery,
  UsageSort,
} from './hits.ts'

/** At once where the adapter can answer from memory or a local file, later where it cannot. Callers handle both. */
export type Awaitable<T> = T | Promise<T>

/** The call that brought a change about, for the audit. */
export interface AuditRequest {
  /** The id that the answer and the log line name as well. */
  readonly id: string
  readonly method: string
  /** Path and query as they were sent. Holds no secret. */
  readonly url: string
  readonly ip: string
  /** Who called, as people know them: an email address. */
  readonly user: string
  /** Of the answer; a change is recorded before its answer is sent. */
  readonly status: number
}

/**
 * Who changed what: written in the same transaction as the change, with the bodies before and after of every document and
 * session that the commit names. `detail` contains no secret; bodies are stored as they are: readers redact them.
 */
export interface AuditEntry {
  readonly actor: string
  readonly action: string
  readonly orgId: string
  readonly at: Millis
  readonly detail: JsonObject
  readonly request?: AuditRequest
}

/** The kind of sessions in `AuditChange`; their id is the hash as 64 hex digits. */
export const AUDITED_SESSION = 'session'

/** One document or session that an audited commit wrote or deleted. */
export interface AuditChange {
  readonly kind: Kind
  readonly id: string
  /** The body before and after; null = there was none. */
  readonly before: JsonObject | null
  readonly after: JsonObject | null
  /** Of a session that existed before: its whole row, to restore it. */
  readonly session?: SessionInput
  /** True when the bodies were too large to keep (16 M characters for one commit): both read null. */
  readonly omitted?: true
}

export interface AuditRow extends AuditEntry {
  /** 24 hex digits. */
  readonly id: string
  /** Of the commit; of a note, the last one before it. */
  readonly revision: Revision
  /** In the order of the commit; empty for notes. */
  readonly changes: readonly AuditChange[]
}

/** All that are given must match. */
export interface AuditQuery {
  readonly orgId?: string
  /** Part of the user of the request, else of the actor, without regard to case. */
  readonly user?: string
  readonly action?: string
  /** Without regard to case. */
  readonly method?: string
  readonly ip?: string
  readonly status?: number
  /** Part of the URL before its query, with regard to case. */
  readonly url?: string
  /** Inclusive. */
  readonly from?: Millis
  /** Exclusive. */
  readonly to?: Millis
  /** Entries of commits that wrote one of these documents; of sessions (`AUDITED_SESSION`) the ids are hashes in hex. */
  readonly wrote?: { readonly kind: string; readonly ids: readonly string[] }
}

/** Whether what an audit row wrote is still what the store holds. */
export interface AuditEntryState {
  readonly kind: Kind
  readonly id: string
  /** True when nothing has changed it since. */
  readonly current: boolean
  /** Of the document as it is now, to be used as `ifRevision`; 0 when there is none, and for sessions. */
  readonly revision: Revision
  /** The first later audit row that changed it; undefined when nothing did, or when the change was not recorded. */
  readonly laterId: string | undefined
}

/** The audit log, newest first. Written by `Documents.commit` and `Documents.note`. */
export interface Audit {
  /** A page and the number of all that match. About 10 ms for 100,000 rows. At most 1,000 rows. */
  list(query: AuditQuery & { offset?: number; limit: number }): Awaitable<{ rows: AuditRow[]; total: number }>
  /** The ids of such a page alone: its rows may be large, and are then read one by one. */
  listIds(query: AuditQuery & { offset?: number; limit: number }): Awaitable<{ ids: string[]; total: number }>
  /** One row; undefined for an id that is none. */
  get(id: string): Awaitable<AuditRow | undefined>
  /** All that match, in batches, for export; rows that come meanwhile are left out. */
  scan(query: AuditQuery): AsyncIterable<AuditRow[]>
  /** For each change of a row, in order, whether it can still be undone; undefined for an unknown row. */
  state(id: string): Awaitable<readonly AuditEntryState[] | undefined>
  /** Forgets what happened before, in rounds that leave room for others; answers how many rows. @throws Fault `store_full`, `store_away` */
  purgeAudit(before: Millis): Promise<number>
}

/** Index name to a value, or to several any one of which will do; all indexes must match. An empty list matches nothing. */
export type Where = Readonly<Record<string, string | readonly string[]>>

/** A part of a value under an index that has a folded one (`<index>_folded`), found without regard to case; '' is no condition. */
export interface Contains {
  /** Of several indexes one is enough. */
  readonly index: string | readonly string[]
  readonly part: string
}

export interface ListQuery {
  /** Only indexes declared for the kind; at most 10,000 values, those of `and` among them. */
  readonly where?: Where
  /** Further conditions, which must hold as well: for one index that must match twice. */
  readonly and?: readonly Where[]
  readonly contains?: Contains
  /** Declared index to sort by, ties by id; undefined = the order of ids. Those under `sorted` are fast. */
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
  get<K extends Kind>(kind: K, id: DocumentId): Awaitable<StoredDocument<K> | undefined>
  /** One document by a unique index of its kind (`api` by `api_id`). One indexed read. */
  find<K extends Kind>(kind: K, index: string, value: string): Awaitable<StoredDocument<K> | undefined>
  /** A page, sorted and filtered in the store, and the number of all that match. */
  list<K extends Kind>(kind: K, query: ListQuery): Awaitable<{ rows: StoredDocument<K>[]; total: number }>
  /** All of a kind in order of id, in batches, on one consistent snapshot per batch. For loading. */
  scan<K extends Kind>(kind: K): AsyncIterable<StoredDocument<K>[]>
  /** All that match, in the order asked for, in batches; which ones is settled at the first. For lists without an end. */
  each<K extends Kind>(kind: K, query: Omit<ListQuery, 'offset' | 'limit'>): AsyncIterable<StoredDocument<K>[]>
  /**
   * The values that the documents matching `where` and `and` are filed under by an index, in order, and how many each. For
   * filters to choose from.
   */
  values(
    kind: Kind,
    index: string,
    query?: Pick<ListQuery, 'where' | 'and'>,
  ): Awaitable<{ value: string; count: number }[]>
  /**
   * The values that the documents matching `where` and `and` are filed under by `index`, in no order, by the values that they are filed
   * under by `by`, in order. One reading of indexes, about 2 µs a value; nothing bounds how many there are.
   */
  valuesBy(
    kind: Kind,
    by: string,
    index: string,
    query: Pick<ListQuery, 'where' | 'and'>,
  ): Awaitable<ReadonlyMap<string, readonly string[]>>
  /**
   * Writes all changes and the audit entry in one transaction, or nothing. Resolves after the commit is durable and after
   * this process's feed listeners have been called with it.
   * @throws Fault `revision_conflict` (409), `already_exists` (409, names the index), `not_found` (404), `store_full` (503)
   */
  commit(changes: readonly Change[], audit: AuditEntry | undefined): Promise<Revision>
  /**
   * Writes an audit entry without a change: no new revision, nothing for the feed. Resolves when it is durable.
   * @throws Fault `store_full` (503)
   */
  note(entry: AuditEntry): Promise<void>
  /** Revision of the last commit. */
  revision(): Awaitable<Revision>
}

/** APIs and policies, any one of which will do; none: nothing matches. */
export interface SessionReach {
  readonly apiIds: readonly string[]
  readonly policyIds: readonly string[]
}

/** All that are given must match. */
export interface SessionFilter {
  readonly orgId?: string
  readonly apiId?: string
  readonly policyId?: string
  /** Those with rights on one of these APIs, or with one of these policies. */
  readonly reach?: SessionReach
  readonly clientId?: string
  /** `keys` leaves out the tokens of OAuth clients. */
  readonly only?: 'keys'
  /** Part of the alias, or the beginning of the hash from its fourth digit on, without regard to case; '' is no condition. */
  readonly contains?: string
}

/** Sessions (keys and access tokens), and the tickets of the authorization server. */
export interface Tokens {
  /** One session by the SHA-256 of its key or token (32 bytes). Under 1 ms from a cold cache. Rows past `evictAt` are not found. */
  getSession(hash: Uint8Array): Awaitable<SessionRow | undefined>
  /**
   * A page in order of creation, at most 1,000 rows. `after` is the `next` of the previous page, and continues where that page
   * ended, even if rows were deleted since; `next` is undefined after the last page. A hash (hex) is accepted too: the page begins
   * behind that session, or at the beginning when it is gone. `offset` rows of what then follows are left out.
   */
  listSessions(
    query: SessionFilter & { after?: string; offset?: number; limit: number },
  ): Awaitable<{ rows: SessionRow[]; next: string | undefined }>
  /** How many match. Walks the index: about 0.1 ms for a thousand, 100 ms for a million. */
  countSessions(query: SessionFilter): Awaitable<number>
  /** One ticket by the SHA-256 of its value, used and expired ones too, until `keepUntil`. Sees every acknowledged commit. */
  getTicket(hash: Uint8Array): Awaitable<TicketRow | undefined>
  /** The tickets of a family, used and expired ones too, until `keepUntil`, in the order of their hashes; at most 1,000. */
  familyTickets(family: string): Awaitable<readonly TicketRow[]>
}

/** How long after it was accepted a message that was given up is forgotten. */
export const DEAD_RETENTION_MS = 30 * 86_400_000

/** Messages that were accepted and not yet delivered. Written by commits, so that an event and its message are stored together. */
export interface Outbox {
  /** Of each queue its oldest message that is not dead, where it is due at `now`; at most `limit` queues. */
  due(now: Millis, limit: number): Awaitable<DeliveryRow[]>
  /** When the next message will be due; undefined when none waits. */
  nextAt(): Awaitable<Millis | undefined>
  /** A page of a queue in order of id, after the id `after` (0 = from the beginning); `dead` = only those that were given up, else all. */
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
  /**
   * The number of permits that this node gives by itself while `take` fails; answers at once, as `take`. Of a rate what it used in the
   * window before, or a twentieth of the limit where that is more; of a quota what was left when counts were last available. These permits
   * are counted when the counts are back. Absent where counts are always at hand.
   */
  takeAlone?(limits: readonly Limit[], now: Instant): number
  /**
   * Resets the count of a quota, or gives it this many used permits (`used`), in a new window; in one that has begun elsewhere
   * and ends `endsInMs` from now where that is given, never later than a new one would.
   */
  resetQuota(id: string, used?: number, endsInMs?: number): Awaitable<void>
  /** Gives the counts of `from` to `to`: a rotated key keeps what its predecessor has used. */
  carry(from: string, to: string): Awaitable<void>
}

export interface FeedEvent {
  readonly revision: Revision
  readonly changes: readonly { readonly op: 'put' | 'delete'; readonly kind: Kind; readonly id: DocumentId }[]
  /** Hashes of sessions that were written or deleted. */
  readonly sessions: readonly Uint8Array[]
  /**
   * True when this process was away for so long that commits up to this revision can no longer be listed: caches of
   * the store must be reloaded. Names nothing else.
   */
  readonly missed?: true
  /**
   * True, besides `missed`, when the store holds another history than this process knew: it was restored from a backup, or a standby took
   * over that lagged. Revisions that were seen before mean nothing any more; `revision` is the last one of the store as it is.
   */
  readonly wentBack?: true
}

/** A session that is to be stored when the store is back. */
export interface PendingSession {
  readonly hash: Uint8Array
  readonly row: SessionInput
  /** The API whose authorization server gave it out. */
  readonly apiId: string
}

/** Sessions that this node gave out while the store was away. `getSession` finds them here, and nowhere else, until they are stored. */
export interface PendingSessions {
  /** True when the store was away at the last pending write, and has not been reached since: callers need not wait to find out. */
  readonly away: boolean
  /** Keeps one; false when too many wait. It is stored with its ticket (`pendingTicket`), or not at all where that is there already. */
  keep(pending: PendingSession): boolean
}

/** Tells every part of the installation what was committed, in order, each commit once. */
export interface Feed {
  /** Calls `listener` after each commit of any process. Listeners must not throw. Answers the function that ends it. */
  subscribe(listener: (event: FeedEvent) => void): () => void
}

/** The clock of the database, by which every node of a cluster judges dates. */
export interface StoreClock extends Clock {
  /** How far the clock of this node is ahead of it; negative = behind. */
  readonly aheadMs: Millis
}

export interface Store {
  readonly documents: Documents
  readonly audit: Audit
  readonly tokens: Tokens
  readonly outbox: Outbox
  readonly counters: Counters
  readonly feed: Feed
  readonly hits: Hits
  readonly records: Records
  /** True while the store is away and what is read comes from a copy; absent = there is no copy. */
  readonly behind?: () => boolean
  /** Why the store does not take what it is to keep (full, read-only, away), as of the last second; undefined where it does. Absent = not known. */
  readonly refusing?: () => Promise<FaultCode | undefined>
  /** The last result of `refusing`, at once; starts the next look. */
  readonly refused?: () => FaultCode | undefined
  /** True once damage was found in the store, which then takes no writes; absent = not known. */
  readonly damaged?: () => boolean
  /** The state of the parts that it depends on, as last looked at: answers at once, whatever hangs. Absent = there are none. */
  readonly health?: () => readonly PartHealth[]
  /** Absent = the clock of the system. */
  readonly clock?: StoreClock
  /** Tokens that may be issued while the store is away; absent = none. */
  readonly pending?: PendingSessions
  /**
   * Has the feed call its listeners for all that any thread of this process has committed by now: to be called when a request begins, so
   * that it meets what was answered before it came. Absent = they were called before any commit was answered.
   */
  readonly catchUp?: () => void
  /** Adds what the store knows of itself to the metrics of a part; absent = nothing. */
  readonly offerMetrics?: (metrics: MetricRegistry) => void
  /** Threads that work for this store; absent = none. */
  readonly threads?: readonly WatchedThread[]
  /** Finishes accepted writes, saves quota counts, closes files and sockets. */
  close(): Promise<void>
}
