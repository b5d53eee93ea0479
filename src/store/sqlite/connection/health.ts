import type { DatabaseSync } from 'node:sqlite'
import { FROZEN_STORE, outboxHealth, type PartHealth } from '../../../model/nodes/health.ts'
import type { Clock } from '../../../model/time/clock.ts'
import { oldestWaiting } from '../tokens/read-outbox.ts'
import { freezeReader } from './freeze.ts'

/** Anybody may ask for health: the database is read this rarely. */
const KEPT_MS = 1_000

/** The state of the parts of an embedded store, from a connection of this thread. Throws nothing: reads that fail are reported elsewhere. */
export function storeHealth(db: DatabaseSync, clock: Clock): () => readonly PartHealth[] {
  const oldest = oldestWaiting(db)
  const freezeLevel = freezeReader(db)
  let kept: readonly PartHealth[] = []
  let readAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - readAt < KEPT_MS) return kept
    readAt = performance.now()
    try {
      const at = db.isOpen ? oldest() : undefined
      const outbox = outboxHealth(at === undefined ? 0 : clock.wall() - at)
      kept = db.isOpen && freezeLevel() !== 'none' ? [FROZEN_STORE, outbox] : [outbox]
    } catch {
      kept = []
    }
    return kept
  }
}
