import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import type { Millis } from '../../../model/time/clock.ts'
import { PeriodicJob } from '../../../runtime/periodic-job.ts'
import type { SessionRows } from '../tokens/apply-session.ts'
import type { TicketRows } from '../tokens/apply-ticket.ts'
import type { DeliveryRows } from '../tokens/outbox.ts'

/** How long a round may delete; what it changed must be committed as well. */
const ROUND_MS = 4

const STEP_ROWS = 20

/** Deletes some of what nobody finds any more inside an open transaction, for a few milliseconds; answers how many rows. */
export type Purge = (now: Millis) => number

/** A round that takes longer was held up by something else than its own work. */
const LONGEST_REST_MS = 100
/** How much longer than a round the writer is left alone after it. */
const REST = 3

/** Has the writer do what is due, such as to forget what has expired, in short rounds, again every so often. */
export class MaintenanceSchedule {
  private readonly round: () => Promise<number>
  private readonly job: PeriodicJob
  private running: Promise<number> | undefined
  private closed = false

  /** `round` does a little of what is due at its start, and answers how much: 0 when there is nothing. */
  constructor(everyMs: number, round: () => Promise<number>) {
    this.round = round
    // The disk is full or the writer is away: the next time tries again, and writes that matter tell their callers.
    this.job = new PeriodicJob({ everyMs, run: () => this.run(), onError() {} })
  }

  /** Does all that is due by now; answers how much. @throws Fault `store_full`, `store_away` */
  async run(): Promise<number> {
    // One that is under way may have asked for an earlier time.
    await this.running?.catch(() => {})
    this.running ??= runInSlices(async () => (this.closed ? 0 : this.round())).finally(() => {
      this.running = undefined
    })
    return this.running
  }

  close(): void {
    this.closed = true
    void this.job.close()
  }
}

/**
 * Asks for rounds until one finds nothing more; answers the sum of them. After each the writer is left alone for three times as
 * long as it took, so that at least three quarters of it serve others.
 */
export async function runInSlices(round: () => Promise<number>): Promise<number> {
  let done = 0
  while (true) {
    const startedAt = performance.now()
    const rows = await round()
    if (rows === 0) return done
    done += rows
    await wait(Math.min(LONGEST_REST_MS, REST * (performance.now() - startedAt)))
  }
}

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
