import { performance } from 'node:perf_hooks'
import type { Millis } from '../../../model/time/clock.ts'
import type { DeliveryRows } from '../tokens/apply-delivery.ts'
import type { SessionRows } from '../tokens/apply-session.ts'
import type { TicketRows } from '../tokens/apply-ticket.ts'

/** How long a round may delete; what it changed must be committed as well. */
const ROUND_MS = 4
const STEP_ROWS = 20

/** Deletes some of what nobody finds any more inside an open transaction, for a few milliseconds; answers how many rows. */
export type Purge = (now: Millis) => number

/** Joins what can be purged: the sorts of rows take turns, so that none waits for the end of another. */
export function purger(sessions: SessionRows, tickets: TicketRows, deliveries: DeliveryRows): Purge {
  return (now) => {
    const endsAt = performance.now() + ROUND_MS
    let deleted = 0
    while (true) {
      const step = sessions.purge(now, STEP_ROWS) + tickets.purge(now, STEP_ROWS) + deliveries.purge(now, STEP_ROWS)
      deleted += step
      if (step === 0 || performance.now() >= endsAt) return deleted
    }
  }
}
