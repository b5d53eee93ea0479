import { MINUTE_MS, MINUTES_PER_HOUR } from '../model/analytics/hit.ts'
import type { Log } from '../model/logs/log.ts'
import type { Clock } from '../model/time/clock.ts'
import { PeriodicJob } from './periodic-job.ts'

const EVERY_MS = 3_600_000
/** Counts by minute are kept for 48 hours; what is longer ago is counted by hour. */
const MINUTES_KEPT = 48 * MINUTES_PER_HOUR

/** The store that deletes counts of minutes, and the time by which they are old. */
export interface MinuteParts {
  readonly store: { readonly hits: { purgeMinutes(beforeMinute: number): Promise<number> } }
  readonly clock: Clock
}

/** Forgets the counts of minutes that are longer ago than they are kept; answers how many rows. @throws Fault `store_full`, `store_away` */
export async function purgeOldMinutes({ store, clock }: MinuteParts): Promise<number> {
  return store.hits.purgeMinutes(Math.max(0, Math.floor(clock.wall() / MINUTE_MS) - MINUTES_KEPT))
}

/** Does so now and once an hour, until it is closed. */
export function scheduleMinuteRetention(parts: MinuteParts & { readonly log: Log }): { close(): void } {
  let closed = false
  const job = new PeriodicJob({
    everyMs: EVERY_MS,
    atOnce: true,
    run: () => purgeOldMinutes(parts),
    // The next time tries again; a store that closes ends the last one.
    onError: (cause) => closed || parts.log.error({ cause }, 'cannot delete old analytics rows'),
  })
  return {
    close() {
      closed = true
      void job.close()
    },
  }
}
