import { rmSync, truncateSync } from 'node:fs'
import { fault, toFault } from '../../errors/fault.ts'
import type { Log } from '../../model/logs/log.ts'
import type { PartHealth } from '../../model/nodes/health.ts'
import { hexOf } from '../../model/text/hex.ts'
import { forwardDocuments } from '../ports/forward-documents.ts'
import type {
  AuditEntry,
  Change,
  Counters,
  Documents,
  FeedEvent,
  Kind,
  Revision,
  SessionRow,
  Store,
  StoredDocument,
  Tokens,
} from '../ports/ports.ts'
import { ThreadFeed } from '../prepare/feed.ts'
import { CopyFile } from './file.ts'
import { PendingTokens } from './pending-revocations.ts'

/** Kinds that are read again as soon as they change: until that is done an old one serves better than none. */
const READ_AT_ONCE: ReadonlySet<Kind> = new Set(['api', 'policy', 'org_session'])

/** Opens the copy in a file that is there, maybe empty; one that cannot be read is rebuilt. @throws Error of SQLite when none can be made */
export function openCopy(file: string, keptSessions: number, log: Log): CopyFile {
  try {
    return new CopyFile(file, keptSessions, log)
  } catch (error) {
    log.warn({ cause: toFault(error) }, 'the local copy is damaged, rebuilding it')
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
    // Emptied, not removed: it keeps its owner and mode.
    truncateSync(file)
    return new CopyFile(file, keptSessions, log)
  }
}

/**
 * A store whose documents and sessions are noted in a copy as they are read, and read from it while the store is away. What is
 * written needs the store itself.
 */
export function withCopy(store: Store, copy: CopyFile, log: Log): Store {
  const feed = new ThreadFeed()
  const revoked = (hash: Uint8Array) => feed.publish({ revision: 0, changes: [], sessions: [hash] })
  const pending = new PendingTokens({ documents: store.documents, copy, log, revoked })
  const merged = new StoreOrCopy(store.documents, store.tokens, copy, pending)
  const unsubscribe = store.feed.subscribe((event) => {
    merged.changed(event)
    feed.publish(event)
  })
  return {
    ...{ ...store, feed, pending },
    documents: merged.documents,
    tokens: merged.tokens,
    behind: () => merged.behind,
    health() {
      const parts = store.health?.() ?? []
      const isAway = parts.some(
        ({ part, fault }) => part === 'store' && fault !== undefined && fault !== 'store_read_only',
      )
      return [...parts, merged.health(isAway)]
    },
    async close() {
      unsubscribe()
      pending.close()
      await store.close()
      copy.close()
    },
  }
}

/** Reads that are under way; what is changed meanwhile must not be noted as it was. */
class Reads {
  private readonly open = new Map<string, number>()
  private readonly changed = new Set<string>()

  async of<Found>(name: string, ask: () => Found | Promise<Found>, note: (found: Found) => void): Promise<Found> {
    this.open.set(name, (this.open.get(name) ?? 0) + 1)
    try {
      const found = await ask()
      if (!this.changed.has(name)) note(found)
      return found
    } finally {
      const left = this.open.get(name)! - 1
      if (left > 0) this.open.set(name, left)
      else {
        this.open.delete(name)
        this.changed.delete(name)
      }
    }
  }

  change(name: string): void {
    if (this.open.has(name)) this.changed.add(name)
  }
}

class StoreOrCopy {
  /** True while answers come from the copy. */
  behind = false
  /** By `performance.now`: when the store was known to answer last. */
  private answeredMs = performance.now()
  private readonly copy: CopyFile
  private readonly pending: PendingTokens
  private readonly reads = new Reads()
  private readonly store: Documents
  /** As the store said before the APIs were read, so that what changes meanwhile counts as newer. */
  private revision: Revision = 0
  readonly documents: Documents
  readonly tokens: Tokens

