import { PeriodicJob } from '../../../runtime/periodic-job.ts'
import type { MemoryCounters } from '../../memory/counters.ts'
import type { Write } from '../writer/messages.ts'

/** Leaves 300 ms for timers that come late and for the commit, so that a count is durable within a second. */
const SAVE_EVERY_MS = 700

/**
 * Keeps the quota counts of this process in the store: loads them at start, saves what changed on a timer and at the end.
 * What could not be saved is tried again with the next round.
 */
export class QuotaKeeper {
  private readonly counters: MemoryCounters
  private readonly write: (write: Write) => Promise<number>
  private readonly job: PeriodicJob
  private saving: Promise<void> | undefined

  constructor(counters: MemoryCounters, write: (write: Write) => Promise<number>) {
    this.counters = counters
    this.write = write
    // A writer that is slower than that gets the next round when it is done.
    this.job = new PeriodicJob({ everyMs: SAVE_EVERY_MS, run: () => this.sweepAndSave(), onError() {} })
  }

  /** Saves everything that changed so far. @throws Fault `store_full`, `store_away`; the counts then wait for the next call */
  async save(): Promise<void> {
    await this.saving?.catch(() => {})
    this.saving = this.saveOnce()
    try {
      await this.saving
    } finally {
      this.saving = undefined
    }
  }

  /** Saves for the last time. */
  async close(): Promise<void> {
    await this.job.close()
    await this.save()
  }

  private async sweepAndSave(): Promise<void> {
    this.counters.sweep()
    if (this.saving === undefined) await this.save()
  }

  private async saveOnce(): Promise<void> {
    const changes = this.counters.takeChanges()
    if (changes === undefined) return
    try {
      await this.write({ sort: 'quotas', names: changes.names, counts: changes.counts })
    } catch (error) {
      this.counters.keepChanges(changes)
      throw error
    }
  }
}
