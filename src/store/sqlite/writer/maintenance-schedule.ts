import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { PeriodicJob } from '../../../runtime/periodic-job.ts'

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