  constructor(documents: Documents, tokens: Tokens, copy: CopyFile, pending: PendingTokens) {
    this.copy = copy
    this.pending = pending
    this.store = documents
    this.documents = forwardDocuments(documents, {
      get: (kind, id) => this.get(kind, id),
      find: (kind, index, value) => this.find(kind, index, value),
      commit: (changes, audit) => this.commit(changes, audit),
      scan: (kind) => this.scan(kind),
      revision: () => this.readRevision(),
    })
    this.tokens = {
      getSession: (hash) => this.getSession(tokens, hash),
      listSessions: (query) => tokens.listSessions(query),
      countSessions: (query) => tokens.countSessions(query),
      getTicket: (hash) => tokens.getTicket(hash),
      familyTickets: (family) => tokens.familyTickets(family),
    }
  }

  /** `isAway`: as the store tells itself. The age of the copy is the time since the store answered. */
  health(isAway: boolean): PartHealth {
    if (!isAway && !this.behind) this.answeredMs = performance.now()
    const value = isAway || this.behind ? (performance.now() - this.answeredMs) / 1000 : 0
    const seen = { part: 'copy', value, unit: 's' } as const
    if (value === 0) return { ...seen, status: 'pass' }
    return { ...seen, status: 'warn', output: 'The store is away: this node serves what it has' }
  }

  /** A revocation of a session that is still pending must find it in the store: otherwise it would be stored afterwards. */
  private async commit(changes: readonly Change[], audit: AuditEntry | undefined): Promise<Revision> {
    if (this.pending.some)
      await this.pending.settle(changes.flatMap((change) => ('hash' in change ? [change.hash] : [])))
    return this.store.commit(changes, audit)
  }

  /** Changed entries are unknown until they are read again. */
  changed({ changes, sessions, revision, missed }: FeedEvent): void {
    if (missed) this.copy.forget()
    for (const { op, kind, id } of changes) {
      this.reads.change(`${kind}/${id}`)
      if (op === 'delete' || !READ_AT_ONCE.has(kind)) this.copy.noteDocument(kind, id, undefined)
    }
    for (const hash of sessions) {
      this.reads.change(hexOf(hash))
      this.copy.noteSession(hash, undefined)
    }
    if (!missed && this.copy.filled) this.copy.noteRevision(revision)
  }

  private get<K extends Kind>(kind: K, id: StoredDocument['id']): Promise<StoredDocument<K> | undefined> {
    const note = (found: StoredDocument<K> | undefined) => this.copy.noteDocument(kind, id, found)
    return this.orElse(
      () => this.reads.of(`${kind}/${id}`, () => this.store.get(kind, id), note),
      () => this.copy.document(kind, id),
    )
  }

  private find<K extends Kind>(kind: K, index: string, value: string): Promise<StoredDocument<K> | undefined> {
    return this.orElse(
      async () => {
        const found = await this.store.find(kind, index, value)
        this.copy.noteNamed(kind, index, value, found?.id)
        // Its body is read by its id, under which its changes are reported.
        return found && this.get(kind, found.id)
      },
      () => this.copy.named(kind, index, value),
    )
  }

  private async *scan<K extends Kind>(kind: K): AsyncIterable<StoredDocument<K>[]> {
    const seen = new Set<string>()
    try {
      for await (const batch of this.store.scan(kind)) {
        for (const document of batch) {
          seen.add(document.id)
          this.copy.noteDocument(kind, document.id, document)
        }
        yield batch
      }
    } catch (error) {
      // One half from the store and one from the copy would be a state that never was.
      if (seen.size > 0 || toFault(error).code !== 'store_away' || !this.copy.filled) throw error
      this.behind = true
      yield this.copy.all(kind)
      return
    }
    this.copy.noteAll(kind, seen)
    if (kind === 'api') this.copy.noteRevision(this.revision)
  }

