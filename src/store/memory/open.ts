import { setImmediate as nextTurn } from 'node:timers/promises'
import { fault } from '../../errors/fault.ts'
import { type Clock, systemClock } from '../../model/clock.ts'
import { ThreadFeed } from '../feed.ts'
import type { AuditEntry, Change, Documents, Revision, Store } from '../ports.ts'
import { eventOf, type PreparedChange, prepareCommit } from '../prepare.ts'
import { MemoryCounters } from './counters.ts'
import { MemoryDocuments } from './documents.ts'
import { MemoryHits } from './hits.ts'
import type { Undo } from './order.ts'
import { MemoryTokens } from './tokens.ts'

const SCAN_BATCH = 256
const SWEEP_EVERY_MS = 5_000

/**
 * A store that forgets everything with its process: for tests and for gateways whose configuration comes from files. Audit
 * entries are not kept: nothing here outlives what they would explain.
 */
export function openMemoryStore({ clock = systemClock }: { clock?: Clock } = {}): Store & { counters: MemoryCounters } {
  const held = new MemoryDocuments()
  const tokens = new MemoryTokens(clock)
  const counters = new MemoryCounters(clock)
  const feed = new ThreadFeed()
  let revision: Revision = 0
  let closed = false

  const apply = (change: PreparedChange, next: Revision, undo: Undo) => {
    if (change.op === 'put') held.put(change, next, undo)
    else if (change.op === 'delete') held.delete(change, undo)
    else if (change.op === 'putSession') tokens.put(change, undo)
    else tokens.delete(change, undo)
  }
  const commit = async (changes: readonly Change[], audit: AuditEntry | undefined): Promise<Revision> => {
    if (closed) throw fault('store_away', 'the store is closed')
    const prepared = prepareCommit(changes, audit, clock.wall())
    const undo: Undo = []
    try {
      for (const change of prepared.changes) apply(change, revision + 1, undo)
    } catch (error) {
      for (const step of undo.reverse()) step()
      throw error
    }
    revision += 1
    const own = revision
    feed.publish(eventOf(prepared, own))
    return own
  }
  const documents: Documents = {
    get: (kind, id) => held.get(kind, id),
    find: (kind, index, value) => held.find(kind, index, value),
    list: (kind, query) => held.list(kind, query),
    async *scan(kind) {
      const ids = held.ids(kind)
      for (let start = 0; start < ids.length; start += SCAN_BATCH) {
        if (start > 0) await nextTurn()
        const batch = ids.slice(start, start + SCAN_BATCH).map((id) => held.get(kind, id))
        yield batch.filter((document) => document !== undefined)
      }
    },
    commit,
    revision: () => revision,
  }
  const timer = setInterval(() => {
    tokens.sweep()
    counters.sweep()
  }, SWEEP_EVERY_MS)
  timer.unref()
  return {
    documents,
    tokens,
    counters,
    feed,
    hits: new MemoryHits(),
    async close() {
      closed = true
      clearInterval(timer)
    },
  }
}
