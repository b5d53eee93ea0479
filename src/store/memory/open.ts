import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../errors/fault.ts'
import type { DocumentId } from '../../model/documents/ids.ts'
import { type Clock, systemClock } from '../../model/time/clock.ts'
import { PeriodicJob } from '../../runtime/periodic-job.ts'
import {
  AUDITED_SESSION,
  type AuditEntry,
  type Change,
  type Documents,
  type Kind,
  type Revision,
  type Store,
  type StoredDocument,
} from '../ports/ports.ts'
import { AuditCollector, type StoredState } from '../prepare/audited.ts'
import { ThreadFeed } from '../prepare/feed.ts'
import { type Appliers, applyChange, eventOf, prepareCommit } from '../prepare/prepare.ts'
import { prepareAudit } from '../prepare/prepare-audit.ts'
import { MemoryAudit } from './audit.ts'
import { MemoryCounters } from './counters.ts'
import { MemoryDocuments } from './documents.ts'
import { MemoryHits } from './hits.ts'
import type { Undo } from './order.ts'
import { MemoryOutbox } from './outbox.ts'
import { MemoryRecords } from './records.ts'
import { MemorySessions } from './sessions.ts'
import { MemoryTickets } from './tickets.ts'

const SCAN_BATCH = 256
const SWEEP_EVERY_MS = 1_000
/** Everything else of the process waits meanwhile. */
const SWEEP_MS = 4

interface Place {
  readonly next: Revision
  readonly undo: Undo
  /** Hashes of the sessions that went with families. */
  readonly ended: string[]
}

export interface MemoryStore extends Store {
  readonly counters: MemoryCounters
  /** Deletes all sessions and tickets that are due; returns how many. The store also does it periodically. */
  purge(): Promise<number>
}

/**
 * A store that forgets everything with its process: for tests and for gateways whose configuration comes from files. Of the
 * audit it keeps the newest entries.
 */
export function openMemoryStore({ clock = systemClock }: { clock?: Clock } = {}): MemoryStore {
  const held = new MemoryDocuments()
  const sessions = new MemorySessions(clock)
  const tickets = new MemoryTickets(clock)
  const outbox = new MemoryOutbox()
  const counters = new MemoryCounters(clock)
  const feed = new ThreadFeed()
  let revision: Revision = 0
  let closed = false

  const audit = new MemoryAudit((kind, id) => {
    if (kind === AUDITED_SESSION)
      return { text: sessions.found(Buffer.from(id, 'hex').toString('latin1'))?.text ?? '', revision: 0 }
    return held.current(kind, id as DocumentId)
  })
  const before: StoredState = {
    document: (kind, id) => held.current(kind, id as DocumentId).text,
    session: (hash) => sessions.found(hash),
  }

  const appliers: Appliers<Place> = {
    put: (change, { next, undo }) => held.put(change, next, undo),
    delete: (change, { undo }) => held.delete(change, undo),
    putSession: (change, { undo }) => sessions.put(change, undo),
    deleteSession: (change, { undo }) => sessions.delete(change.hash, undo),
    putTicket: (change, { undo }) => tickets.put(change, undo),
    claimTicket: (change, { undo }) => tickets.claim(change, undo),
    deleteTicket: (change, { undo }) => tickets.delete(change.hash, undo),
    endFamily({ family }, { ended, undo }) {
      tickets.endFamily(family, undo)
      ended.push(...sessions.endFamily(family, undo))
    },
    putDelivery: (change, { undo }) => outbox.put(change, undo),
    settleDelivery: (change, { undo }) => outbox.settle(change, undo),
  }
  const commit = async (changes: readonly Change[], entry: AuditEntry | undefined): Promise<Revision> => {
    if (closed) throw fault('store_away', 'the store is closed')
    const prepared = prepareCommit(changes, entry, clock.wall())
    const place: Place = { next: revision + 1, undo: [], ended: [] }
    const gathering = prepared.audit && new AuditCollector(before)
    try {
      for (const change of prepared.changes) {
        gathering?.note(change)
        applyChange(appliers, change, place)
      }
    } catch (error) {
      for (const step of place.undo.reverse()) step()
      throw error
    }
    revision += 1
    const own = revision
    if (prepared.audit !== undefined) audit.add(prepared.audit, own, gathering!.changes)
    feed.publish(eventOf(prepared, own, place.ended))
    return own
  }
  const documents: Documents = {
    get: (kind, id) => held.get(kind, id),
    find: (kind, index, value) => held.find(kind, index, value),
    list: (kind, query) => held.list(kind, query),
    values: (kind, index, query = {}) => held.values(kind, index, query),
    valuesBy: (kind, by, index, query) => held.valuesBy(kind, by, index, query),
    scan: (kind) => inBatches(held, kind, () => held.ids(kind)),
    each: (kind, query) => inBatches(held, kind, () => held.matchingIds(kind, query)),
    commit,
    async note(entry) {
      if (closed) throw fault('store_away', 'the store is closed')
      audit.add(prepareAudit(entry), revision, [])
    },
    revision: () => revision,
  }
  const sweep = () => {
    const now = clock.wall()
    sessions.sweep.step(now, SWEEP_MS)
    tickets.sweep.step(now, SWEEP_MS)
    outbox.purge(now)
    counters.sweep()
  }
  const job = new PeriodicJob({ everyMs: SWEEP_EVERY_MS, run: sweep, onError() {} })
  return {
    documents,
    audit,
    tokens: {
      getSession: (hash) => sessions.getSession(hash),
      listSessions: (query) => sessions.listSessions(query),
      countSessions: (query) => sessions.countSessions(query),
      getTicket: (hash) => tickets.get(hash),
      familyTickets: (family) => tickets.ofFamily(family),
    },
    outbox,
    counters,
    feed,
    hits: new MemoryHits(),
    records: new MemoryRecords(),
    purge: async () => sessions.sweep.all(clock.wall()) + tickets.sweep.all(clock.wall()) + outbox.purge(clock.wall()),
    async close() {
      closed = true
      await job.close()
    },
  }
}

/** The ids are settled at the first batch; what is deleted meanwhile is left out. */
async function* inBatches<K extends Kind>(
  held: MemoryDocuments,
  kind: K,
  list: () => readonly DocumentId[],
): AsyncIterable<StoredDocument<K>[]> {
  const ids = list()
  for (let start = 0; start < ids.length; start += SCAN_BATCH) {
    if (start > 0) await nextTurn()
    const batch = ids.slice(start, start + SCAN_BATCH).map((id) => held.get(kind, id))
    yield batch.filter((document) => document !== undefined)
  }
}