  private readRevision(): Promise<Revision> {
    const ask = async () => {
      this.revision = await this.store.revision()
      return this.revision
    }
    return this.orElse(ask, () => (this.copy.filled ? this.copy.revision() : undefined))
  }

  private async getSession(tokens: Tokens, hash: Uint8Array): Promise<SessionRow | undefined> {
    const pending = this.pending.some ? await this.pending.find(hash) : undefined
    if (pending !== undefined) return pending
    return this.orElse(
      () =>
        this.reads.of(
          hexOf(hash),
          () => tokens.getSession(hash),
          (found) => this.copy.noteSession(hash, found),
        ),
      () => this.copy.session(hash),
    )
  }

  /** Asks the store, and the copy only while the store is away. What the copy does not hold may be there all the same. */
  private async orElse<Found>(ask: () => Promise<Found>, remembered: () => Found | undefined): Promise<Found> {
    try {
      const found = await ask()
      this.behind = false
      this.answeredMs = performance.now()
      return found
    } catch (error) {
      if (toFault(error).code !== 'store_away') throw error
      const found = remembered()
      if (found === undefined) throw error
      this.behind = true
      return found
    }
  }
}

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000
/** Members that answer batches rather than a promise. */
const IN_BATCHES: ReadonlySet<string> = new Set(['scan', 'each', 'eachUsage'])

export interface DeferredOptions {
  readonly open: () => Promise<Store>
  readonly counters: Counters
  readonly log: Log
}

/**
 * A store that is not there yet: every call fails with `store_away` until it could be opened, which is tried for ever. Then the
 * feed says that everything must be reloaded.
 */
export function deferredStore({ open, counters, log }: DeferredOptions): Store {
  const feed = new ThreadFeed()
  let opened: Store | undefined
  let closed = false
  let timer: NodeJS.Timeout | undefined

  const tryAgain = (waitMs: number) => {
    timer = setTimeout(
      () => {
        open().then(arrived, (error) => {
          log.debug({ cause: toFault(error) }, 'the store is still unavailable')
          if (!closed) tryAgain(Math.min(waitMs * 2, LONGEST_WAIT_MS))
        })
      },
      waitMs * (0.5 + Math.random()),
    )
    timer.unref()
  }
  const arrived = async (store: Store) => {
    if (closed) return store.close()
    opened = store
    store.feed.subscribe((event) => feed.publish(event))
    log.info({}, 'the store is back, reloading everything')
    const revision = await Promise.resolve(store.documents.revision()).catch(() => 0)
    feed.publish({ revision, changes: [], sessions: [], missed: true })
  }
  tryAgain(FIRST_WAIT_MS)

  const part = <Name extends 'documents' | 'audit' | 'tokens' | 'outbox' | 'hits' | 'records'>(
    name: Name,
  ): Store[Name] =>
    new Proxy({} as Store[Name], {
      get:
        (_, member) =>
        (...words: unknown[]) => {
          const there = opened?.[name] as unknown as Record<string, (...words: unknown[]) => unknown> | undefined
          if (there !== undefined) return there[String(member)]!(...words)
          return IN_BATCHES.has(String(member)) ? noBatches() : Promise.reject(away())
        },
    })
  return {
    documents: part('documents'),
    audit: part('audit'),
    tokens: part('tokens'),
    outbox: part('outbox'),
    hits: part('hits'),
    records: part('records'),
    counters,
    feed,
    health: () => opened?.health?.() ?? [NOT_OPENED],
    async close() {
      closed = true
      clearTimeout(timer)
      await opened?.close()
    },
  }
}

const NOT_OPENED: PartHealth = {
  ...{ part: 'store', status: 'fail', fault: 'store_away' },
  output: 'The store could not be opened yet',
}

const away = () => fault('store_away', 'the store could not be opened yet')

// biome-ignore lint/correctness/useYield: it fails before there is a batch
async function* noBatches(): AsyncIterable<never> {
  throw away()
}
